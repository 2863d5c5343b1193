package interp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// sortGeometry views a shape as [outer][n][inner], where n is the sorted dimension.
type sortGeometry struct{ outer, n, inner int }

func sortSpec(s *spec) (sortGeometry, error) {
	var g sortGeometry
	if len(s.in) == 0 || len(s.in) != len(s.out) || s.op.NumRegions() != 1 || len(s.op.Region(0).Blocks()) != 1 {
		return g, errors.New("expects inputs, as many results, and one region")
	}
	rank := len(s.in[0].shape)
	dim := intAttr(s.op, stablehlo.AttrDimension, -1)
	if dim < 0 {
		dim += int64(rank)
	}
	if dim < 0 || dim >= int64(max(rank, 1)) {
		return g, fmt.Errorf("sorts dimension %d of rank %d", dim, rank)
	}
	for i, t := range s.in {
		if !t.shape.Equal(s.in[0].shape) || t.dt != s.out[i].dt || !t.shape.Equal(s.out[i].shape) {
			return g, errors.New("expects inputs and results of one shape")
		}
	}
	if rank == 0 {
		return sortGeometry{1, 1, 1}, nil
	}
	shape := s.in[0].shape
	return sortGeometry{int(shape[:dim].NumElements()), int(shape[dim]), int(shape[dim+1:].NumElements())}, nil
}

// planSort compiles sort (spec, "sort"). If the comparator compares one key per side, computed in the same way on both
// sides, the sort computes all keys at once and sorts integers (sortKey). Any other comparator executes once per
// comparison. The sort is always stable.
func planSort(p *planner, s *spec) (control, error) {
	for _, t := range s.in {
		if t.class != classTensor || t.dynamic() {
			return nil, unsupported("a sort of dynamic shape")
		}
	}
	g, err := sortSpec(s)
	if err != nil {
		return nil, err
	}
	k := len(s.in)
	b := s.op.Region(0).Entry()
	if b.NumArgs() != 2*k || b.Last() == nil || b.Last().NumOperands() != 1 {
		return nil, fmt.Errorf("expects a comparator of %d arguments and one result", 2*k)
	}
	if key := sortKeyOf(p, s, b); key != nil {
		return key.control(g), nil
	}
	body, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	return func(m *machine, fr *frame, ins *instr) error {
		var failed error
		var pred [1]*buf
		inputs := make([]*tensor.Tensor, k)
		for i := range k {
			inputs[i] = &fr.slots[ins.in[i]].t
		}
		less := func(x, y int) bool {
			if failed != nil {
				return false
			}
			if failed = m.poll(); failed != nil {
				return false
			}
			for i := range k {
				if failed = scalarArg(m, fr, body.args[2*i], inputs[i], x); failed != nil {
					return false
				}
				if failed = scalarArg(m, fr, body.args[2*i+1], inputs[i], y); failed != nil {
					return false
				}
			}
			if failed = m.block(fr, body, pred[:]); failed != nil {
				return false
			}
			v := pred[0].t.Bytes()[0] != 0
			m.release(pred[0])
			return v
		}
		bytes := 8 * int64(g.n)
		if err := m.charge(bytes); err != nil {
			return err
		}
		defer m.uncharge(bytes)
		order := make([]int, g.n)
		return writeSorted(m, fr, ins, g, func(base int) ([]int, error) {
			for i := range order {
				order[i] = base + i*g.inner
			}
			slices.SortStableFunc(order, func(x, y int) int {
				switch {
				case less(x, y):
					return -1
				case less(y, x):
					return 1
				}
				return 0
			})
			return order, failed
		})
	}, nil
}

// writeSorted permutes every input of the instruction, line by line, into its result. order returns the element offsets of a
// line in sorted order.
func writeSorted(m *machine, fr *frame, ins *instr, g sortGeometry, order func(base int) ([]int, error)) error {
	k := len(ins.in)
	out := make([]*buf, k)
	for i := range k {
		t := ins.types[i]
		b, err := m.alloc(t.dt, t.shape, t.n)
		if err != nil {
			return err
		}
		out[i] = b
	}
	if g.n > 0 {
		for o := range g.outer {
			for in := range g.inner {
				base := o*g.n*g.inner + in
				perm, err := order(base)
				if err != nil {
					return err
				}
				for i := range k {
					permute(ins.types[i].dt.Size(), &out[i].t, &fr.slots[ins.in[i]].t, perm, base, g.inner)
				}
			}
		}
	}
	for i, b := range out {
		fr.slots[ins.out[i]] = b
	}
	return nil
}

func permute(size int, dst, src *tensor.Tensor, perm []int, base, step int) {
	switch size {
	case 1:
		permuteTyped(dst.Bytes(), src.Bytes(), perm, base, step)
	case 2:
		permuteTyped(tensor.View[uint16](dst), tensor.View[uint16](src), perm, base, step)
	case 4:
		permuteTyped(tensor.View[uint32](dst), tensor.View[uint32](src), perm, base, step)
	case 8:
		permuteTyped(tensor.View[uint64](dst), tensor.View[uint64](src), perm, base, step)
	default:
		permuteTyped(tensor.View[complex128](dst), tensor.View[complex128](src), perm, base, step)
	}
}

func permuteTyped[T tensor.Element](dst, src []T, perm []int, base, step int) {
	for i, p := range perm {
		dst[base+i*step] = src[p]
	}
}

// sortKey is a comparator of the form compare(f(a), f(b)).
type sortKey struct {
	input   int
	keys    *liftedRegion // computes f for a whole input; nil if f is the identity
	dt      tensor.DType
	total   bool
	descend bool
}

