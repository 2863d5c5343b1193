package hooks

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// toJAX writes the custom calls of JAX. The index is the hook's place among the module's hooks; only a process
// that has callbacks of these numbers can run the result.
var toJAX = Output{
	Name:   "jax",
	Doc:    "custom calls @xla_ffi_python_cpu_callback with an index, ordered by a token; runs in jaxlib only",
	needs:  needToken,
	places: true,
	lower:  lowerJAX,
}

func lowerJAX(w *lowerer, h hookop.HookOp) error {
	ctx := w.m.Context()
	b := w.m.Before(h.Op)
	operands := data(h)
	results, none := asSource(h)
	types := dataTypes(h)
	if none {
		types = nil
	}
	if h.Chained() {
		operands = prepend(h.Operand(0), operands)
		types = prepend[ir.Type](stablehlo.TokenType(ctx), types)
	}
	st := &ir.OpState{Def: w.m.Def("stablehlo.custom_call"), Operands: operands, Types: types, Loc: h.Loc(), Pos: h.Pos()}
	target := "xla_ffi_python_cpu_callback"
	if h.Attr(hookop.AttrPartitioned) != nil && h.NumResultData() == 0 { // JAX has them for what returns nothing
		target = "xla_ffi_partitioned_python_cpu_callback"
	}
	st.SetAttr("call_target_name", ir.NewString(target))
	st.SetAttr("backend_config", ir.NewString(""))
	if h.SideEffect() {
		st.SetAttr("has_side_effect", ctx.Bool(true))
	}
	index := ir.NewInteger(int64(w.index), ctx.Integer(64, ir.Unsigned))
	w.index++
	st.SetAttr("mhlo.backend_config", ir.NewDict(ir.AttrList{{Name: "index", Attr: index}}))
	if err := carrySharding(w.m, h, st, w.single); err != nil {
		return err
	}
	st.SetAttr("operand_layouts", layouts(ctx, operands))
	op := b.Insert(st)
	op.SetAttr("result_layouts", layouts(ctx, resultList(op)))
	setMarks(op, h)
	out := resultList(op)
	var token *ir.Value
	if h.Chained() {
		token, out = out[0], out[1:]
	}
	if none {
		out = results
	}
	w.finish(h, token, out)
	return nil
}

// exportTokens makes the tokens that public functions create for their hooks arguments and results of theirs, as
// JAX does: its runtime orders one run's effects after another's by them.
func exportTokens(m *ir.Module) {
	for _, f := range fn.Funcs(m) {
		if f.Private() || f.External() || f.Type() == nil {
			continue
		}
		entry := f.Body()
		first := entry.First()
		rets := returns(f)
		if first == nil || stable(first) != "create_token" || len(rets) != 1 {
			continue
		}
		// The chain's end is what follows from the token at the top of the function.
		end := chainEnd(first.Result(0))
		token := stablehlo.TokenType(m.Context())
		args, results := signatureAttrs(f)
		mark := ir.NewDict(ir.AttrList{{Name: "jax.token", Attr: m.Context().Bool(true)}})
		t := f.Type()
		f.SetSignature(m.Context().Function(prepend[ir.Type](token, t.Inputs()), prepend[ir.Type](token, t.Results())),
			prepend(mark, args), prepend(mark, results))
		a := entry.InsertArg(0, token, first.Loc())
		if end == first.Result(0) {
			end = a
		}
		first.Result(0).ReplaceAllUsesWith(a)
		first.Erase()
		rets[0].SetOperands(prepend(end, rets[0].OperandList()))
		for i := range f.Type().Inputs() {
			if n, ok := intAttr(f.ArgAttrs(i).Get("tf.aliasing_output")); ok {
				editArg(f, i, func(l ir.AttrList) ir.AttrList {
					return l.Set("tf.aliasing_output", ir.NewInteger(n+1, m.Context().I32()), false)
				})
			}
		}
	}
}

// chainEnd returns the last token that follows from token in its block.
func chainEnd(token *ir.Value) *ir.Value {
	for {
		var next *ir.Value
		for u := range token.Uses() {
			if u.Owner().Block() != token.ParentBlock() {
				continue
			}
			for _, r := range u.Owner().Results() {
				if stablehlo.IsToken(r.Type()) {
					next = r
				}
			}
		}
		if next == nil {
			return branchEnd(token)
		}
		token = next
	}
}

// branchEnd returns the token that an if or case gives whose branches take token, else token.
func branchEnd(token *ir.Value) *ir.Value {
	for u := range token.Uses() {
		op := u.Owner()
		for op != nil && op.Block() != token.ParentBlock() {
			op = op.Parent()
		}
		if op != nil && op.NumResults() > 0 && stablehlo.IsToken(op.Result(0).Type()) {
			return chainEnd(op.Result(0))
		}
	}
	return token
}
