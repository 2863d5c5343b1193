package runtime_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// fake is an executable without a program: run computes its one result.
type fake struct {
	runtime.Executable
	backend   runtime.Backend
	arguments int
	run       func(context.Context) error
}

type fakeBackend struct{ runtime.Backend }

func (fakeBackend) Upload(context.Context, *tensor.Tensor, runtime.Placement) (runtime.Memory, error) {
	return fakeMemory{}, nil
}

type fakeMemory struct{ runtime.Memory }

func (fakeMemory) Release() {}

func (f *fake) Signature() *runtime.Signature {
	v := runtime.Value{Type: hook.TensorType{DType: tensor.F32}}
	s := &runtime.Signature{Backend: f.backend, Results: []runtime.Value{v}}
	for range f.arguments {
		s.Arguments = append(s.Arguments, v)
	}
	return s
}

func (f *fake) RunMemory(ctx context.Context, _ []runtime.Memory, _ []bool) ([]runtime.Memory, error) {
	if f.run != nil {
		if err := f.run(ctx); err != nil {
			return nil, err
		}
	}
	return []runtime.Memory{fakeMemory{}}, nil
}

// TestStartWaits: a loop that starts 40,000 runs is held back, so it needs few goroutines, and time for each run that
// does not grow with their number.
func TestStartWaits(t *testing.T) {
	f := &fake{backend: fakeBackend{}, arguments: 1}
	x, err := runtime.Put(context.Background(), f.backend, tensor.New(tensor.F32, nil), runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	var q runtime.Queue
	before, most := goruntime.NumGoroutine(), 0
	for range 40_000 {
		p, err := q.Start(context.Background(), f, []*runtime.Buffer{x}, runtime.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x.Close()
		x = p.Results[0]
		most = max(most, goruntime.NumGoroutine())
	}
	if err := q.Wait(); err != nil {
		t.Error(err)
	}
	if most > before+64 {
		t.Errorf("%d goroutines, %d before", most, before)
	}
}

// TestStartWaitsUntilItsDeadline: Start returns when its context ends, and a handler of a run of the queue is not held
// back.
func TestStartWaitsUntilItsDeadline(t *testing.T) {
	release := make(chan bool)
	var q runtime.Queue
	q.Ahead = 2
	var nested atomic.Int64
	inner := &fake{backend: fakeBackend{}}
	f := &fake{backend: fakeBackend{}, run: func(ctx context.Context) error {
		<-release
		if _, err := q.Start(ctx, inner, nil, runtime.ExecuteOptions{}); err == nil {
			nested.Add(1)
		}
		return nil
	}}
	for range 2 {
		if _, err := q.Start(context.Background(), f, nil, runtime.ExecuteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := q.Start(ctx, f, nil, runtime.ExecuteOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, expected %v", err, context.DeadlineExceeded)
	}
	close(release)
	if err := q.Wait(); err != nil || nested.Load() != 2 {
		t.Errorf("error %v, %d runs of handlers", err, nested.Load())
	}
}

// TestQueueKeepsErrorsInOrder: Wait returns the errors of the runs in the order of Start, without errors that only
// follow from another.
func TestQueueKeepsErrorsInOrder(t *testing.T) {
	var q runtime.Queue
	first := make(chan bool)
	f := func(n int) *fake {
		return &fake{backend: fakeBackend{}, run: func(context.Context) error {
			if n == 0 {
				<-first
			}
			return fmt.Errorf("run %d", n)
		}}
	}
	var results []*runtime.Buffer
	for n := range 2 {
		p, err := q.Start(context.Background(), f(n), nil, runtime.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, p.Results...)
	}
	if _, err := q.Start(context.Background(), &fake{backend: results[0].Backend(), arguments: 1}, results[:1], runtime.ExecuteOptions{}); err != nil {
		t.Fatal(err)
	}
	results[1].Wait(context.Background())
	close(first)
	if err := q.Wait(); err == nil || err.Error() != "run 0\nrun 1" {
		t.Errorf("error is %v", err)
	}
	if err := q.Wait(); err != nil {
		t.Errorf("the second Wait returns %v", err)
	}
}
