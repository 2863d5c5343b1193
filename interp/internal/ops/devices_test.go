package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// perProcess runs a body on two replicas of two partitions and returns the results of the four processes, replica by
// replica. The body computes %r, a tensor<4xi32>, from %x, which is [10p, 10p+1, 10p+2, 10p+3] on process p.
func perProcess(t *testing.T, body string) ([]string, error) {
	t.Helper()
	text := `module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {
sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  %i = stablehlo.replica_id : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %m = stablehlo.multiply %i, %two : tensor<ui32>
  %j = stablehlo.partition_id : tensor<ui32>
  %p = stablehlo.add %m, %j : tensor<ui32>
  %ten = stablehlo.constant dense<10> : tensor<ui32>
  %q = stablehlo.multiply %p, %ten : tensor<ui32>
  %s = stablehlo.convert %q : (tensor<ui32>) -> tensor<i32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %n = stablehlo.iota dim = 0 : tensor<4xi32>
  %x = stablehlo.add %b, %n : tensor<4xi32>
` + body + `
  sdy.manual_computation(%r) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%v: tensor<4xi32>) {
    stablehlo.custom_call @hlocb_hook(%v) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, chained = false, id = 1 : i64, kind = "tap", name = "r"}} : (tensor<4xi32>) -> ()
    sdy.return
  } : (tensor<4xi32>) -> ()
  return
}
}`
	out := make([]string, 4)
	var mu sync.Mutex
	var h runtime.Bindings
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Device != 2*c.Replica+c.Partition {
			t.Errorf("device %d is replica %d, partition %d", c.Device, c.Replica, c.Partition)
		}
		out[c.Device] = fmt.Sprint(tensor.View[int32](c.Operands[0]))
		return nil
	}))
	site := hook.Site{ID: 1, Name: "r", Kind: hook.Tap, SideEffect: true, Operands: []hook.TensorType{{DType: tensor.I32, Shape: tensor.Shape{4}}}}
	p := &runtime.Program{Module: testkit.Parse(t, "test.mlir", []byte(text)), Manifest: &hook.Manifest{Sites: []hook.Site{site}}}
	exe, err := interp.New(interp.Options{}).Compile(t.Context(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	_, err = exe.Run(t.Context(), nil)
	return out, err
}

// TestCollectives runs each collective with each grouping of the processes that it supports (spec, "Grouping in
// StableHLO").
func TestCollectives(t *testing.T) {
	const sum = ` ({
  ^bb0(%a: tensor<i32>, %c: tensor<i32>):
    %d = stablehlo.add %a, %c : tensor<i32>
    stablehlo.return %d : tensor<i32>
  }) : (tensor<4xi32>) -> `
	const channel = `, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>`
	pad := func(op, dims string) string {
		return op + "\n%zero = stablehlo.constant dense<-1> : tensor<i32>\n%r = stablehlo.pad %y, %zero, low = [0], high = [" + dims + "], interior = [0] : "
	}
	for _, c := range []struct{ name, body, want string }{
		{"all_reduce, cross_replica", `%r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>` + sum + `tensor<4xi32>`,
			"[20 22 24 26] [40 42 44 46] [20 22 24 26] [40 42 44 46]"},
		{"all_reduce, cross_replica_and_partition", `%r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>` + channel + `}>` + sum + `tensor<4xi32>`,
			"[10 12 14 16] [10 12 14 16] [50 52 54 56] [50 52 54 56]"},
		{"all_reduce, flattened_ids", `%r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>` + channel + `, use_global_device_ids}>` + sum + `tensor<4xi32>`,
			"[30 32 34 36] [30 32 34 36] [30 32 34 36] [30 32 34 36]"},
		{"all_reduce, along an axis", `%r = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>` + channel + `, use_global_device_ids}>` + sum + `tensor<4xi32>`,
			"[20 22 24 26] [40 42 44 46] [20 22 24 26] [40 42 44 46]"},
		{"all_reduce, half an axis", `%r = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 4>]>, axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (2)2>]>` + channel + `, use_global_device_ids}>` + sum + `tensor<4xi32>`,
			"[10 12 14 16] [10 12 14 16] [50 52 54 56] [50 52 54 56]"},
		{"all_gather", pad(`%z = stablehlo.slice %x [0:1] : (tensor<4xi32>) -> tensor<1xi32>
%y = "stablehlo.all_gather"(%z) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1xi32>) -> tensor<2xi32>`, "2") + "(tensor<2xi32>, tensor<i32>) -> tensor<4xi32>",
			"[20 0 -1 -1] [30 10 -1 -1] [20 0 -1 -1] [30 10 -1 -1]"},
		{"reduce_scatter", pad(`%y = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>`+channel+`, use_global_device_ids}>`+sum+`tensor<1xi32>`, "3") + "(tensor<1xi32>, tensor<i32>) -> tensor<4xi32>",
			"[60 -1 -1 -1] [64 -1 -1 -1] [68 -1 -1 -1] [72 -1 -1 -1]"},
		{"all_to_all, cross_partition", `%r = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>` + channel + `}> : (tensor<4xi32>) -> tensor<4xi32>`,
			"[0 1 10 11] [2 3 12 13] [20 21 30 31] [22 23 32 33]"},
		{"collective_permute, cross_replica", `%r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>`,
			"[0 0 0 0] [0 0 0 0] [0 1 2 3] [10 11 12 13]"},
		{"collective_broadcast, cross_partition", `%r = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>` + channel + `}> : (tensor<4xi32>) -> tensor<4xi32>`,
			"[10 11 12 13] [10 11 12 13] [30 31 32 33] [30 31 32 33]"},
		{"collective_reduce", `%r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>` + sum + `tensor<4xi32>`,
			"[20 22 24 26] [40 42 44 46] [0 0 0 0] [0 0 0 0]"},
		{"collective_reduce, some in no group", `%r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[1]]> : tensor<1x1xi64>}>` + sum + `tensor<4xi32>`,
			"[0 0 0 0] [0 0 0 0] [20 21 22 23] [30 31 32 33]"},
		{"collective_reduce, to a given root", `%one = stablehlo.constant dense<1> : tensor<1xi64>
%r = "stablehlo.collective_reduce"(%x, %one) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root = true}>` + strings.Replace(sum, ": (tensor<4xi32>)", ": (tensor<4xi32>, tensor<1xi64>)", 1) + `tensor<4xi32>`,
			"[0 0 0 0] [0 0 0 0] [20 22 24 26] [40 42 44 46]"},
		{"collective_broadcast, some in no group", `%r = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1]]> : tensor<1x1xi64>}> : (tensor<4xi32>) -> tensor<4xi32>`,
			"[0 0 0 0] [0 0 0 0] [20 21 22 23] [30 31 32 33]"},
		{"send and recv", `%t = stablehlo.create_token : !stablehlo.token
%u = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xi32>, !stablehlo.token) -> !stablehlo.token
%r, %w = "stablehlo.recv"(%u) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<4xi32>, !stablehlo.token)`,
			"[10 11 12 13] [0 1 2 3] [30 31 32 33] [20 21 22 23]"},
		{"recv of nobody", `%t = stablehlo.create_token : !stablehlo.token
%u = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xi32>, !stablehlo.token) -> !stablehlo.token
%r, %w = "stablehlo.recv"(%u) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4xi32>, !stablehlo.token)`,
			"[0 0 0 0] [0 1 2 3] [0 0 0 0] [20 21 22 23]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := perProcess(t, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// TestStuckDevices: if some devices never reach a collective, a transfer or the end of a manual computation, the run
// fails with the position of that op.
func TestStuckDevices(t *testing.T) {
	start := time.Now()
	for _, c := range []struct{ name, body, want string }{
		{"collective", `%zero = stablehlo.constant dense<0> : tensor<ui32>
%c = stablehlo.compare EQ, %p, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
%r = "stablehlo.if"(%c) ({
  %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xi32>) -> tensor<8xi32>
  %z = stablehlo.slice %y [0:4] : (tensor<8xi32>) -> tensor<4xi32>
  stablehlo.return %z : tensor<4xi32>
}, {
  stablehlo.return %x : tensor<4xi32>
}) : (tensor<i1>) -> tensor<4xi32>`, "'stablehlo.all_gather' op waits for devices that do not get there"},
		{"recv", `%t = stablehlo.create_token : !stablehlo.token
%r, %w = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<4xi32>, !stablehlo.token)`, "'stablehlo.recv' op waits for devices that do not get there"},
	} {
		_, err := perProcess(t, c.body)
		var located *exec.OpError
		if !errors.As(err, &located) || !errors.Is(err, exec.ErrStuck) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", c.name, err)
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestManualRefusesMisfits: a manual computation must fit its mesh and the types of its operands.
func TestManualRefusesMisfits(t *testing.T) {
	const text = `module attributes {mhlo.num_partitions = PARTS : i32} {
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%v: tensor<2xf32>) {
    sdy.return %v : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}`
	arg := tensor.New(tensor.F32, tensor.Shape{8})
	for parts, want := range map[string]string{
		"1": "operand #0 is tensor<2xf32> on each device and tensor<8xf32> as a whole, which needs more than 1 partitions",
		"2": "is over a mesh of 4 devices, the program has 2 partitions",
		"8": "the mesh has no device 4",
	} {
		_, err := tryRun(t, strings.ReplaceAll(text, "PARTS", parts), arg)
		if err == nil || !strings.Contains(err.Error(), "test.mlir:4:8: error: 'sdy.manual_computation' op ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s partitions: error is %v", parts, err)
		}
	}
	for _, parts := range []string{"4", "0"} { // without a number in the module, the mesh decides
		if out := run(t, strings.ReplaceAll(text, "PARTS", parts), arg); len(out) != 1 {
			t.Errorf("%d results", len(out))
		}
	}
}

// TestFailureOnOneDevice: a hook that fails on one device ends the run on all devices. The other devices may wait in
// any collective.
func TestFailureOnOneDevice(t *testing.T) {
	text := `module attributes {mhlo.num_partitions = 4 : i32} {
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%v: tensor<1xf32>) {
    stablehlo.custom_call @hlocb_hook(%v) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, chained = false, id = 1 : i64, kind = "tap", name = "r"}} : (tensor<1xf32>) -> ()
    sdy.return %v : tensor<1xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
}`
	site := hook.Site{ID: 1, Name: "r", Kind: hook.Tap, SideEffect: true, Operands: []hook.TensorType{{DType: tensor.F32, Shape: tensor.Shape{1}}}}
	for _, how := range []string{"error", "panic", "slow"} {
		var h runtime.Bindings
		h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
			switch {
			case c.Device != 2:
			case how == "error":
				return errors.New("no")
			case how == "panic":
				panic("no")
			default:
				time.Sleep(50 * time.Millisecond)
			}
			return nil
		}))
		exe, err := interp.New(interp.Options{}).Compile(t.Context(), &runtime.Program{Module: testkit.Parse(t, "test.mlir", []byte(text)), Manifest: &hook.Manifest{Sites: []hook.Site{site}}},
			runtime.CompileOptions{Handlers: &h})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			_, err = exe.Run(t.Context(), []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{4})})
			var failed *runtime.HookError
			if how == "slow" && err != nil || how != "slow" && (!errors.As(err, &failed) || failed.Device != 2) {
				t.Errorf("%s: error is %v", how, err)
			}
		}
		exe.Close()
	}
}

