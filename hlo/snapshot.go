package hlo

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/wire"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Snapshot holds the values that an HloSnapshot or HloUnoptimizedSnapshot has besides its module.
type Snapshot struct {
	// Arguments has a list for each partition of the program: the arrays of its arguments, those of a tuple one by one.
	Arguments [][]*tensor.Tensor
	// Result has the arrays of the result. It is nil if the file has no result.
	Result []*tensor.Tensor
}

// SnapshotOf returns the values in the file that m was read from, nil if the file has none.
func SnapshotOf(m *ir.Module) *Snapshot {
	if l := linkOf(m); l != nil {
		return l.hlo.snapshot
	}
	return nil
}

// cutRaw returns the message in a file, and the bytes after it. XLA writes an HloUnoptimizedSnapshot as the length of
// the message, the message, and the arrays of the arguments.
func cutRaw(data []byte) (message, raw []byte) {
	if isProto(data) {
		return data, nil
	}
	size, n := protowire.ConsumeVarint(data)
	if n < 0 || size > uint64(len(data)-n) || !isProto(data[n:n+int(size)]) {
		return data, nil
	}
	return data[n : n+int(size)], data[n+int(size):]
}

// snapshot reads the fields around the module, which is depth messages deep, and the arrays after the message.
func (d *protoModule) snapshot(message []byte, depth int, raw []byte) {
	if depth == 0 {
		return
	}
	c := wire.NewCoder(d.r)
	c.Load(message)
	s := &Snapshot{}
	tensors := func(v *literal) []*tensor.Tensor { return d.tensors(nil, v) }
	if depth == 2 {
		var args []*tensor.Tensor
		c.DecodeEach(2, func(c *wire.Coder) { args = append(args, tensors(d.literal(c, nil))...) })
		if c.Count(2) > 0 || c.Has(3) {
			s.Arguments = [][]*tensor.Tensor{args}
		}
		c.Msg(3, false, func(c *wire.Coder) { s.Result = append([]*tensor.Tensor{}, tensors(d.literal(c, nil))...) })
	} else {
		c.DecodeEach(2, func(c *wire.Coder) {
			var args []*tensor.Tensor
			c.DecodeEach(1, func(c *wire.Coder) { args = append(args, tensors(d.literal(c, nil))...) })
			c.DecodeEach(2, func(c *wire.Coder) {
				var size int64
				if c.Int(2, &size); size < 0 || size > int64(len(raw)) {
					d.fail(raw, "an argument of %d bytes, but %d bytes are left", size, len(raw))
				}
				args = append(args, tensors(d.rawLiteral(raw[:size]))...)
				raw = raw[size:]
			})
			s.Arguments = append(s.Arguments, args)
		})
		if len(raw) > 0 {
			d.fail(raw, "%d bytes after the last argument", len(raw))
		}
	}
	if s.Arguments != nil {
		d.m.snapshot = s
	}
}

// tensors appends the arrays of a literal to list.
func (d *protoModule) tensors(list []*tensor.Tensor, v *literal) []*tensor.Tensor {
	switch {
	case v.shape.isTuple():
		for _, e := range v.elems {
			list = d.tensors(list, e)
		}
		return list
	case !v.shape.isArray():
		return list
	case v.elided:
		d.fail(nil, "a value of type %s has no elements", v.shape.plain())
	}
	t, err := tensor.FromBytes(v.shape.elem.row().dtype, slices.Clone(v.shape.dims), v.data)
	if err != nil {
		d.fail(nil, "%v", err)
	}
	return append(list, t)
}

