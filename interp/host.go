package interp

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Host ops: outfeed, infeed, send, recv. Among the devices of interpreter.run_parallel, infeed reads the given queue,
// outfeed drops its values, and send and recv are channels. Elsewhere the host op must belong to a hook in the
// program's manifest: either a pass replaced the op, or attributes mark it (written.go).

// errNoHook is the error of a host op that does not belong to a hook.
var errNoHook = errors.New("talks to the host, but no hook of the program stands for it: convert or mark the module's hooks first")

// dataOf returns the positions and types of the values that are not tokens.
func dataOf(types []vtype) (at []int, data []vtype) {
	for i, t := range types {
		if t.class != classToken {
			at = append(at, i)
			data = append(data, t)
		}
	}
	return at, data
}

// planOutfeed compiles outfeed (spec, "outfeed").
func (h *host) planOutfeed(p *planner, s *spec) (control, error) {
	return h.planWritten(p, s, func(m *machine, fr *frame, ins *instr) error {
		if m.world == nil || !m.world.nested {
			return errNoHook
		}
		fr.slots[ins.out[0]] = m.token()
		return nil
	}), nil
}

// planInfeed compiles infeed (spec, "infeed").
func (h *host) planInfeed(p *planner, s *spec) (control, error) {
	return h.planWritten(p, s, planReceive(s, func(m *machine, n int) ([]*tensor.Tensor, error) {
		if m.world == nil || !m.world.nested {
			return nil, errNoHook
		}
		return m.world.nextInfeed()
	})), nil
}

// planReceive compiles an op that receives its results from another device or from a queue. If from returns no values,
// the results are zeros.
func planReceive(s *spec, from func(m *machine, n int) ([]*tensor.Tensor, error)) control {
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
func (h *host) planSend(p *planner, s *spec) (control, error) {
	t, err := transferOf(s.op)
	if err != nil {
		return nil, err
	}
	at, _ := dataOf(s.in)
	return h.planTransfer(p, t, s, func(m *machine, fr *frame, ins *instr) error {
		switch {
		case m.world != nil && (m.world.nested || t.device):
			operands := make([]*tensor.Tensor, len(at))
			for i, k := range at {
				operands[i] = &fr.slots[ins.in[k]].t
			}
			for _, to := range t.targets(m) {
				if err := m.world.send(m, channelKey{t.channel, to}, operands); err != nil {
					return err
				}
			}
		case t.device:
			return errStuck // there is no other device
		default:
			return errNoHook
		}
		fr.slots[ins.out[0]] = m.token()
		return nil
	}), nil
}

// planRecv compiles recv (spec, "recv"). A device without a source receives zeros, as in collective_permute.
func (h *host) planRecv(p *planner, s *spec) (control, error) {
	t, err := transferOf(s.op)
	if err != nil {
		return nil, err
	}
	return h.planTransfer(p, t, s, planReceive(s, func(m *machine, n int) ([]*tensor.Tensor, error) {
		switch {
		case !t.device && (m.world == nil || !m.world.nested):
			return nil, errNoHook
		case m.world == nil:
			return nil, errStuck
		}
		from, ok := t.source(m)
		if !ok {
			return nil, nil
		}
		return m.world.recv(m, from, n)
	})), nil
}

// planTransfer compiles a send or recv. A transfer to or from the host is a hook as written.
func (h *host) planTransfer(p *planner, t *transfer, s *spec, c control) control {
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

// self returns the number of this device in source_target_pairs and the offset to add to such a number to obtain a
// process. The numbers count the partitions of one replica if there are several partitions, else the replicas.
func (t *transfer) self(m *machine) (self int64, base int) {
	if m.world.partitions > 1 {
		return int64(m.run.partition), m.run.replica * m.world.partitions
	}
	return int64(m.run.replica), 0
}

// targets returns the processes that receive from this device.
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

// source returns the channel that this device receives from, or false if no device sends to it.
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

// planRunParallel compiles interpreter.run_parallel, which runs a grid of functions with one device each.
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
			out, err := callValues(subMachine(m, w, 0), f, nil)
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
				results[d], errs[d] = callValues(subMachine(m, w, d), f, in[d])
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

// firstCause returns the error of the first device that failed by itself. The other devices' errors follow from it.
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

// subMachine returns the machine of device d of a world.
func subMachine(m *machine, w *world, d int) *machine {
	s := newMachine(m.prog)
	s.ctx, s.world = m.ctx, w
	s.watch, s.first = m.watch, m.first && d == 0
	s.run = runState{run: m.run.run, device: d, replica: d / w.partitions, partition: d % w.partitions}
	return s
}

// callValues executes a function and returns its results. A panic of a kernel becomes an error.
func callValues(m *machine, f *function, args []*buf) (out []*buf, err error) {
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
