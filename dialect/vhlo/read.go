package vhlo

import (
	"github.com/hlocb/hlocb/dialect/quant"
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
		pos := p.Pos()
		key := p.ParseAttr(nil)
		if _, ok := ir.DataOf[text](key); !ok {
			p.ErrorfAt(pos, "expected VHLO key attribute")
		}
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
		p.ErrorfAt(pos, "expected a floating-point type of VHLO")
	}
	if d.bits = uint64(bits); !hexadecimal {
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
		_, ok = a.StoredBytes()
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
	readField(p, "mode", false, func() {
		pos := p.Pos()
		d.mode = p.ParseAttr(nil)
		if e, ok := d.mode.(*ir.EnumAttr); !ok || e.Enum() != modeEnum {
			p.ErrorfAt(pos, "expected VHLO result accuracy mode")
		}
	})
}

// asmFailer reports the mistakes that convert finds in a text.
type asmFailer struct{ p ir.AsmParser }

func (f asmFailer) Context() *ir.Context             { return f.p.Context() }
func (f asmFailer) Failf(format string, args ...any) { f.p.Errorf(format, args...) }

// read reads the parameters of a type of row r (StableHLO, VhloTypes.td).
func (r *typeRow) read(p ir.AsmParser) any {
	t := &typ{row: r.def, since: r.since}
	if r.kind == scalar {
		t.builtin = r.builtin(p.Context())
		return t
	}
	if r.kind != tokenKind && r.kind != witnessKind {
		p.Expect("<")
		t.read(p, r.kind)
		p.Expect(">")
	}
	t.builtin = t.convert(asmFailer{p}, r.kind)
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
