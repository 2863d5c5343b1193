package passes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// RefineShapes infers static shapes from argument types.
type RefineShapes struct {
	Evaluator rewrite.Evaluator // computes shapes; nil: only shapes that are constants are known
	pass.Rules
}

func (RefineShapes) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-refine-shapes",
		Aliases: []string{"refine-shapes"},
		Doc: "Infers more specific shapes from the types of the main function's arguments and from computed shapes, through calls, loops and " +
			"branches. Integer computations of constants are folded. The values of constant integers that are passed to a function become " +
			"constants in it. Slices and gathers of a value with bounds keep bounds; the pass of jaxlib makes their sizes static.",
	}
}

func (p RefineShapes) Run(ctx *pass.Context, m *ir.Module) error {
	f, err := refineTarget(m)
	if err != nil {
		return err
	}
	return p.refine(ctx, f)
}

// refine infers the types in f and in the functions that it calls.
func (p RefineShapes) refine(ctx *pass.Context, f fn.FuncOp) error {
	s := &shapeRefiner{ctx: ctx, rules: p.Rules, m: f.Module(), contexts: map[*ir.Op]*refinement{}, effects: map[*ir.Op]bool{}}
	s.patterns = s.allPatterns(newFolder(ctx, Fold{Floats: pass.Set(false), Limit: pass.Set[int64](math.MaxInt64), Evaluator: p.Evaluator}).patterns())
	s.graph = flow.Of(s.m, nil)
	s.foreign = calledFrom(s.graph, f)
	return s.function(&refinement{f: f, types: f.Type().Inputs()})
}

// calledFrom returns the functions that are called from functions that f does not reach, which are not refined.
func calledFrom(g *flow.Graph, f fn.FuncOp) map[*ir.Op]bool {
	reached, outside := map[*ir.Op]bool{f.Op: true}, map[*ir.Op]bool{}
	for changed := true; changed; {
		changed = false
		for _, callee := range g.Functions() {
			clear := true
			for _, c := range g.Callers(callee) {
				if !reached[flow.FunctionOf(c)] {
					clear = false
				} else if !reached[callee] {
					reached[callee], changed = true, true
				}
			}
			outside[callee] = !clear
		}
	}
	return outside
}

// shapeRefiner refines one module.
type shapeRefiner struct {
	ctx      *pass.Context
	rules    pass.Rules
	m        *ir.Module
	graph    *flow.Graph
	patterns []*rewrite.Pattern
	contexts map[*ir.Op]*refinement // of the functions that were refined
	active   []*ir.Op               // functions being refined
	effects  map[*ir.Op]bool        // whether a function may have side effects; false until it is computed
	foreign  map[*ir.Op]bool        // functions with calls that are not refined, which still pass every argument
	failed   error                  // of a function that was called
}

// refinement is the context in which a function is refined: leading tokens, the values of integers after them, which
// become constants in the function, and the types of the other arguments.
type refinement struct {
	f         fn.FuncOp
	tokens    int
	constants []ir.Attr
	values    []int64
	types     []ir.Type // without tokens
}

// argTypes returns the types of all arguments except the constants.
func (k *refinement) argTypes(c *ir.Context) []ir.Type {
	var out []ir.Type
	for range k.tokens {
		out = append(out, stablehlo.TokenType(c))
	}
	return append(out, k.types...)
}

func (k *refinement) String() string {
	var types []string
	for _, t := range k.types {
		types = append(types, t.String())
	}
	values := strings.Trim(strings.ReplaceAll(fmt.Sprint(k.values), " ", ", "), "[]")
	return fmt.Sprintf("RefinementKey(%s, toks=%d, dim_args=[%s], fn_args=[%s])", k.f.Symbol(), k.tokens, values, strings.Join(types, ", "))
}

