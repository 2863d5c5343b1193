package endtoend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// shardedTapAndCall is a program on four devices: a tap and a call with a value that is sharded over them.
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
// host halves the operand of the call.
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
		{"gspmd each", false, hook.PerDeviceEach, []string{
			"call 0 [0 2]", "call 1 [4 6]", "call 2 [8 10]", "call 3 [12 14]", "tap 0 [0 2]", "tap 1 [4 6]", "tap 2 [8 10]", "tap 3 [12 14]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := rewrite("sharded.mlir", []byte(tapAndCall(c.shardy)), passes.RewriteHooks{Targets: []string{"h"}, PerDevice: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			runTapAndCall(t, b, p, c.want)
		})
	}
}

// runTapAndCall runs the program of tapAndCall and compares its events, sorted, and its result.
func runTapAndCall(t *testing.T, b runtime.Backend, p *runtime.Program, want []string) {
	t.Helper()
	rec := &recorder{answer: func(c *runtime.Call) error {
		if c.Site.Kind == hook.Call {
			for i, v := range tensor.View[float32](c.Operands[0]) {
				tensor.View[float32](c.Results[0])[i] = v / 2
			}
		}
		return nil
	}}
	exe, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: rec.bindings()})
	if err != nil {
		t.Fatalf("%v\n%s", err, moduleText(p))
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
	want = slices.Clone(want)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("events are %q and should be %q", got, want)
	}
	if r := tensor.View[float32](out[0]); !slices.Equal(r, []float32{0, 3, 6, 9, 12, 15, 18, 21}) {
		t.Errorf("the result is %v", r)
	}
}

// TestPerDeviceElsewhere writes the same hooks in the formats of other producers, reads them back and runs them: the
// hooks must fire on their devices.
func TestPerDeviceElsewhere(t *testing.T) {
	b := open(t, "cpu")
	whole := "[0 2 4 6 8 10 12 14]"
	want := map[hook.PerDevice][]string{
		hook.PerDeviceOnce: {"call 0 " + whole, "tap 0 " + whole},
		hook.PerDeviceEach: {"call 0 [0 2]", "call 1 [4 6]", "call 2 [8 10]", "call 3 [12 14]", "tap 0 [0 2]", "tap 1 [4 6]", "tap 2 [8 10]", "tap 3 [12 14]"},
	}
	for _, to := range []string{"jax", "sendrecv", "outfeed"} {
		for _, shardy := range []bool{true, false} {
			for _, mode := range []hook.PerDevice{hook.PerDeviceOnce, hook.PerDeviceEach} {
				t.Run(fmt.Sprintf("%s/shardy=%t/%s", to, shardy, mode), func(t *testing.T) {
					m, err := testkit.TryParse("sharded.mlir", []byte(tapAndCall(shardy)))
					if err != nil {
						t.Fatal(err)
					}
					if _, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: []string{"h"}, PerDevice: mode, To: to}); err != nil {
						t.Fatal(err)
					}
					text := print.String(m, print.Options{})
					p, err := rewrite("converted.mlir", []byte(text), passes.RewriteHooks{})
					if err != nil {
						t.Fatalf("%v\n%s", err, text)
					}
					runTapAndCall(t, b, p, want[mode])
				})
			}
		}
	}
	for _, to := range []string{"exla", "exla-io", "strip"} {
		m, err := testkit.TryParse("sharded.mlir", []byte(tapAndCall(true)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: []string{"h"}, PerDevice: hook.PerDeviceEach, To: to})
		if err == nil || !strings.Contains(err.Error(), "hooks written as "+to+" have no devices to fire on") {
			t.Errorf("%s: error is %v", to, err)
		}
	}
}

// TestPerDeviceRefused: a manual computation has no whole value for --per-device=once. A function is ambiguous if both
// a manual computation and other code call it.
func TestPerDeviceRefused(t *testing.T) {
	const shardy = `module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
      HOOK
      sdy.return %p : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    OTHER
    return %0 : tensor<4xf32>
  }
  func.func private @f(%p: tensor<2xf32>) {
    stablehlo.custom_call @h(%p) {api_version = 4 : i32, backend_config = {name = "f"}, has_side_effect = true} : (tensor<2xf32>) -> ()
    return
  }
}`
	const gspmd = `module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.custom_call @h(%1) {api_version = 4 : i32, backend_config = {name = "h"}, has_side_effect = true, mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> ()
    return %a : tensor<4xf32>
  }
}`
	direct := `stablehlo.custom_call @h(%p) {api_version = 4 : i32, backend_config = {name = "h"}, has_side_effect = true} : (tensor<2xf32>) -> ()`
	call := `func.call @f(%p) : (tensor<2xf32>) -> ()`
	for _, c := range []struct {
		name, text string
		mode       hook.PerDevice
		want       string
	}{
		{"Shardy", strings.NewReplacer("HOOK", direct, "OTHER", "").Replace(shardy), hook.PerDeviceOnce, `5:7: error: hook "h" is in a manual computation, where each device has a value of its own, and cannot fire once`},
		{"in a function", strings.NewReplacer("HOOK", call, "OTHER", "").Replace(shardy), hook.PerDeviceOnce, `13:5: error: hook "f" is in a manual computation`},
		{"from both", strings.NewReplacer("HOOK", call, "OTHER", `func.call @f(%1) : (tensor<2xf32>) -> ()`).Replace(shardy), hook.PerDeviceSource, `13:5: error: hook "f" is in a function that is called from a manual computation and from elsewhere`},
		{"GSPMD", gspmd, hook.PerDeviceOnce, `5:5: error: hook "h" is in a manual computation`},
		{"each", strings.NewReplacer("HOOK", direct, "OTHER", "").Replace(shardy), hook.PerDeviceEach, ""},
		{"a function on each", strings.NewReplacer("HOOK", call, "OTHER", "").Replace(shardy), hook.PerDeviceEach, ""},
	} {
		_, err := rewrite("sharded.mlir", []byte(c.text), passes.RewriteHooks{Targets: []string{"h"}, PerDevice: c.mode})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), "sharded.mlir:"+c.want)) {
			t.Errorf("%s: error is %v", c.name, err)
		}
	}
}

// TestPlacedTwice: a module whose hooks have been placed stays unchanged under all options.
func TestPlacedTwice(t *testing.T) {
	for _, shardy := range []bool{true, false} {
		for _, mode := range []hook.PerDevice{hook.PerDeviceOnce, hook.PerDeviceEach} {
			p, err := rewrite("sharded.mlir", []byte(tapAndCall(shardy)), passes.RewriteHooks{Targets: []string{"h"}, PerDevice: mode})
			if err != nil {
				t.Fatal(err)
			}
			for _, again := range []hook.PerDevice{mode, hook.PerDeviceSource} {
				q, err := rewrite("again.mlir", []byte(moduleText(p)), passes.RewriteHooks{PerDevice: again})
				if err != nil {
					t.Fatalf("%v\n%s", err, moduleText(p))
				}
				if moduleText(q) != moduleText(p) {
					t.Errorf("shardy %t, %s then %s: placed once:\n%s\ntwice:\n%s", shardy, mode, again, moduleText(p), moduleText(q))
				}
			}
		}
	}
}
