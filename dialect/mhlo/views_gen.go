// Code generated from the rows of the dialect. DO NOT EDIT.

package mhlo

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"slices"
)

// FusionKind is a case of FusionKindEnum: the purpose of a fusion.
type FusionKind int

// Cases of FusionKind.
const (
	FusionKindLoop   FusionKind = 0
	FusionKindInput  FusionKind = 1
	FusionKindOutput FusionKind = 2
	FusionKindCustom FusionKind = 3
)

// String returns the case as assembly spells it.
func (v FusionKind) String() string { return FusionKindEnum.Cases[v] }

// DomainKind is a case of DomainKindEnum: the metadata of a domain.
type DomainKind int

// Cases of DomainKind.
const (
	DomainKindSharding DomainKind = 0
)

// String returns the case as assembly spells it.
func (v DomainKind) String() string { return DomainKindEnum.Cases[v] }

// CustomCallSchedule is a case of CustomCallScheduleEnum: when a custom_call runs.
type CustomCallSchedule int

// Cases of CustomCallSchedule.
const (
	CustomCallScheduleNONE     CustomCallSchedule = 0
	CustomCallScheduleLATEST   CustomCallSchedule = 1
	CustomCallScheduleEARLIEST CustomCallSchedule = 2
)

// String returns the case as assembly spells it.
func (v CustomCallSchedule) String() string { return CustomCallScheduleEnum.Cases[v] }

// Names of the attributes of ops.
const (
	AttrCalledComputation         = "called_computation"
	AttrCrossProgramPrefetchIndex = "cross_program_prefetch_index"
	AttrDelta                     = "delta"
	AttrDimension                 = "dimension"
	AttrEntryMetadata             = "entry_metadata"
	AttrExecutionThread           = "execution_thread"
	AttrExitMetadata              = "exit_metadata"
	AttrFusionKind                = "fusion_kind"
	AttrIsAssociative             = "is_associative"
	AttrIsReverse                 = "is_reverse"
	AttrIsStable                  = "is_stable"
	AttrK                         = "k"
	AttrKind                      = "kind"
	AttrLargest                   = "largest"
	AttrOperandSegmentSizes       = "operandSegmentSizes"
	AttrOutputOperandAliases      = "output_operand_aliases"
	AttrPrecisionConfig           = "precision_config"
	AttrRaggedDotDimensionNumbers = "ragged_dot_dimension_numbers"
	AttrResultSegmentSizes        = "resultSegmentSizes"
	AttrResultAccuracy            = "result_accuracy"
	AttrScanDimSize               = "scan_dim_size"
	AttrTag                       = "tag"
)

// AddDependencyOp is the view of mhlo.add_dependency, and of ops that mirror it. The op must have been verified.
type AddDependencyOp struct{ *ir.Op }

// AsAddDependency returns the view of op; ok is false if op is of another kind.
func AsAddDependency(op *ir.Op) (v AddDependencyOp, ok bool) {
	return AddDependencyOp{op}, op != nil && op.IsOrMirrors(AddDependency)
}

// Operands, attributes and regions of mhlo.add_dependency, and setters of operands and attributes.
func (v AddDependencyOp) Input() *ir.Value         { return v.Operand(0) }
func (v AddDependencyOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v AddDependencyOp) Token() *ir.Value         { return v.Operand(1) }
func (v AddDependencyOp) SetToken(value *ir.Value) { v.SetOperand(1, value) }

// BuildAddDependency builds mhlo.add_dependency and checks its types.
func BuildAddDependency(b *ir.Builder, operand *ir.Value, token *ir.Value, result ir.Type) (AddDependencyOp, error) {
	op, err := view.Build(b, AddDependency, []ir.Type{result}, []*ir.Value{operand, token}, nil)
	return AddDependencyOp{op}, err
}

// AsyncStartOp is the view of mhlo.async_start, and of ops that mirror it. The op must have been verified.
type AsyncStartOp struct{ *ir.Op }

// AsAsyncStart returns the view of op; ok is false if op is of another kind.
func AsAsyncStart(op *ir.Op) (v AsyncStartOp, ok bool) {
	return AsyncStartOp{op}, op != nil && op.IsOrMirrors(AsyncStart)
}

