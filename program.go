// Package hlocb runs StableHLO modules with your own callbacks.
//
// [Load] or [Parse] reads a module and converts its hooks: the places where the program calls its host.
// [Program.Compile] binds handlers to the hooks and compiles the module for XLA's CPU plugin if one is installed,
// otherwise for the engine in pure Go. [Executable.Run] executes it.
//
// Everything else in this repository is below this package. Package runtime/handlers has handlers that print, check,
// record and replay values.
package hlocb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// A Program is a module whose hooks are converted, and the list of the hooks. It may be compiled any number of times,
// also from several goroutines.
type Program struct {
	module    *ir.Module
	manifest  *hook.Manifest
	rewritten *passes.Rewritten // nil if the module was not rewritten
	saved     *runtime.Saved    // nil if the program was not compiled before
	taps      []*tap
}

// Load reads a module from a file, as Parse does.
func Load(ctx context.Context, path string, opts ...LoadOption) (*Program, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := reader.Text(path, f, reader.MaxText)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return Parse(ctx, path, text, opts...)
}

// Parse reads and verifies the text of a module, converts its hooks and proves their order. Diagnostics contain name.
// Errors about the text are a *diag.Diagnostic or a diag.List.
func Parse(ctx context.Context, name string, text []byte, opts ...LoadOption) (*Program, error) {
	src := diag.NewSource(name, text)
	m, err := reader.Read(src)
	if err != nil {
		return nil, err
	}
	var l loadConfig
	for _, o := range opts {
		o(&l)
	}
	if l.platform != "" {
		n, err := entry.PlatformIndex(src, l.platform)
		if err != nil {
			return nil, err
		}
		if n >= 0 {
			opts = append(slices.Clone(opts), PlatformIndex(n))
		}
	}
	return FromModule(ctx, m, opts...)
}

