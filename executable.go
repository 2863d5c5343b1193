package hlocb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// Types of handlers, arguments and results, from the packages that define them.
type (
	// Handler is host code that a hook calls.
	Handler = runtime.Handler
	// HandlerFunc is a function that is a Handler.
	HandlerFunc = runtime.HandlerFunc
	// Call is one arrival of a program at a hook.
	Call = runtime.Call
	// HookError says which hook ended a run, and why.
	HookError = runtime.HookError
	// TimeoutError says which hook did not return in time.
	TimeoutError = runtime.TimeoutError
	// Hook is one hook of a program.
	Hook = hook.Site
	// Type is an element type and a shape.
	Type = hook.TensorType
	// Tensor is an argument or a result: an element type, a shape and the elements in row-major order.
	Tensor = tensor.Tensor
	// Element is a Go type of elements.
	Element = tensor.Element
	// Array is a typed operand, argument or result: a shape and the elements in row-major order.
	Array[T Element] = runtime.Array[T]
)

// ArrayOf returns an array of a shape with the elements of data. Without a shape it is a vector.
func ArrayOf[T Element](data []T, shape ...int64) Array[T] { return runtime.ArrayOf(data, shape...) }

// Scalar returns an array of rank 0.
func Scalar[T Element](v T) Array[T] { return runtime.Scalar(v) }

// Func makes a handler from a function of the hook's one operand that returns the hook's one result.
func Func[A, R Element](f func(context.Context, Array[A]) (Array[R], error)) Handler {
	return runtime.Func(f)
}

// ObserverFunc makes a handler from a function of the hook's one operand.
func ObserverFunc[A Element](f func(context.Context, Array[A]) error) Handler {
	return runtime.ObserverFunc(f)
}

// HandlerOf makes a handler from a function of the hook's operands that returns the hook's results: Arrays, elements
// for values of rank 0, or Tensors. It may also accept a context first and return an error last. Without results it is
// an observer. Compile refuses a function that does not fit the hook.
func HandlerOf(f any) Handler { return runtime.HandlerOf(f) }

// As returns a result as an array that shares its memory. T must be the Go type of its elements, such as float32 for
// tensor<2xf32>.
func As[T Element](t *Tensor) (Array[T], error) { return runtime.AsArray[T](t) }

// An Executable is a compiled program with its handlers. Run may be called from several goroutines.
type Executable struct {
	program *Program
	exe     runtime.Executable
	backend runtime.Backend
	owned   bool   // backend is closed with the executable
	types   []Type // of main's arguments without tokens
	at      []int  // Run's arguments among them
	stale   error
	closed  atomic.Bool
	queue   runtime.Queue
}

var (
	errClosed  = errors.New("the executable is closed")
	errNoValue = errors.New("no value given")
)

// DefaultBackends returns the options with which Compile opens backends. It searches for plugins in the places that the
// process's environment names.
func DefaultBackends() backends.Options { return backends.Options{Plugins: plugins.System()} }

// OpenBackend opens the backend that name chooses for p. "auto" is the CPU plugin if one is installed and can run p,
// otherwise the embedded engine.
func (p *Program) OpenBackend(ctx context.Context, name string, opts backends.Options) (runtime.Backend, error) {
	if name == "" || name == "auto" {
		name = "auto"
		all, err := entry.Parameters(p.module)
		if err != nil {
			return nil, err
		}
		// Plugins accept static shapes only, and report nothing of hooks in other formats.
		if p.foreign() || slices.ContainsFunc(all, entry.IsDynamic) {
			name = backends.Engine
		}
	}
	return backends.Open(ctx, name, opts)
}

// Compile binds handlers and compiles the program. It fails with a *runtime.UnboundError if a hook needs an answer
// and no handler supplies it.
func (p *Program) Compile(ctx context.Context, opts ...CompileOption) (*Executable, error) {
	c := compileConfig{bindings: &runtime.Bindings{}}
	for _, o := range opts {
		o(&c)
	}
	if err := p.bindTaps(c.bindings); err != nil {
		return nil, err
	}
	c.runtime.Handlers = c.bindings
	if err := reader.CheckElided(p.module); err != nil {
		return nil, err
	}
	types, err := entry.Parameters(p.module)
	if err != nil {
		return nil, err
	}
	if _, err := c.bindings.Bind(p.manifest); err != nil {
		return nil, err
	}
	e := &Executable{program: p, types: types, at: entry.Visible(numbers(len(types)), p.manifest.HiddenArgs), backend: c.backend}
	e.queue.Ahead = c.ahead
	if e.backend == nil {
		opts := DefaultBackends()
		opts.Client = c.client
		if e.backend, err = p.OpenBackend(ctx, c.name, opts); err != nil {
			return nil, err
		}
		e.owned = true
	}
	if e.exe, err = e.compile(ctx, c.runtime); err != nil {
		if e.owned {
			err = errors.Join(err, e.backend.Close())
		}
		return nil, err
	}
	return e, nil
}

