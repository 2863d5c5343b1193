// Package shape holds the operations of MLIR's shape dialect that stand in StableHLO programs with dynamic shapes.
// Others of its operations are carried as unknown ones.
package shape

import "github.com/hlocb/hlocb/ir"

// The operations.
var (
	Broadcast = &ir.Def{
		Name: "shape.broadcast", Doc: "Computes the shape that shapes broadcast to.",
		Operands: []ir.Arg{{Name: "shapes", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure,
		Format: "$shapes attr-dict `:` type($shapes) `->` type($result)",
	}
	ConstShape = &ir.Def{
		Name: "shape.const_shape", Doc: "Gives a constant shape.",
		Results: []ir.Arg{{Name: "result"}}, Attrs: []ir.AttrSpec{{Name: "shape"}},
		Traits: ir.Pure,
		Syntax: "attr-dict `[` size, ... `]` `:` type($result)",
		Parse:  parseConstShape, Print: printConstShape,
	}
	CstrBroadcastable = &ir.Def{
		Name: "shape.cstr_broadcastable", Doc: "Gives a witness that shapes broadcast.",
		Operands: []ir.Arg{{Name: "shapes", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "result"}},
		Format: "$shapes attr-dict `:` type($shapes) `` custom<Witness>(type($result))",
	}
	NumElements = &ir.Def{
		Name: "shape.num_elements", Doc: "Computes the number of elements of a shape.",
		Operands: []ir.Arg{{Name: "shape"}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure,
		Format: "$shape attr-dict `:` type($shape) `->` type($result)",
	}
	ShapeOf = &ir.Def{
		Name: "shape.shape_of", Doc: "Gives the shape of a value.",
		Operands: []ir.Arg{{Name: "arg"}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure,
		Format: "$arg attr-dict `:` type($arg) `->` type($result)",
	}
)

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "shape",
		Ops:  []*ir.Def{Broadcast, ConstShape, CstrBroadcastable, NumElements, ShapeOf},
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
	st.SetAttr("shape", indexElements(c, dims))
	p.Expect(":")
	st.Types = append(st.Types, p.ParseType())
}

func printConstShape(p ir.AsmPrinter, op *ir.Op) {
	p.PrintAttrDict(op.Attrs(), "shape")
	p.Print(" ")
	var dims []int64
	if d, ok := op.Attr("shape").(*ir.DenseAttr); ok {
		if t, ok := d.Type().(*ir.TensorType); ok && t.Rank() == 1 && t.Shape()[0] < 1<<10 {
			dims, _ = d.Int64s()
		}
	}
	p.PrintInts(dims)
	p.Print(" : ")
	p.PrintType(op.Result(0).Type())
}
