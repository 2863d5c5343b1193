package format

import (
	"cmp"
	"slices"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// A hook is row-major on every backend. Other layouts that its source asks for are carried along for handlers that want
// them.

// orders are the layouts of a hook's data operands and results, each array<i64> as in hookop.AttrOperandLayouts. Both
// are nil if all are row-major.
type orders struct{ operands, results *ir.DenseArrayAttr }

// RowMajor reports whether a custom call specifies layouts. It returns an error for a layout that is not row-major.
func (r *Raiser) RowMajor(op *ir.Op) (bool, error) {
	given, o, err := r.layouts(op, op.OperandList(), op.ResultList())
	if err == nil {
		err = r.checkRowMajor(op, o)
	}
	return given, err
}

func (r *Raiser) checkRowMajor(op *ir.Op, o orders) error {
	if o.operands != nil {
		return r.Module.Errorf(op, "hook of this format needs row-major layouts")
	}
	return nil
}

// layouts returns the layouts that a custom call specifies for the given ones of its operands and results, and whether
// it specifies any.
func (r *Raiser) layouts(op *ir.Op, operands, results []*ir.Value) (given bool, o orders, err error) {
	other := false
	read := func(name string, all, wanted []*ir.Value) *ir.DenseArrayAttr {
		list, ok := op.Attr(name).(*ir.ArrayAttr)
		given = given || ok
		flat := []int64{}
		at := 0
		for _, v := range all {
			for _, t := range irutil.Leaves(nil, v.Type()) {
				var e ir.Attr
				if ok && at < len(list.Elems()) {
					e = list.Elems()[at]
				}
				at++
				if !slices.Contains(wanted, v) || stablehlo.IsToken(t) || err != nil {
					continue
				}
				order := rowMajor(t)
				if d, ok := e.(*ir.DenseAttr); ok {
					perm, readErr := d.Int64s()
					if readErr != nil || !permutes(perm, len(order)) {
						err = r.Module.Errorf(op, "%s has %v for a value of type %s", name, perm, t)
						return nil
					}
					other = other || !slices.Equal(perm, order)
					order = perm
				}
				flat = append(flat, order...)
			}
		}
		return ir.NewDenseArray(ir.Int(64), flat)
	}
	o.operands = read(stablehlo.AttrOperandLayouts, op.OperandList(), operands)
	o.results = read(stablehlo.AttrResultLayouts, op.ResultList(), results)
	if err != nil || !other {
		return given, orders{}, err
	}
	return given, o, nil
}

func permutes(perm []int64, rank int) bool {
	seen := make([]bool, rank)
	for _, d := range perm {
		if d < 0 || d >= int64(rank) || seen[d] {
			return false
		}
		seen[d] = true
	}
	return len(perm) == rank
}

// rowMajor returns the row-major layout of a type.
func rowMajor(t ir.Type) []int64 {
	order := []int64{}
	if t, ok := t.(*ir.TensorType); ok {
		for d := t.Rank() - 1; d >= 0; d-- {
			order = append(order, int64(d))
		}
	}
	return order
}

// requiresLayouts reports whether op is a custom call that specifies a layout that is not row-major. XLA gives the
// required layout of an operand to the results of the hook that computes it, unless the hook specifies layouts, too.
func requiresLayouts(op *ir.Op) bool {
	if !op.IsOrMirrors(stablehlo.CustomCall) {
		return false
	}
	for _, name := range [...]string{stablehlo.AttrOperandLayouts, stablehlo.AttrResultLayouts} {
		list, ok := op.Attr(name).(*ir.ArrayAttr)
		if !ok {
			continue
		}
		for _, e := range list.Elems() {
			if d, ok := e.(*ir.DenseAttr); ok {
				if perm, err := d.Int64s(); err == nil && !slices.IsSortedFunc(perm, func(a, b int64) int { return cmp.Compare(b, a) }) {
					return true
				}
			}
		}
	}
	return false
}

// ordersOf returns the layouts that a hlocb.hook op or the configuration of hlocb's own call carries.
func ordersOf(attr func(name string) ir.Attr) (o orders) {
	o.operands, _ = attr(hookop.AttrOperandLayouts).(*ir.DenseArrayAttr)
	o.results, _ = attr(hookop.AttrResultLayouts).(*ir.DenseArrayAttr)
	return o
}

// apply sets the layouts of a site. It refuses layouts that do not fit the values, and those of an inout hook whose
// results have others than the operands that they are.
func (o orders) apply(m *ir.Module, op *ir.Op, s *hook.Site) error {
	var err error
	split := func(a *ir.DenseArrayAttr, types []hook.TensorType) [][]int64 {
		if a == nil || err != nil {
			return nil
		}
		flat := a.Values()
		out := make([][]int64, len(types))
		fits := true
		for i, t := range types {
			n := min(len(t.Shape), len(flat))
			out[i], flat = flat[:n:n], flat[n:]
			fits = fits && permutes(out[i], len(t.Shape))
		}
		if !fits || len(flat) > 0 {
			err = m.Errorf(op, "has layouts that do not fit its operands and results")
		}
		return out
	}
	s.OperandLayouts, s.ResultLayouts = split(o.operands, s.Operands), split(o.results, s.Results)
	if err == nil && (s.OperandLayouts == nil) != (s.ResultLayouts == nil) {
		err = m.Errorf(op, "has layouts of its operands or of its results, expected both")
	}
	if err == nil && s.Kind == hook.InOut && s.ResultLayouts != nil {
		for i, a := range s.Aliases {
			if a >= 0 && !slices.Equal(s.ResultLayouts[i], s.OperandLayouts[a]) {
				err = m.Errorf(op, "result %d has another layout than operand %d, whose memory it shares", i, a)
			}
		}
	}
	return err
}
