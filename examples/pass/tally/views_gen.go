// Code generated from the rows of the dialect. DO NOT EDIT.

package tally

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Names of the attributes of ops.
const (
	AttrFactor = "factor"
	AttrLayout = "layout"
	AttrTimes  = "times"
)

// RepeatOp is the view of tally.repeat, and of ops that mirror it. The op must have been verified.
type RepeatOp struct{ *ir.Op }

// AsRepeat returns the view of op; ok is false if op is of another kind.
func AsRepeat(op *ir.Op) (v RepeatOp, ok bool) {
	return RepeatOp{op}, op != nil && op.IsOrMirrors(Repeat)
}

// Operands, attributes and regions of tally.repeat, and setters of operands and attributes.
func (v RepeatOp) Initial() []*ir.Value          { return v.OperandList() }
func (v RepeatOp) SetInitial(values []*ir.Value) { v.SetOperands(values) }
func (v RepeatOp) Times() int64                  { return view.Int(v.Attr("times")) }
func (v RepeatOp) SetTimes(value int64)          { view.Set(v.Op, "times", value) }
func (v RepeatOp) Body() *ir.Region              { return v.Region(0) }

// RepeatAttrs are the attributes of tally.repeat. An optional attribute that is zero is left out.
type RepeatAttrs struct {
	Times int64
}

// BuildRepeat builds tally.repeat and checks its types.
func BuildRepeat(b *ir.Builder, initial []*ir.Value, body *ir.Region, results []ir.Type, a RepeatAttrs) (RepeatOp, error) {
	op, err := view.Build(b, Repeat, results, initial, []*ir.Region{body}, a.Times)
	return RepeatOp{op}, err
}

// YieldOp is the view of tally.yield, and of ops that mirror it. The op must have been verified.
type YieldOp struct{ *ir.Op }

// AsYield returns the view of op; ok is false if op is of another kind.
func AsYield(op *ir.Op) (v YieldOp, ok bool) { return YieldOp{op}, op != nil && op.IsOrMirrors(Yield) }

// Operands, attributes and regions of tally.yield, and setters of operands and attributes.
func (v YieldOp) Values() []*ir.Value          { return v.OperandList() }
func (v YieldOp) SetValues(values []*ir.Value) { v.SetOperands(values) }

// BuildYield builds tally.yield and checks its types.
func BuildYield(b *ir.Builder, values []*ir.Value) (YieldOp, error) {
	op, err := view.Build(b, Yield, nil, values, nil)
	return YieldOp{op}, err
}

// ScaledDotOp is the view of tally.scaled_dot, and of ops that mirror it. The op must have been verified.
type ScaledDotOp struct{ *ir.Op }

// AsScaledDot returns the view of op; ok is false if op is of another kind.
func AsScaledDot(op *ir.Op) (v ScaledDotOp, ok bool) {
	return ScaledDotOp{op}, op != nil && op.IsOrMirrors(ScaledDot)
}

// Operands, attributes and regions of tally.scaled_dot, and setters of operands and attributes.
func (v ScaledDotOp) LHS() *ir.Value          { return v.Operand(0) }
func (v ScaledDotOp) SetLHS(value *ir.Value)  { v.SetOperand(0, value) }
func (v ScaledDotOp) RHS() *ir.Value          { return v.Operand(1) }
func (v ScaledDotOp) SetRHS(value *ir.Value)  { v.SetOperand(1, value) }
func (v ScaledDotOp) Factor() int64           { return view.Int(v.Attr("factor")) }
func (v ScaledDotOp) SetFactor(value int64)   { view.Set(v.Op, "factor", value) }
func (v ScaledDotOp) Layout() []int64         { return view.Ints(v.Attr("layout")) }
func (v ScaledDotOp) SetLayout(value []int64) { view.Set(v.Op, "layout", value) }

// ScaledDotAttrs are the attributes of tally.scaled_dot. An optional attribute that is zero is left out.
type ScaledDotAttrs struct {
	Factor int64
	Layout []int64
}

// BuildScaledDot builds tally.scaled_dot and checks its types.
func BuildScaledDot(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, result ir.Type, a ScaledDotAttrs) (ScaledDotOp, error) {
	op, err := view.Build(b, ScaledDot, []ir.Type{result}, []*ir.Value{lhs, rhs}, nil, a.Factor, a.Layout)
	return ScaledDotOp{op}, err
}
