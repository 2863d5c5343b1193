package ops

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Host ops: outfeed, infeed, send, recv. Among the devices of interpreter.run_parallel, infeed reads the given queue,
// outfeed drops its values, and send and recv are channels. Elsewhere the host op must belong to a hook in the
// program's manifest: either a pass replaced the op, or attributes mark it (written.go).

// errNoHook is the error of a host op that does not belong to a hook.
var errNoHook = errors.New("talks to the host, but no hook of the program stands for it: convert or mark the module's hooks first")

// dataOf returns the positions and types of the values that are not tokens.
func dataOf(types []kernel.Type) (at []int, data []kernel.Type) {
	for i, t := range types {
		if t.Class != kernel.ClassToken {
			at = append(at, i)
			data = append(data, t)
		}
	}
	return at, data
}

// planOutfeed compiles outfeed (spec, "outfeed").
func (h *Host) planOutfeed(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("outfeed")
	return h.planWritten(p, s, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		if m.DeviceGroup == nil || !m.DeviceGroup.Nested {
			kernel.Fail(errNoHook)
		}
		fr.Slots[ins.Out[0]] = m.Token()
	})
}

// planInfeed compiles infeed (spec, "infeed").
func (h *Host) planInfeed(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("infeed")
	return h.planWritten(p, s, planReceive(s, func(m *exec.Machine, n int) []*tensor.Tensor {
		if m.DeviceGroup == nil || !m.DeviceGroup.Nested {
			kernel.Fail(errNoHook)
		}
		return m.DeviceGroup.NextInfeed()
	}))
}

// planReceive compiles an op that receives its results from another device or from a queue. If from returns no values,
// the results are zeros.
func planReceive(s *plan.Spec, from func(m *exec.Machine, n int) []*tensor.Tensor) exec.Runner {
	at, types := dataOf(s.Out)
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		results := make([]*tensor.Tensor, len(at))
		for i, t := range types {
			b := m.Alloc(t.DType, t.Shape, t.N)
			t.Zero(&b.Tensor)
			fr.Slots[ins.Out[at[i]]] = b
			results[i] = &b.Tensor
		}
		for i, t := range s.Out {
			if t.Class == kernel.ClassToken {
				fr.Slots[ins.Out[i]] = m.Token()
			}
		}
		item := from(m, len(results))
		if item == nil {
			return
		}
		kernel.FailIf(len(item) != len(results), "gets %d values for %d results", len(item), len(results))
		for i, t := range item {
			kernel.FailIf(t.DType() != types[i].DType || !t.Shape().Equal(types[i].Shape),
				"gets a value of type %s for a result of type %s", kernel.TypeOfTensor(t), types[i])
			copy(results[i].Bytes(), t.Bytes())
		}
	}
}

// planSend compiles send (spec, "send").
func (h *Host) planSend(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("send")
	t := transferOf(s.Op)
	at, _ := dataOf(s.In)
	return h.planTransfer(p, t, s, func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		switch {
		case m.DeviceGroup != nil && (m.DeviceGroup.Nested || t.device):
			operands := make([]*tensor.Tensor, len(at))
			for i, k := range at {
				operands[i] = &fr.Slots[ins.In[k]].Tensor
			}
			for _, to := range t.targets(m) {
				m.DeviceGroup.Send(m, exec.ChannelKey{Channel: t.channel, To: to}, operands)
			}
		case t.device:
			kernel.Fail(exec.ErrStuck) // there is no other device
		default:
			kernel.Fail(errNoHook)
		}
		fr.Slots[ins.Out[0]] = m.Token()
	})
}

// planRecv compiles recv (spec, "recv"). A device without a source receives zeros, as in collective_permute.
func (h *Host) planRecv(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("receive")
	t := transferOf(s.Op)
	return h.planTransfer(p, t, s, planReceive(s, func(m *exec.Machine, n int) []*tensor.Tensor {
		switch {
		case !t.device && (m.DeviceGroup == nil || !m.DeviceGroup.Nested):
			kernel.Fail(errNoHook)
		case m.DeviceGroup == nil:
			kernel.Fail(exec.ErrStuck)
		}
		from, ok := t.source(m)
		if !ok {
			return nil
		}
		return m.DeviceGroup.Recv(m, from, n)
	}))
}

// planTransfer compiles a send or recv. A transfer to or from the host is a hook as written.
func (h *Host) planTransfer(p *plan.Planner, t *transfer, s *plan.Spec, c exec.Runner) exec.Runner {
	if t.device {
		return c
	}
	return h.planWritten(p, s, c)
}

// transfer describes the peer of a send or recv.
type transfer struct {
	channel int64
	device  bool      // to or from another device, not the host
	pairs   [][]int64 // source and target; nil if only the channel decides
}

func transferOf(op *ir.Op) *transfer {
	t := &transfer{channel: channelOf(op)}
	if a := plan.Attrs[plan.Channel](op); a.Handle != nil {
		t.device = a.Handle.Type == stablehlo.ChannelDeviceToDevice && !a.Host
	}
	if op.Attr(stablehlo.AttrSourceTargetPairs) == nil {
		return t
	}
	t.pairs = groupsAttr(op, stablehlo.AttrSourceTargetPairs)
	for _, p := range t.pairs {
		kernel.FailIf(len(p) != 2, "expects source_target_pairs of two processes each")
	}
	return t
}

