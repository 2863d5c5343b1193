// Package reduce makes modules smaller while a test still finds them interesting, such as a program that makes a
// compiler crash.
package reduce

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// Options configures Reduce.
type Options struct {
	// Test reports whether a module is interesting. An error ends the reduction.
	Test func(ctx context.Context, text []byte) (bool, error)
	// Parse reads the text of a module and verifies it.
	Parse func(text []byte) (*ir.Module, error)
	// Better receives each smaller module; it may be nil. An error ends the reduction.
	Better func(text []byte, s Status) error
	// Progress is called after each test; it may be nil.
	Progress func(s Status)
}

// Status describes a reduction.
type Status struct {
	Ops, Bytes int    // of the smallest interesting module
	Tests      int    // run so far
	Step       string // the kind of change under test
}

// NotInterestingError reports that the test does not find the given module interesting.
type NotInterestingError struct{}

func (NotInterestingError) Error() string {
	return "the test does not find the module interesting (it must end with exit code 0)"
}

// Reduce returns the text of a module that is as interesting as m and 1-minimal: no single op, function, result,
// argument or loop can be removed from it. m must be valid. If ctx ends, Reduce returns the best text so far with ctx's
// error.
func Reduce(ctx context.Context, m *ir.Module, o Options) (text []byte, s Status, err error) {
	r := &reducer{ctx: ctx, o: o, tried: map[[32]byte]bool{}}
	r.set(m, textOf(m))
	defer func() {
		if e := recover(); e != nil {
			stop, ok := e.(stopError)
			if !ok {
				panic(e)
			}
			text, s, err = r.text, r.status, stop.err
		}
	}()
	if !r.test(r.text) {
		return nil, r.status, NotInterestingError{}
	}
	for {
		before := r.size
		r.removals()
		r.regions()
		r.calls()
		r.signatures()
		r.attributes()
		r.literals()
		r.shapes()
		if r.size == before {
			return r.text, r.status, nil
		}
	}
}

// textOf returns the text that tests get.
func textOf(m *ir.Module) []byte { return print.Append(nil, m, reader.Written(m, print.Options{})) }

// stopError ends the reduction.
type stopError struct{ err error }

// size orders modules: fewer ops, then fewer values, then shorter text.
type size struct{ ops, values, bytes int }

func (a size) less(b size) bool {
	if a.ops != b.ops {
		return a.ops < b.ops
	}
	if a.values != b.values {
		return a.values < b.values
	}
	return a.bytes < b.bytes
}

type reducer struct {
	ctx    context.Context
	o      Options
	best   *ir.Module
	text   []byte
	size   size
	status Status
	tried  map[[32]byte]bool // texts that are not interesting
}

func (r *reducer) set(m *ir.Module, text []byte) {
	r.best, r.text, r.size = m, text, sizeOf(m, len(text))
	r.status.Ops, r.status.Bytes = r.size.ops, len(text)
}

func sizeOf(m *ir.Module, bytes int) size {
	s := size{bytes: bytes}
	m.Walk(func(op *ir.Op) bool {
		s.ops++
		s.values += op.NumResults() + op.NumOperands()
		for _, g := range op.Regions() {
			for _, b := range g.Blocks() {
				s.values += len(b.Args())
			}
		}
		return true
	})
	return s
}

// test runs the test on a text.
func (r *reducer) test(text []byte) bool {
	key := sha256.Sum256(text)
	if r.tried[key] {
		return false
	}
	if err := r.ctx.Err(); err != nil {
		panic(stopError{err})
	}
	ok, err := r.o.Test(r.ctx, text)
	if err == nil {
		err = r.ctx.Err()
	}
	if err != nil {
		panic(stopError{err})
	}
	r.status.Tests++
	if !ok {
		r.tried[key] = true
	}
	if r.o.Progress != nil {
		r.o.Progress(r.status)
	}
	return ok
}

// try applies edit to a copy of the best module and keeps the copy if it is valid, smaller and interesting. edit gets
// the ops of the copy in program order and reports whether it changed anything.
func (r *reducer) try(edit func(m *ir.Module, ops []*ir.Op) bool) bool {
	m := r.best.Clone()
	return edit(m, opsOf(m)) && r.offer(m)
}

// offer keeps m if it is valid, smaller and interesting.
func (r *reducer) offer(m *ir.Module) bool {
	if ir.Verify(m) != nil {
		return false
	}
	text := textOf(m)
	if !sizeOf(m, len(text)).less(r.size) || !r.test(text) {
		return false
	}
	r.set(m, text)
	if r.o.Better != nil {
		if err := r.o.Better(text, r.status); err != nil {
			panic(stopError{err})
		}
	}
	return true
}

// opsOf returns the ops of m in program order.
func opsOf(m *ir.Module) []*ir.Op {
	var out []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		out = append(out, op)
		return true
	})
	return out
}

