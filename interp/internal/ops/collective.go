package ops

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// collectiveOp describes a kind of collective.
type collectiveOp struct {
	dims     []string // attributes that name dimensions
	exchange bool     // the op has the groups of all_to_all, else of all_reduce
	pairs    bool     // the op names pairs of processes; all processes of a row or column meet
	rooted   bool     // the last operand may hold the positions of the roots in the group
	reduces  bool     // the op's region folds the parts
	compute  func(c *collective)
}

// collective computes result i of a collective on one process, from operand i of every process of the group, in the
// group's order. self is the position of this process. A process that is in no group has no parts.
type collective struct {
	op     *collectiveOp
	s      *plan.Spec
	dims   []int
	groups [][]int64 // or pairs
	fold   []folder  // for each operand

	m     *exec.Machine
	fr    *exec.Frame
	i     int
	parts []*tensor.Tensor
	self  int
	root  int // position of the root for operand i
	out   *tensor.Tensor
}

// The collectives (spec, "all_gather", "all_reduce", "reduce_scatter", "all_to_all", "collective_broadcast",
// "collective_reduce", "collective_permute"), and the old op cross-replica-sum. A broadcast or reduction without roots
// has the first process of the group as its root. A process that receives nothing gets zeros.
var (
	allGather     = collectiveOp{dims: []string{stablehlo.AttrAllGatherDim}, compute: func(c *collective) { concatInto(c.out, c.parts, c.dims[0]) }}
	allReduce     = collectiveOp{reduces: true, compute: (*collective).reduce}
	reduceScatter = collectiveOp{dims: []string{stablehlo.AttrScatterDimension}, reduces: true, compute: func(c *collective) {
		whole := c.m.Alias(c.fold[c.i](c.m, c.fr, c.inGroup()), c.s.Out[c.i].DType, c.s.In[c.i].Shape)
		defer c.m.Uncharge(c.m.Charge(int64(len(c.out.Bytes()))))
		piece := cut(&whole.Tensor, c.dims[0], c.self, len(c.parts))
		c.m.Release(whole)
		kernel.FailIf(len(piece.Bytes()) != len(c.out.Bytes()), "gives %s, not %s", kernel.TypeOfTensor(piece), kernel.TypeOfTensor(c.out))
		copy(c.out.Bytes(), piece.Bytes())
	}}
	allToAll = collectiveOp{dims: []string{stablehlo.AttrSplitDimension, stablehlo.AttrConcatDimension}, exchange: true, compute: func(c *collective) {
		defer c.m.Uncharge(c.m.Charge(int64(len(c.out.Bytes()))))
		pieces := make([]*tensor.Tensor, len(c.parts))
		for k, t := range c.parts {
			pieces[k] = cut(t, c.dims[0], c.self, len(c.parts))
		}
		concatInto(c.out, pieces, c.dims[1])
	}}
	collectiveBroadcast = collectiveOp{exchange: true, rooted: true, compute: func(c *collective) { c.receive(c.root) }}
	collectiveReduce    = collectiveOp{rooted: true, reduces: true, compute: func(c *collective) {
		if c.s.Out[c.i].Zero(c.out); len(c.parts) > 0 && c.root == c.self {
			c.reduce()
		}
	}}
	collectivePermute = collectiveOp{exchange: true, pairs: true, compute: func(c *collective) {
		from := -1
		for _, p := range slices.Backward(c.groups) {
			if len(p) == 2 && int(p[1]) == c.self {
				from = int(p[0])
			}
		}
		c.receive(from)
	}}
)

// receive copies the operand of a process of the group, or zeros if from is -1.
func (c *collective) receive(from int) {
	kernel.FailIf(from >= len(c.parts), "names process %d of %d", from, len(c.parts))
	if from < 0 {
		c.s.Out[c.i].Zero(c.out)
		return
	}
	copy(c.out.Bytes(), c.parts[from].Bytes())
}

// reduce folds the parts.
func (c *collective) reduce() {
	b := c.fold[c.i](c.m, c.fr, c.inGroup())
	copy(c.out.Bytes(), b.Tensor.Bytes())
	c.m.Release(b)
}

