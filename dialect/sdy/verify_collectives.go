package sdy

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// shardingOf returns the sharding on a value, or nil.
func shardingOf(v *ir.Value, r *ir.Reporter) *Sharding {
	r.ReadsAround()
	if op := v.DefiningOp(); op != nil {
		switch op.Name() {
		case "sdy.sharding_constraint", "sdy.reshard", "sdy.data_flow_edge":
			return view.Data[Sharding](op.Attr("sharding"))
		case nameManual, nameNamed:
			return nth(view.Data[PerValue](op.Attr(AttrOutShardings)), v.Index())
		}
		if a := op.Attr("out_sharding"); a != nil && op.Def().Dialect() == "sdy" {
			return view.Data[Sharding](a)
		}
		return nth(view.Data[PerValue](op.Attr(AttrValueSharding)), v.Index())
	}
	b := v.ParentBlock()
	if b == nil || b.Parent() == nil {
		return nil
	}
	switch op := b.Parent(); {
	case op.Name() == nameManual:
		s := nth(view.Data[PerValue](op.Attr(AttrInShardings)), v.Index())
		return s.without(view.Data[ManualAxes](op.Attr(AttrManualAxes)))
	case op.Name() == nameNamed:
		return nth(view.Data[PerValue](op.Attr(AttrInShardings)), v.Index())
	case op.Name() == "func.func":
		if list, ok := op.Attr("arg_attrs").(*ir.ArrayAttr); ok && v.Index() < len(list.Elems()) {
			if d, ok := list.Elems()[v.Index()].(*ir.DictAttr); ok {
				return view.Data[Sharding](d.Get(AttrValueSharding))
			}
		}
	}
	return nil
}

func nth(v *PerValue, i int) *Sharding {
	if v == nil || i >= len(v.Shardings) {
		return nil
	}
	return v.Shardings[i]
}

// without returns the sharding of a value inside a manual computation, without the manual axes.
func (s *Sharding) without(manual *ManualAxes) *Sharding {
	if s == nil || manual == nil {
		return s
	}
	free := func(axes []AxisRef) []AxisRef {
		return slices.DeleteFunc(slices.Clone(axes), func(a AxisRef) bool { return slices.Contains(manual.Names, a.Name) })
	}
	out := &Sharding{Mesh: s.Mesh, Inline: s.Inline, Replicated: free(s.Replicated), Unreduced: free(s.Unreduced), Reduction: s.Reduction}
	for _, d := range s.Dims {
		d.Axes = free(d.Axes)
		out.Dims = append(out.Dims, d)
	}
	return out
}

// transfer is a collective under verification.
type transfer struct {
	fault
	op      *ir.Op
	in, out *Sharding   // in: dimensions without axes if the operand has no sharding
	mesh    *DeviceMesh // of out
	inMesh  *DeviceMesh
}

// collectives creates the Verify hook of a collective from its own check. Some collectives accept an operand without a
// sharding; collective_permute works between meshes.
func collectives(unsharded, meshes bool, own func(*transfer)) func(*ir.Op, *ir.Reporter) {
	return func(op *ir.Op, r *ir.Reporter) {
		if !view.SameTypes(op, r) {
			return
		}
		t := &transfer{fault: at(op, r), op: op, in: shardingOf(op.Operand(0), r), out: view.Data[Sharding](op.Attr("out_sharding"))}
		if t.in == nil && !unsharded {
			t.fault("collective on operand without sharding")
			return
		}
		if !checkSharding(t.out, op.Result(0).Type(), op, r, t.fault) {
			return
		}
		t.mesh = meshOf(t.out, op, r)
		if t.in == nil {
			t.in = &Sharding{Mesh: t.out.Mesh, Inline: t.out.Inline, Dims: slices.Repeat([]DimSharding{{Priority: -1}}, len(t.out.Dims))}
		}
		if t.inMesh = meshOf(t.in, op, r); t.inMesh == nil {
			return // its own sharding is rejected
		}
		note := func(format string, args ...any) {
			t.fault(format, args...).Note(place(op.Operand(0)), "operand mesh: %s", MeshAttr.New(t.inMesh))
		}
		if !meshes && !t.mesh.equal(t.inMesh) {
			note("result mesh does not match operand mesh")
			return
		}
		if len(t.in.Dims) != len(t.out.Dims) {
			t.fault("result sharding has rank %d but operand sharding has rank %d", len(t.out.Dims), len(t.in.Dims))
			return
		}
		if meshes {
			if !slices.Equal(t.mesh.Axes, t.inMesh.Axes) {
				note("result mesh has different axes than operand mesh")
				return
			}
			if (t.in.Mesh != t.out.Mesh || t.in.Inline != t.out.Inline) && slices.Equal(t.mesh.DeviceIDs, t.inMesh.DeviceIDs) {
				note("result mesh name is different but same device ids as operand")
				return
			}
		}
		own(t)
	}
}

