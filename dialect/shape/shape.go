// Package shape holds the operations of MLIR's shape dialect that occur in StableHLO programs with dynamic shapes. Its
// other operations are kept as unknown operations.
package shape

import "github.com/hlocb/hlocb/ir"

// Constraints on operands and results: shapes, which may be errors, or tensors of their sizes.
var (
	shapes = ir.Constraint{Summary: "shape or extent tensor", Check: func(t ir.Type) bool { return is(t, "shape") || extents(t) }}
	count  = ir.Constraint{Summary: "size or index", Check: func(t ir.Type) bool { _, ok := t.(*ir.IndexType); return ok || is(t, "size") }}
	shaped = ir.Constraint{Summary: "shaped of any non-token type values or ", Check: func(t ir.Type) bool {
		switch t.(type) {
		case *ir.TensorType, *ir.ShapedType:
			return true
		}
		return is(t, "value_shape")
	}}
	witness = ir.Constraint{Summary: "", Check: func(t ir.Type) bool { return is(t, "witness") }}
)

// is reports whether t is !shape.<name>.
func is(t ir.Type, name string) bool {
	d, ok := t.(*ir.DialectType)
	return ok && d.Dialect() == "shape" && d.Name() == name
}

func extents(t ir.Type) bool {
	tt, ok := t.(*ir.TensorType)
	if !ok || !tt.Ranked() || tt.Rank() != 1 {
		return false
	}
	_, ok = tt.Elem().(*ir.IndexType)
	return ok
}

// propagates returns a check that a result can hold the errors of an operand: if an operand can, the result type must
// be !shape.<name>.
func propagates(name string) func(*ir.Op, *ir.Reporter) {
	return func(op *ir.Op, r *ir.Reporter) {
		for _, v := range op.Operands() {
			if is(v.Type(), "shape") && !is(op.Result(0).Type(), name) {
				r.Errorf(op, "if at least one of the operands can hold error values then the result must be of type `%s` to propagate them", name)
				return
			}
		}
	}
}

// agrees reports an error if a result does not hold n sizes.
func agrees(op *ir.Op, r *ir.Reporter, n int64) {
	t, ok := op.Result(0).Type().(*ir.TensorType)
	if ok && t.Shape()[0] != ir.Dynamic && t.Shape()[0] != n {
		r.Errorf(op, "inferred type(s) '%s' are incompatible with return type(s) of operation '%s'", r.Context().Tensor([]int64{n}, t.Elem(), nil), t)
	}
}

func verifyShapeOf(op *ir.Op, r *ir.Reporter) {
	if t, ok := op.Operand(0).Type().(*ir.TensorType); ok && t.Ranked() {
		agrees(op, r, int64(t.Rank()))
	}
}

func verifyConstShape(op *ir.Op, r *ir.Reporter) {
	if d, ok := op.Attr(AttrShape).(*ir.DenseAttr); ok {
		if t, ok := d.Type().(*ir.TensorType); ok && t.Rank() == 1 {
			agrees(op, r, t.Shape()[0])
		}
	}
}

var boolean = ir.AttrConstraint{Summary: "bool attribute", Kind: ir.KindBool, Form: ir.FormBare, FormType: ir.Int(1), Check: func(a ir.Attr) bool {
	i, ok := a.(*ir.IntegerAttr)
	return ok && i.Type() == ir.Type(ir.Int(1))
}}

var message = ir.AttrConstraint{Summary: "string attribute", Kind: ir.KindString, Check: func(a ir.Attr) bool { _, ok := a.(*ir.StringAttr); return ok }}

// Attributes of const_witness and const_shape.
const (
	AttrPassing = "passing"
	AttrShape   = "shape"
)

