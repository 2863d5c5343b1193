package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func tt(d tensor.DType, shape ...int64) hook.TensorType {
	return hook.TensorType{DType: d, Shape: append(tensor.Shape{}, shape...)}
}

func deliverTyped(t *testing.T, h runtime.Handler, kind hook.Kind, operands, results []*tensor.Tensor) error {
	t.Helper()
	s := hook.Site{ID: 1, Name: "f", Kind: kind}
	for _, o := range operands {
		s.Operands = append(s.Operands, tt(o.DType(), o.Shape()...))
	}
	for _, r := range results {
		s.Results = append(s.Results, tt(r.DType(), r.Shape()...))
	}
	var b runtime.Bindings
	b.Answer("f", h)
	bound, err := b.Bind(&hook.Manifest{Sites: []hook.Site{s}})
	if err != nil {
		return err
	}
	return runtime.Deliver(context.Background(), &bound[0], &runtime.Call{Site: bound[0].Site(), Operands: operands, Results: results})
}

func sum(_ context.Context, x runtime.Array[float32]) (runtime.Array[float64], error) {
	s := 0.0
	for _, v := range x.Data {
		s += float64(v)
	}
	return runtime.Scalar(s), nil
}

func TestTypedHandlers(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{2, 2})
	copy(tensor.View[float32](x), []float32{1, 2, 3, 4})
	r := tensor.New(tensor.F64, nil)
	if err := deliverTyped(t, runtime.Func(sum), hook.Call, []*tensor.Tensor{x}, []*tensor.Tensor{r}); err != nil || tensor.View[float64](r)[0] != 10 {
		t.Errorf("the sum is %v, %v", tensor.View[float64](r), err)
	}

	n := tensor.New(tensor.I32, nil)
	n.SetInt(0, 3)
	v := tensor.New(tensor.F32, tensor.Shape{2})
	times := runtime.Func2(func(_ context.Context, x runtime.Array[float32], n runtime.Array[int32]) (runtime.Array[float32], error) {
		out := make([]float32, 2)
		for i := range out {
			out[i] = x.Data[i] * float32(n.Data[0])
		}
		return runtime.ArrayOf(out), nil
	})
	if err := deliverTyped(t, times, hook.Call, []*tensor.Tensor{x, n}, []*tensor.Tensor{v}); err != nil || tensor.View[float32](v)[1] != 6 {
		t.Errorf("the product is %v, %v", tensor.View[float32](v), err)
	}

	feed := runtime.FeedFunc(func(context.Context) (runtime.Array[bool8], error) { return runtime.Scalar(bool8(1)), nil })
	p := tensor.New(tensor.I1, nil)
	if err := deliverTyped(t, feed, hook.Feed, nil, []*tensor.Tensor{p}); err != nil || p.Peek()[0] != 1 {
		t.Errorf("the predicate is %v, %v", p.Peek(), err)
	}

	var seen []float32
	look := runtime.ObserverFunc(func(_ context.Context, x runtime.Array[float32]) error {
		seen = append(seen, x.Data...)
		x.Data[0] = -1
		return nil
	})
	if err := deliverTyped(t, look, hook.InOut, []*tensor.Tensor{x}, []*tensor.Tensor{x}); err != nil || len(seen) != 4 || tensor.View[float32](x)[0] != -1 {
		t.Errorf("saw %v, left %v, %v", seen, tensor.View[float32](x), err)
	}
}

type bool8 uint8

// TestTypedBinding: a handler of other types than the hook is refused before any run.
func TestTypedBinding(t *testing.T) {
	f32, f64, i32 := tensor.New(tensor.F32, nil), tensor.New(tensor.F64, nil), tensor.New(tensor.I32, nil)
	for _, c := range []struct {
		h                 runtime.Handler
		kind              hook.Kind
		operands, results []*tensor.Tensor
		want              string
	}{
		{runtime.Func(sum), hook.Call, []*tensor.Tensor{i32}, []*tensor.Tensor{f64}, "operand 0 is tensor<i32>, the handler accepts elements of Go type float32"},
		{runtime.Func(sum), hook.Call, []*tensor.Tensor{f32}, []*tensor.Tensor{f32}, "result 0 is tensor<f32>, the handler accepts elements of Go type float64"},
		{runtime.Func(sum), hook.Call, []*tensor.Tensor{f32, f32}, []*tensor.Tensor{f64}, "it has 2 operands, the handler accepts 1"},
		{runtime.Func(sum), hook.InOut, []*tensor.Tensor{f32}, []*tensor.Tensor{f32}, "a hook of kind inout accepts none"},
		{runtime.ObserverFunc(func(context.Context, runtime.Array[float32]) error { return nil }), hook.Call, []*tensor.Tensor{f32}, []*tensor.Tensor{f32}, "a hook of kind call needs 1"},
	} {
		err := deliverTyped(t, c.h, c.kind, c.operands, c.results)
		var refused *runtime.BindError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, expected %q", err, c.want)
		}
	}
}

