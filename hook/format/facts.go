package format

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// A hook keeps the facts of its HLO custom call, such as its schedule and its padding type. A list of precisions has
// one for each operand. The list of a hook has none for the chain, which is an operand of the call alone.

// factsOf returns the facts of the custom call op for a hook.
func factsOf(op *ir.Op) ir.AttrList {
	if !op.IsOrMirrors(stablehlo.CustomCall) {
		return nil
	}
	var list ir.AttrList
	for _, name := range mhlo.CallFacts() {
		a := op.Attr(name)
		if p := precisions(a); name == mhlo.AttrOperandPrecision && len(p) == op.NumOperands() {
			var of []string
			for i, v := range op.OperandList() {
				if !stablehlo.IsToken(v.Type()) {
					of = append(of, p[i])
				}
			}
			a = precisionList(of)
		}
		if a != nil {
			list = append(list, ir.NamedAttr{Name: name, Attr: a})
		}
	}
	return list
}

// setFacts gives the call st the facts of h.
func setFacts(st *ir.OpState, h hookop.HookOp) {
	for _, name := range mhlo.CallFacts() {
		a := h.Attr(name)
		if a == nil {
			continue
		}
		if p := precisions(a); name == mhlo.AttrOperandPrecision && h.Chained() && len(p) == h.NumData() {
			a = precisionList(append([]string{"default"}, p...))
		}
		st.SetAttr(name, a)
	}
}

// precisions returns the elements of a list of precisions, nil if a is none.
func precisions(a ir.Attr) []string {
	s, ok := a.(*ir.StringAttr)
	if !ok {
		return nil
	}
	text, ok := strings.CutPrefix(s.Value(), "{")
	text, closed := strings.CutSuffix(text, "}")
	if !ok || !closed {
		return nil
	}
	return strings.Split(text, ",")
}

// precisionList is the inverse of precisions. It returns nil for an empty list.
func precisionList(list []string) ir.Attr {
	if len(list) == 0 {
		return nil
	}
	return ir.NewString("{" + strings.Join(list, ",") + "}")
}
