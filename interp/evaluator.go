package interp

import (
	"context"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Evaluator computes single ops with the engine's kernels: it is a rewrite.Evaluator for the passes that fold
// constants. It may be used by several goroutines.
type Evaluator struct {
	table map[*ir.Def]plan.Recipe
	limit int64
}

// NewEvaluator returns an evaluator. memoryLimit bounds the values of one evaluation, in bytes; 0 means no limit.
func NewEvaluator(memoryLimit int64) *Evaluator {
	return &Evaluator{ops.BuildTable(&ops.Host{}), memoryLimit}
}

// Evaluate returns the results of op for the given operands. op and the ops in its regions must be functions of their
// operands: Evaluate returns an error for an op that calls a function, depends on the device or the host, generates
// random numbers, uses values from outside, or has values other than tensors.
func (e *Evaluator) Evaluate(ctx context.Context, op *ir.Op, operands []*tensor.Tensor) (results []*tensor.Tensor, err error) {
	defer func() {
		if v := recover(); v != nil {
			results, err = nil, kernel.Cause(v)
		}
	}()
	e.checkEvaluable(op)
	prog := plan.NewCompiler(op.Module(), nil, e.table, e.limit)
	f := &exec.Function{Op: op}
	p := prog.NewPlanner(f)
	s := plan.NewSpec(p, op, nil, nil)
	ins := exec.Instr{Op: op, Move: make([]bool, len(operands))}
	for i, t := range operands {
		v := plan.TypeOf(op.Operand(i).Type())
		if v.Class != kernel.ClassTensor || v.DType != t.DType() || !kernel.Fits(v, t.Shape()) {
			return nil, fmt.Errorf("operand %d is %s, not tensor<%s%s>", i, v, mlirtext.AppendShape(nil, t.Shape()), t.DType())
		}
		v.Shape, v.N = t.Shape(), t.NumElements()
		s.In = append(s.In, v)
		ins.In = append(ins.In, p.Fresh())
	}
	for _, r := range op.Results() {
		v := plan.TypeOf(r.Type())
		kernel.FailIf(v.Class != kernel.ClassTensor, "a result is %s", v)
		s.Out = append(s.Out, v)
		ins.Out = append(ins.Out, p.Fresh())
	}
	ins.Types = s.Out
	if err := kernel.Try(func() { p.Pick(&ins, s) }); err != nil {
		return nil, exec.Locate(prog.Module, op, err)
	}
	m := exec.NewMachine(prog.Program)
	m.Watch = &exec.Watch{}
	m.Watch.Memory.Limit = e.limit
	m.Watch.Memory.Held.Store(prog.Constants)
	prog.Planned = true
	ctx, end := m.Watch.Start(ctx, prog.Module.Source(), 0, nil, 0)
	defer end()
	f.Args, f.Results = s.In, s.Out
	f.Body = &exec.Block{Args: ins.In, Instrs: []exec.Instr{ins}, Ret: ins.Out, RetMove: slices.Repeat([]bool{true}, len(ins.Out))}
	return m.RunMain(ctx, f, operands)
}

// checkEvaluable fails unless op and the ops in its regions are functions of their operands.
func (e *Evaluator) checkEvaluable(op *ir.Op) {
	for _, r := range op.Regions() {
		kernel.FailIf(len(flow.Captures(r)) > 0, "uses values from outside its regions")
	}
	op.Walk(func(o *ir.Op) bool {
		r, ok := e.table[plan.OpKind(o)]
		pure := ok && r.Pure()
		kernel.UnsupportedIf(!pure && (!plan.IsReturn(o) || o == op), "evaluation of %s", o.Name())
		return true
	})
}
