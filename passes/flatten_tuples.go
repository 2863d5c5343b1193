package passes

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// FlattenTuples replaces tuples by their elements.
type FlattenTuples struct{}

func (FlattenTuples) Info() *pass.Info {
	return &pass.Info{
		Name: "flatten-tuples",
		Doc: "Replaces tuples by their elements in functions, calls, loops and branches. Other ops with tuples, such as custom calls, keep them: " +
			"the pass packs tuples before such an op and unpacks them after it.",
		Idempotent: true,
	}
}

func (FlattenTuples) Run(ctx *pass.Context, m *ir.Module) error {
	found := false
	var keep []*ir.Def
	var err error
	m.Walk(func(op *ir.Op) bool {
		if f, ok := fn.AsFunc(op); ok && err == nil {
			err = tupleAttrs(f)
		}
		if hasTuple(op) {
			found = true
			if !slices.Contains(flattenedRows, op.Def()) && !slices.Contains(keep, op.Def()) {
				keep = append(keep, op.Def())
			}
		}
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				found = found || slices.ContainsFunc(b.Args(), isTuple)
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	if !found {
		return nil
	}
	c := m.Context()
	conversions := []*rewrite.Conversion{
		{Name: "flatten-tuple", Rows: []*ir.Def{stablehlo.Tuple}, Convert: func(_ *rewrite.Rewriter, _ *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
			return [][]*ir.Value{slices.Concat(operands...)}, nil
		}},
		{Name: "flatten-element", Rows: []*ir.Def{stablehlo.GetTupleElement}, Convert: elementOfFlattened},
	}
	if len(keep) > 0 {
		conversions = append(conversions, &rewrite.Conversion{Name: "keep-tuples", Rows: keep, Convert: keepTuples})
	}
	return rewrite.Convert(rewrite.New(m), m.Op(), &rewrite.Converter{
		Applied: ctx.Applied, Context: ctx,
		Types: func(t ir.Type) ([]ir.Type, bool) {
			_, ok := t.(*ir.TupleType)
			return irutil.Leaves(nil, t), ok
		},
		Attr: func(op *ir.Op, name string, a ir.Attr) ir.Attr {
			f, ok := fn.AsFunc(op)
			if !ok {
				return a
			}
			switch name {
			case fn.AttrFunctionType:
				return ir.NewTypeAttr(c.Function(irutil.Leaves(nil, f.Type().Inputs()...), irutil.Leaves(nil, f.Type().Results()...)))
			case fn.AttrArgAttrs:
				return flattenedAttrs(a, f.Type().Inputs())
			case fn.AttrResAttrs:
				return flattenedAttrs(a, f.Type().Results())
			}
			return a
		},
		Ops: conversions,
	})
}

// flattenedRows are the kinds of ops that can have the elements of a tuple in place of the tuple.
var flattenedRows = []*ir.Def{
	fn.Func, fn.Call, fn.Return, stablehlo.Case, stablehlo.GetTupleElement, stablehlo.If, stablehlo.OptimizationBarrier, stablehlo.Return,
	stablehlo.Tuple, stablehlo.While,
}

func isTuple(v *ir.Value) bool {
	_, ok := v.Type().(*ir.TupleType)
	return ok
}

func hasTuple(op *ir.Op) bool {
	return slices.ContainsFunc(op.OperandList(), isTuple) || slices.ContainsFunc(op.ResultList(), isTuple)
}

// tupleAttrs refuses attributes of tuples among the arguments and results of f, because they have no meaning for the
// elements, and aliases of results by number.
func tupleAttrs(f fn.FuncOp) error {
	if f.Type() == nil {
		return nil
	}
	flat := len(irutil.Leaves(nil, f.Type().Results()...)) == len(f.Type().Results())
	for i, t := range f.Type().Inputs() {
		d := f.ArgAttrs(i)
		if _, ok := t.(*ir.TupleType); ok && d != nil && len(d.Entries()) > 0 {
			return f.Module().Errorf(f.Op, "argument %d is a tuple with attributes, which its elements cannot have", i)
		}
		if d != nil && !flat && d.Get(fn.AttrAliasingOutput) != nil {
			return f.Module().Errorf(f.Op, "argument %d is an alias of a result by number, and the numbers change", i)
		}
	}
	for i, t := range f.Type().Results() {
		if d := f.ResultAttrs(i); d != nil && len(d.Entries()) > 0 {
			if _, ok := t.(*ir.TupleType); ok {
				return f.Module().Errorf(f.Op, "result %d is a tuple with attributes, which its elements cannot have", i)
			}
		}
	}
	return nil
}

// flattenedAttrs returns the list of attributes a, one entry for each of types, for the flattened types.
func flattenedAttrs(a ir.Attr, types []ir.Type) ir.Attr {
	list, ok := a.(*ir.ArrayAttr)
	if !ok || len(list.Elems()) != len(types) {
		return a
	}
	var out []ir.Attr
	for i, t := range types {
		if _, ok := t.(*ir.TupleType); !ok {
			out = append(out, list.Elems()[i])
			continue
		}
		for range irutil.Leaves(nil, t) {
			out = append(out, ir.NewDict(nil))
		}
	}
	return ir.NewArray(out)
}

func elementOfFlattened(_ *rewrite.Rewriter, op *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
	v, _ := stablehlo.AsGetTupleElement(op)
	elems := op.Operand(0).Type().(*ir.TupleType).Elems()
	i := int(v.Index())
	at := len(irutil.Leaves(nil, elems[:i]...))
	return [][]*ir.Value{operands[0][at : at+len(irutil.Leaves(nil, elems[i]))]}, nil
}

// keepTuples packs the tuples that op accepts, and unpacks the tuples that it returns.
func keepTuples(r *rewrite.Rewriter, op *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
	if len(op.Regions()) > 0 {
		return nil, fmt.Errorf("an op with tuples and regions cannot keep its tuples")
	}
	b := r.Before(op)
	st := op.State()
	st.Attrs, st.Operands = slices.Clone(op.Attrs()), nil
	for i, v := range op.Operands() {
		x, _ := irutil.Pack(b, v.Type(), operands[i])
		st.Operands = append(st.Operands, x)
	}
	n := b.Insert(st)
	var out [][]*ir.Value
	for _, v := range n.Results() {
		out = append(out, irutil.Unpack(b, nil, v))
	}
	return out, nil
}
