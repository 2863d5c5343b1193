package sdy

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// Errors of Shardy's verifier, with its wording.

// fault reports an error after a prefix that names its subject.
type fault func(format string, args ...any) *diag.Diagnostic

// at returns a fault that reports errors at op.
func at(op *ir.Op, r *ir.Reporter) fault {
	return func(format string, args ...any) *diag.Diagnostic { return r.Errorf(op, format, args...) }
}

// of adds a prefix to the messages of f.
func (f fault) of(prefix string) fault {
	return func(format string, args ...any) *diag.Diagnostic {
		return f("%s%s", prefix, fmt.Sprintf(format, args...))
	}
}

// no is f with the result false.
func (f fault) no(format string, args ...any) bool {
	f(format, args...)
	return false
}

// module returns the module around op.
func module(op *ir.Op) *ir.Op {
	for op != nil && op.Name() != "builtin.module" {
		op = op.Parent()
	}
	return op
}

// meshOf returns the mesh of a sharding on op, or nil if its symbol does not name a mesh.
func meshOf(s *Sharding, op *ir.Op, r *ir.Reporter) *DeviceMesh {
	if s.Inline != nil {
		return s.Inline
	}
	m := module(op)
	if m == nil {
		return nil
	}
	def := r.Symbols(m)[s.Mesh]
	if def == nil || def.Name() != nameMesh {
		return nil
	}
	return view.Data[DeviceMesh](def.Attr("mesh"))
}

// axisSet collects the axes that a sharding uses.
type axisSet struct {
	seen  map[AxisRef]bool
	parts map[string][]AxisRef
	names []string // of axes with parts, in order
}

// add checks a list of axes: each must be known and used once, and no two neighbours may form a larger part.
func (s *axisSet) add(axes []AxisRef, m *DeviceMesh, f fault) bool {
	if s.seen == nil {
		s.seen, s.parts = map[AxisRef]bool{}, map[string][]AxisRef{}
	}
	for i, a := range axes {
		if m.index(a.Name) < 0 {
			return f.no("unknown axis name: %s", mlirtext.Quote(a.Name))
		}
		if s.seen[a] {
			return f.no("duplicate axis ref: %s", a)
		}
		s.seen[a] = true
		if !a.part() {
			continue
		}
		if s.parts[a.Name] == nil {
			s.names = append(s.names, a.Name)
		}
		s.parts[a.Name] = append(s.parts[a.Name], a)
		if i > 0 && axes[i-1].merges(a) {
			return f.no("two consecutive sub-axes can be merged: %s, %s", axes[i-1], a)
		}
	}
	return true
}

// addSorted checks that the axes are in the mesh's order, and adds them.
func (s *axisSet) addSorted(name string, axes []AxisRef, m *DeviceMesh, f fault) bool {
	if !slices.IsSortedFunc(axes, before(m)) {
		return f.no("%s axes are not ordered w.r.t. mesh", name)
	}
	return s.add(axes, m, f)
}

// checkParts checks that the parts of axes are proper parts and do not overlap.
func (s *axisSet) checkParts(m *DeviceMesh, f fault) bool {
	for _, name := range s.names {
		parts := slices.Clone(s.parts[name])
		slices.SortStableFunc(parts, before(m))
		if s.seen[AxisRef{Name: name}] {
			return f.no("both sub-axis and full-axis are used for axis name: %s", mlirtext.Quote(name))
		}
		size, next := m.size(name), int64(1)
		for i, a := range parts {
			switch {
			case a.Pre < 1:
				f("sub-axis pre-size must be at least 1: %s", a)
			case a.Size <= 1:
				f("sub-axis sizes must be greater than 1: %s", a)
			case size%(a.Pre*a.Size) != 0:
				f("sub-axis next pre-size %d doesn't divide the size of the full axis %d: %s", a.Pre*a.Size, size, a)
			case a.Size == size:
				f("sub-axis size is equal to the full axis size: %s", a)
			case next > a.Pre:
				f("overlapping sub-axes: %s, %s", parts[i-1], a)
			default:
				next = a.Pre * a.Size
				continue
			}
			return false
		}
	}
	return true
}

// manualAround returns the manual computations around op by their manual axes.
func manualAround(op *ir.Op) map[string]*ir.Op {
	var out map[string]*ir.Op
	for p := op.Parent(); p != nil; p = p.Parent() {
		if p.Name() != nameManual {
			continue
		}
		if axes := view.Data[ManualAxes](p.Attr(AttrManualAxes)); axes != nil {
			for _, name := range axes.Names {
				if out == nil {
					out = map[string]*ir.Op{}
				}
				out[name] = p
			}
		}
	}
	return out
}

