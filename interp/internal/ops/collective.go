package ops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// members is the input of a collective: the operands of every process of the group, in the group's order, and the
// position of this process in the group.
type members struct {
	operands [][]*tensor.Tensor
	self     int
}

// gatherGroup exchanges operands with the group of this device.
func gatherGroup(m *exec.Machine, ins *exec.Instr, fr *exec.Frame, rule groupRule, groups [][]int64) *members {
	replicas, partitions := 1, 1
	if m.DeviceGroup != nil {
		replicas, partitions = m.DeviceGroup.Replicas, m.DeviceGroup.Partitions
	}
	group, err := rule.group(groups, replicas, partitions, m.Run.Replica, m.Run.Partition)
	kernel.Fail(err)
	operands := make([]*tensor.Tensor, len(ins.In))
	for i, s := range ins.In {
		operands[i] = &fr.Slots[s].Tensor
	}
	if group == nil {
		return &members{self: -1}
	}
	self := m.Run.Replica*partitions + m.Run.Partition
	out := &members{self: slices.Index(group, self)}
	if len(group) == 1 {
		out.operands = [][]*tensor.Tensor{operands}
		return out
	}
	met := m.DeviceGroup.Meet(m, ins, self, group, operands)
	for _, p := range group {
		for i, t := range met[p] {
			if !t.Shape().Equal(operands[i].Shape()) { // operands of dynamic shape
				kernel.Fail(fmt.Errorf("gets %s from process %d and %s from process %d", kernel.TypeOfTensor(operands[i]), self, kernel.TypeOfTensor(t), p))
			}
		}
		out.operands = append(out.operands, met[p])
	}
	return out
}

// collectiveFunc computes result i of a collective from operand i of every process of the group. self is the position
// of this process. A process that is in no group has no parts.
type collectiveFunc func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor)

// collective wraps the common part of the collectives: meet, compute every result, store it.
func collective(rule groupRule, groups [][]int64, compute collectiveFunc) exec.Runner {
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		// The other processes receive copies.
		bytes := int64(0)
		for _, s := range ins.In {
			bytes += int64(len(fr.Slots[s].Tensor.Bytes()))
		}
		defer m.Uncharge(m.Charge(bytes))
		mem := gatherGroup(m, ins, fr, rule, groups)
		for i, s := range ins.Out {
			t := ins.Types[i]
			b := m.Alloc(t.DType, t.Shape, t.N)
			var parts []*tensor.Tensor
			for _, o := range mem.operands {
				parts = append(parts, o[i])
			}
			compute(m, fr, ins, i, parts, mem.self, &b.Tensor)
			fr.Slots[s] = b
		}
	}
}

func staticTensors(s *plan.Spec) error {
	if !static(s.In, s.Out) {
		return kernel.Unsupported("%s of values of dynamic shape", s.Op.Name())
	}
	if len(s.In) != len(s.Out) || len(s.In) == 0 {
		return errors.New("expects as many results as operands")
	}
	return nil
}

// allGatherShape is the shape function of all_gather: it multiplies one dimension by the size of the group.
func allGatherShape(s *plan.Spec, in []*tensor.Tensor) error {
	n, err := groupSize(s)
	if err != nil {
		return err
	}
	return eachDimShape(s, in, "all_gather_dim", func(d int64) int64 { return d * n })
}

// reduceScatterShape is the shape function of reduce_scatter: it divides one dimension by the size of the group.
func reduceScatterShape(s *plan.Spec, in []*tensor.Tensor) error {
	n, err := groupSize(s)
	if err != nil {
		return err
	}
	return eachDimShape(s, in, "scatter_dimension", func(d int64) int64 { return d / n })
}

func eachDimShape(s *plan.Spec, in []*tensor.Tensor, name string, size func(d int64) int64) error {
	d, err := dimAttr(s, name)
	if err != nil {
		return err
	}
	for i := range s.Out {
		if i < len(in) {
			if d >= len(in[i].Shape()) {
				return fmt.Errorf("has %s %d of rank %d", name, d, len(in[i].Shape()))
			}
			s.Out[i].Shape = in[i].Shape().Clone()
			s.Out[i].Shape[d] = size(s.Out[i].Shape[d])
		}
	}
	return nil
}

// concatInto concatenates parts along a dimension.
func concatInto(out *tensor.Tensor, parts []*tensor.Tensor, dim int) {
	st := kernel.Strides(out.Shape())
	at := 0
	for _, p := range parts {
		if len(p.Shape()) != len(out.Shape()) || at+int(p.Shape()[dim]) > int(out.Shape()[dim]) {
			kernel.Fail(fmt.Errorf("cannot join %d parts into %s", len(parts), kernel.TypeOfTensor(out)))
		}
		kernel.NewStridedCopy(kernel.Ints(p.Shape()), st, kernel.Strides(p.Shape())).Run(p.DType().Size(), out, p, at*st[dim], 0)
		at += int(p.Shape()[dim])
	}
	if at != int(out.Shape()[dim]) {
		kernel.Fail(fmt.Errorf("joins %d elements into %d", at, out.Shape()[dim]))
	}
}

