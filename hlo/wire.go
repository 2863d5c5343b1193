package hlo

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// coder reads or writes one proto message. One function per message visits its fields; the same visit encodes and
// decodes. Fields that no visit names are kept verbatim and written at the end of the message.
type coder struct {
	encode bool
	out    []byte // encoding

	// Decoding: the fields of the message in order, and the index of the first and last field of each number, plus one.
	data        []byte // the message
	fields      []rawField
	first, last [maxField + 1]int32
	named       [maxField + 1]bool // whether a visit named the number
	inner       *coder             // for messages inside this one
	r           *protoReader
}

// maxField is the largest field number of the messages of HLO.
const maxField = 127

// rawField is one field of a message that is decoded. There are many, so it holds offsets and no slices.
type rawField struct {
	value            uint64 // of varints and fixed-size numbers
	start, body, end int32  // in the message; body is after the tag and the length
	num              protowire.Number
	next             int32 // the next field of the same number, plus one
	typ              protowire.Type
}

// bytesOf returns the content of a field that has a length.
func (c *coder) bytesOf(f *rawField) []byte { return c.data[f.body:f.end] }

// raw returns a field with its tag.
func (c *coder) raw(f *rawField) []byte { return c.data[f.start:f.end] }

// protoReader is the state of one decoding.
type protoReader struct {
	base []byte // the whole file
	text string // the same
	fail func(at []byte, format string, args ...any)
	ints slab[int64]
}

// load splits data into its fields.
func (c *coder) load(data []byte) {
	for i := range c.fields {
		if num := c.fields[i].num; num <= maxField {
			c.first[num], c.named[num] = 0, false
		}
	}
	if len(data) > math.MaxInt32 {
		c.r.fail(data, "a proto of more than 2 GiB")
	}
	c.data, c.fields = data, slices.Grow(c.fields[:0], countFields(data))
	for off := 0; off < len(data); {
		num, typ, n := consumeTag(data[off:])
		if n < 0 {
			c.r.fail(data[off:], "this is not a proto: %v", protowire.ParseError(n))
		}
		body := data[off+n:]
		f := rawField{start: int32(off), num: num, typ: typ}
		m, length := 0, 0 // of the body and of what precedes its content
		switch typ {
		case protowire.VarintType:
			f.value, m = consumeVarint(body)
		case protowire.Fixed32Type:
			var v uint32
			v, m = protowire.ConsumeFixed32(body)
			f.value = uint64(v)
		case protowire.Fixed64Type:
			f.value, m = protowire.ConsumeFixed64(body)
		case protowire.BytesType:
			var size uint64
			if size, length = consumeVarint(body); length >= 0 && size <= uint64(len(body)-length) {
				m = length + int(size)
			} else {
				_, m = protowire.ConsumeBytes(body) // its error
			}
		default:
			m = protowire.ConsumeFieldValue(num, typ, body)
		}
		if m < 0 {
			c.r.fail(data[off:], "field %d is broken: %v", num, protowire.ParseError(m))
		}
		f.body = int32(off + n + length)
		off += n + m
		f.end = int32(off)
		c.fields = append(c.fields, f)
		i := int32(len(c.fields))
		if num <= maxField {
			if c.first[num] != 0 {
				c.fields[c.last[num]-1].next = i
			} else {
				c.first[num] = i
			}
			c.last[num] = i
		}
	}
}

// consumeTag is protowire.ConsumeTag, inline for numbers below 16.
func consumeTag(b []byte) (protowire.Number, protowire.Type, int) {
	if len(b) > 0 && b[0] >= 8 && b[0] < 0x80 {
		return protowire.Number(b[0] >> 3), protowire.Type(b[0] & 7), 1
	}
	return protowire.ConsumeTag(b)
}

// consumeVarint is protowire.ConsumeVarint, inline for values below 128.
func consumeVarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// countFields returns the number of fields of a long message; 0 for a short one, whose list of fields may grow.
func countFields(data []byte) int {
	if len(data) < 1<<16 {
		return 0
	}
	count := 0
	for len(data) > 0 {
		_, _, n := protowire.ConsumeField(data)
		if n < 0 {
			break // load reports it
		}
		data = data[n:]
		count++
	}
	return count
}

// offset returns where the decoded message starts in the file.
func (c *coder) offset() int { return offsetOf(c.r.base, c.data) }

// text returns part of the file as a string that shares the memory of the whole.
func (c *coder) text(part []byte) string {
	at := offsetOf(c.r.base, part)
	return c.r.text[at : at+len(part)]
}