func bound(f fault, axis string, by *ir.Op) {
	f("operates on axis %s which is already bound by a parent sdy.manual_computation op", mlirtext.Quote(axis)).
		Note(by.Pos(), "parent bounding this axis as manual")
}

// shapeOf returns the sizes of a tensor, or of a tuple of one tensor. shaped is false for other types; ok is true
// unless there was an error.
func shapeOf(t ir.Type, f fault) (shape []int64, shaped, ok bool) {
	if tuple, is := t.(*ir.TupleType); is {
		if len(tuple.Elems()) != 1 {
			f("ops can only have a sharding for a tuple of size 1: '%s'", t)
			return nil, false, false
		}
		t = tuple.Elems()[0]
	}
	if tensor, is := t.(*ir.TensorType); is && !tensor.Ranked() {
		f("only ranked tensors can have a sharding. type: '%s'", t)
		return nil, true, false
	}
	shape, shaped = tensorShape(t)
	return shape, shaped, true
}

// tensorShape returns the sizes of a value of type t. shaped is false if t has no shape. The data of a dialect's type
// with a shape has a method Shape.
func tensorShape(t ir.Type) (shape []int64, shaped bool) {
	var s interface{ Shape() []int64 }
	switch t := t.(type) {
	case *ir.TensorType:
		s = t
	case *ir.ShapedType:
		s = t
	case *ir.DialectType:
		s, _ = t.Data().(interface{ Shape() []int64 })
	}
	if s == nil {
		return nil, false
	}
	return s.Shape(), true
}

func (s *Sharding) bare() bool {
	return len(s.Dims) == 0 && len(s.Replicated) == 0 && len(s.Unreduced) == 0
}

// checkSharding checks a sharding on op of a value of type t (nil for none).
func checkSharding(s *Sharding, t ir.Type, op *ir.Op, r *ir.Reporter, f fault) bool {
	m := meshOf(s, op, r)
	if m == nil {
		return f.no("unknown mesh: @%s", s.Mesh)
	}
	if !s.fits(t, m, false, f) {
		return false
	}
	if manual := manualAround(op); manual != nil {
		for _, a := range s.axes() {
			if by := manual[a.Name]; by != nil {
				bound(f, a.Name, by)
				return false
			}
		}
	}
	return true
}

// VerifyOn checks the sharding of a value of type t on mesh m, which replaces the sharding's own. The axes of a
// dimension must divide its size. It reports errors at op, and whether there are none.
func (s *Sharding) VerifyOn(m *DeviceMesh, t ir.Type, op *ir.Op, r *ir.Reporter) bool {
	return s.fits(t, m, true, at(op, r))
}

// Fault says why the sharding does not fit a value of type t on mesh m, which replaces the sharding's own; "" if it
// fits.
func (s *Sharding) Fault(m *DeviceMesh, t ir.Type) (message string) {
	s.fits(t, m, false, func(format string, args ...any) *diag.Diagnostic {
		message = fmt.Sprintf(format, args...)
		return &diag.Diagnostic{}
	})
	return message
}

// fits checks the sharding of a value of type t (nil for none) on mesh m. If divides is set, the axes of a dimension
// must divide its size.
func (s *Sharding) fits(t ir.Type, m *DeviceMesh, divides bool, f fault) bool {
	if m.maximal() || t == nil {
		if !s.bare() {
			return f.no("a maximal sharding can only have a sharding with rank 0 and no replicated or unreduced axes.")
		}
		return true
	}
	shape, shaped, ok := shapeOf(t, f)
	if !ok {
		return false
	}
	if !shaped {
		if !s.bare() {
			return f.no("non-shaped tensors can only have a sharding with rank 0 and no replicated or unreduced axes. type: '%s', sharding: %s", t, ShardingAttr.New(s))
		}
		return true
	}
	if len(s.Dims) != len(shape) {
		return f.no("sharding doesn't match tensor rank: %d != %d", len(s.Dims), len(shape))
	}
	var set axisSet
	for i, d := range s.Dims {
		if d.Priority >= 0 && !d.Open && len(d.Axes) == 0 {
			return f.no("dim %d is empty and closed but has a priority", i)
		}
		if !set.add(d.Axes, m, f) {
			return false
		}
		if n := devices(d.Axes, m); divides && n > 0 && shape[i] != ir.Dynamic && shape[i]%n != 0 {
			return f.no("dim %d with size %d is not divisible by its sharded size %d", i, shape[i], n)
		}
	}
	for _, l := range [...]struct {
		name string
		axes []AxisRef
	}{{"replicated", s.Replicated}, {"unreduced", s.Unreduced}} {
		if !set.addSorted(l.name, l.axes, m, f) {
			return false
		}
	}
	return set.checkParts(m, f)
}

