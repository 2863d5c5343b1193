package rewrite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Pattern is one way to rewrite ops.
type Pattern struct {
	Name string
	Rows []*ir.Def // the kinds of ops to match; none: every op of Dialect
	// Dialect names a dialect; its ops of unknown kinds match, too. "" means all dialects.
	Dialect string
	// Rewrite changes op through r if the pattern matches, and reports whether it did. If it returns false or an error,
	// it must not have changed anything.
	Rewrite func(r *Rewriter, op *ir.Op) (bool, error)
}

// For returns a pattern on the ops of row def. Its function gets the view of the op, which as makes: as is a function
// such as stablehlo.AsDotGeneral.
func For[V any](name string, def *ir.Def, as func(*ir.Op) (V, bool), rewrite func(r *Rewriter, v V) (bool, error)) *Pattern {
	return &Pattern{Name: name, Rows: []*ir.Def{def}, Rewrite: func(r *Rewriter, op *ir.Op) (bool, error) {
		v, ok := as(op)
		if !ok {
			return false, nil
		}
		return rewrite(r, v)
	}}
}

// Options configures Greedy.
type Options struct {
	// MaxRewrites limits the number of pattern applications. 0 means 1000 plus 32 per op at the start.
	MaxRewrites int
	// MaxIterations limits how often Greedy starts over after a change. 0 means no limit.
	MaxIterations int
	// StopAfter ends the work quietly after so many rewrites, erased ops included. 0 means no limit.
	StopAfter int
	// BottomUp visits the ops of each iteration in reverse program order.
	BottomUp bool
	// EraseDead erases ops that are Dead, and blocks that no branch reaches.
	EraseDead bool
	// KeepBlocks keeps the blocks that no branch reaches.
	KeepBlocks bool
	// Between is called after each iteration that changed something, before the next one. It may change the scope
	// through r.
	Between func(r *Rewriter)
	// Constants keeps one op per constant value, see Constants, and applies the Folds of the rows. It moves the constant
	// operands of commutative ops with a Fold to the end.
	Constants bool
	// ConstantsLast moves the constant operands of all commutative ops to the end.
	ConstantsLast bool
	Listeners     []*Listener
	// Context ends the work with its error; nil never does.
	Context context.Context
	// Enabled reports whether to apply a rule: a pattern, by its name, or one of FoldRule and ConstantsLast. Nil: all.
	Enabled func(rule string) bool
	// Applied is called after each application of a rule. The module is then valid; new ops may lack locations.
	Applied func(rule string)
}

// ConstantsLast is the rule that moves the constants among the operands of commutative ops after all other operands.
const ConstantsLast = "constants-last"

// FoldRule returns the name of the rule that applies the Fold of row.
func FoldRule(row *ir.Def) string { return "fold-" + row.Name }

// Driver applies patterns: Greedy, or a function that calls it with more options.
type Driver func(scope *ir.Op, patterns []*Pattern, o Options) (*Result, error)

// Result describes the work of Greedy.
type Result struct {
	Statistics
	Applied   map[string]int // number of applications of each rule, by name
	Converged bool           // false if MaxIterations or StopAfter ended the work
}

// Greedy applies patterns to the ops inside scope until none matches. It tries the patterns in order on one op after
// another: first in program order, then on the ops that a change may concern. These are new and changed ops, users of
// new values, and the defining ops of an erased op's operands. Greedy returns an error at the op if a pattern fails,
// breaks its contract, or exceeds the limit, as patterns that undo each other do.
//
// Greedy changes scope and everything inside it. Several goroutines may rewrite different ops of one module if these
// ops are IsolatedFromAbove.
func Greedy(scope *ir.Op, patterns []*Pattern, o Options) (res *Result, err error) {
	m := scope.Module()
	g := &greedy{scope: scope, o: o, queued: map[*ir.Op]bool{}, patterns: patterns}
	defer func() {
		if v := recover(); v != nil {
			d, ok := v.(*diag.Diagnostic)
			if !ok {
				panic(v)
			}
			err = d.Note(d.Pos, "pattern %s", g.rule)
		}
	}()
	g.r = New(m, append([]*Listener{{
		Created: g.enqueue, Changed: g.enqueue, Moved: g.enqueue, Erased: g.erased,
	}}, o.Listeners...)...)
	if o.Constants {
		g.constants = NewConstants(g.r)
	}
	res = &Result{Applied: map[string]int{}}
	g.applied = res.Applied
	for i := 0; err == nil; i++ {
		n := g.populate()
		if g.o.MaxRewrites == 0 {
			g.o.MaxRewrites = 1000 + 32*n
		}
		before, erasures := g.rewrites, g.erasures
		err = g.run()
		if err == nil && o.EraseDead && !o.KeepBlocks && g.unreachable() {
			before = -1
		}
		if o.Between != nil && g.erasures > erasures {
			before = -1
		}
		if res.Converged = err == nil && g.rewrites == before && !g.stopped(); res.Converged || i+1 == o.MaxIterations || g.stopped() {
			break
		}
		if o.Between != nil && err == nil {
			o.Between(g.r)
		}
	}
	res.Statistics = g.r.stats
	return res, err
}

