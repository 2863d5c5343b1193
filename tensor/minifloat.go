package tensor

import (
	"fmt"
	"math"
)

// floatFormat describes a floating-point format: sign (one bit, except in f8E8M0FNU), exponent, mantissa, and the
// treatment of values that have no code. The format names have suffixes: F has no infinities, N has NaNs, UZ has no
// negative zero. A format without a suffix follows IEEE 754.
type floatFormat struct {
	manBits int    // explicit mantissa bits
	expBits int    // exponent bits
	bias    int    // exponent bias
	max     uint64 // code of the largest finite value
	inf     uint64 // code of +inf; 0 if the format has none
	nan     uint64 // code that NaN is encoded as; 0 if the format has none
	signNaN bool   // NaN keeps its sign
	noNeg0  bool   // 0 and -0 have the same code
}

var floatFormats = [numDTypes]floatFormat{
	F4E2M1FN:      {manBits: 1, expBits: 2, bias: 1, max: 0x7},
	F6E2M3FN:      {manBits: 3, expBits: 2, bias: 1, max: 0x1F},
	F6E3M2FN:      {manBits: 2, expBits: 3, bias: 3, max: 0x1F},
	F8E3M4:        {manBits: 4, expBits: 3, bias: 3, max: 0x6F, inf: 0x70, nan: 0x78, signNaN: true},
	F8E4M3:        {manBits: 3, expBits: 4, bias: 7, max: 0x77, inf: 0x78, nan: 0x7C, signNaN: true},
	F8E4M3FN:      {manBits: 3, expBits: 4, bias: 7, max: 0x7E, nan: 0x7F, signNaN: true},
	F8E4M3FNUZ:    {manBits: 3, expBits: 4, bias: 8, max: 0x7F, nan: 0x80, noNeg0: true},
	F8E4M3B11FNUZ: {manBits: 3, expBits: 4, bias: 11, max: 0x7F, nan: 0x80, noNeg0: true},
	F8E5M2:        {manBits: 2, expBits: 5, bias: 15, max: 0x7B, inf: 0x7C, nan: 0x7E, signNaN: true},
	F8E5M2FNUZ:    {manBits: 2, expBits: 5, bias: 16, max: 0x7F, nan: 0x80, noNeg0: true},
	F16:           {manBits: 10, expBits: 5, bias: 15, max: 0x7BFF, inf: 0x7C00, nan: 0x7E00, signNaN: true},
	BF16:          {manBits: 7, expBits: 8, bias: 127, max: 0x7F7F, inf: 0x7F80, nan: 0x7FC0, signNaN: true},
}

// byteFloats holds the value of every code of the formats that fit a byte. It is read-only after initialization.
var byteFloats = func() (tables [numDTypes]*[256]float64) {
	for d := F4E2M1FN; d <= F8E8M0FNU; d++ {
		t := new([256]float64)
		for code := range t {
			if d == F8E8M0FNU {
				t[code] = decodeE8M0(uint64(code))
			} else {
				t[code] = floatFormats[d].decode(d.Bits(), uint64(code)&(1<<d.Bits()-1))
			}
		}
		tables[d] = t
	}
	return tables
}()

// DecodeFloat returns the value of bits in the float type d (f4E2M1FN to f64). For types narrower than a byte it
// ignores the high bits of the byte. It panics for other types.
func DecodeFloat(d DType, bits uint64) float64 {
	switch d {
	case F64:
		return math.Float64frombits(bits)
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case BF16:
		return float64(math.Float32frombits(uint32(bits) << 16))
	case F16:
		return float64(F16ToFloat32(uint16(bits)))
	}
	if t := byteFloats[d]; t != nil {
		return t[uint8(bits)]
	}
	panic(fmt.Sprintf("tensor: %s is not a float type", d))
}

// EncodeFloat returns the code in the float type d that is nearest to v, ties to even. Values that d cannot represent
// are encoded as in ml_dtypes. A value that is too large becomes infinity, or NaN if d has no infinity, or the largest
// finite value if d has neither (f4, f6). NaN is NaN with its sign if d keeps the sign; in types without NaN it is zero
// with the opposite sign. EncodeFloat panics for other types.
func EncodeFloat(d DType, v float64) uint64 {
	switch d {
	case F64:
		return math.Float64bits(v)
	case F32:
		return uint64(math.Float32bits(float32(v)))
	case F8E8M0FNU:
		return encodeE8M0(v)
	}
	if int(d) >= len(floatFormats) || floatFormats[d].expBits == 0 {
		panic(fmt.Sprintf("tensor: %s is not a float type", d))
	}
	return floatFormats[d].encode(d.Bits(), v)
}