// TestCollectivesOfDynamicShape: collectives return the same results for values of dynamic shape as for values of
// static shape.
func TestCollectivesOfDynamicShape(t *testing.T) {
	const static = `
  %sum = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
  ^bb0(%a: tensor<i32>, %c: tensor<i32>):
    %add = stablehlo.add %a, %c : tensor<i32>
    stablehlo.return %add : tensor<i32>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  %mix = stablehlo.add %sum, %x : tensor<4xi32>
  %all = "stablehlo.all_gather"(%mix) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xi32>) -> tensor<8xi32>
  %part = "stablehlo.reduce_scatter"(%all) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %c: tensor<i32>):
    %add = stablehlo.add %a, %c : tensor<i32>
    stablehlo.return %add : tensor<i32>
  }) : (tensor<8xi32>) -> tensor<4xi32>
  %turn = "stablehlo.all_to_all"(%part) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
  %next = "stablehlo.collective_permute"(%turn) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
  %first = "stablehlo.collective_broadcast"(%turn) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
  %m1 = stablehlo.multiply %next, %first : tensor<4xi32>
  %r = stablehlo.add %m1, %turn : tensor<4xi32>
`
	want, err := perProcess(t, static)
	if err != nil {
		t.Fatal(err)
	}
	dynamic := strings.NewReplacer("4xi32", "?xi32", "8xi32", "?xi32", "%x", "%y", "%r =", "%open =").Replace(static)
	got, err := perProcess(t, `
  %shape = stablehlo.constant dense<4> : tensor<1xi32>
  %y = stablehlo.dynamic_reshape %x, %shape : (tensor<4xi32>, tensor<1xi32>) -> tensor<?xi32>
`+dynamic+`
  %r = stablehlo.dynamic_reshape %open, %shape : (tensor<?xi32>, tensor<1xi32>) -> tensor<4xi32>
`)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || want[0] == want[2] {
		t.Errorf("%v, and %v of static shape", got, want)
	}
}

// TestCollectiveOfDifferentShapes: processes that pass values of different shapes to one collective get an error.
func TestCollectiveOfDifferentShapes(t *testing.T) {
	_, err := perProcess(t, `
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %k = stablehlo.add %p, %one : tensor<ui32>
  %shape = stablehlo.reshape %k : (tensor<ui32>) -> tensor<1xui32>
  %y = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xui32>) -> tensor<?xi32>
  %sum = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?xi32>) -> tensor<?xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %r = stablehlo.dynamic_reshape %sum, %four : (tensor<?xi32>, tensor<1xi32>) -> tensor<4xi32>
`)
	if err == nil || !strings.Contains(err.Error(), "from process") {
		t.Errorf("%v", err)
	}
}