// inGroup returns the parts of a process that must be in a group.
func (c *collective) inGroup() []*tensor.Tensor {
	kernel.FailIf(len(c.parts) == 0, errNoGroup)
	return c.parts
}

const errNoGroup = "is executed by a process that is in no group"

// plan compiles a collective: meet, compute every result, store it.
func (o *collectiveOp) plan(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("collective")
	data := *s
	roots := o.rooted && plan.Attrs[struct {
		Roots bool `attr:"has_dynamic_root"`
	}](s.Op).Roots
	if roots {
		kernel.FailIf(len(s.In) < 2 || s.In[len(s.In)-1].N != len(s.Out) || !kernel.IsIndex(s.In[len(s.In)-1].DType), "expects one root per operand")
		data.In = s.In[:len(s.In)-1]
	}
	staticTensors(&data)
	given := collective{op: o, s: s}
	rule := exchangeRule(s.Op)
	if !o.exchange {
		rule = reductionRule(s.Op)
	}
	if o.pairs {
		given.groups = groupsAttr(s.Op, stablehlo.AttrSourceTargetPairs)
	} else {
		given.groups = groupsOf(p, s.Op)
	}
	for _, name := range o.dims {
		given.dims = append(given.dims, dimAttr(s, name))
	}
	for i := range data.In {
		if o.reduces {
			given.fold = append(given.fold, reduceParts(p, &data, i))
		}
	}
	for _, t := range slices.Concat(s.In, s.Out) {
		p.Scratch(int64(max(t.N, 0)) * int64(t.DType.Size()))
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		// The other processes receive copies.
		bytes := int64(0)
		for _, s := range ins.In {
			bytes += int64(len(fr.Slots[s].Tensor.Bytes()))
		}
		defer m.Uncharge(m.Charge(bytes))
		c := given
		c.m, c.fr = m, fr
		operands := c.meet(ins, rule)
		for i, t := range ins.Types {
			b := m.Alloc(t.DType, t.Shape, t.N)
			c.i, c.out, c.parts, c.root = i, &b.Tensor, nil, -1
			for _, o := range operands {
				c.parts = append(c.parts, o[i])
			}
			if c.root = min(0, len(operands)-1); roots && len(operands) > 0 {
				r := kernel.IntAt(&fr.Slots[ins.In[len(ins.In)-1]].Tensor, i)
				kernel.FailIf(r < 0 || r >= int64(len(operands)), "has root %d of a group of %d", r, len(operands))
				c.root = int(r)
			}
			o.compute(&c)
			fr.Slots[ins.Out[i]] = b
		}
	}
}

// meet exchanges operands with the group of this device. It returns the operands of every process of the group.
func (c *collective) meet(ins *exec.Instr, rule groupRule) [][]*tensor.Tensor {
	m, groups := c.m, c.groups
	if c.op.pairs {
		groups = nil
	}
	replicas, partitions := 1, 1
	if m.DeviceGroup != nil {
		replicas, partitions = m.DeviceGroup.Replicas, m.DeviceGroup.Partitions
	}
	group := rule.group(groups, replicas, partitions, m.Run.Replica, m.Run.Partition)
	operands := make([]*tensor.Tensor, len(ins.In))
	for i, s := range ins.In {
		operands[i] = &c.fr.Slots[s].Tensor
	}
	self := m.Run.Replica*partitions + m.Run.Partition
	switch c.self = slices.Index(group, self); len(group) {
	case 0:
		return nil
	case 1:
		return [][]*tensor.Tensor{operands}
	}
	met := m.DeviceGroup.Meet(m, ins, self, group, operands)
	var out [][]*tensor.Tensor
	for _, p := range group {
		for i, t := range met[p] {
			if !t.Shape().Equal(operands[i].Shape()) { // operands of dynamic shape
				kernel.Fail(fmt.Errorf("gets %s from process %d and %s from process %d", kernel.TypeOfTensor(operands[i]), self, kernel.TypeOfTensor(t), p))
			}
		}
		out = append(out, met[p])
	}
	return out
}

func staticTensors(s *plan.Spec) {
	kernel.UnsupportedIf(!static(s.In, s.Out), "%s of values of dynamic shape", s.Op.Name())
	kernel.FailIf(len(s.In) != len(s.Out) || len(s.In) == 0, "expects as many results as operands")
}