func (f *floatFormat) decode(bits int, code uint64) float64 {
	sign := code >> (bits - 1)
	mag := code & (1<<(bits-1) - 1)
	var v float64
	switch {
	case f.noNeg0 && code == f.nan:
		return math.NaN()
	case f.inf != 0 && mag == f.inf:
		v = math.Inf(1)
	case f.nan != 0 && !f.noNeg0 && mag > f.max:
		v = math.NaN()
	default:
		exp, man := int(mag>>f.manBits), mag&(1<<f.manBits-1)
		if exp == 0 {
			exp = 1
		} else {
			man |= 1 << f.manBits
		}
		v = math.Ldexp(float64(man), exp-f.bias-f.manBits)
	}
	if sign != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

func (f *floatFormat) encode(bits int, v float64) uint64 {
	sign := uint64(0)
	if math.Signbit(v) {
		sign = 1 << (bits - 1)
	}
	if math.IsNaN(v) {
		switch {
		case f.signNaN:
			return sign | f.nan
		case f.nan != 0:
			return f.nan
		}
		return sign ^ 1<<(bits-1)
	}
	mag := f.encodeAbs(math.Abs(v))
	if mag > f.max {
		switch {
		case f.inf != 0:
			mag = f.inf
		case f.signNaN:
			mag = f.nan
		case f.nan != 0:
			return f.nan
		default:
			mag = f.max
		}
	}
	if mag == 0 && f.noNeg0 {
		return 0
	}
	return sign | mag
}

// encodeAbs rounds v >= 0 to a code without sign. A value that is too large returns some code above f.max.
func (f *floatFormat) encodeAbs(v float64) uint64 {
	if v == 0 {
		return 0
	}
	if v > math.MaxFloat64/2 { // includes infinity; no format here has values this large
		return f.max + 1
	}
	_, exp := math.Frexp(v)
	exp-- // v = m * 2^exp with 1 <= m < 2
	least := 1 - f.bias
	if exp < least { // subnormal: the code is the number of smallest steps
		return uint64(math.RoundToEven(math.Ldexp(v, f.manBits-least)))
	}
	if exp > f.bias+1 {
		return f.max + 1
	}
	man := uint64(math.RoundToEven(math.Ldexp(v, f.manBits-exp))) // 2^manBits <= man <= 2^(manBits+1)
	// Add instead of or: a mantissa rounded up to the next power of two carries into the exponent.
	return uint64(exp-least)<<f.manBits + man
}

// decodeE8M0 decodes f8E8M0FNU: eight exponent bits, no sign, no mantissa; 0xFF is NaN.
func decodeE8M0(code uint64) float64 {
	if code&0xFF == 0xFF {
		return math.NaN()
	}
	return math.Ldexp(1, int(code&0xFF)-127)
}

// encodeE8M0 rounds to the nearest power of two, ties upwards. A value that is not positive or too large becomes NaN.
// Like ml_dtypes it goes through f32, so a value that f32 flushes to zero also becomes NaN.
func encodeE8M0(v float64) uint64 {
	f := float32(v)
	bits := math.Float32bits(f)
	if !(f > 0) {
		return 0xFF
	}
	exp, man := bits>>23, bits&(1<<23-1)
	switch {
	case exp == 0: // subnormal in f32: up to 2^-127 the first code, above that the second, without rounding
		if man > 1<<22 {
			return 1
		}
		return 0
	case exp < 0xFF && man >= 1<<22:
		exp++
	}
	return uint64(min(exp, 0xFF))
}

// F16ToFloat32 returns the value of an IEEE half.
func F16ToFloat32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	mag := uint32(h & 0x7FFF)
	switch {
	case mag >= 0x7C00: // infinity, NaN
		return math.Float32frombits(sign | 0x7F800000 | (mag&0x3FF)<<13)
	case mag >= 0x400:
		return math.Float32frombits(sign | (mag<<13 + (127-15)<<23))
	}
	v := float32(mag) * (1.0 / (1 << 24)) // exact
	return math.Float32frombits(sign | math.Float32bits(v))
}

// F16FromFloat32 returns the IEEE half nearest to f, ties to even.
func F16FromFloat32(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits>>16) & 0x8000
	mag := bits & 0x7FFFFFFF
	switch {
	case mag > 0x7F800000:
		return sign | 0x7E00
	case mag >= 0x477FF000: // 65520 and above round to infinity
		return sign | 0x7C00
	case mag >= 0x38800000: // normal
		mag += 0xFFF + mag>>13&1
		return sign | uint16((mag-(127-15)<<23)>>13)
	case mag < 0x33000000: // below half of the smallest subnormal
		return sign
	}
	// Subnormal: shift the mantissa with its leading one to units of 2^-24.
	shift := 126 - mag>>23
	man := mag&0x7FFFFF | 0x800000
	half := uint32(1) << (shift - 1)
	q := man >> shift
	if rest := man & (1<<shift - 1); rest > half || rest == half && q&1 != 0 {
		q++
	}
	return sign | uint16(q)
}

// BF16ToFloat32 returns the value of a bfloat16.
func BF16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// BF16FromFloat32 returns the bfloat16 nearest to f, ties to even.
func BF16FromFloat32(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&0x7FFFFFFF > 0x7F800000 {
		return uint16(bits>>16)&0x8000 | 0x7FC0
	}
	return uint16((bits + 0x7FFF + bits>>16&1) >> 16)
}
