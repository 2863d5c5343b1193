package sdy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// parseMesh reads <["x"=2, "y"=4], device_ids=[...]>.
func parseMesh(p ir.AsmParser) *DeviceMesh {
	m := &DeviceMesh{}
	start := p.Pos()
	p.Expect("<")
	p.Expect("[")
	if !p.Accept("]") {
		p.ParseList("", "", func() {
			pos := p.Pos()
			name := p.ParseString()
			p.Expect("=")
			size := p.ParseInteger()
			if size < 1 {
				p.ErrorfAt(pos, "axis size must be at least 1, got: %d", size)
			}
			m.Axes = append(m.Axes, MeshAxis{name, size})
		})
		p.Expect("]")
	}
	if p.Accept(",") {
		p.ExpectKeyword("device_ids")
		p.Expect("=")
		p.Expect("[")
		p.ParseList("", "", func() { m.DeviceIDs = append(m.DeviceIDs, p.ParseInteger()) })
		p.Expect("]")
	}
	p.Expect(">")
	if wrong := m.check(); wrong != "" {
		p.ErrorfAt(start, "%s", wrong)
	}
	if len(m.Axes) > 0 && slices.IsSorted(m.DeviceIDs) {
		m.DeviceIDs = nil // nil means this order
	}
	return m
}

// check returns a description of the mesh's error, or "".
func (m *DeviceMesh) check() string {
	for i, a := range m.Axes {
		if m.index(a.Name) < i {
			return "duplicate axis name: " + mlirtext.Quote(a.Name)
		}
	}
	if len(m.DeviceIDs) == 0 {
		return ""
	}
	if i := slices.IndexFunc(m.DeviceIDs, func(id int64) bool { return id < 0 }); i >= 0 {
		return fmt.Sprintf("device id must be non-negative, got: %d", m.DeviceIDs[i])
	}
	if len(m.Axes) == 0 {
		if len(m.DeviceIDs) > 1 {
			return "axes is empty and device_ids has more than one element"
		}
		return ""
	}
	product := int64(1)
	for _, a := range m.Axes {
		product *= a.Size
	}
	if product != int64(len(m.DeviceIDs)) {
		return fmt.Sprintf("total product of axis sizes must match total number of device ids, got: %d != %d", product, len(m.DeviceIDs))
	}
	sorted := slices.Sorted(slices.Values(m.DeviceIDs))
	for i, id := range sorted {
		if id != int64(i) {
			text := fmt.Sprint(sorted)
			return "sorted device ids must be iota(product(axes)), got: " + strings.ReplaceAll(text[1:len(text)-1], " ", ", ")
		}
	}
	return ""
}

// parseAxisRef reads "x" or "x":(2)4.
func parseAxisRef(p ir.AsmParser) AxisRef {
	a := AxisRef{Name: p.ParseString()}
	if p.Accept(":") {
		pos := p.Pos()
		p.Expect("(")
		a.Pre = p.ParseInteger()
		p.Expect(")")
		if a.Size = p.ParseInteger(); !a.part() {
			p.ErrorfAt(pos, "sub-axis pre-size must be at least 1: %s:(0)0", mlirtext.Quote(a.Name))
		}
	}
	return a
}

// parseAxes reads {"x", "y"}. parseSomeAxes requires at least one axis.
func parseAxes(p ir.AsmParser) []AxisRef {
	var axes []AxisRef
	p.ParseList("{", "}", func() { axes = append(axes, parseAxisRef(p)) })
	return axes
}

func parseSomeAxes(p ir.AsmParser) []AxisRef {
	var axes []AxisRef
	p.Expect("{")
	p.ParseList("", "", func() { axes = append(axes, parseAxisRef(p)) })
	p.Expect("}")
	return axes
}

