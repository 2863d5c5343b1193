package rewrite

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Pattern is one way to rewrite ops.
type Pattern struct {
	Name string
	Rows []*ir.Def // the kinds of ops to match; none: every op
	// Rewrite changes op through r if the pattern matches, and reports whether it did. If it returns false or an error,
	// it must not have changed anything.
	Rewrite func(r *Rewriter, op *ir.Op) (bool, error)
}

// Options configures Greedy.
type Options struct {
	// MaxRewrites limits the number of pattern applications. 0 means 1000 plus 32 per op at the start.
	MaxRewrites int
	// EraseDead erases Pure ops whose results have no uses.
	EraseDead bool
	Listeners []*Listener
}

// Result describes the work of Greedy.
type Result struct {
	Statistics
	Applied map[string]int // number of applications of each pattern, by name
}

// Greedy applies patterns to the ops inside scope until none matches. It tries the patterns in order on one op after
// another: first in program order, then on the ops that a change may concern. These are new and changed ops, users of
// new values, and the defining ops of an erased op's operands. Greedy returns an error at the op if a pattern fails,
// breaks its contract, or exceeds the limit, as patterns that undo each other do.
//
// Greedy changes scope and everything inside it. Several goroutines may rewrite different ops of one module if these
// ops are IsolatedFromAbove.
func Greedy(scope *ir.Op, patterns []*Pattern, o Options) (*Result, error) {
	m := scope.Module()
	g := &greedy{scope: scope, o: o, queued: map[*ir.Op]bool{}, byRow: map[*ir.Def][]*Pattern{}, patterns: patterns}
	g.r = New(m, append([]*Listener{{
		Created: g.add, Changed: g.add, Moved: g.add, Erased: g.addDefining,
	}}, o.Listeners...)...)
	scope.Walk(func(op *ir.Op) bool {
		g.add(op)
		return true
	})
	if g.o.MaxRewrites == 0 {
		g.o.MaxRewrites = 1000 + 32*len(g.list)
	}
	res := &Result{Applied: map[string]int{}}
	err := g.run(res.Applied)
	res.Statistics = g.r.stats
	return res, err
}

type greedy struct {
	scope    *ir.Op
	o        Options
	r        *Rewriter
	patterns []*Pattern
	byRow    map[*ir.Def][]*Pattern
	list     []*ir.Op // to try, in order
	queued   map[*ir.Op]bool
}

func (g *greedy) add(op *ir.Op) {
	if op != g.scope && !g.queued[op] {
		g.queued[op] = true
		g.list = append(g.list, op)
	}
}

// addDefining adds the defining ops of the operands of an op to be erased, and of the ops inside it.
func (g *greedy) addDefining(op *ir.Op) {
	op.Walk(func(o *ir.Op) bool {
		for _, v := range o.Operands() {
			if v != nil && v.DefiningOp() != nil {
				g.add(v.DefiningOp())
			}
		}
		return true
	})
}

func (g *greedy) run(applied map[string]int) error {
	rewrites := 0
	for i := 0; i < len(g.list); i++ {
		if i == 4096 { // release the processed entries
			g.list, i = append([]*ir.Op(nil), g.list[i:]...), 0
		}
		op := g.list[i]
		delete(g.queued, op)
		if op.Erased() || op.Block() == nil {
			continue
		}
		if g.o.EraseDead && op.Has(ir.Pure) && op.NumResults() > 0 && !op.HasUses() {
			g.r.Erase(op)
			continue
		}
		for _, p := range g.of(op.Def()) {
			if rewrites == g.o.MaxRewrites {
				return g.r.m.Errorf(op, "rewriting does not end: %d rewrites, and pattern %s still has to be tried on '%s'", rewrites, p.Name, op.Name())
			}
			done, err := g.apply(p, op)
			if err != nil {
				return err
			}
			if done {
				rewrites++
				applied[p.Name]++
				if !op.Erased() {
					g.add(op)
				}
				break
			}
		}
	}
	return nil
}

// apply tries one pattern on op.
func (g *greedy) apply(p *Pattern, op *ir.Op) (bool, error) {
	before, name, pos := g.r.stats.total(), op.Name(), op.Pos()
	g.r.begin(op)
	done, err := p.Rewrite(g.r, op)
	g.r.finish()
	switch changed := g.r.stats.total() > before; {
	case err != nil:
		var list diag.List
		var at *diag.Diagnostic
		if errors.As(err, &list) || errors.As(err, &at) {
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

// of returns the patterns that may match ops of one kind.
func (g *greedy) of(row *ir.Def) []*Pattern {
	list, ok := g.byRow[row]
	if !ok {
		for _, p := range g.patterns {
			match := len(p.Rows) == 0
			for _, d := range p.Rows {
				match = match || d == row
			}
			if match {
				list = append(list, p)
			}
		}
		g.byRow[row] = list
	}
	return list
}

// String returns the counts as text.
func (s Statistics) String() string {
	return fmt.Sprintf("%d created, %d changed, %d moved, %d replaced, %d erased", s.Created, s.Changed, s.Moved, s.Replaced, s.Erased)
}
