package tensorio_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/tensor"
)

// TestNPYThroughPeer writes arrays, has numpy load and save them, and reads them back.
func TestNPYThroughPeer(t *testing.T) {
	peer.Each(t, label.Part, checkNPYThroughPeer)
}

func checkNPYThroughPeer(t *testing.T, p *peer.Interpreter) {
	python := p
	var values []*tensor.Tensor
	var file bytes.Buffer
	for d := tensor.I1; d < tensor.Index; d++ {
		for _, shape := range []tensor.Shape{{}, {3}, {2, 3}, {0, 4}} {
			v := tensor.New(d, shape)
			for i := range v.NumElements() {
				v.SetFloat(i, float64(i%2))
			}
			if err := tensorio.WriteNPY(&file, v); err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
	}
	in := bytes.NewReader(python.Run(t, `
import sys, io, numpy as np, ml_dtypes
i = io.BytesIO(sys.stdin.buffer.read()); o = io.BytesIO()
for _ in range(int(sys.argv[1])): np.save(o, np.load(i))
sys.stdout.buffer.write(o.getvalue())
`, file.Bytes(), strconv.Itoa(len(values))))
	for _, v := range values {
		back, err := tensorio.ReadNPY(in, v.DType())
		if err != nil {
			t.Fatalf("%s %v: %v", v.DType(), v.Shape(), err)
		}
		if !bytes.Equal(back.Bytes(), v.Bytes()) || !back.Shape().Equal(v.Shape()) {
			t.Errorf("%s %v came back as %s", v.DType(), v.Shape(), tensorio.AppendJSON(nil, back))
		}
	}
}

// TestNPYNarrow: ml_dtypes defines narrow elements by their low bits and may save others with any upper bits, as JAX's
// conversions to int4 leave them.
func TestNPYNarrow(t *testing.T) {
	peer.Each(t, label.Part, checkNPYNarrow)
}

func checkNPYNarrow(t *testing.T, p *peer.Interpreter) {
	python := p
	in := bytes.NewReader(python.Run(t, `
import sys, io, numpy as np, ml_dtypes
o = io.BytesIO()
for name in "int2 int4 uint2 uint4".split():
    a = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
    np.save(o, a); np.save(o, a.astype(np.int8))
sys.stdout.buffer.write(o.getvalue())
`, nil))
	for _, d := range []tensor.DType{tensor.I2, tensor.I4, tensor.UI2, tensor.UI4} {
		narrow, err := tensorio.ReadNPY(in, d)
		if err != nil {
			t.Fatal(err)
		}
		want, err := tensorio.ReadNPY(in, tensor.I8)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(narrow.Bytes(), want.Bytes()) {
			t.Errorf("%s: read as %v, the values are %v", d, narrow.Bytes(), want.Bytes())
		}
	}
}

// TestNPYOrders: numpy saves one array in both orders of dimensions and of bytes; all read alike.
func TestNPYOrders(t *testing.T) {
	peer.Each(t, label.Part, checkNPYOrders)
}

func checkNPYOrders(t *testing.T, p *peer.Interpreter) {
	python := p
	const each = 4
	in := bytes.NewReader(python.Run(t, `
import sys, io, numpy as np
o = io.BytesIO()
for dtype in "i2 u4 i8 f2 f4 f8 c8 c16".split():
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for v in (a, np.asfortranarray(a), a.astype(">" + dtype), np.asfortranarray(a.astype(">" + dtype))): np.save(o, v)
np.save(o, np.array([0, 1, 2, 255], np.uint8).view(np.bool_))
sys.stdout.buffer.write(o.getvalue())
`, nil))
	for _, d := range []tensor.DType{tensor.I16, tensor.UI32, tensor.I64, tensor.F16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128} {
		for k := range each {
			v, err := tensorio.ReadNPY(in, d)
			if err != nil {
				t.Fatalf("%s, order %d: %v", d, k, err)
			}
			if !v.Shape().Equal(tensor.Shape{2, 3, 4}) {
				t.Fatalf("%s, order %d has shape %v", d, k, v.Shape())
			}
			for i := range 24 {
				if v.FloatAt(i) != float64(i) && !d.IsInteger() || d.IsInteger() && v.IntAt(i) != int64(i) {
					t.Fatalf("%s, order %d: element %d is %s", d, k, i, v.ElementText(i))
				}
			}
		}
	}
	masks, err := tensorio.ReadNPY(in, tensor.I1)
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte{0, 1, 1, 1}; !bytes.Equal(masks.Bytes(), want) {
		t.Errorf("masks have the bytes %v, want %v", masks.Bytes(), want)
	}
}

func TestReadNPYErrors(t *testing.T) {
	file := func(header string, payload int) string {
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + strings.Repeat("\x00", payload)
	}
	tests := []struct{ name, text, want string }{
		{"empty", "", "not a .npy file"},
		{"text", "hello, world", "not a .npy file"},
		{"version", "\x93NUMPY\x09\x00", "version 9.0"},
		{"short header", "\x93NUMPY\x01\x00\xff\x00{", "truncated .npy header"},
		{"text", file("{'descr': '<U4', 'fortran_order': False, 'shape': (2,), }", 32), "unsupported type"},
		{"payload", file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7), "truncated: 7 of 8"},
		{"huge", file("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000, 9000000000), }", 0), "too large"},
		{"lying", file("{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000,), }", 0), "truncated"},
		{"other type", file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8), "element type f64, expected f32"},
		{"dimension", file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 8), "dimension"},
	}
	for _, tt := range tests {
		_, err := tensorio.ReadNPY(strings.NewReader(tt.text), tensor.F32)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
