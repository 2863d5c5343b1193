// Package flow follows values and calls through a module as each op's Flow describes them: which functions call which,
// which ops reach an op of some kind, and which values become which across regions, loops and calls. It also adds
// carried values to loops, branches, computations and functions. It depends on no op name and no dialect.
package flow

import (
	"iter"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// Graph is a snapshot of a module's functions, in nested modules too, and of the ops that call them.
type Graph struct {
	m       *ir.Module
	funcs   []*ir.Op
	symbols ir.SymbolTables
	callers map[*ir.Op][]*ir.Op
	named   map[*ir.Op]*ir.Op // see NamedBy; computed on first use
}

// Of returns the graph of m. It calls visit, if not nil, for every op in program order.
func Of(m *ir.Module, visit func(*ir.Op)) *Graph {
	g := &Graph{m: m, callers: map[*ir.Op][]*ir.Op{}}
	m.Walk(func(op *ir.Op) bool {
		if visit != nil {
			visit(op)
		}
		fl := op.Def().Flow
		if fl == nil {
			return true
		}
		if fl.Function {
			g.funcs = append(g.funcs, op)
		}
		if f := g.target(op); f != nil {
			g.callers[f] = append(g.callers[f], op)
		}
		return true
	})
	return g
}

// Functions returns the functions of the module and of the modules in it, in program order.
func (g *Graph) Functions() []*ir.Op { return g.funcs }

// Callers returns the ops that call f, in program order.
func (g *Graph) Callers(f *ir.Op) []*ir.Op { return g.callers[f] }

// Callee returns the function that op calls. It returns nil if op calls none, or one without a body in the module.
func (g *Graph) Callee(op *ir.Op) *ir.Op {
	if f := g.target(op); f != nil && Entry(f) != nil {
		return f
	}
	return nil
}

// target returns the function that op calls, with or without a body.
func (g *Graph) target(op *ir.Op) *ir.Op {
	f := op.Def().Flow
	if f == nil {
		return nil
	}
	s, _ := op.Attr(f.Callee).(*ir.SymbolRefAttr)
	if s == nil {
		return nil
	}
	if to := g.symbols.Lookup(op, s); to != nil && isFunction(to) {
		return to
	}
	return nil
}

func isFunction(op *ir.Op) bool {
	f := op.Def().Flow
	return f != nil && f.Function
}

// NamedBy returns an op that names f but does not call it; nil if there is none. An op that may name f counts, too.
func (g *Graph) NamedBy(f *ir.Op) *ir.Op {
	if g.named == nil {
		g.named = map[*ir.Op]*ir.Op{}
		byName := map[string][]*ir.Op{}
		for _, f := range g.funcs {
			byName[symbol(f)] = append(byName[symbol(f)], f)
		}
		name := func(op *ir.Op, a ir.Attr) {
			References(a, func(ref *ir.SymbolRefAttr) {
				path, _ := g.symbols.Path(nil, op, ref)
				for _, s := range path {
					g.named[s] = op
				}
			}, func(name string) {
				for _, f := range byName[name] {
					g.named[f] = op
				}
			})
		}
		inside := func(op *ir.Op) bool {
			callee := ""
			if fl := op.Def().Flow; fl != nil {
				callee = fl.Callee
			}
			attrs := op.Attrs()
			for i := range attrs {
				if attrs[i].Name != callee || g.target(op) == nil {
					name(op, attrs[i].Attr)
				}
			}
			for _, text := range op.Verbatim() {
				name(op, ir.NewOpaque(text))
			}
			return true
		}
		inside(g.m.Op())
		g.m.Walk(inside)
	}
	return g.named[f]
}

// References calls ref for every reference to a symbol in an attribute, and text for every @name in the text of an
// attribute that is not a tree of attributes.
func References(a ir.Attr, ref func(*ir.SymbolRefAttr), text func(name string)) {
	switch a := a.(type) {
	case *ir.SymbolRefAttr:
		ref(a)
	case *ir.ArrayAttr:
		for _, e := range a.Elems() {
			References(e, ref, text)
		}
	case *ir.DictAttr:
		for _, e := range a.Entries() {
			References(e.Attr, ref, text)
		}
	case *ir.DialectAttr:
		mentions(a.Body(), text)
	case *ir.OpaqueAttr:
		mentions(a.String(), text)
	}
}

// Symbols calls f for every name of a symbol in an attribute. A reference may name several.
func Symbols(a ir.Attr, f func(name string)) {
	References(a, func(ref *ir.SymbolRefAttr) {
		f(ref.Root())
		for _, n := range ref.Nested() {
			f(n)
		}
	}, f)
}

// mentions calls f for every @name in the text of an attribute.
func mentions(text string, f func(name string)) {
	for {
		i := strings.IndexByte(text, '@')
		if i < 0 {
			return
		}
		text = text[i+1:]
		if rest, ok := strings.CutPrefix(text, `"`); ok {
			if name, _, ok := strings.Cut(rest, `"`); ok {
				f(name)
			}
			continue
		}
		end := strings.IndexFunc(text, func(c rune) bool {
			return c != '_' && c != '$' && c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		})
		if end < 0 {
			end = len(text)
		}
		f(text[:end])
	}
}

// Recursive returns a function that calls itself, directly or through others, and that contains one of the ops or calls
// a function that does. It returns nil if there is none.
func (g *Graph) Recursive(ops []*ir.Op) *ir.Op {
	reached := map[*ir.Op]bool{}
	var work []*ir.Op
	add := func(f *ir.Op) {
		if !reached[f] {
			reached[f] = true
			work = append(work, f)
		}
	}
	for _, op := range ops {
		add(FunctionOf(op))
	}
	calledBy := map[*ir.Op][]*ir.Op{}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, call := range g.callers[f] {
			caller := FunctionOf(call)
			calledBy[f] = append(calledBy[f], caller)
			add(caller)
		}
	}
	const open, done = 1, 2
	state := map[*ir.Op]int8{}
	var cycle func(f *ir.Op) *ir.Op
	cycle = func(f *ir.Op) *ir.Op {
		switch state[f] {
		case open:
			return f
		case done:
			return nil
		}
		state[f] = open
		for _, caller := range calledBy[f] {
			if on := cycle(caller); on != nil {
				return on
			}
		}
		state[f] = done
		return nil
	}
	for _, f := range g.funcs {
		if reached[f] {
			if on := cycle(f); on != nil {
				return on
			}
		}
	}
	return nil
}

