// Code generated from the rows of the dialect. DO NOT EDIT.

package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// ComparisonDirection is a case of ComparisonDirectionEnum: the relation that compare tests.
type ComparisonDirection int

// Cases of ComparisonDirection.
const (
	ComparisonDirectionEQ ComparisonDirection = 0
	ComparisonDirectionNE ComparisonDirection = 1
	ComparisonDirectionGE ComparisonDirection = 2
	ComparisonDirectionGT ComparisonDirection = 3
	ComparisonDirectionLE ComparisonDirection = 4
	ComparisonDirectionLT ComparisonDirection = 5
)

// String returns the case as assembly spells it.
func (v ComparisonDirection) String() string { return ComparisonDirectionEnum.Cases[v] }

// ComparisonType is a case of ComparisonTypeEnum: the order that compare uses.
type ComparisonType int

// Cases of ComparisonType.
const (
	ComparisonTypeNOTYPE     ComparisonType = 0
	ComparisonTypeFLOAT      ComparisonType = 1
	ComparisonTypeTOTALORDER ComparisonType = 2
	ComparisonTypeSIGNED     ComparisonType = 3
	ComparisonTypeUNSIGNED   ComparisonType = 4
)

// String returns the case as assembly spells it.
func (v ComparisonType) String() string { return ComparisonTypeEnum.Cases[v] }

// FftType is a case of FftTypeEnum: the direction of a Fourier transform, and whether one side is real.
type FftType int

// Cases of FftType.
const (
	FftTypeFFT   FftType = 0
	FftTypeIFFT  FftType = 1
	FftTypeRFFT  FftType = 2
	FftTypeIRFFT FftType = 3
)

// String returns the case as assembly spells it.
func (v FftType) String() string { return FftTypeEnum.Cases[v] }

// Precision is a case of PrecisionEnum: how exactly a product is computed.
type Precision int

// Cases of Precision.
const (
	PrecisionDEFAULT Precision = 0
	PrecisionHIGH    Precision = 1
	PrecisionHIGHEST Precision = 2
)

// String returns the case as assembly spells it.
func (v Precision) String() string { return PrecisionEnum.Cases[v] }

// ResultAccuracyMode is a case of ResultAccuracyModeEnum: how the accuracy of a transcendental function is given.
type ResultAccuracyMode int

// Cases of ResultAccuracyMode.
const (
	ResultAccuracyModeDEFAULT   ResultAccuracyMode = 0
	ResultAccuracyModeHIGHEST   ResultAccuracyMode = 1
	ResultAccuracyModeTOLERANCE ResultAccuracyMode = 2
)

// String returns the case as assembly spells it.
func (v ResultAccuracyMode) String() string { return ResultAccuracyModeEnum.Cases[v] }

// RngAlgorithm is a case of RngAlgorithmEnum: the algorithm of random bits.
type RngAlgorithm int

// Cases of RngAlgorithm.
const (
	RngAlgorithmDEFAULT   RngAlgorithm = 0
	RngAlgorithmTHREE_FRY RngAlgorithm = 1
	RngAlgorithmPHILOX    RngAlgorithm = 2
)

// String returns the case as assembly spells it.
func (v RngAlgorithm) String() string { return RngAlgorithmEnum.Cases[v] }

// RngDistribution is a case of RngDistributionEnum: the distribution of random numbers.
type RngDistribution int

// Cases of RngDistribution.
const (
	RngDistributionUNIFORM RngDistribution = 1
	RngDistributionNORMAL  RngDistribution = 2
)

// String returns the case as assembly spells it.
func (v RngDistribution) String() string { return RngDistributionEnum.Cases[v] }

// TransposeCase is a case of TransposeEnum: the form in which triangular_solve uses its matrix.
type TransposeCase int

// Cases of TransposeCase.
const (
	TransposeCaseTRANSPOSE_INVALID TransposeCase = 0
	TransposeCaseNO_TRANSPOSE      TransposeCase = 1
	TransposeCaseTRANSPOSE         TransposeCase = 2
	TransposeCaseADJOINT           TransposeCase = 3
)

// String returns the case as assembly spells it.
func (v TransposeCase) String() string { return TransposeEnum.Cases[v] }

// Names of the attributes of ops.
const (
	AttrAlgorithm                   = "algorithm"
	AttrAllGatherDim                = "all_gather_dim"
	AttrAPIVersion                  = "api_version"
	AttrBackendConfig               = "backend_config"
	AttrBaseDilations               = "base_dilations"
	AttrBatchDims                   = "batch_dims"
	AttrBatchGroupCount             = "batch_group_count"
	AttrBroadcastDimensions         = "broadcast_dimensions"
	AttrBroadcastSizes              = "broadcast_sizes"
	AttrCallTargetName              = "call_target_name"
	AttrCalledComputations          = "called_computations"
	AttrChannelHandle               = "channel_handle"
	AttrCompareType                 = "compare_type"
	AttrComparisonDirection         = "comparison_direction"
	AttrCompositeAttributes         = "composite_attributes"
	AttrConcatDimension             = "concat_dimension"
	AttrDecomposition               = "decomposition"
	AttrDim                         = "dim"
	AttrDimension                   = "dimension"
	AttrDimensionNumbers            = "dimension_numbers"
	AttrDimensions                  = "dimensions"
	AttrDotDimensionNumbers         = "dot_dimension_numbers"
	AttrEdgePaddingHigh             = "edge_padding_high"
	AttrEdgePaddingLow              = "edge_padding_low"
	AttrEinsumConfig                = "einsum_config"
	AttrEpsilon                     = "epsilon"
	AttrExponentBits                = "exponent_bits"
	AttrFeatureGroupCount           = "feature_group_count"
	AttrFeatureIndex                = "feature_index"
	AttrFftLength                   = "fft_length"
	AttrFftType                     = "fft_type"
	AttrHasDynamicRoot              = "has_dynamic_root"
	AttrHasSideEffect               = "has_side_effect"
	AttrIndex                       = "index"
	AttrIndicesAreSorted            = "indices_are_sorted"
	AttrInfeedConfig                = "infeed_config"
	AttrInteriorPadding             = "interior_padding"
	AttrIotaDimension               = "iota_dimension"
	AttrIsHostTransfer              = "is_host_transfer"
	AttrIsStable                    = "is_stable"
	AttrKnownExpandingDimensions    = "known_expanding_dimensions"
	AttrKnownNonexpandingDimensions = "known_nonexpanding_dimensions"
	AttrLayout                      = "layout"
	AttrLeftSide                    = "left_side"
	AttrLHSDilation                 = "lhs_dilation"
	AttrLimitIndices                = "limit_indices"
	AttrLower                       = "lower"
	AttrMantissaBits                = "mantissa_bits"
	AttrName                        = "name"
	AttrOperandLayouts              = "operand_layouts"
	AttrOutfeedConfig               = "outfeed_config"
	AttrOutputOperandAliases        = "output_operand_aliases"
	AttrPadding                     = "padding"
	AttrPermutation                 = "permutation"
	AttrPrecisionConfig             = "precision_config"
	AttrReplicaGroups               = "replica_groups"
	AttrResultAccuracy              = "result_accuracy"
	AttrResultLayouts               = "result_layouts"
	AttrResultTilings               = "result_tilings"
	AttrRHSDilation                 = "rhs_dilation"
	AttrRngAlgorithm                = "rng_algorithm"
	AttrRngDistribution             = "rng_distribution"
	AttrScatterDimension            = "scatter_dimension"
	AttrScatterDimensionNumbers     = "scatter_dimension_numbers"
	AttrSliceSizes                  = "slice_sizes"
	AttrSourceTargetPairs           = "source_target_pairs"
	AttrSplitCount                  = "split_count"
	AttrSplitDimension              = "split_dimension"
	AttrStartIndices                = "start_indices"
	AttrStrides                     = "strides"
	AttrTransposeA                  = "transpose_a"
	AttrUniqueIndices               = "unique_indices"
	AttrUnitDiagonal                = "unit_diagonal"
	AttrUseGlobalDeviceIDs          = "use_global_device_ids"
	AttrValue                       = "value"
	AttrVersion                     = "version"
	AttrWindowDilations             = "window_dilations"
	AttrWindowDimensions            = "window_dimensions"
	AttrWindowReversal              = "window_reversal"
	AttrWindowStrides               = "window_strides"
)

// AbsOp is the view of stablehlo.abs, and of ops that mirror it. The op must have been verified.
type AbsOp struct{ *ir.Op }

// AsAbs returns the view of op; ok is false if op is of another kind.
func AsAbs(op *ir.Op) (v AbsOp, ok bool) { return AbsOp{op}, op != nil && op.IsOrMirrors(Abs) }

