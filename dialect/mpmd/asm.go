package mpmd

import (
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

var directives = map[string]*ir.Directive{
	"Body": sdy.Body, "SameType": view.SameType,
	"SameTypes": {
		Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
			args[0].Types = p.ParseTypes()
			args[1].Types = args[0].Types
		},
		Print: view.SameType.Print,
	},
	"Origin": { // "f"(1)
		Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) { args[0].Attr = parseOrigin(p) },
		Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { printOrigin(p, args[0].Attr) },
	},
	"Origins": { // ["f"(1), "g"]
		Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
			var list []ir.Attr
			p.ParseList("[", "]", func() { list = append(list, parseOrigin(p)) })
			args[0].Attr = ir.NewArray(list)
		},
		Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
			p.Print("[")
			if list, ok := args[0].Attr.(*ir.ArrayAttr); ok {
				for i, a := range list.Elems() {
					if i > 0 {
						p.Print(", ")
					}
					printOrigin(p, a)
				}
			}
			p.Print("]")
		},
	},
	"Placed": { // , stage=1, in_shardings=[...], out_shardings=[...], each of them optional
		Parse: func(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
			more := p.Accept(",")
			if more && p.AcceptKeyword("stage") {
				p.Expect("=")
				args[0].Attr = p.ParseAttr(ir.Int(64))
				more = p.Accept(",")
			}
			for i, name := range [...]string{AttrInShardings, AttrOutShardings} {
				if more && p.AcceptKeyword(name) {
					p.Expect("=")
					sdy.Shardings.Parse(p, st, args[i+1:])
					more = p.Accept(",")
				}
			}
		},
		Print: func(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
			if i, ok := args[0].Attr.(*ir.IntegerAttr); ok {
				p.Print(", stage=")
				p.PrintInt(i.Value())
			}
			for i, name := range [...]string{AttrInShardings, AttrOutShardings} {
				if args[i+1].Attr != nil {
					p.Print(", " + name + "=")
					sdy.Shardings.Print(p, op, args[i+1:])
				}
			}
		},
	},
}

func parseOrigin(p ir.AsmParser) ir.Attr {
	o := &UserOrigin{}
	o.short(&view.Text{P: p})
	return UserOriginAttr.New(o)
}

func printOrigin(p ir.AsmPrinter, a ir.Attr) {
	if o := view.Data[UserOrigin](a); o != nil {
		p.Print(view.Written(o, (*UserOrigin).short))
	}
}
