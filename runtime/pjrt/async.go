//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// asyncCall is a call whose handler runs on a goroutine of its own, so that the run can end without it. The
// handler owns copies of its operands and results: it may still be at work when XLA's memory is gone.
type asyncCall struct {
	s       *session
	device  int
	call    *call // holds XLA's memory of the results; not pooled
	copies  runtime.Call
	api     *C.hl_ffi_api
	future  unsafe.Pointer
	settled atomic.Bool // who sets it completes the future
	timer   *time.Timer
}

// deliverAsync starts the handler and returns. The future in the frame completes when the handler has returned,
// its time is up, or the run was cancelled, whichever is first.
func (s *session) deliverAsync(frame *C.hl_ffi_frame, site *site, device int) error {
	c := newCall(site)
	s.place(c, device)
	if err := c.view(frame, site); err != nil {
		s.devices[device].finished.Add(1)
		return c.failed(err)
	}
	future := C.hl_future_create(frame)
	if future == nil {
		s.devices[device].finished.Add(1)
		return c.failed(errors.New("the plugin has no asynchronous handlers, which timeouts need"))
	}
	frame.future = future
	a := &asyncCall{s: s, device: device, call: c, api: frame.api, future: future, copies: c.Call}
	a.copies.Operands, a.copies.Results = nil, nil
	for i := range c.Operands {
		a.copies.Operands = append(a.copies.Operands, c.operands[i].Clone())
	}
	for i := range c.Results {
		if site.kind == hook.InOut {
			a.copies.Results = append(a.copies.Results, a.copies.Operands[site.aliased(i)])
		} else {
			a.copies.Results = append(a.copies.Results, tensor.New(c.results[i].DType(), c.results[i].shape))
		}
	}

	s.mu.Lock()
	if s.pending == nil {
		s.pending = map[*asyncCall]bool{}
	}
	s.pending[a] = true
	a.timer = time.AfterFunc(s.timeout, func() {
		a.abandon(c.failed(&runtime.TimeoutError{After: s.timeout.String()}))
	})
	s.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.timeout, &runtime.TimeoutError{After: s.timeout.String()})
	go func() {
		defer cancel()
		a.run(ctx, site)
	}()
	return nil
}

// run calls the handler and, where nobody gave it up, finishes the call.
func (a *asyncCall) run(ctx context.Context, site *site) {
	// The thread tells programs that the handler runs which client they must not use.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	C.hl_enter_run(C.int64_t(a.s.launchID))
	err := runtime.DeliverInTime(ctx, &site.bound, &a.copies)
	C.hl_leave_run()
	if !a.settled.CompareAndSwap(false, true) {
		return
	}
	if err == nil {
		for i, r := range a.copies.Results {
			copy(a.call.result(i).Bytes(), r.Bytes())
		}
		if a.call.packed {
			a.call.packResults()
		}
	}
	a.complete(err)
}

// abandon ends the call although its handler has not returned.
func (a *asyncCall) abandon(err error) {
	if a.settled.CompareAndSwap(false, true) {
		a.complete(err)
	}
}

// complete records a failure and completes the future, on several devices without an error (see session.hook).
func (a *asyncCall) complete(err error) {
	a.s.mu.Lock()
	a.timer.Stop()
	delete(a.s.pending, a)
	a.s.mu.Unlock()
	a.s.devices[a.device].finished.Add(1)
	if err != nil {
		a.s.fail(a.device, err)
	}
	if err == nil || a.s.several {
		if err != nil && a.call.Site.Kind != hook.InOut {
			for i := range a.call.Results {
				clear(a.call.results[i].raw)
			}
		}
		C.hl_future_done(a.api, a.future)
		return
	}
	message := C.CString(err.Error())
	defer C.free(unsafe.Pointer(message))
	C.hl_future_fail(a.api, a.future, message)
}

// cancel ends a run: handlers that run asynchronously are given up, and the next hook fails.
func (s *session) cancel(cause error) {
	s.fail(0, cause)
	s.mu.Lock()
	var pending []*asyncCall
	for a := range s.pending {
		pending = append(pending, a)
	}
	s.mu.Unlock()
	for _, a := range pending {
		a.abandon(cause)
	}
}
