package hooks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

func words(list ...uint32) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// header2020 is a header of the first protocol for tensors of the given codes and dimensions.
func header2020(consumer uint64, tensors ...[]byte) []byte {
	meta := []byte{0x90 | byte(len(tensors))}
	for _, t := range tensors {
		meta = append(meta, 0x92, t[0], 0x90|byte(len(t)-1))
		meta = append(meta, t[1:]...)
	}
	n := len(meta)
	for len(meta)%4 != 0 {
		meta = append(meta, ' ')
	}
	list := []uint32{hcb2020Magic, uint32(consumer >> 32), uint32(consumer), uint32(n)}
	for i := 0; i < len(meta); i += 4 {
		list = append(list, binary.BigEndian.Uint32(meta[i:]))
	}
	for len(list) < header2020Words {
		list = append(list, 0)
	}
	return words(list...)
}

// TestReceiver drains streams of both protocols: events arrive in order, an unknown or failing consumer does not
// stop the draining, what went wrong first is reported at the end.
func TestReceiver(t *testing.T) {
	var got []int64
	failed := errors.New("no")
	r := &Receiver{
		Consumers: map[uint64]Consumer{
			7: func(o []*tensor.Tensor) error { got = append(got, o[0].IntAt(0)); return nil },
			1<<40 | 3: func(o []*tensor.Tensor) error {
				got = append(got, o[0].IntAt(0), o[1].IntAt(0), o[1].IntAt(1))
				return nil
			},
			8: func([]*tensor.Tensor) error { return failed },
		},
		Shapes: map[uint64][]hook.TensorType{
			7: {{DType: tensor.I32}},
			8: {{DType: tensor.I32}},
			9: {{DType: tensor.I32}},
		},
	}
	var in []byte
	in = append(in, words(hcbMagic, 7, 42)...)
	in = append(in, words(hcbMagic, 8, 1)...)
	in = append(in, words(hcbMagic, 9, 2)...) // nobody listens
	in = append(in, header2020(1<<40|3, []byte{2}, []byte{6, 2})...)
	in = append(in, words(5, 6, 7)...)
	in = append(in, words(hcbMagic, 7, 43)...)
	in = append(in, words(hcbMagic, 0)...)
	err := r.Drain(bytes.NewReader(in))
	if !errors.Is(err, failed) {
		t.Errorf("error is %v, expected that of consumer 8", err)
	}
	if !slices.Equal(got, []int64{42, 5, 6, 7, 43}) {
		t.Errorf("delivered %d", got)
	}
}

func TestReceiverBroken(t *testing.T) {
	short := header2020(5, []byte{9, 4})
	short[12] = 2 // the metadata ends within the first pair
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"no end":         {words(), "cut short in a header"},
		"cut header":     {header2020(5, []byte{9, 4})[:40], "cut short in a header"},
		"cut tensor":     {append(header2020(5, []byte{9, 4}), 1, 2, 3), "cut short in tensor 0"},
		"cut metadata":   {short, "metadata is cut short"},
		"unknown type":   {header2020(5, []byte{12, 4}), "unknown element type 12"},
		"no header":      {words(1, 2), "expected a header"},
		"unknown shapes": {words(hcbMagic, 6), "no consumer 6"},
	} {
		err := (&Receiver{}).Drain(bytes.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, expected %q", name, err, c.want)
		}
	}
	if err := (&Receiver{}).Drain(bytes.NewReader(header2020(0))); err != nil {
		t.Errorf("an end marker gives %v", err)
	}
}