// cut copies part k of n of a tensor along a dimension.
func cut(t *tensor.Tensor, dim, k, n int) *tensor.Tensor {
	shape := t.Shape().Clone()
	if n <= 0 || shape[dim]%int64(n) != 0 {
		kernel.Fail(fmt.Errorf("cannot cut dimension of size %d into %d parts", shape[dim], n))
	}
	shape[dim] /= int64(n)
	st := kernel.Strides(t.Shape())
	out := tensor.New(t.DType(), shape)
	kernel.NewStridedCopy(kernel.Ints(shape), kernel.Strides(shape), st).Run(t.DType().Size(), out, t, 0, k*int(shape[dim])*st[dim])
	return out
}

func dimAttr(s *plan.Spec, name string) (int, error) {
	d := int(plan.IntAttr(s.Op, name, -1))
	if d < 0 || d >= len(s.In[0].Shape) {
		return 0, fmt.Errorf("has %s %d of rank %d", name, d, len(s.In[0].Shape))
	}
	return d, nil
}

// planAllGather compiles all_gather (spec, "all_gather").
func planAllGather(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	rule, groups, err := reductionGroups(p, s.Op)
	if err != nil {
		return nil, err
	}
	dim, err := dimAttr(s, stablehlo.AttrAllGatherDim)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		concatInto(out, parts, dim)
	}), nil
}

// inGroup returns the parts of a process that must be in a group.
func inGroup(parts []*tensor.Tensor) []*tensor.Tensor {
	if len(parts) == 0 {
		kernel.Fail(errors.New("is executed by a process that is in no group"))
	}
	return parts
}

// planAllReduce compiles all_reduce (spec, "all_reduce").
func planAllReduce(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	rule, groups, fold, err := reduction(p, s)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		b := fold[i](m, fr, inGroup(parts))
		copy(out.Bytes(), b.Tensor.Bytes())
		m.Release(b)
	}), nil
}

// planReduceScatter compiles reduce_scatter (spec, "reduce_scatter").
func planReduceScatter(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	rule, groups, err := reductionGroups(p, s.Op)
	if err != nil {
		return nil, err
	}
	dim, err := dimAttr(s, stablehlo.AttrScatterDimension)
	if err != nil {
		return nil, err
	}
	fold, err := reduceParts(p, s, 0)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		whole := m.Alias(fold(m, fr, inGroup(parts)), s.Out[0].DType, s.In[0].Shape)
		defer m.Uncharge(m.Charge(int64(len(out.Bytes()))))
		piece := cut(&whole.Tensor, dim, self, len(parts))
		m.Release(whole)
		if len(piece.Bytes()) != len(out.Bytes()) {
			kernel.Fail(fmt.Errorf("gives %s, not %s", kernel.TypeOfTensor(piece), kernel.TypeOfTensor(out)))
		}
		copy(out.Bytes(), piece.Bytes())
	}), nil
}

// planAllToAll compiles all_to_all (spec, "all_to_all").
func planAllToAll(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.Op)
	if err != nil {
		return nil, err
	}
	split, err := dimAttr(s, stablehlo.AttrSplitDimension)
	if err != nil {
		return nil, err
	}
	concat, err := dimAttr(s, stablehlo.AttrConcatDimension)
	if err != nil {
		return nil, err
	}
	return collective(exchangeRule(s.Op), groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		defer m.Uncharge(m.Charge(int64(len(out.Bytes()))))
		pieces := make([]*tensor.Tensor, len(parts))
		for k, t := range parts {
			pieces[k] = cut(t, split, self, len(parts))
		}
		concatInto(out, pieces, concat)
	}), nil
}

// planCollectiveBroadcast compiles collective_broadcast (spec, "collective_broadcast"). The first process of the group
// sends, unless the last operand names another. A process in no group gets zeros.
func planCollectiveBroadcast(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	_, root, err := rooted(s)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.Op)
	if err != nil {
		return nil, err
	}
	return collective(exchangeRule(s.Op), groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		if len(parts) == 0 {
			s.Out[i].Zero(out)
			return
		}
		copy(out.Bytes(), parts[root(fr, ins, i, len(parts))].Bytes())
	}), nil
}

// planCollectiveReduce compiles collective_reduce (spec, "collective_reduce"). The root gets the reduction; the other
// processes get zeros. The root is the first process of the group, or the process that the last operand names.
func planCollectiveReduce(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	data, root, err := rooted(s)
	if err != nil {
		return nil, err
	}
	rule, groups, fold, err := reduction(p, data)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		s.Out[i].Zero(out)
		if len(parts) > 0 && root(fr, ins, i, len(parts)) == self {
			b := fold[i](m, fr, parts)
			copy(out.Bytes(), b.Tensor.Bytes())
			m.Release(b)
		}
	}), nil
}

