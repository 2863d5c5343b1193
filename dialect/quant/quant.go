// Package quant reads the types of MLIR's quant dialect. StableHLO uses uniformly quantized elements, per tensor or per
// axis; hlocb keeps types of other kinds and does not compute with them.
package quant

import (
	"math"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Uniform is !quant.uniform<storage:expressed, scale:zeroPoint>, per tensor (Axis < 0) or per axis. A real value
// is (stored - zero point) * scale. It is immutable.
type Uniform struct {
	Storage    ir.Type // i8 for i8 and u8, ui8 for ui8
	Signed     bool
	Min, Max   int64 // of the stored values
	Expressed  ir.Type
	Axis       int // the quantized dimension, -1 if per tensor
	Scales     []float64
	ZeroPoints []int64
	limited    bool   // the text includes min:max
	spelling   string // of the storage type
	blocks     *blocks
}

// PerTensor reports whether one scale applies to the whole tensor. A nil Uniform is not per tensor.
func (u *Uniform) PerTensor() bool { return u != nil && u.Axis < 0 }

// PerAxis reports whether each index of dimension Axis has its own scale.
func (u *Uniform) PerAxis() bool { return u != nil && u.Axis >= 0 }

// Of returns the parameters of an element type that is quantized per tensor or per axis, or nil for any other type.
func Of(t ir.Type) *Uniform {
	d, ok := t.(*ir.DialectType)
	if !ok {
		return nil
	}
	if u, _ := d.Data().(*Uniform); u != nil && u.blocks == nil {
		return u
	}
	return nil
}

// UniformType is !quant.uniform<...>.
var UniformType = &ir.TypeDef{
	Dialect: "quant", Name: "uniform", Parse: parseUniform, Binary: binary(), Make: func() any { return &Uniform{} },
	Print:  func(data any) string { return data.(*Uniform).body() },
	Doc:    "Elements that represent real numbers by a scale and a zero point, per tensor or per index of a dimension.",
	Syntax: "<i8:f32, 2.0:15> per tensor, <i8:f32:1, {2.0:15, 3.0}> along dimension 1, <i8:f32:{0:4}, {2.0:15, 3.0}> per block of 4",
}

// Dialect returns the dialect, which contains only types.
func Dialect() *ir.Dialect {
	return &ir.Dialect{Name: "quant", Types: []*ir.TypeDef{UniformType, anyType, calibratedType}}
}

func parseUniform(p ir.AsmParser) any {
	u := &Uniform{Axis: -1}
	p.Expect("<")
	u.parseStorage(p)
	p.Expect(":")
	u.parseExpressed(p)
	if p.Accept(":") {
		if p.Peek("{") {
			u.parseBlocks(p)
			return u
		}
		pos := p.Pos()
		if u.Axis = int(p.ParseInteger()); u.Axis < 0 {
			p.ErrorfAt(pos, "illegal quantized dimension: %d", u.Axis)
		}
	}
	p.Expect(",")
	param := func() {
		scale, zero := u.parseScale(p)
		u.Scales = append(u.Scales, scale)
		u.ZeroPoints = append(u.ZeroPoints, zero)
	}
	if u.Axis >= 0 {
		p.ParseList("{", "}", param)
	} else {
		param()
	}
	p.Expect(">")
	return u
}

func (u *Uniform) parseExpressed(p ir.AsmParser) {
	u.Expressed = p.ParseType()
	if _, ok := u.Expressed.(*ir.FloatType); !ok {
		p.Errorf("expressed type must be floating point")
	}
}

// parseScale reads a scale and its zero point.
func (u *Uniform) parseScale(p ir.AsmParser) (scale float64, zero int64) {
	pos := p.Pos()
	scale = p.ParseFloat()
	if scale <= 0 || math.IsInf(scale, 0) || math.IsNaN(scale) {
		p.ErrorfAt(pos, "illegal scale: %s", formatScale(scale))
	}
	if lo, hi := floatRange(u.Expressed); scale < lo || scale > hi {
		p.ErrorfAt(pos, "scale %s out of expressed type range", strconv.FormatFloat(scale, 'e', 6, 64))
	}
	if p.Accept(":") {
		zero = p.ParseInteger()
	}
	return scale, zero
}

// parseStorage reads the storage type and the range of its values.
func (u *Uniform) parseStorage(p ir.AsmParser) {
	u.Signed = true
	u.spelling = p.ParseOptionalKeyword()
	num := u.spelling
	sign := ir.Signless
	switch {
	case strings.HasPrefix(num, "ui"):
		u.Signed, sign, num = false, ir.Unsigned, num[2:]
	case strings.HasPrefix(num, "u"):
		u.Signed, num = false, num[1:]
	case strings.HasPrefix(num, "si"):
		sign, num = ir.Signed, num[2:]
	default:
		num = strings.TrimPrefix(num, "i")
	}
	width, err := strconv.Atoi(num)
	if err != nil || width < 1 || width > 32 {
		p.Errorf("illegal storage type size: %s", u.spelling)
	}
	u.Storage = p.Context().Integer(width, sign)
	lo, hi := int64(-1)<<(width-1), int64(1)<<(width-1)-1
	if !u.Signed {
		lo, hi = 0, int64(1)<<width-1
	}
	u.Min, u.Max = lo, hi
	if p.Accept("<") {
		u.Min = p.ParseInteger()
		p.Expect(":")
		u.Max = p.ParseInteger()
		p.Expect(">")
		if u.Min < lo {
			p.Errorf("illegal storage type minimum: %d", u.Min)
		}
		if u.Max > hi {
			p.Errorf("illegal storage type maximum: %d", u.Max)
		}
		u.limited = u.Min != lo || u.Max != hi
	}
}

// body returns the parameters as MLIR prints them.
func (u *Uniform) body() string {
	b := u.appendStorage([]byte{'<'})
	b = append(b, ':')
	b = append(b, u.Expressed.String()...)
	if u.blocks != nil {
		return string(u.blocks.append(b, ir.ElementDType(u.Expressed)))
	}
	if u.Axis >= 0 {
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(u.Axis), 10)
	}
	b = append(b, ", "...)
	if u.Axis >= 0 {
		b = append(b, '{')
	}
	for i, s := range u.Scales {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, formatScale(s)...)
		if z := u.ZeroPoints[i]; z != 0 {
			b = append(b, ':')
			b = strconv.AppendInt(b, z, 10)
		}
	}
	if u.Axis >= 0 {
		b = append(b, '}')
	}
	return string(append(b, '>'))
}

// appendStorage appends the storage type and the range of its values, if it is limited.
func (u *Uniform) appendStorage(b []byte) []byte {
	b = append(b, u.spelling...)
	if u.limited {
		b = append(b, '<')
		b = strconv.AppendInt(b, u.Min, 10)
		b = append(b, ':')
		b = strconv.AppendInt(b, u.Max, 10)
		b = append(b, '>')
	}
	return b
}

// formatScale prints a scale as MLIR prints floats.
func formatScale(f float64) string {
	return string(tensor.AppendFloat(nil, tensor.F64, math.Float64bits(f)))
}

// floatRange returns the smallest and the largest positive scale that a floating-point type accepts: its smallest
// normal number and its largest number.
func floatRange(t ir.Type) (lo, hi float64) {
	f, _ := t.(*ir.FloatType)
	if f != nil {
		switch f.DType() {
		case tensor.F16:
			return 0x1p-14, 65504
		case tensor.BF16:
			return 0x1p-126, 0x1.FEp127
		case tensor.F32:
			return 0x1p-126, math.MaxFloat32
		}
	}
	return 0, math.MaxFloat64
}
