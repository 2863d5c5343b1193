package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// deliver calls one handler with one result, in a hook that takes x.
func deliver(kind hook.Kind, x, r *tensor.Tensor, h HandlerFunc) error {
	site := &hook.Site{Name: "h", Kind: kind}
	return Deliver(context.Background(), NewBound(site, h), &Call{Site: site, Operands: []*tensor.Tensor{x}, Results: []*tensor.Tensor{r}})
}

var allTypes = []tensor.DType{
	tensor.I1, tensor.I2, tensor.I4, tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.UI4, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64,
	tensor.F4E2M1FN, tensor.F8E4M3FN, tensor.F8E5M2, tensor.F16, tensor.BF16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128,
}

// TestUnwrittenIsFound: a result of any type and size that the handler did not access is found.
func TestUnwrittenIsFound(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{4})
	for _, d := range allTypes {
		for _, n := range []int64{1, 2, 3, 7, 8, 100, 5000, 100_001} {
			for _, kind := range []hook.Kind{hook.Call, hook.Feed} {
				r := tensor.New(d, tensor.Shape{n})
				err := deliver(kind, x, r, func(context.Context, *Call) error { return nil })
				var unwritten *UnwrittenError
				if !errors.As(err, &unwritten) || unwritten.Part || unwritten.Result != 0 {
					t.Errorf("%s of %d elements: error is %v", d, n, err)
				}
				// A result that the handler accessed is found if a mark fits.
				err = deliver(kind, x, r, func(_ context.Context, c *Call) error { c.Results[0].Bytes(); return nil })
				if _, unit := marks.of(d); len(r.Peek()) < unit {
					if err != nil {
						t.Errorf("%s of %d elements, reached for: %v", d, n, err)
					}
					for _, b := range r.Peek() {
						if b != 0 {
							t.Errorf("%s of %d elements holds % x, expected zeros", d, n, r.Peek())
						}
					}
				} else if !errors.As(err, &unwritten) || unwritten.Part {
					t.Errorf("%s of %d elements, reached for: error is %v", d, n, err)
				}
			}
		}
	}
}

// TestWrittenIsAccepted: no value of any type is mistaken for a mark, however it is written.
func TestWrittenIsAccepted(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{4})
	for _, d := range allTypes {
		for _, n := range []int64{0, 1, 3, 16, 5000} {
			for _, fill := range []byte{0x00, 0x01, 0x7f, 0xff} {
				r := tensor.New(d, tensor.Shape{n})
				if d.Bits() < 8 && fill == 0x7f {
					continue
				}
				err := deliver(hook.Call, x, r, func(_ context.Context, c *Call) error {
					for i := range c.Results[0].Bytes() {
						c.Results[0].Bytes()[i] = fill
					}
					return nil
				})
				if err != nil {
					t.Errorf("%s of %d elements filled with %#x: %v", d, n, fill, err)
				}
			}
			r := tensor.New(d, tensor.Shape{n})
			if err := deliver(hook.Call, x, r, func(_ context.Context, c *Call) error {
				for i := range c.Results[0].NumElements() {
					c.Results[0].SetFloat(i, 1)
				}
				return nil
			}); err != nil {
				t.Errorf("%s of %d elements, set one by one: %v", d, n, err)
			}
		}
	}
}

// TestPartIsFound: a result that is written in part is found, with the place.
func TestPartIsFound(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{4})
	for _, c := range []struct {
		d       tensor.DType
		shape   tensor.Shape
		written int // elements
		want    string
	}{
		{tensor.F32, tensor.Shape{2, 3}, 5, "[1 2]"},
		{tensor.F32, tensor.Shape{2, 3}, 1, "[0 1]"},
		{tensor.F64, tensor.Shape{4}, 3, "[3]"},
		{tensor.I1, tensor.Shape{9}, 8, "[8]"},
		{tensor.I4, tensor.Shape{3}, 2, "[2]"},
		{tensor.I32, tensor.Shape{6}, 4, "[4]"},
		{tensor.I64, tensor.Shape{2, 2}, 3, "[1 1]"},
		{tensor.Complex64, tensor.Shape{3}, 2, "[2]"},
		{tensor.F32, tensor.Shape{1 << 20}, 1<<20 - 1, "[1048575]"},
		{tensor.BF16, tensor.Shape{1 << 20}, 1 << 19, "[524288]"},
		{tensor.UI8, tensor.Shape{100, 100}, 5000, "[81 92]"}, // the next mark after 5000
	} {
		r := tensor.New(c.d, c.shape)
		err := deliver(hook.Call, x, r, func(_ context.Context, call *Call) error {
			clear(call.Results[0].Bytes()[:c.written*c.d.Size()])
			return nil
		})
		var unwritten *UnwrittenError
		if !errors.As(err, &unwritten) || !unwritten.Part || fmt.Sprint(unwritten.Index) != c.want {
			t.Errorf("%s%v written up to %d: error is %v, expected the element %s", c.d, c.shape, c.written, err, c.want)
		}
	}
}

