//go:build cgo

package pjrt

// #include <stdlib.h>
// #include <string.h>
// #include "calls.h"
// #include "interpose.h"
// #include "python.h"
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Interposer changes the programs that a framework compiles with a plugin, and receives their hooks. Its methods are
// called from any thread.
type Interposer interface {
	// Settings identifies everything that changes programs. It becomes a part of the platform's version, on which
	// caches of compiled programs depend. If it is empty, Compile is called only for programs with callbacks of JAX, and
	// Load never.
	Settings() string
	// Compile is called with a program in a format of PJRT ("mlir") and its options (an xla.CompileOptionsProto) before
	// it is compiled. It returns nil for a program that does not change. After an error the program is compiled
	// unchanged.
	Compile(code []byte, format string, options []byte) (*Replacement, error)
	// Load is called with Replacement.Saved of a program that was serialized.
	Load(saved []byte) (*Replacement, error)
	// Targets returns custom-call targets that the host computes for plugins whose values it can read.
	Targets() map[string]Target
	// Warn reports an error that does not end the program.
	Warn(err error)
}

// Replacement is a program that an Interposer has changed. Code is nil if the plugin compiles the original.
type Replacement struct {
	Code       []byte
	Manifest   *hook.Manifest
	Handlers   *runtime.Bindings
	Replicas   int // at least 1
	Partitions int // at least 1
	Saved      []byte
	// Arguments, if it is not nil, receives the arguments of one run.
	Arguments *RunArguments
	// MayFail says that a handler may end a run. An execution on several devices then returns after its end, because the
	// devices run on without hooks (see session.skip), and the failure is the execution's error.
	MayFail bool
	// OnFailure is called with the failure of a hook that ends a run. It may be nil.
	OnFailure func(error)
}

// RunArguments requests the arguments of one run of a program.
type RunArguments struct {
	Run   int64             // 1 for the first
	Types []hook.TensorType // of main's arguments, whole; a zero type marks an argument that is not wanted, such as a token
	Take  func(args []*tensor.Tensor) error
}

// interposed holds the wrapped plugins of the process and their programs. C code names them by numbers.
var interposed = struct {
	mu      sync.Mutex
	plugins []*wrappedPlugin
	list    map[int64]*interposedProgram
	last    int64
}{list: map[int64]*interposedProgram{}}

// objects holds the program of each loaded program and executable of the plugins: its number as a C.int64_t, or 0 if it
// only has callbacks of JAX.
var objects sync.Map

// contexts holds the contexts of executions that have not ended.
var contexts = struct {
	sync.Mutex
	live map[unsafe.Pointer]*executionContext
}{live: map[unsafe.Pointer]*executionContext{}}

type executionContext struct {
	uses      int
	destroyed bool // by its owner
}

type wrappedPlugin struct {
	plugin     *Plugin
	interposer Interposer
	hookless   atomic.Bool // the plugin cannot call hooks
	// memory, which is nil if the host cannot reach it, and platform are set when a client is made; interposed.mu guards
	// them.
	memory   DeviceMemory
	platform string
	clients  int // guarded by interposed.mu
}

// interposedProgram is a compiled program with hlocb's hooks.
type interposedProgram struct {
	*Replacement
	owner    *wrappedPlugin
	memory   DeviceMemory // nil if the host cannot reach it
	sites    *siteTable
	position []int32
	shards   []*sharding.Sharding // of the arguments, if they are wanted and partitioned
	runs     atomic.Int64
	uses     int // objects of the plugin that refer to it; guarded by interposed.mu
}

// Interpose returns the address of a copy of a plugin's function table (a PJRT_Api). The copy passes programs through
// the interposer and serves JAX's Python callbacks; everything else is the plugin's own. path names the plugin in
// messages. A second call for the same table returns the same copy.
func Interpose(api uintptr, path string, i Interposer) (uintptr, error) {
	real := *(**C.hl_api)(unsafe.Pointer(&api))
	if real == nil {
		return 0, &LoadError{path, "GetPjrtApi returned no table"}
	}
	if C.hl_interposed(real) {
		return api, nil
	}
	p := &Plugin{path: path, api: real, copy: C.hl_find_copy(real), registered: map[string]registration{}}
	if major, minor := p.Version(); major != 0 || minor < minimumMinor {
		return 0, &LoadError{path, fmt.Sprintf("its PJRT API is %d.%d, 0.%d or later is needed", major, minor, minimumMinor)}
	}
	suffix := i.Settings()
	interposed.mu.Lock()
	defer interposed.mu.Unlock()
	var number C.int
	table := C.hl_interpose(real, C.bool(suffix != ""), cText(suffix), &number)
	if table == nil {
		return 0, &LoadError{path, "this process has too many plugins"}
	}
	if int(number) == len(interposed.plugins) {
		interposed.plugins = append(interposed.plugins, &wrappedPlugin{plugin: p, interposer: i})
	}
	return uintptr(unsafe.Pointer(table)), nil
}

