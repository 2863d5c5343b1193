package interp

import (
	"context"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Evaluator computes single ops with the engine's kernels: it is a rewrite.Evaluator for the passes that fold constants.
// It may be used by several goroutines.
type Evaluator struct {
	table map[*ir.Def]row
	limit int64
}

// NewEvaluator returns an evaluator. memoryLimit bounds the values of one evaluation, in bytes; 0 means no limit.
func NewEvaluator(memoryLimit int64) *Evaluator {
	return &Evaluator{buildTable(&host{}), memoryLimit}
}

// Evaluate returns the results of op for the given operands. op and the ops in its regions must be functions of their
// operands: Evaluate returns an error for an op that calls a function, depends on the device or the host, gives random
// numbers, uses values from outside, or has values other than tensors.
func (e *Evaluator) Evaluate(ctx context.Context, op *ir.Op, operands []*tensor.Tensor) (results []*tensor.Tensor, err error) {
	defer func() {
		if v := recover(); v != nil {
			results, err = nil, fmt.Errorf("internal error: %v", v)
		}
	}()
	if err := e.evaluable(op); err != nil {
		return nil, err
	}
	prog := newCompiler(op.Module(), nil, e.table, e.limit)
	f := &function{op: op}
	p := prog.newPlanner(f)
	s := newSpec(p, op, nil, nil)
	ins := instr{op: op, move: make([]bool, len(operands))}
	for i, t := range operands {
		v, err := typeOf(op.Operand(i).Type())
		if err != nil {
			return nil, err
		}
		if v.class != classTensor || v.dt != t.DType() || !fits(v, t.Shape()) {
			return nil, fmt.Errorf("operand %d is %s, not tensor<%s%s>", i, v, ir.AppendShape(nil, t.Shape()), t.DType())
		}
		v.shape, v.n = t.Shape(), t.NumElements()
		s.in = append(s.in, v)
		ins.in = append(ins.in, p.fresh())
	}
	for _, r := range op.Results() {
		v, err := typeOf(r.Type())
		if err != nil {
			return nil, err
		}
		if v.class != classTensor {
			return nil, fmt.Errorf("a result is %s", v)
		}
		s.out = append(s.out, v)
		ins.out = append(ins.out, p.fresh())
	}
	ins.types = s.out
	if err := p.pick(&ins, s); err != nil {
		return nil, locate(prog.module, op, err)
	}
	m := newMachine(prog.program)
	m.watch = &watch{}
	m.watch.memory.limit = e.limit
	m.watch.memory.held.Store(prog.constants)
	prog.planned = true
	ctx, end := m.watch.start(ctx, prog.module.Source(), 0, nil, 0)
	defer end()
	m.ctx = ctx
	fr := &frame{slots: make([]*buf, f.nslots)}
	for i, t := range operands {
		fr.slots[ins.in[i]] = &buf{t: *t, refs: 1, fixed: true}
	}
	if err := ins.run(m, fr, &ins); err != nil {
		return nil, m.locate(&ins, err)
	}
	for i, slot := range ins.out {
		results = m.result(results, s.out[i], fr.slots[slot])
	}
	return results, nil
}

// evaluable returns an error unless op and the ops in its regions are functions of their operands.
func (e *Evaluator) evaluable(op *ir.Op) (err error) {
	for _, r := range op.Regions() {
		if len(flow.Captures(r)) > 0 {
			return errors.New("uses values from outside its regions")
		}
	}
	op.Walk(func(o *ir.Op) bool {
		r, ok := e.table[opKind(o)]
		switch {
		case isReturn(o) && o != op:
		case !ok, opKind(o) == stablehlo.Rng, r.make == nil && !r.pure:
			err = unsupported("evaluation of %s", o.Name())
		}
		return err == nil
	})
	return err
}
