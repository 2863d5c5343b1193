package tensor

import "fmt"

// DType is an element type of a tensor. The names are StableHLO's (spec, "Types"). As in the spec, signless integers
// are signed.
type DType uint8

// Element types. Invalid is the zero value, to expose an unset type.
const (
	Invalid DType = iota
	I1
	I2
	I4
	I8
	I16
	I32
	I64
	UI2
	UI4
	UI8
	UI16
	UI32
	UI64
	F4E2M1FN
	F6E2M3FN
	F6E3M2FN
	F8E3M4
	F8E4M3
	F8E4M3FN
	F8E4M3FNUZ
	F8E4M3B11FNUZ
	F8E5M2
	F8E5M2FNUZ
	F8E8M0FNU
	F16
	BF16
	F32
	F64
	Complex64  // complex<f32>
	Complex128 // complex<f64>
	Index      // MLIR's index; 64 bits here
	numDTypes
)

// Kind groups element types by their arithmetic.
type Kind uint8

// Kinds of element types.
const (
	KindInvalid Kind = iota
	KindBool
	KindSigned
	KindUnsigned
	KindFloat
	KindComplex
	KindIndex
)

type dtypeInfo struct {
	name string
	kind Kind
	bits int // significant bits
	size int // bytes per element in a Tensor
}

var dtypeInfos = [numDTypes]dtypeInfo{
	Invalid:       {"invalid", KindInvalid, 0, 0},
	I1:            {"i1", KindBool, 1, 1},
	I2:            {"i2", KindSigned, 2, 1},
	I4:            {"i4", KindSigned, 4, 1},
	I8:            {"i8", KindSigned, 8, 1},
	I16:           {"i16", KindSigned, 16, 2},
	I32:           {"i32", KindSigned, 32, 4},
	I64:           {"i64", KindSigned, 64, 8},
	UI2:           {"ui2", KindUnsigned, 2, 1},
	UI4:           {"ui4", KindUnsigned, 4, 1},
	UI8:           {"ui8", KindUnsigned, 8, 1},
	UI16:          {"ui16", KindUnsigned, 16, 2},
	UI32:          {"ui32", KindUnsigned, 32, 4},
	UI64:          {"ui64", KindUnsigned, 64, 8},
	F4E2M1FN:      {"f4E2M1FN", KindFloat, 4, 1},
	F6E2M3FN:      {"f6E2M3FN", KindFloat, 6, 1},
	F6E3M2FN:      {"f6E3M2FN", KindFloat, 6, 1},
	F8E3M4:        {"f8E3M4", KindFloat, 8, 1},
	F8E4M3:        {"f8E4M3", KindFloat, 8, 1},
	F8E4M3FN:      {"f8E4M3FN", KindFloat, 8, 1},
	F8E4M3FNUZ:    {"f8E4M3FNUZ", KindFloat, 8, 1},
	F8E4M3B11FNUZ: {"f8E4M3B11FNUZ", KindFloat, 8, 1},
	F8E5M2:        {"f8E5M2", KindFloat, 8, 1},
	F8E5M2FNUZ:    {"f8E5M2FNUZ", KindFloat, 8, 1},
	F8E8M0FNU:     {"f8E8M0FNU", KindFloat, 8, 1},
	F16:           {"f16", KindFloat, 16, 2},
	BF16:          {"bf16", KindFloat, 16, 2},
	F32:           {"f32", KindFloat, 32, 4},
	F64:           {"f64", KindFloat, 64, 8},
	Complex64:     {"complex<f32>", KindComplex, 64, 8},
	Complex128:    {"complex<f64>", KindComplex, 128, 16},
	Index:         {"index", KindIndex, 64, 8},
}

// String returns the MLIR spelling: "f32", "i1", "ui8", "complex<f32>".
func (d DType) String() string {
	if d >= numDTypes {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypeInfos[d].name
}

// Kind returns the group that d belongs to.
func (d DType) Kind() Kind { return dtypeInfos[d].kind }

// Bits returns the number of significant bits of an element: 1 for i1, 4 for i4, 64 for complex<f32>.
func (d DType) Bits() int { return dtypeInfos[d].bits }

// Size returns the bytes per element in a Tensor's payload. Types narrower than a byte take one byte.
func (d DType) Size() int { return dtypeInfos[d].size }

// IsFloat reports whether d is a floating-point type (not complex).
func (d DType) IsFloat() bool { return d.Kind() == KindFloat }

// IsInteger reports whether d is a signed or unsigned integer type (not i1, not index).
func (d DType) IsInteger() bool { return d.Kind() == KindSigned || d.Kind() == KindUnsigned }

// IsComplex reports whether d is a complex type.
func (d DType) IsComplex() bool { return d.Kind() == KindComplex }

// Part returns the type of the real and imaginary parts of a complex type. For any other type it returns d.
func (d DType) Part() DType {
	switch d {
	case Complex64:
		return F32
	case Complex128:
		return F64
	}
	return d
}

// ParseDType returns the type with the given MLIR spelling.
func ParseDType(name string) (DType, bool) {
	for d, info := range dtypeInfos {
		if d != 0 && info.name == name {
			return DType(d), true
		}
	}
	return Invalid, false
}