// chunks calls try for runs of the numbers below n, from the end: all of them, halves, and so on down to single ones,
// until no single one can go. try removes the numbers from lo to hi and reports whether it did; count returns n.
func (r *reducer) chunks(step string, count func() int, try func(lo, hi int) bool) {
	r.status.Step = step
	for size := count(); size >= 1; {
		removed := false
		for hi := count(); hi > 0; {
			lo := max(0, hi-size)
			if try(lo, hi) {
				removed = true
			}
			hi = min(lo, count())
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case !removed:
			return
		}
	}
}

// tryEach calls try for the numbers below count, from the end, until none succeeds.
func (r *reducer) tryEach(step string, count func() int, try func(i int) bool) {
	r.status.Step = step
	for again := true; again; {
		again = false
		for i := count() - 1; i >= 0; i-- {
			if i < count() && try(i) {
				again = true
			}
		}
	}
}

// removals removes functions, then ops.
func (r *reducer) removals() {
	for _, kind := range [...]struct {
		step    string
		selects func(op *ir.Op) bool
	}{
		{"functions", func(op *ir.Op) bool { return op.Has(ir.Symbol) }},
		{"ops", func(op *ir.Op) bool { return !op.Has(ir.Terminator) }},
	} {
		list := func(ops []*ir.Op) []*ir.Op {
			return slices.DeleteFunc(slices.Clone(ops), func(op *ir.Op) bool { return !kind.selects(op) || isLast(op) })
		}
		r.chunks(kind.step, func() int { return len(list(opsOf(r.best))) }, func(lo, hi int) bool {
			return r.try(func(m *ir.Module, ops []*ir.Op) bool { return remove(m, ops, list(ops)[lo:hi]) })
		})
	}
}

// isLast reports whether op ends a block that needs a terminator. Ops of unknown kinds may be terminators.
func isLast(op *ir.Op) bool {
	return op.Next() == nil && op.Parent() != nil && op.MightHave(ir.Terminator) && !op.Parent().Has(ir.NoTerminator)
}

// regions replaces ops with regions, such as loops, by the ops of one region, and drops their results.
func (r *reducer) regions() {
	list := func(ops []*ir.Op) []*ir.Op {
		return slices.DeleteFunc(slices.Clone(ops), func(op *ir.Op) bool { return len(op.Regions()) == 0 || op.Has(ir.Symbol) })
	}
	count := func() int { return len(list(opsOf(r.best))) }
	r.tryEach("loops", count, func(i int) bool {
		for k := range len(list(opsOf(r.best))[i].Regions()) {
			if r.try(func(m *ir.Module, ops []*ir.Op) bool { return unwrap(m, list(ops)[i], k) }) {
				return true
			}
		}
		return false
	})
	r.tryEach("results of loops", count, func(i int) bool {
		done := false
		for k := list(opsOf(r.best))[i].NumResults() - 1; k >= 0; k-- {
			done = r.try(func(m *ir.Module, ops []*ir.Op) bool { return dropResult(m, list(ops)[i], k) }) || done
		}
		return done
	})
}

// attributes removes locations, resources and attributes that are not part of an op.
func (r *reducer) attributes() {
	r.status.Step = "attributes"
	r.try(func(m *ir.Module, ops []*ir.Op) bool {
		for _, op := range ops {
			op.SetLoc(nil)
			for _, g := range op.Regions() {
				for _, b := range g.Blocks() {
					for _, a := range b.Args() {
						a.SetLoc(nil)
					}
				}
			}
		}
		m.SetResources(nil)
		return true
	})
	names := func(op *ir.Op) []string {
		var out []string
		for _, a := range op.Attrs() {
			if spec := op.Def().Attr(a.Name); spec == nil || spec.Optional || spec.Default != nil {
				out = append(out, a.Name)
			}
		}
		return out
	}
	all := func(m *ir.Module) []*ir.Op { return append([]*ir.Op{m.Op()}, opsOf(m)...) }
	r.try(func(m *ir.Module, _ []*ir.Op) bool {
		for _, op := range all(m) {
			for _, n := range names(op) {
				if op.Def().Attr(n) == nil && n != ir.SymbolName {
					op.RemoveAttr(n)
				}
			}
		}
		return true
	})
	r.tryEach("attributes", func() int { return len(all(r.best)) }, func(i int) bool {
		done := false
		for _, n := range names(all(r.best)[i]) {
			done = r.try(func(m *ir.Module, _ []*ir.Op) bool {
				all(m)[i].RemoveAttr(n)
				return true
			}) || done
		}
		return done
	})
}

// String returns the status as a line.
func (s Status) String() string {
	return fmt.Sprintf("%d ops, %d bytes after %d tests (%s)", s.Ops, s.Bytes, s.Tests, s.Step)
}
