package tensor_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/tensor"
)

// TestNPYThroughPeer writes arrays, has numpy load and save them, and reads them back.
func TestNPYThroughPeer(t *testing.T) {
	python := peer.Python(t)
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

func TestReadNPYErrors(t *testing.T) {
	file := func(header string, payload int) string {
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + strings.Repeat("\x00", payload)
	}
	tests := []struct{ name, text, want string }{
		{"empty", "", "not a .npy file"},
		{"text", "hello, world", "not a .npy file"},
		{"version", "\x93NUMPY\x09\x00", "version 9.0"},
		{"short header", "\x93NUMPY\x01\x00\xff\x00{", "truncated .npy header"},
		{"fortran", file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16), "Fortran order"},
		{"big endian", file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8), "unsupported type"},
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
