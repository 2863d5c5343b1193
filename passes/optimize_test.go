package passes_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// optimize returns the text of a module's ops after a pipeline.
func optimize(t *testing.T, pipeline, text string) string {
	t.Helper()
	m := testkit.Parse(t, "in.mlir", text)
	p, err := pass.Parse(pipeline, passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 20), ParseType: parseType}))
	if err != nil {
		t.Fatal(err)
	}
	if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), p); err != nil {
		return "error: " + err.Error()
	}
	lines := strings.Split(strings.TrimSpace(print.String(m, print.Options{})), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines[1:len(lines)-1], "\n")
}

func parseType(m *ir.Module, text string) (ir.Type, error) {
	return parse.Type(diag.NewSource("option", []byte(text)), m.Context())
}

// dynamic is a program of dynamic shapes, with a call.
const dynamic = `
func.func private @scale(%x: tensor<?x4xf32>, %s: tensor<f32>, %n: tensor<2xi32>) -> tensor<?x4xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %n, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @f(%x: tensor<?x4xf32>, %n: tensor<i32>, %s: tensor<f32>) -> (tensor<?x4xf32>, tensor<i32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.constant dense<4> : tensor<1xi32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %4 = call @scale(%x, %s, %3) : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %5 = stablehlo.add %0, %n : tensor<i32>
  return %4, %5 : tensor<?x4xf32>, tensor<i32>
}`

// tuples is a program with tuples, nested and empty ones.
const tuples = `
func.func private @g(%t: tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> (tensor<i32>, tuple<>) {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> tensor<i32>
  %1 = stablehlo.tuple : tuple<>
  return %0, %1 : tensor<i32>, tuple<>
}
func.func @f(%a: tensor<i32> {jax.arg_info = "a"}, %b: tuple<tensor<f32>, tensor<i1>>) -> tuple<tensor<f32>, tensor<i1>> {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>
  %1:2 = call @g(%0) : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> (tensor<i32>, tuple<>)
  %2 = stablehlo.custom_call @two(%0, %1#0) : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>, tensor<i32>) -> tuple<tensor<f32>, tensor<i1>>
  "u.seen"(%b, %1#0) : (tuple<tensor<f32>, tensor<i1>>, tensor<i32>) -> ()
  return %2 : tuple<tensor<f32>, tensor<i1>>
}`

// loop is a program with a loop of two trips, a function, and values that nothing needs.
const loop = `
func.func private @g(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.add %a, %a : tensor<f32>
  %1 = stablehlo.multiply %b, %b : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %w:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<f32>, tensor<f32>
   cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.sine %x : tensor<f32>
    %d = stablehlo.subtract %b, %s : tensor<f32>
    %e:2 = func.call @g(%a, %d) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    stablehlo.return %j, %e#0, %e#1 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %w#1 : tensor<f32>
}`

// tap is a function with a raised hook, called twice.
const tap = `
func.func private @f(%x: tensor<f32>) {
  "hlocb.hook"(%x) <{aliases = array<i64>, format = "jax", has_side_effect, id = 7 : i64, kind = "tap", name = "loss"}> : (tensor<f32>) -> ()
  return
}
func.func @main(%x: tensor<f32>) {
  call @f(%x) : (tensor<f32>) -> ()
  call @f(%x) : (tensor<f32>) -> ()
  return
}`

// foreign is a similar program with a hook that is not raised.
const foreign = `
func.func private @f(%x: tensor<f32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %o = "stablehlo.outfeed"(%x, %t) <{outfeed_config = "loss"}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}
func.func @main(%x: tensor<f32>) {
  call @f(%x) : (tensor<f32>) -> ()
  return
}`

