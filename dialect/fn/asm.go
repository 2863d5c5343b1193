package fn

import "github.com/hlocb/hlocb/ir"

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
	var inputs []ir.Type
	var argAttrs []*ir.DictAttr
	p.ParseList("(", ")", func() {
		if a, ok := p.ParseOptionalArgument(true, true); ok {
			if len(inputs) > len(args) {
				p.Errorf("expected type instead of SSA identifier")
			}
			args = append(args, a)
			inputs, argAttrs = append(inputs, a.Type), append(argAttrs, a.Attrs)
			return
		}
		if len(args) > 0 {
			p.Errorf("expected SSA identifier")
		}
		t, d := parseTyped(p)
		inputs, argAttrs = append(inputs, t), append(argAttrs, d)
	})
	var results []ir.Type
	var resAttrs []*ir.DictAttr
	result := func() {
		t, d := parseTyped(p)
		results, resAttrs = append(results, t), append(resAttrs, d)
	}
	if p.Accept("->") {
		if p.Peek("(") {
			p.ParseList("(", ")", result)
		} else {
			results, resAttrs = append(results, p.ParseType()), append(resAttrs, nil)
		}
	}
	p.ParseOptionalAttrDictWithKeyword(st)
	st.SetAttr(AttrFunctionType, ir.NewTypeAttr(p.Context().Function(inputs, results)))
	if a := dicts(argAttrs); a != nil {
		st.SetAttr(AttrArgAttrs, a)
	}
	if a := dicts(resAttrs); a != nil {
		st.SetAttr(AttrResAttrs, a)
	}
	body := p.ParseOptionalRegion(args...)
	if body == nil {
		body = p.Module().NewRegion()
	}
	st.Bodies = append(st.Bodies, body)
}

// parseTyped reads a type with optional attributes.
func parseTyped(p ir.AsmParser) (ir.Type, *ir.DictAttr) {
	t := p.ParseType()
	if !p.Peek("{") {
		return t, nil
	}
	d, _ := p.ParseAttr(nil).(*ir.DictAttr)
	return t, d
}

// dicts returns an array with one dictionary per entry, or nil if all are empty.
func dicts(list []*ir.DictAttr) ir.Attr {
	elems, any := make([]ir.Attr, len(list)), false
	for i, d := range list {
		if d == nil {
			d = ir.NewDict(nil)
		}
		any = any || len(d.Entries()) > 0
		elems[i] = d
	}
	if !any {
		return nil
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
