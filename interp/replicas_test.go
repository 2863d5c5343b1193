package interp

import (
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

const replicaSum = `module attributes {mhlo.num_replicas = 4 : i32} {
func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {
  %id = stablehlo.replica_id : tensor<ui32>
  %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
  %b = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<2xi32>
  %c = stablehlo.add %a, %b : tensor<2xi32>
  %r = "stablehlo.all_reduce"(%c) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %z = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %z : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
}`

// TestReplicas runs four replicas with the same argument. The program sums the argument and the replica's number over
// the replicas.
func TestReplicas(t *testing.T) {
	arg := tensor.New(tensor.I32, tensor.Shape{2})
	copy(tensor.View[int32](arg), []int32{10, 20})
	for range 20 {
		out := run(t, replicaSum, arg)
		if v := tensor.View[int32](out[0]); v[0] != 46 || v[1] != 86 {
			t.Fatalf("got %v, want [46 86]", v)
		}
	}
	exe, err := New(Options{}).Compile(t.Context(), &runtime.Program{Module: testkit.Parse(t, "r.mlir", []byte(replicaSum))}, runtime.CompileOptions{Replicas: 1 << 20})
	if err == nil {
		t.Errorf("a million replicas give %v", exe)
	}
}
