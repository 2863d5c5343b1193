package hlo

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/wire"
	"github.com/hlocb/hlocb/tensor"
)

// literal codes a LiteralProto: elements in the order of the layout. Elements narrower than a byte
// are packed in older protos only.
func (d *protoModule) literal(c *wire.Coder, v *literal) *literal {
	if c.Encode {
		d.encodeLiteral(c, v)
		return v
	}
	d.enter(nil)
	defer func() { d.level-- }()
	v = &literal{}
	if !d.shapeField(c, 1, &v.shape) {
		d.fail(nil, "a literal has no shape")
	}
	if v.shape.isTuple() {
		wire.Messages(c, 10, &v.elems, func(e **literal, c *wire.Coder) { *e = d.literal(c, nil) })
		if len(v.elems) != len(v.shape.elems) {
			d.fail(nil, "a literal of type %s has %d elements", v.shape.plain(), len(v.elems))
		}
		return v
	}
	if !v.shape.isArray() {
		return v
	}
	d.decodeElements(c, v)
	return v
}

func (d *protoModule) encodeLiteral(c *wire.Coder, v *literal) {
	s := v.shape.withoutElementBits()
	d.shapeField(c, 1, &s)
	if v.shape.isTuple() {
		for _, e := range v.elems {
			c.Write(10, func(c *wire.Coder) { d.encodeLiteral(c, e) })
		}
		return
	}
	if !v.shape.isArray() {
		return
	}
	row := v.shape.elem.row()
	n := int(v.shape.numElements())
	if n == 0 || v.elided {
		return
	}
	num := protowire.Number(row.literalField)
	size := v.shape.elem.size()
	data := v.data
	if len(data) < n*size {
		data = append(slices.Clone(data), make([]byte, n*size-len(data))...)
	}
	data = v.shape.physical(data, size, false)
	c.Out = protowire.AppendTag(c.Out, num, protowire.BytesType)
	switch {
	case row.name == "s32" || row.name == "s64" || row.name == "u32" || row.name == "u64":
		list := make([]byte, 0, n*2)
		for i := range n {
			x := get(data, i, size)
			if row.name == "s32" {
				x = uint64(int64(int32(x)))
			}
			list = protowire.AppendVarint(list, x)
		}
		c.Out = protowire.AppendBytes(c.Out, list)
	default:
		c.Out = protowire.AppendBytes(c.Out, data)
	}
}

// withoutElementBits returns s without the element sizes of its layouts: the elements of a literal are never packed.
func (s *shape) withoutElementBits() *shape {
	switch {
	case s.isTuple():
		out := *s
		out.elems = make([]*shape, len(s.elems))
		for i, e := range s.elems {
			out.elems[i] = e.withoutElementBits()
		}
		return &out
	case s.layout != nil && s.layout.elementBits != 0:
		out, l := *s, *s.layout
		l.elementBits = 0
		out.layout = &l
		return &out
	}
	return s
}

// decodeElements reads the elements of an array.
func (d *protoModule) decodeElements(c *wire.Coder, v *literal) {
	row := v.shape.elem.row()
	size := v.shape.elem.size()
	count, ok := product(v.shape.dims)
	if !ok || count*int64(size) > maxLiteral {
		d.fail(nil, "%s is too large for a literal", v.shape.plain())
	}
	n := int(count)
	num := protowire.Number(row.literalField)
	var data []byte
	switch row.name {
	case "s32", "s64", "u32", "u64":
		var list []int64
		c.Ints(num, &list)
		if len(list) == n {
			data = make([]byte, n*size)
			for i, x := range list {
				put(data, i, size, uint64(x))
			}
		}
	case "pred":
		var list []bool
		c.Bools(num, &list)
		if len(list) == n {
			data = make([]byte, n)
			for i, x := range list {
				if x {
					data[i] = 1
				}
			}
		}
	case "f32", "f64", "c64", "c128":
		// Packed numbers of a fixed size are consecutive bytes; unpacked ones come one by one.
		c.Each(num, func(f *wire.Field) {
			switch f.Type {
			case protowire.BytesType:
				data = append(data, c.BytesOf(f)...)
			case protowire.Fixed32Type:
				data = binary.LittleEndian.AppendUint32(data, uint32(f.Value))
			case protowire.Fixed64Type:
				data = binary.LittleEndian.AppendUint64(data, f.Value)
			}
		})
	default:
		c.Bytes(num, &data)
		if row.bits < 8 && 8/row.bits > 1 {
			per := 8 / row.bits
			if len(data) == (n+per-1)/per {
				data = row.unpack(data, row.bits, n)
			} else { // XLA writes -4 as 12 if the value comes from a device
				data = slices.Clone(data)
				tensor.NormalizeBytes(data, row.dtype)
			}
		}
	}
	if n > 0 && !c.Has(num) { // XLA can leave out the elements of a module that it only describes
		v.elided = true
		return
	}
	if len(data) != n*size {
		d.fail(nil, "a literal of type %s has %d bytes of elements, expected %d", v.shape.plain(), len(data), n*size)
	}
	v.data = v.shape.physical(data, size, true)
}

// physical converts the elements of data from row-major order to the order of s's layout, or the reverse if back is
// set.
func (s *shape) physical(data []byte, size int, back bool) []byte {
	l := s.layout
	rank := len(s.dims)
	plain := true
	for i, d := range l.minorToMajor {
		plain = plain && d == int64(rank-1-i)
	}
	if plain {
		return data
	}
	// stride[d] is the distance of neighbours along dimension d in row-major order.
	stride := make([]int, rank)
	n := 1
	for d := rank - 1; d >= 0; d-- {
		stride[d] = n
		n *= int(s.dims[d])
	}
	out := make([]byte, n*size)
	index := make([]int64, rank)
	logical := 0
	for i := range n {
		from, to := logical*size, i*size
		if back {
			from, to = to, from
		}
		copy(out[to:to+size], data[from:from+size])
		for _, d := range l.minorToMajor {
			index[d]++
			logical += stride[d]
			if index[d] < s.dims[d] {
				break
			}
			logical -= stride[d] * int(s.dims[d])
			index[d] = 0
		}
	}
	return out
}
