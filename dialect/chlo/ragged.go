package chlo

import (
	"fmt"
	"slices"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// inferRaggedDot checks the dimension numbers of a ragged dot and returns the type of its result. The ragged dimension
// of lhs determines the kind of product: a free dimension (the groups choose the matrix), a contracting one (one
// product per group), or a batching one.
func inferRaggedDot(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	d, ok := ir.DataOf[RaggedDotDims](st.Attrs.Get("ragged_dot_dimension_numbers"))
	if !ok {
		return nil, fmt.Errorf("requires attribute 'ragged_dot_dimension_numbers'")
	}
	l, r, g := tensorOf(c, st.Operands[0].Type()), tensorOf(c, st.Operands[1].Type()), tensorOf(c, st.Operands[2].Type())
	dot := &d.DotDims
	for _, f := range [...]struct {
		name string
		v    []int64
		rank int
	}{
		{"lhs_batching_dimensions", dot.LHSBatching, l.Rank()}, {"lhs_contracting_dimensions", dot.LHSContracting, l.Rank()},
		{"rhs_batching_dimensions", dot.RHSBatching, r.Rank()}, {"rhs_contracting_dimensions", dot.RHSContracting, r.Rank()},
		{"lhs_ragged_dimensions", d.LHSRagged, l.Rank()}, {"rhs_group_dimensions", d.RHSGroup, r.Rank()},
	} {
		for _, v := range f.v {
			if v < 0 || v >= int64(f.rank) {
				return nil, fmt.Errorf("%s value: %d is out of range: [0, %d)", f.name, v, f.rank)
			}
		}
	}
	if len(d.LHSRagged) != 1 {
		//lint:ignore ST1005 the words are MLIR's
		return nil, fmt.Errorf("There must be exactly one ragged dimension in the lhs")
	}
	for _, v := range d.RHSGroup {
		if slices.Contains(dot.RHSBatching, v) {
			return nil, fmt.Errorf("has duplicated dimension from rhs_group_dimensions and rhs_batching_dimensions: %d", v)
		}
		if slices.Contains(dot.RHSContracting, v) {
			return nil, fmt.Errorf("has duplicated dimension from rhs_group_dimensions and rhs_contracting_dimensions: %d", v)
		}
	}
	if len(dot.LHSBatching) != len(dot.RHSBatching) {
		return nil, fmt.Errorf("lhs and rhs should have the same number of batching dimensions")
	}
	if len(dot.LHSContracting) != len(dot.RHSContracting) {
		return nil, fmt.Errorf("lhs and rhs should have the same number of contracting dimensions")
	}
	for i := range dot.LHSBatching {
		if !compatibleSizes(l.Shape()[dot.LHSBatching[i]], r.Shape()[dot.RHSBatching[i]]) {
			return nil, fmt.Errorf("batching dimension sizes must match for lhs/rhs")
		}
	}
	for i := range dot.LHSContracting {
		if !compatibleSizes(l.Shape()[dot.LHSContracting[i]], r.Shape()[dot.RHSContracting[i]]) {
			return nil, fmt.Errorf("contracting dimension sizes must match for lhs/rhs")
		}
	}
	ragged := d.LHSRagged[0]
	batch, contract := slices.Contains(dot.LHSBatching, ragged), slices.Contains(dot.LHSContracting, ragged)
	if batch || contract {
		if len(d.RHSGroup) != 0 {
			//lint:ignore ST1005 the words are MLIR's
			return nil, fmt.Errorf("There must be zero group dimensions in the rhs when the ragged dimension is batch or contracting")
		}
	} else if len(d.RHSGroup) != 1 {
		//lint:ignore ST1005 the words are MLIR's
		return nil, fmt.Errorf("There must be exactly one group dimension in the rhs when the lhs ragged dimension is non-contracting")
	}
	// group_sizes has one row of sizes, or one row per index of the dimensions before the ragged one.
	groups := ir.Dynamic
	if g.Ranked() && g.Rank() == 0 {
		return nil, fmt.Errorf("expected group_sizes to have rank 1, got 0")
	}
	if g.Ranked() && g.Rank() > 0 {
		groups = g.Shape()[g.Rank()-1]
		var prefix []int64
		switch {
		case batch:
			prefix = before(l, dot.LHSBatching, ragged)
		case contract:
			prefix = append(sizes(l, dot.LHSBatching), before(l, dot.LHSContracting, ragged)...)
		default:
			prefix = sizes(l, dot.LHSBatching)
			for i := range int64(l.Rank()) {
				if i < ragged && !slices.Contains(dot.LHSBatching, i) && !slices.Contains(dot.LHSContracting, i) {
					prefix = append(prefix, l.Shape()[i])
				}
			}
		}
		if g.Rank() > 1 {
			if g.Rank() != len(prefix)+1 {
				if len(prefix) == 0 {
					return nil, fmt.Errorf("expected group_sizes to have rank 1, got %d", g.Rank())
				}
				return nil, fmt.Errorf("expected group_sizes to have rank 1 or %d, got %d", len(prefix)+1, g.Rank())
			}
			for i, p := range prefix {
				if !compatibleSizes(p, g.Shape()[i]) {
					return nil, fmt.Errorf("group_sizes is expected to have shape [%s], got [%s]", dims(append(prefix, groups)), dims(g.Shape()))
				}
			}
		}
	}
	if len(d.RHSGroup) == 1 {
		if n := r.Shape()[d.RHSGroup[0]]; !compatibleSizes(n, groups) {
			return nil, fmt.Errorf("rhs group dimension is expected to have size=%d, got %d", groups, n)
		}
	}
	var shape []int64
	if contract {
		shape = append(shape, groups)
	}
	shape = append(shape, sizes(l, dot.LHSBatching)...)
	for i := range int64(l.Rank()) {
		if !slices.Contains(dot.LHSBatching, i) && !slices.Contains(dot.LHSContracting, i) {
			shape = append(shape, l.Shape()[i])
		}
	}
	for i := range int64(r.Rank()) {
		if !slices.Contains(dot.RHSBatching, i) && !slices.Contains(dot.RHSContracting, i) && !slices.Contains(d.RHSGroup, i) {
			shape = append(shape, r.Shape()[i])
		}
	}
	return []ir.Type{c.Tensor(shape, tensorOf(c, st.Operands[0].Type()).Elem(), nil)}, nil
}

func verifyRaggedDot(op *ir.Op, r *ir.Reporter) {
	types, err := inferRaggedDot(r.Context(), stateOf(op))
	if err != nil {
		r.PlainErrorf(op, "%s", err)
		return
	}
	got := tensorOf(r.Context(), op.Result(0).Type())
	if want := withElem(r.Context(), types[0].(*ir.TensorType), got.Elem()); !hlo.Compatible(want, got) {
		r.PlainErrorf(op, "inferred shape '[%s]' is incompatible with return type of operation '%s'", dims(types[0].(*ir.TensorType).Shape()), got)
	}
}

func compatibleSizes(a, b int64) bool { return a == b || a == ir.Dynamic || b == ir.Dynamic }

func sizes(t *ir.TensorType, at []int64) []int64 {
	var out []int64
	for _, d := range at {
		out = append(out, t.Shape()[d])
	}
	return out
}

// before returns the sizes of the dimensions in list that precede d.
func before(t *ir.TensorType, list []int64, d int64) []int64 {
	var out []int64
	for _, v := range list {
		if v == d {
			break
		}
		out = append(out, t.Shape()[v])
	}
	return out
}
