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
// A function with several callers is followed once, so an edge may hold for only one of its calls.
type Paths struct {
	Hooks   []*ir.Op // in program order
	graph   *flow.Graph
	joins   joins
	ids     []hook.ID
	chained []bool
	number  map[*ir.Op]int
	lowered bool // exclude paths through ops that XLA removes before it schedules: barriers and values without elements
}

// PathsOf returns the paths of m.
func PathsOf(m *ir.Module) *Paths {
	p := &Paths{number: map[*ir.Op]int{}}
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
// the module. Edges through loops lead from the last hooks of one trip to the first hooks of the next.
func (p *Paths) Chain() []hook.Edge {
	var edges [][2]int
	for i, op := range p.Hooks {
		if !p.chained[i] {
			continue
		}
		p.follow(op.Result(0), func(u *ir.Use) {
			if to, ok := p.number[u.Owner()]; ok && u.Index() == 0 && p.chained[to] {
				edges = append(edges, [2]int{i, to})
			}
		})
	}
	return p.edgesByID(edges)
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
			p.follow(v, func(u *ir.Use) {
				if to, ok := p.number[u.Owner()]; ok && (u.Index() > 0 || !p.chained[to]) {
					edges = append(edges, [2]int{i, to})
				}
				for _, to := range p.hooksDecidedBy(u) {
					edges = append(edges, [2]int{i, to})
				}
			})
		}
	}
	chain := nextOf(p.Chain())
	return slices.DeleteFunc(p.edgesByID(edges), func(e hook.Edge) bool { return leads(chain, e) })
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

// step is a value on a path, or the tuple element at within.
type step struct {
	v      *ir.Value
	within string
}

// follow calls visit with every operand slot that v reaches unchanged, up to the next hooks.
func (p *Paths) follow(v *ir.Value, visit func(*ir.Use)) {
	if v.HasOneUse() { // most chains lead directly from one hook to the next
		for u := range v.Uses() {
			if _, ok := p.number[u.Owner()]; ok && !p.endsAt(v) {
				visit(u)
				return
			}
		}
	}
	at := step{v: v}
	seen := map[step]bool{at: true}
	work := []step{at}
	add := func(v *ir.Value, within string) {
		if s := (step{v, within}); !seen[s] {
			seen[s] = true
			work = append(work, s)
		}
	}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if p.endsAt(at.v) {
			continue
		}
		for u := range at.v.Uses() {
			op := u.Owner()
			if at.within == "" {
				visit(u)
			}
			switch {
			case op.IsOrMirrors(stablehlo.Tuple):
				add(op.Result(0), strconv.Itoa(u.Index())+" "+at.within)
			case op.IsOrMirrors(stablehlo.GetTupleElement):
				if first, rest, _ := strings.Cut(at.within, " "); first == strconv.Itoa(element(op)) {
					add(op.Result(0), rest)
				}
			case irutil.IsAnnotation(op), op.IsOrMirrors(stablehlo.AfterAll), p.joins.isJoin(op):
				add(op.Result(0), at.within)
			default:
				for v := range p.graph.Targets(u) {
					add(v, at.within)
				}
			}
		}
	}
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
	if !isChainType(v.Type()) {
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

// nextOf returns the hooks after each hook.
func nextOf(edges []hook.Edge) map[hook.ID][]hook.ID {
	next := map[hook.ID][]hook.ID{}
	for _, e := range edges {
		next[e.From] = append(next[e.From], e.To)
	}
	return next
}

// leads reports whether a path in next leads from one end of e to the other.
func leads(next map[hook.ID][]hook.ID, e hook.Edge) bool {
	seen, work := map[hook.ID]bool{}, []hook.ID{e.From}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range next[id] {
			if to == e.To {
				return true
			}
			if !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return false
}
