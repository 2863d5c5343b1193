package tensor

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
)

// LiteralError is an error in the text of a dense literal.
type LiteralError struct {
	Off     int // byte offset in the text; -1 for the literal as a whole
	Message string
}

func (e *LiteralError) Error() string { return e.Message }

// CheckDense checks the text between dense< and > for the given element type and static shape: syntax, nesting, shape,
// ranges. It does not build the elements. If it returns nil, DecodeDense of the text succeeds.
func CheckDense(text []byte, d DType, shape Shape) *LiteralError {
	r := denseReader{text: text, dtype: d, shape: shape}
	_, _, err := r.read(false)
	return err
}

// DecodeDense returns the elements of the text between dense< and >. If all are equal it returns one element and splat
// is true. The hexadecimal form of booleans may use a byte or a bit per element.
func DecodeDense(text []byte, d DType, shape Shape) (t *Tensor, splat bool, err error) {
	r := denseReader{text: text, dtype: d, shape: shape}
	t, splat, lerr := r.read(true)
	if lerr != nil {
		return nil, false, lerr
	}
	return t, splat, nil
}

// denseReader reads the elements of one literal.
type denseReader struct {
	text  []byte
	pos   int
	dtype DType
	shape Shape
	out   []byte // nil: only check
	store bool
}

func (r *denseReader) fail(off int, format string, args ...any) *LiteralError {
	return &LiteralError{off, fmt.Sprintf(format, args...)}
}

func (r *denseReader) read(store bool) (*Tensor, bool, *LiteralError) {
	r.store = store
	total := r.shape.NumElements()
	r.space()
	if r.pos == len(r.text) {
		if total != 0 {
			return nil, false, r.fail(-1, "parsed zero elements, but type (%s) expected at least 1", r.typeText())
		}
		return New(r.dtype, r.shape), false, nil
	}
	switch r.text[r.pos] {
	case '"':
		return r.readHex(total)
	case '[':
		return r.readList(total)
	}
	if store {
		r.out = make([]byte, 0, r.dtype.Size())
	}
	if err := r.element(); err != nil {
		return nil, false, err
	}
	if r.space(); r.pos != len(r.text) {
		return nil, false, r.fail(r.pos, "expected '>'")
	}
	if !store {
		return nil, true, nil
	}
	return r.single(), true, nil // like MLIR, keep the one element even if the shape has none
}

func (r *denseReader) single() *Tensor {
	t := New(r.dtype, nil)
	copy(t.data, r.out)
	return t
}

func (r *denseReader) typeText() string {
	s := "tensor<"
	for _, d := range r.shape {
		s += strconv.FormatInt(d, 10) + "x"
	}
	return "'" + s + r.dtype.String() + ">'"
}

func bracketed(shape []int64) string {
	s := "["
	for i, d := range shape {
		if i > 0 {
			s += ", "
		}
		s += strconv.FormatInt(d, 10)
	}
	return s + "]"
}

// space skips white space and comments.
func (r *denseReader) space() {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			r.pos++
		case c == '/' && r.pos+1 < len(r.text) && r.text[r.pos+1] == '/':
			end := bytes.IndexByte(r.text[r.pos:], '\n')
			if end < 0 {
				r.pos = len(r.text)
			} else {
				r.pos += end
			}
		default:
			return
		}
	}
}

// readList reads [..., ...] nested to the rank of the shape.
func (r *denseReader) readList(total int64) (*Tensor, bool, *LiteralError) {
	if r.store {
		// The text limits the number of elements, whatever the shape says.
		r.out = make([]byte, 0, min(max(total, 0), int64(len(r.text)))*int64(r.dtype.Size()))
	}
	var counts []int64 // number of elements so far at each open level
	var dims []int64   // size of each level once one of its lists was closed, -1 before
	rank := -1         // number of levels, known after the first element or empty list
	for {
		r.space()
		if r.pos == len(r.text) {
			return nil, false, r.fail(r.pos, "expected ']'")
		}
		switch c := r.text[r.pos]; c {
		case '[':
			if rank >= 0 && len(counts) == rank {
				return nil, false, r.fail(r.pos, "tensor literal is invalid; ranks are not consistent between elements")
			}
			r.pos++
			counts = append(counts, 0)
			if len(counts) > len(dims) {
				if len(dims) >= 10000 {
					return nil, false, r.fail(r.pos, "nesting is deeper than 10000 levels")
				}
				dims = append(dims, -1)
			}
			if r.space(); r.pos < len(r.text) && r.text[r.pos] == ']' {
				if rank < 0 {
					rank = len(counts)
				}
				goto closing
			}
			continue
		default:
			if rank < 0 {
				rank = len(counts)
			} else if len(counts) != rank {
				return nil, false, r.fail(r.pos, "tensor literal is invalid; ranks are not consistent between elements")
			}
			if err := r.element(); err != nil {
				return nil, false, err
			}
		}
		// An item is complete: count it, and close the lists that end after it.
	closing:
		for {
			r.space()
			level := len(counts) - 1
			if level < 0 {
				if r.pos != len(r.text) {
					return nil, false, r.fail(r.pos, "expected '>'")
				}
				return r.finishList(dims, total)
			}
			if r.pos == len(r.text) {
				return nil, false, r.fail(r.pos, "expected ']'")
			}
			empty := r.text[r.pos] == ']' && counts[level] == 0 && r.justOpened()
			if !empty {
				counts[level]++
			}
			if r.text[r.pos] == ',' {
				r.pos++
				break
			}
			if r.text[r.pos] != ']' {
				return nil, false, r.fail(r.pos, "expected ']'")
			}
			r.pos++
			if dims[level] < 0 {
				dims[level] = counts[level]
			} else if dims[level] != counts[level] {
				return nil, false, r.fail(r.pos, "tensor literal is invalid; ranks are not consistent between elements")
			}
			counts = counts[:level]
		}
	}
}

