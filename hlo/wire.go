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

	// Decoding: the fields of the message in order, and the index of the first field of each number.
	data        []byte // the message
	fields      []rawField
	first, last [maxField + 1]int32 // index of the first and the last field of a number, plus one
	inner       *coder              // for messages inside this one
	r           *protoReader
}

// maxField is the largest field number of the messages of HLO.
const maxField = 127

// rawField is one field of a message that is decoded.
type rawField struct {
	num   protowire.Number
	typ   protowire.Type
	value uint64 // of varints and fixed-size numbers
	bytes []byte // of everything with a length
	next  int32  // the next field of the same number, plus one
	used  bool
	raw   []byte // tag and value
}

// protoReader is the state of one decoding.
type protoReader struct {
	base []byte // the whole file
	text string // the same
	fail func(at []byte, format string, args ...any)
}

// load splits data into its fields.
func (c *coder) load(data []byte) {
	for i := range c.fields {
		if num := c.fields[i].num; num <= maxField {
			c.first[num] = 0
		}
	}
	c.data, c.fields = data, slices.Grow(c.fields[:0], countFields(data))
	for rest := data; len(rest) > 0; {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 {
			c.r.fail(rest, "this is not a proto: %v", protowire.ParseError(n))
		}
		f := rawField{num: num, typ: typ}
		body := rest[n:]
		m := 0
		switch typ {
		case protowire.VarintType:
			f.value, m = protowire.ConsumeVarint(body)
		case protowire.Fixed32Type:
			var v uint32
			v, m = protowire.ConsumeFixed32(body)
			f.value = uint64(v)
		case protowire.Fixed64Type:
			f.value, m = protowire.ConsumeFixed64(body)
		case protowire.BytesType:
			f.bytes, m = protowire.ConsumeBytes(body)
		default:
			m = protowire.ConsumeFieldValue(num, typ, body)
		}
		if m < 0 {
			c.r.fail(rest, "field %d is broken: %v", num, protowire.ParseError(m))
		}
		f.raw = rest[:n+m]
		rest = body[m:]
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
	i := c.first[num]
	if i == 0 {
		return nil
	}
	for {
		f := &c.fields[i-1]
		f.used = true
		if f.next == 0 {
			return f
		}
		i = f.next
	}
}

// has reports whether the decoded message has the field.
func (c *coder) has(num protowire.Number) bool { return !c.encode && c.first[num] != 0 }

func (c *coder) want(f *rawField, typ protowire.Type) {
	if f.typ != typ {
		c.r.fail(f.raw, "field %d has wire type %d, expected %d", f.num, f.typ, typ)
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
	c.int(num, &i)
	*v = i != 0
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
		*v = c.text(f.bytes)
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
		*list = append(*list, c.text(f.bytes))
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
		*v = f.bytes
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
		field := &c.fields[i-1]
		field.used = true
		next := field.next
		f(field)
		i = next
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
			*list = make([]int64, 0, len(f.bytes))
		}
		for b := f.bytes; len(b) > 0; {
			v, n := protowire.ConsumeVarint(b)
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

// list codes a repeated message. When encoding, it calls f for 0 to n-1; when decoding, for each message.
func (c *coder) list(num protowire.Number, n int, f func(c *coder, i int)) {
	if c.encode {
		for i := range n {
			c.write(num, func(c *coder) { f(c, i) })
		}
		return
	}
	i := 0
	for next := c.first[num]; next != 0; i++ {
		field := &c.fields[next-1]
		field.used = true
		next = field.next
		c.read(field, func(c *coder) { f(c, i) })
	}
}

// count returns the number of fields with the given number in the decoded message.
func (c *coder) count(num protowire.Number) int {
	n := 0
	for i := c.first[num]; i != 0; i = c.fields[i-1].next {
		n++
	}
	return n
}

// write appends a message. The length is known only at the end, so write reserves one byte for it before the message.
func (c *coder) write(num protowire.Number, f func(*coder)) {
	c.out = protowire.AppendTag(c.out, num, protowire.BytesType)
	c.out = append(c.out, 0)
	start := len(c.out)
	f(c)
	n := len(c.out) - start
	if n < 0x80 {
		c.out[start-1] = byte(n)
		return
	}
	extra := protowire.SizeVarint(uint64(n)) - 1
	c.out = slices.Grow(c.out, extra)[:len(c.out)+extra]
	copy(c.out[start+extra:], c.out[start:start+n])
	protowire.AppendVarint(c.out[:start-1], uint64(n))
}

// read decodes the message in a field.
func (c *coder) read(field *rawField, f func(*coder)) {
	c.want(field, protowire.BytesType)
	if c.inner == nil {
		c.inner = &coder{r: c.r}
	}
	c.inner.load(field.bytes)
	f(c.inner)
}

// rest codes the fields that no other visit named. It must be the last visit.
func (c *coder) rest(v *protoRest) {
	if c.encode {
		c.out = append(c.out, *v...)
		return
	}
	for i := range c.fields {
		if !c.fields[i].used {
			*v = append(*v, c.fields[i].raw...)
		}
	}
}
