//go:build cgo

// Command libhlocb_pjrt is a PJRT plugin that wraps another plugin: see package interpose. Build it as a C shared
// library (make interposer). Its only symbol is GetPjrtApi. The environment configures it: HLOCB_PLUGIN names the
// plugin to wrap, and interpose.FromEnvironment reads the other variables.
package main

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl
// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func main() {}

// interposer is created at the first call of GetPjrtApi. A mistake in the settings is reported. The program then
// continues without the settings, or ends if they are strict.
var interposer = sync.OnceValue(func() *interpose.Interposer {
	config, host := interpose.FromEnvironment(getenv), interpose.Host{Out: os.Stderr, Err: os.Stderr, Standard: os.Stdout, Plugins: plugins.System()}
	i, err := interpose.New(config, host)
	if err == nil {
		return i
	}
	report(err)
	if config.Strict {
		os.Exit(interpose.ExitFailed)
	}
	if i, err = interpose.New(interpose.Config{}, host); err != nil {
		panic(err) // nothing is configured
	}
	return i
})

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
	i := interposer()
	i.Close()
	return C.int(i.ExitCode())
}
