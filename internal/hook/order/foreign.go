package order

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// hiddenTokens are the tokens of a module that stay: values of a type of their own while the others are converted.
type hiddenTokens struct {
	m     *ir.Module
	token ir.Type
}

// hideForeign hides the tokens that order no hook. Two values belong together if one may become the other, or if one op
// uses both. It returns an error at a foreign op (see isForeign) that uses a token that orders hooks, too.
func (c *converter) hideForeign(affected []*ir.Op) (*hiddenTokens, error) {
	sets := tokenSets{parent: map[*ir.Value]*ir.Value{}}
	arguments := func(op *ir.Op) {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					if !irutil.HoldsToken(a.Type()) {
						continue
					}
					for u := range c.calls.Sources(a) {
						sets.join(a, u.Value())
					}
				}
			}
		}
	}
	for _, f := range c.calls.Functions() {
		arguments(f)
	}
	for _, op := range affected {
		arguments(op)
		var all []*ir.Value
		for _, v := range slices.Concat(op.OperandList(), op.ResultList()) {
			if irutil.HoldsToken(v.Type()) {
				all = append(all, v)
			}
		}
		if f := op.Def().Flow; op.IsOrMirrors(stablehlo.OptimizationBarrier) || f == nil && !op.Has(ir.ReturnLike) {
			for _, v := range all[1:] {
				sets.join(all[0], v)
			}
		}
		for _, v := range all {
			for u := range c.calls.Sources(v) {
				sets.join(v, u.Value())
			}
		}
	}
	hooks := map[*ir.Value]bool{}
	for _, op := range affected {
		if op.Is(hookop.Hook) {
			hooks[sets.find(op.Operand(0))] = true
		}
	}
	foreign := map[*ir.Value]bool{}
	for _, op := range affected {
		if !isForeign(op) {
			continue
		}
		for _, v := range slices.Concat(op.OperandList(), op.ResultList()) {
			if !irutil.HoldsToken(v.Type()) {
				continue
			}
			if hooks[sets.find(v)] {
				return nil, c.cannotFollow(op)
			}
			foreign[sets.find(v)] = true
		}
	}
	h := &hiddenTokens{m: c.m, token: c.m.Context().DialectType("hlocb", "token", "", nil)}
	for v := range sets.parent {
		if foreign[sets.find(v)] {
			v.SetType(h.replace(v.Type(), stablehlo.IsToken, h.token))
		}
	}
	h.signatures(c.calls.Functions())
	return h, nil
}

// replace returns t with the types that is selects replaced, also in tuples.
func (h *hiddenTokens) replace(t ir.Type, is func(ir.Type) bool, with ir.Type) ir.Type {
	if tt, ok := t.(*ir.TupleType); ok {
		elems := slices.Clone(tt.Elems())
		for i, e := range elems {
			elems[i] = h.replace(e, is, with)
		}
		return h.m.Context().Tuple(elems)
	}
	if is(t) {
		return with
	}
	return t
}

// signatures gives functions the types of their arguments and returned values.
func (h *hiddenTokens) signatures(funcs []*ir.Op) {
	for _, op := range funcs {
		f := fn.FuncOp{Op: op}
		if f.External() || f.Type() == nil {
			continue
		}
		t := f.Type()
		in, out := slices.Clone(t.Inputs()), slices.Clone(t.Results())
		for i, a := range f.Body().Args() {
			in[i] = a.Type()
		}
		for ret := range flow.Returns(f.Region(0)) {
			for i, v := range ret.Operands() {
				out[i] = v.Type()
			}
		}
		if !slices.Equal(in, t.Inputs()) || !slices.Equal(out, t.Results()) {
			args, results := f.ValueAttrs()
			f.SetSignature(h.m.Context().Function(in, out), args, results)
		}
	}
}

// show makes the hidden tokens tokens again.
func (h *hiddenTokens) show() {
	hidden := func(t ir.Type) bool { return t == h.token }
	token := stablehlo.TokenType(h.m.Context())
	var funcs []*ir.Op
	show := func(v *ir.Value) {
		if t := h.replace(v.Type(), hidden, token); t != v.Type() {
			v.SetType(t)
		}
	}
	h.m.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results() {
			show(v)
		}
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					show(a)
				}
			}
		}
		if isFunction(op) {
			funcs = append(funcs, op)
		}
		return true
	})
	h.signatures(funcs)
}

// tokenSets are sets of values that belong together.
type tokenSets struct{ parent map[*ir.Value]*ir.Value }

// find returns the representative of the set of v.
func (s tokenSets) find(v *ir.Value) *ir.Value {
	if s.parent[v] == nil {
		s.parent[v] = v
	}
	for s.parent[v] != v {
		s.parent[v] = s.parent[s.parent[v]]
		v = s.parent[v]
	}
	return v
}

func (s tokenSets) join(v, w *ir.Value) { s.parent[s.find(v)] = s.find(w) }
