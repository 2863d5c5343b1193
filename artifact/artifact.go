// Package artifact reads and writes StableHLO programs in binary form: MLIR bytecode, portable artifacts (bytecode of
// VHLO, openxla/stablehlo, docs/vhlo.md) and the modules in files of jax.export.
package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/bytecode/jaxexport"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
)

// Route says how Append treats what VHLO cannot hold.
type Route uint8

// Routes.
const (
	// Strict is StableHLO's own serialization: anything but StableHLO is an error.
	Strict Route = iota
	// XLA is what XLA does for a plugin: forms that an old target does not know are expanded.
	XLA
	// XLAMixed is XLA's serialization with the operations and attributes of other dialects, Shardy's above all, as they
	// are.
	XLAMixed
)

// Routes holds the names of the routes.
var routes = [...]string{Strict: "strict", XLA: "xla", XLAMixed: "xla-mixed"}

// Routes returns the names of the routes.
func Routes() []string { return routes[:] }

// ParseRoute returns the route with the given name.
func ParseRoute(name string) (Route, error) {
	if i := slices.Index(routes[:], name); i >= 0 {
		return Route(i), nil
	}
	return Strict, fmt.Errorf("route %q: expected %s", name, strings.Join(routes[:], ", "))
}

// String returns the name of the route.
func (r Route) String() string { return routes[r] }

// Is reports whether data can be a program in binary form. A file that is none of them is found out by Read.
func Is(data []byte) bool { return bytecode.IsBytecode(data) || jaxexport.Sniff(data) }

// Read reads a program in binary form and upgrades VHLO to today's StableHLO. The error is a *diag.Diagnostic.
func Read(src *diag.Source, ctx *ir.Context, reg *ir.Registry) (*ir.Module, error) {
	start, end, err := module(src)
	if err != nil {
		return nil, err
	}
	m, err := bytecode.ReadAs(src, start, end, ctx, reg, func(m *ir.Module) bytecode.Translator { return vhlo.NewUpgrader(m) })
	if err != bytecode.ErrRefused {
		return m, err
	}
	if m, err = bytecode.ReadPart(src, start, end, ctx, reg); err != nil || !vhlo.IsVHLO(m) {
		return m, err
	}
	return vhlo.Upgrade(m)
}

// module returns where the module stands in a file.
func module(src *diag.Source) (start, end int, err error) {
	if bytecode.IsBytecode(src.Text()) {
		return 0, len(src.Text()), nil
	}
	f, err := Export(src)
	if err != nil {
		return 0, 0, err
	}
	return f.Module[0], f.Module[1], nil
}

// ReadVHLO is Read, but leaves VHLO as it is.
func ReadVHLO(src *diag.Source, ctx *ir.Context, reg *ir.Registry) (*ir.Module, error) {
	start, end, err := module(src)
	if err != nil {
		return nil, err
	}
	return bytecode.ReadPart(src, start, end, ctx, reg)
}

// Export reads the fields of a file of jax.export. The error is a *diag.Diagnostic.
func Export(src *diag.Source) (*jaxexport.File, error) {
	f, err := jaxexport.Read(src.Text())
	if err != nil {
		e := err.(*jaxexport.Error)
		return nil, diag.Errorf(src, diag.At(e.Offset), "%s", e.Message)
	}
	return f, nil
}

// Options say what Append writes.
type Options struct {
	// Target is the version of StableHLO that must be able to read the artifact. The zero version is the oldest one that
	// can hold the module.
	Target vhlo.Version
	Route  Route
	// KeepOthers leaves operations and attributes of other dialects as they are on every route: an artifact that was read
	// can hold any.
	KeepOthers bool
	// StripLocations leaves out where operations come from: artifacts of JAX hold the paths of the user's source files.
	StripLocations bool
}

// Append appends the module as a portable artifact to dst and returns the version of the artifact. m does not change.
// The error names the first operation that the target cannot hold, and the version that can.
func Append(dst []byte, m *ir.Module, o Options) ([]byte, vhlo.Version, error) {
	if o.Target == (vhlo.Version{}) {
		return appendOldest(dst, m, o)
	}
	down := m
	if vhlo.IsVHLO(m) {
		var err error
		if down, err = vhlo.Upgrade(m); err != nil {
			return nil, o.Target, err
		}
	}
	if o.Route != Strict {
		var err error
		if down, err = expand(down, o); err != nil {
			return nil, o.Target, err
		}
	}
	b := bytecode.Options{
		Version: o.Target.Bytecode(), Versioned: true, Producer: o.Target.Producer(), StripLocations: o.StripLocations,
	}
	if err := o.Target.Check(); err != nil {
		return nil, o.Target, err
	}
	if !o.KeepOthers && o.Route != XLAMixed {
		b.View = vhlo.NewView(down, o.Target, bytecode.ErrRefused)
		out, err := bytecode.Append(dst, down, b)
		if err != bytecode.ErrRefused {
			return out, o.Target, err
		}
		b.View = nil
	}
	down, err := vhlo.Downgrade(down, vhlo.Options{Target: o.Target, Others: o.Route == XLAMixed || o.KeepOthers, StripLocations: o.StripLocations})
	if err != nil {
		return nil, o.Target, err
	}
	dst, err = bytecode.Append(dst, down, b)
	return dst, o.Target, err
}

// appendOldest writes the oldest version that can hold the module.
func appendOldest(dst []byte, m *ir.Module, o Options) ([]byte, vhlo.Version, error) {
	var err error
	for _, v := range vhlo.Versions() {
		o.Target = v
		var out []byte
		if out, _, err = Append(dst, m, o); err == nil {
			return out, v, nil
		}
	}
	return nil, vhlo.Current, err
}
