package endtoend

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// deviceProgram is a program over several devices. Its text uses $N for the number of devices, $H for half and $G for
// twice that number, $D for the devices and $R for the pairs of a ring; @probe is a hook.
type deviceProgram struct {
	name, text string
	least      int    // fewest devices
	notXLA     string // XLA's error if it cannot compile the program
}

// inManual returns a program whose body runs on each device with the device's two rows of the argument (%p, of type
// tensor<2x$Gxf32>) and with %k, which all devices have. The body returns the same rows of the result.
func inManual(name, body string) deviceProgram {
	return deviceProgram{name: name, text: `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=$N]>
  func.func public @main(%arg0: tensor<$Gx$Gxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<$Gx$Gxf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<2x$Gxf32>, %k: tensor<f32>) {
` + body + `
    } : (tensor<$Gx$Gxf32>, tensor<f32>) -> tensor<$Gx$Gxf32>
    return %0 : tensor<$Gx$Gxf32>
  }
}
`}
}

// not marks a program that XLA's plugin cannot compile. text is a part of the error.
func (p deviceProgram) not(text string) deviceProgram {
	p.notXLA = text
	return p
}

const (
	tapAt  = `stablehlo.custom_call @probe(%s) {api_version = 4 : i32, backend_config = {name = "%s"}, has_side_effect = true} : (%s) -> ()` + "\n"
	callAt = `%s = stablehlo.custom_call @probe(%s) {api_version = 4 : i32, backend_config = {name = "%s"}, has_side_effect = true} : (%s) -> %[4]s` + "\n"
	adder  = ` ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      })`
	flat    = `channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[$D]]> : tensor<1x$Nxi64>`
	rows    = "tensor<2x$Gxf32>"
	sharded = `#sdy.sharding<@mesh, [{"x"}, {}]>`
)

func tapOf(value, name, typ string) string { return fmt.Sprintf(tapAt, value, name, typ) }

func callOf(result, value, name, typ string) string {
	if value == "" {
		return strings.Replace(fmt.Sprintf(callAt, result, value, name, typ), "("+typ+") ->", "() ->", 1)
	}
	return fmt.Sprintf(callAt, result, value, name, typ)
}

// around taps %p before an op and %r after it.
func around(op, typ, rest string) string {
	return tapOf("%p", "before", rows) + op + tapOf("%r", "after", typ) + rest
}

