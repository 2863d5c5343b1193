package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/runtime"
)

// Sink writes events. Its methods are called one at a time; Flush of a sink with a method concurrent may run beside
// Write.
type Sink interface {
	Write(e *Event) error
	// Flush writes what Write has kept, such that a reader finds it.
	Flush() error
	Close() error
}

// Env is what sinks need of the process.
type Env struct {
	// Create opens a file for writing.
	Create func(name string) (io.WriteCloser, error)
	// Directory returns the path of a directory that the user named.
	Directory func(name string) string
	// Process names this process in the output.
	Process string
}

// The beginnings of the names of sinks that are not files.
const (
	tensorBoardPrefix = "tb:"
	tracePrefix       = "trace:"
	parquetSuffix     = ".parquet"
)

// IsRecord reports whether name is a file of JSON lines, which handlers.Record writes.
func IsRecord(name string) bool {
	return !strings.HasPrefix(name, tensorBoardPrefix) && !strings.HasPrefix(name, tracePrefix) && !strings.HasSuffix(name, parquetSuffix)
}

// File returns the file that the sink of a name writes, "" if it is a directory.
func File(name string) string {
	if strings.HasPrefix(name, tensorBoardPrefix) {
		return ""
	}
	return strings.TrimPrefix(name, tracePrefix)
}

// Open returns the sink of a name: tb:DIRECTORY, trace:FILE or FILE.parquet.
func Open(name string, env *Env) (Sink, error) {
	if dir, ok := strings.CutPrefix(name, tensorBoardPrefix); ok {
		if dir == "" {
			return nil, errors.New("expected tb:DIRECTORY")
		}
		return NewTensorBoard(env.Directory(dir), env.Process)
	}
	file := File(name)
	if file == "" {
		return nil, errors.New("expected trace:FILE")
	}
	w, err := env.Create(file)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(name, tracePrefix):
		return NewTrace(w, env.Process), nil
	case strings.HasSuffix(name, parquetSuffix):
		return NewParquet(w), nil
	}
	return nil, fmt.Errorf("%s names no sink", name)
}

// flushEvery is the time within which what an Observer got is written.
const flushEvery = time.Second

// Observer is a handler that observes hooks for a sink. It is safe for concurrent devices. It writes at least every
// second, so a process that is killed loses at most the events of a second.
type Observer struct {
	process string
	mu      sync.Mutex
	sink    Sink
	timed   bool // write an event after its handlers have returned
	sites   map[*hook.Site]*counted
	open    map[*runtime.Call]*Event // of a timed observer
	free    []*Event
	dirty   bool // a flush will follow
	closed  bool
	err     error // of a flush in the background
}

// counted is a hook with the number of its events, by device.
type counted struct {
	*Site
	steps map[int]int64
}

// NewObserver returns an observer of the hooks of one process. Close closes the sink.
func NewObserver(s Sink, process string) *Observer {
	o := &Observer{process: process, sink: s, sites: map[*hook.Site]*counted{}}
	if _, ok := s.(interface{ timed() }); ok {
		o.timed, o.open = true, map[*runtime.Call]*Event{}
	}
	return o
}

// flushLater flushes in the background.
func (o *Observer) flushLater() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dirty = false
	if o.closed || o.err != nil {
		return
	}
	if _, ok := o.sink.(interface{ concurrent() }); ok {
		o.mu.Unlock()
		err := o.sink.Flush()
		o.mu.Lock()
		o.err = cmp.Or(o.err, err)
		return
	}
	o.err = o.sink.Flush()
}

// Handle implements runtime.Handler.
func (o *Observer) Handle(_ context.Context, c *runtime.Call) error {
	if probe.Asks(c.Site) {
		return nil // the program has no such event
	}
	now := time.Now().UnixNano()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return errors.New("the file of events is closed")
	case o.err != nil:
		return o.err
	}
	e := o.event(c)
	e.Time = now
	if o.timed {
		for i := range e.Operands {
			e.Operands[i].Value = nil // not valid later
		}
		o.open[c] = e
		return nil
	}
	return o.write(e)
}

// write writes an event and keeps its memory for the next one.
func (o *Observer) write(e *Event) error {
	if !o.dirty {
		o.dirty = true
		time.AfterFunc(flushEvery, o.flushLater)
	}
	err := o.sink.Write(e)
	for i := range e.Operands {
		e.Operands[i].Value = nil
	}
	o.free = append(o.free, e)
	return err
}

// event fills in an event.
func (o *Observer) event(c *runtime.Call) *Event {
	site := o.sites[c.Site]
	if site == nil {
		site = &counted{siteOf(c.Site), map[int]int64{}}
		o.sites[c.Site] = site
	}
	e := new(Event)
	if n := len(o.free); n > 0 {
		e, o.free = o.free[n-1], o.free[:n-1]
	}
	*e = Event{Site: site.Site, Process: o.process, Run: c.Run, Seq: c.Seq, Step: site.steps[c.Device], Device: c.Device,
		Replica: c.Replica, Partition: c.Partition, Operands: e.Operands[:0]}
	site.steps[c.Device]++
	for _, t := range c.Operands {
		e.Operands = append(e.Operands, operandOf(site.Site, t))
	}
	return e
}

// Timed implements runtime.Timer.
func (o *Observer) Timed() bool { return o.timed }

// Returned implements runtime.Timer: it writes the event of a sink that needs the time in handlers.
func (o *Observer) Returned(c *runtime.Call, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.open[c]
	if e == nil || o.closed {
		return
	}
	delete(o.open, c)
	e.Took = int64(took)
	e.Time = time.Now().UnixNano() - e.Took
	if err := o.write(e); err != nil && o.err == nil {
		o.err = err
	}
}

// Flush writes what is kept.
func (o *Observer) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.err != nil {
		return o.err
	}
	return o.sink.Flush()
}

// Close flushes and closes the sink. The handler refuses later events.
func (o *Observer) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	return errors.Join(o.err, o.sink.Close())
}

// Events returns a handler that forwards the events of a program to h, without the questions of its probes.
func Events(h runtime.Handler) runtime.Handler { return &filtered{h} }

type filtered struct{ runtime.Handler }

// Handle implements runtime.Handler.
func (f *filtered) Handle(ctx context.Context, c *runtime.Call) error {
	if probe.Asks(c.Site) {
		return nil
	}
	return f.Handler.Handle(ctx, c)
}

// MemoryUse implements runtime.MemoryUser.
func (f *filtered) MemoryUse() runtime.MemoryUse { return runtime.UseOf(f.Handler) }
