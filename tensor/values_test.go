package tensor_test

import (
	"math"
	"testing"

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

func TestAppendLiteral(t *testing.T) {
	tests := []struct {
		t    *tensor.Tensor
		want string
	}{
		{f32s(tensor.Shape{}, 1.5), "dense<1.500000e+00> : tensor<f32>"},
		{iota(tensor.I32, 2, 2), "dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>"},
		{iota(tensor.I32, 10), "dense<[0, 1, …, 8, 9]> : tensor<10xi32>"},
		{tensor.New(tensor.I32, tensor.Shape{10}), "dense<0> : tensor<10xi32>"},
		{tensor.New(tensor.I32, tensor.Shape{0}), "dense<> : tensor<0xi32>"},
	}
	for _, tt := range tests {
		if got := string(tt.t.AppendLiteral(nil, 8)); got != tt.want {
			t.Errorf("literal is %s, want %s", got, tt.want)
		}
	}
}

func TestSetFloatSaturates(t *testing.T) {
	tests := []struct {
		d    tensor.DType
		v    float64
		want int64
	}{
		{tensor.I8, 200, 127}, {tensor.I8, -200, -128}, {tensor.UI8, -1, 0}, {tensor.UI8, 300, 255}, {tensor.I4, 9, 7},
		{tensor.I64, 1e300, math.MaxInt64}, {tensor.I64, -1e300, math.MinInt64}, {tensor.I32, math.NaN(), 0}, {tensor.I1, 2, 1}, {tensor.I32, -7.9, -7},
	}
	for _, tt := range tests {
		v := tensor.New(tt.d, tensor.Shape{})
		v.SetFloat(0, tt.v)
		if got := v.IntAt(0); got != tt.want {
			t.Errorf("SetFloat(%v) of %s is %d, want %d", tt.v, tt.d, got, tt.want)
		}
	}
}
