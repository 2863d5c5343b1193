package interp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// members is the input of a collective: the operands of every process of the group, in the group's order, and the
// position of this process in the group.
type members struct {
	operands [][]*tensor.Tensor
	self     int
}

// gatherGroup exchanges operands with the group of this device.
func gatherGroup(m *machine, ins *instr, fr *frame, rule groupRule, groups [][]int64) (*members, error) {
	replicas, partitions := 1, 1
	if m.world != nil {
		replicas, partitions = m.world.replicas, m.world.partitions
	}
	group, err := rule.group(groups, replicas, partitions, m.run.replica, m.run.partition)
	if err != nil {
		return nil, err
	}
	operands := make([]*tensor.Tensor, len(ins.in))
	for i, s := range ins.in {
		operands[i] = &fr.slots[s].t
	}
	if group == nil {
		return nil, nil
	}
	self := m.run.replica*partitions + m.run.partition
	out := &members{self: slices.Index(group, self)}
	if len(group) == 1 {
		out.operands = [][]*tensor.Tensor{operands}
		return out, nil
	}
	met, err := m.world.meet(m, ins, self, group, operands)
	if err != nil {
		return nil, err
	}
	for _, p := range group {
		for i, t := range met[p] {
			if !t.Shape().Equal(operands[i].Shape()) { // operands of dynamic shape
				return nil, fmt.Errorf("gets %s from process %d and %s from process %d", typeOfTensor(operands[i]), self, typeOfTensor(t), p)
			}
		}
		out.operands = append(out.operands, met[p])
	}
	return out, nil
}

// collective wraps the common part of the collectives: meet, compute every result, store it. compute receives operand i
// of every member.
func collective(rule groupRule, groups [][]int64, compute func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error) control {
	return func(m *machine, fr *frame, ins *instr) error {
		// The other processes receive copies.
		bytes := int64(0)
		for _, s := range ins.in {
			bytes += int64(len(fr.slots[s].t.Bytes()))
		}
		if err := m.charge(bytes); err != nil {
			return err
		}
		defer m.uncharge(bytes)
		mem, err := gatherGroup(m, ins, fr, rule, groups)
		if err != nil {
			return err
		}
		for i, s := range ins.out {
			t := ins.types[i]
			b, err := m.alloc(t.dt, t.shape, t.n)
			if err != nil {
				return err
			}
			var parts []*tensor.Tensor
			self := -1
			if mem != nil {
				for _, o := range mem.operands {
					parts = append(parts, o[i])
				}
				self = mem.self
			}
			if err := compute(m, fr, ins, i, parts, self, &b.t); err != nil {
				return err
			}
			fr.slots[s] = b
		}
		return nil
	}
}

func staticTensors(s *spec) error {
	for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.class != classTensor || t.dynamic() {
			return unsupported("%s of values of dynamic shape", s.op.Name())
		}
	}
	if len(s.in) != len(s.out) || len(s.in) == 0 {
		return errors.New("expects as many results as operands")
	}
	return nil
}

// eachOperandShape is the shape function of ops whose results have the shapes of their operands.
func eachOperandShape(s *spec, in []*tensor.Tensor) error {
	for i := range s.out {
		if i < len(in) {
			s.out[i].shape = in[i].Shape()
		}
	}
	return nil
}

// allGatherShape is the shape function of all_gather: it multiplies one dimension by the size of the group.
func allGatherShape(s *spec, in []*tensor.Tensor) error {
	n, err := groupSize(s)
	if err != nil {
		return err
	}
	return eachDimShape(s, in, "all_gather_dim", func(d int64) int64 { return d * n })
}

// reduceScatterShape is the shape function of reduce_scatter: it divides one dimension by the size of the group.
func reduceScatterShape(s *spec, in []*tensor.Tensor) error {
	n, err := groupSize(s)
	if err != nil {
		return err
	}
	return eachDimShape(s, in, "scatter_dimension", func(d int64) int64 { return d / n })
}

// allToAllShape is the shape function of all_to_all: it splits one dimension and concatenates along another.
func allToAllShape(s *spec, in []*tensor.Tensor) error {
	n := max(1, intAttr(s.op, stablehlo.AttrSplitCount, 1))
	if err := eachDimShape(s, in, "split_dimension", func(d int64) int64 { return d / n }); err != nil {
		return err
	}
	for i := range s.out {
		d, err := dimAttr(s, stablehlo.AttrConcatDimension)
		if err != nil {
			return err
		}
		s.out[i].shape[d] *= n
	}
	return nil
}