// FunctionOf returns the innermost function that contains op, or nil.
func FunctionOf(op *ir.Op) *ir.Op {
	for p := op.Parent(); p != nil; p = p.Parent() {
		if isFunction(p) {
			return p
		}
	}
	return nil
}

// Entry returns the first block of f, or nil for a function without a body.
func Entry(f *ir.Op) *ir.Block {
	if len(f.Regions()) == 0 {
		return nil
	}
	return f.Region(0).Entry()
}

// Returns yields the terminators of region r that return values to the parent op.
func Returns(r *ir.Region) iter.Seq[*ir.Op] {
	return func(yield func(*ir.Op) bool) {
		for _, b := range r.Blocks() {
			if t := b.Last(); t != nil && t.Has(ir.ReturnLike) && !yield(t) {
				return
			}
		}
	}
}

// Captures returns the outside values that ops in region r use, in order of first use.
func Captures(r *ir.Region) []*ir.Value {
	inside := map[*ir.Region]bool{r: true}
	var out []*ir.Value
	seen := map[*ir.Value]bool{}
	for _, b := range r.Blocks() {
		for top := range b.Ops() {
			top.Walk(func(op *ir.Op) bool {
				for _, sub := range op.Regions() {
					inside[sub] = true
				}
				for _, v := range op.Operands() {
					if !seen[v] && !inside[v.ParentBlock().Region()] {
						seen[v] = true
						out = append(out, v)
					}
				}
				return true
			})
		}
	}
	return out
}

func symbol(f *ir.Op) string {
	s, _ := f.Attr(ir.SymbolName).(*ir.StringAttr)
	if s == nil {
		return ""
	}
	return s.Value()
}

// InOrder reports whether control flow determines when the ops of b run: b is in a function, and no region between b
// and the function runs unordered.
func InOrder(b *ir.Block) bool {
	for b != nil && b.Parent() != nil {
		p := b.Parent()
		f := p.Def().Flow
		if f.Run(slices.Index(p.Regions(), b.Region())) == ir.RunsUnordered {
			return false
		}
		if f.Function {
			return true
		}
		b = p.Block()
	}
	return false
}
