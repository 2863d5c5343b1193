package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/hook"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestRandomCollectives compares collectives on the engine with XLA's: random kinds, groups, element types and
// values, on replicas and on partitions. The operand of a hook shows the result on each device.
func TestRandomCollectives(t *testing.T) {
	n := 40
	if long() {
		n = 1000
	}
	cpu, engine := open(t, "cpu"), open(t, "interp")
	for i := range n {
		if !label.Part(i%3 == 0) {
			continue
		}
		seed := firstSeed(t) + uint64(i)
		text, arg := randomCollective(rand.New(rand.NewPCG(seed, 7)))
		program, err := rewrite("collective.mlir", []byte(text), passes.RewriteHooks{Targets: []string{"probe"}, PerDevice: hook.PerDeviceSource})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		want, err := perDeviceValues(cpu, program, arg)
		if err != nil {
			t.Fatalf("seed %d: XLA: %v\n%s", seed, err, text)
		}
		got, err := perDeviceValues(engine, program, arg)
		if err != nil {
			t.Fatalf("seed %d: engine: %v\n%s", seed, err, text)
		}
		if len(want) == 0 || len(got) != len(want) {
			t.Fatalf("seed %d: %d devices on the engine, %d on XLA\n%s", seed, len(got), len(want), text)
		}
		for d, w := range want {
			if g := got[d]; g == nil || !bytes.Equal(g.Bytes(), w.Bytes()) {
				t.Fatalf("seed %d: device %d: the engine has %s, XLA %s\n%s", seed, d, got[d].AppendLiteral(nil, 64), w.AppendLiteral(nil, 64), text)
			}
		}
	}
}

