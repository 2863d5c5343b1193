package kernel

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestParallel: every element is in one part, on any number of cores, even if kernels run side by side and inside each
// other. Helpers end when there is nothing to do.
func TestParallel(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(0))
	const n = 1000
	for cores := 1; cores <= 5; cores++ {
		goruntime.GOMAXPROCS(cores)
		var runs sync.WaitGroup
		for range 8 {
			runs.Go(func() {
				for range 50 {
					var seen [n]atomic.Int32
					Parallel(n, 10, func(lo, hi int) {
						Parallel(hi-lo, 10, func(from, to int) {
							for i := lo + from; i < lo+to; i++ {
								seen[i].Add(1)
							}
						})
					})
					for i := range seen {
						if k := seen[i].Load(); k != 1 {
							t.Errorf("%d cores: element %d is in %d parts", cores, i, k)
						}
					}
				}
			})
		}
		runs.Wait()
	}
	for end := time.Now().Add(10 * time.Second); team.running.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d helpers are left", team.running.Load())
		}
	}
}

// TestParallelPanics: a panic in any part reaches the caller, after all parts have ended.
func TestParallelPanics(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(4))
	for bad := range 4 {
		var ended atomic.Int32
		func() {
			defer func() {
				if v := recover(); v != "part fails" {
					t.Errorf("part %d: recovered %v", bad, v)
				}
			}()
			Parallel(4, 1, func(lo, _ int) {
				defer ended.Add(1)
				if lo == bad {
					panic("part fails")
				}
			})
		}()
		if ended.Load() != 4 {
			t.Errorf("part %d: %d parts ended before the panic", bad, ended.Load())
		}
	}
}
