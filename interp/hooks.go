package interp

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// host is what the ops of a module that reach beyond their operands share: its hooks with their handlers, and facts about
// the whole module.
type host struct {
	bound    map[hook.ID]*runtime.Bound
	handlers *runtime.Bindings // for taps that only the engine knows

	// See written.go.
	asWritten bool
	written   map[hook.ID]*writtenHook

	probesCompared func() bool              // whether the module compares probed values
	streams        func() map[*ir.Op]uint64 // the key of each rng op; see rngStreams
}

func newHost(mod *ir.Module, p *runtime.Program, opts runtime.CompileOptions) (*host, error) {
	h := &host{bound: map[hook.ID]*runtime.Bound{}, handlers: opts.Handlers}
	h.probesCompared = sync.OnceValue(func() bool { return comparesProbes(mod) })
	h.streams = sync.OnceValue(func() map[*ir.Op]uint64 { return rngStreams(mod) })
	if p == nil || p.Manifest == nil {
		return h, nil
	}
	bound, err := opts.Handlers.Bind(p.Manifest)
	if err != nil {
		return nil, err
	}
	for i := range bound {
		h.bound[bound[i].Site.ID] = &bound[i]
	}
	h.addParts(p.Module)
	return h, nil
}

// planOwnCall compiles a custom call of target hlocb_hook.
func (t *host) planOwnCall(p *planner, s *spec) (control, error) {
	config, _ := s.op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	id, ok := config.Get("id").(*ir.IntegerAttr)
	if !ok {
		return nil, errors.New("has no hook id in its backend_config")
	}
	if abi, ok := config.Get("abi").(*ir.IntegerAttr); !ok || abi.Value() != hook.ABI {
		return nil, fmt.Errorf("has an abi other than %d", hook.ABI)
	}
	return t.planHookCall(p, s, hook.ID(id.Value()))
}

// planHook compiles hlocb.hook.
func (t *host) planHook(p *planner, s *spec) (control, error) {
	return t.planHookCall(p, s, hookop.HookOp{Op: s.op}.ID())
}

// hookSite holds the constants of one hook op.
type hookSite struct {
	bound   *runtime.Bound
	skip    int   // 1 if operand and result 0 are the chain
	forward []int // per data result, the index of the data operand it forwards, or -1
	types   []vtype
	at      place
}

func (t *host) planHookCall(p *planner, s *spec, id hook.ID) (control, error) {
	b := t.bound[id]
	if b == nil {
		return nil, fmt.Errorf("is hook %s, which the program's manifest does not list", id)
	}
	site := b.Site
	h := &hookSite{bound: b, at: firesOn(p.prog.module, s.op)}
	if site.Chained {
		h.skip = 1
	}
	if len(s.in) != h.skip+len(site.Operands) || len(s.out) != h.skip+len(site.Results) {
		return nil, fmt.Errorf("has %d operands and %d results, but its manifest entry has %d and %d", len(s.in)-h.skip, len(s.out)-h.skip, len(site.Operands), len(site.Results))
	}
	for _, t := range append(s.in[h.skip:len(s.in):len(s.in)], s.out[h.skip:]...) {
		if t.class != classTensor || t.dynamic() {
			return nil, fmt.Errorf("cannot hand a value of type %s to the host", t)
		}
	}
	h.types = s.out[h.skip:]
	for i := range site.Results {
		f := -1
		switch site.Kind {
		case hook.Tap, hook.InOut:
			f = i
			if i < len(site.Aliases) && site.Aliases[i] >= 0 {
				f = site.Aliases[i]
			}
			if f >= len(site.Operands) || s.in[h.skip+f].dt != h.types[i].dt || !s.in[h.skip+f].shape.Equal(h.types[i].shape) {
				return nil, fmt.Errorf("is of kind %s, but its result %d is none of its operands", site.Kind, i)
			}
		}
		h.forward = append(h.forward, f)
	}
	return h.call, nil
}

// call executes the hook.
func (h *hookSite) call(m *machine, fr *frame, ins *instr) error {
	site := h.bound.Site
	nin, nout := len(ins.in)-h.skip, len(ins.out)-h.skip
	results := m.refs(nout)
	inout := site.Kind == hook.InOut
	// Make the results first. An inout hook reuses an operand that dies here, or works on a copy.
	for i, f := range h.forward {
		switch {
		case f < 0:
			b, err := m.alloc(h.types[i].dt, h.types[i].shape, h.types[i].n)
			if err != nil {
				return err
			}
			clear(b.t.Bytes())
			results[i] = b
		case inout:
			b := fr.slots[ins.in[h.skip+f]]
			if !ins.move[h.skip+f] || !b.writable() {
				c, err := m.alloc(h.types[i].dt, h.types[i].shape, h.types[i].n)
				if err != nil {
					return err
				}
				copy(c.t.Bytes(), b.t.Bytes())
				results[i] = c
				continue
			}
			results[i] = retain(b)
		default:
			results[i] = retain(fr.slots[ins.in[h.skip+f]])
		}
	}
	if len(h.bound.Observers) > 0 || h.bound.Answer != nil {
		c := &m.call
		*c = runtime.Call{Site: site, Run: m.run.run, Seq: m.run.seq, Device: m.run.device, Replica: m.run.replica, Partition: m.run.partition,
			Operands: c.Operands[:0], Results: c.Results[:0]}
		for i := 0; i < nin; i++ {
			c.Operands = append(c.Operands, &fr.slots[ins.in[h.skip+i]].t)
		}
		for i, f := range h.forward {
			switch {
			case f < 0:
				c.Results = append(c.Results, &results[i].t)
			case inout:
				c.Results = append(c.Results, &results[i].t)
				c.Operands[f] = &results[i].t
			}
		}
		if firesAlone(m, h.at) {
			if err := deliver(m, h.bound, c); err != nil {
				return err
			}
			m.run.seq++
		} else if err := fireOnce(m, ins, h.at, c.Results, func() error {
			err := deliver(m, h.bound, c)
			m.run.seq++
			return err
		}); err != nil {
			return err
		}
	} else if firesAlone(m, h.at) || m.run.partition == h.at.device {
		m.run.seq++
	}
	if h.skip == 1 {
		fr.slots[ins.out[0]] = m.take(fr, ins, 0)
	}
	for i, b := range results {
		fr.slots[ins.out[h.skip+i]] = b
	}
	m.dropRefs(nout)
	return nil
}

// deliver calls the handlers of a hook. If there is a timeout, deliver returns an error when it expires.
func deliver(m *machine, b *runtime.Bound, c *runtime.Call) error {
	if err := m.world.stopped(); err != nil {
		return err
	}
	m.watch.ask()
	defer m.watch.answered()
	timeout := m.prog.timeout
	if timeout <= 0 {
		return runtime.Deliver(m.ctx, b, c)
	}
	done := make(chan error, 1)
	runtime.DeliverWithin(m.ctx, timeout, b, c, nil, func(err error) { done <- err })
	return <-done
}