// justOpened reports whether only white space is between the ']' at pos and a '['.
func (r *denseReader) justOpened() bool {
	i := r.pos - 1
	for i >= 0 && (r.text[i] == ' ' || r.text[i] == '\n' || r.text[i] == '\t' || r.text[i] == '\r') {
		i--
	}
	return i >= 0 && r.text[i] == '['
}

func (r *denseReader) finishList(dims []int64, total int64) (*Tensor, bool, *LiteralError) {
	if !Shape(dims).Equal(r.shape) {
		return nil, false, r.fail(-1, "inferred shape of elements literal (%s) does not match type (%s)", bracketed(dims), bracketed(r.shape))
	}
	if !r.store {
		return nil, false, nil
	}
	if total == 0 {
		return New(r.dtype, r.shape), false, nil
	}
	if size := r.dtype.Size(); allEqual(r.out, size) {
		r.out = r.out[:size]
		return r.single(), true, nil
	}
	t := New(r.dtype, r.shape)
	copy(t.data, r.out)
	return t, false, nil
}

// allEqual reports whether data repeats its first size bytes.
func allEqual(data []byte, size int) bool {
	return len(data) >= size && bytes.Equal(data[size:], data[:len(data)-size])
}

// element reads one number, boolean or pair of complex parts.
func (r *denseReader) element() *LiteralError {
	if !r.dtype.IsComplex() {
		return r.scalar(r.dtype)
	}
	part := r.dtype.Part()
	if r.text[r.pos] != '(' {
		return r.fail(r.pos, "expected '(' in complex value")
	}
	r.pos++
	for i, end := range [...]byte{',', ')'} {
		if r.space(); r.pos == len(r.text) {
			return r.fail(r.pos, "expected complex value")
		}
		if err := r.scalar(part); err != nil {
			return err
		}
		if r.space(); r.pos == len(r.text) || r.text[r.pos] != end {
			return r.fail(r.pos, "%s", [...]string{"expected ',' between complex elements", "expected ')' in complex value"}[i])
		}
		r.pos++
	}
	return nil
}

// number is the text of one number, split into its parts.
type number struct {
	text  []byte // with the sign
	neg   bool
	hex   bool
	float bool
}

// scanNumber reads a number token; ok is false if there is none.
func (r *denseReader) scanNumber() (n number, ok bool) {
	i, t := r.pos, r.text
	if i < len(t) && t[i] == '-' {
		n.neg = true
		i++
	}
	for i < len(t) && (t[i] == ' ' || t[i] == '\n') && n.neg { // '-' is a separate token
		i++
	}
	if i == len(t) || t[i]-'0' > 9 {
		return n, false
	}
	digits := i
	i, n.hex, n.float = ScanNumber(t, i)
	n.text = t[digits:i]
	r.pos = i
	return n, true
}

