// Package tensors holds the operations of MLIR's tensor dialect that stand in StableHLO programs with dynamic
// shapes. Others of its operations are carried as unknown ones.
package tensors

import "github.com/hlocb/hlocb/ir"

// named returns a ResultNames hook that proposes one name.
func named(name string) func(*ir.Op, func(*ir.Value, string)) {
	return func(op *ir.Op, set func(*ir.Value, string)) { set(op.Result(0), name) }
}

// The operations.
var (
	Cast = &ir.Def{
		Name: "tensor.cast", Doc: "Says more or less of a tensor's shape.",
		Operands: []ir.Arg{{Name: "source"}}, Results: []ir.Arg{{Name: "dest"}},
		Traits: ir.Pure, ResultNames: named("cast"),
		Format: "$source attr-dict `:` type($source) `to` type($dest)",
	}
	Dim = &ir.Def{
		Name: "tensor.dim", Doc: "Gives the size of a dimension.",
		Operands: []ir.Arg{{Name: "source"}, {Name: "index"}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure, ResultNames: named("dim"),
		Format: "attr-dict $source `,` $index `:` custom<Dim>(type($source), type($index), type($result))",
	}
	Extract = &ir.Def{
		Name: "tensor.extract", Doc: "Gives one element.",
		Operands: []ir.Arg{{Name: "tensor"}, {Name: "indices", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure, ResultNames: named("extracted"),
		Format: "$tensor `[` $indices `]` attr-dict `:` custom<Extract>(type($tensor), ref($indices), type($indices), type($result))",
	}
	FromElements = &ir.Def{
		Name: "tensor.from_elements", Doc: "Makes a tensor of its elements.",
		Operands: []ir.Arg{{Name: "elements", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure, ResultNames: named("from_elements"),
		Format: "$elements attr-dict `:` custom<FromElements>(ref($elements), type($elements), type($result))",
	}
	Insert = &ir.Def{
		Name: "tensor.insert", Doc: "Replaces one element.",
		Operands: []ir.Arg{{Name: "scalar"}, {Name: "dest"}, {Name: "indices", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure, ResultNames: named("inserted"),
		Format: "$scalar `into` $dest `[` $indices `]` attr-dict `:` custom<Insert>(type($dest), ref($indices), type($indices), type($scalar), type($result))",
	}
)

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	print := func(i int) func(ir.AsmPrinter, *ir.Op, []ir.DirectiveArg) {
		return func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintType(args[i].Types[0]) }
	}
	return &ir.Dialect{
		Name: "tensor",
		Ops:  []*ir.Def{Cast, Dim, Extract, FromElements, Insert},
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