// get returns the last field of the given number, nil if there is none.
func (c *coder) get(num protowire.Number) *rawField {
	if c.first[num] == 0 {
		return nil
	}
	c.named[num] = true
	return &c.fields[c.last[num]-1]
}

// has reports whether the decoded message has the field.
func (c *coder) has(num protowire.Number) bool { return !c.encode && c.first[num] != 0 }

func (c *coder) want(f *rawField, typ protowire.Type) {
	if f.typ != typ {
		c.r.fail(c.raw(f), "field %d has wire type %d, expected %d", f.num, f.typ, typ)
	}
}

// int codes an integer or an enumeration.
func (c *coder) int(num protowire.Number, v *int64) {
	if c.encode {
		if *v != 0 {
			c.out = protowire.AppendVarint(protowire.AppendTag(c.out, num, protowire.VarintType), uint64(*v))
		}
		return
	}
	if f := c.get(num); f != nil {
		c.want(f, protowire.VarintType)
		*v = int64(f.value)
	}
}

func (c *coder) bool(num protowire.Number, v *bool) {
	var i int64
	if *v {
		i = 1
	}
	if c.int(num, &i); !c.encode {
		*v = i != 0
	}
}

// str codes a string or bytes.
func (c *coder) str(num protowire.Number, v *string) {
	if c.encode {
		if *v != "" {
			c.out = protowire.AppendString(protowire.AppendTag(c.out, num, protowire.BytesType), *v)
		}
		return
	}
	if f := c.get(num); f != nil {
		c.want(f, protowire.BytesType)
		*v = c.text(c.bytesOf(f))
	}
}

// strs codes a repeated string.
func (c *coder) strs(num protowire.Number, list *[]string) {
	if c.encode {
		for _, s := range *list {
			c.out = protowire.AppendString(protowire.AppendTag(c.out, num, protowire.BytesType), s)
		}
		return
	}
	c.each(num, func(f *rawField) {
		c.want(f, protowire.BytesType)
		*list = append(*list, c.text(c.bytesOf(f)))
	})
}

// bytes codes a field of bytes, without a copy.
func (c *coder) bytes(num protowire.Number, v *[]byte) {
	if c.encode {
		if len(*v) > 0 {
			c.out = protowire.AppendBytes(protowire.AppendTag(c.out, num, protowire.BytesType), *v)
		}
		return
	}
	if f := c.get(num); f != nil {
		c.want(f, protowire.BytesType)
		*v = c.bytesOf(f)
	}
}

func (c *coder) float32(num protowire.Number, v *float64) {
	if c.encode {
		if *v != 0 {
			c.out = protowire.AppendFixed32(protowire.AppendTag(c.out, num, protowire.Fixed32Type), math.Float32bits(float32(*v)))
		}
		return
	}
	if f := c.get(num); f != nil {
		c.want(f, protowire.Fixed32Type)
		*v = float64(math.Float32frombits(uint32(f.value)))
	}
}

func (c *coder) double(num protowire.Number, v *float64) {
	if c.encode {
		if *v != 0 {
			c.out = protowire.AppendFixed64(protowire.AppendTag(c.out, num, protowire.Fixed64Type), math.Float64bits(*v))
		}
		return
	}
	if f := c.get(num); f != nil {
		c.want(f, protowire.Fixed64Type)
		*v = math.Float64frombits(f.value)
	}
}

// each calls f for the fields of a number in order.
func (c *coder) each(num protowire.Number, f func(*rawField)) {
	for i := c.first[num]; i != 0; {
		c.named[num] = true
		field := &c.fields[i-1]
		f(field)
		i = field.next
	}
}

// ints codes a repeated integer: packed when written, in either form when read.
func (c *coder) ints(num protowire.Number, list *[]int64) {
	if c.encode {
		if len(*list) == 0 {
			return
		}
		n := 0
		for _, v := range *list {
			n += protowire.SizeVarint(uint64(v))
		}
		c.out = protowire.AppendVarint(protowire.AppendTag(slices.Grow(c.out, n+16), num, protowire.BytesType), uint64(n))
		for _, v := range *list {
			c.out = protowire.AppendVarint(c.out, uint64(v))
		}
		return
	}
	c.each(num, func(f *rawField) {
		if f.typ == protowire.VarintType {
			*list = append(*list, int64(f.value))
			return
		}
		c.want(f, protowire.BytesType)
		if *list == nil {
			*list = c.r.ints.take(max(1, int(f.end-f.body)))[:0]
		}
		for b := c.bytesOf(f); len(b) > 0; {
			v, n := consumeVarint(b)
			if n < 0 {
				c.r.fail(b, "field %d is broken: %v", num, protowire.ParseError(n))
			}
			*list = append(*list, int64(v))
			b = b[n:]
		}
	})
}

