package hooks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// hcb2020Magic is the first word of a header of the first host_callback protocol.
const hcb2020Magic = 2178

// Header2020 is a header of the first host_callback protocol: u32[32] of magic 2178, the consumer's id (high word
// first), the metadata's length in bytes, and msgpack([(dtype, (dims...)), ...]) packed big-endian.
type Header2020 struct {
	Consumer uint64 // 0 ends the stream, 1 is an unknown consumer (used by its tests)
	Tensors  []hook.TensorType
}

// dtypes2020 are the element types by their code in the metadata.
var dtypes2020 = [...]tensor.DType{
	tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64,
	tensor.F16, tensor.F32, tensor.F64, tensor.BF16,
}

const header2020Words = 32

// decodeHeader2020 reads a header, magic included.
func decodeHeader2020(words []uint32) (*Header2020, error) {
	if len(words) != header2020Words {
		return nil, fmt.Errorf("expected %d words, but got %d", header2020Words, len(words))
	}
	if words[0] != hcb2020Magic {
		return nil, fmt.Errorf("expected the magic word %d, but got %d", hcb2020Magic, words[0])
	}
	h := &Header2020{Consumer: uint64(words[1])<<32 | uint64(words[2])}
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
	d := &msgpack{bytes[:n]}
	count, err := d.array()
	if err != nil {
		return nil, err
	}
	for range count {
		k, err := d.array()
		if err != nil {
			return nil, err
		}
		if k != 2 {
			return nil, errors.New("metadata does not hold pairs of type and dimensions")
		}
		code, err := d.uint()
		if err != nil {
			return nil, err
		}
		if code >= uint64(len(dtypes2020)) {
			return nil, fmt.Errorf("unknown element type %d in the metadata", code)
		}
		rank, err := d.array()
		if err != nil {
			return nil, err
		}
		t := hook.TensorType{DType: dtypes2020[code], Shape: tensor.Shape{}}
		for range rank {
			dim, err := d.uint()
			if err != nil {
				return nil, err
			}
			if dim > 1<<40 {
				return nil, fmt.Errorf("dimension %d in the metadata is too large", dim)
			}
			t.Shape = append(t.Shape, int64(dim))
		}
		if t.Shape.NumElements() < 0 {
			return nil, fmt.Errorf("shape %v in the metadata is too large", t.Shape)
		}
		h.Tensors = append(h.Tensors, t)
	}
	return h, nil
}

// msgpack reads the arrays and unsigned numbers of the msgpack format.
type msgpack struct{ b []byte }

func (d *msgpack) take(n int) ([]byte, error) {
	if len(d.b) < n {
		return nil, errors.New("metadata is cut short")
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out, nil
}

func (d *msgpack) array() (int, error) {
	b, err := d.take(1)
	if err != nil {
		return 0, err
	}
	switch {
	case b[0]&0xf0 == 0x90:
		return int(b[0] & 0x0f), nil
	case b[0] == 0xdc:
		b, err = d.take(2)
		if err != nil {
			return 0, err
		}
		return int(binary.BigEndian.Uint16(b)), nil
	}
	return 0, fmt.Errorf("expected an array in the metadata, but got byte 0x%02x", b[0])
}

func (d *msgpack) uint() (uint64, error) {
	b, err := d.take(1)
	if err != nil {
		return 0, err
	}
	if b[0] < 0x80 {
		return uint64(b[0]), nil
	}
	if b[0] < 0xcc || b[0] > 0xcf {
		return 0, fmt.Errorf("expected a number in the metadata, but got byte 0x%02x", b[0])
	}
	b, err = d.take(1 << (b[0] - 0xcc))
	if err != nil {
		return 0, err
	}
	v := uint64(0)
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v, nil
}

// Consumer takes the tensors of one event of a host_callback stream. They are valid until it returns.
type Consumer func(operands []*tensor.Tensor) error

// Receiver drains a host_callback stream: the bytes that come out of a device's outfeed, each tensor row-major
// and little-endian, one after the other. It reads both protocols; which one, the first word of a header says.
type Receiver struct {
	// Consumers are called by id.
	Consumers map[uint64]Consumer
	// Shapes gives the tensors of a consumer of the second protocol, whose headers do not say.
	Shapes map[uint64][]hook.TensorType
}

// UnknownConsumerError says that events came for which nobody was registered.
type UnknownConsumerError struct{ Consumer uint64 }

func (e *UnknownConsumerError) Error() string {
	return fmt.Sprintf("no consumer %d of host_callback is registered", e.Consumer)
}

// Drain reads events until the end marker (consumer 0). A device waits for its outfeed to be read, so draining goes
// on where a consumer fails or is unknown; what went wrong first is returned at the end. A stream that is broken
// ends at once.
func (r *Receiver) Drain(in io.Reader) error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for {
		consumer, types, err := r.header(in)
		if err != nil {
			return errors.Join(first, err)
		}
		if consumer == 0 {
			return first
		}
		handle := r.Consumers[consumer]
		if types == nil {
			var known bool
			if types, known = r.Shapes[consumer]; !known {
				// Without shapes the length of the payload is unknown, and so is where the next header is.
				return errors.Join(first, &UnknownConsumerError{consumer})
			}
		}
		operands := make([]*tensor.Tensor, len(types))
		for i, t := range types {
			operands[i] = tensor.New(t.DType, t.Shape)
			if _, err := io.ReadFull(in, operands[i].Bytes()); err != nil {
				return errors.Join(first, fmt.Errorf("host_callback stream is cut short in tensor %d of consumer %d: %w", i, consumer, err))
			}
		}
		if handle == nil {
			keep(&UnknownConsumerError{consumer})
			continue
		}
		if err := handle(operands); err != nil {
			keep(fmt.Errorf("consumer %d: %w", consumer, err))
		}
	}
}

// header reads one header of either protocol; types is nil where it does not say.
func (r *Receiver) header(in io.Reader) (consumer uint64, types []hook.TensorType, err error) {
	words, err := readWords(in, 2)
	if err != nil {
		return 0, nil, err
	}
	switch words[0] {
	case hcbMagic:
		return uint64(words[1]), nil, nil
	case hcb2020Magic:
		rest, err := readWords(in, header2020Words-2)
		if err != nil {
			return 0, nil, err
		}
		h, err := decodeHeader2020(append(words, rest...))
		if err != nil {
			return 0, nil, err
		}
		if h.Tensors == nil {
			h.Tensors = []hook.TensorType{}
		}
		return h.Consumer, h.Tensors, nil
	}
	return 0, nil, fmt.Errorf("host_callback stream: expected a header, but got the word %d", words[0])
}

func readWords(in io.Reader, n int) ([]uint32, error) {
	b := make([]byte, 4*n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("host_callback stream is cut short in a header: %w", err)
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out, nil
}
