//go:build cgo

package pjrt

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// pattern fills a tensor with different bytes that are values of its type.
func pattern(d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	t := tensor.New(d, shape)
	data := t.Bytes()
	for i := range data {
		data[i] = byte(0x35 + 29*i)
		switch bits := d.Bits(); {
		case d == tensor.I1:
			data[i] = byte(i % 2)
		case bits < 8:
			data[i] &= 1<<bits - 1
		}
	}
	tensor.NormalizeBytes(data, d)
	return t
}

// boundaryTypes are all element types that a hook's operand can have on this plugin.
var boundaryTypes = []tensor.DType{
	tensor.I1, tensor.I2, tensor.I4, tensor.I8, tensor.I16, tensor.I32, tensor.I64,
	tensor.UI2, tensor.UI4, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64,
	tensor.F4E2M1FN, tensor.F8E3M4, tensor.F8E4M3, tensor.F8E4M3FN, tensor.F8E4M3FNUZ, tensor.F8E4M3B11FNUZ,
	tensor.F8E5M2, tensor.F8E5M2FNUZ, tensor.F8E8M0FNU,
	tensor.F16, tensor.BF16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128,
}

// TestTypesAtTheBoundary: a program has a hook of each kind for a value of each type, in one shape. Handlers get the
// argument as it is, and what they write arrives.
func TestTypesAtTheBoundary(t *testing.T) {
	backend(t)
	kinds := []hook.Kind{hook.Tap, hook.InOut, hook.Call}
	for _, shape := range []tensor.Shape{{5}, {}, {0}, {3, 3}, {2, 0, 4}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			const first = 0x1234
			var args []*tensor.Tensor
			var sites []hook.Site
			var params, types, values, order []string
			body, chain := "", "%c0"
			for i, d := range boundaryTypes {
				v, x := tt(d, shape...), fmt.Sprintf("%%x%d", i)
				args, params = append(args, pattern(d, shape)), append(params, x+": "+v.String())
				for _, kind := range kinds {
					s := hookSite(uint64(first+len(sites)), fmt.Sprintf("%s %s", kind, d), kind, []hook.TensorType{v}, []hook.TensorType{v})
					r := fmt.Sprintf("%%r%d", len(sites))
					body, chain, sites = body+hookCall(r, s, chain, x), r+"#0", append(sites, s)
					types, values, order = append(types, v.String()), append(values, r+"#1"), append(order, s.Name)
				}
			}
			var called []string
			h := answer(func(_ context.Context, c *runtime.Call) error {
				called = append(called, c.Site.Name)
				o, arg := c.Operands[0], args[int(c.Site.ID-first)/len(kinds)]
				if o.DType() != arg.DType() || !o.Shape().Equal(shape) {
					return fmt.Errorf("operand is %s %v", o.DType(), o.Shape())
				}
				if !bytes.Equal(o.Bytes(), arg.Bytes()) {
					return fmt.Errorf("operand holds % x, expected % x", o.Bytes(), arg.Bytes())
				}
				if c.Site.Kind == hook.Tap {
					if len(c.Results) != 0 {
						return fmt.Errorf("a tap has %d results", len(c.Results))
					}
					return nil
				}
				r := c.Results[0]
				if r.DType() != arg.DType() || !r.Shape().Equal(shape) || len(r.Bytes()) != len(arg.Bytes()) {
					return fmt.Errorf("result is %s %v of %d bytes", r.DType(), r.Shape(), len(r.Bytes()))
				}
				for i, b := range arg.Bytes() {
					r.Bytes()[i] = flip(arg.DType(), b)
				}
				return nil
			})
			all := strings.Join(types, ", ")
			e := compile(t, program("("+strings.Join(params, ", ")+") -> ("+all+")", body+"return "+strings.Join(values, ", ")+" : "+all+"\n", sites...), h)
			results := run(t, e, args...)
			if !slices.Equal(called, order) {
				t.Errorf("the handlers were called as %q", called)
			}
			for i, got := range results {
				want := args[i/len(kinds)].Clone()
				if kinds[i%len(kinds)] != hook.Tap {
					for i, b := range want.Bytes() {
						want.Bytes()[i] = flip(want.DType(), b)
					}
				}
				if got.DType() != want.DType() || !got.Shape().Equal(shape) || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("%s: result is %s %v % x, expected % x", order[i], got.DType(), got.Shape(), got.Bytes(), want.Bytes())
				}
			}
		})
	}
}

