package bytecode_test

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestFingerprints: the modules of testdata become the same bytecode of each version, and are read from it.
func TestFingerprints(t *testing.T) {
	reg := testkit.Registry(t)
	golden.Fingerprints(t, "testdata/fingerprints.txt", func(add func(name, text string)) {
		for s, m := range testkit.Valid(testkit.Sources(t)) {
			for v := range 7 {
				code, err := bytecode.Append(nil, m, bytecode.Options{Version: v, Versioned: true, TextFloats: v%2 == 0})
				add(fmt.Sprintf("%s/%d", s.Name, v), fmt.Sprint(string(code), err))
				if err != nil {
					continue
				}
				back, err := bytecode.Read(diag.NewSource(s.Name, code), ir.NewContext(reg))
				if err != nil {
					t.Errorf("%s, version %d: %v", s.Name, v, err)
				} else if got, want := print.String(back, print.Options{Generic: true}), print.String(m, print.Options{Generic: true}); got != want {
					t.Errorf("%s, version %d: got\n%s\nwant\n%s", s.Name, v, got, want)
				}
			}
		}
	})
}
