package tensorio_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/tensor"
)

func f32s(shape tensor.Shape, values ...float32) *tensor.Tensor {
	t := tensor.New(tensor.F32, shape)
	copy(tensor.View[float32](t), values)
	return t
}

func iota(d tensor.DType, shape ...int64) *tensor.Tensor {
	t := tensor.New(d, shape)
	for i := range t.NumElements() {
		t.SetFloat(i, float64(i))
	}
	return t
}

func TestAppendJSON(t *testing.T) {
	inf := float32(math.Inf(1))
	bools := tensor.New(tensor.I1, tensor.Shape{2})
	bools.SetBits(1, 1)
	c := tensor.New(tensor.Complex64, tensor.Shape{1})
	c.SetComplex(0, complex(1.5, math.NaN()))
	signed := tensor.New(tensor.I4, tensor.Shape{2})
	signed.SetInt(0, -8)
	signed.SetInt(1, 7)
	big := tensor.New(tensor.UI64, tensor.Shape{})
	big.SetBits(0, math.MaxUint64)
	half := tensor.New(tensor.BF16, tensor.Shape{1})
	half.SetFloat(0, 0.1)
	tests := []struct {
		t    *tensor.Tensor
		want string
	}{
		{f32s(tensor.Shape{2, 2}, 0.5, 1, float32(math.NaN()), -inf), `{"dtype":"f32","shape":[2,2],"data":[0.5,1,"nan","-inf"]}`},
		{f32s(tensor.Shape{}, 0.1), `{"dtype":"f32","shape":[],"data":[0.1]}`},
		{f32s(tensor.Shape{2}, 1e20, float32(math.Copysign(0, -1))), `{"dtype":"f32","shape":[2],"data":[1e+20,-0]}`},
		{tensor.New(tensor.F32, tensor.Shape{0, 3}), `{"dtype":"f32","shape":[0,3],"data":[]}`},
		{bools, `{"dtype":"i1","shape":[2],"data":[false,true]}`},
		{c, `{"dtype":"complex<f32>","shape":[1],"data":[[1.5,"nan"]]}`},
		{signed, `{"dtype":"i4","shape":[2],"data":[-8,7]}`},
		{big, `{"dtype":"ui64","shape":[],"data":[18446744073709551615]}`},
		{half, `{"dtype":"bf16","shape":[1],"data":[0.100097656]}`},
	}
	for _, tt := range tests {
		got := string(tensorio.AppendJSON(nil, tt.t))
		if got != tt.want {
			t.Errorf("AppendJSON = %s, want %s", got, tt.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s is not JSON", got)
		}
		back, err := tensorio.FromJSON([]byte(got))
		if err != nil {
			t.Errorf("FromJSON(%s): %v", got, err)
		} else if again := string(tensorio.AppendJSON(nil, back)); again != got {
			t.Errorf("FromJSON(%s) holds %s", got, again)
		}
	}
}

// TestJSONKeepsEveryCode writes and reads every code of every narrow type.
func TestJSONKeepsEveryCode(t *testing.T) {
	for d := tensor.I1; d <= tensor.Index; d++ {
		if d.IsComplex() || d.Bits() > 16 {
			continue
		}
		v := tensor.New(d, tensor.Shape{1 << d.Bits()})
		for i := range v.NumElements() {
			bits := uint64(i)
			if d.Kind() == tensor.KindSigned { // kept sign-extended
				shift := 64 - d.Bits()
				bits = uint64(int64(bits<<shift) >> shift)
			}
			v.SetBits(i, bits)
		}
		back, err := tensorio.FromJSON(tensorio.AppendJSON(nil, v))
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.NumElements() {
			if d.IsFloat() && math.IsNaN(v.FloatAt(i)) {
				if !math.IsNaN(back.FloatAt(i)) {
					t.Errorf("%s code %#x: NaN came back as %v", d, i, back.FloatAt(i))
				}
			} else if v.Bits(i) != back.Bits(i) {
				t.Errorf("%s code %#x came back as %#x", d, i, back.Bits(i))
			}
		}
	}
}

func TestFromJSONErrors(t *testing.T) {
	for _, text := range []string{
		`{`, `{"dtype":"f33","shape":[],"data":[1]}`, `{"dtype":"f32","shape":[2],"data":[1]}`, `{"dtype":"f32","shape":[-1],"data":[1]}`,
		`{"dtype":"i8","shape":[],"data":[128]}`, `{"dtype":"ui8","shape":[],"data":[-1]}`, `{"dtype":"i1","shape":[],"data":[1]}`,
		`{"dtype":"f32","shape":[],"data":["x"]}`, `{"dtype":"complex<f32>","shape":[],"data":[1]}`,
		`{"dtype":"f32","shape":[9223372036854775807,9223372036854775807],"data":[]}`,
	} {
		if v, err := tensorio.FromJSON([]byte(text)); err == nil {
			t.Errorf("FromJSON(%s) = %s, expected an error", text, tensorio.AppendJSON(nil, v))
		}
	}
}

func TestSummary(t *testing.T) {
	tests := []struct {
		t    *tensor.Tensor
		want string
	}{
		{f32s(tensor.Shape{}, 1.5), "1.5"},
		{f32s(tensor.Shape{3}, 1, -2.5, 100), "[  1. -2.5 100.]"},
		{tensor.New(tensor.I32, tensor.Shape{0}), "[]"},
		{iota(tensor.I32, 2, 3), "[[0 1 2]\n [3 4 5]]"},
		{iota(tensor.I32, 2, 2, 2), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"},
		{iota(tensor.I32, 2000), "[   0    1    2 … 1997 1998 1999]"},
		{iota(tensor.I32, 1001, 2), "[[   0    1]\n [   2    3]\n [   4    5]\n …\n [1996 1997]\n [1998 1999]\n [2000 2001]]"},
		{iota(tensor.F64, 30), "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]"},
		{f32s(tensor.Shape{2}, 0.1, 1.0/3), "[       0.1 0.33333334]"},
	}
	for _, tt := range tests {
		if got := string(tensorio.AppendSummary(nil, tt.t, tensorio.Summary{})); got != tt.want {
			t.Errorf("summary is\n%s\nwant\n%s", got, tt.want)
		}
	}
}

// TestSummaryLayoutAgainstNumpy compares the layout of integers, whose elements numpy spells as we do.
func TestSummaryLayoutAgainstNumpy(t *testing.T) {
	peer.Each(t, label.Part, checkSummaryLayoutAgainstNumpy)
}

func checkSummaryLayoutAgainstNumpy(t *testing.T, p *peer.Interpreter) {
	python := p
	shapes := []tensor.Shape{{5}, {1001}, {3, 4}, {40, 40}, {2, 3, 4}, {12, 11, 10}, {1, 1}, {200}, {2, 60}, {7, 1, 200}, {1000}, {2, 2, 2, 2}, {8, 8, 8, 8}}
	for _, shape := range shapes {
		v := iota(tensor.I64, shape...)
		dims := make([]int64, len(shape))
		copy(dims, shape)
		in := new(bytes.Buffer)
		binary.Write(in, binary.LittleEndian, dims)
		want := python.Run(t, `
import sys, numpy as np
shape = np.frombuffer(sys.stdin.buffer.read(), "<i8")
s = str(np.arange(int(np.prod(shape))).reshape(shape))
sys.stdout.buffer.write(s.replace("...", "\u2026").encode())
`, in.Bytes())
		if got := tensorio.AppendSummary(nil, v, tensorio.Summary{}); string(got) != string(want) {
			t.Errorf("shape %v is\n%s\nnumpy has\n%s", shape, got, want)
		}
	}
}
