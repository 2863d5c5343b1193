package hooks

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Attributes that say on which devices an op runs.
const (
	attrSdySharding  = "sdy.sharding"
	attrMhloSharding = "mhlo.sharding"
)

// partitions returns on how many devices one run of the module works, 1 where it does not say.
func partitions(m *ir.Module) int64 {
	n := int64(1)
	for _, name := range [...]string{"mhlo.num_partitions", "mhlo.num_replicas"} {
		if v, ok := intAttr(m.Op().Attr(name)); ok && v > 1 {
			n *= v
		}
	}
	return n
}

// carrySharding gives a lowered hook the sharding of its source, one entry for each of its results. With one
// partition and replica there is nothing to say.
func carrySharding(m *ir.Module, h hookop.HookOp, st *ir.OpState, single bool) error {
	list, err := shardingOf(m, h, len(st.Types), single)
	for _, a := range list {
		st.SetAttr(a.Name, a.Attr)
	}
	return err
}

// shardingOf returns the attributes that say where an op of a lowered hook with n results runs.
func shardingOf(m *ir.Module, h hookop.HookOp, n int, single bool) (ir.AttrList, error) {
	if single {
		return nil, nil
	}
	var out ir.AttrList
	if a := h.Attr(attrSdySharding); a != nil {
		entries, ok := perValue(a)
		if !ok || len(entries) == 0 {
			return nil, m.Errorf(h.Op, "cannot read the sharding %s of the hook", a)
		}
		list := make([]*sdy.Sharding, max(1, n))
		for i := range list {
			list[i] = entries[0]
		}
		out = append(out, ir.NamedAttr{Name: attrSdySharding, Attr: sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list})})
	}
	if a := h.Attr(attrMhloSharding); a != nil {
		out = append(out, ir.NamedAttr{Name: attrMhloSharding, Attr: a})
	}
	return out, nil
}

// shard gives ops of a lowered hook its sharding.
func (w *lowerer) shard(h hookop.HookOp, ops ...*ir.Op) error {
	for _, op := range ops {
		list, err := shardingOf(w.m, h, op.NumResults(), w.single)
		if err != nil {
			return err
		}
		for _, a := range list {
			op.SetAttr(a.Name, a.Attr)
		}
	}
	return nil
}

// perValue returns the entries of #sdy.sharding_per_value<[...]>.
func perValue(a ir.Attr) ([]*sdy.Sharding, bool) {
	d, ok := a.(*ir.DialectAttr)
	if !ok {
		return nil, false
	}
	p, ok := d.Data().(*sdy.PerValue)
	if !ok {
		return nil, false
	}
	return p.Shardings, true
}

// addManualShardings makes room for the chain, a replicated scalar, among what a manual computation takes and
// gives.
func addManualShardings(m *ir.Module, op *ir.Op, chain ir.Type) error {
	in, ok1 := perValue(op.Attr("in_shardings"))
	out, ok2 := perValue(op.Attr("out_shardings"))
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
	op.SetAttr("in_shardings", sdy.PerValueAttr.New(&sdy.PerValue{Shardings: prepend(entry, in)}))
	op.SetAttr("out_shardings", sdy.PerValueAttr.New(&sdy.PerValue{Shardings: prepend(entry, out)}))
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
			if mesh != nil || o.Name() != "sdy.mesh" || stringAttr(o.Attr(ir.SymbolName)) != s.Mesh {
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
		list, ok := perValue(op.Attr(name))
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

// bareSharding takes the dimensions out of the sharding of a value that became a token.
func bareSharding(v *ir.Value) {
	op, name := v.DefiningOp(), attrSdySharding
	switch {
	case op == nil:
		op, name = v.Block().Parent(), "in_shardings"
	case op.Name() == "sdy.manual_computation":
		name = "out_shardings"
	}
	list, ok := perValue(op.Attr(name))
	if !ok || v.Index() >= len(list) {
		return
	}
	list = slices.Clone(list)
	list[v.Index()] = &sdy.Sharding{Mesh: list[v.Index()].Mesh, Inline: list[v.Index()].Inline}
	op.SetAttr(name, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list}))
}

// dropMeshes erases the maximal meshes that nothing names any more: they came with the callbacks.
func dropMeshes(m *ir.Module) {
	var meshes []*ir.Op
	for op := range m.Body().Ops() {
		if op.Name() == "sdy.mesh" && strings.HasPrefix(stringAttr(op.Attr(ir.SymbolName)), "maximal_mesh_") {
			meshes = append(meshes, op)
		}
	}
	for _, mesh := range meshes {
		name := "@" + stringAttr(mesh.Attr(ir.SymbolName))
		used := false
		m.Walk(func(op *ir.Op) bool {
			for _, a := range op.Attrs() {
				used = used || mentions(a.Attr, name)
			}
			return !used
		})
		if !used {
			mesh.Erase()
		}
	}
}

// mentions reports whether an attribute names a symbol, given with its '@'.
func mentions(a ir.Attr, symbol string) bool {
	switch a := a.(type) {
	case *ir.DialectAttr:
		return hasSymbol(a.Body(), symbol)
	case *ir.SymbolRefAttr:
		return "@"+a.Root() == symbol
	case *ir.ArrayAttr:
		for _, e := range a.Elems() {
			if mentions(e, symbol) {
				return true
			}
		}
	case *ir.DictAttr:
		for _, e := range a.Entries() {
			if mentions(e.Attr, symbol) {
				return true
			}
		}
	}
	return false
}

// hasSymbol reports whether text holds the symbol as a whole word.
func hasSymbol(text, symbol string) bool {
	for {
		i := strings.Index(text, symbol)
		if i < 0 {
			return false
		}
		text = text[i+len(symbol):]
		if text == "" || !isWord(text[0]) {
			return true
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// rowMajorLayout returns dense<[rank-1, ..., 0]> : tensor<rank x index>.
func rowMajorLayout(ctx *ir.Context, rank int) ir.Attr {
	t := tensor.New(tensor.Index, tensor.Shape{int64(rank)})
	for i, v := 0, tensor.View[int64](t); i < rank; i++ {
		v[i] = int64(rank - 1 - i)
	}
	return ctx.DenseFromTensor(t)
}
