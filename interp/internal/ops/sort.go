package ops

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

func sortSpec(s *plan.Spec) kernel.SortGeometry {
	kernel.FailIf(len(s.In) == 0 || len(s.In) != len(s.Out) || len(s.Op.Regions()) != 1 || len(s.Op.Region(0).Blocks()) != 1,
		"expects inputs, as many results, and one region")
	rank := len(s.In[0].Shape)
	dim := int64(plan.Attrs[plan.Dimension](s.Op).Number)
	if dim < 0 {
		dim += int64(rank)
	}
	kernel.FailIf(dim < 0 || dim >= int64(max(rank, 1)), "sorts dimension %d of rank %d", dim, rank)
	for i, t := range s.In {
		kernel.FailIf(!t.Shape.Equal(s.In[0].Shape) || t.DType != s.Out[i].DType || !t.Shape.Equal(s.Out[i].Shape),
			"expects inputs and results of one shape")
	}
	if rank == 0 {
		return kernel.SortGeometry{Outer: 1, N: 1, Inner: 1}
	}
	shape := s.In[0].Shape
	return kernel.SortGeometry{Outer: int(shape[:dim].NumElements()), N: int(shape[dim]), Inner: int(shape[dim+1:].NumElements())}
}

// planSort compiles sort (spec, "sort"). If the comparator compares one key per side, computed in the same way on both
// sides, the sort computes all keys at once and sorts integers (sortKey). Any other comparator executes once per
// comparison. The sort is always stable.
func planSort(p *plan.Planner, s *plan.Spec) exec.Runner {
	kernel.UnsupportedIf(!static(s.In), "a sort of dynamic shape")
	g := sortSpec(s)
	k := len(s.In)
	b := s.Op.Region(0).Entry()
	kernel.FailIf(len(b.Args()) != 2*k || b.Last() == nil || b.Last().NumOperands() != 1, "expects a comparator of %d arguments and one result", 2*k)
	if key := sortKeyOf(p, s, b); key != nil {
		p.Scratch(key.bytes(g))
		p.Describe("sort by integer keys")
		return key.control(g)
	}
	body := p.Region(s.Op, 0)
	bytes := 8 * int64(g.N)
	p.Scratch(bytes)
	p.Describe("sort by comparisons")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		var pred [1]*exec.Buf
		inputs := make([]*tensor.Tensor, k)
		for i := range k {
			inputs[i] = &fr.Slots[ins.In[i]].Tensor
		}
		less := func(x, y int) bool {
			m.Poll()
			for i := range k {
				fr.Slots[body.Args[2*i]], fr.Slots[body.Args[2*i+1]] = m.CopyScalar(inputs[i], x), m.CopyScalar(inputs[i], y)
			}
			m.RunBlock(fr, body, pred[:])
			v := pred[0].Tensor.Bytes()[0] != 0
			m.Release(pred[0])
			return v
		}
		defer m.Uncharge(m.Charge(bytes))
		order := make([]int, g.N)
		writeSorted(m, fr, ins, g, func(base int) []int {
			for i := range order {
				order[i] = base + i*g.Inner
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
			return order
		})
	}
}

// writeSorted permutes every input of the instruction, line by line, into its result. order returns the element offsets
// of a line in sorted order.
func writeSorted(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, g kernel.SortGeometry, order func(base int) []int) {
	k := len(ins.In)
	out := make([]*exec.Buf, k)
	for i := range k {
		t := ins.Types[i]
		b := m.Alloc(t.DType, t.Shape, t.N)
		out[i] = b
	}
	if g.N > 0 {
		for o := range g.Outer {
			for in := range g.Inner {
				base := o*g.N*g.Inner + in
				perm := order(base)
				for i := range k {
					kernel.Permute(ins.Types[i].DType.Size(), &out[i].Tensor, &fr.Slots[ins.In[i]].Tensor, perm, base, g.Inner)
				}
			}
		}
	}
	for i, b := range out {
		fr.Slots[ins.Out[i]] = b
	}
}

