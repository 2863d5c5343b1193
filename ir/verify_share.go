package ir

import (
	"sync"
	"sync/atomic"

	"github.com/hlocb/hlocb/diag"
)

// parallelFrom is the number of values in a module from which parallel checks pay off. chunkOps is the number of ops
// per unit of work.
const (
	parallelFrom = 2000
	chunkOps     = 256
)

// share checks the ops of b in chunks, with the goroutines still available. If b is a single chunk, share does nothing
// and returns false. Chunks are independent, because checks only read the module. An op that is isolated from above,
// such as a function, is a chunk by itself because it can be large.
func (v *verifier) share(b *Block) bool {
	if !b.large() {
		return false
	}
	var starts []*Op
	n := 0
	for o := b.first; o != nil; o = o.next {
		isolated := isolated(o)
		if n == 0 || isolated {
			starts = append(starts, o)
			n = 0
		}
		if n++; isolated || n == chunkOps {
			n = 0
		}
	}
	if len(starts) < 2 {
		return false
	}
	found := make([]diag.List, len(starts))
	var (
		next   atomic.Int32
		wait   sync.WaitGroup
		once   sync.Once
		failed any
	)
	var work func()
	work = func() {
		defer func() {
			if r := recover(); r != nil {
				once.Do(func() { failed = r })
			}
		}()
		w := &verifier{ends: v.ends, r: Reporter{ctx: v.r.ctx, src: v.r.src, symbols: v.r.symbols}, spare: v.spare}
		for {
			i := int(next.Add(1)) - 1
			if i >= len(starts) {
				return
			}
			if i+1 < len(starts) && v.take() {
				wait.Go(func() {
					defer v.spare.Add(1)
					work()
				})
			}
			var end *Op
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			w.ops(starts[i], end)
			found[i], w.r.list = w.r.list, nil // w.r.size stays: these findings come before those of the next chunk
		}
	}
	work()
	wait.Wait()
	if failed != nil {
		panic(failed) // in the caller's goroutine, where it can be recovered
	}
	for _, list := range found {
		v.r.list = append(v.r.list, list...)
		for _, d := range list {
			v.r.size += len(d.Message)
		}
	}
	return true
}

// large reports whether b is more than one chunk. Most blocks are small, and large is cheaper than a split into chunks.
func (b *Block) large() bool {
	n := 0
	for o := b.first; o != nil; o = o.next {
		if n++; n > chunkOps || n > 1 && (isolated(o) || isolated(o.prev)) {
			return true
		}
	}
	return false
}

func isolated(o *Op) bool { return o.parts != nil && o.Has(IsolatedFromAbove) }

// take reports whether one more goroutine may start, and counts it.
func (v *verifier) take() bool {
	if v.spare.Load() <= 0 {
		return false
	}
	if v.spare.Add(-1) < 0 {
		v.spare.Add(1)
		return false
	}
	return true
}
