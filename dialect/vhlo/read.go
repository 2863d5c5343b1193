package vhlo

import (
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/internal/densebytes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// The parameters of attributes in text (StableHLO, VhloAttrs.td, VhloOps.cpp).

func readArray(p ir.AsmParser, d *array) {
	p.ParseList("[", "]", func() { d.elems = append(d.elems, p.ParseAttr(nil)) })
}

func readBool(p ir.AsmParser, d *boolean) {
	if d.value = p.AcceptKeyword("true"); !d.value && !p.AcceptKeyword("false") {
		p.Errorf("expected boolean value")
	}
}

func readDict(p ir.AsmParser, d *dictionary) {
	p.ParseList("{", "}", func() {
		key := p.ParseAttr(nil)
		p.Expect("=")
		d.names, d.values = append(d.names, key), append(d.values, p.ParseAttr(nil))
	})
}

func readInteger(p ir.AsmParser, d *integer) {
	pos := p.Pos()
	if a, ok := p.ParseAttr(nil).(*ir.IntegerAttr); ok {
		d.typ, d.bits = newConverter(p.Context(), Current, false).typeTo(a.Type()), uint64(a.Value())
	}
	if d.typ == nil || d.width() == 0 {
		p.ErrorfAt(pos, "expected an integer of a type that VHLO has")
	}
	d.bits = d.bits << (64 - d.width()) >> (64 - d.width())
}

func readFloat(p ir.AsmParser, d *float) {
	bits, hexadecimal := p.ParseOptionalInteger()
	value := 0.0
	if !hexadecimal {
		value = p.ParseFloat()
	}
	p.Expect(":")
	pos := p.Pos()
	d.typ = p.ParseType()
	f, ok := FromType(d.typ).(*ir.FloatType)
	if !ok || d.width() == 0 {
		p.ErrorfAt(pos, "expected a floating-point type of VHLO, found %.100s", d.typ)
	}
	switch d.bits = uint64(bits); {
	case hexadecimal:
	case f.DType() == tensor.Invalid:
		d.bits = densebytes.RoundForeign(value, f).Uint64()
	default:
		v := tensor.New(f.DType(), tensor.Shape{})
		v.SetFloat(0, value)
		d.bits = v.Bits(0)
	}
}

func readTensor(p ir.AsmParser, d *dense) {
	pos := p.Pos()
	a, ok := p.ParseAttr(nil).(*ir.DenseAttr)
	if ok {
		d.elems, d.typ = a, newConverter(p.Context(), Current, false).typeTo(a.Type())
		_, ok = densebytes.Of(a)
	}
	if !ok || d.typ == nil {
		p.ErrorfAt(pos, "expected dense elements of a type that VHLO has")
	}
}

// readField reads name = value, and a comma before all fields but the first.
func readField(p ir.AsmParser, name string, first bool, value func()) {
	if !first {
		p.Expect(",")
	}
	p.ExpectKeyword(name)
	p.Expect("=")
	value()
}

func readAlias(p ir.AsmParser, d *alias) {
	readField(p, "outputTupleIndices", true, func() { d.OutputTupleIndices = p.ParseIntegers() })
	readField(p, "operandIndex", false, func() { d.OperandIndex = p.ParseInteger() })
	readField(p, "operandTupleIndices", false, func() { d.OperandTupleIndices = p.ParseIntegers() })
}

func readExtensions(p ir.AsmParser, d *extensions) {
	readField(p, "bounds", true, func() {
		p.ParseList("[", "]", func() {
			if p.Accept("?") {
				d.bounds = append(d.bounds, ir.Dynamic)
			} else {
				d.bounds = append(d.bounds, p.ParseInteger())
			}
		})
	})
}

func readAccuracy(p ir.AsmParser, d *accuracy) {
	readField(p, "atol", true, func() { d.atol = p.ParseFloat() })
	readField(p, "rtol", false, func() { d.rtol = p.ParseFloat() })
	readField(p, "ulps", false, func() { d.ulps = p.ParseInteger() })
	readField(p, "mode", false, func() { d.mode = p.ParseAttr(nil) })
}

func readSubAxis(p ir.AsmParser, d *subAxis) {
	readField(p, "pre_size", true, func() { d.PreSize = p.ParseInteger() })
	readField(p, "size", false, func() { d.Size = p.ParseInteger() })
}

func readAxisRef(p ir.AsmParser, d *axisRef) {
	readField(p, "name", true, func() { d.name = p.ParseAttr(nil) })
	if p.Peek(",") {
		readField(p, "sub_axis_info", false, func() { d.sub = p.ParseAttr(nil) })
	}
}

func readGroups(p ir.AsmParser, d *groups) {
	readField(p, "mesh", true, func() { d.mesh = p.ParseAttr(nil) })
	readField(p, "axes", false, func() { d.axes = p.ParseAttr(nil) })
}

func readMeshAxis(p ir.AsmParser, d *meshAxis) {
	readField(p, "name", true, func() { d.name = p.ParseAttr(nil) })
	readField(p, "size", false, func() { d.size = p.ParseInteger() })
}

func readMesh(p ir.AsmParser, d *mesh) {
	readField(p, "axes", true, func() { d.axes = p.ParseAttr(nil) })
	if p.Peek(",") {
		readField(p, "device_ids", false, func() { d.devices = p.ParseAttr(nil) })
	}
}

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
		t.readQuant(p, k == quantAxisKind)
	}
}

func (t *typ) readQuant(p ir.AsmParser, axis bool) {
	u := &quant.Uniform{Axis: -1}
	t.quant = u
	t.parts = append(t.parts, p.ParseType())
	p.Expect(":")
	t.parts = append(t.parts, p.ParseType())
	p.Expect(",")
	if axis {
		if u.Axis = int(p.ParseInteger()); u.Axis < 0 {
			p.Errorf("illegal quantized dimension: %d", u.Axis)
		}
		p.Expect(",")
		p.ParseList("[", "]", func() { u.Scales = append(u.Scales, p.ParseFloat()) })
		p.Expect(",")
		if u.ZeroPoints = p.ParseIntegers(); len(u.ZeroPoints) != len(u.Scales) {
			p.Errorf("%d scales and %d zero points", len(u.Scales), len(u.ZeroPoints))
		}
	} else {
		u.Scales = []float64{p.ParseFloat()}
		p.Expect(":")
		u.ZeroPoints = []int64{p.ParseInteger()}
	}
	p.Expect(",")
	u.Min = p.ParseInteger()
	p.Expect(":")
	u.Max = p.ParseInteger()
	p.Expect(",")
	u.Signed = p.ParseInteger()&1 != 0
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
