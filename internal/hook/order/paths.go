package order

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Paths holds the identity paths between the hooks of a raised or lowered module. Along such a path, a value that one
// hook returns reaches another hook unchanged. See Prove for the ops that may be on a path.
//
// A function with several callers is followed once, so an edge may hold for only one of its calls, unless calls tells
// the calls apart.
type Paths struct {
	Hooks   []*ir.Op // in program order
	graph   *flow.Graph
	calls   *callTree
	joins   joins
	ids     []hook.ID
	chained []bool
	number  map[*ir.Op]int
	origins map[*ir.Value]*origins // see originsOf
	steps   int                    // values that follow and originsOf visited
	all     bool                   // Chain leaves out no edge
	lowered bool                   // exclude paths through ops that XLA removes before it schedules: barriers and values without elements
}

// PathsOf returns the paths of m.
func PathsOf(m *ir.Module) *Paths {
	p := &Paths{number: map[*ir.Op]int{}, origins: map[*ir.Value]*origins{}}
	p.graph = flow.Of(m, func(op *ir.Op) {
		if id, chained, ok := hookOf(op); ok {
			p.number[op] = len(p.Hooks)
			p.Hooks, p.ids, p.chained = append(p.Hooks, op), append(p.ids, id), append(p.chained, chained)
		}
	})
	p.joins.graph = p.graph
	return p
}

// Chain returns the pairs of hooks that the chains (or tokens) place next to each other, sorted by their positions in
// the module. Edges through loops lead from the last hooks of one trip to the first hooks of the next. An edge past a
// loop or a branch is left out if edges lead through the hooks inside.
func (p *Paths) Chain() []hook.Edge {
	var edges [][2]int
	for _, e := range p.chain() {
		edges = append(edges, [2]int{e[0].hook, e[1].hook})
	}
	return p.edgesByID(edges)
}

// chain returns the edges of Chain between the places of hooks.
func (p *Paths) chain() [][2]place {
	var edges [][2]place
	for i, op := range p.Hooks {
		if !p.chained[i] {
			continue
		}
		for _, from := range p.callsOf(i) {
			var next []int
			p.follow(op.Result(0), from, func(u *ir.Use, at *inCall) {
				if to, ok := p.number[u.Owner()]; ok && u.Index() == 0 && p.chained[to] {
					next = append(next, to)
					edges = append(edges, [2]place{{i, from}, {to, at}})
				}
			}, func(v *ir.Value) bool { // v is past an op with regions; whether hooks inside come between op and v
				return !p.all && !encloses(v.DefiningOp(), op.Block()) && !p.anyLeadsTo([]int{i}, v, nil) && p.anyLeadsTo(next, v, nil)
			})
		}
	}
	return edges
}

// Data returns the pairs of hooks that data orders: the second hook receives a value that the first returned, or such a
// value decides whether the second fires. It omits pairs that the chains order.
func (p *Paths) Data() []hook.Edge {
	var edges [][2]int
	for i, op := range p.Hooks {
		first := 0
		if p.chained[i] {
			first = 1
		}
		for _, v := range op.ResultList()[first:] {
			p.follow(v, nil, func(u *ir.Use, _ *inCall) {
				if to, ok := p.number[u.Owner()]; ok && (u.Index() > 0 || !p.chained[to]) {
					edges = append(edges, [2]int{i, to})
				}
				for _, to := range p.hooksDecidedBy(u) {
					edges = append(edges, [2]int{i, to})
				}
			}, nil)
		}
	}
	var chain [][2]hook.ID
	for _, e := range p.Chain() {
		chain = append(chain, [2]hook.ID{e.From, e.To})
	}
	after := reached[hook.ID]{next: nextOf(chain)}
	return slices.DeleteFunc(p.edgesByID(edges), func(e hook.Edge) bool { return after.leads(e.From, e.To) })
}

// edgesByID returns the edges by hook id, sorted and without repetitions.
func (p *Paths) edgesByID(edges [][2]int) []hook.Edge {
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	edges = slices.Compact(edges)
	out := make([]hook.Edge, len(edges))
	for i, e := range edges {
		out[i] = hook.Edge{From: p.ids[e[0]], To: p.ids[e[1]]}
	}
	return out
}

// step is a value on a path, or the tuple element at within, in one call of its function.
type step struct {
	v      *ir.Value
	within string
	at     *inCall
}

