package backends

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// Options says where plugins are looked for and how backends are made.
type Options struct {
	Plugins plugins.Environment
	Devices int // how many devices a CPU backend has; 0 leaves it to the plugin and the program
	// Probe calls TryRegistration in another process, for plugins whose version does not tell how handlers are
	// registered; nil refuses hooks on those.
	Probe func(path, platform string, versioned bool) error
	// Skipped gets every plugin that was found and could not be used where a later one is taken; nil is for those who
	// do not want to know.
	Skipped func(Tried)
	// Engine are the limits of the embedded engine.
	Engine interp.Options
}

// UnknownError says that no backend has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown backend %q: expected auto, engine, cpu, cuda or the path of a PJRT plugin", e.Name)
}

// OpenError lists the plugins that were tried and why none could be used. Nothing else is taken in their place.
type OpenError struct {
	Name  string
	Tried []Tried
}

// Tried is a plugin that could not be used.
type Tried struct {
	Plugin plugins.Plugin
	Err    error
}

// String gives the path, where it was found, and the loader's words.
func (t Tried) String() string {
	why := t.Err.Error()
	var load interface{ LoadReason() string } // a *pjrt.LoadError names the path itself
	if errors.As(t.Err, &load) {
		why = load.LoadReason()
	}
	return fmt.Sprintf("%s (%s): %s", t.Plugin.Path, t.Plugin.Origin, why)
}

func (e *OpenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no usable PJRT plugin for %q; tried:", e.Name)
	for _, t := range e.Tried {
		fmt.Fprintf(&b, "\n  %s", t)
	}
	return b.String()
}

// Unwrap returns what each plugin answered.
func (e *OpenError) Unwrap() []error {
	var errs []error
	for _, t := range e.Tried {
		errs = append(errs, t.Err)
	}
	return errs
}

// HandlerError says that a handler in a shared library cannot be used.
type HandlerError struct{ Cause error }

func (e *HandlerError) Error() string { return e.Cause.Error() }

// Unwrap returns why.
func (e *HandlerError) Unwrap() error { return e.Cause }

// Engine is the name of the embedded engine.
const Engine = "engine"

// Open makes the named backend: Engine ("interp" is its older name), a platform ("cpu", "cuda", ...), the path of a plugin, or "auto", which
// is the CPU plugin where one is found and the embedded engine otherwise. Describe says which it became.
//
// The error is an *UnknownError for a name that means nothing, a *plugins.NotFoundError where no plugin was
// found, and an *OpenError where those that were found cannot be used.
func Open(ctx context.Context, name string, opts Options) (runtime.Backend, error) {
	switch name {
	case Engine, "interp":
		return openInterp(ctx, opts)
	case "auto":
		found, err := opts.Plugins.Find("cpu")
		var missing *plugins.NotFoundError
		if errors.As(err, &missing) || !havePlugins {
			return openInterp(ctx, opts)
		}
		if err != nil {
			return nil, err
		}
		return openPlugins("cpu", found, opts)
	}
	if name == "" || !plugins.IsPath(name) && !platforms[name] && !offered(name, opts.Plugins) {
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

// platforms are the names that mean a plugin even where none is found.
var platforms = map[string]bool{"cpu": true, "cuda": true, "rocm": true, "tpu": true}

func offered(name string, env plugins.Environment) bool {
	for _, p := range env.List() {
		if p.Name == name {
			return true
		}
	}
	return false
}
