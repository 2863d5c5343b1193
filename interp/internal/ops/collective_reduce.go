package ops

import (
	"errors"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

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
