package vhlo

import (
	"math"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// read reads the parameters of a type of row r (StableHLO, VhloTypes.td).
func (r *typeRow) read(p ir.AsmParser) any {
	t := &typ{row: r.def, since: r.since}
	if r.kind == scalar {
		t.builtin = r.builtin(p.Context())
		return t
	}
	at := asmFailer{p, p.Pos()}
	if r.kind != tokenKind && r.kind != witnessKind {
		p.Expect("<")
		t.read(p, r.kind)
		p.Expect(">")
	}
	t.builtin = t.convert(at, r.kind)
	return t
}

func (t *typ) read(p ir.AsmParser, k kind) {
	part := func() { t.parts = append(t.parts, p.ParseType()) }
	switch k {
	case complexKind, unrankedKind:
		part()
	case tensorKind, bufferKind:
		t.shape = p.ParseShape()
		part()
		if p.Accept(",") {
			t.encoding = p.ParseAttr(nil)
		}
	case tupleKind, futureKind:
		if !p.Peek(">") {
			p.ParseList("", "", part)
		}
	case funcKind:
		list := func() { // MLIR writes no types as ()
			if p.Accept("(") {
				p.Expect(")")
			} else if !p.Peek(")") {
				p.ParseList("", "", part)
			}
		}
		p.Expect("(")
		list()
		p.Expect(")")
		t.inputs = len(t.parts)
		p.Expect("->")
		list()
	case quantKind, quantAxisKind:
		t.quantText(&view.Text{P: p}, k == quantAxisKind)
	}
}

// quantText is f32:i8, 0.5:1, -128:127, 1, or with the axis and lists in brackets instead of one scale and zero point.
func (t *typ) quantText(x *view.Text, axis bool) {
	if x.P != nil {
		t.quant, t.parts = &quant.Uniform{Axis: -1, Scales: make([]float64, 1), ZeroPoints: make([]int64, 1)}, make([]ir.Type, 2)
	}
	u := t.quant
	x.Type(&t.parts[0])
	x.Lit(":")
	x.Type(&t.parts[1])
	x.Lit(", ")
	scale := func(v *float64) {
		if x.P != nil {
			*v = x.P.ParseFloat()
		} else {
			x.Lit(string(tensor.AppendFloat(nil, tensor.F64, math.Float64bits(*v))))
		}
	}
	if axis {
		dim := int64(u.Axis)
		if x.Int(&dim); dim < 0 {
			x.P.Errorf("illegal quantized dimension: %d", dim)
		}
		x.Lit(", ")
		if u.Axis = int(dim); x.P != nil {
			u.Scales = nil
		}
		view.Items(x, "[", "]", &u.Scales, scale)
		x.Lit(", ")
		if x.Ints(&u.ZeroPoints); len(u.ZeroPoints) != len(u.Scales) {
			x.P.Errorf("%d scales and %d zero points", len(u.Scales), len(u.ZeroPoints))
		}
	} else {
		scale(&u.Scales[0])
		x.Lit(":")
		x.Int(&u.ZeroPoints[0])
	}
	x.Lit(", ")
	x.Int(&u.Min)
	x.Lit(":")
	x.Int(&u.Max)
	x.Lit(", ")
	signed := int64(0)
	if u.Signed {
		signed = 1
	}
	x.Int(&signed)
	u.Signed = signed&1 != 0
}

// parseFunc reads @name(%arg: type, ...) -> (types) { ... } {attributes} (StableHLO, VhloOps.cpp).
func parseFunc(p ir.AsmParser, st *ir.OpState) {
	at := asmFailer{p, p.Pos()}
	name := str(p.ParseSymbol())
	var args []ir.Argument
	t := &typ{row: kindRow(funcKind).def, since: Minimum}
	p.ParseList("(", ")", func() {
		if a, ok := p.ParseOptionalArgument(true, false); ok {
			args = append(args, a)
			t.parts = append(t.parts, a.Type)
		} else {
			t.parts = append(t.parts, p.ParseType())
		}
	})
	t.inputs = len(t.parts)
	p.Expect("->")
	p.ParseList("(", ")", func() { t.parts = append(t.parts, p.ParseType()) })
	body := p.ParseOptionalRegion(args...)
	if body == nil {
		body = p.Module().NewRegion()
	}
	st.Bodies = append(st.Bodies, body)
	p.ParseOptionalAttrDict(st)
	t.builtin = t.convert(at, funcKind)
	st.SetAttr("sym_name", name)
	st.SetAttr("function_type", typeAttr.New(&typeRef{t.row.New(p.Context(), t)}))
}

// printFunc writes a function as MLIR does. MLIR omits the arguments of a function without a body; printFunc writes
// their types.
func printFunc(p ir.AsmPrinter, op *ir.Op) {
	sym, _ := ir.DataOf[text](op.Attr("sym_name"))
	ref, _ := ir.DataOf[typeRef](op.Attr("function_type"))
	if sym == nil || ref == nil || dataOf(ref.typ) == nil || len(op.Regions()) != 1 {
		return // the verifier reports it
	}
	t := dataOf(ref.typ)
	p.Print(" ")
	p.PrintSymbol(sym.value)
	p.Print("(")
	r := op.Region(0)
	if r.Entry() == nil {
		p.PrintTypes(t.parts[:t.inputs])
	} else {
		for i, a := range r.Entry().Args() {
			if i > 0 {
				p.Print(", ")
			}
			p.PrintArgument(a, nil)
		}
	}
	p.Print(") -> (")
	p.PrintTypes(t.parts[t.inputs:])
	p.Print(") ")
	p.PrintRegion(r, false, true)
	p.PrintAttrDict(op.Attrs(), "sym_name", "function_type")
}
