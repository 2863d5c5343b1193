package interp

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/ir"
	"math"
)

// buildTable returns the row of each op kind. This is the only place that connects an op to its kernel.
func buildTable(h *host) map[*ir.Def]row {
	t := map[*ir.Def]row{
		// Control flow, functions, values that are not tensors.
		fn.Call:                       {control: planCall},
		stablehlo.While:               {control: planWhile, pure: true},
		stablehlo.If:                  {control: planIf, pure: true},
		stablehlo.Case:                {control: planCase, pure: true},
		stablehlo.OptimizationBarrier: {control: planForward},
		stablehlo.AfterAll:            {control: planToken},
		stablehlo.CreateToken:         {control: planToken},
		stablehlo.Tuple:               {control: planTuple},
		stablehlo.GetTupleElement:     {control: planGetTupleElement},
		stablehlo.Constant:            {control: planConstant, elementwise: true, pure: true},
		stablehlo.ReplicaID:           {control: planReplicaID},
		stablehlo.PartitionID:         {control: planPartitionID},
		stablehlo.CustomCall:          {control: h.planCustomCall},
		hookop.Hook:                   {control: h.planHook},

		stablehlo.Composite: {control: planComposite},

		// Hosts and devices.
		stablehlo.Outfeed:             {control: h.planOutfeed},
		stablehlo.Infeed:              {control: h.planInfeed},
		stablehlo.Send:                {control: h.planSend},
		stablehlo.Recv:                {control: h.planRecv},
		stablehlo.AllGather:           {control: planAllGather, shape: allGatherShape, staticShapes: true},
		stablehlo.AllReduce:           {control: planAllReduce, shape: eachOperandShape, staticShapes: true},
		stablehlo.ReduceScatter:       {control: planReduceScatter, shape: reduceScatterShape, staticShapes: true},
		stablehlo.AllToAll:            {control: planAllToAll, shape: allToAllShape, staticShapes: true},
		stablehlo.CollectiveBroadcast: {control: planCollectiveBroadcast, shape: eachOperandShape, staticShapes: true},
		stablehlo.CollectivePermute:   {control: planCollectivePermute, shape: eachOperandShape, staticShapes: true},
		stablehlo.CollectiveReduce:    {control: planCollectiveReduce, shape: eachOperandShape, staticShapes: true},
		stablehlo.CrossReplicaSum:     {control: planCrossReplicaSum, shape: eachOperandShape, staticShapes: true},
		stablehlo.AsyncStart:          {control: planAsyncStart},
		stablehlo.AsyncDone:           {control: planAsyncDone},
		interpreter.RunParallel:       {control: planRunParallel},
		sdy.ShardingConstraint:        {control: planForward},
		sdy.Reshard:                   {control: planForward},
		sdy.PropagationBarrier:        {control: planForward},
		sdy.ManualComputation:         {control: planManual},
		sdy.NamedComputation:          {control: planRegionCall},
		sdy.ShardingGroup:             {control: planNothing},
		sdy.Constant:                  {control: planConstant, elementwise: true},
		// Reshardings keep the value, since every device holds the whole value.
		sdy.AllGather:             {control: planForward},
		sdy.AllReduce:             {control: planForward},
		sdy.AllSlice:              {control: planForward},
		sdy.AllToAll:              {control: planForward},
		sdy.CollectivePermute:     {control: planForward},
		sdy.ReduceScatter:         {control: planForward},
		sdy.ReplicatedToUnreduced: {control: planForward},
		sdy.ShardedToUnreduced:    {control: planForward},
		sdy.DataFlowEdge:          {control: planForward},
		sdy.FuncDataFlowEdge:      {control: planForward},

		// Expectations.
		check.ExpectEq:            {control: planCheckOp("equal", false)},
		check.ExpectEqConst:       {control: planCheckOp("equal", true)},
		check.ExpectAlmostEq:      {control: planCheckOp("almost", false)},
		check.ExpectAlmostEqConst: {control: planCheckOp("almost", true)},
		check.ExpectSerializedEq:  {control: planExpectSerialized},
		interpreter.Probe:         {control: h.planProbe},
		interpreter.Print:         {control: h.planPrint},
		check.ExpectClose:         {control: planCheckOp("close", false)},

		// Data movement.
		stablehlo.Reshape:               {control: planReshape, staticShapes: true, pure: true},
		stablehlo.BroadcastInDim:        {make: makeBroadcastInDim},
		stablehlo.Broadcast:             {make: makeBroadcast},
		stablehlo.Transpose:             {make: makeTranspose, shape: transposeShape},
		stablehlo.Reverse:               {make: makeReverse},
		stablehlo.Slice:                 {make: makeSlice},
		stablehlo.DynamicSlice:          {make: pure(makeDynamicSlice)},
		stablehlo.DynamicUpdateSlice:    {make: pure(makeDynamicUpdateSlice)},
		stablehlo.Concatenate:           {make: makeConcatenate, shape: concatenateShape},
		stablehlo.Pad:                   {make: makePad},
		stablehlo.Iota:                  {make: makeIota},
		stablehlo.DynamicIota:           {make: makeIota, shape: operandShape(0)},
		stablehlo.DynamicReshape:        {make: pure(makeDynamicReshape), shape: operandShape(1)},
		stablehlo.DynamicBroadcastInDim: {make: makeBroadcastInDim, shape: operandShape(1)},
		stablehlo.DynamicPad:            {make: pure(makeDynamicPad), shape: dynamicPadShape},
		stablehlo.RealDynamicSlice:      {make: pure(makeRealDynamicSlice), shape: realDynamicSliceShape},
		stablehlo.GetDimensionSize:      {make: makeGetDimensionSize},
		stablehlo.SetDimensionSize:      {make: pure(makeSetDimensionSize), shape: setDimensionSizeShape},

		// Element by element.
		stablehlo.Compare:         {make: makeCompare, elementwise: true},
		stablehlo.Select:          {make: pure(makeSelect), elementwise: true},
		stablehlo.Clamp:           {make: pure(makeClamp), elementwise: true},
		stablehlo.Convert:         {make: pure(makeConvert), elementwise: true},
		stablehlo.BitcastConvert:  {control: planBitcast, shape: bitcastShape, staticShapes: true, pure: true},
		stablehlo.Complex:         {make: pure(makeComplex), elementwise: true},
		stablehlo.Real:            {make: pure(makeReal), elementwise: true},
		stablehlo.Imag:            {make: pure(makeImag), elementwise: true},
		stablehlo.IsFinite:        {make: pure(makePredicate(isFinite)), elementwise: true},
		stablehlo.ReducePrecision: {make: makeReducePrecision, elementwise: true},

		stablehlo.Gather:           {make: makeGather, shape: staticGatherShape},
		stablehlo.DynamicGather:    {make: makeDynamicGather, shape: dynamicGatherShape},
		stablehlo.TorchIndexSelect: {make: makeTorchIndexSelect},
		stablehlo.Scatter:          {control: planScatter, staticShapes: true, pure: true},
		stablehlo.Sort:             {control: planSort, staticShapes: true, pure: true},

		// Linear algebra, transforms, normalization.
		stablehlo.Cholesky:           {make: makeCholesky},
		stablehlo.TriangularSolve:    {make: makeTriangularSolve},
		stablehlo.Fft:                {make: makeFFT},
		stablehlo.BatchNormInference: {make: makeBatchNormInference},
		stablehlo.BatchNormTraining:  {make: makeBatchNormTraining},
		stablehlo.BatchNormGrad:      {make: makeBatchNormGrad},

		// Quantized values.
		stablehlo.UniformQuantize:   {make: pure(makeQuantize)},
		stablehlo.UniformDequantize: {make: pure(makeDequantize)},

		// Random numbers.
		stablehlo.RngBitGenerator: {make: makeRngBitGenerator},
		stablehlo.Rng:             {make: h.makeRng, shape: rngShape},

		// Products and reductions.
		stablehlo.DotGeneral:       {make: makeDotGeneral, shape: dotGeneralShape},
		stablehlo.Einsum:           {make: makeEinsum},
		stablehlo.UnaryEinsum:      {make: makeUnaryEinsum},
		stablehlo.Dot:              {make: pure(makeDot)},
		stablehlo.Reduce:           {control: planReduce, shape: reduceShape, staticShapes: true, pure: true},
		stablehlo.ReduceWindow:     {control: planReduceWindow, shape: reduceWindowShape, staticShapes: true, pure: true},
		stablehlo.SelectAndScatter: {control: planSelectAndScatter, staticShapes: true, pure: true},
		stablehlo.Map:              {control: planMap, staticShapes: true, pure: true},
		stablehlo.Convolution:      {make: makeConvolution},
		stablehlo.DynamicConv:      {make: makeDynamicConv},
	}
	for d, l := range map[*ir.Def]*loops2{
		stablehlo.Add:       opAdd,
		stablehlo.Subtract:  opSubtract,
		stablehlo.Multiply:  opMultiply,
		stablehlo.Divide:    opDivide,
		stablehlo.Remainder: opRemainder,
		stablehlo.Maximum:   opMaximum,
		stablehlo.Minimum:   opMinimum,
		stablehlo.And:       opAnd,
		stablehlo.Or:        opOr,
		stablehlo.Xor:       opXor,
		stablehlo.Power:     opPower,
		stablehlo.Atan2:     opAtan2,
		chlo.Zeta:           opZeta,
		chlo.Polygamma:      opPolygamma,
		chlo.Mulhi:          opMulhi,
	} {
		t[d] = row{make: pure(makeBinary(l)), elementwise: true}
	}
	for d, f := range map[*ir.Def]func(bits int) *loops2{
		stablehlo.ShiftLeft:            shiftLeft,
		stablehlo.ShiftRightArithmetic: shiftRightArithmetic,
		stablehlo.ShiftRightLogical:    shiftRightLogical,
	} {
		t[d] = row{make: pure(makeShift(f)), elementwise: true}
	}
	for d, u := range unaryOps() {
		t[d] = row{make: pure(makeUnary(u)), elementwise: true}
	}
	for d, f := range map[*ir.Def]func(float64) bool{
		chlo.IsInf:    func(v float64) bool { return math.IsInf(v, 0) },
		chlo.IsPosInf: func(v float64) bool { return math.IsInf(v, 1) },
		chlo.IsNegInf: func(v float64) bool { return math.IsInf(v, -1) },
	} {
		t[d] = row{make: pure(makePredicate(f)), elementwise: true}
	}
	t[chlo.NextAfter] = row{make: pure(makeNextAfter), elementwise: true}
	t[chlo.Constant] = row{control: planConstant, elementwise: true, pure: true}
	t[chlo.ConstantLike] = row{make: makeConstantLike}
	t[chlo.TopK] = row{make: makeTopK}
	t[chlo.RaggedDot] = row{make: makeRaggedDot}
	t[chlo.Scan] = row{control: planScan, shape: scanShape, staticShapes: true, pure: true}
	for d, inner := range map[*ir.Def]*ir.Def{
		chlo.BroadcastAdd:                  stablehlo.Add,
		chlo.BroadcastAnd:                  stablehlo.And,
		chlo.BroadcastAtan2:                stablehlo.Atan2,
		chlo.BroadcastCompare:              stablehlo.Compare,
		chlo.BroadcastComplex:              stablehlo.Complex,
		chlo.BroadcastDivide:               stablehlo.Divide,
		chlo.BroadcastMaximum:              stablehlo.Maximum,
		chlo.BroadcastMinimum:              stablehlo.Minimum,
		chlo.BroadcastMultiply:             stablehlo.Multiply,
		chlo.BroadcastOr:                   stablehlo.Or,
		chlo.BroadcastPower:                stablehlo.Power,
		chlo.BroadcastRemainder:            stablehlo.Remainder,
		chlo.BroadcastSelect:               stablehlo.Select,
		chlo.BroadcastShiftLeft:            stablehlo.ShiftLeft,
		chlo.BroadcastShiftRightArithmetic: stablehlo.ShiftRightArithmetic,
		chlo.BroadcastShiftRightLogical:    stablehlo.ShiftRightLogical,
		chlo.BroadcastSubtract:             stablehlo.Subtract,
		chlo.BroadcastXor:                  stablehlo.Xor,
		chlo.BroadcastNextAfter:            chlo.NextAfter,
		chlo.BroadcastPolygamma:            chlo.Polygamma,
		chlo.BroadcastZeta:                 chlo.Zeta,
	} {
		t[d] = row{make: makeBroadcasting(t[inner]), shape: broadcastShape}
	}
	t[stablehlo.Abs] = row{make: pure(makeAbs), elementwise: true}

	// MHLO's own operations. The other MHLO operations use the rows of the operations that they mirror (see opKind).
	t[mhlo.AddDependency] = row{control: planFirst}
	t[mhlo.AsyncStart] = row{control: planMHLOAsyncStart}
	t[mhlo.AsyncUpdate] = row{control: planForward}
	t[mhlo.AsyncDone] = row{control: planMHLOAsyncDone}
	t[mhlo.Bitcast] = row{control: planReshape, staticShapes: true, pure: true}
	t[mhlo.Copy] = row{control: planForward}
	t[mhlo.Domain] = row{control: planForward}
	t[mhlo.Fusion] = row{control: planRegionCall}
	t[mhlo.StochasticConvert] = row{make: pure(makeStochasticConvert)}
	t[mhlo.TopK] = t[chlo.TopK]
	t[mhlo.Trace] = row{control: planNothing} // current compilers ignore it
	return t
}