// allGatherShape is the shape function of all_gather: it multiplies one dimension by the size of the group.
func allGatherShape(s *plan.Spec, in []*tensor.Tensor) {
	n := groupSize(s)
	eachDimShape(s, in, stablehlo.AttrAllGatherDim, func(d int64) int64 { return d * n })
}

// reduceScatterShape is the shape function of reduce_scatter: it divides one dimension by the size of the group.
func reduceScatterShape(s *plan.Spec, in []*tensor.Tensor) {
	n := groupSize(s)
	eachDimShape(s, in, stablehlo.AttrScatterDimension, func(d int64) int64 { return d / n })
}

func eachDimShape(s *plan.Spec, in []*tensor.Tensor, name string, size func(d int64) int64) {
	d := dimAttr(s, name)
	for i := range s.Out {
		if i < len(in) {
			kernel.FailIf(d >= len(in[i].Shape()), "has %s %d of rank %d", name, d, len(in[i].Shape()))
			s.Out[i].Shape = in[i].Shape().Clone()
			s.Out[i].Shape[d] = size(s.Out[i].Shape[d])
		}
	}
}

// concatInto concatenates parts along a dimension.
func concatInto(out *tensor.Tensor, parts []*tensor.Tensor, dim int) {
	kernel.FailIf(len(parts) == 0, errNoGroup)
	st := kernel.Strides(out.Shape())
	at := 0
	for _, p := range parts {
		kernel.FailIf(len(p.Shape()) != len(out.Shape()) || at+int(p.Shape()[dim]) > int(out.Shape()[dim]),
			"cannot join %d parts into %s", len(parts), kernel.TypeOfTensor(out))
		kernel.NewStridedCopy(kernel.Ints(p.Shape()), st, kernel.Strides(p.Shape())).Run(p.DType().Size(), out, p, at*st[dim], 0)
		at += int(p.Shape()[dim])
	}
	kernel.FailIf(at != int(out.Shape()[dim]), "joins %d elements into %d", at, out.Shape()[dim])
}

// cut copies part k of n of a tensor along a dimension.
func cut(t *tensor.Tensor, dim, k, n int) *tensor.Tensor {
	shape := t.Shape().Clone()
	kernel.FailIf(n <= 0 || shape[dim]%int64(n) != 0, "cannot cut dimension of size %d into %d parts", shape[dim], n)
	shape[dim] /= int64(n)
	st := kernel.Strides(t.Shape())
	out := tensor.New(t.DType(), shape)
	kernel.NewStridedCopy(kernel.Ints(shape), kernel.Strides(shape), st).Run(t.DType().Size(), out, t, 0, k*int(shape[dim])*st[dim])
	return out
}

func dimAttr(s *plan.Spec, name string) int {
	d := int(view.IntOr(s.Op.Attr(name), -1))
	kernel.FailIf(d < 0 || d >= len(s.In[0].Shape), "has %s %d of rank %d", name, d, len(s.In[0].Shape))
	return d
}

// reduceParts compiles the region of a reducing collective for operand i. The folder combines the members' operands in
// the order of the group.
func reduceParts(p *plan.Planner, s *plan.Spec, i int) folder {
	n := s.In[i].N
	r := p.Lift(s.Op, 0, n, 2, 1)
	kernel.FailIf(!r.Types[0].SameElements(r.Types[1]) || !r.Types[0].SameElements(s.In[i]) || !s.In[i].SameElements(s.Out[i]),
		"has a computation whose types are not those of the results")
	return func(m *exec.Machine, fr *exec.Frame, parts []*tensor.Tensor) *exec.Buf {
		var acc [1]*exec.Buf
		for k, part := range parts {
			b := m.Alloc(s.In[i].DType, r.Types[0].Shape, n)
			copy(b.Tensor.Bytes(), part.Bytes())
			if k == 0 {
				acc[0] = b
				continue
			}
			fr.Slots[r.Args[0]], fr.Slots[r.Args[1]] = acc[0], b
			m.RunBlock(fr, r.Block, acc[:])
		}
		return acc[0]
	}
}

// folder reduces one operand over the processes of a group.
type folder func(m *exec.Machine, fr *exec.Frame, parts []*tensor.Tensor) *exec.Buf
