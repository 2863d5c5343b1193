package interp

import (
	"bytes"
	goruntime "runtime"
	"testing"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestBatchNormOnCores: sums over features have the same bits on any number of cores.
func TestBatchNormOnCores(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(0))
	const text = `func.func @main(%a: tensor<4x64x700xf64>, %b: tensor<64xf64>, %c: tensor<64xf64>) -> (tensor<4x64x700xf64>, tensor<64xf64>, tensor<64xf64>) {
  %r:3 = "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x64x700xf64>, tensor<64xf64>, tensor<64xf64>) -> (tensor<4x64x700xf64>, tensor<64xf64>, tensor<64xf64>)
  return %r#0, %r#1, %r#2 : tensor<4x64x700xf64>, tensor<64xf64>, tensor<64xf64>
}
`
	exe, err := compileWith(t, text, Options{}, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	var args []*tensor.Tensor
	for i, shape := range []tensor.Shape{{4, 64, 700}, {64}, {64}} {
		args = append(args, bitInput(tensor.F64, int(shape.NumElements()), uint64(i), true).Reshape(shape))
	}
	var want []*tensor.Tensor
	for cores := 1; cores <= 7; cores++ {
		goruntime.GOMAXPROCS(cores)
		got, err := exe.Run(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		for i := range got {
			if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
				t.Errorf("result %d has other bits on %d cores", i, cores)
			}
		}
	}
}

// TestBatchNormSumsTakeLittleMemory: the sums of many features take less memory than the operand, for any number of
// rows.
func TestBatchNormSumsTakeLittleMemory(t *testing.T) {
	const text = `func.func @main(%a: tensor<64x65536xf32>, %b: tensor<65536xf32>) -> tensor<64x65536xf32> {
  %r:3 = "stablehlo.batch_norm_training"(%a, %b, %b) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<64x65536xf32>, tensor<65536xf32>, tensor<65536xf32>) -> (tensor<64x65536xf32>, tensor<65536xf32>, tensor<65536xf32>)
  return %r#0 : tensor<64x65536xf32>
}
`
	const operand = 64 << 18 // bytes
	exe, err := compileWith(t, text, Options{MemoryLimit: 3 * operand}, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	if _, err := exe.Run(t.Context(), []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{64, 65536}), tensor.New(tensor.F32, tensor.Shape{65536})}); err != nil {
		t.Error(err)
	}
}
