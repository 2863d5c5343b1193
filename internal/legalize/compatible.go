package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// Compatible rewrites the ops and attributes that StableHLO of the target version lacks and older ops can express: tan
// (1.4.0), batching dimensions of gather and scatter (1.1.0), ranges in locations (1.9.0) and replica groups on mesh
// axes (1.16.0). Like MLIR's greedy driver, it also erases dead ops, folds, and moves constants to the start of a
// function.
func Compatible(m *ir.Module, target vhlo.Version, apply rewrite.Driver) error {
	before := func(major, minor int) bool { return target.Less(vhlo.Version{Major: major, Minor: minor}) }
	var list []*rewrite.Pattern
	if before(1, 1) {
		list = append(list, pattern(rule{stablehlo.Gather, expandGather}, nil), pattern(rule{stablehlo.Scatter, expandScatter}, nil))
	}
	if before(1, 4) {
		list = append(list, pattern(rule{stablehlo.Tan, expandTan}, nil))
	}
	if before(1, 16) {
		list = append(list, &rewrite.Pattern{Name: "mesh-axes", Rows: groupRows, Rewrite: flattenGroups})
	}
	if before(1, 9) {
		Starts(m)
	}
	_, err := apply(m.Op(), list, rewrite.Options{EraseDead: true, Constants: true, MaxIterations: 10})
	return err
}

// Starts replaces each range of a file in m's locations by its start, and reports whether there was one.
func Starts(m *ir.Module) bool {
	s := &starts{made: map[*ir.Loc]*ir.Loc{}}
	s.op(m.Op())
	return s.found
}

// starts creates locations without ranges.
type starts struct {
	table ir.LocTable
	made  map[*ir.Loc]*ir.Loc
	found bool
}

func (s *starts) op(op *ir.Op) {
	op.SetLoc(s.of(op.Loc()))
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			for _, a := range b.Args() {
				a.SetLoc(s.of(a.Loc()))
			}
			for o := range b.Ops() {
				s.op(o)
			}
		}
	}
}

// of returns l with each range replaced by its start.
func (s *starts) of(l *ir.Loc) *ir.Loc {
	if l == nil {
		return nil
	}
	if n, ok := s.made[l]; ok {
		return n
	}
	kids, same := make([]*ir.Loc, len(l.Children())), true
	for i, c := range l.Children() {
		kids[i] = s.of(c)
		same = same && kids[i] == c
	}
	n := l
	switch kind := l.Kind(); {
	case kind == ir.LocFile:
		if _, col := l.End(); col != 0 {
			line, col := l.Start()
			n, s.found = s.table.File(l.Name(), line, col, 0, 0), true
		}
	case same:
	case kind == ir.LocName:
		n = s.table.Name(l.Name(), kids[0])
	case kind == ir.LocCallSite:
		n = s.table.CallSite(kids[0], kids[1])
	case kind == ir.LocFused:
		n = s.table.Fused(l.Metadata(), int64(l.Size()), kids)
	}
	s.made[l] = n
	return n
}

// expandTan computes tan(x) = sin(x)/cos(x), and (tan(x) + i tanh(y))/(1 - i tan(x) tanh(y)) for a complex number.
func expandTan(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	x := args[0]
	if !asksDefault(op) {
		return nil
	}
	e.accuracy, e.keepLike = defaultAccuracy, true
	if !isComplex(x) {
		sin := e.sin(x)
		return []*ir.Value{e.div(sin, e.cos(x))}
	}
	tan := e.function(stablehlo.Tan, e.real(x))
	tanh := e.function(stablehlo.Tanh, e.imag(x))
	above := e.complex(tan, tanh)
	one := e.num(1, tan)
	return []*ir.Value{e.div(above, e.complex(one, e.neg(e.mul(tan, tanh))))}
}

