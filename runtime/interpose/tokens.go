//go:build cgo

package interpose

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// mainType is the signature of main, which the framework relies on. The conversion of hooks removes tokens from it.
type mainType struct {
	typ           *ir.FunctionType
	args, results []*ir.DictAttr
}

func mainTypeOf(m *ir.Module) mainType {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return mainType{}
	}
	args, results := f.ValueAttrs()
	return mainType{f.Type(), args, results}
}

// arguments returns the types of main's arguments. Tokens and values of dynamic shapes have none.
func (t mainType) arguments() []hook.TensorType {
	if t.typ == nil {
		return nil
	}
	out := make([]hook.TensorType, len(t.typ.Inputs()))
	for i, in := range t.typ.Inputs() {
		if tt, ok := in.(*ir.TensorType); ok && tt.Static() {
			out[i] = hook.TensorType{DType: tt.DType(), Shape: tt.Shape()}
		}
	}
	return out
}

// restore restores the signature t of main: token arguments are unused, and token results do not depend on the hooks. A
// run ends after its hooks, so the tokens still order one run after another.
func (t mainType) restore(m *ir.Module) bool {
	f, ok := fn.Lookup(m, "main")
	if !ok || f.Type() == t.typ || f.Type().String() == t.typ.String() {
		return ok
	}
	isToken := func(list []ir.Type) (at []int) {
		for i, typ := range list {
			if stablehlo.IsToken(typ) {
				at = append(at, i)
			}
		}
		return at
	}
	ins, outs := isToken(t.typ.Inputs()), isToken(t.typ.Results())
	rets := slices.Collect(flow.Returns(f.Region(0)))
	if len(rets) != 1 || len(f.Type().Inputs())+len(ins) != len(t.typ.Inputs()) || len(f.Type().Results())+len(outs) != len(t.typ.Results()) {
		return false
	}
	var tokens []*ir.Value
	for _, i := range ins {
		tokens = append(tokens, f.Body().InsertArg(i, t.typ.Inputs()[i], f.Loc()))
	}
	operands := rets[0].OperandList()
	for n, i := range outs {
		var token *ir.Value
		if n < len(tokens) {
			token = tokens[n]
		} else {
			token = m.Before(rets[0]).Create(stablehlo.CreateToken, nil, []ir.Type{t.typ.Results()[i]}).Result(0)
		}
		operands = slices.Insert(operands, i, token)
	}
	rets[0].SetOperands(operands)
	f.SetSignature(t.typ, t.args, t.results)
	return f.Type().String() == t.typ.String()
}
