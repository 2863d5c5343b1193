package ops_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

const einsumScript = `
import json, sys, numpy as np
json.dump([np.einsum(c['Config'], *[np.array(v, np.int64).reshape(s) for v, s in zip(c['Values'], c['Shapes'])]).ravel().tolist()
           for c in json.load(sys.stdin)], sys.stdout)
`

// TestEinsumAgainstNumpy compares random einsums of one and two operands with numpy. Some have diagonals, some have
// labels that are summed in one operand only.
func TestEinsumAgainstNumpy(t *testing.T) {
	peer.Each(t, label.Part, checkEinsumAgainstNumpy)
}

func checkEinsumAgainstNumpy(t *testing.T, python *peer.Interpreter) {
	type einsumCase struct {
		Config string
		Values [][]int64
		Shapes [][]int64
	}
	rng := rand.New(rand.NewPCG(5, 5))
	size := map[byte]int64{'a': 2, 'b': 3, 'c': 1, 'd': 4, 'e': 2}
	var cases []einsumCase
	var texts []string
	for range 150 {
		var c einsumCase
		var operands []*tensor.Tensor
		used := map[byte]bool{}
		for k := range 1 + rng.IntN(2) {
			if k > 0 {
				c.Config += ","
			}
			shape := []int64{}
			for range rng.IntN(4) {
				l := "abcde"[rng.IntN(5)]
				used[l] = true
				c.Config += string(l)
				shape = append(shape, size[l])
			}
			x := tensor.New(tensor.I64, shape)
			v := make([]int64, x.NumElements())
			for i := range v {
				v[i] = int64(rng.IntN(9) - 4)
			}
			kernel.EncodeInt(tensor.I64, x, 0, v)
			c.Values, c.Shapes, operands = append(c.Values, v), append(c.Shapes, shape), append(operands, x)
		}
		c.Config += "->"
		result := []int64{}
		for _, i := range rng.Perm(5) {
			if l := "abcde"[i]; used[l] && rng.IntN(3) > 0 {
				c.Config += string(l)
				result = append(result, size[l])
			}
		}
		op := "stablehlo.einsum"
		if len(operands) == 1 {
			op = "stablehlo.unary_einsum"
		}
		cases = append(cases, c)
		texts = append(texts, oneOp(op, fmt.Sprintf("einsum_config = %q", c.Config), "", operands, kernel.TensorType(tensor.I64, result...).String()))
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	var want [][]int64
	if err := json.Unmarshal(python.Run(t, einsumScript, in), &want); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		out, err := tryRun(t, texts[i])
		if err != nil {
			t.Errorf("%s: %v", c.Config, err)
		} else if got := tensor.View[int64](out[0]); !slices.Equal(got, want[i]) {
			t.Errorf("%s of %v: %v, numpy has %v", c.Config, c.Shapes, got, want[i])
		}
	}
}

func TestEinsum(t *testing.T) {
	out := run(t, `func.func @main() -> (tensor<2x2xi32>, tensor<2xi32>) {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>
  %r = stablehlo.einsum %a, %b, config = "ab,bc->ca" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  %s = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<2x3xi32>) -> tensor<2xi32>
  return %r, %s : tensor<2x2xi32>, tensor<2xi32>
}`)
	if got, want := tensor.View[int32](out[0]), []int32{4, 10, 5, 11}; !slices.Equal(got, want) {
		t.Errorf("einsum gives %v, want %v", got, want)
	}
	if got, want := tensor.View[int32](out[1]), []int32{6, 15}; !slices.Equal(got, want) {
		t.Errorf("unary_einsum gives %v, want %v", got, want)
	}
}

func TestAsync(t *testing.T) {
	out := run(t, `func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<2xi32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
    "stablehlo.return"(%y) : (tensor<2xi32>) -> ()
  }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}`, func() *tensor.Tensor {
		x := tensor.New(tensor.I32, tensor.Shape{2})
		copy(tensor.View[int32](x), []int32{3, 4})
		return x
	}())
	if got := tensor.View[int32](out[0]); !slices.Equal(got, []int32{3, 4}) {
		t.Errorf("got %v", got)
	}
}
