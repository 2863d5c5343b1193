package ops

import (
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// planAsyncStart compiles async_start (spec, "async_start"). The work completes at once; the future holds its results.
func planAsyncStart(p *plan.Planner, s *plan.Spec) exec.Runner {
	return planFuture(p, s, s.Out[0].Elems, func(inner *plan.Spec) exec.Runner { return planRegionCall(p, inner) })
}

// planMHLOAsyncStart compiles mhlo.async_start. It calls the function at once; the bundle holds its results.
func planMHLOAsyncStart(p *plan.Planner, s *plan.Spec) exec.Runner {
	f := p.Prog.Function(view.Symbol(s.Op.Attr(mhlo.AttrCalledComputation)))
	return planFuture(p, s, f.Results, func(inner *plan.Spec) exec.Runner { return plan.PlanCallTo(p, inner, f.Name) })
}

// planFuture compiles an op that starts work with results of the given types. The work completes at once; the op's
// result is a future that holds the results of the work.
func planFuture(p *plan.Planner, s *plan.Spec, types []kernel.Type, work func(*plan.Spec) exec.Runner) exec.Runner {
	p.Describe("future")
	call := work(plan.NewSpec(p, s.Op, s.In, types))
	n := len(types)
	parts := make([]int32, n)
	for i := range parts {
		parts[i] = p.Fresh()
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		inner := *ins
		inner.Out, inner.Types = parts, types
		call(m, fr, &inner)
		future := m.NewView()
		future.Elems = make([]*exec.Buf, n)
		for i, slot := range parts {
			future.Elems[i] = fr.Slots[slot]
			fr.Slots[slot] = nil
		}
		fr.Slots[ins.Out[0]] = future
	}
}

// planAsyncDone compiles async_done (spec, "async_done") and mhlo.async_done, whose bundle does not state its values.
func planAsyncDone(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("values of the future")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		future := fr.Slots[ins.In[0]]
		kernel.FailIf(len(future.Elems) != len(ins.Out), "expects a future of as many values as there are results")
		for i, o := range ins.Out {
			fr.Slots[o] = exec.Retain(future.Elems[i])
		}
	}
}
