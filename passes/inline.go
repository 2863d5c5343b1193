package passes

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Inline replaces calls by the functions' bodies, as MLIR's pass of this name does.
type Inline struct {
	MaxIterations int `pass:"max-iterations" default:"4" doc:"the largest number of searches for calls in inlined bodies"`

	Formats format.List // of hooks; nil: format.Builtin
}

func (Inline) Info() *pass.Info {
	return &pass.Info{
		Name: "inline",
		Doc: "Replaces each call by the body of its function, callees first, canonicalizes the functions, and erases private functions that " +
			"nothing calls any more. A raised hook is copied with its name and id. A function stays if it is recursive, has several blocks or the attribute no_inline, or " +
			"contains a hook that is not raised, because the hook's id would change with its function.",
	}
}

func (p Inline) Run(ctx *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	unraised, err := format.Unraised(m, format.RaiseOptions{Formats: p.Formats})
	if err != nil {
		return err
	}
	w := &inliner{ctx: ctx, r: rewrite.New(m), unraised: unraised, state: map[*ir.Op]*inlineState{}, calls: map[*ir.Op]int{}, inside: map[*ir.Op][]*ir.Op{}}
	if w.graph, err = pass.CallGraph.Of(ctx); err != nil {
		return err
	}
	m.Walk(func(op *ir.Op) bool {
		if d := op.Def().Flow; d != nil && d.Callee != "" {
			f := flow.FunctionOf(op)
			w.inside[f] = append(w.inside[f], op)
		}
		return true
	})
	for _, f := range w.graph.Functions() {
		w.calls[f] = len(w.graph.Callers(f))
		w.visit(f)
	}
	var moves []*ir.Op
	for _, group := range w.groups {
		if p.MaxIterations > 0 && w.moves(group[0]) {
			w.inlineCalls(group[0])
			moves = append(moves, group[0])
			continue
		}
		for i := 0; ; i++ {
			changed := false
			for _, f := range group {
				if err := (Canonicalize{}).Run(ctx.On(f), f); err != nil {
					return err
				}
			}
			if i == p.MaxIterations {
				break
			}
			for _, f := range group {
				changed = w.inlineCalls(f) || changed
			}
			if !changed {
				break
			}
		}
	}
	for _, f := range moves {
		if !f.Erased() {
			if err := (Canonicalize{}).Run(ctx.On(f), f); err != nil {
				return err
			}
		}
	}
	w.eraseDead()
	report(ctx, w.r.Statistics())
	return nil
}

// moves reports whether f's body will replace the only call of f. The caller is then canonicalized with the body.
func (w *inliner) moves(f *ir.Op) bool {
	if w.calls[f] != 1 || !private(f) || w.stays(f) || w.graph.NamedBy(f) != nil {
		return false
	}
	return inlinable(w.graph.Callers(f)[0], f)
}

// inlinable reports whether the body of f may replace call: the symbols that the body names must be the same there.
func inlinable(call, f *ir.Op) bool {
	return call.Def().Flow.Inline && call.Attr(fn.AttrNoInline) == nil && ir.SymbolTableOf(call) == ir.SymbolTableOf(f)
}

type inliner struct {
	ctx      *pass.Context
	r        *rewrite.Rewriter
	graph    *flow.Graph
	unraised map[diag.Pos]bool
	locs     ir.LocTable
	state    map[*ir.Op]*inlineState
	stack    []*ir.Op
	next     int
	groups   [][]*ir.Op          // functions that call each other, callees first
	calls    map[*ir.Op]int      // live calls of each function
	inside   map[*ir.Op][]*ir.Op // by function: the ops in it that call, in order; some may be erased
	sources  []*ir.Op            // functions with a call that was inlined as a copy
}

// inlineState holds the facts about a function.
type inlineState struct {
	index, low int  // of Tarjan's algorithm
	open       bool // on the stack
	recursive  bool // calls itself, directly or through others
	decided    bool
	stays      bool // cannot be inlined
	inlined    bool
}

// visit finds the groups of functions that call each other (Tarjan, "Depth-first search and linear graph algorithms",
// 1972).
func (w *inliner) visit(f *ir.Op) *inlineState {
	if s := w.state[f]; s != nil {
		return s
	}
	w.next++
	s := &inlineState{index: w.next, low: w.next, open: true}
	w.state[f] = s
	w.stack = append(w.stack, f)
	for _, call := range w.inside[f] {
		g := w.graph.Callee(call)
		if g == nil {
			continue
		}
		s.recursive = s.recursive || g == f
		if t := w.visit(g); t.open {
			s.low = min(s.low, t.low)
		}
	}
	if s.low != s.index {
		return s
	}
	for i := len(w.stack) - 1; ; i-- {
		if w.stack[i] == f {
			group := append([]*ir.Op(nil), w.stack[i:]...)
			w.stack = w.stack[:i]
			for _, g := range group {
				w.state[g].open = false
				w.state[g].recursive = w.state[g].recursive || len(group) > 1
			}
			w.groups = append(w.groups, group)
			return s
		}
	}
}

