//go:build cgo

package pjrt

// #cgo CFLAGS: -Werror=vla
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "calls.h"
// #include "crash.h"
import "C"

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"
)

// Plugin is a loaded PJRT plugin. It stays loaded until the process ends, because no plugin can be unloaded safely.
type Plugin struct {
	path string
	api  *C.hl_api
	copy C.hl_device_copy // nil if the plugin has none

	attributes []Attribute

	mu         sync.Mutex
	registered map[string]registration // by target and platform
	build      string                  // see builder
	layout     layout                  // see FindLayout
	kept       []*value                // of lost backends
	cuda       DeviceMemory            // see cudaMemory; nil before it is needed
}

// keep keeps a value until the process ends. The garbage collector must not see its pinned memory unreachable.
func (p *Plugin) keep(v *value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, v)
}

// Attribute is a named property of a plugin, for instance xla_version or stablehlo_current_version. Value is a string,
// int64, []int64, float32 or bool.
type Attribute struct {
	Name  string
	Value any
}

// LoadError says why a file could not be loaded as a plugin.
type LoadError struct {
	Path   string
	Reason string
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("%s is not a usable PJRT plugin: %s", e.Path, e.Reason)
}

// LoadReason returns the reason without the path.
func (e *LoadError) LoadReason() string { return e.Reason }

// loaded holds the process's plugins by resolved path. Loading is global: a second dlopen of a file returns the same
// table, which must be initialized once.
var loaded struct {
	sync.Mutex
	plugins map[string]*Plugin
}

// minimumMinor is the oldest API version (0.x) whose argument structs abi.h describes.
const minimumMinor = 54

// Load loads the plugin in a shared object, once per process and file: a second Load returns the same Plugin. Every
// failure is a *LoadError.
func Load(path string) (*Plugin, error) {
	fail := func(format string, args ...any) (*Plugin, error) {
		return nil, &LoadError{path, fmt.Sprintf(format, args...)}
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return fail("%v", err)
	}
	if info, err := os.Stat(real); err != nil {
		return fail("%v", err)
	} else if !info.Mode().IsRegular() {
		return fail("it is not a regular file")
	}

	loaded.Lock()
	defer loaded.Unlock()
	if p := loaded.plugins[real]; p != nil {
		return p, nil
	}
	var message *C.char
	library := C.hl_open(cText(real), &message)
	if library == nil {
		return fail("%s", openFailure(real, takeMessage(message)))
	}
	api := C.hl_get_api(library, &message)
	if api == nil {
		C.hl_close(library)
		return fail("%s", takeMessage(message))
	}
	if api.size < C.sizeof_hl_api {
		return fail("its table has %d bytes", api.size)
	}
	C.hl_name_plugin(api, C.CString(real)) // for the rest of the process
	p := &Plugin{path: real, api: api, copy: C.hl_find_copy(api), registered: map[string]registration{}}
	if major, minor := p.Version(); major != 0 || minor < minimumMinor {
		return fail("its PJRT API is %d.%d, 0.%d or later is needed", major, minor, minimumMinor)
	}
	for _, fn := range []C.int{C.HL_CLIENT_CREATE, C.HL_CLIENT_COMPILE, C.HL_LOADED_EXECUTE, C.HL_EXECUTABLE_OUTPUT_TYPES, C.HL_EXECUTABLE_OUTPUT_DIMENSIONS} {
		if !C.hl_has(api, fn) {
			return fail("its table has no %s", C.GoString(C.hl_function(fn)))
		}
	}
	if err := invoke(p, "initialize", C.HL_PLUGIN_INITIALIZE, &C.hl_plain_args{}); err != nil {
		return fail("%v", err)
	}
	var a C.hl_plugin_attributes_args
	if err := invoke(p, "attributes", C.HL_PLUGIN_ATTRIBUTES, &a); err == nil {
		values, err := elements(p, "attributes", a.attributes, a.num_attributes)
		if err != nil {
			return fail("%v", err)
		}
		for i := range values {
			v := &values[i]
			p.attributes = append(p.attributes, Attribute{goText(v.name, v.name_size), namedValue(v)})
		}
	}
	if loaded.plugins == nil {
		loaded.plugins = map[string]*Plugin{}
	}
	loaded.plugins[real] = p
	return p, nil
}

