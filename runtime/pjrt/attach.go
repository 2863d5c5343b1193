//go:build cgo

package pjrt

import (
	"context"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// attachments holds the sessions of programs that another binding executes, by the ids of their hooks (uint64). Such
// runs have no launch id, so the hook's id identifies the session.
var attachments sync.Map

func findAttached(id uint64) *session {
	s, _ := attachments.Load(id)
	found, _ := s.(*session)
	return found
}

// attach makes s the session of its hooks. The first session of a hook stays: a second one is an error, or is ignored
// if shared is set.
func attach(s *session, shared bool) error {
	for _, site := range s.sites.all {
		if _, found := attachments.LoadOrStore(site.id, s); found && !shared {
			detach(s)
			return fmt.Errorf("hook %q (id %s) is attached already; detach that program first", site.bound.Site().Name, site.bound.Site().ID)
		}
	}
	return nil
}

// detach removes the attachments of a session.
func detach(s *session) {
	for _, site := range s.sites.all {
		attachments.CompareAndDelete(site.id, s)
	}
}

// Attachment delivers the hooks of a program that another binding of PJRT executes.
type Attachment struct{ s *session }

// AttachOptions configure an attached program.
type AttachOptions struct {
	Handlers *runtime.Bindings
	Devices  int          // devices of one execution; 0 is 1
	Ordinals int          // devices that executions choose from; 0 is Devices
	Memory   DeviceMemory // of the devices; nil is the host's
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
	if opts.Memory != nil {
		s.memory = opts.Memory
	}
	if err := attach(s, false); err != nil {
		return nil, err
	}
	return &Attachment{s}, nil
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
func (a *Attachment) Detach() { detach(a.s) }