// randomCollective returns a program and its argument. Values are small whole numbers, so sums and products are exact
// in any order.
func randomCollective(r *rand.Rand) (string, *tensor.Tensor) {
	devices := []int{2, 4, 8}[r.IntN(3)]
	partitioned := r.IntN(2) == 0
	types := []tensor.DType{tensor.F32, tensor.F64, tensor.I32, tensor.I64, tensor.UI8, tensor.I16, tensor.BF16, tensor.F16, tensor.I8, tensor.UI16, tensor.UI32, tensor.UI64,
		tensor.Complex64, tensor.Complex128, tensor.F8E5M2, tensor.F8E4M3FN, tensor.F8E4M3B11FNUZ, tensor.F8E3M4, tensor.I4, tensor.I1}
	d := types[r.IntN(len(types))]
	size := []int{1, 2, devices}[r.IntN(3)] // of a group
	rows, cols := devices*(1+r.IntN(2)), devices
	typ := func(a, b int) string { return fmt.Sprintf("tensor<%dx%dx%s>", a, b, d) }

	order := r.Perm(devices)
	var groups []string
	for i := 0; i < devices; i += size {
		var g []string
		for _, id := range order[i : i+size] {
			g = append(g, fmt.Sprint(id))
		}
		groups = append(groups, "["+strings.Join(g, ", ")+"]")
	}
	list := fmt.Sprintf("replica_groups = dense<[%s]> : tensor<%dx%dxi64>", strings.Join(groups, ", "), devices/size, size)
	channel, global := "", ""
	if partitioned {
		channel, global = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>", ", use_global_device_ids"
	}
	combine := []string{"add", "maximum", "minimum"}[r.IntN(3)]
	switch {
	case d.IsComplex():
		combine = "add" // these types have no maximum
	case d.IsFloat() && d.Bits() == 8 && combine == "add":
		combine = "maximum" // sums of these types would round
	}
	region := fmt.Sprintf(` ({
      ^bb0(%%a: tensor<%[1]s>, %%b: tensor<%[1]s>):
        %%c = stablehlo.%[2]s %%a, %%b : tensor<%[1]s>
        stablehlo.return %%c : tensor<%[1]s>
      })`, d, combine)
	dim := r.IntN(2)
	in, out := typ(rows, cols), typ(rows, cols)
	scaled := func(dim, mul, div int) string {
		if dim == 0 {
			return typ(rows*mul/div, cols)
		}
		return typ(rows, cols*mul/div)
	}
	var op string
	switch r.IntN(6) {
	case 0:
		op = fmt.Sprintf(`"stablehlo.all_reduce"(%%p) <{%s%s%s}>%s`, list, channel, global, region)
	case 1:
		out = scaled(dim, size, 1)
		op = fmt.Sprintf(`"stablehlo.all_gather"(%%p) <{all_gather_dim = %d : i64, %s%s%s}>`, dim, list, channel, global)
	case 2:
		out = scaled(dim, 1, size)
		op = fmt.Sprintf(`"stablehlo.reduce_scatter"(%%p) <{scatter_dimension = %d : i64, %s%s%s}>%s`, dim, list, channel, global, region)
	case 3:
		concat := r.IntN(2)
		if concat != dim {
			sizes := [2]int{rows, cols}
			sizes[dim] /= size
			sizes[concat] *= size
			out = typ(sizes[0], sizes[1])
		}
		op = fmt.Sprintf(`"stablehlo.all_to_all"(%%p) <{split_dimension = %d : i64, concat_dimension = %d : i64, split_count = %d : i64, %s%s}>`, dim, concat, size, list, channel)
	case 4:
		to := r.Perm(devices)
		var pairs []string
		for i := range 1 + r.IntN(devices) {
			pairs = append(pairs, fmt.Sprintf("[%d, %d]", order[i], to[i]))
		}
		op = fmt.Sprintf(`"stablehlo.collective_permute"(%%p) <{source_target_pairs = dense<[%s]> : tensor<%dx2xi64>%s}>`, strings.Join(pairs, ", "), len(pairs), channel)
	case 5:
		op = fmt.Sprintf(`"stablehlo.all_reduce"(%%p) <{%s%s}>%s`, list, channel, region)
		if partitioned { // all partitions of the only replica
			op = fmt.Sprintf(`"stablehlo.all_reduce"(%%p) <{replica_groups = dense<0> : tensor<1x1xi64>%s}>%s`, channel, region)
		}
	}

	x := tensor.New(d, tensor.Shape{int64(devices * rows), int64(cols)})
	fillSmall(x, r)
	body := fmt.Sprintf("    %%r = %s : (%s) -> %s\n    stablehlo.custom_call @probe(%%r) {api_version = 4 : i32, backend_config = {name = \"r\"}, has_side_effect = true} : (%s) -> ()\n", op, in, out, out)
	whole := fmt.Sprintf("tensor<%dx%dx%s>", devices*rows, cols, d)
	if partitioned {
		return fmt.Sprintf(`module attributes {mhlo.num_partitions = %d : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=%[1]d]>
  func.func public @main(%%x: %[2]s) -> %[2]s {
    %%0 = sdy.manual_computation(%%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%%p: %[3]s) {
%[4]s      sdy.return %%p : %[3]s
    } : (%[2]s) -> %[2]s
    return %%0 : %[2]s
  }
}
`, devices, whole, in, body), x
	}
	return fmt.Sprintf(`module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = %d : i32} {
  func.func public @main(%%x: %[2]s) -> %[2]s {
    %%i = stablehlo.replica_id : tensor<ui32>
    %%n = stablehlo.constant dense<%[5]d> : tensor<ui32>
    %%s = stablehlo.multiply %%i, %%n : tensor<ui32>
    %%z = stablehlo.constant dense<0> : tensor<ui32>
    %%p = stablehlo.dynamic_slice %%x, %%s, %%z, sizes = [%[5]d, %[6]d] : (%[2]s, tensor<ui32>, tensor<ui32>) -> %[3]s
%[4]s    return %%x : %[2]s
  }
}
`, devices, whole, in, body, rows, cols), x
}

// fillSmall fills t with whole numbers from 0 to 7; some floats become negative.
func fillSmall(t *tensor.Tensor, r *rand.Rand) {
	for i := range t.NumElements() {
		v := r.IntN(8)
		switch d := t.DType(); {
		case d == tensor.I1:
			t.SetBits(i, uint64(v&1))
		case d.IsComplex():
			t.SetComplex(i, complex(float64(v-3), float64(r.IntN(8)-3)))
		case d.IsFloat():
			t.SetFloat(i, float64(v-3))
		default:
			t.SetBits(i, uint64(v))
		}
	}
}

// perDeviceValues runs a program once and returns the operand of the hook on each device.
func perDeviceValues(b runtime.Backend, p *runtime.Program, arg *tensor.Tensor) (map[int]*tensor.Tensor, error) {
	var mu sync.Mutex
	out := map[int]*tensor.Tensor{}
	var h runtime.Bindings
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		mu.Lock()
		defer mu.Unlock()
		out[c.Device] = c.Operands[0].Clone()
		return nil
	}))
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	_, err = e.Run(context.Background(), []*tensor.Tensor{arg})
	return out, err
}
