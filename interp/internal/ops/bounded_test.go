package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestBoundedShapes: the program sets the size of a bounded value, and ops ignore the elements beyond it.
func TestBoundedShapes(t *testing.T) {
	const text = `func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>, tensor<6xf32>, tensor<f32>, tensor<i32>) {
  %x = stablehlo.iota dim = 0 : tensor<6xf32>
  %one = stablehlo.constant dense<1.0> : tensor<6xf32>
  %y = stablehlo.add %x, %one : tensor<6xf32>
  %d = stablehlo.set_dimension_size %y, %n, dim = 0 : (tensor<6xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>
  %twice = stablehlo.add %d, %d : tensor<?xf32, #stablehlo.bounds<6>>
  %size = stablehlo.get_dimension_size %twice, dim = 0 : (tensor<?xf32, #stablehlo.bounds<6>>) -> tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%twice init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<6>>, tensor<f32>) -> tensor<f32>
  %joined = stablehlo.concatenate %d, %x, dim = 0 : (tensor<?xf32, #stablehlo.bounds<6>>, tensor<6xf32>) -> tensor<?xf32, #stablehlo.bounds<12>>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %cut = stablehlo.dynamic_slice %joined, %size, sizes = [6] : (tensor<?xf32, #stablehlo.bounds<12>>, tensor<i32>) -> tensor<6xf32>
  %dot = stablehlo.dot_general %d, %d, contracting_dims = [0] x [0] : (tensor<?xf32, #stablehlo.bounds<6>>, tensor<?xf32, #stablehlo.bounds<6>>) -> tensor<f32>
  %six = stablehlo.constant dense<2> : tensor<i32>
  %again = stablehlo.set_dimension_size %twice, %six, dim = 0 : (tensor<?xf32, #stablehlo.bounds<6>>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>
  %less = stablehlo.get_dimension_size %again, dim = 0 : (tensor<?xf32, #stablehlo.bounds<6>>) -> tensor<i32>
  return %size, %sum, %cut, %dot, %less : tensor<i32>, tensor<f32>, tensor<6xf32>, tensor<f32>, tensor<i32>
}`
	exe, err := compileText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	for n := int32(2); n <= 6; n++ { // one executable for all sizes
		size := tensor.New(tensor.I32, nil)
		tensor.View[int32](size)[0] = n
		out, err := exe.Run(t.Context(), []*tensor.Tensor{size})
		if err != nil {
			t.Fatalf("size %d: %v", n, err)
		}
		k := float32(n)
		if got := tensor.View[int32](out[0])[0]; got != n {
			t.Errorf("size %d is %d", n, got)
		}
		if got := tensor.View[float32](out[1])[0]; got != k*(k+1) {
			t.Errorf("size %d: the sum is %v", n, got)
		}
		for i, got := range tensor.View[float32](out[2]) {
			if got != float32(i) {
				t.Errorf("size %d: element %d after the first part is %v", n, i, got)
			}
		}
		if got := tensor.View[float32](out[3])[0]; got != k*(k+1)*(2*k+1)/6 {
			t.Errorf("size %d: the sum of squares is %v", n, got)
		}
		if got := tensor.View[int32](out[4])[0]; got != 2 {
			t.Errorf("size %d: cut to 2 it is %d", n, got)
		}
	}
}

// TestGrow: a dimension may grow up to its bound, with zeros.
func TestGrow(t *testing.T) {
	const text = `func.func @main(%n: tensor<i32>, %m: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>> {
  %x = stablehlo.constant dense<1.0> : tensor<6xf32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<6xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>
  %1 = stablehlo.set_dimension_size %0, %m, dim = 0 : (tensor<?xf32, #stablehlo.bounds<6>>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>
  return %1 : tensor<?xf32, #stablehlo.bounds<6>>
}`
	number := func(n int32) *tensor.Tensor {
		v := tensor.New(tensor.I32, nil)
		tensor.View[int32](v)[0] = n
		return v
	}
	out, err := tryRun(t, text, number(2), number(5))
	if err != nil || !slices.Equal(tensor.View[float32](out[0]), []float32{1, 1, 0, 0, 0}) {
		t.Errorf("from 2 to 5: %v, %v", out, err)
	}
	for m, want := range map[int32]string{7: "has a result of shape [7] whose dimension 0 was declared at most 6", -1: "sets dimension 0 to -1"} {
		if _, err := tryRun(t, text, number(2), number(m)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("from 2 to %d: %v", m, err)
		}
	}
}

// TestBoundedReshape: the sizes of a reshape's result follow from the operand and the bounds.
func TestBoundedReshape(t *testing.T) {
	for _, test := range []struct {
		from, to, bounds string
		sizes            []int64 // of the operand
		want             []int64 // nil: refused
	}{
		{"2x?x4", "?x2", "16, ?", []int64{2, 2, 4}, []int64{8, 2}},
		{"?x?", "?x?x1", "2, 3, ?", []int64{1, 2}, []int64{1, 2, 1}},
		{"?x6x?", "?x2x3x?", "2, ?, ?, 3", []int64{1, 6, 2}, []int64{1, 2, 3, 2}},
		{"?x?", "?", "6", []int64{1, 2}, []int64{2}},
		{"6x?", "?x?", "4, 3", []int64{6, 1}, nil},
	} {
		bounds := map[string]string{"2x?x4": "?, 4, ?", "?x?": "2, 3", "?x6x?": "2, ?, 3", "6x?": "?, 2"}[test.from]
		from := "tensor<" + test.from + "xf32, #stablehlo.bounds<" + bounds + ">>"
		to := "tensor<" + test.to + "xf32, #stablehlo.bounds<" + test.bounds + ">>"
		text := "func.func @main(%x: " + from + ") -> " + to + " {\n %0 = stablehlo.reshape %x : (" + from + ") -> " + to + "\n return %0 : " + to + "\n}"
		out, err := tryRun(t, text, tensor.New(tensor.F32, test.sizes))
		if (test.want == nil) != (err != nil) || err == nil && !slices.Equal(out[0].Shape(), test.want) {
			t.Errorf("%s to %s: %v, %v", from, to, out, err)
		}
	}
}

// TestBeyondBounds: an argument or result that exceeds its bound is an error.
func TestBeyondBounds(t *testing.T) {
	const text = `func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<6>> {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<6>>
  return %0 : tensor<?xf32, #stablehlo.bounds<6>>
}`
	for n, want := range map[int64]string{
		3: "",
		4: "has a result of shape [8] whose dimension 0 was declared at most 6",
		5: "argument 0 is tensor<5xf32>, but function @main takes tensor<?xf32, #stablehlo.bounds<4>>",
	} {
		out, err := tryRun(t, text, tensor.New(tensor.F32, tensor.Shape{n}))
		switch {
		case want == "":
			if err != nil || out[0].NumElements() != int(2*n) {
				t.Errorf("%d elements: %v", n, err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%d elements: %v", n, err)
		}
	}
}