// function refines a function, unless it was refined in the same context.
func (s *shapeRefiner) function(k *refinement) error {
	f, c := k.f, s.m.Context()
	if old := s.contexts[f.Op]; old != nil {
		same := len(k.values) == 0 || slices.Equal(k.values, old.values)
		if !same || !slices.Equal(k.argTypes(c), old.argTypes(c)) {
			return s.m.Errorf(f.Op, "'%s' op refined with incompatible refinement keys:\n  curr=%s\n  prev=%s", f.Name(), k, old)
		}
		if slices.Contains(s.active, f.Op) {
			return s.m.Errorf(f.Op, "'%s' op Function %s is being refined recursively\n", f.Name(), f.Symbol())
		}
		return nil
	}
	s.contexts[f.Op] = k
	s.active = append(s.active, f.Op)
	defer func() { s.active = s.active[:len(s.active)-1] }()
	if err := oneBlock(f); err != nil {
		return err
	}
	if n := len(k.constants); n > 0 {
		s.ctx.Count("ops changed", 1)
		b := s.m.AtStart(f.Body())
		for i, a := range f.Body().Args()[k.tokens : k.tokens+n] {
			b.At(a.Loc(), a.Pos())
			a.ReplaceAllUsesWith(ir.Must(b.Build(stablehlo.Constant, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: k.constants[i]})).Result(0))
		}
		args, results := f.ValueAttrs()
		inputs := slices.Clone(f.Type().Inputs())
		for range n {
			f.Body().RemoveArg(k.tokens)
		}
		inputs, args = slices.Delete(inputs, k.tokens, k.tokens+n), slices.Delete(args, k.tokens, k.tokens+n)
		f.SetSignature(c.Function(inputs, f.Type().Results()), args, results)
	}
	if types := k.argTypes(c); !slices.Equal(types, f.Type().Inputs()) {
		s.ctx.Count("ops changed", 1)
		if err := refineArguments(f, types); err != nil {
			return err
		}
	}
	_, err := s.rules.Greedy(s.ctx, f.Op, s.patterns, rewrite.Options{EraseDead: true, Constants: true, MaxIterations: 2})
	if err == nil {
		err = s.failed
	}
	return err
}

// shapeFolds are the ops that compute shapes.
var shapeFolds = []*ir.Def{
	stablehlo.Add, stablehlo.And, stablehlo.BroadcastInDim, stablehlo.Clamp, stablehlo.Compare, stablehlo.Concatenate, stablehlo.Convert,
	stablehlo.Divide, stablehlo.DynamicSlice, stablehlo.GetDimensionSize, stablehlo.Maximum, stablehlo.Minimum, stablehlo.Multiply,
	stablehlo.Or, stablehlo.Remainder, stablehlo.Reshape, stablehlo.Select, stablehlo.SetDimensionSize, stablehlo.Sign, stablehlo.Slice,
	stablehlo.Subtract,
}

// allPatterns returns the patterns: refinements of certain ops, folds, and inference for all other ops.
func (s *shapeRefiner) allPatterns(folds []*rewrite.Pattern) []*rewrite.Pattern {
	list := []*rewrite.Pattern{
		rule("refine-call", s.call, fn.Call),
		rule("refine-function-type", updateFunctionType, fn.Return),
		rule("refine-branch", updateBranch, stablehlo.Return),
		rule("refine-loop", refineLoop, stablehlo.While),
		refining("refine-custom-call", s.customCall, stablehlo.CustomCall),
		refining("refine-same-shape", refineToOperand, stablehlo.Convert, stablehlo.UniformQuantize, stablehlo.BitcastConvert),
		refining("refine-to-shape", refineToShape, stablehlo.DynamicBroadcastInDim, stablehlo.DynamicIota, stablehlo.DynamicReshape, stablehlo.Rng),
		refining("refine-gathered", refineGathered, stablehlo.AllGather, stablehlo.ReduceScatter),
		refining("refine-dynamic", refineDynamic, stablehlo.DynamicConv, stablehlo.DynamicPad, stablehlo.RealDynamicSlice),
	}
	for _, p := range folds {
		if slices.Contains(shapeFolds, p.Rows[0]) {
			list = append(list, p)
		}
	}
	var inferred []*ir.Def
	for _, d := range slices.Concat(stablehlo.Ops(), chlo.Ops()) {
		if d.Infer != nil && len(d.Results) > 0 {
			inferred = append(inferred, d)
		}
	}
	return append(list, refining("refine-inferred", refineInferred, inferred...))
}

// partsOf are the ops whose attributes give sizes of their results. If the sizes are bounds of the operand, XLA
// computes as many elements as the operand has, so the results keep bounds.
var partsOf = []*ir.Def{stablehlo.Slice, stablehlo.DynamicSlice, stablehlo.Gather, stablehlo.DynamicGather}

