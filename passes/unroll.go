package passes

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Unroll replaces loops of a known number of trips by their trips, one after the other.
type Unroll struct {
	MaxTrips pass.Opt[int] `pass:"max-trips" default:"8" doc:"unroll loops of at most this many trips"`
	MaxOps   pass.Opt[int] `pass:"max-ops" default:"4096" doc:"unroll no loop into more operations"`

	Formats format.List // of hooks; nil: format.Builtin
}

func (Unroll) Info() *pass.Info {
	return &pass.Info{
		Name: "unroll-loops",
		Doc: "Replaces a loop that counts from a constant to a constant by its trips. A raised hook is copied with its name and id; a loop with a hook " +
			"that is not raised stays.",
	}
}

func (p Unroll) Run(ctx *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	unraised, err := format.Unraised(m, format.RaiseOptions{Formats: p.Formats, Context: ctx})
	if err != nil {
		return err
	}
	r := rewrite.New(m)
	stop := stopper{ctx: ctx}
	m.Op().WalkPost(func(op *ir.Op) bool { // inner loops first
		if stop.now() {
			return false
		}
		v, ok := stablehlo.AsWhile(op)
		if !ok {
			return true
		}
		trips, ok := tripCount(v, p.MaxTrips.Get())
		ops := 0
		raised := op.Walk(func(o *ir.Op) bool {
			ops++
			return !o.Pos().IsValid() || !unraised[o.Pos()]
		})
		if ok && raised && ops*trips <= p.MaxOps.Get() {
			unroll(r, v, trips, func() bool { return stop.passed(ops) })
		}
		return !stop.passed(ops)
	})
	ctx.Changes(r.Statistics())
	return ctx.Err()
}

// tripCount returns the number of trips of a loop that ends when a carried integer, which each trip changes by a
// constant, fails a comparison with a constant. ok is false for other loops and for loops of more than limit trips.
func tripCount(v stablehlo.WhileOp, limit int) (n int, ok bool) {
	cond, body := v.Cond().Entry(), v.Body().Entry()
	test, ok := stablehlo.AsCompare(cond.Last().Operand(0).DefiningOp())
	if !ok || test.Block() != cond {
		return 0, false
	}
	x, y, direction := test.LHS(), test.RHS(), test.ComparisonDirection()
	if x.Block() != cond {
		x, y, direction = y, x, swappedDirection[direction]
	}
	bound, ok := constantInt(y)
	if !ok || x.Block() != cond {
		return 0, false
	}
	i := x.Index()
	at, ok := constantInt(v.Operand(i))
	next := body.Last().Operand(i).DefiningOp()
	if !ok || next == nil || !next.IsOrMirrors(stablehlo.Add) && !next.IsOrMirrors(stablehlo.Subtract) {
		return 0, false
	}
	from, by := next.Operand(0), next.Operand(1)
	if from != body.Arg(i) && next.IsOrMirrors(stablehlo.Add) {
		from, by = by, from
	}
	step, ok := constantInt(by)
	if !ok || from != body.Arg(i) || !static(x).DType().IsInteger() {
		return 0, false
	}
	if next.IsOrMirrors(stablehlo.Subtract) {
		step = -step
	}
	low, high := integerRange(static(x))
	for n = 0; compares(direction, at, bound); n++ {
		at += step
		if n >= limit || at < low || at > high { // too many trips, or the count wraps around
			return 0, false
		}
	}
	return n, true
}

// compares reports whether the comparison of a with b is true.
func compares[T int64 | uint64](direction stablehlo.ComparisonDirection, a, b T) bool {
	switch direction {
	case stablehlo.ComparisonDirectionEQ:
		return a == b
	case stablehlo.ComparisonDirectionNE:
		return a != b
	case stablehlo.ComparisonDirectionGE:
		return a >= b
	case stablehlo.ComparisonDirectionGT:
		return a > b
	case stablehlo.ComparisonDirectionLE:
		return a <= b
	}
	return a < b
}

// integerRange returns the values of an integer type that an int64 can hold.
func integerRange(t *ir.TensorType) (low, high int64) {
	bits := min(t.DType().Bits(), 63)
	if t.DType().String()[0] == 'u' {
		return 0, 1<<bits - 1
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

// unroll replaces a loop by n trips. It keeps the condition of each trip for its side effects; the result is known. It
// asks stop before each trip, and leaves the loop after the trips so far if stop says so.
func unroll(r *rewrite.Rewriter, v stablehlo.WhileOp, n int, stop func() bool) {
	values := v.OperandList()
	run := func(b *ir.Block) []*ir.Value {
		mapping := map[*ir.Value]*ir.Value{}
		for i, a := range b.Args() {
			mapping[a] = values[i]
		}
		for op := range b.Ops() {
			if op != b.Last() {
				r.Before(v.Op).Clone(op, mapping)
			}
		}
		out := b.Last().OperandList()
		for i, x := range out {
			if y, ok := mapping[x]; ok {
				out[i] = y
			}
		}
		return out
	}
	for range n {
		if stop() {
			return
		}
		run(v.Cond().Entry())
		values = run(v.Body().Entry())
	}
	run(v.Cond().Entry())
	r.Replace(v.Op, values...)
}