// ScanNumber returns the offset after the unsigned number that starts with the digit text[i]. hex is set for a
// hexadecimal number (0x1F), float for a number with a point.
func ScanNumber(text []byte, i int) (end int, hex, float bool) {
	if i+2 < len(text) && text[i] == '0' && text[i+1] == 'x' && isHex(text[i+2]) {
		for i += 2; i < len(text) && isHex(text[i]); i++ {
		}
		return i, true, false
	}
	digits := func() {
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
	}
	if digits(); i == len(text) || text[i] != '.' {
		return i, false, false
	}
	i++
	if digits(); i < len(text) && text[i]|0x20 == 'e' {
		j := i + 1
		if j < len(text) && (text[j] == '+' || text[j] == '-') {
			j++
		}
		if j < len(text) && text[j]-'0' <= 9 {
			i = j
			digits()
		}
	}
	return i, false, true
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func (r *denseReader) scalar(d DType) *LiteralError {
	start := r.pos
	n, ok := r.scanNumber()
	if !ok {
		for word, v := range [...]string{"false", "true"} {
			if bytes.HasPrefix(r.text[start:], []byte(v)) {
				if d != I1 {
					return r.fail(start, "expected i1 type for 'true' or 'false' values")
				}
				r.pos += len(v)
				if r.store {
					r.out = append(r.out, byte(word))
				}
				return nil
			}
		}
		return r.fail(start, "expected element literal of primitive type")
	}
	if d.IsFloat() {
		bits, err := parseFloat(n, d, r.store)
		if err != "" {
			return r.fail(start, "%s", err)
		}
		if r.store {
			r.put(bits, d.Size())
		}
		return nil
	}
	if n.float {
		return r.fail(start, "expected integer elements, but parsed floating-point")
	}
	if n.neg && d.Kind() == KindUnsigned {
		return r.fail(start, "expected unsigned integer elements, but parsed negative value")
	}
	bits, ok := parseInteger(n, d.Bits(), d.Kind() == KindIndex)
	if !ok {
		return r.fail(start, "integer constant out of range for type")
	}
	if r.store {
		r.put(canonicalInt(bits, d), d.Size())
	}
	return nil
}

func (r *denseReader) put(bits uint64, size int) {
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], bits)
	r.out = append(r.out, buf[:size]...)
}

// canonicalInt sign-extends a narrow signed integer to its byte.
func canonicalInt(bits uint64, d DType) uint64 {
	switch n := d.Bits(); {
	case d == I1:
		return bits & 1
	case d.Kind() == KindSigned && n < 8:
		return uint64(int64(bits<<(64-n)) >> (64 - n))
	case d.Kind() == KindUnsigned && n < 8:
		return bits & (1<<n - 1)
	}
	return bits
}