// refining is rule for a function that rewrites only ops with results that can be refined.
func refining(name string, f func(r *rewrite.Rewriter, op *ir.Op) (bool, error), rows ...*ir.Def) *rewrite.Pattern {
	return rule(name, func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		if isSettled(op.ResultList()) {
			return false, nil
		}
		return f(r, op)
	}, rows...)
}

// isSettled reports whether no value can be refined: each is a static tensor, or not a tensor.
func isSettled(values []*ir.Value) bool {
	return !slices.ContainsFunc(values, func(v *ir.Value) bool { return !settledType(v.Type()) })
}

func settledType(t ir.Type) bool {
	switch t := t.(type) {
	case *ir.TensorType:
		return t.Static()
	case *ir.TupleType:
		return false
	}
	return true
}

// moreSpecific returns the type with the static sizes and bounds of both t and n. ok is false if t and n contradict
// each other.
func moreSpecific(c *ir.Context, t, n ir.Type) (ir.Type, bool) {
	if t == n {
		return t, true
	}
	if a, ok := t.(*ir.TupleType); ok {
		b, ok := n.(*ir.TupleType)
		if !ok || len(a.Elems()) != len(b.Elems()) {
			return nil, false
		}
		var elems []ir.Type
		for i := range a.Elems() {
			e, ok := moreSpecific(c, a.Elems()[i], b.Elems()[i])
			if !ok {
				return nil, false
			}
			elems = append(elems, e)
		}
		return c.Tuple(elems), true
	}
	a, ok1 := t.(*ir.TensorType)
	b, ok2 := n.(*ir.TensorType)
	switch {
	case !ok1 || !ok2 || a.Elem() != b.Elem():
		return nil, false
	case !b.Ranked():
		return a, true
	case !a.Ranked():
		return b, true
	case a.Rank() != b.Rank():
		return nil, false
	}
	shape, bounds, bounded := slices.Clone(a.Shape()), make([]int64, a.Rank()), false
	of := func(t *ir.TensorType, i int) int64 {
		if list := stablehlo.BoundsOf(t); i < len(list) {
			return list[i]
		}
		return ir.Dynamic
	}
	for i, d := range b.Shape() {
		switch {
		case shape[i] == ir.Dynamic:
			shape[i] = d
		case d != ir.Dynamic && d != shape[i]:
			return nil, false
		}
		bounds[i] = ir.Dynamic
		if shape[i] == ir.Dynamic {
			x, y := of(a, i), of(b, i)
			if bounds[i] = min(x, y); x == ir.Dynamic || y == ir.Dynamic {
				bounds[i] = max(x, y)
			}
			bounded = bounded || bounds[i] != ir.Dynamic
		}
	}
	if bounded {
		return c.Tensor(shape, a.Elem(), stablehlo.BoundsAttr.New(&stablehlo.Bounds{Bounds: bounds})), true
	}
	return c.Tensor(shape, a.Elem(), nil), true
}

// refineValues refines the types of values, results of op or arguments of its regions, by types. It reports whether a
// type changed.
func refineValues(r *rewrite.Rewriter, op *ir.Op, values []*ir.Value, types []ir.Type) bool {
	if len(values) != len(types) {
		return false
	}
	m, change := op.Module(), false
	refined := make([]ir.Type, len(types))
	for i, v := range values {
		t, ok := moreSpecific(m.Context(), v.Type(), types[i])
		if !ok {
			return false
		}
		refined[i] = t
		if t == v.Type() {
			continue
		}
		change = true
		for u := range v.Users() {
			switch u.Def().Dialect() {
			case stablehlo.Add.Dialect(), chlo.Tan.Dialect(), sdy.Mesh.Dialect():
			default:
				if !u.Is(fn.Return) && !u.Is(fn.Call) {
					return false // this op may not accept another type
				}
			}
		}
	}
	if !change {
		return false
	}
	r.Update(op, func() {
		for i, v := range values {
			old := v.Type()
			if refined[i] == old {
				continue
			}
			v.SetType(refined[i])
			isReturned := func(u *ir.Use) bool { return u.Owner().Is(fn.Return) }
			for u := range v.Uses() {
				if isReturned(u) { // the function's type follows later
					cast := r.After(op).At(op.Loc(), op.Pos()).Create(builtin.UnrealizedConversionCast, []*ir.Value{v}, []ir.Type{old})
					r.RetypeUses(v, cast.Result(0), isReturned)
					break
				}
			}
		}
	})
	for _, v := range values {
		for u := range v.Users() {
			r.Update(u, func() {}) // visits the user again
		}
	}
	return true
}

