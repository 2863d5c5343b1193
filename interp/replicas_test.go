package interp

import (
	"testing"

	"github.com/hlocb/hlocb/internal/offheap"
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

// TestRunReplicas: each replica has its own arguments and results, and no memory is left.
func TestRunReplicas(t *testing.T) {
	pool := offheap.New(0)
	compiled, err := New(Options{Memory: pool}).Compile(t.Context(), &runtime.Program{Module: testkit.Parse(t, "r.mlir", []byte(`module attributes {mhlo.num_replicas = 3 : i32, mhlo.num_partitions = 2 : i32} {
func.func @main(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<ui32>) {
  %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %z = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %z : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %id = stablehlo.replica_id : tensor<ui32>
  return %r, %id : tensor<2xi32>, tensor<ui32>
}
}`))}, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	exe := compiled.(*Executable)
	defer exe.Close()
	var args [][]*tensor.Tensor
	for r := range int32(3) {
		arg := tensor.New(tensor.I32, tensor.Shape{2})
		copy(tensor.View[int32](arg), []int32{r, 10 * r})
		args = append(args, []*tensor.Tensor{arg})
	}
	results, err := exe.RunReplicas(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 3 {
		t.Fatalf("results of %d replicas, expected 3", len(results))
	}
	for r, list := range results {
		sum, id := tensor.View[int32](list[0]), tensor.View[uint32](list[1])
		if sum[0] != 3 || sum[1] != 30 || id[0] != uint32(r) {
			t.Errorf("replica %d returns %v and %v, expected [3 30] and its number", r, sum, id)
		}
		for _, v := range list {
			pool.Free(v.Bytes())
		}
	}
	if n := pool.Stats().InUse; n != 0 {
		t.Errorf("%d bytes are in use", n)
	}
	if _, err := exe.RunReplicas(t.Context(), args[:2]); err == nil {
		t.Error("arguments of two of three replicas are accepted")
	}
}
