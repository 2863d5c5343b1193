//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestRequestsAreChecked: a request that no plugin can serve is an error that says it, before the plugin gets it.
func TestRequestsAreChecked(t *testing.T) {
	b := backend(t)
	p := doubled()
	e := compile(t, p, nil)
	compileWith := func(opts runtime.CompileOptions) func() error {
		return func() error { return closed2(b.Compile(context.Background(), p, opts)) }
	}
	x, y := f32(tensor.Shape{2}, 1, 2), f32(tensor.Shape{3}, 1, 2, 3)
	devices := func(args ...[]*tensor.Tensor) func() error {
		return func() error { _, err := e.RunDevices(context.Background(), args); return err }
	}
	inC := func(carried ...int64) func() error {
		return func() error { _, err := e.InC(1, carried); return err }
	}
	client := func(name string, value any) func() error {
		return func() error {
			c, err := b.plugin.newClient(1, map[string]any{name: value})
			if err == nil {
				err = c.Close()
			}
			return err
		}
	}
	load := func(change func(*runtime.Saved), opts runtime.CompileOptions) func() error {
		return func() error {
			s, err := e.Save()
			if err != nil {
				return err
			}
			change(s)
			return closed2(b.Load(context.Background(), s, opts))
		}
	}
	nothing := func(*runtime.Saved) {}
	for i, c := range []struct {
		request func() error
		want    string // empty: it is served
	}{
		{compileWith(runtime.CompileOptions{}), ""},
		{compileWith(runtime.CompileOptions{Devices: []int{0}}), ""},
		{compileWith(runtime.CompileOptions{Devices: []int{1}}), ""},
		{compileWith(runtime.CompileOptions{Devices: []int{-1}}), "device -1 is negative or named twice"},
		{compileWith(runtime.CompileOptions{Devices: []int{1, 1}, Replicas: 2}), "device 1 is negative or named twice"},
		{compileWith(runtime.CompileOptions{Devices: []int{1, 0}, Replicas: 2}), ""},
		{compileWith(runtime.CompileOptions{Devices: []int{0, 1}}), "2 devices are assigned, the program runs on 1"},
		{compileWith(runtime.CompileOptions{Devices: []int{0}, Replicas: 2}), "1 devices are assigned, the program runs on 2"},
		{compileWith(runtime.CompileOptions{Options: map[string]any{"xla_x": 1}}), "option xla_x of the compiler is a int"},
		{devices([]*tensor.Tensor{x}), ""},
		{devices(), "arguments for 0 devices given, the program runs on 1"},
		{devices([]*tensor.Tensor{x}, []*tensor.Tensor{x}), "arguments for 2 devices given, the program runs on 1"},
		{devices([]*tensor.Tensor{y}), "argument 0 is tensor<3xf32>, the program expects tensor<2xf32>"},
		{devices([]*tensor.Tensor{x, x}), "2 arguments given, the program expects 1"},
		{inC(0), ""},
		{inC(-1), ""},
		{inC(-2), "result 0 is carried to argument -2, the program has 1"},
		{inC(1), "result 0 is carried to argument 1, the program has 1"},
		{inC(), "0 results are carried, the program has 1"},
		{client("cpu_device_count", int64(2)), ""},
		{client("x", 1), "option x of the client is a int, expected string, bool, int64, []int64 or float32"},
		{load(nothing, runtime.CompileOptions{}), ""},
		{load(nothing, runtime.CompileOptions{Devices: []int{0}}), "other devices or compiler options are asked for"},
		{load(nothing, runtime.CompileOptions{Options: map[string]any{"a": true}}), "other devices or compiler options are asked for"},
		{load(func(s *runtime.Saved) { s.Replicas = 0 }, runtime.CompileOptions{}), "the compiled program runs on 0 replicas of 1 partitions"},
		{load(func(s *runtime.Saved) { s.Partitions = 0 }, runtime.CompileOptions{}), "the compiled program runs on 1 replicas of 0 partitions"},
		{load(func(s *runtime.Saved) { s.Code = nil }, runtime.CompileOptions{}), "the serialized program is empty"},
		{load(func(s *runtime.Saved) { s.Replicas = 2 }, runtime.CompileOptions{}), "the program was compiled for 1 devices instead of 2"},
	} {
		if err := c.request(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("request %d: error is %v, expected %q", i, err, c.want)
		}
	}
}

// closed2 closes what a request has made.
func closed2(e runtime.Executable, err error) error {
	if err != nil {
		return err
	}
	return e.Close()
}

