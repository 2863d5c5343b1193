package interp

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/hlocb/hlocb/dialect/interpreter"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Host ops as written: outfeed, infeed, send, recv. In a world that interpreter.run_parallel made, infeed reads
// its queue, outfeed is dropped, send and recv are channels. Else each is a hook of its own, delivered to the
// handlers bound to its name: an outfeed and a send to the host is a tap, an infeed and a recv a feed.

// dataOf returns the positions of what is no token.
func dataOf(types []vtype) (at []int, data []vtype) {
	for i, t := range types {
		if t.class != classToken {
			at = append(at, i)
			data = append(data, t)
		}
	}
	return at, data
}

func hostTypes(types []vtype) ([]hook.TensorType, error) {
	var out []hook.TensorType
	for _, t := range types {
		if t.class != classTensor || t.dynamic() || t.quant != nil {
			return nil, fmt.Errorf("cannot hand a value of type %s to the host", t)
		}
		out = append(out, hook.TensorType{DType: t.dt, Shape: t.shape})
	}
	return out, nil
}

// hostSite makes the site of a host op that no pass made a hook of, and binds it. It returns nil where the manifest says
// which hook the op is part of.
func (p *planner) hostSite(s *spec, kind hook.Kind, format, name string) (*runtime.Bound, error) {
	prog := p.prog
	if prog.hooks.asWritten {
		return nil, nil
	}
	site := hook.Site{Name: name, Kind: kind, Format: format, SideEffect: true}
	if name == "" {
		site.Name = fmt.Sprintf("hook%d", prog.hooks.unnamed)
		prog.hooks.unnamed++
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d", p.fn.name, format, site.Name, len(prog.hooks.bound))
	site.ID = hook.ID(h.Sum64())
	_, in := dataOf(s.in)
	_, out := dataOf(s.out)
	var err error
	if site.Operands, err = hostTypes(in); err != nil {
		return nil, err
	}
	if site.Results, err = hostTypes(out); err != nil {
		return nil, err
	}
	return prog.hooks.bindOne(site)
}

// bindOne binds a site that is in no manifest. An *UnboundError is kept for when the op executes: in a world of
// run_parallel it never asks a handler.
func (t *hookTable) bindOne(site hook.Site) (*runtime.Bound, error) {
	bound, err := t.handlers.Bind(&hook.Manifest{Sites: []hook.Site{site}})
	var unbound *runtime.UnboundError
	if errors.As(err, &unbound) {
		b := &runtime.Bound{Site: &site}
		t.bound[site.ID] = b
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	t.bound[site.ID] = &bound[0]
	return &bound[0], nil
}

// deliverHost hands values to the handlers of a host op.
func (m *machine) deliverHost(b *runtime.Bound, operands, results []*tensor.Tensor) error {
	if b.Answer == nil && b.Site.Kind == hook.Feed {
		return &runtime.UnboundError{Site: b.Site}
	}
	c := runtime.Call{Site: b.Site, Run: m.run.run, Seq: m.run.seq, Device: m.run.device, Replica: m.run.replica, Partition: m.run.partition,
		Operands: operands, Results: results}
	if err := m.deliver(b, &c); err != nil {
		return err
	}
	m.run.seq++
	return nil
}

// deliverOnce is deliverHost on the device that the op is on.
func (m *machine) deliverOnce(ins *instr, b *runtime.Bound, operands, results []*tensor.Tensor) error {
	return m.once(ins, firesOn(m.prog.module, ins.op), results, func() error { return m.deliverHost(b, operands, results) })
}

// planOutfeed compiles outfeed (spec, "outfeed").
func planOutfeed(p *planner, s *spec) (control, error) {
	bound, err := p.hostSite(s, hook.Tap, "raw-outfeed", stringAttr(s.op, stablehlo.AttrOutfeedConfig))
	if err != nil {
		return nil, err
	}
	at, _ := dataOf(s.in)
	return p.planWritten(s, func(m *machine, fr *frame, ins *instr) error {
		if m.world == nil || !m.world.nested {
			operands := make([]*tensor.Tensor, len(at))
			for i, k := range at {
				operands[i] = &fr.slots[ins.in[k]].t
			}
			if err := m.deliverOnce(ins, bound, operands, nil); err != nil {
				return err
			}
		}
		fr.slots[ins.out[0]] = m.token()
		return nil
	}), nil
}

// planInfeed compiles infeed (spec, "infeed").
func planInfeed(p *planner, s *spec) (control, error) {
	bound, err := p.hostSite(s, hook.Feed, "raw-infeed", stringAttr(s.op, stablehlo.AttrInfeedConfig))
	if err != nil {
		return nil, err
	}
	return p.planWritten(s, planReceive(s, bound, func(m *machine, n int) ([]*tensor.Tensor, error) { return m.world.nextInfeed() })), nil
}

// planReceive compiles ops that give values from outside: from in a nested world or where there is no host in it, else the
// handler's. Where from gives nothing, the values are zeros.
func planReceive(s *spec, bound *runtime.Bound, from func(m *machine, n int) ([]*tensor.Tensor, error)) control {
	at, types := dataOf(s.out)
	return func(m *machine, fr *frame, ins *instr) error {
		results := make([]*tensor.Tensor, len(at))
		for i, t := range types {
			b, err := m.alloc(t.dt, t.shape, t.n)
			if err != nil {
				return err
			}
			t.zero(&b.t)
			fr.slots[ins.out[at[i]]] = b
			results[i] = &b.t
		}
		for i, t := range s.out {
			if t.class == classToken {
				fr.slots[ins.out[i]] = m.token()
			}
		}
		if bound != nil && (m.world == nil || !m.world.nested) {
			return m.deliverOnce(ins, bound, nil, results)
		}
		item, err := from(m, len(results))
		if err != nil || item == nil {
			return err
		}
		if len(item) != len(results) {
			return fmt.Errorf("gets %d values for %d results", len(item), len(results))
		}
		for i, t := range item {
			if t.DType() != types[i].dt || !t.Shape().Equal(types[i].shape) {
				return fmt.Errorf("gets a value of type %s for a result of type %s", typeOfTensor(t), types[i])
			}
			copy(results[i].Bytes(), t.Bytes())
		}
		return nil
	}
}

// planSend compiles send (spec, "send").
func planSend(p *planner, s *spec) (control, error) {
	t, err := transferOf(s.op)
	if err != nil {
		return nil, err
	}
	at, _ := dataOf(s.in)
	var bound *runtime.Bound
	if !t.device {
		if bound, err = p.hostSite(s, hook.Tap, "send", transferName(s.op)); err != nil {
			return nil, err
		}
	}
	return p.planTransfer(t, s, func(m *machine, fr *frame, ins *instr) error {
		operands := make([]*tensor.Tensor, len(at))
		for i, k := range at {
			operands[i] = &fr.slots[ins.in[k]].t
		}
		switch {
		case m.world != nil && (m.world.nested || t.device):
			for _, to := range t.targets(m) {
				if err := m.world.send(m, channelKey{t.channel, to}, operands); err != nil {
					return err
				}
			}
		case t.device:
			return errStuck // there is no other device
		default:
			if err := m.deliverOnce(ins, bound, operands, nil); err != nil {
				return err
			}
		}
		fr.slots[ins.out[0]] = m.token()
		return nil
	}), nil
}

// planRecv compiles recv (spec, "recv"). Who is nobody's target gets zeros, as of collective_permute.
func planRecv(p *planner, s *spec) (control, error) {
	t, err := transferOf(s.op)
	if err != nil {
		return nil, err
	}
	var bound *runtime.Bound
	if !t.device {
		if bound, err = p.hostSite(s, hook.Feed, "recv", transferName(s.op)); err != nil {
			return nil, err
		}
	}
	return p.planTransfer(t, s, planReceive(s, bound, func(m *machine, n int) ([]*tensor.Tensor, error) {
		if m.world == nil {
			return nil, errStuck
		}
		from, ok := t.source(m)
		if !ok {
			return nil, nil
		}
		return m.world.recv(m, from, n)
	})), nil
}

// planTransfer compiles a send or recv: one with the host is a hook as written.
func (p *planner) planTransfer(t *transfer, s *spec, c control) control {
	if t.device {
		return c
	}
	return p.planWritten(s, c)
}

// transfer is where a send or recv leads.
type transfer struct {
	channel int64
	device  bool      // to or from another device, not the host
	pairs   [][]int64 // source and target; nil leaves it to the channel
}

func transferOf(op *ir.Op) (*transfer, error) {
	t := &transfer{channel: channelOf(op)}
	if d, ok := op.Attr(stablehlo.AttrChannelHandle).(*ir.DialectAttr); ok && !boolAttr(op, stablehlo.AttrIsHostTransfer, false) {
		c, ok := d.Data().(*stablehlo.ChannelHandle)
		t.device = ok && c.Type == stablehlo.ChannelDeviceToDevice
	}
	if op.Attr(stablehlo.AttrSourceTargetPairs) == nil {
		return t, nil
	}
	var err error
	if t.pairs, err = groupsAttr(op, stablehlo.AttrSourceTargetPairs); err != nil {
		return nil, err
	}
	for _, p := range t.pairs {
		if len(p) != 2 {
			return nil, errors.New("expects source_target_pairs of two processes each")
		}
	}
	return t, nil
}

// self returns the number of this device among those that source_target_pairs names, and what to add to a number for
// the process: partitions of the same replica where there are several, else replicas.
func (t *transfer) self(m *machine) (self int64, base int) {
	if m.world.partitions > 1 {
		return int64(m.run.partition), m.run.replica * m.world.partitions
	}
	return int64(m.run.replica), 0
}

// targets returns the receivers of what this device sends.
func (t *transfer) targets(m *machine) []int {
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

// source returns the channel that this device receives from, false where nobody sends to it.
func (t *transfer) source(m *machine) (channelKey, bool) {
	if t.pairs == nil {
		return channelKey{t.channel, -1}, true
	}
	self, base := t.self(m)
	for _, p := range t.pairs {
		if p[1] == self {
			return channelKey{t.channel, base + int(self)}, true
		}
	}
	return channelKey{}, false
}

// transferName is the rendezvous name of a host transfer, "" where it has none.
func transferName(op *ir.Op) string {
	d, _ := op.Attr("mhlo.frontend_attributes").(*ir.DictAttr)
	if s, ok := d.Get("_xla_host_transfer_rendezvous").(*ir.StringAttr); ok {
		return s.Value()
	}
	return ""
}

// planRunParallel compiles interpreter.run_parallel: a grid of functions, one device each.
func planRunParallel(p *planner, s *spec) (control, error) {
	rows, _ := s.op.Attr(interpreter.AttrPrograms).(*ir.ArrayAttr)
	if rows == nil || len(rows.Elems()) == 0 {
		return nil, errors.New("has no programs")
	}
	var funcs []*function
	width := 0
	for _, row := range rows.Elems() {
		r, ok := row.(*ir.ArrayAttr)
		if !ok || width > 0 && len(r.Elems()) != width || len(r.Elems()) == 0 {
			return nil, errors.New("has programs that are no grid")
		}
		width = len(r.Elems())
		for _, e := range r.Elems() {
			ref, ok := e.(*ir.SymbolRefAttr)
			if !ok {
				return nil, errors.New("has programs that are no functions")
			}
			f, err := p.prog.function(ref.Root(), s.op)
			if err != nil {
				return nil, err
			}
			funcs = append(funcs, f)
		}
	}
	var feeds []*function
	if list, ok := s.op.Attr(interpreter.AttrInfeed).(*ir.ArrayAttr); ok {
		for _, e := range list.Elems() {
			ref, ok := e.(*ir.SymbolRefAttr)
			if !ok {
				return nil, errors.New("has an infeed that is no function")
			}
			f, err := p.prog.function(ref.Root(), s.op)
			if err != nil {
				return nil, err
			}
			if len(f.args) != 0 {
				return nil, fmt.Errorf("has infeed '%s', which takes arguments", f.name)
			}
			feeds = append(feeds, f)
		}
	}
	nin, nout := 0, 0
	for _, f := range funcs {
		nin += len(f.args)
		nout += len(f.results)
	}
	if nin != len(s.in) || nout != len(s.out) {
		return nil, fmt.Errorf("has %d operands and %d results for programs of %d and %d", len(s.in), len(s.out), nin, nout)
	}
	return func(m *machine, fr *frame, ins *instr) error {
		w := newWorld(len(funcs)/width, width)
		w.nested = true
		for _, f := range feeds {
			out, err := m.sub(w, 0).values(f, nil)
			if err != nil {
				return err
			}
			var item []*tensor.Tensor
			for i, b := range out {
				if f.results[i].class == classTensor {
					item = append(item, &b.t)
				}
			}
			w.infeed = append(w.infeed, item)
		}
		in, at := make([][]*buf, len(funcs)), 0
		for d, f := range funcs {
			for range f.args {
				b := fr.slots[ins.in[at]]
				if b != m.token() {
					b = &buf{t: b.t, refs: 1, fixed: true}
				}
				in[d] = append(in[d], b)
				at++
			}
		}
		results := make([][]*buf, len(funcs))
		errs := make([]error, len(funcs))
		var wg sync.WaitGroup
		for d, f := range funcs {
			wg.Add(1)
			go func() {
				defer wg.Done()
				results[d], errs[d] = m.sub(w, d).values(f, in[d])
				w.leave(errs[d])
			}()
		}
		wg.Wait()
		if err := firstCause(errs); err != nil {
			return err
		}
		at = 0
		for _, r := range results {
			for _, b := range r {
				if b != m.token() {
					c := &buf{refs: 1}
					c.t = *b.t.Clone()
					b = c
				}
				fr.slots[ins.out[at]] = b
				at++
			}
		}
		return nil
	}, nil
}

// firstCause returns the error of the first device that failed by itself; what the others say follows from it.
func firstCause(errs []error) error {
	var stuck error
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !errors.Is(err, errStuck) {
			return err
		}
		if stuck == nil {
			stuck = err
		}
	}
	return stuck
}

// sub returns the machine of device d of a world.
func (m *machine) sub(w *world, d int) *machine {
	s := newMachine(m.prog)
	s.ctx, s.world = m.ctx, w
	s.watch, s.first = m.watch, m.first && d == 0
	s.run = runState{run: m.run.run, device: d, replica: d / w.partitions, partition: d % w.partitions}
	return s
}

// values executes a function and returns what it gives. A panic of a kernel becomes an error.
func (m *machine) values(f *function, args []*buf) (out []*buf, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = m.internal(v)
		}
	}()
	fr, err := m.enter(f)
	if err != nil {
		return nil, err
	}
	for i, s := range f.body.args {
		fr.slots[s] = args[i]
	}
	out = make([]*buf, len(f.results))
	if err := m.block(fr, f.body, out); err != nil {
		return nil, err
	}
	m.leave(f, fr)
	return out, nil
}

// planComposite compiles composite (spec, "composite") as a call of its decomposition.
func planComposite(p *planner, s *spec) (control, error) {
	return planCallTo(p, s, stringAttr(s.op, stablehlo.AttrDecomposition))
}

// planRegionCall compiles ops that execute their region once with their operands as arguments:
// sdy.named_computation, async_start.
func planRegionCall(p *planner, s *spec) (control, error) {
	body, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	if len(body.args) != len(s.in) || len(body.ret) != len(s.out) {
		return nil, errors.New("has a region that does not fit its operands and results")
	}
	n := len(s.out)
	return func(m *machine, fr *frame, ins *instr) error {
		for i, a := range body.args {
			fr.slots[a] = m.take(fr, ins, i)
		}
		out := m.refs(n)
		if err := m.block(fr, body, out); err != nil {
			return err
		}
		for i, b := range out {
			fr.slots[ins.out[i]] = b
		}
		m.dropRefs(n)
		return nil
	}, nil
}