func eachDimShape(s *spec, in []*tensor.Tensor, name string, size func(d int64) int64) error {
	d, err := dimAttr(s, name)
	if err != nil {
		return err
	}
	for i := range s.out {
		if i < len(in) {
			if d >= len(in[i].Shape()) {
				return fmt.Errorf("has %s %d of rank %d", name, d, len(in[i].Shape()))
			}
			s.out[i].shape = in[i].Shape().Clone()
			s.out[i].shape[d] = size(s.out[i].shape[d])
		}
	}
	return nil
}

// concatInto concatenates parts along a dimension.
func concatInto(out *tensor.Tensor, parts []*tensor.Tensor, dim int) error {
	st := strides(out.Shape())
	at := 0
	for _, p := range parts {
		if len(p.Shape()) != len(out.Shape()) || at+int(p.Shape()[dim]) > int(out.Shape()[dim]) {
			return fmt.Errorf("cannot join %d parts into %s", len(parts), typeOfTensor(out))
		}
		newStridedCopy(ints(p.Shape()), st, strides(p.Shape())).run(p.DType().Size(), out, p, at*st[dim], 0)
		at += int(p.Shape()[dim])
	}
	if at != int(out.Shape()[dim]) {
		return fmt.Errorf("joins %d elements into %d", at, out.Shape()[dim])
	}
	return nil
}

// cut copies part k of n of a tensor along a dimension.
func cut(t *tensor.Tensor, dim, k, n int) (*tensor.Tensor, error) {
	shape := t.Shape().Clone()
	if n <= 0 || shape[dim]%int64(n) != 0 {
		return nil, fmt.Errorf("cannot cut dimension of size %d into %d parts", shape[dim], n)
	}
	shape[dim] /= int64(n)
	st := strides(t.Shape())
	out := tensor.New(t.DType(), shape)
	newStridedCopy(ints(shape), strides(shape), st).run(t.DType().Size(), out, t, 0, k*int(shape[dim])*st[dim])
	return out, nil
}

func dimAttr(s *spec, name string) (int, error) {
	d := int(intAttr(s.op, name, -1))
	if d < 0 || d >= len(s.in[0].shape) {
		return 0, fmt.Errorf("has %s %d of rank %d", name, d, len(s.in[0].shape))
	}
	return d, nil
}

// planAllGather compiles all_gather (spec, "all_gather").
func planAllGather(p *planner, s *spec) (control, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	rule, err := reductionRule(s.op)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.op)
	if err != nil {
		return nil, err
	}
	dim, err := dimAttr(s, stablehlo.AttrAllGatherDim)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		return concatInto(out, parts, dim)
	}), nil
}

// planAllReduce compiles all_reduce (spec, "all_reduce").
func planAllReduce(p *planner, s *spec) (control, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	rule, groups, fold, err := reduction(p, s)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		b, err := fold[i](m, fr, parts)
		if err != nil {
			return err
		}
		if b == nil {
			return errors.New("is executed by a process that is in no group")
		}
		copy(out.Bytes(), b.t.Bytes())
		m.release(b)
		return nil
	}), nil
}

// planReduceScatter compiles reduce_scatter (spec, "reduce_scatter").
func planReduceScatter(p *planner, s *spec) (control, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	rule, err := reductionRule(s.op)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.op)
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
	return collective(rule, groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		if len(parts) == 0 {
			return errors.New("is executed by a process that is in no group")
		}
		b, err := fold(m, fr, parts)
		if err != nil {
			return err
		}
		whole := m.alias(b, s.out[0].dt, s.in[0].shape)
		bytes := int64(len(out.Bytes()))
		if err := m.charge(bytes); err != nil {
			return err
		}
		defer m.uncharge(bytes)
		piece, err := cut(&whole.t, dim, self, len(parts))
		if err != nil {
			return err
		}
		m.release(whole)
		if len(piece.Bytes()) != len(out.Bytes()) {
			return fmt.Errorf("gives %s, not %s", typeOfTensor(piece), typeOfTensor(out))
		}
		copy(out.Bytes(), piece.Bytes())
		return nil
	}), nil
}

// planAllToAll compiles all_to_all (spec, "all_to_all").
func planAllToAll(p *planner, s *spec) (control, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.op)
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
	return collective(exchangeRule(s.op), groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		bytes := int64(len(out.Bytes()))
		if err := m.charge(bytes); err != nil {
			return err
		}
		defer m.uncharge(bytes)
		pieces := make([]*tensor.Tensor, len(parts))
		for k, t := range parts {
			var err error
			if pieces[k], err = cut(t, split, self, len(parts)); err != nil {
				return err
			}
		}
		return concatInto(out, pieces, concat)
	}), nil
}

