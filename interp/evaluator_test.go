package interp

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

var _ rewrite.Evaluator = (*Evaluator)(nil)

// TestEvaluator: the evaluator computes each op of @main as a run of @main does.
func TestEvaluator(t *testing.T) {
	const text = `func.func @main() -> (tensor<2x3xf32>, tensor<3xf32>, tensor<6xf32>, tensor<i32>, tensor<3xi32>) {
  %x = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %z = stablehlo.constant dense<1.5> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.multiply %x, %b : tensor<2x3xf32>
  %r = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %f = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %w = stablehlo.while(%i = %n) : tensor<i32>
    cond {
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %lt = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    } do {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %next = stablehlo.add %i, %two : tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
  %k = stablehlo.constant dense<[3, 1, 2]> : tensor<3xi32>
  %s = "stablehlo.sort"(%k) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %lt = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %lt : tensor<i1>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %m, %r, %f, %w, %s : tensor<2x3xf32>, tensor<3xf32>, tensor<6xf32>, tensor<i32>, tensor<3xi32>
}`
	want := run(t, text)
	e := NewEvaluator(0)
	values := map[*ir.Value]*tensor.Tensor{}
	for op := range testkit.Parse(t, "test.mlir", []byte(text)).Body().First().Region(0).Entry().Ops() {
		var in []*tensor.Tensor
		for _, v := range op.Operands() {
			in = append(in, values[v])
		}
		if op.Has(ir.ReturnLike) {
			for i, got := range in {
				if !bytes.Equal(got.Bytes(), want[i].Bytes()) || !got.Shape().Equal(want[i].Shape()) {
					t.Errorf("result %d is %x, not %x", i, got.Bytes(), want[i].Bytes())
				}
			}
			break
		}
		before := make([][]byte, len(in))
		for i, x := range in {
			before[i] = bytes.Clone(x.Bytes())
		}
		out, err := e.Evaluate(context.Background(), op, in)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range op.Results() {
			values[v] = out[i]
			for k := range out[i].Bytes() { // results share nothing with operands
				out[i].Bytes()[k] ^= 1
			}
			for j, x := range in {
				if !bytes.Equal(x.Bytes(), before[j]) {
					t.Errorf("%s: operand %d changes with result %d", op.Name(), j, i)
				}
			}
			for k := range out[i].Bytes() {
				out[i].Bytes()[k] ^= 1
			}
		}
	}
}

// TestEvaluatorRefuses: the evaluator refuses ops whose results depend on more than their operands, and ops that exceed
// its memory limit.
func TestEvaluatorRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`%r = stablehlo.replica_id : tensor<ui32>`:                           "not supported",
		`%r = mhlo.xla.rng_get_and_update_state {delta = 1 : i64}`:           "not supported",
		`%r = call @main() : () -> tensor<f32>`:                              "not supported",
		`%r = "unknown.op"() : () -> tensor<f32>`:                            "not supported",
		`%r = stablehlo.iota dim = 0 : tensor<100000xf32>`:                   "memory limit",
		`%r = stablehlo.create_token : !stablehlo.token`:                     "not supported",
		`%r = "stablehlo.iota"() {iota_dimension = 3} : () -> tensor<2xf32>`: "iota",
	} {
		m := testkit.Parse(t, "test.mlir", []byte("func.func @main() -> tensor<f32> {\n"+text+"\n%z = stablehlo.constant dense<0.0> : tensor<f32>\nreturn %z : tensor<f32>\n}"))
		_, err := NewEvaluator(1000).Evaluate(context.Background(), m.Body().First().Region(0).Entry().First(), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	const loop = `func.func @main(%i: tensor<i32>) -> tensor<i32> {
  %w = stablehlo.while(%j = %i) : tensor<i32>
    cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      stablehlo.return %j : tensor<i32>
    }
  return %w : tensor<i32>
}`
	m := testkit.Parse(t, "test.mlir", []byte(loop))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := NewEvaluator(0).Evaluate(ctx, m.Body().First().Region(0).Entry().First(), []*tensor.Tensor{tensor.New(tensor.I32, nil)})
	if err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("a cancelled loop ends with %v", err)
	}
}
