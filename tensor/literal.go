package tensor

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// AppendFloat appends the number with the given bits in the floating-point type d, in MLIR's format. It writes six
// significant digits in exponent form if they read back exactly, else as many digits as the type needs. If that text
// would have no point, or the value is infinite or NaN, it writes the bits in hexadecimal.
func AppendFloat(b []byte, d DType, bits uint64) []byte {
	var v float64
	switch d {
	case F32:
		v = float64(math.Float32frombits(uint32(bits)))
	case F64:
		v = math.Float64frombits(bits)
	default:
		v = DecodeFloat(d, bits)
	}
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		start := len(b)
		if short, ok := appendSixDigits(b, d, v); ok {
			return short
		}
		b = b[:start]
		if long, ok := appendLong(b, d, v); ok {
			return long
		}
		b = b[:start]
	}
	b = append(b, "0x"...)
	return appendUpperHex(b, bits)
}

func appendUpperHex(b []byte, v uint64) []byte {
	start := len(b)
	b = strconv.AppendUint(b, v, 16)
	for i := start; i < len(b); i++ {
		if b[i] >= 'a' {
			b[i] -= 'a' - 'A'
		}
	}
	return b
}

// appendSixDigits appends d.dddddde+XX with six significant digits and reports whether it reads back as v.
func appendSixDigits(b []byte, d DType, v float64) ([]byte, bool) {
	if v < 0 || v == 0 && math.Signbit(v) {
		b = append(b, '-')
		v = -v
	}
	if v == 0 {
		return append(b, "0.000000e+00"...), true
	}
	var buf [48]byte
	digits, exp, next := decimal(buf[:0], v, 6)
	if next >= '1' && next <= '8' && (d == F32 && v >= minNormal32 || d == F64 && v >= minNormal64) {
		return b, false // six digits differ from v by more than 1e-7 of v, and numbers that read as v by less than 2**-24
	}
	start := len(b)
	b = appendPadded(b, digits, exp)
	return b, readsBack(b[start:], d, v)
}

// The smallest positive normal numbers.
const (
	minNormal32 = 0x1p-126
	minNormal64 = 0x1p-1022
)

// appendPadded appends digits in scientific form, filled up to six after the point. exp belongs to the first digit.
func appendPadded(b, digits []byte, exp int) []byte {
	b = append(b, digits[0], '.')
	b = append(b, digits[1:]...)
	b = append(b, "000000"[len(digits)-1:]...)
	b = append(b, 'e')
	if exp < 0 {
		b = append(b, '-')
		exp = -exp
	} else {
		b = append(b, '+')
	}
	if exp < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(exp), 10)
}

// AppendBig appends n * 2**exp2, a positive number of a type with the given precision in bits, like MLIR: with six
// digits if same says that this text stands for the number, else with all digits that the type may need. ok is false
// if the text would have no point.
func AppendBig(b []byte, n *big.Int, exp2, precision int, same func(text string) bool) (_ []byte, ok bool) {
	digits, exp := decimalBig(n, exp2, 6)
	if six := appendPadded(nil, digits, exp); same(string(six)) {
		return append(b, six...), true
	}
	most := maxDigits(precision)
	digits, exp = decimalBig(n, exp2, most)
	return appendDigits(b, digits, exp, most)
}

// decimalBig is like decimal for n * 2**exp2.
func decimalBig(n *big.Int, exp2, prec int) (digits []byte, exp int) {
	zeros := n.TrailingZeroBits()
	n, exp2 = new(big.Int).Rsh(n, zeros), exp2+int(zeros)
	if exp2 >= 0 {
		n.Lsh(n, uint(exp2))
	} else {
		n.Mul(n, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(-exp2)), nil))
		exp = exp2
	}
	if length, need := n.BitLen(), (prec*196+58)/59; length > need {
		drop := (length - need) * 59 / 196
		n.Quo(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(drop)), nil))
		exp += drop
	}
	digits = n.Append(nil, 10)
	return roundDigits(digits, len(digits), prec, exp+len(digits)-1)
}

// readsBack reports whether the text of a positive number reads as v.
func readsBack(text []byte, d DType, v float64) bool {
	w, err := strconv.ParseFloat(unsafeString(text), 64)
	switch d {
	case F64:
		return err == nil && w == v
	case F32:
		if err != nil || float64(float32(w)) != v {
			return false
		}
		w, err = strconv.ParseFloat(unsafeString(text), 32) // rounds once, not twice
		return err == nil && w == v
	}
	return err == nil && DecodeFloat(d, EncodeFloat(d, w)) == v
}

// precision returns the number of digits that distinguish all numbers of d, by the formula in LLVM's APFloat.
func precision(d DType) int {
	switch d {
	case F64:
		return maxDigits(53)
	case F32:
		return maxDigits(24)
	}
	return maxDigits(floatFormats[d].manBits + 1)
}

// maxDigits returns the number of digits that distinguish all numbers with the given precision in bits.
func maxDigits(precision int) int { return 2 + precision*59/196 }

