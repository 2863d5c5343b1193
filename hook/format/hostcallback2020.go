package format

import (
	"encoding/binary"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// hostCallback2020 is the first host_callback protocol: a header tensor<32xui32> with the magic word 2178, a 64-bit
// consumer id and the types of the tensors in msgpack, then one outfeed of the tensors.
var hostCallback2020 = &Format{
	Name:   "jax-hcb-outfeed-2020",
	Doc:    "JAX host_callback of early 2020: an outfeed of a ui32[32] header with magic 2178 and msgpack metadata, then an outfeed of the leaves",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Outfeed}, Read: readHostCallback2020},
}

func readHostCallback2020(r *Raiser, op *ir.Op) (bool, error) {
	tokens, data := irutil.SplitTokens(op.OperandList())
	if len(data) != 1 {
		return false, nil
	}
	t, ok := data[0].Type().(*ir.TensorType)
	if !ok || t.DType() != tensor.UI32 || t.Rank() != 1 {
		return false, nil
	}
	words, ok := irutil.Integers(data[0])
	if !ok || len(words) == 0 || words[0] != hcb2020Magic {
		return false, nil
	}
	header := make([]uint32, len(words))
	for i, w := range words {
		header[i] = uint32(w)
	}
	h, err := decodeHeader2020(header)
	if err != nil {
		return false, r.Module.Errorf(op, "host_callback header: %v", err)
	}
	if h.Consumer == 0 {
		r.skip(op)
		return true, nil
	}
	s := &Match{
		At:         op,
		Kind:       hook.Tap,
		SourceID:   fmt.Sprintf("consumer %d", h.Consumer),
		SideEffect: true,
		Tokens:     tokens,
		Results:    []*ir.Value{op.Result(0)},
		Erase:      []*ir.Op{op},
	}
	if payload := next(op.Result(0), stablehlo.Outfeed); payload != nil && len(h.Tensors) > 0 {
		more, leaves := irutil.SplitTokens(payload.OperandList())
		s.Tokens = append(s.Tokens, irutil.Without(more, op.Result(0))...)
		s.Operands = irutil.Unpack(r.Module.Before(payload), nil, leaves...)
		s.At, s.Results, s.Erase = payload, []*ir.Value{payload.Result(0)}, []*ir.Op{payload, op}
	}
	if len(s.Operands) != len(h.Tensors) {
		return false, r.Module.Errorf(op, "host_callback header announces %d tensors, but %d follow", len(h.Tensors), len(s.Operands))
	}
	for i, v := range s.Operands {
		if want := h.Tensors[i]; !irutil.HasType(v, want.DType, want.Shape...) {
			return false, r.Module.Errorf(s.At, "host_callback header announces %s as tensor %d, but %s follows", want, i, v.Type())
		}
	}
	r.Add(s)
	return true, nil
}

// hcb2020Magic is the first word of a header of the first host_callback protocol.
const hcb2020Magic = 2178

// header2020Data is a header of the first host_callback protocol: u32[32] with the magic 2178, the consumer's id (high
// word first), the length of the metadata in bytes, and msgpack([(dtype, (dims...)), ...]) packed big-endian.
type header2020Data struct {
	Consumer uint64 // 0 ends the stream; 1 is an unknown consumer (used by JAX's tests)
	Tensors  []hook.TensorType
}

// dtypes2020 lists the element types by their code in the metadata.
var dtypes2020 = [...]tensor.DType{
	tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64,
	tensor.F16, tensor.F32, tensor.F64, tensor.BF16,
}

const header2020Words = 32

// decodeHeader2020 reads a header that begins with the magic word.
func decodeHeader2020(words []uint32) (*header2020Data, error) {
	if len(words) != header2020Words {
		return nil, fmt.Errorf("expected %d words, but got %d", header2020Words, len(words))
	}
	h := &header2020Data{Consumer: uint64(words[1])<<32 | uint64(words[2])}
	if h.Consumer == 0 {
		return h, nil
	}
	n := int(words[3])
	if n > 4*(header2020Words-4) || n < 0 {
		return nil, fmt.Errorf("metadata of %d bytes does not fit the header", words[3])
	}
	var bytes []byte
	for _, w := range words[4:] {
		bytes = binary.BigEndian.AppendUint32(bytes, w)
	}
	d := &msgpack{b: bytes[:n]}
	for count := d.array(); count > 0 && d.err == nil; count-- {
		if k := d.array(); k != 2 {
			d.fail("metadata does not hold pairs of type and dimensions")
		}
		code := d.uint()
		if code >= uint64(len(dtypes2020)) {
			d.fail("unknown element type %d in the metadata", code)
			code = 0
		}
		t := hook.TensorType{DType: dtypes2020[code], Shape: tensor.Shape{}}
		for rank := d.array(); rank > 0 && d.err == nil; rank-- {
			dim := d.uint()
			if dim > 1<<40 {
				d.fail("dimension %d in the metadata is too large", dim)
			}
			t.Shape = append(t.Shape, int64(dim))
		}
		if t.Shape.NumElements() < 0 {
			d.fail("shape %v in the metadata is too large", t.Shape)
		}
		h.Tensors = append(h.Tensors, t)
	}
	return h, d.err
}

// msgpack reads arrays and unsigned numbers in msgpack format. It keeps the first error, and reads zeros after it.
type msgpack struct {
	b   []byte
	err error
}

func (d *msgpack) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// number reads n bytes.
func (d *msgpack) number(n int) (v uint64) {
	if len(d.b) < n {
		d.fail("metadata is truncated")
	}
	if d.err != nil {
		return 0
	}
	for _, c := range d.b[:n] {
		v = v<<8 | uint64(c)
	}
	d.b = d.b[n:]
	return v
}

// array reads the start of an array and returns its length.
func (d *msgpack) array() uint64 {
	switch b := d.number(1); {
	case b&0xf0 == 0x90:
		return b & 0x0f
	case b == 0xdc:
		return d.number(2)
	default:
		d.fail("expected an array in the metadata, but got byte 0x%02x", b)
		return 0
	}
}

// uint reads a number.
func (d *msgpack) uint() uint64 {
	switch b := d.number(1); {
	case b < 0x80:
		return b
	case 0xcc <= b && b <= 0xcf:
		return d.number(1 << (b - 0xcc))
	default:
		d.fail("expected a number in the metadata, but got byte 0x%02x", b)
		return 0
	}
}
