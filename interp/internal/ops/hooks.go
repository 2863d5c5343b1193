package ops

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// Host holds the state that ops share if they reach beyond their operands: the module's hooks with their handlers, and
// facts about the whole module.
type Host struct {
	bound    map[hook.ID]*runtime.Bound
	handlers *runtime.Bindings // for taps that only the engine knows

	// The fields asWritten and written serve hooks as their module writes them; see written.go.
	asWritten bool
	written   map[hook.ID]*writtenHook

	// Targets returns the function that compiles a custom call to a target that no kernel of the engine computes, or nil.
	Targets func(target string, call *ir.Op) func(*plan.Planner, *plan.Spec) exec.Runner

	probesCompared func() bool              // whether the module compares probed values
	streams        func() map[*ir.Op]uint64 // the key of each rng op; see rngStreams
}

// Bind binds the hooks of program p to its handlers. mod is the module as it executes.
func (h *Host) Bind(mod *ir.Module, p *runtime.Program, opts runtime.CompileOptions) {
	h.bound, h.handlers = map[hook.ID]*runtime.Bound{}, opts.Handlers
	h.probesCompared = sync.OnceValue(func() bool { return comparesProbes(mod) })
	h.streams = sync.OnceValue(func() map[*ir.Op]uint64 { return rngStreams(mod) })
	if p.Manifest == nil {
		return
	}
	bound := kernel.Must(opts.Handlers.Bind(p.Manifest))
	if opts.Timeout > 0 {
		kernel.Fail(runtime.CheckTimeout(bound))
	}
	for i := range bound {
		h.bound[bound[i].Site().ID] = &bound[i]
	}
	h.addParts(p.Module)
}

// planOwnCall compiles a custom call of target hlocb_hook.
func (t *Host) planOwnCall(p *plan.Planner, s *plan.Spec) exec.Runner {
	config, _ := s.Op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	id, ok := config.Get("id").(*ir.IntegerAttr)
	kernel.FailIf(!ok, "has no hook id in its backend_config")
	abi, ok := config.Get("abi").(*ir.IntegerAttr)
	kernel.FailIf(!ok || abi.Value() != hook.ABI, "has an abi other than %d", hook.ABI)
	return t.planHookCall(p, s, hook.ID(id.Value()))
}

// planHook compiles hlocb.hook.
func (t *Host) planHook(p *plan.Planner, s *plan.Spec) exec.Runner {
	return t.planHookCall(p, s, hookop.HookOp{Op: s.Op}.ID())
}

// hookSite holds the constants of one hook.
type hookSite struct {
	bound   *runtime.Bound
	points  bool  // a handler has device pointers
	skip    int   // 1 if operand and result 0 of its op are the chain
	forward []int // per data result, the index of the data operand it forwards, or -1
	types   []kernel.Type
	at      place // of its op
}

func newHookSite(b *runtime.Bound) *hookSite {
	h := &hookSite{bound: b, points: b.Use().DevicePointers}
	for i, t := range b.Site().Results {
		h.types, h.forward = append(h.types, kernel.TensorType(t.DType, t.Shape...)), append(h.forward, forwards(b.Site(), i))
	}
	return h
}

func (t *Host) planHookCall(p *plan.Planner, s *plan.Spec, id hook.ID) exec.Runner {
	b := t.bound[id]
	kernel.FailIf(b == nil, "is hook %s, which the program's manifest does not list", id)
	site := b.Site()
	h := newHookSite(b)
	h.at = firesOn(p.Prog.Symbols, s.Op)
	p.Describe("%s", describeHook(b))
	if site.Chained {
		h.skip = 1
	}
	kernel.FailIf(len(s.In) != h.skip+len(site.Operands) || len(s.Out) != h.skip+len(site.Results),
		"has %d operands and %d results, but its manifest entry has %d and %d", len(s.In)-h.skip, len(s.Out)-h.skip, len(site.Operands), len(site.Results))
	for i, t := range slices.Concat(s.Out[h.skip:], s.In[h.skip:]) {
		kernel.FailIf(t.Class != kernel.ClassTensor || i < len(site.Results) && t.Dynamic() && site.Kind != hook.Tap, "cannot hand a value of type %s to the host", t)
	}
	h.types = s.Out[h.skip:]
	for i, f := range h.forward {
		kernel.FailIf(f >= 0 && (f >= len(site.Operands) || s.In[h.skip+f].DType != h.types[i].DType || !s.In[h.skip+f].Shape.Equal(h.types[i].Shape)),
			"is of kind %s, but its result %d is none of its operands", site.Kind, i)
	}
	return h.call
}

