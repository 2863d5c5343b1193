// Code generated from the rows of the dialect. DO NOT EDIT.

package interpreter

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Names of the attributes of ops.
const (
	AttrInfeed   = "infeed"
	AttrProbeID  = "probe_id"
	AttrPrograms = "programs"
)

// RunParallelOp is the view of interpreter.run_parallel, and of ops that mirror it. The op must have been verified.
type RunParallelOp struct{ *ir.Op }

// AsRunParallel returns the view of op; ok is false if op is of another kind.
func AsRunParallel(op *ir.Op) (v RunParallelOp, ok bool) {
	return RunParallelOp{op}, op != nil && op.IsOrMirrors(RunParallel)
}

// Operands, attributes and regions of interpreter.run_parallel, and setters of operands and attributes.
func (v RunParallelOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v RunParallelOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v RunParallelOp) Infeed() []ir.Attr            { return view.List(v.Attr("infeed"), view.Attr) }
func (v RunParallelOp) SetInfeed(value ir.Attr)      { view.Set(v.Op, "infeed", value) }
func (v RunParallelOp) Programs() []ir.Attr          { return view.List(v.Attr("programs"), view.Attr) }
func (v RunParallelOp) SetPrograms(value ir.Attr)    { view.Set(v.Op, "programs", value) }

// RunParallelAttrs are the attributes of interpreter.run_parallel. An optional attribute that is zero is left out.
type RunParallelAttrs struct {
	Infeed   ir.Attr
	Programs ir.Attr
}

// BuildRunParallel builds interpreter.run_parallel and checks its types.
func BuildRunParallel(b *ir.Builder, inputs []*ir.Value, results []ir.Type, a RunParallelAttrs) (RunParallelOp, error) {
	op, err := view.Build(b, RunParallel, results, inputs, nil, a.Infeed, a.Programs)
	return RunParallelOp{op}, err
}

// PrintOp is the view of interpreter.print, and of ops that mirror it. The op must have been verified.
type PrintOp struct{ *ir.Op }

// AsPrint returns the view of op; ok is false if op is of another kind.
func AsPrint(op *ir.Op) (v PrintOp, ok bool) { return PrintOp{op}, op != nil && op.IsOrMirrors(Print) }

// Operands, attributes and regions of interpreter.print, and setters of operands and attributes.
func (v PrintOp) Input() *ir.Value         { return v.Operand(0) }
func (v PrintOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildPrint builds interpreter.print and checks its types.
func BuildPrint(b *ir.Builder, operand *ir.Value) (PrintOp, error) {
	op, err := view.Build(b, Print, nil, []*ir.Value{operand}, nil)
	return PrintOp{op}, err
}

// ProbeOp is the view of interpreter.probe, and of ops that mirror it. The op must have been verified.
type ProbeOp struct{ *ir.Op }

// AsProbe returns the view of op; ok is false if op is of another kind.
func AsProbe(op *ir.Op) (v ProbeOp, ok bool) { return ProbeOp{op}, op != nil && op.IsOrMirrors(Probe) }

// Operands, attributes and regions of interpreter.probe, and setters of operands and attributes.
func (v ProbeOp) Input() *ir.Value         { return v.Operand(0) }
func (v ProbeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v ProbeOp) ProbeID() string          { return view.String(v.Attr("probe_id")) }
func (v ProbeOp) SetProbeID(value string)  { view.Set(v.Op, "probe_id", value) }

// ProbeAttrs are the attributes of interpreter.probe. An optional attribute that is zero is left out.
type ProbeAttrs struct {
	ProbeID string
}

// BuildProbe builds interpreter.probe and infers its types.
func BuildProbe(b *ir.Builder, operand *ir.Value, a ProbeAttrs) (ProbeOp, error) {
	op, err := view.Build(b, Probe, nil, []*ir.Value{operand}, nil, a.ProbeID)
	return ProbeOp{op}, err
}
