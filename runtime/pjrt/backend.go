//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hlocb/hlocb/runtime"
)

// Options configure Open.
type Options struct {
	// Name is the result of Backend.Name; empty is the plugin's platform.
	Name string
	// Devices is the number of devices of a CPU client. 0 means the plugin's default, or more if a program needs
	// more.
	Devices int
	// Client are options of the client by name, such as preallocate or memory_fraction of a GPU's plugin. Values are of
	// type string, bool, int64, []int64 or float32.
	Client map[string]any
	// Probe finds the layout of handler registration for plugins whose version does not determine it. Without Probe
	// such plugins cannot call hooks.
	Probe Probe
	// Targets returns the function that computes a custom-call target, or nil if the plugin or another library computes
	// it. An error refuses the program. Targets may be nil.
	Targets func(name string) (Target, error)
	// EndRuns says that CompileOptions.Timeout also limits the time between two hooks. A run that takes longer is given
	// up, and the backend is lost.
	EndRuns bool
	// Trim returns the memory that XLA freed while it compiled to the system, for the whole process. It is for commands:
	// glibc keeps the memory otherwise, nearly 2 GB for a large program, and a server may not want to wait.
	Trim bool
	// Warn receives the message of a run that waits for the handler of another run for seconds. nil is slog.Warn.
	Warn func(message string)
}

// Backend executes programs on one plugin. It implements runtime.Backend.
//
// It is open, lost or closed. A backend is lost after a run that could not be stopped: the program still occupies the
// devices. A lost backend runs nothing, releases nothing that the program may use, and nothing waits for it.
type Backend struct {
	plugin *Plugin
	name   string
	opts   Options
	delays delays

	// mu guards the fields below and the states of the executables. changed is the one condition for all of them.
	mu          sync.Mutex
	changed     sync.Cond
	closed      bool
	lost        error         // why the backend runs nothing more
	gone        chan struct{} // closed when the backend is lost
	clients     map[clientKey]*Client
	executables map[*Executable]struct{} // not closed, or closed and still held by abandoned runs
	buffers     int                      // open buffers
	abandoned   int                      // runs whose caller has returned
	users       int                      // calls of enter without leave
	spare       int                      // attempts and buffers on spare clients
}

// delays are the times after which a backend acts. Tests change them.
type delays struct {
	attempt time.Duration // a reentrant run that waits for another run's handler starts on the spare client
	notice  time.Duration // a run that waits for another run's handler says so
	idle    time.Duration // an unused spare client is destroyed
	grace   time.Duration // a cancelled run that has not reached its next hook is given up
}

var defaultDelays = delays{attempt: 50 * time.Millisecond, notice: 5 * time.Second, idle: 10 * time.Second, grace: time.Second}

// clientKey identifies a client of a backend. A handler that runs a program must not use the client whose program
// called it: if XLA executes that program concurrently, the handler would wait forever. Each level of nesting
// therefore has a separate client. The spare client serves second attempts of reentrant runs of all levels.
type clientKey struct {
	level   int
	devices int // 0: the default
	spare   bool
}

// Open loads a plugin and creates its first client, to check that the plugin works.
func Open(path string, opts Options) (*Backend, error) {
	p, err := Load(path)
	if err != nil {
		return nil, err
	}
	b := &Backend{plugin: p, name: opts.Name, opts: opts, delays: defaultDelays, gone: make(chan struct{}),
		clients: map[clientKey]*Client{}, executables: map[*Executable]struct{}{}}
	b.changed.L = &b.mu
	c, err := b.client(clientKey{}, 1)
	if err != nil {
		return nil, &LoadError{path, err.Error()}
	}
	if b.name == "" {
		b.name = c.platform
	}
	return b, nil
}

// Name implements runtime.Backend.
func (b *Backend) Name() string { return b.name }

// Plugin returns the backend's plugin.
func (b *Backend) Plugin() *Plugin { return b.plugin }

// Describe implements runtime.Backend.
func (b *Backend) Describe() string {
	major, minor := b.plugin.Version()
	c, err := b.client(clientKey{}, 1)
	if err != nil {
		return fmt.Sprintf("%s: closed", b.name)
	}
	n := "1 device"
	if len(c.devices) != 1 {
		n = fmt.Sprintf("%d devices", len(c.devices))
	}
	return fmt.Sprintf("%s: %s, PJRT API %d.%d, platform %s, %s", b.name, b.plugin.path, major, minor, c.platform, n)
}

// errClosed is the error of a closed backend.
var errClosed = errors.New("the backend is closed")

// client returns the client of a key with at least the given number of devices. It creates the client if necessary.
func (b *Backend) client(key clientKey, devices int) (*Client, error) {
	return b.clientWith(key, devices, nil)
}

// clientWith returns the client of a key with at least the given number of devices, and with devices of the given
// ordinals.
func (b *Backend) clientWith(key clientKey, devices int, ordinals []int) (*Client, error) {
	key.devices = b.opts.Devices
	c, err := b.clientOf(key)
	if err != nil {
		return nil, err
	}
	fits := func() error {
		for _, n := range ordinals {
			if _, err := c.device(n); err != nil {
				return &NoDeviceError{b.name, n, len(c.devices)}
			}
		}
		if len(c.devices) < devices {
			return fmt.Errorf("the program needs %d devices, %s has %d", devices, b.name, len(c.devices))
		}
		return nil
	}
	err = fits()
	if err == nil || b.opts.Devices != 0 || c.platform != "cpu" {
		return c, err
	}
	key.devices = max(devices, slices.Max(append([]int{0}, ordinals...))+1)
	if c, err = b.clientOf(key); err != nil {
		return nil, err
	}
	return c, fits()
}

