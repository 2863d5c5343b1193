//go:build cgo

package backends

import (
	"errors"

	"github.com/hlocb/hlocb/internal/ffi"
	"github.com/hlocb/hlocb/internal/lapack"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
)

const havePlugins = true

// openPlugins opens the first plugin that can be used. A plugin that the user chose is the only one in the list.
func openPlugins(name string, found []plugins.Plugin, opts Options) (runtime.Backend, error) {
	failed := &OpenError{Name: name}
	for _, p := range found {
		if err := plugins.CheckSize(p.Path); err != nil {
			failed.Candidates = append(failed.Candidates, Candidate{p, err})
			continue
		}
		b, err := pjrt.Open(p.Path, pjrt.Options{Name: name, Devices: opts.Devices, Probe: opts.Probe, EndRuns: opts.EndRuns, Trim: opts.Trim, Client: opts.Client, Targets: pluginTargets(opts.Plugins)})
		if err == nil {
			if opts.Skipped != nil {
				for _, t := range failed.Candidates {
					opts.Skipped(t)
				}
			}
			return b, nil
		}
		failed.Candidates = append(failed.Candidates, Candidate{p, err})
	}
	return nil, failed
}

// ReportCrashes lets a crash inside a plugin end the process with one line; see pjrt.ReportCrashes.
func ReportCrashes() { pjrt.ReportCrashes() }

// pluginTargets is pjrt.Options.Targets for LAPACK's targets. Their matrices are in column-major order: JAX's programs
// require it, and jaxlib's own handlers accept no other order.
func pluginTargets(env plugins.Environment) func(string) (pjrt.Target, error) {
	library := lapackLibrary(env)
	return func(target string) (pjrt.Target, error) {
		if !lapack.Supports(target) {
			return nil, nil
		}
		l, err := library(target)
		if err != nil {
			return nil, err
		}
		return func(c *pjrt.TargetCall) error {
			return l.Call(target, c.Attrs, lapack.ColumnMajor, c.Operands, c.Results)
		}, nil
	}
}

// HostTargets returns all custom-call targets of JAX that the host can compute for a plugin. They open their library
// when a program calls them.
func HostTargets(env plugins.Environment) map[string]pjrt.Target {
	find := pluginTargets(env)
	targets := map[string]pjrt.Target{}
	for _, name := range lapack.Targets() {
		targets[name] = func(c *pjrt.TargetCall) error {
			t, err := find(name)
			if err != nil {
				return err
			}
			return t(c)
		}
	}
	return targets
}

// TryRegistration registers a handler with a plugin in one of the two known layouts. A wrong layout crashes the
// process, so call it in a child process.
func TryRegistration(path, platform string, versioned bool) error {
	return pjrt.TryRegistration(path, platform, versioned)
}

// LoadHandler loads an XLA FFI handler from a shared library; an empty symbol is ffi.Symbol. The handler works
// on every backend. The error for a missing file is an *fs.PathError, otherwise a *HandlerError.
func LoadHandler(path, symbol string) (runtime.Handler, error) {
	h, err := ffi.Load(path, symbol)
	if errors.As(err, new(*ffi.LibraryError)) {
		return nil, &HandlerError{err}
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}