// Operands, attributes and regions of mhlo.async_start, and setters of operands and attributes.
func (v AsyncStartOp) Inputs() []*ir.Value               { return v.OperandList() }
func (v AsyncStartOp) SetInputs(values []*ir.Value)      { v.SetOperands(values) }
func (v AsyncStartOp) CalledComputation() string         { return view.Symbol(v.Attr("called_computation")) }
func (v AsyncStartOp) SetCalledComputation(value string) { view.Set(v.Op, "called_computation", value) }
func (v AsyncStartOp) ExecutionThread() string           { return view.String(v.Attr("execution_thread")) }
func (v AsyncStartOp) SetExecutionThread(value string)   { view.Set(v.Op, "execution_thread", value) }

// AsyncStartAttrs are the attributes of mhlo.async_start. An optional attribute that is zero is left out.
type AsyncStartAttrs struct {
	CalledComputation string
	ExecutionThread   string
}

// BuildAsyncStart builds mhlo.async_start and checks its types.
func BuildAsyncStart(b *ir.Builder, inputs []*ir.Value, result ir.Type, a AsyncStartAttrs) (AsyncStartOp, error) {
	op, err := view.Build(b, AsyncStart, []ir.Type{result}, inputs, nil, a.CalledComputation, a.ExecutionThread)
	return AsyncStartOp{op}, err
}

// AsyncUpdateOp is the view of mhlo.async_update, and of ops that mirror it. The op must have been verified.
type AsyncUpdateOp struct{ *ir.Op }

// AsAsyncUpdate returns the view of op; ok is false if op is of another kind.
func AsAsyncUpdate(op *ir.Op) (v AsyncUpdateOp, ok bool) {
	return AsyncUpdateOp{op}, op != nil && op.IsOrMirrors(AsyncUpdate)
}