var devicePrograms = []deviceProgram{
	inManual("all_reduce", around(`%r = "stablehlo.all_reduce"(%p) <{`+flat+`, use_global_device_ids}>`+adder+` : (`+rows+`) -> `+rows+"\n", rows,
		`sdy.return %r : `+rows)),
	inManual("all_reduce of two values", around(`%r, %q = "stablehlo.all_reduce"(%p, %k) <{`+flat+`, use_global_device_ids}>`+adder+` : (`+rows+`, tensor<f32>) -> (`+rows+", tensor<f32>)\n", rows,
		tapOf("%q", "k", "tensor<f32>")+`sdy.return %r : `+rows)).not("Sharding is tuple-shaped but validation shape is not"),
	inManual("all_gather", around(`%r = "stablehlo.all_gather"(%p) <{all_gather_dim = 0 : i64, `+flat+`, use_global_device_ids}> : (`+rows+`) -> tensor<$Gx$Gxf32>`+"\n", "tensor<$Gx$Gxf32>",
		`%t = stablehlo.slice %r [1:3, 0:$G] : (tensor<$Gx$Gxf32>) -> `+rows+"\n"+`sdy.return %t : `+rows)),
	inManual("reduce_scatter", around(`%r = "stablehlo.reduce_scatter"(%p) <{scatter_dimension = 1 : i64, `+flat+`, use_global_device_ids}>`+adder+` : (`+rows+`) -> tensor<2x2xf32>`+"\n", "tensor<2x2xf32>",
		`%z = stablehlo.constant dense<0.5> : tensor<f32>
%t = stablehlo.pad %r, %z, low = [0, 0], high = [0, $M], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> `+rows+"\n"+`sdy.return %t : `+rows)),
	inManual("all_to_all", around(`%r = "stablehlo.all_to_all"(%p) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = $N : i64, `+flat+`}> : (`+rows+`) -> tensor<$Gx2xf32>`+"\n", "tensor<$Gx2xf32>",
		`%t = stablehlo.transpose %r, dims = [1, 0] : (tensor<$Gx2xf32>) -> `+rows+"\n"+`sdy.return %t : `+rows)),
	inManual("collective_permute", around(`%r = "stablehlo.collective_permute"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[$R]> : tensor<$Nx2xi64>}> : (`+rows+`) -> `+rows+"\n", rows,
		`sdy.return %r : `+rows)),
	inManual("collective_permute to some", around(`%r = "stablehlo.collective_permute"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (`+rows+`) -> `+rows+"\n", rows,
		`sdy.return %r : `+rows)),
	inManual("partition_id", `%i = stablehlo.partition_id : tensor<ui32>
%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>
`+tapOf("%f", "id", "tensor<f32>")+`%b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> `+rows+`
%r = stablehlo.multiply %p, %b : `+rows+`
sdy.return %r : `+rows),
	inManual("calls", callOf("%a", "%p", "ask", rows)+`%r = "stablehlo.all_reduce"(%a) <{`+flat+`, use_global_device_ids}>`+adder+` : (`+rows+`) -> `+rows+"\n"+
		callOf("%b", "%r", "again", rows)+`sdy.return %b : `+rows),
	inManual("a loop", `%z = stablehlo.constant dense<0> : tensor<i32>
%w:2 = stablehlo.while(%i = %z, %v = %p) : tensor<i32>, `+rows+`
 cond {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 } do {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %j = stablehlo.add %i, %one : tensor<i32>
  `+tapOf("%v", "before", rows)+`  %r = "stablehlo.all_reduce"(%v) <{`+flat+`, use_global_device_ids}>`+adder+` : (`+rows+`) -> `+rows+`
  `+callOf("%u", "%r", "after", rows)+`  stablehlo.return %j, %u : tensor<i32>, `+rows+`
 }
sdy.return %w#1 : `+rows),
	inManual("a branch on the device", `%i = stablehlo.partition_id : tensor<ui32>
%one = stablehlo.constant dense<1> : tensor<ui32>
%c = stablehlo.compare EQ, %i, %one : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
%r = "stablehlo.if"(%c) ({
  `+callOf("%b", "%p", "one", rows)+`  stablehlo.return %b : `+rows+`
}, {
  `+tapOf("%p", "others", rows)+`  stablehlo.return %p : `+rows+`
}) : (tensor<i1>) -> `+rows+`
sdy.return %r : `+rows),

	// The program has two axes: one is manual, or both are manual one after the other.
	{"an axis of two", `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=$H]>
  func.func public @main(%arg0: tensor<$Gx$Gxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<f32>) -> tensor<$Gx$Gxf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"y"}, {"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x", "y"}, {}]>] manual_axes={"x", "y"} (%p: tensor<4x$Nxf32>, %k: tensor<f32>) {
` + tapOf("%p", "before", "tensor<4x$Nxf32>") + `      %r = "stablehlo.all_reduce"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[$X]> : tensor<2x$Hxi64>, use_global_device_ids}>` + adder + ` : (tensor<4x$Nxf32>) -> tensor<4x$Nxf32>
` + tapOf("%r", "after", "tensor<4x$Nxf32>") + `      %t = stablehlo.reshape %r : (tensor<4x$Nxf32>) -> tensor<2x$Gxf32>
      sdy.return %t : tensor<2x$Gxf32>
    } : (tensor<$Gx$Gxf32>, tensor<f32>) -> tensor<$Gx$Gxf32>
    return %0 : tensor<$Gx$Gxf32>
  }
}
`, 4, ""},
	{"a manual computation in another", `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=$H]>
  func.func public @main(%arg0: tensor<$Gx$Gxf32>, %arg1: tensor<f32>) -> tensor<$Gx$Gxf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<$Nx$Gxf32>) {
      %1 = stablehlo.add %p, %p : tensor<$Nx$Gxf32>
      %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%q: tensor<$Nx4xf32>) {
` + tapOf("%q", "inner", "tensor<$Nx4xf32>") + `        %3 = stablehlo.multiply %q, %q : tensor<$Nx4xf32>
        sdy.return %3 : tensor<$Nx4xf32>
      } : (tensor<$Nx$Gxf32>) -> tensor<$Nx$Gxf32>
      sdy.return %2 : tensor<$Nx$Gxf32>
    } : (tensor<$Gx$Gxf32>) -> tensor<$Gx$Gxf32>
    return %0 : tensor<$Gx$Gxf32>
  }
}
`, 4, ""},
	{"hooks along an axis of two", `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=$H]>
  func.func public @main(%arg0: tensor<$Gx$Gxf32>, %arg1: tensor<f32>) -> tensor<$Gx$Gxf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%p: tensor<$Nx$Gxf32>) {
` + tapOf("%p", "tap", "tensor<$Nx$Gxf32>") + callOf("%1", "%p", "ask", "tensor<$Nx$Gxf32>") + callOf("%2", "", "feed", "tensor<$Nx$Gxf32>") + `      %3 = stablehlo.add %1, %2 : tensor<$Nx$Gxf32>
      sdy.return %3 : tensor<$Nx$Gxf32>
    } : (tensor<$Gx$Gxf32>) -> tensor<$Gx$Gxf32>
    return %0 : tensor<$Gx$Gxf32>
  }
}
`, 4, ""},
	{"devices in another order", `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=$N], device_ids=[$B]>
  func.func public @main(%arg0: tensor<$Gx$Gxf32>, %arg1: tensor<f32>) -> tensor<$Gx$Gxf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<$Gx2xf32>) {
` + tapOf("%p", "part", "tensor<$Gx2xf32>") + `      %1 = stablehlo.transpose %p, dims = [1, 0] : (tensor<$Gx2xf32>) -> tensor<2x$Gxf32>
      sdy.return %1 : tensor<2x$Gxf32>
    } : (tensor<$Gx$Gxf32>) -> tensor<$Gx$Gxf32>
    return %0 : tensor<$Gx$Gxf32>
  }
}
`, 2, ""},

	// Hooks on whole values, with Shardy and with GSPMD. --per-device determines the number of events.
	{"whole values, Shardy", wholeValues(`sdy.mesh @mesh = <["x"=$N]>`, `sdy.sharding = `+sharded, `sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>`), 2, ""},
	{"whole values, GSPMD", wholeValues("", `mhlo.sharding = "{devices=[$N,1]<=[$N]}"`, `mhlo.sharding = "{devices=[$N,1]<=[$N]}"`), 2, ""},
	{"loops and branches, Shardy", wholeControl(`sdy.mesh @mesh = <["x"=$N]>`, `sdy.sharding = `+sharded, `sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>`), 2, ""},
	{"loops and branches, GSPMD", wholeControl("", `mhlo.sharding = "{devices=[$N,1]<=[$N]}"`, `mhlo.sharding = "{devices=[$N,1]<=[$N]}"`), 2, ""},
	{"parts by hand, GSPMD", `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<$Gx$Gxf32> {mhlo.sharding = "{devices=[$N,1]<=[$N]}"}, %arg1: tensor<f32>) -> tensor<$Gx$Gxf32> {
    %1 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[$N,1]<=[$N]}"} : (tensor<$Gx$Gxf32>) -> tensor<$Gx$Gxf32>
    %p = stablehlo.custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"} : (tensor<$Gx$Gxf32>) -> ` + rows + `
    stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "before"}, has_side_effect = true, mhlo.sharding = "{manual}"} : (` + rows + `) -> ()
    %r = "stablehlo.all_reduce"(%p) <{` + flat + `, use_global_device_ids}>` + adder + ` {mhlo.sharding = "{manual}"} : (` + rows + `) -> ` + rows + `
    %a = stablehlo.custom_call @probe(%r) {api_version = 4 : i32, backend_config = {name = "after"}, has_side_effect = true, mhlo.sharding = "{manual}"} : (` + rows + `) -> ` + rows + `
    %4 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{manual}"} : (` + rows + `) -> ` + rows + `
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[$N,1]<=[$N]}"} : (` + rows + `) -> tensor<$Gx$Gxf32>
    return %5 : tensor<$Gx$Gxf32>
  }
}
`, 2, ""},
}