// follow calls visit with every operand slot that v reaches unchanged, up to the next hooks, from the call that v is
// in. It stops at the result of an op with regions if covered, unless nil, returns true. It asks after it has visited
// all other slots.
func (p *Paths) follow(v *ir.Value, from *inCall, visit func(*ir.Use, *inCall), covered func(*ir.Value) bool) {
	if v.HasOneUse() { // most chains lead directly from one hook to the next
		for u := range v.Uses() {
			if _, ok := p.number[u.Owner()]; ok && !p.endsAt(v) {
				p.steps++
				visit(u, from)
				return
			}
		}
	}
	at := step{v: v, at: from}
	seen := map[step]bool{}
	work := []step{at}
	var later []step // results of ops with regions
	add := func(v *ir.Value, within string, at *inCall) {
		s := step{v, within, at}
		if seen[s] {
			return
		}
		seen[s] = true
		if op := v.DefiningOp(); covered != nil && within == "" && op != nil && len(op.Regions()) > 0 {
			later = append(later, s)
			return
		}
		work = append(work, s)
	}
	for len(work) > 0 || len(later) > 0 {
		if len(work) == 0 {
			s := later[0]
			if later = later[1:]; !covered(s.v) {
				work = append(work, s)
			}
			continue
		}
		at := work[len(work)-1]
		work = work[:len(work)-1]
		p.steps++
		if p.endsAt(at.v) {
			continue
		}
		for u := range at.v.Uses() {
			op := u.Owner()
			if at.within == "" {
				visit(u, at.at)
			}
			switch {
			case op.IsOrMirrors(stablehlo.Tuple):
				add(op.Result(0), strconv.Itoa(u.Index())+" "+at.within, at.at)
			case op.IsOrMirrors(stablehlo.GetTupleElement):
				if first, rest, _ := strings.Cut(at.within, " "); first == strconv.Itoa(element(op)) {
					add(op.Result(0), rest, at.at)
				}
			case p.forwards(op):
				add(op.Result(0), at.within, at.at)
			default:
				for v := range p.graph.Targets(u) {
					if in, ok := p.enter(at.at, u, v); ok {
						add(v, at.within, in)
					}
				}
			}
		}
	}
}

// forwards reports whether an op without Flow forwards each of its operands.
func (p *Paths) forwards(op *ir.Op) bool {
	return irutil.IsAnnotation(op) || op.IsOrMirrors(stablehlo.AfterAll) || p.joins.isJoin(op)
}

// origins are the ways that lead to a result inside of the op or the called function.
type origins struct {
	hooks map[int]bool // whose chains lead there, also through other hooks
	calls []*ir.Value  // results of calls that lead there
	args  []int        // arguments of the called function that lead there
}

// anyLeadsTo reports whether the chain of one of the hooks leads to v inside of the op or of the function that v is a
// result of.
func (p *Paths) anyLeadsTo(hooks []int, v *ir.Value, seen map[*ir.Value]bool) bool {
	o := p.originsOf(v)
	if slices.ContainsFunc(hooks, func(i int) bool { return o.hooks[i] }) {
		return true
	}
	for _, c := range o.calls {
		if seen == nil {
			seen = map[*ir.Value]bool{}
		}
		if !seen[c] {
			seen[c] = true
			if p.anyLeadsTo(hooks, c, seen) {
				return true
			}
		}
	}
	return false
}

// originsOf returns the ways that lead to v, a result of an op with regions or of a call.
func (p *Paths) originsOf(v *ir.Value) *origins {
	if o := p.origins[v]; o != nil {
		return o
	}
	o := &origins{hooks: map[int]bool{}}
	p.origins[v] = o
	around := v.DefiningOp()
	if f := p.graph.Callee(around); f != nil {
		around = f
	}
	seen := map[*ir.Value]bool{}
	var work []*ir.Value
	add := func(v *ir.Value) {
		if !seen[v] && encloses(around, v.ParentBlock()) {
			seen[v] = true
			work = append(work, v)
		}
	}
	for u := range p.graph.Sources(v) {
		add(u.Value())
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		p.steps++
		op := v.DefiningOp()
		if op == nil && isFunction(v.Block().Parent()) {
			o.args = append(o.args, v.Index())
			continue
		}
		if op == nil {
			for u := range p.graph.Sources(v) {
				add(u.Value())
			}
			continue
		}
		if i, ok := p.number[op]; ok {
			if v.Index() == 0 && p.chained[i] {
				o.hooks[i] = true
				add(op.Operand(0))
			}
			continue
		}
		switch {
		case p.graph.Callee(op) != nil:
			o.calls = append(o.calls, v)
			for _, i := range p.originsOf(v).args {
				if i < op.NumOperands() {
					add(op.Operand(i))
				}
			}
		case p.forwards(op):
			for _, x := range op.Operands() {
				add(x)
			}
		default:
			for u := range p.graph.Sources(v) {
				add(u.Value())
			}
		}
	}
	return o
}

// encloses reports whether b is inside of op.
func encloses(op *ir.Op, b *ir.Block) bool {
	for ; b != nil; b = b.Parent().Block() {
		if b.Parent() == op {
			return true
		}
	}
	return false
}

