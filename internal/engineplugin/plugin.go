//go:build cgo

// Package engineplugin offers the embedded engine as a PJRT plugin: JAX, or any framework that loads PJRT plugins, then
// compiles and runs its programs on the engine, without XLA. cmd/libhlocb_pjrt builds it into a shared library.
//
// C holds the objects of the API and answers questions about them, which takes nanoseconds. Go compiles, executes,
// copies from the host and allocates. The values lie outside Go's heap: a framework reads them without a copy, and
// their memory returns to the system when the framework deletes them.
package engineplugin

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl -lpthread
// #include <stdlib.h>
// #include "objects.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/ffi"
	"github.com/hlocb/hlocb/internal/offheap"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/tensor"
)

// Host configures the plugin of a process.
type Host struct {
	Version     string              // of hlocb; part of the platform's version, on which caches of programs depend
	Getenv      func(string) string // the process's environment
	Err         io.Writer           // warnings
	MemoryLimit int64               // for all values, in bytes; 0 means no limit
	// Targets is interp.Options.Targets: it serves LAPACK.
	Targets func(target string, call *ir.Op) (interp.Kernel, error)
	// Interposer looks into the programs as the user wants, until SetInterposer names another one. Its settings become
	// part of the platform's version.
	Interposer *interpose.Interposer
}

// plugin is the state of the process's plugin. C calls Go by name, so there is only one; see Table.
type plugin struct {
	host  Host
	pool  *offheap.Pool
	queue chan task

	interposer atomic.Pointer[interpose.Interposer]

	mu       sync.Mutex
	handlers map[string]clientHandler // that the client registered, by target
}

// task is a run that waits for its turn, or a function for the time after all earlier runs.
type task struct {
	run *C.he_run
	do  func()
}

var current atomic.Pointer[plugin]

// maxStarted is the number of runs that wait for the run in progress. A further run waits for one of them to end, so
// that a fast caller does not fill the memory with arguments.
const maxStarted = 32

// Table returns the address of the plugin's function table, a PJRT_Api. Only the first call in a process configures the
// plugin.
func Table(h Host) uintptr {
	p := &plugin{host: h, pool: offheap.New(h.MemoryLimit), queue: make(chan task, maxStarted), handlers: map[string]clientHandler{}}
	p.interposer.Store(h.Interposer)
	if current.CompareAndSwap(nil, p) {
		for code := range C.HE_TYPES {
			if d, err := xlatypes.BufferType(int32(code)); err == nil {
				C.he_sizes[code] = C.uint8_t(d.Size())
				C.he_packed[code] = C.uint8_t(xlatypes.PackedBits(d))
			}
		}
		go p.work()
	}
	return uintptr(unsafe.Pointer(C.he_api()))
}

// work executes the runs that do not stay on their caller's thread, in the order in which they were started. The
// arguments of a run are ready when its turn comes, because earlier runs compute them.
func (p *plugin) work() {
	for t := range p.queue {
		if t.do != nil {
			t.do()
			continue
		}
		r := t.run
		code, message := run(r)
		var failure *C.he_error
		if message != nil {
			failure = C.he_copy(code, message)
			C.free(unsafe.Pointer(message))
		}
		C.he_run_end(r, failure)
	}
}

// SetInterposer chooses who looks into the programs that are compiled from now on, once the runs so far have ended. It
// returns the old one. Programs that are compiled already keep theirs.
func SetInterposer(i *interpose.Interposer) *interpose.Interposer {
	p := current.Load()
	done := make(chan struct{})
	p.queue <- task{do: func() { close(done) }}
	<-done
	return p.interposer.Swap(i)
}

// Interposer returns who looks into the programs that are compiled now, or nil before the first call of Table.
func Interposer() *interpose.Interposer {
	if p := current.Load(); p != nil {
		return p.interposer.Load()
	}
	return nil
}

