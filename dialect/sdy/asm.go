package sdy

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// ParseAttr reads an attribute of the dialect after its mnemonic; those it does not know it leaves to be carried
// as text.
func ParseAttr(p ir.AsmParser, name string) ir.Attr {
	switch name {
	case "mesh":
		return AttrOf(parseMesh(p))
	case "sharding":
		return AttrOf(parseSharding(p))
	case "sharding_per_value":
		p.Expect("<")
		v := parsePerValue(p)
		p.Expect(">")
		return AttrOf(v)
	case "manual_axes":
		return AttrOf(parseManualAxes(p))
	case axisListName, axisListsName, allToAllName:
		return parseList(p, name)
	}
	return nil
}

func parseMesh(p ir.AsmParser) *Mesh {
	m := &Mesh{}
	p.Expect("<")
	p.ParseList("[", "]", func() {
		name := p.ParseString()
		p.Expect("=")
		m.Axes = append(m.Axes, MeshAxis{name, p.ParseInteger()})
	})
	if p.Accept(",") {
		p.ExpectKeyword("device_ids")
		p.Expect("=")
		m.DeviceIDs = append([]int64{}, p.ParseIntegers()...)
	}
	p.Expect(">")
	return m
}

func parseAxisRef(p ir.AsmParser) AxisRef {
	a := AxisRef{Name: p.ParseString()}
	if p.Accept(":") {
		p.Expect("(")
		a.Pre = p.ParseInteger()
		p.Expect(")")
		pos := p.Pos()
		if a.Size = p.ParseInteger(); a.Size <= 0 {
			p.ErrorfAt(pos, "sub-axis sizes must be greater than 0")
		}
	}
	return a
}

func parseAxes(p ir.AsmParser) []AxisRef {
	var axes []AxisRef
	p.ParseList("{", "}", func() { axes = append(axes, parseAxisRef(p)) })
	return axes
}

func parseDim(p ir.AsmParser) DimSharding {
	d := DimSharding{Priority: -1}
	p.ParseList("{", "}", func() {
		if d.Open {
			p.Errorf("expected '}'")
		}
		if p.Accept("?") {
			d.Open = true
			return
		}
		d.Axes = append(d.Axes, parseAxisRef(p))
	})
	pos := p.Pos()
	if word := p.ParseOptionalKeyword(); word != "" {
		n, ok := strings.CutPrefix(word, "p")
		v, err := strconv.ParseInt(n, 10, 64)
		if !ok || err != nil {
			p.ErrorfAt(pos, "expecting integer priority in format 'p<integer>', got: %s", word)
		}
		d.Priority = v
	}
	return d
}

func parseSharding(p ir.AsmParser) *Sharding {
	s := &Sharding{}
	p.Expect("<")
	if p.AcceptKeyword("mesh") {
		s.Inline = parseMesh(p)
	} else {
		s.Mesh = p.ParseSymbol()
	}
	p.Expect(",")
	p.ParseList("[", "]", func() { s.Dims = append(s.Dims, parseDim(p)) })
	for p.Accept(",") {
		switch {
		case p.AcceptKeyword("replicated"):
			p.Expect("=")
			s.Replicated = parseAxes(p)
		case p.AcceptKeyword("unreduced"):
			p.Expect("=")
			s.Unreduced = parseAxes(p)
		default:
			p.Errorf("expected 'replicated' or 'unreduced'")
		}
	}
	p.Expect(">")
	return s
}

func parsePerValue(p ir.AsmParser) *PerValue {
	v := &PerValue{}
	p.ParseList("[", "]", func() { v.Shardings = append(v.Shardings, parseSharding(p)) })
	return v
}

func parseManualAxes(p ir.AsmParser) *ManualAxes {
	m := &ManualAxes{}
	p.ParseList("{", "}", func() { m.Names = append(m.Names, p.ParseString()) })
	return m
}

// The attributes of manual_computation and named_computation.
const (
	attrIn     = "in_shardings"
	attrOut    = "out_shardings"
	attrManual = "manual_axes"
	attrName   = "name"
)

