package rewrite

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"github.com/hlocb/hlocb/ir"
)

// Isolated returns the ops directly inside scope if there are at least two and nothing but ops that are isolated from
// above, such as the functions of a module. Several goroutines may rewrite them at the same time, see Parallel.
func Isolated(scope *ir.Op) []*ir.Op {
	if scope.NumRegions() != 1 || len(scope.Region(0).Blocks()) != 1 {
		return nil
	}
	var out []*ir.Op
	for op := range scope.Region(0).Entry().Ops() {
		if !op.Has(ir.IsolatedFromAbove) {
			return nil
		}
		out = append(out, op)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// Parallel calls f for each of the numbers below n, on as many goroutines as there are processors. If f panics, Parallel
// panics with the same value, in the caller's goroutine.
func Parallel(n int, f func(i int)) {
	var (
		next   atomic.Int64
		wait   sync.WaitGroup
		once   sync.Once
		failed any
	)
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				once.Do(func() { failed = r })
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	for range min(goruntime.GOMAXPROCS(0), n) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	if failed != nil {
		panic(failed)
	}
}
