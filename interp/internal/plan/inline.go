package plan

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// A call of a function without effects is replaced by the function's body, so that chains extend over it. A function
// stays if a hook, a collective or another effect is in it, if it is recursive or long, or has the attribute no_inline.

const (
	inlineOps   = 256     // maximum number of ops of a function that is inlined
	inlineTotal = 1 << 14 // maximum number of ops that are copied
)

// inliner replaces calls in a module.
type inliner struct {
	mod     *ir.Module
	table   map[*ir.Def]Recipe
	symbols ir.Symbols
	size    map[*ir.Op]int // of the functions seen: the number of ops, or 0 if the function stays
	done    map[*ir.Op]bool
	room    int
}

func newInliner(mod *ir.Module, table map[*ir.Def]Recipe) *inliner {
	return &inliner{mod: mod, table: table, symbols: ir.SymbolsOf(mod.Op()), size: map[*ir.Op]int{}, done: map[*ir.Op]bool{}, room: inlineTotal}
}

// Inlines reports whether Inline would change mod.
func Inlines(mod *ir.Module, table map[*ir.Def]Recipe) bool {
	n := newInliner(mod, table)
	found := false
	mod.Walk(func(op *ir.Op) bool {
		found = found || n.callee(op) != nil
		return !found
	})
	return found
}

// Inline replaces calls of functions without effects.
func Inline(mod *ir.Module, table map[*ir.Def]Recipe) {
	n := newInliner(mod, table)
	for _, f := range fn.Funcs(mod) {
		n.calls(f.Op)
	}
}

// callee returns the function whose body may replace op, or nil.
func (n *inliner) callee(op *ir.Op) *ir.Op {
	if OpKind(op) != fn.Call || op.Attr(fn.AttrNoInline) != nil {
		return nil
	}
	f := n.symbols[fn.Callee(op)]
	if f == nil || n.measure(f) == 0 {
		return nil
	}
	body := f.Region(0).Entry()
	if !sameValues(body.Args(), op.OperandList()) || !sameValues(body.Last().OperandList(), op.ResultList()) {
		return nil
	}
	return f
}

// sameValues reports whether two lists of values have the same types.
func sameValues(a, b []*ir.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if v.Type() != b[i].Type() {
			return false
		}
	}
	return true
}

// measure returns the number of ops of a function, with those of its calls, or 0 if the function stays.
func (n *inliner) measure(f *ir.Op) int {
	if size, seen := n.size[f]; seen {
		return size
	}
	n.size[f] = 0 // a recursive function stays
	fo, ok := fn.AsFunc(f)
	if !ok || fo.External() || f.Attr(fn.AttrNoInline) != nil || len(f.Region(0).Blocks()) != 1 {
		return 0
	}
	last := f.Region(0).Entry().Last()
	if last == nil || !IsReturn(last) {
		return 0
	}
	size := 0
	f.Walk(func(op *ir.Op) bool {
		switch c := n.callee; {
		case size < 0 || op == f:
		case IsReturn(op):
			size++
		case OpKind(op) == fn.Call:
			if g := c(op); g != nil {
				size += n.size[g]
			} else {
				size = -1
			}
		case n.table[OpKind(op)].Pure():
			size++
		default:
			size = -1
		}
		return size >= 0
	})
	if size > 0 && size <= inlineOps {
		n.size[f] = size
	}
	return n.size[f]
}

// calls replaces the calls in a function.
func (n *inliner) calls(f *ir.Op) {
	if n.done[f] {
		return
	}
	n.done[f] = true
	var calls []*ir.Op
	f.Walk(func(op *ir.Op) bool {
		if OpKind(op) == fn.Call {
			calls = append(calls, op)
		}
		return true
	})
	for _, call := range calls {
		g := n.callee(call)
		if g == nil || g == f || n.size[g] > n.room {
			continue
		}
		n.calls(g)
		n.room -= n.size[g]
		body, b := g.Region(0).Entry(), n.mod.Before(call)
		values := map[*ir.Value]*ir.Value{}
		for i, a := range body.Args() {
			values[a] = call.Operand(i)
		}
		for op := range body.Ops() {
			if op != body.Last() {
				b.Clone(op, values)
			}
		}
		for i, v := range body.Last().Operands() {
			if w, ok := values[v]; ok {
				v = w
			}
			call.Result(i).ReplaceAllUsesWith(v)
		}
		call.Erase()
	}
}
