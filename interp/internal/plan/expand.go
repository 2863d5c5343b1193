package plan

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Expands reports whether the engine executes op as the ops that replace it. An op with a kernel computes quantized
// values on the reals that they represent (spec, "dequantize_op_quantize"), unless it only moves elements of one type.
// The operands of a reduction are converted to the types in which its region computes.
func (r Recipe) Expands(op *ir.Op) bool {
	if r.control != nil {
		return legalize.Promotes(op)
	}
	if r.types != nil && slices.ContainsFunc(op.OperandList(), func(v *ir.Value) bool {
		t, ok := v.Type().(*ir.TensorType)
		return !ok || !slices.Contains(r.types, t.DType())
	}) {
		return true
	}
	if r.expand || r.maker == nil || !legalize.IsQuantized(op) {
		return r.expand
	}
	switch kind := OpKind(op); {
	case kind == stablehlo.UniformQuantize, kind == stablehlo.UniformDequantize, kind == stablehlo.BitcastConvert:
		return false
	case !movesElements(kind):
		return true
	}
	var elem ir.Type
	for _, v := range append(op.OperandList(), op.ResultList()...) {
		if t, ok := v.Type().(*ir.TensorType); ok && quant.Of(t.Elem()) != nil {
			if elem != nil && elem != t.Elem() {
				return true
			}
			elem = t.Elem()
		}
	}
	return false
}

// movesElements reports whether an op only moves elements; such an op can move stored integers unchanged.
func movesElements(d *ir.Def) bool {
	switch d {
	case stablehlo.BroadcastInDim, stablehlo.Transpose, stablehlo.Reverse, stablehlo.Slice, stablehlo.DynamicSlice,
		stablehlo.DynamicUpdateSlice, stablehlo.Concatenate, stablehlo.Pad, stablehlo.Gather, stablehlo.Select, stablehlo.DynamicReshape,
		stablehlo.DynamicBroadcastInDim, stablehlo.DynamicPad, stablehlo.DynamicGather, stablehlo.RealDynamicSlice:
		return true
	}
	return false
}

// Expand replaces the ops of mod that expands selects by simpler ops, if the values of these ops have static shapes.
// Other ops are expanded when they execute.
func Expand(mod *ir.Module, expands func(*ir.Op) bool) {
	op, err := legalize.Expand(mod, func(op *ir.Op) bool { return expands(op) && static(op) })
	kernel.Fail(err)
	if op != nil {
		kernel.Fail(exec.Locate(mod, op, kernel.Unsupported("%s on values of these types", op.Name())))
	}
}

// static reports whether all operands and results of op are tensors of static shape.
func static(op *ir.Op) bool {
	for _, v := range append(op.OperandList(), op.ResultList()...) {
		if t, ok := v.Type().(*ir.TensorType); !ok || !t.Static() {
			return false
		}
	}
	return true
}

// planExpanded compiles a function of the ops that replace an op, for the given static shapes.
func planExpanded(p *Planner, s *Spec) exec.Runner {
	from := s.Op.Module()
	m := ir.NewModule(from.Context(), from.Source())
	f := m.AtEnd(m.Body()).At(s.Op.Loc(), s.Op.Pos()).Insert(&ir.OpState{Def: fn.Func, Regions: 1})
	body := f.Region(0).AddBlock()
	values := map[*ir.Value]*ir.Value{}
	for i, v := range s.Op.Operands() {
		values[v] = body.AddArg(shaped(m, v, s.In[i]), v.Loc())
	}
	var captured []int32
	for _, r := range s.Op.Regions() {
		for _, v := range flow.Captures(r) {
			if values[v] == nil {
				values[v] = body.AddArg(v.Type(), v.Loc())
				captured = append(captured, p.slot(v))
			}
		}
	}
	b := m.AtEnd(body).At(s.Op.Loc(), s.Op.Pos())
	op := b.Clone(s.Op, values)
	for i, v := range op.Results() {
		v.SetType(shaped(m, v, s.Out[i]))
	}
	b.Create(fn.Return, op.ResultList(), nil)
	Expand(m, func(op *ir.Op) bool { return p.Prog.table[OpKind(op)].Expands(op) })
	inner := &exec.Function{Name: p.Fn.Name, Op: f, Args: s.In, Results: s.Out}
	inner.Body = p.Prog.NewPlanner(inner).block(body)
	p.ins.Callee, p.ins.Frame = inner, -1
	outside := inner.Body.Args[len(s.In):]
	inner.Body.Args = inner.Body.Args[:len(s.In)]
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		in := m.Enter(inner, fr, ins)
		for i, slot := range captured {
			in.Slots[outside[i]] = exec.Retain(fr.Slots[slot])
		}
		m.RunInside(in, inner.Body, fr, ins)
		m.Leave(inner, in)
	}
}

// shaped returns the type of v with the shape of t.
func shaped(m *ir.Module, v *ir.Value, t kernel.Type) ir.Type {
	if old, ok := v.Type().(*ir.TensorType); ok {
		return m.Context().Tensor(t.Shape, old.Elem(), nil)
	}
	return v.Type()
}
