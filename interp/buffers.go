package interp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// memory is a value in the host's memory. It implements runtime.Memory.
type memory struct {
	backend *Backend
	t       *tensor.Tensor
	lent    bool        // the caller's tensor, which is never overwritten
	maker   *Executable // reuses the payload once it is released; nil if it must not
}

// Upload lends the tensor to a buffer.
func (b *Backend) Upload(_ context.Context, t *tensor.Tensor, _ runtime.Placement) (runtime.Memory, error) {
	if b.closed.Load() {
		return nil, errClosed
	}
	b.buffers.Add(1)
	return &memory{backend: b, t: t, lent: true}, nil
}

func (m *memory) View(f func(*tensor.Tensor) error) error { return f(m.t) }

func (m *memory) Read() (*tensor.Tensor, error) { return m.t.Clone(), nil }

func (m *memory) Wait() error { return nil }

// Release implements runtime.Memory.
func (m *memory) Release() {
	if m.maker != nil && m.t != nil {
		if m.maker.opts.Memory != nil {
			m.maker.free(m.t)
		} else {
			m.maker.recycle(m.t)
		}
	}
	m.t = nil
	m.backend.buffers.Add(-1)
}

// Signature returns whole values on device 0: the engine partitions values itself.
func (e *Executable) Signature() *runtime.Signature { return e.signature() }

func (e *Executable) describe() *runtime.Signature {
	s := &runtime.Signature{Backend: e.backend, Arguments: []runtime.Value{}}
	f, _ := fn.AsFunc(e.entry.Op)
	for i, t := range e.entry.Args {
		if t.Class == kernel.ClassToken {
			continue
		}
		v := runtime.Value{Type: valueType(t)}
		_, v.Donor = f.Donation(i)
		s.Arguments = append(s.Arguments, v)
	}
	var add func(t kernel.Type)
	add = func(t kernel.Type) {
		switch t.Class {
		case kernel.ClassTensor:
			s.Results = append(s.Results, runtime.Value{Type: valueType(t)})
		case kernel.ClassTuple:
			for _, elem := range t.Elems {
				add(elem)
			}
		}
	}
	for _, t := range e.entry.Results {
		add(t)
	}
	return s
}

// valueType returns the type of a value. A value of unknown rank has the type Invalid with one dynamic dimension.
func valueType(t kernel.Type) hook.TensorType {
	if t.Shape == nil && t.N < 0 {
		return hook.TensorType{Shape: tensor.Shape{-1}}
	}
	return hook.TensorType{DType: t.DType, Shape: slices.Clone(t.Shape)}
}

// RunMemory implements runtime.Executable. A program on one device reuses the memory of donated arguments.
func (e *Executable) RunMemory(ctx context.Context, args []runtime.Memory, donated []bool) ([]runtime.Memory, error) {
	tensors, own := make([]*tensor.Tensor, len(args)), make([]bool, len(args))
	for i, a := range args {
		m := a.(*memory)
		tensors[i], own[i] = m.t, donated[i] && !m.lent
		if own[i] {
			m.maker = nil
		}
	}
	all, err := e.start(ctx, [][]*tensor.Tensor{tensors}, own, false)
	if err != nil {
		return nil, err
	}
	results := all[0]
	out := make([]runtime.Memory, len(results))
	for i, t := range results {
		out[i] = &memory{backend: e.backend, t: t, maker: e}
	}
	e.backend.buffers.Add(int64(len(out)))
	return out, nil
}

// RunOwned executes the program once, as Run does, if the backend has an Allocator. The payloads of the results come
// from it and belong to the caller, who frees them. A donated argument belongs to the program from then on, even if the
// run fails: its payload comes from the Allocator, and becomes a result's payload or is freed.
func (e *Executable) RunOwned(ctx context.Context, args []*tensor.Tensor, donated []bool) ([]*tensor.Tensor, error) {
	if e.opts.Memory == nil {
		return nil, errors.New("the engine has no allocator")
	}
	all, err := e.start(ctx, [][]*tensor.Tensor{args}, donated, false)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RunReplicas is RunOwned with arguments for each replica, and returns the results of each. No argument is donated.
func (e *Executable) RunReplicas(ctx context.Context, args [][]*tensor.Tensor) ([][]*tensor.Tensor, error) {
	if e.opts.Memory == nil {
		return nil, errors.New("the engine has no allocator")
	}
	if len(args) != e.replicas {
		return nil, fmt.Errorf("arguments for %d replicas, the program has %d", len(args), e.replicas)
	}
	return e.start(ctx, args, nil, true)
}

// discard frees donated arguments of a run that does not start.
func (e *Executable) discard(args []*tensor.Tensor, donated []bool) {
	for i, d := range donated {
		if d && e.opts.Memory != nil {
			e.free(args[i])
		}
	}
}

// free frees the payload of a result.
func (e *Executable) free(t *tensor.Tensor) {
	if b := t.Peek(); len(b) > 0 {
		e.opts.Memory.Free(b)
	}
}

// recycle keeps the payload of a result that nobody needs for the next run, if none is in progress.
func (e *Executable) recycle(t *tensor.Tensor) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.idle != nil {
		e.idle.Recycle(t)
	}
}