func refineResults(r *rewrite.Rewriter, op *ir.Op, types []ir.Type) (bool, error) {
	return refineValues(r, op, op.ResultList(), types), nil
}

// refineShape refines the only result of op to a shape.
func refineShape(r *rewrite.Rewriter, op *ir.Op, shape []int64) (bool, error) {
	t, ok := op.Result(0).Type().(*ir.TensorType)
	if !ok || t.Encoding() != nil {
		return false, nil
	}
	return refineResults(r, op, []ir.Type{op.Module().Context().Tensor(shape, t.Elem(), nil)})
}

// refineInferred refines the results of op to the types that its row infers.
func refineInferred(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	return refineAs(r, op, &ir.OpState{Def: op.Def(), Operands: op.OperandList(), Attrs: op.Attrs(), Bodies: op.Regions()})
}

// refineAs refines the results of op to the result types of the op that st describes.
func refineAs(r *rewrite.Rewriter, op *ir.Op, st *ir.OpState) (bool, error) {
	if st.Def.Infer == nil {
		return false, nil
	}
	types, err := st.Def.Infer(op.Module().Context(), st)
	if err != nil {
		return false, nil // the verifier reports it
	}
	if operand := tensorOf(op.Operand(0)); slices.Contains(partsOf, op.Def()) && operand != nil && stablehlo.BoundsOf(operand) != nil {
		types[0] = withBounds(op.Module().Context(), types[0], op.Result(0).Type())
	}
	return refineResults(r, op, types)
}

// withBounds returns t with the bounds of old instead of equal sizes.
func withBounds(c *ir.Context, t, old ir.Type) ir.Type {
	a, ok1 := t.(*ir.TensorType)
	b, ok2 := old.(*ir.TensorType)
	if !ok1 || !ok2 || !a.Ranked() || !b.Ranked() || a.Rank() != b.Rank() {
		return t
	}
	shape := slices.Clone(a.Shape())
	for i, bound := range stablehlo.BoundsOf(b) {
		if bound == shape[i] && bound != ir.Dynamic {
			shape[i] = ir.Dynamic
		}
	}
	return c.Tensor(shape, a.Elem(), a.Encoding())
}

func refineToOperand(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	t := tensorOf(op.Operand(0))
	out := tensorOf(op.Result(0))
	if t == nil || out == nil || op.Is(stablehlo.BitcastConvert) && bits(t) != bits(out) {
		return false, nil
	}
	return refineResults(r, op, []ir.Type{op.Module().Context().Tensor(t.Shape(), out.Elem(), t.Encoding())})
}

// bits returns the width of the parts of t's elements.
func bits(t *ir.TensorType) int {
	d := t.DType()
	if d.IsComplex() {
		d = d.Part()
	}
	return d.Bits()
}

// refineToShape refines an op whose last operand holds its shape.
func refineToShape(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	shape, ok := rewrite.ConstantInts(op.Operand(op.NumOperands() - 1))
	if !ok {
		return false, nil
	}
	return refineShape(r, op, shape)
}

