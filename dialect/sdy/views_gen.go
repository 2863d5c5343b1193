// Code generated from the rows of the dialect. DO NOT EDIT.

package sdy

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Names of the attributes of ops.
const (
	AttrAllowedDirection  = "allowed_direction"
	AttrAxes              = "axes"
	AttrGatheringAxes     = "gathering_axes"
	AttrGroupID           = "group_id"
	AttrInShardings       = "in_shardings"
	AttrManualAxes        = "manual_axes"
	AttrMesh              = "mesh"
	AttrName              = "name"
	AttrOutSharding       = "out_sharding"
	AttrOutShardings      = "out_shardings"
	AttrParams            = "params"
	AttrReduceScatterAxes = "reduce_scatter_axes"
	AttrReductionAxes     = "reduction_axes"
	AttrReductionOp       = "reduction_op"
	AttrSharding          = "sharding"
	AttrSlicingAxes       = "slicing_axes"
	AttrSymName           = "sym_name"
	AttrValue             = "value"
)

// AllGatherOp is the view of sdy.all_gather, and of ops that mirror it. The op must have been verified.
type AllGatherOp struct{ *ir.Op }

// AsAllGather returns the view of op; ok is false if op is of another kind.
func AsAllGather(op *ir.Op) (v AllGatherOp, ok bool) {
	return AllGatherOp{op}, op != nil && op.IsOrMirrors(AllGather)
}

// Operands, attributes and regions of sdy.all_gather, and setters of operands and attributes.
func (v AllGatherOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v AllGatherOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }
func (v AllGatherOp) GatheringAxes() *AxisLists {
	return view.Data[AxisLists](v.Attr("gathering_axes"))
}
func (v AllGatherOp) SetGatheringAxes(value *AxisLists) { view.Set(v.Op, "gathering_axes", value) }
func (v AllGatherOp) OutSharding() *Sharding            { return view.Data[Sharding](v.Attr("out_sharding")) }
func (v AllGatherOp) SetOutSharding(value *Sharding)    { view.Set(v.Op, "out_sharding", value) }

// AllGatherAttrs are the attributes of sdy.all_gather. An optional attribute that is zero is left out.
type AllGatherAttrs struct {
	GatheringAxes *AxisLists
	OutSharding   *Sharding
}

// BuildAllGather builds sdy.all_gather and infers its types.
func BuildAllGather(b *ir.Builder, tensor *ir.Value, a AllGatherAttrs) (AllGatherOp, error) {
	op, err := view.Build(b, AllGather, nil, []*ir.Value{tensor}, nil, a.GatheringAxes, a.OutSharding)
	return AllGatherOp{op}, err
}

// AllReduceOp is the view of sdy.all_reduce, and of ops that mirror it. The op must have been verified.
type AllReduceOp struct{ *ir.Op }

// AsAllReduce returns the view of op; ok is false if op is of another kind.
func AsAllReduce(op *ir.Op) (v AllReduceOp, ok bool) {
	return AllReduceOp{op}, op != nil && op.IsOrMirrors(AllReduce)
}

// Operands, attributes and regions of sdy.all_reduce, and setters of operands and attributes.
func (v AllReduceOp) Tensor() *ir.Value                { return v.Operand(0) }
func (v AllReduceOp) SetTensor(value *ir.Value)        { v.SetOperand(0, value) }
func (v AllReduceOp) ReductionAxes() *AxisList         { return view.Data[AxisList](v.Attr("reduction_axes")) }
func (v AllReduceOp) SetReductionAxes(value *AxisList) { view.Set(v.Op, "reduction_axes", value) }
func (v AllReduceOp) OutSharding() *Sharding           { return view.Data[Sharding](v.Attr("out_sharding")) }
func (v AllReduceOp) SetOutSharding(value *Sharding)   { view.Set(v.Op, "out_sharding", value) }
func (v AllReduceOp) ReductionOp() ir.Attr             { return v.Attr("reduction_op") }
func (v AllReduceOp) SetReductionOp(value ir.Attr)     { view.Set(v.Op, "reduction_op", value) }

