package sdy

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Shardings is a directive for the shardings of several values, in brackets.
var Shardings = &ir.Directive{
	ByText: true,
	Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
		v := &PerValue{}
		v.list(&view.Text{P: p})
		args[0].Attr = PerValueAttr.New(v)
	},
	Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
		if v := view.Data[PerValue](args[0].Attr); v != nil {
			p.Print(view.Written(v, (*PerValue).list))
		}
	},
}

// Body is a directive for a region of one block with its arguments: (%a: type) { ... }.
var Body = &ir.Directive{
	Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
		var list []ir.Argument
		p.ParseList("(", ")", func() { list = append(list, p.ParseArgument(true, false)) })
		args[0].Regions = []*ir.Region{p.ParseRegion(list...)}
	},
	Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
		p.Print("(")
		if b := args[0].Regions[0].Entry(); b != nil {
			for i, a := range b.Args() {
				if i > 0 {
					p.Print(", ")
				}
				p.PrintArgument(a, nil)
			}
		}
		p.Print(") ")
		p.PrintRegion(args[0].Regions[0], false, true)
	},
}

func parseReduction(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	var r Reduction
	if r.text(&view.Text{P: p}); r != ReduceSum {
		args[0].Attr = ir.NewInteger(int64(r), ir.Int(32))
	}
}

func printReduction(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
	if a, ok := args[0].Attr.(*ir.IntegerAttr); ok && a.Value() != int64(ReduceSum) {
		p.Print(Reduction(a.Value()).String() + " ")
	}
}

// directions are the spellings of propagation_barrier's allowed_direction, an i32 in generic form.
var directions = [...]string{"NONE", "FORWARD", "BACKWARD", "BOTH"}

func parseDirection(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	word := p.ParseKeyword()
	i := slices.Index(directions[:], word)
	if i < 0 {
		p.ErrorfAt(pos, "expected one of NONE, FORWARD, BACKWARD, BOTH")
	}
	args[0].Attr = ir.NewInteger(int64(i), ir.Int(32))
}

func printDirection(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
	if a, ok := args[0].Attr.(*ir.IntegerAttr); ok && a.Value() >= 0 && int(a.Value()) < len(directions) {
		p.Print(directions[a.Value()])
	}
}
