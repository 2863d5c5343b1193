package fn

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// parseFunc reads [visibility] @name(arguments) [-> results] [attributes {...}] [{ body }].
func parseFunc(p ir.AsmParser, st *ir.OpState) {
	for _, v := range [...]string{"public", "private", "nested"} {
		if p.AcceptKeyword(v) {
			st.SetAttr(AttrSymVisibility, ir.NewString(v))
			break
		}
	}
	st.SetAttr(ir.SymbolName, ir.NewString(p.ParseSymbol()))

	var args []ir.Argument
	var room [2]struct {
		types [4]ir.Type
		attrs [4]*ir.DictAttr
	}
	inputs, results := typed{room[0].types[:0], room[0].attrs[:0]}, typed{room[1].types[:0], room[1].attrs[:0]}
	p.Expect("(")
	for more := !p.Peek(")"); more; more = p.Accept(",") {
		a, ok := p.ParseOptionalArgument(true, true)
		switch {
		case !ok && len(args) > 0:
			p.Errorf("expected SSA identifier")
		case !ok:
			inputs.parse(p)
		case len(inputs.types) > len(args):
			p.Errorf("expected type instead of SSA identifier")
		default:
			args = append(args, a)
			inputs.add(a.Type, a.Attrs)
		}
	}
	p.Expect(")")
	if p.Accept("->") {
		if p.Accept("(") {
			for more := !p.Peek(")"); more; more = p.Accept(",") {
				results.parse(p)
			}
			p.Expect(")")
		} else {
			results.add(p.ParseType(), nil)
		}
	}
	p.ParseOptionalAttrDictWithKeyword(st)
	st.AddAttr(p, AttrFunctionType, ir.NewTypeAttr(p.Context().Function(inputs.types, results.types)))
	if a := dicts(inputs.attrs); a != nil {
		st.AddAttr(p, AttrArgAttrs, a)
	}
	if a := dicts(results.attrs); a != nil {
		st.AddAttr(p, AttrResAttrs, a)
	}
	body := p.ParseOptionalRegion(args...)
	if body == nil {
		body = p.Module().NewRegion()
	}
	st.Bodies = append(st.Bodies, body)
}

// typed lists types with the attributes of each, nil if it has none.
type typed struct {
	types []ir.Type
	attrs []*ir.DictAttr
}

func (l *typed) add(t ir.Type, d *ir.DictAttr) {
	l.types, l.attrs = append(l.types, t), append(l.attrs, d)
}

// parse reads a type with optional attributes.
func (l *typed) parse(p ir.AsmParser) {
	t := p.ParseType()
	var d *ir.DictAttr
	if p.Peek("{") {
		d, _ = p.ParseAttr(nil).(*ir.DictAttr)
	}
	l.add(t, d)
}

// dicts returns an array with one dictionary per entry, or nil if all are empty.
func dicts(list []*ir.DictAttr) ir.Attr {
	if !slices.ContainsFunc(list, func(d *ir.DictAttr) bool { return len(d.Entries()) > 0 }) {
		return nil
	}
	elems := make([]ir.Attr, len(list))
	for i, d := range list {
		if d == nil {
			d = ir.NewDict(nil)
		}
		elems[i] = d
	}
	return ir.NewArray(elems)
}

func printFunc(p ir.AsmPrinter, op *ir.Op) {
	f := FuncOp{op}
	p.Print(" ")
	if v, ok := op.Attr(AttrSymVisibility).(*ir.StringAttr); ok {
		p.Print(v.Value())
		p.Print(" ")
	}
	p.PrintSymbol(f.Symbol())
	t := f.Type()
	p.Print("(")
	for i, in := range t.Inputs() {
		if i > 0 {
			p.Print(", ")
		}
		if f.External() {
			printTyped(p, in, f.ArgAttrs(i))
		} else {
			p.PrintArgument(f.Body().Arg(i), f.ArgAttrs(i))
		}
	}
	p.Print(")")
	if results := t.Results(); len(results) > 0 {
		_, function := results[0].(*ir.FunctionType)
		parens := len(results) > 1 || function || f.ResultAttrs(0) != nil
		p.Print(" -> ")
		if parens {
			p.Print("(")
		}
		for i, r := range results {
			if i > 0 {
				p.Print(", ")
			}
			printTyped(p, r, f.ResultAttrs(i))
		}
		if parens {
			p.Print(")")
		}
	}
	p.PrintAttrDictWithKeyword(op.Attrs(), ir.SymbolName, AttrSymVisibility, AttrFunctionType, AttrArgAttrs, AttrResAttrs)
	if !f.External() {
		p.Print(" ")
		p.PrintRegion(f.Region(0), false, true)
	}
}

func printTyped(p ir.AsmPrinter, t ir.Type, attrs *ir.DictAttr) {
	p.PrintType(t)
	if attrs != nil {
		p.PrintAttrDict(attrs.Entries())
	}
}
