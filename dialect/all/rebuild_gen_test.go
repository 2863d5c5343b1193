// Code generated from the rows of the dialects. DO NOT EDIT.

package all_test

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/mpmd"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/ir"
)

// rebuild holds, for each row with a builder, a function that builds an op from the view of op and the regions r.
var rebuild = map[*ir.Def]func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error){
	stablehlo.Abs: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAbs(op)
		n, err := stablehlo.BuildAbs(b, v.Input())
		return n.Op, err
	},
	stablehlo.Add: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAdd(op)
		n, err := stablehlo.BuildAdd(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.AfterAll: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAfterAll(op)
		n, err := stablehlo.BuildAfterAll(b, v.Inputs())
		return n.Op, err
	},
	stablehlo.AllGather: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAllGather(op)
		n, err := stablehlo.BuildAllGather(b, v.Inputs(), op.ResultTypes(), stablehlo.AllGatherAttrs{AllGatherDim: v.AllGatherDim(), ReplicaGroups: op.Attr("replica_groups"), ChannelHandle: v.ChannelHandle(), UseGlobalDeviceIDs: v.UseGlobalDeviceIDs()})
		return n.Op, err
	},
	stablehlo.AllReduce: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAllReduce(op)
		n, err := stablehlo.BuildAllReduce(b, v.Inputs(), r[0], stablehlo.AllReduceAttrs{ReplicaGroups: op.Attr("replica_groups"), ChannelHandle: v.ChannelHandle(), UseGlobalDeviceIDs: v.UseGlobalDeviceIDs()})
		return n.Op, err
	},
	stablehlo.AllToAll: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAllToAll(op)
		n, err := stablehlo.BuildAllToAll(b, v.Inputs(), stablehlo.AllToAllAttrs{SplitDimension: v.SplitDimension(), ConcatDimension: v.ConcatDimension(), SplitCount: v.SplitCount(), ReplicaGroups: op.Attr("replica_groups"), ChannelHandle: v.ChannelHandle()})
		return n.Op, err
	},
	stablehlo.And: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAnd(op)
		n, err := stablehlo.BuildAnd(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.AsyncDone: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAsyncDone(op)
		n, err := stablehlo.BuildAsyncDone(b, v.Input())
		return n.Op, err
	},
	stablehlo.AsyncStart: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAsyncStart(op)
		n, err := stablehlo.BuildAsyncStart(b, v.Inputs(), r[0], op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.Atan2: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsAtan2(op)
		n, err := stablehlo.BuildAtan2(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.BatchNormGrad: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsBatchNormGrad(op)
		n, err := stablehlo.BuildBatchNormGrad(b, v.Input(), v.Scale(), v.Mean(), v.Variance(), v.GradOutput(), stablehlo.BatchNormGradAttrs{Epsilon: v.Epsilon(), FeatureIndex: v.FeatureIndex()})
		return n.Op, err
	},
	stablehlo.BatchNormInference: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsBatchNormInference(op)
		n, err := stablehlo.BuildBatchNormInference(b, v.Input(), v.Scale(), v.Offset(), v.Mean(), v.Variance(), stablehlo.BatchNormInferenceAttrs{Epsilon: v.Epsilon(), FeatureIndex: v.FeatureIndex()})
		return n.Op, err
	},
	stablehlo.BatchNormTraining: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsBatchNormTraining(op)
		n, err := stablehlo.BuildBatchNormTraining(b, v.Input(), v.Scale(), v.Offset(), stablehlo.BatchNormTrainingAttrs{Epsilon: v.Epsilon(), FeatureIndex: v.FeatureIndex()})
		return n.Op, err
	},
	stablehlo.BitcastConvert: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsBitcastConvert(op)
		n, err := stablehlo.BuildBitcastConvert(b, v.Input(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.Broadcast: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsBroadcast(op)
		n, err := stablehlo.BuildBroadcast(b, v.Input(), stablehlo.BroadcastAttrs{BroadcastSizes: v.BroadcastSizes()})
		return n.Op, err
	},
	stablehlo.BroadcastInDim: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsBroadcastInDim(op)
		n, err := stablehlo.BuildBroadcastInDim(b, v.Input(), op.Result(0).Type(), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	stablehlo.Case: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCase(op)
		n, err := stablehlo.BuildCase(b, v.Index(), r)
		return n.Op, err
	},
	stablehlo.Cbrt: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCbrt(op)
		n, err := stablehlo.BuildCbrt(b, v.Input(), stablehlo.CbrtAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Ceil: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCeil(op)
		n, err := stablehlo.BuildCeil(b, v.Input())
		return n.Op, err
	},
	stablehlo.Cholesky: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCholesky(op)
		n, err := stablehlo.BuildCholesky(b, v.A(), stablehlo.CholeskyAttrs{Lower: v.Lower()})
		return n.Op, err
	},
	stablehlo.Clamp: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsClamp(op)
		n, err := stablehlo.BuildClamp(b, v.Min(), v.Input(), v.Max())
		return n.Op, err
	},
	stablehlo.CollectiveBroadcast: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCollectiveBroadcast(op)
		n, err := stablehlo.BuildCollectiveBroadcast(b, v.Inputs(), stablehlo.CollectiveBroadcastAttrs{ReplicaGroups: op.Attr("replica_groups"), ChannelHandle: v.ChannelHandle(), HasDynamicRoot: v.HasDynamicRoot()})
		return n.Op, err
	},
	stablehlo.CollectivePermute: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCollectivePermute(op)
		n, err := stablehlo.BuildCollectivePermute(b, v.Input(), stablehlo.CollectivePermuteAttrs{SourceTargetPairs: op.Attr("source_target_pairs"), ChannelHandle: v.ChannelHandle()})
		return n.Op, err
	},
	stablehlo.CollectiveReduce: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCollectiveReduce(op)
		n, err := stablehlo.BuildCollectiveReduce(b, v.Inputs(), r[0], stablehlo.CollectiveReduceAttrs{ReplicaGroups: op.Attr("replica_groups"), ChannelHandle: v.ChannelHandle(), UseGlobalDeviceIDs: v.UseGlobalDeviceIDs(), HasDynamicRoot: v.HasDynamicRoot()})
		return n.Op, err
	},
	stablehlo.Compare: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCompare(op)
		n, err := stablehlo.BuildCompare(b, v.LHS(), v.RHS(), stablehlo.CompareAttrs{ComparisonDirection: v.ComparisonDirection(), CompareType: v.CompareType()})
		return n.Op, err
	},
	stablehlo.Complex: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsComplex(op)
		n, err := stablehlo.BuildComplex(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Composite: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsComposite(op)
		n, err := stablehlo.BuildComposite(b, v.Inputs(), r, op.ResultTypes(), stablehlo.CompositeAttrs{Name: v.CompositeName(), CompositeAttributes: op.Attr("composite_attributes"), Decomposition: v.Decomposition(), Version: v.Version()})
		return n.Op, err
	},
	stablehlo.Concatenate: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsConcatenate(op)
		n, err := stablehlo.BuildConcatenate(b, v.Inputs(), stablehlo.ConcatenateAttrs{Dimension: v.Dimension()})
		return n.Op, err
	},
	stablehlo.Constant: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		n, err := stablehlo.BuildConstant(b, stablehlo.ConstantAttrs{Value: op.Attr("value")})
		return n.Op, err
	},
	stablehlo.Convert: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsConvert(op)
		n, err := stablehlo.BuildConvert(b, v.Input(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.Convolution: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsConvolution(op)
		n, err := stablehlo.BuildConvolution(b, v.LHS(), v.RHS(), op.Result(0).Type(), stablehlo.ConvolutionAttrs{WindowStrides: v.WindowStrides(), Padding: op.Attr("padding"), LHSDilation: v.LHSDilation(), RHSDilation: v.RHSDilation(), WindowReversal: v.WindowReversal(), Dims: v.Dims(), FeatureGroupCount: v.FeatureGroupCount(), BatchGroupCount: v.BatchGroupCount(), PrecisionConfig: v.PrecisionConfig()})
		return n.Op, err
	},
	stablehlo.Cosine: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCosine(op)
		n, err := stablehlo.BuildCosine(b, v.Input(), stablehlo.CosineAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.CountLeadingZeros: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCountLeadingZeros(op)
		n, err := stablehlo.BuildCountLeadingZeros(b, v.Input())
		return n.Op, err
	},
	stablehlo.CreateToken: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		n, err := stablehlo.BuildCreateToken(b)
		return n.Op, err
	},
	stablehlo.CrossReplicaSum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCrossReplicaSum(op)
		n, err := stablehlo.BuildCrossReplicaSum(b, v.Input(), stablehlo.CrossReplicaSumAttrs{ReplicaGroups: op.Attr("replica_groups")})
		return n.Op, err
	},
	stablehlo.CustomCall: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsCustomCall(op)
		n, err := stablehlo.BuildCustomCall(b, v.Inputs(), op.ResultTypes(), stablehlo.CustomCallAttrs{CallTargetName: v.CallTargetName(), HasSideEffect: v.HasSideEffect(), BackendConfig: op.Attr("backend_config"), APIVersion: pointer(v.APIVersion(), true), CalledComputations: v.CalledComputations(), OperandLayouts: op.Attr("operand_layouts"), ResultLayouts: op.Attr("result_layouts"), OutputOperandAliases: v.OutputOperandAliases(), ResultTilings: op.Attr("result_tilings")})
		return n.Op, err
	},
	stablehlo.Divide: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDivide(op)
		n, err := stablehlo.BuildDivide(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Dot: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDot(op)
		n, err := stablehlo.BuildDot(b, v.LHS(), v.RHS(), op.Result(0).Type(), stablehlo.DotAttrs{PrecisionConfig: v.PrecisionConfig()})
		return n.Op, err
	},
	stablehlo.DotGeneral: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDotGeneral(op)
		n, err := stablehlo.BuildDotGeneral(b, v.LHS(), v.RHS(), op.Result(0).Type(), stablehlo.DotGeneralAttrs{Dims: v.Dims(), PrecisionConfig: v.PrecisionConfig(), Algorithm: v.Algorithm()})
		return n.Op, err
	},
	stablehlo.DynamicBroadcastInDim: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicBroadcastInDim(op)
		n, err := stablehlo.BuildDynamicBroadcastInDim(b, v.Input(), v.OutputDimensions(), op.Result(0).Type(), stablehlo.DynamicBroadcastInDimAttrs{BroadcastDimensions: v.BroadcastDimensions(), KnownExpandingDimensions: v.KnownExpandingDimensions(), KnownNonexpandingDimensions: v.KnownNonexpandingDimensions()})
		return n.Op, err
	},
	stablehlo.DynamicConv: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicConv(op)
		n, err := stablehlo.BuildDynamicConv(b, v.LHS(), v.RHS(), v.Padding(), op.Result(0).Type(), stablehlo.DynamicConvAttrs{WindowStrides: v.WindowStrides(), LHSDilation: v.LHSDilation(), RHSDilation: v.RHSDilation(), WindowReversal: v.WindowReversal(), Dims: v.Dims(), FeatureGroupCount: v.FeatureGroupCount(), BatchGroupCount: v.BatchGroupCount(), PrecisionConfig: v.PrecisionConfig()})
		return n.Op, err
	},
	stablehlo.DynamicGather: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicGather(op)
		n, err := stablehlo.BuildDynamicGather(b, v.Input(), v.StartIndices(), v.SliceSizes(), stablehlo.DynamicGatherAttrs{Dims: v.Dims(), IndicesAreSorted: v.IndicesAreSorted()})
		return n.Op, err
	},
	stablehlo.DynamicIota: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicIota(op)
		n, err := stablehlo.BuildDynamicIota(b, v.OutputShape(), op.Result(0).Type(), stablehlo.DynamicIotaAttrs{IotaDimension: v.IotaDimension()})
		return n.Op, err
	},
	stablehlo.DynamicPad: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicPad(op)
		n, err := stablehlo.BuildDynamicPad(b, v.Input(), v.PaddingValue(), v.EdgePaddingLow(), v.EdgePaddingHigh(), v.InteriorPadding(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.DynamicReshape: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicReshape(op)
		n, err := stablehlo.BuildDynamicReshape(b, v.Input(), v.OutputShape(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.DynamicSlice: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicSlice(op)
		n, err := stablehlo.BuildDynamicSlice(b, v.Input(), v.StartIndices(), stablehlo.DynamicSliceAttrs{SliceSizes: v.SliceSizes()})
		return n.Op, err
	},
	stablehlo.DynamicUpdateSlice: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsDynamicUpdateSlice(op)
		n, err := stablehlo.BuildDynamicUpdateSlice(b, v.Input(), v.Update(), v.StartIndices())
		return n.Op, err
	},
	stablehlo.Einsum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsEinsum(op)
		n, err := stablehlo.BuildEinsum(b, v.LHS(), v.RHS(), op.Result(0).Type(), stablehlo.EinsumAttrs{EinsumConfig: v.EinsumConfig()})
		return n.Op, err
	},
	stablehlo.Exponential: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsExponential(op)
		n, err := stablehlo.BuildExponential(b, v.Input(), stablehlo.ExponentialAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.ExponentialMinusOne: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsExponentialMinusOne(op)
		n, err := stablehlo.BuildExponentialMinusOne(b, v.Input(), stablehlo.ExponentialMinusOneAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Fft: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsFft(op)
		n, err := stablehlo.BuildFft(b, v.Input(), stablehlo.FftAttrs{FftType: v.FftType(), FftLength: v.FftLength()})
		return n.Op, err
	},
	stablehlo.Floor: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsFloor(op)
		n, err := stablehlo.BuildFloor(b, v.Input())
		return n.Op, err
	},
	stablehlo.Gather: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsGather(op)
		n, err := stablehlo.BuildGather(b, v.Input(), v.StartIndices(), stablehlo.GatherAttrs{Dims: v.Dims(), SliceSizes: v.SliceSizes(), IndicesAreSorted: v.IndicesAreSorted()})
		return n.Op, err
	},
	stablehlo.GetDimensionSize: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsGetDimensionSize(op)
		n, err := stablehlo.BuildGetDimensionSize(b, v.Input(), stablehlo.GetDimensionSizeAttrs{Dimension: v.Dimension()})
		return n.Op, err
	},
	stablehlo.GetTupleElement: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsGetTupleElement(op)
		n, err := stablehlo.BuildGetTupleElement(b, v.Input(), stablehlo.GetTupleElementAttrs{Index: v.Index()})
		return n.Op, err
	},
	stablehlo.If: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsIf(op)
		n, err := stablehlo.BuildIf(b, v.Pred(), r[0], r[1])
		return n.Op, err
	},
	stablehlo.Imag: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsImag(op)
		n, err := stablehlo.BuildImag(b, v.Input())
		return n.Op, err
	},
	stablehlo.Infeed: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsInfeed(op)
		n, err := stablehlo.BuildInfeed(b, v.Token(), op.ResultTypes(), stablehlo.InfeedAttrs{InfeedConfig: v.InfeedConfig(), Layout: op.Attr("layout")})
		return n.Op, err
	},
	stablehlo.Iota: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsIota(op)
		n, err := stablehlo.BuildIota(b, op.Result(0).Type(), stablehlo.IotaAttrs{IotaDimension: v.IotaDimension()})
		return n.Op, err
	},
	stablehlo.IsFinite: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsIsFinite(op)
		n, err := stablehlo.BuildIsFinite(b, v.X())
		return n.Op, err
	},
	stablehlo.Log: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsLog(op)
		n, err := stablehlo.BuildLog(b, v.Input(), stablehlo.LogAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.LogPlusOne: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsLogPlusOne(op)
		n, err := stablehlo.BuildLogPlusOne(b, v.Input(), stablehlo.LogPlusOneAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Logistic: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsLogistic(op)
		n, err := stablehlo.BuildLogistic(b, v.Input(), stablehlo.LogisticAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Map: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsMap(op)
		n, err := stablehlo.BuildMap(b, v.Inputs(), r[0], stablehlo.MapAttrs{Dimensions: v.Dimensions()})
		return n.Op, err
	},
	stablehlo.Maximum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsMaximum(op)
		n, err := stablehlo.BuildMaximum(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Minimum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsMinimum(op)
		n, err := stablehlo.BuildMinimum(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Multiply: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsMultiply(op)
		n, err := stablehlo.BuildMultiply(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Negate: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsNegate(op)
		n, err := stablehlo.BuildNegate(b, v.Input())
		return n.Op, err
	},
	stablehlo.Not: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsNot(op)
		n, err := stablehlo.BuildNot(b, v.Input())
		return n.Op, err
	},
	stablehlo.OptimizationBarrier: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsOptimizationBarrier(op)
		n, err := stablehlo.BuildOptimizationBarrier(b, v.Input())
		return n.Op, err
	},
	stablehlo.Or: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsOr(op)
		n, err := stablehlo.BuildOr(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Outfeed: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsOutfeed(op)
		n, err := stablehlo.BuildOutfeed(b, v.Inputs(), v.Token(), stablehlo.OutfeedAttrs{OutfeedConfig: v.OutfeedConfig()})
		return n.Op, err
	},
	stablehlo.Pad: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsPad(op)
		n, err := stablehlo.BuildPad(b, v.Input(), v.PaddingValue(), stablehlo.PadAttrs{EdgePaddingLow: v.EdgePaddingLow(), EdgePaddingHigh: v.EdgePaddingHigh(), InteriorPadding: v.InteriorPadding()})
		return n.Op, err
	},
	stablehlo.PartitionID: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		n, err := stablehlo.BuildPartitionID(b)
		return n.Op, err
	},
	stablehlo.Popcnt: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsPopcnt(op)
		n, err := stablehlo.BuildPopcnt(b, v.Input())
		return n.Op, err
	},
	stablehlo.Power: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsPower(op)
		n, err := stablehlo.BuildPower(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Real: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReal(op)
		n, err := stablehlo.BuildReal(b, v.Input())
		return n.Op, err
	},
	stablehlo.RealDynamicSlice: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRealDynamicSlice(op)
		n, err := stablehlo.BuildRealDynamicSlice(b, v.Input(), v.StartIndices(), v.LimitIndices(), v.Strides(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.Recv: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRecv(op)
		n, err := stablehlo.BuildRecv(b, v.Token(), op.ResultTypes(), stablehlo.RecvAttrs{ChannelHandle: v.ChannelHandle(), IsHostTransfer: v.IsHostTransfer(), SourceTargetPairs: op.Attr("source_target_pairs")})
		return n.Op, err
	},
	stablehlo.Reduce: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReduce(op)
		n, err := stablehlo.BuildReduce(b, v.Inputs(), v.InitValues(), r[0], stablehlo.ReduceAttrs{Dimensions: v.Dimensions()})
		return n.Op, err
	},
	stablehlo.ReducePrecision: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReducePrecision(op)
		n, err := stablehlo.BuildReducePrecision(b, v.Input(), stablehlo.ReducePrecisionAttrs{ExponentBits: v.ExponentBits(), MantissaBits: v.MantissaBits()})
		return n.Op, err
	},
	stablehlo.ReduceScatter: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReduceScatter(op)
		n, err := stablehlo.BuildReduceScatter(b, v.Input(), r[0], op.Result(0).Type(), stablehlo.ReduceScatterAttrs{ScatterDimension: v.ScatterDimension(), ReplicaGroups: op.Attr("replica_groups"), ChannelHandle: v.ChannelHandle(), UseGlobalDeviceIDs: v.UseGlobalDeviceIDs()})
		return n.Op, err
	},
	stablehlo.ReduceWindow: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReduceWindow(op)
		n, err := stablehlo.BuildReduceWindow(b, v.Inputs(), v.InitValues(), r[0], stablehlo.ReduceWindowAttrs{WindowDimensions: v.WindowDimensions(), WindowStrides: v.WindowStrides(), BaseDilations: v.BaseDilations(), WindowDilations: v.WindowDilations(), Padding: op.Attr("padding")})
		return n.Op, err
	},
	stablehlo.Remainder: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRemainder(op)
		n, err := stablehlo.BuildRemainder(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.ReplicaID: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		n, err := stablehlo.BuildReplicaID(b)
		return n.Op, err
	},
	stablehlo.Reshape: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReshape(op)
		n, err := stablehlo.BuildReshape(b, v.Input(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.Return: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReturn(op)
		n, err := stablehlo.BuildReturn(b, v.ReturnResults())
		return n.Op, err
	},
	stablehlo.Reverse: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsReverse(op)
		n, err := stablehlo.BuildReverse(b, v.Input(), stablehlo.ReverseAttrs{Dimensions: v.Dimensions()})
		return n.Op, err
	},
	stablehlo.Rng: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRng(op)
		n, err := stablehlo.BuildRng(b, v.A(), v.B(), v.Shape(), stablehlo.RngAttrs{RngDistribution: v.RngDistribution()})
		return n.Op, err
	},
	stablehlo.RngBitGenerator: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRngBitGenerator(op)
		n, err := stablehlo.BuildRngBitGenerator(b, v.InitialState(), op.ResultTypes(), stablehlo.RngBitGeneratorAttrs{RngAlgorithm: v.RngAlgorithm()})
		return n.Op, err
	},
	stablehlo.RoundNearestAFZ: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRoundNearestAFZ(op)
		n, err := stablehlo.BuildRoundNearestAFZ(b, v.Input())
		return n.Op, err
	},
	stablehlo.RoundNearestEven: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRoundNearestEven(op)
		n, err := stablehlo.BuildRoundNearestEven(b, v.Input())
		return n.Op, err
	},
	stablehlo.Rsqrt: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsRsqrt(op)
		n, err := stablehlo.BuildRsqrt(b, v.Input(), stablehlo.RsqrtAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Scatter: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsScatter(op)
		n, err := stablehlo.BuildScatter(b, v.Inputs(), v.ScatterIndices(), v.Updates(), r[0], stablehlo.ScatterAttrs{Dims: v.Dims(), IndicesAreSorted: v.IndicesAreSorted(), UniqueIndices: v.UniqueIndices()})
		return n.Op, err
	},
	stablehlo.Select: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSelect(op)
		n, err := stablehlo.BuildSelect(b, v.Pred(), v.OnTrue(), v.OnFalse())
		return n.Op, err
	},
	stablehlo.SelectAndScatter: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSelectAndScatter(op)
		n, err := stablehlo.BuildSelectAndScatter(b, v.Input(), v.Source(), v.InitValue(), r[0], r[1], stablehlo.SelectAndScatterAttrs{WindowDimensions: v.WindowDimensions(), WindowStrides: v.WindowStrides(), Padding: op.Attr("padding")})
		return n.Op, err
	},
	stablehlo.Send: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSend(op)
		n, err := stablehlo.BuildSend(b, v.Inputs(), v.Token(), stablehlo.SendAttrs{ChannelHandle: v.ChannelHandle(), IsHostTransfer: v.IsHostTransfer(), SourceTargetPairs: op.Attr("source_target_pairs")})
		return n.Op, err
	},
	stablehlo.SetDimensionSize: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSetDimensionSize(op)
		n, err := stablehlo.BuildSetDimensionSize(b, v.Input(), v.Size(), stablehlo.SetDimensionSizeAttrs{Dimension: v.Dimension()})
		return n.Op, err
	},
	stablehlo.ShiftLeft: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsShiftLeft(op)
		n, err := stablehlo.BuildShiftLeft(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.ShiftRightArithmetic: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsShiftRightArithmetic(op)
		n, err := stablehlo.BuildShiftRightArithmetic(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.ShiftRightLogical: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsShiftRightLogical(op)
		n, err := stablehlo.BuildShiftRightLogical(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Sign: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSign(op)
		n, err := stablehlo.BuildSign(b, v.Input())
		return n.Op, err
	},
	stablehlo.Sine: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSine(op)
		n, err := stablehlo.BuildSine(b, v.Input(), stablehlo.SineAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Slice: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSlice(op)
		n, err := stablehlo.BuildSlice(b, v.Input(), stablehlo.SliceAttrs{StartIndices: v.StartIndices(), LimitIndices: v.LimitIndices(), Strides: v.Strides()})
		return n.Op, err
	},
	stablehlo.Sort: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSort(op)
		n, err := stablehlo.BuildSort(b, v.Inputs(), r[0], stablehlo.SortAttrs{Dimension: pointer(v.Dimension(), true), IsStable: v.IsStable()})
		return n.Op, err
	},
	stablehlo.Sqrt: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSqrt(op)
		n, err := stablehlo.BuildSqrt(b, v.Input(), stablehlo.SqrtAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Subtract: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsSubtract(op)
		n, err := stablehlo.BuildSubtract(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	stablehlo.Tan: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsTan(op)
		n, err := stablehlo.BuildTan(b, v.Input(), stablehlo.TanAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.Tanh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsTanh(op)
		n, err := stablehlo.BuildTanh(b, v.Input(), stablehlo.TanhAttrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	stablehlo.TorchIndexSelect: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsTorchIndexSelect(op)
		n, err := stablehlo.BuildTorchIndexSelect(b, v.Input(), v.Index(), op.Result(0).Type(), stablehlo.TorchIndexSelectAttrs{Dim: v.Dim(), BatchDims: v.BatchDims()})
		return n.Op, err
	},
	stablehlo.Transpose: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsTranspose(op)
		n, err := stablehlo.BuildTranspose(b, v.Input(), stablehlo.TransposeAttrs{Permutation: v.Permutation()})
		return n.Op, err
	},
	stablehlo.TriangularSolve: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsTriangularSolve(op)
		n, err := stablehlo.BuildTriangularSolve(b, v.A(), v.B(), stablehlo.TriangularSolveAttrs{LeftSide: v.LeftSide(), Lower: v.Lower(), UnitDiagonal: v.UnitDiagonal(), TransposeA: v.TransposeA()})
		return n.Op, err
	},
	stablehlo.Tuple: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsTuple(op)
		n, err := stablehlo.BuildTuple(b, v.Val())
		return n.Op, err
	},
	stablehlo.UnaryEinsum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsUnaryEinsum(op)
		n, err := stablehlo.BuildUnaryEinsum(b, v.Input(), op.Result(0).Type(), stablehlo.UnaryEinsumAttrs{EinsumConfig: v.EinsumConfig()})
		return n.Op, err
	},
	stablehlo.UniformDequantize: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsUniformDequantize(op)
		n, err := stablehlo.BuildUniformDequantize(b, v.Input())
		return n.Op, err
	},
	stablehlo.UniformQuantize: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsUniformQuantize(op)
		n, err := stablehlo.BuildUniformQuantize(b, v.Input(), op.Result(0).Type())
		return n.Op, err
	},
	stablehlo.While: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsWhile(op)
		n, err := stablehlo.BuildWhile(b, v.Input(), r[0], r[1])
		return n.Op, err
	},
	stablehlo.Xor: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := stablehlo.AsXor(op)
		n, err := stablehlo.BuildXor(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	chlo.Acos: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAcos(op)
		n, err := chlo.BuildAcos(b, v.Input())
		return n.Op, err
	},
	chlo.Acosh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAcosh(op)
		n, err := chlo.BuildAcosh(b, v.Input())
		return n.Op, err
	},
	chlo.AsinAcosKernel: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAsinAcosKernel(op)
		n, err := chlo.BuildAsinAcosKernel(b, v.Input())
		return n.Op, err
	},
	chlo.Asin: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAsin(op)
		n, err := chlo.BuildAsin(b, v.Input())
		return n.Op, err
	},
	chlo.Asinh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAsinh(op)
		n, err := chlo.BuildAsinh(b, v.Input())
		return n.Op, err
	},
	chlo.Atan: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAtan(op)
		n, err := chlo.BuildAtan(b, v.Input())
		return n.Op, err
	},
	chlo.Atanh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsAtanh(op)
		n, err := chlo.BuildAtanh(b, v.Input())
		return n.Op, err
	},
	chlo.BesselI1e: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBesselI1e(op)
		n, err := chlo.BuildBesselI1e(b, v.Input())
		return n.Op, err
	},
	chlo.BroadcastAdd: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastAdd(op)
		n, err := chlo.BuildBroadcastAdd(b, v.LHS(), v.RHS(), chlo.BroadcastAddAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastAnd: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastAnd(op)
		n, err := chlo.BuildBroadcastAnd(b, v.LHS(), v.RHS(), chlo.BroadcastAndAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastAtan2: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastAtan2(op)
		n, err := chlo.BuildBroadcastAtan2(b, v.LHS(), v.RHS(), chlo.BroadcastAtan2Attrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastCompare: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastCompare(op)
		n, err := chlo.BuildBroadcastCompare(b, v.LHS(), v.RHS(), chlo.BroadcastCompareAttrs{BroadcastDimensions: v.BroadcastDimensions(), ComparisonDirection: v.ComparisonDirection(), CompareType: v.CompareType()})
		return n.Op, err
	},
	chlo.BroadcastComplex: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastComplex(op)
		n, err := chlo.BuildBroadcastComplex(b, v.LHS(), v.RHS(), chlo.BroadcastComplexAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastDivide: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastDivide(op)
		n, err := chlo.BuildBroadcastDivide(b, v.LHS(), v.RHS(), chlo.BroadcastDivideAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastMaximum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastMaximum(op)
		n, err := chlo.BuildBroadcastMaximum(b, v.LHS(), v.RHS(), chlo.BroadcastMaximumAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastMinimum: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastMinimum(op)
		n, err := chlo.BuildBroadcastMinimum(b, v.LHS(), v.RHS(), chlo.BroadcastMinimumAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastMultiply: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastMultiply(op)
		n, err := chlo.BuildBroadcastMultiply(b, v.LHS(), v.RHS(), chlo.BroadcastMultiplyAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastNextAfter: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastNextAfter(op)
		n, err := chlo.BuildBroadcastNextAfter(b, v.LHS(), v.RHS(), chlo.BroadcastNextAfterAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastOr: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastOr(op)
		n, err := chlo.BuildBroadcastOr(b, v.LHS(), v.RHS(), chlo.BroadcastOrAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastPolygamma: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastPolygamma(op)
		n, err := chlo.BuildBroadcastPolygamma(b, v.LHS(), v.RHS(), chlo.BroadcastPolygammaAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastPower: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastPower(op)
		n, err := chlo.BuildBroadcastPower(b, v.LHS(), v.RHS(), chlo.BroadcastPowerAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastRemainder: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastRemainder(op)
		n, err := chlo.BuildBroadcastRemainder(b, v.LHS(), v.RHS(), chlo.BroadcastRemainderAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastSelect: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastSelect(op)
		n, err := chlo.BuildBroadcastSelect(b, v.Pred(), v.OnTrue(), v.OnFalse())
		return n.Op, err
	},
	chlo.BroadcastShiftLeft: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastShiftLeft(op)
		n, err := chlo.BuildBroadcastShiftLeft(b, v.LHS(), v.RHS(), chlo.BroadcastShiftLeftAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastShiftRightArithmetic: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastShiftRightArithmetic(op)
		n, err := chlo.BuildBroadcastShiftRightArithmetic(b, v.LHS(), v.RHS(), chlo.BroadcastShiftRightArithmeticAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastShiftRightLogical: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastShiftRightLogical(op)
		n, err := chlo.BuildBroadcastShiftRightLogical(b, v.LHS(), v.RHS(), chlo.BroadcastShiftRightLogicalAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastSubtract: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastSubtract(op)
		n, err := chlo.BuildBroadcastSubtract(b, v.LHS(), v.RHS(), chlo.BroadcastSubtractAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastXor: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastXor(op)
		n, err := chlo.BuildBroadcastXor(b, v.LHS(), v.RHS(), chlo.BroadcastXorAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.BroadcastZeta: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsBroadcastZeta(op)
		n, err := chlo.BuildBroadcastZeta(b, v.LHS(), v.RHS(), chlo.BroadcastZetaAttrs{BroadcastDimensions: v.BroadcastDimensions()})
		return n.Op, err
	},
	chlo.Conj: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsConj(op)
		n, err := chlo.BuildConj(b, v.Input())
		return n.Op, err
	},
	chlo.Constant: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		n, err := chlo.BuildConstant(b, chlo.ConstantAttrs{Value: op.Attr("value")})
		return n.Op, err
	},
	chlo.ConstantLike: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsConstantLike(op)
		n, err := chlo.BuildConstantLike(b, v.Input(), op.Result(0).Type(), chlo.ConstantLikeAttrs{Value: op.Attr("value")})
		return n.Op, err
	},
	chlo.Cosh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsCosh(op)
		n, err := chlo.BuildCosh(b, v.Input())
		return n.Op, err
	},
	chlo.Digamma: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsDigamma(op)
		n, err := chlo.BuildDigamma(b, v.Input())
		return n.Op, err
	},
	chlo.Erf: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsErf(op)
		n, err := chlo.BuildErf(b, v.Input())
		return n.Op, err
	},
	chlo.ErfInv: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsErfInv(op)
		n, err := chlo.BuildErfInv(b, v.Input())
		return n.Op, err
	},
	chlo.Erfc: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsErfc(op)
		n, err := chlo.BuildErfc(b, v.Input())
		return n.Op, err
	},
	chlo.IsInf: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsIsInf(op)
		n, err := chlo.BuildIsInf(b, v.Input())
		return n.Op, err
	},
	chlo.IsNegInf: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsIsNegInf(op)
		n, err := chlo.BuildIsNegInf(b, v.Input())
		return n.Op, err
	},
	chlo.IsPosInf: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsIsPosInf(op)
		n, err := chlo.BuildIsPosInf(b, v.Input())
		return n.Op, err
	},
	chlo.Lgamma: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsLgamma(op)
		n, err := chlo.BuildLgamma(b, v.Input())
		return n.Op, err
	},
	chlo.Mulhi: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsMulhi(op)
		n, err := chlo.BuildMulhi(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	chlo.NextAfter: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsNextAfter(op)
		n, err := chlo.BuildNextAfter(b, v.X(), v.Y())
		return n.Op, err
	},
	chlo.Polygamma: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsPolygamma(op)
		n, err := chlo.BuildPolygamma(b, v.N(), v.X())
		return n.Op, err
	},
	chlo.RaggedDot: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsRaggedDot(op)
		n, err := chlo.BuildRaggedDot(b, v.LHS(), v.RHS(), v.GroupSizes(), op.Result(0).Type(), chlo.RaggedDotAttrs{Dims: v.Dims(), PrecisionConfig: v.PrecisionConfig()})
		return n.Op, err
	},
	chlo.Scan: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsScan(op)
		n, err := chlo.BuildScan(b, v.Inputs(), v.Inits(), r[0], view.ResultTypes(op, 0), view.ResultTypes(op, 1), chlo.ScanAttrs{Dimension: v.Dimension(), ScanDimSize: pointer(v.ScanDimSize()), IsReverse: v.IsReverse(), IsAssociative: pointer(v.IsAssociative())})
		return n.Op, err
	},
	chlo.Sinh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsSinh(op)
		n, err := chlo.BuildSinh(b, v.Input())
		return n.Op, err
	},
	chlo.Square: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsSquare(op)
		n, err := chlo.BuildSquare(b, v.Input())
		return n.Op, err
	},
	chlo.Tan: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsTan(op)
		n, err := chlo.BuildTan(b, v.Input())
		return n.Op, err
	},
	chlo.TopK: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsTopK(op)
		n, err := chlo.BuildTopK(b, v.Input(), chlo.TopKAttrs{K: v.K(), IsStable: pointer(v.IsStable(), true)})
		return n.Op, err
	},
	chlo.Zeta: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := chlo.AsZeta(op)
		n, err := chlo.BuildZeta(b, v.X(), v.Q())
		return n.Op, err
	},
	mhlo.AddDependency: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAddDependency(op)
		n, err := mhlo.BuildAddDependency(b, v.Input(), v.Token(), op.Result(0).Type())
		return n.Op, err
	},
	mhlo.AsyncStart: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAsyncStart(op)
		n, err := mhlo.BuildAsyncStart(b, v.Inputs(), op.Result(0).Type(), mhlo.AsyncStartAttrs{CalledComputation: v.CalledComputation(), ExecutionThread: v.ExecutionThread()})
		return n.Op, err
	},
	mhlo.AsyncUpdate: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAsyncUpdate(op)
		n, err := mhlo.BuildAsyncUpdate(b, v.Bundle(), op.Result(0).Type())
		return n.Op, err
	},
	mhlo.AsyncDone: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAsyncDone(op)
		n, err := mhlo.BuildAsyncDone(b, v.Bundle(), op.ResultTypes())
		return n.Op, err
	},
	mhlo.Bitcast: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsBitcast(op)
		n, err := mhlo.BuildBitcast(b, v.Input(), op.Result(0).Type())
		return n.Op, err
	},
	mhlo.Copy: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsCopy(op)
		n, err := mhlo.BuildCopy(b, v.Input(), op.Result(0).Type(), mhlo.CopyAttrs{CrossProgramPrefetchIndex: pointer(v.CrossProgramPrefetchIndex())})
		return n.Op, err
	},
	mhlo.Domain: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsDomain(op)
		n, err := mhlo.BuildDomain(b, v.Input(), op.Result(0).Type(), mhlo.DomainAttrs{Kind: v.Kind(), EntryMetadata: v.EntryMetadata(), ExitMetadata: v.ExitMetadata()})
		return n.Op, err
	},
	mhlo.Exp2: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsExp2(op)
		n, err := mhlo.BuildExp2(b, v.Input(), mhlo.Exp2Attrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	mhlo.Fusion: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsFusion(op)
		n, err := mhlo.BuildFusion(b, v.Inputs(), r[0], op.ResultTypes(), mhlo.FusionAttrs{FusionKind: v.FusionKind(), OutputOperandAliases: op.Attr("output_operand_aliases")})
		return n.Op, err
	},
	mhlo.Log2: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsLog2(op)
		n, err := mhlo.BuildLog2(b, v.Input(), mhlo.Log2Attrs{ResultAccuracy: v.ResultAccuracy()})
		return n.Op, err
	},
	mhlo.MinimumBroadcastShapes: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsMinimumBroadcastShapes(op)
		n, err := mhlo.BuildMinimumBroadcastShapes(b, v.Shapes(), op.ResultTypes())
		return n.Op, err
	},
	mhlo.Mulhi: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsMulhi(op)
		n, err := mhlo.BuildMulhi(b, v.LHS(), v.RHS(), op.Result(0).Type())
		return n.Op, err
	},
	mhlo.RaggedDot: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsRaggedDot(op)
		n, err := mhlo.BuildRaggedDot(b, v.LHS(), v.RHS(), v.GroupSizes(), mhlo.RaggedDotAttrs{Dims: v.Dims(), PrecisionConfig: v.PrecisionConfig()})
		return n.Op, err
	},
	mhlo.RngGetAndUpdateState: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsRngGetAndUpdateState(op)
		n, err := mhlo.BuildRngGetAndUpdateState(b, mhlo.RngGetAndUpdateStateAttrs{Delta: v.Delta()})
		return n.Op, err
	},
	mhlo.StochasticConvert: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsStochasticConvert(op)
		n, err := mhlo.BuildStochasticConvert(b, v.Input(), v.Random(), op.Result(0).Type())
		return n.Op, err
	},
	mhlo.TopK: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsTopK(op)
		n, err := mhlo.BuildTopK(b, v.Input(), mhlo.TopKAttrs{K: v.K(), Largest: pointer(v.Largest(), true), IsStable: pointer(v.IsStable(), true)})
		return n.Op, err
	},
	mhlo.Trace: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsTrace(op)
		n, err := mhlo.BuildTrace(b, v.Input(), mhlo.TraceAttrs{Tag: v.Tag()})
		return n.Op, err
	},
	mhlo.Scan: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsScan(op)
		n, err := mhlo.BuildScan(b, v.Inputs(), v.Inits(), r[0], view.ResultTypes(op, 0), view.ResultTypes(op, 1), mhlo.ScanAttrs{Dimension: v.Dimension(), ScanDimSize: pointer(v.ScanDimSize()), IsReverse: v.IsReverse(), IsAssociative: pointer(v.IsAssociative())})
		return n.Op, err
	},
	mhlo.Acos: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAcos(op)
		n, err := mhlo.BuildAcos(b, v.Input())
		return n.Op, err
	},
	mhlo.Acosh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAcosh(op)
		n, err := mhlo.BuildAcosh(b, v.Input())
		return n.Op, err
	},
	mhlo.Asin: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAsin(op)
		n, err := mhlo.BuildAsin(b, v.Input())
		return n.Op, err
	},
	mhlo.Asinh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAsinh(op)
		n, err := mhlo.BuildAsinh(b, v.Input())
		return n.Op, err
	},
	mhlo.Atanh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsAtanh(op)
		n, err := mhlo.BuildAtanh(b, v.Input())
		return n.Op, err
	},
	mhlo.Cosh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsCosh(op)
		n, err := mhlo.BuildCosh(b, v.Input())
		return n.Op, err
	},
	mhlo.Erf: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsErf(op)
		n, err := mhlo.BuildErf(b, v.Input())
		return n.Op, err
	},
	mhlo.Sinh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mhlo.AsSinh(op)
		n, err := mhlo.BuildSinh(b, v.Input())
		return n.Op, err
	},
	sdy.AllGather: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsAllGather(op)
		n, err := sdy.BuildAllGather(b, v.Tensor(), sdy.AllGatherAttrs{GatheringAxes: v.GatheringAxes(), OutSharding: v.OutSharding()})
		return n.Op, err
	},
	sdy.AllReduce: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsAllReduce(op)
		n, err := sdy.BuildAllReduce(b, v.Tensor(), sdy.AllReduceAttrs{ReductionAxes: v.ReductionAxes(), OutSharding: v.OutSharding(), ReductionOp: op.Attr("reduction_op")})
		return n.Op, err
	},
	sdy.AllSlice: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsAllSlice(op)
		n, err := sdy.BuildAllSlice(b, v.Tensor(), sdy.AllSliceAttrs{SlicingAxes: v.SlicingAxes(), OutSharding: v.OutSharding()})
		return n.Op, err
	},
	sdy.AllToAll: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsAllToAll(op)
		n, err := sdy.BuildAllToAll(b, v.Tensor(), sdy.AllToAllAttrs{Params: v.Params(), OutSharding: v.OutSharding()})
		return n.Op, err
	},
	sdy.CollectivePermute: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsCollectivePermute(op)
		n, err := sdy.BuildCollectivePermute(b, v.Tensor(), sdy.CollectivePermuteAttrs{OutSharding: v.OutSharding()})
		return n.Op, err
	},
	sdy.Constant: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		n, err := sdy.BuildConstant(b, op.Result(0).Type(), sdy.ConstantAttrs{Value: op.Attr("value")})
		return n.Op, err
	},
	sdy.DataFlowEdge: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsDataFlowEdge(op)
		n, err := sdy.BuildDataFlowEdge(b, v.Input(), sdy.DataFlowEdgeAttrs{Sharding: v.Sharding()})
		return n.Op, err
	},
	sdy.FuncDataFlowEdge: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsFuncDataFlowEdge(op)
		n, err := sdy.BuildFuncDataFlowEdge(b, v.Input())
		return n.Op, err
	},
	sdy.ReduceScatter: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsReduceScatter(op)
		n, err := sdy.BuildReduceScatter(b, v.Tensor(), sdy.ReduceScatterAttrs{ReduceScatterAxes: v.ReduceScatterAxes(), OutSharding: v.OutSharding(), ReductionOp: op.Attr("reduction_op")})
		return n.Op, err
	},
	sdy.ReplicatedToUnreduced: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsReplicatedToUnreduced(op)
		n, err := sdy.BuildReplicatedToUnreduced(b, v.Tensor(), sdy.ReplicatedToUnreducedAttrs{Axes: v.Axes(), OutSharding: v.OutSharding()})
		return n.Op, err
	},
	sdy.ShardedToUnreduced: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsShardedToUnreduced(op)
		n, err := sdy.BuildShardedToUnreduced(b, v.Tensor(), sdy.ShardedToUnreducedAttrs{Axes: v.Axes(), OutSharding: v.OutSharding()})
		return n.Op, err
	},
	sdy.ManualComputation: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsManualComputation(op)
		n, err := sdy.BuildManualComputation(b, v.Tensors(), r[0], op.ResultTypes(), sdy.ManualComputationAttrs{InShardings: v.InShardings(), ManualAxes: v.ManualAxes(), OutShardings: v.OutShardings()})
		return n.Op, err
	},
	sdy.Mesh: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsMesh(op)
		n, err := sdy.BuildMesh(b, sdy.MeshAttrs{Mesh: v.Mesh(), SymName: v.SymName()})
		return n.Op, err
	},
	sdy.NamedComputation: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsNamedComputation(op)
		n, err := sdy.BuildNamedComputation(b, v.Inputs(), r[0], op.ResultTypes(), sdy.NamedComputationAttrs{InShardings: v.InShardings(), Name: v.NamedComputationName(), OutShardings: v.OutShardings()})
		return n.Op, err
	},
	sdy.PropagationBarrier: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsPropagationBarrier(op)
		n, err := sdy.BuildPropagationBarrier(b, v.Input(), sdy.PropagationBarrierAttrs{AllowedDirection: op.Attr("allowed_direction")})
		return n.Op, err
	},
	sdy.Reshard: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsReshard(op)
		n, err := sdy.BuildReshard(b, v.Input(), sdy.ReshardAttrs{Sharding: v.Sharding()})
		return n.Op, err
	},
	sdy.Return: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsReturn(op)
		n, err := sdy.BuildReturn(b, v.ReturnResults())
		return n.Op, err
	},
	sdy.ShardingConstraint: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsShardingConstraint(op)
		n, err := sdy.BuildShardingConstraint(b, v.Input(), sdy.ShardingConstraintAttrs{Sharding: v.Sharding()})
		return n.Op, err
	},
	sdy.ShardingGroup: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := sdy.AsShardingGroup(op)
		n, err := sdy.BuildShardingGroup(b, v.Input(), sdy.ShardingGroupAttrs{GroupID: v.GroupID()})
		return n.Op, err
	},
	mpmd.Assign: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsAssign(op)
		n, err := mpmd.BuildAssign(b, v.Tensor(), op.Result(0).Type(), mpmd.AssignAttrs{Origin: v.AssignOrigin()})
		return n.Op, err
	},
	mpmd.Broadcast: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsBroadcast(op)
		n, err := mpmd.BuildBroadcast(b, v.Tensor())
		return n.Op, err
	},
	mpmd.Call: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsCall(op)
		n, err := mpmd.BuildCall(b, v.Tensors(), op.ResultTypes(), mpmd.CallAttrs{Callee: v.Callee()})
		return n.Op, err
	},
	mpmd.For: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsFor(op)
		n, err := mpmd.BuildFor(b, v.Tensors(), r[0], op.ResultTypes(), mpmd.ForAttrs{Iterations: v.Iterations(), UnrollFactor: pointer(v.UnrollFactor())})
		return n.Op, err
	},
	mpmd.Fragment: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsFragment(op)
		n, err := mpmd.BuildFragment(b, v.Inputs(), r[0], op.ResultTypes(), mpmd.FragmentAttrs{InShardings: v.InShardings(), MeshName: v.MeshName(), Origin: v.FragmentOrigin(), OutShardings: v.OutShardings(), StageID: pointer(v.StageID())})
		return n.Op, err
	},
	mpmd.FragmentCall: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsFragmentCall(op)
		n, err := mpmd.BuildFragmentCall(b, v.Tensors(), op.ResultTypes(), mpmd.FragmentCallAttrs{Callee: v.Callee(), MeshName: v.MeshName(), Origin: v.FragmentCallOrigin()})
		return n.Op, err
	},
	mpmd.NamedComputation: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsNamedComputation(op)
		n, err := mpmd.BuildNamedComputation(b, v.Tensors(), r[0], op.ResultTypes(), mpmd.NamedComputationAttrs{Origin: v.NamedComputationOrigin()})
		return n.Op, err
	},
	mpmd.NamedTensor: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsNamedTensor(op)
		n, err := mpmd.BuildNamedTensor(b, v.Tensor(), mpmd.NamedTensorAttrs{Name: v.NamedTensorName()})
		return n.Op, err
	},
	mpmd.Reduce: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsReduce(op)
		n, err := mpmd.BuildReduce(b, v.Tensors(), op.Result(0).Type(), mpmd.ReduceAttrs{Reduction: v.Reduction()})
		return n.Op, err
	},
	mpmd.Return: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsReturn(op)
		n, err := mpmd.BuildReturn(b, v.ReturnResults())
		return n.Op, err
	},
	mpmd.Transfer: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsTransfer(op)
		n, err := mpmd.BuildTransfer(b, v.Tensor(), op.Result(0).Type())
		return n.Op, err
	},
	mpmd.Unassign: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := mpmd.AsUnassign(op)
		n, err := mpmd.BuildUnassign(b, v.Tensor(), mpmd.UnassignAttrs{Origin: v.UnassignOrigin()})
		return n.Op, err
	},
	check.ExpectAlmostEq: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := check.AsExpectAlmostEq(op)
		n, err := check.BuildExpectAlmostEq(b, v.LHS(), v.RHS(), check.ExpectAlmostEqAttrs{Tolerance: v.Tolerance()})
		return n.Op, err
	},
	check.ExpectAlmostEqConst: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := check.AsExpectAlmostEqConst(op)
		n, err := check.BuildExpectAlmostEqConst(b, v.LHS(), check.ExpectAlmostEqConstAttrs{Value: op.Attr("value"), Tolerance: v.Tolerance()})
		return n.Op, err
	},
	check.ExpectEq: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := check.AsExpectEq(op)
		n, err := check.BuildExpectEq(b, v.LHS(), v.RHS())
		return n.Op, err
	},
	check.ExpectEqConst: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := check.AsExpectEqConst(op)
		n, err := check.BuildExpectEqConst(b, v.LHS(), check.ExpectEqConstAttrs{Value: op.Attr("value")})
		return n.Op, err
	},
	check.ExpectClose: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := check.AsExpectClose(op)
		n, err := check.BuildExpectClose(b, v.Actual(), v.Expected(), check.ExpectCloseAttrs{MaxULPDifference: pointer(v.MaxULPDifference()), MinULPDifference: pointer(v.MinULPDifference())})
		return n.Op, err
	},
	check.ExpectSerializedEq: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := check.AsExpectSerializedEq(op)
		n, err := check.BuildExpectSerializedEq(b, v.Expected(), check.ExpectSerializedEqAttrs{ProbeID: v.ProbeID(), Iter: pointer(v.Iter())})
		return n.Op, err
	},
	interpreter.RunParallel: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := interpreter.AsRunParallel(op)
		n, err := interpreter.BuildRunParallel(b, v.Inputs(), op.ResultTypes(), interpreter.RunParallelAttrs{Infeed: op.Attr("infeed"), Programs: op.Attr("programs")})
		return n.Op, err
	},
	interpreter.Print: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := interpreter.AsPrint(op)
		n, err := interpreter.BuildPrint(b, v.Input())
		return n.Op, err
	},
	interpreter.Probe: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {
		v, _ := interpreter.AsProbe(op)
		n, err := interpreter.BuildProbe(b, v.Input(), interpreter.ProbeAttrs{ProbeID: v.ProbeID()})
		return n.Op, err
	},
}

// pointer returns a pointer to v, or nil if v is absent.
func pointer[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

var _ = view.Int
