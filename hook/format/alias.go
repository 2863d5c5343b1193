package format

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// aliasOf returns the alias that pairs one result of n with an operand.
func aliasOf(result, operand, n int) *stablehlo.OutputOperandAlias {
	a := &stablehlo.OutputOperandAlias{OperandIndex: int64(operand)}
	if n > 1 { // with one result the path indexes into it
		a.OutputTupleIndices = []int64{int64(result)}
	}
	return a
}

// Aliases reads the aliases of a custom call. For each data leaf of the results it returns the index of the data
// operand (tokens not counted) whose memory the leaf shares, or -1. It returns an error for an alias that cannot be
// honoured, because XLA crashes on some of them.
func (r *Raiser) Aliases(op *ir.Op, data []*ir.Value) ([]int, error) {
	results := op.ResultList()
	var out []ir.Type // all leaves, tokens too
	for _, v := range results {
		out = irutil.Leaves(out, v.Type())
	}
	byLeaf := make([]int, len(out))
	for i := range byLeaf {
		byLeaf[i] = -1
	}
	list, _ := op.Attr(stablehlo.AttrOutputOperandAliases).(*ir.ArrayAttr)
	if list != nil {
		dataIndex := map[int]int{}
		for i, v := range op.Operands() {
			if !stablehlo.IsToken(v.Type()) {
				dataIndex[i] = len(dataIndex)
			}
		}
		for _, e := range list.Elems() {
			a := view.Data[stablehlo.OutputOperandAlias](e)
			if a == nil {
				return nil, r.Module.Errorf(op, "cannot read the alias %s of the hook", e)
			}
			if len(results) == 0 {
				return nil, r.Module.Errorf(op, "hook without results has an output_operand_alias")
			}
			if a.OperandIndex < 0 || a.OperandIndex >= int64(op.NumOperands()) {
				return nil, r.Module.Errorf(op, "expects operand_index in the output_operand_alias attribute to be in range [0, %d); but got: %d.", op.NumOperands(), a.OperandIndex)
			}
			leaf, ok := aliasLeaf(results, a.OutputTupleIndices)
			from := op.Operand(int(a.OperandIndex)).Type()
			if !ok || len(a.OperandTupleIndices) > 0 || out[leaf] != from {
				return nil, r.Module.Errorf(op, "shapes mismatch in the output_operand_alias attribute: operand part has type '%s' and output part has type '%s'",
					from, aliasPartType(r.Module.Context(), results, out, leaf, ok))
			}
			if i, isData := dataIndex[int(a.OperandIndex)]; isData {
				byLeaf[leaf] = i
			}
		}
	}
	aliases := make([]int, 0, len(out))
	for i, t := range out {
		if !stablehlo.IsToken(t) {
			aliases = append(aliases, byLeaf[i])
		}
	}
	return aliases, nil
}

// afterChain returns the aliases of operands that follow a chain: the chain is not counted as an operand.
func afterChain(aliases []int) []int {
	out := make([]int, len(aliases))
	for i, a := range aliases {
		out[i] = max(a-1, -1)
	}
	return out
}

// aliasLeaf returns the result leaf that an output path selects.
func aliasLeaf(results []*ir.Value, path []int64) (leaf int, ok bool) {
	types := view.Types(results)
	if len(results) == 1 { // the path indexes into the only result
		if tt, ok := types[0].(*ir.TupleType); ok {
			types = tt.Elems()
		} else {
			return 0, len(path) == 0
		}
	}
	for len(path) > 0 {
		i := path[0]
		if i < 0 || i >= int64(len(types)) {
			return 0, false
		}
		for _, t := range types[:i] {
			leaf += len(irutil.Leaves(nil, t))
		}
		path = path[1:]
		tt, isTuple := types[i].(*ir.TupleType)
		if !isTuple {
			return leaf, len(path) == 0
		}
		types = tt.Elems()
	}
	return 0, false
}

func aliasPartType(c *ir.Context, results []*ir.Value, out []ir.Type, leaf int, ok bool) string {
	if ok {
		return out[leaf].String()
	}
	return c.Tuple(view.Types(results)).String()
}
