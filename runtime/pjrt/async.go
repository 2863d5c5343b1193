//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"errors"
	goruntime "runtime"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// deliverWithin starts the handlers on a goroutine and returns. The future in the frame completes when the handlers
// have returned, their time is up, or the run is cancelled, whichever comes first. XLA's memory stays valid until then.
func (s *session) deliverWithin(frame *C.hl_ffi_frame, site *site, device int, ordinal int32) error {
	c := newCall(site)
	s.place(c, device)
	c.Seq, c.Ordinal = s.devices[device].seq.Add(1)-1, int(ordinal)
	s.devices[device].site.Store(site)
	err := c.view(frame, site)
	var future unsafe.Pointer
	if err == nil {
		if future = C.hl_future_create(frame); future == nil {
			err = errors.New("the plugin has no asynchronous handlers, which timeouts need")
		}
	}
	if err != nil {
		c.forget()
		s.devices[device].finished.Add(1)
		return c.HookError(err)
	}
	frame.future = future
	api := frame.api
	start := func(handle func()) {
		// A program that the handler runs finds on the thread which client it must not use.
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		C.hl_enter_run(C.int64_t(s.launchID))
		defer C.hl_leave_run()
		handle()
	}
	runtime.DeliverWithin(s.ctx, s.timeout, &site.bound, &c.Call, start, func(err error) {
		s.devices[device].finished.Add(1)
		if err == nil {
			err = c.store(site)
		}
		if err != nil {
			s.fail(device, err)
		}
		if err == nil || s.several { // see session.hook
			if err != nil && site.kind != hook.InOut {
				for i := range c.Results {
					_ = c.memory.Clear(c.queue, c.results[i].device, c.results[i].size)
				}
			}
			c.forget()
			C.hl_future_done(api, future)
			return
		}
		c.forget()
		C.hl_future_fail(api, future, cText(err.Error()))
	})
	return nil
}
