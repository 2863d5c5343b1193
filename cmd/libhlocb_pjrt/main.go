//go:build cgo

// Command libhlocb_pjrt is two PJRT plugins in one C shared library (make interposer). GetPjrtApi returns a plugin
// that wraps another one: see package interpose. HLOCB_PLUGIN names the plugin to wrap. hlocb_engine_api returns the
// embedded engine: see package engineplugin. A framework finds a plugin by the file of a library, so the engine has a
// file of its own, libhlocb_engine.so, which loads this library. interpose.FromEnvironment reads the settings of both.
package main

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl
// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func main() {}

// interposer is created at the first use of a plugin.
var interposer = sync.OnceValue(func() *interpose.Interposer {
	i, err := interpose.Open(getenv, host(os.Stderr))
	if err != nil {
		report(err)
		os.Exit(interpose.ExitFailed)
	}
	return i
})

// host returns the streams of an interposer whose probes print to out.
func host(out io.Writer) interpose.Host {
	return interpose.Host{Out: out, Err: os.Stderr, Standard: os.Stdout, Plugins: plugins.System()}
}

// getenv reads a variable from the current environment of the process. Go's runtime keeps a copy of the initial
// environment, and a Python program may change a variable before it imports JAX.
func getenv(name string) string {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.GoString(C.getenv(cname))
}

func report(err error) { fmt.Fprintf(os.Stderr, "hlocb: %s\n", diag.EscapeLines(err.Error())) }

// hlocbTable returns the table for the framework: a copy of api, or of the table of HLOCB_PLUGIN if api is 0. It
// returns 0 after an error.
//
//export hlocbTable
func hlocbTable(api C.uintptr_t) C.uintptr_t {
	out, err := table(uintptr(api))
	if err != nil {
		report(err)
		return api // without hlocb, if the framework's program can continue
	}
	return C.uintptr_t(out)
}

func table(api uintptr) (uintptr, error) {
	i := interposer()
	if api != 0 {
		return i.Wrap(api, "the plugin")
	}
	path := getenv("HLOCB_PLUGIN")
	if path == "" {
		return 0, errors.New("HLOCB_PLUGIN is not set: it names the PJRT plugin to use")
	}
	return i.WrapPlugin(path)
}

// hlocbEnd closes the files of handlers and returns the exit code that the process should have, or 0.
//
//export hlocbEnd
func hlocbEnd() C.int {
	code := 0
	for _, i := range interposers() {
		i.Close()
		if code == 0 {
			code = i.ExitCode()
		}
	}
	return C.int(code)
}
