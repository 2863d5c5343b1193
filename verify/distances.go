package verify

import (
	"cmp"
	"context"
	"slices"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Distance is how far the values of two ops are apart.
type Distance struct {
	A, B             *ir.Op
	ModuleA, ModuleB *ir.Module
	Value            *Comparison // of the worst result and execution
}

// Limits of Distances.
const (
	distanceBytes = 64 << 20 // size of the values that one run probes; each op counts once
	maxScopes     = 256
)

// Distances probes all ops of main, of the functions that it calls and of the regions whose order of execution is
// known, and returns how far they are apart, in the order of a. It pairs ops as Bisect does. Ops that only one side
// executes have no distance.
func Distances(ctx context.Context, a, b *Source, args []*tensor.Tensor, tol Tolerance) ([]Distance, error) {
	src := [2]*Source{a, b}
	var out []Distance
	for from := 0; ; {
		var programs [2]*hlocb.Program
		for i, s := range src {
			var err error
			if programs[i], err = s.Load(ctx); err != nil {
				return nil, err
			}
		}
		pairs, err := allPairs(programs)
		if err != nil {
			return nil, err
		}
		to, size := from, int64(0)
		for to < len(pairs) && (to == from || size < distanceBytes) {
			size += probedBytes(pairs[to][0])
			to++
		}
		if to == from {
			return out, nil
		}
		events, sites, err := runProbes(ctx, src, programs, pairs[from:to], args)
		if err != nil {
			return nil, err
		}
		worst := make([]Distance, to-from)
		eachPair(sites, events, func(p probe, _ int, x, y *Event) {
			if y == nil {
				return
			}
			d := &worst[p.op]
			if c := Compare(x.Operands[0], y.Operands[0], tol); d.Value == nil || further(c, d.Value) {
				d.Value = c
			}
		})
		for i, d := range worst {
			if d.Value != nil {
				d.A, d.B, d.ModuleA, d.ModuleB = pairs[from+i][0], pairs[from+i][1], programs[0].Module(), programs[1].Module()
				out = append(out, d)
			}
		}
		from = to
	}
}

// further reports whether x is a larger distance than y.
func further(x, y *Comparison) bool {
	return cmp.Or(cmp.Compare(len(x.OtherType), len(y.OtherType)), cmp.Compare(x.NaN, y.NaN), cmp.Compare(x.MaxULP, y.MaxULP), cmp.Compare(x.Different, y.Different)) > 0
}

// allPairs pairs the ops of all scopes of two programs, each scope before the scopes inside of it.
func allPairs(programs [2]*hlocb.Program) (out [][2]*ir.Op, err error) {
	queue := [][2]scope{{}}
	functions := map[string]bool{}
	for n := 0; n < len(queue) && n < maxScopes; n++ {
		var blocks [2][]*ir.Block
		for i, p := range programs {
			if blocks[i], err = queue[n][i].blocks(p.Module()); err != nil {
				return nil, err
			}
		}
		pairs := pairOps(blocks[0], blocks[1])
		out = append(out, pairs...)
		for _, p := range pairs {
			next, ok := inside(p, queue[n])
			if !ok {
				continue
			}
			if len(next[0].path) == 0 { // a function
				if name := next[0].fn + "\x00" + next[1].fn; functions[name] {
					continue
				} else {
					functions[name] = true
				}
			}
			queue = append(queue, next)
		}
	}
	seen := map[*ir.Op]bool{}
	return slices.DeleteFunc(out, func(p [2]*ir.Op) bool { // an op may stand in two scopes
		again := seen[p[0]]
		seen[p[0]] = true
		return again
	}), nil
}

// probedBytes is the size of the results of op that a probe can observe.
func probedBytes(op *ir.Op) (size int64) {
	for _, r := range op.Results() {
		if t, ok := r.Type().(*ir.TensorType); ok && format.CanReduce(r) {
			size += tensor.Shape(t.Shape()).NumElements() * int64(t.DType().Size())
		}
	}
	return size
}