// NoDeviceError says that a backend has no device of an ordinal.
type NoDeviceError struct {
	Backend        string
	Ordinal, Count int
}

func (e *NoDeviceError) Error() string {
	return fmt.Sprintf("%s has no device %d: it has %d", e.Backend, e.Ordinal, e.Count)
}

// clientOf returns the client of exactly this key. It creates a client without the lock, which can take seconds.
func (b *Backend) clientOf(key clientKey) (*Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	creating := func() bool {
		c, found := b.clients[key]
		return found && c == nil && !b.closed
	}
	if err := b.wait(context.Background(), creating); err != nil {
		return nil, err
	}
	if b.closed {
		return nil, errClosed
	}
	if c := b.clients[key]; c != nil {
		return c, nil
	}
	b.clients[key] = nil
	b.mu.Unlock()
	c, err := b.plugin.newClient(key.devices, b.opts.Client)
	b.mu.Lock()
	delete(b.clients, key)
	b.changed.Broadcast()
	if err != nil {
		return nil, err
	}
	if b.closed {
		return nil, errors.Join(errClosed, c.Close())
	}
	c.spare, c.trim = key.spare, b.opts.Trim
	b.clients[key] = c
	return c, nil
}

// wait waits while blocked reports true, or until ctx ends. The caller holds b.mu.
func (b *Backend) wait(ctx context.Context, blocked func() bool) error {
	if !blocked() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer stop()
	for blocked() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.changed.Wait()
	}
	return nil
}

// lose marks the backend as lost, unless it is already. It returns the reason.
func (b *Backend) lose(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == nil {
		b.lost = err
		close(b.gone)
		b.changed.Broadcast()
	}
	return b.lost
}

// usable returns why the backend runs nothing more, or nil.
func (b *Backend) usable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	return b.lost
}

// useSpare counts attempts and buffers on spare clients. An unused spare client is destroyed after a while. The caller
// holds b.mu.
func (b *Backend) useSpare(n int) {
	if b.spare += n; b.spare == 0 {
		time.AfterFunc(b.delays.idle, b.freeSpare)
	}
}

// freeSpare destroys the spare clients with the programs on them, if nothing uses them.
func (b *Backend) freeSpare() {
	b.mu.Lock()
	if b.spare > 0 || b.lost != nil || b.closed {
		b.mu.Unlock()
		return
	}
	var programs []*loadedProgram
	for e := range b.executables {
		for key, l := range e.programs {
			if key.spare {
				programs = append(programs, l)
				delete(e.programs, key)
			}
		}
	}
	var clients []*Client
	for key, c := range b.clients {
		if key.spare {
			clients = append(clients, c)
			delete(b.clients, key)
		}
	}
	b.mu.Unlock()
	for _, l := range programs {
		l.destroy()
	}
	for _, c := range clients {
		_ = c.Close()
	}
}

// Stats implements runtime.Backend.
func (b *Backend) Stats() runtime.Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s runtime.Stats
	for e := range b.executables {
		s.Runs += e.runs
	}
	for _, c := range b.clients {
		if c != nil {
			s.Clients++
			s.Waiting += c.waiting()
			if m, ok := c.memory.(cudaMemory); ok {
				s.Pinned = m.Pinned() // of all clients
			}
		}
	}
	return s
}

// Close implements runtime.Backend. Abandoned runs get a second to end; if they do not, their clients stay. Calls that
// are in progress end with an error or are refused later, and the clients live as long.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), b.delays.grace)
	defer cancel()
	late := b.wait(ctx, func() bool { return b.abandoned > 0 && b.lost == nil && !b.closed })
	if b.closed {
		return nil
	}
	if b.lost != nil || late != nil {
		b.closed = true // the clients are still busy; destroying them would crash the process
		b.changed.Broadcast()
		return nil
	}
	if n := len(b.executables); n > 0 {
		return fmt.Errorf("%d executables of backend %s are not closed", n, b.name)
	}
	if b.buffers > 0 {
		return fmt.Errorf("%d buffers of backend %s are not closed", b.buffers, b.name)
	}
	b.closed = true
	b.changed.Broadcast()
	if b.users > 0 {
		return nil // the last of them closes the clients
	}
	return b.closeClients()
}

// closeClients closes the clients. The caller holds b.mu.
func (b *Backend) closeClients() error {
	var errs []error
	for _, c := range b.clients {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// enter announces a call that uses clients and has no executable or buffer yet. Until it leaves, Close keeps the
// clients: a caller may give a compilation up and close the backend while it goes on.
func (b *Backend) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	b.users++
	return nil
}

func (b *Backend) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users--
	if b.closed && b.lost == nil && b.users+b.abandoned+b.buffers+len(b.executables) == 0 {
		_ = b.closeClients()
	}
}

var _ runtime.Backend = (*Backend)(nil)

// levelKey marks a handler's context with the level for the programs that the handler runs.
type levelKey struct{}

// level returns the level of nesting for a run: from ctx if the handler passed its context on, and from the hook that
// the thread executes. It does not recognize a goroutine that serves a handler with another context; see watch.
func level(ctx context.Context) int {
	byContext, _ := ctx.Value(levelKey{}).(int)
	var run C.int64_t
	if !C.hl_current_run(&run) {
		return byContext
	}
	byThread := 1
	if s := find(int64(run)); s != nil {
		byThread = s.level + 1
	}
	return max(byContext, byThread)
}

// Client returns the client for programs that no handler started.
func (b *Backend) Client() (*Client, error) { return b.client(clientKey{}, 1) }