func (c *coder) bools(num protowire.Number, list *[]bool) {
	if c.encode {
		if len(*list) > 0 {
			c.out = protowire.AppendVarint(protowire.AppendTag(slices.Grow(c.out, len(*list)+16), num, protowire.BytesType), uint64(len(*list)))
			for _, v := range *list {
				b := byte(0)
				if v {
					b = 1
				}
				c.out = append(c.out, b)
			}
		}
		return
	}
	var ints []int64
	c.ints(num, &ints)
	if ints != nil {
		*list = make([]bool, len(ints))
		for i, v := range ints {
			(*list)[i] = v != 0
		}
	}
}

// msg codes a message. When encoding, present says whether to write the message; when decoding, msg calls f if the
// message is there. The result says whether it was.
func (c *coder) msg(num protowire.Number, present bool, f func(*coder)) bool {
	if c.encode {
		if present {
			c.write(num, f)
		}
		return present
	}
	field := c.get(num)
	if field == nil {
		return false
	}
	c.read(field, f)
	return true
}

// message codes a field that holds the message value, a *T or nil, and returns the message.
func message[T any](c *coder, num protowire.Number, value any, fields func(*T, *coder)) *T {
	v, _ := value.(*T)
	if v == nil {
		v = new(T)
	}
	c.msg(num, true, func(c *coder) { fields(v, c) })
	return v
}

// messages codes a repeated message: fields visits the fields of each.
func messages[T any](c *coder, num protowire.Number, list *[]T, fields func(*T, *coder)) {
	if c.encode {
		for i := range *list {
			c.write(num, func(c *coder) { fields(&(*list)[i], c) })
		}
		return
	}
	c.decodeEach(num, func(c *coder) {
		*list = append(*list, *new(T))
		fields(&(*list)[len(*list)-1], c)
	})
}

// decodeEach calls f for each message of a repeated field.
func (c *coder) decodeEach(num protowire.Number, f func(*coder)) {
	c.each(num, func(field *rawField) { c.read(field, f) })
}

// count returns the number of fields with the given number in the decoded message.
func (c *coder) count(num protowire.Number) int {
	n := 0
	for i := c.first[num]; i != 0; i = c.fields[i-1].next {
		n++
	}
	return n
}

// write appends a message.
func (c *coder) write(num protowire.Number, f func(*coder)) {
	c.out = openMessage(c.out, num)
	start := len(c.out)
	f(c)
	c.out, _ = closeMessage(c.out, start)
}

// openMessage appends the tag of a message and a byte for its length, which is known only at the end.
func openMessage(out []byte, num protowire.Number) []byte {
	return append(protowire.AppendTag(out, num, protowire.BytesType), 0)
}

// closeMessage writes the length of the message that fills out from start. moved is the number of bytes by which a long
// length moves the message.
func closeMessage(out []byte, start int) (_ []byte, moved int) {
	n := len(out) - start
	if n < 0x80 {
		out[start-1] = byte(n)
		return out, 0
	}
	moved = protowire.SizeVarint(uint64(n)) - 1
	out = slices.Grow(out, moved)[:len(out)+moved]
	copy(out[start+moved:], out[start:start+n])
	protowire.AppendVarint(out[:start-1], uint64(n))
	return out, moved
}

// read decodes the message in a field.
func (c *coder) read(field *rawField, f func(*coder)) {
	c.want(field, protowire.BytesType)
	if c.inner == nil {
		c.inner = &coder{r: c.r}
	}
	c.inner.load(c.bytesOf(field))
	f(c.inner)
}

// rest codes the fields that no other visit named. It must be the last visit.
func (c *coder) rest(v *protoRest) {
	if c.encode {
		c.out = append(c.out, *v...)
		return
	}
	*v = c.unread()
}

// unread returns the fields of the decoded message that no visit named.
func (c *coder) unread() (rest protoRest) {
	for i := range c.fields {
		if f := &c.fields[i]; f.num > maxField || !c.named[f.num] {
			rest = append(rest, c.raw(f)...)
		}
	}
	return rest
}