// describeHook names a hook for printed plans.
func describeHook(b *runtime.Bound) string {
	site := b.Site()
	text := fmt.Sprintf("hook %s (%s), id %s", site.Name, site.Kind, site.ID)
	if b.Idle() {
		text += ", no handler"
	}
	return text
}

// forwards returns the operand that result i of a tap or an inout hook forwards, or -1 for other kinds.
func forwards(site *hook.Site, i int) int {
	if site.Kind != hook.Tap && site.Kind != hook.InOut {
		return -1
	}
	if i < len(site.Aliases) && site.Aliases[i] >= 0 {
		return site.Aliases[i]
	}
	return i
}

// call executes the hook.
func (h *hookSite) call(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
	operands, results := m.PushRefs(len(ins.In)-h.skip), m.PushRefs(len(ins.Out)-h.skip)
	for i := range operands {
		operands[i] = fr.Slots[ins.In[h.skip+i]]
	}
	h.fire(m, ins, h.at, operands, results, ins.Move[h.skip:])
	if h.skip == 1 {
		fr.Slots[ins.Out[0]] = m.Take(fr, ins, 0)
	}
	for i, b := range results {
		fr.Slots[ins.Out[h.skip+i]] = b
	}
	m.PopRefs(len(operands) + len(results))
}

// fire makes the results of the hook and calls its handlers. An inout hook works on an operand that dies here, as move
// says, or on a copy.
func (h *hookSite) fire(m *exec.Machine, ins *exec.Instr, at place, operands, results []*exec.Buf, move []bool) {
	site := h.bound.Site()
	c := &m.Call
	*c = runtime.Call{Site: site, Run: m.Run.Run, Seq: m.Run.Seq, Device: m.Run.Device, Replica: m.Run.Replica, Partition: m.Run.Partition,
		Operands: c.Operands[:0], Results: c.Results[:0], OperandPointers: c.OperandPointers[:0], ResultPointers: c.ResultPointers[:0]}
	for _, b := range operands {
		c.Operands = append(c.Operands, &b.Tensor)
	}
	for i, f := range h.forward {
		if f >= 0 && site.Kind == hook.Tap {
			results[i] = exec.Retain(operands[f])
			continue
		}
		if f >= 0 && move[f] && operands[f].Writable() {
			results[i] = exec.Retain(operands[f])
		} else if results[i] = m.Alloc(h.types[i].DType, h.types[i].Shape, h.types[i].N); f >= 0 {
			copy(results[i].Tensor.Bytes(), operands[f].Tensor.Bytes())
			c.Operands[f] = &results[i].Tensor
		} else {
			clear(results[i].Tensor.Bytes())
		}
		c.Results = append(c.Results, &results[i].Tensor)
	}
	if h.points {
		c.OperandPointers = runtime.Pointers(c.OperandPointers, c.Operands)
		c.ResultPointers = runtime.Pointers(c.ResultPointers, c.Results)
	}
	alone := firesAlone(m, at)
	switch {
	case h.bound.Idle():
		if alone || m.Run.Partition == at.device {
			m.Run.Seq++
		}
	case alone:
		deliver(m, h.bound, c)
	default:
		fireOnce(m, ins, at, c.Results, func() { deliver(m, h.bound, c) })
	}
}

// deliver calls the handlers of a hook. If there is a timeout, the run ends when it expires.
func deliver(m *exec.Machine, b *runtime.Bound, c *runtime.Call) {
	kernel.Fail(m.DeviceGroup.Stopped())
	m.Watch.Ask()
	defer m.Watch.Answered()
	if timeout := m.Prog.Timeout; timeout <= 0 {
		kernel.Fail(runtime.Deliver(m.Ctx, b, c))
	} else {
		done := make(chan error, 1)
		runtime.DeliverWithin(m.Ctx, timeout, b, c, nil, func(err error) { done <- err })
		kernel.Fail(<-done)
	}
	m.Run.Seq++
}
