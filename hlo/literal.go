package hlo

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// literal is a constant value. data holds the elements of an array in row-major order, little-endian, one byte for
// elements narrower than a byte. If data is shorter than the array, the other elements are zero.
type literal struct {
	shape *shape
	data  []byte
	elems []*literal // of a tuple
	// elided marks a constant whose elements the printer left out: constant({...}). data is nil then.
	elided bool
}

// size returns the number of bytes of v's elements.
func (v *literal) size() int {
	n := len(v.data)
	for _, e := range v.elems {
		n += e.size()
	}
	return n
}

// hasElided reports whether the text omitted the elements of any part of v.
func (v *literal) hasElided() bool {
	for _, e := range v.elems {
		if e.hasElided() {
			return true
		}
	}
	return v.elided
}

// floatForm describes the bits of a floating-point type.
type floatForm struct {
	payload int // bits of a NaN's payload; 0 if NaN has no payload
	sign    int // the sign's bit
}

// floatForms describe the types whose NaNs have payloads: exponent all ones, payload not zero.
func (t elementType) floatForm() floatForm {
	switch t.row().name {
	case "f16":
		return floatForm{10, 15}
	case "bf16":
		return floatForm{7, 15}
	case "f32":
		return floatForm{23, 31}
	case "f64":
		return floatForm{52, 63}
	case "f8e5m2":
		return floatForm{2, 7}
	case "f8e4m3":
		return floatForm{3, 7}
	case "f8e3m4":
		return floatForm{4, 7}
	}
	return floatForm{0, t.row().bits - 1}
}

// encodeFloat returns the bits of v in t, or a description of the error.
func (t elementType) encodeFloat(v float64) (b uint64, mistake string) {
	row := t.row()
	if v != v {
		form := t.floatForm()
		from := math.Float64bits(v)
		payload := from & (1<<52 - 1)
		neg := from>>63 != 0
		if form.payload == 0 {
			if payload != quietNaN {
				return 0, row.name + " has no NaN payloads"
			}
			b = tensor.EncodeFloat(row.dtype, math.NaN())
			if neg && row.name != "f8e8m0fnu" {
				b |= 1 << form.sign
			}
			return b, ""
		}
		if payload == quietNaN {
			payload = 1 << (form.payload - 1)
		}
		if payload >= 1<<form.payload {
			return 0, "NaN payload 0x" + strconv.FormatUint(payload, 16) + " is out of range for " + row.name
		}
		b = (uint64(1)<<form.sign - 1) &^ (1<<form.payload - 1) & (1<<form.sign - 1)
		b |= payload
		if neg {
			b |= 1 << form.sign
		}
		return b, ""
	}
	switch t {
	case f32:
		f := float32(v)
		b = uint64(math.Float32bits(f))
		if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
			mistake = "x"
		}
	case f8e8m0:
		return encodeExponent(v)
	default:
		b = tensor.EncodeFloat(row.dtype, v)
		if back := tensor.DecodeFloat(row.dtype, b); !math.IsInf(v, 0) && (math.IsInf(back, 0) || back != back) {
			mistake = "x"
		}
	}
	if mistake != "" {
		return 0, "value " + strconv.FormatFloat(v, 'g', -1, 64) + " is out of range for " + row.name
	}
	return b, ""
}

// encodeExponent returns the bits of f8e8m0fnu, a power of two, that is nearest to v.
func encodeExponent(v float64) (b uint64, mistake string) {
	if math.IsInf(v, 0) {
		return tensor.EncodeFloat(f8e8m0.row().dtype, v), ""
	}
	frac, exp := math.Frexp(v) // v = frac * 2^exp, frac in [0.5, 1)
	if frac < 0.75 {           // 1.5 becomes 2
		exp--
	}
	if exp > 127 || v <= 0 {
		return 0, "value " + strconv.FormatFloat(v, 'g', -1, 64) + " is out of range for " + f8e8m0.String()
	}
	return uint64(max(exp, -127) + 127), ""
}

