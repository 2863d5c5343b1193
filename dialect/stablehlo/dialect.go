package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

var ops = []*ir.Def{
	Abs, Add, AfterAll, AllGather, AllReduce, AllToAll, And, AsyncDone, AsyncStart, Atan2,
	BatchNormGrad, BatchNormInference, BatchNormTraining, BitcastConvert, Broadcast, BroadcastInDim,
	Case, Cbrt, Ceil, Cholesky, Clamp, CollectiveBroadcast, CollectivePermute, CollectiveReduce, Compare, Complex,
	Composite, Concatenate, Constant, Convert, Convolution, Cosine, CountLeadingZeros, CreateToken, CrossReplicaSum, CustomCall,
	Divide, Dot, DotGeneral, DynamicBroadcastInDim, DynamicConv, DynamicGather, DynamicIota, DynamicPad, DynamicReshape,
	DynamicSlice, DynamicUpdateSlice, Einsum, Exponential, ExponentialMinusOne, Fft, Floor, Gather, GetDimensionSize,
	GetTupleElement, If, Imag, Infeed, Iota, IsFinite, Log, LogPlusOne, Logistic, Map, Maximum, Minimum, Multiply, Negate,
	Not, OptimizationBarrier, Or, Outfeed, Pad, PartitionID, Popcnt, Power, Real, RealDynamicSlice, Recv, Reduce,
	ReducePrecision, ReduceScatter, ReduceWindow, Remainder, ReplicaID, Reshape, Return, Reverse, Rng, RngBitGenerator,
	RoundNearestAFZ, RoundNearestEven, Rsqrt, Scatter, Select, SelectAndScatter, Send, SetDimensionSize, ShiftLeft,
	ShiftRightArithmetic, ShiftRightLogical, Sign, Sine, Slice, Sort, Sqrt, Subtract, Tan, Tanh, TorchIndexSelect,
	Transpose, TriangularSolve, Tuple, UnaryEinsum, UniformDequantize, UniformQuantize, While, Xor,
}

// Ops returns the rows of all operations of the dialect. The caller must not change the list.
func Ops() []*ir.Def { return ops }

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "stablehlo", Ops: ops, Attrs: attrs, Enums: enums, Types: types, ClosedTypes: true,
		Directives: Directives, CheckEncoding: checkEncoding, VerifyAttr: view.VerifyLayouts, RemapAttr: view.RemapLayouts,
	}
}
