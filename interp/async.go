package interp

import "errors"

// planAsyncStart compiles async_start (spec, "async_start"). The work completes at once; the future holds its results.
func planAsyncStart(p *planner, s *spec) (control, error) {
	if len(s.out) != 1 || s.out[0].class != classFuture {
		return nil, errors.New("expects one result, a future")
	}
	return planFuture(p, s, s.out[0].elems, func(inner *spec) (control, error) { return planRegionCall(p, inner) })
}

// planFuture compiles an op that starts work with results of the given types. The work completes at once; the op's
// result is a future that holds the results of the work.
func planFuture(p *planner, s *spec, types []vtype, work func(*spec) (control, error)) (control, error) {
	call, err := work(newSpec(p, s.op, s.in, types))
	if err != nil {
		return nil, err
	}
	n := len(types)
	parts := make([]int32, n)
	for i := range parts {
		parts[i] = p.fresh()
	}
	return func(m *machine, fr *frame, ins *instr) error {
		inner := *ins
		inner.out, inner.types = parts, types
		if err := call(m, fr, &inner); err != nil {
			return err
		}
		future := m.head()
		future.elems = make([]*buf, n)
		for i, slot := range parts {
			future.elems[i] = fr.slots[slot]
			fr.slots[slot] = nil
		}
		fr.slots[ins.out[0]] = future
		return nil
	}, nil
}

// planAsyncDone compiles async_done (spec, "async_done").
func planAsyncDone(p *planner, s *spec) (control, error) {
	if len(s.in) != 1 || s.in[0].class != classFuture || len(s.in[0].elems) != len(s.out) {
		return nil, errors.New("expects a future of as many values as there are results")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		future := fr.slots[ins.in[0]]
		for i, o := range ins.out {
			fr.slots[o] = retain(future.elems[i])
		}
		return nil
	}, nil
}
