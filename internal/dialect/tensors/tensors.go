// Package tensors holds the operations of MLIR's tensor dialect that occur in StableHLO programs with dynamic shapes.
// Its other operations are kept as unknown operations.
package tensors

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// Constraints on operands and results.
var (
	anyTensor = tensor("tensor of any non-token type values", func(*ir.TensorType) bool { return true })
	notScalar = tensor("non-0-ranked or unranked tensor", func(t *ir.TensorType) bool { return !t.Ranked() || t.Rank() > 0 })
	ranked    = tensor("ranked tensor of any non-token type values", (*ir.TensorType).Ranked)
	static    = tensor("statically shaped tensor of any non-token type values", func(t *ir.TensorType) bool {
		return t.Ranked() && !slices.Contains(t.Shape(), ir.Dynamic)
	})
	index = ir.Constraint{Summary: "index", Check: func(t ir.Type) bool { _, ok := t.(*ir.IndexType); return ok }}
)

func tensor(summary string, is func(*ir.TensorType) bool) ir.Constraint {
	return ir.Constraint{Summary: summary, Check: func(t ir.Type) bool { tt, ok := t.(*ir.TensorType); return ok && is(tt) }}
}

func verifyCast(op *ir.Op, r *ir.Reporter) {
	a, b := op.Operand(0).Type().(*ir.TensorType), op.Result(0).Type().(*ir.TensorType)
	ok := a.Elem() == b.Elem()
	if ok && a.Ranked() && b.Ranked() {
		ok = slices.EqualFunc(a.Shape(), b.Shape(), func(m, n int64) bool { return m == n || m == ir.Dynamic || n == ir.Dynamic })
	}
	if !ok {
		r.Errorf(op, "operand type '%s' and result type '%s' are cast incompatible", a, b)
	}
}

func verifyExtract(op *ir.Op, r *ir.Reporter) {
	t := op.Operand(0).Type().(*ir.TensorType)
	switch {
	case op.Result(0).Type() != t.Elem():
		r.Errorf(op, "failed to verify that result type matches element type of tensor")
	case op.NumOperands()-1 != t.Rank():
		r.Errorf(op, "incorrect number of indices for extract_element")
	}
}

func verifyFromElements(op *ir.Op, r *ir.Reporter) {
	t := op.Result(0).Type().(*ir.TensorType)
	n := int64(1)
	for _, d := range t.Shape() {
		n *= d
	}
	ok := int64(op.NumOperands()) == n
	for _, v := range op.Operands() {
		ok = ok && v.Type() == t.Elem()
	}
	if !ok {
		r.Errorf(op, "failed to verify that operand types match result element type")
	}
}

func verifyInsert(op *ir.Op, r *ir.Reporter) {
	t := op.Operand(1).Type().(*ir.TensorType)
	switch {
	case op.Result(0).Type() != ir.Type(t):
		r.Errorf(op, "failed to verify that result type matches type of dest")
	case op.Operand(0).Type() != t.Elem():
		r.Errorf(op, "failed to verify that scalar type matches element type of dest")
	case op.NumOperands()-2 != t.Rank():
		r.Errorf(op, "incorrect number of indices")
	}
}

// named returns a ResultNames hook that proposes one name.
func named(name string) func(*ir.Op, func(*ir.Value, string)) {
	return func(op *ir.Op, set func(*ir.Value, string)) { set(op.Result(0), name) }
}

