//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
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
	// Probe finds the layout of handler registration for plugins whose version does not determine it. Without Probe
	// such plugins cannot call hooks.
	Probe Probe
	// Targets returns the function that computes a custom-call target, or nil if the plugin or another library computes
	// it. An error refuses the program. Targets may be nil.
	Targets func(name string) (Target, error)
}

// Backend executes programs on one plugin. It implements runtime.Backend.
type Backend struct {
	plugin *Plugin
	name   string
	opts   Options

	attemptDelay time.Duration // see attempts

	mu          sync.Mutex
	closed      bool
	clients     map[clientKey]*Client
	executables int
	buffers     int       // open buffers
	late        int       // closed executables that abandoned attempts still hold
	released    sync.Cond // executables changed
	lost        error     // why the backend refuses further programs
}

// clientKey identifies a client of a backend. A handler that runs a program must not use the client whose program
// called it: if XLA executes that program concurrently, the handler would wait forever. Each level of nesting
// therefore has a separate client.
type clientKey struct {
	level   int
	devices int // 0: the default
}

// Open loads a plugin and creates its first client, to check that the plugin works.
func Open(path string, opts Options) (*Backend, error) {
	p, err := Load(path)
	if err != nil {
		return nil, err
	}
	b := &Backend{plugin: p, name: opts.Name, opts: opts, attemptDelay: attemptDelay, clients: map[clientKey]*Client{}}
	b.released.L = &b.mu
	c, err := b.client(0, 1)
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
	c, err := b.client(0, 1)
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

// client returns a client for a level of nesting with at least the given number of devices. It creates the client if
// necessary.
func (b *Backend) client(level, devices int) (*Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	key := clientKey{level, b.opts.Devices}
	c := b.clients[key]
	if c != nil && len(c.devices) >= devices {
		return c, nil
	}
	if c == nil {
		c, err := b.newClient(key)
		if err != nil || len(c.devices) >= devices {
			return c, err
		}
	}
	if c = b.clients[key]; b.opts.Devices != 0 || c.platform != "cpu" {
		return nil, fmt.Errorf("the program needs %d devices, %s has %d", devices, b.name, len(c.devices))
	}
	key.devices = devices
	if c := b.clients[key]; c != nil {
		return c, nil
	}
	return b.newClient(key)
}

func (b *Backend) newClient(key clientKey) (*Client, error) {
	c, err := b.plugin.NewClient(key.devices)
	if err != nil {
		return nil, err
	}
	b.clients[key] = c
	return c, nil
}

// Close implements runtime.Backend.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	if b.lost != nil {
		b.closed = true
		return nil // the clients are still busy; destroying them would crash the process
	}
	for b.executables > 0 && b.executables == b.late {
		b.released.Wait()
	}
	if b.executables > 0 {
		return fmt.Errorf("%d executables of backend %s are not closed", b.executables, b.name)
	}
	if b.buffers > 0 {
		return fmt.Errorf("%d buffers of backend %s are not closed", b.buffers, b.name)
	}
	b.closed = true
	var errs []error
	for _, c := range b.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

var _ runtime.Backend = (*Backend)(nil)

// levelKey marks a handler's context with the level for the programs that the handler runs.
type levelKey struct{}

// level returns the level of nesting for a run: from ctx if the handler passed its context on, and from the hook that
// the thread executes. It does not recognize a goroutine that serves a handler with another context; see attempts.
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
func (b *Backend) Client() (*Client, error) { return b.client(0, 1) }