// inlineCalls inlines the calls in f and reports whether there was one to inline.
func (w *inliner) inlineCalls(f *ir.Op) bool {
	list, changed := w.inside[f], false
	w.inside[f] = nil
	for _, call := range list {
		g := w.graph.Callee(call)
		switch {
		case call.Erased():
		case g != nil && g != f && inlinable(call, g) && !w.stays(g):
			w.inline(f, call, g)
			changed = true
		default:
			w.inside[f] = append(w.inside[f], call)
		}
	}
	return changed
}

// stays reports whether calls of f cannot be inlined.
func (w *inliner) stays(f *ir.Op) bool {
	s := w.state[f]
	if s.decided {
		return s.stays
	}
	s.decided = true
	blocks := f.Region(0).Blocks()
	s.stays = s.recursive || f.Attr(fn.AttrNoInline) != nil || len(blocks) != 1 || blocks[0].Last() == nil || !blocks[0].Last().Has(ir.ReturnLike)
	if !s.stays && len(w.unraised) > 0 {
		f.Walk(func(op *ir.Op) bool {
			s.stays = s.stays || w.unraised[op.Pos()] && op.Pos().IsValid()
			return !s.stays
		})
	}
	return s.stays
}

// inline replaces call, an op in caller, by f's body: the body itself if f is private and this is its last call, else a
// copy.
func (w *inliner) inline(caller, call, f *ir.Op) {
	w.calls[f]--
	if private(f) && w.calls[f] == 0 && w.graph.NamedBy(f) == nil {
		w.inside[caller] = append(w.inside[caller], w.inside[f]...)
		w.move(call, f)
		return
	}
	if s := w.state[f]; !s.inlined {
		s.inlined = true
		w.sources = append(w.sources, f)
	}
	body := f.Region(0).Entry()
	size := len(body.Args())
	for op := range body.Ops() {
		size += op.NumResults()
	}
	mapping := make(map[*ir.Value]*ir.Value, size)
	for i, a := range body.Args() {
		mapping[a] = call.Operand(i)
	}
	var values []*ir.Value
	for op := range body.Ops() {
		if op == body.Last() {
			for _, v := range op.Operands() {
				if n, ok := mapping[v]; ok {
					v = n
				}
				values = append(values, v)
			}
			break
		}
		w.r.Before(call).Clone(op, mapping).Walk(func(c *ir.Op) bool {
			c.SetLoc(w.callSite(c.Loc(), call.Loc()))
			if g := w.graph.Callee(c); g != nil {
				w.calls[g]++
				w.inside[caller] = append(w.inside[caller], c)
			}
			return true
		})
	}
	w.r.Replace(call, values...)
}

// move replaces call by f's body and erases f.
func (w *inliner) move(call, f *ir.Op) {
	if call.Loc().Kind() != ir.LocUnknown {
		f.Walk(func(op *ir.Op) bool {
			op.SetLoc(w.callSite(op.Loc(), call.Loc()))
			return true
		})
	}
	body := f.Region(0).Entry()
	for i, a := range body.Args() {
		w.r.ReplaceUses(a, call.Operand(i), nil)
	}
	end := body.Last()
	values := end.OperandList()
	w.r.Erase(end)
	w.r.InlineBefore(body, call, call.OperandList()...)
	w.r.Replace(call, values...)
	w.r.Erase(f)
}

// callSite returns the location of an op that was inlined from callee for a call at caller.
func (w *inliner) callSite(callee, caller *ir.Loc) *ir.Loc {
	if caller.Kind() == ir.LocUnknown || callee.Kind() == ir.LocUnknown {
		return callee
	}
	return w.locs.CallSite(callee, caller)
}

// eraseDead erases the private functions whose calls were all inlined.
func (w *inliner) eraseDead() {
	calls := map[*ir.Op][]*ir.Op{} // calls of each function
	for _, list := range w.inside {
		for _, call := range list {
			if f := w.graph.Callee(call); f != nil {
				calls[f] = append(calls[f], call)
			}
		}
	}
	g := w.graph
	for i := len(w.sources) - 1; i >= 0; i-- { // callers before callees
		f := w.sources[i]
		if f.Erased() || !private(f) || slices.ContainsFunc(calls[f], func(call *ir.Op) bool { return !call.Erased() }) {
			continue
		}
		by := g.NamedBy(f)
		if by != nil && by.Erased() { // another op may name f, too
			g = flow.Of(w.r.Module(), nil)
			by = g.NamedBy(f)
		}
		if by == nil {
			w.r.Erase(f)
		}
	}
}