// TestWrongShapeAndSize: a value of another shape or size ends the run; the error names both.
func TestWrongShapeAndSize(t *testing.T) {
	r := tensor.New(tensor.F32, tensor.Shape{2, 2})
	feed := func(n int, shape ...int64) runtime.Handler {
		return runtime.FeedFunc(func(context.Context) (runtime.Array[float32], error) {
			return runtime.ArrayOf(make([]float32, n), shape...), nil
		})
	}
	for _, c := range []struct {
		h    runtime.Handler
		want string
	}{
		{feed(4), "handler returned a tensor<4xf32> for result 0, the program expects a tensor<2x2xf32>"},
		{feed(3, 2, 2), "handler returned 3 elements of shape [2 2] for result 0"},
		{runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
			return c.SetResult(0, tensor.New(tensor.I32, tensor.Shape{2, 2}))
		}), "handler returned a tensor<2x2xi32> for result 0, the program expects a tensor<2x2xf32>"},
		{runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error { return c.SetResultBytes(0, make([]byte, 12)) }),
			"handler returned 12 bytes for result 0, the program expects 16 (tensor<2x2xf32>)"},
	} {
		err := deliverTyped(t, c.h, hook.Feed, nil, []*tensor.Tensor{r})
		var failed *runtime.HookError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, expected %q", err, c.want)
		}
	}
	if err := deliverTyped(t, feed(4, 2, 2), hook.Feed, nil, []*tensor.Tensor{r}); err != nil {
		t.Error(err)
	}
}

// TestHandlerOf: a function of any number of operands and results is a handler.
func TestHandlerOf(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{2, 2})
	copy(tensor.View[float32](x), []float32{1, 2, 3, 4})
	n := tensor.New(tensor.I32, nil)
	n.SetInt(0, 3)
	scaled, count, same := tensor.New(tensor.F32, tensor.Shape{4}), tensor.New(tensor.I64, nil), tensor.New(tensor.I32, nil)
	h := runtime.HandlerOf(func(ctx context.Context, x runtime.Array[float32], n int32, whole *tensor.Tensor) (runtime.Array[float32], int64, *tensor.Tensor, error) {
		out := make([]float32, len(x.Data))
		for i := range out {
			out[i] = x.Data[i] * float32(n)
		}
		return runtime.ArrayOf(out), int64(len(out)), whole, ctx.Err()
	})
	if err := deliverTyped(t, h, hook.Call, []*tensor.Tensor{x, n, n}, []*tensor.Tensor{scaled, count, same}); err != nil {
		t.Fatal(err)
	}
	if tensor.View[float32](scaled)[3] != 12 || count.IntAt(0) != 4 || same.IntAt(0) != 3 {
		t.Errorf("results are %v, %v, %v", tensor.View[float32](scaled), count.IntAt(0), same.IntAt(0))
	}
	failed := errors.New("no more")
	if err := deliverTyped(t, runtime.HandlerOf(func() (float64, error) { return 0, failed }), hook.Feed, nil, []*tensor.Tensor{tensor.New(tensor.F64, nil)}); !errors.Is(err, failed) {
		t.Errorf("error is %v, expected the function's", err)
	}
	seen := float32(0)
	observe := runtime.HandlerOf(func(x runtime.Array[float32]) { seen = x.Data[1] })
	if err := deliverTyped(t, observe, hook.Tap, []*tensor.Tensor{x}, nil); err != nil || seen != 2 {
		t.Errorf("the observer saw %v, %v", seen, err)
	}
	for _, c := range []struct {
		f    any
		want string
	}{
		{7, "int is not a handler: expected a function"},
		{func(...float32) {}, "expected a function with a fixed number of operands"},
		{func(string) {}, "string is neither an Array, an element, nor a *tensor.Tensor"},
		{func(float32) float32 { return 0 }, "operand 0 is tensor<2x2xf32>, the handler accepts one element"},
		{func(runtime.Array[int64]) float32 { return 0 }, "the handler accepts elements of Go type int64"},
		{func(runtime.Array[float32]) (float32, float32) { return 0, 0 }, "it has 1 results, the handler accepts 2"},
		{(func())(nil), "expected a function"},
	} {
		err := deliverTyped(t, runtime.HandlerOf(c.f), hook.Call, []*tensor.Tensor{x}, []*tensor.Tensor{tensor.New(tensor.F32, nil)})
		if !errors.As(err, new(*runtime.BindError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: error is %v, expected a BindError with %q", c.f, err, c.want)
		}
	}
}
