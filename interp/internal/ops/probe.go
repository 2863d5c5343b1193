package ops

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// probeAttrs has the attributes of probes and of the ops that compare with them.
type probeAttrs struct {
	ID        string `attr:"probe_id"`
	Iteration int    `attr:"iter"`
}

// planProbe compiles interpreter.probe: it passes the value through to its result, and a tap named by probe_id observes
// it. If the program itself compares probed values (check.expect_serialized_eq), the run keeps them.
func (h *Host) planProbe(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("probe")
	id := plan.Attrs[probeAttrs](s.Op).ID
	bound := h.tapSite(p, s, "probe", id)
	keep := h.probesCompared()
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		v := &fr.Slots[ins.In[0]].Tensor
		if keep {
			if m.Probes == nil {
				m.Probes = map[string][]*tensor.Tensor{}
			}
			m.Charge(int64(len(v.Bytes()))) // until the run ends
			m.Probes[id] = append(m.Probes[id], v.Clone())
		}
		tap(m, bound, v)
		fr.Slots[ins.Out[0]] = m.Take(fr, ins, 0)
	}
}

// planPrint compiles interpreter.print: a tap named print.
func (h *Host) planPrint(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("prints")
	bound := h.tapSite(p, s, "print", "print")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		tap(m, bound, &fr.Slots[ins.In[0]].Tensor)
	}
}

// tapSite makes and binds the site of a tap that only the engine knows and no manifest lists.
func (h *Host) tapSite(p *plan.Planner, s *plan.Spec, format, name string) *runtime.Bound {
	site := hook.Site{Name: name, Kind: hook.Tap, Format: format, SideEffect: true}
	for _, t := range s.In {
		kernel.FailIf(t.Class != kernel.ClassTensor || t.Dynamic() || t.Quant != nil, "cannot hand a value of type %s to the host", t)
		site.Operands = append(site.Operands, hook.TensorType{DType: t.DType, Shape: t.Shape})
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", p.Fn.Name, format, name, len(h.bound)))
	site.ID = hook.ID(binary.BigEndian.Uint64(sum[:8]))
	bound := kernel.Must(h.handlers.Bind(&hook.Manifest{Sites: []hook.Site{site}}))
	h.bound[site.ID] = &bound[0]
	return &bound[0]
}

// tap delivers one value to the tap's handlers. Without handlers it does not count as an event.
func tap(m *exec.Machine, b *runtime.Bound, v *tensor.Tensor) {
	if b.Idle() {
		return
	}
	c := runtime.Call{Site: b.Site(), Run: m.Run.Run, Seq: m.Run.Seq, Device: m.Run.Device, Replica: m.Run.Replica, Partition: m.Run.Partition,
		Operands: []*tensor.Tensor{v}}
	deliver(m, b, &c)
}

// comparesProbes reports whether the module compares probed values.
func comparesProbes(m *ir.Module) bool {
	for op := range m.Body().Ops() {
		if !op.Walk(func(o *ir.Op) bool { return !o.Is(check.ExpectSerializedEq) }) {
			return true
		}
	}
	return false
}

// planExpectSerialized compiles check.expect_serialized_eq: the operand must equal the value that the probe saw in that
// iteration.
func planExpectSerialized(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("expectation")
	a := plan.Attrs[probeAttrs](s.Op)
	id, iter := a.ID, a.Iteration
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		seen := m.Probes[id]
		kernel.FailIf(len(seen) == 0, "probe %q saw nothing", id)
		// Clamp iter. If there is a single value, every iter selects it, including the default.
		kernel.CheckEqual().Compare(seen[max(0, min(iter, len(seen)-1))], &fr.Slots[ins.In[0]].Tensor)
	}
}
