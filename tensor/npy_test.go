package tensor_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
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
			if err := v.WriteNPY(&file); err != nil {
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
		back, err := tensor.ReadNPY(in, v.DType())
		if err != nil {
			t.Fatalf("%s %v: %v", v.DType(), v.Shape(), err)
		}
		if !bytes.Equal(back.Bytes(), v.Bytes()) || !back.Shape().Equal(v.Shape()) {
			t.Errorf("%s %v came back as %s", v.DType(), v.Shape(), back.AppendJSON(nil))
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
		narrow, err := tensor.ReadNPY(in, d)
		if err != nil {
			t.Fatal(err)
		}
		want, err := tensor.ReadNPY(in, tensor.I8)
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
			v, err := tensor.ReadNPY(in, d)
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
	masks, err := tensor.ReadNPY(in, tensor.I1)
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte{0, 1, 1, 1}; !bytes.Equal(masks.Bytes(), want) {
		t.Errorf("masks have the bytes %v, want %v", masks.Bytes(), want)
	}
}

func TestCast(t *testing.T) {
	value := func(text string) *tensor.Tensor {
		v, err := tensor.ParseLiteral(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		from string
		to   tensor.DType
		want string // a literal, or the error
	}{
		{"dense<[1.5, -2.0, 0x7FF0000000000000]> : tensor<3xf64>", tensor.F32, "dense<[1.500000e+00, -2.000000e+00, 0x7F800000]> : tensor<3xf32>"},
		{"dense<[1.0e+300]> : tensor<1xf64>", tensor.F32, "element [0] is 1e+300, which f32 cannot represent"},
		{"dense<[7, -3]> : tensor<2xi64>", tensor.I8, "dense<[7, -3]> : tensor<2xi8>"},
		{"dense<[[7, 300]]> : tensor<1x2xi64>", tensor.I8, "element [0 1] is 300, which i8 cannot represent"},
		{"dense<[-1]> : tensor<1xi32>", tensor.UI64, "element [0] is -1, which ui64 cannot represent"},
		{"dense<18446744073709551615> : tensor<ui64>", tensor.I64, "element [] is 18446744073709551615, which i64 cannot represent"},
		{"dense<[2.0, 1.0]> : tensor<2xf32>", tensor.I1, "element [0] is 2., which i1 cannot represent"},
		{"dense<[2.5]> : tensor<1xf32>", tensor.I32, "element [0] is 2.5, which i32 cannot represent"},
		{"dense<[3.0]> : tensor<1xf32>", tensor.I32, "dense<3> : tensor<1xi32>"},
		{"dense<[true, false]> : tensor<2xi1>", tensor.BF16, "dense<[1.000000e+00, 0.000000e+00]> : tensor<2xbf16>"},
		{"dense<2.0> : tensor<f32>", tensor.Complex64, "dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>"},
		{"dense<(1.0, 2.0)> : tensor<complex<f32>>", tensor.F32, "complex<f32> does not convert to f32"},
	} {
		v, err := value(c.from).Cast(c.to)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(v.AppendLiteral(nil, 0))
		}
		if got != c.want {
			t.Errorf("%s as %s is %s, want %s", c.from, c.to, got, c.want)
		}
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
		_, err := tensor.ReadNPY(strings.NewReader(tt.text), tensor.F32)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