// fail returns an error for C, which frees the message.
func fail(err error) (C.int32_t, *C.char) {
	if err == nil {
		return 0, nil
	}
	code := C.int32_t(C.HL_INTERNAL)
	var limit *offheap.LimitError
	var unsupported *interp.UnsupportedError
	var unimplemented *unimplementedError
	var python *pjrt.PythonError
	var foreign *ffi.Error
	var argument *argumentError
	text := err.Error()
	switch {
	case errors.As(err, &limit):
		code = C.HL_RESOURCE_EXHAUSTED
	case errors.As(err, &unsupported), errors.As(err, &unimplemented):
		code = C.HL_UNIMPLEMENTED
	case errors.As(err, &python):
		text = python.Message // as JAX's own client shows it
	case errors.As(err, &foreign):
		code, text = C.int32_t(foreign.Code), foreign.Message
	case errors.As(err, &argument):
		code = C.HL_INVALID_ARGUMENT
	}
	return code, C.CString(text)
}

// argumentError is a mistake of the caller.
type argumentError struct{ text string }

func (e *argumentError) Error() string { return e.text }

//export hlocbEngineVersions
func hlocbEngineVersions(current, minimum *C.int64_t) {
	for _, v := range []struct {
		to *C.int64_t
		vhlo.Version
	}{{current, vhlo.Current}, {minimum, vhlo.Minimum}} {
		copy(unsafe.Slice(v.to, 3), []C.int64_t{C.int64_t(v.Major), C.int64_t(v.Minor), C.int64_t(v.Patch)})
	}
}

//export hlocbEnginePlatformVersion
func hlocbEnginePlatformVersion() *C.char {
	p := current.Load()
	return C.CString("hlocb " + p.host.Version + p.interposer.Load().Settings())
}

// hlocbEngineDevices returns the number of devices of a client whose creator does not state it: the number for JAX's
// own CPU client.
//
//export hlocbEngineDevices
func hlocbEngineDevices() C.int64_t {
	env := current.Load().host.Getenv
	if n, err := strconv.Atoi(env("JAX_NUM_CPU_DEVICES")); err == nil && n > 0 {
		return C.int64_t(n)
	}
	n := 1
	for flag := range strings.FieldsSeq(env("XLA_FLAGS")) {
		if v, ok := strings.CutPrefix(flag, "--xla_force_host_platform_device_count="); ok {
			if k, err := strconv.Atoi(v); err == nil && k > 0 {
				n = k
			}
		}
	}
	return C.int64_t(n)
}

//export hlocbEngineFree
func hlocbEngineFree(data unsafe.Pointer, size C.size_t) {
	current.Load().pool.Free(unsafe.Slice((*byte)(data), int(size)))
}

// hlocbEngineUpload copies an array into new memory of v. strides are in bytes; nil means that the array is dense.
//
//export hlocbEngineUpload
func hlocbEngineUpload(v *C.he_value, data unsafe.Pointer, element C.size_t, dims *C.int64_t, n C.size_t, strides *C.int64_t) *C.char {
	block, err := current.Load().pool.Alloc(int(v.size))
	if err != nil {
		return C.CString(err.Error())
	}
	v.data, v.pooled = unsafe.Pointer(unsafe.SliceData(block)), true
	if len(block) == 0 {
		return nil
	}
	if strides == nil {
		copy(block, unsafe.Slice((*byte)(data), len(block)))
	} else {
		gather(block, data, int(element), unsafe.Slice(dims, int(n)), unsafe.Slice(strides, int(n)))
	}
	return nil
}

// hlocbEngineBitcast gives v the bits of n bytes at data, whose type is from, as elements of type to. packed is the
// size of both if XLA stores them.
//
//export hlocbEngineBitcast
func hlocbEngineBitcast(v *C.he_value, to C.int32_t, data unsafe.Pointer, n C.size_t, from C.int32_t, packed C.size_t) *C.char {
	block, err := current.Load().pool.Alloc(int(v.size))
	if err != nil {
		return C.CString(err.Error())
	}
	v.data, v.pooled = unsafe.Pointer(unsafe.SliceData(block)), true
	bits := unsafe.Slice((*byte)(data), int(n))
	if d, err := xlatypes.BufferType(int32(from)); err == nil && xlatypes.PackedBits(d) > 0 {
		bits = make([]byte, packed)
		xlatypes.Pack(bits, unsafe.Slice((*byte)(data), int(n)), d)
	}
	if d, err := xlatypes.BufferType(int32(to)); err == nil && xlatypes.PackedBits(d) > 0 {
		xlatypes.Unpack(block, bits, d)
	} else {
		copy(block, bits)
	}
	return nil
}