// The operations.
var (
	Cast = &ir.Def{
		Name: "tensor.cast", Doc: "Changes how much of a tensor's shape is static.",
		Operands: []ir.Arg{{Name: "source", Type: anyTensor}}, Results: []ir.Arg{{Name: "dest", Type: anyTensor}},
		Traits: ir.Pure, ResultNames: named("cast"), Verify: verifyCast, Fold: foldCast,
		Clauses: ir.Clauses("source and dest have one element type and shapes that agree where both are known"),
		Format:  "$source attr-dict `:` type($source) `to` type($dest)",
	}
	Dim = &ir.Def{
		Name: "tensor.dim", Doc: "Returns the size of a dimension.",
		Operands: []ir.Arg{{Name: "source", Type: notScalar}, {Name: "index", Type: index}}, Results: []ir.Arg{{Name: "result", Type: index}},
		Traits: ir.Pure, ResultNames: named("dim"), Fold: foldDim,
		Format: "attr-dict $source `,` $index `:` custom<Dim>(type($source), type($index), type($result))",
	}
	Extract = &ir.Def{
		Name: "tensor.extract", Doc: "Returns one element.",
		Operands: []ir.Arg{{Name: "tensor", Type: ranked}, {Name: "indices", Type: index, Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure, ResultNames: named("extracted"), Verify: verifyExtract, Fold: foldExtract,
		Clauses: ir.Clauses("there is one index for each dimension; the result is of the tensor's element type"),
		Format:  "$tensor `[` $indices `]` attr-dict `:` custom<Extract>(type($tensor), ref($indices), type($indices), type($result))",
	}
	FromElements = &ir.Def{
		Name: "tensor.from_elements", Doc: "Makes a tensor of its elements.",
		Operands: []ir.Arg{{Name: "elements", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result", Type: static}},
		Traits: ir.Pure, ResultNames: named("from_elements"), Verify: verifyFromElements, Fold: foldFromElements,
		Clauses: ir.Clauses("elements are as many as the result has, and of its element type"),
		Format:  "$elements attr-dict `:` custom<FromElements>(ref($elements), type($elements), type($result))",
	}
	Insert = &ir.Def{
		Name: "tensor.insert", Doc: "Replaces one element.",
		Operands: []ir.Arg{{Name: "scalar"}, {Name: "dest", Type: ranked}, {Name: "indices", Type: index, Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result", Type: ranked}},
		Traits: ir.Pure, ResultNames: named("inserted"), Verify: verifyInsert,
		Clauses: ir.Clauses("there is one index for each dimension; scalar is of dest's element type, and the result of dest's type"),
		Format:  "$scalar `into` $dest `[` $indices `]` attr-dict `:` custom<Insert>(type($dest), ref($indices), type($indices), type($scalar), type($result))",
	}
)

// foreign lists the other operations.
const foreign = `
bitcast
collapse_shape reassociation
concat dim
empty
expand_shape reassociation static_output_shape
extract_slice operands:4 static_offsets static_sizes static_strides
gather gather_dims unique?
generate
insert_slice operands:5 static_offsets static_sizes static_strides
pad nofold? operands:3 static_high static_low
parallel_insert_slice operands:5 static_offsets static_sizes static_strides
rank
reshape
scatter scatter_dims unique?
splat
yield
`

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	print := func(i int) func(ir.AsmPrinter, *ir.Op, []ir.DirectiveArg) {
		return func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintType(args[i].Types[0]) }
	}
	return &ir.Dialect{
		Name: "tensor", Foreign: ir.ForeignOps("tensor", foreign),
		Ops: []*ir.Def{Cast, Dim, Extract, FromElements, Insert},
		Directives: map[string]*ir.Directive{
			"Dim":          {Parse: parseDim, Print: print(0)},
			"Extract":      {Parse: parseExtract, Print: print(0)},
			"FromElements": {Parse: parseFromElements, Print: print(2)},
			"Insert":       {Parse: parseInsert, Print: print(0)},
		},
	}
}

// elem reads a tensor type and returns it and its element type.
func elem(p ir.AsmParser) (t, e ir.Type) {
	pos := p.Pos()
	t = p.ParseType()
	tt, ok := t.(*ir.TensorType)
	if !ok {
		p.ErrorfAt(pos, "expected tensor type")
	}
	return t, tt.Elem()
}

func indices(p ir.AsmParser, n int) []ir.Type {
	var out []ir.Type
	for range n {
		out = append(out, p.Context().Index())
	}
	return out
}

func parseDim(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	t := p.ParseType()
	args[0].Types, args[1].Types, args[2].Types = []ir.Type{t}, indices(p, 1), indices(p, 1)
}

func parseExtract(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	t, e := elem(p)
	args[0].Types, args[2].Types, args[3].Types = []ir.Type{t}, indices(p, len(args[1].Operands)), []ir.Type{e}
}

func parseFromElements(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	t, e := elem(p)
	for range args[0].Operands {
		args[1].Types = append(args[1].Types, e)
	}
	args[2].Types = []ir.Type{t}
}

func parseInsert(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	t, e := elem(p)
	args[0].Types, args[2].Types, args[3].Types, args[4].Types = []ir.Type{t}, indices(p, len(args[1].Operands)), []ir.Type{e}, []ir.Type{t}
}