// expandGather turns batching dimensions into collapsed dimensions and puts their positions before the start indices.
func expandGather(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value {
	g, _ := stablehlo.AsGather(op)
	d := g.Dims()
	if d == nil || len(d.OperandBatchingDims) == 0 || !tensorType(g.StartIndices()).Static() {
		return nil
	}
	index := slices.Concat(d.OperandBatchingDims, d.StartIndexMap)
	indices := e.withPositions(g.StartIndices(), d.IndexVectorDim, d.StartIndicesBatchingDims)
	st := op.State()
	st.Operands, st.Attrs = []*ir.Value{g.Input(), indices}, slices.Clone(op.Attrs())
	st.SetAttr(stablehlo.AttrDimensionNumbers, stablehlo.GatherAttr.New(&stablehlo.GatherDims{
		OffsetDims: d.OffsetDims, CollapsedSliceDims: merged(d.OperandBatchingDims, d.CollapsedSliceDims), StartIndexMap: index, IndexVectorDim: d.IndexVectorDim,
	}))
	st.SetAttr(stablehlo.AttrIndicesAreSorted, e.ctx.Bool(g.IndicesAreSorted() && slices.IsSorted(d.StartIndicesBatchingDims) && slices.IsSorted(index)))
	return e.Insert(st).ResultList()
}

// expandScatter does the same for scatter.
func expandScatter(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value {
	s, _ := stablehlo.AsScatter(op)
	d := s.Dims()
	if d == nil || len(d.InputBatchingDims) == 0 || !tensorType(s.ScatterIndices()).Static() {
		return nil
	}
	index := slices.Concat(d.InputBatchingDims, d.ScatterDimsToOperandDims)
	indices := e.withPositions(s.ScatterIndices(), d.IndexVectorDim, d.ScatterIndicesBatchingDim)
	body := e.Module().NewRegion()
	body.TakeBlocks(s.UpdateComputation())
	st := op.State()
	st.Operands = slices.Concat(s.Inputs(), []*ir.Value{indices}, s.Updates())
	st.Bodies, st.Regions, st.Attrs = []*ir.Region{body}, 0, slices.Clone(op.Attrs())
	st.SetAttr(stablehlo.AttrScatterDimensionNumbers, stablehlo.ScatterAttr.New(&stablehlo.ScatterDims{
		UpdateWindowDims: d.UpdateWindowDims, InsertedWindowDims: merged(d.InputBatchingDims, d.InsertedWindowDims), ScatterDimsToOperandDims: index, IndexVectorDim: d.IndexVectorDim,
	}))
	st.SetAttr(stablehlo.AttrIndicesAreSorted, e.ctx.Bool(s.IndicesAreSorted() && slices.IsSorted(d.ScatterIndicesBatchingDim) && slices.IsSorted(index)))
	return e.Insert(st).ResultList()
}

// merged returns the elements of two sorted lists in order.
func merged(a, b []int64) []int64 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return out
}

// withPositions puts the position along each batching dimension before the index vectors.
func (e *emitter) withPositions(indices *ir.Value, vectorDim int64, batching []int64) *ir.Value {
	defer e.at(indices)()
	t := tensorType(indices)
	elem := t.Elem()
	for _, d := range batching {
		elem = e.wideEnough(elem, t.Shape()[d])
	}
	if elem != t.Elem() {
		indices = e.convert(indices, elem)
	}
	shape := slices.Clone(t.Shape())
	if vectorDim == int64(len(shape)) {
		shape = append(shape, 1)
		indices = e.reshape(indices, shape...)
	} else {
		shape[vectorDim] = 1
	}
	var parts []*ir.Value
	for _, d := range batching {
		parts = append(parts, e.iota(shape, elem, d))
	}
	op, err := stablehlo.BuildConcatenate(e.Builder, append(parts, indices), stablehlo.ConcatenateAttrs{Dimension: vectorDim})
	return e.result(op.Op, err)
}

// wideEnough returns t, or i32 or i64 if the size n does not fit t.
func (e *emitter) wideEnough(t ir.Type, n int64) ir.Type {
	i, ok := t.(*ir.IntegerType)
	if !ok || i.Width() >= 64 {
		return t
	}
	bits := i.Width()
	if i.Signedness() != ir.Unsigned {
		bits--
	}
	switch {
	case n>>bits == 0:
		return t
	case n>>31 == 0:
		return ir.Int(32)
	}
	return ir.Int(64)
}

// groupRows are the ops with replica groups.
var groupRows = func() (rows []*ir.Def) {
	for _, d := range stablehlo.Ops() {
		if d.Attr(stablehlo.AttrReplicaGroups) != nil {
			rows = append(rows, d)
		}
	}
	return rows
}()

// flattenGroups lists the devices of replica groups on mesh axes. Groups on an unknown mesh stay.
func flattenGroups(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	groups, err := MeshGroups(op)
	if groups == nil || err != nil {
		return false, err
	}
	shape := []int64{int64(len(groups)), 0}
	if len(groups) > 0 {
		shape[1] = int64(len(groups[0]))
	}
	c := op.Module().Context()
	r.Update(op, func() {
		op.SetAttr(stablehlo.AttrReplicaGroups, denseOf(c, ir.Int(64), shape, slices.Concat(groups...)))
	})
	return true, nil
}

// MeshGroups returns the devices of op's replica groups on mesh axes. It returns nil if op has no such groups, if the
// mesh is unknown, and for groups on parts of axes, which StableHLO does not list.
func MeshGroups(op *ir.Op) ([][]int64, error) {
	g, ok := ir.DataOf[stablehlo.ReplicaGroupMeshAxes](op.Attr(stablehlo.AttrReplicaGroups))
	if !ok {
		return nil, nil
	}
	mesh := meshOf(op, g.Mesh)
	if mesh == nil {
		return nil, nil
	}
	var parts []sharding.Part
	for _, a := range g.AxisRefs() {
		if a.Sub != nil {
			return nil, nil
		}
		parts = append(parts, sharding.Part{Axis: a.Name})
	}
	groups, err := mesh.Groups(parts)
	if err != nil {
		return nil, op.Module().Errorf(op, "%v", err)
	}
	return groups, nil
}

// meshOf returns the mesh a, or the mesh to which a refers, or nil if there is none.
func meshOf(op *ir.Op, a ir.Attr) *sharding.Mesh {
	if ref, ok := a.(*ir.SymbolRefAttr); ok {
		var symbol *ir.Op
		if table := ir.SymbolTableOf(op); table != nil {
			symbol = ir.SymbolsOf(table)[ref.Root()]
		}
		if symbol == nil {
			return nil
		}
		if a = symbol.Attr(sdy.AttrMesh); a == nil || !stablehlo.MeshAttr.Is(a) {
			a = symbol.Attr(stablehlo.AttrMesh)
		}
	}
	out := &sharding.Mesh{}
	var ids ir.Attr
	if m, ok := ir.DataOf[stablehlo.Mesh](a); ok {
		for _, x := range m.Axes {
			out.Names, out.Sizes = append(out.Names, x.Name), append(out.Sizes, x.Size)
		}
		ids = m.DeviceIDs
	} else if d, ok := a.(*ir.DictAttr); ok {
		axes, _ := d.Get(stablehlo.MeshKeyAxes).(*ir.ArrayAttr)
		if axes == nil {
			return nil
		}
		for _, x := range axes.Elems() {
			axis, _ := x.(*ir.DictAttr)
			if axis == nil {
				return nil
			}
			name, named := axis.Get(stablehlo.MeshKeyName).(*ir.StringAttr)
			size, sized := axis.Get(stablehlo.MeshKeySize).(*ir.IntegerAttr)
			if !named || !sized {
				return nil
			}
			out.Names, out.Sizes = append(out.Names, name.Value()), append(out.Sizes, size.Value())
		}
		ids = d.Get(stablehlo.MeshKeyDevices)
	} else {
		return nil
	}
	if list, ok := ids.(*ir.DenseAttr); ok {
		v, err := list.Int64s()
		if err != nil {
			return nil
		}
		out.IDs = v
	}
	return out
}