// wholeValues observes, requests and changes values that are sharded along their rows, and a value that is not sharded.
func wholeValues(mesh, arg, op string) string {
	w := "tensor<$Gx$Gxf32>"
	return `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  ` + mesh + `
  func.func public @main(%arg0: ` + w + ` {` + arg + `}, %arg1: tensor<f32>) -> ` + w + ` {
    ` + tapOf("%arg0", "argument", w) + `    %0 = stablehlo.add %arg0, %arg0 {` + op + `} : ` + w + `
    ` + tapOf("%0", "twice", w) + tapOf("%arg1", "scalar", "tensor<f32>") + callOf("%1", "%0", "ask", w) + `    %2 = stablehlo.dot %1, %0 : (` + w + `, ` + w + `) -> ` + w + `
    ` + tapOf("%2", "product", w) + `    %3 = stablehlo.custom_call @probe(%2) {api_version = 4 : i32, backend_config = {name = "change"}, has_side_effect = true,
      output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (` + w + `) -> ` + w + `
    ` + callOf("%4", "", "feed", w) + `    %5 = stablehlo.add %3, %4 : ` + w + `
    return %5 : ` + w + `
  }
}
`
}

// wholeControl has hooks in a loop, in a branch and in a function.
func wholeControl(mesh, arg, op string) string {
	w := "tensor<$Gx$Gxf32>"
	return `module attributes {mhlo.num_partitions = $N : i32, mhlo.num_replicas = 1 : i32} {
  ` + mesh + `
  func.func public @main(%arg0: ` + w + ` {` + arg + `}, %arg1: tensor<f32>) -> ` + w + ` {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%i = %z, %v = %arg0) : tensor<i32>, ` + w + `
     cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
     } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.add %v, %v {` + op + `} : ` + w + `
      ` + tapOf("%d", "loop", w) + `      %e = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %f = "stablehlo.if"(%e) ({
        ` + callOf("%g", "%d", "branch", w) + `        stablehlo.return %g : ` + w + `
      }, {
        %g = func.call @inner(%d) : (` + w + `) -> ` + w + `
        stablehlo.return %g : ` + w + `
      }) : (tensor<i1>) -> ` + w + `
      stablehlo.return %j, %f : tensor<i32>, ` + w + `
     }
    return %w#1 : ` + w + `
  }
  func.func private @inner(%x: ` + w + `) -> ` + w + ` {
    ` + tapOf("%x", "inner", w) + `    %r = stablehlo.subtract %x, %x {` + op + `} : ` + w + `
    %s = stablehlo.add %r, %x {` + op + `} : ` + w + `
    return %s : ` + w + `
  }
}
`
}

