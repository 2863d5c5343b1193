// Package xlatypes has the element types and error codes of XLA's C interfaces: PJRT and the FFI.
package xlatypes

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// ffiTypes maps the element type codes of the FFI (XLA's PrimitiveType) to hlocb's types. Code 17 is the token.
var ffiTypes = [...]tensor.DType{
	1: tensor.I1, 2: tensor.I8, 3: tensor.I16, 4: tensor.I32, 5: tensor.I64,
	6: tensor.UI8, 7: tensor.UI16, 8: tensor.UI32, 9: tensor.UI64,
	10: tensor.F16, 11: tensor.F32, 12: tensor.F64, 15: tensor.Complex64, 16: tensor.BF16, 18: tensor.Complex128,
	19: tensor.F8E5M2, 20: tensor.F8E4M3FN, 21: tensor.I4, 22: tensor.UI4, 23: tensor.F8E4M3B11FNUZ,
	24: tensor.F8E5M2FNUZ, 25: tensor.F8E4M3FNUZ, 26: tensor.I2, 27: tensor.UI2, 28: tensor.F8E4M3, 29: tensor.F8E3M4,
	32: tensor.F4E2M1FN, 33: tensor.F8E8M0FNU,
}

// FFIToken is the FFI's code of a token.
const FFIToken = 17

// bufferTypes maps the element type codes of PJRT buffers to hlocb's types. Code 23 is the token; 30 and 31 are
// integers of one bit, which StableHLO lacks. PJRT API 0.115 has the last two.
var bufferTypes = [...]tensor.DType{
	1: tensor.I1, 2: tensor.I8, 3: tensor.I16, 4: tensor.I32, 5: tensor.I64,
	6: tensor.UI8, 7: tensor.UI16, 8: tensor.UI32, 9: tensor.UI64,
	10: tensor.F16, 11: tensor.F32, 12: tensor.F64, 13: tensor.BF16, 14: tensor.Complex64, 15: tensor.Complex128,
	16: tensor.F8E5M2, 17: tensor.F8E4M3FN, 18: tensor.F8E4M3B11FNUZ, 19: tensor.F8E5M2FNUZ, 20: tensor.F8E4M3FNUZ,
	21: tensor.I4, 22: tensor.UI4, 24: tensor.I2, 25: tensor.UI2, 26: tensor.F8E4M3, 27: tensor.F8E3M4,
	28: tensor.F8E8M0FNU, 29: tensor.F4E2M1FN, 32: tensor.F6E2M3FN, 33: tensor.F6E3M2FN,
}

// BufferCode returns the code of a PJRT buffer of an element type, 0 if there is none.
func BufferCode(d tensor.DType) int32 { return int32(max(0, slices.Index(bufferTypes[:], d))) }

// FFIType returns the element type of a code of the FFI, tensor.Invalid if it has none.
func FFIType(code int) tensor.DType {
	if code < 0 || code >= len(ffiTypes) {
		return tensor.Invalid
	}
	return ffiTypes[code]
}

// FFICode returns the FFI's code of an element type, 0 if it has none.
func FFICode(d tensor.DType) int32 { return int32(max(0, slices.Index(ffiTypes[:], d))) }

// InFFI reports whether the XLA FFI has an element type.
func InFFI(d tensor.DType) bool { return FFICode(d) != 0 }

// CheckFFI refuses a hook with an operand or a result of a type that the FFI does not have: a handler would get it
// as a buffer without a type.
func CheckFFI(s *hook.Site) error {
	for i, t := range append(append([]hook.TensorType(nil), s.Operands...), s.Results...) {
		if FFICode(t.DType) == 0 {
			value := fmt.Sprintf("operand %d", i)
			if i >= len(s.Operands) {
				value = fmt.Sprintf("result %d", i-len(s.Operands))
			}
			return fmt.Errorf("%s is %s, which the XLA FFI does not have", value, t)
		}
	}
	return nil
}

// BufferType returns the element type of a PJRT buffer from its code.
func BufferType(code int32) (tensor.DType, error) {
	if code <= 0 || int(code) >= len(bufferTypes) || bufferTypes[code] == tensor.Invalid {
		return tensor.Invalid, fmt.Errorf("unknown element type code %d of a PJRT buffer", code)
	}
	return bufferTypes[code], nil
}

// PackedBits returns the bits of an element if XLA packs several elements into a byte, else 0. The FFI packs these
// types, low bits first; PJRT's copies to and from the host do not.
func PackedBits(d tensor.DType) int {
	switch d {
	case tensor.I4, tensor.UI4, tensor.F4E2M1FN:
		return 4
	case tensor.I2, tensor.UI2:
		return 2
	}
	return 0
}

// PackedSize returns the number of bytes of n packed elements.
func PackedSize(n, bits int) int { return (n*bits + 7) / 8 }

// Unpack writes packed elements to dst, a byte each, sign-extended if the type is signed.
func Unpack(dst, src []byte, d tensor.DType) {
	bits := PackedBits(d)
	per := 8 / bits
	for i := range dst {
		dst[i] = src[i/per] >> (i % per * bits)
	}
	tensor.NormalizeBytes(dst, d)
}

// Pack is the inverse of Unpack.
func Pack(dst, src []byte, d tensor.DType) {
	bits := PackedBits(d)
	per := 8 / bits
	mask := byte(1)<<bits - 1
	clear(dst)
	for i, v := range src {
		dst[i/per] |= v & mask << (i % per * bits)
	}
}