// AllReduceAttrs are the attributes of sdy.all_reduce. An optional attribute that is zero is left out.
type AllReduceAttrs struct {
	ReductionAxes *AxisList
	OutSharding   *Sharding
	ReductionOp   ir.Attr
}

// BuildAllReduce builds sdy.all_reduce and infers its types.
func BuildAllReduce(b *ir.Builder, tensor *ir.Value, a AllReduceAttrs) (AllReduceOp, error) {
	op, err := view.Build(b, AllReduce, nil, []*ir.Value{tensor}, nil, a.ReductionAxes, a.OutSharding, a.ReductionOp)
	return AllReduceOp{op}, err
}

// AllSliceOp is the view of sdy.all_slice, and of ops that mirror it. The op must have been verified.
type AllSliceOp struct{ *ir.Op }

// AsAllSlice returns the view of op; ok is false if op is of another kind.
func AsAllSlice(op *ir.Op) (v AllSliceOp, ok bool) {
	return AllSliceOp{op}, op != nil && op.IsOrMirrors(AllSlice)
}

// Operands, attributes and regions of sdy.all_slice, and setters of operands and attributes.
func (v AllSliceOp) Tensor() *ir.Value               { return v.Operand(0) }
func (v AllSliceOp) SetTensor(value *ir.Value)       { v.SetOperand(0, value) }
func (v AllSliceOp) SlicingAxes() *AxisLists         { return view.Data[AxisLists](v.Attr("slicing_axes")) }
func (v AllSliceOp) SetSlicingAxes(value *AxisLists) { view.Set(v.Op, "slicing_axes", value) }
func (v AllSliceOp) OutSharding() *Sharding          { return view.Data[Sharding](v.Attr("out_sharding")) }
func (v AllSliceOp) SetOutSharding(value *Sharding)  { view.Set(v.Op, "out_sharding", value) }

// AllSliceAttrs are the attributes of sdy.all_slice. An optional attribute that is zero is left out.
type AllSliceAttrs struct {
	SlicingAxes *AxisLists
	OutSharding *Sharding
}

// BuildAllSlice builds sdy.all_slice and infers its types.
func BuildAllSlice(b *ir.Builder, tensor *ir.Value, a AllSliceAttrs) (AllSliceOp, error) {
	op, err := view.Build(b, AllSlice, nil, []*ir.Value{tensor}, nil, a.SlicingAxes, a.OutSharding)
	return AllSliceOp{op}, err
}

// AllToAllOp is the view of sdy.all_to_all, and of ops that mirror it. The op must have been verified.
type AllToAllOp struct{ *ir.Op }

// AsAllToAll returns the view of op; ok is false if op is of another kind.
func AsAllToAll(op *ir.Op) (v AllToAllOp, ok bool) {
	return AllToAllOp{op}, op != nil && op.IsOrMirrors(AllToAll)
}

// Operands, attributes and regions of sdy.all_to_all, and setters of operands and attributes.
func (v AllToAllOp) Tensor() *ir.Value               { return v.Operand(0) }
func (v AllToAllOp) SetTensor(value *ir.Value)       { v.SetOperand(0, value) }
func (v AllToAllOp) Params() *AllToAllParams         { return view.Data[AllToAllParams](v.Attr("params")) }
func (v AllToAllOp) SetParams(value *AllToAllParams) { view.Set(v.Op, "params", value) }
func (v AllToAllOp) OutSharding() *Sharding          { return view.Data[Sharding](v.Attr("out_sharding")) }
func (v AllToAllOp) SetOutSharding(value *Sharding)  { view.Set(v.Op, "out_sharding", value) }

// AllToAllAttrs are the attributes of sdy.all_to_all. An optional attribute that is zero is left out.
type AllToAllAttrs struct {
	Params      *AllToAllParams
	OutSharding *Sharding
}