// InterposePlugin loads the plugin in a file and returns Interpose of its table. Unlike Load it does not initialize the
// plugin, which the framework does.
func InterposePlugin(path string, i Interposer) (uintptr, error) {
	var message *C.char
	library := C.hl_open(cText(path), &message)
	if library == nil {
		return 0, &LoadError{path, openFailure(path, takeMessage(message))}
	}
	api := C.hl_get_api(library, &message)
	if api == nil {
		return 0, &LoadError{path, takeMessage(message)}
	}
	return Interpose(uintptr(unsafe.Pointer(api)), path, i)
}

func wrappedBy(number C.int) *wrappedPlugin {
	interposed.mu.Lock()
	defer interposed.mu.Unlock()
	return interposed.plugins[number]
}

func programOf(number C.int64_t) *interposedProgram {
	interposed.mu.Lock()
	defer interposed.mu.Unlock()
	return interposed.list[int64(number)]
}

// guard calls f and reports a panic in it as a warning. A panic must not cross into C.
func (w *wrappedPlugin) guard(f func() error) {
	defer func() {
		if v := recover(); v != nil {
			w.interposer.Warn(fmt.Errorf("internal error: %v\n%s", v, debug.Stack()))
		}
	}()
	if err := f(); err != nil {
		w.interposer.Warn(err)
	}
}

// add registers a program for one object of the plugin and returns its number.
func (w *wrappedPlugin) add(p *Replacement) (int64, error) {
	bound, err := p.Handlers.Bind(p.Manifest)
	if err != nil {
		return 0, err
	}
	interposed.mu.Lock()
	defer interposed.mu.Unlock()
	interposed.last++
	interposed.list[interposed.last] = &interposedProgram{Replacement: p, owner: w, memory: w.memory, sites: newSiteTable(bound), uses: 1}
	return interposed.last, nil
}

//export hlocbInterposeClient
func hlocbInterposeClient(number C.int, client unsafe.Pointer) {
	w := wrappedBy(number)
	w.guard(func() error { return w.opened(client) })
}

// opened prepares a client of a framework for hooks and targets.
func (w *wrappedPlugin) opened(client unsafe.Pointer) error {
	interposed.mu.Lock()
	w.clients++
	interposed.mu.Unlock()
	platform, err := w.plugin.text("platform name", C.HL_CLIENT_PLATFORM_NAME, client)
	if err != nil {
		return err
	}
	err = w.register(platform, client)
	w.hookless.Store(err != nil)
	if errors.As(err, new(*NoFFIError)) && w.interposer.Settings() == "" {
		return nil
	}
	return err
}

// hlocbInterposeClientEnd is called before a client is destroyed.
//
//export hlocbInterposeClientEnd
func hlocbInterposeClientEnd(number C.int) { wrappedBy(number).closed() }

// closed counts the end of a client. The last one frees the host memory for copies.
func (w *wrappedPlugin) closed() {
	interposed.mu.Lock()
	w.clients--
	m, last := w.memory, w.clients == 0
	interposed.mu.Unlock()
	if last {
		release(m)
	}
}

// jaxPlatforms lists the platforms on which JAX has its own handlers for callbacks. Their values are on a device.
var jaxPlatforms = []string{"cuda", "rocm", "oneapi", "tpu"}

