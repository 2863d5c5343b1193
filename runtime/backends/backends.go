package backends

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// Options configure the search for plugins and the backends.
type Options struct {
	Plugins plugins.Environment
	Devices int // number of devices of a CPU backend; 0 is the default of the plugin and the program
	// Probe calls TryRegistration in another process, for plugins whose version does not determine how handlers are
	// registered. If it is nil, such plugins cannot call hooks.
	Probe func(path, platform string, versioned bool) error
	// EndRuns is pjrt.Options.EndRuns: a run on a plugin that reaches no hook in time is given up, with its backend.
	EndRuns bool
	// Client is pjrt.Options.Client: options of the plugin's client by name.
	Client map[string]any
	// Trim is pjrt.Options.Trim: memory that a plugin frees while it compiles goes back to the system.
	Trim bool
	// Skipped is called with every plugin that was found and could not be used, if a later plugin is used. It may be
	// nil.
	Skipped func(Candidate)
	// Engine are the limits of the embedded engine.
	Engine interp.Options
}

// UnknownError says that no backend has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown backend %q: expected auto, engine, cpu, cuda or the path of a PJRT plugin", e.Name)
}

// OpenError lists the plugins that could not be used, with the reasons. Open uses no other backend instead.
type OpenError struct {
	Name       string
	Candidates []Candidate
}

// Candidate is a plugin that could not be used.
type Candidate struct {
	Plugin plugins.Plugin
	Err    error
}

// String returns the path, the place where the plugin was found, and the loader's message.
func (c Candidate) String() string {
	reason := c.Err.Error()
	var load interface{ LoadReason() string } // a *pjrt.LoadError names the path itself
	if errors.As(c.Err, &load) {
		reason = load.LoadReason()
	}
	return fmt.Sprintf("%s (%s): %s", c.Plugin.Path, c.Plugin.Origin, reason)
}

func (e *OpenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no usable PJRT plugin for %q; tried:", e.Name)
	for _, t := range e.Candidates {
		fmt.Fprintf(&b, "\n  %s", t)
	}
	return b.String()
}

// Unwrap returns the errors of the plugins.
func (e *OpenError) Unwrap() []error {
	var errs []error
	for _, t := range e.Candidates {
		errs = append(errs, t.Err)
	}
	return errs
}

// HandlerError says that a handler in a shared library cannot be used.
type HandlerError struct{ Cause error }

func (e *HandlerError) Error() string { return e.Cause.Error() }

// Unwrap returns the reason.
func (e *HandlerError) Unwrap() error { return e.Cause }

// Engine is the name of the embedded engine.
const Engine = "engine"

// Open opens the named backend: Engine ("interp" is its older name), a platform ("cpu", "cuda", ...), a version of its
// plugin ("cpu@0.0.1"), the path of a plugin, or "auto". "auto" is the CPU plugin if the search finds one, else the
// embedded engine; Describe says which.
//
// The error is an *UnknownError for an unknown name, a *plugins.NotFoundError if no plugin was found, and an *OpenError
// if the plugins that were found cannot be used.
func Open(_ context.Context, name string, opts Options) (runtime.Backend, error) {
	switch name {
	case Engine, "interp":
		return openEngine(opts), nil
	case "auto":
		found, err := opts.Plugins.Find("cpu")
		if errors.As(err, new(*plugins.NotFoundError)) || !havePlugins {
			return openEngine(opts), nil
		}
		if err != nil {
			return nil, err
		}
		return openPlugins("cpu", found, opts)
	}
	if name == "" || !plugins.IsPath(name) && !isPlatform(name) && !isOffered(name, opts.Plugins) {
		return nil, &UnknownError{name}
	}
	if !havePlugins {
		return nil, fmt.Errorf("backend %q needs cgo, and this build has none: build with CGO_ENABLED=1, or use the embedded engine", name)
	}
	found, err := opts.Plugins.Find(name)
	if err != nil {
		return nil, err
	}
	return openPlugins(name, found, opts)
}

// openEngine opens the embedded engine, which every build has.
func openEngine(opts Options) runtime.Backend {
	if opts.Engine.Targets == nil {
		opts.Engine.Targets = EngineTargets(opts.Plugins)
	}
	return interp.New(opts.Engine)
}

// platforms are names of plugins, whether or not one is installed.
var platforms = map[string]bool{"cpu": true, "cuda": true, "rocm": true, "tpu": true}

// isPlatform reports whether name is a platform, or a platform with a version.
func isPlatform(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return platforms[name]
}

func isOffered(name string, env plugins.Environment) bool {
	name, _, _ = strings.Cut(name, "@")
	return slices.ContainsFunc(env.List(), func(p plugins.Plugin) bool { return p.Name == name })
}
