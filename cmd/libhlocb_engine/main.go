//go:build cgo

// Command libhlocb_engine is a PJRT plugin that runs programs on hlocb's embedded engine: see package engineplugin.
// Build it as a C shared library (make interposer). It has two symbols,
// GetPjrtApi and hlocb_configure.
package main

// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
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

// fromEnvironment looks into the programs as the environment says. A mistake in the settings is reported. The program
// then continues without the settings, or ends if they are strict.
func fromEnvironment() *interpose.Interposer {
	config := interpose.FromEnvironment(getenv)
	i, err := newInterposer(config, os.Stderr)
	if err == nil {
		return i
	}
	fmt.Fprintf(os.Stderr, "hlocb: %s\n", diag.EscapeLines(err.Error()))
	if config.Strict {
		os.Exit(interpose.ExitFailed)
	}
	if i, err = newInterposer(interpose.Config{}, os.Stderr); err != nil {
		panic(err) // nothing is configured
	}
	return i
}

// newInterposer returns an interposer whose probes print to out.
func newInterposer(c interpose.Config, out io.Writer) (*interpose.Interposer, error) {
	return interpose.New(c, interpose.Host{Out: out, Err: os.Stderr, Standard: os.Stdout, Plugins: plugins.System()})
}

// memoryLimit returns the limit for all values in bytes, which 'hlocb exec --memory-limit' sets; 0 means none.
func memoryLimit() int64 {
	text := getenv("HLOCB_ENGINE_MEMORY")
	n, err := strconv.ParseInt(text, 10, 64)
	if text != "" && (err != nil || n < 0) {
		fmt.Fprintf(os.Stderr, "hlocb: HLOCB_ENGINE_MEMORY is %q; expected a number of bytes, so there is no limit\n", text)
		return 0
	}
	return n
}

// hlocbEngineTable returns the plugin's function table.
//
//export hlocbEngineTable
func hlocbEngineTable() C.uintptr_t {
	return C.uintptr_t(engineplugin.Table(engineplugin.Host{
		Version: version(), Getenv: getenv, Err: os.Stderr, Targets: backends.EngineTargets(plugins.System()), Interposer: fromEnvironment(),
		MemoryLimit: memoryLimit(),
	}))
}

// hlocbEngineConfigure waits for the runs that have started, writes what their handlers hold, and looks into the
// programs compiled from now on as the JSON text of an interpose.Config says. Nil restores the settings of the
// environment. Probes print nothing: they write to the file of events. It returns nil, or the text of an error, which
// the caller frees.
//
//export hlocbEngineConfigure
func hlocbEngineConfigure(text *C.char) *C.char {
	next, err := fromEnvironment, error(nil)
	if text != nil {
		var config interpose.Config
		d := json.NewDecoder(strings.NewReader(C.GoString(text)))
		d.DisallowUnknownFields()
		if err = d.Decode(&config); err == nil {
			var i *interpose.Interposer
			i, err = newInterposer(config, io.Discard)
			next = func() *interpose.Interposer { return i }
		}
	}
	if err != nil {
		return C.CString(err.Error())
	}
	if old := engineplugin.SetInterposer(next()); text == nil {
		old.Close()
	} else {
		old.Flush() // programs that were compiled with the settings of the environment keep them
	}
	return nil
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

// hlocbEngineEnd closes the files of handlers and returns the exit code that the process should have, or 0.
//
//export hlocbEngineEnd
func hlocbEngineEnd() C.int {
	i := engineplugin.Interposer()
	i.Close()
	return C.int(i.ExitCode())
}