// register registers the handlers of hlocb's hooks and of JAX's callbacks with the plugin.
func (w *wrappedPlugin) register(platform string, client unsafe.Pointer) error {
	p := w.plugin
	memory, err := p.Memory(platform)
	if err != nil {
		return err
	}
	if memory == nil && !slices.Contains(jaxPlatforms, platform) {
		onHost, err := (&Client{plugin: p, ptr: client, platform: platform}).onHost()
		if err != nil {
			return err
		}
		if onHost {
			memory = hostMemory{}
		}
	}
	if memory == nil {
		return &NoFFIError{p.path, fmt.Sprintf("values on platform %q are not in the host's memory; its programs run untapped", platform)}
	}
	if err := p.RegisterHooks(platform); err != nil {
		return fmt.Errorf("%w; its programs run untapped", err)
	}
	interposed.mu.Lock()
	w.memory, w.platform = memory, platform
	interposed.mu.Unlock()
	if !memory.Readable() {
		return nil // the handlers of callbacks read operands in place
	}
	for _, target := range []string{"xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback"} {
		if err := p.register(target, C.hl_python_handler, platform, p.registrationLayout()); err != nil {
			return err
		}
	}
	c := &Client{plugin: p, ptr: client, platform: platform, memory: memory}
	list := w.interposer.Targets()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		var own *Error // the plugin refuses a target that it has
		if err := c.RegisterTarget(name, list[name]); err != nil && !errors.As(err, &own) {
			w.interposer.Warn(err)
			break
		}
	}
	return nil
}

// onHost uploads a byte and asks whether it is in the host's memory.
func (c *Client) onHost() (bool, error) {
	if !bool(C.hl_has(c.plugin.api, C.HL_BUFFER_ON_CPU)) {
		return false, nil
	}
	if err := c.findDevices(); err != nil {
		return false, err
	}
	b, err := c.upload(&c.devices[0], tensor.New(tensor.UI8, tensor.Shape{}), new(goruntime.Pinner))
	if err != nil {
		return false, err
	}
	defer c.release(b)
	answer, err := c.plugin.number("place of buffer", C.HL_BUFFER_ON_CPU, b.ptr)
	return answer&1 != 0, err
}

// copied returns a copy of a framework's bytes, of any size: C.GoBytes accepts 2 GiB.
func copied(data *C.char, size C.size_t) []byte {
	if data == nil {
		return nil
	}
	return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(data)), size)...)
}

// hlocbInterposeTargets registers the custom-call targets of a program that a Python program has registered with
// jaxlib, which passes them to its own clients only.
//
//export hlocbInterposeTargets
func hlocbInterposeTargets(number C.int, code *C.char, size C.size_t) {
	w := wrappedBy(number)
	w.guard(func() error { return w.registerTargets(unsafe.Slice((*byte)(unsafe.Pointer(code)), size)) })
}

func (w *wrappedPlugin) registerTargets(program []byte) error {
	interposed.mu.Lock()
	memory, platform := w.memory, w.platform
	interposed.mu.Unlock()
	if memory == nil || !memory.Readable() {
		return nil // a framework registers its handlers for a GPU with the plugin
	}
	handlers, err := PythonHandlers(platform)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		if bytes.Contains(program, []byte(name)) {
			errs = append(errs, w.registerPython(name, handlers[name], platform))
		}
	}
	return errors.Join(errs...)
}

// PythonHandlers returns the addresses of the handlers of the XLA FFI that the process's Python program registered with
// jaxlib for a platform, by their targets. An address is nil if the handler has functions for several stages. The map
// is empty if the process has no Python.
func PythonHandlers(platform string) (map[string]unsafe.Pointer, error) {
	var message *C.char
	list := C.hl_python_targets(cText(platform), &message)
	if message != nil {
		return nil, errors.New(takeMessage(message))
	}
	defer C.free(unsafe.Pointer(list)) // nil without Python
	out := map[string]unsafe.Pointer{}
	for line := range strings.Lines(C.GoString(list)) {
		address, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseUint(address, 10, 64)
		if err != nil {
			return nil, err
		}
		out[name] = *(*unsafe.Pointer)(unsafe.Pointer(&n))
	}
	return out, nil
}

// registerPython registers a handler. A target that hlocb or the plugin computes stays theirs.
func (w *wrappedPlugin) registerPython(name string, handler unsafe.Pointer, platform string) error {
	if handler == nil {
		return fmt.Errorf("custom-call target %s has functions for several stages; a plugin accepts a handler for the stage execute", name)
	}
	var own *Error // the plugin has the target
	if err := w.plugin.forward(name, handler, platform); err != nil && !errors.As(err, &own) {
		return err
	}
	return nil
}

