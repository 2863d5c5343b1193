package endtoend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// shardedTapAndCall is a program on four devices: a tap and a call see a value that is spread over them.
const shardedTapAndCall = `module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
%s
  func.func public @main(%%x: tensor<8xf32> {%s}) -> (tensor<8xf32> {%s}) {
    %%y = stablehlo.add %%x, %%x : tensor<8xf32>
    stablehlo.custom_call @h(%%y) {api_version = 4 : i32, backend_config = {name = "tap"}, has_side_effect = true} : (tensor<8xf32>) -> ()
    %%z = stablehlo.custom_call @h(%%y) {api_version = 4 : i32, backend_config = {name = "call"}, has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
    %%r = stablehlo.add %%y, %%z : tensor<8xf32>
    return %%r : tensor<8xf32>
  }
}
`

func tapAndCall(shardy bool) string {
	mesh, sharding := "", `mhlo.sharding = "{devices=[4]<=[4]}"`
	if shardy {
		mesh, sharding = `  sdy.mesh @mesh = <["i"=4]>`, `sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>`
	}
	return fmt.Sprintf(shardedTapAndCall, mesh, sharding, sharding)
}

// TestPerDevice runs hooks on partitioned values, once with the whole value and on each device with its shard. The
// host of the call halves what it gets.
func TestPerDevice(t *testing.T) {
	b := open(t, "cpu")
	whole := "[0 2 4 6 8 10 12 14]"
	for _, c := range []struct {
		name   string
		shardy bool
		mode   hook.PerDevice
		want   []string
	}{
		{"shardy once", true, hook.PerDeviceOnce, []string{"call 0 " + whole, "tap 0 " + whole}},
		{"gspmd once", false, hook.PerDeviceOnce, []string{"call 0 " + whole, "tap 0 " + whole}},
		{"shardy each", true, hook.PerDeviceEach, []string{
			"call 0 [0 2]", "call 1 [4 6]", "call 2 [8 10]", "call 3 [12 14]", "tap 0 [0 2]", "tap 1 [4 6]", "tap 2 [8 10]", "tap 3 [12 14]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := rewrite("sharded.mlir", []byte(tapAndCall(c.shardy)), passes.RewriteOptions{Targets: []string{"h"}, PerDevice: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			rec := &recorder{answer: func(c *runtime.Call) error {
				if c.Site.Kind == hlocb.Call {
					for i, v := range tensor.View[float32](c.Operands[0]) {
						tensor.View[float32](c.Results[0])[i] = v / 2
					}
				}
				return nil
			}}
			exe, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: rec.bindings()})
			if err != nil {
				t.Fatalf("%v\n%s", err, p.Text)
			}
			defer exe.Close()
			out, err := exe.Run(context.Background(), []*tensor.Tensor{count(tensor.Shape{8}, 0)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			last := map[int]string{}
			for _, ev := range rec.take() {
				if ev.site.Name == "call" && last[ev.device] != "tap" {
					t.Errorf("the call came before the tap on device %d", ev.device)
				}
				last[ev.device] = ev.site.Name
				got = append(got, fmt.Sprintf("%s %d %v", ev.site.Name, ev.device, tensor.View[float32](ev.operands[0])))
			}
			slices.Sort(got)
			want := slices.Clone(c.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("events are %q and should be %q", got, want)
			}
			if r := tensor.View[float32](out[0]); !slices.Equal(r, []float32{0, 3, 6, 9, 12, 15, 18, 21}) {
				t.Errorf("the result is %v", r)
			}
		})
	}
}

// TestPerDeviceRefused: a chained call on every device makes GSPMD's partitioner abort.
func TestPerDeviceRefused(t *testing.T) {
	_, err := rewrite("sharded.mlir", []byte(tapAndCall(false)), passes.RewriteOptions{Targets: []string{"h"}, PerDevice: hook.PerDeviceEach})
	if err == nil || !strings.Contains(err.Error(), "sharded.mlir:5:5: error: ") {
		t.Errorf("error is %v", err)
	}
}