// perDimension checks a collective with axes per dimension. apply converts the operand's sharding into the required
// result sharding.
func (t *transfer) perDimension(name string, apply func(dim int, axes []AxisRef) ([]AxisRef, bool)) bool {
	lists := view.Data[AxisLists](t.op.Attr(name))
	if lists == nil {
		return false
	}
	var set axisSet
	for _, l := range lists.Dims {
		if !set.add(l, t.mesh, t.fault) {
			return false
		}
	}
	if len(t.out.Dims) != len(lists.Dims) {
		return t.fault.no("result sharding has rank %d but collective axes has rank %d", len(t.out.Dims), len(lists.Dims))
	}
	for i, l := range lists.Dims {
		want, ok := apply(i, l)
		if !ok || !t.expect(i, want) {
			return false
		}
	}
	return true
}

func (t *transfer) expect(dim int, want []AxisRef) bool {
	if !slices.Equal(want, t.out.Dims[dim].Axes) {
		return t.fault.no("result sharding doesn't match expected sharding [%s] on dimension %d", view.Written(&want, func(axes *[]AxisRef, t *view.Text) { axesText(t, "", "", axes) }), dim)
	}
	return true
}

// gathered removes axes from the end of the operand's sharding of a dimension.
func (t *transfer) gathered(direction string, dim int, axes []AxisRef) ([]AxisRef, bool) {
	have := slices.Clone(t.in.Dims[dim].Axes)
	for _, a := range slices.Backward(axes) {
		n := len(have)
		if n == 0 || !a.endsIn(have[n-1], t.mesh) {
			t.fault("can't apply %s axis %s to operand sharding on dimension %d", direction, a, dim)
			return nil, false
		}
		last := have[n-1]
		have = have[:n-1]
		if a.from() > last.from() {
			have = append(have, AxisRef{Name: last.Name, Pre: last.from(), Size: a.from() / last.from()})
		}
	}
	return have, true
}

// sliced appends axes to the operand's sharding of a dimension.
func (t *transfer) sliced(dim int, axes []AxisRef) ([]AxisRef, bool) {
	have := slices.Clone(t.in.Dims[dim].Axes)
	for _, a := range axes {
		have = appendAxis(have, a, t.mesh)
	}
	return have, true
}

func (t *transfer) gather() {
	t.perDimension("gathering_axes", func(d int, axes []AxisRef) ([]AxisRef, bool) { return t.gathered("gathering", d, axes) })
}

func (t *transfer) slice() { t.perDimension("slicing_axes", t.sliced) }

func (t *transfer) reduceScatter() {
	if t.sameReduction() {
		t.perDimension("reduce_scatter_axes", t.sliced)
	}
}

// sameReduction reports whether the op reduces the operand's unreduced axes as the operand's sharding says.
func (t *transfer) sameReduction() bool {
	own := ReduceSum
	if a, ok := t.op.Attr("reduction_op").(*ir.IntegerAttr); ok {
		own = Reduction(a.Value())
	}
	if len(t.in.Unreduced) > 0 && t.in.Reduction != own {
		return t.fault.no("cannot reduce '%s' unreduced axes. Expected '%s'.", t.in.Reduction, own)
	}
	return true
}

func (t *transfer) shardedToUnreduced() {
	ok := t.perDimension("axes", func(d int, axes []AxisRef) ([]AxisRef, bool) { return t.gathered("shard-to-unreduce", d, axes) })
	if ok {
		t.unreduced(slices.Concat(view.Data[AxisLists](t.op.Attr("axes")).Dims...), "sharded_to_unreduced_axes")
	}
}

// unreduced checks that the unreduced axes of the result are the operand's unreduced axes plus more.
func (t *transfer) unreduced(more []AxisRef, name string) {
	all := slices.Concat(t.in.Unreduced, more)
	slices.SortStableFunc(all, before(t.mesh))
	var want []AxisRef
	for _, a := range all {
		want = appendAxis(want, a, t.mesh)
	}
	if !slices.Equal(want, t.out.Unreduced) {
		t.fault("out_unreduced_axes should be in_unreduced_axes + %s", name)
	}
}