//export hlocbInterposeCompile
func hlocbInterposeCompile(number C.int, code *C.char, size C.size_t, format *C.char, formatSize C.size_t, options *C.char, optionsSize C.size_t, out *C.hl_replacement) {
	w := wrappedBy(number)
	w.guard(func() error {
		n, changed, err := w.compile(copied(code, size), string(copied(format, formatSize)), copied(options, optionsSize))
		out.program = C.int64_t(n)
		if changed != nil {
			out.code, out.code_size = (*C.char)(C.CBytes(changed)), C.size_t(len(changed))
		}
		return err
	})
}

// compile returns the number of the program that the interposer makes of a framework's, with its code. The number is 0
// if the interposer or the plugin accepts no hooks. The code is nil if it does not change.
func (w *wrappedPlugin) compile(code []byte, format string, options []byte) (int64, []byte, error) {
	p, err := w.interposer.Compile(code, format, options)
	if err != nil || p == nil || w.hookless.Load() && len(p.Manifest.Sites) > 0 {
		return 0, nil, err
	}
	n, err := w.add(p)
	if err != nil {
		return 0, nil, err
	}
	return n, p.Code, nil
}

//export hlocbInterposeRefused
func hlocbInterposeRefused(program C.int64_t, message *C.char) {
	p := programOf(program)
	p.owner.interposer.Warn(fmt.Errorf("the plugin refuses the program with probes, so it runs untapped: %s", C.GoString(message)))
	hlocbInterposeDrop(program)
}

//export hlocbInterposeLoaded
func hlocbInterposeLoaded(program C.int64_t, loaded unsafe.Pointer) {
	p := programOf(program)
	p.owner.guard(func() error { return errors.Join(p.findDevices(loaded), p.findShardings(loaded)) })
}

// findShardings finds how the plugin partitions the arguments, if they are wanted. If it cannot, no argument is read.
func (p *interposedProgram) findShardings(loaded unsafe.Pointer) (err error) {
	if p.Arguments == nil || p.Partitions == 1 {
		return nil
	}
	plugin := p.owner.plugin
	l := &loadedProgram{client: &Client{plugin: plugin}, ptr: loaded}
	known := false
	if l.executable, err = plugin.object("executable", C.HL_LOADED_EXECUTABLE, loaded); err == nil {
		p.shards, _, known, err = l.shardings(p.Partitions)
		_ = plugin.check("destroy executable", C.hl_object(plugin.api, C.HL_EXECUTABLE_DESTROY, l.executable))
	}
	if err == nil && !(known && len(p.shards) == len(p.Arguments.Types)) {
		err = errors.New("the plugin does not report how it partitions the arguments, so they are not written")
	}
	if err != nil {
		p.Arguments = nil
	}
	return err
}

// takeArguments reads the arguments of a run from its buffers, a list for each device.
func (p *interposedProgram) takeArguments(lists []*unsafe.Pointer) error {
	c := &Client{plugin: p.owner.plugin, memory: p.memory}
	args := make([]*tensor.Tensor, len(p.Arguments.Types))
	for i, t := range p.Arguments.Types {
		if t.DType == 0 {
			continue
		}
		v, err := &value{client: c, typ: t, part: t}, error(nil)
		if p.shards != nil {
			v.place = runtime.Placement{Partitions: p.Partitions, Sharding: p.shards[i]}
			v.part.Shape, err = p.shards[i].ShardShape(t.Shape)
		}
		for d := 0; err == nil && d < v.place.Parts(); d++ {
			piece := buffer{ptr: unsafe.Slice(lists[d], i+1)[i]}
			v.pieces = append(v.pieces, piece)
			err = c.plugin.check("await argument", C.hl_ready(c.plugin.api, piece.ptr))
		}
		if err == nil {
			args[i], err = v.Read()
		}
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
	}
	return p.Arguments.Take(args)
}

// findDevices finds the ordinals of the devices that the program runs on.
func (p *interposedProgram) findDevices(loaded unsafe.Pointer) error {
	plugin := p.owner.plugin
	items, err := plugin.list("devices of executable", C.HL_LOADED_ADDRESSABLE_DEVICES, loaded)
	if err != nil {
		return err
	}
	devices := make([]Device, len(items))
	for i, ptr := range items {
		if devices[i].LocalID, err = plugin.number("device ordinal", C.HL_DEVICE_LOCAL_ID, ptr); err != nil {
			return err
		}
	}
	p.position = positions(devices)
	if n := len(devices); n > p.Replicas*p.Partitions { // neither the program nor its options say so
		p.Replicas, p.Partitions = n, 1
	}
	return nil
}

