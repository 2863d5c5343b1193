// Package rewrite changes modules by patterns: functions that look at one op and replace it by something better.
//
// A Rewriter makes every change, which lets listeners, statistics and drivers see it. Greedy applies patterns until none
// matches; Convert gives values other types, one type for one or several for one. Every op that a rewrite creates gets the
// locations of the ops it stands for.
package rewrite

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Listener hears of every change that a Rewriter makes, right after the change, or right before an op is erased. A nil
// function hears nothing.
type Listener struct {
	Created  func(op *ir.Op)                     // op was inserted
	Changed  func(op *ir.Op)                     // attributes, operands, regions or successors of op changed
	Moved    func(op *ir.Op)                     // op stands elsewhere
	Replaced func(op *ir.Op, values []*ir.Value) // values take the place of op's results; op is erased next
	Erased   func(op *ir.Op)                     // op and everything inside it goes
}

// Statistics counts changes.
type Statistics struct {
	Created, Changed, Moved, Replaced, Erased int
}

func (s Statistics) total() int { return s.Created + s.Changed + s.Moved + s.Erased }

// Rewriter makes changes of a module. Patterns change the module through it alone.
type Rewriter struct {
	m         *ir.Module
	listeners []*Listener
	stats     Statistics
	created   []*ir.Op // since begin
	sources   []place  // of the ops that were matched, replaced and erased since begin
}

// place is where an op comes from.
type place struct {
	loc *ir.Loc
	pos diag.Pos
}

// New returns a Rewriter of m that tells listeners of its changes.
func New(m *ir.Module, listeners ...*Listener) *Rewriter {
	return &Rewriter{m: m, listeners: listeners}
}

// Module returns the module that r changes.
func (r *Rewriter) Module() *ir.Module { return r.m }

// Statistics returns the number of changes so far.
func (r *Rewriter) Statistics() Statistics { return r.stats }

// Before returns a builder that inserts before op. The ops that builders of r insert get the fused location of the ops that
// the rewrite matches, replaces and erases, unless the builder or the pattern gives them another one.
func (r *Rewriter) Before(op *ir.Op) *ir.Builder { return r.builder(r.m.Before(op)) }

// After returns a builder that inserts after op, in order.
func (r *Rewriter) After(op *ir.Op) *ir.Builder { return r.builder(r.m.After(op)) }

// AtStart returns a builder that inserts at the start of b, in order.
func (r *Rewriter) AtStart(b *ir.Block) *ir.Builder { return r.builder(r.m.AtStart(b)) }

// AtEnd returns a builder that appends to b.
func (r *Rewriter) AtEnd(b *ir.Block) *ir.Builder { return r.builder(r.m.AtEnd(b)) }

func (r *Rewriter) builder(b *ir.Builder) *ir.Builder { return b.At(nil, 0).OnInsert(r.inserted) }

func (r *Rewriter) inserted(op *ir.Op) {
	r.stats.Created++
	r.created = append(r.created, op)
	for _, l := range r.listeners {
		if l.Created != nil {
			l.Created(op)
		}
	}
}

// CloneBefore inserts a copy of op, with everything inside it, before at. See ir.Module.CloneOp.
func (r *Rewriter) CloneBefore(op, at *ir.Op, mapping map[*ir.Value]*ir.Value) *ir.Op {
	c := r.m.CloneOp(op, mapping)
	at.Block().InsertBefore(c, at)
	c.Walk(func(o *ir.Op) bool {
		r.inserted(o)
		return true
	})
	return c
}

// Update calls change, which changes attributes, operands, successors or block arguments of op in place.
func (r *Rewriter) Update(op *ir.Op, change func()) {
	change()
	r.changed(op)
}

func (r *Rewriter) changed(op *ir.Op) {
	r.stats.Changed++
	for _, l := range r.listeners {
		if l.Changed != nil {
			l.Changed(op)
		}
	}
}

// ReplaceUses makes the users of v that keep selects, or all if keep is nil, use w instead.
func (r *Rewriter) ReplaceUses(v, w *ir.Value, keep func(*ir.Use) bool) {
	for u := range v.Uses() {
		if v != w && (keep == nil || keep(u)) {
			u.Set(w)
			r.changed(u.Owner())
		}
	}
}

// Replace makes the users of op's results use values instead, and erases op.
func (r *Rewriter) Replace(op *ir.Op, values ...*ir.Value) {
	if len(values) != op.NumResults() {
		panic(fmt.Sprintf("rewrite: replacing the %d results of %s with %d values", op.NumResults(), op.Name(), len(values)))
	}
	for i, v := range op.Results() {
		r.ReplaceUses(v, values[i], nil)
	}
	r.stats.Replaced++
	for _, l := range r.listeners {
		if l.Replaced != nil {
			l.Replaced(op, values)
		}
	}
	r.Erase(op)
}

