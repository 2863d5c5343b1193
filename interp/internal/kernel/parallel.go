package kernel

import (
	goruntime "runtime"
	"sync"

	"github.com/hlocb/hlocb/tensor"
)

// workers returns the number of goroutines that share a large kernel.
func workers() int { return min(goruntime.GOMAXPROCS(0), 16) }

// Parallel calls f on disjoint parts of [0, n), concurrently if n is large enough. Each part has at least grain
// elements. The parts do not depend on timing. If a part panics, parallel panics too.
func Parallel(n, grain int, f func(lo, hi int)) {
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

// parallelElements makes a kernel function from an element loop over n elements. cost is a rough number of nanoseconds
// per element.
func parallelElements(n, size, cost int, f ElementLoop) func(in, out []*tensor.Tensor) error {
	grain := elementGrain(cost)
	if n < 2*grain {
		return func(in, out []*tensor.Tensor) error {
			f(in, out, 0, n)
			return nil
		}
	}
	return func(in, out []*tensor.Tensor) error {
		Parallel(n, grain, func(lo, hi int) { f(in, out, lo, hi) })
		return nil
	}
}

// ElementKernel makes a kernel from an element loop. Element i of the result depends only on elements i of the
// operands, which allows fusion with other kernels (fuse.go). inplace names the operands that the result may overwrite.
func ElementKernel(n, size, cost int, f ElementLoop, inplace uint64) Kernel {
	return Kernel{Run: parallelElements(n, size, cost, f), Inplace: inplace, Loop: f, Cost: cost, Family: "elements", Parts: Parts{n, elementGrain(cost)}}
}

// elementGrain is the number of elements that one core computes at least.
func elementGrain(cost int) int { return max(20000/max(cost, 1), 2048) }