// sortKey is a comparator of the form compare(f(a), f(b)).
type sortKey struct {
	input   int
	keys    *plan.LiftedRegion // computes f for a whole input; nil if f is the identity
	dt      tensor.DType
	total   bool
	descend bool
}

// sortKeyOf recognizes comparators that compare one key per side.
func sortKeyOf(p *plan.Planner, s *plan.Spec, b *ir.Block) *sortKey {
	c := b.Last().Operand(0).DefiningOp()
	if c == nil || plan.OpKind(c) != stablehlo.Compare || c.NumOperands() != 2 {
		return nil
	}
	key := &sortKey{input: -1}
	swapped := false
	match := map[*ir.Value]*ir.Value{}
	for i := range s.In {
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
	t := plan.TypeOf(c.Operand(0).Type())
	if t.DType.IsComplex() {
		return nil
	}
	key.dt = t.DType
	a := plan.Attrs[plan.Comparison](c)
	key.total = a.Total()
	switch a.Direction {
	case "LT":
		key.descend = swapped
	case "GT":
		key.descend = !swapped
	default:
		return nil
	}
	if key.dt.IsFloat() && !key.total && t.DType != s.In[key.input].DType {
		// With NaNs such a comparator defines no order, and the result of a stable sort depends on the algorithm.
		return nil
	}
	if c.Operand(0) != b.Arg(2*key.input) && c.Operand(0) != b.Arg(2*key.input+1) {
		err := kernel.Try(func() { key.keys = p.LiftValue(b, c, 0, s.In[key.input].N) })
		if err != nil || key.keys == nil {
			return nil
		}
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
	if dx.Name() != dy.Name() || dx.NumOperands() != dy.NumOperands() || x.Index() != y.Index() || len(dx.Regions()) > 0 || x.Type() != y.Type() || len(dx.Attrs()) != len(dy.Attrs()) {
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

// bytes returns the memory for the keys, two lines of keys and an order.
func (k *sortKey) bytes(g kernel.SortGeometry) int64 {
	return 8*int64(g.Outer)*int64(g.N)*int64(g.Inner) + (32+8)*int64(g.N)
}

// control executes the sort by integer keys.
func (k *sortKey) control(g kernel.SortGeometry) exec.Runner {
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		defer m.Uncharge(m.Charge(k.bytes(g)))
		in := fr.Slots[ins.In[k.input]]
		keyBuf := in
		if k.keys != nil {
			exec.Retain(in)
			flat := m.Alias(in, in.Tensor.DType(), tensor.Shape{int64(in.Tensor.NumElements())})
			fr.Slots[k.keys.Args[0]] = flat
			var out [1]*exec.Buf
			m.RunBlock(fr, k.keys.Block, out[:])
			keyBuf = out[0]
		}
		keys := make([]int64, keyBuf.Tensor.NumElements())
		kernel.SortKeys(&keyBuf.Tensor, 0, keys, k.total)
		if k.keys != nil {
			m.Release(keyBuf)
		}
		if k.descend {
			for i := range keys {
				keys[i] = ^keys[i]
			}
		}
		line, spare := make([]kernel.Keyed, g.N), make([]kernel.Keyed, g.N)
		order := make([]int, g.N)
		writeSorted(m, fr, ins, g, func(base int) []int {
			for i := range line {
				at := base + i*g.Inner
				line[i] = kernel.Keyed{Key: keys[at], At: at}
			}
			kernel.SortKeyed(line, spare)
			for i := range line {
				order[i] = line[i].At
			}
			m.Poll()
			return order
		})
	}
}

// makeTopK compiles chlo.top_k: the k largest elements along the last dimension and their indices. NaN is largest;
// equal elements keep their order. mhlo.topk can also select the smallest elements.
func makeTopK(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		K       int `attr:"k"`
		Largest int `attr:"largest,1"`
	}](s.Op)
	return kernel.TopKKernel(&s.Signature, a.K, a.Largest != 0)
}
