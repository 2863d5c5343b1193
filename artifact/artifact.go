// Package artifact reads and writes StableHLO programs in binary form: MLIR bytecode, portable artifacts (bytecode of
// VHLO, openxla/stablehlo, docs/vhlo.md) and the modules in jax.export files.
package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/ir"
)

// Route controls what Append does with ops and attributes that VHLO cannot express.
type Route uint8

// Routes.
const (
	// Strict is StableHLO's own serialization. It accepts only StableHLO.
	Strict Route = iota
	// XLA is XLA's serialization for a plugin. It expands forms that an old target does not know.
	XLA
	// XLAMixed is XLA's serialization that keeps operations and attributes of other dialects, mainly Shardy's,
	// unchanged.
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

// Is reports whether data looks like a program in binary form. Only Read checks the whole file.
func Is(data []byte) bool { return bytecode.IsBytecode(data) || jaxexport.Sniff(data) }

// Read reads a program in binary form and upgrades VHLO to current StableHLO. The error is a *diag.Diagnostic.
func Read(src *diag.Source, ctx *ir.Context) (*ir.Module, error) {
	start, end, err := module(src)
	if err != nil {
		return nil, err
	}
	m, err := bytecode.ReadAs(src, start, end, ctx, func(m *ir.Module) bytecode.Translator { return vhlo.NewUpgrader(m) })
	if err != bytecode.ErrRefused {
		return m, err
	}
	if m, err = bytecode.ReadPart(src, start, end, ctx); err != nil || !vhlo.IsVHLO(m) {
		return m, err
	}
	return vhlo.Upgrade(m)
}

// Version returns the version of StableHLO that a portable artifact states, and the position of its module in the file.
// ok is false for any other file.
func Version(src *diag.Source) (v vhlo.Version, start, end int, ok bool) {
	start, end, err := module(src)
	if err != nil {
		return v, 0, 0, false
	}
	producer, _, _ := bytecode.Producer(src.Text()[start:end])
	if producer, ok = strings.CutPrefix(producer, "StableHLO_v"); ok {
		v, err = vhlo.ParseVersion(producer)
	}
	return v, start, end, ok && err == nil
}

// module returns the position of the module in a file.
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

// ReadVHLO is like Read but does not upgrade VHLO.
func ReadVHLO(src *diag.Source, ctx *ir.Context) (*ir.Module, error) {
	start, end, err := module(src)
	if err != nil {
		return nil, err
	}
	return bytecode.ReadPart(src, start, end, ctx)
}

// Export reads the fields of a jax.export file. The error is a *diag.Diagnostic.
func Export(src *diag.Source) (*jaxexport.File, error) {
	f, err := jaxexport.Read(src.Text())
	if err != nil {
		e := err.(*jaxexport.Error)
		return nil, diag.Errorf(src, diag.At(e.Offset), "%s", e.Message)
	}
	return f, nil
}

// Options are the options of Append.
type Options struct {
	// Target is the version of StableHLO that must be able to read the artifact. Zero means the oldest version that can
	// express the module.
	Target vhlo.Version
	Route  Route
	// KeepOthers keeps operations and attributes of other dialects on every route. An artifact read earlier may contain
	// any of them.
	KeepOthers bool
	// StripLocations omits the locations of operations. JAX's artifacts contain the paths of the user's source files.
	StripLocations bool
}

// Append appends the module as a portable artifact to dst and returns the version of the artifact. It does not change
// m. The error names the first operation that the target cannot express, and the version that can.
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
	// The plugin of StableHLO 1.13.3 knows no codes of small floats, jaxlib of 1.17.0 does.
	b.TextFloats = o.Route == XLAMixed && o.Target.Less(vhlo.Version{Major: 1, Minor: 17})
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
	down, err := vhlo.Downgrade(down, vhlo.Options{Target: o.Target, KeepOthers: o.Route == XLAMixed || o.KeepOthers, StripLocations: o.StripLocations})
	if err != nil {
		return nil, o.Target, err
	}
	dst, err = bytecode.Append(dst, down, b)
	return dst, o.Target, err
}

// appendOldest writes the oldest version that can express the module.
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