// hlocbInterposeUnseen records that the plugin may load and run the program by functions that are not wrapped. The
// interposer then finds the hooks by their ids, and keeps the program until the process ends.
//
//export hlocbInterposeUnseen
func hlocbInterposeUnseen(program C.int64_t) {
	p := programOf(program)
	s := newSession(context.Background(), p.sites, p.Replicas*p.Partitions, p.Partitions)
	s.several, s.failed, s.memory = false, p.OnFailure, p.memory // nothing can make the execution fail later
	s.anywhere = len(s.devices) == 1
	_ = attach(s, true)
	hlocbInterposeHold(program)
}

//export hlocbInterposeSet
func hlocbInterposeSet(object unsafe.Pointer, program C.int64_t) { objects.Store(object, program) }

// hlocbInterposeFind returns the program of an object, or -1.
//
//export hlocbInterposeFind
func hlocbInterposeFind(object unsafe.Pointer) C.int64_t {
	if n, ok := objects.Load(object); ok {
		return n.(C.int64_t)
	}
	return -1
}

// hlocbInterposeForget removes an object that is being destroyed and returns its program, or 0.
//
//export hlocbInterposeForget
func hlocbInterposeForget(object unsafe.Pointer) C.int64_t {
	n, _ := objects.LoadAndDelete(object)
	program, _ := n.(C.int64_t)
	return program
}

// hlocbInterposeKeep counts an execution that uses a context.
//
//export hlocbInterposeKeep
func hlocbInterposeKeep(context unsafe.Pointer) {
	contexts.Lock()
	defer contexts.Unlock()
	if contexts.live[context] == nil {
		contexts.live[context] = &executionContext{}
	}
	contexts.live[context].uses++
}

// hlocbInterposeRelease counts the end of an execution and reports whether its context must be destroyed now.
//
//export hlocbInterposeRelease
func hlocbInterposeRelease(context unsafe.Pointer) C.bool {
	contexts.Lock()
	defer contexts.Unlock()
	c := contexts.live[context]
	if c.uses--; c.uses > 0 {
		return false
	}
	delete(contexts.live, context)
	return C.bool(c.destroyed)
}

// hlocbInterposeDestroy reports whether the owner of a context may destroy it. Otherwise the last execution does.
//
//export hlocbInterposeDestroy
func hlocbInterposeDestroy(context unsafe.Pointer) C.bool {
	contexts.Lock()
	defer contexts.Unlock()
	c := contexts.live[context]
	if c != nil {
		c.destroyed = true
	}
	return C.bool(c == nil)
}

//export hlocbInterposeHold
func hlocbInterposeHold(program C.int64_t) {
	interposed.mu.Lock()
	defer interposed.mu.Unlock()
	if p := interposed.list[int64(program)]; p != nil {
		p.uses++
	}
}

//export hlocbInterposeDrop
func hlocbInterposeDrop(program C.int64_t) {
	interposed.mu.Lock()
	defer interposed.mu.Unlock()
	if p := interposed.list[int64(program)]; p != nil {
		if p.uses--; p.uses == 0 {
			delete(interposed.list, int64(program))
		}
	}
}

//export hlocbInterposeSave
func hlocbInterposeSave(program C.int64_t, n *C.uint64_t) *C.char {
	p := programOf(program)
	*n = C.uint64_t(len(p.Saved))
	return (*C.char)(C.CBytes(p.Saved))
}

//export hlocbInterposeLoad
func hlocbInterposeLoad(number C.int, saved *C.char, n C.uint64_t, loaded unsafe.Pointer) (program C.int64_t) {
	w := wrappedBy(number)
	w.guard(func() error {
		p, err := w.interposer.Load(copied(saved, C.size_t(n)))
		if err != nil {
			return err
		}
		id, err := w.add(p)
		if err != nil {
			return err
		}
		program = C.int64_t(id)
		return programOf(program).findDevices(loaded)
	})
	return program
}