// BuildAllToAll builds sdy.all_to_all and infers its types.
func BuildAllToAll(b *ir.Builder, tensor *ir.Value, a AllToAllAttrs) (AllToAllOp, error) {
	op, err := view.Build(b, AllToAll, nil, []*ir.Value{tensor}, nil, a.Params, a.OutSharding)
	return AllToAllOp{op}, err
}

// CollectivePermuteOp is the view of sdy.collective_permute, and of ops that mirror it. The op must have been verified.
type CollectivePermuteOp struct{ *ir.Op }

// AsCollectivePermute returns the view of op; ok is false if op is of another kind.
func AsCollectivePermute(op *ir.Op) (v CollectivePermuteOp, ok bool) {
	return CollectivePermuteOp{op}, op != nil && op.IsOrMirrors(CollectivePermute)
}

// Operands, attributes and regions of sdy.collective_permute, and setters of operands and attributes.
func (v CollectivePermuteOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v CollectivePermuteOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }
func (v CollectivePermuteOp) OutSharding() *Sharding {
	return view.Data[Sharding](v.Attr("out_sharding"))
}
func (v CollectivePermuteOp) SetOutSharding(value *Sharding) { view.Set(v.Op, "out_sharding", value) }

// CollectivePermuteAttrs are the attributes of sdy.collective_permute. An optional attribute that is zero is left out.
type CollectivePermuteAttrs struct {
	OutSharding *Sharding
}

// BuildCollectivePermute builds sdy.collective_permute and infers its types.
func BuildCollectivePermute(b *ir.Builder, tensor *ir.Value, a CollectivePermuteAttrs) (CollectivePermuteOp, error) {
	op, err := view.Build(b, CollectivePermute, nil, []*ir.Value{tensor}, nil, a.OutSharding)
	return CollectivePermuteOp{op}, err
}

// ConstantOp is the view of sdy.constant, and of ops that mirror it. The op must have been verified.
type ConstantOp struct{ *ir.Op }

// AsConstant returns the view of op; ok is false if op is of another kind.
func AsConstant(op *ir.Op) (v ConstantOp, ok bool) {
	return ConstantOp{op}, op != nil && op.IsOrMirrors(Constant)
}

// Operands, attributes and regions of sdy.constant, and setters of operands and attributes.
func (v ConstantOp) Value() ir.Attr         { return v.Attr("value") }
func (v ConstantOp) SetValue(value ir.Attr) { view.Set(v.Op, "value", value) }

// ConstantAttrs are the attributes of sdy.constant. An optional attribute that is zero is left out.
type ConstantAttrs struct {
	Value ir.Attr
}

// BuildConstant builds sdy.constant and checks its types.
func BuildConstant(b *ir.Builder, result ir.Type, a ConstantAttrs) (ConstantOp, error) {
	op, err := view.Build(b, Constant, []ir.Type{result}, nil, nil, a.Value)
	return ConstantOp{op}, err
}

// DataFlowEdgeOp is the view of sdy.data_flow_edge, and of ops that mirror it. The op must have been verified.
type DataFlowEdgeOp struct{ *ir.Op }

// AsDataFlowEdge returns the view of op; ok is false if op is of another kind.
func AsDataFlowEdge(op *ir.Op) (v DataFlowEdgeOp, ok bool) {
	return DataFlowEdgeOp{op}, op != nil && op.IsOrMirrors(DataFlowEdge)
}

// Operands, attributes and regions of sdy.data_flow_edge, and setters of operands and attributes.
func (v DataFlowEdgeOp) Input() *ir.Value            { return v.Operand(0) }
func (v DataFlowEdgeOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v DataFlowEdgeOp) Sharding() *Sharding         { return view.Data[Sharding](v.Attr("sharding")) }
func (v DataFlowEdgeOp) SetSharding(value *Sharding) { view.Set(v.Op, "sharding", value) }

// DataFlowEdgeAttrs are the attributes of sdy.data_flow_edge. An optional attribute that is zero is left out.
type DataFlowEdgeAttrs struct {
	Sharding *Sharding
}

