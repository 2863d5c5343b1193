package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/tensor"
)

// TestDynamicSizes: results of bounded dynamic size have their real sizes and elements on the engine and on XLA, on the
// host and as buffers, from StableHLO and from HLO.
func TestDynamicSizes(t *testing.T) {
	matrix := func(rows, columns int64) *hlocb.Tensor {
		out := tensor.New(tensor.F32, tensor.Shape{rows, columns})
		for i := range out.NumElements() {
			tensor.View[float32](out)[i] = float32(i)
		}
		return out
	}
	scalar := func(n int32) *hlocb.Tensor {
		out := tensor.New(tensor.I32, nil)
		tensor.View[int32](out)[0] = n
		return out
	}
	box := tensor.New(tensor.I32, tensor.Shape{2, 4, 4})
	for i := range box.NumElements() {
		tensor.View[int32](box)[i] = int32(i)
	}
	const leading = `func.func @main(%a: tensor<4x2xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<?x2xf32, #stablehlo.bounds<4, ?>>) {
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.add %0, %0 : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  return %n, %1 : tensor<i32>, tensor<?x2xf32, #stablehlo.bounds<4, ?>>
}`
	const minor = `func.func @main(%a: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>> {
  %0 = stablehlo.set_dimension_size %a, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  return %0 : tensor<2x?xf32, #stablehlo.bounds<?, 3>>
}`
	const sliced = `HloModule d

ENTRY e {
  a = f32[4,2]{1,0} parameter(0)
  n = s32[] parameter(1)
  two = s32[] constant(2)
  ROOT p = f32[<=4,2]{1,0} custom-call(a, n, two), custom_call_target="SliceToDynamic"
}`
	const loop = `HloModule l, entry_computation_layout={()->s32[2]{0}}

body {
  pt = (s32[<=4,2]{1,0}) parameter(0)
  p = s32[<=4,2]{1,0} get-tuple-element(pt), index=0
  size = s32[] get-dimension-size(p), dimensions={0}
  one = s32[] constant(1)
  less = s32[] subtract(size, one)
  o = s32[<=4,2]{1,0} set-dimension-size(p, less), dimensions={0}
  ROOT r = (s32[<=4,2]{1,0}) tuple(o)
}

cond {
  st = (s32[<=4,2]{1,0}) parameter(0)
  sb = s32[<=4,2]{1,0} get-tuple-element(st), index=0
  ss = s32[] get-dimension-size(sb), dimensions={0}
  two = s32[] constant(2)
  ROOT gt = pred[] compare(ss, two), direction=GT
}

add {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT a = s32[] add(x, y)
}

ENTRY e {
  zero = s32[] constant(0)
  one = s32[] constant(1)
  padded = s32[4,2]{1,0} broadcast(one), dimensions={}
  four = s32[] constant(4)
  init = s32[<=4,2]{1,0} set-dimension-size(padded, four), dimensions={0}
  it = (s32[<=4,2]{1,0}) tuple(init)
  w = (s32[<=4,2]{1,0}) while(it), condition=cond, body=body
  buf = s32[<=4,2]{1,0} get-tuple-element(w), index=0
  ROOT red = s32[2]{0} reduce(buf, zero), dimensions={0}, to_apply=add
}`
	const twoValues = `func.func @main() -> tensor<2xi32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<4x2xi32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.set_dimension_size %one, %four, dim = 0 : (tensor<4x2xi32>, tensor<i32>) -> tensor<?x2xi32, #stablehlo.bounds<4, ?>>
  %2:2 = stablehlo.while(%x = %1, %i = %c) : tensor<?x2xi32, #stablehlo.bounds<4, ?>>, tensor<i32>
  cond {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xi32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %5 = stablehlo.compare GT, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xi32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
    %u = stablehlo.constant dense<1> : tensor<i32>
    %5 = stablehlo.subtract %n, %u : tensor<i32>
    %6 = stablehlo.set_dimension_size %x, %5, dim = 0 : (tensor<?x2xi32, #stablehlo.bounds<4, ?>>, tensor<i32>) -> tensor<?x2xi32, #stablehlo.bounds<4, ?>>
    %j = stablehlo.add %i, %u : tensor<i32>
    stablehlo.return %6, %j : tensor<?x2xi32, #stablehlo.bounds<4, ?>>, tensor<i32>
  }
  %3 = stablehlo.reduce(%2#0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<?x2xi32, #stablehlo.bounds<4, ?>>, tensor<i32>) -> tensor<2xi32>
  return %3 : tensor<2xi32>
}`
	const reshaped = `HloModule s

u {
  l = s32[] parameter(0)
  r = s32[] parameter(1)
  ROOT a = s32[] add(l, r)
}

ENTRY main {
  p = s32[2,4,4]{2,1,0} parameter(0)
  two = s32[] constant(2)
  d = s32[2,<=4,4]{2,1,0} set-dimension-size(p, two), dimensions={1}
  q = s32[<=16,2]{1,0} reshape(d), inferred_dimension=0
  z = s32[] constant(0)
  ROOT red = s32[] reduce(q, z), dimensions={0,1}, to_apply=u
}`
	const padded = `HloModule p

ENTRY e {
  a = f32[4,2]{1,0} parameter(0)
  n = s32[] parameter(1)
  two = s32[] constant(2)
  s = f32[<=4,2]{1,0} custom-call(a, n, two), custom_call_target="SliceToDynamic"
  t = f32[<=4,2]{1,0} add(s, s)
  p = (f32[4,2]{1,0}, s32[], s32[]) custom-call(t), custom_call_target="PadToStatic"
  v = f32[4,2]{1,0} get-tuple-element(p), index=0
  k = s32[] get-tuple-element(p), index=1
  d = f32[<=4,2]{1,0} set-dimension-size(v, k), dimensions={0}
  ROOT r = (s32[], f32[<=4,2]{1,0}) tuple(k, d)
}`
	const corner = `func.func @main(%a: tensor<4x3xf32>, %n: tensor<i32>, %m: tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<4, 3>> {
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.set_dimension_size %0, %m, dim = 1 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<4, 3>>
  return %1 : tensor<?x?xf32, #stablehlo.bounds<4, 3>>
}`
	events := map[string]string{} // of the engine, by test
	for i, test := range []struct {
		name, text string
		args       []*hlocb.Tensor
		want       string
	}{
		{"leading", leading, []*hlocb.Tensor{matrix(4, 2), scalar(3)}, "[3] i32[]; [0 2 4 6 8 10] f32[3 2]"},
		{"whole", leading, []*hlocb.Tensor{matrix(4, 2), scalar(4)}, "[4] i32[]; [0 2 4 6 8 10 12 14] f32[4 2]"},
		{"empty", leading, []*hlocb.Tensor{matrix(4, 2), scalar(0)}, "[0] i32[]; [] f32[0 2]"},
		{"minor", minor, []*hlocb.Tensor{matrix(2, 3), scalar(2)}, "[0 1 3 4] f32[2 2]"},
		{"SliceToDynamic", sliced, []*hlocb.Tensor{matrix(4, 2), scalar(3)}, "[0 1 2 3 4 5] f32[3 2]"},
		{"PadToStatic", padded, []*hlocb.Tensor{matrix(4, 2), scalar(3)}, "[3] i32[]; [0 2 4 6 8 10] f32[3 2]"},
		{"two dimensions", corner, []*hlocb.Tensor{matrix(4, 3), scalar(3), scalar(2)}, "[0 1 3 4 6 7] f32[3 2]"},
		{"loop", loop, nil, "[2 2] i32[2]"},
		{"loop of two values", twoValues, nil, "[2 2] i32[2]"},
		{"reshape", reshaped, []*hlocb.Tensor{box}, "[184] i32[]"},
	} {
		if !label.Part(i%3 == 0) {
			continue
		}
		for _, name := range []string{"engine", "cpu"} {
			t.Run(test.name+", "+name, func(t *testing.T) {
				b := open(t, name)
				p, err := hlocb.Parse(t.Context(), "m", []byte(test.text))
				if err != nil {
					t.Fatal(err)
				}
				exe, err := p.Compile(t.Context(), hlocb.OnBackend(b))
				if err != nil {
					t.Fatal(err)
				}
				defer exe.Close()
				out, err := exe.RunTensors(t.Context(), test.args)
				if err != nil {
					t.Fatal(err)
				}
				if got := described(out); got != test.want {
					t.Errorf("the results are %s, expected %s", got, test.want)
				}
				if got := described(onDevice(t, exe, test.args)); got != test.want {
					t.Errorf("the buffers are %s, expected %s", got, test.want)
				}
				seen := tapped(t, hlocb.OnBackend(b), test.text, test.args, test.want)
				if name == "engine" {
					events[test.name] = seen
				} else if diff := cmp.Diff(events[test.name], seen); diff != "" && test.name != "PadToStatic" { // the end is undefined
					t.Errorf("taps on the engine and here:\n%s", diff)
				}
			})
		}
	}
}