// TestAliasUses: what XLA makes of an alias, seen in its optimized program: a value of the program stays in place. An
// argument, which the caller keeps, is copied.
func TestAliasUses(t *testing.T) {
	v := tt(tensor.F32, 2)
	s := hookSite(0x77, "h", hook.InOut, []hook.TensorType{v}, []hook.TensorType{v})
	s.Aliases = []int{0}
	other := hookSite(0x78, "other", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
	other.Aliases = []int{-1}
	for operand, copies := range map[string]int{"%y": 0, "%x": 1} {
		body := "%y = stablehlo.sine %x : tensor<2xf32>\n" + hookCall("%r", s, "%c0", operand) + hookCall("%q", other, "%r#0", "%r#1") +
			"%z = stablehlo.add %q#1, %r#1 : tensor<2xf32>\nreturn %z : tensor<2xf32>\n"
		e := compile(t, program("(%x: tensor<2xf32>) -> tensor<2xf32>", body, s, other), answer(func(_ context.Context, c *runtime.Call) error { return nil }))
		uses, err := e.AliasUses()
		if want := fmt.Sprint([]runtime.AliasUse{{Hook: 0x77, Calls: 1, Copies: copies}}); err != nil || fmt.Sprint(uses) != want {
			t.Errorf("operand %s: %v, expected %v: %v", operand, uses, want, err)
		}
	}
}

// TestMainShardings: the shardings of main's values, and where one cannot be read.
func TestMainShardings(t *testing.T) {
	for _, c := range []struct{ argument, result, want string }{
		{`"{devices=[2]0,1}"`, `"{replicated}"`, "[2] [4]"},
		{`"{replicated}"`, `"{devices=[2]0,1}"`, "[4] [2]"},
		{`"{devices=[3]0,1,2}"`, `"{replicated}"`, "argument 0: "},
		{`"{replicated}"`, `"{devices=[3]0,1,2}"`, "result 0: "},
	} {
		m := parsed(t, "func.func @main(%x: tensor<4xf32> {mhlo.sharding = "+c.argument+"}) -> (tensor<4xf32> {mhlo.sharding = "+c.result+"}) {\nreturn %x : tensor<4xf32>\n}\n").Module
		shape := shapeOf(m)
		in, out, err := shape.shardings(2)
		got := fmt.Sprint(err)
		if err == nil {
			a, errA := in[0].ShardShape(tensor.Shape{4})
			r, errR := out[0].ShardShape(tensor.Shape{4})
			got = fmt.Sprintf("%v %v", []int64(a), []int64(r))
			if err := errors.Join(errA, errR); err != nil {
				t.Error(err)
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %s, expected %s", c.argument, c.result, got, c.want)
		}
	}
}

// TestResultsAreChecked: a plugin that compiles main's results to other element types is refused.
func TestResultsAreChecked(t *testing.T) {
	ctx := mustParse("module {}").Context()
	typ := func(d tensor.DType) ir.Type { return ctx.Tensor(tensor.Shape{2}, ir.ElementOf(d), nil) }
	l := &loadedProgram{results: []hook.TensorType{tt(tensor.F32, 2), tt(tensor.I32, 2)}}
	for want, outputs := range map[string][]ir.Type{
		"": {typ(tensor.F32), typ(tensor.I32)},
		"the plugin compiled result 1 to i32, main states f32": {typ(tensor.F32), typ(tensor.F32)},
		"the plugin compiled result 0 to f32, main states i32": {typ(tensor.I32), typ(tensor.I32)},
	} {
		if err := (&Executable{outputs: outputs}).checkResults(l); (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("error is %v, expected %q", err, want)
		}
	}
	other := shapeOf(parsed(t, `func.func @main(%x: !stablehlo.token, %q: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> (!stablehlo.token, tensor<2x!quant.uniform<i8:f32, 0.5>>) {
return %x, %q : !stablehlo.token, tensor<2x!quant.uniform<i8:f32, 0.5>>
}
`).Module).main.Type().Results()
	for _, outputs := range [][]ir.Type{{typ(tensor.I32)}, {other[0], typ(tensor.I32)}, other} { // nothing to compare with
		if err := (&Executable{outputs: outputs}).checkResults(l); err != nil {
			t.Error(err)
		}
	}
	if err := (&Executable{outputs: []ir.Type{other[1], typ(tensor.F64)}}).checkResults(l); err == nil {
		t.Error("a result after one without an element type is not compared")
	}
}