// on writes the program for n devices.
func (p deviceProgram) on(n int) string {
	var ids, ring, back, first, second []string
	for i := range n {
		ids = append(ids, fmt.Sprint(i))
		back = append(back, fmt.Sprint(n-1-i))
		ring = append(ring, fmt.Sprintf("[%d, %d]", i, (i+1)%n))
		if i < n/2 {
			first, second = append(first, fmt.Sprint(i)), append(second, fmt.Sprint(i+n/2))
		}
	}
	return strings.NewReplacer("$N", fmt.Sprint(n), "$H", fmt.Sprint(n/2), "$G", fmt.Sprint(2*n), "$M", fmt.Sprint(2*n-2), "$D", strings.Join(ids, ", "),
		"$R", strings.Join(ring, ", "), "$B", strings.Join(back, ", "), "$X", "["+strings.Join(first, ", ")+"], ["+strings.Join(second, ", ")+"]").Replace(p.text)
}

// deviceEvents runs a program several times on a backend and returns its events, sorted by device and sequence, then
// its results. It answers every call with its operand plus one. If ordered is not set, the events omit their sequence
// numbers.
func deviceEvents(t *testing.T, b runtime.Backend, p *runtime.Program, times int, args []*tensor.Tensor, ordered bool) []string {
	t.Helper()
	var mu sync.Mutex
	var got, first []string
	var h runtime.Bindings
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for i, r := range c.Results {
			y := tensor.View[float32](r)
			for k := range y {
				if y[k] = float32(k % 3); i < len(c.Operands) {
					y[k] = tensor.View[float32](c.Operands[i])[k] + 1
				}
			}
		}
		return nil
	}))
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		mu.Lock()
		defer mu.Unlock()
		line := fmt.Sprintf("d%d r%d p%d #%d %s", c.Device, c.Replica, c.Partition, c.Seq, c.Site.Name)
		if !ordered {
			line = fmt.Sprintf("d%d r%d p%d %s", c.Device, c.Replica, c.Partition, c.Site.Name)
		}
		for _, o := range c.Operands {
			line += fmt.Sprint(" ", o.Shape(), " ", tensor.View[float32](o))
		}
		got = append(got, line)
		return nil
	}))
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		t.Fatalf("%v\n%s", err, moduleText(p))
	}
	defer e.Close()
	for i := range times {
		got = nil
		results, err := e.Run(context.Background(), args)
		if err != nil {
			t.Fatalf("%v\n%s", err, moduleText(p))
		}
		slices.Sort(got)
		for _, r := range results {
			got = append(got, fmt.Sprint(r.Shape(), tensor.View[float32](r)))
		}
		if i == 0 {
			first = got
		} else if !slices.Equal(first, got) {
			t.Fatalf("run %d gives\n%s\nthe first gave\n%s", i, strings.Join(got, "\n"), strings.Join(first, "\n"))
		}
	}
	return first
}

