package hooks

import (
	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// Attributes that say on which devices an op runs.

// addManualShardings makes room for the chain, a replicated scalar, among what a manual computation takes and
// gives.
func addManualShardings(m *ir.Module, op *ir.Op, chain ir.Type) error {
	in, ok1 := irutil.PerValue(op.Attr("in_shardings"))
	out, ok2 := irutil.PerValue(op.Attr("out_shardings"))
	if !ok1 || !ok2 {
		return m.Errorf(op, "cannot read the shardings of '%s' around a hook", op.Name())
	}
	if stablehlo.IsToken(chain) && !allManual(m, op, append(append([]*sdy.Sharding(nil), in...), out...)) {
		return m.Errorf(op, "a token cannot be passed through '%s' over some axes of its mesh only, which makes plugins abort; use the state chain", op.Name())
	}
	entry := &sdy.Sharding{}
	if t, ok := chain.(*ir.TensorType); ok {
		for range t.Rank() {
			entry.Dims = append(entry.Dims, sdy.DimSharding{Priority: -1})
		}
	}
	for _, e := range append(append([]*sdy.Sharding(nil), in...), out...) {
		if e.Mesh != "" || e.Inline != nil {
			entry.Mesh, entry.Inline = e.Mesh, e.Inline
			break
		}
	}
	if entry.Mesh == "" && entry.Inline == nil {
		return m.Errorf(op, "'%s' around a hook names no mesh", op.Name())
	}
	op.SetAttr("in_shardings", sdy.PerValueAttr.New(&sdy.PerValue{Shardings: irutil.Prepend(entry, in)}))
	op.SetAttr("out_shardings", sdy.PerValueAttr.New(&sdy.PerValue{Shardings: irutil.Prepend(entry, out)}))
	return nil
}

// allManual reports whether a manual computation is over all axes of the mesh of its shardings.
func allManual(m *ir.Module, op *ir.Op, shardings []*sdy.Sharding) bool {
	names := map[string]bool{}
	if d, ok := op.Attr("manual_axes").(*ir.DialectAttr); ok {
		if axes, ok := d.Data().(*sdy.ManualAxes); ok {
			for _, name := range axes.Names {
				names[name] = true
			}
		}
	}
	for _, s := range shardings {
		mesh := s.Inline
		for o := range m.Body().Ops() {
			if mesh != nil || o.Name() != "sdy.mesh" || irutil.StringAttr(o.Attr(ir.SymbolName)) != s.Mesh {
				continue
			}
			if d, ok := o.Attr("mesh").(*ir.DialectAttr); ok {
				mesh, _ = d.Data().(*sdy.DeviceMesh)
			}
		}
		if mesh == nil {
			return false
		}
		for _, a := range mesh.Axes {
			if !names[a.Name] {
				return false
			}
		}
	}
	return true
}

// keepManualShardings brings the shardings of a manual computation in line with the values that stay: counts says
// by how many values each operand and each result is replaced.
func keepManualShardings(op *ir.Op, operands, results []int) bool {
	keep := func(name string, counts []int) bool {
		list, ok := irutil.PerValue(op.Attr(name))
		if !ok || len(list) != len(counts) {
			return false
		}
		var kept []*sdy.Sharding
		for i, n := range counts {
			if n > 1 {
				return false
			}
			if n == 1 {
				kept = append(kept, list[i])
			}
		}
		op.SetAttr(name, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: kept}))
		return true
	}
	return keep("in_shardings", operands) && keep("out_shardings", results)
}
