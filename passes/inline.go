package passes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

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
	DefaultPipeline pass.Opt[string] `pass:"default-pipeline" default:"canonicalize" doc:"passes that simplify each function before its calls are inlined, and after"`
	Threshold       pass.Opt[uint32] `pass:"inlining-threshold" default:"4294967295" doc:"inline functions of at most this many percent of the caller's operations; 0: none; 4294967295: all"`
	MaxIterations   pass.Opt[int]    `pass:"max-iterations" default:"4" doc:"the largest number of searches for calls in inlined bodies"`
	MaxOps          pass.Opt[int]    `pass:"max-ops" default:"262144" doc:"copy no more than this many operations; further calls stay"`
	OpPipelines     []string         `pass:"op-pipelines" doc:"in place of default-pipeline, for functions of one kind: func.func(canonicalize,cse)"`

	Formats format.List // of hooks; nil: format.Builtin

	resolved  bool
	pipelines map[string][]pass.Pass // by the name of the function's op, "" for all others
}

func (Inline) Info() *pass.Info {
	return &pass.Info{
		Name: "inline",
		Doc: "Replaces each call by the body of its function, callees first, canonicalizes the functions, and erases private functions that " +
			"nothing calls any more. A raised hook is copied with its name and id. A function stays if it is recursive, has several blocks or the attribute no_inline, or " +
			"contains a hook that is not raised, because the hook's id would change with its function.",
	}
}

// Resolve implements pass.Resolver.
func (p Inline) Resolve(t *pass.Table) (pass.Pass, error) {
	p.pipelines, p.resolved = map[string][]pass.Pass{}, true
	read := func(anchor, text string) (err error) {
		p.pipelines[anchor], err = pass.ParseOn(cmp.Or(anchor, fn.Func.Name), text, t)
		return err
	}
	if err := read("", pass.Defaults(p).DefaultPipeline.Get()); err != nil {
		return nil, fmt.Errorf("default-pipeline: %w", err)
	}
	p.OpPipelines = slices.Clone(p.OpPipelines)
	for i, text := range p.OpPipelines {
		anchor, list, ok := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		if !ok || !strings.HasSuffix(text, ")") {
			return nil, fmt.Errorf("op-pipelines: expected OP(PASSES), but got %q", text)
		}
		if err := read(anchor, list); err != nil {
			return nil, fmt.Errorf("op-pipelines: %w", err)
		}
		p.OpPipelines[i] = pass.Text(pass.On(anchor, p.pipelines[anchor]...))
	}
	return p, nil
}

func (p Inline) Run(ctx *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	if !p.resolved {
		if p.DefaultPipeline.Get() != "canonicalize" || len(p.OpPipelines) > 0 {
			return errors.New("inline has pipelines that were not read: call Resolve")
		}
		p.pipelines = map[string][]pass.Pass{"": {Canonicalize{}}}
	}
	unraised, err := format.Unraised(m, format.RaiseOptions{Formats: p.Formats, Context: ctx})
	if err != nil {
		return err
	}
	w := &inliner{ctx: ctx, p: p, room: p.MaxOps.Get(), r: rewrite.New(m), unraised: unraised,
		state: map[*ir.Op]*inlineState{}, calls: map[*ir.Op]int{}, inside: map[*ir.Op][]*ir.Op{}}
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
		if p.MaxIterations.Get() > 0 && w.moves(group[0]) {
			w.inlineCalls(group[0])
			moves = append(moves, group[0])
			continue
		}
		for i := 0; ; i++ {
			changed := false
			for _, f := range group {
				if err := w.optimize(f); err != nil {
					return err
				}
			}
			if i == p.MaxIterations.Get() {
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
		if err := w.optimize(f); err != nil {
			return err
		}
	}
	w.eraseDead()
	ctx.Changes(w.r.Statistics())
	return ctx.Err()
}

// optimize runs the pipeline for f, unless f is erased.
func (w *inliner) optimize(f *ir.Op) error {
	list, ok := w.p.pipelines[f.Name()]
	if !ok {
		list = w.p.pipelines[""]
	}
	return w.ctx.Run(f, list)
}

// moves reports whether f's body will replace the only call of f. The caller is then canonicalized with the body.
func (w *inliner) moves(f *ir.Op) bool {
	if w.p.Threshold.Get() != math.MaxUint32 || w.calls[f] != 1 || !private(f) || w.stays(f) || w.graph.NamedBy(f) != nil {
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
	p        Inline
	room     int // for ops that may still be copied
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
		case g != nil && g != f && inlinable(call, g) && !w.stays(g) && w.pays(f, g) && w.ctx.Err() == nil:
			if w.inline(f, call, g) {
				changed = true
			} else {
				w.inside[f] = append(w.inside[f], call)
			}
		default:
			w.inside[f] = append(w.inside[f], call)
		}
	}
	return changed
}

// pays reports whether the threshold allows to inline callee in caller.
func (w *inliner) pays(caller, callee *ir.Op) bool {
	limit := w.p.Threshold.Get()
	if limit == math.MaxUint32 {
		return true
	}
	n := numOps(caller)
	return limit > 0 && (n == 0 || uint64(numOps(callee))*100/uint64(n) <= uint64(limit))
}

// numOps returns the number of ops inside f.
func numOps(f *ir.Op) int {
	n := -1
	f.Walk(func(*ir.Op) bool { n++; return true })
	return n
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
// copy. It returns false if there is no room for the copy.
func (w *inliner) inline(caller, call, f *ir.Op) bool {
	if private(f) && w.calls[f] == 1 && w.graph.NamedBy(f) == nil {
		w.calls[f] = 0
		w.inside[caller] = append(w.inside[caller], w.inside[f]...)
		w.move(call, f)
		return true
	}
	n := numOps(f)
	if w.room < n {
		return false
	}
	w.room -= n
	w.calls[f]--
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
	return true
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
