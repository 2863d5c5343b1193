// Code generated from the rows of the dialect. DO NOT EDIT.

package mpmd

import (
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Names of the attributes of ops.
const (
	AttrCallee       = "callee"
	AttrInShardings  = "in_shardings"
	AttrIterations   = "iterations"
	AttrMeshName     = "mesh_name"
	AttrName         = "name"
	AttrOrigin       = "origin"
	AttrOutShardings = "out_shardings"
	AttrReduction    = "reduction"
	AttrStageID      = "stage_id"
	AttrUnrollFactor = "unroll_factor"
)

// AssignOp is the view of mpmd.assign, and of ops that mirror it. The op must have been verified.
type AssignOp struct{ *ir.Op }

// AsAssign returns the view of op; ok is false if op is of another kind.
func AsAssign(op *ir.Op) (v AssignOp, ok bool) {
	return AssignOp{op}, op != nil && op.IsOrMirrors(Assign)
}

// Operands, attributes and regions of mpmd.assign, and setters of operands and attributes.
func (v AssignOp) Tensor() *ir.Value            { return v.Operand(0) }
func (v AssignOp) SetTensor(value *ir.Value)    { v.SetOperand(0, value) }
func (v AssignOp) AssignOrigin() string         { return view.String(v.Attr("origin")) }
func (v AssignOp) SetAssignOrigin(value string) { view.Set(v.Op, "origin", value) }

// AssignAttrs are the attributes of mpmd.assign. An optional attribute that is zero is left out.
type AssignAttrs struct {
	Origin string
}

// BuildAssign builds mpmd.assign and checks its types.
func BuildAssign(b *ir.Builder, tensor *ir.Value, result ir.Type, a AssignAttrs) (AssignOp, error) {
	op, err := view.Build(b, Assign, []ir.Type{result}, []*ir.Value{tensor}, nil, a.Origin)
	return AssignOp{op}, err
}

// BroadcastOp is the view of mpmd.broadcast, and of ops that mirror it. The op must have been verified.
type BroadcastOp struct{ *ir.Op }

// AsBroadcast returns the view of op; ok is false if op is of another kind.
func AsBroadcast(op *ir.Op) (v BroadcastOp, ok bool) {
	return BroadcastOp{op}, op != nil && op.IsOrMirrors(Broadcast)
}

// Operands, attributes and regions of mpmd.broadcast, and setters of operands and attributes.
func (v BroadcastOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v BroadcastOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }

// BuildBroadcast builds mpmd.broadcast and infers its types.
func BuildBroadcast(b *ir.Builder, tensor *ir.Value) (BroadcastOp, error) {
	op, err := view.Build(b, Broadcast, nil, []*ir.Value{tensor}, nil)
	return BroadcastOp{op}, err
}

// CallOp is the view of mpmd.call, and of ops that mirror it. The op must have been verified.
type CallOp struct{ *ir.Op }

// AsCall returns the view of op; ok is false if op is of another kind.
func AsCall(op *ir.Op) (v CallOp, ok bool) { return CallOp{op}, op != nil && op.IsOrMirrors(Call) }

// Operands, attributes and regions of mpmd.call, and setters of operands and attributes.
func (v CallOp) Tensors() []*ir.Value          { return v.OperandList() }
func (v CallOp) SetTensors(values []*ir.Value) { v.SetOperands(values) }
func (v CallOp) Callee() string                { return view.Symbol(v.Attr("callee")) }
func (v CallOp) SetCallee(value string)        { view.Set(v.Op, "callee", value) }

// CallAttrs are the attributes of mpmd.call. An optional attribute that is zero is left out.
type CallAttrs struct {
	Callee string
}

// BuildCall builds mpmd.call and checks its types.
func BuildCall(b *ir.Builder, tensors []*ir.Value, results []ir.Type, a CallAttrs) (CallOp, error) {
	op, err := view.Build(b, Call, results, tensors, nil, a.Callee)
	return CallOp{op}, err
}

// ForOp is the view of mpmd.for, and of ops that mirror it. The op must have been verified.
type ForOp struct{ *ir.Op }

// AsFor returns the view of op; ok is false if op is of another kind.
func AsFor(op *ir.Op) (v ForOp, ok bool) { return ForOp{op}, op != nil && op.IsOrMirrors(For) }

// Operands, attributes and regions of mpmd.for, and setters of operands and attributes.
func (v ForOp) Tensors() []*ir.Value             { return v.OperandList() }
func (v ForOp) SetTensors(values []*ir.Value)    { v.SetOperands(values) }
func (v ForOp) Iterations() int64                { return view.Int(v.Attr("iterations")) }
func (v ForOp) SetIterations(value int64)        { view.Set(v.Op, "iterations", value) }
func (v ForOp) UnrollFactor() (n int64, ok bool) { return view.OptionalInt(v.Attr("unroll_factor")) }
func (v ForOp) SetUnrollFactor(value *int64)     { view.Set(v.Op, "unroll_factor", value) }
func (v ForOp) ForRegion() *ir.Region            { return v.Region(0) }

// ForAttrs are the attributes of mpmd.for. An optional attribute that is zero is left out.
type ForAttrs struct {
	Iterations   int64
	UnrollFactor *int64
}

// BuildFor builds mpmd.for and checks its types.
func BuildFor(b *ir.Builder, tensors []*ir.Value, region *ir.Region, results []ir.Type, a ForAttrs) (ForOp, error) {
	op, err := view.Build(b, For, results, tensors, []*ir.Region{region}, a.Iterations, a.UnrollFactor)
	return ForOp{op}, err
}

// FragmentOp is the view of mpmd.fragment, and of ops that mirror it. The op must have been verified.
type FragmentOp struct{ *ir.Op }

// AsFragment returns the view of op; ok is false if op is of another kind.
func AsFragment(op *ir.Op) (v FragmentOp, ok bool) {
	return FragmentOp{op}, op != nil && op.IsOrMirrors(Fragment)
}

// Operands, attributes and regions of mpmd.fragment, and setters of operands and attributes.
func (v FragmentOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v FragmentOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v FragmentOp) InShardings() *sdy.PerValue {
	return view.Data[sdy.PerValue](v.Attr("in_shardings"))
}
func (v FragmentOp) SetInShardings(value *sdy.PerValue) { view.Set(v.Op, "in_shardings", value) }
func (v FragmentOp) MeshName() string                   { return view.String(v.Attr("mesh_name")) }
func (v FragmentOp) SetMeshName(value string)           { view.Set(v.Op, "mesh_name", value) }
func (v FragmentOp) FragmentOrigin() []*UserOrigin {
	return view.List(v.Attr("origin"), view.Data[UserOrigin])
}
func (v FragmentOp) SetFragmentOrigin(value []*UserOrigin) { view.Set(v.Op, "origin", value) }
func (v FragmentOp) OutShardings() *sdy.PerValue {
	return view.Data[sdy.PerValue](v.Attr("out_shardings"))
}
func (v FragmentOp) SetOutShardings(value *sdy.PerValue) { view.Set(v.Op, "out_shardings", value) }
func (v FragmentOp) StageID() (n int64, ok bool)         { return view.OptionalInt(v.Attr("stage_id")) }
func (v FragmentOp) SetStageID(value *int64)             { view.Set(v.Op, "stage_id", value) }
func (v FragmentOp) FragmentRegion() *ir.Region          { return v.Region(0) }

// FragmentAttrs are the attributes of mpmd.fragment. An optional attribute that is zero is left out.
type FragmentAttrs struct {
	InShardings  *sdy.PerValue
	MeshName     string
	Origin       []*UserOrigin
	OutShardings *sdy.PerValue
	StageID      *int64
}

// BuildFragment builds mpmd.fragment and checks its types.
func BuildFragment(b *ir.Builder, inputs []*ir.Value, region *ir.Region, results []ir.Type, a FragmentAttrs) (FragmentOp, error) {
	op, err := view.Build(b, Fragment, results, inputs, []*ir.Region{region}, a.InShardings, a.MeshName, a.Origin, a.OutShardings, a.StageID)
	return FragmentOp{op}, err
}

// FragmentCallOp is the view of mpmd.fragment_call, and of ops that mirror it. The op must have been verified.
type FragmentCallOp struct{ *ir.Op }

// AsFragmentCall returns the view of op; ok is false if op is of another kind.
func AsFragmentCall(op *ir.Op) (v FragmentCallOp, ok bool) {
	return FragmentCallOp{op}, op != nil && op.IsOrMirrors(FragmentCall)
}

// Operands, attributes and regions of mpmd.fragment_call, and setters of operands and attributes.
func (v FragmentCallOp) Tensors() []*ir.Value          { return v.OperandList() }
func (v FragmentCallOp) SetTensors(values []*ir.Value) { v.SetOperands(values) }
func (v FragmentCallOp) Callee() string                { return view.Symbol(v.Attr("callee")) }
func (v FragmentCallOp) SetCallee(value string)        { view.Set(v.Op, "callee", value) }
func (v FragmentCallOp) MeshName() string              { return view.String(v.Attr("mesh_name")) }
func (v FragmentCallOp) SetMeshName(value string)      { view.Set(v.Op, "mesh_name", value) }
func (v FragmentCallOp) FragmentCallOrigin() []*UserOrigin {
	return view.List(v.Attr("origin"), view.Data[UserOrigin])
}
func (v FragmentCallOp) SetFragmentCallOrigin(value []*UserOrigin) { view.Set(v.Op, "origin", value) }

// FragmentCallAttrs are the attributes of mpmd.fragment_call. An optional attribute that is zero is left out.
type FragmentCallAttrs struct {
	Callee   string
	MeshName string
	Origin   []*UserOrigin
}

// BuildFragmentCall builds mpmd.fragment_call and checks its types.
func BuildFragmentCall(b *ir.Builder, tensors []*ir.Value, results []ir.Type, a FragmentCallAttrs) (FragmentCallOp, error) {
	op, err := view.Build(b, FragmentCall, results, tensors, nil, a.Callee, a.MeshName, a.Origin)
	return FragmentCallOp{op}, err
}

// NamedComputationOp is the view of mpmd.named_computation, and of ops that mirror it. The op must have been verified.
type NamedComputationOp struct{ *ir.Op }

// AsNamedComputation returns the view of op; ok is false if op is of another kind.
func AsNamedComputation(op *ir.Op) (v NamedComputationOp, ok bool) {
	return NamedComputationOp{op}, op != nil && op.IsOrMirrors(NamedComputation)
}

// Operands, attributes and regions of mpmd.named_computation, and setters of operands and attributes.
func (v NamedComputationOp) Tensors() []*ir.Value          { return v.OperandList() }
func (v NamedComputationOp) SetTensors(values []*ir.Value) { v.SetOperands(values) }
func (v NamedComputationOp) NamedComputationOrigin() *UserOrigin {
	return view.Data[UserOrigin](v.Attr("origin"))
}
func (v NamedComputationOp) SetNamedComputationOrigin(value *UserOrigin) {
	view.Set(v.Op, "origin", value)
}
func (v NamedComputationOp) NamedComputationRegion() *ir.Region { return v.Region(0) }

// NamedComputationAttrs are the attributes of mpmd.named_computation. An optional attribute that is zero is left out.
type NamedComputationAttrs struct {
	Origin *UserOrigin
}

// BuildNamedComputation builds mpmd.named_computation and checks its types.
func BuildNamedComputation(b *ir.Builder, tensors []*ir.Value, region *ir.Region, results []ir.Type, a NamedComputationAttrs) (NamedComputationOp, error) {
	op, err := view.Build(b, NamedComputation, results, tensors, []*ir.Region{region}, a.Origin)
	return NamedComputationOp{op}, err
}

// NamedTensorOp is the view of mpmd.named_tensor, and of ops that mirror it. The op must have been verified.
type NamedTensorOp struct{ *ir.Op }

// AsNamedTensor returns the view of op; ok is false if op is of another kind.
func AsNamedTensor(op *ir.Op) (v NamedTensorOp, ok bool) {
	return NamedTensorOp{op}, op != nil && op.IsOrMirrors(NamedTensor)
}

// Operands, attributes and regions of mpmd.named_tensor, and setters of operands and attributes.
func (v NamedTensorOp) Tensor() *ir.Value               { return v.Operand(0) }
func (v NamedTensorOp) SetTensor(value *ir.Value)       { v.SetOperand(0, value) }
func (v NamedTensorOp) NamedTensorName() string         { return view.String(v.Attr("name")) }
func (v NamedTensorOp) SetNamedTensorName(value string) { view.Set(v.Op, "name", value) }

// NamedTensorAttrs are the attributes of mpmd.named_tensor. An optional attribute that is zero is left out.
type NamedTensorAttrs struct {
	Name string
}

// BuildNamedTensor builds mpmd.named_tensor and infers its types.
func BuildNamedTensor(b *ir.Builder, tensor *ir.Value, a NamedTensorAttrs) (NamedTensorOp, error) {
	op, err := view.Build(b, NamedTensor, nil, []*ir.Value{tensor}, nil, a.Name)
	return NamedTensorOp{op}, err
}

// ReduceOp is the view of mpmd.reduce, and of ops that mirror it. The op must have been verified.
type ReduceOp struct{ *ir.Op }

// AsReduce returns the view of op; ok is false if op is of another kind.
func AsReduce(op *ir.Op) (v ReduceOp, ok bool) {
	return ReduceOp{op}, op != nil && op.IsOrMirrors(Reduce)
}

// Operands, attributes and regions of mpmd.reduce, and setters of operands and attributes.
func (v ReduceOp) Tensors() []*ir.Value          { return v.OperandList() }
func (v ReduceOp) SetTensors(values []*ir.Value) { v.SetOperands(values) }
func (v ReduceOp) Reduction() *Reduction         { return view.Data[Reduction](v.Attr("reduction")) }
func (v ReduceOp) SetReduction(value *Reduction) { view.Set(v.Op, "reduction", value) }

// ReduceAttrs are the attributes of mpmd.reduce. An optional attribute that is zero is left out.
type ReduceAttrs struct {
	Reduction *Reduction
}

// BuildReduce builds mpmd.reduce and checks its types.
func BuildReduce(b *ir.Builder, tensors []*ir.Value, result ir.Type, a ReduceAttrs) (ReduceOp, error) {
	op, err := view.Build(b, Reduce, []ir.Type{result}, tensors, nil, a.Reduction)
	return ReduceOp{op}, err
}

// ReturnOp is the view of mpmd.return, and of ops that mirror it. The op must have been verified.
type ReturnOp struct{ *ir.Op }

// AsReturn returns the view of op; ok is false if op is of another kind.
func AsReturn(op *ir.Op) (v ReturnOp, ok bool) {
	return ReturnOp{op}, op != nil && op.IsOrMirrors(Return)
}

// Operands, attributes and regions of mpmd.return, and setters of operands and attributes.
func (v ReturnOp) ReturnResults() []*ir.Value          { return v.OperandList() }
func (v ReturnOp) SetReturnResults(values []*ir.Value) { v.SetOperands(values) }

// BuildReturn builds mpmd.return and checks its types.
func BuildReturn(b *ir.Builder, results []*ir.Value) (ReturnOp, error) {
	op, err := view.Build(b, Return, nil, results, nil)
	return ReturnOp{op}, err
}

// TransferOp is the view of mpmd.transfer, and of ops that mirror it. The op must have been verified.
type TransferOp struct{ *ir.Op }

// AsTransfer returns the view of op; ok is false if op is of another kind.
func AsTransfer(op *ir.Op) (v TransferOp, ok bool) {
	return TransferOp{op}, op != nil && op.IsOrMirrors(Transfer)
}

// Operands, attributes and regions of mpmd.transfer, and setters of operands and attributes.
func (v TransferOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v TransferOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }

// BuildTransfer builds mpmd.transfer and checks its types.
func BuildTransfer(b *ir.Builder, tensor *ir.Value, result ir.Type) (TransferOp, error) {
	op, err := view.Build(b, Transfer, []ir.Type{result}, []*ir.Value{tensor}, nil)
	return TransferOp{op}, err
}

// UnassignOp is the view of mpmd.unassign, and of ops that mirror it. The op must have been verified.
type UnassignOp struct{ *ir.Op }

// AsUnassign returns the view of op; ok is false if op is of another kind.
func AsUnassign(op *ir.Op) (v UnassignOp, ok bool) {
	return UnassignOp{op}, op != nil && op.IsOrMirrors(Unassign)
}

// Operands, attributes and regions of mpmd.unassign, and setters of operands and attributes.
func (v UnassignOp) Tensor() *ir.Value              { return v.Operand(0) }
func (v UnassignOp) SetTensor(value *ir.Value)      { v.SetOperand(0, value) }
func (v UnassignOp) UnassignOrigin() string         { return view.String(v.Attr("origin")) }
func (v UnassignOp) SetUnassignOrigin(value string) { view.Set(v.Op, "origin", value) }

// UnassignAttrs are the attributes of mpmd.unassign. An optional attribute that is zero is left out.
type UnassignAttrs struct {
	Origin string
}

// BuildUnassign builds mpmd.unassign and infers its types.
func BuildUnassign(b *ir.Builder, tensor *ir.Value, a UnassignAttrs) (UnassignOp, error) {
	op, err := view.Build(b, Unassign, nil, []*ir.Value{tensor}, nil, a.Origin)
	return UnassignOp{op}, err
}
