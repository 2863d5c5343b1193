// Package rewrite changes modules by patterns. A pattern is a function that matches one op and replaces it.
//
// All changes go through a Rewriter, which informs listeners, statistics and drivers. Greedy applies patterns until
// none matches. Convert changes the types of values, from one type to one or several. Every op that a rewrite creates
// gets the locations of the ops that it replaces.
package rewrite

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Listener is notified of every change that a Rewriter makes, right after the change or right before an op is erased.
// Nil functions are skipped.
type Listener struct {
	Created  func(op *ir.Op)                     // op was inserted
	Changed  func(op *ir.Op)                     // attributes, operands, regions or successors of op changed
	Moved    func(op *ir.Op)                     // op is now at another place
	Replaced func(op *ir.Op, values []*ir.Value) // values replace op's results (nil: an unused result); op is erased next
	Erased   func(op *ir.Op)                     // op and everything inside it is about to be erased
}

// Statistics counts changes.
type Statistics struct {
	Created, Changed, Moved, Replaced, Erased int
}

// Add adds t to s.
func (s *Statistics) Add(t Statistics) {
	s.Created += t.Created
	s.Changed += t.Changed
	s.Moved += t.Moved
	s.Replaced += t.Replaced
	s.Erased += t.Erased
}

func (s Statistics) total() int { return s.Created + s.Changed + s.Moved + s.Erased }

// Rewriter changes a module. Patterns must make all their changes through it.
type Rewriter struct {
	m         *ir.Module
	listeners []*Listener
	stats     Statistics
	active    bool     // between begin and finish
	created   []*ir.Op // since begin
	sources   []place  // of the ops matched, replaced and erased since begin
	locs      ir.LocTable
}

// place is the origin of an op.
type place struct {
	loc    *ir.Loc
	pos    diag.Pos
	origin uint32
}

// New returns a Rewriter of m that notifies listeners of its changes.
func New(m *ir.Module, listeners ...*Listener) *Rewriter {
	return &Rewriter{m: m, listeners: listeners}
}

// Module returns the module that r changes.
func (r *Rewriter) Module() *ir.Module { return r.m }

// Statistics returns the number of changes so far.
func (r *Rewriter) Statistics() Statistics { return r.stats }

// Before returns a builder that inserts before op. Ops inserted by r's builders get the fused location of the ops that
// the rewrite matches, replaces and erases, unless the builder or the pattern sets another location.
func (r *Rewriter) Before(op *ir.Op) *ir.Builder { return r.builder(r.m.Before(op)) }

// After returns a builder that inserts after op, in order.
func (r *Rewriter) After(op *ir.Op) *ir.Builder { return r.builder(r.m.After(op)) }

// AtStart returns a builder that inserts at the start of b, in order.
func (r *Rewriter) AtStart(b *ir.Block) *ir.Builder { return r.builder(r.m.AtStart(b)) }

// AtEnd returns a builder that appends to b.
func (r *Rewriter) AtEnd(b *ir.Block) *ir.Builder { return r.builder(r.m.AtEnd(b)) }

// Like returns a builder that inserts before op an op to replace op by: with op's result types, discardable attributes
// and location. See ir.Builder.Like.
func (r *Rewriter) Like(op *ir.Op) *ir.Builder {
	return r.builder(r.m.Before(op).Like(op))
}

func (r *Rewriter) builder(b *ir.Builder) *ir.Builder { return b.At(nil, 0).OnInsert(r.inserted) }

func (r *Rewriter) inserted(op *ir.Op) {
	r.stats.Created++
	if r.active {
		r.created = append(r.created, op)
	}
	for _, l := range r.listeners {
		if l.Created != nil {
			l.Created(op)
		}
	}
}

// Update calls change, which may change attributes, operands, successors or block arguments of op in place.
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

// ReplaceUses replaces v by w in the uses that keep selects, or in all uses if keep is nil. The values must have one
// type. If they do not, ReplaceUses panics with a *diag.Diagnostic at the op that defines v. Greedy and the driver of
// passes report the diagnostic as an error.
func (r *Rewriter) ReplaceUses(v, w *ir.Value, keep func(*ir.Use) bool) {
	r.sameType(v, w)
	r.RetypeUses(v, w, keep)
}

// RetypeUses is ReplaceUses for a value of another type, which the users must accept.
func (r *Rewriter) RetypeUses(v, w *ir.Value, keep func(*ir.Use) bool) {
	for u := range v.Uses() {
		if v != w && (keep == nil || keep(u)) {
			u.Set(w)
			r.changed(u.Owner())
		}
	}
}

// sameType panics if w, which replaces v, has another type.
func (r *Rewriter) sameType(v, w *ir.Value) {
	if v.Type() == w.Type() {
		return
	}
	at, what := v.DefiningOp(), "result"
	if at == nil {
		at, what = v.Block().Parent(), "region argument"
	}
	if at == nil {
		at = r.m.Op()
	}
	panic(r.m.Errorf(at, "%s #%d of '%s' is '%s'; its replacement is '%s'", what, v.Index(), at.Name(), v.Type(), w.Type()).
		Note(at.Pos(), "convert the value, or call ReplaceRetyped or RetypeUses if every user accepts its type"))
}

// Replace replaces the uses of op's results by values of the same types and erases op. It panics like ReplaceUses if a
// type differs.
func (r *Rewriter) Replace(op *ir.Op, values ...*ir.Value) {
	for i, v := range op.Results() {
		if i < len(values) {
			r.sameType(v, values[i])
		}
	}
	r.ReplaceRetyped(op, values...)
}

