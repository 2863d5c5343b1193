package interp

import (
	"errors"

	"github.com/hlocb/hlocb/tensor"
)

// reduceParts compiles the region of a reducing collective for operand i. The folder combines the members' operands in
// the order of the group. If the region computes in a wider type than the operand's, the result has the wider type.
func reduceParts(p *planner, s *spec, i int) (folder, error) {
	n := s.in[i].n
	r, err := p.lift(s.op, 0, n)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return scalarParts(p, s, i)
	}
	if len(r.args) != 2 || len(r.ret) != 1 {
		return nil, errors.New("expects a region of two arguments and one result")
	}
	widen, err := partPromotion(p, s, i, r.types[0], r.types[1])
	if err != nil {
		return nil, err
	}
	wide := r.types[0].dt
	return func(m *machine, fr *frame, parts []*tensor.Tensor) (*buf, error) {
		var acc [1]*buf
		for k, part := range parts {
			b, err := m.alloc(wide, r.types[0].shape, n)
			if err != nil {
				return nil, err
			}
			if err := widen(m, part, &b.t); err != nil {
				return nil, err
			}
			if k == 0 {
				acc[0] = b
				continue
			}
			fr.slots[r.args[0]], fr.slots[r.args[1]] = acc[0], b
			if err := m.block(fr, r.block, acc[:]); err != nil {
				return nil, err
			}
		}
		return acc[0], nil
	}, nil
}

// partPromotion returns the conversion of operand i to the element type of the region's arguments a and b.
func partPromotion(p *planner, s *spec, i int, a, b vtype) (func(m *machine, part, wide *tensor.Tensor) error, error) {
	from, to := s.in[i], s.in[i]
	to.dt, to.quant = a.dt, a.quant
	if !a.sameElements(b) || !to.sameElements(s.out[i]) {
		return nil, errors.New("has a computation whose types are not those of the results")
	}
	if from.sameElements(to) {
		return func(_ *machine, part, wide *tensor.Tensor) error {
			copy(wide.Bytes(), part.Bytes())
			return nil
		}, nil
	}
	k, err := p.promotion(s.op, from, to)
	if err != nil {
		return nil, err
	}
	return func(m *machine, part, wide *tensor.Tensor) error {
		if err := m.charge(k.scratch); err != nil {
			return err
		}
		defer m.uncharge(k.scratch)
		return k.run([]*tensor.Tensor{part}, []*tensor.Tensor{wide})
	}, nil
}

// scalarParts compiles a reduction that executes the region once per element.
func scalarParts(p *planner, s *spec, i int) (folder, error) {
	body, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	if len(body.args) != 2 || len(body.ret) != 1 {
		return nil, errors.New("expects a region of two arguments and one result")
	}
	var types [2]vtype
	for k, v := range s.op.Region(0).Entry().Args() {
		if types[k], err = typeOf(v.Type()); err != nil {
			return nil, err
		}
	}
	widen, err := partPromotion(p, s, i, types[0], types[1])
	if err != nil {
		return nil, err
	}
	dt, n := types[0].dt, s.in[i].n
	return func(m *machine, fr *frame, parts []*tensor.Tensor) (*buf, error) {
		if len(parts) == 0 {
			return nil, nil
		}
		acc, err := m.alloc(dt, tensor.Shape{int64(n)}, n)
		if err != nil {
			return nil, err
		}
		if err := widen(m, parts[0], &acc.t); err != nil {
			return nil, err
		}
		size := dt.Size()
		next, err := m.alloc(dt, tensor.Shape{int64(n)}, n)
		if err != nil {
			return nil, err
		}
		defer m.release(next)
		var v [1]*buf
		for _, part := range parts[1:] {
			if err := widen(m, part, &next.t); err != nil {
				return nil, err
			}
			for e := range n {
				if err := m.poll(); err != nil {
					return nil, err
				}
				if err := scalarArg(m, fr, body.args[0], &acc.t, e); err != nil {
					return nil, err
				}
				if err := scalarArg(m, fr, body.args[1], &next.t, e); err != nil {
					return nil, err
				}
				if err := m.block(fr, body, v[:]); err != nil {
					return nil, err
				}
				copy(acc.t.Bytes()[e*size:(e+1)*size], v[0].t.Bytes())
				m.release(v[0])
			}
		}
		return acc, nil
	}, nil
}

// folder reduces one operand over the processes of a group.
type folder func(m *machine, fr *frame, parts []*tensor.Tensor) (*buf, error)

// reduction compiles the common part of all_reduce and collective_reduce: the process groups, and a folder for each
// operand of s.
func reduction(p *planner, s *spec) (rule groupRule, groups [][]int64, fold []folder, err error) {
	if rule, err = reductionRule(s.op); err != nil {
		return
	}
	if groups, err = groupsOf(p, s.op); err != nil {
		return
	}
	fold = make([]folder, len(s.in))
	for i := range s.in {
		if fold[i], err = reduceParts(p, s, i); err != nil {
			return
		}
	}
	return
}
