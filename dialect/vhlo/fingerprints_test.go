package vhlo_test

import (
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestFingerprints: the modules of testdata become the same artifacts of each version, are refused with the same words,
// and are the same modules after they are read.
func TestFingerprints(t *testing.T) {
	reg := testkit.Registry(t)
	var versions []vhlo.Version
	for _, v := range []string{"0.9.0", "0.14.0", "0.19.0", "1.0.0", "1.3.0", "1.6.0", "1.8.0", "1.9.0", "1.11.0", "1.13.0", "1.15.0", "1.17.0", "1.20.0", "1.22.0"} {
		version, err := vhlo.ParseVersion(v)
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version)
	}
	golden.Fingerprints(t, "testdata/fingerprints.txt", func(add func(name, text string)) {
		for _, s := range testkit.Sources(t) {
			drawn := int(crc32.ChecksumIEEE([]byte(s.Name)) % 4) // by the name, so that a new module changes no line of others
			m, err := testkit.TryParse(s.Name, s.Text)
			if err != nil || ir.Verify(m) != nil {
				continue
			}
			for k, v := range append([]vhlo.Version{{}}, versions...) {
				if k > 0 && (drawn+k)%4 != 0 && s.Name[:4] != "ops/" { // each module for some versions, samples for all
					continue
				}
				name := fmt.Sprintf("%s/%s", s.Name, v)
				code, oldest, err := artifact.Append(nil, m, artifact.Options{Target: v, KeepOthers: true})
				if err != nil {
					add(name, err.Error())
					continue
				}
				back, err := artifact.Read(diag.NewSource(s.Name, code), ir.NewContext(reg))
				if err != nil {
					add(name, err.Error())
					continue
				}
				add(name, fmt.Sprint(string(code), oldest, print.String(back, print.Options{})))
			}
		}
	})
}