//export hlocbInterposeBegin
func hlocbInterposeBegin(program C.int64_t, arguments **unsafe.Pointer, devices, n C.size_t, wait *C.bool) C.int32_t {
	p := programOf(program)
	run := p.runs.Add(1)
	if a := p.Arguments; a != nil && a.Run == run {
		p.owner.guard(func() error {
			if int(n) != len(a.Types) || int(devices) < p.Partitions {
				return fmt.Errorf("the program runs with %d arguments on %d devices, so they are not written", int(n), int(devices))
			}
			return p.takeArguments(unsafe.Slice(arguments, int(devices)))
		})
	}
	if len(p.Manifest.Sites) == 0 {
		return 0
	}
	s := newSession(context.Background(), p.sites, p.Replicas*p.Partitions, p.Partitions)
	s.position, s.number, s.several = p.position, run, devices > 1
	*wait = C.bool(s.several && p.MayFail)
	s.anywhere = len(p.position) == 0 // compiled for any device
	s.failed, s.memory = p.OnFailure, p.memory
	if err := enter(s); err != nil {
		p.owner.interposer.Warn(err)
		return 0
	}
	return C.int32_t(s.launchID)
}

// hlocbInterposeFailure returns the message of a run's failure, which C frees, or nil.
//
//export hlocbInterposeFailure
func hlocbInterposeFailure(launch C.int32_t) *C.char {
	if s := find(int64(launch)); s != nil {
		if err := s.err(); err != nil {
			return messageOf(err)
		}
	}
	return nil
}

//export hlocbInterposeEnd
func hlocbInterposeEnd(launch C.int32_t) {
	s := find(int64(launch))
	if s == nil {
		return
	}
	leave(s)
	if err := s.err(); err != nil && s.failed != nil {
		s.failed(err)
	}
}

// PythonCallback is the handler of a hook that represents a Python function of JAX. It calls the function that JAX
// attached to the execution.
type PythonCallback struct {
	Index uint64
	Token bool // the function accepts and returns a token first
}

// Handle implements runtime.Handler. It must run on the thread of the hook.
func (h PythonCallback) Handle(_ context.Context, c *runtime.Call) error {
	frame := C.hl_current_frame()
	if frame == nil {
		return errors.New("a Python callback was called outside of a plugin's run")
	}
	operands, results := c.Operands, c.Results
	if h.Token {
		operands, results = append([]*tensor.Tensor{nil}, operands...), append([]*tensor.Tensor{nil}, results...)
	}
	return CallPython(unsafe.Pointer(C.hl_python_functions(frame, C.uint64_t(h.Index))), h.Index, operands, results)
}

// hlocbPython is called by the C handler of JAX's own custom calls. It returns nil, or a message that C frees.
//
//export hlocbPython
func hlocbPython(frame *C.hl_ffi_frame) *C.char {
	return hostCall(frame, hostMemory{}, func(operands, results []*tensor.Tensor) error {
		index, ok := integers(&frame.attrs)["index"]
		if !ok {
			return errors.New("the callback has no integer attribute 'index'")
		}
		return CallPython(unsafe.Pointer(C.hl_python_functions(frame, C.uint64_t(index))), uint64(index), operands, results)
	})
}

// CallPython calls a Python function of the list that JAX attached to an execution. A nil tensor is a token.
func CallPython(functions unsafe.Pointer, index uint64, operands, results []*tensor.Tensor) error {
	var pin goruntime.Pinner
	defer pin.Unpin()
	list := func(tensors []*tensor.Tensor, data func(*tensor.Tensor) []byte) []C.hl_value {
		out := make([]C.hl_value, len(tensors), len(tensors)+1)
		for i, t := range tensors {
			if t == nil {
				out[i].dtype = C.HL_FFI_TOKEN
				continue
			}
			b, shape := data(t), t.Shape()
			out[i] = C.hl_value{size: C.size_t(len(b)), dtype: C.int32_t(xlatypes.FFICode(t.DType())), rank: C.int64_t(len(shape))}
			if len(b) > 0 {
				pin.Pin(&b[0])
				out[i].data = unsafe.Pointer(&b[0])
			}
			if len(shape) > 0 {
				pin.Pin(&shape[0])
				out[i].dims = (*C.int64_t)(unsafe.Pointer(&shape[0]))
			}
		}
		return out
	}
	in, out := list(operands, (*tensor.Tensor).Peek), list(results, (*tensor.Tensor).Bytes)
	var message *C.char
	if !C.hl_python_call(functions, C.uint64_t(index), unsafe.SliceData(in), C.size_t(len(in)), unsafe.SliceData(out), C.size_t(len(out)), &message) {
		return &PythonError{takeMessage(message)}
	}
	return nil
}

// PythonError is an exception in a Python callback, with its traceback.
type PythonError struct{ Message string }

func (e *PythonError) Error() string { return e.Message }
