package hooks

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// callGraph is a snapshot of who calls and who else names the functions of a module.
type callGraph struct {
	funcs   []fn.FuncOp
	byName  map[string]fn.FuncOp
	callers map[string][]*ir.Op // func.call ops by callee
	m       *ir.Module
	named   map[string]*ir.Op // see taken; nil until somebody asks
}

func newCallGraph(m *ir.Module) *callGraph { return callGraphOf(m, nil) }

// callGraphOf is newCallGraph; it shows visit, where it is not nil, each op on the way.
func callGraphOf(m *ir.Module, visit func(*ir.Op)) *callGraph {
	g := &callGraph{m: m, byName: map[string]fn.FuncOp{}, callers: map[string][]*ir.Op{}}
	g.funcs = fn.Funcs(m)
	for _, f := range g.funcs {
		g.byName[f.Symbol()] = f
	}
	call := m.Def("func.call")
	m.Walk(func(op *ir.Op) bool {
		if visit != nil {
			visit(op)
		}
		if op.Is(call) {
			name := fn.Callee(op)
			g.callers[name] = append(g.callers[name], op)
		}
		return true
	})
	return g
}

// taken returns an op that names the function other than by func.call, nil where there is none. Most of those who look at
// calls never ask, and asking looks at every attribute.
func (g *callGraph) taken(name string) *ir.Op {
	if g.named == nil {
		g.named = map[string]*ir.Op{}
		call := g.m.Def("func.call")
		g.m.Walk(func(op *ir.Op) bool {
			if op.Is(call) {
				return true
			}
			attrs := op.Attrs()
			for i := range attrs {
				eachSymbol(attrs[i].Attr, func(name string) {
					if _, ok := g.byName[name]; ok {
						g.named[name] = op
					}
				})
			}
			return true
		})
	}
	return g.named[name]
}

// callee returns the function that call calls, ok false where it has no body here.
func (g *callGraph) callee(call *ir.Op) (fn.FuncOp, bool) {
	f, ok := g.byName[fn.Callee(call)]
	return f, ok && !f.External()
}

// recursive returns the first function that reaches one of the hooks and calls itself, directly or through others; ok is
// false where there is none. XLA cannot compile such a function.
func (g *callGraph) recursive(hooks []*ir.Op) (f fn.FuncOp, ok bool) {
	// Callers of functions that reach hooks reach them, too.
	reach := map[string]bool{}
	var work []string
	add := func(name string) {
		if name != "" && !reach[name] {
			reach[name] = true
			work = append(work, name)
		}
	}
	var last *ir.Block
	for _, op := range hooks {
		if op.Block() != last {
			last = op.Block()
			add(functionOf(op))
		}
	}
	calledBy := map[string][]string{} // of those that reach hooks
	for len(work) > 0 {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		for _, call := range g.callers[name] {
			caller := functionOf(call)
			calledBy[name] = append(calledBy[name], caller)
			add(caller)
		}
	}
	const open, done = 1, 2
	state := map[string]int8{}
	var cycle func(name string) bool
	cycle = func(name string) bool {
		switch state[name] {
		case open:
			return true
		case done:
			return false
		}
		state[name] = open
		for _, caller := range calledBy[name] {
			if cycle(caller) {
				return true
			}
		}
		state[name] = done
		return false
	}
	for _, f := range g.funcs {
		if reach[f.Symbol()] && cycle(f.Symbol()) {
			return f, true
		}
	}
	return fn.FuncOp{}, false
}

// terminators returns the ops that end the blocks of r and hand values to the op around it.
func terminators(r *ir.Region) []*ir.Op {
	var out []*ir.Op
	for _, b := range r.Blocks() {
		if t := b.Last(); t != nil && irutil.IsReturn(t) {
			out = append(out, t)
		}
	}
	return out
}

// dropUnused erases private functions that nothing names any more, among those in names.
func dropUnused(m *ir.Module, names map[string]bool) {
	for len(names) > 0 {
		g := newCallGraph(m)
		changed := false
		for i := len(g.funcs) - 1; i >= 0; i-- {
			f := g.funcs[i]
			name := f.Symbol()
			if names[name] && f.Private() && len(g.callers[name]) == 0 && g.taken(name) == nil {
				f.Erase()
				delete(names, name)
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// eachSymbol calls f for the symbols that an attribute names.
func eachSymbol(a ir.Attr, f func(name string)) {
	switch a := a.(type) {
	case *ir.SymbolRefAttr:
		f(a.Root())
	case *ir.ArrayAttr:
		for _, e := range a.Elems() {
			eachSymbol(e, f)
		}
	case *ir.DictAttr:
		for _, e := range a.Entries() {
			eachSymbol(e.Attr, f)
		}
	}
}
