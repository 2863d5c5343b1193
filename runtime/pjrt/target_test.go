//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestTargets: the host computes custom-call targets of a program on any memory. A result in an operand's memory starts
// with the operand's value, another one with zeros.
func TestTargets(t *testing.T) {
	b, err := Open(cpuPlugin(t), Options{Targets: func(name string) (Target, error) {
		if name != "test_add" {
			return nil, nil
		}
		return func(c *TargetCall) error {
			if c.Attrs["fail"] != 0 {
				return errors.New("told to fail")
			}
			x, same, other := tensor.View[float32](c.Operands[0]), tensor.View[float32](c.Results[0]), tensor.View[float32](c.Results[1])
			for i := range x {
				other[i] += x[i] + 1
			}
			for i := range same {
				same[i] += 10
			}
			return nil
		}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, c := range []struct{ fail, want string }{{"false", "tensor<3xf32> [11 12 13] tensor<3xf32> [2 3 4]"}, {"true", ""}} {
		p := program("(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)", `
%r:2 = stablehlo.custom_call @test_add(%x) {api_version = 4 : i32, backend_config = {fail = `+c.fail+`}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
`)
		e, err := b.Compile(context.Background(), p, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		out, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{3}, 1, 2, 3)})
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "told to fail") {
				t.Errorf("error is %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := listing(out[0]) + " " + listing(out[1]); got != c.want {
			t.Errorf("results are %s, expected %s", got, c.want)
		}
	}
}