// Operands, attributes and regions of mhlo.async_update, and setters of operands and attributes.
func (v AsyncUpdateOp) Bundle() *ir.Value         { return v.Operand(0) }
func (v AsyncUpdateOp) SetBundle(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsyncUpdate builds mhlo.async_update and checks its types.
func BuildAsyncUpdate(b *ir.Builder, bundle *ir.Value, result ir.Type) (AsyncUpdateOp, error) {
	op, err := view.Build(b, AsyncUpdate, []ir.Type{result}, []*ir.Value{bundle}, nil)
	return AsyncUpdateOp{op}, err
}

// AsyncDoneOp is the view of mhlo.async_done, and of ops that mirror it. The op must have been verified.
type AsyncDoneOp struct{ *ir.Op }

// AsAsyncDone returns the view of op; ok is false if op is of another kind.
func AsAsyncDone(op *ir.Op) (v AsyncDoneOp, ok bool) {
	return AsyncDoneOp{op}, op != nil && op.IsOrMirrors(AsyncDone)
}

// Operands, attributes and regions of mhlo.async_done, and setters of operands and attributes.
func (v AsyncDoneOp) Bundle() *ir.Value         { return v.Operand(0) }
func (v AsyncDoneOp) SetBundle(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsyncDone builds mhlo.async_done and checks its types.
func BuildAsyncDone(b *ir.Builder, bundle *ir.Value, results []ir.Type) (AsyncDoneOp, error) {
	op, err := view.Build(b, AsyncDone, results, []*ir.Value{bundle}, nil)
	return AsyncDoneOp{op}, err
}

// BitcastOp is the view of mhlo.bitcast, and of ops that mirror it. The op must have been verified.
type BitcastOp struct{ *ir.Op }

// AsBitcast returns the view of op; ok is false if op is of another kind.
func AsBitcast(op *ir.Op) (v BitcastOp, ok bool) {
	return BitcastOp{op}, op != nil && op.IsOrMirrors(Bitcast)
}

// Operands, attributes and regions of mhlo.bitcast, and setters of operands and attributes.
func (v BitcastOp) Input() *ir.Value         { return v.Operand(0) }
func (v BitcastOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildBitcast builds mhlo.bitcast and checks its types.
func BuildBitcast(b *ir.Builder, operand *ir.Value, result ir.Type) (BitcastOp, error) {
	op, err := view.Build(b, Bitcast, []ir.Type{result}, []*ir.Value{operand}, nil)
	return BitcastOp{op}, err
}

// CopyOp is the view of mhlo.copy, and of ops that mirror it. The op must have been verified.
type CopyOp struct{ *ir.Op }

// AsCopy returns the view of op; ok is false if op is of another kind.
func AsCopy(op *ir.Op) (v CopyOp, ok bool) { return CopyOp{op}, op != nil && op.IsOrMirrors(Copy) }

// Operands, attributes and regions of mhlo.copy, and setters of operands and attributes.
func (v CopyOp) Input() *ir.Value         { return v.Operand(0) }
func (v CopyOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v CopyOp) CrossProgramPrefetchIndex() (n int64, ok bool) {
	return view.OptionalInt(v.Attr("cross_program_prefetch_index"))
}
func (v CopyOp) SetCrossProgramPrefetchIndex(value *int64) {
	view.Set(v.Op, "cross_program_prefetch_index", value)
}

// CopyAttrs are the attributes of mhlo.copy. An optional attribute that is zero is left out.
type CopyAttrs struct {
	CrossProgramPrefetchIndex *int64
}

// BuildCopy builds mhlo.copy and checks its types.
func BuildCopy(b *ir.Builder, operand *ir.Value, result ir.Type, a CopyAttrs) (CopyOp, error) {
	op, err := view.Build(b, Copy, []ir.Type{result}, []*ir.Value{operand}, nil, a.CrossProgramPrefetchIndex)
	return CopyOp{op}, err
}

// DomainOp is the view of mhlo.domain, and of ops that mirror it. The op must have been verified.
type DomainOp struct{ *ir.Op }

// AsDomain returns the view of op; ok is false if op is of another kind.
func AsDomain(op *ir.Op) (v DomainOp, ok bool) {
	return DomainOp{op}, op != nil && op.IsOrMirrors(Domain)
}

// Operands, attributes and regions of mhlo.domain, and setters of operands and attributes.
func (v DomainOp) Input() *ir.Value              { return v.Operand(0) }
func (v DomainOp) SetInput(value *ir.Value)      { v.SetOperand(0, value) }
func (v DomainOp) Kind() DomainKind              { return view.Case[DomainKind](v.Attr("kind")) }
func (v DomainOp) SetKind(value DomainKind)      { view.Set(v.Op, "kind", value) }
func (v DomainOp) EntryMetadata() string         { return view.String(v.Attr("entry_metadata")) }
func (v DomainOp) SetEntryMetadata(value string) { view.Set(v.Op, "entry_metadata", value) }
func (v DomainOp) ExitMetadata() string          { return view.String(v.Attr("exit_metadata")) }
func (v DomainOp) SetExitMetadata(value string)  { view.Set(v.Op, "exit_metadata", value) }

// DomainAttrs are the attributes of mhlo.domain. An optional attribute that is zero is left out.
type DomainAttrs struct {
	Kind          DomainKind
	EntryMetadata string
	ExitMetadata  string
}

// BuildDomain builds mhlo.domain and checks its types.
func BuildDomain(b *ir.Builder, operand *ir.Value, result ir.Type, a DomainAttrs) (DomainOp, error) {
	op, err := view.Build(b, Domain, []ir.Type{result}, []*ir.Value{operand}, nil, a.Kind, a.EntryMetadata, a.ExitMetadata)
	return DomainOp{op}, err
}

// Exp2Op is the view of mhlo.exp2, and of ops that mirror it. The op must have been verified.
type Exp2Op struct{ *ir.Op }

// AsExp2 returns the view of op; ok is false if op is of another kind.
func AsExp2(op *ir.Op) (v Exp2Op, ok bool) { return Exp2Op{op}, op != nil && op.IsOrMirrors(Exp2) }

// Operands, attributes and regions of mhlo.exp2, and setters of operands and attributes.
func (v Exp2Op) Input() *ir.Value         { return v.Operand(0) }
func (v Exp2Op) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v Exp2Op) ResultAccuracy() *stablehlo.ResultAccuracy {
	return view.Data[stablehlo.ResultAccuracy](v.Attr("result_accuracy"))
}
func (v Exp2Op) SetResultAccuracy(value *stablehlo.ResultAccuracy) {
	view.Set(v.Op, "result_accuracy", value)
}

// Exp2Attrs are the attributes of mhlo.exp2. An optional attribute that is zero is left out.
type Exp2Attrs struct {
	ResultAccuracy *stablehlo.ResultAccuracy
}

// BuildExp2 builds mhlo.exp2 and infers its types.
func BuildExp2(b *ir.Builder, operand *ir.Value, a Exp2Attrs) (Exp2Op, error) {
	op, err := view.Build(b, Exp2, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return Exp2Op{op}, err
}

// FusionOp is the view of mhlo.fusion, and of ops that mirror it. The op must have been verified.
type FusionOp struct{ *ir.Op }

// AsFusion returns the view of op; ok is false if op is of another kind.
func AsFusion(op *ir.Op) (v FusionOp, ok bool) {
	return FusionOp{op}, op != nil && op.IsOrMirrors(Fusion)
}

// Operands, attributes and regions of mhlo.fusion, and setters of operands and attributes.
func (v FusionOp) Inputs() []*ir.Value            { return v.OperandList() }
func (v FusionOp) SetInputs(values []*ir.Value)   { v.SetOperands(values) }
func (v FusionOp) FusionKind() FusionKind         { return view.Case[FusionKind](v.Attr("fusion_kind")) }
func (v FusionOp) SetFusionKind(value FusionKind) { view.Set(v.Op, "fusion_kind", value) }
func (v FusionOp) OutputOperandAliases() []ir.Attr {
	return view.List(v.Attr("output_operand_aliases"), view.Attr)
}
func (v FusionOp) SetOutputOperandAliases(value ir.Attr) {
	view.Set(v.Op, "output_operand_aliases", value)
}
func (v FusionOp) FusedComputation() *ir.Region { return v.Region(0) }

// FusionAttrs are the attributes of mhlo.fusion. An optional attribute that is zero is left out.
type FusionAttrs struct {
	FusionKind           FusionKind
	OutputOperandAliases ir.Attr
}

// BuildFusion builds mhlo.fusion and checks its types.
func BuildFusion(b *ir.Builder, inputs []*ir.Value, fusedComputation *ir.Region, results []ir.Type, a FusionAttrs) (FusionOp, error) {
	op, err := view.Build(b, Fusion, results, inputs, []*ir.Region{fusedComputation}, a.FusionKind, a.OutputOperandAliases)
	return FusionOp{op}, err
}

// Log2Op is the view of mhlo.log2, and of ops that mirror it. The op must have been verified.
type Log2Op struct{ *ir.Op }

// AsLog2 returns the view of op; ok is false if op is of another kind.
func AsLog2(op *ir.Op) (v Log2Op, ok bool) { return Log2Op{op}, op != nil && op.IsOrMirrors(Log2) }

// Operands, attributes and regions of mhlo.log2, and setters of operands and attributes.
func (v Log2Op) Input() *ir.Value         { return v.Operand(0) }
func (v Log2Op) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v Log2Op) ResultAccuracy() *stablehlo.ResultAccuracy {
	return view.Data[stablehlo.ResultAccuracy](v.Attr("result_accuracy"))
}
func (v Log2Op) SetResultAccuracy(value *stablehlo.ResultAccuracy) {
	view.Set(v.Op, "result_accuracy", value)
}

// Log2Attrs are the attributes of mhlo.log2. An optional attribute that is zero is left out.
type Log2Attrs struct {
	ResultAccuracy *stablehlo.ResultAccuracy
}

// BuildLog2 builds mhlo.log2 and infers its types.
func BuildLog2(b *ir.Builder, operand *ir.Value, a Log2Attrs) (Log2Op, error) {
	op, err := view.Build(b, Log2, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return Log2Op{op}, err
}

// MinimumBroadcastShapesOp is the view of mhlo.minimum_broadcast_shapes, and of ops that mirror it. The op must have been verified.
type MinimumBroadcastShapesOp struct{ *ir.Op }

// AsMinimumBroadcastShapes returns the view of op; ok is false if op is of another kind.
func AsMinimumBroadcastShapes(op *ir.Op) (v MinimumBroadcastShapesOp, ok bool) {
	return MinimumBroadcastShapesOp{op}, op != nil && op.IsOrMirrors(MinimumBroadcastShapes)
}

// Operands, attributes and regions of mhlo.minimum_broadcast_shapes, and setters of operands and attributes.
func (v MinimumBroadcastShapesOp) Shapes() []*ir.Value          { return v.OperandList() }
func (v MinimumBroadcastShapesOp) SetShapes(values []*ir.Value) { v.SetOperands(values) }

// BuildMinimumBroadcastShapes builds mhlo.minimum_broadcast_shapes and checks its types.
func BuildMinimumBroadcastShapes(b *ir.Builder, shapes []*ir.Value, results []ir.Type) (MinimumBroadcastShapesOp, error) {
	op, err := view.Build(b, MinimumBroadcastShapes, results, shapes, nil)
	return MinimumBroadcastShapesOp{op}, err
}

// MulhiOp is the view of mhlo.mulhi, and of ops that mirror it. The op must have been verified.
type MulhiOp struct{ *ir.Op }

// AsMulhi returns the view of op; ok is false if op is of another kind.
func AsMulhi(op *ir.Op) (v MulhiOp, ok bool) { return MulhiOp{op}, op != nil && op.IsOrMirrors(Mulhi) }

// Operands, attributes and regions of mhlo.mulhi, and setters of operands and attributes.
func (v MulhiOp) LHS() *ir.Value         { return v.Operand(0) }
func (v MulhiOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v MulhiOp) RHS() *ir.Value         { return v.Operand(1) }
func (v MulhiOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildMulhi builds mhlo.mulhi and checks its types.
func BuildMulhi(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, result ir.Type) (MulhiOp, error) {
	op, err := view.Build(b, Mulhi, []ir.Type{result}, []*ir.Value{lhs, rhs}, nil)
	return MulhiOp{op}, err
}

// RaggedDotOp is the view of mhlo.ragged_dot, and of ops that mirror it. The op must have been verified.
type RaggedDotOp struct{ *ir.Op }

// AsRaggedDot returns the view of op; ok is false if op is of another kind.
func AsRaggedDot(op *ir.Op) (v RaggedDotOp, ok bool) {
	return RaggedDotOp{op}, op != nil && op.IsOrMirrors(RaggedDot)
}

// Operands, attributes and regions of mhlo.ragged_dot, and setters of operands and attributes.
func (v RaggedDotOp) LHS() *ir.Value                { return v.Operand(0) }
func (v RaggedDotOp) SetLHS(value *ir.Value)        { v.SetOperand(0, value) }
func (v RaggedDotOp) RHS() *ir.Value                { return v.Operand(1) }
func (v RaggedDotOp) SetRHS(value *ir.Value)        { v.SetOperand(1, value) }
func (v RaggedDotOp) GroupSizes() *ir.Value         { return v.Operand(2) }
func (v RaggedDotOp) SetGroupSizes(value *ir.Value) { v.SetOperand(2, value) }
func (v RaggedDotOp) Dims() *chlo.RaggedDotDims {
	return view.Data[chlo.RaggedDotDims](v.Attr("ragged_dot_dimension_numbers"))
}
func (v RaggedDotOp) SetDims(value *chlo.RaggedDotDims) {
	view.Set(v.Op, "ragged_dot_dimension_numbers", value)
}
func (v RaggedDotOp) PrecisionConfig() []stablehlo.Precision {
	return view.List(v.Attr("precision_config"), view.Case[stablehlo.Precision])
}
func (v RaggedDotOp) SetPrecisionConfig(value []stablehlo.Precision) {
	view.Set(v.Op, "precision_config", value)
}

// RaggedDotAttrs are the attributes of mhlo.ragged_dot. An optional attribute that is zero is left out.
type RaggedDotAttrs struct {
	Dims            *chlo.RaggedDotDims
	PrecisionConfig []stablehlo.Precision
}

// BuildRaggedDot builds mhlo.ragged_dot and infers its types.
func BuildRaggedDot(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, groupSizes *ir.Value, a RaggedDotAttrs) (RaggedDotOp, error) {
	op, err := view.Build(b, RaggedDot, nil, []*ir.Value{lhs, rhs, groupSizes}, nil, a.Dims, a.PrecisionConfig)
	return RaggedDotOp{op}, err
}

// RngGetAndUpdateStateOp is the view of mhlo.xla.rng_get_and_update_state, and of ops that mirror it. The op must have been verified.
type RngGetAndUpdateStateOp struct{ *ir.Op }

// AsRngGetAndUpdateState returns the view of op; ok is false if op is of another kind.
func AsRngGetAndUpdateState(op *ir.Op) (v RngGetAndUpdateStateOp, ok bool) {
	return RngGetAndUpdateStateOp{op}, op != nil && op.IsOrMirrors(RngGetAndUpdateState)
}

// Operands, attributes and regions of mhlo.xla.rng_get_and_update_state, and setters of operands and attributes.
func (v RngGetAndUpdateStateOp) Delta() int64         { return view.Int(v.Attr("delta")) }
func (v RngGetAndUpdateStateOp) SetDelta(value int64) { view.Set(v.Op, "delta", value) }

// RngGetAndUpdateStateAttrs are the attributes of mhlo.xla.rng_get_and_update_state. An optional attribute that is zero is left out.
type RngGetAndUpdateStateAttrs struct {
	Delta int64
}

// BuildRngGetAndUpdateState builds mhlo.xla.rng_get_and_update_state and infers its types.
func BuildRngGetAndUpdateState(b *ir.Builder, a RngGetAndUpdateStateAttrs) (RngGetAndUpdateStateOp, error) {
	op, err := view.Build(b, RngGetAndUpdateState, nil, nil, nil, a.Delta)
	return RngGetAndUpdateStateOp{op}, err
}

// StochasticConvertOp is the view of mhlo.stochastic_convert, and of ops that mirror it. The op must have been verified.
type StochasticConvertOp struct{ *ir.Op }

// AsStochasticConvert returns the view of op; ok is false if op is of another kind.
func AsStochasticConvert(op *ir.Op) (v StochasticConvertOp, ok bool) {
	return StochasticConvertOp{op}, op != nil && op.IsOrMirrors(StochasticConvert)
}

// Operands, attributes and regions of mhlo.stochastic_convert, and setters of operands and attributes.
func (v StochasticConvertOp) Input() *ir.Value          { return v.Operand(0) }
func (v StochasticConvertOp) SetInput(value *ir.Value)  { v.SetOperand(0, value) }
func (v StochasticConvertOp) Random() *ir.Value         { return v.Operand(1) }
func (v StochasticConvertOp) SetRandom(value *ir.Value) { v.SetOperand(1, value) }

// BuildStochasticConvert builds mhlo.stochastic_convert and checks its types.
func BuildStochasticConvert(b *ir.Builder, operand *ir.Value, random *ir.Value, result ir.Type) (StochasticConvertOp, error) {
	op, err := view.Build(b, StochasticConvert, []ir.Type{result}, []*ir.Value{operand, random}, nil)
	return StochasticConvertOp{op}, err
}

// TopKOp is the view of mhlo.topk, and of ops that mirror it. The op must have been verified.
type TopKOp struct{ *ir.Op }

// AsTopK returns the view of op; ok is false if op is of another kind.
func AsTopK(op *ir.Op) (v TopKOp, ok bool) { return TopKOp{op}, op != nil && op.IsOrMirrors(TopK) }

// Operands, attributes and regions of mhlo.topk, and setters of operands and attributes.
func (v TopKOp) Input() *ir.Value         { return v.Operand(0) }
func (v TopKOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v TopKOp) K() int64                 { return view.Int(v.Attr("k")) }
func (v TopKOp) SetK(value int64)         { view.Set(v.Op, "k", value) }
func (v TopKOp) Largest() bool            { return view.IntOr(v.Attr("largest"), 1) != 0 }
func (v TopKOp) SetLargest(value *bool)   { view.Set(v.Op, "largest", value) }
func (v TopKOp) IsStable() bool           { return view.IntOr(v.Attr("is_stable"), 1) != 0 }
func (v TopKOp) SetIsStable(value *bool)  { view.Set(v.Op, "is_stable", value) }

// TopKAttrs are the attributes of mhlo.topk. An optional attribute that is zero is left out.
type TopKAttrs struct {
	K        int64
	Largest  *bool
	IsStable *bool
}

// BuildTopK builds mhlo.topk and infers its types.
func BuildTopK(b *ir.Builder, operand *ir.Value, a TopKAttrs) (TopKOp, error) {
	op, err := view.Build(b, TopK, nil, []*ir.Value{operand}, nil, a.K, a.Largest, a.IsStable)
	return TopKOp{op}, err
}

// TraceOp is the view of mhlo.trace, and of ops that mirror it. The op must have been verified.
type TraceOp struct{ *ir.Op }

// AsTrace returns the view of op; ok is false if op is of another kind.
func AsTrace(op *ir.Op) (v TraceOp, ok bool) { return TraceOp{op}, op != nil && op.IsOrMirrors(Trace) }

// Operands, attributes and regions of mhlo.trace, and setters of operands and attributes.
func (v TraceOp) Input() *ir.Value         { return v.Operand(0) }
func (v TraceOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v TraceOp) Tag() string              { return view.String(v.Attr("tag")) }
func (v TraceOp) SetTag(value string)      { view.Set(v.Op, "tag", value) }

// TraceAttrs are the attributes of mhlo.trace. An optional attribute that is zero is left out.
type TraceAttrs struct {
	Tag string
}

// BuildTrace builds mhlo.trace and checks its types.
func BuildTrace(b *ir.Builder, operand *ir.Value, a TraceAttrs) (TraceOp, error) {
	op, err := view.Build(b, Trace, nil, []*ir.Value{operand}, nil, a.Tag)
	return TraceOp{op}, err
}

// ScanOp is the view of mhlo.scan, and of ops that mirror it. The op must have been verified.
type ScanOp struct{ *ir.Op }

// AsScan returns the view of op; ok is false if op is of another kind.
func AsScan(op *ir.Op) (v ScanOp, ok bool) { return ScanOp{op}, op != nil && op.IsOrMirrors(Scan) }

// Operands, attributes and regions of mhlo.scan, and setters of operands and attributes.
func (v ScanOp) Inputs() []*ir.Value             { return view.Group(v.Op, 0) }
func (v ScanOp) SetInputs(values []*ir.Value)    { view.SetGroup(v.Op, 0, values...) }
func (v ScanOp) Inits() []*ir.Value              { return view.Group(v.Op, 1) }
func (v ScanOp) SetInits(values []*ir.Value)     { view.SetGroup(v.Op, 1, values...) }
func (v ScanOp) Dimension() int64                { return view.Int(v.Attr("dimension")) }
func (v ScanOp) SetDimension(value int64)        { view.Set(v.Op, "dimension", value) }
func (v ScanOp) ScanDimSize() (n int64, ok bool) { return view.OptionalInt(v.Attr("scan_dim_size")) }
func (v ScanOp) SetScanDimSize(value *int64)     { view.Set(v.Op, "scan_dim_size", value) }
func (v ScanOp) IsReverse() bool                 { return view.Bool(v.Attr("is_reverse")) }
func (v ScanOp) SetIsReverse(value bool)         { view.Set(v.Op, "is_reverse", value) }
func (v ScanOp) IsAssociative() (value, ok bool) { return view.OptionalBool(v.Attr("is_associative")) }
func (v ScanOp) SetIsAssociative(value *bool)    { view.Set(v.Op, "is_associative", value) }
func (v ScanOp) Body() *ir.Region                { return v.Region(0) }

// ScanAttrs are the attributes of mhlo.scan. An optional attribute that is zero is left out.
type ScanAttrs struct {
	Dimension     int64
	ScanDimSize   *int64
	IsReverse     bool
	IsAssociative *bool
}

// BuildScan builds mhlo.scan and checks its types.
func BuildScan(b *ir.Builder, inputs []*ir.Value, inits []*ir.Value, body *ir.Region, outputs []ir.Type, carries []ir.Type, a ScanAttrs) (ScanOp, error) {
	op, err := view.Build(b, Scan, slices.Concat(outputs, carries), view.Join(inputs, inits), []*ir.Region{body}, a.Dimension, a.ScanDimSize, a.IsReverse, a.IsAssociative, view.Sizes(inputs, inits), view.Sizes(outputs, carries))
	return ScanOp{op}, err
}

// AcosOp is the view of mhlo.acos, and of ops that mirror it. The op must have been verified.
type AcosOp struct{ *ir.Op }

// AsAcos returns the view of op; ok is false if op is of another kind.
func AsAcos(op *ir.Op) (v AcosOp, ok bool) { return AcosOp{op}, op != nil && op.IsOrMirrors(Acos) }

// Operands, attributes and regions of mhlo.acos, and setters of operands and attributes.
func (v AcosOp) Input() *ir.Value         { return v.Operand(0) }
func (v AcosOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAcos builds mhlo.acos and infers its types.
func BuildAcos(b *ir.Builder, operand *ir.Value) (AcosOp, error) {
	op, err := view.Build(b, Acos, nil, []*ir.Value{operand}, nil)
	return AcosOp{op}, err
}

// AcoshOp is the view of mhlo.acosh, and of ops that mirror it. The op must have been verified.
type AcoshOp struct{ *ir.Op }

// AsAcosh returns the view of op; ok is false if op is of another kind.
func AsAcosh(op *ir.Op) (v AcoshOp, ok bool) { return AcoshOp{op}, op != nil && op.IsOrMirrors(Acosh) }

// Operands, attributes and regions of mhlo.acosh, and setters of operands and attributes.
func (v AcoshOp) Input() *ir.Value         { return v.Operand(0) }
func (v AcoshOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAcosh builds mhlo.acosh and infers its types.
func BuildAcosh(b *ir.Builder, operand *ir.Value) (AcoshOp, error) {
	op, err := view.Build(b, Acosh, nil, []*ir.Value{operand}, nil)
	return AcoshOp{op}, err
}

// AsinOp is the view of mhlo.asin, and of ops that mirror it. The op must have been verified.
type AsinOp struct{ *ir.Op }

// AsAsin returns the view of op; ok is false if op is of another kind.
func AsAsin(op *ir.Op) (v AsinOp, ok bool) { return AsinOp{op}, op != nil && op.IsOrMirrors(Asin) }

// Operands, attributes and regions of mhlo.asin, and setters of operands and attributes.
func (v AsinOp) Input() *ir.Value         { return v.Operand(0) }
func (v AsinOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsin builds mhlo.asin and infers its types.
func BuildAsin(b *ir.Builder, operand *ir.Value) (AsinOp, error) {
	op, err := view.Build(b, Asin, nil, []*ir.Value{operand}, nil)
	return AsinOp{op}, err
}

// AsinhOp is the view of mhlo.asinh, and of ops that mirror it. The op must have been verified.
type AsinhOp struct{ *ir.Op }

// AsAsinh returns the view of op; ok is false if op is of another kind.
func AsAsinh(op *ir.Op) (v AsinhOp, ok bool) { return AsinhOp{op}, op != nil && op.IsOrMirrors(Asinh) }

// Operands, attributes and regions of mhlo.asinh, and setters of operands and attributes.
func (v AsinhOp) Input() *ir.Value         { return v.Operand(0) }
func (v AsinhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsinh builds mhlo.asinh and infers its types.
func BuildAsinh(b *ir.Builder, operand *ir.Value) (AsinhOp, error) {
	op, err := view.Build(b, Asinh, nil, []*ir.Value{operand}, nil)
	return AsinhOp{op}, err
}

// AtanhOp is the view of mhlo.atanh, and of ops that mirror it. The op must have been verified.
type AtanhOp struct{ *ir.Op }

// AsAtanh returns the view of op; ok is false if op is of another kind.
func AsAtanh(op *ir.Op) (v AtanhOp, ok bool) { return AtanhOp{op}, op != nil && op.IsOrMirrors(Atanh) }

// Operands, attributes and regions of mhlo.atanh, and setters of operands and attributes.
func (v AtanhOp) Input() *ir.Value         { return v.Operand(0) }
func (v AtanhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAtanh builds mhlo.atanh and infers its types.
func BuildAtanh(b *ir.Builder, operand *ir.Value) (AtanhOp, error) {
	op, err := view.Build(b, Atanh, nil, []*ir.Value{operand}, nil)
	return AtanhOp{op}, err
}

// CoshOp is the view of mhlo.cosh, and of ops that mirror it. The op must have been verified.
type CoshOp struct{ *ir.Op }

// AsCosh returns the view of op; ok is false if op is of another kind.
func AsCosh(op *ir.Op) (v CoshOp, ok bool) { return CoshOp{op}, op != nil && op.IsOrMirrors(Cosh) }

// Operands, attributes and regions of mhlo.cosh, and setters of operands and attributes.
func (v CoshOp) Input() *ir.Value         { return v.Operand(0) }
func (v CoshOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildCosh builds mhlo.cosh and infers its types.
func BuildCosh(b *ir.Builder, operand *ir.Value) (CoshOp, error) {
	op, err := view.Build(b, Cosh, nil, []*ir.Value{operand}, nil)
	return CoshOp{op}, err
}

// ErfOp is the view of mhlo.erf, and of ops that mirror it. The op must have been verified.
type ErfOp struct{ *ir.Op }

// AsErf returns the view of op; ok is false if op is of another kind.
func AsErf(op *ir.Op) (v ErfOp, ok bool) { return ErfOp{op}, op != nil && op.IsOrMirrors(Erf) }

// Operands, attributes and regions of mhlo.erf, and setters of operands and attributes.
func (v ErfOp) Input() *ir.Value         { return v.Operand(0) }
func (v ErfOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildErf builds mhlo.erf and infers its types.
func BuildErf(b *ir.Builder, operand *ir.Value) (ErfOp, error) {
	op, err := view.Build(b, Erf, nil, []*ir.Value{operand}, nil)
	return ErfOp{op}, err
}

// SinhOp is the view of mhlo.sinh, and of ops that mirror it. The op must have been verified.
type SinhOp struct{ *ir.Op }

// AsSinh returns the view of op; ok is false if op is of another kind.
func AsSinh(op *ir.Op) (v SinhOp, ok bool) { return SinhOp{op}, op != nil && op.IsOrMirrors(Sinh) }

// Operands, attributes and regions of mhlo.sinh, and setters of operands and attributes.
func (v SinhOp) Input() *ir.Value         { return v.Operand(0) }
func (v SinhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildSinh builds mhlo.sinh and infers its types.
func BuildSinh(b *ir.Builder, operand *ir.Value) (SinhOp, error) {
	op, err := view.Build(b, Sinh, nil, []*ir.Value{operand}, nil)
	return SinhOp{op}, err
}