// TestDevices runs programs over several devices on both backends and requires the same events on each device, the
// same order and the same results. With HLOCB_LONG it runs all of them on two, four and eight devices; 'make test' runs
// each of them on one of these numbers.
func TestDevices(t *testing.T) {
	cpu, engine := open(t, "cpu"), open(t, "interp")
	times := orderRuns(t, 3)
	for i, p := range devicePrograms {
		for _, n := range []int{2, 4, 8} {
			chosen := n == max([]int{2, 8, 4}[i%3], p.least)
			if n < p.least || n == 2 && p.least < 2 && !long() && i%3 != 0 || n == 8 && !long() && i%3 != 1 {
				continue
			}
			modes := []hook.PerDevice{hook.PerDeviceSource}
			if strings.Contains(p.name, "Shardy") || strings.Contains(p.name, "GSPMD") && !strings.Contains(p.name, "hand") {
				modes = []hook.PerDevice{hook.PerDeviceOnce, hook.PerDeviceEach}
			}
			for _, mode := range modes {
				for k, chain := range []hook.Chain{hook.ChainState, hook.ChainToken, hook.ChainState} {
					if !label.Part(chosen && (k == 0 || k == i%3)) {
						continue
					}
					order := hook.OrderProgram
					if k == 2 {
						order = hook.OrderNone
						if strings.Contains(p.name, "loop") || strings.Contains(p.name, "branch") {
							continue // hooks of different iterations and branches may change their order
						}
					}
					t.Run(fmt.Sprintf("%s/%d/%s/%s/%s", p.name, n, mode, chain, order), func(t *testing.T) {
						program, err := rewrite("devices.mlir", []byte(p.on(n)), passes.RewriteHooks{Targets: []string{"probe"}, PerDevice: mode, Chain: chain, Order: order})
						if chain == hook.ChainToken && (p.name == "a manual computation in another" || p.name == "hooks along an axis of two") {
							if err == nil || !strings.Contains(err.Error(), "over some axes of its mesh only") {
								t.Errorf("error is %v", err)
							}
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						x := count(tensor.Shape{int64(2 * n), int64(2 * n)}, 0)
						for i := range tensor.View[float32](x) { // small whole numbers: sums are exact in any order
							tensor.View[float32](x)[i] = float32(i*7%11 - 5)
						}
						args := []*tensor.Tensor{x, count(nil, 3)}
						ordered := order == hook.OrderProgram
						a := deviceEvents(t, engine, program, min(times, 5), args, ordered)
						if p.notXLA != "" {
							if _, err := cpu.Compile(context.Background(), program, runtime.CompileOptions{}); err == nil || !strings.Contains(err.Error(), p.notXLA) {
								t.Errorf("XLA says %v", err)
							}
							return
						}
						b := deviceEvents(t, cpu, program, times, args, ordered)
						if !slices.Equal(a, b) {
							t.Errorf("the engine gives\n%s\nXLA gives\n%s\nof\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"), moduleText(program))
						}
						if len(a) < 2 {
							t.Errorf("no events: %v", a)
						}
					})
				}
			}
		}
	}
}

