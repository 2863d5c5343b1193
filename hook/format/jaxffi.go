package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// jaxFFI is the format of JAX 0.6 and later for io_callback, pure_callback, debug.callback and buffer_callback. The
// index refers to a table of the process that wrote the module. Only a process with such a table can run the module.
var jaxFFI = &Format{
	Name:   "jax-ffi",
	Doc:    "a custom call of one of the targets xla_ffi_python_{cpu,gpu}_callback, xla_ffi_partitioned_python_*, xla_buffer_python_*",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.CustomCall}, Read: readJAXFFI},
	Writer: &Writer{
		Name:    "jax",
		Doc:     "custom calls @xla_ffi_python_cpu_callback with an index, ordered by a token; runs in jaxlib only",
		Ordered: OrderedByToken,
		Places:  true,
		Write:   writeJAXFFI,
		End:     func(w *Lowerer) error { return exportTokens(w.Module) },
	},
}

func readJAXFFI(r *Raiser, op *ir.Op) (bool, error) {
	if !irutil.IsTarget(op,
		"xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback",
		"xla_ffi_partitioned_python_cpu_callback", "xla_ffi_partitioned_python_gpu_callback",
		"xla_buffer_python_cpu_callback", "xla_buffer_python_gpu_callback",
		"xla_buffer_python_cpu_callback_cmd_buffer", "xla_buffer_python_gpu_callback_cmd_buffer") {
		return false, nil
	}
	index, ok := view.OptionalInt(irutil.Config(op).Get(stablehlo.AttrIndex))
	if !ok {
		return false, r.Module.Errorf(op, "JAX callback has no index in its backend_config")
	}
	s, err := r.call(op)
	if err != nil {
		return false, err
	}
	s.Kind = callKind(len(s.Operands), irutil.DataLeaves(s.Results), s.SideEffect)
	s.SourceID = "index " + strconv.FormatUint(uint64(index), 10)
	s.EachDevice = strings.HasPrefix(view.String(op.Attr(stablehlo.AttrCallTargetName)), "xla_ffi_partitioned_")
	s.Mark = op
	r.Add(s)
	return true, nil
}

func writeJAXFFI(w *Lowerer, h hookop.HookOp) error {
	ctx := w.Module.Context()
	operands := data(h)
	results, isTap := tapResults(h)
	types := dataTypes(h)
	if isTap {
		types = nil
	}
	if h.Chained() {
		operands = irutil.Prepend(h.Operand(0), operands)
		types = irutil.Prepend[ir.Type](stablehlo.TokenType(ctx), types)
	}
	st := &ir.OpState{Def: stablehlo.CustomCall, Operands: operands, Types: types, Loc: h.Loc(), Pos: h.Pos()}
	target := "xla_ffi_python_cpu_callback"
	if h.Attr(hookop.AttrPartitioned) != nil && h.NumResultData() == 0 { // JAX has partitioned callbacks only without results
		target = "xla_ffi_partitioned_python_cpu_callback"
	}
	st.SetAttr(stablehlo.AttrCallTargetName, ir.NewString(target))
	st.SetAttr(stablehlo.AttrBackendConfig, ir.NewString(""))
	if h.SideEffect() {
		st.SetAttr(stablehlo.AttrHasSideEffect, ctx.Bool(true))
	}
	index := ir.NewInteger(int64(w.index), ctx.Integer(64, ir.Unsigned))
	w.index++
	st.SetAttr(mhlo.AttrBackendConfig, ir.NewDict(ir.AttrList{{Name: stablehlo.AttrIndex, Attr: index}}))
	st.SetAttr(stablehlo.AttrOperandLayouts, layouts(ctx, operands))
	op := w.Module.Before(h.Op).Insert(st)
	if err := w.Shard(h, op); err != nil {
		return err
	}
	op.SetAttr(stablehlo.AttrResultLayouts, layouts(ctx, op.ResultList()))
	setMarks(op, h)
	out := op.ResultList()
	var token *ir.Value
	if h.Chained() {
		token, out = out[0], out[1:]
	}
	if isTap {
		out = results
	}
	w.Replace(h, token, out)
	return nil
}

// exportTokens turns the tokens that public functions create for their hooks into arguments and results, as JAX does.
// JAX's runtime uses them to order the effects of one run after another's.
func exportTokens(m *ir.Module) error {
	for _, f := range fn.Funcs(m) {
		if f.Private() || f.External() || f.Type() == nil {
			continue
		}
		entry := f.Body()
		first := entry.First()
		rets := slices.Collect(flow.Returns(f.Region(0)))
		if first == nil || !first.IsOrMirrors(stablehlo.CreateToken) || len(rets) != 1 {
			continue
		}
		// The chain ends at the last token that follows from the first one.
		end := chainEnd(first.Result(0))
		token := stablehlo.TokenType(m.Context())
		a := entry.InsertArg(0, token, first.Loc())
		if end == first.Result(0) {
			end = a
		}
		first.Result(0).ReplaceAllUsesWith(a)
		first.Erase()
		rets[0].SetOperands(irutil.Prepend(end, rets[0].OperandList()))
		t := f.Type()
		if err := f.Def().Flow.Remap(m, f.Op, irutil.Prepend(-1, flow.Positions(len(t.Inputs()))), irutil.Prepend(-1, flow.Positions(len(t.Results())))); err != nil {
			return err
		}
		args, results := f.ValueAttrs()
		mark := ir.NewDict(ir.AttrList{{Name: fn.AttrToken, Attr: m.Context().Bool(true)}})
		args[0], results[0] = mark, mark
		f.SetSignature(f.Type(), args, results)
	}
	return nil
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

// branchEnd returns the token result of an if or case whose branches use token, or token itself if there is none.
func branchEnd(token *ir.Value) *ir.Value {
	for u := range token.Uses() {
		op := irutil.Around(u.Owner(), token.ParentBlock())
		if op != nil && op.NumResults() > 0 && stablehlo.IsToken(op.Result(0).Type()) {
			return chainEnd(op.Result(0))
		}
	}
	return token
}
