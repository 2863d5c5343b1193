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

// attachments holds the sessions of programs that another binding executes, by the ids of their hooks. Such runs have
// no launch id, so the hook's id identifies the session. Readers use the map without a lock.
var attachments struct {
	mu   sync.Mutex
	byID atomic.Pointer[map[uint64]*session]
}

func findAttached(id uint64) *session {
	m := attachments.byID.Load()
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

// AttachOptions configure an attached program.
type AttachOptions struct {
	Handlers *runtime.Bindings
	Devices  int // devices of one execution; 0 is 1
	Ordinals int // devices that executions choose from; 0 is Devices
}

// Attach binds handlers to the hooks of a program that another binding of the same plugin compiles and executes. The
// plugin must know the targets (RegisterHooks). Without a launch id two executions cannot be distinguished: all events
// of an attachment have run 0 and one count of events per device ordinal. A process can attach a hook id once at a
// time; detach before attaching the same program again.
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

	attachments.mu.Lock()
	defer attachments.mu.Unlock()
	byID := map[uint64]*session{}
	if old := attachments.byID.Load(); old != nil {
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
	attachments.byID.Store(&byID)
	return a, nil
}

// Err returns the failure that ended an execution, a *runtime.HookError, and clears it, so that the next execution
// delivers its hooks again. Call it after a failed execution, and after every execution on several devices, which does
// not fail by itself.
func (a *Attachment) Err() error {
	err := a.s.err()
	for i := range a.s.failures {
		a.s.failures[i].Store(nil)
	}
	a.s.stopped.Store(false)
	return err
}

// Detach ends the delivery. No execution of the program may be in progress. Detach may be called again.
func (a *Attachment) Detach() {
	a.detach.Do(func() {
		attachments.mu.Lock()
		defer attachments.mu.Unlock()
		byID := map[uint64]*session{}
		for id, s := range *attachments.byID.Load() {
			if s != a.s {
				byID[id] = s
			}
		}
		attachments.byID.Store(&byID)
	})
}