// replicated is a program on $N replicas that sums %x over them between two hooks. Each replica has $P partitions.
const replicated = `module attributes {mhlo.num_partitions = $P : i32, mhlo.num_replicas = $N : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf32> {
    %i = stablehlo.replica_id : tensor<ui32>
    %f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %p = stablehlo.add %arg0, %b : tensor<4xf32>
    stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "before"}, has_side_effect = true} : (tensor<4xf32>) -> ()
    %r = "stablehlo.all_reduce"(%p) <{replica_groups = dense<[[$D]]> : tensor<1x$Nxi64>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
    %a = stablehlo.custom_call @probe(%r) {api_version = 4 : i32, backend_config = {name = "ask"}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
}
`

// TestReplicated runs a program on several replicas, each with one or two partitions.
func TestReplicated(t *testing.T) {
	times := orderRuns(t, 5)
	for _, backend := range []string{"interp", "cpu"} {
		b := open(t, backend)
		for _, grid := range [][2]int{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {2, 2}, {4, 2}} {
			n, parts := grid[0], grid[1]
			t.Run(fmt.Sprintf("%s/%d of %d", backend, n, parts), func(t *testing.T) {
				text := strings.ReplaceAll(deviceProgram{text: replicated}.on(n), "$P", fmt.Sprint(parts))
				program, err := rewrite("replicated.mlir", []byte(text), passes.RewriteHooks{Targets: []string{"probe"}})
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				sum := float32(n * (n - 1) / 2)
				for r := range n {
					v, d := float32(r), r*parts
					want = append(want, fmt.Sprintf("d%d r%d p0 #0 before [4] %v", d, r, []float32{1 + v, 2 + v, 3 + v, 4 + v}),
						fmt.Sprintf("d%d r%d p0 #1 ask [4] %v", d, r, []float32{float32(n) + sum, 2*float32(n) + sum, 3*float32(n) + sum, 4*float32(n) + sum}))
				}
				slices.Sort(want)
				want = append(want, fmt.Sprint(tensor.Shape{4}, []float32{float32(n) + sum + 1, 2*float32(n) + sum + 1, 3*float32(n) + sum + 1, 4*float32(n) + sum + 1}))
				got := deviceEvents(t, b, program, times, []*tensor.Tensor{count(tensor.Shape{4}, 1), count(nil, 3)}, true)
				if !slices.Equal(got, want) {
					t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// TestDeviceFailures makes a hook fail on one device, by an error, a panic or a delay, in programs whose other
// devices wait for it in a collective or for its answer. The run must end soon, the error must name the device, and
// the next run must work. Without hlocb's handling XLA would end the process after a minute.
func TestDeviceFailures(t *testing.T) {
	all := func(d int) int { return d }
	first := func(int) int { return 0 }
	find := func(name string) deviceProgram {
		for _, p := range devicePrograms {
			if p.name == name {
				return p
			}
		}
		t.Fatalf("no program %q", name)
		return deviceProgram{}
	}
	programs := []struct {
		deviceProgram
		hook   string
		mode   hook.PerDevice
		device func(d int) int // the device on which the hook fires that must fail on device d
	}{
		{find("all_reduce"), "before", hook.PerDeviceSource, all},
		{find("all_reduce"), "after", hook.PerDeviceSource, all},
		{find("a loop"), "after", hook.PerDeviceSource, all},
		{find("parts by hand, GSPMD"), "before", hook.PerDeviceSource, all},
		{find("parts by hand, GSPMD"), "after", hook.PerDeviceSource, all},
		{find("whole values, Shardy"), "ask", hook.PerDeviceOnce, first},
		{find("whole values, Shardy"), "ask", hook.PerDeviceEach, all},
		{find("whole values, GSPMD"), "ask", hook.PerDeviceOnce, first},
		{find("whole values, GSPMD"), "product", hook.PerDeviceEach, all},
		{deviceProgram{name: "replicated", text: strings.ReplaceAll(replicated, "$P", "1")}, "before", hook.PerDeviceSource, all},
		{deviceProgram{name: "replicated", text: strings.ReplaceAll(replicated, "$P", "1")}, "ask", hook.PerDeviceSource, all},
	}
	for _, backend := range []string{"interp", "cpu"} {
		b := open(t, backend)
		for i, p := range programs {
			for _, n := range []int{2, 4, 8} {
				if !long() && n != 2<<(i%3) || !label.Part(i%3 == 0 && backend == "cpu" || i%3 == 1 && backend == "interp") {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s, %s %s/%d", backend, p.name, p.hook, p.mode, n), func(t *testing.T) {
					program, err := rewrite("devices.mlir", []byte(p.on(n)), passes.RewriteHooks{Targets: []string{"probe"}, PerDevice: p.mode})
					if err != nil {
						t.Fatal(err)
					}
					failing := p.device(n - 1)
					for _, how := range []string{"error", "panic", "slow", "timeout"} {
						var fail atomic.Bool
						var h runtime.Bindings
						h.Answer("*", runtime.HandlerFunc(func(ctx context.Context, c *runtime.Call) error {
							for i, r := range c.Results {
								if clear(r.Bytes()); i < len(c.Operands) {
									copy(r.Bytes(), c.Operands[i].Bytes())
								}
							}
							if c.Site.Name != p.hook || c.Device != failing || !fail.Load() {
								return nil
							}
							switch how {
							case "error":
								return errDevice
							case "panic":
								panic(errDevice)
							case "timeout":
								<-ctx.Done()
								time.Sleep(20 * time.Millisecond) // clearly too late
							default:
								time.Sleep(100 * time.Millisecond)
							}
							return nil
						}))
						opts := runtime.CompileOptions{Handlers: &h}
						if how == "timeout" {
							opts.Timeout = 200 * time.Millisecond
						}
						e, err := b.Compile(context.Background(), program, opts)
						if err != nil {
							t.Fatal(err)
						}
						args := []*tensor.Tensor{count(tensor.Shape{int64(2 * n), int64(2 * n)}, 0), count(nil, 3)}
						if p.name == "replicated" {
							args[0] = count(tensor.Shape{4}, 0)
						}
						for k := range 4 {
							fail.Store(k%2 == 0)
							start := time.Now()
							_, err := e.Run(context.Background(), args)
							if d := time.Since(start); d > 20*time.Second {
								t.Fatalf("%s: the run took %v", how, d)
							}
							var failed *runtime.HookError
							switch {
							case k%2 == 1 || how == "slow":
								if err != nil {
									t.Errorf("%s: run %d: %v", how, k, err)
								}
							case !errors.As(err, &failed) || failed.Hook != p.hook || failed.Device != failing || how == "error" && !errors.Is(err, errDevice):
								t.Errorf("%s: run %d: error is %v, expected one of hook %q on device %d", how, k, err, p.hook, failing)
							}
						}
						if err := e.Close(); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
	}
}

var errDevice = errors.New("no room on this device")

// TestPartitionedCorpus runs JAX's modules for several devices. JAX delivers the shards of a callback in a shard_map,
// and of a partitioned callback, on each device, and the whole value of an io_callback on the callback's device.
func TestPartitionedCorpus(t *testing.T) {
	dir := testkit.Testdata("hooks")
	for name, want := range map[string][]string{
		"jax_cpu_shardmap_debug_callback.mlir":    {"d0 r0 p0 #0 hook0 [2] [1 2]", "d1 r0 p1 #0 hook0 [2] [3 4]", "[4] [2 3 4 5]"},
		"jax_cpu_partitioned_debug_callback.mlir": {"d0 r0 p0 #0 hook0 [2] [1 2]", "d1 r0 p1 #0 hook0 [2] [3 4]", "[4] [2 3 4 5]"},
		"jax_cpu_io_unordered_dev1.mlir":          {"d1 r0 p1 #0 hook0 [4] [1 2 3 4]", "[4] [2 3 4 5]"},
	} {
		for _, chain := range []hook.Chain{hook.ChainState, hook.ChainToken} {
			program, err := rewrite(name, readFile(t, filepath.Join(dir, name)), passes.RewriteHooks{Chain: chain})
			if err != nil {
				t.Fatal(err)
			}
			for _, backend := range []string{"interp", "cpu"} {
				if got := deviceEvents(t, open(t, backend), program, orderRuns(t, 5), []*tensor.Tensor{count(tensor.Shape{4}, 1)}, true); !slices.Equal(got, want) {
					t.Errorf("%s, %s, %s: got\n%s\nexpected\n%s", name, backend, chain, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}
