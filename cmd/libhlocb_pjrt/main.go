//go:build cgo

// Command libhlocb_pjrt is a PJRT plugin that wraps another one: see package interpose. Build it as a C shared library
// (make interposer). Its only symbol is GetPjrtApi. The environment says what to do: HLOCB_PLUGIN names the plugin to
// wrap, the other variables are those of interpose.FromEnvironment.
package main

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl
// #include <stdint.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/hlocb/hlocb/runtime/interpose"
)

func main() {}

// interposer is made at the first call of GetPjrtApi.
var interposer = sync.OnceValues(func() (*interpose.Interposer, error) {
	return interpose.New(interpose.FromEnvironment(os.Getenv), interpose.Host{Out: os.Stderr, Err: os.Stderr})
})

// hlocbTable returns the table to hand to the framework: a copy of api, or of the table of HLOCB_PLUGIN if api is 0. It
// returns 0 after an error.
//
//export hlocbTable
func hlocbTable(api C.uintptr_t) C.uintptr_t {
	out, err := table(uintptr(api))
	if err != nil {
		fmt.Fprintf(os.Stderr, "hlocb: %v\n", err)
		return api // the framework's program goes on without hlocb, if it can
	}
	return C.uintptr_t(out)
}

func table(api uintptr) (uintptr, error) {
	i, err := interposer()
	if err != nil {
		return 0, err
	}
	if api != 0 {
		return i.Wrap(api, "the plugin")
	}
	path := os.Getenv("HLOCB_PLUGIN")
	if path == "" {
		return 0, errors.New("HLOCB_PLUGIN is not set: it names the PJRT plugin to use")
	}
	return i.WrapPlugin(path)
}

// hlocbEnd writes out what handlers have buffered and returns the exit code that the process should have, or 0.
//
//export hlocbEnd
func hlocbEnd() C.int {
	i, err := interposer()
	if err != nil {
		return 0
	}
	i.Flush()
	return C.int(i.ExitCode())
}