// rawLiteral reads a literal as XLA serializes it: the length of its shape in 8 bytes, the shape, and the elements of
// its arrays.
func (d *protoModule) rawLiteral(data []byte) *literal {
	at := data
	if len(data) < 8 {
		d.fail(at, "an argument of %d bytes has no shape", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if data = data[8:]; n > uint64(len(data)) {
		d.fail(at, "a shape of %d bytes, but %d bytes are left", n, len(data))
	}
	c := wire.NewCoder(d.r)
	c.Load(data[:n])
	v, rest := d.rawElements(d.shape(c), data[n:])
	if len(rest) > 0 {
		d.fail(rest, "%d bytes after an argument of type %s", len(rest), v.shape.plain())
	}
	return v
}

// rawElements reads the elements of a literal of shape s and returns the bytes after it. Elements narrower than a byte
// are packed, the first in the lowest bits.
func (d *protoModule) rawElements(s *shape, data []byte) (*literal, []byte) {
	v := &literal{shape: s}
	if s.isTuple() {
		for _, e := range s.elems {
			var elem *literal
			elem, data = d.rawElements(e, data)
			v.elems = append(v.elems, elem)
		}
		return v, data
	}
	if !s.isArray() {
		return v, data
	}
	if s.dynamic != nil {
		d.fail(data, "an argument of type %s has a dynamic shape", s.plain())
	}
	row, bits := s.elem.row(), 8*int64(s.elem.size())
	if row.name == "pred" {
		bits = 1
	} else if row.bits < 8 {
		bits = int64(row.bits)
	}
	count, ok := product(s.dims)
	size := (count*bits + 7) / 8
	if !ok || count > maxLiteral || size > int64(len(data)) {
		d.fail(data, "%s needs %d bytes, but %d bytes are left", s.plain(), size, len(data))
	}
	elems := slices.Clone(data[:size])
	if bits < 8 {
		elems = row.unpack(elems, int(bits), int(count))
	}
	v.data = s.physical(elems, s.elem.size(), true)
	return v, data[size:]
}

// unpack returns n elements of packed data, each in a byte of its own.
func (row *typeRow) unpack(packed []byte, bits, n int) []byte {
	per := 8 / bits
	data := make([]byte, n)
	for i := range data {
		b := packed[i/per] >> (i % per * bits) & (1<<bits - 1)
		if row.kind == signedKind && b>>(bits-1) != 0 {
			b |= 0xff << bits
		}
		data[i] = b
	}
	return data
}

// readableNames replaces the names that HLO's text cannot express, as XLA does. A proto can have any name.
func (m *Module) readableNames() {
	m.name = readableName(m.name)
	taken := map[string]bool{}
	for _, c := range m.comps {
		taken[c.name] = true
	}
	for _, c := range m.comps {
		if name := readableName(c.name); name != c.name {
			c.name = uniqueName(name, taken)
		}
		var names map[string]bool
		for _, in := range c.instrs {
			name := readableName(in.name)
			if name == in.name {
				continue
			}
			if names == nil {
				names = map[string]bool{}
				for _, in := range c.instrs {
					names[in.name] = true
				}
			}
			in.name = uniqueName(name, names)
		}
	}
}

// uniqueName returns base, or base with a number that taken lacks, and adds it to taken.
func uniqueName(base string, taken map[string]bool) string {
	name := base
	for i := 1; taken[name]; i++ {
		name = base + "." + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// readableName returns name with '_' for each byte that a name in HLO's text cannot have, and changes names that XLA
// refuses for instructions.
func readableName(name string) string {
	name = printableName(name)
	switch {
	case badName(name) == "":
		return name
	case name[0] == '_':
		return "a" + name[1:]
	}
	return name + "_" // a type
}

// printableName returns name with '_' for each byte that a name in HLO's text cannot have.
func printableName(name string) string {
	plain := func(i int) bool {
		c := name[i]
		return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || i > 0 && (c == '.' || c == '-' || isDigit(c))
	}
	if name == "" {
		return "_"
	}
	for i := range len(name) {
		if !plain(i) {
			var b strings.Builder
			for i := range len(name) {
				if plain(i) {
					b.WriteByte(name[i])
				} else {
					b.WriteByte('_')
				}
			}
			return b.String()
		}
	}
	return name
}