func (e *Executable) compile(ctx context.Context, opts runtime.CompileOptions) (runtime.Executable, error) {
	p := e.program
	if l, ok := e.backend.(runtime.Loader); ok && p.saved != nil {
		exe, err := l.Load(ctx, p.saved, opts)
		if !errors.As(err, new(*runtime.StaleError)) {
			return exe, err
		}
		e.stale = err
	}
	program := p.Runtime()
	if _, engine := e.backend.(*interp.Backend); !engine {
		f, err := fn.Entry(p.module)
		if err != nil {
			return nil, err
		}
		if f.Symbol() != "main" { // the only function; a plugin runs @main
			program.Module = p.module.Clone()
			only := fn.Funcs(program.Module)[0]
			only.SetAttr(ir.SymbolName, ir.NewString("main"))
			only.RemoveAttr(fn.AttrSymVisibility)
		}
		if p.foreign() {
			if program.Manifest, err = format.ManifestOf(p.module); err != nil {
				return nil, err
			}
		}
	}
	return e.backend.Compile(ctx, program, opts)
}

// Backend returns the backend that executes the program.
func (e *Executable) Backend() runtime.Backend { return e.backend }

// Recompiled returns why the machine code of a decoded program was not used and the program was compiled again, or nil.
func (e *Executable) Recompiled() error { return e.stale }

// Runtime returns the backend's own executable.
func (e *Executable) Runtime() runtime.Executable { return e.exe }

// Save returns the compiled program as a file for Decode. It fails if the backend does not compile to machine code.
func (e *Executable) Save() ([]byte, error) {
	s, ok := e.exe.(runtime.Saver)
	if !ok {
		return nil, fmt.Errorf("backend %s does not compile to machine code", e.backend.Name())
	}
	saved, err := s.Save()
	if err != nil {
		return nil, err
	}
	return saved.Encode()
}

// Run executes the program once and returns its results. An argument is an Array or a *Tensor of the type that
// Parameters returns. An error or a panic of a handler is a *HookError.
func (e *Executable) Run(ctx context.Context, args ...any) ([]*Tensor, error) {
	if err := e.checkCount(len(args)); err != nil {
		return nil, err
	}
	list := make([]*Tensor, len(args))
	for i, a := range args {
		var err error
		if list[i], err = asTensor(a, e.types[e.at[i]]); err != nil {
			return nil, fmt.Errorf("argument %d of main: %w", i, err)
		}
	}
	return e.RunTensors(ctx, list)
}

// checkCount refuses a run with n arguments if the program expects another number.
func (e *Executable) checkCount(n int) error {
	if n != len(e.at) {
		return fmt.Errorf("main has %d arguments, %d were given", len(e.at), n)
	}
	return nil
}

// asTensor returns an Array or a *Tensor as a tensor. An Array must have type t.
func asTensor(value any, t Type) (*Tensor, error) {
	switch v := value.(type) {
	case *Tensor:
		if v == nil {
			return nil, errNoValue
		}
		return v, nil
	case interface{ Tensor(Type) (*Tensor, error) }:
		return v.Tensor(t)
	}
	return nil, fmt.Errorf("value is a %T, expected an Array or a *Tensor", value)
}

// RunTensors is Run for arguments that are tensors already.
func (e *Executable) RunTensors(ctx context.Context, args []*Tensor) ([]*Tensor, error) {
	if err := e.checkCount(len(args)); err != nil {
		return nil, err
	}
	full := make([]*Tensor, len(e.types))
	for i, t := range args {
		want := e.types[e.at[i]]
		if t == nil {
			return nil, fmt.Errorf("argument %d of main: %w", i, errNoValue)
		}
		if got := hook.TypeOf(t); !got.Fits(want) {
			return nil, fmt.Errorf("argument %d of main: value is a %s, expected %s", i, got, want)
		}
		full[e.at[i]] = t
	}
	for _, i := range e.hidden() {
		full[i] = tensor.New(e.types[i].DType, e.types[i].Shape)
	}
	out, err := e.exe.Run(ctx, full)
	return entry.Visible(out, e.program.manifest.HiddenResults), err
}

// hidden returns the arguments that the program does not read. They get zeros.
func (e *Executable) hidden() []int {
	if len(e.at) == len(e.types) {
		return nil
	}
	return e.program.manifest.HiddenArgs
}

// Close ends the executable and the backend that Compile opened for it. It waits for runs, so a handler must not call
// it. It does not wait for handlers whose time is up. Close returns the errors of runs for which no caller waited, and
// an error if buffers of a backend that Compile opened are not closed.
func (e *Executable) Close() error {
	e.closed.Store(true)
	err := errors.Join(e.queue.Wait(), e.exe.Close())
	if e.owned {
		err = errors.Join(err, e.backend.Close())
	}
	return err
}

// numbers returns the numbers from 0 to n-1.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