// encodeInt returns the bits of v in the integer type t, or a description of the error.
func (t elementType) encodeInt(v int64) (b uint64, mistake string) {
	row := t.row()
	ok := true
	switch row.kind {
	case signedKind:
		ok = row.bits == 64 || v >= -1<<(row.bits-1) && v < 1<<(row.bits-1)
	case unsignedKind:
		ok = row.bits == 64 || uint64(v) < 1<<row.bits
	case predKind:
		if v != 0 {
			v = 1
		}
	}
	if !ok {
		return 0, "value " + strconv.FormatInt(v, 10) + " is out of range for " + row.name
	}
	return uint64(v), ""
}

// put stores the low bits of v as element i of data, which has size bytes per element.
func put(data []byte, i, size int, v uint64) {
	switch size {
	case 1:
		data[i] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(data[2*i:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(data[4*i:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(data[8*i:], v)
	}
}

// get returns element i of data, which has size bytes per element.
func get(data []byte, i, size int) uint64 {
	if (i+1)*size > len(data) {
		return 0
	}
	switch size {
	case 1:
		return uint64(data[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(data[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return binary.LittleEndian.Uint64(data[8*i:])
}

// maxLiteral limits the bytes of a literal whose elements are not written out; its dimensions alone could request any
// amount.
const maxLiteral = 1 << 31

// literal reads the value of a constant of the given shape.
func (p *parser) literal(s *shape) *literal {
	p.enter()
	defer p.leave()
	if s.isTuple() {
		v := &literal{shape: s}
		p.expect('(')
		for i, e := range s.elems {
			if i > 0 {
				p.accept(',') // optional in XLA's reader, too
			}
			v.elems = append(v.elems, p.literal(e))
		}
		p.expect(')')
		return v
	}
	if !s.isArray() {
		p.failToken("a literal cannot have type %s", s.elem)
	}
	return p.denseLiteral(s)
}

// denseLiteral reads an array: nested braces by rank, elements separated by any number of commas.
func (p *parser) denseLiteral(s *shape) *literal {
	v := &literal{shape: s}
	rank := len(s.dims)
	n := int64(1)
	for _, d := range s.dims {
		if d == unboundedSize {
			p.failToken("a literal cannot have an unbounded dimension")
		}
		hi, lo := bits.Mul64(uint64(n), uint64(d))
		if (hi != 0 || lo >= maxLiteral) && !slices.Contains(s.dims, 0) {
			p.failToken("%s is too large for a literal", s.plain())
		}
		n = int64(lo)
	}
	size := s.elem.size()
	// An element has at least two bytes of text, so the memory is limited by the length of the text.
	if room := int64(len(p.text)-p.tok.pos)/2 + 1; n <= room {
		v.data = make([]byte, 0, n*int64(size))
	}
	seen := make([]int64, rank)
	depth := 0
	add := func() {
		if rank == 0 {
			return
		}
		if depth != rank {
			p.failToken("expected a nested array of rank %d, found one of rank %d", rank, depth)
		}
		if seen[rank-1]++; seen[rank-1] > s.dims[rank-1] {
			p.failToken("expected %d elements in the last dimension, found more", s.dims[rank-1])
		}
	}
	elem := make([]byte, 16)
	for {
		switch p.tok.kind {
		case '{':
			if rank == 0 && strings.HasPrefix(p.text[p.tok.pos:], "{...}") {
				p.next()
				p.next()
				p.expect('}')
				v.elided = true
				return v
			}
			if depth++; depth > rank {
				p.failToken("expected a nested array of rank %d, found a deeper one", rank)
			}
			if depth > 1 {
				if seen[depth-2]++; seen[depth-2] > s.dims[depth-2] {
					p.failToken("expected %d elements in dimension %d, found more", s.dims[depth-2], depth-2)
				}
			}
			p.next()
		case '}':
			if depth == 0 {
				p.failToken("expected an element, found '}'")
			}
			depth--
			if seen[depth] != s.dims[depth] {
				p.failToken("expected %d elements in dimension %d, found %d", s.dims[depth], depth, seen[depth])
			}
			seen[depth] = 0
			p.next()
		case dotsToken:
			if depth != 1 {
				p.failToken("expected '...' directly in the outer braces")
			}
			v.elided = true
			seen[0] = s.dims[0]
			p.next()
		case ',':
			p.next()
		case '(':
			add()
			p.complexElement(s.elem, elem)
			v.data = append(v.data, elem[:size]...)
		default:
			if depth == 0 && rank > 0 {
				p.firstElement(v, n)
				return v
			}
			add()
			b := p.element(s.elem)
			put(elem, 0, size, b)
			v.data = append(v.data, elem[:size]...)
		}
		if depth == 0 {
			break
		}
	}
	if v.elided {
		v.elided, v.data = n > 0, nil
	}
	return v
}

// firstElement reads an array of n elements that is written as one number. XLA uses the number as the first element
// and fills the rest with zeros.
func (p *parser) firstElement(v *literal, n int64) {
	size := v.shape.elem.size()
	if n == 0 {
		p.failToken("expected '{' before the elements of %s", v.shape.plain())
	}
	v.data = make([]byte, size)
	put(v.data, 0, size, p.element(v.shape.elem))
}

// element reads one number, true or false and returns its bits in type t.
func (p *parser) element(t elementType) uint64 {
	var b uint64
	var mistake string
	switch kind := t.row().kind; {
	case p.word("true"), p.word("false"):
		if kind != predKind {
			p.failToken("expected a value of %s, found '%s'", t, p.tok.text)
		}
		if p.word("true") {
			b = 1
		}
	case kind == predKind || kind == signedKind || kind == unsignedKind:
		i, ok := p.intValue()
		if !ok {
			p.failToken("expected an integer of type %s, found %s", t, p.found())
		}
		b, mistake = t.encodeInt(i)
	case kind == floatKind:
		var v float64
		if v, mistake = p.doubleValue(); mistake == "" {
			b, mistake = t.encodeFloat(v)
		}
	default:
		p.failToken("expected '(' before a complex number, found %s", p.found())
	}
	if mistake != "" {
		p.failToken("%s", mistake)
	}
	p.next()
	return b
}

// complexElement reads (re, im) into b.
func (p *parser) complexElement(t elementType, b []byte) {
	if t.row().kind != complexKind {
		p.failToken("expected a value of %s, found '('", t)
	}
	part := t.part()
	p.next()
	put(b, 0, part.size(), p.element(part))
	p.expect(',')
	put(b, 1, part.size(), p.element(part))
	p.expect(')')
}

// part returns the type of the two parts of a complex type.
func (t elementType) part() elementType {
	if t == c64 {
		return f32
	}
	return f32 + 1
}

// maxEmptyRows is the number of braces up to which a literal without elements is printed as XLA prints it. More braces
// are elided, which loses nothing: readers know the value.
const maxEmptyRows = 1 << 16

// emptyRows returns the number of innermost braces in the text of a literal of shape s, 0 if it has elements.
func (s *shape) emptyRows() int64 {
	zero := slices.Index(s.dims, 0)
	if zero < 0 {
		return 0
	}
	rows := int64(1)
	for _, d := range s.dims[:zero] {
		if rows *= d; rows > maxEmptyRows {
			return rows
		}
	}
	return rows
}

// appendLiteral appends v as XLA prints it. It elides arrays of more than elideAbove elements; -1 elides nothing.
func appendLiteral(b []byte, v *literal, elideAbove int64) []byte {
	if v.shape.isTuple() {
		b = appendJoined(append(b, "( "...), ", ", v.elems, func(b []byte, e *literal) []byte { return appendLiteral(b, e, elideAbove) })
		return append(b, " )"...)
	}
	if v.elided || elideAbove >= 0 && v.shape.numElements() > elideAbove || v.shape.emptyRows() > maxEmptyRows {
		return append(b, "{...}"...)
	}
	w := literalWriter{v: v, elem: v.shape.elem, size: v.shape.elem.size(), dims: v.shape.dims}
	return w.array(b, 0, -1)
}

// literalWriter writes the elements of one array.
type literalWriter struct {
	v    *literal
	elem elementType
	size int
	dims []int64
	next int // the element to write next
}

// array appends the part of the array under the first depth indices; index is the last of these indices.
func (w *literalWriter) array(b []byte, depth int, index int64) []byte {
	rank := len(w.dims)
	if depth == rank {
		b = w.append(b, w.next, rank)
		w.next++
		return b
	}
	n := w.dims[depth]
	inner := depth == rank-1
	b = append(b, '{')
	switch {
	case rank == 1:
	case inner:
		if n > 1 {
			b = append(b, ' ')
		}
	case rank > 3 && depth > 0:
		b = append(b, " /*i"...)
		b = strconv.AppendInt(b, int64(depth-1), 10)
		b = append(b, '=')
		b = strconv.AppendInt(b, index, 10)
		b = append(b, "*/"...)
		if n > 0 {
			b = append(b, ' ')
		}
	default:
		b = append(b, ' ')
	}
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.array(b, depth+1, i)
	}
	if rank > 1 && (!inner || n > 1) {
		b = append(b, ' ')
	}
	return append(b, '}')
}

// append appends element i.
func (w *literalWriter) append(b []byte, i, rank int) []byte {
	row := w.elem.row()
	if row.kind == complexKind {
		part := w.elem.part()
		b = append(b, '(')
		b = appendFloat(b, part, get(w.v.data, 2*i, part.size()))
		b = append(b, ", "...)
		b = appendFloat(b, part, get(w.v.data, 2*i+1, part.size()))
		return append(b, ')')
	}
	bits := get(w.v.data, i, w.size)
	switch row.kind {
	case predKind:
		switch {
		case rank > 0:
			return append(b, '0'+byte(bits))
		case bits != 0:
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case signedKind:
		shift := 64 - 8*w.size
		return strconv.AppendInt(b, int64(bits<<shift)>>shift, 10)
	case unsignedKind:
		return strconv.AppendUint(b, bits, 10)
	}
	return appendFloat(b, w.elem, bits)
}

// appendFloat appends a float of type t with the digits that XLA prints. It writes the negative zero as -0.0, because
// XLA reads its own -0 as an integer.
func appendFloat(b []byte, t elementType, bits uint64) []byte {
	row := t.row()
	v := tensor.DecodeFloat(row.dtype, bits)
	switch {
	case v != v:
		form := t.floatForm()
		if bits>>form.sign&1 != 0 && row.name != "f8e8m0fnu" {
			b = append(b, '-')
		}
		b = append(b, "nan"...)
		if form.payload > 0 {
			if p := bits & (1<<form.payload - 1); p != 1<<(form.payload-1) {
				b = append(b, "(0x"...)
				b = strconv.AppendUint(b, p, 16)
				b = append(b, ')')
			}
		}
		return b
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	case v == 0 && math.Signbit(v):
		return append(b, "-0.0"...)
	}
	switch t {
	case f32:
		start := len(b)
		b = strconv.AppendFloat(b, v, 'g', 6, 64)
		if back, err := strconv.ParseFloat(string(b[start:]), 32); err != nil || float32(back) != float32(v) {
			b = strconv.AppendFloat(b[:start], v, 'g', 9, 64)
		}
		return trimFloat(b, start)
	case f32 + 1:
		start := len(b)
		b = strconv.AppendFloat(b, v, 'g', 15, 64)
		if back, err := strconv.ParseFloat(string(b[start:]), 64); err != nil || back != v {
			b = strconv.AppendFloat(b[:start], v, 'g', 17, 64)
		}
		return trimFloat(b, start)
	}
	start := len(b)
	digits := row.digits
	if t == f8e8m0 && bits == 0 {
		digits = 6 // XLA prints 5.9e-39 but reads it as twice the value
	}
	return trimFloat(strconv.AppendFloat(b, v, 'g', digits, 64), start)
}

// trimFloat removes the trailing zeros of the fraction that starts after start, as C's %g does.
func trimFloat(b []byte, start int) []byte {
	point, exp := -1, len(b)
	for i := start; i < len(b); i++ {
		switch b[i] {
		case '.':
			point = i
		case 'e':
			exp = i
		}
	}
	if point < 0 {
		return b
	}
	end := exp
	for end > point+1 && b[end-1] == '0' {
		end--
	}
	if end == point+1 {
		end = point
	}
	return append(b[:end], b[exp:]...)
}