// parseManual reads (%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%b: type) { body } : type.
func parseManual(p ir.AsmParser, st *ir.OpState) {
	operands := parseOperands(p)
	named := func(name string, read func() any) {
		p.ExpectKeyword(name)
		p.Expect("=")
		st.SetAttr(name, AttrOf(read()))
	}
	named(attrIn, func() any { return parsePerValue(p) })
	named(attrOut, func() any { return parsePerValue(p) })
	named(attrManual, func() any { return parseManualAxes(p) })
	parseBody(p, st, operands)
}

// parseNamed reads <"name">(%a) in_shardings=[...] out_shardings=[...] (%b: type) { body } : type.
func parseNamed(p ir.AsmParser, st *ir.OpState) {
	p.Expect("<")
	st.SetAttr(attrName, ir.NewString(p.ParseString()))
	p.Expect(">")
	operands := parseOperands(p)
	for _, name := range [...]string{attrIn, attrOut} {
		if p.AcceptKeyword(name) {
			p.Expect("=")
			st.SetAttr(name, AttrOf(parsePerValue(p)))
		}
	}
	parseBody(p, st, operands)
}

func parseOperands(p ir.AsmParser) (operands []ir.Operand) {
	p.ParseList("(", ")", func() { operands = append(operands, p.ParseOperand()) })
	return operands
}

// parseBody reads (%b: type) { body } {attributes} : type.
func parseBody(p ir.AsmParser, st *ir.OpState, operands []ir.Operand) {
	var args []ir.Argument
	p.ParseList("(", ")", func() { args = append(args, p.ParseArgument(true, false)) })
	st.Bodies = append(st.Bodies, p.ParseRegion(args...))
	p.ParseOptionalAttrDict(st)
	p.Expect(":")
	pos := p.Pos()
	t := p.ParseFunctionType()
	p.ResolveOperands(operands, t.Inputs(), pos, st)
	st.Types = append(st.Types, t.Results()...)
}

func printManual(p ir.AsmPrinter, op *ir.Op) {
	printOperands(p, op)
	p.Print(" in_shardings=" + inner(op.Attr(attrIn)))
	p.Print(" out_shardings=" + inner(op.Attr(attrOut)))
	p.Print(" manual_axes=" + strings.TrimPrefix(inner(op.Attr(attrManual)), attrManual))
	printBody(p, op, attrIn, attrOut, attrManual)
}

func printNamed(p ir.AsmPrinter, op *ir.Op) {
	p.Print("<")
	p.PrintAttr(op.Attr(attrName))
	p.Print(">")
	printOperands(p, op)
	for _, name := range [...]string{attrIn, attrOut} {
		if a := op.Attr(name); a != nil {
			p.Print(" " + name + "=" + inner(a))
		}
	}
	printBody(p, op, attrName, attrIn, attrOut)
}

func printOperands(p ir.AsmPrinter, op *ir.Op) {
	p.Print("(")
	p.PrintValues(op.OperandList())
	p.Print(")")
}

func printBody(p ir.AsmPrinter, op *ir.Op, elided ...string) {
	p.Print(" (")
	for i, a := range op.Region(0).Entry().Args() {
		if i > 0 {
			p.Print(", ")
		}
		p.PrintArgument(a, nil)
	}
	p.Print(") ")
	p.PrintRegion(op.Region(0), false, true)
	p.PrintAttrDict(op.Attrs(), elided...)
	p.Print(" : ")
	var in, out []ir.Type
	for _, v := range op.Operands() {
		in = append(in, v.Type())
	}
	for _, v := range op.Results() {
		out = append(out, v.Type())
	}
	p.PrintFunctionType(in, out)
}

// inner returns the body of a without its outer angle brackets.
func inner(a ir.Attr) string {
	d, ok := a.(*ir.DialectAttr)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(d.Body(), "<"), ">")
}

// directions are the spellings of propagation_barrier's allowed_direction, an i32 in generic form.
var directions = [...]string{"NONE", "FORWARD", "BACKWARD", "BOTH"}

func parseDirection(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	word := p.ParseKeyword()
	for i, d := range directions {
		if d == word {
			args[0].Attr = ir.NewInteger(int64(i), p.Context().I32())
			return
		}
	}
	p.ErrorfAt(pos, "expected one of NONE, FORWARD, BACKWARD, BOTH")
}

func printDirection(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
	if a, ok := args[0].Attr.(*ir.IntegerAttr); ok && a.Value() >= 0 && int(a.Value()) < len(directions) {
		p.Print(directions[a.Value()])
	}
}
