//go:build cgo

package main

// #include <stdint.h>
import "C"

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/engineplugin"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// memoryLimit returns the limit for all values in bytes, which 'hlocb exec --memory-limit' sets; 0 means none.
func memoryLimit() int64 {
	text := getenv("HLOCB_ENGINE_MEMORY")
	n, err := strconv.ParseInt(text, 10, 64)
	if text != "" && (err != nil || n < 0) {
		report(fmt.Errorf("HLOCB_ENGINE_MEMORY is %q; expected a number of bytes, so there is no limit", text))
		return 0
	}
	return n
}

// hlocbEngineTable returns the engine's function table.
//
//export hlocbEngineTable
func hlocbEngineTable() C.uintptr_t {
	return C.uintptr_t(engineplugin.Table(engineplugin.Host{
		Version: version(), Getenv: getenv, Err: os.Stderr, Targets: backends.EngineTargets(plugins.System()), Interposer: interposer(),
		MemoryLimit: memoryLimit(),
	}))
}

// hlocbEngineConfigure waits for the engine's runs that have started, writes what their handlers hold, and looks into
// the programs compiled from now on as the JSON text of an interpose.Config says. Nil restores the settings of the
// environment. Probes print nothing: they write to the file of events. It returns nil, or the text of an error, which
// the caller frees.
//
//export hlocbEngineConfigure
func hlocbEngineConfigure(text *C.char) *C.char {
	next := interposer()
	if text != nil {
		var config interpose.Config
		d := json.NewDecoder(strings.NewReader(C.GoString(text)))
		d.DisallowUnknownFields()
		err := d.Decode(&config)
		if err == nil {
			next, err = interpose.New(config, host(io.Discard))
		}
		if err != nil {
			return C.CString(err.Error())
		}
	}
	if old := engineplugin.SetInterposer(next); old != interposer() {
		old.Close()
	} else {
		old.Flush() // programs that were compiled with the settings of the environment keep them
	}
	return nil
}

// interposers returns the interposer of the environment, and the engine's if it has another one.
func interposers() []*interpose.Interposer {
	out := []*interpose.Interposer{interposer()}
	if i := engineplugin.Interposer(); i != nil && i != out[0] {
		out = append(out, i)
	}
	return out
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
