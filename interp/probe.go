package interp

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// planProbe compiles interpreter.probe: it passes the value through to its result, and a tap named by probe_id observes
// it. If the program itself compares probed values (check.expect_serialized_eq), the run keeps them.
func (h *host) planProbe(p *planner, s *spec) (control, error) {
	if len(s.in) != 1 || len(s.out) != 1 {
		return nil, errors.New("expects one operand and one result")
	}
	id := stringAttr(s.op, interpreter.AttrProbeID)
	bound, err := h.tapSite(p, s, "probe", id)
	if err != nil {
		return nil, err
	}
	keep := h.probesCompared()
	return func(m *machine, fr *frame, ins *instr) error {
		v := &fr.slots[ins.in[0]].t
		if keep {
			if m.probes == nil {
				m.probes = map[string][]*tensor.Tensor{}
			}
			if err := m.charge(int64(len(v.Bytes()))); err != nil { // until the run ends
				return err
			}
			m.probes[id] = append(m.probes[id], v.Clone())
		}
		if err := tap(m, bound, v); err != nil {
			return err
		}
		fr.slots[ins.out[0]] = m.take(fr, ins, 0)
		return nil
	}, nil
}

// planPrint compiles interpreter.print: a tap named print.
func (h *host) planPrint(p *planner, s *spec) (control, error) {
	if len(s.in) != 1 || len(s.out) != 0 {
		return nil, errors.New("expects one operand")
	}
	bound, err := h.tapSite(p, s, "print", "print")
	if err != nil {
		return nil, err
	}
	return func(m *machine, fr *frame, ins *instr) error { return tap(m, bound, &fr.slots[ins.in[0]].t) }, nil
}

// tapSite makes and binds the site of a tap that only the engine knows and no manifest lists.
func (h *host) tapSite(p *planner, s *spec, format, name string) (*runtime.Bound, error) {
	site := hook.Site{Name: name, Kind: hook.Tap, Format: format, SideEffect: true}
	for _, t := range s.in {
		if t.class != classTensor || t.dynamic() || t.quant != nil {
			return nil, fmt.Errorf("cannot hand a value of type %s to the host", t)
		}
		site.Operands = append(site.Operands, hook.TensorType{DType: t.dt, Shape: t.shape})
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", p.fn.name, format, name, len(h.bound)))
	site.ID = hook.ID(binary.BigEndian.Uint64(sum[:8]))
	bound, err := h.handlers.Bind(&hook.Manifest{Sites: []hook.Site{site}})
	if err != nil {
		return nil, err
	}
	h.bound[site.ID] = &bound[0]
	return &bound[0], nil
}

// tap delivers one value to the tap's handlers. Without handlers it does not count as an event.
func tap(m *machine, b *runtime.Bound, v *tensor.Tensor) error {
	if len(b.Observers) == 0 && b.Answer == nil {
		return nil
	}
	c := runtime.Call{Site: b.Site, Run: m.run.run, Seq: m.run.seq, Device: m.run.device, Replica: m.run.replica, Partition: m.run.partition,
		Operands: []*tensor.Tensor{v}}
	if err := deliver(m, b, &c); err != nil {
		return err
	}
	m.run.seq++
	return nil
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
func planExpectSerialized(p *planner, s *spec) (control, error) {
	if len(s.in) != 1 {
		return nil, errors.New("expects one operand")
	}
	id, iter := stringAttr(s.op, interpreter.AttrProbeID), int(intAttr(s.op, check.AttrIter, 0))
	return func(m *machine, fr *frame, ins *instr) error {
		seen := m.probes[id]
		if len(seen) == 0 {
			return fmt.Errorf("probe %q saw nothing", id)
		}
		// Clamp iter. If there is a single value, every iter selects it, including the default.
		return checkEqual().compare(seen[max(0, min(iter, len(seen)-1))], &fr.slots[ins.in[0]].t)
	}, nil
}
