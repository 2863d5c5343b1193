//go:build cgo

package pjrt

import (
	"context"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// TestNeeds: a handler gets what it asks for, and only that is copied from memory that the host cannot read.
func TestNeeds(t *testing.T) {
	b, memory := countingBackend(t)
	far := !memory.Readable()

	needs := func(use runtime.MemoryUse, handle func(c *runtime.Call) error) runtime.Handler {
		return pointerHandler{use, handle}
	}
	expect := func(what string, got any, err error, want string) error {
		if err == nil && fmt.Sprint(got) != want {
			err = fmt.Errorf("%s is %v, expected %s", what, got, want)
		}
		return err
	}
	for _, c := range []struct {
		name          string
		kind          hook.Kind
		dtype         tensor.DType
		handler       runtime.Handler // a responder, except of a tap
		read, written int
		want          string // result
	}{
		{name: "nothing", kind: hook.Tap, dtype: tensor.F32, handler: needs(runtime.MemoryUse{}, func(c *runtime.Call) error {
			return expect("the shape", c.Operands[0].Shape(), nil, "[2 3]")
		})},
		{name: "statistics", kind: hook.Tap, dtype: tensor.F32, read: 1, handler: needs(runtime.MemoryUse{Statistics: true}, func(c *runtime.Call) error {
			if far && len(c.Operands[0].Peek()) > 0 {
				return fmt.Errorf("the operand was copied")
			}
			s, err := c.Statistics(0)
			return expect("the statistics", s, err, "{6 1 6 3.5 0 0}")
		})},
		{name: "statistics and values", kind: hook.Tap, dtype: tensor.F32, read: 1, handler: needs(runtime.MemoryUse{Statistics: true, HostViews: true}, func(c *runtime.Call) error {
			s, err := c.Statistics(0)
			return expect("the statistics", s, err, "{6 1 6 3.5 0 0}")
		})},
		{name: "undeclared statistics", kind: hook.Tap, dtype: tensor.BF16, read: 1, handler: needs(runtime.MemoryUse{}, func(c *runtime.Call) error {
			s, err := c.Statistics(0)
			return expect("the statistics", s, err, "{6 1 6 3.5 0 0}")
		})},
		{name: "head", kind: hook.Tap, dtype: tensor.F32, read: 1, handler: needs(runtime.MemoryUse{Head: 2}, func(c *runtime.Call) error {
			v, err := c.Head(0, 2)
			return expect("the head", listing(v), err, "tensor<2xf32> [1 2]")
		})},
		{name: "packed head", kind: hook.Tap, dtype: tensor.I4, read: 1, handler: needs(runtime.MemoryUse{Head: 3}, func(c *runtime.Call) error {
			v, err := c.Head(0, 3)
			return expect("the head", listing(v), err, "tensor<3xi4> [1 2 3]")
		})},
		{name: "longer head", kind: hook.Tap, dtype: tensor.I32, read: 2, handler: needs(runtime.MemoryUse{Head: 1}, func(c *runtime.Call) error {
			v, err := c.Head(0, 100)
			return expect("the head", listing(v), err, "tensor<6xi32> [1 2 3 4 5 6]")
		})},
		{name: "operand", kind: hook.Tap, dtype: tensor.I4, read: 1, handler: needs(runtime.MemoryUse{}, func(c *runtime.Call) error {
			v, err := c.Operand(0)
			return expect("the operand", listing(v), err, "tensor<2x3xi4> [1 2 3 4 5 6]")
		})},
		{name: "finite", kind: hook.Tap, dtype: tensor.F32, read: 1, handler: handlers.Finite()},
		{name: "echo", kind: hook.Call, dtype: tensor.I4, handler: handlers.Echo(), want: "tensor<2x3xi4> [1 2 3 4 5 6]"},
		{name: "const", kind: hook.Call, dtype: tensor.I4, written: 1, handler: handlers.Const(numbers(tensor.I4, 6, 5, 4, 3, 2, 1)), want: "tensor<2x3xi4> [6 5 4 3 2 1]"},
		{name: "returned operand", kind: hook.Call, dtype: tensor.F32, read: 1, handler: needs(runtime.MemoryUse{HostViews: true}, func(c *runtime.Call) error {
			return c.Return(0, c.Operands[0])
		}), want: "tensor<2x3xf32> [1 2 3 4 5 6]"},
		{name: "returned value", kind: hook.Call, dtype: tensor.I32, read: 1, written: 1, handler: needs(runtime.MemoryUse{HostViews: true}, func(c *runtime.Call) error {
			return c.Return(0, numbers(tensor.I32, 9, 8, 7, 6, 5, 4))
		}), want: "tensor<2x3xi32> [9 8 7 6 5 4]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			typ := tt(c.dtype, 2, 3)
			s := hookSite(1, "h", c.kind, []hook.TensorType{typ}, []hook.TensorType{typ})
			text := fmt.Sprintf("(%%x: %[1]s) -> %[1]s", typ)
			p := program(text, hookCall("%r", s, "%c0", "%x")+fmt.Sprintf("return %%r#1 : %s\n", typ), s)
			bindings, called := &runtime.Bindings{}, 0
			h := needs(runtime.UseOf(c.handler), func(call *runtime.Call) error {
				called++
				return c.handler.Handle(context.Background(), call)
			})
			if c.kind == hook.Tap {
				bindings.Observe("h", h)
			} else {
				bindings.Answer("h", h)
			}
			for _, timeout := range []bool{false, true} {
				opts := runtime.CompileOptions{Handlers: bindings}
				if timeout {
					opts.Timeout = handlerLimit
				}
				e, err := b.Compile(context.Background(), p, opts)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				memory.read, memory.written, called = 0, 0, 0
				arg := numbers(c.dtype, 1, 2, 3, 4, 5, 6)
				results, err := e.Run(context.Background(), []*tensor.Tensor{arg})
				if err != nil {
					t.Fatal(err)
				}
				want := c.want
				if want == "" {
					want = listing(arg)
				}
				if got := listing(results[0]); got != want || called != 1 {
					t.Errorf("result is %s after %d calls, expected %s", got, called, want)
				}
				if got, want := [2]int{memory.read, memory.written}, [2]int{c.read, c.written}; far && got != want {
					t.Errorf("%d values read and %d written, expected %v", memory.read, memory.written, want)
				}
			}
		})
	}
}