// BuildDataFlowEdge builds sdy.data_flow_edge and infers its types.
func BuildDataFlowEdge(b *ir.Builder, input *ir.Value, a DataFlowEdgeAttrs) (DataFlowEdgeOp, error) {
	op, err := view.Build(b, DataFlowEdge, nil, []*ir.Value{input}, nil, a.Sharding)
	return DataFlowEdgeOp{op}, err
}

// FuncDataFlowEdgeOp is the view of sdy.func_data_flow_edge, and of ops that mirror it. The op must have been verified.
type FuncDataFlowEdgeOp struct{ *ir.Op }

// AsFuncDataFlowEdge returns the view of op; ok is false if op is of another kind.
func AsFuncDataFlowEdge(op *ir.Op) (v FuncDataFlowEdgeOp, ok bool) {
	return FuncDataFlowEdgeOp{op}, op != nil && op.IsOrMirrors(FuncDataFlowEdge)
}

// Operands, attributes and regions of sdy.func_data_flow_edge, and setters of operands and attributes.
func (v FuncDataFlowEdgeOp) Input() *ir.Value         { return v.Operand(0) }
func (v FuncDataFlowEdgeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildFuncDataFlowEdge builds sdy.func_data_flow_edge and infers its types.
func BuildFuncDataFlowEdge(b *ir.Builder, operand *ir.Value) (FuncDataFlowEdgeOp, error) {
	op, err := view.Build(b, FuncDataFlowEdge, nil, []*ir.Value{operand}, nil)
	return FuncDataFlowEdgeOp{op}, err
}

// ReduceScatterOp is the view of sdy.reduce_scatter, and of ops that mirror it. The op must have been verified.
type ReduceScatterOp struct{ *ir.Op }

// AsReduceScatter returns the view of op; ok is false if op is of another kind.
func AsReduceScatter(op *ir.Op) (v ReduceScatterOp, ok bool) {
	return ReduceScatterOp{op}, op != nil && op.IsOrMirrors(ReduceScatter)
}

// Operands, attributes and regions of sdy.reduce_scatter, and setters of operands and attributes.
func (v ReduceScatterOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v ReduceScatterOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }
func (v ReduceScatterOp) ReduceScatterAxes() *AxisLists {
	return view.Data[AxisLists](v.Attr("reduce_scatter_axes"))
}
func (v ReduceScatterOp) SetReduceScatterAxes(value *AxisLists) {
	view.Set(v.Op, "reduce_scatter_axes", value)
}
func (v ReduceScatterOp) OutSharding() *Sharding         { return view.Data[Sharding](v.Attr("out_sharding")) }
func (v ReduceScatterOp) SetOutSharding(value *Sharding) { view.Set(v.Op, "out_sharding", value) }
func (v ReduceScatterOp) ReductionOp() ir.Attr           { return v.Attr("reduction_op") }
func (v ReduceScatterOp) SetReductionOp(value ir.Attr)   { view.Set(v.Op, "reduction_op", value) }

// ReduceScatterAttrs are the attributes of sdy.reduce_scatter. An optional attribute that is zero is left out.
type ReduceScatterAttrs struct {
	ReduceScatterAxes *AxisLists
	OutSharding       *Sharding
	ReductionOp       ir.Attr
}

// BuildReduceScatter builds sdy.reduce_scatter and infers its types.
func BuildReduceScatter(b *ir.Builder, tensor *ir.Value, a ReduceScatterAttrs) (ReduceScatterOp, error) {
	op, err := view.Build(b, ReduceScatter, nil, []*ir.Value{tensor}, nil, a.ReduceScatterAxes, a.OutSharding, a.ReductionOp)
	return ReduceScatterOp{op}, err
}

// ReplicatedToUnreducedOp is the view of sdy.replicated_to_unreduced, and of ops that mirror it. The op must have been verified.
type ReplicatedToUnreducedOp struct{ *ir.Op }

// AsReplicatedToUnreduced returns the view of op; ok is false if op is of another kind.
func AsReplicatedToUnreduced(op *ir.Op) (v ReplicatedToUnreducedOp, ok bool) {
	return ReplicatedToUnreducedOp{op}, op != nil && op.IsOrMirrors(ReplicatedToUnreduced)
}

// Operands, attributes and regions of sdy.replicated_to_unreduced, and setters of operands and attributes.
func (v ReplicatedToUnreducedOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v ReplicatedToUnreducedOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }
func (v ReplicatedToUnreducedOp) Axes() *AxisList           { return view.Data[AxisList](v.Attr("axes")) }
func (v ReplicatedToUnreducedOp) SetAxes(value *AxisList)   { view.Set(v.Op, "axes", value) }
func (v ReplicatedToUnreducedOp) OutSharding() *Sharding {
	return view.Data[Sharding](v.Attr("out_sharding"))
}
func (v ReplicatedToUnreducedOp) SetOutSharding(value *Sharding) {
	view.Set(v.Op, "out_sharding", value)
}

// ReplicatedToUnreducedAttrs are the attributes of sdy.replicated_to_unreduced. An optional attribute that is zero is left out.
type ReplicatedToUnreducedAttrs struct {
	Axes        *AxisList
	OutSharding *Sharding
}

// BuildReplicatedToUnreduced builds sdy.replicated_to_unreduced and infers its types.
func BuildReplicatedToUnreduced(b *ir.Builder, tensor *ir.Value, a ReplicatedToUnreducedAttrs) (ReplicatedToUnreducedOp, error) {
	op, err := view.Build(b, ReplicatedToUnreduced, nil, []*ir.Value{tensor}, nil, a.Axes, a.OutSharding)
	return ReplicatedToUnreducedOp{op}, err
}

// ShardedToUnreducedOp is the view of sdy.sharded_to_unreduced, and of ops that mirror it. The op must have been verified.
type ShardedToUnreducedOp struct{ *ir.Op }

// AsShardedToUnreduced returns the view of op; ok is false if op is of another kind.
func AsShardedToUnreduced(op *ir.Op) (v ShardedToUnreducedOp, ok bool) {
	return ShardedToUnreducedOp{op}, op != nil && op.IsOrMirrors(ShardedToUnreduced)
}

// Operands, attributes and regions of sdy.sharded_to_unreduced, and setters of operands and attributes.
func (v ShardedToUnreducedOp) Tensor() *ir.Value         { return v.Operand(0) }
func (v ShardedToUnreducedOp) SetTensor(value *ir.Value) { v.SetOperand(0, value) }
func (v ShardedToUnreducedOp) Axes() *AxisLists          { return view.Data[AxisLists](v.Attr("axes")) }
func (v ShardedToUnreducedOp) SetAxes(value *AxisLists)  { view.Set(v.Op, "axes", value) }
func (v ShardedToUnreducedOp) OutSharding() *Sharding {
	return view.Data[Sharding](v.Attr("out_sharding"))
}
func (v ShardedToUnreducedOp) SetOutSharding(value *Sharding) { view.Set(v.Op, "out_sharding", value) }

// ShardedToUnreducedAttrs are the attributes of sdy.sharded_to_unreduced. An optional attribute that is zero is left out.
type ShardedToUnreducedAttrs struct {
	Axes        *AxisLists
	OutSharding *Sharding
}

// BuildShardedToUnreduced builds sdy.sharded_to_unreduced and infers its types.
func BuildShardedToUnreduced(b *ir.Builder, tensor *ir.Value, a ShardedToUnreducedAttrs) (ShardedToUnreducedOp, error) {
	op, err := view.Build(b, ShardedToUnreduced, nil, []*ir.Value{tensor}, nil, a.Axes, a.OutSharding)
	return ShardedToUnreducedOp{op}, err
}

// ManualComputationOp is the view of sdy.manual_computation, and of ops that mirror it. The op must have been verified.
type ManualComputationOp struct{ *ir.Op }

// AsManualComputation returns the view of op; ok is false if op is of another kind.
func AsManualComputation(op *ir.Op) (v ManualComputationOp, ok bool) {
	return ManualComputationOp{op}, op != nil && op.IsOrMirrors(ManualComputation)
}

// Operands, attributes and regions of sdy.manual_computation, and setters of operands and attributes.
func (v ManualComputationOp) Tensors() []*ir.Value          { return v.OperandList() }
func (v ManualComputationOp) SetTensors(values []*ir.Value) { v.SetOperands(values) }
func (v ManualComputationOp) InShardings() *PerValue {
	return view.Data[PerValue](v.Attr("in_shardings"))
}
func (v ManualComputationOp) SetInShardings(value *PerValue) { view.Set(v.Op, "in_shardings", value) }
func (v ManualComputationOp) ManualAxes() *ManualAxes {
	return view.Data[ManualAxes](v.Attr("manual_axes"))
}
func (v ManualComputationOp) SetManualAxes(value *ManualAxes) { view.Set(v.Op, "manual_axes", value) }
func (v ManualComputationOp) OutShardings() *PerValue {
	return view.Data[PerValue](v.Attr("out_shardings"))
}
func (v ManualComputationOp) SetOutShardings(value *PerValue) { view.Set(v.Op, "out_shardings", value) }
func (v ManualComputationOp) Body() *ir.Region                { return v.Region(0) }

// ManualComputationAttrs are the attributes of sdy.manual_computation. An optional attribute that is zero is left out.
type ManualComputationAttrs struct {
	InShardings  *PerValue
	ManualAxes   *ManualAxes
	OutShardings *PerValue
}

// BuildManualComputation builds sdy.manual_computation and checks its types.
func BuildManualComputation(b *ir.Builder, tensors []*ir.Value, body *ir.Region, results []ir.Type, a ManualComputationAttrs) (ManualComputationOp, error) {
	op, err := view.Build(b, ManualComputation, results, tensors, []*ir.Region{body}, a.InShardings, a.ManualAxes, a.OutShardings)
	return ManualComputationOp{op}, err
}

// MeshOp is the view of sdy.mesh, and of ops that mirror it. The op must have been verified.
type MeshOp struct{ *ir.Op }

// AsMesh returns the view of op; ok is false if op is of another kind.
func AsMesh(op *ir.Op) (v MeshOp, ok bool) { return MeshOp{op}, op != nil && op.IsOrMirrors(Mesh) }

// Operands, attributes and regions of sdy.mesh, and setters of operands and attributes.
func (v MeshOp) Mesh() *DeviceMesh         { return view.Data[DeviceMesh](v.Attr("mesh")) }
func (v MeshOp) SetMesh(value *DeviceMesh) { view.Set(v.Op, "mesh", value) }
func (v MeshOp) SymName() string           { return view.String(v.Attr("sym_name")) }
func (v MeshOp) SetSymName(value string)   { view.Set(v.Op, "sym_name", value) }

// MeshAttrs are the attributes of sdy.mesh. An optional attribute that is zero is left out.
type MeshAttrs struct {
	Mesh    *DeviceMesh
	SymName string
}

// BuildMesh builds sdy.mesh and checks its types.
func BuildMesh(b *ir.Builder, a MeshAttrs) (MeshOp, error) {
	op, err := view.Build(b, Mesh, nil, nil, nil, a.Mesh, a.SymName)
	return MeshOp{op}, err
}

// NamedComputationOp is the view of sdy.named_computation, and of ops that mirror it. The op must have been verified.
type NamedComputationOp struct{ *ir.Op }

// AsNamedComputation returns the view of op; ok is false if op is of another kind.
func AsNamedComputation(op *ir.Op) (v NamedComputationOp, ok bool) {
	return NamedComputationOp{op}, op != nil && op.IsOrMirrors(NamedComputation)
}

// Operands, attributes and regions of sdy.named_computation, and setters of operands and attributes.
func (v NamedComputationOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v NamedComputationOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v NamedComputationOp) InShardings() *PerValue {
	return view.Data[PerValue](v.Attr("in_shardings"))
}
func (v NamedComputationOp) SetInShardings(value *PerValue)       { view.Set(v.Op, "in_shardings", value) }
func (v NamedComputationOp) NamedComputationName() string         { return view.String(v.Attr("name")) }
func (v NamedComputationOp) SetNamedComputationName(value string) { view.Set(v.Op, "name", value) }
func (v NamedComputationOp) OutShardings() *PerValue {
	return view.Data[PerValue](v.Attr("out_shardings"))
}
func (v NamedComputationOp) SetOutShardings(value *PerValue) { view.Set(v.Op, "out_shardings", value) }
func (v NamedComputationOp) Body() *ir.Region                { return v.Region(0) }

// NamedComputationAttrs are the attributes of sdy.named_computation. An optional attribute that is zero is left out.
type NamedComputationAttrs struct {
	InShardings  *PerValue
	Name         string
	OutShardings *PerValue
}

// BuildNamedComputation builds sdy.named_computation and checks its types.
func BuildNamedComputation(b *ir.Builder, operands []*ir.Value, body *ir.Region, results []ir.Type, a NamedComputationAttrs) (NamedComputationOp, error) {
	op, err := view.Build(b, NamedComputation, results, operands, []*ir.Region{body}, a.InShardings, a.Name, a.OutShardings)
	return NamedComputationOp{op}, err
}

// PropagationBarrierOp is the view of sdy.propagation_barrier, and of ops that mirror it. The op must have been verified.
type PropagationBarrierOp struct{ *ir.Op }

// AsPropagationBarrier returns the view of op; ok is false if op is of another kind.
func AsPropagationBarrier(op *ir.Op) (v PropagationBarrierOp, ok bool) {
	return PropagationBarrierOp{op}, op != nil && op.IsOrMirrors(PropagationBarrier)
}

// Operands, attributes and regions of sdy.propagation_barrier, and setters of operands and attributes.
func (v PropagationBarrierOp) Input() *ir.Value          { return v.Operand(0) }
func (v PropagationBarrierOp) SetInput(value *ir.Value)  { v.SetOperand(0, value) }
func (v PropagationBarrierOp) AllowedDirection() ir.Attr { return v.Attr("allowed_direction") }
func (v PropagationBarrierOp) SetAllowedDirection(value ir.Attr) {
	view.Set(v.Op, "allowed_direction", value)
}

// PropagationBarrierAttrs are the attributes of sdy.propagation_barrier. An optional attribute that is zero is left out.
type PropagationBarrierAttrs struct {
	AllowedDirection ir.Attr
}

// BuildPropagationBarrier builds sdy.propagation_barrier and infers its types.
func BuildPropagationBarrier(b *ir.Builder, input *ir.Value, a PropagationBarrierAttrs) (PropagationBarrierOp, error) {
	op, err := view.Build(b, PropagationBarrier, nil, []*ir.Value{input}, nil, a.AllowedDirection)
	return PropagationBarrierOp{op}, err
}

// ReshardOp is the view of sdy.reshard, and of ops that mirror it. The op must have been verified.
type ReshardOp struct{ *ir.Op }

// AsReshard returns the view of op; ok is false if op is of another kind.
func AsReshard(op *ir.Op) (v ReshardOp, ok bool) {
	return ReshardOp{op}, op != nil && op.IsOrMirrors(Reshard)
}

// Operands, attributes and regions of sdy.reshard, and setters of operands and attributes.
func (v ReshardOp) Input() *ir.Value            { return v.Operand(0) }
func (v ReshardOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v ReshardOp) Sharding() *Sharding         { return view.Data[Sharding](v.Attr("sharding")) }
func (v ReshardOp) SetSharding(value *Sharding) { view.Set(v.Op, "sharding", value) }

// ReshardAttrs are the attributes of sdy.reshard. An optional attribute that is zero is left out.
type ReshardAttrs struct {
	Sharding *Sharding
}

// BuildReshard builds sdy.reshard and infers its types.
func BuildReshard(b *ir.Builder, input *ir.Value, a ReshardAttrs) (ReshardOp, error) {
	op, err := view.Build(b, Reshard, nil, []*ir.Value{input}, nil, a.Sharding)
	return ReshardOp{op}, err
}

// ReturnOp is the view of sdy.return, and of ops that mirror it. The op must have been verified.
type ReturnOp struct{ *ir.Op }

// AsReturn returns the view of op; ok is false if op is of another kind.
func AsReturn(op *ir.Op) (v ReturnOp, ok bool) {
	return ReturnOp{op}, op != nil && op.IsOrMirrors(Return)
}

// Operands, attributes and regions of sdy.return, and setters of operands and attributes.
func (v ReturnOp) ReturnResults() []*ir.Value          { return v.OperandList() }
func (v ReturnOp) SetReturnResults(values []*ir.Value) { v.SetOperands(values) }

// BuildReturn builds sdy.return and checks its types.
func BuildReturn(b *ir.Builder, results []*ir.Value) (ReturnOp, error) {
	op, err := view.Build(b, Return, nil, results, nil)
	return ReturnOp{op}, err
}

// ShardingConstraintOp is the view of sdy.sharding_constraint, and of ops that mirror it. The op must have been verified.
type ShardingConstraintOp struct{ *ir.Op }

// AsShardingConstraint returns the view of op; ok is false if op is of another kind.
func AsShardingConstraint(op *ir.Op) (v ShardingConstraintOp, ok bool) {
	return ShardingConstraintOp{op}, op != nil && op.IsOrMirrors(ShardingConstraint)
}

// Operands, attributes and regions of sdy.sharding_constraint, and setters of operands and attributes.
func (v ShardingConstraintOp) Input() *ir.Value            { return v.Operand(0) }
func (v ShardingConstraintOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v ShardingConstraintOp) Sharding() *Sharding         { return view.Data[Sharding](v.Attr("sharding")) }
func (v ShardingConstraintOp) SetSharding(value *Sharding) { view.Set(v.Op, "sharding", value) }

// ShardingConstraintAttrs are the attributes of sdy.sharding_constraint. An optional attribute that is zero is left out.
type ShardingConstraintAttrs struct {
	Sharding *Sharding
}

// BuildShardingConstraint builds sdy.sharding_constraint and infers its types.
func BuildShardingConstraint(b *ir.Builder, input *ir.Value, a ShardingConstraintAttrs) (ShardingConstraintOp, error) {
	op, err := view.Build(b, ShardingConstraint, nil, []*ir.Value{input}, nil, a.Sharding)
	return ShardingConstraintOp{op}, err
}

// ShardingGroupOp is the view of sdy.sharding_group, and of ops that mirror it. The op must have been verified.
type ShardingGroupOp struct{ *ir.Op }

// AsShardingGroup returns the view of op; ok is false if op is of another kind.
func AsShardingGroup(op *ir.Op) (v ShardingGroupOp, ok bool) {
	return ShardingGroupOp{op}, op != nil && op.IsOrMirrors(ShardingGroup)
}

// Operands, attributes and regions of sdy.sharding_group, and setters of operands and attributes.
func (v ShardingGroupOp) Input() *ir.Value         { return v.Operand(0) }
func (v ShardingGroupOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v ShardingGroupOp) GroupID() int64           { return view.Int(v.Attr("group_id")) }
func (v ShardingGroupOp) SetGroupID(value int64)   { view.Set(v.Op, "group_id", value) }

// ShardingGroupAttrs are the attributes of sdy.sharding_group. An optional attribute that is zero is left out.
type ShardingGroupAttrs struct {
	GroupID int64
}

// BuildShardingGroup builds sdy.sharding_group and checks its types.
func BuildShardingGroup(b *ir.Builder, input *ir.Value, a ShardingGroupAttrs) (ShardingGroupOp, error) {
	op, err := view.Build(b, ShardingGroup, nil, []*ir.Value{input}, nil, a.GroupID)
	return ShardingGroupOp{op}, err
}