// FromModule converts the hooks of m in place. The program owns m from then on.
func FromModule(ctx context.Context, m *ir.Module, opts ...LoadOption) (*Program, error) {
	var l loadConfig
	for _, o := range opts {
		o(&l)
	}
	l.rewrite.Targets = append(slices.Clip(l.rewrite.Targets), l.targets...)
	if l.warn != nil {
		for _, d := range reader.Warnings(m) {
			l.warn(d)
		}
	}
	// Where hooks fire depends on the number of devices, so the module must state it before hooks are converted.
	setDevices(m, l.replicas, mhlo.AttrNumReplicas, stablehlo.AttrNumReplicas)
	setDevices(m, l.partitions, mhlo.AttrNumPartitions, stablehlo.AttrNumPartitions)
	if err := mhlo.CheckDevices(m); err != nil {
		return nil, err
	}
	if l.platformIndex != nil {
		if err := entry.BindPlatform(m, *l.platformIndex); err != nil {
			return nil, err
		}
	}
	for _, change := range l.changes {
		if err := change(m); err != nil {
			return nil, err
		}
	}
	p := &Program{module: m, taps: l.taps}
	if len(l.taps) > 0 {
		if err := addTaps(m, l.taps); err != nil {
			return nil, err
		}
	}
	var err error
	if l.asWritten {
		p.manifest, err = format.MarkAsWritten(m, format.RaiseOptions{Targets: l.rewrite.Targets})
	} else if p.rewritten, err = passes.Rewrite(ctx, m, l.rewrite); err == nil {
		p.manifest = p.rewritten.Manifest
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// setDevices sets the attribute name of a module to n and removes the attribute other, which has the same meaning. It
// does nothing if n is 0.
func setDevices(m *ir.Module, n int, name, other string) {
	if n <= 0 {
		return
	}
	m.Op().RemoveAttr(other)
	m.Op().SetAttr(name, ir.NewInteger(int64(n), ir.Int(32)))
}

// Decode reads a compiled program that Executable.Save returned. Run executes its machine code: decode only programs of
// people whom you trust to run code on this machine.
func Decode(name string, data []byte) (*Program, error) {
	saved, err := runtime.DecodeSaved(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if saved.Module, err = reader.Read(diag.NewSource(name, saved.Text)); err != nil {
		return nil, err
	}
	return &Program{module: saved.Module, manifest: saved.Manifest, saved: saved}, nil
}

// Module returns the converted module. Do not change it: Edit does, and lists the hooks again.
func (p *Program) Module() *ir.Module { return p.module }

// Text returns the converted module as text.
func (p *Program) Text() []byte {
	if p.saved != nil {
		return p.saved.Text
	}
	return print.Append(nil, p.module, reader.Written(p.module, print.Options{}))
}

// Hooks returns the hooks in program order.
func (p *Program) Hooks() []Hook { return p.manifest.Sites }

// Manifest returns the hooks and their order.
func (p *Program) Manifest() *hook.Manifest { return p.manifest }

// Rewritten returns the report of the conversion: aliases, and the positions of each hook in the source. It is nil if
// the module was not rewritten.
func (p *Program) Rewritten() *passes.Rewritten { return p.rewritten }

// Runtime returns the program as backends accept it.
func (p *Program) Runtime() *runtime.Program {
	return &runtime.Program{Module: p.module, Manifest: p.manifest}
}

// Edit changes the converted module in place and lists its hooks again. Executables that were compiled before are not
// affected.
func (p *Program) Edit(change func(*ir.Module) error) error {
	if err := change(p.module); err != nil {
		return err
	}
	p.saved = nil
	manifest, err := format.ManifestOf(p.module)
	if err != nil {
		return err
	}
	if p.foreign() { // ManifestOf lists hlocb's own calls only
		all := *p.manifest
		all.Sites = slices.Clone(all.Sites)
		for _, s := range manifest.Sites {
			if all.Find(s.ID) == nil {
				all.Sites = append(all.Sites, s)
			}
		}
		manifest = &all
	}
	p.manifest = manifest
	return nil
}

// foreign reports whether the program has hooks that only the embedded engine delivers.
func (p *Program) foreign() bool { return p.manifest.AsWritten }

// Parameters returns the types of the arguments of main that Run expects: all except tokens and values that only the
// source's host needed. A negative dimension is dynamic. A quantized argument has its storage type.
func (p *Program) Parameters() ([]Type, error) {
	all, err := entry.Parameters(p.module)
	if err != nil {
		return nil, err
	}
	return entry.Visible(all, p.manifest.HiddenArgs), nil
}

// signature returns main as callers see it.
func (p *Program) signature() entry.Signature { return entry.Of(p.module, p.manifest) }

// ArgumentNames returns the names of Run's arguments: jax.arg_info, else the name in the argument's location, else "".
func (p *Program) ArgumentNames() []string { return p.signature().ArgumentNames() }

// ResultNames returns the names of Run's results: jax.result_info, else "".
func (p *Program) ResultNames() []string { return p.signature().ResultNames() }

// Carried returns, for each argument of Run, the result that takes over its memory (tf.aliasing_output), or -1. A loop
// over the program passes the result on as the argument of the next step.
func (p *Program) Carried() []int { return p.signature().Carried() }

// Refine replaces the dynamic shapes of main's arguments by the shapes of arguments, the types of Run's arguments, and
// infers the other shapes. Plugins execute a program with dynamic shapes only after Refine.
func (p *Program) Refine(ctx context.Context, arguments []Type) error {
	return p.Edit(func(m *ir.Module) error { return entry.Refine(ctx, m, p.signature(), arguments) })
}

// addTaps adds the hooks of taps to m.
func addTaps(m *ir.Module, taps []*tap) error {
	var list []probe.Tap
	for _, t := range taps {
		pattern, kind := probe.Split(t.spec)
		re, err := regexp.Compile(pattern)
		switch {
		case err != nil:
			return fmt.Errorf("tap %s: %w", t.spec, err)
		case t.sample.Every < 0 || t.sample.First < 0:
			return fmt.Errorf("tap %s: expected a positive number of executions", t.spec)
		case kind == probe.Record:
			return fmt.Errorf("tap %s: use To with handlers.NewRecord", t.spec)
		case kind != "" && t.handler != nil:
			return fmt.Errorf("tap %s: it has a kind and a handler", t.spec)
		case kind == "" && t.handler == nil:
			kind = probe.Print
		}
		list = append(list, probe.Tap{Patterns: []*regexp.Regexp{re}, Kind: kind, Sample: t.sample})
	}
	added, err := probe.Add(m, list)
	if err != nil {
		return err
	}
	for i, t := range taps {
		if t.ids = added[i].IDs; len(t.ids) == 0 {
			return fmt.Errorf("tap %s selects no value that can be observed", t.spec)
		}
	}
	return nil
}

// bindTaps binds the handlers of the program's taps.
func (p *Program) bindTaps(b *runtime.Bindings) error {
	for _, t := range p.taps {
		probes := &probe.Handlers{Env: &handlers.Env{Out: t.out}}
		for _, id := range t.ids {
			site := p.manifest.Find(id)
			if site == nil {
				continue // in a function that is not called
			}
			h, answer, err := probes.For(p.manifest, site)
			if err == nil && h == nil && t.handler != nil {
				h, err = probe.Sampled(site, t.handler)
			}
			switch {
			case err != nil:
				return err
			case answer:
				b.Answer(id.String(), h)
			case h != nil:
				b.Observe(id.String(), h)
			}
		}
	}
	return nil
}
