package quant

import (
	"bytes"
	"strconv"

	"github.com/hlocb/hlocb/internal/densebytes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// The types of the dialect that StableHLO does not use.

// anyType is !quant.any<...>, whose data is a *Uniform that may lack the expressed type.
var anyType = &ir.TypeDef{
	Dialect: "quant", Name: "any", Parse: parseAny, Print: printAny, Binary: anyForms(), Make: func() any { return &Uniform{Axis: -1} },
	Doc:    "Elements that are quantized in an unknown way.",
	Syntax: "<i8:f32>, or <i8> if the represented type is unknown",
}

func parseAny(p ir.AsmParser) any {
	u := &Uniform{Axis: -1}
	p.Expect("<")
	u.parseStorage(p)
	if p.Accept(":") {
		u.parseExpressed(p)
	}
	p.Expect(">")
	return u
}

func printAny(data any) string {
	u := data.(*Uniform)
	b := u.appendStorage([]byte{'<'})
	if u.Expressed != nil {
		b = append(append(b, ':'), u.Expressed.String()...)
	}
	return string(append(b, '>'))
}

func anyForms() []ir.Binary {
	alone := ir.BinaryData(1, func(c ir.Coder, u *Uniform) {
		u.codeFlags(c)
		c.Type(&u.Storage)
		c.Int(&u.Min)
		c.Int(&u.Max)
		if err := u.completeStorage(); err != nil {
			c.Failf("%s", err)
		}
	})[0]
	alone.Is = func(data any) bool { return data.(*Uniform).Expressed == nil }
	expressed := ir.BinaryData(2, func(c ir.Coder, u *Uniform) {
		u.codeTypes(c, &u.Storage, &u.Expressed)
		c.Int(&u.Min)
		c.Int(&u.Max)
		u.complete(c)
	})[0]
	return []ir.Binary{alone, expressed}
}

// calibrated is the data of !quant.calibrated<f32<min:max>>.
type calibrated struct {
	expressed ir.Type
	min, max  float64
}

var calibratedType = &ir.TypeDef{
	Dialect: "quant", Name: "calibrated", Make: func() any { return &calibrated{} },
	Parse: func(p ir.AsmParser) any {
		d := &calibrated{}
		p.Expect("<")
		pos := p.Pos()
		if format, ok := tensor.ParseDType(p.ParseOptionalKeyword()); ok { // a type would go on after <
			d.expressed = ir.ElementOf(format)
		}
		if !isFloat(d.expressed) {
			p.ErrorfAt(pos, "expressed type must be floating point")
		}
		p.Expect("<")
		d.min = p.ParseFloat()
		p.Expect(":")
		d.max = p.ParseFloat()
		p.Expect(">")
		p.Expect(">")
		if !(d.min < d.max) {
			p.Errorf("illegal min and max: (%s:%s)", formatScale(d.min), formatScale(d.max))
		}
		return d
	},
	Print: func(data any) string {
		d := data.(*calibrated)
		return "<" + d.expressed.String() + "<" + formatScale(d.min) + ":" + formatScale(d.max) + ">>"
	},
	Binary: ir.BinaryData(3, func(c ir.Coder, d *calibrated) {
		c.Type(&d.expressed)
		c.Float64(&d.min)
		c.Float64(&d.max)
		if !isFloat(d.expressed) || !(d.min < d.max) {
			c.Failf("illegal calibrated type of %s from %g to %g", d.expressed, d.min, d.max)
		}
	}),
	Doc:    "Real numbers whose range was measured.",
	Syntax: "<f32<-1.0:2.5>>",
}

func isFloat(t ir.Type) bool { _, ok := t.(*ir.FloatType); return ok }

// blocks are the scales of elements that are quantized per block: !quant.uniform<i8:f32:{0:1, 1:2}, {{2.0, 3.0:1}}>.
type blocks struct {
	dims, sizes []int64
	shape       []int64
	scales      []uint64 // bits of the expressed type
	zeros       []int64
}

// maxBlocks limits the number of scales in a file, because a few bytes can stand for many equal ones.
const maxBlocks = 1 << 16

// code codes the blocks of u.
func (d *blocks) code(c ir.Coder, u *Uniform) {
	width := 0
	if t, ok := u.Storage.(*ir.IntegerType); ok {
		width = t.Width()
	}
	format := ir.ElementDType(u.Expressed)
	if width < 2 || width > 32 || format == tensor.Invalid {
		c.Failf("no scales of blocks are known for a storage type %s and an expressed type %s", u.Storage, u.Expressed)
	}
	c.Ints(&d.dims)
	c.Ints(&d.sizes)
	values := make([]uint64, len(d.scales))
	copy(values, d.scales)
	d.list(c, u.Expressed, &values)
	d.scales = values
	values = make([]uint64, len(d.zeros))
	for i, z := range d.zeros {
		values[i] = uint64(z) << (64 - width) >> (64 - width)
	}
	d.list(c, u.Storage, &values)
	d.zeros = make([]int64, len(values))
	for i, v := range values {
		if d.zeros[i] = int64(v); u.Signed {
			d.zeros[i] = int64(v<<(64-width)) >> (64 - width)
		}
	}
	if len(d.dims) != len(d.sizes) || len(d.zeros) != len(d.scales) {
		c.Failf("%d dimensions, %d sizes of blocks, %d scales and %d zero points", len(d.dims), len(d.sizes), len(d.scales), len(d.zeros))
	}
}

// list codes numbers, stored in the bits of elem, as dense elements.
func (d *blocks) list(c ir.Coder, elem ir.Type, values *[]uint64) {
	size := densebytes.ForeignSize(elem)
	var attr ir.Attr
	if d.shape != nil && len(*values) > 0 {
		var b []byte
		for _, v := range *values {
			for k := range size {
				b = append(b, byte(v>>(8*k)))
			}
		}
		if whole := bytes.Repeat(b[:size], len(*values)); bytes.Equal(whole, b) {
			b = b[:size]
		}
		dense, problem := densebytes.Attr(c.Context().Tensor(d.shape, elem, nil), d.shape, elem, b)
		if problem != "" {
			c.Failf("%s", problem)
		}
		attr = dense
	}
	c.Attr(&attr)
	dense, _ := attr.(*ir.DenseAttr)
	if dense == nil {
		c.Failf("expected scales of blocks, found %.100s", attr)
	}
	t, _ := dense.Type().(*ir.TensorType)
	b, ok := densebytes.Of(dense)
	if t == nil || t.Elem() != elem || !ok || t.Rank() == 0 || dense.NumElements() < 1 || dense.NumElements() > maxBlocks {
		c.Failf("expected at most %d scales of blocks, found %.100s", maxBlocks, dense.Type())
	}
	d.shape = t.Shape()
	*values = make([]uint64, dense.NumElements())
	for i := range *values {
		for k, x := range b[i*size%len(b):][:size] {
			(*values)[i] |= uint64(x) << (8 * k)
		}
	}
}

// parseBlocks reads {dimension:size, ...}, {{scale:zero, ...}, ...}>.
func (u *Uniform) parseBlocks(p ir.AsmParser) {
	d := &blocks{}
	u.blocks = d
	p.ParseList("{", "}", func() {
		d.dims = append(d.dims, p.ParseInteger())
		p.Expect(":")
		d.sizes = append(d.sizes, p.ParseInteger())
	})
	p.Expect(",")
	pos := p.Pos()
	format := ir.ElementDType(u.Expressed)
	var list func(level int) bool
	list = func(level int) bool {
		if !p.Peek("{") {
			scale, zero := u.parseScale(p)
			d.scales, d.zeros = append(d.scales, tensor.EncodeFloat(format, scale)), append(d.zeros, zero)
			return level == len(d.shape)
		}
		n := int64(0)
		first := level == len(d.shape) && len(d.scales) == 0
		if first {
			d.shape = append(d.shape, 0)
		}
		ok := level < len(d.shape)
		p.ParseList("{", "}", func() { n++; ok = list(level+1) && ok })
		if first {
			d.shape[level] = n
		}
		return ok && d.shape[level] == n
	}
	if format == tensor.Invalid || !list(0) || len(d.shape) == 0 || len(d.scales) == 0 {
		p.ErrorfAt(pos, "expected the scales of blocks as nested lists of equal lengths")
	}
	p.Expect(">")
}

// append appends the blocks, and the bracket that closes the type.
func (d *blocks) append(b []byte, format tensor.DType) []byte {
	b = append(b, ":{"...)
	for i, n := range d.dims {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(strconv.AppendInt(b, n, 10), ':'), d.sizes[i], 10)
	}
	b = append(b, "}, "...)
	n := 0
	var list func(shape []int64)
	list = func(shape []int64) {
		if len(shape) == 0 {
			b = tensor.AppendFloat(b, format, d.scales[n])
			if z := d.zeros[n]; z != 0 {
				b = strconv.AppendInt(append(b, ':'), z, 10)
			}
			n++
			return
		}
		b = append(b, '{')
		for i := range shape[0] {
			if i > 0 {
				b = append(b, ", "...)
			}
			list(shape[1:])
		}
		b = append(b, '}')
	}
	list(d.shape)
	return append(b, '>')
}
