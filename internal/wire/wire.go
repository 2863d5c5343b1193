// Package wire reads and writes protobuf's messages without generated code.
package wire

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Coder reads or writes one proto message. One function per message visits its fields; the same visit encodes and
// decodes. Fields that no visit names are kept verbatim and written at the end of the message.
type Coder struct {
	Encode bool
	Out    []byte // encoding

	// Decoding: the fields of the message in order, and the index of the first and last field of each number, plus one.
	Data        []byte // the message
	fields      []Field
	first, last [maxField + 1]int32
	named       [maxField + 1]bool // whether a visit named the number
	inner       *Coder             // for messages inside this one
	merged      bool               // Data joins several parts of the file
	r           *Reader
}

// maxField is the largest field number of the messages of HLO.
const maxField = 127

// Field is one field of a message that is decoded. There are many, so it holds offsets and no slices.
type Field struct {
	Value            uint64 // of varints and fixed-size numbers
	start, body, end int32  // in the message; body is after the tag and the length
	num              protowire.Number
	next             int32 // the next field of the same number, plus one
	Type             protowire.Type
}

// BytesOf returns the content of a field that has a length.
func (c *Coder) BytesOf(f *Field) []byte { return c.Data[f.body:f.end] }

// Empty reports whether the field is a message, a string or a list without content.
func (f *Field) Empty() bool { return f.Type == protowire.BytesType && f.body == f.end }

// Raw returns a field with its tag.
func (c *Coder) Raw(f *Field) []byte { return c.Data[f.start:f.end] }

// Reader is the state of one decoding.
type Reader struct {
	Base []byte // the whole file
	Text string // the same
	// Fail ends the decoding, by a panic; at is the part of Base that is wrong.
	Fail func(at []byte, format string, args ...any)
	Ints func(n int) []int64 // memory for repeated integers; nil: make
}

// Rest holds the fields of a message that no visit names, verbatim.
type Rest []byte

// NewCoder returns a coder that decodes.
func NewCoder(r *Reader) *Coder { return &Coder{r: r} }

// Reader returns the state of the decoding.
func (c *Coder) Reader() *Reader { return c.r }

// mistake ends the decoding of Decode.
type mistake struct{ err error }

// Decode decodes one message: visit visits its fields. A mistake ends it: the error says which.
func Decode(message string, visit func(*Coder)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			m, ok := r.(mistake)
			if !ok {
				panic(r)
			}
			err = m.err
		}
	}()
	data := []byte(message)
	c := NewCoder(&Reader{Base: data, Text: message, Fail: func(_ []byte, format string, args ...any) {
		panic(mistake{fmt.Errorf(format, args...)})
	}})
	c.Load(data)
	visit(c)
	return nil
}

// OffsetOf returns where part, a slice of whole, starts.
func OffsetOf(whole, part []byte) int {
	return max(0, cap(whole)-cap(part))
}

func (r *Reader) take(n int) []int64 {
	if r.Ints == nil {
		return make([]int64, n)
	}
	return r.Ints(n)
}

