//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// layout is the layout of the struct that a plugin's register_handler reads. The plugin does not check the layout; a
// wrong layout crashes it.
type layout int

const (
	layoutUnknown   layout = iota
	layoutPlain            // target, handler, platform, traits
	layoutVersioned        // target, version, handler, platform, traits
)

// registrationLayout chooses the layout by the plugin's API version. Versions from 0.81 on use the plain layout. The
// versioned layout was in use for some weeks before; for older plugins FindLayout determines the layout.
func (p *Plugin) registrationLayout() layout {
	if _, minor := p.Version(); minor >= 81 {
		return layoutPlain
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.layout
}

// Probe tries one layout of handler registration on a plugin in another process, by calling TryRegistration there. It
// returns an error if that process failed or crashed.
type Probe func(path, platform string, versioned bool) error

// FindLayout finds the layout of handler registration if the plugin's version does not determine it. A wrong layout
// crashes the process, so probe must use another process.
func (p *Plugin) FindLayout(platform string, probe Probe) error {
	if p.registrationLayout() != layoutUnknown {
		return nil
	}
	var errs []error
	for _, l := range []layout{layoutPlain, layoutVersioned} {
		if err := probe(p.path, platform, l == layoutVersioned); err != nil {
			errs = append(errs, err)
			continue
		}
		p.mu.Lock()
		p.layout = l
		p.mu.Unlock()
		return nil
	}
	return &NoFFIError{p.path, fmt.Sprintf("no known layout of handler registration works: %v", errors.Join(errs...))}
}

// TryRegistration loads a plugin, registers a handler with one layout, and checks that the plugin calls it: XLA asks a
// handler for its version at registration. If the plugin reads another layout the process crashes, so call
// TryRegistration in a child process.
func TryRegistration(path, platform string, versioned bool) error {
	p, err := Load(path)
	if err != nil {
		return err
	}
	l := layoutPlain
	if versioned {
		l = layoutVersioned
	}
	if err := p.register("hlocb_probe", C.hl_probe_handler, platform, l); err != nil {
		return err
	}
	if !C.hl_probed() {
		return &NoFFIError{p.path, "it has registered a handler but not requested its version"}
	}
	return nil
}

// NoFFIError says that a plugin cannot call hooks.
type NoFFIError struct{ Path, Reason string }

func (e *NoFFIError) Error() string {
	return fmt.Sprintf("%s cannot call hooks: %s", e.Path, e.Reason)
}

// RegisterHooks registers the targets of hooks with the plugin, on the platform of a client ("cpu"). Programs that call
// a hook compile only after that. RegisterHooks may be called again.
func (p *Plugin) RegisterHooks(platform string) error {
	return p.register(hook.Target, C.hl_hook_handler, platform, p.registrationLayout())
}

// Yardstick is a handler that does a part of the work of a hook's handler, under its own custom-call target. A module
// whose hooks call a yardstick instead shows the cost of that part.
type Yardstick struct {
	Target, Does string
	handler      unsafe.Pointer
}

// RegisterYardsticks registers the yardsticks with the plugin and returns them. Each includes the work of the previous
// one. The first does nothing.
func (p *Plugin) RegisterYardsticks(platform string) ([]Yardstick, error) {
	list := []Yardstick{
		{"hlocb_noop", "XLA calls a C function", C.hl_noop_handler},
		{"hlocb_ids", "reads hook, run and device", C.hl_ids_handler},
		{"hlocb_cross", "calls Go", C.hl_cross_handler},
	}
	for _, y := range list {
		if err := p.register(y.Target, y.handler, platform, p.registrationLayout()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// InC returns an executable whose runs on buffers repeat e on one device in C: the yardstick for the cost of a step. It
// calls no hooks and cannot be cancelled. Result i of a step is argument carried[i] of the next step, unless carried[i]
// is -1.
func (e *Executable) InC(steps int64, carried []int64) (runtime.Executable, error) {
	if len(carried) != len(e.results) {
		return nil, fmt.Errorf("%d results are carried, the program has %d", len(carried), len(e.results))
	}
	for i, argument := range carried {
		if argument < -1 || argument >= int64(len(e.inputs)) {
			return nil, fmt.Errorf("result %d is carried to argument %d, the program has %d", i, argument, len(e.inputs))
		}
	}
	return &repeater{e, steps, carried}, nil
}

type repeater struct {
	*Executable
	steps   int64
	carried []int64
}

// RunMemory implements runtime.Executable.
func (r *repeater) RunMemory(ctx context.Context, args []runtime.Memory, donated []bool) ([]runtime.Memory, error) {
	return r.runMemory(ctx, args, &request{donated: donated, steps: r.steps, carried: r.carried})
}

// RegisterHandler registers an XLA FFI handler, for instance a symbol of a shared library, under a target. The first
// registration of a target stays. A second registration with another handler is an error; the plugin would ignore it
// silently.
func (p *Plugin) RegisterHandler(target string, handler unsafe.Pointer, platform string) error {
	return p.register(target, handler, platform, p.registrationLayout())
}

// registration is the outcome of register for a target on a platform.
type registration struct {
	handler unsafe.Pointer
	err     error
}

func (p *Plugin) register(target string, handler unsafe.Pointer, platform string, l layout) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := target + "\x00" + platform
	if r, done := p.registered[key]; done {
		if r.err == nil && r.handler != handler {
			return fmt.Errorf("custom-call target %q of %s already has another handler", target, p.path)
		}
		return r.err
	}
	err := p.registerOnce(target, handler, platform, l)
	p.registered[key] = registration{handler, err}
	return err
}

func (p *Plugin) registerOnce(target string, handler unsafe.Pointer, platform string, l layout) error {
	ext := (*C.hl_ffi_ext)(unsafe.Pointer(C.hl_find_ext(p.api, C.HL_EXT_FFI)))
	if ext == nil {
		return &NoFFIError{p.path, "it has no FFI extension"}
	}
	if uintptr(ext.base.size) < unsafe.Sizeof(*ext) || ext.register_handler == nil {
		return &NoFFIError{p.path, "its FFI extension cannot register handlers"}
	}
	if l == layoutUnknown {
		major, minor := p.Version()
		return &NoFFIError{p.path, fmt.Sprintf("the layout of handler registration in PJRT API %d.%d is not known", major, minor)}
	}
	return p.check("register "+target, C.hl_register(p.api, ext, C.bool(l == layoutVersioned), cText(target), handler, cText(platform)))
}
