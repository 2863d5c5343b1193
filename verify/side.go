package verify

import (
	"context"
	"slices"
	"sync"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Side is one side of a comparison: a program and the backend that executes it.
type Side struct {
	Program *hlocb.Program
	Backend runtime.Backend
	Options []hlocb.CompileOption // bind the handlers that answer
}

// Event is one arrival at a hook, with copies of its operands.
type Event struct {
	Site     *hook.Site
	Device   int
	Seq      int64
	Operands []*tensor.Tensor
}

// Outcome is the results and events of one run.
type Outcome struct {
	Results []*tensor.Tensor
	Events  []Event // the events of one device are in the order of delivery
}

// Executable is a compiled side. Its runs record their events.
type Executable struct {
	exe *hlocb.Executable
	log *recorder
}

// recorder keeps copies of events. It is safe for concurrent devices.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) Handle(_ context.Context, c *runtime.Call) error {
	e := Event{Site: c.Site, Device: c.Device, Seq: c.Seq, Operands: make([]*tensor.Tensor, len(c.Operands))}
	for i, t := range c.Operands {
		e.Operands[i] = t.Clone()
		// The backend may reuse the memory of a view's shape.
		e.Operands[i] = e.Operands[i].Reshape(t.Shape().Clone())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// Compile compiles the side's program with a recorder of events.
func (s *Side) Compile(ctx context.Context) (*Executable, error) {
	log := &recorder{}
	exe, err := s.Program.Compile(ctx, append(slices.Clone(s.Options), hlocb.OnBackend(s.Backend), hlocb.Observe("*", log))...)
	if err != nil {
		return nil, err
	}
	return &Executable{exe, log}, nil
}

// Run executes the program once.
func (e *Executable) Run(ctx context.Context, args []*tensor.Tensor) (*Outcome, error) {
	e.log.mu.Lock()
	e.log.events = nil
	e.log.mu.Unlock()
	results, err := e.exe.RunTensors(ctx, args)
	if err != nil {
		return nil, err
	}
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	return &Outcome{results, e.log.events}, nil
}

// Close releases the executable.
func (e *Executable) Close() error { return e.exe.Close() }
