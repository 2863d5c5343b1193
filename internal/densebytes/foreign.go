package densebytes

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ForeignSize returns the bytes per element of a type that tensors do not support, or 0 if it cannot be in dense
// literals.
func ForeignSize(elem ir.Type) int {
	switch t := elem.(type) {
	case *ir.IntegerType:
		return (t.Width() + 7) / 8
	case *ir.FloatType:
		if d := t.DType(); d != tensor.Invalid {
			return d.Size()
		}
		return (ForeignBits(t) + 7) / 8
	case *ir.ComplexType:
		return 2 * ForeignSize(t.Elem())
	}
	return 0
}

// foreignFormat is the binary form of a floating-point type that tensors do not support: a sign, the exponent and the
// fraction. explicit says that the fraction starts with the bit before the point.
type foreignFormat struct {
	name           string
	exponent, frac int
	explicit       bool
}

var foreignFormats = []foreignFormat{{"tf32", 8, 10, false}, {"f80", 15, 63, true}, {"f128", 15, 112, false}}

func formatOf(t *ir.FloatType) *foreignFormat {
	for i := range foreignFormats {
		if f := &foreignFormats[i]; f.name == t.String() {
			return f
		}
	}
	return nil
}

// ForeignBits returns the number of bits of a floating-point type that tensors do not support, or 0 for any other type.
func ForeignBits(t *ir.FloatType) int {
	f := formatOf(t)
	if f == nil {
		return 0
	}
	n := 1 + f.exponent + f.frac
	if f.explicit {
		n++
	}
	return n
}

// ForeignFloat returns the type and the bits of a number whose type tensors do not support. The type of any other
// attribute is nil.
func ForeignFloat(a *ir.OpaqueAttr, c *ir.Context) (t *ir.FloatType, bits *big.Int) {
	word, name, _ := strings.Cut(a.String(), " : ")
	for _, f := range foreignFormats {
		if f.name == name {
			t = c.ForeignFloat(name)
			if bits, ok := ParseForeign(word, t); ok {
				return t, bits
			}
		}
	}
	return nil, nil
}

// NewForeignFloat returns the attribute with the given bits, in MLIR's text.
func NewForeignFloat(bits *big.Int, t *ir.FloatType) *ir.OpaqueAttr {
	return ir.NewOpaque(foreignText(bits, t) + " : " + t.String())
}

// ParseForeign returns the bits of a literal: hexadecimal digits, or a number, which MLIR rounds to f64 first.
func ParseForeign(text string, t *ir.FloatType) (bits *big.Int, ok bool) {
	if digits, hex := strings.CutPrefix(text, "0x"); hex {
		bits, ok = new(big.Int).SetString(digits, 16)
		return bits, ok && bits.BitLen() <= ForeignBits(t)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	return RoundForeign(v, t), true
}

// RoundForeign returns the bits of the number nearest to v, which is finite.
func RoundForeign(v float64, t *ir.FloatType) *big.Int { return formatOf(t).round(big.NewFloat(v)) }

func (f *foreignFormat) round(v *big.Float) *big.Int {
	bias := 1<<(f.exponent-1) - 1
	sign := new(big.Int)
	if v.Signbit() {
		sign.SetInt64(1)
	}
	fraction := new(big.Float)
	exp := v.MantExp(fraction) // in [0.5, 1)
	prec := int(v.Prec())
	n, _ := fraction.SetMantExp(fraction.Abs(fraction), prec).Int(nil)
	field := 0
	if n.Sign() != 0 {
		field = max(exp-1+bias, 1)
		// n counts units of 2 to the exp-prec, the result those of the last bit of the fraction.
		if shift := exp - prec - (field - bias - f.frac); shift >= 0 {
			n.Lsh(n, uint(shift))
		} else {
			half := new(big.Int).Lsh(big.NewInt(1), uint(-shift-1))
			odd := int64(n.Bit(-shift))
			n.Rsh(n.Add(n, half.Sub(half, big.NewInt(1-odd))), uint(-shift))
		}
		switch leading := n.BitLen(); {
		case leading > f.frac+1: // rounded up to the next power of two
			n.Rsh(n, 1)
			field++
		case leading <= f.frac: // subnormal
			field = 0
		}
		if field >= 1<<f.exponent-1 { // infinity
			field = 1<<f.exponent - 1
			n.Lsh(big.NewInt(1), uint(f.frac))
		}
	}
	low := f.frac
	if f.explicit {
		low++
	} else {
		n.SetBit(n, f.frac, 0)
	}
	high := new(big.Int).Add(sign.Lsh(sign, uint(f.exponent)), big.NewInt(int64(field)))
	return n.Or(n, high.Lsh(high, uint(low)))
}

// foreignText returns the literal of a number as MLIR prints it. MLIR reads numbers as f64; if the literal would then
// be another number, foreignText returns the bits.
func foreignText(bits *big.Int, t *ir.FloatType) string {
	if s, ok := formatOf(t).decimal(bits); ok {
		if again, ok := ParseForeign(s, t); ok && again.Cmp(bits) == 0 {
			return s
		}
	}
	return "0x" + strings.ToUpper(bits.Text(16))
}

// decimal returns the decimal text of a number. ok is false if there is none.
func (f *foreignFormat) decimal(bits *big.Int) (text string, ok bool) {
	low := f.frac
	if f.explicit {
		low++
	}
	field := int(new(big.Int).Rsh(bits, uint(low)).Int64())
	var sign []byte
	if field>>f.exponent != 0 {
		sign = []byte("-")
	}
	field &= 1<<f.exponent - 1
	if field == 1<<f.exponent-1 {
		return "", false
	}
	n := new(big.Int).And(bits, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(low)), big.NewInt(1)))
	if field > 0 && !f.explicit {
		n.SetBit(n, f.frac, 1)
	}
	if n.Sign() == 0 {
		return string(sign) + "0.000000e+00", true
	}
	unit := max(field, 1) - (1<<(f.exponent-1) - 1) - f.frac
	b, ok := tensor.AppendBig(sign, n, unit, f.frac+1, func(six string) bool {
		v, _, err := big.ParseFloat(string(sign)+six, 10, 4*uint(f.frac+1), big.ToNearestEven)
		return err == nil && f.round(v).Cmp(bits) == 0
	})
	return string(b), ok
}