// gather copies a strided array to dense memory and returns the rest of dst.
func gather(dst []byte, src unsafe.Pointer, element int, dims, strides []C.int64_t) []byte {
	if len(dims) == 0 {
		return dst[copy(dst[:element], unsafe.Slice((*byte)(src), element)):]
	}
	if len(dims) == 1 && strides[0] == C.int64_t(element) {
		n := int(dims[0]) * element
		return dst[copy(dst[:n], unsafe.Slice((*byte)(src), n)):]
	}
	for i := range dims[0] {
		dst = gather(dst, unsafe.Add(src, int(i*strides[0])), element, dims[1:], strides[1:])
	}
	return dst
}

// hlocbEngineReorder copies a row-major array to an array whose dimensions are in the given order, from minor to major.
//
//export hlocbEngineReorder
func hlocbEngineReorder(to, from unsafe.Pointer, size, element C.size_t, dims *C.int64_t, n C.size_t, order *C.int64_t) {
	shape, minor := make(tensor.Shape, n), make([]int64, n)
	for i := range shape {
		shape[i], minor[i] = int64(unsafe.Slice(dims, n)[i]), int64(unsafe.Slice(order, n)[i])
	}
	tensor.Reorder(unsafe.Slice((*byte)(to), int(size)), unsafe.Slice((*byte)(from), int(size)), int(element), shape, minor, false)
}

//export hlocbEngineForget
func hlocbEngineForget(h C.uintptr_t) {
	p := cgo.Handle(h).Value().(*program)
	cgo.Handle(h).Delete()
	if err := p.exe.Close(); err != nil {
		p.plugin.warn(err)
	}
}

func (p *plugin) warn(err error) {
	fmt.Fprintf(p.host.Err, "hlocb: warning: %s\n", diag.EscapeLines(err.Error()))
}

//export hlocbEngineCompile
func hlocbEngineCompile(e *C.he_executable, code *C.char, size C.size_t, format *C.char, formatSize C.size_t, options *C.char, optionsSize C.size_t, status *C.int32_t) (message *C.char) {
	defer recovered(status, &message)
	err := current.Load().compile(e, C.GoBytes(unsafe.Pointer(code), C.int(size)), C.GoStringN(format, C.int(formatSize)), C.GoBytes(unsafe.Pointer(options), C.int(optionsSize)))
	*status, message = fail(err)
	return message
}

// hlocbEngineShow sets the program that a user sees.
//
//export hlocbEngineShow
func hlocbEngineShow(e *C.he_executable) (message *C.char) {
	var status C.int32_t
	defer recovered(&status, &message)
	code, err := shown(C.GoBytes(unsafe.Pointer(e.text), C.int(e.text_size)))
	if err != nil {
		_, message = fail(err)
		return message
	}
	e.shown, e.shown_size = (*C.char)(C.CBytes(code)), C.size_t(len(code))
	return nil
}

// recovered turns a panic of the engine, which is a mistake of hlocb, into an error.
func recovered(status *C.int32_t, message **C.char) {
	if v := recover(); v != nil {
		*status, *message = fail(fmt.Errorf("hlocb's engine panicked: %v; please report this", v))
	}
}

//export hlocbEngineRun
func hlocbEngineRun(r *C.he_run, status *C.int32_t) *C.char {
	var message *C.char
	*status, message = run(r)
	return message
}

//export hlocbEngineStart
func hlocbEngineStart(r *C.he_run) { current.Load().queue <- task{run: r} }

func run(r *C.he_run) (status C.int32_t, message *C.char) {
	defer recovered(&status, &message)
	p := cgo.Handle(r.executable.program).Value().(*program)
	return fail(p.run(r))
}