// planCollectiveBroadcast compiles collective_broadcast (spec, "collective_broadcast"). The first process of the group
// sends, unless the last operand names another. A process in no group gets zeros.
func planCollectiveBroadcast(p *planner, s *spec) (control, error) {
	_, root, err := rooted(s)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.op)
	if err != nil {
		return nil, err
	}
	return collective(exchangeRule(s.op), groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		if len(parts) == 0 {
			s.out[i].zero(out)
			return nil
		}
		r, err := root(fr, ins, i, len(parts))
		if err != nil {
			return err
		}
		copy(out.Bytes(), parts[r].Bytes())
		return nil
	}), nil
}

// planCollectiveReduce compiles collective_reduce (spec, "collective_reduce"). The root gets the reduction; the other
// processes get zeros. The root is the first process of the group, or the process that the last operand names.
func planCollectiveReduce(p *planner, s *spec) (control, error) {
	data, root, err := rooted(s)
	if err != nil {
		return nil, err
	}
	rule, groups, fold, err := reduction(p, data)
	if err != nil {
		return nil, err
	}
	return collective(rule, groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		s.out[i].zero(out)
		if len(parts) == 0 {
			return nil
		}
		if r, err := root(fr, ins, i, len(parts)); err != nil || r != self {
			return err
		}
		b, err := fold[i](m, fr, parts)
		if err != nil {
			return err
		}
		copy(out.Bytes(), b.t.Bytes())
		m.release(b)
		return nil
	}), nil
}

// rooted separates the roots of a collective_broadcast or collective_reduce from its data operands. root returns the
// position in the group of the root for operand i.
func rooted(s *spec) (data *spec, root func(fr *frame, ins *instr, i, group int) (int, error), err error) {
	d := *s
	dynamic := boolAttr(s.op, stablehlo.AttrHasDynamicRoot, false)
	if dynamic { // the last operand holds the positions of the roots in the group
		if len(s.in) < 2 || s.in[len(s.in)-1].n != len(s.out) || !isIndex(s.in[len(s.in)-1].dt) {
			return nil, nil, errors.New("expects one root per operand")
		}
		d.in = s.in[:len(s.in)-1]
	}
	if err := staticTensors(&d); err != nil {
		return nil, nil, err
	}
	return &d, func(fr *frame, ins *instr, i, group int) (int, error) {
		if !dynamic {
			return 0, nil
		}
		r := intAt(&fr.slots[ins.in[len(ins.in)-1]].t, i)
		if r < 0 || r >= int64(group) {
			return 0, fmt.Errorf("has root %d of a group of %d", r, group)
		}
		return int(r), nil
	}, nil
}

// planCollectivePermute compiles collective_permute (spec, "collective_permute"). A process that is not a target gets
// zeros.
func planCollectivePermute(p *planner, s *spec) (control, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	pairs, err := groupsAttr(s.op, stablehlo.AttrSourceTargetPairs)
	if err != nil {
		return nil, err
	}
	rule := exchangeRule(s.op)
	// All processes of the row or column meet; each copies its source's operand.
	return collective(rule, nil, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		for _, p := range pairs {
			if len(p) == 2 && int(p[1]) == self {
				if int(p[0]) >= len(parts) {
					return fmt.Errorf("names process %d of %d", p[0], len(parts))
				}
				copy(out.Bytes(), parts[p[0]].Bytes())
				return nil
			}
		}
		s.out[i].zero(out)
		return nil
	}), nil
}

// planCrossReplicaSum compiles the old op cross-replica-sum.
func planCrossReplicaSum(p *planner, s *spec) (control, error) {
	if err := staticTensors(s); err != nil {
		return nil, err
	}
	groups, err := groupsOf(p, s.op)
	if err != nil {
		return nil, err
	}
	add := opAdd.bind(s.in[0].dt)
	if add == nil {
		return nil, unsupported("a sum of elements of type %s", s.in[0].dt)
	}
	return collective(crossReplica, groups, func(m *machine, fr *frame, ins *instr, i int, parts []*tensor.Tensor, self int, out *tensor.Tensor) error {
		for k, t := range parts {
			if k == 0 {
				copy(out.Bytes(), t.Bytes())
				continue
			}
			add([]*tensor.Tensor{out, t}, []*tensor.Tensor{out}, 0, t.NumElements())
		}
		return nil
	}), nil
}