// foreignDense returns dense elements of a type that tensors do not support. Their text is that of MLIR: numbers if
// there are at most 100, otherwise hexadecimal digits.
func foreignDense(t ir.Type, shape tensor.Shape, elem ir.Type, b []byte) (*ir.DenseAttr, string) {
	size, n := ForeignSize(elem), shape.NumElements()
	if size == 0 || len(b) != size && int64(len(b)) != n*int64(size) {
		return nil, strconv.Itoa(len(b)) + " bytes do not hold the elements of " + t.String()
	}
	var text []byte
	switch {
	case n == 0:
	case allEqual(b, size):
		text = appendStored(nil, elem, b[:size])
	case n <= maxDecimal:
		text, _ = appendNested(nil, elem, shape, b)
	default:
		text = append(tensor.AppendHex([]byte(`"0x`), b), '"')
	}
	return ir.NewLazyDense(t, text, foreignElements), ""
}

// maxDecimal is the number of elements that MLIR prints as numbers.
const maxDecimal = 100

// appendNested appends the elements in b of a tensor of the given shape. It returns the bytes after them.
func appendNested(text []byte, elem ir.Type, shape tensor.Shape, b []byte) (out, rest []byte) {
	size := ForeignSize(elem)
	if len(shape) == 0 {
		return appendStored(text, elem, b[:size]), b[size:]
	}
	text = append(text, '[')
	for i := range shape[0] {
		if i > 0 {
			text = append(text, ", "...)
		}
		text, b = appendNested(text, elem, shape[1:], b)
	}
	return append(text, ']'), b
}

// appendStored appends a number that is stored in b, little endian.
func appendStored(text []byte, elem ir.Type, b []byte) []byte {
	digits := slices.Clone(b)
	slices.Reverse(digits)
	v := new(big.Int).SetBytes(digits)
	switch t := elem.(type) {
	case *ir.ComplexType:
		text = appendStored(append(text, '('), t.Elem(), b[:len(b)/2])
		return append(appendStored(append(text, ','), t.Elem(), b[len(b)/2:]), ')')
	case *ir.FloatType:
		if d := t.DType(); d != tensor.Invalid {
			return tensor.AppendFloat(text, d, v.Uint64())
		}
		return append(text, foreignText(v, t)...)
	case *ir.IntegerType:
		w := uint(t.Width())
		v.And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), w), big.NewInt(1)))
		if w == 1 {
			return strconv.AppendBool(text, v.Sign() != 0)
		}
		if t.Signedness() != ir.Unsigned && v.Bit(int(w)-1) == 1 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), w))
		}
	}
	return v.Append(text, 10)
}

// foreignBytes returns the stored bytes of the text of n elements: hexadecimal digits, a number, or a list.
func foreignBytes(text string, elem ir.Type, n int64) (b []byte, ok bool) {
	size := ForeignSize(elem)
	if size == 0 {
		return nil, false
	}
	if digits, ok := strings.CutPrefix(strings.Trim(text, `"`), "0x"); ok && strings.HasPrefix(text, `"`) {
		for ; len(digits) >= 2; digits = digits[2:] {
			v, err := strconv.ParseUint(digits[:2], 16, 8)
			if err != nil {
				return nil, false
			}
			b = append(b, byte(v))
		}
	} else {
		part := elem
		if c, ok := elem.(*ir.ComplexType); ok {
			part = c.Elem()
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[](), \t\r\n", r) }) {
			if b, ok = appendNumber(b, word, part); !ok {
				return nil, false
			}
		}
	}
	if len(b) > size && allEqual(b, size) {
		b = b[:size]
	}
	return b, len(b) == size && n > 0 || int64(len(b)) == n*int64(size)
}

// appendNumber appends the stored bytes of a literal.
func appendNumber(b []byte, word string, t ir.Type) ([]byte, bool) {
	size := ForeignSize(t)
	v, ok := new(big.Int), true
	switch t := t.(type) {
	case *ir.FloatType:
		if d := t.DType(); d == tensor.Invalid {
			v, ok = ParseForeign(word, t)
		} else {
			bits, err := tensor.ParseFloat([]byte(word), d)
			v, ok = v.SetUint64(bits), err == nil
		}
	case *ir.IntegerType:
		switch word {
		case "true":
			v.SetInt64(1)
		case "false":
		default:
			v, ok = v.SetString(word, 0)
		}
		if ok && v.Sign() < 0 {
			v.Add(v, new(big.Int).Lsh(big.NewInt(1), uint(t.Width())))
		}
	}
	if !ok || v.Sign() < 0 || v.BitLen() > 8*size {
		return nil, false
	}
	digits := v.FillBytes(make([]byte, size))
	slices.Reverse(digits)
	return append(b, digits...), true
}

// foreignElements returns the error for a request to decode elements that tensors do not support.
func foreignElements(*ir.DenseAttr) (*tensor.Tensor, bool, error) {
	return nil, false, errors.New("hlocb does not compute with elements of this type")
}