// Operands, attributes and regions of stablehlo.abs, and setters of operands and attributes.
func (v AbsOp) Input() *ir.Value         { return v.Operand(0) }
func (v AbsOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAbs builds stablehlo.abs and infers its types.
func BuildAbs(b *ir.Builder, operand *ir.Value) (AbsOp, error) {
	op, err := view.Build(b, Abs, nil, []*ir.Value{operand}, nil)
	return AbsOp{op}, err
}

// AddOp is the view of stablehlo.add, and of ops that mirror it. The op must have been verified.
type AddOp struct{ *ir.Op }

// AsAdd returns the view of op; ok is false if op is of another kind.
func AsAdd(op *ir.Op) (v AddOp, ok bool) { return AddOp{op}, op != nil && op.IsOrMirrors(Add) }

// Operands, attributes and regions of stablehlo.add, and setters of operands and attributes.
func (v AddOp) LHS() *ir.Value         { return v.Operand(0) }
func (v AddOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v AddOp) RHS() *ir.Value         { return v.Operand(1) }
func (v AddOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildAdd builds stablehlo.add and infers its types.
func BuildAdd(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (AddOp, error) {
	op, err := view.Build(b, Add, nil, []*ir.Value{lhs, rhs}, nil)
	return AddOp{op}, err
}

// AfterAllOp is the view of stablehlo.after_all, and of ops that mirror it. The op must have been verified.
type AfterAllOp struct{ *ir.Op }

// AsAfterAll returns the view of op; ok is false if op is of another kind.
func AsAfterAll(op *ir.Op) (v AfterAllOp, ok bool) {
	return AfterAllOp{op}, op != nil && op.IsOrMirrors(AfterAll)
}

// Operands, attributes and regions of stablehlo.after_all, and setters of operands and attributes.
func (v AfterAllOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v AfterAllOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }

// BuildAfterAll builds stablehlo.after_all and infers its types.
func BuildAfterAll(b *ir.Builder, inputs []*ir.Value) (AfterAllOp, error) {
	op, err := view.Build(b, AfterAll, nil, inputs, nil)
	return AfterAllOp{op}, err
}

// AllGatherOp is the view of stablehlo.all_gather, and of ops that mirror it. The op must have been verified.
type AllGatherOp struct{ *ir.Op }

// AsAllGather returns the view of op; ok is false if op is of another kind.
func AsAllGather(op *ir.Op) (v AllGatherOp, ok bool) {
	return AllGatherOp{op}, op != nil && op.IsOrMirrors(AllGather)
}

// Operands, attributes and regions of stablehlo.all_gather, and setters of operands and attributes.
func (v AllGatherOp) Inputs() []*ir.Value            { return v.OperandList() }
func (v AllGatherOp) SetInputs(values []*ir.Value)   { v.SetOperands(values) }
func (v AllGatherOp) AllGatherDim() int64            { return view.Int(v.Attr("all_gather_dim")) }
func (v AllGatherOp) SetAllGatherDim(value int64)    { view.Set(v.Op, "all_gather_dim", value) }
func (v AllGatherOp) ReplicaGroups() ir.Attr         { return v.Attr("replica_groups") }
func (v AllGatherOp) SetReplicaGroups(value ir.Attr) { view.Set(v.Op, "replica_groups", value) }
func (v AllGatherOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v AllGatherOp) SetChannelHandle(value *ChannelHandle) { view.Set(v.Op, "channel_handle", value) }
func (v AllGatherOp) UseGlobalDeviceIDs() bool              { return view.Bool(v.Attr("use_global_device_ids")) }
func (v AllGatherOp) SetUseGlobalDeviceIDs(value bool) {
	view.Set(v.Op, "use_global_device_ids", value)
}

// AllGatherAttrs are the attributes of stablehlo.all_gather. An optional attribute that is zero is left out.
type AllGatherAttrs struct {
	AllGatherDim       int64
	ReplicaGroups      ir.Attr
	ChannelHandle      *ChannelHandle
	UseGlobalDeviceIDs bool
}

// BuildAllGather builds stablehlo.all_gather and checks its types.
func BuildAllGather(b *ir.Builder, operands []*ir.Value, results []ir.Type, a AllGatherAttrs) (AllGatherOp, error) {
	op, err := view.Build(b, AllGather, results, operands, nil, a.AllGatherDim, a.ReplicaGroups, a.ChannelHandle, a.UseGlobalDeviceIDs)
	return AllGatherOp{op}, err
}

// AllReduceOp is the view of stablehlo.all_reduce, and of ops that mirror it. The op must have been verified.
type AllReduceOp struct{ *ir.Op }

// AsAllReduce returns the view of op; ok is false if op is of another kind.
func AsAllReduce(op *ir.Op) (v AllReduceOp, ok bool) {
	return AllReduceOp{op}, op != nil && op.IsOrMirrors(AllReduce)
}

// Operands, attributes and regions of stablehlo.all_reduce, and setters of operands and attributes.
func (v AllReduceOp) Inputs() []*ir.Value            { return v.OperandList() }
func (v AllReduceOp) SetInputs(values []*ir.Value)   { v.SetOperands(values) }
func (v AllReduceOp) ReplicaGroups() ir.Attr         { return v.Attr("replica_groups") }
func (v AllReduceOp) SetReplicaGroups(value ir.Attr) { view.Set(v.Op, "replica_groups", value) }
func (v AllReduceOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v AllReduceOp) SetChannelHandle(value *ChannelHandle) { view.Set(v.Op, "channel_handle", value) }
func (v AllReduceOp) UseGlobalDeviceIDs() bool              { return view.Bool(v.Attr("use_global_device_ids")) }
func (v AllReduceOp) SetUseGlobalDeviceIDs(value bool) {
	view.Set(v.Op, "use_global_device_ids", value)
}
func (v AllReduceOp) Computation() *ir.Region { return v.Region(0) }

// AllReduceAttrs are the attributes of stablehlo.all_reduce. An optional attribute that is zero is left out.
type AllReduceAttrs struct {
	ReplicaGroups      ir.Attr
	ChannelHandle      *ChannelHandle
	UseGlobalDeviceIDs bool
}

// BuildAllReduce builds stablehlo.all_reduce and infers its types.
func BuildAllReduce(b *ir.Builder, operands []*ir.Value, computation *ir.Region, a AllReduceAttrs) (AllReduceOp, error) {
	op, err := view.Build(b, AllReduce, nil, operands, []*ir.Region{computation}, a.ReplicaGroups, a.ChannelHandle, a.UseGlobalDeviceIDs)
	return AllReduceOp{op}, err
}

// AllToAllOp is the view of stablehlo.all_to_all, and of ops that mirror it. The op must have been verified.
type AllToAllOp struct{ *ir.Op }

// AsAllToAll returns the view of op; ok is false if op is of another kind.
func AsAllToAll(op *ir.Op) (v AllToAllOp, ok bool) {
	return AllToAllOp{op}, op != nil && op.IsOrMirrors(AllToAll)
}

// Operands, attributes and regions of stablehlo.all_to_all, and setters of operands and attributes.
func (v AllToAllOp) Inputs() []*ir.Value            { return v.OperandList() }
func (v AllToAllOp) SetInputs(values []*ir.Value)   { v.SetOperands(values) }
func (v AllToAllOp) SplitDimension() int64          { return view.Int(v.Attr("split_dimension")) }
func (v AllToAllOp) SetSplitDimension(value int64)  { view.Set(v.Op, "split_dimension", value) }
func (v AllToAllOp) ConcatDimension() int64         { return view.Int(v.Attr("concat_dimension")) }
func (v AllToAllOp) SetConcatDimension(value int64) { view.Set(v.Op, "concat_dimension", value) }
func (v AllToAllOp) SplitCount() int64              { return view.Int(v.Attr("split_count")) }
func (v AllToAllOp) SetSplitCount(value int64)      { view.Set(v.Op, "split_count", value) }
func (v AllToAllOp) ReplicaGroups() ir.Attr         { return v.Attr("replica_groups") }
func (v AllToAllOp) SetReplicaGroups(value ir.Attr) { view.Set(v.Op, "replica_groups", value) }
func (v AllToAllOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v AllToAllOp) SetChannelHandle(value *ChannelHandle) { view.Set(v.Op, "channel_handle", value) }

// AllToAllAttrs are the attributes of stablehlo.all_to_all. An optional attribute that is zero is left out.
type AllToAllAttrs struct {
	SplitDimension  int64
	ConcatDimension int64
	SplitCount      int64
	ReplicaGroups   ir.Attr
	ChannelHandle   *ChannelHandle
}

// BuildAllToAll builds stablehlo.all_to_all and infers its types.
func BuildAllToAll(b *ir.Builder, operands []*ir.Value, a AllToAllAttrs) (AllToAllOp, error) {
	op, err := view.Build(b, AllToAll, nil, operands, nil, a.SplitDimension, a.ConcatDimension, a.SplitCount, a.ReplicaGroups, a.ChannelHandle)
	return AllToAllOp{op}, err
}

// AndOp is the view of stablehlo.and, and of ops that mirror it. The op must have been verified.
type AndOp struct{ *ir.Op }

// AsAnd returns the view of op; ok is false if op is of another kind.
func AsAnd(op *ir.Op) (v AndOp, ok bool) { return AndOp{op}, op != nil && op.IsOrMirrors(And) }

// Operands, attributes and regions of stablehlo.and, and setters of operands and attributes.
func (v AndOp) LHS() *ir.Value         { return v.Operand(0) }
func (v AndOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v AndOp) RHS() *ir.Value         { return v.Operand(1) }
func (v AndOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildAnd builds stablehlo.and and infers its types.
func BuildAnd(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (AndOp, error) {
	op, err := view.Build(b, And, nil, []*ir.Value{lhs, rhs}, nil)
	return AndOp{op}, err
}

// AsyncDoneOp is the view of stablehlo.async_done, and of ops that mirror it. The op must have been verified.
type AsyncDoneOp struct{ *ir.Op }

// AsAsyncDone returns the view of op; ok is false if op is of another kind.
func AsAsyncDone(op *ir.Op) (v AsyncDoneOp, ok bool) {
	return AsyncDoneOp{op}, op != nil && op.IsOrMirrors(AsyncDone)
}

// Operands, attributes and regions of stablehlo.async_done, and setters of operands and attributes.
func (v AsyncDoneOp) Input() *ir.Value         { return v.Operand(0) }
func (v AsyncDoneOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsyncDone builds stablehlo.async_done and infers its types.
func BuildAsyncDone(b *ir.Builder, operand *ir.Value) (AsyncDoneOp, error) {
	op, err := view.Build(b, AsyncDone, nil, []*ir.Value{operand}, nil)
	return AsyncDoneOp{op}, err
}

// AsyncStartOp is the view of stablehlo.async_start, and of ops that mirror it. The op must have been verified.
type AsyncStartOp struct{ *ir.Op }

// AsAsyncStart returns the view of op; ok is false if op is of another kind.
func AsAsyncStart(op *ir.Op) (v AsyncStartOp, ok bool) {
	return AsyncStartOp{op}, op != nil && op.IsOrMirrors(AsyncStart)
}

// Operands, attributes and regions of stablehlo.async_start, and setters of operands and attributes.
func (v AsyncStartOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v AsyncStartOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v AsyncStartOp) Body() *ir.Region             { return v.Region(0) }

// BuildAsyncStart builds stablehlo.async_start and checks its types.
func BuildAsyncStart(b *ir.Builder, operands []*ir.Value, body *ir.Region, result ir.Type) (AsyncStartOp, error) {
	op, err := view.Build(b, AsyncStart, []ir.Type{result}, operands, []*ir.Region{body})
	return AsyncStartOp{op}, err
}

// Atan2Op is the view of stablehlo.atan2, and of ops that mirror it. The op must have been verified.
type Atan2Op struct{ *ir.Op }

// AsAtan2 returns the view of op; ok is false if op is of another kind.
func AsAtan2(op *ir.Op) (v Atan2Op, ok bool) { return Atan2Op{op}, op != nil && op.IsOrMirrors(Atan2) }

// Operands, attributes and regions of stablehlo.atan2, and setters of operands and attributes.
func (v Atan2Op) LHS() *ir.Value         { return v.Operand(0) }
func (v Atan2Op) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v Atan2Op) RHS() *ir.Value         { return v.Operand(1) }
func (v Atan2Op) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildAtan2 builds stablehlo.atan2 and infers its types.
func BuildAtan2(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (Atan2Op, error) {
	op, err := view.Build(b, Atan2, nil, []*ir.Value{lhs, rhs}, nil)
	return Atan2Op{op}, err
}

// BatchNormGradOp is the view of stablehlo.batch_norm_grad, and of ops that mirror it. The op must have been verified.
type BatchNormGradOp struct{ *ir.Op }

// AsBatchNormGrad returns the view of op; ok is false if op is of another kind.
func AsBatchNormGrad(op *ir.Op) (v BatchNormGradOp, ok bool) {
	return BatchNormGradOp{op}, op != nil && op.IsOrMirrors(BatchNormGrad)
}

// Operands, attributes and regions of stablehlo.batch_norm_grad, and setters of operands and attributes.
func (v BatchNormGradOp) Input() *ir.Value              { return v.Operand(0) }
func (v BatchNormGradOp) SetInput(value *ir.Value)      { v.SetOperand(0, value) }
func (v BatchNormGradOp) Scale() *ir.Value              { return v.Operand(1) }
func (v BatchNormGradOp) SetScale(value *ir.Value)      { v.SetOperand(1, value) }
func (v BatchNormGradOp) Mean() *ir.Value               { return v.Operand(2) }
func (v BatchNormGradOp) SetMean(value *ir.Value)       { v.SetOperand(2, value) }
func (v BatchNormGradOp) Variance() *ir.Value           { return v.Operand(3) }
func (v BatchNormGradOp) SetVariance(value *ir.Value)   { v.SetOperand(3, value) }
func (v BatchNormGradOp) GradOutput() *ir.Value         { return v.Operand(4) }
func (v BatchNormGradOp) SetGradOutput(value *ir.Value) { v.SetOperand(4, value) }
func (v BatchNormGradOp) Epsilon() float64              { return view.Float(v.Attr("epsilon")) }
func (v BatchNormGradOp) SetEpsilon(value float64)      { view.Set(v.Op, "epsilon", value) }
func (v BatchNormGradOp) FeatureIndex() int64           { return view.Int(v.Attr("feature_index")) }
func (v BatchNormGradOp) SetFeatureIndex(value int64)   { view.Set(v.Op, "feature_index", value) }

// BatchNormGradAttrs are the attributes of stablehlo.batch_norm_grad. An optional attribute that is zero is left out.
type BatchNormGradAttrs struct {
	Epsilon      float64
	FeatureIndex int64
}

// BuildBatchNormGrad builds stablehlo.batch_norm_grad and infers its types.
func BuildBatchNormGrad(b *ir.Builder, operand *ir.Value, scale *ir.Value, mean *ir.Value, variance *ir.Value, gradOutput *ir.Value, a BatchNormGradAttrs) (BatchNormGradOp, error) {
	op, err := view.Build(b, BatchNormGrad, nil, []*ir.Value{operand, scale, mean, variance, gradOutput}, nil, a.Epsilon, a.FeatureIndex)
	return BatchNormGradOp{op}, err
}

// BatchNormInferenceOp is the view of stablehlo.batch_norm_inference, and of ops that mirror it. The op must have been verified.
type BatchNormInferenceOp struct{ *ir.Op }

// AsBatchNormInference returns the view of op; ok is false if op is of another kind.
func AsBatchNormInference(op *ir.Op) (v BatchNormInferenceOp, ok bool) {
	return BatchNormInferenceOp{op}, op != nil && op.IsOrMirrors(BatchNormInference)
}

// Operands, attributes and regions of stablehlo.batch_norm_inference, and setters of operands and attributes.
func (v BatchNormInferenceOp) Input() *ir.Value            { return v.Operand(0) }
func (v BatchNormInferenceOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v BatchNormInferenceOp) Scale() *ir.Value            { return v.Operand(1) }
func (v BatchNormInferenceOp) SetScale(value *ir.Value)    { v.SetOperand(1, value) }
func (v BatchNormInferenceOp) Offset() *ir.Value           { return v.Operand(2) }
func (v BatchNormInferenceOp) SetOffset(value *ir.Value)   { v.SetOperand(2, value) }
func (v BatchNormInferenceOp) Mean() *ir.Value             { return v.Operand(3) }
func (v BatchNormInferenceOp) SetMean(value *ir.Value)     { v.SetOperand(3, value) }
func (v BatchNormInferenceOp) Variance() *ir.Value         { return v.Operand(4) }
func (v BatchNormInferenceOp) SetVariance(value *ir.Value) { v.SetOperand(4, value) }
func (v BatchNormInferenceOp) Epsilon() float64            { return view.Float(v.Attr("epsilon")) }
func (v BatchNormInferenceOp) SetEpsilon(value float64)    { view.Set(v.Op, "epsilon", value) }
func (v BatchNormInferenceOp) FeatureIndex() int64         { return view.Int(v.Attr("feature_index")) }
func (v BatchNormInferenceOp) SetFeatureIndex(value int64) { view.Set(v.Op, "feature_index", value) }

// BatchNormInferenceAttrs are the attributes of stablehlo.batch_norm_inference. An optional attribute that is zero is left out.
type BatchNormInferenceAttrs struct {
	Epsilon      float64
	FeatureIndex int64
}

// BuildBatchNormInference builds stablehlo.batch_norm_inference and infers its types.
func BuildBatchNormInference(b *ir.Builder, operand *ir.Value, scale *ir.Value, offset *ir.Value, mean *ir.Value, variance *ir.Value, a BatchNormInferenceAttrs) (BatchNormInferenceOp, error) {
	op, err := view.Build(b, BatchNormInference, nil, []*ir.Value{operand, scale, offset, mean, variance}, nil, a.Epsilon, a.FeatureIndex)
	return BatchNormInferenceOp{op}, err
}

// BatchNormTrainingOp is the view of stablehlo.batch_norm_training, and of ops that mirror it. The op must have been verified.
type BatchNormTrainingOp struct{ *ir.Op }

// AsBatchNormTraining returns the view of op; ok is false if op is of another kind.
func AsBatchNormTraining(op *ir.Op) (v BatchNormTrainingOp, ok bool) {
	return BatchNormTrainingOp{op}, op != nil && op.IsOrMirrors(BatchNormTraining)
}

// Operands, attributes and regions of stablehlo.batch_norm_training, and setters of operands and attributes.
func (v BatchNormTrainingOp) Input() *ir.Value            { return v.Operand(0) }
func (v BatchNormTrainingOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v BatchNormTrainingOp) Scale() *ir.Value            { return v.Operand(1) }
func (v BatchNormTrainingOp) SetScale(value *ir.Value)    { v.SetOperand(1, value) }
func (v BatchNormTrainingOp) Offset() *ir.Value           { return v.Operand(2) }
func (v BatchNormTrainingOp) SetOffset(value *ir.Value)   { v.SetOperand(2, value) }
func (v BatchNormTrainingOp) Epsilon() float64            { return view.Float(v.Attr("epsilon")) }
func (v BatchNormTrainingOp) SetEpsilon(value float64)    { view.Set(v.Op, "epsilon", value) }
func (v BatchNormTrainingOp) FeatureIndex() int64         { return view.Int(v.Attr("feature_index")) }
func (v BatchNormTrainingOp) SetFeatureIndex(value int64) { view.Set(v.Op, "feature_index", value) }

// BatchNormTrainingAttrs are the attributes of stablehlo.batch_norm_training. An optional attribute that is zero is left out.
type BatchNormTrainingAttrs struct {
	Epsilon      float64
	FeatureIndex int64
}

// BuildBatchNormTraining builds stablehlo.batch_norm_training and infers its types.
func BuildBatchNormTraining(b *ir.Builder, operand *ir.Value, scale *ir.Value, offset *ir.Value, a BatchNormTrainingAttrs) (BatchNormTrainingOp, error) {
	op, err := view.Build(b, BatchNormTraining, nil, []*ir.Value{operand, scale, offset}, nil, a.Epsilon, a.FeatureIndex)
	return BatchNormTrainingOp{op}, err
}

// BitcastConvertOp is the view of stablehlo.bitcast_convert, and of ops that mirror it. The op must have been verified.
type BitcastConvertOp struct{ *ir.Op }

// AsBitcastConvert returns the view of op; ok is false if op is of another kind.
func AsBitcastConvert(op *ir.Op) (v BitcastConvertOp, ok bool) {
	return BitcastConvertOp{op}, op != nil && op.IsOrMirrors(BitcastConvert)
}

// Operands, attributes and regions of stablehlo.bitcast_convert, and setters of operands and attributes.
func (v BitcastConvertOp) Input() *ir.Value         { return v.Operand(0) }
func (v BitcastConvertOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildBitcastConvert builds stablehlo.bitcast_convert and checks its types.
func BuildBitcastConvert(b *ir.Builder, operand *ir.Value, result ir.Type) (BitcastConvertOp, error) {
	op, err := view.Build(b, BitcastConvert, []ir.Type{result}, []*ir.Value{operand}, nil)
	return BitcastConvertOp{op}, err
}

// BroadcastOp is the view of stablehlo.broadcast, and of ops that mirror it. The op must have been verified.
type BroadcastOp struct{ *ir.Op }

// AsBroadcast returns the view of op; ok is false if op is of another kind.
func AsBroadcast(op *ir.Op) (v BroadcastOp, ok bool) {
	return BroadcastOp{op}, op != nil && op.IsOrMirrors(Broadcast)
}

// Operands, attributes and regions of stablehlo.broadcast, and setters of operands and attributes.
func (v BroadcastOp) Input() *ir.Value                { return v.Operand(0) }
func (v BroadcastOp) SetInput(value *ir.Value)        { v.SetOperand(0, value) }
func (v BroadcastOp) BroadcastSizes() []int64         { return view.Ints(v.Attr("broadcast_sizes")) }
func (v BroadcastOp) SetBroadcastSizes(value []int64) { view.Set(v.Op, "broadcast_sizes", value) }

// BroadcastAttrs are the attributes of stablehlo.broadcast. An optional attribute that is zero is left out.
type BroadcastAttrs struct {
	BroadcastSizes []int64
}

// BuildBroadcast builds stablehlo.broadcast and infers its types.
func BuildBroadcast(b *ir.Builder, operand *ir.Value, a BroadcastAttrs) (BroadcastOp, error) {
	op, err := view.Build(b, Broadcast, nil, []*ir.Value{operand}, nil, a.BroadcastSizes)
	return BroadcastOp{op}, err
}

// BroadcastInDimOp is the view of stablehlo.broadcast_in_dim, and of ops that mirror it. The op must have been verified.
type BroadcastInDimOp struct{ *ir.Op }

// AsBroadcastInDim returns the view of op; ok is false if op is of another kind.
func AsBroadcastInDim(op *ir.Op) (v BroadcastInDimOp, ok bool) {
	return BroadcastInDimOp{op}, op != nil && op.IsOrMirrors(BroadcastInDim)
}

// Operands, attributes and regions of stablehlo.broadcast_in_dim, and setters of operands and attributes.
func (v BroadcastInDimOp) Input() *ir.Value         { return v.Operand(0) }
func (v BroadcastInDimOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastInDimOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastInDimOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastInDimAttrs are the attributes of stablehlo.broadcast_in_dim. An optional attribute that is zero is left out.
type BroadcastInDimAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastInDim builds stablehlo.broadcast_in_dim and checks its types.
func BuildBroadcastInDim(b *ir.Builder, operand *ir.Value, result ir.Type, a BroadcastInDimAttrs) (BroadcastInDimOp, error) {
	op, err := view.Build(b, BroadcastInDim, []ir.Type{result}, []*ir.Value{operand}, nil, a.BroadcastDimensions)
	return BroadcastInDimOp{op}, err
}

// CaseOp is the view of stablehlo.case, and of ops that mirror it. The op must have been verified.
type CaseOp struct{ *ir.Op }

// AsCase returns the view of op; ok is false if op is of another kind.
func AsCase(op *ir.Op) (v CaseOp, ok bool) { return CaseOp{op}, op != nil && op.IsOrMirrors(Case) }

// Operands, attributes and regions of stablehlo.case, and setters of operands and attributes.
func (v CaseOp) Index() *ir.Value         { return v.Operand(0) }
func (v CaseOp) SetIndex(value *ir.Value) { v.SetOperand(0, value) }
func (v CaseOp) Branches() []*ir.Region   { return v.Regions() }

// BuildCase builds stablehlo.case and infers its types.
func BuildCase(b *ir.Builder, index *ir.Value, branches []*ir.Region) (CaseOp, error) {
	op, err := view.Build(b, Case, nil, []*ir.Value{index}, branches)
	return CaseOp{op}, err
}

// CbrtOp is the view of stablehlo.cbrt, and of ops that mirror it. The op must have been verified.
type CbrtOp struct{ *ir.Op }

// AsCbrt returns the view of op; ok is false if op is of another kind.
func AsCbrt(op *ir.Op) (v CbrtOp, ok bool) { return CbrtOp{op}, op != nil && op.IsOrMirrors(Cbrt) }

// Operands, attributes and regions of stablehlo.cbrt, and setters of operands and attributes.
func (v CbrtOp) Input() *ir.Value         { return v.Operand(0) }
func (v CbrtOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v CbrtOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v CbrtOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// CbrtAttrs are the attributes of stablehlo.cbrt. An optional attribute that is zero is left out.
type CbrtAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildCbrt builds stablehlo.cbrt and infers its types.
func BuildCbrt(b *ir.Builder, operand *ir.Value, a CbrtAttrs) (CbrtOp, error) {
	op, err := view.Build(b, Cbrt, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return CbrtOp{op}, err
}

// CeilOp is the view of stablehlo.ceil, and of ops that mirror it. The op must have been verified.
type CeilOp struct{ *ir.Op }

// AsCeil returns the view of op; ok is false if op is of another kind.
func AsCeil(op *ir.Op) (v CeilOp, ok bool) { return CeilOp{op}, op != nil && op.IsOrMirrors(Ceil) }

// Operands, attributes and regions of stablehlo.ceil, and setters of operands and attributes.
func (v CeilOp) Input() *ir.Value         { return v.Operand(0) }
func (v CeilOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildCeil builds stablehlo.ceil and infers its types.
func BuildCeil(b *ir.Builder, operand *ir.Value) (CeilOp, error) {
	op, err := view.Build(b, Ceil, nil, []*ir.Value{operand}, nil)
	return CeilOp{op}, err
}

// CholeskyOp is the view of stablehlo.cholesky, and of ops that mirror it. The op must have been verified.
type CholeskyOp struct{ *ir.Op }

// AsCholesky returns the view of op; ok is false if op is of another kind.
func AsCholesky(op *ir.Op) (v CholeskyOp, ok bool) {
	return CholeskyOp{op}, op != nil && op.IsOrMirrors(Cholesky)
}

// Operands, attributes and regions of stablehlo.cholesky, and setters of operands and attributes.
func (v CholeskyOp) A() *ir.Value         { return v.Operand(0) }
func (v CholeskyOp) SetA(value *ir.Value) { v.SetOperand(0, value) }
func (v CholeskyOp) Lower() bool          { return view.Bool(v.Attr("lower")) }
func (v CholeskyOp) SetLower(value bool)  { view.Set(v.Op, "lower", value) }

// CholeskyAttrs are the attributes of stablehlo.cholesky. An optional attribute that is zero is left out.
type CholeskyAttrs struct {
	Lower bool
}

// BuildCholesky builds stablehlo.cholesky and infers its types.
func BuildCholesky(b *ir.Builder, a_ *ir.Value, a CholeskyAttrs) (CholeskyOp, error) {
	op, err := view.Build(b, Cholesky, nil, []*ir.Value{a_}, nil, a.Lower)
	return CholeskyOp{op}, err
}

// ClampOp is the view of stablehlo.clamp, and of ops that mirror it. The op must have been verified.
type ClampOp struct{ *ir.Op }

// AsClamp returns the view of op; ok is false if op is of another kind.
func AsClamp(op *ir.Op) (v ClampOp, ok bool) { return ClampOp{op}, op != nil && op.IsOrMirrors(Clamp) }

// Operands, attributes and regions of stablehlo.clamp, and setters of operands and attributes.
func (v ClampOp) Min() *ir.Value           { return v.Operand(0) }
func (v ClampOp) SetMin(value *ir.Value)   { v.SetOperand(0, value) }
func (v ClampOp) Input() *ir.Value         { return v.Operand(1) }
func (v ClampOp) SetInput(value *ir.Value) { v.SetOperand(1, value) }
func (v ClampOp) Max() *ir.Value           { return v.Operand(2) }
func (v ClampOp) SetMax(value *ir.Value)   { v.SetOperand(2, value) }

// BuildClamp builds stablehlo.clamp and infers its types.
func BuildClamp(b *ir.Builder, min *ir.Value, operand *ir.Value, max *ir.Value) (ClampOp, error) {
	op, err := view.Build(b, Clamp, nil, []*ir.Value{min, operand, max}, nil)
	return ClampOp{op}, err
}

// CollectiveBroadcastOp is the view of stablehlo.collective_broadcast, and of ops that mirror it. The op must have been verified.
type CollectiveBroadcastOp struct{ *ir.Op }

// AsCollectiveBroadcast returns the view of op; ok is false if op is of another kind.
func AsCollectiveBroadcast(op *ir.Op) (v CollectiveBroadcastOp, ok bool) {
	return CollectiveBroadcastOp{op}, op != nil && op.IsOrMirrors(CollectiveBroadcast)
}

// Operands, attributes and regions of stablehlo.collective_broadcast, and setters of operands and attributes.
func (v CollectiveBroadcastOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v CollectiveBroadcastOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v CollectiveBroadcastOp) ReplicaGroups() ir.Attr       { return v.Attr("replica_groups") }
func (v CollectiveBroadcastOp) SetReplicaGroups(value ir.Attr) {
	view.Set(v.Op, "replica_groups", value)
}
func (v CollectiveBroadcastOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v CollectiveBroadcastOp) SetChannelHandle(value *ChannelHandle) {
	view.Set(v.Op, "channel_handle", value)
}
func (v CollectiveBroadcastOp) HasDynamicRoot() bool { return view.Bool(v.Attr("has_dynamic_root")) }
func (v CollectiveBroadcastOp) SetHasDynamicRoot(value bool) {
	view.Set(v.Op, "has_dynamic_root", value)
}

// CollectiveBroadcastAttrs are the attributes of stablehlo.collective_broadcast. An optional attribute that is zero is left out.
type CollectiveBroadcastAttrs struct {
	ReplicaGroups  ir.Attr
	ChannelHandle  *ChannelHandle
	HasDynamicRoot bool
}

// BuildCollectiveBroadcast builds stablehlo.collective_broadcast and infers its types.
func BuildCollectiveBroadcast(b *ir.Builder, operands []*ir.Value, a CollectiveBroadcastAttrs) (CollectiveBroadcastOp, error) {
	op, err := view.Build(b, CollectiveBroadcast, nil, operands, nil, a.ReplicaGroups, a.ChannelHandle, a.HasDynamicRoot)
	return CollectiveBroadcastOp{op}, err
}

// CollectivePermuteOp is the view of stablehlo.collective_permute, and of ops that mirror it. The op must have been verified.
type CollectivePermuteOp struct{ *ir.Op }

// AsCollectivePermute returns the view of op; ok is false if op is of another kind.
func AsCollectivePermute(op *ir.Op) (v CollectivePermuteOp, ok bool) {
	return CollectivePermuteOp{op}, op != nil && op.IsOrMirrors(CollectivePermute)
}

// Operands, attributes and regions of stablehlo.collective_permute, and setters of operands and attributes.
func (v CollectivePermuteOp) Input() *ir.Value           { return v.Operand(0) }
func (v CollectivePermuteOp) SetInput(value *ir.Value)   { v.SetOperand(0, value) }
func (v CollectivePermuteOp) SourceTargetPairs() ir.Attr { return v.Attr("source_target_pairs") }
func (v CollectivePermuteOp) SetSourceTargetPairs(value ir.Attr) {
	view.Set(v.Op, "source_target_pairs", value)
}
func (v CollectivePermuteOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v CollectivePermuteOp) SetChannelHandle(value *ChannelHandle) {
	view.Set(v.Op, "channel_handle", value)
}

// CollectivePermuteAttrs are the attributes of stablehlo.collective_permute. An optional attribute that is zero is left out.
type CollectivePermuteAttrs struct {
	SourceTargetPairs ir.Attr
	ChannelHandle     *ChannelHandle
}

// BuildCollectivePermute builds stablehlo.collective_permute and infers its types.
func BuildCollectivePermute(b *ir.Builder, operand *ir.Value, a CollectivePermuteAttrs) (CollectivePermuteOp, error) {
	op, err := view.Build(b, CollectivePermute, nil, []*ir.Value{operand}, nil, a.SourceTargetPairs, a.ChannelHandle)
	return CollectivePermuteOp{op}, err
}

// CollectiveReduceOp is the view of stablehlo.collective_reduce, and of ops that mirror it. The op must have been verified.
type CollectiveReduceOp struct{ *ir.Op }

// AsCollectiveReduce returns the view of op; ok is false if op is of another kind.
func AsCollectiveReduce(op *ir.Op) (v CollectiveReduceOp, ok bool) {
	return CollectiveReduceOp{op}, op != nil && op.IsOrMirrors(CollectiveReduce)
}

// Operands, attributes and regions of stablehlo.collective_reduce, and setters of operands and attributes.
func (v CollectiveReduceOp) Inputs() []*ir.Value            { return v.OperandList() }
func (v CollectiveReduceOp) SetInputs(values []*ir.Value)   { v.SetOperands(values) }
func (v CollectiveReduceOp) ReplicaGroups() ir.Attr         { return v.Attr("replica_groups") }
func (v CollectiveReduceOp) SetReplicaGroups(value ir.Attr) { view.Set(v.Op, "replica_groups", value) }
func (v CollectiveReduceOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v CollectiveReduceOp) SetChannelHandle(value *ChannelHandle) {
	view.Set(v.Op, "channel_handle", value)
}
func (v CollectiveReduceOp) UseGlobalDeviceIDs() bool {
	return view.Bool(v.Attr("use_global_device_ids"))
}
func (v CollectiveReduceOp) SetUseGlobalDeviceIDs(value bool) {
	view.Set(v.Op, "use_global_device_ids", value)
}
func (v CollectiveReduceOp) HasDynamicRoot() bool         { return view.Bool(v.Attr("has_dynamic_root")) }
func (v CollectiveReduceOp) SetHasDynamicRoot(value bool) { view.Set(v.Op, "has_dynamic_root", value) }
func (v CollectiveReduceOp) Computation() *ir.Region      { return v.Region(0) }

// CollectiveReduceAttrs are the attributes of stablehlo.collective_reduce. An optional attribute that is zero is left out.
type CollectiveReduceAttrs struct {
	ReplicaGroups      ir.Attr
	ChannelHandle      *ChannelHandle
	UseGlobalDeviceIDs bool
	HasDynamicRoot     bool
}

// BuildCollectiveReduce builds stablehlo.collective_reduce and infers its types.
func BuildCollectiveReduce(b *ir.Builder, operands []*ir.Value, computation *ir.Region, a CollectiveReduceAttrs) (CollectiveReduceOp, error) {
	op, err := view.Build(b, CollectiveReduce, nil, operands, []*ir.Region{computation}, a.ReplicaGroups, a.ChannelHandle, a.UseGlobalDeviceIDs, a.HasDynamicRoot)
	return CollectiveReduceOp{op}, err
}

// CompareOp is the view of stablehlo.compare, and of ops that mirror it. The op must have been verified.
type CompareOp struct{ *ir.Op }

// AsCompare returns the view of op; ok is false if op is of another kind.
func AsCompare(op *ir.Op) (v CompareOp, ok bool) {
	return CompareOp{op}, op != nil && op.IsOrMirrors(Compare)
}

// Operands, attributes and regions of stablehlo.compare, and setters of operands and attributes.
func (v CompareOp) LHS() *ir.Value         { return v.Operand(0) }
func (v CompareOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v CompareOp) RHS() *ir.Value         { return v.Operand(1) }
func (v CompareOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v CompareOp) ComparisonDirection() ComparisonDirection {
	return view.Case[ComparisonDirection](v.Attr("comparison_direction"))
}
func (v CompareOp) SetComparisonDirection(value ComparisonDirection) {
	view.Set(v.Op, "comparison_direction", value)
}
func (v CompareOp) CompareType() ComparisonType {
	return view.Case[ComparisonType](v.Attr("compare_type"))
}
func (v CompareOp) SetCompareType(value ComparisonType) { view.Set(v.Op, "compare_type", value) }

// CompareAttrs are the attributes of stablehlo.compare. An optional attribute that is zero is left out.
type CompareAttrs struct {
	ComparisonDirection ComparisonDirection
	CompareType         ComparisonType
}

// BuildCompare builds stablehlo.compare and infers its types.
func BuildCompare(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a CompareAttrs) (CompareOp, error) {
	op, err := view.Build(b, Compare, nil, []*ir.Value{lhs, rhs}, nil, a.ComparisonDirection, a.CompareType)
	return CompareOp{op}, err
}

// ComplexOp is the view of stablehlo.complex, and of ops that mirror it. The op must have been verified.
type ComplexOp struct{ *ir.Op }

// AsComplex returns the view of op; ok is false if op is of another kind.
func AsComplex(op *ir.Op) (v ComplexOp, ok bool) {
	return ComplexOp{op}, op != nil && op.IsOrMirrors(Complex)
}

// Operands, attributes and regions of stablehlo.complex, and setters of operands and attributes.
func (v ComplexOp) LHS() *ir.Value         { return v.Operand(0) }
func (v ComplexOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v ComplexOp) RHS() *ir.Value         { return v.Operand(1) }
func (v ComplexOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildComplex builds stablehlo.complex and infers its types.
func BuildComplex(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (ComplexOp, error) {
	op, err := view.Build(b, Complex, nil, []*ir.Value{lhs, rhs}, nil)
	return ComplexOp{op}, err
}

// CompositeOp is the view of stablehlo.composite, and of ops that mirror it. The op must have been verified.
type CompositeOp struct{ *ir.Op }

// AsComposite returns the view of op; ok is false if op is of another kind.
func AsComposite(op *ir.Op) (v CompositeOp, ok bool) {
	return CompositeOp{op}, op != nil && op.IsOrMirrors(Composite)
}

// Operands, attributes and regions of stablehlo.composite, and setters of operands and attributes.
func (v CompositeOp) Inputs() []*ir.Value           { return v.OperandList() }
func (v CompositeOp) SetInputs(values []*ir.Value)  { v.SetOperands(values) }
func (v CompositeOp) CompositeName() string         { return view.String(v.Attr("name")) }
func (v CompositeOp) SetCompositeName(value string) { view.Set(v.Op, "name", value) }
func (v CompositeOp) CompositeAttributes() ir.Attr  { return v.Attr("composite_attributes") }
func (v CompositeOp) SetCompositeAttributes(value ir.Attr) {
	view.Set(v.Op, "composite_attributes", value)
}
func (v CompositeOp) Decomposition() string          { return view.Symbol(v.Attr("decomposition")) }
func (v CompositeOp) SetDecomposition(value string)  { view.Set(v.Op, "decomposition", value) }
func (v CompositeOp) Version() int64                 { return view.Int(v.Attr("version")) }
func (v CompositeOp) SetVersion(value int64)         { view.Set(v.Op, "version", value) }
func (v CompositeOp) CompositeRegions() []*ir.Region { return v.Regions() }

// CompositeAttrs are the attributes of stablehlo.composite. An optional attribute that is zero is left out.
type CompositeAttrs struct {
	Name                string
	CompositeAttributes ir.Attr
	Decomposition       string
	Version             int64
}

// BuildComposite builds stablehlo.composite and checks its types.
func BuildComposite(b *ir.Builder, inputs []*ir.Value, compositeRegions []*ir.Region, results []ir.Type, a CompositeAttrs) (CompositeOp, error) {
	op, err := view.Build(b, Composite, results, inputs, compositeRegions, a.Name, a.CompositeAttributes, a.Decomposition, a.Version)
	return CompositeOp{op}, err
}

// ConcatenateOp is the view of stablehlo.concatenate, and of ops that mirror it. The op must have been verified.
type ConcatenateOp struct{ *ir.Op }

// AsConcatenate returns the view of op; ok is false if op is of another kind.
func AsConcatenate(op *ir.Op) (v ConcatenateOp, ok bool) {
	return ConcatenateOp{op}, op != nil && op.IsOrMirrors(Concatenate)
}

// Operands, attributes and regions of stablehlo.concatenate, and setters of operands and attributes.
func (v ConcatenateOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v ConcatenateOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v ConcatenateOp) Dimension() int64             { return view.Int(v.Attr("dimension")) }
func (v ConcatenateOp) SetDimension(value int64)     { view.Set(v.Op, "dimension", value) }

// ConcatenateAttrs are the attributes of stablehlo.concatenate. An optional attribute that is zero is left out.
type ConcatenateAttrs struct {
	Dimension int64
}

// BuildConcatenate builds stablehlo.concatenate and infers its types.
func BuildConcatenate(b *ir.Builder, inputs []*ir.Value, a ConcatenateAttrs) (ConcatenateOp, error) {
	op, err := view.Build(b, Concatenate, nil, inputs, nil, a.Dimension)
	return ConcatenateOp{op}, err
}

// ConstantOp is the view of stablehlo.constant, and of ops that mirror it. The op must have been verified.
type ConstantOp struct{ *ir.Op }

// AsConstant returns the view of op; ok is false if op is of another kind.
func AsConstant(op *ir.Op) (v ConstantOp, ok bool) {
	return ConstantOp{op}, op != nil && op.IsOrMirrors(Constant)
}

// Operands, attributes and regions of stablehlo.constant, and setters of operands and attributes.
func (v ConstantOp) Value() ir.Attr         { return v.Attr("value") }
func (v ConstantOp) SetValue(value ir.Attr) { view.Set(v.Op, "value", value) }

// ConstantAttrs are the attributes of stablehlo.constant. An optional attribute that is zero is left out.
type ConstantAttrs struct {
	Value ir.Attr
}

// BuildConstant builds stablehlo.constant and infers its types.
func BuildConstant(b *ir.Builder, a ConstantAttrs) (ConstantOp, error) {
	op, err := view.Build(b, Constant, nil, nil, nil, a.Value)
	return ConstantOp{op}, err
}

// ConvertOp is the view of stablehlo.convert, and of ops that mirror it. The op must have been verified.
type ConvertOp struct{ *ir.Op }

// AsConvert returns the view of op; ok is false if op is of another kind.
func AsConvert(op *ir.Op) (v ConvertOp, ok bool) {
	return ConvertOp{op}, op != nil && op.IsOrMirrors(Convert)
}

// Operands, attributes and regions of stablehlo.convert, and setters of operands and attributes.
func (v ConvertOp) Input() *ir.Value         { return v.Operand(0) }
func (v ConvertOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildConvert builds stablehlo.convert and checks its types.
func BuildConvert(b *ir.Builder, operand *ir.Value, result ir.Type) (ConvertOp, error) {
	op, err := view.Build(b, Convert, []ir.Type{result}, []*ir.Value{operand}, nil)
	return ConvertOp{op}, err
}

// ConvolutionOp is the view of stablehlo.convolution, and of ops that mirror it. The op must have been verified.
type ConvolutionOp struct{ *ir.Op }

// AsConvolution returns the view of op; ok is false if op is of another kind.
func AsConvolution(op *ir.Op) (v ConvolutionOp, ok bool) {
	return ConvolutionOp{op}, op != nil && op.IsOrMirrors(Convolution)
}

// Operands, attributes and regions of stablehlo.convolution, and setters of operands and attributes.
func (v ConvolutionOp) LHS() *ir.Value                 { return v.Operand(0) }
func (v ConvolutionOp) SetLHS(value *ir.Value)         { v.SetOperand(0, value) }
func (v ConvolutionOp) RHS() *ir.Value                 { return v.Operand(1) }
func (v ConvolutionOp) SetRHS(value *ir.Value)         { v.SetOperand(1, value) }
func (v ConvolutionOp) WindowStrides() []int64         { return view.Ints(v.Attr("window_strides")) }
func (v ConvolutionOp) SetWindowStrides(value []int64) { view.Set(v.Op, "window_strides", value) }
func (v ConvolutionOp) Padding() ir.Attr               { return v.Attr("padding") }
func (v ConvolutionOp) SetPadding(value ir.Attr)       { view.Set(v.Op, "padding", value) }
func (v ConvolutionOp) LHSDilation() []int64           { return view.Ints(v.Attr("lhs_dilation")) }
func (v ConvolutionOp) SetLHSDilation(value []int64)   { view.Set(v.Op, "lhs_dilation", value) }
func (v ConvolutionOp) RHSDilation() []int64           { return view.Ints(v.Attr("rhs_dilation")) }
func (v ConvolutionOp) SetRHSDilation(value []int64)   { view.Set(v.Op, "rhs_dilation", value) }
func (v ConvolutionOp) WindowReversal() []bool         { return view.Bools(v.Attr("window_reversal")) }
func (v ConvolutionOp) SetWindowReversal(value []bool) { view.Set(v.Op, "window_reversal", value) }
func (v ConvolutionOp) Dims() *ConvDims                { return view.Data[ConvDims](v.Attr("dimension_numbers")) }
func (v ConvolutionOp) SetDims(value *ConvDims)        { view.Set(v.Op, "dimension_numbers", value) }
func (v ConvolutionOp) FeatureGroupCount() int64       { return view.Int(v.Attr("feature_group_count")) }
func (v ConvolutionOp) SetFeatureGroupCount(value int64) {
	view.Set(v.Op, "feature_group_count", value)
}
func (v ConvolutionOp) BatchGroupCount() int64         { return view.Int(v.Attr("batch_group_count")) }
func (v ConvolutionOp) SetBatchGroupCount(value int64) { view.Set(v.Op, "batch_group_count", value) }
func (v ConvolutionOp) PrecisionConfig() []Precision {
	return view.List(v.Attr("precision_config"), view.Case[Precision])
}
func (v ConvolutionOp) SetPrecisionConfig(value []Precision) {
	view.Set(v.Op, "precision_config", value)
}

// ConvolutionAttrs are the attributes of stablehlo.convolution. An optional attribute that is zero is left out.
type ConvolutionAttrs struct {
	WindowStrides     []int64
	Padding           ir.Attr
	LHSDilation       []int64
	RHSDilation       []int64
	WindowReversal    []bool
	Dims              *ConvDims
	FeatureGroupCount int64
	BatchGroupCount   int64
	PrecisionConfig   []Precision
}

// BuildConvolution builds stablehlo.convolution and checks its types.
func BuildConvolution(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, result ir.Type, a ConvolutionAttrs) (ConvolutionOp, error) {
	op, err := view.Build(b, Convolution, []ir.Type{result}, []*ir.Value{lhs, rhs}, nil, a.WindowStrides, a.Padding, a.LHSDilation, a.RHSDilation, a.WindowReversal, a.Dims, a.FeatureGroupCount, a.BatchGroupCount, a.PrecisionConfig)
	return ConvolutionOp{op}, err
}

// CosineOp is the view of stablehlo.cosine, and of ops that mirror it. The op must have been verified.
type CosineOp struct{ *ir.Op }

// AsCosine returns the view of op; ok is false if op is of another kind.
func AsCosine(op *ir.Op) (v CosineOp, ok bool) {
	return CosineOp{op}, op != nil && op.IsOrMirrors(Cosine)
}

// Operands, attributes and regions of stablehlo.cosine, and setters of operands and attributes.
func (v CosineOp) Input() *ir.Value         { return v.Operand(0) }
func (v CosineOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v CosineOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v CosineOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// CosineAttrs are the attributes of stablehlo.cosine. An optional attribute that is zero is left out.
type CosineAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildCosine builds stablehlo.cosine and infers its types.
func BuildCosine(b *ir.Builder, operand *ir.Value, a CosineAttrs) (CosineOp, error) {
	op, err := view.Build(b, Cosine, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return CosineOp{op}, err
}

// CountLeadingZerosOp is the view of stablehlo.count_leading_zeros, and of ops that mirror it. The op must have been verified.
type CountLeadingZerosOp struct{ *ir.Op }

// AsCountLeadingZeros returns the view of op; ok is false if op is of another kind.
func AsCountLeadingZeros(op *ir.Op) (v CountLeadingZerosOp, ok bool) {
	return CountLeadingZerosOp{op}, op != nil && op.IsOrMirrors(CountLeadingZeros)
}

// Operands, attributes and regions of stablehlo.count_leading_zeros, and setters of operands and attributes.
func (v CountLeadingZerosOp) Input() *ir.Value         { return v.Operand(0) }
func (v CountLeadingZerosOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildCountLeadingZeros builds stablehlo.count_leading_zeros and infers its types.
func BuildCountLeadingZeros(b *ir.Builder, operand *ir.Value) (CountLeadingZerosOp, error) {
	op, err := view.Build(b, CountLeadingZeros, nil, []*ir.Value{operand}, nil)
	return CountLeadingZerosOp{op}, err
}

// CreateTokenOp is the view of stablehlo.create_token, and of ops that mirror it. The op must have been verified.
type CreateTokenOp struct{ *ir.Op }

// AsCreateToken returns the view of op; ok is false if op is of another kind.
func AsCreateToken(op *ir.Op) (v CreateTokenOp, ok bool) {
	return CreateTokenOp{op}, op != nil && op.IsOrMirrors(CreateToken)
}

// BuildCreateToken builds stablehlo.create_token and infers its types.
func BuildCreateToken(b *ir.Builder) (CreateTokenOp, error) {
	op, err := view.Build(b, CreateToken, nil, nil, nil)
	return CreateTokenOp{op}, err
}

// CrossReplicaSumOp is the view of stablehlo.cross-replica-sum, and of ops that mirror it. The op must have been verified.
type CrossReplicaSumOp struct{ *ir.Op }

// AsCrossReplicaSum returns the view of op; ok is false if op is of another kind.
func AsCrossReplicaSum(op *ir.Op) (v CrossReplicaSumOp, ok bool) {
	return CrossReplicaSumOp{op}, op != nil && op.IsOrMirrors(CrossReplicaSum)
}

// Operands, attributes and regions of stablehlo.cross-replica-sum, and setters of operands and attributes.
func (v CrossReplicaSumOp) Input() *ir.Value               { return v.Operand(0) }
func (v CrossReplicaSumOp) SetInput(value *ir.Value)       { v.SetOperand(0, value) }
func (v CrossReplicaSumOp) ReplicaGroups() ir.Attr         { return v.Attr("replica_groups") }
func (v CrossReplicaSumOp) SetReplicaGroups(value ir.Attr) { view.Set(v.Op, "replica_groups", value) }

// CrossReplicaSumAttrs are the attributes of stablehlo.cross-replica-sum. An optional attribute that is zero is left out.
type CrossReplicaSumAttrs struct {
	ReplicaGroups ir.Attr
}

// BuildCrossReplicaSum builds stablehlo.cross-replica-sum and infers its types.
func BuildCrossReplicaSum(b *ir.Builder, operand *ir.Value, a CrossReplicaSumAttrs) (CrossReplicaSumOp, error) {
	op, err := view.Build(b, CrossReplicaSum, nil, []*ir.Value{operand}, nil, a.ReplicaGroups)
	return CrossReplicaSumOp{op}, err
}

// CustomCallOp is the view of stablehlo.custom_call, and of ops that mirror it. The op must have been verified.
type CustomCallOp struct{ *ir.Op }

// AsCustomCall returns the view of op; ok is false if op is of another kind.
func AsCustomCall(op *ir.Op) (v CustomCallOp, ok bool) {
	return CustomCallOp{op}, op != nil && op.IsOrMirrors(CustomCall)
}

// Operands, attributes and regions of stablehlo.custom_call, and setters of operands and attributes.
func (v CustomCallOp) Inputs() []*ir.Value            { return v.OperandList() }
func (v CustomCallOp) SetInputs(values []*ir.Value)   { v.SetOperands(values) }
func (v CustomCallOp) CallTargetName() string         { return view.String(v.Attr("call_target_name")) }
func (v CustomCallOp) SetCallTargetName(value string) { view.Set(v.Op, "call_target_name", value) }
func (v CustomCallOp) HasSideEffect() bool            { return view.Bool(v.Attr("has_side_effect")) }
func (v CustomCallOp) SetHasSideEffect(value bool)    { view.Set(v.Op, "has_side_effect", value) }
func (v CustomCallOp) BackendConfig() ir.Attr         { return v.Attr("backend_config") }
func (v CustomCallOp) SetBackendConfig(value ir.Attr) { view.Set(v.Op, "backend_config", value) }
func (v CustomCallOp) APIVersion() int64              { return view.IntOr(v.Attr("api_version"), 1) }
func (v CustomCallOp) SetAPIVersion(value *int64)     { view.Set(v.Op, "api_version", value) }
func (v CustomCallOp) CalledComputations() []string {
	return view.List(v.Attr("called_computations"), view.Symbol)
}
func (v CustomCallOp) SetCalledComputations(value []string) {
	view.Set(v.Op, "called_computations", value)
}
func (v CustomCallOp) OperandLayouts() []ir.Attr {
	return view.List(v.Attr("operand_layouts"), view.Attr)
}
func (v CustomCallOp) SetOperandLayouts(value ir.Attr) { view.Set(v.Op, "operand_layouts", value) }
func (v CustomCallOp) ResultLayouts() []ir.Attr {
	return view.List(v.Attr("result_layouts"), view.Attr)
}
func (v CustomCallOp) SetResultLayouts(value ir.Attr) { view.Set(v.Op, "result_layouts", value) }
func (v CustomCallOp) OutputOperandAliases() []*OutputOperandAlias {
	return view.List(v.Attr("output_operand_aliases"), view.Data[OutputOperandAlias])
}
func (v CustomCallOp) SetOutputOperandAliases(value []*OutputOperandAlias) {
	view.Set(v.Op, "output_operand_aliases", value)
}
func (v CustomCallOp) ResultTilings() []ir.Attr {
	return view.List(v.Attr("result_tilings"), view.Attr)
}
func (v CustomCallOp) SetResultTilings(value ir.Attr) { view.Set(v.Op, "result_tilings", value) }

// CustomCallAttrs are the attributes of stablehlo.custom_call. An optional attribute that is zero is left out.
type CustomCallAttrs struct {
	CallTargetName       string
	HasSideEffect        bool
	BackendConfig        ir.Attr
	APIVersion           *int64
	CalledComputations   []string
	OperandLayouts       ir.Attr
	ResultLayouts        ir.Attr
	OutputOperandAliases []*OutputOperandAlias
	ResultTilings        ir.Attr
}

// BuildCustomCall builds stablehlo.custom_call and checks its types.
func BuildCustomCall(b *ir.Builder, inputs []*ir.Value, results []ir.Type, a CustomCallAttrs) (CustomCallOp, error) {
	op, err := view.Build(b, CustomCall, results, inputs, nil, a.CallTargetName, a.HasSideEffect, a.BackendConfig, a.APIVersion, a.CalledComputations, a.OperandLayouts, a.ResultLayouts, a.OutputOperandAliases, a.ResultTilings)
	return CustomCallOp{op}, err
}

// DivideOp is the view of stablehlo.divide, and of ops that mirror it. The op must have been verified.
type DivideOp struct{ *ir.Op }

// AsDivide returns the view of op; ok is false if op is of another kind.
func AsDivide(op *ir.Op) (v DivideOp, ok bool) {
	return DivideOp{op}, op != nil && op.IsOrMirrors(Divide)
}

// Operands, attributes and regions of stablehlo.divide, and setters of operands and attributes.
func (v DivideOp) LHS() *ir.Value         { return v.Operand(0) }
func (v DivideOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v DivideOp) RHS() *ir.Value         { return v.Operand(1) }
func (v DivideOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildDivide builds stablehlo.divide and infers its types.
func BuildDivide(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (DivideOp, error) {
	op, err := view.Build(b, Divide, nil, []*ir.Value{lhs, rhs}, nil)
	return DivideOp{op}, err
}

// DotOp is the view of stablehlo.dot, and of ops that mirror it. The op must have been verified.
type DotOp struct{ *ir.Op }

// AsDot returns the view of op; ok is false if op is of another kind.
func AsDot(op *ir.Op) (v DotOp, ok bool) { return DotOp{op}, op != nil && op.IsOrMirrors(Dot) }

// Operands, attributes and regions of stablehlo.dot, and setters of operands and attributes.
func (v DotOp) LHS() *ir.Value         { return v.Operand(0) }
func (v DotOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v DotOp) RHS() *ir.Value         { return v.Operand(1) }
func (v DotOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v DotOp) PrecisionConfig() []Precision {
	return view.List(v.Attr("precision_config"), view.Case[Precision])
}
func (v DotOp) SetPrecisionConfig(value []Precision) { view.Set(v.Op, "precision_config", value) }

// DotAttrs are the attributes of stablehlo.dot. An optional attribute that is zero is left out.
type DotAttrs struct {
	PrecisionConfig []Precision
}

// BuildDot builds stablehlo.dot and checks its types.
func BuildDot(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, result ir.Type, a DotAttrs) (DotOp, error) {
	op, err := view.Build(b, Dot, []ir.Type{result}, []*ir.Value{lhs, rhs}, nil, a.PrecisionConfig)
	return DotOp{op}, err
}

// DotGeneralOp is the view of stablehlo.dot_general, and of ops that mirror it. The op must have been verified.
type DotGeneralOp struct{ *ir.Op }

// AsDotGeneral returns the view of op; ok is false if op is of another kind.
func AsDotGeneral(op *ir.Op) (v DotGeneralOp, ok bool) {
	return DotGeneralOp{op}, op != nil && op.IsOrMirrors(DotGeneral)
}

// Operands, attributes and regions of stablehlo.dot_general, and setters of operands and attributes.
func (v DotGeneralOp) LHS() *ir.Value         { return v.Operand(0) }
func (v DotGeneralOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v DotGeneralOp) RHS() *ir.Value         { return v.Operand(1) }
func (v DotGeneralOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v DotGeneralOp) Dims() *DotDims         { return view.Data[DotDims](v.Attr("dot_dimension_numbers")) }
func (v DotGeneralOp) SetDims(value *DotDims) { view.Set(v.Op, "dot_dimension_numbers", value) }
func (v DotGeneralOp) PrecisionConfig() []Precision {
	return view.List(v.Attr("precision_config"), view.Case[Precision])
}
func (v DotGeneralOp) SetPrecisionConfig(value []Precision) {
	view.Set(v.Op, "precision_config", value)
}
func (v DotGeneralOp) Algorithm() *DotAlgorithm         { return view.Data[DotAlgorithm](v.Attr("algorithm")) }
func (v DotGeneralOp) SetAlgorithm(value *DotAlgorithm) { view.Set(v.Op, "algorithm", value) }

// DotGeneralAttrs are the attributes of stablehlo.dot_general. An optional attribute that is zero is left out.
type DotGeneralAttrs struct {
	Dims            *DotDims
	PrecisionConfig []Precision
	Algorithm       *DotAlgorithm
}

// BuildDotGeneral builds stablehlo.dot_general and checks its types.
func BuildDotGeneral(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, result ir.Type, a DotGeneralAttrs) (DotGeneralOp, error) {
	op, err := view.Build(b, DotGeneral, []ir.Type{result}, []*ir.Value{lhs, rhs}, nil, a.Dims, a.PrecisionConfig, a.Algorithm)
	return DotGeneralOp{op}, err
}

// DynamicBroadcastInDimOp is the view of stablehlo.dynamic_broadcast_in_dim, and of ops that mirror it. The op must have been verified.
type DynamicBroadcastInDimOp struct{ *ir.Op }

// AsDynamicBroadcastInDim returns the view of op; ok is false if op is of another kind.
func AsDynamicBroadcastInDim(op *ir.Op) (v DynamicBroadcastInDimOp, ok bool) {
	return DynamicBroadcastInDimOp{op}, op != nil && op.IsOrMirrors(DynamicBroadcastInDim)
}

// Operands, attributes and regions of stablehlo.dynamic_broadcast_in_dim, and setters of operands and attributes.
func (v DynamicBroadcastInDimOp) Input() *ir.Value                    { return v.Operand(0) }
func (v DynamicBroadcastInDimOp) SetInput(value *ir.Value)            { v.SetOperand(0, value) }
func (v DynamicBroadcastInDimOp) OutputDimensions() *ir.Value         { return v.Operand(1) }
func (v DynamicBroadcastInDimOp) SetOutputDimensions(value *ir.Value) { v.SetOperand(1, value) }
func (v DynamicBroadcastInDimOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v DynamicBroadcastInDimOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}
func (v DynamicBroadcastInDimOp) KnownExpandingDimensions() []int64 {
	return view.Ints(v.Attr("known_expanding_dimensions"))
}
func (v DynamicBroadcastInDimOp) SetKnownExpandingDimensions(value []int64) {
	view.Set(v.Op, "known_expanding_dimensions", value)
}
func (v DynamicBroadcastInDimOp) KnownNonexpandingDimensions() []int64 {
	return view.Ints(v.Attr("known_nonexpanding_dimensions"))
}
func (v DynamicBroadcastInDimOp) SetKnownNonexpandingDimensions(value []int64) {
	view.Set(v.Op, "known_nonexpanding_dimensions", value)
}

// DynamicBroadcastInDimAttrs are the attributes of stablehlo.dynamic_broadcast_in_dim. An optional attribute that is zero is left out.
type DynamicBroadcastInDimAttrs struct {
	BroadcastDimensions         []int64
	KnownExpandingDimensions    []int64
	KnownNonexpandingDimensions []int64
}

// BuildDynamicBroadcastInDim builds stablehlo.dynamic_broadcast_in_dim and checks its types.
func BuildDynamicBroadcastInDim(b *ir.Builder, operand *ir.Value, outputDimensions *ir.Value, result ir.Type, a DynamicBroadcastInDimAttrs) (DynamicBroadcastInDimOp, error) {
	op, err := view.Build(b, DynamicBroadcastInDim, []ir.Type{result}, []*ir.Value{operand, outputDimensions}, nil, a.BroadcastDimensions, a.KnownExpandingDimensions, a.KnownNonexpandingDimensions)
	return DynamicBroadcastInDimOp{op}, err
}

// DynamicConvOp is the view of stablehlo.dynamic_conv, and of ops that mirror it. The op must have been verified.
type DynamicConvOp struct{ *ir.Op }

// AsDynamicConv returns the view of op; ok is false if op is of another kind.
func AsDynamicConv(op *ir.Op) (v DynamicConvOp, ok bool) {
	return DynamicConvOp{op}, op != nil && op.IsOrMirrors(DynamicConv)
}

// Operands, attributes and regions of stablehlo.dynamic_conv, and setters of operands and attributes.
func (v DynamicConvOp) LHS() *ir.Value                 { return v.Operand(0) }
func (v DynamicConvOp) SetLHS(value *ir.Value)         { v.SetOperand(0, value) }
func (v DynamicConvOp) RHS() *ir.Value                 { return v.Operand(1) }
func (v DynamicConvOp) SetRHS(value *ir.Value)         { v.SetOperand(1, value) }
func (v DynamicConvOp) Padding() *ir.Value             { return v.Operand(2) }
func (v DynamicConvOp) SetPadding(value *ir.Value)     { v.SetOperand(2, value) }
func (v DynamicConvOp) WindowStrides() []int64         { return view.Ints(v.Attr("window_strides")) }
func (v DynamicConvOp) SetWindowStrides(value []int64) { view.Set(v.Op, "window_strides", value) }
func (v DynamicConvOp) LHSDilation() []int64           { return view.Ints(v.Attr("lhs_dilation")) }
func (v DynamicConvOp) SetLHSDilation(value []int64)   { view.Set(v.Op, "lhs_dilation", value) }
func (v DynamicConvOp) RHSDilation() []int64           { return view.Ints(v.Attr("rhs_dilation")) }
func (v DynamicConvOp) SetRHSDilation(value []int64)   { view.Set(v.Op, "rhs_dilation", value) }
func (v DynamicConvOp) WindowReversal() []bool         { return view.Bools(v.Attr("window_reversal")) }
func (v DynamicConvOp) SetWindowReversal(value []bool) { view.Set(v.Op, "window_reversal", value) }
func (v DynamicConvOp) Dims() *ConvDims                { return view.Data[ConvDims](v.Attr("dimension_numbers")) }
func (v DynamicConvOp) SetDims(value *ConvDims)        { view.Set(v.Op, "dimension_numbers", value) }
func (v DynamicConvOp) FeatureGroupCount() int64       { return view.Int(v.Attr("feature_group_count")) }
func (v DynamicConvOp) SetFeatureGroupCount(value int64) {
	view.Set(v.Op, "feature_group_count", value)
}
func (v DynamicConvOp) BatchGroupCount() int64         { return view.Int(v.Attr("batch_group_count")) }
func (v DynamicConvOp) SetBatchGroupCount(value int64) { view.Set(v.Op, "batch_group_count", value) }
func (v DynamicConvOp) PrecisionConfig() []Precision {
	return view.List(v.Attr("precision_config"), view.Case[Precision])
}
func (v DynamicConvOp) SetPrecisionConfig(value []Precision) {
	view.Set(v.Op, "precision_config", value)
}

// DynamicConvAttrs are the attributes of stablehlo.dynamic_conv. An optional attribute that is zero is left out.
type DynamicConvAttrs struct {
	WindowStrides     []int64
	LHSDilation       []int64
	RHSDilation       []int64
	WindowReversal    []bool
	Dims              *ConvDims
	FeatureGroupCount int64
	BatchGroupCount   int64
	PrecisionConfig   []Precision
}

// BuildDynamicConv builds stablehlo.dynamic_conv and checks its types.
func BuildDynamicConv(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, padding *ir.Value, result ir.Type, a DynamicConvAttrs) (DynamicConvOp, error) {
	op, err := view.Build(b, DynamicConv, []ir.Type{result}, []*ir.Value{lhs, rhs, padding}, nil, a.WindowStrides, a.LHSDilation, a.RHSDilation, a.WindowReversal, a.Dims, a.FeatureGroupCount, a.BatchGroupCount, a.PrecisionConfig)
	return DynamicConvOp{op}, err
}

// DynamicGatherOp is the view of stablehlo.dynamic_gather, and of ops that mirror it. The op must have been verified.
type DynamicGatherOp struct{ *ir.Op }

// AsDynamicGather returns the view of op; ok is false if op is of another kind.
func AsDynamicGather(op *ir.Op) (v DynamicGatherOp, ok bool) {
	return DynamicGatherOp{op}, op != nil && op.IsOrMirrors(DynamicGather)
}

// Operands, attributes and regions of stablehlo.dynamic_gather, and setters of operands and attributes.
func (v DynamicGatherOp) Input() *ir.Value                { return v.Operand(0) }
func (v DynamicGatherOp) SetInput(value *ir.Value)        { v.SetOperand(0, value) }
func (v DynamicGatherOp) StartIndices() *ir.Value         { return v.Operand(1) }
func (v DynamicGatherOp) SetStartIndices(value *ir.Value) { v.SetOperand(1, value) }
func (v DynamicGatherOp) SliceSizes() *ir.Value           { return v.Operand(2) }
func (v DynamicGatherOp) SetSliceSizes(value *ir.Value)   { v.SetOperand(2, value) }
func (v DynamicGatherOp) Dims() *GatherDims {
	return view.Data[GatherDims](v.Attr("dimension_numbers"))
}
func (v DynamicGatherOp) SetDims(value *GatherDims)      { view.Set(v.Op, "dimension_numbers", value) }
func (v DynamicGatherOp) IndicesAreSorted() bool         { return view.Bool(v.Attr("indices_are_sorted")) }
func (v DynamicGatherOp) SetIndicesAreSorted(value bool) { view.Set(v.Op, "indices_are_sorted", value) }

// DynamicGatherAttrs are the attributes of stablehlo.dynamic_gather. An optional attribute that is zero is left out.
type DynamicGatherAttrs struct {
	Dims             *GatherDims
	IndicesAreSorted bool
}

// BuildDynamicGather builds stablehlo.dynamic_gather and infers its types.
func BuildDynamicGather(b *ir.Builder, operand *ir.Value, startIndices *ir.Value, sliceSizes *ir.Value, a DynamicGatherAttrs) (DynamicGatherOp, error) {
	op, err := view.Build(b, DynamicGather, nil, []*ir.Value{operand, startIndices, sliceSizes}, nil, a.Dims, a.IndicesAreSorted)
	return DynamicGatherOp{op}, err
}

// DynamicIotaOp is the view of stablehlo.dynamic_iota, and of ops that mirror it. The op must have been verified.
type DynamicIotaOp struct{ *ir.Op }

// AsDynamicIota returns the view of op; ok is false if op is of another kind.
func AsDynamicIota(op *ir.Op) (v DynamicIotaOp, ok bool) {
	return DynamicIotaOp{op}, op != nil && op.IsOrMirrors(DynamicIota)
}

// Operands, attributes and regions of stablehlo.dynamic_iota, and setters of operands and attributes.
func (v DynamicIotaOp) OutputShape() *ir.Value         { return v.Operand(0) }
func (v DynamicIotaOp) SetOutputShape(value *ir.Value) { v.SetOperand(0, value) }
func (v DynamicIotaOp) IotaDimension() int64           { return view.Int(v.Attr("iota_dimension")) }
func (v DynamicIotaOp) SetIotaDimension(value int64)   { view.Set(v.Op, "iota_dimension", value) }

// DynamicIotaAttrs are the attributes of stablehlo.dynamic_iota. An optional attribute that is zero is left out.
type DynamicIotaAttrs struct {
	IotaDimension int64
}

// BuildDynamicIota builds stablehlo.dynamic_iota and checks its types.
func BuildDynamicIota(b *ir.Builder, outputShape *ir.Value, result ir.Type, a DynamicIotaAttrs) (DynamicIotaOp, error) {
	op, err := view.Build(b, DynamicIota, []ir.Type{result}, []*ir.Value{outputShape}, nil, a.IotaDimension)
	return DynamicIotaOp{op}, err
}

// DynamicPadOp is the view of stablehlo.dynamic_pad, and of ops that mirror it. The op must have been verified.
type DynamicPadOp struct{ *ir.Op }

// AsDynamicPad returns the view of op; ok is false if op is of another kind.
func AsDynamicPad(op *ir.Op) (v DynamicPadOp, ok bool) {
	return DynamicPadOp{op}, op != nil && op.IsOrMirrors(DynamicPad)
}

// Operands, attributes and regions of stablehlo.dynamic_pad, and setters of operands and attributes.
func (v DynamicPadOp) Input() *ir.Value                   { return v.Operand(0) }
func (v DynamicPadOp) SetInput(value *ir.Value)           { v.SetOperand(0, value) }
func (v DynamicPadOp) PaddingValue() *ir.Value            { return v.Operand(1) }
func (v DynamicPadOp) SetPaddingValue(value *ir.Value)    { v.SetOperand(1, value) }
func (v DynamicPadOp) EdgePaddingLow() *ir.Value          { return v.Operand(2) }
func (v DynamicPadOp) SetEdgePaddingLow(value *ir.Value)  { v.SetOperand(2, value) }
func (v DynamicPadOp) EdgePaddingHigh() *ir.Value         { return v.Operand(3) }
func (v DynamicPadOp) SetEdgePaddingHigh(value *ir.Value) { v.SetOperand(3, value) }
func (v DynamicPadOp) InteriorPadding() *ir.Value         { return v.Operand(4) }
func (v DynamicPadOp) SetInteriorPadding(value *ir.Value) { v.SetOperand(4, value) }

// BuildDynamicPad builds stablehlo.dynamic_pad and checks its types.
func BuildDynamicPad(b *ir.Builder, operand *ir.Value, paddingValue *ir.Value, edgePaddingLow *ir.Value, edgePaddingHigh *ir.Value, interiorPadding *ir.Value, result ir.Type) (DynamicPadOp, error) {
	op, err := view.Build(b, DynamicPad, []ir.Type{result}, []*ir.Value{operand, paddingValue, edgePaddingLow, edgePaddingHigh, interiorPadding}, nil)
	return DynamicPadOp{op}, err
}

// DynamicReshapeOp is the view of stablehlo.dynamic_reshape, and of ops that mirror it. The op must have been verified.
type DynamicReshapeOp struct{ *ir.Op }

// AsDynamicReshape returns the view of op; ok is false if op is of another kind.
func AsDynamicReshape(op *ir.Op) (v DynamicReshapeOp, ok bool) {
	return DynamicReshapeOp{op}, op != nil && op.IsOrMirrors(DynamicReshape)
}

// Operands, attributes and regions of stablehlo.dynamic_reshape, and setters of operands and attributes.
func (v DynamicReshapeOp) Input() *ir.Value               { return v.Operand(0) }
func (v DynamicReshapeOp) SetInput(value *ir.Value)       { v.SetOperand(0, value) }
func (v DynamicReshapeOp) OutputShape() *ir.Value         { return v.Operand(1) }
func (v DynamicReshapeOp) SetOutputShape(value *ir.Value) { v.SetOperand(1, value) }

// BuildDynamicReshape builds stablehlo.dynamic_reshape and checks its types.
func BuildDynamicReshape(b *ir.Builder, operand *ir.Value, outputShape *ir.Value, result ir.Type) (DynamicReshapeOp, error) {
	op, err := view.Build(b, DynamicReshape, []ir.Type{result}, []*ir.Value{operand, outputShape}, nil)
	return DynamicReshapeOp{op}, err
}

// DynamicSliceOp is the view of stablehlo.dynamic_slice, and of ops that mirror it. The op must have been verified.
type DynamicSliceOp struct{ *ir.Op }

// AsDynamicSlice returns the view of op; ok is false if op is of another kind.
func AsDynamicSlice(op *ir.Op) (v DynamicSliceOp, ok bool) {
	return DynamicSliceOp{op}, op != nil && op.IsOrMirrors(DynamicSlice)
}

// Operands, attributes and regions of stablehlo.dynamic_slice, and setters of operands and attributes.
func (v DynamicSliceOp) Input() *ir.Value                   { return v.Operand(0) }
func (v DynamicSliceOp) SetInput(value *ir.Value)           { v.SetOperand(0, value) }
func (v DynamicSliceOp) StartIndices() []*ir.Value          { return view.Group(v.Op, 1) }
func (v DynamicSliceOp) SetStartIndices(values []*ir.Value) { view.SetGroup(v.Op, 1, values...) }
func (v DynamicSliceOp) SliceSizes() []int64                { return view.Ints(v.Attr("slice_sizes")) }
func (v DynamicSliceOp) SetSliceSizes(value []int64)        { view.Set(v.Op, "slice_sizes", value) }

// DynamicSliceAttrs are the attributes of stablehlo.dynamic_slice. An optional attribute that is zero is left out.
type DynamicSliceAttrs struct {
	SliceSizes []int64
}

// BuildDynamicSlice builds stablehlo.dynamic_slice and infers its types.
func BuildDynamicSlice(b *ir.Builder, operand *ir.Value, startIndices []*ir.Value, a DynamicSliceAttrs) (DynamicSliceOp, error) {
	op, err := view.Build(b, DynamicSlice, nil, view.Join([]*ir.Value{operand}, startIndices), nil, a.SliceSizes)
	return DynamicSliceOp{op}, err
}

// DynamicUpdateSliceOp is the view of stablehlo.dynamic_update_slice, and of ops that mirror it. The op must have been verified.
type DynamicUpdateSliceOp struct{ *ir.Op }

// AsDynamicUpdateSlice returns the view of op; ok is false if op is of another kind.
func AsDynamicUpdateSlice(op *ir.Op) (v DynamicUpdateSliceOp, ok bool) {
	return DynamicUpdateSliceOp{op}, op != nil && op.IsOrMirrors(DynamicUpdateSlice)
}

// Operands, attributes and regions of stablehlo.dynamic_update_slice, and setters of operands and attributes.
func (v DynamicUpdateSliceOp) Input() *ir.Value                   { return v.Operand(0) }
func (v DynamicUpdateSliceOp) SetInput(value *ir.Value)           { v.SetOperand(0, value) }
func (v DynamicUpdateSliceOp) Update() *ir.Value                  { return v.Operand(1) }
func (v DynamicUpdateSliceOp) SetUpdate(value *ir.Value)          { v.SetOperand(1, value) }
func (v DynamicUpdateSliceOp) StartIndices() []*ir.Value          { return view.Group(v.Op, 2) }
func (v DynamicUpdateSliceOp) SetStartIndices(values []*ir.Value) { view.SetGroup(v.Op, 2, values...) }

// BuildDynamicUpdateSlice builds stablehlo.dynamic_update_slice and infers its types.
func BuildDynamicUpdateSlice(b *ir.Builder, operand *ir.Value, update *ir.Value, startIndices []*ir.Value) (DynamicUpdateSliceOp, error) {
	op, err := view.Build(b, DynamicUpdateSlice, nil, view.Join([]*ir.Value{operand}, []*ir.Value{update}, startIndices), nil)
	return DynamicUpdateSliceOp{op}, err
}

// EinsumOp is the view of stablehlo.einsum, and of ops that mirror it. The op must have been verified.
type EinsumOp struct{ *ir.Op }

// AsEinsum returns the view of op; ok is false if op is of another kind.
func AsEinsum(op *ir.Op) (v EinsumOp, ok bool) {
	return EinsumOp{op}, op != nil && op.IsOrMirrors(Einsum)
}

// Operands, attributes and regions of stablehlo.einsum, and setters of operands and attributes.
func (v EinsumOp) LHS() *ir.Value               { return v.Operand(0) }
func (v EinsumOp) SetLHS(value *ir.Value)       { v.SetOperand(0, value) }
func (v EinsumOp) RHS() *ir.Value               { return v.Operand(1) }
func (v EinsumOp) SetRHS(value *ir.Value)       { v.SetOperand(1, value) }
func (v EinsumOp) EinsumConfig() string         { return view.String(v.Attr("einsum_config")) }
func (v EinsumOp) SetEinsumConfig(value string) { view.Set(v.Op, "einsum_config", value) }

// EinsumAttrs are the attributes of stablehlo.einsum. An optional attribute that is zero is left out.
type EinsumAttrs struct {
	EinsumConfig string
}

// BuildEinsum builds stablehlo.einsum and checks its types.
func BuildEinsum(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, result ir.Type, a EinsumAttrs) (EinsumOp, error) {
	op, err := view.Build(b, Einsum, []ir.Type{result}, []*ir.Value{lhs, rhs}, nil, a.EinsumConfig)
	return EinsumOp{op}, err
}

// ExponentialOp is the view of stablehlo.exponential, and of ops that mirror it. The op must have been verified.
type ExponentialOp struct{ *ir.Op }

// AsExponential returns the view of op; ok is false if op is of another kind.
func AsExponential(op *ir.Op) (v ExponentialOp, ok bool) {
	return ExponentialOp{op}, op != nil && op.IsOrMirrors(Exponential)
}

// Operands, attributes and regions of stablehlo.exponential, and setters of operands and attributes.
func (v ExponentialOp) Input() *ir.Value         { return v.Operand(0) }
func (v ExponentialOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v ExponentialOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v ExponentialOp) SetResultAccuracy(value *ResultAccuracy) {
	view.Set(v.Op, "result_accuracy", value)
}

// ExponentialAttrs are the attributes of stablehlo.exponential. An optional attribute that is zero is left out.
type ExponentialAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildExponential builds stablehlo.exponential and infers its types.
func BuildExponential(b *ir.Builder, operand *ir.Value, a ExponentialAttrs) (ExponentialOp, error) {
	op, err := view.Build(b, Exponential, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return ExponentialOp{op}, err
}

// ExponentialMinusOneOp is the view of stablehlo.exponential_minus_one, and of ops that mirror it. The op must have been verified.
type ExponentialMinusOneOp struct{ *ir.Op }

// AsExponentialMinusOne returns the view of op; ok is false if op is of another kind.
func AsExponentialMinusOne(op *ir.Op) (v ExponentialMinusOneOp, ok bool) {
	return ExponentialMinusOneOp{op}, op != nil && op.IsOrMirrors(ExponentialMinusOne)
}

// Operands, attributes and regions of stablehlo.exponential_minus_one, and setters of operands and attributes.
func (v ExponentialMinusOneOp) Input() *ir.Value         { return v.Operand(0) }
func (v ExponentialMinusOneOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v ExponentialMinusOneOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v ExponentialMinusOneOp) SetResultAccuracy(value *ResultAccuracy) {
	view.Set(v.Op, "result_accuracy", value)
}

// ExponentialMinusOneAttrs are the attributes of stablehlo.exponential_minus_one. An optional attribute that is zero is left out.
type ExponentialMinusOneAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildExponentialMinusOne builds stablehlo.exponential_minus_one and infers its types.
func BuildExponentialMinusOne(b *ir.Builder, operand *ir.Value, a ExponentialMinusOneAttrs) (ExponentialMinusOneOp, error) {
	op, err := view.Build(b, ExponentialMinusOne, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return ExponentialMinusOneOp{op}, err
}

// FftOp is the view of stablehlo.fft, and of ops that mirror it. The op must have been verified.
type FftOp struct{ *ir.Op }

// AsFft returns the view of op; ok is false if op is of another kind.
func AsFft(op *ir.Op) (v FftOp, ok bool) { return FftOp{op}, op != nil && op.IsOrMirrors(Fft) }

// Operands, attributes and regions of stablehlo.fft, and setters of operands and attributes.
func (v FftOp) Input() *ir.Value           { return v.Operand(0) }
func (v FftOp) SetInput(value *ir.Value)   { v.SetOperand(0, value) }
func (v FftOp) FftType() FftType           { return view.Case[FftType](v.Attr("fft_type")) }
func (v FftOp) SetFftType(value FftType)   { view.Set(v.Op, "fft_type", value) }
func (v FftOp) FftLength() []int64         { return view.Ints(v.Attr("fft_length")) }
func (v FftOp) SetFftLength(value []int64) { view.Set(v.Op, "fft_length", value) }

// FftAttrs are the attributes of stablehlo.fft. An optional attribute that is zero is left out.
type FftAttrs struct {
	FftType   FftType
	FftLength []int64
}

// BuildFft builds stablehlo.fft and infers its types.
func BuildFft(b *ir.Builder, operand *ir.Value, a FftAttrs) (FftOp, error) {
	op, err := view.Build(b, Fft, nil, []*ir.Value{operand}, nil, a.FftType, a.FftLength)
	return FftOp{op}, err
}

// FloorOp is the view of stablehlo.floor, and of ops that mirror it. The op must have been verified.
type FloorOp struct{ *ir.Op }

// AsFloor returns the view of op; ok is false if op is of another kind.
func AsFloor(op *ir.Op) (v FloorOp, ok bool) { return FloorOp{op}, op != nil && op.IsOrMirrors(Floor) }

// Operands, attributes and regions of stablehlo.floor, and setters of operands and attributes.
func (v FloorOp) Input() *ir.Value         { return v.Operand(0) }
func (v FloorOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildFloor builds stablehlo.floor and infers its types.
func BuildFloor(b *ir.Builder, operand *ir.Value) (FloorOp, error) {
	op, err := view.Build(b, Floor, nil, []*ir.Value{operand}, nil)
	return FloorOp{op}, err
}

// GatherOp is the view of stablehlo.gather, and of ops that mirror it. The op must have been verified.
type GatherOp struct{ *ir.Op }

// AsGather returns the view of op; ok is false if op is of another kind.
func AsGather(op *ir.Op) (v GatherOp, ok bool) {
	return GatherOp{op}, op != nil && op.IsOrMirrors(Gather)
}

// Operands, attributes and regions of stablehlo.gather, and setters of operands and attributes.
func (v GatherOp) Input() *ir.Value                { return v.Operand(0) }
func (v GatherOp) SetInput(value *ir.Value)        { v.SetOperand(0, value) }
func (v GatherOp) StartIndices() *ir.Value         { return v.Operand(1) }
func (v GatherOp) SetStartIndices(value *ir.Value) { v.SetOperand(1, value) }
func (v GatherOp) Dims() *GatherDims               { return view.Data[GatherDims](v.Attr("dimension_numbers")) }
func (v GatherOp) SetDims(value *GatherDims)       { view.Set(v.Op, "dimension_numbers", value) }
func (v GatherOp) SliceSizes() []int64             { return view.Ints(v.Attr("slice_sizes")) }
func (v GatherOp) SetSliceSizes(value []int64)     { view.Set(v.Op, "slice_sizes", value) }
func (v GatherOp) IndicesAreSorted() bool          { return view.Bool(v.Attr("indices_are_sorted")) }
func (v GatherOp) SetIndicesAreSorted(value bool)  { view.Set(v.Op, "indices_are_sorted", value) }

// GatherAttrs are the attributes of stablehlo.gather. An optional attribute that is zero is left out.
type GatherAttrs struct {
	Dims             *GatherDims
	SliceSizes       []int64
	IndicesAreSorted bool
}

// BuildGather builds stablehlo.gather and infers its types.
func BuildGather(b *ir.Builder, operand *ir.Value, startIndices *ir.Value, a GatherAttrs) (GatherOp, error) {
	op, err := view.Build(b, Gather, nil, []*ir.Value{operand, startIndices}, nil, a.Dims, a.SliceSizes, a.IndicesAreSorted)
	return GatherOp{op}, err
}

// GetDimensionSizeOp is the view of stablehlo.get_dimension_size, and of ops that mirror it. The op must have been verified.
type GetDimensionSizeOp struct{ *ir.Op }

// AsGetDimensionSize returns the view of op; ok is false if op is of another kind.
func AsGetDimensionSize(op *ir.Op) (v GetDimensionSizeOp, ok bool) {
	return GetDimensionSizeOp{op}, op != nil && op.IsOrMirrors(GetDimensionSize)
}

// Operands, attributes and regions of stablehlo.get_dimension_size, and setters of operands and attributes.
func (v GetDimensionSizeOp) Input() *ir.Value         { return v.Operand(0) }
func (v GetDimensionSizeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v GetDimensionSizeOp) Dimension() int64         { return view.Int(v.Attr("dimension")) }
func (v GetDimensionSizeOp) SetDimension(value int64) { view.Set(v.Op, "dimension", value) }

// GetDimensionSizeAttrs are the attributes of stablehlo.get_dimension_size. An optional attribute that is zero is left out.
type GetDimensionSizeAttrs struct {
	Dimension int64
}

// BuildGetDimensionSize builds stablehlo.get_dimension_size and infers its types.
func BuildGetDimensionSize(b *ir.Builder, operand *ir.Value, a GetDimensionSizeAttrs) (GetDimensionSizeOp, error) {
	op, err := view.Build(b, GetDimensionSize, nil, []*ir.Value{operand}, nil, a.Dimension)
	return GetDimensionSizeOp{op}, err
}

// GetTupleElementOp is the view of stablehlo.get_tuple_element, and of ops that mirror it. The op must have been verified.
type GetTupleElementOp struct{ *ir.Op }

// AsGetTupleElement returns the view of op; ok is false if op is of another kind.
func AsGetTupleElement(op *ir.Op) (v GetTupleElementOp, ok bool) {
	return GetTupleElementOp{op}, op != nil && op.IsOrMirrors(GetTupleElement)
}

// Operands, attributes and regions of stablehlo.get_tuple_element, and setters of operands and attributes.
func (v GetTupleElementOp) Input() *ir.Value         { return v.Operand(0) }
func (v GetTupleElementOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v GetTupleElementOp) Index() int64             { return view.Int(v.Attr("index")) }
func (v GetTupleElementOp) SetIndex(value int64)     { view.Set(v.Op, "index", value) }

// GetTupleElementAttrs are the attributes of stablehlo.get_tuple_element. An optional attribute that is zero is left out.
type GetTupleElementAttrs struct {
	Index int64
}

// BuildGetTupleElement builds stablehlo.get_tuple_element and infers its types.
func BuildGetTupleElement(b *ir.Builder, operand *ir.Value, a GetTupleElementAttrs) (GetTupleElementOp, error) {
	op, err := view.Build(b, GetTupleElement, nil, []*ir.Value{operand}, nil, a.Index)
	return GetTupleElementOp{op}, err
}

// IfOp is the view of stablehlo.if, and of ops that mirror it. The op must have been verified.
type IfOp struct{ *ir.Op }

// AsIf returns the view of op; ok is false if op is of another kind.
func AsIf(op *ir.Op) (v IfOp, ok bool) { return IfOp{op}, op != nil && op.IsOrMirrors(If) }

// Operands, attributes and regions of stablehlo.if, and setters of operands and attributes.
func (v IfOp) Pred() *ir.Value         { return v.Operand(0) }
func (v IfOp) SetPred(value *ir.Value) { v.SetOperand(0, value) }
func (v IfOp) TrueBranch() *ir.Region  { return v.Region(0) }
func (v IfOp) FalseBranch() *ir.Region { return v.Region(1) }

// BuildIf builds stablehlo.if and infers its types.
func BuildIf(b *ir.Builder, pred *ir.Value, trueBranch *ir.Region, falseBranch *ir.Region) (IfOp, error) {
	op, err := view.Build(b, If, nil, []*ir.Value{pred}, []*ir.Region{trueBranch, falseBranch})
	return IfOp{op}, err
}

// ImagOp is the view of stablehlo.imag, and of ops that mirror it. The op must have been verified.
type ImagOp struct{ *ir.Op }

// AsImag returns the view of op; ok is false if op is of another kind.
func AsImag(op *ir.Op) (v ImagOp, ok bool) { return ImagOp{op}, op != nil && op.IsOrMirrors(Imag) }

// Operands, attributes and regions of stablehlo.imag, and setters of operands and attributes.
func (v ImagOp) Input() *ir.Value         { return v.Operand(0) }
func (v ImagOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildImag builds stablehlo.imag and infers its types.
func BuildImag(b *ir.Builder, operand *ir.Value) (ImagOp, error) {
	op, err := view.Build(b, Imag, nil, []*ir.Value{operand}, nil)
	return ImagOp{op}, err
}

// InfeedOp is the view of stablehlo.infeed, and of ops that mirror it. The op must have been verified.
type InfeedOp struct{ *ir.Op }

// AsInfeed returns the view of op; ok is false if op is of another kind.
func AsInfeed(op *ir.Op) (v InfeedOp, ok bool) {
	return InfeedOp{op}, op != nil && op.IsOrMirrors(Infeed)
}

// Operands, attributes and regions of stablehlo.infeed, and setters of operands and attributes.
func (v InfeedOp) Token() *ir.Value             { return v.Operand(0) }
func (v InfeedOp) SetToken(value *ir.Value)     { v.SetOperand(0, value) }
func (v InfeedOp) InfeedConfig() string         { return view.String(v.Attr("infeed_config")) }
func (v InfeedOp) SetInfeedConfig(value string) { view.Set(v.Op, "infeed_config", value) }
func (v InfeedOp) Layout() []ir.Attr            { return view.List(v.Attr("layout"), view.Attr) }
func (v InfeedOp) SetLayout(value ir.Attr)      { view.Set(v.Op, "layout", value) }

// InfeedAttrs are the attributes of stablehlo.infeed. An optional attribute that is zero is left out.
type InfeedAttrs struct {
	InfeedConfig string
	Layout       ir.Attr
}

// BuildInfeed builds stablehlo.infeed and checks its types.
func BuildInfeed(b *ir.Builder, token *ir.Value, results []ir.Type, a InfeedAttrs) (InfeedOp, error) {
	op, err := view.Build(b, Infeed, results, []*ir.Value{token}, nil, a.InfeedConfig, a.Layout)
	return InfeedOp{op}, err
}

// IotaOp is the view of stablehlo.iota, and of ops that mirror it. The op must have been verified.
type IotaOp struct{ *ir.Op }

// AsIota returns the view of op; ok is false if op is of another kind.
func AsIota(op *ir.Op) (v IotaOp, ok bool) { return IotaOp{op}, op != nil && op.IsOrMirrors(Iota) }

// Operands, attributes and regions of stablehlo.iota, and setters of operands and attributes.
func (v IotaOp) IotaDimension() int64         { return view.Int(v.Attr("iota_dimension")) }
func (v IotaOp) SetIotaDimension(value int64) { view.Set(v.Op, "iota_dimension", value) }

// IotaAttrs are the attributes of stablehlo.iota. An optional attribute that is zero is left out.
type IotaAttrs struct {
	IotaDimension int64
}

// BuildIota builds stablehlo.iota and checks its types.
func BuildIota(b *ir.Builder, result ir.Type, a IotaAttrs) (IotaOp, error) {
	op, err := view.Build(b, Iota, []ir.Type{result}, nil, nil, a.IotaDimension)
	return IotaOp{op}, err
}

// IsFiniteOp is the view of stablehlo.is_finite, and of ops that mirror it. The op must have been verified.
type IsFiniteOp struct{ *ir.Op }

// AsIsFinite returns the view of op; ok is false if op is of another kind.
func AsIsFinite(op *ir.Op) (v IsFiniteOp, ok bool) {
	return IsFiniteOp{op}, op != nil && op.IsOrMirrors(IsFinite)
}

// Operands, attributes and regions of stablehlo.is_finite, and setters of operands and attributes.
func (v IsFiniteOp) X() *ir.Value         { return v.Operand(0) }
func (v IsFiniteOp) SetX(value *ir.Value) { v.SetOperand(0, value) }

// BuildIsFinite builds stablehlo.is_finite and infers its types.
func BuildIsFinite(b *ir.Builder, x *ir.Value) (IsFiniteOp, error) {
	op, err := view.Build(b, IsFinite, nil, []*ir.Value{x}, nil)
	return IsFiniteOp{op}, err
}

// LogOp is the view of stablehlo.log, and of ops that mirror it. The op must have been verified.
type LogOp struct{ *ir.Op }

// AsLog returns the view of op; ok is false if op is of another kind.
func AsLog(op *ir.Op) (v LogOp, ok bool) { return LogOp{op}, op != nil && op.IsOrMirrors(Log) }

// Operands, attributes and regions of stablehlo.log, and setters of operands and attributes.
func (v LogOp) Input() *ir.Value         { return v.Operand(0) }
func (v LogOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v LogOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v LogOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// LogAttrs are the attributes of stablehlo.log. An optional attribute that is zero is left out.
type LogAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildLog builds stablehlo.log and infers its types.
func BuildLog(b *ir.Builder, operand *ir.Value, a LogAttrs) (LogOp, error) {
	op, err := view.Build(b, Log, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return LogOp{op}, err
}

// LogPlusOneOp is the view of stablehlo.log_plus_one, and of ops that mirror it. The op must have been verified.
type LogPlusOneOp struct{ *ir.Op }

// AsLogPlusOne returns the view of op; ok is false if op is of another kind.
func AsLogPlusOne(op *ir.Op) (v LogPlusOneOp, ok bool) {
	return LogPlusOneOp{op}, op != nil && op.IsOrMirrors(LogPlusOne)
}

// Operands, attributes and regions of stablehlo.log_plus_one, and setters of operands and attributes.
func (v LogPlusOneOp) Input() *ir.Value         { return v.Operand(0) }
func (v LogPlusOneOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v LogPlusOneOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v LogPlusOneOp) SetResultAccuracy(value *ResultAccuracy) {
	view.Set(v.Op, "result_accuracy", value)
}

// LogPlusOneAttrs are the attributes of stablehlo.log_plus_one. An optional attribute that is zero is left out.
type LogPlusOneAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildLogPlusOne builds stablehlo.log_plus_one and infers its types.
func BuildLogPlusOne(b *ir.Builder, operand *ir.Value, a LogPlusOneAttrs) (LogPlusOneOp, error) {
	op, err := view.Build(b, LogPlusOne, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return LogPlusOneOp{op}, err
}

// LogisticOp is the view of stablehlo.logistic, and of ops that mirror it. The op must have been verified.
type LogisticOp struct{ *ir.Op }

// AsLogistic returns the view of op; ok is false if op is of another kind.
func AsLogistic(op *ir.Op) (v LogisticOp, ok bool) {
	return LogisticOp{op}, op != nil && op.IsOrMirrors(Logistic)
}

// Operands, attributes and regions of stablehlo.logistic, and setters of operands and attributes.
func (v LogisticOp) Input() *ir.Value         { return v.Operand(0) }
func (v LogisticOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v LogisticOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v LogisticOp) SetResultAccuracy(value *ResultAccuracy) {
	view.Set(v.Op, "result_accuracy", value)
}

// LogisticAttrs are the attributes of stablehlo.logistic. An optional attribute that is zero is left out.
type LogisticAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildLogistic builds stablehlo.logistic and infers its types.
func BuildLogistic(b *ir.Builder, operand *ir.Value, a LogisticAttrs) (LogisticOp, error) {
	op, err := view.Build(b, Logistic, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return LogisticOp{op}, err
}

// MapOp is the view of stablehlo.map, and of ops that mirror it. The op must have been verified.
type MapOp struct{ *ir.Op }

// AsMap returns the view of op; ok is false if op is of another kind.
func AsMap(op *ir.Op) (v MapOp, ok bool) { return MapOp{op}, op != nil && op.IsOrMirrors(Map) }

// Operands, attributes and regions of stablehlo.map, and setters of operands and attributes.
func (v MapOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v MapOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v MapOp) Dimensions() []int64          { return view.Ints(v.Attr("dimensions")) }
func (v MapOp) SetDimensions(value []int64)  { view.Set(v.Op, "dimensions", value) }
func (v MapOp) Computation() *ir.Region      { return v.Region(0) }

// MapAttrs are the attributes of stablehlo.map. An optional attribute that is zero is left out.
type MapAttrs struct {
	Dimensions []int64
}

// BuildMap builds stablehlo.map and infers its types.
func BuildMap(b *ir.Builder, inputs []*ir.Value, computation *ir.Region, a MapAttrs) (MapOp, error) {
	op, err := view.Build(b, Map, nil, inputs, []*ir.Region{computation}, a.Dimensions)
	return MapOp{op}, err
}

// MaximumOp is the view of stablehlo.maximum, and of ops that mirror it. The op must have been verified.
type MaximumOp struct{ *ir.Op }

// AsMaximum returns the view of op; ok is false if op is of another kind.
func AsMaximum(op *ir.Op) (v MaximumOp, ok bool) {
	return MaximumOp{op}, op != nil && op.IsOrMirrors(Maximum)
}

// Operands, attributes and regions of stablehlo.maximum, and setters of operands and attributes.
func (v MaximumOp) LHS() *ir.Value         { return v.Operand(0) }
func (v MaximumOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v MaximumOp) RHS() *ir.Value         { return v.Operand(1) }
func (v MaximumOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildMaximum builds stablehlo.maximum and infers its types.
func BuildMaximum(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (MaximumOp, error) {
	op, err := view.Build(b, Maximum, nil, []*ir.Value{lhs, rhs}, nil)
	return MaximumOp{op}, err
}

// MinimumOp is the view of stablehlo.minimum, and of ops that mirror it. The op must have been verified.
type MinimumOp struct{ *ir.Op }

// AsMinimum returns the view of op; ok is false if op is of another kind.
func AsMinimum(op *ir.Op) (v MinimumOp, ok bool) {
	return MinimumOp{op}, op != nil && op.IsOrMirrors(Minimum)
}

// Operands, attributes and regions of stablehlo.minimum, and setters of operands and attributes.
func (v MinimumOp) LHS() *ir.Value         { return v.Operand(0) }
func (v MinimumOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v MinimumOp) RHS() *ir.Value         { return v.Operand(1) }
func (v MinimumOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildMinimum builds stablehlo.minimum and infers its types.
func BuildMinimum(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (MinimumOp, error) {
	op, err := view.Build(b, Minimum, nil, []*ir.Value{lhs, rhs}, nil)
	return MinimumOp{op}, err
}

// MultiplyOp is the view of stablehlo.multiply, and of ops that mirror it. The op must have been verified.
type MultiplyOp struct{ *ir.Op }

// AsMultiply returns the view of op; ok is false if op is of another kind.
func AsMultiply(op *ir.Op) (v MultiplyOp, ok bool) {
	return MultiplyOp{op}, op != nil && op.IsOrMirrors(Multiply)
}

// Operands, attributes and regions of stablehlo.multiply, and setters of operands and attributes.
func (v MultiplyOp) LHS() *ir.Value         { return v.Operand(0) }
func (v MultiplyOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v MultiplyOp) RHS() *ir.Value         { return v.Operand(1) }
func (v MultiplyOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildMultiply builds stablehlo.multiply and infers its types.
func BuildMultiply(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (MultiplyOp, error) {
	op, err := view.Build(b, Multiply, nil, []*ir.Value{lhs, rhs}, nil)
	return MultiplyOp{op}, err
}

// NegateOp is the view of stablehlo.negate, and of ops that mirror it. The op must have been verified.
type NegateOp struct{ *ir.Op }

// AsNegate returns the view of op; ok is false if op is of another kind.
func AsNegate(op *ir.Op) (v NegateOp, ok bool) {
	return NegateOp{op}, op != nil && op.IsOrMirrors(Negate)
}

// Operands, attributes and regions of stablehlo.negate, and setters of operands and attributes.
func (v NegateOp) Input() *ir.Value         { return v.Operand(0) }
func (v NegateOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildNegate builds stablehlo.negate and infers its types.
func BuildNegate(b *ir.Builder, operand *ir.Value) (NegateOp, error) {
	op, err := view.Build(b, Negate, nil, []*ir.Value{operand}, nil)
	return NegateOp{op}, err
}

// NotOp is the view of stablehlo.not, and of ops that mirror it. The op must have been verified.
type NotOp struct{ *ir.Op }

// AsNot returns the view of op; ok is false if op is of another kind.
func AsNot(op *ir.Op) (v NotOp, ok bool) { return NotOp{op}, op != nil && op.IsOrMirrors(Not) }

// Operands, attributes and regions of stablehlo.not, and setters of operands and attributes.
func (v NotOp) Input() *ir.Value         { return v.Operand(0) }
func (v NotOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildNot builds stablehlo.not and infers its types.
func BuildNot(b *ir.Builder, operand *ir.Value) (NotOp, error) {
	op, err := view.Build(b, Not, nil, []*ir.Value{operand}, nil)
	return NotOp{op}, err
}

// OptimizationBarrierOp is the view of stablehlo.optimization_barrier, and of ops that mirror it. The op must have been verified.
type OptimizationBarrierOp struct{ *ir.Op }

// AsOptimizationBarrier returns the view of op; ok is false if op is of another kind.
func AsOptimizationBarrier(op *ir.Op) (v OptimizationBarrierOp, ok bool) {
	return OptimizationBarrierOp{op}, op != nil && op.IsOrMirrors(OptimizationBarrier)
}

// Operands, attributes and regions of stablehlo.optimization_barrier, and setters of operands and attributes.
func (v OptimizationBarrierOp) Input() []*ir.Value          { return v.OperandList() }
func (v OptimizationBarrierOp) SetInput(values []*ir.Value) { v.SetOperands(values) }

// BuildOptimizationBarrier builds stablehlo.optimization_barrier and infers its types.
func BuildOptimizationBarrier(b *ir.Builder, operand []*ir.Value) (OptimizationBarrierOp, error) {
	op, err := view.Build(b, OptimizationBarrier, nil, operand, nil)
	return OptimizationBarrierOp{op}, err
}

// OrOp is the view of stablehlo.or, and of ops that mirror it. The op must have been verified.
type OrOp struct{ *ir.Op }

// AsOr returns the view of op; ok is false if op is of another kind.
func AsOr(op *ir.Op) (v OrOp, ok bool) { return OrOp{op}, op != nil && op.IsOrMirrors(Or) }

// Operands, attributes and regions of stablehlo.or, and setters of operands and attributes.
func (v OrOp) LHS() *ir.Value         { return v.Operand(0) }
func (v OrOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v OrOp) RHS() *ir.Value         { return v.Operand(1) }
func (v OrOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildOr builds stablehlo.or and infers its types.
func BuildOr(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (OrOp, error) {
	op, err := view.Build(b, Or, nil, []*ir.Value{lhs, rhs}, nil)
	return OrOp{op}, err
}

// OutfeedOp is the view of stablehlo.outfeed, and of ops that mirror it. The op must have been verified.
type OutfeedOp struct{ *ir.Op }

// AsOutfeed returns the view of op; ok is false if op is of another kind.
func AsOutfeed(op *ir.Op) (v OutfeedOp, ok bool) {
	return OutfeedOp{op}, op != nil && op.IsOrMirrors(Outfeed)
}

// Operands, attributes and regions of stablehlo.outfeed, and setters of operands and attributes.
func (v OutfeedOp) Inputs() []*ir.Value           { return view.Group(v.Op, 0) }
func (v OutfeedOp) SetInputs(values []*ir.Value)  { view.SetGroup(v.Op, 0, values...) }
func (v OutfeedOp) Token() *ir.Value              { return view.Single(v.Op, 1) }
func (v OutfeedOp) SetToken(value *ir.Value)      { view.SetGroup(v.Op, 1, value) }
func (v OutfeedOp) OutfeedConfig() string         { return view.String(v.Attr("outfeed_config")) }
func (v OutfeedOp) SetOutfeedConfig(value string) { view.Set(v.Op, "outfeed_config", value) }

// OutfeedAttrs are the attributes of stablehlo.outfeed. An optional attribute that is zero is left out.
type OutfeedAttrs struct {
	OutfeedConfig string
}

// BuildOutfeed builds stablehlo.outfeed and infers its types.
func BuildOutfeed(b *ir.Builder, inputs []*ir.Value, token *ir.Value, a OutfeedAttrs) (OutfeedOp, error) {
	op, err := view.Build(b, Outfeed, nil, view.Join(inputs, []*ir.Value{token}), nil, a.OutfeedConfig)
	return OutfeedOp{op}, err
}

// PadOp is the view of stablehlo.pad, and of ops that mirror it. The op must have been verified.
type PadOp struct{ *ir.Op }

// AsPad returns the view of op; ok is false if op is of another kind.
func AsPad(op *ir.Op) (v PadOp, ok bool) { return PadOp{op}, op != nil && op.IsOrMirrors(Pad) }

// Operands, attributes and regions of stablehlo.pad, and setters of operands and attributes.
func (v PadOp) Input() *ir.Value                 { return v.Operand(0) }
func (v PadOp) SetInput(value *ir.Value)         { v.SetOperand(0, value) }
func (v PadOp) PaddingValue() *ir.Value          { return v.Operand(1) }
func (v PadOp) SetPaddingValue(value *ir.Value)  { v.SetOperand(1, value) }
func (v PadOp) EdgePaddingLow() []int64          { return view.Ints(v.Attr("edge_padding_low")) }
func (v PadOp) SetEdgePaddingLow(value []int64)  { view.Set(v.Op, "edge_padding_low", value) }
func (v PadOp) EdgePaddingHigh() []int64         { return view.Ints(v.Attr("edge_padding_high")) }
func (v PadOp) SetEdgePaddingHigh(value []int64) { view.Set(v.Op, "edge_padding_high", value) }
func (v PadOp) InteriorPadding() []int64         { return view.Ints(v.Attr("interior_padding")) }
func (v PadOp) SetInteriorPadding(value []int64) { view.Set(v.Op, "interior_padding", value) }

// PadAttrs are the attributes of stablehlo.pad. An optional attribute that is zero is left out.
type PadAttrs struct {
	EdgePaddingLow  []int64
	EdgePaddingHigh []int64
	InteriorPadding []int64
}

// BuildPad builds stablehlo.pad and infers its types.
func BuildPad(b *ir.Builder, operand *ir.Value, paddingValue *ir.Value, a PadAttrs) (PadOp, error) {
	op, err := view.Build(b, Pad, nil, []*ir.Value{operand, paddingValue}, nil, a.EdgePaddingLow, a.EdgePaddingHigh, a.InteriorPadding)
	return PadOp{op}, err
}

// PartitionIDOp is the view of stablehlo.partition_id, and of ops that mirror it. The op must have been verified.
type PartitionIDOp struct{ *ir.Op }

// AsPartitionID returns the view of op; ok is false if op is of another kind.
func AsPartitionID(op *ir.Op) (v PartitionIDOp, ok bool) {
	return PartitionIDOp{op}, op != nil && op.IsOrMirrors(PartitionID)
}

// BuildPartitionID builds stablehlo.partition_id and infers its types.
func BuildPartitionID(b *ir.Builder) (PartitionIDOp, error) {
	op, err := view.Build(b, PartitionID, nil, nil, nil)
	return PartitionIDOp{op}, err
}

// PopcntOp is the view of stablehlo.popcnt, and of ops that mirror it. The op must have been verified.
type PopcntOp struct{ *ir.Op }

// AsPopcnt returns the view of op; ok is false if op is of another kind.
func AsPopcnt(op *ir.Op) (v PopcntOp, ok bool) {
	return PopcntOp{op}, op != nil && op.IsOrMirrors(Popcnt)
}

// Operands, attributes and regions of stablehlo.popcnt, and setters of operands and attributes.
func (v PopcntOp) Input() *ir.Value         { return v.Operand(0) }
func (v PopcntOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildPopcnt builds stablehlo.popcnt and infers its types.
func BuildPopcnt(b *ir.Builder, operand *ir.Value) (PopcntOp, error) {
	op, err := view.Build(b, Popcnt, nil, []*ir.Value{operand}, nil)
	return PopcntOp{op}, err
}

// PowerOp is the view of stablehlo.power, and of ops that mirror it. The op must have been verified.
type PowerOp struct{ *ir.Op }

// AsPower returns the view of op; ok is false if op is of another kind.
func AsPower(op *ir.Op) (v PowerOp, ok bool) { return PowerOp{op}, op != nil && op.IsOrMirrors(Power) }

// Operands, attributes and regions of stablehlo.power, and setters of operands and attributes.
func (v PowerOp) LHS() *ir.Value         { return v.Operand(0) }
func (v PowerOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v PowerOp) RHS() *ir.Value         { return v.Operand(1) }
func (v PowerOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildPower builds stablehlo.power and infers its types.
func BuildPower(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (PowerOp, error) {
	op, err := view.Build(b, Power, nil, []*ir.Value{lhs, rhs}, nil)
	return PowerOp{op}, err
}

// RealOp is the view of stablehlo.real, and of ops that mirror it. The op must have been verified.
type RealOp struct{ *ir.Op }

// AsReal returns the view of op; ok is false if op is of another kind.
func AsReal(op *ir.Op) (v RealOp, ok bool) { return RealOp{op}, op != nil && op.IsOrMirrors(Real) }

// Operands, attributes and regions of stablehlo.real, and setters of operands and attributes.
func (v RealOp) Input() *ir.Value         { return v.Operand(0) }
func (v RealOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildReal builds stablehlo.real and infers its types.
func BuildReal(b *ir.Builder, operand *ir.Value) (RealOp, error) {
	op, err := view.Build(b, Real, nil, []*ir.Value{operand}, nil)
	return RealOp{op}, err
}

// RealDynamicSliceOp is the view of stablehlo.real_dynamic_slice, and of ops that mirror it. The op must have been verified.
type RealDynamicSliceOp struct{ *ir.Op }

// AsRealDynamicSlice returns the view of op; ok is false if op is of another kind.
func AsRealDynamicSlice(op *ir.Op) (v RealDynamicSliceOp, ok bool) {
	return RealDynamicSliceOp{op}, op != nil && op.IsOrMirrors(RealDynamicSlice)
}

// Operands, attributes and regions of stablehlo.real_dynamic_slice, and setters of operands and attributes.
func (v RealDynamicSliceOp) Input() *ir.Value                { return v.Operand(0) }
func (v RealDynamicSliceOp) SetInput(value *ir.Value)        { v.SetOperand(0, value) }
func (v RealDynamicSliceOp) StartIndices() *ir.Value         { return v.Operand(1) }
func (v RealDynamicSliceOp) SetStartIndices(value *ir.Value) { v.SetOperand(1, value) }
func (v RealDynamicSliceOp) LimitIndices() *ir.Value         { return v.Operand(2) }
func (v RealDynamicSliceOp) SetLimitIndices(value *ir.Value) { v.SetOperand(2, value) }
func (v RealDynamicSliceOp) Strides() *ir.Value              { return v.Operand(3) }
func (v RealDynamicSliceOp) SetStrides(value *ir.Value)      { v.SetOperand(3, value) }

// BuildRealDynamicSlice builds stablehlo.real_dynamic_slice and checks its types.
func BuildRealDynamicSlice(b *ir.Builder, operand *ir.Value, startIndices *ir.Value, limitIndices *ir.Value, strides *ir.Value, result ir.Type) (RealDynamicSliceOp, error) {
	op, err := view.Build(b, RealDynamicSlice, []ir.Type{result}, []*ir.Value{operand, startIndices, limitIndices, strides}, nil)
	return RealDynamicSliceOp{op}, err
}

// RecvOp is the view of stablehlo.recv, and of ops that mirror it. The op must have been verified.
type RecvOp struct{ *ir.Op }

// AsRecv returns the view of op; ok is false if op is of another kind.
func AsRecv(op *ir.Op) (v RecvOp, ok bool) { return RecvOp{op}, op != nil && op.IsOrMirrors(Recv) }

// Operands, attributes and regions of stablehlo.recv, and setters of operands and attributes.
func (v RecvOp) Token() *ir.Value         { return v.Operand(0) }
func (v RecvOp) SetToken(value *ir.Value) { v.SetOperand(0, value) }
func (v RecvOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v RecvOp) SetChannelHandle(value *ChannelHandle) { view.Set(v.Op, "channel_handle", value) }
func (v RecvOp) IsHostTransfer() bool                  { return view.Bool(v.Attr("is_host_transfer")) }
func (v RecvOp) SetIsHostTransfer(value bool)          { view.Set(v.Op, "is_host_transfer", value) }
func (v RecvOp) SourceTargetPairs() ir.Attr            { return v.Attr("source_target_pairs") }
func (v RecvOp) SetSourceTargetPairs(value ir.Attr)    { view.Set(v.Op, "source_target_pairs", value) }

// RecvAttrs are the attributes of stablehlo.recv. An optional attribute that is zero is left out.
type RecvAttrs struct {
	ChannelHandle     *ChannelHandle
	IsHostTransfer    bool
	SourceTargetPairs ir.Attr
}

// BuildRecv builds stablehlo.recv and checks its types.
func BuildRecv(b *ir.Builder, token *ir.Value, results []ir.Type, a RecvAttrs) (RecvOp, error) {
	op, err := view.Build(b, Recv, results, []*ir.Value{token}, nil, a.ChannelHandle, a.IsHostTransfer, a.SourceTargetPairs)
	return RecvOp{op}, err
}

// ReduceOp is the view of stablehlo.reduce, and of ops that mirror it. The op must have been verified.
type ReduceOp struct{ *ir.Op }

// AsReduce returns the view of op; ok is false if op is of another kind.
func AsReduce(op *ir.Op) (v ReduceOp, ok bool) {
	return ReduceOp{op}, op != nil && op.IsOrMirrors(Reduce)
}

// Operands, attributes and regions of stablehlo.reduce, and setters of operands and attributes.
func (v ReduceOp) Inputs() []*ir.Value              { return view.Group(v.Op, 0) }
func (v ReduceOp) SetInputs(values []*ir.Value)     { view.SetGroup(v.Op, 0, values...) }
func (v ReduceOp) InitValues() []*ir.Value          { return view.Group(v.Op, 1) }
func (v ReduceOp) SetInitValues(values []*ir.Value) { view.SetGroup(v.Op, 1, values...) }
func (v ReduceOp) Dimensions() []int64              { return view.Ints(v.Attr("dimensions")) }
func (v ReduceOp) SetDimensions(value []int64)      { view.Set(v.Op, "dimensions", value) }
func (v ReduceOp) Body() *ir.Region                 { return v.Region(0) }

// ReduceAttrs are the attributes of stablehlo.reduce. An optional attribute that is zero is left out.
type ReduceAttrs struct {
	Dimensions []int64
}

// BuildReduce builds stablehlo.reduce and infers its types.
func BuildReduce(b *ir.Builder, inputs []*ir.Value, initValues []*ir.Value, body *ir.Region, a ReduceAttrs) (ReduceOp, error) {
	op, err := view.Build(b, Reduce, nil, view.Join(inputs, initValues), []*ir.Region{body}, a.Dimensions)
	return ReduceOp{op}, err
}

// ReducePrecisionOp is the view of stablehlo.reduce_precision, and of ops that mirror it. The op must have been verified.
type ReducePrecisionOp struct{ *ir.Op }

// AsReducePrecision returns the view of op; ok is false if op is of another kind.
func AsReducePrecision(op *ir.Op) (v ReducePrecisionOp, ok bool) {
	return ReducePrecisionOp{op}, op != nil && op.IsOrMirrors(ReducePrecision)
}

// Operands, attributes and regions of stablehlo.reduce_precision, and setters of operands and attributes.
func (v ReducePrecisionOp) Input() *ir.Value            { return v.Operand(0) }
func (v ReducePrecisionOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v ReducePrecisionOp) ExponentBits() int64         { return view.Int(v.Attr("exponent_bits")) }
func (v ReducePrecisionOp) SetExponentBits(value int64) { view.Set(v.Op, "exponent_bits", value) }
func (v ReducePrecisionOp) MantissaBits() int64         { return view.Int(v.Attr("mantissa_bits")) }
func (v ReducePrecisionOp) SetMantissaBits(value int64) { view.Set(v.Op, "mantissa_bits", value) }

// ReducePrecisionAttrs are the attributes of stablehlo.reduce_precision. An optional attribute that is zero is left out.
type ReducePrecisionAttrs struct {
	ExponentBits int64
	MantissaBits int64
}

// BuildReducePrecision builds stablehlo.reduce_precision and infers its types.
func BuildReducePrecision(b *ir.Builder, operand *ir.Value, a ReducePrecisionAttrs) (ReducePrecisionOp, error) {
	op, err := view.Build(b, ReducePrecision, nil, []*ir.Value{operand}, nil, a.ExponentBits, a.MantissaBits)
	return ReducePrecisionOp{op}, err
}

// ReduceScatterOp is the view of stablehlo.reduce_scatter, and of ops that mirror it. The op must have been verified.
type ReduceScatterOp struct{ *ir.Op }

// AsReduceScatter returns the view of op; ok is false if op is of another kind.
func AsReduceScatter(op *ir.Op) (v ReduceScatterOp, ok bool) {
	return ReduceScatterOp{op}, op != nil && op.IsOrMirrors(ReduceScatter)
}

// Operands, attributes and regions of stablehlo.reduce_scatter, and setters of operands and attributes.
func (v ReduceScatterOp) Input() *ir.Value                { return v.Operand(0) }
func (v ReduceScatterOp) SetInput(value *ir.Value)        { v.SetOperand(0, value) }
func (v ReduceScatterOp) ScatterDimension() int64         { return view.Int(v.Attr("scatter_dimension")) }
func (v ReduceScatterOp) SetScatterDimension(value int64) { view.Set(v.Op, "scatter_dimension", value) }
func (v ReduceScatterOp) ReplicaGroups() ir.Attr          { return v.Attr("replica_groups") }
func (v ReduceScatterOp) SetReplicaGroups(value ir.Attr)  { view.Set(v.Op, "replica_groups", value) }
func (v ReduceScatterOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v ReduceScatterOp) SetChannelHandle(value *ChannelHandle) {
	view.Set(v.Op, "channel_handle", value)
}
func (v ReduceScatterOp) UseGlobalDeviceIDs() bool { return view.Bool(v.Attr("use_global_device_ids")) }
func (v ReduceScatterOp) SetUseGlobalDeviceIDs(value bool) {
	view.Set(v.Op, "use_global_device_ids", value)
}
func (v ReduceScatterOp) Computation() *ir.Region { return v.Region(0) }

// ReduceScatterAttrs are the attributes of stablehlo.reduce_scatter. An optional attribute that is zero is left out.
type ReduceScatterAttrs struct {
	ScatterDimension   int64
	ReplicaGroups      ir.Attr
	ChannelHandle      *ChannelHandle
	UseGlobalDeviceIDs bool
}

// BuildReduceScatter builds stablehlo.reduce_scatter and checks its types.
func BuildReduceScatter(b *ir.Builder, operand *ir.Value, computation *ir.Region, result ir.Type, a ReduceScatterAttrs) (ReduceScatterOp, error) {
	op, err := view.Build(b, ReduceScatter, []ir.Type{result}, []*ir.Value{operand}, []*ir.Region{computation}, a.ScatterDimension, a.ReplicaGroups, a.ChannelHandle, a.UseGlobalDeviceIDs)
	return ReduceScatterOp{op}, err
}

// ReduceWindowOp is the view of stablehlo.reduce_window, and of ops that mirror it. The op must have been verified.
type ReduceWindowOp struct{ *ir.Op }

// AsReduceWindow returns the view of op; ok is false if op is of another kind.
func AsReduceWindow(op *ir.Op) (v ReduceWindowOp, ok bool) {
	return ReduceWindowOp{op}, op != nil && op.IsOrMirrors(ReduceWindow)
}

// Operands, attributes and regions of stablehlo.reduce_window, and setters of operands and attributes.
func (v ReduceWindowOp) Inputs() []*ir.Value              { return view.Group(v.Op, 0) }
func (v ReduceWindowOp) SetInputs(values []*ir.Value)     { view.SetGroup(v.Op, 0, values...) }
func (v ReduceWindowOp) InitValues() []*ir.Value          { return view.Group(v.Op, 1) }
func (v ReduceWindowOp) SetInitValues(values []*ir.Value) { view.SetGroup(v.Op, 1, values...) }
func (v ReduceWindowOp) WindowDimensions() []int64        { return view.Ints(v.Attr("window_dimensions")) }
func (v ReduceWindowOp) SetWindowDimensions(value []int64) {
	view.Set(v.Op, "window_dimensions", value)
}
func (v ReduceWindowOp) WindowStrides() []int64           { return view.Ints(v.Attr("window_strides")) }
func (v ReduceWindowOp) SetWindowStrides(value []int64)   { view.Set(v.Op, "window_strides", value) }
func (v ReduceWindowOp) BaseDilations() []int64           { return view.Ints(v.Attr("base_dilations")) }
func (v ReduceWindowOp) SetBaseDilations(value []int64)   { view.Set(v.Op, "base_dilations", value) }
func (v ReduceWindowOp) WindowDilations() []int64         { return view.Ints(v.Attr("window_dilations")) }
func (v ReduceWindowOp) SetWindowDilations(value []int64) { view.Set(v.Op, "window_dilations", value) }
func (v ReduceWindowOp) Padding() ir.Attr                 { return v.Attr("padding") }
func (v ReduceWindowOp) SetPadding(value ir.Attr)         { view.Set(v.Op, "padding", value) }
func (v ReduceWindowOp) Body() *ir.Region                 { return v.Region(0) }

// ReduceWindowAttrs are the attributes of stablehlo.reduce_window. An optional attribute that is zero is left out.
type ReduceWindowAttrs struct {
	WindowDimensions []int64
	WindowStrides    []int64
	BaseDilations    []int64
	WindowDilations  []int64
	Padding          ir.Attr
}

// BuildReduceWindow builds stablehlo.reduce_window and infers its types.
func BuildReduceWindow(b *ir.Builder, inputs []*ir.Value, initValues []*ir.Value, body *ir.Region, a ReduceWindowAttrs) (ReduceWindowOp, error) {
	op, err := view.Build(b, ReduceWindow, nil, view.Join(inputs, initValues), []*ir.Region{body}, a.WindowDimensions, a.WindowStrides, a.BaseDilations, a.WindowDilations, a.Padding)
	return ReduceWindowOp{op}, err
}

// RemainderOp is the view of stablehlo.remainder, and of ops that mirror it. The op must have been verified.
type RemainderOp struct{ *ir.Op }

// AsRemainder returns the view of op; ok is false if op is of another kind.
func AsRemainder(op *ir.Op) (v RemainderOp, ok bool) {
	return RemainderOp{op}, op != nil && op.IsOrMirrors(Remainder)
}

// Operands, attributes and regions of stablehlo.remainder, and setters of operands and attributes.
func (v RemainderOp) LHS() *ir.Value         { return v.Operand(0) }
func (v RemainderOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v RemainderOp) RHS() *ir.Value         { return v.Operand(1) }
func (v RemainderOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildRemainder builds stablehlo.remainder and infers its types.
func BuildRemainder(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (RemainderOp, error) {
	op, err := view.Build(b, Remainder, nil, []*ir.Value{lhs, rhs}, nil)
	return RemainderOp{op}, err
}

// ReplicaIDOp is the view of stablehlo.replica_id, and of ops that mirror it. The op must have been verified.
type ReplicaIDOp struct{ *ir.Op }

// AsReplicaID returns the view of op; ok is false if op is of another kind.
func AsReplicaID(op *ir.Op) (v ReplicaIDOp, ok bool) {
	return ReplicaIDOp{op}, op != nil && op.IsOrMirrors(ReplicaID)
}

// BuildReplicaID builds stablehlo.replica_id and infers its types.
func BuildReplicaID(b *ir.Builder) (ReplicaIDOp, error) {
	op, err := view.Build(b, ReplicaID, nil, nil, nil)
	return ReplicaIDOp{op}, err
}

// ReshapeOp is the view of stablehlo.reshape, and of ops that mirror it. The op must have been verified.
type ReshapeOp struct{ *ir.Op }

// AsReshape returns the view of op; ok is false if op is of another kind.
func AsReshape(op *ir.Op) (v ReshapeOp, ok bool) {
	return ReshapeOp{op}, op != nil && op.IsOrMirrors(Reshape)
}

// Operands, attributes and regions of stablehlo.reshape, and setters of operands and attributes.
func (v ReshapeOp) Input() *ir.Value         { return v.Operand(0) }
func (v ReshapeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildReshape builds stablehlo.reshape and checks its types.
func BuildReshape(b *ir.Builder, operand *ir.Value, result ir.Type) (ReshapeOp, error) {
	op, err := view.Build(b, Reshape, []ir.Type{result}, []*ir.Value{operand}, nil)
	return ReshapeOp{op}, err
}

// ReturnOp is the view of stablehlo.return, and of ops that mirror it. The op must have been verified.
type ReturnOp struct{ *ir.Op }

// AsReturn returns the view of op; ok is false if op is of another kind.
func AsReturn(op *ir.Op) (v ReturnOp, ok bool) {
	return ReturnOp{op}, op != nil && op.IsOrMirrors(Return)
}

// Operands, attributes and regions of stablehlo.return, and setters of operands and attributes.
func (v ReturnOp) ReturnResults() []*ir.Value          { return v.OperandList() }
func (v ReturnOp) SetReturnResults(values []*ir.Value) { v.SetOperands(values) }

// BuildReturn builds stablehlo.return and checks its types.
func BuildReturn(b *ir.Builder, results []*ir.Value) (ReturnOp, error) {
	op, err := view.Build(b, Return, nil, results, nil)
	return ReturnOp{op}, err
}

// ReverseOp is the view of stablehlo.reverse, and of ops that mirror it. The op must have been verified.
type ReverseOp struct{ *ir.Op }

// AsReverse returns the view of op; ok is false if op is of another kind.
func AsReverse(op *ir.Op) (v ReverseOp, ok bool) {
	return ReverseOp{op}, op != nil && op.IsOrMirrors(Reverse)
}

// Operands, attributes and regions of stablehlo.reverse, and setters of operands and attributes.
func (v ReverseOp) Input() *ir.Value            { return v.Operand(0) }
func (v ReverseOp) SetInput(value *ir.Value)    { v.SetOperand(0, value) }
func (v ReverseOp) Dimensions() []int64         { return view.Ints(v.Attr("dimensions")) }
func (v ReverseOp) SetDimensions(value []int64) { view.Set(v.Op, "dimensions", value) }

// ReverseAttrs are the attributes of stablehlo.reverse. An optional attribute that is zero is left out.
type ReverseAttrs struct {
	Dimensions []int64
}

// BuildReverse builds stablehlo.reverse and infers its types.
func BuildReverse(b *ir.Builder, operand *ir.Value, a ReverseAttrs) (ReverseOp, error) {
	op, err := view.Build(b, Reverse, nil, []*ir.Value{operand}, nil, a.Dimensions)
	return ReverseOp{op}, err
}

// RngOp is the view of stablehlo.rng, and of ops that mirror it. The op must have been verified.
type RngOp struct{ *ir.Op }

// AsRng returns the view of op; ok is false if op is of another kind.
func AsRng(op *ir.Op) (v RngOp, ok bool) { return RngOp{op}, op != nil && op.IsOrMirrors(Rng) }

// Operands, attributes and regions of stablehlo.rng, and setters of operands and attributes.
func (v RngOp) A() *ir.Value             { return v.Operand(0) }
func (v RngOp) SetA(value *ir.Value)     { v.SetOperand(0, value) }
func (v RngOp) B() *ir.Value             { return v.Operand(1) }
func (v RngOp) SetB(value *ir.Value)     { v.SetOperand(1, value) }
func (v RngOp) Shape() *ir.Value         { return v.Operand(2) }
func (v RngOp) SetShape(value *ir.Value) { v.SetOperand(2, value) }
func (v RngOp) RngDistribution() RngDistribution {
	return view.Case[RngDistribution](v.Attr("rng_distribution"))
}
func (v RngOp) SetRngDistribution(value RngDistribution) { view.Set(v.Op, "rng_distribution", value) }

// RngAttrs are the attributes of stablehlo.rng. An optional attribute that is zero is left out.
type RngAttrs struct {
	RngDistribution RngDistribution
}

// BuildRng builds stablehlo.rng and infers its types.
func BuildRng(b *ir.Builder, a_ *ir.Value, b_ *ir.Value, shape *ir.Value, a RngAttrs) (RngOp, error) {
	op, err := view.Build(b, Rng, nil, []*ir.Value{a_, b_, shape}, nil, a.RngDistribution)
	return RngOp{op}, err
}

// RngBitGeneratorOp is the view of stablehlo.rng_bit_generator, and of ops that mirror it. The op must have been verified.
type RngBitGeneratorOp struct{ *ir.Op }

// AsRngBitGenerator returns the view of op; ok is false if op is of another kind.
func AsRngBitGenerator(op *ir.Op) (v RngBitGeneratorOp, ok bool) {
	return RngBitGeneratorOp{op}, op != nil && op.IsOrMirrors(RngBitGenerator)
}

// Operands, attributes and regions of stablehlo.rng_bit_generator, and setters of operands and attributes.
func (v RngBitGeneratorOp) InitialState() *ir.Value         { return v.Operand(0) }
func (v RngBitGeneratorOp) SetInitialState(value *ir.Value) { v.SetOperand(0, value) }
func (v RngBitGeneratorOp) RngAlgorithm() RngAlgorithm {
	return view.Case[RngAlgorithm](v.Attr("rng_algorithm"))
}
func (v RngBitGeneratorOp) SetRngAlgorithm(value RngAlgorithm) {
	view.Set(v.Op, "rng_algorithm", value)
}

// RngBitGeneratorAttrs are the attributes of stablehlo.rng_bit_generator. An optional attribute that is zero is left out.
type RngBitGeneratorAttrs struct {
	RngAlgorithm RngAlgorithm
}

// BuildRngBitGenerator builds stablehlo.rng_bit_generator and checks its types.
func BuildRngBitGenerator(b *ir.Builder, initialState *ir.Value, results []ir.Type, a RngBitGeneratorAttrs) (RngBitGeneratorOp, error) {
	op, err := view.Build(b, RngBitGenerator, results, []*ir.Value{initialState}, nil, a.RngAlgorithm)
	return RngBitGeneratorOp{op}, err
}

// RoundNearestAFZOp is the view of stablehlo.round_nearest_afz, and of ops that mirror it. The op must have been verified.
type RoundNearestAFZOp struct{ *ir.Op }

// AsRoundNearestAFZ returns the view of op; ok is false if op is of another kind.
func AsRoundNearestAFZ(op *ir.Op) (v RoundNearestAFZOp, ok bool) {
	return RoundNearestAFZOp{op}, op != nil && op.IsOrMirrors(RoundNearestAFZ)
}

// Operands, attributes and regions of stablehlo.round_nearest_afz, and setters of operands and attributes.
func (v RoundNearestAFZOp) Input() *ir.Value         { return v.Operand(0) }
func (v RoundNearestAFZOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildRoundNearestAFZ builds stablehlo.round_nearest_afz and infers its types.
func BuildRoundNearestAFZ(b *ir.Builder, operand *ir.Value) (RoundNearestAFZOp, error) {
	op, err := view.Build(b, RoundNearestAFZ, nil, []*ir.Value{operand}, nil)
	return RoundNearestAFZOp{op}, err
}

// RoundNearestEvenOp is the view of stablehlo.round_nearest_even, and of ops that mirror it. The op must have been verified.
type RoundNearestEvenOp struct{ *ir.Op }

// AsRoundNearestEven returns the view of op; ok is false if op is of another kind.
func AsRoundNearestEven(op *ir.Op) (v RoundNearestEvenOp, ok bool) {
	return RoundNearestEvenOp{op}, op != nil && op.IsOrMirrors(RoundNearestEven)
}

// Operands, attributes and regions of stablehlo.round_nearest_even, and setters of operands and attributes.
func (v RoundNearestEvenOp) Input() *ir.Value         { return v.Operand(0) }
func (v RoundNearestEvenOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildRoundNearestEven builds stablehlo.round_nearest_even and infers its types.
func BuildRoundNearestEven(b *ir.Builder, operand *ir.Value) (RoundNearestEvenOp, error) {
	op, err := view.Build(b, RoundNearestEven, nil, []*ir.Value{operand}, nil)
	return RoundNearestEvenOp{op}, err
}

// RsqrtOp is the view of stablehlo.rsqrt, and of ops that mirror it. The op must have been verified.
type RsqrtOp struct{ *ir.Op }

// AsRsqrt returns the view of op; ok is false if op is of another kind.
func AsRsqrt(op *ir.Op) (v RsqrtOp, ok bool) { return RsqrtOp{op}, op != nil && op.IsOrMirrors(Rsqrt) }

// Operands, attributes and regions of stablehlo.rsqrt, and setters of operands and attributes.
func (v RsqrtOp) Input() *ir.Value         { return v.Operand(0) }
func (v RsqrtOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v RsqrtOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v RsqrtOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// RsqrtAttrs are the attributes of stablehlo.rsqrt. An optional attribute that is zero is left out.
type RsqrtAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildRsqrt builds stablehlo.rsqrt and infers its types.
func BuildRsqrt(b *ir.Builder, operand *ir.Value, a RsqrtAttrs) (RsqrtOp, error) {
	op, err := view.Build(b, Rsqrt, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return RsqrtOp{op}, err
}

// ScatterOp is the view of stablehlo.scatter, and of ops that mirror it. The op must have been verified.
type ScatterOp struct{ *ir.Op }

// AsScatter returns the view of op; ok is false if op is of another kind.
func AsScatter(op *ir.Op) (v ScatterOp, ok bool) {
	return ScatterOp{op}, op != nil && op.IsOrMirrors(Scatter)
}

// Operands, attributes and regions of stablehlo.scatter, and setters of operands and attributes.
func (v ScatterOp) Inputs() []*ir.Value               { return view.Group(v.Op, 0) }
func (v ScatterOp) SetInputs(values []*ir.Value)      { view.SetGroup(v.Op, 0, values...) }
func (v ScatterOp) ScatterIndices() *ir.Value         { return view.Single(v.Op, 1) }
func (v ScatterOp) SetScatterIndices(value *ir.Value) { view.SetGroup(v.Op, 1, value) }
func (v ScatterOp) Updates() []*ir.Value              { return view.Group(v.Op, 2) }
func (v ScatterOp) SetUpdates(values []*ir.Value)     { view.SetGroup(v.Op, 2, values...) }
func (v ScatterOp) Dims() *ScatterDims {
	return view.Data[ScatterDims](v.Attr("scatter_dimension_numbers"))
}
func (v ScatterOp) SetDims(value *ScatterDims)     { view.Set(v.Op, "scatter_dimension_numbers", value) }
func (v ScatterOp) IndicesAreSorted() bool         { return view.Bool(v.Attr("indices_are_sorted")) }
func (v ScatterOp) SetIndicesAreSorted(value bool) { view.Set(v.Op, "indices_are_sorted", value) }
func (v ScatterOp) UniqueIndices() bool            { return view.Bool(v.Attr("unique_indices")) }
func (v ScatterOp) SetUniqueIndices(value bool)    { view.Set(v.Op, "unique_indices", value) }
func (v ScatterOp) UpdateComputation() *ir.Region  { return v.Region(0) }

// ScatterAttrs are the attributes of stablehlo.scatter. An optional attribute that is zero is left out.
type ScatterAttrs struct {
	Dims             *ScatterDims
	IndicesAreSorted bool
	UniqueIndices    bool
}

// BuildScatter builds stablehlo.scatter and infers its types.
func BuildScatter(b *ir.Builder, inputs []*ir.Value, scatterIndices *ir.Value, updates []*ir.Value, updateComputation *ir.Region, a ScatterAttrs) (ScatterOp, error) {
	op, err := view.Build(b, Scatter, nil, view.Join(inputs, []*ir.Value{scatterIndices}, updates), []*ir.Region{updateComputation}, a.Dims, a.IndicesAreSorted, a.UniqueIndices)
	return ScatterOp{op}, err
}

// SelectOp is the view of stablehlo.select, and of ops that mirror it. The op must have been verified.
type SelectOp struct{ *ir.Op }

// AsSelect returns the view of op; ok is false if op is of another kind.
func AsSelect(op *ir.Op) (v SelectOp, ok bool) {
	return SelectOp{op}, op != nil && op.IsOrMirrors(Select)
}

// Operands, attributes and regions of stablehlo.select, and setters of operands and attributes.
func (v SelectOp) Pred() *ir.Value            { return v.Operand(0) }
func (v SelectOp) SetPred(value *ir.Value)    { v.SetOperand(0, value) }
func (v SelectOp) OnTrue() *ir.Value          { return v.Operand(1) }
func (v SelectOp) SetOnTrue(value *ir.Value)  { v.SetOperand(1, value) }
func (v SelectOp) OnFalse() *ir.Value         { return v.Operand(2) }
func (v SelectOp) SetOnFalse(value *ir.Value) { v.SetOperand(2, value) }

// BuildSelect builds stablehlo.select and infers its types.
func BuildSelect(b *ir.Builder, pred *ir.Value, onTrue *ir.Value, onFalse *ir.Value) (SelectOp, error) {
	op, err := view.Build(b, Select, nil, []*ir.Value{pred, onTrue, onFalse}, nil)
	return SelectOp{op}, err
}

// SelectAndScatterOp is the view of stablehlo.select_and_scatter, and of ops that mirror it. The op must have been verified.
type SelectAndScatterOp struct{ *ir.Op }

// AsSelectAndScatter returns the view of op; ok is false if op is of another kind.
func AsSelectAndScatter(op *ir.Op) (v SelectAndScatterOp, ok bool) {
	return SelectAndScatterOp{op}, op != nil && op.IsOrMirrors(SelectAndScatter)
}

// Operands, attributes and regions of stablehlo.select_and_scatter, and setters of operands and attributes.
func (v SelectAndScatterOp) Input() *ir.Value             { return v.Operand(0) }
func (v SelectAndScatterOp) SetInput(value *ir.Value)     { v.SetOperand(0, value) }
func (v SelectAndScatterOp) Source() *ir.Value            { return v.Operand(1) }
func (v SelectAndScatterOp) SetSource(value *ir.Value)    { v.SetOperand(1, value) }
func (v SelectAndScatterOp) InitValue() *ir.Value         { return v.Operand(2) }
func (v SelectAndScatterOp) SetInitValue(value *ir.Value) { v.SetOperand(2, value) }
func (v SelectAndScatterOp) WindowDimensions() []int64    { return view.Ints(v.Attr("window_dimensions")) }
func (v SelectAndScatterOp) SetWindowDimensions(value []int64) {
	view.Set(v.Op, "window_dimensions", value)
}
func (v SelectAndScatterOp) WindowStrides() []int64         { return view.Ints(v.Attr("window_strides")) }
func (v SelectAndScatterOp) SetWindowStrides(value []int64) { view.Set(v.Op, "window_strides", value) }
func (v SelectAndScatterOp) Padding() ir.Attr               { return v.Attr("padding") }
func (v SelectAndScatterOp) SetPadding(value ir.Attr)       { view.Set(v.Op, "padding", value) }
func (v SelectAndScatterOp) Select() *ir.Region             { return v.Region(0) }
func (v SelectAndScatterOp) Scatter() *ir.Region            { return v.Region(1) }

// SelectAndScatterAttrs are the attributes of stablehlo.select_and_scatter. An optional attribute that is zero is left out.
type SelectAndScatterAttrs struct {
	WindowDimensions []int64
	WindowStrides    []int64
	Padding          ir.Attr
}

// BuildSelectAndScatter builds stablehlo.select_and_scatter and infers its types.
func BuildSelectAndScatter(b *ir.Builder, operand *ir.Value, source *ir.Value, initValue *ir.Value, select_ *ir.Region, scatter *ir.Region, a SelectAndScatterAttrs) (SelectAndScatterOp, error) {
	op, err := view.Build(b, SelectAndScatter, nil, []*ir.Value{operand, source, initValue}, []*ir.Region{select_, scatter}, a.WindowDimensions, a.WindowStrides, a.Padding)
	return SelectAndScatterOp{op}, err
}

// SendOp is the view of stablehlo.send, and of ops that mirror it. The op must have been verified.
type SendOp struct{ *ir.Op }

// AsSend returns the view of op; ok is false if op is of another kind.
func AsSend(op *ir.Op) (v SendOp, ok bool) { return SendOp{op}, op != nil && op.IsOrMirrors(Send) }

// Operands, attributes and regions of stablehlo.send, and setters of operands and attributes.
func (v SendOp) Inputs() []*ir.Value          { return view.Group(v.Op, 0) }
func (v SendOp) SetInputs(values []*ir.Value) { view.SetGroup(v.Op, 0, values...) }
func (v SendOp) Token() *ir.Value             { return view.Single(v.Op, 1) }
func (v SendOp) SetToken(value *ir.Value)     { view.SetGroup(v.Op, 1, value) }
func (v SendOp) ChannelHandle() *ChannelHandle {
	return view.Data[ChannelHandle](v.Attr("channel_handle"))
}
func (v SendOp) SetChannelHandle(value *ChannelHandle) { view.Set(v.Op, "channel_handle", value) }
func (v SendOp) IsHostTransfer() bool                  { return view.Bool(v.Attr("is_host_transfer")) }
func (v SendOp) SetIsHostTransfer(value bool)          { view.Set(v.Op, "is_host_transfer", value) }
func (v SendOp) SourceTargetPairs() ir.Attr            { return v.Attr("source_target_pairs") }
func (v SendOp) SetSourceTargetPairs(value ir.Attr)    { view.Set(v.Op, "source_target_pairs", value) }

// SendAttrs are the attributes of stablehlo.send. An optional attribute that is zero is left out.
type SendAttrs struct {
	ChannelHandle     *ChannelHandle
	IsHostTransfer    bool
	SourceTargetPairs ir.Attr
}

// BuildSend builds stablehlo.send and infers its types.
func BuildSend(b *ir.Builder, inputs []*ir.Value, token *ir.Value, a SendAttrs) (SendOp, error) {
	op, err := view.Build(b, Send, nil, view.Join(inputs, []*ir.Value{token}), nil, a.ChannelHandle, a.IsHostTransfer, a.SourceTargetPairs)
	return SendOp{op}, err
}

// SetDimensionSizeOp is the view of stablehlo.set_dimension_size, and of ops that mirror it. The op must have been verified.
type SetDimensionSizeOp struct{ *ir.Op }

// AsSetDimensionSize returns the view of op; ok is false if op is of another kind.
func AsSetDimensionSize(op *ir.Op) (v SetDimensionSizeOp, ok bool) {
	return SetDimensionSizeOp{op}, op != nil && op.IsOrMirrors(SetDimensionSize)
}

// Operands, attributes and regions of stablehlo.set_dimension_size, and setters of operands and attributes.
func (v SetDimensionSizeOp) Input() *ir.Value         { return v.Operand(0) }
func (v SetDimensionSizeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v SetDimensionSizeOp) Size() *ir.Value          { return v.Operand(1) }
func (v SetDimensionSizeOp) SetSize(value *ir.Value)  { v.SetOperand(1, value) }
func (v SetDimensionSizeOp) Dimension() int64         { return view.Int(v.Attr("dimension")) }
func (v SetDimensionSizeOp) SetDimension(value int64) { view.Set(v.Op, "dimension", value) }

// SetDimensionSizeAttrs are the attributes of stablehlo.set_dimension_size. An optional attribute that is zero is left out.
type SetDimensionSizeAttrs struct {
	Dimension int64
}

// BuildSetDimensionSize builds stablehlo.set_dimension_size and infers its types.
func BuildSetDimensionSize(b *ir.Builder, operand *ir.Value, size *ir.Value, a SetDimensionSizeAttrs) (SetDimensionSizeOp, error) {
	op, err := view.Build(b, SetDimensionSize, nil, []*ir.Value{operand, size}, nil, a.Dimension)
	return SetDimensionSizeOp{op}, err
}

// ShiftLeftOp is the view of stablehlo.shift_left, and of ops that mirror it. The op must have been verified.
type ShiftLeftOp struct{ *ir.Op }

// AsShiftLeft returns the view of op; ok is false if op is of another kind.
func AsShiftLeft(op *ir.Op) (v ShiftLeftOp, ok bool) {
	return ShiftLeftOp{op}, op != nil && op.IsOrMirrors(ShiftLeft)
}

// Operands, attributes and regions of stablehlo.shift_left, and setters of operands and attributes.
func (v ShiftLeftOp) LHS() *ir.Value         { return v.Operand(0) }
func (v ShiftLeftOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v ShiftLeftOp) RHS() *ir.Value         { return v.Operand(1) }
func (v ShiftLeftOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildShiftLeft builds stablehlo.shift_left and infers its types.
func BuildShiftLeft(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (ShiftLeftOp, error) {
	op, err := view.Build(b, ShiftLeft, nil, []*ir.Value{lhs, rhs}, nil)
	return ShiftLeftOp{op}, err
}

// ShiftRightArithmeticOp is the view of stablehlo.shift_right_arithmetic, and of ops that mirror it. The op must have been verified.
type ShiftRightArithmeticOp struct{ *ir.Op }

// AsShiftRightArithmetic returns the view of op; ok is false if op is of another kind.
func AsShiftRightArithmetic(op *ir.Op) (v ShiftRightArithmeticOp, ok bool) {
	return ShiftRightArithmeticOp{op}, op != nil && op.IsOrMirrors(ShiftRightArithmetic)
}

// Operands, attributes and regions of stablehlo.shift_right_arithmetic, and setters of operands and attributes.
func (v ShiftRightArithmeticOp) LHS() *ir.Value         { return v.Operand(0) }
func (v ShiftRightArithmeticOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v ShiftRightArithmeticOp) RHS() *ir.Value         { return v.Operand(1) }
func (v ShiftRightArithmeticOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildShiftRightArithmetic builds stablehlo.shift_right_arithmetic and infers its types.
func BuildShiftRightArithmetic(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (ShiftRightArithmeticOp, error) {
	op, err := view.Build(b, ShiftRightArithmetic, nil, []*ir.Value{lhs, rhs}, nil)
	return ShiftRightArithmeticOp{op}, err
}

// ShiftRightLogicalOp is the view of stablehlo.shift_right_logical, and of ops that mirror it. The op must have been verified.
type ShiftRightLogicalOp struct{ *ir.Op }

// AsShiftRightLogical returns the view of op; ok is false if op is of another kind.
func AsShiftRightLogical(op *ir.Op) (v ShiftRightLogicalOp, ok bool) {
	return ShiftRightLogicalOp{op}, op != nil && op.IsOrMirrors(ShiftRightLogical)
}

// Operands, attributes and regions of stablehlo.shift_right_logical, and setters of operands and attributes.
func (v ShiftRightLogicalOp) LHS() *ir.Value         { return v.Operand(0) }
func (v ShiftRightLogicalOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v ShiftRightLogicalOp) RHS() *ir.Value         { return v.Operand(1) }
func (v ShiftRightLogicalOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildShiftRightLogical builds stablehlo.shift_right_logical and infers its types.
func BuildShiftRightLogical(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (ShiftRightLogicalOp, error) {
	op, err := view.Build(b, ShiftRightLogical, nil, []*ir.Value{lhs, rhs}, nil)
	return ShiftRightLogicalOp{op}, err
}

// SignOp is the view of stablehlo.sign, and of ops that mirror it. The op must have been verified.
type SignOp struct{ *ir.Op }

// AsSign returns the view of op; ok is false if op is of another kind.
func AsSign(op *ir.Op) (v SignOp, ok bool) { return SignOp{op}, op != nil && op.IsOrMirrors(Sign) }

// Operands, attributes and regions of stablehlo.sign, and setters of operands and attributes.
func (v SignOp) Input() *ir.Value         { return v.Operand(0) }
func (v SignOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildSign builds stablehlo.sign and infers its types.
func BuildSign(b *ir.Builder, operand *ir.Value) (SignOp, error) {
	op, err := view.Build(b, Sign, nil, []*ir.Value{operand}, nil)
	return SignOp{op}, err
}

// SineOp is the view of stablehlo.sine, and of ops that mirror it. The op must have been verified.
type SineOp struct{ *ir.Op }

// AsSine returns the view of op; ok is false if op is of another kind.
func AsSine(op *ir.Op) (v SineOp, ok bool) { return SineOp{op}, op != nil && op.IsOrMirrors(Sine) }

// Operands, attributes and regions of stablehlo.sine, and setters of operands and attributes.
func (v SineOp) Input() *ir.Value         { return v.Operand(0) }
func (v SineOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v SineOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v SineOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// SineAttrs are the attributes of stablehlo.sine. An optional attribute that is zero is left out.
type SineAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildSine builds stablehlo.sine and infers its types.
func BuildSine(b *ir.Builder, operand *ir.Value, a SineAttrs) (SineOp, error) {
	op, err := view.Build(b, Sine, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return SineOp{op}, err
}

// SliceOp is the view of stablehlo.slice, and of ops that mirror it. The op must have been verified.
type SliceOp struct{ *ir.Op }

// AsSlice returns the view of op; ok is false if op is of another kind.
func AsSlice(op *ir.Op) (v SliceOp, ok bool) { return SliceOp{op}, op != nil && op.IsOrMirrors(Slice) }

// Operands, attributes and regions of stablehlo.slice, and setters of operands and attributes.
func (v SliceOp) Input() *ir.Value              { return v.Operand(0) }
func (v SliceOp) SetInput(value *ir.Value)      { v.SetOperand(0, value) }
func (v SliceOp) StartIndices() []int64         { return view.Ints(v.Attr("start_indices")) }
func (v SliceOp) SetStartIndices(value []int64) { view.Set(v.Op, "start_indices", value) }
func (v SliceOp) LimitIndices() []int64         { return view.Ints(v.Attr("limit_indices")) }
func (v SliceOp) SetLimitIndices(value []int64) { view.Set(v.Op, "limit_indices", value) }
func (v SliceOp) Strides() []int64              { return view.Ints(v.Attr("strides")) }
func (v SliceOp) SetStrides(value []int64)      { view.Set(v.Op, "strides", value) }

// SliceAttrs are the attributes of stablehlo.slice. An optional attribute that is zero is left out.
type SliceAttrs struct {
	StartIndices []int64
	LimitIndices []int64
	Strides      []int64
}

// BuildSlice builds stablehlo.slice and infers its types.
func BuildSlice(b *ir.Builder, operand *ir.Value, a SliceAttrs) (SliceOp, error) {
	op, err := view.Build(b, Slice, nil, []*ir.Value{operand}, nil, a.StartIndices, a.LimitIndices, a.Strides)
	return SliceOp{op}, err
}

// SortOp is the view of stablehlo.sort, and of ops that mirror it. The op must have been verified.
type SortOp struct{ *ir.Op }

// AsSort returns the view of op; ok is false if op is of another kind.
func AsSort(op *ir.Op) (v SortOp, ok bool) { return SortOp{op}, op != nil && op.IsOrMirrors(Sort) }

// Operands, attributes and regions of stablehlo.sort, and setters of operands and attributes.
func (v SortOp) Inputs() []*ir.Value          { return v.OperandList() }
func (v SortOp) SetInputs(values []*ir.Value) { v.SetOperands(values) }
func (v SortOp) Dimension() int64             { return view.IntOr(v.Attr("dimension"), -1) }
func (v SortOp) SetDimension(value *int64)    { view.Set(v.Op, "dimension", value) }
func (v SortOp) IsStable() bool               { return view.Bool(v.Attr("is_stable")) }
func (v SortOp) SetIsStable(value bool)       { view.Set(v.Op, "is_stable", value) }
func (v SortOp) Comparator() *ir.Region       { return v.Region(0) }

// SortAttrs are the attributes of stablehlo.sort. An optional attribute that is zero is left out.
type SortAttrs struct {
	Dimension *int64
	IsStable  bool
}

// BuildSort builds stablehlo.sort and infers its types.
func BuildSort(b *ir.Builder, inputs []*ir.Value, comparator *ir.Region, a SortAttrs) (SortOp, error) {
	op, err := view.Build(b, Sort, nil, inputs, []*ir.Region{comparator}, a.Dimension, a.IsStable)
	return SortOp{op}, err
}

// SqrtOp is the view of stablehlo.sqrt, and of ops that mirror it. The op must have been verified.
type SqrtOp struct{ *ir.Op }

// AsSqrt returns the view of op; ok is false if op is of another kind.
func AsSqrt(op *ir.Op) (v SqrtOp, ok bool) { return SqrtOp{op}, op != nil && op.IsOrMirrors(Sqrt) }

// Operands, attributes and regions of stablehlo.sqrt, and setters of operands and attributes.
func (v SqrtOp) Input() *ir.Value         { return v.Operand(0) }
func (v SqrtOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v SqrtOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v SqrtOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// SqrtAttrs are the attributes of stablehlo.sqrt. An optional attribute that is zero is left out.
type SqrtAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildSqrt builds stablehlo.sqrt and infers its types.
func BuildSqrt(b *ir.Builder, operand *ir.Value, a SqrtAttrs) (SqrtOp, error) {
	op, err := view.Build(b, Sqrt, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return SqrtOp{op}, err
}

// SubtractOp is the view of stablehlo.subtract, and of ops that mirror it. The op must have been verified.
type SubtractOp struct{ *ir.Op }

// AsSubtract returns the view of op; ok is false if op is of another kind.
func AsSubtract(op *ir.Op) (v SubtractOp, ok bool) {
	return SubtractOp{op}, op != nil && op.IsOrMirrors(Subtract)
}

// Operands, attributes and regions of stablehlo.subtract, and setters of operands and attributes.
func (v SubtractOp) LHS() *ir.Value         { return v.Operand(0) }
func (v SubtractOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v SubtractOp) RHS() *ir.Value         { return v.Operand(1) }
func (v SubtractOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildSubtract builds stablehlo.subtract and infers its types.
func BuildSubtract(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (SubtractOp, error) {
	op, err := view.Build(b, Subtract, nil, []*ir.Value{lhs, rhs}, nil)
	return SubtractOp{op}, err
}

// TanOp is the view of stablehlo.tan, and of ops that mirror it. The op must have been verified.
type TanOp struct{ *ir.Op }

// AsTan returns the view of op; ok is false if op is of another kind.
func AsTan(op *ir.Op) (v TanOp, ok bool) { return TanOp{op}, op != nil && op.IsOrMirrors(Tan) }

// Operands, attributes and regions of stablehlo.tan, and setters of operands and attributes.
func (v TanOp) Input() *ir.Value         { return v.Operand(0) }
func (v TanOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v TanOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v TanOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// TanAttrs are the attributes of stablehlo.tan. An optional attribute that is zero is left out.
type TanAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildTan builds stablehlo.tan and infers its types.
func BuildTan(b *ir.Builder, operand *ir.Value, a TanAttrs) (TanOp, error) {
	op, err := view.Build(b, Tan, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return TanOp{op}, err
}

// TanhOp is the view of stablehlo.tanh, and of ops that mirror it. The op must have been verified.
type TanhOp struct{ *ir.Op }

// AsTanh returns the view of op; ok is false if op is of another kind.
func AsTanh(op *ir.Op) (v TanhOp, ok bool) { return TanhOp{op}, op != nil && op.IsOrMirrors(Tanh) }

// Operands, attributes and regions of stablehlo.tanh, and setters of operands and attributes.
func (v TanhOp) Input() *ir.Value         { return v.Operand(0) }
func (v TanhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v TanhOp) ResultAccuracy() *ResultAccuracy {
	return view.Data[ResultAccuracy](v.Attr("result_accuracy"))
}
func (v TanhOp) SetResultAccuracy(value *ResultAccuracy) { view.Set(v.Op, "result_accuracy", value) }

// TanhAttrs are the attributes of stablehlo.tanh. An optional attribute that is zero is left out.
type TanhAttrs struct {
	ResultAccuracy *ResultAccuracy
}

// BuildTanh builds stablehlo.tanh and infers its types.
func BuildTanh(b *ir.Builder, operand *ir.Value, a TanhAttrs) (TanhOp, error) {
	op, err := view.Build(b, Tanh, nil, []*ir.Value{operand}, nil, a.ResultAccuracy)
	return TanhOp{op}, err
}

// TorchIndexSelectOp is the view of stablehlo.torch_index_select, and of ops that mirror it. The op must have been verified.
type TorchIndexSelectOp struct{ *ir.Op }

// AsTorchIndexSelect returns the view of op; ok is false if op is of another kind.
func AsTorchIndexSelect(op *ir.Op) (v TorchIndexSelectOp, ok bool) {
	return TorchIndexSelectOp{op}, op != nil && op.IsOrMirrors(TorchIndexSelect)
}

// Operands, attributes and regions of stablehlo.torch_index_select, and setters of operands and attributes.
func (v TorchIndexSelectOp) Input() *ir.Value         { return v.Operand(0) }
func (v TorchIndexSelectOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v TorchIndexSelectOp) Index() *ir.Value         { return v.Operand(1) }
func (v TorchIndexSelectOp) SetIndex(value *ir.Value) { v.SetOperand(1, value) }
func (v TorchIndexSelectOp) Dim() int64               { return view.Int(v.Attr("dim")) }
func (v TorchIndexSelectOp) SetDim(value int64)       { view.Set(v.Op, "dim", value) }
func (v TorchIndexSelectOp) BatchDims() int64         { return view.Int(v.Attr("batch_dims")) }
func (v TorchIndexSelectOp) SetBatchDims(value int64) { view.Set(v.Op, "batch_dims", value) }

// TorchIndexSelectAttrs are the attributes of stablehlo.torch_index_select. An optional attribute that is zero is left out.
type TorchIndexSelectAttrs struct {
	Dim       int64
	BatchDims int64
}

// BuildTorchIndexSelect builds stablehlo.torch_index_select and checks its types.
func BuildTorchIndexSelect(b *ir.Builder, operand *ir.Value, index *ir.Value, result ir.Type, a TorchIndexSelectAttrs) (TorchIndexSelectOp, error) {
	op, err := view.Build(b, TorchIndexSelect, []ir.Type{result}, []*ir.Value{operand, index}, nil, a.Dim, a.BatchDims)
	return TorchIndexSelectOp{op}, err
}

// TransposeOp is the view of stablehlo.transpose, and of ops that mirror it. The op must have been verified.
type TransposeOp struct{ *ir.Op }

// AsTranspose returns the view of op; ok is false if op is of another kind.
func AsTranspose(op *ir.Op) (v TransposeOp, ok bool) {
	return TransposeOp{op}, op != nil && op.IsOrMirrors(Transpose)
}

// Operands, attributes and regions of stablehlo.transpose, and setters of operands and attributes.
func (v TransposeOp) Input() *ir.Value             { return v.Operand(0) }
func (v TransposeOp) SetInput(value *ir.Value)     { v.SetOperand(0, value) }
func (v TransposeOp) Permutation() []int64         { return view.Ints(v.Attr("permutation")) }
func (v TransposeOp) SetPermutation(value []int64) { view.Set(v.Op, "permutation", value) }

// TransposeAttrs are the attributes of stablehlo.transpose. An optional attribute that is zero is left out.
type TransposeAttrs struct {
	Permutation []int64
}

// BuildTranspose builds stablehlo.transpose and infers its types.
func BuildTranspose(b *ir.Builder, operand *ir.Value, a TransposeAttrs) (TransposeOp, error) {
	op, err := view.Build(b, Transpose, nil, []*ir.Value{operand}, nil, a.Permutation)
	return TransposeOp{op}, err
}

// TriangularSolveOp is the view of stablehlo.triangular_solve, and of ops that mirror it. The op must have been verified.
type TriangularSolveOp struct{ *ir.Op }

// AsTriangularSolve returns the view of op; ok is false if op is of another kind.
func AsTriangularSolve(op *ir.Op) (v TriangularSolveOp, ok bool) {
	return TriangularSolveOp{op}, op != nil && op.IsOrMirrors(TriangularSolve)
}

// Operands, attributes and regions of stablehlo.triangular_solve, and setters of operands and attributes.
func (v TriangularSolveOp) A() *ir.Value               { return v.Operand(0) }
func (v TriangularSolveOp) SetA(value *ir.Value)       { v.SetOperand(0, value) }
func (v TriangularSolveOp) B() *ir.Value               { return v.Operand(1) }
func (v TriangularSolveOp) SetB(value *ir.Value)       { v.SetOperand(1, value) }
func (v TriangularSolveOp) LeftSide() bool             { return view.Bool(v.Attr("left_side")) }
func (v TriangularSolveOp) SetLeftSide(value bool)     { view.Set(v.Op, "left_side", value) }
func (v TriangularSolveOp) Lower() bool                { return view.Bool(v.Attr("lower")) }
func (v TriangularSolveOp) SetLower(value bool)        { view.Set(v.Op, "lower", value) }
func (v TriangularSolveOp) UnitDiagonal() bool         { return view.Bool(v.Attr("unit_diagonal")) }
func (v TriangularSolveOp) SetUnitDiagonal(value bool) { view.Set(v.Op, "unit_diagonal", value) }
func (v TriangularSolveOp) TransposeA() TransposeCase {
	return view.Case[TransposeCase](v.Attr("transpose_a"))
}
func (v TriangularSolveOp) SetTransposeA(value TransposeCase) { view.Set(v.Op, "transpose_a", value) }

// TriangularSolveAttrs are the attributes of stablehlo.triangular_solve. An optional attribute that is zero is left out.
type TriangularSolveAttrs struct {
	LeftSide     bool
	Lower        bool
	UnitDiagonal bool
	TransposeA   TransposeCase
}

// BuildTriangularSolve builds stablehlo.triangular_solve and infers its types.
func BuildTriangularSolve(b *ir.Builder, a_ *ir.Value, b_ *ir.Value, a TriangularSolveAttrs) (TriangularSolveOp, error) {
	op, err := view.Build(b, TriangularSolve, nil, []*ir.Value{a_, b_}, nil, a.LeftSide, a.Lower, a.UnitDiagonal, a.TransposeA)
	return TriangularSolveOp{op}, err
}

// TupleOp is the view of stablehlo.tuple, and of ops that mirror it. The op must have been verified.
type TupleOp struct{ *ir.Op }

// AsTuple returns the view of op; ok is false if op is of another kind.
func AsTuple(op *ir.Op) (v TupleOp, ok bool) { return TupleOp{op}, op != nil && op.IsOrMirrors(Tuple) }

// Operands, attributes and regions of stablehlo.tuple, and setters of operands and attributes.
func (v TupleOp) Val() []*ir.Value          { return v.OperandList() }
func (v TupleOp) SetVal(values []*ir.Value) { v.SetOperands(values) }

// BuildTuple builds stablehlo.tuple and infers its types.
func BuildTuple(b *ir.Builder, val []*ir.Value) (TupleOp, error) {
	op, err := view.Build(b, Tuple, nil, val, nil)
	return TupleOp{op}, err
}

// UnaryEinsumOp is the view of stablehlo.unary_einsum, and of ops that mirror it. The op must have been verified.
type UnaryEinsumOp struct{ *ir.Op }

// AsUnaryEinsum returns the view of op; ok is false if op is of another kind.
func AsUnaryEinsum(op *ir.Op) (v UnaryEinsumOp, ok bool) {
	return UnaryEinsumOp{op}, op != nil && op.IsOrMirrors(UnaryEinsum)
}

// Operands, attributes and regions of stablehlo.unary_einsum, and setters of operands and attributes.
func (v UnaryEinsumOp) Input() *ir.Value             { return v.Operand(0) }
func (v UnaryEinsumOp) SetInput(value *ir.Value)     { v.SetOperand(0, value) }
func (v UnaryEinsumOp) EinsumConfig() string         { return view.String(v.Attr("einsum_config")) }
func (v UnaryEinsumOp) SetEinsumConfig(value string) { view.Set(v.Op, "einsum_config", value) }

// UnaryEinsumAttrs are the attributes of stablehlo.unary_einsum. An optional attribute that is zero is left out.
type UnaryEinsumAttrs struct {
	EinsumConfig string
}

// BuildUnaryEinsum builds stablehlo.unary_einsum and checks its types.
func BuildUnaryEinsum(b *ir.Builder, operand *ir.Value, result ir.Type, a UnaryEinsumAttrs) (UnaryEinsumOp, error) {
	op, err := view.Build(b, UnaryEinsum, []ir.Type{result}, []*ir.Value{operand}, nil, a.EinsumConfig)
	return UnaryEinsumOp{op}, err
}

// UniformDequantizeOp is the view of stablehlo.uniform_dequantize, and of ops that mirror it. The op must have been verified.
type UniformDequantizeOp struct{ *ir.Op }

// AsUniformDequantize returns the view of op; ok is false if op is of another kind.
func AsUniformDequantize(op *ir.Op) (v UniformDequantizeOp, ok bool) {
	return UniformDequantizeOp{op}, op != nil && op.IsOrMirrors(UniformDequantize)
}

// Operands, attributes and regions of stablehlo.uniform_dequantize, and setters of operands and attributes.
func (v UniformDequantizeOp) Input() *ir.Value         { return v.Operand(0) }
func (v UniformDequantizeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildUniformDequantize builds stablehlo.uniform_dequantize and infers its types.
func BuildUniformDequantize(b *ir.Builder, operand *ir.Value) (UniformDequantizeOp, error) {
	op, err := view.Build(b, UniformDequantize, nil, []*ir.Value{operand}, nil)
	return UniformDequantizeOp{op}, err
}

// UniformQuantizeOp is the view of stablehlo.uniform_quantize, and of ops that mirror it. The op must have been verified.
type UniformQuantizeOp struct{ *ir.Op }

// AsUniformQuantize returns the view of op; ok is false if op is of another kind.
func AsUniformQuantize(op *ir.Op) (v UniformQuantizeOp, ok bool) {
	return UniformQuantizeOp{op}, op != nil && op.IsOrMirrors(UniformQuantize)
}

// Operands, attributes and regions of stablehlo.uniform_quantize, and setters of operands and attributes.
func (v UniformQuantizeOp) Input() *ir.Value         { return v.Operand(0) }
func (v UniformQuantizeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildUniformQuantize builds stablehlo.uniform_quantize and checks its types.
func BuildUniformQuantize(b *ir.Builder, operand *ir.Value, result ir.Type) (UniformQuantizeOp, error) {
	op, err := view.Build(b, UniformQuantize, []ir.Type{result}, []*ir.Value{operand}, nil)
	return UniformQuantizeOp{op}, err
}

// WhileOp is the view of stablehlo.while, and of ops that mirror it. The op must have been verified.
type WhileOp struct{ *ir.Op }

// AsWhile returns the view of op; ok is false if op is of another kind.
func AsWhile(op *ir.Op) (v WhileOp, ok bool) { return WhileOp{op}, op != nil && op.IsOrMirrors(While) }

// Operands, attributes and regions of stablehlo.while, and setters of operands and attributes.
func (v WhileOp) Input() []*ir.Value          { return v.OperandList() }
func (v WhileOp) SetInput(values []*ir.Value) { v.SetOperands(values) }
func (v WhileOp) Cond() *ir.Region            { return v.Region(0) }
func (v WhileOp) Body() *ir.Region            { return v.Region(1) }

// BuildWhile builds stablehlo.while and infers its types.
func BuildWhile(b *ir.Builder, operand []*ir.Value, cond *ir.Region, body *ir.Region) (WhileOp, error) {
	op, err := view.Build(b, While, nil, operand, []*ir.Region{cond, body})
	return WhileOp{op}, err
}

// XorOp is the view of stablehlo.xor, and of ops that mirror it. The op must have been verified.
type XorOp struct{ *ir.Op }

// AsXor returns the view of op; ok is false if op is of another kind.
func AsXor(op *ir.Op) (v XorOp, ok bool) { return XorOp{op}, op != nil && op.IsOrMirrors(Xor) }

// Operands, attributes and regions of stablehlo.xor, and setters of operands and attributes.
func (v XorOp) LHS() *ir.Value         { return v.Operand(0) }
func (v XorOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v XorOp) RHS() *ir.Value         { return v.Operand(1) }
func (v XorOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildXor builds stablehlo.xor and infers its types.
func BuildXor(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (XorOp, error) {
	op, err := view.Build(b, Xor, nil, []*ir.Value{lhs, rhs}, nil)
	return XorOp{op}, err
}
