//go:build cgo

// Command libhlocb_engine is a PJRT plugin that runs programs on hlocb's embedded engine: see package engineplugin.
// Build it as a C shared library (make engine). Its only symbol is GetPjrtApi.
package main

// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/engineplugin"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func main() {}

// getenv reads a variable from the current environment of the process. Go's runtime keeps a copy of the initial
// environment, and a Python program may change a variable before it imports JAX.
func getenv(name string) string {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.GoString(C.getenv(cname))
}

// interposer looks into the programs as the environment says. A mistake in the settings is reported. The program then
// continues without the settings, or ends if they are strict.
var interposer = sync.OnceValue(func() *interpose.Interposer {
	config, host := interpose.FromEnvironment(getenv), interpose.Host{Out: os.Stderr, Err: os.Stderr, Plugins: plugins.System()}
	i, err := interpose.New(config, host)
	if err == nil {
		return i
	}
	fmt.Fprintf(os.Stderr, "hlocb: %s\n", diag.EscapeLines(err.Error()))
	if config.Strict {
		os.Exit(interpose.ExitFailed)
	}
	if i, err = interpose.New(interpose.Config{}, host); err != nil {
		panic(err) // nothing is configured
	}
	return i
})

// hlocbEngineTable returns the plugin's function table.
//
//export hlocbEngineTable
func hlocbEngineTable() C.uintptr_t {
	return C.uintptr_t(engineplugin.Table(engineplugin.Host{
		Version: version(), Getenv: getenv, Err: os.Stderr, Targets: backends.EngineTargets(plugins.System()), Interposer: interposer(),
	}))
}

// version identifies this build, so that no cache serves the programs of another one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}

// hlocbEngineEnd flushes the buffers of handlers and returns the exit code that the process should have, or 0.
//
//export hlocbEngineEnd
func hlocbEngineEnd() C.int {
	i := interposer()
	i.Flush()
	return C.int(i.ExitCode())
}