// The operations.
var (
	Assuming = &ir.Def{
		Name: "shape.assuming", Doc: "Computes values in its region if the witness holds.",
		Operands: []ir.Arg{{Name: "witness", Type: witness}}, Results: []ir.Arg{{Name: "results", Mult: ir.Variadic}},
		Regions: []ir.RegionSpec{{Name: "doRegion"}}, Traits: ir.SingleBlock,
		Flow:   &ir.Flow{Runs: []ir.Runs{ir.RunsOnce}, Edges: []ir.FlowEdge{{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}}}},
		Syntax: "$witness (`->` `(` type($results) `)`)? $doRegion attr-dict",
		Parse:  parseAssuming, Print: printAssuming, Verify: verifyAssuming,
		Clauses: ir.Clauses("the region yields the results"),
	}
	AssumingYield = &ir.Def{
		Name: "shape.assuming_yield", Doc: "Yields the results of assuming.",
		Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
		Traits:   ir.Pure | ir.Terminator | ir.ReturnLike,
		Format:   "attr-dict ($operands^ `:` type($operands))?",
	}
	Broadcast = &ir.Def{
		Name: "shape.broadcast", Doc: "Computes the shape to which shapes broadcast.",
		Operands: []ir.Arg{{Name: "shapes", Type: shapes, Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result", Type: shapes}},
		Attrs:  []ir.AttrSpec{{Name: "error", Optional: true, Type: message}},
		Traits: ir.Pure, Verify: propagates("shape"), Fold: foldBroadcast,
		Clauses: ir.Clauses("the result can hold the errors that an operand can"),
		Format:  "$shapes attr-dict `:` type($shapes) `->` type($result)",
	}
	ConstShape = &ir.Def{
		Name: "shape.const_shape", Doc: "Returns a constant shape.",
		Results: []ir.Arg{{Name: "result", Type: shapes}}, Attrs: []ir.AttrSpec{{Name: AttrShape, Type: ir.AttrConstraint{Summary: "index elements attribute", Check: func(a ir.Attr) bool {
			d, ok := a.(*ir.DenseAttr)
			if !ok {
				return false
			}
			t, ok := d.Type().(*ir.TensorType)
			if !ok {
				return false
			}
			_, ok = t.Elem().(*ir.IndexType)
			return ok
		}}}},
		Traits: ir.Pure | ir.ConstantLike, Verify: verifyConstShape,
		Clauses: ir.Clauses("the result has as many sizes as shape"),
		Syntax:  "attr-dict `[` size, ... `]` `:` type($result)",
		Parse:   parseConstShape, Print: printConstShape,
	}
	ConstWitness = &ir.Def{
		Name: "shape.const_witness", Doc: "Returns a witness that holds if the operand is true.",
		Results: []ir.Arg{{Name: "result", Type: witness}},
		Attrs:   []ir.AttrSpec{{Name: AttrPassing, Type: boolean}},
		Traits:  ir.Pure | ir.ConstantLike,
		Format:  "$passing attr-dict `` custom<Witness>(type($result))",
	}
	CstrBroadcastable = &ir.Def{
		Name: "shape.cstr_broadcastable", Doc: "Returns a witness that the shapes broadcast.",
		Operands: []ir.Arg{{Name: "shapes", Type: shapes, Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result", Type: witness}},
		Clauses: ir.Clauses("there are at least two shapes"),
		Fold:    foldBroadcastable,
		Verify: func(op *ir.Op, r *ir.Reporter) {
			if op.NumOperands() < 2 {
				r.Errorf(op, "required at least 2 input shapes")
			}
		},
		Format: "$shapes attr-dict `:` type($shapes) `` custom<Witness>(type($result))",
	}
	NumElements = &ir.Def{
		Name: "shape.num_elements", Doc: "Computes the number of elements of a shape.",
		Operands: []ir.Arg{{Name: "shape", Type: shapes}}, Results: []ir.Arg{{Name: "result", Type: count}},
		Traits: ir.Pure, Verify: propagates("size"), Fold: foldNumElements,
		Clauses: ir.Clauses("the result can hold the errors that the operand can"),
		Format:  "$shape attr-dict `:` type($shape) `->` type($result)",
	}
	ShapeOf = &ir.Def{
		Name: "shape.shape_of", Doc: "Returns the shape of a value.",
		Operands: []ir.Arg{{Name: "arg", Type: shaped}}, Results: []ir.Arg{{Name: "result", Type: shapes}},
		Traits: ir.Pure, Verify: verifyShapeOf,
		Clauses: ir.Clauses("the result has as many sizes as arg has dimensions"),
		Format:  "$arg attr-dict `:` type($arg) `->` type($result)",
	}
)

// foreign lists the other operations.
const foreign = `
add
any
assuming_all
concat
const_size value
cstr_eq
cstr_require msg
debug_print
dim
div
from_extent_tensor
from_extents
func arg_attrs? function_type res_attrs? sym_name sym_visibility?
function_library mapping sym_name sym_visibility?
get_extent
index_to_size
is_broadcastable
max
meet error?
min
mul
rank
reduce
return
shape_eq
size_to_index
split_at
to_extent_tensor
value_as_shape
value_of
with_shape
yield
`

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "shape", OpenOps: true, Foreign: ir.ForeignOps("shape", foreign),
		Ops: []*ir.Def{Assuming, AssumingYield, Broadcast, ConstShape, ConstWitness, CstrBroadcastable, NumElements, ShapeOf},
		Directives: map[string]*ir.Directive{"Witness": { // the result is always !shape.witness
			Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
				args[0].Types = []ir.Type{p.Context().DialectType("shape", "witness", "", nil)}
			},
			Print: func(ir.AsmPrinter, *ir.Op, []ir.DirectiveArg) {},
		}},
	}
}