func (t *transfer) replicatedToUnreduced() {
	l := view.Data[AxisList](t.op.Attr("axes"))
	if l == nil {
		return
	}
	if len(l.Axes) == 0 {
		t.fault("r2u axes must not be empty")
		return
	}
	if !slices.EqualFunc(t.in.Dims, t.out.Dims, func(a, b DimSharding) bool {
		return slices.Equal(a.Axes, b.Axes) && a.Open == b.Open && a.Priority == b.Priority
	}) {
		t.fault("input and output must share the same dimension shardings")
		return
	}
	var set axisSet
	if !set.addSorted("r2u", l.Axes, t.mesh, t.fault) {
		return
	}
	for _, a := range l.Axes {
		if slices.ContainsFunc(t.in.Unreduced, a.overlaps) {
			t.fault("r2u axis %s overlaps with operand unreduced axes", a)
			return
		}
	}
	t.unreduced(l.Axes, "r2u_axes")
}

// sameDims reports whether operand and result have the same axes in each dimension.
func (t *transfer) sameDims() bool {
	return slices.EqualFunc(t.in.Dims, t.out.Dims, func(a, b DimSharding) bool { return slices.Equal(a.Axes, b.Axes) })
}

func (t *transfer) reduce() {
	if !t.sameDims() {
		t.fault("operand and result shardings are not equivalent")
		return
	}
	if !t.sameReduction() {
		return
	}
	l := view.Data[AxisList](t.op.Attr("reduction_axes"))
	var set axisSet
	if l == nil || !set.addSorted("reduction", l.Axes, t.mesh, t.fault) {
		return
	}
	used := slices.Clone(t.in.Replicated)
	for _, d := range t.in.Dims {
		used = append(used, d.Axes...)
	}
	for _, a := range l.Axes {
		if slices.ContainsFunc(used, a.overlaps) {
			t.fault("reduction axis %s overlaps with operand dimension sharding or replicated axes", a)
			return
		}
		if slices.ContainsFunc(t.out.Unreduced, a.overlaps) {
			t.fault("reduction axis %s overlaps with result unreduced axes", a)
			return
		}
	}
}

func (t *transfer) permute() {
	for i := range t.in.Dims {
		if slices.Equal(t.in.Dims[i].Axes, t.out.Dims[i].Axes) {
			continue
		}
		if in, out := devices(t.in.Dims[i].Axes, t.mesh), devices(t.out.Dims[i].Axes, t.mesh); in != out {
			t.fault("sharded size of result doesn't match operand on dimension %d: %d != %d", i, out, in)
			return
		}
	}
}

func (t *transfer) exchange() {
	p := view.Data[AllToAllParams](t.op.Attr("params"))
	if p == nil {
		return
	}
	if len(p.Moves) == 0 {
		t.fault("parameter list is empty")
		return
	}
	rank := int64(len(t.out.Dims))
	seen := map[int64]bool{}
	last := int64(-1)
	var set axisSet
	for _, m := range p.Moves {
		if !set.add(m.Axes, t.mesh, t.fault) {
			return
		}
		for _, d := range [...]struct {
			name string
			dim  int64
		}{{"source", m.Src}, {"target", m.Tgt}} {
			if d.dim < 0 || d.dim >= rank {
				t.fault("%s dimension %d is out of range [0, %d)", d.name, d.dim, rank)
				return
			}
		}
		for _, d := range [...]int64{m.Src, m.Tgt} {
			if seen[d] {
				t.fault("overlapping source/target dimensions in all-to-all params: %d", d)
				return
			}
			seen[d] = true
		}
		if last >= m.Src {
			t.fault("source dimensions are not sorted in ascending order: %d appears after %d", m.Src, last)
			return
		}
		last = m.Src
	}
	for _, m := range p.Moves {
		from, ok := t.gathered("all-to-all", int(m.Src), m.Axes)
		if !ok || !t.expect(int(m.Src), from) {
			return
		}
		if to, _ := t.sliced(int(m.Tgt), m.Axes); !t.expect(int(m.Tgt), to) {
			return
		}
	}
	for i, d := range t.in.Dims {
		if !seen[int64(i)] && !t.expect(i, d.Axes) {
			return
		}
	}
}

// place returns the position at which a value is defined.
func place(v *ir.Value) diag.Pos {
	if op := v.DefiningOp(); op != nil {
		return op.Pos()
	}
	return v.Pos()
}