// flip changes an element's byte to another value of the type.
func flip(d tensor.DType, b byte) byte {
	if d == tensor.I1 {
		return 1 - b
	}
	out := []byte{b ^ 1}
	if bits := d.Bits(); bits < 8 {
		out[0] &= 1<<bits - 1
	}
	tensor.NormalizeBytes(out, d)
	return out[0]
}

// TestSixBits: a plugin of PJRT API 0.115 returns the 6-bit floats that it gets. A hook of such a value is refused,
// because the FFI has no code for its type.
func TestSixBits(t *testing.T) {
	b := backend(t)
	for _, d := range []tensor.DType{tensor.F6E2M3FN, tensor.F6E3M2FN} {
		v := tt(d, 5)
		s := hookSite(0x1234, "h", hook.InOut, []hook.TensorType{v}, []hook.TensorType{v})
		p := program(fmt.Sprintf("(%%x: %s) -> %s", v, v), hookCall("%r", s, "%c0", "%x")+fmt.Sprintf("return %%r#1 : %s\n", v), s)
		want := fmt.Sprintf(`hook "h" (inout, id 0000000000001234): operand 0 is tensor<5x%s>, which the XLA FFI does not have`, d)
		if _, err := b.Compile(context.Background(), p, runtime.CompileOptions{}); err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %s", err, want)
		}
		if _, minor := b.Plugin().Version(); minor < 115 {
			continue
		}
		e := compile(t, program(fmt.Sprintf("(%%x: %s) -> %s", v, v), fmt.Sprintf("return %%x : %s\n", v)), nil)
		arg := pattern(d, tensor.Shape{5})
		if got := run(t, e, arg)[0]; got.DType() != d || !bytes.Equal(got.Bytes(), arg.Bytes()) {
			t.Errorf("result is %s % x, expected % x", got.DType(), got.Bytes(), arg.Bytes())
		}
	}
}

func TestPacking(t *testing.T) {
	for _, c := range []struct {
		d        tensor.DType
		values   []byte
		packed   []byte
		unpacked []byte
	}{
		// As XLA passes i4 [1, -2, 7, -8, 3].
		{tensor.I4, []byte{0x01, 0x0e, 0x07, 0x08, 0x03}, []byte{0xe1, 0x87, 0x03}, []byte{0x01, 0xfe, 0x07, 0xf8, 0x03}},
		{tensor.UI4, []byte{1, 14, 7}, []byte{0xe1, 0x07}, []byte{1, 14, 7}},
		{tensor.I2, []byte{0, 1, 0xfe, 0xff, 1}, []byte{0b11100100, 0b01}, []byte{0, 1, 0xfe, 0xff, 1}},
		{tensor.UI2, []byte{3, 2, 1}, []byte{0b011011}, []byte{3, 2, 1}},
		{tensor.F4E2M1FN, []byte{0x0f, 0x01}, []byte{0x1f}, []byte{0x0f, 0x01}},
	} {
		packed := make([]byte, xlatypes.PackedSize(len(c.values), xlatypes.PackedBits(c.d)))
		xlatypes.Pack(packed, c.values, c.d)
		if !bytes.Equal(packed, c.packed) {
			t.Errorf("%s: packed % x, expected % x", c.d, packed, c.packed)
		}
		got := make([]byte, len(c.values))
		xlatypes.Unpack(got, packed, c.d)
		if !bytes.Equal(got, c.unpacked) {
			t.Errorf("%s: unpacked % x, expected % x", c.d, got, c.unpacked)
		}
	}
}
