package plugintest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func runtimeCases() []Case {
	var out []Case
	do := func(name string, f func(context.Context, runtime.Backend) error) {
		out = append(out, Case{Group: "runtime", Name: name, Do: f})
	}
	do("arguments are not donated", func(ctx context.Context, b runtime.Backend) error {
		e, err := compile(ctx, b, "func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {\n  %r = stablehlo.add %a, %a : tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n", runtime.CompileOptions{})
		if err != nil {
			return err
		}
		defer e.Close()
		x := Fill(tensor.F32, tensor.Shape{4}, 0)
		before := x.Clone()
		for range 3 {
			r, err := e.Run(ctx, []*tensor.Tensor{x})
			if err != nil {
				return err
			}
			if string(x.Bytes()) != string(before.Bytes()) {
				return errors.New("the argument was changed")
			}
			if got, want := tensor.View[float32](r[0])[1], 2*tensor.View[float32](x)[1]; got != want {
				return fmt.Errorf("element 1 is %v, expected %v", got, want)
			}
		}
		return nil
	})
	do("wrong arguments are an error", func(ctx context.Context, b runtime.Backend) error {
		e, err := compile(ctx, b, small(), runtime.CompileOptions{})
		if err != nil {
			return err
		}
		defer e.Close()
		for _, args := range [][]*tensor.Tensor{nil, {scalar(1), scalar(1)}, {tensor.New(tensor.I32, nil)}, {tensor.New(tensor.F32, tensor.Shape{1})}} {
			if _, err := e.Run(ctx, args); err == nil {
				return fmt.Errorf("%d wrong arguments were accepted", len(args))
			}
		}
		_, err = e.Run(ctx, []*tensor.Tensor{scalar(1)})
		return err
	})
	do("overlapping runs keep their events apart", func(ctx context.Context, b runtime.Backend) error {
		var mu sync.Mutex
		values := map[int64][]float32{}
		e, err := compile(ctx, b, small(), runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
			mu.Lock()
			defer mu.Unlock()
			values[c.Run] = append(values[c.Run], tensor.View[float32](c.Operands[0])[0])
			return nil
		})})
		if err != nil {
			return err
		}
		defer e.Close()
		var wg sync.WaitGroup
		errs := make(chan error, 16)
		for g := range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 20 {
					r, err := e.Run(ctx, []*tensor.Tensor{scalar(float32(g))})
					if err == nil && tensor.View[float32](r[0])[0] != 2*float32(g) {
						err = fmt.Errorf("goroutine %d got %v", g, tensor.View[float32](r[0]))
					}
					if err != nil {
						errs <- err
						return
					}
				}
			}()
		}
		wg.Wait()
		select {
		case err := <-errs:
			return err
		default:
		}
		for run, list := range values {
			if len(list) != 3 || list[0] != list[1] || list[0] != list[2] {
				return fmt.Errorf("run %d saw %v", run, list)
			}
		}
		if len(values) != 320 {
			return fmt.Errorf("events of %d runs, expected 320", len(values))
		}
		return nil
	})
	do("a handler runs a program", func(ctx context.Context, b runtime.Backend) error {
		inner, err := compile(ctx, b, big(), runtime.CompileOptions{})
		if err != nil {
			return err
		}
		defer inner.Close()
		outer, err := compile(ctx, b, big(), runtime.CompileOptions{Handlers: answer(func(ctx context.Context, c *runtime.Call) error {
			_, err := inner.Run(ctx, []*tensor.Tensor{scalar(1)})
			return err
		})})
		if err != nil {
			return err
		}
		defer outer.Close()
		_, err = outer.Run(ctx, []*tensor.Tensor{scalar(1)})
		return err
	})
	do("two replicas", func(ctx context.Context, b runtime.Backend) error {
		if b.Name() == "engine" {
			return &SkipError{"the embedded engine has one device"}
		}
		var mu sync.Mutex
		devices := map[int]int{}
		e, err := compile(ctx, b, `module attributes {mhlo.num_replicas = 2 : i32} {
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  `+probe("", "before", "%a", "(tensor<f32>) -> ()")+`%r = "stablehlo.all_reduce"(%a) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
}
`, runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
			mu.Lock()
			defer mu.Unlock()
			devices[c.Device]++
			return nil
		})})
		if err != nil {
			return &SkipError{err.Error()}
		}
		defer e.Close()
		r, err := e.Run(ctx, []*tensor.Tensor{scalar(3)})
		if err != nil {
			return err
		}
		if got := tensor.View[float32](r[0])[0]; got != 6 {
			return fmt.Errorf("the sum over two replicas is %v, expected 6", got)
		}
		if devices[0] != 1 || devices[1] != 1 {
			return fmt.Errorf("events by device are %v, expected one on each", devices)
		}
		return nil
	})
	do("save and load", func(ctx context.Context, b runtime.Backend) error {
		e, err := compile(ctx, b, big(), runtime.CompileOptions{})
		if err != nil {
			return err
		}
		defer e.Close()
		saver, ok := e.(runtime.Saver)
		loader, ok2 := b.(runtime.Loader)
		if !ok || !ok2 {
			return &SkipError{"the backend does not save programs"}
		}
		saved, err := saver.Save()
		if err != nil {
			return err
		}
		n := 0
		again, err := loader.Load(ctx, saved, runtime.CompileOptions{Handlers: answer(func(context.Context, *runtime.Call) error { n++; return nil })})
		if err != nil {
			return err
		}
		defer again.Close()
		if _, err := again.Run(ctx, []*tensor.Tensor{scalar(1)}); err != nil {
			return err
		}
		if n != 3 {
			return fmt.Errorf("the loaded program delivered %d events, expected 3", n)
		}
		return nil
	})
	return out
}
