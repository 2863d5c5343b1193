package interp

import (
	goruntime "runtime"
	"sync"

	"github.com/hlocb/hlocb/tensor"
)

// workers is how many goroutines a large kernel is split over.
func workers() int { return min(goruntime.GOMAXPROCS(0), 16) }

// parallel calls f on parts of [0, n), at the same time where n is worth it: each part holds at least grain.
// The parts are disjoint and do not depend on timing. A panic in a part is passed on to the caller.
func parallel(n, grain int, f func(lo, hi int)) {
	parts := min(workers(), n/max(grain, 1))
	if parts <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failure any
	part := func(lo, hi int) {
		defer func() {
			if v := recover(); v != nil {
				mu.Lock()
				failure = v
				mu.Unlock()
			}
		}()
		f(lo, hi)
	}
	for i := 1; i < parts; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			part(i*n/parts, (i+1)*n/parts)
		}()
	}
	part(0, n/parts)
	wg.Wait()
	if failure != nil {
		panic(failure)
	}
}

// parallelElements makes a kernel of an element loop over n elements; cost is a rough number of nanoseconds
// per element.
func parallelElements(n, size, cost int, f elementLoop) func(in, out []*tensor.Tensor) error {
	grain := max(20000/max(cost, 1), 2048)
	if n < 2*grain {
		return func(in, out []*tensor.Tensor) error {
			f(in, out, 0, n)
			return nil
		}
	}
	return func(in, out []*tensor.Tensor) error {
		parallel(n, grain, func(lo, hi int) { f(in, out, lo, hi) })
		return nil
	}
}

// elementKernel is a kernel of an element loop: element i of the result depends on elements i of the operands only, so
// that it may be fused with others (fuse.go). inplace names the operands that the result may overwrite.
func elementKernel(n, size, cost int, f elementLoop, inplace uint64) kernel {
	return kernel{run: parallelElements(n, size, cost, f), inplace: inplace, loop: f, cost: cost}
}