// parseConstShape reads {attrs} [6, 4] : type.
func parseConstShape(p ir.AsmParser, st *ir.OpState) {
	p.ParseOptionalAttrDict(st)
	dims := p.ParseIntegers()
	c := p.Context()
	st.AddAttr(p, AttrShape, Elements(c, dims))
	p.Expect(":")
	st.Types = append(st.Types, p.ParseType())
}

func printConstShape(p ir.AsmPrinter, op *ir.Op) {
	p.PrintAttrDict(op.Attrs(), AttrShape)
	p.Print(" ")
	var dims []int64
	if d, ok := op.Attr(AttrShape).(*ir.DenseAttr); ok {
		if t, ok := d.Type().(*ir.TensorType); ok && t.Rank() == 1 && t.Shape()[0] < 1<<10 {
			dims, _ = d.Int64s()
		}
	}
	p.PrintInts(dims)
	p.Print(" : ")
	p.PrintType(op.Result(0).Type())
}

// parseAssuming reads %witness -> (types) { ... } attrs.
func parseAssuming(p ir.AsmParser, st *ir.OpState) {
	pos := p.Pos()
	w := p.ParseOperand()
	p.ResolveOperands([]ir.Operand{w}, []ir.Type{p.Context().DialectType("shape", "witness", "", nil)}, pos, st)
	if p.Accept("->") {
		p.ParseList("(", ")", func() { st.Types = append(st.Types, p.ParseType()) })
	}
	body := p.ParseRegion()
	if body.Entry() == nil {
		body.AddBlock()
	}
	if b := body.Entry(); b.Terminator() == nil { // that of a region that yields nothing
		b.Append(p.Module().NewOp(&ir.OpState{Def: AssumingYield, Pos: pos}))
	}
	st.Bodies = append(st.Bodies, body)
	p.ParseOptionalAttrDict(st)
}

func printAssuming(p ir.AsmPrinter, op *ir.Op) {
	p.Print(" ")
	p.PrintValue(op.Operand(0))
	if op.NumResults() > 0 {
		p.Print(" -> (")
		p.PrintTypes(op.ResultTypes())
		p.Print(")")
	}
	p.Print(" ")
	p.PrintRegion(op.Region(0), false, op.NumResults() > 0)
	p.PrintAttrDict(op.Attrs())
}

// verifyAssuming checks that the region yields the results.
func verifyAssuming(op *ir.Op, r *ir.Reporter) {
	b := op.Region(0).Entry()
	if len(b.Args()) > 0 {
		r.Errorf(op, "expects a region with one block without arguments")
		return
	}
	y := b.Terminator()
	if y == nil || !y.Is(AssumingYield) || y.NumOperands() != op.NumResults() {
		r.Errorf(op, "expects its region to yield %d values", op.NumResults())
		return
	}
	for i, v := range op.Results() {
		if y.Operand(i).Type() != v.Type() {
			r.Errorf(op, "result %d has type '%s', but its region yields '%s'", i, v.Type(), y.Operand(i).Type())
		}
	}
}