// refineGathered refines all_gather and reduce_scatter, whose dimension grows or shrinks by the size of a group.
func refineGathered(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if op.Attr(stablehlo.AttrChannelHandle) != nil && op.Attr(stablehlo.AttrUseGlobalDeviceIDs) == nil {
		return false, nil // the groups depend on the number of partitions
	}
	size := int64(0) // of each group
	if groups, ok := op.Attr(stablehlo.AttrReplicaGroups).(*ir.DenseAttr); ok {
		if t, ok := groups.Type().(*ir.TensorType); ok && t.Rank() == 2 {
			size = t.Shape()[1]
		}
	} else if groups, err := legalize.MeshGroups(op); err == nil && len(groups) > 0 {
		size = int64(len(groups[0]))
	}
	if size == 0 {
		return false, nil
	}
	types := make([]ir.Type, op.NumResults())
	for i, v := range op.Operands() {
		t := tensorOf(v)
		if t == nil || t.Encoding() != nil || i >= len(types) {
			return false, nil
		}
		shape := slices.Clone(t.Shape())
		if a, ok := stablehlo.AsAllGather(op); ok && shape[a.AllGatherDim()] != ir.Dynamic {
			shape[a.AllGatherDim()] *= size
		} else if a, ok := stablehlo.AsReduceScatter(op); ok && shape[a.ScatterDimension()] != ir.Dynamic {
			shape[a.ScatterDimension()] /= size
		}
		types[i] = op.Module().Context().Tensor(shape, t.Elem(), nil)
	}
	return refineResults(r, op, types)
}

// refineDynamic refines an op as its static counterpart, if the operands that become attributes are constants.
func refineDynamic(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if st := staticForm(op); st != nil {
		return refineAs(r, op, st)
	}
	if !op.Is(stablehlo.RealDynamicSlice) {
		return false, nil
	}
	if sizes, ok := sliceSizes(op); ok {
		return refineShape(r, op, sizes)
	}
	return false, nil
}

// refineLoop refines the arguments of a loop's regions to the types of its operands.
func refineLoop(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if isSettled(op.ResultList()) && isSettled(op.Region(0).Entry().Args()) && isSettled(op.Region(1).Entry().Args()) {
		return false, nil
	}
	types := view.Types(op.OperandList())
	cond := refineValues(r, op, op.Region(0).Entry().Args(), types)
	return refineValues(r, op, op.Region(1).Entry().Args(), types) || cond, nil
}

// updateBranch refines the results of the op around a branch.
func updateBranch(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	p := op.Parent()
	if !p.Is(stablehlo.If) && !p.Is(stablehlo.Case) || isSettled(p.ResultList()) {
		return false, nil
	}
	return refineInferred(r, p)
}

// updateFunctionType removes casts to less specific types before a return, and updates the type of the function.
func updateFunctionType(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	c := op.Module().Context()
	f, ok := fn.AsFunc(op.Parent())
	if !ok {
		return false, nil
	}
	var types []ir.Type
	var casts []*ir.Op
	for _, v := range op.Operands() {
		t := v.Type()
		if d := v.DefiningOp(); d != nil && d.Is(builtin.UnrealizedConversionCast) && d.NumOperands() == 1 && d.NumResults() == 1 {
			if most, ok := moreSpecific(c, t, d.Operand(0).Type()); ok && most != t {
				t = d.Operand(0).Type()
				if !slices.Contains(casts, d) {
					casts = append(casts, d)
				}
			}
		}
		types = append(types, t)
	}
	if casts == nil {
		return false, nil
	}
	for _, cast := range casts {
		r.ReplaceRetyped(cast, cast.Operand(0)) // the function's type follows below
	}
	f.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(c.Function(f.Type().Inputs(), types)))
	return true, nil
}

// customCall refines the results of a custom call to the shapes that its operands hold, and removes the wrappers of
// refineArguments.
func (s *shapeRefiner) customCall(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	_, shapes, problem := shapeOperands(op)
	if problem != nil {
		s.ctx.Emit(problem)
	}
	if shapes == nil {
		return refineDynamicCall(r, op)
	}
	types, i := make([]ir.Type, op.NumResults()), 0
	for k, v := range op.Results() {
		types[k] = withShapes(op.Module().Context(), v.Type(), shapes, &i)
	}
	if done, _ := refineResults(r, op, types); !done {
		return false, nil
	}
	if call, _ := stablehlo.AsCustomCall(op); call.CallTargetName() == stablehlo.TargetShapeWrapper && op.Result(0).Type() == op.Operand(0).Type() {
		r.Replace(op, op.Operand(0))
	}
	return true, nil
}

