package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// bindFlags are the flags that bind handlers.
type bindFlags struct {
	on     []string
	inject []string
	print  bool
	probes bool
	sinkFlags
	closers  []func() error
	outputs  command.Outputs
	taps     []hook.ID // probes that --tap and --bisect-nan added
	handlers *probe.Handlers
	manifest *hook.Manifest // of the program whose probes handlers serves
	bindings runtime.Bindings
	own      []string // names of the engine's own hooks: see ownHooks
	ran      bool     // the program was started
}

// ownHooks returns the names of the ops in a module that are hooks of the embedded engine only, and in no manifest:
// interpreter.print, whose name is print, and interpreter.probe, whose name is its probe_id.
func ownHooks(m *ir.Module) []string {
	var out []string
	m.Walk(func(op *ir.Op) bool {
		name := ""
		switch op.Def() {
		case interpreter.Print:
			name = "print"
		case interpreter.Probe:
			name = view.String(op.Attr(interpreter.AttrProbeID))
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
		return true
	})
	return out
}

// ownPrint prints the values of interpreter.print.
type ownPrint struct{ *handlers.Print }

// Handle prints the event, unless it belongs to another hook of the same name.
func (p ownPrint) Handle(ctx context.Context, c *runtime.Call) error {
	if c.Site.Format != "print" {
		return nil
	}
	return p.Print.Handle(ctx, c)
}

// handlerEnv returns the environment of handlers. out.Open opens the files that they create. With beside, a file is
// written under another name and renamed when it is complete.
func (a *app) handlerEnv(out *command.Outputs, beside bool) *handlers.Env {
	create := func(beside bool) func(name string) (io.WriteCloser, error) {
		return func(name string) (io.WriteCloser, error) {
			if name == "-" {
				out.Standard = true
				return command.KeepOpen(a.Out), nil
			}
			return out.Add(name, beside, strings.HasSuffix(name, handlers.DataSuffix)), nil
		}
	}
	return &handlers.Env{
		Out:    textOutput{a, out},
		Err:    a.Err,
		Create: create(beside),
		Whole:  create(true),
		Open: func(name string) (io.ReadCloser, error) {
			if name == "-" {
				return io.NopCloser(a.In), nil
			}
			out.Inputs = append(out.Inputs, name)
			return os.Open(name)
		},
		Library: backends.LoadHandler,
	}
}

// textOutput writes text for people to standard output, or to standard error if standard output holds data in a format.
type textOutput struct {
	a   *app
	out *command.Outputs
}

func (o textOutput) Write(p []byte) (int, error) {
	if o.out.Standard {
		return o.a.Err.Write(p)
	}
	return o.a.Out.Write(p)
}

// bind creates the handlers. Call close after every run, even after a failed run.
func (f *bindFlags) bind(a *app) error {
	env := a.handlerEnv(&f.outputs, false)
	if f.print {
		f.bindings.Observe("*", handlers.NewPrint(env.Out, 0))
	} else if slices.Contains(f.own, "print") {
		f.bindings.Observe("print", ownPrint{handlers.NewPrint(env.Out, 0)})
	}
	for _, spec := range f.on {
		name, handler, ok := handlers.CutBinding(spec)
		if !ok {
			return usagef("--on %s: expected NAME=HANDLER", spec)
		}
		h, observer, err := handlers.Parse(handler, env)
		if err != nil {
			if errors.As(err, new(*os.PathError)) || errors.As(err, new(*backends.HandlerError)) {
				return err // not an error of the command line: the file is missing or invalid
			}
			guess := ""
			if unknown, ok := errors.AsType[*handlers.UnknownError](err); ok {
				guess = command.Suggest(unknown.Name, handlers.Names())
			}
			return usagef("--on %s: %w%s", spec, err, guess)
		}
		if c, ok := h.(io.Closer); ok {
			f.closers = append(f.closers, c.Close)
		}
		if observer {
			f.bindings.Observe(name, h)
		} else {
			f.bindings.Answer(name, h)
		}
	}
	if err := f.bindSinks(a, env); err != nil {
		return err
	}
	return f.bindFaults(a)
}

func (f *bindFlags) bindFaults(a *app) error {
	for _, spec := range f.inject {
		name, fault, ok := handlers.CutBinding(spec)
		if !ok {
			return usagef("--inject %s: expected NAME=FAULT", spec)
		}
		injected, err := handlers.ParseFault(fault)
		if err != nil {
			fault, _, _ = strings.Cut(fault, "@")
			fault, _, _ = strings.Cut(fault, "=")
			return usagef("--inject %s: %w%s", spec, err, command.Suggest(fault, handlers.FaultNames()))
		}
		f.bindings.Wrap(name, injected.Wrap)
		f.closers = append(f.closers, func() error {
			if reason := injected.Unfired(); reason != "" && f.ran {
				a.note("warning: --inject %s changed nothing: %s", spec, reason)
			}
			return nil
		})
	}
	return nil
}

// bindAll binds the handlers that the flags and the probes of a program name, and checks that each hook that needs a
// handler has one.
func (f *bindFlags) bindAll(a *app, p *hlocb.Program) error {
	f.own = ownHooks(p.Module())
	if err := f.bind(a); err != nil {
		return err
	}
	if err := f.bindProbes(a, p.Manifest()); err != nil {
		return err
	}
	if err := f.check(p); err != nil {
		return err
	}
	f.warnTaps(a, p.Manifest())
	if _, err := f.bindings.Bind(p.Manifest()); err != nil {
		return err
	}
	return f.outputs.Check()
}

// warnTaps warns of handlers that only supply results and are bound to a tap, whose results are the program's own
// values. Globs usually select taps and other hooks.
func (f *bindFlags) warnTaps(a *app, m *hook.Manifest) {
	for _, spec := range f.on {
		name, handler, _ := handlers.CutBinding(spec)
		kind, _, _ := strings.Cut(handler, ":")
		if kind != "const" && kind != "echo" {
			continue
		}
		if slices.ContainsFunc(m.Sites, func(s hook.Site) bool { return s.Name == name && s.Kind == hook.Tap }) {
			a.note("warning: --on %s has no effect: the hook is a tap, whose results are the program's own values", spec)
		}
	}
}

// check reports names that select no hook of the module. A glob may select none.
func (f *bindFlags) check(p *hlocb.Program) error {
	m := p.Manifest()
	for _, pattern := range f.bindings.Unmatched(m) {
		if strings.ContainsAny(pattern, "*?[") || slices.Contains(f.own, pattern) {
			continue
		}
		names := namesOf(append(names(m.Sites), f.own...), func(name string) string { return words.Shorten(diag.Escape(name), maxNameText) })
		if len(names) == 0 {
			return usagef("no hook is named %q: the module has none%s", pattern, unknownTargets(p.Module()))
		}
		if guess := command.Suggest(pattern, names); guess != "" {
			return usagef("no hook is named %q%s", pattern, guess)
		}
		return usagef("no hook is named %q: the module has %s", pattern, strings.Join(names, ", "))
	}
	return nil
}

// close flushes and closes the handlers, in reverse order of their creation.
func (f *bindFlags) close() error {
	var errs []error
	for _, closer := range slices.Backward(f.closers) {
		if err := closer(); err != nil {
			errs = append(errs, fmt.Errorf("closing a handler: %w", err))
		}
	}
	f.closers = nil
	return errors.Join(errs...)
}
