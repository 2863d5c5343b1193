//go:build cgo

package pjrt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// handlerLimit is short for a test and long for a handler that has nothing to do, even on a busy machine.
const handlerLimit = 500 * time.Millisecond

func compileTimeout(t testing.TB, p *runtime.Program, timeout time.Duration, opts runtime.CompileOptions) *Executable {
	t.Helper()
	opts.Timeout = timeout
	e, err := backend(t).Compile(context.Background(), p, opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, text(p))
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.(*Executable)
}

// TestTimeout: a handler that hangs ends the run on time with an error that names the hook, and the executable stays
// usable.
func TestTimeout(t *testing.T) {
	ps := programs()
	ps["loop"] = nil
	for name, p := range ps {
		t.Run(name, func(t *testing.T) {
			hang := "h1"
			if name == "loop" {
				p, hang = loopProgram(20), "loss"
			}
			var stuck atomic.Bool
			var later atomic.Int64
			release := make(chan bool)
			defer close(release)
			e := compileTimeout(t, p, handlerLimit, runtime.CompileOptions{Handlers: answer(func(ctx context.Context, c *runtime.Call) error {
				if c.Seq > 1 {
					later.Add(1)
				}
				if stuck.Load() && c.Site.Name == hang && c.Seq == 1 {
					<-release
				}
				return nil
			})})
			arg := f32(nil, 1)
			if name == "loop" {
				arg = f32(tensor.Shape{4}, 1)
			}
			for i := range 4 {
				stuck.Store(i%2 == 0)
				later.Store(0)
				start := time.Now()
				_, err := e.Run(context.Background(), []*tensor.Tensor{arg})
				took := time.Since(start)
				if !stuck.Load() {
					if err != nil || later.Load() == 0 {
						t.Fatalf("a run after one that timed out: %v, %d later events", err, later.Load())
					}
					continue
				}
				var he *runtime.HookError
				var te *runtime.TimeoutError
				if !errors.As(err, &he) || !errors.As(err, &te) || he.Hook != hang || he.Seq != 1 {
					t.Fatalf("error is %v, expected a timeout of %s", err, hang)
				}
				if took > handlerLimit+5*time.Second {
					t.Errorf("the run took %v", took)
				}
				if later.Load() != 0 {
					t.Errorf("%d hooks fired after the one that timed out", later.Load())
				}
			}
		})
	}
}

func TestTimeoutOnSeveralDevices(t *testing.T) {
	body, sites := reduceBody(4)
	release := make(chan bool)
	defer close(release)
	e := compileTimeout(t, program("(%x: tensor<f32>) -> tensor<f32>", body, sites...), handlerLimit, runtime.CompileOptions{Replicas: 4,
		Handlers: answer(func(_ context.Context, c *runtime.Call) error {
			if c.Device == 1 && c.Site.Name == "before" {
				<-release
			}
			return nil
		})})
	start := time.Now()
	_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
	var he *runtime.HookError
	if !errors.As(err, &he) || he.Device != 1 || time.Since(start) > handlerLimit+10*time.Second {
		t.Errorf("after %v: %v, expected device 1 to time out", time.Since(start), err)
	}
}

// TestTimeoutKeepsValues checks that calls with and without a timeout deliver and return the same values.
func TestTimeoutKeepsValues(t *testing.T) {
	for _, d := range []tensor.DType{tensor.F32, tensor.I4, tensor.I1, tensor.Complex64} {
		for _, kind := range []hook.Kind{hook.Tap, hook.InOut, hook.Call} {
			t.Run(fmt.Sprintf("%s/%s", d, kind), func(t *testing.T) {
				v := tt(d, 5)
				s := hookSite(0x1234, "h", kind, []hook.TensorType{v}, []hook.TensorType{v})
				p := program(fmt.Sprintf("(%%x: %s) -> %s", v, v), hookCall("%r", s, "%c0", "%x")+fmt.Sprintf("return %%r#1 : %s\n", v), s)
				arg := pattern(d, tensor.Shape{5})
				want := arg.Clone()
				if kind != hook.Tap {
					for i, b := range want.Bytes() {
						want.Bytes()[i] = flip(d, b)
					}
				}
				e := compileTimeout(t, p, time.Minute, runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
					if !bytes.Equal(c.Operands[0].Bytes(), arg.Bytes()) {
						return fmt.Errorf("operand holds % x", c.Operands[0].Bytes())
					}
					if kind != hook.Tap {
						for i, b := range arg.Bytes() {
							c.Results[0].Bytes()[i] = flip(d, b)
						}
					}
					return nil
				})})
				if got := run(t, e, arg)[0]; !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("result is % x, expected % x", got.Bytes(), want.Bytes())
				}
			})
		}
	}
}

func TestTimeoutErrorsAndReentry(t *testing.T) {
	inner := compile(t, bigProgram(), nil)
	e := compileTimeout(t, bigProgram(), time.Minute, runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
		if c.Seq == 0 {
			_, err := inner.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
			return err
		}
		if c.Seq == 1 {
			panic(errMine)
		}
		return nil
	})})
	_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
	var he *runtime.HookError
	var pe *runtime.PanicError
	if !errors.As(err, &he) || !errors.As(err, &pe) || he.Seq != 1 {
		t.Errorf("error is %v, expected the panic of the second hook", err)
	}
}

// TestCancelGivesUpHandlers cancels a run whose handler hangs, long before its timeout.
func TestCancelGivesUpHandlers(t *testing.T) {
	release := make(chan bool)
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	e := compileTimeout(t, smallProgram(), time.Hour, runtime.CompileOptions{Handlers: answer(func(context.Context, *runtime.Call) error {
		cancel()
		<-release
		return nil
	})})
	start := time.Now()
	if _, err := e.Run(ctx, []*tensor.Tensor{f32(nil, 1)}); !errors.Is(err, context.Canceled) || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}
