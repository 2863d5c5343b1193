//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// TestTargetCalls: a target gets the values of a call, nil for tokens, and the attributes that are integers or truth
// values. Its errors and panics end the run. A target that the options refuse refuses the program.
func TestTargetCalls(t *testing.T) {
	for _, memory := range []DeviceMemory{hostMemory{}, remote{}} {
		var mu sync.Mutex
		var got []string
		suffix := fmt.Sprintf("_%t", memory.Readable()) // a target of a name stays for the process
		asked := map[string]int{}
		b, err := Open(cpuPlugin(t), Options{Targets: func(name string) (Target, error) {
			asked[name]++
			switch strings.TrimSuffix(name, suffix) {
			case "test_refused":
				return nil, errMine
			case "test_values":
				return func(c *TargetCall) error {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, fmt.Sprint(listing(c.Operands[0]), " ", c.Operands[1] == nil, " ", listing(c.Results[0]), " ", c.Results[1] == nil, " ", c.Attrs))
					c.Results[0].SetInt(0, 5)
					return nil
				}, nil
			case "test_panic":
				return func(*TargetCall) error { panic("here") }, nil
			case "test_error":
				return func(*TargetCall) error { return errMine }, nil
			}
			return nil, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		client, err := b.Client()
		if err != nil {
			t.Fatal(err)
		}
		client.memory = memory
		call := func(result, target, config string) string {
			return result + " = stablehlo.custom_call @" + target + suffix + "(%x, %t) {api_version = 4 : i32, backend_config = {" + config + "}} : (tensor<3xi4>, !stablehlo.token) -> (tensor<2x3xi4>, !stablehlo.token)\n"
		}
		x := tensor.New(tensor.I4, tensor.Shape{3})
		for i := range 3 {
			x.SetInt(i, int64(-i))
		}
		for _, c := range []struct{ target, config, want string }{
			{"test_values", `a = -2 : i64, b = 3 : i8, c = true, d = false, e = 7 : ui32, f = 1.5 : f32, g = "text", h = array<i64: 1>`, "tensor<2x3xi4> [5 0 0 0 0 0]"},
			{"test_panic", "", "here"},
			{"test_error", "", errMine.Error()},
			{"test_refused", "", errMine.Error()},
		} {
			body := "%t = stablehlo.create_token : !stablehlo.token\n" + call("%r:2", c.target, c.config) + call("%s:2", c.target, c.config) + "return %r#0, %s#0 : tensor<2x3xi4>, tensor<2x3xi4>\n"
			e, err := b.Compile(context.Background(), program("(%x: tensor<3xi4>) -> (tensor<2x3xi4>, tensor<2x3xi4>)", body), runtime.CompileOptions{})
			var out []*tensor.Tensor
			if err == nil {
				out, err = e.Run(context.Background(), []*tensor.Tensor{x})
				e.Close()
			}
			result := fmt.Sprint(err)
			if err == nil {
				if result = listing(out[1]); result != listing(out[0]) {
					t.Errorf("%s: results differ: %s", c.target, listing(out[0]))
				}
			}
			if !strings.Contains(result, c.want) {
				t.Errorf("%s: %s, expected %s", c.target, result, c.want)
			}
			if n := asked[c.target+suffix]; n != 1 {
				t.Errorf("%s: asked %d times", c.target, n)
			}
		}
		one := "tensor<3xi4> [0 -1 -2] true tensor<2x3xi4> [0 0 0 0 0 0] true map[a:-2 b:3 c:1 d:0 e:7]"
		if want := fmt.Sprint([]string{one}); fmt.Sprint(got) != want { // XLA merges the two calls
			t.Errorf("the target got %v, expected %s", got, want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTargetInPlace: a result in an operand's memory starts with the operand's value, however small it is and if XLA
// packs it.
func TestTargetInPlace(t *testing.T) {
	for _, memory := range []DeviceMemory{hostMemory{}, remote{}} {
		name := fmt.Sprintf("test_in_place_%t", memory.Readable())
		b, err := Open(cpuPlugin(t), Options{Targets: func(asked string) (Target, error) {
			if asked != name {
				return nil, nil
			}
			return func(c *TargetCall) error {
				c.Results[0].SetInt(0, c.Results[0].IntAt(0)+1)
				return nil
			}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		client, err := b.Client()
		if err != nil {
			t.Fatal(err)
		}
		client.memory = memory
		for _, x := range []struct {
			d     tensor.DType
			shape tensor.Shape
			want  string
		}{{tensor.I8, tensor.Shape{}, "[4]"}, {tensor.I4, tensor.Shape{3}, "[4 3 3]"}, {tensor.I64, tensor.Shape{2}, "[4 3]"}} {
			typ := tt(x.d, x.shape...).String()
			e, err := b.Compile(context.Background(), program("(%x: "+typ+") -> "+typ, "%r = stablehlo.custom_call @"+name+
				"(%x) {api_version = 4 : i32, backend_config = {}"+firstAlias+"} : ("+typ+") -> "+typ+"\nreturn %r : "+typ+"\n"), runtime.CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			arg := tensor.New(x.d, x.shape)
			for i := range arg.NumElements() {
				arg.SetInt(int(i), 3)
			}
			out, err := e.Run(context.Background(), []*tensor.Tensor{arg})
			if want := typ + " " + x.want; err != nil || listing(out[0]) != want {
				t.Errorf("%v, expected %s: %v", out, want, err)
			}
			e.Close()
		}
		b.Close()
	}
}
