package passes

import (
	"iter"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/tensor"
)

// ConvertToSignless makes all integers signless.
type ConvertToSignless struct{}

func (ConvertToSignless) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-convert-to-signless",
		Aliases: []string{"convert-to-signless"},
		Doc: "Replaces signed and unsigned integers in types by signless integers of the same width. Operations stay, so the module's meaning " +
			"changes if an operation depends on the sign.",
		Idempotent: true,
	}
}

func (ConvertToSignless) Run(ctx *pass.Context, m *ir.Module) error {
	s := &signless{ctx: m.Context()}
	// The arguments of regions follow the operands and results of their op: mpmd.for keeps its unsigned index.
	regions := map[*ir.Op]bool{}
	m.Walk(func(op *ir.Op) bool {
		if len(op.Regions()) > 0 {
			regions[op] = op.Is(fn.Func) || s.any(op.Operands()) || s.any(op.Results())
		}
		return true
	})
	var err error
	m.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results() {
			s.value(v)
		}
		if regions[op] {
			for _, r := range op.Regions() {
				for _, b := range r.Blocks() {
					for _, a := range b.Args() {
						s.value(a)
					}
				}
			}
		}
		switch {
		case op.Is(stablehlo.Constant), op.Is(arith.Constant):
			err = s.constant(op)
		case op.Is(fn.Func):
			if t := (fn.FuncOp{Op: op}).Type(); t != nil {
				op.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(s.ctx.Function(s.types(t.Inputs()), s.types(t.Results()))))
			}
		}
		return err == nil
	})
	ctx.Count("values converted", s.count)
	return err
}

type signless struct {
	ctx   *ir.Context
	count int
}

// typ returns t, an integer or a shaped type of integers, without sign.
func (s *signless) typ(t ir.Type) ir.Type {
	switch t := t.(type) {
	case *ir.IntegerType:
		return s.ctx.Integer(t.Width(), ir.Signless)
	case *ir.TensorType:
		elem := s.typ(t.Elem())
		if _, ok := t.Elem().(*ir.IntegerType); !ok || elem == t.Elem() {
			return t
		}
		if !t.Ranked() {
			return s.ctx.UnrankedTensor(elem)
		}
		return s.ctx.Tensor(t.Shape(), elem, t.Encoding())
	}
	return t
}

func (s *signless) types(list []ir.Type) []ir.Type {
	out := make([]ir.Type, len(list))
	for i, t := range list {
		out[i] = s.typ(t)
	}
	return out
}

// any reports whether a value has a type to replace.
func (s *signless) any(values iter.Seq2[int, *ir.Value]) bool {
	for _, v := range values {
		if s.typ(v.Type()) != v.Type() {
			return true
		}
	}
	return false
}

func (s *signless) value(v *ir.Value) {
	if t := s.typ(v.Type()); t != v.Type() {
		v.SetType(t)
		s.count++
	}
}

// constant converts the value of a constant whose result is already converted.
func (s *signless) constant(op *ir.Op) error {
	d, ok := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
	if !ok {
		if r, ok := op.Attr(stablehlo.AttrValue).(*ir.ResourceAttr); ok && s.typ(r.Type()) != r.Type() {
			return op.Module().Errorf(op, "failed to legalize operation '%s' that was explicitly marked illegal", op.Name())
		}
		return nil
	}
	t, ok := s.typ(d.Type()).(*ir.TensorType)
	if !ok || ir.Type(t) == d.Type() {
		return nil
	}
	v, splat, err := d.Elements()
	if err != nil {
		return err
	}
	v, err = tensor.FromBytes(t.DType(), v.Shape(), v.Bytes())
	if err != nil {
		return err
	}
	op.SetAttr(stablehlo.AttrValue, ir.NewDense(t, v, splat))
	return nil
}
