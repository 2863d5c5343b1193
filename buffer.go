package hlocb

import (
	"context"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

type (
	// Buffer is a value that stays on the devices of a backend between runs. Close every buffer.
	Buffer = runtime.Buffer
	// Pending is a run that Executable.Start started.
	Pending = runtime.Pending
	// ExecuteOptions configure one run on buffers.
	ExecuteOptions = runtime.ExecuteOptions
)

// Put copies a value to the devices on which the program expects argument i, or lends it to them if the backend allows
// that. The value is an Array or a *Tensor; do not change it before the buffer and the buffers computed from it are
// closed. Executables of the same backend share buffers.
func (e *Executable) Put(ctx context.Context, i int, value any) (*Buffer, error) {
	if e.closed.Load() {
		return nil, errClosed
	}
	if i < 0 || i >= len(e.at) {
		return nil, fmt.Errorf("main has %d arguments, there is no argument %d", len(e.at), i)
	}
	t, err := asTensor(value, e.types[e.at[i]])
	if err != nil {
		return nil, fmt.Errorf("argument %d of main: %w", i, err)
	}
	return e.put(ctx, e.at[i], t)
}

func (e *Executable) put(ctx context.Context, i int, t *Tensor) (*Buffer, error) {
	var place runtime.Placement
	if args := e.exe.Signature().Arguments; i < len(args) {
		place = args[i].Place
	}
	return runtime.Put(ctx, e.exe.Signature().Backend, t, place)
}

// Execute runs the program once on buffers and leaves its results on the devices. It consumes the buffers of arguments
// that the program donates (tf.aliasing_output, jax.buffer_donor), or the buffers in opts. The caller closes the
// results.
func (e *Executable) Execute(ctx context.Context, args []*Buffer, opts ExecuteOptions) ([]*Buffer, error) {
	full, opts, free, err := e.withHiddenBuffers(ctx, args, opts)
	if err != nil {
		return nil, err
	}
	defer free()
	out, err := runtime.Execute(ctx, e.exe, full, opts)
	if err != nil {
		return nil, e.numbered(err)
	}
	return e.visibleBuffers(out), nil
}

// Start starts a run as Execute does and does not wait for its end, but it waits while many runs are in progress (see
// Ahead). Its results can be arguments of further runs. Close returns the errors of runs for which no caller waited.
func (e *Executable) Start(ctx context.Context, args []*Buffer, opts ExecuteOptions) (*Pending, error) {
	full, opts, free, err := e.withHiddenBuffers(ctx, args, opts)
	if err != nil {
		return nil, err
	}
	defer free() // the run holds them
	p, err := e.queue.Start(ctx, e.exe, full, opts)
	if err != nil {
		return nil, e.numbered(err)
	}
	p.Results = e.visibleBuffers(p.Results)
	return p, nil
}

// numbered lets an error about an argument count as Run counts.
func (e *Executable) numbered(err error) error {
	if a, ok := err.(*runtime.ArgumentError); ok {
		a.Index = slices.Index(e.at, a.Index)
	}
	return err
}

// withHiddenBuffers adds buffers of zeros for the hidden arguments, which free closes.
func (e *Executable) withHiddenBuffers(ctx context.Context, args []*Buffer, opts ExecuteOptions) ([]*Buffer, ExecuteOptions, func(), error) {
	if e.closed.Load() { // before the run consumes buffers
		return nil, opts, nil, errClosed
	}
	hidden := e.hidden()
	if hidden == nil {
		return args, opts, func() {}, nil
	}
	if err := e.checkCount(len(args)); err != nil {
		return nil, opts, nil, err
	}
	full := make([]*Buffer, len(e.types))
	for i, b := range args {
		full[e.at[i]] = b
	}
	opts.Donate = slices.Clone(opts.Donate)
	for k, i := range opts.Donate {
		if i < 0 || i >= len(e.at) {
			return nil, opts, nil, fmt.Errorf("argument %d cannot be donated: the program has %d arguments", i, len(e.at))
		}
		opts.Donate[k] = e.at[i]
	}
	free := func() {
		for _, i := range hidden {
			if full[i] != nil {
				full[i].Close()
			}
		}
	}
	for _, i := range hidden {
		var err error
		if full[i], err = e.put(ctx, i, tensor.New(e.types[i].DType, e.types[i].Shape)); err != nil {
			free()
			return nil, opts, nil, err
		}
	}
	return full, opts, free, nil
}

// visibleBuffers closes the hidden results.
func (e *Executable) visibleBuffers(all []*Buffer) []*Buffer {
	for _, i := range e.program.manifest.HiddenResults {
		if i < len(all) {
			all[i].Close()
		}
	}
	return entry.Visible(all, e.program.manifest.HiddenResults)
}