// parseDim reads {"x", ?}p1.
func parseDim(p ir.AsmParser) DimSharding {
	d := DimSharding{Priority: -1}
	p.Expect("{")
	for !p.Accept("}") {
		if len(d.Axes) > 0 {
			p.Expect(",")
		}
		if p.Accept("?") {
			d.Open = true
			p.Expect("}")
			break
		}
		d.Axes = append(d.Axes, parseAxisRef(p))
	}
	if word := p.ParseOptionalKeyword(); word != "" {
		digits, ok := strings.CutPrefix(word, "p")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			p.Errorf("expecting priority in format 'p<number>', got: %s", word)
		}
		if digits[0] == '0' && len(digits) > 1 {
			p.Errorf("priorities with leading zeros are not allowed, got: %s", word)
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			p.Errorf("expecting integer priority, got: %s", word)
		}
		d.Priority = v
	}
	return d
}

// parseSharding reads <@mesh, [{"x"}, {}], replicated={...}, unreduced={...}>.
func parseSharding(p ir.AsmParser) *Sharding {
	s := &Sharding{}
	p.Expect("<")
	if p.AcceptKeyword("mesh") {
		s.Inline, _ = ir.DataOf[DeviceMesh](MeshAttr.ParseShort(p))
	} else {
		s.Mesh = p.ParseSymbol()
	}
	p.Expect(",")
	p.Expect("[")
	if !p.Accept("]") {
		p.ParseList("", "", func() { s.Dims = append(s.Dims, parseDim(p)) })
		p.Expect("]")
	}
	for p.Accept(",") {
		switch {
		case len(s.Replicated) == 0 && p.AcceptKeyword("replicated"):
			p.Expect("=")
			s.Replicated = parseSomeAxes(p)
		case len(s.Unreduced) == 0 && p.AcceptKeyword("unreduced"):
			p.Expect("=")
			s.Unreduced = parseSomeAxes(p)
		default:
			p.Errorf("failed to parse Sdy_TensorSharding, expected valid named axis list after comma")
		}
	}
	p.Expect(">")
	return s
}

// ParsePerValue reads the bracketed shardings, each as parameters, as a full attribute or as an alias.
func ParsePerValue(p ir.AsmParser) *PerValue {
	v := &PerValue{}
	p.ParseList("[", "]", func() {
		if s, ok := ir.DataOf[Sharding](ShardingAttr.ParseShort(p)); ok {
			v.Shardings = append(v.Shardings, s)
		}
	})
	return v
}

// parseManualAxes reads {"x", "y"}.
func parseManualAxes(p ir.AsmParser) *ManualAxes {
	m := &ManualAxes{}
	p.ParseList("{", "}", func() { m.Names = append(m.Names, p.ParseString()) })
	return m
}

// Attributes of manual_computation and named_computation.
const (
	attrIn     = "in_shardings"
	attrOut    = "out_shardings"
	attrManual = "manual_axes"
	attrName   = "name"
)

// parseManual reads (%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%b: type) { body } : type.
func parseManual(p ir.AsmParser, st *ir.OpState) {
	operands := parseOperands(p)
	for _, name := range [...]string{attrIn, attrOut} {
		p.ExpectKeyword(name)
		p.Expect("=")
		st.SetAttr(name, PerValueAttr.New(ParsePerValue(p)))
	}
	p.ExpectKeyword(attrManual)
	p.Expect("=")
	st.SetAttr(attrManual, ManualAxesAttr.ParseShort(p))
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
			st.SetAttr(name, PerValueAttr.New(ParsePerValue(p)))
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
	for _, name := range [...]string{attrIn, attrOut, attrManual} {
		p.Print(" " + name + "=" + bareText(op.Attr(name)))
	}
	printBody(p, op, attrIn, attrOut, attrManual)
}

func printNamed(p ir.AsmPrinter, op *ir.Op) {
	p.Print("<")
	p.PrintAttr(op.Attr(attrName))
	p.Print(">")
	printOperands(p, op)
	for _, name := range [...]string{attrIn, attrOut} {
		if a := op.Attr(name); a != nil {
			p.Print(" " + name + "=" + bareText(a))
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

// directions are the spellings of propagation_barrier's allowed_direction, an i32 in generic form.
var directions = [...]string{"NONE", "FORWARD", "BACKWARD", "BOTH"}

func parseDirection(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	word := p.ParseKeyword()
	for i, d := range directions {
		if d == word {
			args[0].Attr = ir.NewInteger(int64(i), ir.Int(32))
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