// TestAliasedIsLeftAlone: a result in an operand's memory keeps its value.
func TestAliasedIsLeftAlone(t *testing.T) {
	for _, kind := range []hook.Kind{hook.Call, hook.InOut} {
		x := tensor.New(tensor.F32, tensor.Shape{4})
		tensor.View[float32](x)[2] = 7
		if err := deliver(kind, x, x, func(context.Context, *Call) error { return nil }); err != nil || tensor.View[float32](x)[2] != 7 {
			t.Errorf("%s: error is %v, the operand %v", kind, err, tensor.View[float32](x))
		}
	}
}

// TestWatchEnds: after the call a result's memory is not watched, because it has other uses then.
func TestWatchEnds(t *testing.T) {
	x, r := tensor.New(tensor.F32, nil), tensor.New(tensor.F32, nil)
	for range 3 {
		if err := deliver(hook.Call, x, r, func(_ context.Context, c *Call) error { return c.SetResult(0, x) }); err != nil {
			t.Fatal(err)
		}
		if !r.Reached() {
			t.Error("the result is still watched")
		}
	}
}

// TestLateIsLate: a handler that succeeds after its time limit has failed; within the limit it has not.
func TestLateIsLate(t *testing.T) {
	for _, late := range []bool{false, true} {
		limit := time.Hour
		if late {
			limit = time.Millisecond
		}
		site := &hook.Site{Name: "h", Kind: hook.Tap}
		returned := make(chan bool)
		done := make(chan error, 2)
		DeliverWithin(context.Background(), limit, NewBound(site, nil, HandlerFunc(func(ctx context.Context, _ *Call) error {
			defer close(returned)
			if late {
				<-ctx.Done()
			}
			return nil
		})), &Call{Site: site}, nil, func(err error) { done <- err })
		err := <-done
		var timeout *TimeoutError
		if errors.As(err, &timeout) != late {
			t.Errorf("late is %v, but the error is %v", late, err)
		}
		<-returned
		select {
		case <-done:
			t.Error("done was called twice")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestLateHandlerWritesToCopies: after the time limit a handler reads and writes copies only.
func TestLateHandlerWritesToCopies(t *testing.T) {
	site := &hook.Site{Name: "h", Kind: hook.InOut}
	x := tensor.New(tensor.F32, tensor.Shape{4})
	late := make(chan bool)
	finished := make(chan bool)
	done := make(chan error)
	DeliverWithin(context.Background(), time.Millisecond, NewBound(site, HandlerFunc(func(_ context.Context, c *Call) error {
		defer close(finished)
		<-late
		c.Results[0].SetFloat(0, 1)
		return nil
	})), &Call{Site: site, Operands: []*tensor.Tensor{x}, Results: []*tensor.Tensor{x}}, nil, func(err error) { done <- err })
	if err := <-done; err == nil {
		t.Error("the handler was in time")
	}
	close(late)
	<-finished
	if x.FloatAt(0) != 0 {
		t.Error("the handler wrote to the program's memory after its time limit")
	}
}

// TestCancelledCall: a cancelled context ends the call at once, with its cause.
func TestCancelledCall(t *testing.T) {
	site := &hook.Site{Name: "h", Kind: hook.Tap}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("why")
	forever := make(chan bool)
	defer close(forever)
	done := make(chan error)
	DeliverWithin(ctx, time.Hour, NewBound(site, nil, HandlerFunc(func(context.Context, *Call) error {
		cancel(why)
		<-forever
		return nil
	})), &Call{Site: site}, nil, func(err error) { done <- err })
	var failed *HookError
	if err := <-done; !errors.As(err, &failed) || !errors.Is(err, why) {
		t.Errorf("error is %v", err)
	}
}

// TestGoexit: a handler that ends its goroutine fails at once, not at its time limit.
func TestGoexit(t *testing.T) {
	site := &hook.Site{Name: "h", Kind: hook.Tap}
	done := make(chan error, 2)
	DeliverWithin(context.Background(), time.Hour, NewBound(site, nil, HandlerFunc(func(context.Context, *Call) error {
		goruntime.Goexit()
		return nil
	})), &Call{Site: site}, nil, func(err error) { done <- err })
	if err := <-done; !errors.Is(err, ErrGoexit) {
		t.Errorf("error is %v", err)
	}
}