// axes returns the axes of the dimensions, then the replicated axes and the unreduced axes.
func (s *Sharding) axes() []AxisRef {
	var out []AxisRef
	for _, d := range s.Dims {
		out = append(out, d.Axes...)
	}
	return slices.Concat(out, s.Replicated, s.Unreduced)
}

// checkPerValue checks the shardings of values of the given types.
func checkPerValue(v *PerValue, types []ir.Type, op *ir.Op, r *ir.Reporter, f fault) bool {
	nth := func(i int) fault {
		if len(types) == 1 {
			return f.of("- ")
		}
		return f.of(fmt.Sprintf("%d - ", i))
	}
	if len(types) == 0 && len(v.Shardings) == 1 {
		s := v.Shardings[0]
		replicated := !slices.ContainsFunc(s.Dims, func(d DimSharding) bool { return len(d.Axes) > 0 })
		if m := meshOf(s, op, r); m == nil || m.maximal() || replicated {
			return checkSharding(s, nil, op, r, nth(0))
		}
	}
	if len(v.Shardings) != len(types) {
		return f.no("shardings don't match number of values: %d shardings vs %d values", len(v.Shardings), len(types))
	}
	for i, s := range v.Shardings {
		if !checkSharding(s, types[i], op, r, nth(i)) {
			return false
		}
	}
	return true
}

// Names of operations that the rules check for.
const (
	nameManual = "sdy.manual_computation"
	nameMesh   = "sdy.mesh"
	nameNamed  = "sdy.named_computation"
	nameReturn = "sdy.return"
)

// Attributes that any op may have.
const (
	AttrValueSharding = "sdy.sharding"      // the shardings of results; arguments and results of functions have it, too
	AttrValueRule     = "sdy.sharding_rule" // how dimensions of operands and results belong together
	edgesName         = "sdy.propagation_edges"
	resultEdgesName   = "sdy.result_propagation_edges"    // of an operation with regions, as an array
	argEdgesName      = "sdy.block_arg_propagation_edges" // the same
)

// verifyAttr checks sdy.sharding and sdy.sharding_rule of an operation.
func verifyAttr(op *ir.Op, name string, a ir.Attr, r *ir.Reporter) {
	if op.Def().Dialect() == "hlocb" {
		return // until it is lowered, a hook keeps the source's shardings of its former results
	}
	switch name {
	case AttrValueSharding:
		v := view.Data[PerValue](a)
		if v == nil {
			r.Errorf(op, "should have a sharding attribute of type TensorShardingPerValueAttr")
			return
		}
		checkPerValue(v, op.ResultTypes(), op, r, at(op, r).of("result "))
	case AttrValueRule:
		rule := view.Data[Rule](a)
		if rule == nil {
			r.Errorf(op, "should have a sharding rule attribute of type OpShardingRuleAttr for attr named '%s'", AttrValueRule)
			return
		}
		rule.check(op, at(op, r))
	case edgesName:
		e := view.Data[PropagationEdges](a)
		if e == nil {
			r.Errorf(op, "should have a propagation edges attribute of type PropagationEdgesAttr for attr named '%s'", edgesName)
			return
		}
		e.check(op, r)
	case resultEdgesName, argEdgesName:
		list, ok := a.(*ir.ArrayAttr)
		if !ok || slices.ContainsFunc(list.Elems(), func(e ir.Attr) bool { return view.Data[PropagationEdges](e) == nil }) {
			r.Errorf(op, "should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr named '%s' or '%s'", resultEdgesName, argEdgesName)
		}
	}
}

// verifyValueAttr checks sdy.sharding of an argument or result of a function.
func verifyValueAttr(op *ir.Op, result bool, i int, t ir.Type, name string, a ir.Attr, r *ir.Reporter) {
	if name != AttrValueSharding {
		return
	}
	side := "arg"
	if result {
		side = "result"
	}
	f := at(op, r).of(fmt.Sprintf("%s %d - ", side, i))
	s := view.Data[Sharding](a)
	if s == nil {
		f("should have a sharding attribute of type TensorShardingAttr")
		return
	}
	checkSharding(s, t, op, r, f)
}
