package ops

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// The engine executes a program as written op by op. It stores the values of an outfeed, a send or a custom call until
// the hook has all its operands, then calls the hook's handler. Infeeds, receives and results get the answer.
// Attributes of the ops say which ops belong to a hook (hookop.Part).

// writtenHook is a hook made of several ops.
type writtenHook struct {
	site  *hookSite // nil if nothing depends on the hook
	parts int       // not counting repetitions
}

// writtenState is the progress of one device through a hook.
type writtenState struct {
	operands  []*exec.Buf
	results   []*exec.Buf
	done      int // executed parts
	delivered bool
}

// addParts counts the ops of each hook in a program as written.
func (t *Host) addParts(m *ir.Module) {
	if m == nil || !hookop.AsWritten(m) {
		return
	}
	t.asWritten = true
	t.written = map[hook.ID]*writtenHook{0: {}}
	m.Walk(func(op *ir.Op) bool {
		p, ok := hookop.PartOf(op)
		if !ok {
			return true
		}
		w := t.written[p.Hook]
		if w == nil {
			w = &writtenHook{}
			if b := t.bound[p.Hook]; b != nil {
				w.site = newHookSite(b)
			}
			t.written[p.Hook] = w
		}
		if !p.Repeat {
			w.parts++
		}
		return true
	})
}

// planWritten compiles an op of a hook as written. It returns raw if the program is not one as written or the op
// belongs to no hook. raw executes the op without a host, among the functions of interpreter.run_parallel.
func (t *Host) planWritten(p *plan.Planner, s *plan.Spec, raw exec.Runner) exec.Runner {
	if !t.asWritten {
		return raw
	}
	part, ok := hookop.PartOf(s.Op)
	if !ok && plan.OpKind(s.Op) != stablehlo.Outfeed { // every outfeed with data is part of a hook; other outfeeds end a stream
		return raw
	}
	w := t.written[part.Hook]
	operand := leafMap(part.Operands)
	result := leafMap(part.Results)
	place := firesOn(p.Prog.Symbols, s.Op)
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		if raw != nil && m.DeviceGroup != nil && m.DeviceGroup.Nested {
			raw(m, fr, ins)
			return
		}
		st := writtenStateOf(m, w)
		if w.site != nil && !part.Repeat {
			if st.done == 0 {
				st.reset(m, w.site.bound.Site())
			}
			for k, leaves := range operand {
				for _, l := range leaves {
					st.operands[l.Value] = exec.Retain(at(fr.Slots[ins.In[k]], l.Path))
				}
			}
			st.done++
			last := st.done == w.parts
			if !st.delivered && (last || len(part.Results) > 0) {
				deliverWritten(m, ins, w.site, place, st)
			}
			if last {
				st.done = 0
			}
		}
		for k, typ := range s.Out {
			fr.Slots[ins.Out[k]] = writtenResult(m, fr, ins, s, typ, result[k], nil, st, k)
		}
	}
}

func leafMap(list []hookop.Leaf) map[int][]hookop.Leaf {
	out := map[int][]hookop.Leaf{}
	for _, l := range list {
		out[l.At] = append(out[l.At], l)
	}
	return out
}

// at follows a path into nested tuples.
func at(b *exec.Buf, path []int) *exec.Buf {
	for _, i := range path {
		kernel.FailIf(i >= len(b.Elems), "has an operand that is not the tuple that it was when its hooks were read")
		b = b.Elems[i]
	}
	return b
}

func writtenStateOf(m *exec.Machine, w *writtenHook) *writtenState {
	if st, ok := m.Held[w]; ok {
		return st.(*writtenState)
	}
	st := &writtenState{}
	if m.Held == nil {
		m.Held = map[any]exec.Holder{}
	}
	m.Held[w] = st
	return st
}

// reset clears the hook's state, as before its first call.
func (st *writtenState) reset(m *exec.Machine, site *hook.Site) {
	st.Release(m)
	st.operands = make([]*exec.Buf, len(site.Operands))
	st.results = make([]*exec.Buf, len(site.Results))
	st.delivered = false
}

func (st *writtenState) Release(m *exec.Machine) {
	for _, list := range [...][]*exec.Buf{st.operands, st.results} {
		for _, b := range list {
			m.Release(b)
		}
	}
	st.operands, st.results = nil, nil
}

// deliverWritten calls the handler with the values that the parts have sent so far.
func deliverWritten(m *exec.Machine, ins *exec.Instr, h *hookSite, at place, st *writtenState) {
	site := h.bound.Site()
	for i, b := range st.operands {
		kernel.FailIf(b == nil, "asks for the results of hook %q before operand %d is sent", site.Name, i)
		if want := site.Operands[i]; b.Tensor.DType() != want.DType || !b.Tensor.Shape().Equal(want.Shape) {
			kernel.Fail(fmt.Errorf("sends %s as operand %d of hook %q, which is %s", kernel.TypeOfTensor(&b.Tensor), i, site.Name, want))
		}
	}
	for i, f := range h.forward {
		kernel.FailIf(f >= len(st.operands), "is of kind %s, but its result %d is none of its operands", site.Kind, i)
	}
	h.fire(m, ins, at, st.operands, st.results, make([]bool, len(st.operands)))
	st.delivered = true
}

// writtenResult makes a result of an op. The result is the hook's answer, a token, or otherwise the operand of type t,
// because formats use such results to keep their order.
func writtenResult(m *exec.Machine, fr *exec.Frame, ins *exec.Instr, s *plan.Spec, t kernel.Type, leaves []hookop.Leaf, path []int, st *writtenState, k int) *exec.Buf {
	switch t.Class {
	case kernel.ClassToken:
		return m.Token()
	case kernel.ClassTuple:
		b := m.NewView()
		b.Elems = make([]*exec.Buf, len(t.Elems))
		for i, e := range t.Elems {
			b.Elems[i] = writtenResult(m, fr, ins, s, e, leaves, append(path[:len(path):len(path)], i), st, k)
		}
		return b
	case kernel.ClassTensor:
	default:
		kernel.Fail(fmt.Errorf("has a result of type %s", t))
	}
	for _, l := range leaves {
		if slices.Equal(l.Path, path) && l.Value < len(st.results) && st.results[l.Value] != nil {
			return exec.Retain(st.results[l.Value])
		}
	}
	for i, o := range s.In {
		if o.Class == kernel.ClassTensor && o.DType == t.DType && o.Shape.Equal(t.Shape) && i == k {
			return exec.Retain(fr.Slots[ins.In[i]])
		}
	}
	kernel.FailIf(t.Dynamic(), "cannot get a value of type %s from the host", t)
	b := m.Alloc(t.DType, t.Shape, t.N)
	clear(b.Tensor.Bytes())
	return b
}