// Rebuild replaces op by an op made from st, which takes over its regions. See ir.Module.Rebuild.
func (r *Rewriter) Rebuild(op *ir.Op, st *ir.OpState, results []int) *ir.Op {
	users := slices.Collect(op.Users())
	r.source(op)
	for _, l := range r.listeners {
		if l.Erased != nil {
			l.Erased(op)
		}
	}
	n := r.m.Rebuild(op, st, results)
	r.stats.Replaced++
	r.stats.Erased++
	r.inserted(n)
	for _, u := range users {
		r.changed(u)
	}
	return n
}

// Erase removes op, whose results must not be in use, with everything inside it.
func (r *Rewriter) Erase(op *ir.Op) {
	r.source(op)
	r.stats.Erased++
	for _, l := range r.listeners {
		if l.Erased != nil {
			l.Erased(op)
		}
	}
	op.Erase()
}

// MoveBefore moves op before at.
func (r *Rewriter) MoveBefore(op, at *ir.Op) {
	op.MoveBefore(at)
	r.moved(op)
}

// MoveAfter moves op after at.
func (r *Rewriter) MoveAfter(op, at *ir.Op) {
	op.MoveAfter(at)
	r.moved(op)
}

func (r *Rewriter) moved(op *ir.Op) {
	r.stats.Moved++
	for _, l := range r.listeners {
		if l.Moved != nil {
			l.Moved(op)
		}
	}
}

// TakeBlocks moves the blocks of from to the end of to.
func (r *Rewriter) TakeBlocks(to, from *ir.Region) {
	blocks := from.Blocks()
	to.TakeBlocks(from)
	for _, b := range blocks {
		r.movedAll(b.First(), nil)
	}
	for _, region := range []*ir.Region{to, from} {
		if op := region.Op(); op != nil {
			r.changed(op)
		}
	}
}

// SplitBefore moves op and the ops after it into a new block, which it returns. See ir.Block.SplitBefore.
func (r *Rewriter) SplitBefore(op *ir.Op) *ir.Block {
	b := op.Block().SplitBefore(op)
	r.movedAll(op, nil)
	return b
}

// InlineBefore moves the ops of b before op, with values in place of its arguments. See ir.Block.InlineBefore.
func (r *Rewriter) InlineBefore(b *ir.Block, op *ir.Op, values ...*ir.Value) {
	first, parent := b.First(), b.Parent()
	var users []*ir.Op
	for _, a := range b.Args() {
		users = slices.AppendSeq(users, a.Users())
	}
	b.InlineBefore(op, values...)
	r.movedAll(first, op)
	for _, u := range users {
		r.changed(u)
	}
	if parent != nil {
		r.changed(parent)
	}
}

// movedAll tells of op and the ops after it up to end, which it leaves out.
func (r *Rewriter) movedAll(op, end *ir.Op) {
	for ; op != end; op = op.Next() {
		r.moved(op)
	}
}

// begin starts the rewrite of op: the ops created from now on stand for it.
func (r *Rewriter) begin(op *ir.Op) {
	r.created, r.sources = r.created[:0], r.sources[:0]
	r.source(op)
}

func (r *Rewriter) source(op *ir.Op) {
	if p := (place{op.Loc(), op.Pos()}); !slices.Contains(r.sources, p) {
		r.sources = append(r.sources, p)
	}
}

// finish gives the ops created since begin the locations of what they stand for.
func (r *Rewriter) finish() {
	var loc *ir.Loc
	for i, op := range r.created {
		if op.Erased() || op.Loc() != nil || op.Pos().IsValid() {
			continue
		}
		if i == 0 || loc == nil {
			loc = r.fused()
		}
		op.SetLoc(loc)
		op.SetPos(r.sources[0].pos)
	}
}

// fused returns the location of all sources. One source without a location keeps none: its position says where it is.
func (r *Rewriter) fused() *ir.Loc {
	if len(r.sources) == 1 {
		return r.sources[0].loc
	}
	var locs []*ir.Loc
	for _, s := range r.sources {
		if src := r.m.Source(); s.loc == nil && src != nil && s.pos.IsValid() {
			line, col := src.LineColumn(s.pos)
			s.loc = ir.NewFileLoc(src.Name(), uint32(line), uint32(col))
		}
		locs = append(locs, s.loc)
	}
	return ir.FuseLocs(locs...)
}