// decimal appends the significant digits of v > 0, at most prec of them and without trailing zeros, and returns the
// decimal exponent of the first digit, and the exact digit after the first prec. It rounds like APFloat::toString.
// APFloat first truncates the exact decimal expansion to about prec digits, by an estimate from its length in bits. It
// then rounds the digits beyond prec half up. Because of the truncation, 0.7 in f32 prints as 0.699999.
func decimal(buf []byte, v float64, prec int) (digits []byte, exp int, next byte) {
	frac, e2 := math.Frexp(v)
	m := uint64(math.Ldexp(frac, 53))
	e2 -= 53
	zeros := bits.TrailingZeros64(m)
	m >>= zeros
	e2 += zeros

	// Get the first digits of the exact expansion. 18 digits are cheap, but the last is rounded: if they end in zeros,
	// the exact digits may be nines, and a 5 may be less.
	want := 18
	text := strconv.AppendFloat(buf, v, 'e', want-1, 64)
	if v*1024 != math.Trunc(v*1024) || v > 1e7 {
		tail := text[prec+2 : 19] // the digits after the first prec+1
		if allZero(tail) && (prec < 17 || text[18] == '0' || text[18] == '5') {
			want = 40
			text = strconv.AppendFloat(buf, v, 'e', want-1, 64)
		}
	}
	e := want + 1
	exp = atoi(text[e+1:])
	copy(text[1:], text[2:e])
	digits = text[:want]
	next = digits[prec]

	// N = v * 10^pow is the integer with the digits that APFloat computes.
	pow, length := 0, 0
	if e2 >= 0 {
		length = bits.Len64(m) + e2
	} else {
		pow = -e2
		length = bitLength(m, pow)
	}
	kept := exp + pow + 1
	if need := (prec*196 + 58) / 59; length > need {
		kept -= (length - need) * 59 / 196
	}
	digits, exp = roundDigits(digits, kept, prec, exp)
	return digits, exp, next
}

// roundDigits returns the first kept digits, rounded half up to prec of them and without trailing zeros, and the
// exponent of the first.
func roundDigits(digits []byte, kept, prec, exp int) ([]byte, int) {
	if kept > prec {
		up := prec < len(digits) && digits[prec] >= '5'
		digits = digits[:prec]
		if up {
			i := prec - 1
			for i >= 0 && digits[i] == '9' {
				i--
			}
			if i < 0 {
				return append(digits[:0], '1'), exp + 1
			}
			digits[i]++
			digits = digits[:i+1]
		}
	} else {
		digits = digits[:min(kept, len(digits))]
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, exp
}

// bitLength returns the number of bits of m * 5^pow for odd m.
func bitLength(m uint64, pow int) int {
	if pow <= 27 {
		hi, lo := bits.Mul64(m, pow5[pow])
		if hi != 0 {
			return 64 + bits.Len64(hi)
		}
		return bits.Len64(lo)
	}
	l := math.Log2(float64(m)) + float64(float64(pow)*math.Log2(5))
	if f := l - math.Floor(l); f > 1e-9 && f < 1-1e-9 {
		return int(l) + 1
	}
	n := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(pow)), nil)
	return n.Mul(n, new(big.Int).SetUint64(m)).BitLen()
}

// pow5 holds the powers of five that fit 64 bits.
var pow5 = func() (p [28]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()

func allZero(b []byte) bool {
	for _, c := range b {
		if c != '0' {
			return false
		}
	}
	return true
}

// atoi parses an exponent written by strconv: a sign and digits.
func atoi(b []byte) int {
	n := 0
	for _, c := range b[1:] {
		n = 10*n + int(c-'0')
	}
	if b[0] == '-' {
		return -n
	}
	return n
}

// appendLong appends v with all the digits that its type may need, without trailing zeros, like LLVM's APFloat by
// default. ok is false if the text would have no point.
func appendLong(b []byte, d DType, v float64) (_ []byte, ok bool) {
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	prec := precision(d)
	var buf [64]byte
	digits, exp, _ := decimal(buf[:0], v, prec)
	return appendDigits(b, digits, exp, prec)
}

// appendDigits appends at most prec digits, without an exponent if this is short. exp belongs to the first digit.
func appendDigits(b, digits []byte, exp, prec int) (_ []byte, ok bool) {
	n := len(digits)
	low := exp - (n - 1) // the exponent of the last digit
	scientific := false
	switch {
	case low >= 0:
		scientific = low > 3 || n+low > prec
	case exp < 0:
		scientific = -exp > 3
	}
	switch {
	case scientific:
		b = append(b, digits[0], '.')
		if n == 1 {
			b = append(b, '0')
		}
		b = append(b, digits[1:]...)
		b = append(b, 'E')
		if exp >= 0 {
			b = append(b, '+')
		}
		return strconv.AppendInt(b, int64(exp), 10), true
	case low >= 0:
		return b, false
	case exp >= 0:
		b = append(b, digits[:exp+1]...)
		b = append(b, '.')
		return append(b, digits[exp+1:]...), true
	}
	b = append(b, "0."...)
	for range -exp - 1 {
		b = append(b, '0')
	}
	return append(b, digits...), true
}
