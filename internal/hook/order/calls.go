package order

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// place is a hook in one call of its function: two calls of a function are two places of each of its hooks.
type place struct {
	hook int     // in Paths.Hooks
	at   *inCall // nil in a function that nothing calls
}

// inCall is one call of a function, made in the function's call that is parent.
type inCall struct {
	call   *ir.Op
	parent *inCall
}

// maxApart is how many calls Paths tells apart. Functions that call others twice each double the number.
const maxApart = 1 << 16

// callTree tells the calls of each function apart.
type callTree struct {
	known  map[inCall]*inCall
	calls  [][]*inCall // of the function of each hook
	places []place     // in the order in which the program executes them
}

// in returns a call made in parent.
func (f *callTree) in(parent *inCall, call *ir.Op) *inCall {
	key := inCall{call, parent}
	at := f.known[key]
	if at == nil {
		at = &key
		f.known[key] = at
	}
	return at
}

// tellCallsApart lets the paths through each call of a function be paths of their own. It starts at main if only main
// counts, or else at main, the public functions and the functions that no call reaches. A module with recursive hooks
// or too many calls stays as it is.
func (p *Paths) tellCallsApart(onlyMain bool) {
	f := &callTree{known: map[inCall]*inCall{}, calls: make([][]*inCall, len(p.Hooks))}
	count := 0
	holds, active, reached := map[*ir.Op]bool{}, map[*ir.Op]bool{}, map[*ir.Op]bool{}
	for _, op := range p.Hooks { // and the functions that call a function with hooks
		var mark func(op *ir.Op)
		mark = func(op *ir.Op) {
			if !holds[op] {
				holds[op] = true
				for _, c := range p.graph.Callers(op) {
					mark(flow.FunctionOf(c))
				}
			}
		}
		mark(flow.FunctionOf(op))
	}
	var walk func(body *ir.Op, at *inCall) bool
	walk = func(body *ir.Op, at *inCall) bool {
		if count++; active[body] || count > maxApart {
			return false
		}
		active[body], reached[body] = true, true
		defer delete(active, body)
		return body.Walk(func(op *ir.Op) bool {
			if i, ok := p.number[op]; ok {
				f.calls[i], f.places = append(f.calls[i], at), append(f.places, place{i, at})
			} else if callee := p.graph.Callee(op); callee != nil && holds[callee] {
				return walk(callee, f.in(at, op))
			}
			return true
		})
	}
	isMain := func(op *ir.Op) bool { return fn.FuncOp{Op: op}.Symbol() == "main" }
	for _, root := range []func(*ir.Op) bool{
		isMain,
		func(op *ir.Op) bool { return !isMain(op) && !(fn.FuncOp{Op: op}).Private() },
		func(op *ir.Op) bool { return !reached[op] },
	} {
		for _, op := range p.graph.Functions() {
			if holds[op] && root(op) && !walk(op, nil) {
				return
			}
		}
		if onlyMain {
			break
		}
	}
	p.calls = f
}

// callsOf returns the calls of the function of hook i.
func (p *Paths) callsOf(i int) []*inCall {
	if p.calls == nil {
		return []*inCall{nil}
	}
	return p.calls.calls[i]
}

// enter returns the call that target is in, a value that the value in slot u becomes in the call at. It is false if the
// function was called from elsewhere there.
func (p *Paths) enter(at *inCall, u *ir.Use, target *ir.Value) (*inCall, bool) {
	op := u.Owner()
	switch {
	case p.calls == nil:
		return nil, true
	case target.DefiningOp() == nil && p.graph.Callee(op) != nil && target.Block().Parent() == p.graph.Callee(op):
		return p.calls.in(at, op), true
	case op.Has(ir.ReturnLike) && op.Parent() != nil && isFunction(op.Parent()):
		if at == nil || at.call != target.DefiningOp() {
			return nil, false
		}
		return at.parent, true
	}
	return at, true
}

// event is a hook that a program executes: for a hook whose function is called n times, one of n events.
type event struct {
	id hook.ID
	n  int // of the events with this id, in the order in which the program executes its calls
}

func (e event) String() string {
	if e.n == 0 {
		return e.id.String()
	}
	return fmt.Sprintf("%s (call %d)", e.id, e.n+1)
}

// events returns the events of all places.
func (p *Paths) events() map[place]event {
	var places []place
	if p.calls != nil {
		places = p.calls.places
	} else {
		for i := range p.Hooks {
			places = append(places, place{hook: i})
		}
	}
	events, count := map[place]event{}, map[hook.ID]int{}
	for _, at := range places {
		id := p.ids[at.hook]
		events[at] = event{id, count[id]}
		count[id]++
	}
	return events
}

// betweenEvents returns pairs of places as pairs of events, sorted and without repetitions.
func (p *Paths) betweenEvents(pairs [][2]place) [][2]event {
	events := p.events()
	out := make([][2]event, len(pairs))
	for i, e := range pairs {
		out[i] = [2]event{events[e[0]], events[e[1]]}
	}
	slices.SortFunc(out, func(a, b [2]event) int {
		return cmp.Or(cmp.Compare(a[0].id, b[0].id), cmp.Compare(a[0].n, b[0].n), cmp.Compare(a[1].id, b[1].id), cmp.Compare(a[1].n, b[1].n))
	})
	return slices.Compact(out)
}