type greedy struct {
	scope     *ir.Op
	o         Options
	r         *Rewriter
	patterns  []*Pattern
	byRow     []*work    // frequent rows come first
	constants *Constants // nil without Options.Constants
	list      []*ir.Op   // to try, in order
	// queued holds the ops of the list that were added after populate. An op of populate may be in the list twice, which
	// costs less than a set of all ops.
	queued   map[*ir.Op]bool
	rewrites int
	erasures int            // of dead ops
	applied  map[string]int // of Result
	rule     string         // the pattern that is tried
	blocks   bool           // some region has several blocks

	// The row that tries saw last, and whether there are patterns or a fold for it.
	row *ir.Def
	try bool
}

// work lists the patterns and folds to try on ops of one kind.
type work struct {
	row      *ir.Def
	patterns []*Pattern
	constant *ir.Def // the kind of the constants that results fold to
	fold     bool
	order    bool // constants of a commutative op are last
}

// populate queues the ops inside the scope with something to try on, in program order, and adopts constants.
// It returns the number of ops.
func (g *greedy) populate() int {
	n := 0
	var list []*ir.Op
	visit := func(op *ir.Op) {
		n++
		if g.constants != nil && op.Has(ir.ConstantLike) && !g.constants.Adopt(op) {
			return
		}
		if g.tries(op) {
			list = append(list, op)
		}
		for _, r := range op.Regions() {
			g.blocks = g.blocks || len(r.Blocks()) > 1
		}
	}
	g.scope.Walk(func(op *ir.Op) bool {
		if op != g.scope {
			visit(op)
		}
		return true
	})
	if g.o.BottomUp {
		slices.Reverse(list)
	}
	g.list = append(list, g.list...) // last the users of constants that were adopted
	return n
}

// tries reports whether there is something to try on op.
func (g *greedy) tries(op *ir.Op) bool {
	if row := op.Def(); row != g.row {
		w := g.of(row)
		g.row, g.try = row, len(w.patterns) > 0 || w.fold || w.order
	}
	return g.try || g.o.EraseDead && !op.HasUses() && op.Removable()
}

// enqueue queues op if there is something to try on it.
func (g *greedy) enqueue(op *ir.Op) {
	if g.tries(op) {
		g.add(op)
	}
}

func (g *greedy) add(op *ir.Op) {
	if op != g.scope && !g.queued[op] {
		g.queued[op] = true
		g.list = append(g.list, op)
	}
}

// erased queues the defining ops of the operands of an op to be erased, and of the ops inside it.
func (g *greedy) erased(op *ir.Op) {
	if g.constants != nil {
		g.constants.forget(op)
	}
	op.Walk(func(o *ir.Op) bool {
		for _, v := range o.Operands() {
			if v != nil && v.DefiningOp() != nil {
				g.add(v.DefiningOp())
			}
		}
		return true
	})
}

// did records that a rule was applied.
func (g *greedy) did(rule string) {
	g.rewrites++
	g.applied[rule]++
	if g.o.Applied != nil {
		g.o.Applied(rule)
	}
}

// stopped reports whether StopAfter ends the work.
func (g *greedy) stopped() bool { return g.o.StopAfter > 0 && g.rewrites+g.erasures >= g.o.StopAfter }

func (g *greedy) run() error {
	for i := 0; i < len(g.list); i++ {
		if g.o.Context != nil && i%64 == 0 {
			if err := g.o.Context.Err(); err != nil {
				return err
			}
		}
		if g.stopped() {
			break
		}
		op := g.list[i]
		delete(g.queued, op)
		if op.Erased() {
			continue
		}
		if g.o.EraseDead && !op.HasUses() && op.Removable() {
			g.r.Erase(op)
			g.erasures++
			continue
		}
		w := g.of(op.Def())
		if w.order && constantsLast(g.r, op) {
			g.did(ConstantsLast)
		}
		if w.fold && g.fold(w, op) {
			g.did(FoldRule(op.Def()))
			continue
		}
		for _, p := range w.patterns {
			if g.rewrites == g.o.MaxRewrites {
				return g.r.m.Errorf(op, "rewriting does not end: %d rewrites, and pattern %s still has to be tried on '%s'", g.rewrites, p.Name, op.Name())
			}
			done, err := g.apply(p, op)
			if err != nil {
				return err
			}
			if done {
				g.did(p.Name)
				if !op.Erased() {
					g.add(op)
				}
				break
			}
		}
	}
	g.list = g.list[:0]
	return nil
}

