package ops_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

// raggedScript computes ragged products with the code that JAX uses on platforms whose compiler lacks them.
const raggedScript = `
import json, sys, numpy as np, jax
jax.config.update('jax_enable_x64', True)
from jax import lax
import ml_dtypes
out = []
for c in json.load(sys.stdin):
    dt = {'f32': np.float32, 'f64': np.float64, 'bf16': ml_dtypes.bfloat16}[c['Type']]
    x, y = [np.frombuffer(bytes.fromhex(c[k]), dt).reshape(c[k + 'Shape']) for k in ('LHS', 'RHS')]
    gs = np.array(c['Sizes'], np.int32).reshape(c['SizesShape'])
    d = lax.RaggedDotDimensionNumbers(dot_dimension_numbers=((c['LC'], c['RC']), (c['LB'], c['RB'])), lhs_ragged_dimensions=[c['Ragged']], rhs_group_dimensions=c['Group'])
    out.append(np.asarray(lax.ragged_dot_general(x, y, gs, d)).tobytes().hex())
json.dump(out, sys.stdout)
`

type raggedCase struct {
	name                           string
	Type, LHS, RHS                 string
	LHSShape, RHSShape, SizesShape []int64
	Sizes                          []int64
	LC, RC, LB, RB, Group          []int64
	Ragged                         int64
	result                         []int64
}

// TestRaggedDot compares ragged products of all three kinds with JAX's, with group sizes for the whole product and with
// group sizes for each batch.
func TestRaggedDot(t *testing.T) {
	peer.Each(t, label.Part, checkRaggedDot)
}

func checkRaggedDot(t *testing.T, python *peer.Interpreter) {
	none := []int64{}
	kinds := []raggedCase{
		{name: "rows", LHSShape: []int64{11, 5}, RHSShape: []int64{3, 5, 7}, SizesShape: []int64{3}, Sizes: []int64{4, 0, 5},
			LC: []int64{1}, RC: []int64{1}, LB: none, RB: none, Group: []int64{0}, result: []int64{11, 7}},
		{name: "rows in batches", LHSShape: []int64{2, 11, 5}, RHSShape: []int64{3, 5, 2, 7}, SizesShape: []int64{2, 3}, Sizes: []int64{4, 2, 5, 1, 9, 1},
			LC: []int64{2}, RC: []int64{1}, LB: []int64{0}, RB: []int64{2}, Ragged: 1, Group: []int64{0}, result: []int64{2, 11, 7}},
		{name: "rows after rows", LHSShape: []int64{2, 11, 5}, RHSShape: []int64{5, 3, 7}, SizesShape: []int64{2, 3}, Sizes: []int64{4, 2, 5, 1, 9, 1},
			LC: []int64{2}, RC: []int64{0}, LB: none, RB: none, Ragged: 1, Group: []int64{1}, result: []int64{2, 11, 7}},
		{name: "contracted", LHSShape: []int64{4, 9}, RHSShape: []int64{9, 6}, SizesShape: []int64{3}, Sizes: []int64{2, 3, 4},
			LC: []int64{1}, RC: []int64{0}, LB: none, RB: none, Ragged: 1, Group: none, result: []int64{3, 4, 6}},
		{name: "contracted in batches", LHSShape: []int64{2, 4, 9}, RHSShape: []int64{2, 9, 6}, SizesShape: []int64{2, 3}, Sizes: []int64{2, 3, 4, 9, 0, 0},
			LC: []int64{2}, RC: []int64{1}, LB: []int64{0}, RB: []int64{0}, Ragged: 2, Group: none, result: []int64{3, 2, 4, 6}},
		{name: "batches", LHSShape: []int64{6, 4, 5}, RHSShape: []int64{6, 5, 3}, SizesShape: []int64{3}, Sizes: []int64{1, 2, 3},
			LC: []int64{2}, RC: []int64{1}, LB: []int64{0}, RB: []int64{0}, Group: none, result: []int64{6, 4, 3}},
	}
	rng := rand.New(rand.NewPCG(31, 31))
	var cases []raggedCase
	var texts []string
	for _, dt := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F64} {
		for _, c := range kinds {
			// Sums of small integers are exact in any order.
			operand := func(shape []int64) *tensor.Tensor {
				x := tensor.New(dt, shape)
				for i := range x.NumElements() {
					x.SetFloat(i, float64(rng.IntN(7)-3))
				}
				return x
			}
			x, y, s := operand(c.LHSShape), operand(c.RHSShape), tensor.New(tensor.I32, c.SizesShape)
			kernel.EncodeInt(tensor.I32, s, 0, c.Sizes)
			c.Type, c.LHS, c.RHS = dt.String(), fmt.Sprintf("%x", x.Bytes()), fmt.Sprintf("%x", y.Bytes())
			list := func(v []int64) []byte { b, _ := json.Marshal(v); return b }
			attr := fmt.Sprintf("ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "+
				"lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s, lhs_ragged_dimensions = [%d], rhs_group_dimensions = %s>",
				list(c.LB), list(c.RB), list(c.LC), list(c.RC), c.Ragged, list(c.Group))
			cases = append(cases, c)
			texts = append(texts, oneOp("chlo.ragged_dot", attr, "", []*tensor.Tensor{x, y, s}, kernel.TensorType(dt, c.result...).String()))
		}
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(python.Run(t, raggedScript, in), &want); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		out, err := tryRun(t, texts[i])
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.Type, err)
			continue
		}
		if got := fmt.Sprintf("%x", out[0].Bytes()); got != want[i] {
			t.Errorf("%s %s:\n%s\nJAX has\n%s", c.name, c.Type, got, want[i])
		}
	}
}

// TestRaggedDotKeepsGroupsApart: infinities in one group's matrix do not reach the rows of another group.
func TestRaggedDotKeepsGroupsApart(t *testing.T) {
	out := run(t, `func.func @main() -> tensor<3x1xf32> {
  %x = stablehlo.constant dense<1.0> : tensor<3x2xf32>
  %y = stablehlo.constant dense<[[[0x7F800000], [1.0]], [[2.0], [3.0]]]> : tensor<2x2x1xf32>
  %n = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %r = "chlo.ragged_dot"(%x, %y, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}`)
	if got := string(out[0].AppendLiteral(nil, 10)); got != "dense<[[0x7F800000], [5.000000e+00], [0.000000e+00]]> : tensor<3x1xf32>" {
		t.Error(got)
	}
}
