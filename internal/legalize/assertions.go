package legalize

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// ShapeAssertions removes the checks of jax.export whose conditions are constants. The error of one that does not hold
// is its message.
func ShapeAssertions(m *ir.Module) error {
	var hold []*ir.Op
	var failed error
	m.Walk(func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		if !ok || call.CallTargetName() != stablehlo.TargetShapeAssertion || op.NumOperands() == 0 || op.NumResults() > 0 || failed != nil {
			return failed == nil
		}
		switch list, ok := ints(op.Operand(0)); {
		case !ok || len(list) != 1:
		case list[0] != 0:
			hold = append(hold, op)
		default:
			text, _ := op.Attr(stablehlo.AttrErrorMessage).(*ir.StringAttr)
			failed = m.Errorf(op, "'%s' op %s", op.Name(), assertionMessage(text, op.OperandList()[1:]))
		}
		return true
	})
	for _, op := range hold {
		op.Erase()
	}
	return failed
}

// assertionMessage replaces {0}, {1} and so on by the values of constants.
func assertionMessage(text *ir.StringAttr, values []*ir.Value) string {
	if text == nil {
		return "a shape assertion does not hold"
	}
	var pairs []string
	for i, v := range values {
		if list, ok := ints(v); ok && len(list) == 1 {
			pairs = append(pairs, "{"+strconv.Itoa(i)+"}", strconv.FormatInt(list[0], 10))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text.Value())
}