// self returns the number of this device in source_target_pairs and the offset to add to such a number to obtain a
// process. The numbers count the partitions of one replica if there are several partitions, else the replicas.
func (t *transfer) self(m *exec.Machine) (self int64, base int) {
	if m.DeviceGroup.Partitions > 1 {
		return int64(m.Run.Partition), m.Run.Replica * m.DeviceGroup.Partitions
	}
	return int64(m.Run.Replica), 0
}

// targets returns the processes that receive from this device.
func (t *transfer) targets(m *exec.Machine) []int {
	if t.pairs == nil {
		return []int{-1}
	}
	self, base := t.self(m)
	var out []int
	for _, p := range t.pairs {
		if p[0] == self {
			out = append(out, base+int(p[1]))
		}
	}
	return out
}

// source returns the channel that this device receives from, or false if no device sends to it.
func (t *transfer) source(m *exec.Machine) (exec.ChannelKey, bool) {
	if t.pairs == nil {
		return exec.ChannelKey{Channel: t.channel, To: -1}, true
	}
	self, base := t.self(m)
	for _, p := range t.pairs {
		if p[1] == self {
			return exec.ChannelKey{Channel: t.channel, To: base + int(self)}, true
		}
	}
	return exec.ChannelKey{}, false
}

// planRunParallel compiles interpreter.run_parallel, which runs a grid of functions with one device each.
func planRunParallel(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("functions in a process group of their own")
	rows, _ := s.Op.Attr(interpreter.AttrPrograms).(*ir.ArrayAttr)
	kernel.FailIf(rows == nil || len(rows.Elems()) == 0, "has no programs")
	function := func(a ir.Attr) *exec.Function {
		ref, ok := a.(*ir.SymbolRefAttr)
		kernel.FailIf(!ok, "has programs or an infeed that are not functions")
		return p.Prog.Function(ref.Root())
	}
	var funcs, feeds []*exec.Function
	width := 0
	for _, row := range rows.Elems() {
		r, ok := row.(*ir.ArrayAttr)
		kernel.FailIf(!ok || width > 0 && len(r.Elems()) != width || len(r.Elems()) == 0, "has programs that are not a grid")
		width = len(r.Elems())
		for _, e := range r.Elems() {
			funcs = append(funcs, function(e))
		}
	}
	if list, ok := s.Op.Attr(interpreter.AttrInfeed).(*ir.ArrayAttr); ok {
		for _, e := range list.Elems() {
			f := function(e)
			kernel.FailIf(len(f.Args) != 0, "has infeed '%s', which takes arguments", f.Name)
			feeds = append(feeds, f)
		}
	}
	nin, nout := 0, 0
	for _, f := range funcs {
		nin += len(f.Args)
		nout += len(f.Results)
	}
	kernel.FailIf(nin != len(s.In) || nout != len(s.Out),
		"has %d operands and %d results for programs of %d and %d", len(s.In), len(s.Out), nin, nout)
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		w := exec.NewDeviceGroup(len(funcs)/width, width)
		w.Nested = true
		for _, f := range feeds {
			var item []*tensor.Tensor
			for i, b := range kernel.Must(exec.SubMachine(m, w, 0).Invoke(f, nil)) {
				if f.Results[i].Class == kernel.ClassTensor {
					item = append(item, &b.Tensor)
				}
			}
			w.Infeed = append(w.Infeed, item)
		}
		in, at := make([][]*exec.Buf, len(funcs)), 0
		for d, f := range funcs {
			for range f.Args {
				b := fr.Slots[ins.In[at]]
				if b != m.Token() {
					b = &exec.Buf{Tensor: b.Tensor, Refs: 1, Fixed: true}
				}
				in[d] = append(in[d], b)
				at++
			}
		}
		results := make([][]*exec.Buf, len(funcs))
		kernel.Fail(w.Each(func(d int) (err error) {
			results[d], err = exec.SubMachine(m, w, d).Invoke(funcs[d], in[d])
			return err
		}))
		at = 0
		for _, r := range results {
			for _, b := range r {
				if b != m.Token() {
					c := &exec.Buf{Refs: 1}
					c.Tensor = *b.Tensor.Clone()
					b = c
				}
				fr.Slots[ins.Out[at]] = b
				at++
			}
		}
	}
}

// planComposite compiles composite (spec, "composite") as a call of its decomposition.
func planComposite(p *plan.Planner, s *plan.Spec) exec.Runner {
	return plan.PlanCallTo(p, s, view.Symbol(s.Op.Attr(stablehlo.AttrDecomposition)))
}

// planRegionCall compiles ops that execute their region once with their operands as arguments:
// sdy.named_computation, async_start.
func planRegionCall(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("the region, once")
	body := regionOf(p, s.Op, 0, len(s.In), len(s.Out))
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) { m.RunInside(fr, body, fr, ins) }
}