// unaryOps returns the loops of the unary ops on elements.
func unaryOps() map[*ir.Def]*unaryOp {
	return map[*ir.Def]*unaryOp{
		stablehlo.Abs:                 opAbs,
		stablehlo.Negate:              opNegate,
		stablehlo.Sign:                opSign,
		stablehlo.Not:                 opNot,
		stablehlo.Popcnt:              opPopcnt,
		stablehlo.CountLeadingZeros:   opCountLeadingZeros,
		stablehlo.Ceil:                opCeil,
		stablehlo.Floor:               opFloor,
		stablehlo.RoundNearestAFZ:     opRoundNearestAFZ,
		stablehlo.RoundNearestEven:    opRoundNearestEven,
		stablehlo.Cbrt:                opCbrt,
		stablehlo.Exponential:         opExponential,
		stablehlo.ExponentialMinusOne: opExponentialMinusOne,
		stablehlo.Log:                 opLog,
		stablehlo.LogPlusOne:          opLogPlusOne,
		stablehlo.Logistic:            opLogistic,
		stablehlo.Sqrt:                opSqrt,
		stablehlo.Rsqrt:               opRsqrt,
		stablehlo.Cosine:              opCosine,
		stablehlo.Sine:                opSine,
		stablehlo.Tan:                 opTan,
		stablehlo.Tanh:                opTanh,
		chlo.Acos:                     opAcos,
		chlo.AsinAcosKernel:           opAsinAcosKernel,
		chlo.Acosh:                    opAcosh,
		chlo.Asin:                     opAsin,
		chlo.Asinh:                    opAsinh,
		chlo.Atan:                     opAtan,
		chlo.Atanh:                    opAtanh,
		chlo.BesselI1e:                opBesselI1e,
		chlo.Cosh:                     opCosh,
		chlo.Sinh:                     opSinh,
		chlo.Tan:                      opTan,
		chlo.Digamma:                  opDigamma,
		chlo.Erf:                      opErf,
		chlo.Erfc:                     opErfc,
		chlo.ErfInv:                   opErfInv,
		chlo.Lgamma:                   opLgamma,
		chlo.Square:                   opSquare,
		chlo.Conj:                     opConj,
	}
}
