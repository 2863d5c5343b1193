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
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
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

// A LoadOption changes how a module is read and how its hooks are converted.
type LoadOption func(*loadConfig)

type loadConfig struct {
	rewrite              passes.RewriteHooks
	targets              []string // of HookTargets
	asWritten            bool
	replicas, partitions int
	warn                 func(*diag.Diagnostic)
	changes              []func(*ir.Module) error
	platform             string
	platformIndex        *int
	taps                 []*tap
}

// HookTargets makes custom calls of these targets hooks, too.
func HookTargets(targets ...string) LoadOption {
	return func(l *loadConfig) { l.targets = append(l.targets, targets...) }
}

// Rewrite sets the options of the conversion of hooks. The targets of HookTargets are targets, too.
func Rewrite(opts passes.RewriteHooks) LoadOption {
	return func(l *loadConfig) { l.rewrite = opts }
}

// AsWritten leaves the module unchanged. Only the embedded engine then delivers hooks in other formats than hlocb's
// own.
func AsWritten() LoadOption { return func(l *loadConfig) { l.asWritten = true } }

// Devices sets the module's number of replicas and of partitions. 0 keeps the module's own number.
func Devices(replicas, partitions int) LoadOption {
	return func(l *loadConfig) { l.replicas, l.partitions = replicas, partitions }
}

// OnWarning calls f for each warning about the module, such as a misspelled attribute.
func OnWarning(f func(*diag.Diagnostic)) LoadOption { return func(l *loadConfig) { l.warn = f } }

// Change calls f with the module before its hooks are converted.
func Change(f func(*ir.Module) error) LoadOption {
	return func(l *loadConfig) { l.changes = append(l.changes, f) }
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
	platform, err := platformIndex(src, opts)
	if err != nil {
		return nil, err
	}
	return FromModule(ctx, m, append(slices.Clone(opts), platform)...)
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
		if err := bindPlatform(m, *l.platformIndex); err != nil {
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
	all, err := parameters(p.module)
	if err != nil {
		return nil, err
	}
	return visible(all, p.manifest.HiddenArgs), nil
}

// CheckMemory refuses a program whose arguments take more than limit bytes, before they are allocated. 0 means no
// limit.
func (p *Program) CheckMemory(limit int64) error {
	all, err := parameters(p.module)
	if err != nil {
		return err
	}
	total := 0.0
	for _, t := range all {
		if IsDynamic(t) {
			continue // as large as the argument
		}
		if n := t.Shape.NumElements(); n >= 0 {
			total += float64(n) * float64(t.DType.Size())
		} else {
			total += 1 << 63
		}
	}
	if total >= 1<<63 || limit > 0 && total > float64(limit) {
		f, _ := fn.Entry(p.module)
		return p.module.Errorf(f.Op, "the arguments of main take %.0f bytes; the memory limit is %d", total, limit)
	}
	return nil
}

// IsDynamic reports whether t has a dimension of unknown size.
func IsDynamic(t Type) bool { return slices.ContainsFunc(t.Shape, func(d int64) bool { return d < 0 }) }
