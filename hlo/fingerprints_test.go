package hlo_test

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestFingerprints: the modules of testdata become the same HLO, as text and as a proto, and the same StableHLO again.
func TestFingerprints(t *testing.T) {
	reg := testkit.Registry(t)
	golden.Fingerprints(t, "testdata/fingerprints.txt", func(add func(name, text string)) {
		for s, m := range testkit.Valid(testkit.Sources(t)) {
			out, err := hlo.Export(m)
			if err != nil {
				add(s.Name, err.Error())
				continue
			}
			for _, o := range []hlo.TextOptions{{}, {Short: true, ElideAbove: 8}} {
				add(fmt.Sprintf("%s/text%d", s.Name, o.ElideAbove), string(out.AppendText(nil, o)))
			}
			proto, err := out.AppendProto(nil)
			add(s.Name+"/proto", fmt.Sprint(string(proto), err))
			back, err := hlo.Import(out, ir.NewContext(reg))
			if err != nil {
				add(s.Name+"/import", err.Error())
				continue
			}
			add(s.Name+"/import", print.String(back, print.Options{DebugInfo: true}))
		}
	})
}