// numbers returns a tensor of shape 2x3.
func numbers(d tensor.DType, values ...float64) *tensor.Tensor {
	v := tensor.New(d, tensor.Shape{2, 3})
	for i, x := range values {
		if v.DType().IsFloat() {
			v.SetFloat(i, x)
		} else {
			v.SetInt(i, int64(x))
		}
	}
	return v
}

// listing returns the type of v and its elements.
func listing(v *tensor.Tensor) string {
	if v == nil {
		return "nothing"
	}
	list := make([]float64, v.NumElements())
	for i := range list {
		list[i] = v.FloatAt(i)
	}
	return fmt.Sprint(hook.TypeOf(v), " ", list)
}

// TestDispatch: runs of a program without hooks follow each other without a wait, and the last result waits for all.
func TestDispatch(t *testing.T) {
	b := backend(t)
	p := program("(%x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32>", "%y = stablehlo.add %x, %x : tensor<4xf32>\nreturn %y : tensor<4xf32>\n")
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, err := runtime.Put(context.Background(), b, f32(tensor.Shape{4}, 1, 2, 3, 4), runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	const steps = 10
	for range steps {
		out, err := runtime.Execute(context.Background(), e, []*runtime.Buffer{x}, runtime.ExecuteOptions{NoWait: true})
		if err != nil {
			t.Fatal(err)
		}
		x.Close()
		x = out[0]
	}
	defer x.Close()
	got, err := x.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if want := "tensor<4xf32> [1024 2048 3072 4096]"; listing(got) != want {
		t.Errorf("result is %s, expected %s", listing(got), want)
	}
}
