package plan

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// A product reads a transposed operand in place, with other strides: its kernel packs panels anyway, and the transposed
// value is never stored. This holds for transposes that only products of their own block use.

const transposedColumns = 16 // minimum of free elements of the other operand for which packing reads each element once

// absorb finds the transposes of block b that products read through.
func (p *Planner) absorb(b *ir.Block) {
	for o := range b.Ops() {
		if p.absorbable(o, b) {
			p.absorbed[o] = true
		}
	}
}

func (p *Planner) absorbable(o *ir.Op, b *ir.Block) bool {
	if OpKind(o) != stablehlo.Transpose || o.NumOperands() != 1 || o.NumResults() != 1 || !o.Result(0).HasUses() {
		return false
	}
	defer p.Prog.locate(o)
	in := p.typesOf(o.Operands())[0]
	if !plain(in) || !plain(p.typesOf(o.Results())[0]) || in.N < fuseFrom {
		return false
	}
	perm := Permutation(o)
	kernel.CheckDims("permutation", perm, len(perm))
	view := kernel.Transposed(kernel.Dense(in), perm)
	for u := range o.Result(0).Uses() {
		d := u.Owner()
		if d.Block() != b || OpKind(d) != stablehlo.DotGeneral || d.NumOperands() != 2 || !p.packs(d, u.Index(), view) {
			return false
		}
	}
	return true
}

// packs reports whether a product reads operand i through the view of a transpose: its kernel need not arrange the
// operand first, and the other operand has enough free elements.
func (p *Planner) packs(d *ir.Op, i int, view kernel.View) bool {
	dims, types := DotDimensions(d), p.typesOf(d.Operands())
	return plain(types[0]) && plain(types[1]) && types[0].DType == types[1].DType && dims.Strided(view, i == 1) && dims.Free(types[1-i], i == 0) >= transposedColumns
}

// View returns the view through which o's kernel reads operand i, whose tensor has type t.
func (p *Planner) View(o *ir.Op, i int, t kernel.Type) kernel.View {
	d := o.Operand(i).DefiningOp()
	if d == nil || !p.absorbed[d] {
		return kernel.Dense(t)
	}
	return kernel.Transposed(kernel.Dense(t), Permutation(d))
}

// operands returns the values that the instruction of o reads: for each operand of o, the operand or the value that it
// transposes.
func (p *Planner) operands(o *ir.Op) []*ir.Value {
	out := make([]*ir.Value, o.NumOperands())
	for i, v := range o.Operands() {
		if t := v.DefiningOp(); t != nil && p.absorbed[t] {
			v = t.Operand(0)
		}
		out[i] = v
	}
	return out
}

// through returns o and the transposes that o reads through, or nil if there are none.
func (p *Planner) through(o *ir.Op) []*ir.Op {
	var ops []*ir.Op
	for _, v := range o.Operands() {
		if t := v.DefiningOp(); t != nil && p.absorbed[t] && !slices.Contains(ops, t) {
			ops = append(ops, t)
		}
	}
	if ops == nil {
		return nil
	}
	return append(ops, o)
}

// DotDimensions returns the dimension numbers of dot_general.
func DotDimensions(op *ir.Op) *kernel.DotDimensions {
	a := Attrs[struct {
		Numbers *stablehlo.DotDims `attr:"dot_dimension_numbers"`
	}](op)
	return (*kernel.DotDimensions)(Data(a.Numbers, stablehlo.AttrDotDimensionNumbers))
}
