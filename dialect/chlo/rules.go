package chlo

import (
	"fmt"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// elemRule returns the result's element type for the operand's.
type elemRule func(c *ir.Context, t ir.Type) ir.Type

func sameElem(_ *ir.Context, t ir.Type) ir.Type    { return t }
func predElem(*ir.Context, ir.Type) ir.Type        { return ir.Int(1) }
func complexElem(c *ir.Context, t ir.Type) ir.Type { return c.Complex(t) }

func stateOf(op *ir.Op) *ir.OpState {
	return &ir.OpState{Def: op.Def(), Operands: op.OperandList(), Attrs: op.Attrs(), Bodies: op.Regions()}
}

// agree reports an error if the results are not compatible with the types that infer returns.
func agree(op *ir.Op, r *ir.Reporter, infer func(*ir.Context, *ir.OpState) ([]ir.Type, error)) {
	types, err := infer(r.Context(), stateOf(op))
	if err != nil {
		r.PlainErrorf(op, "%s", err)
		r.Errorf(op, "failed to infer returned types") // MLIR says both
		return
	}
	ok := len(types) == op.NumResults()
	for i := 0; ok && i < len(types); i++ {
		ok = hlo.Compatible(types[i], op.Result(i).Type())
	}
	if !ok {
		r.Errorf(op, "inferred type(s) %s are incompatible with return type(s) of operation %s", ods.QuoteTypes(types), ods.QuoteTypes(op.ResultTypes()))
		r.Errorf(op, "failed to infer returned types")
	}
}

func tensorOf(c *ir.Context, t ir.Type) *ir.TensorType {
	if tt, ok := t.(*ir.TensorType); ok {
		return tt
	}
	return c.UnrankedTensor(c.None())
}

func withElem(c *ir.Context, t *ir.TensorType, elem ir.Type) ir.Type {
	if !t.Ranked() {
		return c.UnrankedTensor(elem)
	}
	return c.Tensor(t.Shape(), elem, t.Encoding())
}

func verifySame(op *ir.Op, r *ir.Reporter) {
	t := op.Operand(0).Type()
	ok := hlo.Compatible(op.Result(0).Type(), t)
	for _, v := range op.Operands() {
		ok = ok && hlo.Compatible(v.Type(), t)
	}
	if !ok {
		r.Errorf(op, "requires compatible types for all operands and results")
	}
}

func inferPred(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	return []ir.Type{withElem(c, tensorOf(c, st.Operands[0].Type()), ir.Int(1))}, nil
}

func verifyShape(op *ir.Op, r *ir.Reporter) {
	c := r.Context()
	a, b := tensorOf(c, op.Operand(0).Type()), tensorOf(c, op.Result(0).Type())
	if !hlo.Compatible(withElem(c, a, b.Elem()), b) {
		r.Errorf(op, "all non-scalar operands/results must have the same shape and base type")
		return
	}
	agree(op, r, inferPred)
}

func inferConstant(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	if t := ods.ElementsType(st.Attrs.Get("value")); t != nil {
		return []ir.Type{t}, nil
	}
	return nil, fmt.Errorf("requires attribute 'value'")
}

// isNumber reports whether a has a type, as number attributes do.
func isNumber(a ir.Attr) bool {
	switch a.(type) {
	case *ir.FloatAttr, *ir.IntegerAttr, *ir.DenseAttr, *ir.DialectAttr:
		return true
	}
	return false
}

// foldConstantLike returns the constant of a result of static shape.
func foldConstantLike(op *ir.Op) []ir.Folded {
	t, ok := op.Result(0).Type().(*ir.TensorType)
	if !ok || !t.Static() || t.DType() == tensor.Invalid || t.Encoding() != nil {
		return nil
	}
	v := tensor.New(t.DType(), tensor.Shape{})
	switch a := op.Attr("value").(type) {
	case *ir.FloatAttr:
		v.SetBits(0, a.Bits())
	case *ir.IntegerAttr:
		if !v.SetInt(0, a.Value()) && t.DType().Bits() < 64 {
			return nil
		}
	default:
		return nil
	}
	return []ir.Folded{{Attr: ir.NewDense(t, v, true)}}
}

func verifyConstantLike(op *ir.Op, r *ir.Reporter) {
	var elem ir.Type
	switch v := op.Attr("value").(type) {
	case *ir.FloatAttr:
		elem = v.Type()
	case *ir.IntegerAttr:
		elem = v.Type()
	case *ir.DenseAttr:
		elem = v.Type()
	default:
		return
	}
	if t := tensorOf(r.Context(), op.Result(0).Type()); t.Elem() != elem {
		r.Errorf(op, "value's type doesn't match element return type")
	}
}

// inferBroadcast joins the shapes of two operands. It aligns the shorter shape with the last dimensions of the longer
// one, and expands sizes of 1.
func inferBroadcast(elem elemRule) func(*ir.Context, *ir.OpState) ([]ir.Type, error) {
	return func(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
		l, r := tensorOf(c, st.Operands[0].Type()), tensorOf(c, st.Operands[1].Type())
		if l.Elem() != r.Elem() {
			if _, enum := st.Attrs.Get("comparison_direction").(*ir.EnumAttr); enum || !hlo.Compatible(withElem(c, l, l.Elem()), withElem(c, l, r.Elem())) {
				return nil, fmt.Errorf("mismatched operand types")
			}
		}
		e := elem(c, l.Elem())
		if !l.Ranked() || !r.Ranked() {
			return []ir.Type{c.UnrankedTensor(e)}, nil
		}
		big, small := l, r
		if r.Rank() > l.Rank() {
			big, small = r, l
		}
		at := map[int]int{}
		if d, ok := st.Attrs.Get("broadcast_dimensions").(*ir.DenseArrayAttr); ok && l.Rank() != r.Rank() {
			if len(d.Values()) != small.Rank() {
				return nil, fmt.Errorf("broadcast_dimensions must have size equal to the smaller operand rank")
			}
			for i, v := range d.Values() {
				if v < 0 || v >= int64(big.Rank()) {
					return nil, fmt.Errorf("broadcast_dimensions value %d is out of range", v)
				}
				at[int(v)] = i
			}
		} else {
			for i := range small.Rank() {
				at[big.Rank()-small.Rank()+i] = i
			}
		}
		return []ir.Type{broadcastTypes(c, big, small, at, e)}, nil
	}
}

// broadcastTypes broadcasts small to big. Dimension at[i] of small aligns with dimension i.
func broadcastTypes(c *ir.Context, big, small *ir.TensorType, at map[int]int, elem ir.Type) ir.Type {
	shape := append([]int64{}, big.Shape()...)
	bounds, any := make([]int64, len(shape)), false
	bb, sb := hlo.BoundsOf(big), hlo.BoundsOf(small)
	bound := func(b []int64, i int) int64 {
		if i < len(b) {
			return b[i]
		}
		return ir.Dynamic
	}
	for i := range shape {
		bounds[i] = bound(bb, i)
		k, ok := at[i]
		if !ok {
			continue
		}
		d, e := shape[i], small.Shape()[k]
		switch {
		case d == 1:
			shape[i], bounds[i] = e, bound(sb, k)
		case e == 1 || d == e && d != ir.Dynamic:
		case d == ir.Dynamic && e != ir.Dynamic:
			shape[i], bounds[i] = e, ir.Dynamic
		case e == ir.Dynamic && d != ir.Dynamic:
		case d == ir.Dynamic && e == ir.Dynamic:
			if x, y := bounds[i], bound(sb, k); x == ir.Dynamic || y == ir.Dynamic {
				bounds[i] = ir.Dynamic
			} else {
				bounds[i] = max(x, y)
			}
		default:
			return c.UnrankedTensor(elem) // they disagree, so nothing is known
		}
	}
	for i := range shape {
		if shape[i] == ir.Dynamic && bounds[i] != ir.Dynamic {
			any = true
		} else {
			bounds[i] = ir.Dynamic
		}
	}
	if any {
		return c.Tensor(shape, elem, hlo.BoundsAttr.New(&hlo.Bounds{Bounds: bounds}))
	}
	return c.Tensor(shape, elem, nil)
}

func verifyBroadcast(elem elemRule) func(*ir.Op, *ir.Reporter) {
	infer := inferBroadcast(elem)
	return func(op *ir.Op, r *ir.Reporter) {
		c := r.Context()
		if elem(c, ir.Int(8)) == ir.Type(ir.Int(8)) { // the result has the operands' element type
			a, b, t := tensorOf(c, op.Operand(0).Type()), tensorOf(c, op.Operand(1).Type()), tensorOf(c, op.Result(0).Type())
			switch name := op.Name(); {
			case name == "chlo.broadcast_add" || name == "chlo.broadcast_maximum" || name == "chlo.broadcast_minimum":
				if !sameElems(c, a, b) || !sameElems(c, a, t) {
					r.Errorf(op, "requires compatible element types for all operands and results")
					return
				}
			case name == "chlo.broadcast_and" || name == "chlo.broadcast_or" || name == "chlo.broadcast_xor":
			default:
				if a.Elem() != b.Elem() || a.Elem() != t.Elem() {
					r.Errorf(op, "requires the same element type for all operands and results")
					return
				}
			}
		}
		types, err := infer(c, stateOf(op))
		if err != nil {
			r.PlainErrorf(op, "%s", err)
			r.Errorf(op, "failed to infer returned types")
			return
		}
		got := op.Result(0).Type()
		if !hlo.Compatible(types[0], got) {
			r.Errorf(op, "inferred type(s) %s are incompatible with return type(s) of operation %s", ods.QuoteTypes(types), ods.QuoteTypes([]ir.Type{op.Result(0).Type()}))
		}
	}
}

func sameElems(c *ir.Context, a, b *ir.TensorType) bool {
	return hlo.Compatible(c.UnrankedTensor(a.Elem()), c.UnrankedTensor(b.Elem()))
}

// inferSelect broadcasts three operands.
func inferSelect(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	p, a, b := tensorOf(c, st.Operands[0].Type()), tensorOf(c, st.Operands[1].Type()), tensorOf(c, st.Operands[2].Type())
	if a.Elem() != b.Elem() {
		return nil, fmt.Errorf("mismatched operand types")
	}
	if !p.Ranked() || !a.Ranked() || !b.Ranked() {
		return []ir.Type{c.UnrankedTensor(a.Elem())}, nil
	}
	join := func(x, y *ir.TensorType) *ir.TensorType {
		if !x.Ranked() || !y.Ranked() {
			return c.UnrankedTensor(a.Elem())
		}
		if y.Rank() > x.Rank() {
			x, y = y, x
		}
		at := map[int]int{}
		for i := range y.Rank() {
			at[x.Rank()-y.Rank()+i] = i
		}
		return broadcastTypes(c, x, y, at, a.Elem()).(*ir.TensorType)
	}
	return []ir.Type{join(join(a, b), p)}, nil
}

func verifySelect(op *ir.Op, r *ir.Reporter) { agree(op, r, inferSelect) }

func inferTopK(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	t := tensorOf(c, st.Operands[0].Type())
	if !t.Ranked() {
		return []ir.Type{c.UnrankedTensor(t.Elem()), c.UnrankedTensor(ir.Int(32))}, nil
	}
	if t.Rank() < 1 {
		return nil, fmt.Errorf("operand's rank must be at least 1")
	}
	k, last := view.Int(st.Attrs.Get("k")), t.Rank()-1
	if d := t.Shape()[last]; d != ir.Dynamic && d < k {
		return nil, fmt.Errorf("operand's last dimension must be at least %d", k)
	}
	shape := append([]int64{}, t.Shape()...)
	shape[last] = k
	return []ir.Type{c.Tensor(shape, t.Elem(), t.Encoding()), c.Tensor(shape, ir.Int(32), t.Encoding())}, nil
}

func verifyTopK(op *ir.Op, r *ir.Reporter) { agree(op, r, inferTopK) }

func verifyScan(op *ir.Op, r *ir.Reporter) {
	n, outs := segments(op)
	carries := op.NumOperands() - n
	if op.NumResults()-outs != carries {
		r.Errorf(op, "expects as many carries as inits, but got %d and %d", op.NumResults()-outs, carries)
		return
	}
	c, d, size := r.Context(), view.Int(op.Attr("dimension")), view.IntOr(op.Attr("scan_dim_size"), ir.Dynamic)
	var want []ir.Type
	for i := range n {
		t := tensorOf(c, op.Operand(i).Type())
		if d >= int64(t.Rank()) {
			r.Errorf(op, "scan dimension of operand %d is out of bounds", i)
			return
		}
		if s := t.Shape()[d]; size != ir.Dynamic && s != ir.Dynamic && s != size {
			r.Errorf(op, "invalid scan dimension size of operand %d", i)
			return
		} else if size == ir.Dynamic {
			size = s
		}
		want = append(want, dropDim(c, t, int(d)))
	}
	for i := n; i < op.NumOperands(); i++ {
		want = append(want, op.Operand(i).Type())
	}
	b := op.Region(0).Entry()
	if len(b.Args()) != len(want) {
		r.Errorf(op, "expects %d arguments in the body, but got %d", len(want), len(b.Args()))
		return
	}
	for i, t := range want {
		if !hlo.Compatible(t, b.Arg(i).Type()) {
			r.Errorf(op, "operand and body argument %d are incompatible", i)
			return
		}
	}
	ret := b.Last()
	if ret == nil || ret.NumOperands() != op.NumResults() {
		r.Errorf(op, "expects %d values to be returned by the body", op.NumResults())
		return
	}
	for i, v := range op.Results() {
		t := v.Type()
		if i < outs {
			tt := tensorOf(c, t)
			if d >= int64(tt.Rank()) {
				r.Errorf(op, "scan dimension of result %d is out of bounds", i)
				return
			}
			t = dropDim(c, tt, int(d))
		}
		if !hlo.Compatible(t, ret.Operand(i).Type()) {
			r.Errorf(op, "result and body result %d are incompatible", i)
			return
		}
	}
}

func dropDim(c *ir.Context, t *ir.TensorType, d int) ir.Type {
	shape := append(append([]int64{}, t.Shape()[:d]...), t.Shape()[d+1:]...)
	return c.Tensor(shape, t.Elem(), nil)
}
