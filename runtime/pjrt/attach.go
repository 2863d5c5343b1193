//go:build cgo

package pjrt

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// attached holds the sessions of programs that somebody else executes, by the ids of their hooks: such runs
// carry no launch id, so the hook's own id must tell whose it is. Readers take the map without a lock.
var attached struct {
	mu   sync.Mutex
	byID atomic.Pointer[map[uint64]*session]
}

func findAttached(id uint64) *session {
	m := attached.byID.Load()
	if m == nil {
		return nil
	}
	return (*m)[id]
}

// Attachment delivers the hooks of a program that another binding of PJRT executes.
type Attachment struct {
	s      *session
	ids    []uint64
	detach sync.Once
}

// AttachOptions says how an attached program runs.
type AttachOptions struct {
	Handlers *runtime.Bindings
	Devices  int // how many devices one execution runs on; 0 is 1
	Ordinals int // how many devices there are to choose from; 0 is Devices
}

// Attach binds handlers to the hooks of a program that is compiled and executed by another binding of the same
// plugin, which must know the targets (RegisterHooks). Without a launch id two executions cannot be told apart,
// so all of an attachment's events have run 0 and one count of events per device ordinal, and a hook id can be
// attached once at a time in the process: detach before attaching the same program again.
func Attach(ctx context.Context, m *hook.Manifest, opts AttachOptions) (*Attachment, error) {
	bound, err := opts.Handlers.Bind(m)
	if err != nil {
		return nil, err
	}
	s := newSession(ctx, newSiteTable(bound), max(opts.Devices, opts.Ordinals, 1), 1)
	s.several = opts.Devices > 1
	a := &Attachment{s: s}
	for _, site := range s.sites.all {
		a.ids = append(a.ids, site.id)
	}

	attached.mu.Lock()
	defer attached.mu.Unlock()
	byID := map[uint64]*session{}
	if old := attached.byID.Load(); old != nil {
		for id, s := range *old {
			byID[id] = s
		}
	}
	for _, site := range s.sites.all {
		if byID[site.id] != nil {
			return nil, fmt.Errorf("hook %q (id %s) is attached already; detach that program first", site.bound.Site.Name, site.bound.Site.ID)
		}
		byID[site.id] = s
	}
	attached.byID.Store(&byID)
	return a, nil
}

// Err returns the failure that ended an execution, a *runtime.HookError, and forgets it, so that the next
// execution delivers its hooks again. Call it after an execution has failed, and after every execution on
// several devices: those do not fail by themselves.
func (a *Attachment) Err() error {
	err := a.s.err()
	for i := range a.s.failures {
		a.s.failures[i].Store(nil)
	}
	a.s.stopped.Store(false)
	return err
}

// Detach ends the delivery. No execution of the program may be under way. Detach may be called again.
func (a *Attachment) Detach() {
	a.detach.Do(func() {
		attached.mu.Lock()
		defer attached.mu.Unlock()
		byID := map[uint64]*session{}
		for id, s := range *attached.byID.Load() {
			if s != a.s {
				byID[id] = s
			}
		}
		attached.byID.Store(&byID)
	})
}
