package plan

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// A product reads a transposed operand in place, with other strides: its kernel packs panels anyway, and the transposed
// value is never stored. This holds for transposes that only products of their own block use. In the same way, a
// concatenation reads slices that only concatenations of their own block use.

const transposedColumns = 16 // minimum of free elements of the other operand for which packing reads each element once

// absorb finds the transposes and slices of block b that products and concatenations read through.
func (p *Planner) absorb(b *ir.Block) {
	for o := range b.Ops() {
		if p.absorbable(o, b) {
			p.absorbed[o] = true
		}
	}
}

func (p *Planner) absorbable(o *ir.Op, b *ir.Block) bool {
	kind := OpKind(o)
	if kind != stablehlo.Transpose && kind != stablehlo.Slice || o.NumOperands() != 1 || o.NumResults() != 1 || !o.Result(0).HasUses() {
		return false
	}
	defer p.Prog.locate(o)
	in, out := p.typesOf(o.Operands())[0], p.typesOf(o.Results())[0]
	if !plain(in) || !plain(out) || in.N < fuseFrom {
		return false
	}
	if kind == stablehlo.Slice {
		a := Slice(o, len(in.Shape))
		kernel.SliceKernel(in, out, a.Start, a.Limit, a.Stride) // checks the slice
		for u := range o.Result(0).Uses() {
			// The operand lives up to the concatenation, which must not be much smaller.
			c := u.Owner()
			if c.Block() != b || OpKind(c) != stablehlo.Concatenate || c.NumResults() != 1 || !plain(p.TypeOf(c.Result(0))) || p.TypeOf(c.Result(0)).N < in.N/2 {
				return false
			}
		}
		return true
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
	if !plain(types[0]) || !plain(types[1]) || types[0].DType != types[1].DType || !dims.Strided(view, i == 1) {
		return false
	}
	free := dims.Free(types[1-i], i == 0)
	return free >= transposedColumns || i == 0 && free == 1 && dims.ByColumns(view)
}

// View returns the view through which o's kernel reads operand i, whose tensor has type t.
func (p *Planner) View(o *ir.Op, i int, t kernel.Type) kernel.View {
	d := o.Operand(i).DefiningOp()
	if d == nil || !p.absorbed[d] {
		return kernel.Dense(t)
	}
	if OpKind(d) == stablehlo.Slice {
		a := Slice(d, len(t.Shape))
		return kernel.Sliced(kernel.Dense(t), p.TypeOf(d.Result(0)), a.Start, a.Stride)
	}
	return kernel.Transposed(kernel.Dense(t), Permutation(d))
}

// SliceBounds are the attributes of slice.
type SliceBounds struct {
	Start  []int64 `attr:"start_indices,0"`
	Limit  []int64 `attr:"limit_indices,0"`
	Stride []int64 `attr:"strides,1"`
}

// Slice returns the bounds of a slice of an operand of the given rank.
func Slice(op *ir.Op, rank int) SliceBounds { return Attrs[SliceBounds](op, rank) }

// operands returns the values that the instruction of o reads: for each operand of o, the operand or the value that it
// transposes or slices, if o reads through it.
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