// refineDynamicCall refines the results of a call that represents a dynamic op to the result types of the static op.
func refineDynamicCall(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	st := legalize.DynamicCall(op)
	if st == nil {
		return false, nil
	}
	if st.Def == stablehlo.RngBitGenerator { // its row infers nothing: the call's second operand is the shape
		shape, ok := rewrite.ConstantInts(op.Operand(1))
		t := tensorOf(op.Result(1))
		if !ok || t == nil {
			return false, nil
		}
		return refineResults(r, op, []ir.Type{op.Operand(0).Type(), op.Module().Context().Tensor(shape, t.Elem(), nil)})
	}
	return refineAs(r, op, st)
}

// withShapes returns t with new shapes for its tensors, including the elements of tuples.
func withShapes(c *ir.Context, t ir.Type, shapes [][]int64, i *int) ir.Type {
	switch t := t.(type) {
	case *ir.TupleType:
		var elems []ir.Type
		for _, e := range t.Elems() {
			elems = append(elems, withShapes(c, e, shapes, i))
		}
		return c.Tuple(elems)
	case *ir.TensorType:
		*i++
		return c.Tensor(shapes[*i-1], t.Elem(), nil)
	}
	*i++
	return t
}

// call refines the function that a call names in the context of the call, and the call's results. Results that are
// constants replace the call if the function has no side effects.
func (s *shapeRefiner) call(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	f, ok := fn.AsFunc(s.graph.Callee(op))
	if !ok || f.External() || s.failed != nil {
		return false, nil
	}
	k := &refinement{f: f}
	args := op.OperandList()
	for k.tokens < len(args) && args[k.tokens].Type() == stablehlo.TokenType(s.m.Context()) {
		k.tokens++
	}
	for _, v := range args[k.tokens:] {
		t := tensorOf(v)
		if t == nil || !t.Ranked() || t.Rank() != 0 {
			break
		}
		list, ok := rewrite.ConstantInts(v)
		if _, integer := t.Elem().(*ir.IntegerType); !integer || !ok || len(list) != 1 || s.foreign[f.Op] {
			break
		}
		k.constants, k.values = append(k.constants, rewrite.ConstantOf(v)), append(k.values, list[0])
	}
	rest := args[k.tokens+len(k.constants):]
	k.types = view.Types(rest)
	if s.failed = s.function(k); s.failed != nil {
		return false, s.failed
	}
	results := f.Body().Terminator().OperandList()
	constants := make([]ir.Attr, len(results))
	all := len(results) > 0
	for i, v := range results {
		if d, ok := rewrite.ConstantOf(v).(*ir.DenseAttr); ok {
			if _, err := d.Int64s(); err == nil {
				constants[i] = d
			}
		}
		all = all && constants[i] != nil
	}
	constant := func(b *ir.Builder, i int) *ir.Value {
		return ir.Must(b.Build(stablehlo.Constant, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: constants[i]})).Result(0)
	}
	if all && !s.hasEffects(f.Op) {
		var values []*ir.Value
		b := r.Before(op)
		for i := range constants {
			values = append(values, constant(b, i))
		}
		return replaceWith(r, op, values...)
	}
	done, _ := refineResults(r, op, f.Type().Results())
	if len(k.constants) > 0 {
		r.Update(op, func() {
			op.SetOperands(slices.Concat(args[:k.tokens], rest))
			if list, ok := op.Attr(fn.AttrArgAttrs).(*ir.ArrayAttr); ok && len(list.Elems()) == len(args) {
				op.SetAttr(fn.AttrArgAttrs, ir.NewArray(slices.Concat(list.Elems()[:k.tokens], list.Elems()[k.tokens+len(k.constants):])))
			}
		})
		done = true
	}
	for i, v := range op.Results() {
		if constants[i] != nil && v.HasUses() {
			r.ReplaceUses(v, constant(r.After(op), i), nil)
			done = true
		}
	}
	return done, nil
}

// hasEffects reports whether a function may have side effects, directly or through calls.
func (s *shapeRefiner) hasEffects(f *ir.Op) bool {
	if e, ok := s.effects[f]; ok {
		return e
	}
	s.effects[f] = true
	found := false
	f.Walk(func(op *ir.Op) bool {
		switch {
		case op == f:
		case op.Is(fn.Call):
			callee, ok := fn.AsFunc(s.graph.Callee(op))
			found = !ok || s.hasEffects(callee.Op)
		case !op.Has(ir.Terminator):
			found = op.Effects() != 0
		}
		return !found
	})
	s.effects[f] = found
	return found
}