// tapped runs a program whose values are printed, counted or checked, and returns what the taps print.
func tapped(t *testing.T, b hlocb.CompileOption, text string, args []*hlocb.Tensor, want string) string {
	t.Helper()
	var seen strings.Builder
	for _, kind := range []string{"print", "stats", "finite"} {
		p, err := hlocb.Parse(t.Context(), "m", []byte(text), hlocb.Tap(".*="+kind, hlocb.Output(&seen)))
		if err != nil {
			t.Fatal(err)
		}
		exe, err := p.Compile(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exe.RunTensors(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		if got := described(out); got != want {
			t.Errorf("with taps of kind %s the results are %s, expected %s", kind, got, want)
		}
		exe.Close()
	}
	return seen.String()
}

// onDevice runs exe on buffers and returns what the buffers of the results hold.
func onDevice(t *testing.T, exe *hlocb.Executable, args []*hlocb.Tensor) []*hlocb.Tensor {
	t.Helper()
	var buffers []*hlocb.Buffer
	for i, a := range args {
		b, err := exe.Put(t.Context(), i, a)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		buffers = append(buffers, b)
	}
	results, err := exe.Execute(t.Context(), buffers, hlocb.ExecuteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*hlocb.Tensor
	for _, b := range results {
		if err := b.View(context.Background(), func(v *tensor.Tensor) error {
			if b.Type().String() != hook.TypeOf(v).String() {
				return fmt.Errorf("the buffer says %s and holds %s", b.Type(), hook.TypeOf(v))
			}
			out = append(out, v.Clone())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
	return out
}

// described returns the elements and types of tensors of i32 and f32.
func described(list []*hlocb.Tensor) string {
	var out []string
	for _, v := range list {
		elements := any(nil)
		switch v.DType() {
		case tensor.I32:
			elements = tensor.View[int32](v)
		case tensor.F32:
			elements = tensor.View[float32](v)
		}
		out = append(out, fmt.Sprintf("%v %s%v", elements, v.DType(), []int64(v.Shape())))
	}
	return strings.Join(out, "; ")
}

// TestRepairs: programs that XLA refuses, or computes otherwise than they say, have equal results on both backends.
func TestRepairs(t *testing.T) {
	call := func(name string) string {
		return fmt.Sprintf(`func.func @main(%%x: tensor<4xf32>) -> tensor<4xf32> {
  %%0 = stablehlo.custom_call @%s(%%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %%0 : tensor<4xf32>
}`, name)
	}
	random := func(typ string) string {
		return fmt.Sprintf(`func.func @main(%%x: tensor<4xf32>) -> (tensor<5x%s>, tensor<5xf32>) {
  %%s = stablehlo.constant dense<[5, 7]> : tensor<2xui64>
  %%o, %%r = stablehlo.rng_bit_generator %%s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x%[1]s>)
  %%f = stablehlo.convert %%r : (tensor<5x%[1]s>) -> tensor<5xf32>
  return %%r, %%f : tensor<5x%[1]s>, tensor<5xf32>
}`, typ)
	}
	texts := map[string]string{
		"erf_inv": call("mhlo.erf_inv"), "bessel_i1e": call("mhlo.bessel_i1e"),
		"placement": call("annotate_device_placement"), "to host": call("MoveToHost"), "to device": call("MoveToDevice"),
		"module flags": "module {\n  llvm.module_flags [#llvm.mlir.module_flag<warning, \"Debug Info Version\", 3 : i32>]\n" + call("mhlo.erf") + "\n}",
		"a tuple of TopK": `func.func @main(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = stablehlo.custom_call @TopK(%x) {called_computations = [@greater]} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xi32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xi32>
  return %1, %2 : tensor<2xf32>, tensor<2xi32>
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}`,
	}
	for name, body := range map[string]string{
		"a fusion in a fusion": `%0 = "mhlo.fusion"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = "mhlo.fusion"(%a) ({
    ^bb0(%b: tensor<4xf32>):
      %2 = mhlo.sine %b : tensor<4xf32>
      mhlo.return %2 : tensor<4xf32>
    }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = mhlo.add %1, %a : tensor<4xf32>
    mhlo.return %3 : tensor<4xf32>
  }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<4xf32>) -> tensor<4xf32>`,
		"a bitcast through layouts": `%1 = "mhlo.bitcast"(%x) {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<0> : tensor<1xindex>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %0 = "mhlo.bitcast"(%1) {result_layout = dense<0> : tensor<1xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<2x2xf32>) -> tensor<4xf32>`,
		"a domain and a dependency": `%t = mhlo.create_token : !mhlo.token
  %1 = mhlo.add_dependency %x, %t : (tensor<4xf32>, !mhlo.token) -> tensor<4xf32>
  %0 = "mhlo.domain"(%1) {kind = #mhlo<kind sharding>, entry_metadata = "", exit_metadata = ""} : (tensor<4xf32>) -> tensor<4xf32>`,
		"an asynchronous call": `%1 = "mhlo.async_start"(%x) {called_computation = @f, execution_thread = "main"} : (tensor<4xf32>) -> !mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>>
  %2 = "mhlo.async_update"(%1) : (!mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>>) -> !mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>>
  %0 = "mhlo.async_done"(%2) : (!mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>>) -> tensor<4xf32>`,
		"a resource": `%1 = stablehlo.constant dense_resource<w> : tensor<4xf32>
  %0 = stablehlo.add %x, %1 : tensor<4xf32>`,
	} {
		texts[name] = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  " + body + `
  return %0 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {execution_thread = "main"} {
  %0 = mhlo.sine %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F0000C0BF0000003F00000040" } } #-}`
	}
	for _, typ := range []string{"i8", "i16", "i32", "i64", "f32", "f64", "bf16", "f16"} {
		texts["random "+typ] = random(typ)
	}
	x := tensor.New(tensor.F32, tensor.Shape{4})
	copy(tensor.View[float32](x), []float32{-0.5, 0.25, 0.75, 0.125})
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			var first []*hlocb.Tensor
			for _, backend := range []string{"engine", "cpu"} {
				p, err := hlocb.Parse(t.Context(), "m", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				exe, err := p.Compile(t.Context(), hlocb.OnBackend(open(t, backend)))
				if err != nil {
					t.Fatal(err)
				}
				defer exe.Close()
				out, err := exe.RunTensors(t.Context(), []*hlocb.Tensor{x})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = out
					continue
				}
				for i, v := range out {
					if hook.TypeOf(v).String() != hook.TypeOf(first[i]).String() || !alike(v, first[i]) {
						t.Errorf("result %d is %v on %s and %v on the engine", i, v, backend, first[i])
					}
				}
			}
		})
	}
}

// alike reports whether the bytes are equal, or f32 elements differ by less than a millionth.
func alike(a, b *hlocb.Tensor) bool {
	if a.DType() != tensor.F32 {
		return string(a.Bytes()) == string(b.Bytes())
	}
	u, v := tensor.View[float32](a), tensor.View[float32](b)
	for i := range u {
		d := u[i] - v[i]
		if !(d < 1e-6 && d > -1e-6) && u[i] != v[i] && !(u[i] != u[i] && v[i] != v[i]) {
			return false
		}
	}
	return true
}
