package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/interp/internal/kernel"
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

// RunMain executes the entry function. If the program has an Allocator, the payloads of results and of donated
// arguments come from it. The results' payloads belong to the caller, the arguments' payloads to the machine from then
// on.
func (m *Machine) RunMain(ctx context.Context, f *Function, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	m.Ctx = ctx
	m.Probes, m.Held = nil, nil
	m.Own(args, m.Donated)
	in := make([]*Buf, len(f.Args))
	next := 0
	for i, t := range f.Args {
		switch {
		case t.Class == kernel.ClassToken:
			in[i] = m.Token()
			continue
		case t.Class != kernel.ClassTensor:
			return nil, Locate(m.Prog.Module, f.Op, errors.New("has a tuple argument"))
		case next < len(args):
			a := args[next]
			if a.DType() != t.DType || !kernel.Fits(t, a.Shape()) {
				return nil, fmt.Errorf("argument %d is tensor<%s%s>, but function @%s takes %s", next, mlirtext.AppendShape(nil, a.Shape()), a.DType(), f.Name, t)
			}
			own := next < len(m.Donated) && m.Donated[next]
			if own {
				m.Watch.Memory.Held.Add(int64(len(a.Peek())))
			}
			in[i] = &Buf{Tensor: *a, Refs: 1, Fixed: !own}
		}
		next++
	}
	if next != len(args) {
		return nil, fmt.Errorf("function @%s takes %d arguments, not %d", f.Name, next, len(args))
	}
	out, err := m.Invoke(f, in)
	if err != nil {
		return nil, err
	}
	for _, st := range m.Held {
		st.Release(m)
	}
	var results []*tensor.Tensor
	for i, b := range out {
		results = m.Result(results, f.Results[i], b)
	}
	m.trim()
	return results, nil
}

// Invoke executes a function and returns its results. The panic that ends a run, or of a kernel, becomes an error.
func (m *Machine) Invoke(f *Function, args []*Buf) (out []*Buf, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = m.Caught(v, f.Op)
		}
	}()
	fr := m.Enter(f, nil, nil)
	for i, s := range f.Body.Args {
		fr.Slots[s] = args[i]
	}
	out = make([]*Buf, len(f.Results))
	m.RunBlock(fr, f.Body, out)
	m.Leave(f, fr)
	return out, nil
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
	if !b.Writable() || b.base != nil || !m.disown(b.Tensor.Peek()) {
		from := b
		b = m.Alloc(from.Tensor.DType(), from.Tensor.Shape(), from.Tensor.NumElements())
		dst, src := b.Tensor.Bytes(), from.Tensor.Peek()
		kernel.Parallel(len(src), copyGrain, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
		m.disown(b.Tensor.Peek())
		m.Release(from)
	}
	m.Watch.Memory.Held.Add(-int64(len(b.Tensor.Bytes())))
	return append(out, &b.Tensor)
}

// copyGrain is the least part of a payload, in bytes, that a goroutine copies.
const copyGrain = 256 << 10
