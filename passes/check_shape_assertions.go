package passes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// CheckShapeAssertions checks and erases the assertions that jax.export adds to programs of polymorphic shapes.
type CheckShapeAssertions struct {
	Enable pass.Opt[bool] `pass:"enable-shape-assertions" default:"true" doc:"report failed assertions; false erases all assertions unchecked"`
}

func (CheckShapeAssertions) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-check-shape-assertions",
		Aliases: []string{"check-shape-assertions"},
		Anchor:  fn.Func.Name,
		Doc: "Erases the custom calls @shape_assertion that hold. A call that fails is an error with the call's message. A call without constant " +
			"operands is an error, too: run stablehlo-refine-shapes first.",
		Idempotent: true,
	}
}

func (p CheckShapeAssertions) Run(ctx *pass.Context, f *ir.Op) error {
	p = pass.Defaults(p)
	var hold []*ir.Op
	var problems diag.List
	f.Walk(func(op *ir.Op) bool {
		if call, ok := stablehlo.AsCustomCall(op); ok && op.Is(stablehlo.CustomCall) && call.CallTargetName() == stablehlo.TargetShapeAssertion {
			if d := checkAssertion(op); d != nil && p.Enable.Get() {
				problems = append(problems, d)
			} else {
				hold = append(hold, op)
			}
		}
		return true
	})
	for _, op := range hold {
		op.Erase()
	}
	ctx.Count("assertions erased", len(hold))
	return problems.Err()
}

// maxMessageInputs is the number of operands that the message of an assertion can have.
const maxMessageInputs = 32

// checkAssertion returns the error of a shape assertion, or nil if the assertion holds.
func checkAssertion(op *ir.Op) *diag.Diagnostic {
	fail := func(format string, args ...any) *diag.Diagnostic { return op.Module().Errorf(op, format, args...) }
	inputs := op.NumOperands() - 1
	switch {
	case inputs < 0 || inputs > maxMessageInputs:
		return fail("expects 1 <= size(operands) <= %d", 1+maxMessageInputs)
	case op.NumResults() != 0:
		return fail("expects size(results) = 0")
	}
	allowed := []string{stablehlo.AttrAPIVersion, stablehlo.AttrBackendConfig, stablehlo.AttrCallTargetName, stablehlo.AttrErrorMessage, stablehlo.AttrHasSideEffect}
	for _, a := range op.Attrs() {
		if !slices.Contains(allowed, a.Name) {
			return fail("%q is not a supported attribute", a.Name)
		}
	}
	switch c := op.Attr(stablehlo.AttrBackendConfig).(type) {
	case *ir.StringAttr:
		if c.Value() != "" {
			return fail("expects an empty backend_config")
		}
	case *ir.DictAttr:
		if len(c.Entries()) > 0 {
			return fail("expects an empty backend_config")
		}
	}
	if !isScalar(op.Operand(0), tensor.I1) {
		return fail("expects assert_what (operand #0) to be a constant of type tensor<i1>")
	}
	for i, v := range op.OperandList()[1:] {
		if !isScalar(v, tensor.I32, tensor.I64) {
			return fail("expects error_message_input (operand #%d) to be a constant of type tensor<i32> or tensor<i64>", i+1)
		}
	}
	message, ok := op.Attr(stablehlo.AttrErrorMessage).(*ir.StringAttr)
	if !ok {
		return fail("expects an error_message attribute")
	}
	if spec := missingInput(message.Value(), inputs); spec != "" {
		return fail("expects error_message to contain format specifiers with error_message_input index less than %d. Found specifier %s", inputs, spec)
	}
	holds, ok := rewrite.ConstantInts(op.Operand(0))
	switch {
	case !ok:
		return fail("expects static assert_what (operand #0)")
	case holds[0] != 0:
		return nil
	}
	var values []int64
	for i, v := range op.OperandList()[1:] {
		n, ok := rewrite.ConstantInts(v)
		if !ok {
			return fail("expects static error_message_input (operand #%d)", i+1)
		}
		values = append(values, n[0])
	}
	return fail("%s", stablehlo.AssertionMessage(message.Value(), values))
}

// isScalar reports whether v is a signless scalar of one of the given types.
func isScalar(v *ir.Value, types ...tensor.DType) bool {
	t, ok := v.Type().(*ir.TensorType)
	return ok && t.Ranked() && t.Rank() == 0 && slices.Contains(types, t.DType())
}

// missingInput returns the first specifier {i} in message whose number is not less than n, or "".
func missingInput(message string, n int) string {
	for i := strings.IndexByte(message, '{'); i >= 0; {
		end := strings.IndexAny(message[i:], ",:}")
		if end < 0 {
			break
		}
		if k, err := strconv.ParseInt(message[i+1:i+end], 10, 32); err == nil && (k < 0 || k >= int64(n)) {
			return fmt.Sprint(message[i : i+end+1])
		}
		next := strings.IndexByte(message[i+1:], '{')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return ""
}