// TestOptimize runs passes on small programs.
func TestOptimize(t *testing.T) {
	for _, c := range []struct{ name, pipeline, in, want string }{
		{"dce", "dce", loop, `func.func private @g(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %c_0 = stablehlo.constant dense<1> : tensor<i32>
  %c_1 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%iterArg = %c_1, %iterArg_2 = %arg0) : tensor<i32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %iterArg, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg, %c_0 : tensor<i32>
    %2 = func.call @g(%iterArg_2) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}`},
		{"unroll", "unroll-loops,inline,dce", loop, `func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
  %1 = stablehlo.add %0, %0 : tensor<f32>
  return %1 : tensor<f32>
}`},
		{"specialize", "specialize{args={dense<1.5> : tensor<f32>}},unroll-loops,func.func(optimize)", loop, `func.func @main() -> tensor<f32> {
  %cst = stablehlo.constant dense<6.000000e+00> : tensor<f32>
  return %cst : tensor<f32>
}`},
		{"specialize for shapes", "specialize{function=f args={tensor<2x4xf32>; dense<3> : tensor<i32>}}", dynamic, `func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<f32>) -> (tensor<2x4xf32>, tensor<i32>) {
  %c = stablehlo.constant dense<5> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
  %1 = stablehlo.multiply %arg0, %0 : tensor<2x4xf32>
  return %1, %c : tensor<2x4xf32>, tensor<i32>
}`},
		{"specialize for a value of a dynamic shape", "specialize{function=f args={dense<3.0> : tensor<1x4xf32>; _; dense<2.0> : tensor<f32>}}", dynamic, `func.func @f(%arg0: tensor<i32>) -> (tensor<1x4xf32>, tensor<i32>) {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %cst = stablehlo.constant dense<6.000000e+00> : tensor<1x4xf32>
  %0 = stablehlo.add %arg0, %c : tensor<i32>
  return %cst, %0 : tensor<1x4xf32>, tensor<i32>
}`},
		{"a shape that does not fit", "specialize{function=f args={tensor<2x5xf32>}}", dynamic,
			"error: in.mlir:7:1: error: argument 0 of @f is of type 'tensor<?x4xf32>', but the value given is of type 'tensor<2x5xf32>'"},
		{"no type", "specialize{function=f args={tensor<2x>}}", dynamic, "error: argument 0 of @f: invalid type tensor<2x>"},
		{"flatten tuples", "flatten-tuples", tuples, `func.func private @g(%arg0: tensor<i32>, %arg1: tensor<f32>, %arg2: tensor<i1>) -> tensor<i32> {
  return %arg0 : tensor<i32>
}
func.func @f(%arg0: tensor<i32> {jax.arg_info = "a"}, %arg1: tensor<f32>, %arg2: tensor<i1>) -> (tensor<f32>, tensor<i1>) {
  %0 = call @g(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<f32>, tensor<i1>) -> tensor<i32>
  %1 = stablehlo.tuple %arg1, %arg2 : tuple<tensor<f32>, tensor<i1>>
  %2 = stablehlo.tuple %arg0, %1 : tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>
  %3 = stablehlo.custom_call @two(%2, %0) : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>, tensor<i32>) -> tuple<tensor<f32>, tensor<i1>>
  %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<f32>, tensor<i1>>) -> tensor<f32>
  %5 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<f32>, tensor<i1>>) -> tensor<i1>
  %6 = stablehlo.tuple %arg1, %arg2 : tuple<tensor<f32>, tensor<i1>>
  "u.seen"(%6, %0) : (tuple<tensor<f32>, tensor<i1>>, tensor<i32>) -> ()
  return %4, %5 : tensor<f32>, tensor<i1>
}`},
		{"a tuple with attributes", "flatten-tuples", strings.Replace(tuples, "i1>>)", "i1>> {jax.arg_info = \"t\"})", 1),
			"error: in.mlir:7:1: error: argument 1 is a tuple with attributes, which its elements cannot have"},
		{"too many values", "bind-arguments{args={dense<1.5> : tensor<f32>; _}}", loop, "error: in.mlir:7:1: error: @main has 1 arguments, but 2 values are given"},
		{"wrong type", "bind-arguments{args={dense<1.5> : tensor<f64>}}", loop,
			"error: in.mlir:7:1: error: argument 0 of @main is of type 'tensor<f32>', but the value given is of type 'tensor<f64>'"},
		{"no function", "isolate-function{function=h}", loop, "error: the module has no function @h"},
		{"isolate", "isolate-function{function=g}", loop, `func.func @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
  %1 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}`},
		{"a hook is copied with its name and id", "inline", tap, `func.func @main(%arg0: tensor<f32>) {
  "hlocb.hook"(%arg0) <{aliases = array<i64>, format = "jax", has_side_effect, id = 7 : i64, kind = "tap", name = "loss"}> : (tensor<f32>) -> ()
  "hlocb.hook"(%arg0) <{aliases = array<i64>, format = "jax", has_side_effect, id = 7 : i64, kind = "tap", name = "loss"}> : (tensor<f32>) -> ()
  return
}`},
		{"the function of a hook that is not raised stays", "inline", foreign, `func.func private @f(%arg0: tensor<f32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = "stablehlo.outfeed"(%arg0, %0) <{outfeed_config = "loss"}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}
func.func @main(%arg0: tensor<f32>) {
  call @f(%arg0) : (tensor<f32>) -> ()
  return
}`},
		{"unknown ops and hooks stay where they are", "canonicalize,cse,dce,loop-invariant-code-motion", `func.func @main(%x: tensor<f32>) {
  %0 = "other.op"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "other.op"(%x) : (tensor<f32>) -> tensor<f32>
  return
}`, `func.func @main(%arg0: tensor<f32>) {
  %0 = "other.op"(%arg0) : (tensor<f32>) -> tensor<f32>
  %1 = "other.op"(%arg0) : (tensor<f32>) -> tensor<f32>
  return
}`},
		{"a loop computes once what does not change", "func.func(loop-invariant-code-motion)", `func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %w = stablehlo.while(%a = %x) : tensor<f32>
   cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.sine %x : tensor<f32>
    %h = stablehlo.custom_call @host(%x) : (tensor<f32>) -> tensor<f32>
    %d = stablehlo.subtract %h, %s : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }
  return %w : tensor<f32>
}`, `func.func @main(%arg0: tensor<f32>, %arg1: tensor<i1>) -> tensor<f32> {
  %0 = stablehlo.sine %arg0 : tensor<f32>
  %1 = stablehlo.while(%iterArg = %arg0) : tensor<f32>
  cond {
    stablehlo.return %arg1 : tensor<i1>
  } do {
    %2 = stablehlo.custom_call @host(%arg0) : (tensor<f32>) -> tensor<f32>
    %3 = stablehlo.subtract %2, %0 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %1 : tensor<f32>
}`},
		{"constants go through calls and branches", "sccp,symbol-dce", `func.func private @f(%n: tensor<i32>) -> tensor<i32> {
  return %n : tensor<i32>
}
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %t = stablehlo.constant dense<true> : tensor<i1>
  %0 = call @f(%c) : (tensor<i32>) -> tensor<i32>
  %1 = "stablehlo.if"(%t) ({ stablehlo.return %0 : tensor<i32> }, { stablehlo.return %x : tensor<i32> }) : (tensor<i1>) -> tensor<i32>
  return %1 : tensor<i32>
}`, `func.func private @f(%arg0: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  return %c : tensor<i32>
}
func.func @main(%arg0: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<true> : tensor<i1>
  %c_0 = stablehlo.constant dense<1> : tensor<i32>
  %0 = call @f(%c_0) : (tensor<i32>) -> tensor<i32>
  return %c_0 : tensor<i32>
}`},
		{"tokens", "func.func(token-cleanup)", `func.func @main(%a: !stablehlo.token, %b: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %a, %0 : !stablehlo.token
  %2 = stablehlo.after_all %1, %b, %a : !stablehlo.token
  return %2 : !stablehlo.token
}`, `func.func @main(%arg0: !stablehlo.token, %arg1: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.after_all %arg0, %arg1 : !stablehlo.token
  return %0 : !stablehlo.token
}`},
		{"a NaN is not folded away", "func.func(stablehlo-target-independent-optimization)", `func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %z : tensor<f32>
  %1 = stablehlo.subtract %x, %x : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}`, `func.func @main(%arg0: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.multiply %arg0, %cst : tensor<f32>
  %1 = stablehlo.subtract %arg0, %arg0 : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, optimize(t, c.pipeline, c.in)); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.pipeline, d)
			}
		})
	}
}

// TestOutline outlines regions; inlining brings them back.
func TestOutline(t *testing.T) {
	out := optimize(t, "outline-regions{min-ops=1}", loop)
	if n := strings.Count(out, "func.func private @main_region"); n != 2 {
		t.Errorf("%d functions, want 2:\n%s", n, out)
	}
	if d := cmp.Diff(optimize(t, "inline", loop), optimize(t, "outline-regions{min-ops=1},inline", loop)); d != "" {
		t.Errorf("inlining does not bring the regions back (-want +got):\n%s", d)
	}
}

// TestIdempotent runs each idempotent pass a second time over the modules of testdata: nothing changes.
func TestIdempotent(t *testing.T) {
	texts := testkit.Texts(t, "*/*.mlir", "*.mlir")
	idempotent := 0
	for _, p := range passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 20)}).Passes() {
		if !p.Info().Idempotent {
			continue
		}
		idempotent++
		if p.Info().Anchor != "" {
			p = pass.On(p.Info().Anchor, p)
		}
		for path, text := range texts {
			m, err := testkit.TryParse(path, text)
			if err != nil || ir.Verify(m) != nil {
				continue
			}
			var out [2]string
			for i := range out {
				err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), pass.Pipeline{p})
				if err != nil && i == 0 {
					break // a module that the pass refuses
				}
				if err != nil {
					t.Errorf("%s on its result for %s: %v", pass.Text(p), path, err)
				}
				out[i] = print.String(m, print.Options{})
			}
			if d := cmp.Diff(out[0], out[1]); d != "" {
				t.Errorf("%s on %s (-once +twice):\n%s", pass.Text(p), path, d)
			}
		}
	}
	if idempotent < 10 {
		t.Errorf("only %d passes say that they are idempotent", idempotent)
	}
}
