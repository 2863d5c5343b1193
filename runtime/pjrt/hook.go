//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// hlocbHook is called by the C handler on the thread that executes the hook. It returns 0, or the address of a message
// that ends the run and that C frees. It returns no pointer because cgo checks pointers, which takes 15 ns.
//
//export hlocbHook
func hlocbHook(frame *C.hl_ffi_frame, id, runID C.int64_t, ordinal C.int32_t) C.uintptr_t {
	return C.uintptr_t(uintptr(unsafe.Pointer(hookMessage(frame, id, runID, ordinal))))
}

func hookMessage(frame *C.hl_ffi_frame, id, runID C.int64_t, ordinal C.int32_t) (message *C.char) {
	var s *session
	returned := false
	defer func() {
		if !returned {
			message = panicked(s, frame, uint64(id), int32(ordinal), recover())
		}
	}()
	s = find(int64(runID)) // nil for 0, a run without a launch id
	if s == nil {
		s = findAttached(uint64(id))
	}
	if s == nil {
		message = C.CString(fmt.Sprintf("hook %s was called by a run that hlocb does not know", hook.ID(id)))
	} else if err := s.hook(frame, uint64(id), int32(ordinal)); err != nil {
		message = messageOf(err)
	}
	returned = true
	return message
}

// messageOf returns an error's message, which C frees.
func messageOf(err error) *C.char {
	if python := (*PythonError)(nil); errors.As(err, &python) {
		return C.CString(python.Message) // in the words that JAX's users know
	}
	return C.CString(err.Error())
}

// panicked returns the message of a hook that ended with the panic v in hlocb's own code, not in a handler. A handler
// that calls runtime.Goexit, as testing.T.FailNow does, ends with nil. It has no goroutine to end, because the thread
// belongs to XLA, so the process ends with a panic that names the hook.
func panicked(s *session, frame *C.hl_ffi_frame, id uint64, ordinal int32, v any) *C.char {
	if s == nil {
		return C.CString(fmt.Sprintf("hook %s: internal error: %v\n%s", hook.ID(id), v, debug.Stack()))
	}
	c := runtime.Call{Site: &hook.Site{Name: hook.ID(id).String(), ID: hook.ID(id)}, Run: s.number}
	if site := s.sites.find(id); site != nil {
		c.Site = site.bound.Site()
	}
	device, known := s.device(ordinal)
	if known {
		c.Device, c.Seq = device, max(0, s.devices[device].seq.Load()-1)
	}
	if v == nil {
		// A panic here would run the deferred calls below the plugin's frames. They destroy the run's buffers, and some
		// plugins then wait for the run.
		go panic(c.HookError(runtime.ErrGoexit))
		select {}
	}
	failure := c.HookError(&runtime.PanicError{Value: v, Stack: debug.Stack()})
	if !known {
		return messageOf(failure)
	}
	s.fail(device, failure)
	defer func() { _ = recover() }() // clearing the results may be what panicked
	if err := s.skip(frame, device, failure); err != nil {
		return messageOf(err)
	}
	return nil
}

// hlocbNothing is called by a yardstick.
//
//export hlocbNothing
func hlocbNothing(*C.hl_ffi_frame, C.int64_t, C.int64_t, C.int32_t) {}

// errStopped is the error of hooks after the run has failed. The first failure is reported instead.
var errStopped = errors.New("the run has failed already")

// hook delivers one call.
func (s *session) hook(frame *C.hl_ffi_frame, id uint64, ordinal int32) error {
	device, known := s.device(ordinal)
	if !known {
		return fmt.Errorf("hook %s was called on device ordinal %d, which is not one of the run's %d devices", hook.ID(id), ordinal, len(s.devices))
	}
	if s.stopped.Load() || s.race != nil && !s.race.claim(s) {
		return s.skip(frame, device, errStopped)
	}
	var err error
	if site := s.sites.find(id); site == nil {
		err = fmt.Errorf("the program calls hook %s, which is not in its manifest", hook.ID(id))
	} else if s.timeout > 0 {
		err = s.deliverWithin(frame, site, device, ordinal)
	} else {
		err = s.deliverNow(frame, site, device, ordinal)
	}
	if err != nil {
		s.fail(device, err)
		return s.skip(frame, device, err)
	}
	return nil
}

// device returns the device with an ordinal, among the run's devices.
func (s *session) device(ordinal int32) (device int, known bool) {
	device = int(ordinal)
	switch {
	case s.anywhere:
		return 0, true
	case s.position != nil && device >= 0 && device < len(s.position) && s.position[device] >= 0:
		return int(s.position[device]), true
	case s.position == nil && device >= 0 && device < len(s.devices):
		return device, true
	}
	return 0, false
}

// skip returns the error of a hook that failed with err. On several devices it returns nil: the other devices would
// wait for this device in their next collective until XLA ends the process. The session keeps the failure, and the run
// continues without hooks.
func (s *session) skip(frame *C.hl_ffi_frame, device int, err error) error {
	if !s.several {
		return err
	}
	queue, err := s.memory.queue(frame)
	if err == nil {
		err = clearResults(frame, s.memory, queue)
	}
	if err != nil {
		s.fail(device, err)
	}
	return nil
}

// deliverNow sets the call's views, calls the handlers and finishes the results.
func (s *session) deliverNow(frame *C.hl_ffi_frame, site *site, device int, ordinal int32) error {
	d := &s.devices[device]
	seq := d.seq.Add(1) - 1
	// Hooks of a device mostly arrive one by one. If all earlier hooks have ended, this hook owns the device's call until
	// its own end. The pool of calls costs 9 ns more.
	alone := d.finished.Load() == seq
	var c *call
	if alone && d.site.Load() == site {
		c = d.call
	} else {
		c = site.calls.Get().(*call)
		s.place(c, device)
		if alone {
			d.keep(site, c)
		}
	}
	c.Seq, c.Ordinal = seq, int(ordinal)
	err := c.view(frame, site)
	if err == nil {
		if site.overlaps {
			c.separate()
		}
		if err = runtime.Deliver(s.ctx, &site.bound, &c.Call); err == nil {
			err = c.store(site)
		}
	} else {
		err = c.HookError(err)
	}
	c.forget()
	if !alone {
		site.calls.Put(c)
	}
	d.finished.Add(1)
	return err
}

// place sets the call's run, device and memory.
func (s *session) place(c *call, device int) {
	c.memory, c.readable = s.memory, s.memory.Readable()
	if !c.readable {
		c.Remote = c
	}
	c.Run, c.Device = s.number, device
	c.Replica, c.Partition = device/s.parts, device%s.parts
}
