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
	"github.com/hlocb/hlocb/tensor"
)

// BuildTable returns the recipe of each op kind. This is the only place that connects an op to its kernel.
func BuildTable(h *Host) map[*ir.Def]plan.Recipe {
	t := map[*ir.Def]plan.Recipe{
		// Control flow, functions, values that are not tensors.
		fn.Call:                   plan.Control(plan.PlanCall, 0),
		stablehlo.While:           plan.Control(plan.PlanWhile, plan.Pure),
		stablehlo.If:              plan.Control(plan.PlanIf, plan.Pure),
		stablehlo.Case:            plan.Control(plan.PlanCase, plan.Pure),
		stablehlo.AfterAll:        plan.Control(plan.PlanToken, 0),
		stablehlo.CreateToken:     plan.Control(plan.PlanToken, 0),
		stablehlo.Tuple:           plan.Control(plan.PlanTuple, 0),
		stablehlo.GetTupleElement: plan.Control(plan.PlanGetTupleElement, 0),
		stablehlo.Constant:        plan.Control(plan.PlanConstant, plan.Pure|plan.Liftable),
		stablehlo.ReplicaID:       plan.Control(planReplicaID, 0),
		stablehlo.PartitionID:     plan.Control(planPartitionID, 0),
		stablehlo.CustomCall:      plan.Control(h.planCustomCall, 0),
		hookop.Hook:               plan.Control(h.planHook, 0),

		stablehlo.Composite: plan.Control(planComposite, 0),

		// Hosts and devices.
		stablehlo.Outfeed:             plan.Control(h.planOutfeed, 0),
		stablehlo.Infeed:              plan.Control(h.planInfeed, 0),
		stablehlo.Send:                plan.Control(h.planSend, 0),
		stablehlo.Recv:                plan.Control(h.planRecv, 0),
		stablehlo.AllGather:           plan.Control(allGather.plan, plan.Static).Shaped(allGatherShape),
		stablehlo.AllReduce:           plan.Control(allReduce.plan, plan.Static),
		stablehlo.ReduceScatter:       plan.Control(reduceScatter.plan, plan.Static).Shaped(reduceScatterShape),
		stablehlo.AllToAll:            plan.Control(allToAll.plan, plan.Static),
		stablehlo.CollectiveBroadcast: plan.Control(collectiveBroadcast.plan, plan.Static),
		stablehlo.CollectivePermute:   plan.Control(collectivePermute.plan, plan.Static),
		stablehlo.CollectiveReduce:    plan.Control(collectiveReduce.plan, plan.Static),
		stablehlo.AsyncStart:          plan.Control(planAsyncStart, 0),
		stablehlo.AsyncDone:           plan.Control(planAsyncDone, 0),
		interpreter.RunParallel:       plan.Control(planRunParallel, 0),
		sdy.ManualComputation:         plan.Control(planManual, 0),
		sdy.NamedComputation:          plan.Control(planRegionCall, 0),
		sdy.ShardingGroup:             plan.Control(plan.PlanNothing, 0),
		sdy.Constant:                  plan.Control(plan.PlanConstant, plan.Liftable),

		// Expectations.
		check.ExpectEq:            plan.Control(planCheckOp("equal", false), 0),
		check.ExpectEqConst:       plan.Control(planCheckOp("equal", true), 0),
		check.ExpectAlmostEq:      plan.Control(planCheckOp("almost", false), 0),
		check.ExpectAlmostEqConst: plan.Control(planCheckOp("almost", true), 0),
		check.ExpectSerializedEq:  plan.Control(planExpectSerialized, 0),
		interpreter.Probe:         plan.Control(h.planProbe, 0),
		interpreter.Print:         plan.Control(h.planPrint, 0),
		check.ExpectClose:         plan.Control(planCheckOp("close", false), 0),

		// Data movement.
		stablehlo.Reshape:               plan.Control(plan.PlanReshape, plan.Static|plan.Pure).Shaped(reshapeShape),
		stablehlo.BroadcastInDim:        plan.Kernel(makeBroadcastInDim),
		stablehlo.Transpose:             plan.Kernel(makeTranspose),
		stablehlo.Reverse:               plan.Kernel(makeReverse),
		stablehlo.Slice:                 plan.Kernel(makeSlice),
		stablehlo.DynamicSlice:          plan.Kernel(plan.ByTypes(kernel.MakeDynamicSlice)),
		stablehlo.DynamicUpdateSlice:    plan.Kernel(plan.ByTypes(kernel.MakeDynamicUpdateSlice)),
		stablehlo.Concatenate:           plan.Kernel(makeConcatenate),
		stablehlo.Pad:                   plan.Kernel(makePad),
		stablehlo.Iota:                  plan.Kernel(makeIota),
		stablehlo.DynamicIota:           plan.Kernel(makeIota).Shaped(operandShape(0)),
		stablehlo.DynamicReshape:        plan.Kernel(plan.ByTypes(kernel.MakeDynamicReshape)).Shaped(operandShape(1)),
		stablehlo.DynamicBroadcastInDim: plan.Kernel(makeBroadcastInDim).Shaped(operandShape(1)),
		stablehlo.DynamicPad:            plan.Kernel(plan.ByTypes(kernel.MakeDynamicPad)).Shaped(dynamicPadShape),
		stablehlo.RealDynamicSlice:      plan.Kernel(plan.ByTypes(kernel.MakeRealDynamicSlice)).Shaped(realDynamicSliceShape),
		stablehlo.GetDimensionSize:      plan.Kernel(makeGetDimensionSize),
		stablehlo.SetDimensionSize:      plan.Kernel(plan.ByTypes(kernel.MakeSetDimensionSize)).Shaped(setDimensionSizeShape),

		// Element by element.
		stablehlo.Compare:         plan.Elements(makeCompare),
		stablehlo.Select:          plan.Elements(plan.ByTypes(kernel.MakeSelect)),
		stablehlo.Clamp:           plan.Elements(plan.ByTypes(kernel.MakeClamp)),
		stablehlo.Convert:         plan.Elements(plan.ByTypes(kernel.MakeConvert)),
		stablehlo.BitcastConvert:  plan.Control(planBitcast, plan.Static|plan.Pure).Shaped(bitcastShape),
		stablehlo.Complex:         plan.Elements(plan.ByTypes(kernel.MakeComplex)),
		stablehlo.Real:            plan.Elements(plan.ByTypes(kernel.MakeReal)),
		stablehlo.Imag:            plan.Elements(plan.ByTypes(kernel.MakeImag)),
		stablehlo.IsFinite:        plan.Elements(plan.ByTypes(kernel.MakeIsFinite)),
		stablehlo.ReducePrecision: plan.Elements(makeReducePrecision),

		stablehlo.Gather:        plan.Kernel(makeGather),
		stablehlo.DynamicGather: plan.Kernel(makeDynamicGather).Shaped(dynamicGatherShape),
		stablehlo.Scatter:       plan.Control(planScatter, plan.Static|plan.Pure),
		stablehlo.Sort:          plan.Control(planSort, plan.Static|plan.Pure),

		// Linear algebra, transforms, normalization.
		stablehlo.Cholesky:        plan.Kernel(makeCholesky),
		stablehlo.TriangularSolve: plan.Kernel(makeTriangularSolve),
		stablehlo.Fft:             plan.Kernel(makeFFT),

		// Quantized values.
		stablehlo.UniformQuantize:   plan.Elements(plan.ByTypes(kernel.MakeQuantize)).Shaped(firstShape),
		stablehlo.UniformDequantize: plan.Elements(plan.ByTypes(kernel.MakeDequantize)),

		// Random numbers.
		stablehlo.RngBitGenerator: plan.Kernel(makeRngBitGenerator),
		stablehlo.Rng:             plan.Kernel(h.makeRng).Shaped(operandShape(2)).Stateful(),

		// Products and reductions.
		stablehlo.DotGeneral:   plan.Kernel(makeDotGeneral),
		stablehlo.Reduce:       plan.Control(planReduce, plan.Static|plan.Pure).Folding(foldReduce),
		stablehlo.ReduceWindow: plan.Control(planReduceWindow, plan.Static|plan.Pure),
		stablehlo.Map:          plan.Control(planMap, plan.Static|plan.Pure),
		stablehlo.Convolution:  plan.Kernel(makeConvolution),
		stablehlo.DynamicConv:  plan.Kernel(makeDynamicConv),
	}
	// These ops return their operands. So do reshardings, since every device holds the whole value.
	for _, d := range []*ir.Def{
		stablehlo.OptimizationBarrier, sdy.ShardingConstraint, sdy.Reshard, sdy.PropagationBarrier, sdy.AllGather,
		sdy.AllReduce, sdy.AllSlice, sdy.AllToAll, sdy.CollectivePermute, sdy.ReduceScatter,
		sdy.ReplicatedToUnreduced, sdy.ShardedToUnreduced, sdy.DataFlowEdge, sdy.FuncDataFlowEdge, mhlo.AsyncUpdate,
		mhlo.Copy, mhlo.Domain,
	} {
		t[d] = plan.Control(plan.PlanForward, 0)
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
		t[d] = plan.Elements(plan.ByTypes(kernel.MakeBinary(l)))
	}
	for d, f := range map[*ir.Def]func(bits int) *kernel.BinaryLoops{
		stablehlo.ShiftLeft:            kernel.ShiftLeft,
		stablehlo.ShiftRightArithmetic: kernel.ShiftRightArithmetic,
		chlo.Mulhi:                     kernel.Mulhi,
		stablehlo.ShiftRightLogical:    kernel.ShiftRightLogical,
	} {
		t[d] = plan.Elements(plan.ByTypes(kernel.MakeShift(f)))
	}
	for d, u := range UnaryOps() {
		t[d] = plan.Elements(plan.ByTypes(kernel.MakeUnary(u)))
	}
	for d, types := range map[*ir.Def][]tensor.DType{chlo.Asinh: {tensor.F32}, chlo.Acosh: {tensor.F32}, chlo.Atanh: {tensor.F32}, chlo.ErfInv: {tensor.F32, tensor.F64}} {
		_, name, _ := strings.Cut(d.Name, ".")
		t[d] = plan.Elements(plan.ByTypes(kernel.MakeUnary(kernel.Inverse[name]))).For(types...)
	}
	t[chlo.NextAfter] = plan.Elements(plan.ByTypes(kernel.MakeNextAfter))
	t[chlo.Constant] = plan.Control(plan.PlanConstant, plan.Pure|plan.Liftable)
	t[chlo.TopK] = plan.Kernel(makeTopK)
	t[stablehlo.Abs] = plan.Elements(plan.ByTypes(kernel.MakeAbs))

	// MHLO's own operations. The other MHLO operations use the rows of the operations that they mirror (see plan.OpKind).
	t[mhlo.AddDependency] = plan.Control(planFirst, 0)
	t[mhlo.AsyncStart] = plan.Control(planMHLOAsyncStart, 0)
	t[mhlo.AsyncDone] = plan.Control(planAsyncDone, 0)
	t[mhlo.Bitcast] = plan.Expanded()
	t[mhlo.Fusion] = plan.Control(planRegionCall, 0)
	t[mhlo.RngGetAndUpdateState] = plan.Kernel(makeRngState).Stateful()
	t[mhlo.StochasticConvert] = plan.Kernel(plan.ByTypes(makeStochasticConvert)).Shaped(firstShape)
	t[mhlo.TopK] = t[chlo.TopK]
	t[mhlo.Trace] = plan.Control(plan.PlanNothing, 0) // current compilers ignore it
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