// Load splits data into its fields.
func (c *Coder) Load(data []byte) {
	for i := range c.fields {
		if num := c.fields[i].num; num <= maxField {
			c.first[num], c.named[num] = 0, false
		}
	}
	if len(data) > math.MaxInt32 {
		c.r.Fail(data, "a proto of more than 2 GiB")
	}
	c.Data, c.fields = data, slices.Grow(c.fields[:0], countFields(data))
	for off := 0; off < len(data); {
		num, typ, n := consumeTag(data[off:])
		if n < 0 {
			c.r.Fail(data[off:], "this is not a proto: %v", protowire.ParseError(n))
		}
		body := data[off+n:]
		f := Field{start: int32(off), num: num, Type: typ}
		m, length := 0, 0 // of the body and of what precedes its content
		switch typ {
		case protowire.VarintType:
			f.Value, m = consumeVarint(body)
		case protowire.Fixed32Type:
			var v uint32
			v, m = protowire.ConsumeFixed32(body)
			f.Value = uint64(v)
		case protowire.Fixed64Type:
			f.Value, m = protowire.ConsumeFixed64(body)
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
			c.r.Fail(data[off:], "field %d is broken: %v", num, protowire.ParseError(m))
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

// Offset returns where the decoded message starts in the file; 0 if it is in several places.
func (c *Coder) Offset() int {
	if c.merged {
		return 0
	}
	return OffsetOf(c.r.Base, c.Data)
}

// Text returns part of the file as a string that shares the memory of the whole.
func (c *Coder) Text(part []byte) string {
	if c.merged {
		return string(part)
	}
	at := OffsetOf(c.r.Base, part)
	return c.r.Text[at : at+len(part)]
}

// Get returns the last field of the given number, nil if there is none.
func (c *Coder) Get(num protowire.Number) *Field {
	if c.first[num] == 0 {
		return nil
	}
	c.named[num] = true
	return &c.fields[c.last[num]-1]
}

// Has reports whether the decoded message has the field.
func (c *Coder) Has(num protowire.Number) bool { return !c.Encode && c.first[num] != 0 }

// Want fails if the field has another wire type.
func (c *Coder) Want(f *Field, typ protowire.Type) {
	if f.Type != typ {
		c.r.Fail(c.Raw(f), "field %d has wire type %d, expected %d", f.num, f.Type, typ)
	}
}

// Int codes an integer or an enumeration.
func (c *Coder) Int(num protowire.Number, v *int64) {
	if c.Encode {
		if *v != 0 {
			c.Out = protowire.AppendVarint(protowire.AppendTag(c.Out, num, protowire.VarintType), uint64(*v))
		}
		return
	}
	if f := c.Get(num); f != nil {
		c.Want(f, protowire.VarintType)
		*v = int64(f.Value)
	}
}

// Bool codes a boolean.
func (c *Coder) Bool(num protowire.Number, v *bool) {
	var i int64
	if *v {
		i = 1
	}
	if c.Int(num, &i); !c.Encode {
		*v = i != 0
	}
}

// Str codes a string or bytes.
func (c *Coder) Str(num protowire.Number, v *string) {
	if c.Encode {
		if *v != "" {
			c.Out = protowire.AppendString(protowire.AppendTag(c.Out, num, protowire.BytesType), *v)
		}
		return
	}
	if f := c.Get(num); f != nil {
		c.Want(f, protowire.BytesType)
		*v = c.Text(c.BytesOf(f))
	}
}

// Strs codes a repeated string.
func (c *Coder) Strs(num protowire.Number, list *[]string) {
	if c.Encode {
		for _, s := range *list {
			c.Out = protowire.AppendString(protowire.AppendTag(c.Out, num, protowire.BytesType), s)
		}
		return
	}
	c.Each(num, func(f *Field) {
		c.Want(f, protowire.BytesType)
		*list = append(*list, c.Text(c.BytesOf(f)))
	})
}

// Bytes codes a field of bytes, without a copy.
func (c *Coder) Bytes(num protowire.Number, v *[]byte) {
	if c.Encode {
		if len(*v) > 0 {
			c.Out = protowire.AppendBytes(protowire.AppendTag(c.Out, num, protowire.BytesType), *v)
		}
		return
	}
	if f := c.Get(num); f != nil {
		c.Want(f, protowire.BytesType)
		*v = c.BytesOf(f)
	}
}

// Float32 codes a number of 32 bits.
func (c *Coder) Float32(num protowire.Number, v *float64) {
	if c.Encode {
		if *v != 0 {
			c.Out = protowire.AppendFixed32(protowire.AppendTag(c.Out, num, protowire.Fixed32Type), math.Float32bits(float32(*v)))
		}
		return
	}
	if f := c.Get(num); f != nil {
		c.Want(f, protowire.Fixed32Type)
		*v = float64(math.Float32frombits(uint32(f.Value)))
	}
}

// Double codes a number of 64 bits.
func (c *Coder) Double(num protowire.Number, v *float64) {
	if c.Encode {
		if *v != 0 {
			c.Out = protowire.AppendFixed64(protowire.AppendTag(c.Out, num, protowire.Fixed64Type), math.Float64bits(*v))
		}
		return
	}
	if f := c.Get(num); f != nil {
		c.Want(f, protowire.Fixed64Type)
		*v = math.Float64frombits(f.Value)
	}
}

// Each calls f for the fields of a number in order.
func (c *Coder) Each(num protowire.Number, f func(*Field)) {
	for i := c.first[num]; i != 0; {
		c.named[num] = true
		field := &c.fields[i-1]
		f(field)
		i = field.next
	}
}

// Ints codes a repeated integer: packed when written, in either form when read.
func (c *Coder) Ints(num protowire.Number, list *[]int64) {
	if c.Encode {
		if len(*list) == 0 {
			return
		}
		n := 0
		for _, v := range *list {
			n += protowire.SizeVarint(uint64(v))
		}
		c.Out = protowire.AppendVarint(protowire.AppendTag(slices.Grow(c.Out, n+16), num, protowire.BytesType), uint64(n))
		for _, v := range *list {
			c.Out = protowire.AppendVarint(c.Out, uint64(v))
		}
		return
	}
	c.Each(num, func(f *Field) {
		if f.Type == protowire.VarintType {
			*list = append(*list, int64(f.Value))
			return
		}
		c.Want(f, protowire.BytesType)
		if *list == nil {
			*list = c.r.take(max(1, int(f.end-f.body)))[:0]
		}
		for b := c.BytesOf(f); len(b) > 0; {
			v, n := consumeVarint(b)
			if n < 0 {
				c.r.Fail(b, "field %d is broken: %v", num, protowire.ParseError(n))
			}
			*list = append(*list, int64(v))
			b = b[n:]
		}
	})
}

// Bools codes a repeated boolean, packed as Ints.
func (c *Coder) Bools(num protowire.Number, list *[]bool) {
	if c.Encode {
		if len(*list) > 0 {
			c.Out = protowire.AppendVarint(protowire.AppendTag(slices.Grow(c.Out, len(*list)+16), num, protowire.BytesType), uint64(len(*list)))
			for _, v := range *list {
				b := byte(0)
				if v {
					b = 1
				}
				c.Out = append(c.Out, b)
			}
		}
		return
	}
	var ints []int64
	c.Ints(num, &ints)
	if ints != nil {
		*list = make([]bool, len(ints))
		for i, v := range ints {
			(*list)[i] = v != 0
		}
	}
}

// Msg codes a message. When encoding, present says whether to write the message; when decoding, msg calls f if the
// message is there. The result says whether it was.
func (c *Coder) Msg(num protowire.Number, present bool, f func(*Coder)) bool {
	if c.Encode {
		if present {
			c.Write(num, f)
		}
		return present
	}
	field := c.Get(num)
	switch {
	case field == nil:
		return false
	case c.first[num] == c.last[num]:
		c.Read(field, f)
	default: // protobuf merges the messages of a field that is not repeated
		var all []byte
		c.Each(num, func(field *Field) {
			c.Want(field, protowire.BytesType)
			all = append(all, c.BytesOf(field)...)
		})
		c.load(all, true, f)
	}
	return true
}

// Message codes a field that holds the message value, a *T or nil, and returns the message.
func Message[T any](c *Coder, num protowire.Number, value any, fields func(*T, *Coder)) *T {
	v, _ := value.(*T)
	if v == nil {
		v = new(T)
	}
	c.Msg(num, true, func(c *Coder) { fields(v, c) })
	return v
}

// Messages codes a repeated message: fields visits the fields of each.
func Messages[T any](c *Coder, num protowire.Number, list *[]T, fields func(*T, *Coder)) {
	if c.Encode {
		for i := range *list {
			c.Write(num, func(c *Coder) { fields(&(*list)[i], c) })
		}
		return
	}
	c.DecodeEach(num, func(c *Coder) {
		*list = append(*list, *new(T))
		fields(&(*list)[len(*list)-1], c)
	})
}

// DecodeEach calls f for each message of a repeated field.
func (c *Coder) DecodeEach(num protowire.Number, f func(*Coder)) {
	c.Each(num, func(field *Field) { c.Read(field, f) })
}

// Count returns the number of fields with the given number in the decoded message.
func (c *Coder) Count(num protowire.Number) int {
	n := 0
	for i := c.first[num]; i != 0; i = c.fields[i-1].next {
		n++
	}
	return n
}

// Write appends a message.
func (c *Coder) Write(num protowire.Number, f func(*Coder)) {
	c.Out = OpenMessage(c.Out, num)
	start := len(c.Out)
	f(c)
	c.Out, _ = CloseMessage(c.Out, start)
}

// OpenMessage appends the tag of a message and a byte for its length, which is known only at the end.
func OpenMessage(out []byte, num protowire.Number) []byte {
	return append(protowire.AppendTag(out, num, protowire.BytesType), 0)
}

// CloseMessage writes the length of the message that fills out from start. moved is the number of bytes by which a long
// length moves the message.
func CloseMessage(out []byte, start int) (_ []byte, moved int) {
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

// Read decodes the message in a field.
func (c *Coder) Read(field *Field, f func(*Coder)) {
	c.Want(field, protowire.BytesType)
	c.load(c.BytesOf(field), c.merged, f)
}

// load decodes a message inside of this one.
func (c *Coder) load(data []byte, merged bool, f func(*Coder)) {
	if c.inner == nil {
		c.inner = NewCoder(c.r)
	}
	c.inner.merged = merged
	c.inner.Load(data)
	f(c.inner)
}

// Rest codes the fields that no other visit named. It must be the last visit.
func (c *Coder) Rest(v *Rest) {
	if c.Encode {
		c.Out = append(c.Out, *v...)
		return
	}
	*v = c.Unread()
}

// Unread returns the fields of the decoded message that no visit named.
func (c *Coder) Unread() (rest Rest) {
	for i := range c.fields {
		if f := &c.fields[i]; f.num > maxField || !c.named[f.num] {
			rest = append(rest, c.Raw(f)...)
		}
	}
	return rest
}