// endsAt reports whether paths end at v.
func (p *Paths) endsAt(v *ir.Value) bool { return p.lowered && irutil.IsZeroSize(v.Type()) }

// hooksDecidedBy returns the hooks whose execution depends on the value in slot u, or on its comparison with a
// constant.
func (p *Paths) hooksDecidedBy(u *ir.Use) []int {
	op := u.Owner()
	if !op.IsOrMirrors(stablehlo.Compare) || comparedValue(op.Result(0)) != u.Value() {
		return p.hooksInRegions(u)
	}
	var out []int
	for use := range op.Result(0).Uses() {
		out = append(out, p.hooksInRegions(use)...)
	}
	return out
}

// hooksInRegions returns the hooks in the regions whose execution depends on the value in slot u.
func (p *Paths) hooksInRegions(u *ir.Use) []int {
	op := u.Owner()
	if f := op.Def().Flow; f != nil && u.Index() < f.Control {
		return p.hooksInside(op, map[*ir.Op]bool{})
	}
	if loop := op.Parent(); loop != nil && op.Has(ir.ReturnLike) && u.Index() == 0 {
		if f := loop.Def().Flow; f != nil && f.Run(slices.Index(loop.Regions(), op.Block().Region())) == ir.RunsTest {
			return p.hooksInside(loop, map[*ir.Op]bool{})
		}
	}
	return nil
}

// hooksInside returns the hooks in the regions of op and in the functions called there.
func (p *Paths) hooksInside(op *ir.Op, seen map[*ir.Op]bool) []int {
	var out []int
	op.Walk(func(o *ir.Op) bool {
		if i, ok := p.number[o]; ok {
			out = append(out, i)
		} else if f := p.graph.Callee(o); f != nil && !seen[f] {
			seen[f] = true
			out = append(out, p.hooksInside(f, seen)...)
		}
		return true
	})
	return out
}

// joins decides which ops of a module join chains.
type joins struct {
	graph *flow.Graph
	known map[*ir.Value]bool // whether each value is a chain
}

// isJoin reports whether op is a bitwise or of two chains. Each operand is a chain that a hook returned, or a chain
// that starts from zero. XLA cannot know the values, so the result waits for both.
func (j *joins) isJoin(op *ir.Op) bool {
	if !op.IsOrMirrors(stablehlo.Or) {
		return false
	}
	if j.known == nil {
		j.known = map[*ir.Value]bool{}
	}
	seen := map[*ir.Value]bool{}
	is := j.isChain(op.Result(0), seen)
	if is {
		for v := range seen { // all of them, because none failed
			j.known[v] = true
		}
	}
	return is
}

// isChain reports whether every source of v is a hook or a zero. It records the values that fail; seen holds the others
// that it visited.
func (j *joins) isChain(v *ir.Value, seen map[*ir.Value]bool) bool {
	if is, ok := j.known[v]; ok {
		return is
	}
	if seen[v] {
		return true
	}
	seen[v] = true
	if !j.comesFromChains(v, seen) {
		j.known[v] = false
		return false
	}
	return true
}

func (j *joins) comesFromChains(v *ir.Value, seen map[*ir.Value]bool) bool {
	if !isState(v.Type()) {
		return false
	}
	if op := v.DefiningOp(); op != nil {
		if _, chained, ok := hookOf(op); ok {
			return chained && v.Index() == 0
		}
		switch {
		case isZero(op):
			return true
		case irutil.IsAnnotation(op):
			return j.isChain(op.Operand(0), seen)
		case op.IsOrMirrors(stablehlo.Or):
			return j.isChain(op.Operand(0), seen) && j.isChain(op.Operand(1), seen)
		}
	}
	n := 0
	for u := range j.graph.Sources(v) {
		n++
		if !j.isChain(u.Value(), seen) {
			return false
		}
	}
	return n > 0
}

// nextOf returns the ends of the edges from each end.
func nextOf[T comparable](edges [][2]T) map[T][]T {
	next := map[T][]T{}
	for _, e := range edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	return next
}

// reached finds what edges lead to. It is fast for several questions about one start in turn.
type reached[T comparable] struct {
	next map[T][]T
	from T
	seen map[T]bool // what is after from
	work []T        // what is in seen, but what is next to it is not yet
}

// leads reports whether a path leads from one to the other.
func (r *reached[T]) leads(from, to T) bool {
	if r.seen == nil || r.from != from {
		r.from, r.seen, r.work = from, map[T]bool{}, []T{from}
	}
	for len(r.work) > 0 && !r.seen[to] {
		at := r.work[0]
		r.work = r.work[1:]
		for _, n := range r.next[at] {
			if !r.seen[n] {
				r.seen[n] = true
				r.work = append(r.work, n)
			}
		}
	}
	return r.seen[to]
}