// ReplaceRetyped is Replace for values of other types, which the users of the results must accept.
func (r *Rewriter) ReplaceRetyped(op *ir.Op, values ...*ir.Value) {
	if len(values) != op.NumResults() {
		panic(r.m.Errorf(op, "'%s' has %d results; %d values replace them", op.Name(), op.NumResults(), len(values)))
	}
	for i, v := range op.Results() {
		r.RetypeUses(v, values[i], nil)
	}
	r.replaced(op, values)
	r.Erase(op)
}

// replaced records that values replace the results of op, which is erased next.
func (r *Rewriter) replaced(op *ir.Op, values []*ir.Value) {
	r.stats.Replaced++
	for _, l := range r.listeners {
		if l.Replaced != nil {
			l.Replaced(op, values)
		}
	}
}

// Rebuild replaces op by a new op that st describes. The new op takes over op's regions before the listeners hear that
// op is erased. See ir.Module.Rebuild.
func (r *Rewriter) Rebuild(op *ir.Op, st *ir.OpState, results []int) *ir.Op {
	full := *st
	full.Attrs = ir.RemapResults(op, st, ir.Inverse(results, op.NumResults(), len(st.Types)))
	full.Bodies = append(op.DetachRegions(), st.Bodies...)
	n := r.After(op).Insert(&full)
	values := make([]*ir.Value, op.NumResults())
	for i, v := range op.Results() {
		k := i
		if results != nil {
			k = results[i]
		}
		switch {
		case k >= 0:
			values[i] = n.Result(k)
			values[i].SetName(v.Name())
			r.ReplaceUses(v, values[i], nil)
		case v.HasUses():
			panic("rewrite: rebuilding " + op.Name() + " without a result that is in use")
		}
	}
	r.replaced(op, values)
	r.Erase(op)
	return n
}

// Erase removes op and everything inside it. The results of op must have no uses.
func (r *Rewriter) Erase(op *ir.Op) {
	r.erasing(op)
	op.Erase()
}

// erasing records that op is about to be erased.
func (r *Rewriter) erasing(op *ir.Op) {
	r.source(op)
	r.stats.Erased++
	for _, l := range r.listeners {
		if l.Erased != nil {
			l.Erased(op)
		}
	}
}

// eraseBlocks erases blocks that no other block branches to or uses values of.
func (r *Rewriter) eraseBlocks(blocks []*ir.Block) {
	drop := func(v *ir.Value) {
		for u := range v.Uses() {
			u.Set(nil)
		}
	}
	for _, b := range blocks {
		for op := range b.Ops() {
			for _, v := range op.Results() {
				drop(v)
			}
		}
	}
	for _, b := range blocks {
		for op := range b.Ops() {
			r.Erase(op)
		}
		for _, v := range b.Args() {
			drop(v)
		}
	}
	for _, b := range blocks {
		b.Erase()
	}
}

// MoveBefore moves op before at.
func (r *Rewriter) MoveBefore(op, at *ir.Op) {
	op.MoveBefore(at)
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

// dropLoc drops the location of op, which now represents ops at several places.
func (r *Rewriter) dropLoc(op *ir.Op) {
	if op.Loc() != nil {
		op.SetLoc(nil)
		r.changed(op)
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

// SplitBefore moves op and the ops after it into a new block and returns the block. See ir.Block.SplitBefore.
func (r *Rewriter) SplitBefore(op *ir.Op) *ir.Block {
	b := op.Block().SplitBefore(op)
	r.movedAll(op, nil)
	return b
}

// InlineBefore moves the ops of b before op and replaces b's arguments by values. See ir.Block.InlineBefore.
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

// movedAll notifies the listeners of op and the ops after it, up to but excluding end.
func (r *Rewriter) movedAll(op, end *ir.Op) {
	for ; op != nil && op != end; op = op.Next() {
		r.moved(op)
	}
}

// begin starts the rewrite of op. The ops created after it replace op.
func (r *Rewriter) begin(op *ir.Op) {
	r.active, r.created, r.sources = true, r.created[:0], r.sources[:0]
	r.source(op)
}

func (r *Rewriter) source(op *ir.Op) {
	if !r.active {
		return
	}
	if p := (place{op.Loc(), op.Pos(), op.Origin()}); !slices.Contains(r.sources, p) {
		r.sources = append(r.sources, p)
	}
}

// finish gives the ops created since begin the locations of the ops that they replace.
func (r *Rewriter) finish() {
	r.active = false
	var loc *ir.Loc
	for _, op := range r.created {
		if op.Loc() != nil || op.Pos().IsValid() {
			continue
		}
		if loc == nil {
			loc = r.fusedLoc()
		}
		op.SetLoc(loc)
		op.SetPos(r.sources[0].pos)
		op.SetOrigin(r.sources[0].origin)
	}
}

// fusedLoc returns the fused location of all sources. A single source without a location keeps none; its position is
// enough.
func (r *Rewriter) fusedLoc() *ir.Loc {
	if len(r.sources) == 1 {
		return r.sources[0].loc
	}
	var locs []*ir.Loc
	for _, s := range r.sources {
		if src := r.m.Source(); s.loc == nil && src != nil && s.pos.IsValid() {
			line, col := src.LineColumn(s.pos)
			s.loc = r.locs.File(src.Name(), uint32(line), uint32(col), 0, 0)
		}
		locs = append(locs, s.loc)
	}
	return r.locs.Fuse(locs)
}