// parseInteger returns the low bits of an integer that fits width bits. Signless integers accept the signed and the
// unsigned range; signed integers (index) accept only the signed range. As in MLIR, -0 does not fit.
func parseInteger(n number, width int, signed bool) (bits uint64, ok bool) {
	var v uint64
	if n.hex {
		digits := bytes.TrimLeft(n.text[2:], "0")
		if len(digits) > 16 {
			return 0, false
		}
		for _, c := range digits {
			v = v<<4 | uint64(hexValue(c))
		}
	} else {
		digits := n.text
		if len(digits) > 19 {
			digits = bytes.TrimLeft(digits, "0")
			if len(digits) > 20 {
				return 0, false
			}
			w, err := strconv.ParseUint(string(digits), 10, 64)
			if err != nil && len(digits) > 0 {
				return 0, false
			}
			v = w
		} else {
			for _, c := range digits {
				v = 10*v + uint64(c-'0')
			}
		}
	}
	if width < 64 && v>>width != 0 {
		return 0, false
	}
	top := uint64(1) << (width - 1)
	if n.neg {
		if v == 0 || v > top {
			return 0, false
		}
		return -v, true
	}
	if signed && v&top != 0 {
		return 0, false
	}
	return v, true
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// parseFloat returns the bits of a number in the floating-point type d, or the problem. If value is false, it only
// checks the number.
func parseFloat(n number, d DType, value bool) (bits uint64, problem string) {
	if n.hex {
		if n.neg {
			return 0, "hexadecimal float literal should not have a leading minus"
		}
		v, ok := new(big.Int).SetString(string(n.text[2:]), 16)
		if !ok || v.BitLen() > d.Bits() {
			return 0, "hexadecimal float constant out of range for type"
		}
		return v.Uint64(), ""
	}
	if !n.float {
		return 0, "unexpected decimal integer literal for a floating point value"
	}
	if !value {
		return 0, ""
	}
	v, err := strconv.ParseFloat(unsafeString(n.text), 64)
	if err != nil && v == 0 {
		return 0, "floating point value too large"
	}
	if n.neg {
		v = -v
	}
	return EncodeFloat(d, v), ""
}

// ParseInteger returns the low bits of the integer digits (decimal, or 0x and hexadecimal), negated if neg is set, for
// an integer type of the given width, at most 64. ok is false if the value does not fit. Signless integers accept the
// signed and the unsigned range, signed integers (and index) the signed range, unsigned integers no negative number.
func ParseInteger(digits []byte, neg bool, width int, signed bool) (bits uint64, ok bool) {
	hex := len(digits) > 2 && digits[1] == 'x'
	return parseInteger(number{text: digits, neg: neg, hex: hex}, width, signed)
}

// ParseFloat returns the bits of text in the floating-point type d. The text is a decimal number with a point, or 0x
// and the bits.
func ParseFloat(text []byte, d DType) (bits uint64, err error) {
	r := denseReader{text: text}
	n, ok := r.scanNumber()
	if !ok || r.pos != len(text) {
		return 0, fmt.Errorf("expected floating point literal")
	}
	bits, problem := parseFloat(n, d, true)
	if problem != "" {
		return 0, fmt.Errorf("%s", problem)
	}
	return bits, nil
}

// readHex reads "0x..." with the bytes of the elements, little-endian. A single element is a splat.
func (r *denseReader) readHex(total int64) (*Tensor, bool, *LiteralError) {
	end := bytes.IndexByte(r.text[r.pos+1:], '"')
	if end < 0 {
		return nil, false, r.fail(r.pos, "expected '\"' in string literal")
	}
	start := r.pos
	body := r.text[start+1 : start+1+end]
	r.pos += end + 2
	if r.space(); r.pos != len(r.text) {
		return nil, false, r.fail(r.pos, "expected '>'")
	}
	if len(body) < 2 || body[0] != '0' || body[1] != 'x' {
		return nil, false, r.fail(start, "expected string containing hex digits starting with `0x`")
	}
	body = body[2:]
	if len(body)%2 != 0 {
		return nil, false, r.fail(start, "expected string containing hex digits starting with `0x`")
	}
	size := r.dtype.Size()
	n := int64(len(body) / 2)
	packed := false
	switch {
	case n == int64(size):
	case total >= 0 && n == total*int64(size) && total*int64(size) >= 0:
	case r.dtype == I1 && total > 0 && n == (total+7)/8:
		packed = true
	default:
		return nil, false, r.fail(-1, "elements hex data size is invalid for provided type: %s", r.typeText())
	}
	if !r.store {
		if !allHex(body) {
			return nil, false, r.fail(start, "expected string containing hex digits starting with `0x`")
		}
		return nil, false, nil
	}
	if packed {
		return r.unpack(body)
	}
	shape := r.shape
	splat := n == int64(size)
	if splat {
		shape = nil
	}
	t := New(r.dtype, shape)
	if _, err := hex.Decode(t.data, body); err != nil {
		return nil, false, r.fail(start, "expected string containing hex digits starting with `0x`")
	}
	if r.dtype.Bits() < 8 && !r.dtype.IsFloat() {
		for i, c := range t.data {
			t.data[i] = byte(canonicalInt(uint64(c), r.dtype))
		}
	}
	if !splat && allEqual(t.data, size) && total > 0 {
		r.out = t.data[:size]
		return r.single(), true, nil
	}
	return t, splat, nil
}

// allHex reports whether b contains only hexadecimal digits. It checks eight bytes at a time.
func allHex(b []byte) bool {
	const ones = 0x0101010101010101
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		low := x | 0x20*ones // letters as lower case
		digit := (x + (0x80-'0')*ones) &^ (x + (0x80-'9'-1)*ones)
		alpha := (low + (0x80-'a')*ones) &^ (low + (0x80-'f'-1)*ones)
		if x&(0x80*ones) != 0 || (digit|alpha)&(0x80*ones) != 0x80*ones {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if !isHex(c) {
			return false
		}
	}
	return true
}

// noLower reports whether b, ASCII text, contains no lower-case letters.
func noLower(b []byte) bool {
	for len(b) >= 8 {
		if lowerIn(binary.LittleEndian.Uint64(b)) {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= 'a' {
			return false
		}
	}
	return true
}

// lowerIn reports whether one of the eight ASCII bytes is at least 'a'.
func lowerIn(x uint64) bool {
	return (x+(0x80-'a')*0x0101010101010101)&0x8080808080808080 != 0
}

// HexText returns the hexadecimal text of a literal for printing, if no decoding is necessary: text must already be
// hexadecimal in upper case, with more than hexLarger elements that are not all equal. text must be valid.
func HexText(text []byte, d DType, shape Shape, hexLarger int) (out []byte, ok bool) {
	size, n := d.Size(), shape.NumElements()
	if hexLarger < 0 || n <= int64(hexLarger) || d.Bits() < 8 || len(text) != int(n)*size*2+4 ||
		text[0] != '"' || text[len(text)-1] != '"' {
		return nil, false
	}
	body := text[3 : len(text)-1]
	if allEqual(body, 2*size) || !noLower(body) {
		return nil, false
	}
	return text, true
}

// unpack reads booleans packed eight to a byte, starting with the lowest bit.
func (r *denseReader) unpack(body []byte) (*Tensor, bool, *LiteralError) {
	packed := make([]byte, len(body)/2)
	if _, err := hex.Decode(packed, body); err != nil {
		return nil, false, r.fail(0, "expected string containing hex digits starting with `0x`")
	}
	t := New(I1, r.shape)
	for i := range t.data {
		t.data[i] = packed[i/8] >> (i % 8) & 1
	}
	if allEqual(t.data, 1) {
		r.out = t.data[:1]
		return r.single(), true, nil
	}
	return t, false, nil
}