func namedValue(v *C.hl_named_value) any {
	at := unsafe.Pointer(&v.value)
	switch v._type {
	case C.HL_VALUE_STRING:
		return goText(*(**C.char)(at), v.value_size)
	case C.HL_VALUE_INT64:
		return *(*int64)(at)
	case C.HL_VALUE_INT64_LIST:
		if list := *(**int64)(at); v.value_size == 0 || list != nil && v.value_size <= maxItems {
			return append([]int64(nil), unsafe.Slice(list, int(v.value_size))...)
		}
	case C.HL_VALUE_FLOAT:
		return *(*float32)(at)
	case C.HL_VALUE_BOOL:
		return *(*bool)(at)
	}
	return nil
}

// Path returns the file of the plugin, symbolic links resolved.
func (p *Plugin) Path() string { return p.path }

// Version returns the version of the PJRT C API that the plugin was built with.
func (p *Plugin) Version() (major, minor int) {
	return int(p.api.version.major), int(p.api.version.minor)
}

// Attributes returns the plugin's properties, in its order.
func (p *Plugin) Attributes() []Attribute { return p.attributes }

// API returns the address of the plugin's function table, the result of GetPjrtApi. Other bindings of the PJRT C API in
// the same process can use the plugin through it.
func (p *Plugin) API() uintptr { return uintptr(unsafe.Pointer(p.api)) }

// Extension is an optional part of the C API that a plugin has.
type Extension struct {
	Type int
	Name string
}

// extensionNames are the names of the extensions of PJRT API 0.115, by type.
var extensionNames = [...]string{"gpu custom call", "profiler", "custom partitioner", "stream", "layouts", "ffi", "memory descriptions",
	"triton", "raw buffer", "phase compile", "example", "unknown", "cross-host transfers", "executable metadata", "callback", "host allocator",
	"tpu topology", "tpu executable", "megascale", "shardings", "abi version", "collectives", "multi-slice", "host memory allocator", "xla transform"}

// Extensions returns the plugin's extensions, in its order.
func (p *Plugin) Extensions() []Extension {
	var out []Extension
	for e := p.api.ext; e != nil && len(out) < C.HL_EXTENSIONS; e = e.next {
		t := int(e._type)
		name := fmt.Sprintf("type %d", t)
		if t >= 0 && t < len(extensionNames) {
			name = extensionNames[t]
		}
		out = append(out, Extension{t, name})
	}
	return out
}

// UserData reports whether the FFI extension attaches data to executions.
func (p *Plugin) UserData() bool {
	ext := (*C.hl_ffi_ext)(unsafe.Pointer(C.hl_find_ext(p.api, C.HL_EXT_FFI)))
	return ext != nil && uintptr(ext.base.size) >= unsafe.Offsetof(ext.register_handler) && ext.add_user_data != nil
}

// openFailure returns why the file of a plugin cannot be opened: message, unless the file is for another processor. The
// loader then says that the file does not exist.
func openFailure(path, message string) string {
	f, err := elf.Open(path)
	if err != nil {
		return message
	}
	defer f.Close()
	own, err := elf.Open("/proc/self/exe")
	if err != nil {
		return message
	}
	defer own.Close()
	if f.Machine == own.Machine && f.Class == own.Class {
		return message
	}
	return fmt.Sprintf("it is built for another processor, %s instead of %s", f.Machine, own.Machine)
}

// ReportCrashes lets a crash inside a plugin end the process with one line that names the plugin and its function, and
// with the number of the signal plus 128. It is for commands: it changes the process's signal handlers.
func ReportCrashes() { C.hl_report_crashes() }
