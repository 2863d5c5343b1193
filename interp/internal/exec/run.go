package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// RunState identifies one run on one device.
type RunState struct {
	Run       int64
	Seq       int64
	Device    int
	Replica   int
	Partition int
}

// Main executes the entry function. It is the only place that recovers from a kernel's panic.
func (m *Machine) Main(ctx context.Context, f *Function, args []*tensor.Tensor) (results []*tensor.Tensor, err error) {
	m.Ctx = ctx
	m.Probes, m.Held = nil, nil
	defer func() {
		if v := recover(); v != nil {
			err = m.internal(v)
		}
	}()
	if err := checkArgs(m.Prog.Module, f, args); err != nil {
		return nil, err
	}
	fr, err := m.Enter(f)
	if err != nil {
		return nil, err
	}
	next := 0
	for i, s := range f.Body.Args {
		if f.Args[i].Class == kernel.ClassToken {
			fr.Slots[s] = m.Token()
			continue
		}
		own := next < len(m.Donated) && m.Donated[next]
		if own {
			m.Watch.Memory.Held.Add(int64(len(args[next].Peek())))
		}
		fr.Slots[s] = &Buf{Tensor: *args[next], Refs: 1, Fixed: !own}
		next++
	}
	out := make([]*Buf, len(f.Results))
	if err := m.Block(fr, f.Body, out); err != nil {
		if m.at == nil { // stopped before it started
			return nil, Locate(m.Prog.Module, f.Op, err)
		}
		return nil, m.Locate(m.at, err)
	}
	m.Leave(f, fr)
	for _, st := range m.Held {
		st.Release(m)
	}
	for i, b := range out {
		results = m.Result(results, f.Results[i], b)
	}
	return results, nil
}

// internal turns a panic into an error at the op that was executing.
func (m *Machine) internal(v any) error {
	err := fmt.Errorf("internal error: %v", v)
	if m.at != nil {
		return m.Locate(m.at, err)
	}
	return err
}

// checkArgs compares the arguments with the function's argument types, skipping tokens.
func checkArgs(mod *ir.Module, f *Function, args []*tensor.Tensor) error {
	next := 0
	for _, t := range f.Args {
		if t.Class == kernel.ClassToken {
			continue
		}
		if t.Class != kernel.ClassTensor {
			return Locate(mod, f.Op, errors.New("has a tuple argument"))
		}
		if next >= len(args) {
			next++
			continue
		}
		a := args[next]
		if a.DType() != t.DType || !kernel.Fits(t, a.Shape()) {
			return fmt.Errorf("argument %d is tensor<%s%s>, but function @%s takes %s", next, mlirtext.AppendShape(nil, a.Shape()), a.DType(), f.Name, t)
		}
		next++
	}
	if next != len(args) {
		return fmt.Errorf("function @%s takes %d arguments, not %d", f.Name, next, len(args))
	}
	return nil
}

// Result appends the value of b to the results of the run. It flattens tuples, omits tokens, and copies payloads that
// have other references.
func (m *Machine) Result(out []*tensor.Tensor, t kernel.Type, b *Buf) []*tensor.Tensor {
	switch t.Class {
	case kernel.ClassToken:
		return out
	case kernel.ClassTuple:
		for i, e := range b.Elems {
			out = m.Result(out, t.Elems[i], e)
		}
		return out
	}
	if b.Writable() && b.base == nil {
		m.Watch.Memory.Held.Add(-int64(len(b.Tensor.Bytes())))
		return append(out, &b.Tensor)
	}
	c := b.Tensor.Clone()
	m.Release(b)
	return append(out, c)
}
