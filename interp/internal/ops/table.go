package ops

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// BuildTable returns the row of each op kind. This is the only place that connects an op to its kernel.
func BuildTable(h *Host) map[*ir.Def]plan.Row {
	t := map[*ir.Def]plan.Row{
		// Control flow, functions, values that are not tensors.
		fn.Call:                   {Control: plan.PlanCall},
		stablehlo.While:           {Control: plan.PlanWhile, Pure: true},
		stablehlo.If:              {Control: plan.PlanIf, Pure: true},
		stablehlo.Case:            {Control: plan.PlanCase, Pure: true},
		stablehlo.AfterAll:        {Control: plan.PlanToken},
		stablehlo.CreateToken:     {Control: plan.PlanToken},
		stablehlo.Tuple:           {Control: plan.PlanTuple},
		stablehlo.GetTupleElement: {Control: plan.PlanGetTupleElement},
		stablehlo.Constant:        {Control: plan.PlanConstant, Elementwise: true, Pure: true},
		stablehlo.ReplicaID:       {Control: planReplicaID},
		stablehlo.PartitionID:     {Control: planPartitionID},
		stablehlo.CustomCall:      {Control: h.planCustomCall},
		hookop.Hook:               {Control: h.planHook},

		stablehlo.Composite: {Control: planComposite},

		// Hosts and devices.
		stablehlo.Outfeed:             {Control: h.planOutfeed},
		stablehlo.Infeed:              {Control: h.planInfeed},
		stablehlo.Send:                {Control: h.planSend},
		stablehlo.Recv:                {Control: h.planRecv},
		stablehlo.AllGather:           {Control: allGather.plan, Shape: allGatherShape, StaticShapes: true},
		stablehlo.AllReduce:           {Control: allReduce.plan, StaticShapes: true},
		stablehlo.ReduceScatter:       {Control: reduceScatter.plan, Shape: reduceScatterShape, StaticShapes: true},
		stablehlo.AllToAll:            {Control: allToAll.plan, StaticShapes: true},
		stablehlo.CollectiveBroadcast: {Control: collectiveBroadcast.plan, StaticShapes: true},
		stablehlo.CollectivePermute:   {Control: collectivePermute.plan, StaticShapes: true},
		stablehlo.CollectiveReduce:    {Control: collectiveReduce.plan, StaticShapes: true},
		stablehlo.AsyncStart:          {Control: planAsyncStart},
		stablehlo.AsyncDone:           {Control: planAsyncDone},
		interpreter.RunParallel:       {Control: planRunParallel},
		sdy.ManualComputation:         {Control: planManual},
		sdy.NamedComputation:          {Control: planRegionCall},
		sdy.ShardingGroup:             {Control: plan.PlanNothing},
		sdy.Constant:                  {Control: plan.PlanConstant, Elementwise: true},

		// Expectations.
		check.ExpectEq:            {Control: planCheckOp("equal", false)},
		check.ExpectEqConst:       {Control: planCheckOp("equal", true)},
		check.ExpectAlmostEq:      {Control: planCheckOp("almost", false)},
		check.ExpectAlmostEqConst: {Control: planCheckOp("almost", true)},
		check.ExpectSerializedEq:  {Control: planExpectSerialized},
		interpreter.Probe:         {Control: h.planProbe},
		interpreter.Print:         {Control: h.planPrint},
		check.ExpectClose:         {Control: planCheckOp("close", false)},

		// Data movement.
		stablehlo.Reshape:               {Control: plan.PlanReshape, Shape: reshapeShape, StaticShapes: true, Pure: true},
		stablehlo.BroadcastInDim:        {Make: makeBroadcastInDim},
		stablehlo.Transpose:             {Make: makeTranspose},
		stablehlo.Reverse:               {Make: makeReverse},
		stablehlo.Slice:                 {Make: makeSlice},
		stablehlo.DynamicSlice:          {Make: plan.Pure(kernel.MakeDynamicSlice)},
		stablehlo.DynamicUpdateSlice:    {Make: plan.Pure(kernel.MakeDynamicUpdateSlice)},
		stablehlo.Concatenate:           {Make: makeConcatenate},
		stablehlo.Pad:                   {Make: makePad},
		stablehlo.Iota:                  {Make: makeIota},
		stablehlo.DynamicIota:           {Make: makeIota, Shape: operandShape(0)},
		stablehlo.DynamicReshape:        {Make: plan.Pure(kernel.MakeDynamicReshape), Shape: operandShape(1)},
		stablehlo.DynamicBroadcastInDim: {Make: makeBroadcastInDim, Shape: operandShape(1)},
		stablehlo.DynamicPad:            {Make: plan.Pure(kernel.MakeDynamicPad), Shape: dynamicPadShape},
		stablehlo.RealDynamicSlice:      {Make: plan.Pure(kernel.MakeRealDynamicSlice), Shape: realDynamicSliceShape},
		stablehlo.GetDimensionSize:      {Make: makeGetDimensionSize},
		stablehlo.SetDimensionSize:      {Make: plan.Pure(kernel.MakeSetDimensionSize), Shape: setDimensionSizeShape},

		// Element by element.
		stablehlo.Compare:         {Make: makeCompare, Elementwise: true},
		stablehlo.Select:          {Make: plan.Pure(kernel.MakeSelect), Elementwise: true},
		stablehlo.Clamp:           {Make: plan.Pure(kernel.MakeClamp), Elementwise: true},
		stablehlo.Convert:         {Make: plan.Pure(kernel.MakeConvert), Elementwise: true},
		stablehlo.BitcastConvert:  {Control: planBitcast, Shape: bitcastShape, StaticShapes: true, Pure: true},
		stablehlo.Complex:         {Make: plan.Pure(kernel.MakeComplex), Elementwise: true},
		stablehlo.Real:            {Make: plan.Pure(kernel.MakeReal), Elementwise: true},
		stablehlo.Imag:            {Make: plan.Pure(kernel.MakeImag), Elementwise: true},
		stablehlo.IsFinite:        {Make: plan.Pure(kernel.MakeIsFinite), Elementwise: true},
		stablehlo.ReducePrecision: {Make: makeReducePrecision, Elementwise: true},

		stablehlo.Gather:        {Make: makeGather},
		stablehlo.DynamicGather: {Make: makeDynamicGather, Shape: dynamicGatherShape},
		stablehlo.Scatter:       {Control: planScatter, StaticShapes: true, Pure: true},
		stablehlo.Sort:          {Control: planSort, StaticShapes: true, Pure: true},

		// Linear algebra, transforms, normalization.
		stablehlo.Cholesky:        {Make: makeCholesky},
		stablehlo.TriangularSolve: {Make: makeTriangularSolve},
		stablehlo.Fft:             {Make: makeFFT},

		// Quantized values.
		stablehlo.UniformQuantize:   {Make: plan.Pure(kernel.MakeQuantize), Shape: firstShape, Elementwise: true},
		stablehlo.UniformDequantize: {Make: plan.Pure(kernel.MakeDequantize), Elementwise: true},

		// Random numbers.
		stablehlo.RngBitGenerator: {Make: makeRngBitGenerator},
		stablehlo.Rng:             {Make: h.makeRng, Shape: operandShape(2)},

		// Products and reductions.
		stablehlo.DotGeneral:   {Make: makeDotGeneral},
		stablehlo.Reduce:       {Control: planReduce, Fold: foldReduce, StaticShapes: true, Pure: true},
		stablehlo.ReduceWindow: {Control: planReduceWindow, StaticShapes: true, Pure: true},
		stablehlo.Map:          {Control: planMap, StaticShapes: true, Pure: true},
		stablehlo.Convolution:  {Make: makeConvolution},
		stablehlo.DynamicConv:  {Make: makeDynamicConv},
	}
	// These ops return their operands. So do reshardings, since every device holds the whole value.
	for _, d := range []*ir.Def{
		stablehlo.OptimizationBarrier, sdy.ShardingConstraint, sdy.Reshard, sdy.PropagationBarrier, sdy.AllGather,
		sdy.AllReduce, sdy.AllSlice, sdy.AllToAll, sdy.CollectivePermute, sdy.ReduceScatter,
		sdy.ReplicatedToUnreduced, sdy.ShardedToUnreduced, sdy.DataFlowEdge, sdy.FuncDataFlowEdge, mhlo.AsyncUpdate,
		mhlo.Copy, mhlo.Domain,
	} {
		t[d] = plan.Row{Control: plan.PlanForward}
	}
	for d, l := range map[*ir.Def]*kernel.BinaryLoops{
		stablehlo.Add:       kernel.Add,
		stablehlo.Subtract:  kernel.Subtract,
		stablehlo.Multiply:  kernel.Multiply,
		stablehlo.Divide:    kernel.Divide,
		stablehlo.Remainder: kernel.Remainder,
		stablehlo.Maximum:   kernel.Maximum,
		stablehlo.Minimum:   kernel.Minimum,
		stablehlo.And:       kernel.And,
		stablehlo.Or:        kernel.Or,
		stablehlo.Xor:       kernel.Xor,
		stablehlo.Power:     kernel.Power,
		stablehlo.Atan2:     kernel.Atan2,
	} {
		t[d] = plan.Row{Make: plan.Pure(kernel.MakeBinary(l)), Elementwise: true}
	}
	for d, f := range map[*ir.Def]func(bits int) *kernel.BinaryLoops{
		stablehlo.ShiftLeft:            kernel.ShiftLeft,
		stablehlo.ShiftRightArithmetic: kernel.ShiftRightArithmetic,
		chlo.Mulhi:                     kernel.Mulhi,
		stablehlo.ShiftRightLogical:    kernel.ShiftRightLogical,
	} {
		t[d] = plan.Row{Make: plan.Pure(kernel.MakeShift(f)), Elementwise: true}
	}
	for d, u := range UnaryOps() {
		t[d] = plan.Row{Make: plan.Pure(kernel.MakeUnary(u)), Elementwise: true}
	}
	t[chlo.NextAfter] = plan.Row{Make: plan.Pure(kernel.MakeNextAfter), Elementwise: true}
	t[chlo.Constant] = plan.Row{Control: plan.PlanConstant, Elementwise: true, Pure: true}
	t[chlo.TopK] = plan.Row{Make: makeTopK}
	t[stablehlo.Abs] = plan.Row{Make: plan.Pure(kernel.MakeAbs), Elementwise: true}

	// MHLO's own operations. The other MHLO operations use the rows of the operations that they mirror (see plan.OpKind).
	t[mhlo.AddDependency] = plan.Row{Control: planFirst}
	t[mhlo.AsyncStart] = plan.Row{Control: planMHLOAsyncStart}
	t[mhlo.AsyncDone] = plan.Row{Control: planAsyncDone}
	t[mhlo.Bitcast] = plan.Row{Control: plan.PlanReshape, StaticShapes: true, Pure: true}
	t[mhlo.Fusion] = plan.Row{Control: planRegionCall}
	t[mhlo.RngGetAndUpdateState] = plan.Row{Make: makeRngState}
	t[mhlo.StochasticConvert] = plan.Row{Make: plan.Pure(makeStochasticConvert), Shape: firstShape}
	t[mhlo.TopK] = t[chlo.TopK]
	t[mhlo.Trace] = plan.Row{Control: plan.PlanNothing} // current compilers ignore it
	expandOthers(t)
	return t
}

// UnaryOps returns the loops of the unary ops on elements.
func UnaryOps() map[*ir.Def]*kernel.UnaryLoops {
	out := map[*ir.Def]*kernel.UnaryLoops{}
	for _, d := range slices.Concat(stablehlo.Ops(), chlo.Ops(), []*ir.Def{mhlo.Exp2, mhlo.Log2}) {
		_, name, _ := strings.Cut(d.Name, ".")
		if u := kernel.Unary[name]; u != nil {
			out[d] = u
		}
	}
	return out
}