// fold replaces the results of op by the values that its row's Fold returns, and reports whether it did.
func (g *greedy) fold(w *work, op *ir.Op) bool {
	folded := op.Def().Fold(op)
	if folded == nil {
		return false
	}
	g.r.begin(op)
	defer g.r.finish()
	values := make([]*ir.Value, len(folded))
	for i, f := range folded {
		switch {
		case f.Value != nil:
			values[i] = f.Value
		case f.Attr != nil && (f.Constant != nil || w.constant != nil):
			values[i] = g.constants.Get(op.Block(), cmp.Or(f.Constant, w.constant), op.Result(i).Type(), f.Attr)
		default:
			return false
		}
	}
	g.r.Replace(op, values...)
	return true
}

// constantsLast moves the constants among op's operands after all other operands, and keeps the order otherwise. It
// reports whether it changed op.
func constantsLast(r *Rewriter, op *ir.Op) bool {
	var constants, list []*ir.Value
	for _, v := range op.Operands() {
		if IsConstant(v.DefiningOp()) {
			constants = append(constants, v)
		} else {
			list = append(list, v)
		}
	}
	if len(list) == 0 || len(constants) == 0 {
		return false
	}
	list = append(list, constants...)
	for i, v := range op.Operands() {
		if v != list[i] {
			r.Update(op, func() { op.SetOperands(list) })
			return true
		}
	}
	return false
}

// unreachable erases the blocks that no branch reaches and reports whether there were any.
func (g *greedy) unreachable() bool {
	if !g.blocks {
		return false
	}
	changed := false
	g.scope.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			var dead []*ir.Block
			for _, b := range r.Blocks() {
				if b.Reachable() {
					continue
				}
				if !allKnown(b) {
					dead = nil
					break
				}
				dead = append(dead, b)
			}
			if len(dead) > 0 {
				changed = true
				g.r.eraseBlocks(dead)
			}
		}
		return true
	})
	return changed
}

// apply tries one pattern on op.
func (g *greedy) apply(p *Pattern, op *ir.Op) (bool, error) {
	before, name, pos := g.r.stats.total(), op.Name(), op.Pos()
	g.rule = p.Name
	g.r.begin(op)
	done, err := p.Rewrite(g.r, op)
	g.r.finish()
	switch changed := g.r.stats.total() > before; {
	case err != nil:
		if diag.ListOf(err) != nil {
			return false, err
		}
		return false, diag.Errorf(g.r.m.Source(), pos, "pattern %s on '%s': %v", p.Name, name, err)
	case changed != done:
		return false, diag.Errorf(g.r.m.Source(), pos, "pattern %s on '%s' %s", p.Name, name, contract[done])
	}
	return done, nil
}

// contract is the error message for a pattern that broke its contract, by the value that the pattern reported.
var contract = map[bool]string{
	true:  "reports a change that the rewriter did not make",
	false: "changed the module and reports that it did not",
}

// allKnown reports whether b holds no op of an unknown kind.
func allKnown(b *ir.Block) bool {
	for op := range b.Ops() {
		if !op.Walk(func(o *ir.Op) bool { return o.Def().Known() }) {
			return false
		}
	}
	return true
}

// of returns the patterns and folds to try on ops of one kind.
func (g *greedy) of(row *ir.Def) *work {
	for i, w := range g.byRow { // a module has few kinds of ops: this takes less time than a map
		if w.row == row {
			if i > 0 {
				g.byRow[i-1], g.byRow[i] = w, g.byRow[i-1]
			}
			return w
		}
	}
	w := &work{row: row}
	enabled := func(rule string) bool { return g.o.Enabled == nil || g.o.Enabled(rule) }
	for _, p := range g.patterns {
		if !enabled(p.Name) {
			continue
		}
		if slices.Contains(p.Rows, row) || len(p.Rows) == 0 && (p.Dialect == "" || p.Dialect == row.Dialect()) {
			w.patterns = append(w.patterns, p)
		}
	}
	w.order = row.Has(ir.Commutative) && (g.o.ConstantsLast || g.constants != nil && row.Fold != nil) && enabled(ConstantsLast)
	if g.constants != nil && row.Fold != nil && enabled(FoldRule(row)) {
		w.fold, w.constant = true, ConstantRow(g.r.m, row)
	}
	g.byRow = append(g.byRow, w)
	return w
}

// ConstantRow returns the row of the constants of row's dialect, or nil if it has none.
func ConstantRow(m *ir.Module, row *ir.Def) *ir.Def {
	d := m.Registry().Dialect(row.Dialect())
	if d == nil {
		return nil
	}
	for _, c := range d.Ops {
		if c.Has(ir.ConstantLike) {
			return c
		}
	}
	return nil
}

// String returns the counts as text.
func (s Statistics) String() string {
	return fmt.Sprintf("%d created, %d changed, %d moved, %d replaced, %d erased", s.Created, s.Changed, s.Moved, s.Replaced, s.Erased)
}