// rooted separates the roots of a collective_broadcast or collective_reduce from its data operands. root returns the
// position in the group of the root for operand i.
func rooted(s *plan.Spec) (data *plan.Spec, root func(fr *exec.Frame, ins *exec.Instr, i, group int) int, err error) {
	d := *s
	dynamic := plan.BoolAttr(s.Op, stablehlo.AttrHasDynamicRoot, false)
	if dynamic { // the last operand holds the positions of the roots in the group
		if len(s.In) < 2 || s.In[len(s.In)-1].N != len(s.Out) || !kernel.IsIndex(s.In[len(s.In)-1].DType) {
			return nil, nil, errors.New("expects one root per operand")
		}
		d.In = s.In[:len(s.In)-1]
	}
	if err := staticTensors(&d); err != nil {
		return nil, nil, err
	}
	return &d, func(fr *exec.Frame, ins *exec.Instr, i, group int) int {
		if !dynamic {
			return 0
		}
		r := kernel.IntAt(&fr.Slots[ins.In[len(ins.In)-1]].Tensor, i)
		if r < 0 || r >= int64(group) {
			kernel.Fail(fmt.Errorf("has root %d of a group of %d", r, group))
		}
		return int(r)
	}, nil
}

// planCollectivePermute compiles collective_permute (spec, "collective_permute"). A process that is not a target gets
// zeros.
func planCollectivePermute(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	pairs, err := groupsAttr(s.Op, stablehlo.AttrSourceTargetPairs)
	if err != nil {
		return nil, err
	}
	rule := exchangeRule(s.Op)
	// All processes of the row or column meet; each copies its source's operand.
	return collective(rule, nil, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		for _, p := range pairs {
			if len(p) == 2 && int(p[1]) == self {
				if int(p[0]) >= len(parts) {
					kernel.Fail(fmt.Errorf("names process %d of %d", p[0], len(parts)))
				}
				copy(out.Bytes(), parts[p[0]].Bytes())
				return
			}
		}
		s.Out[i].Zero(out)
	}), nil
}

// planCrossReplicaSum compiles the old op cross-replica-sum.
func planCrossReplicaSum(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.Op)
	if err != nil {
		return nil, err
	}
	add := kernel.Add.Bind(s.In[0].DType)
	if add == nil {
		return nil, kernel.Unsupported("a sum of elements of type %s", s.In[0].DType)
	}
	return collective(crossReplica, groups, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) {
		for k, t := range parts {
			if k == 0 {
				copy(out.Bytes(), t.Bytes())
				continue
			}
			add([]*tensor.Tensor{out, t}, []*tensor.Tensor{out}, 0, t.NumElements())
		}
	}), nil
}

// reduceParts compiles the region of a reducing collective for operand i. The folder combines the members' operands in
// the order of the group. If the region computes in a wider type than the operand's, the result has the wider type.
func reduceParts(p *plan.Planner, s *plan.Spec, i int) (folder, error) {
	n := s.In[i].N
	r, err := p.Lift(s.Op, 0, n, 2, 1)
	if err != nil {
		return nil, err
	}
	widen, err := partPromotion(p, s, i, r.Types[0], r.Types[1])
	if err != nil {
		return nil, err
	}
	wide := r.Types[0].DType
	return func(m *exec.Machine, fr *exec.Frame, parts []*tensor.Tensor) *exec.Buf {
		var acc [1]*exec.Buf
		for k, part := range parts {
			b := m.Alloc(wide, r.Types[0].Shape, n)
			widen(m, part, &b.Tensor)
			if k == 0 {
				acc[0] = b
				continue
			}
			fr.Slots[r.Args[0]], fr.Slots[r.Args[1]] = acc[0], b
			m.Block(fr, r.Block, acc[:])
		}
		return acc[0]
	}, nil
}

// partPromotion returns the conversion of operand i to the element type of the region's arguments a and b.
func partPromotion(p *plan.Planner, s *plan.Spec, i int, a, b kernel.Type) (func(m *exec.Machine, part, wide *tensor.Tensor), error) {
	from, to := s.In[i], s.In[i]
	to.DType, to.Quant = a.DType, a.Quant
	if !a.SameElements(b) || !to.SameElements(s.Out[i]) {
		return nil, errors.New("has a computation whose types are not those of the results")
	}
	if from.SameElements(to) {
		return func(_ *exec.Machine, part, wide *tensor.Tensor) { copy(wide.Bytes(), part.Bytes()) }, nil
	}
	k, err := p.Promotion(s.Op, from, to)
	if err != nil {
		return nil, err
	}
	return func(m *exec.Machine, part, wide *tensor.Tensor) {
		defer m.Uncharge(m.Charge(k.Scratch))
		k.Run([]*tensor.Tensor{part}, []*tensor.Tensor{wide})
	}, nil
}

// folder reduces one operand over the processes of a group.
type folder func(m *exec.Machine, fr *exec.Frame, parts []*tensor.Tensor) *exec.Buf

// reduction compiles the common part of all_reduce and collective_reduce: the process groups, and a folder for each
// operand of s.
func reduction(p *plan.Planner, s *plan.Spec) (rule groupRule, groups [][]int64, fold []folder, err error) {
	if rule, groups, err = reductionGroups(p, s.Op); err != nil {
		return
	}
	fold = make([]folder, len(s.In))
	for i := range s.In {
		if fold[i], err = reduceParts(p, s, i); err != nil {
			return
		}
	}
	return
}
