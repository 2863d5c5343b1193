package all_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// FuzzVerify reads and verifies any text. The text may be refused, but nothing may panic. A valid module must also
// print and infer its types without a panic.
func FuzzVerify(f *testing.F) {
	reg, err := all.Registry()
	if err != nil {
		f.Fatal(err)
	}
	for name, text := range samples(f) {
		m, err := parse.Parse(diag.NewSource(name, []byte(text)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(print.String(m, print.Options{Generic: true})))
		m.Walk(func(op *ir.Op) bool {
			if op.Name() == "func.func" {
				f.Add([]byte(print.Op(m, op, print.Options{Generic: true})))
			}
			return true
		})
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parse.Parse(diag.NewSource("fuzz", text), ir.NewContext(reg), parse.Options{MaxErrors: 10})
		if err != nil {
			return
		}
		if ir.Verify(m) != nil {
			return
		}
		print.String(m, print.Options{})
		m.Walk(func(op *ir.Op) bool {
			if infer := op.Def().Infer; infer != nil {
				infer(m.Context(), &ir.OpState{Def: op.Def(), Operands: op.OperandList(), Attrs: op.Attrs(), Bodies: op.Regions()})
			}
			return true
		})
	})
}