// sortKeyOf recognizes comparators that compare one key per side.
func sortKeyOf(p *planner, s *spec, b *ir.Block) *sortKey {
	c := b.Last().Operand(0).DefiningOp()
	if c == nil || opKind(c) != stablehlo.Compare || c.NumOperands() != 2 {
		return nil
	}
	key := &sortKey{input: -1}
	swapped := false
	match := map[*ir.Value]*ir.Value{}
	for i := range s.in {
		for _, flip := range []bool{false, true} {
			x, y := b.Arg(2*i), b.Arg(2*i+1)
			if flip {
				x, y = y, x
			}
			clear(match)
			match[x] = y
			if key.input < 0 && sameTree(c.Operand(0), c.Operand(1), b, match) && reaches(c.Operand(0), x, b) {
				key.input, swapped = i, flip
			}
		}
	}
	if key.input < 0 {
		return nil
	}
	t, err := typeOf(c.Operand(0).Type())
	if err != nil || t.dt.IsComplex() {
		return nil
	}
	key.dt = t.dt
	key.total = enumAttr(c, stablehlo.AttrCompareType, "") == "TOTALORDER"
	switch enumAttr(c, stablehlo.AttrComparisonDirection, "") {
	case "LT":
		key.descend = swapped
	case "GT":
		key.descend = !swapped
	default:
		return nil
	}
	if key.dt.IsFloat() && !key.total {
		// With NaNs such a comparator is not an order, and the result of a stable sort depends on the algorithm.
		if t.dt != s.in[key.input].dt {
			return nil
		}
	}
	if c.Operand(0) != b.Arg(2*key.input) && c.Operand(0) != b.Arg(2*key.input+1) {
		keys, err := p.liftValue(b, c, 0, s.in[key.input].n)
		if err != nil || keys == nil {
			return nil
		}
		key.keys = keys
	}
	return key
}

// sameTree reports whether x and y have the same computation after exchanging the arguments that match pairs.
func sameTree(x, y *ir.Value, b *ir.Block, match map[*ir.Value]*ir.Value) bool {
	if m, ok := match[x]; ok {
		return m == y
	}
	if x.ParentBlock() != b || y.ParentBlock() != b {
		return x == y
	}
	dx, dy := x.DefiningOp(), y.DefiningOp()
	if dx == nil || dy == nil {
		return false
	}
	if dx.Name() != dy.Name() || dx.NumOperands() != dy.NumOperands() || x.Index() != y.Index() || dx.NumRegions() > 0 || x.Type() != y.Type() || len(dx.Attrs()) != len(dy.Attrs()) {
		return false
	}
	for i, a := range dx.Attrs() {
		if o := dy.Attrs()[i]; o.Name != a.Name || !ir.EqualAttrs(o.Attr, a.Attr) {
			return false
		}
	}
	for i := range dx.NumOperands() {
		if !sameTree(dx.Operand(i), dy.Operand(i), b, match) {
			return false
		}
	}
	match[x] = y
	return true
}

// reaches reports whether v depends on arg.
func reaches(v, arg *ir.Value, b *ir.Block) bool {
	if v == arg {
		return true
	}
	if v.ParentBlock() != b || v.DefiningOp() == nil {
		return false
	}
	for _, o := range v.DefiningOp().Operands() {
		if reaches(o, arg, b) {
			return true
		}
	}
	return false
}

type keyed struct {
	key int64
	at  int
}

// control executes the sort by integer keys.
func (k *sortKey) control(g sortGeometry) control {
	return func(m *machine, fr *frame, ins *instr) error {
		bytes := 8*int64(g.outer)*int64(g.n)*int64(g.inner) + (16+8)*int64(g.n) // the keys, then one line of keys and its order
		if err := m.charge(bytes); err != nil {
			return err
		}
		defer m.uncharge(bytes)
		in := fr.slots[ins.in[k.input]]
		keyBuf := in
		if k.keys != nil {
			retain(in)
			flat := m.alias(in, in.t.DType(), tensor.Shape{int64(in.t.NumElements())})
			fr.slots[k.keys.args[0]] = flat
			var out [1]*buf
			if err := m.block(fr, k.keys.block, out[:]); err != nil {
				return err
			}
			keyBuf = out[0]
		}
		keys := make([]int64, keyBuf.t.NumElements())
		sortKeys(&keyBuf.t, keys, k.total)
		if k.keys != nil {
			m.release(keyBuf)
		}
		if k.descend {
			for i := range keys {
				keys[i] = ^keys[i]
			}
		}
		line := make([]keyed, g.n)
		order := make([]int, g.n)
		return writeSorted(m, fr, ins, g, func(base int) ([]int, error) {
			for i := range line {
				at := base + i*g.inner
				line[i] = keyed{keys[at], at}
			}
			slices.SortFunc(line, func(x, y keyed) int {
				if c := cmp.Compare(x.key, y.key); c != 0 {
					return c
				}
				return x.at - y.at
			})
			for i := range line {
				order[i] = line[i].at
			}
			return order, m.poll()
		})
	}
}

// sortKeys fills keys with integers that have the same order as the elements. Floats follow IEEE 754's totalOrder; if
// total is false, both zeros get the same key.
func sortKeys(t *tensor.Tensor, keys []int64, total bool) {
	dt := t.DType()
	switch {
	case dt.IsFloat():
		totalKeys(dt, keys, t, 0)
		if !total {
			for i, k := range keys {
				if k == -1 { // -0
					keys[i] = 0
				}
			}
		}
	default:
		decodeInt(dt, keys, t, 0)
		if dt == tensor.UI64 {
			for i := range keys {
				keys[i] ^= -1 << 63
			}
		}
	}
}
