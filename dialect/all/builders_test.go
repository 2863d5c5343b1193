package all_test

import (
	"testing"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// TestBuilders builds every op of the samples again, by its view and its builder, and with other values of its optional
// numbers.
func TestBuilders(t *testing.T) {
	reg := registry(t)
	built := map[*ir.Def]bool{}
	for name, text := range samples(t) {
		m := read(t, reg, name, text)
		var list []*ir.Op
		m.Walk(func(op *ir.Op) bool {
			if rebuild[op.Def()] != nil {
				list = append(list, op)
			}
			return true
		})
		for _, op := range list {
			built[op.Def()] = true
			buildAgain(t, name, op)
			for i := range op.Def().Attrs {
				spec := &op.Def().Attrs[i]
				if !spec.Optional || spec.Type.FormType == nil {
					continue
				}
				old := op.Attr(spec.Name)
				for v := range int64(2) {
					if a := ir.NewInteger(v, spec.Type.FormType); spec.Type.Check(a) {
						op.SetAttr(spec.Name, a)
						buildAgain(t, name, op)
					}
				}
				if op.RemoveAttr(spec.Name); old != nil {
					op.SetAttr(spec.Name, old)
				}
			}
		}
	}
	for d := range rebuild {
		if !built[d] {
			t.Errorf("%s: no sample was built", d.Name)
		}
	}
}

// buildAgain builds op again and compares the two ops.
func buildAgain(t *testing.T, name string, op *ir.Op) {
	t.Helper()
	m := op.Module()
	copied := m.After(op).Clone(op, map[*ir.Value]*ir.Value{})
	var regions []*ir.Region
	for _, r := range copied.Regions() {
		body := m.NewRegion()
		body.TakeBlocks(r)
		regions = append(regions, body)
	}
	copied.Erase()
	n, err := rebuild[op.Def()](m.Before(op), op, regions)
	if f := op.Def().Infer; err != nil && f != nil {
		if _, refused := f(m.Context(), &ir.OpState{Def: op.Def(), Operands: op.OperandList(), Attrs: op.Attrs(), Bodies: op.Regions()}); refused != nil {
			return // the op is invalid with its new attribute
		}
	}
	if err != nil {
		t.Errorf("%s: %s: %v", name, op.Name(), err)
		return
	}
	defer n.Erase()
	if n.NumOperands() != op.NumOperands() || len(n.Regions()) != len(op.Regions()) || n.NumResults() != op.NumResults() {
		t.Fatalf("%s: %s is built with other operands, results or regions", name, op.Name())
	}
	for i, v := range op.Operands() {
		if n.Operand(i) != v {
			t.Errorf("%s: operand %d of %s changed", name, i, op.Name())
		}
	}
	for i := range op.Def().Attrs {
		spec := &op.Def().Attrs[i]
		a, b := op.Attr(spec.Name), n.Attr(spec.Name)
		if a == nil {
			a = spec.Default
		}
		if b == nil {
			b = spec.Default
		}
		omitted := b == nil && view.Int(a) == 0 && spec.Optional
		if a != b && !omitted && (a == nil || b == nil || !ir.EqualAttrs(a, b)) {
			t.Errorf("%s: %s of %s is %v, built as %v", name, spec.Name, op.Name(), a, b)
		}
	}
}
