//go:build cgo

package pjrt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/reduction"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Names of the attributes of plugins that XLA's implementation of the C API sets.
const (
	attrStableHLO = "stablehlo_current_version"
	attrXLA       = "xla_version"
)

// attribute returns the value of the plugin's attribute name, or nil.
func (p *Plugin) attribute(name string) any {
	for _, a := range p.attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// StableHLO returns the version of the portable artifacts that the plugin gets: the older one of the plugin's
// StableHLO and hlocb's. stated is false if the plugin states no version. JAX then sends the version WEEK_12, and so
// does hlocb.
func (p *Plugin) StableHLO() (v vhlo.Version, stated bool) {
	list, ok := p.attribute(attrStableHLO).([]int64)
	if !ok || len(list) != 3 {
		return vhlo.Week12, false
	}
	v = vhlo.Version{Major: int(list[0]), Minor: int(list[1]), Patch: int(list[2])}
	if vhlo.Current.Less(v) {
		v = vhlo.Current
	}
	return v, true
}

// ReadsText reports whether the plugin is known to read MLIR text. XLA's implementation of the C API does, and it
// states its version.
func (p *Plugin) ReadsText() bool { return p.attribute(attrXLA) != nil }

// Programs says in which form the plugin gets programs.
func (p *Plugin) Programs() string {
	v, stated := p.StableHLO()
	s := "portable artifacts of StableHLO " + v.String()
	if !stated {
		s += " (the plugin states no version)"
	}
	if p.ReadsText() {
		s += ", else MLIR text"
	}
	return s
}

// encodedProgram is a module in a form that a plugin reads.
type encodedProgram struct {
	bytes []byte
	form  string
}

// code returns p in the form that the plugin reads: a portable artifact, or MLIR text if there is no artifact of the
// program and the plugin reads text.
func (p *Plugin) code(r *runtime.Program) (encodedProgram, error) {
	v, _ := p.StableHLO()
	r = withCallConfigs(withComparisonTypes(r))
	// Keep the source's locations: XLA shows them in dumps and profiles.
	out, _, err := artifact.Append(nil, r.Module, artifact.Options{Target: v, Route: artifact.XLAMixed, StripLocations: !hasLocations(r.Module)})
	switch {
	case err == nil:
		return encodedProgram{out, "portable artifact of StableHLO " + v.String()}, nil
	case p.ReadsText():
		return encodedProgram{text(r), "MLIR text"}, nil
	}
	reason := fmt.Sprintf("%s reads %s", p.path, p.Programs())
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		d.Notes = append(d.Notes, &diag.Diagnostic{Severity: diag.Note, Message: reason})
		return encodedProgram{}, d
	}
	return encodedProgram{}, fmt.Errorf("%w; %s", err, reason)
}

// withoutCopies returns p without the aliases that only cost copies: the aliases of call hooks whose handlers have only
// host views. XLA first copies an aliased operand that the program still needs, and the handler gets one more copy (see
// call.separate). Without the aliases a hook that answers with its operand, an argument, takes 35 µs instead of 121
// with 1 MiB, and 26 ms instead of 45 with 64 MiB.
func (t *siteTable) withoutCopies(p *runtime.Program) *runtime.Program {
	return t.change(p, func(s *site) bool { return s.overlaps && !s.use.DevicePointers }, func(s *site, call stablehlo.CustomCallOp) {
		list, ok := call.Op.Attr(stablehlo.AttrOutputOperandAliases).(*ir.ArrayAttr)
		if !ok {
			return
		}
		var chain []ir.Attr
		for i, a := range call.OutputOperandAliases() {
			if s.chained && a.OperandIndex == 0 {
				chain = append(chain, list.Elems()[i])
			}
		}
		call.Op.SetAttr(stablehlo.AttrOutputOperandAliases, ir.NewArray(chain))
	})
}

// withStatistics returns p with one more operand of the hooks whose handlers need statistics but no values: the
// statistics of the operands, which XLA computes on the device.
func (t *siteTable) withStatistics(p *runtime.Program) *runtime.Program {
	return t.change(p, func(s *site) bool { return s.use.Statistics && !s.use.HostViews }, func(s *site, call stablehlo.CustomCallOp) {
		op := call.Op
		if op.Attr(stablehlo.AttrOperandLayouts) != nil {
			return // Call.Statistics then reads the values
		}
		e := reduction.Emitter{Builder: op.Module().Before(op)}
		operands := op.OperandList()
		values := operands
		if s.chained {
			values = operands[1:]
		}
		var stats []*ir.Value
		for _, v := range values {
			if !stablehlo.IsToken(v.Type()) {
				stats = append(stats, e.Stats(v))
			}
		}
		if len(stats) > 0 {
			op.SetOperands(append(operands, e.Concatenate(stats)))
		}
	})
}

// withoutAttrs returns p without the attributes that the source's calls had: handlers get them from the manifest, and
// XLA accepts fewer kinds of attributes than MLIR has.
func (t *siteTable) withoutAttrs(p *runtime.Program) *runtime.Program {
	return t.change(p, func(s *site) bool { return len(s.bound.Site().Attrs) > 0 }, func(_ *site, call stablehlo.CustomCallOp) {
		if config, ok := call.BackendConfig().(*ir.DictAttr); ok && config.Get(hook.AttrAttrs) != nil {
			call.Op.SetAttr(stablehlo.AttrBackendConfig, ir.NewDict(config.Entries().Without(hook.AttrAttrs)))
		}
	})
}

// withCallConfigs returns p with the configuration of the calls of API version 4 that have it as mhlo.backend_config
// alone. XLA reads that attribute only on calls of version 1, and would call the handler without attributes.
func withCallConfigs(p *runtime.Program) *runtime.Program {
	config := func(op *ir.Op) *ir.DictAttr {
		call, ok := stablehlo.AsCustomCall(op)
		if !ok || call.APIVersion() != stablehlo.APITypedFFI {
			return nil
		}
		if own, ok := call.BackendConfig().(*ir.DictAttr); ok && len(own.Entries()) > 0 {
			return nil
		}
		d, _ := op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr)
		return d
	}
	if p.Module == nil || p.Module.Op().Walk(func(op *ir.Op) bool { return config(op) == nil }) {
		return p
	}
	m := p.Module.Clone()
	m.Walk(func(op *ir.Op) bool {
		if d := config(op); d != nil {
			op.SetAttr(stablehlo.AttrBackendConfig, d)
			op.RemoveAttr(mhlo.AttrBackendConfig)
		}
		return true
	})
	return &runtime.Program{Module: m, Manifest: p.Manifest}
}

// withComparisonTypes returns p with the type SIGNED of comparisons of signed integers that state no type. XLA compares
// constants as unsigned numbers if the type is missing, as TensorFlow writes comparisons: -1 < 0 is then false.
func withComparisonTypes(p *runtime.Program) *runtime.Program {
	untyped := func(op *ir.Op) bool {
		c, ok := stablehlo.AsCompare(op)
		if !ok || c.Attr(stablehlo.AttrCompareType) != nil {
			return false
		}
		t, ok := c.LHS().Type().(*ir.TensorType)
		return ok && t.DType().Kind() == tensor.KindSigned
	}
	if p.Module == nil || p.Module.Op().Walk(func(op *ir.Op) bool { return !untyped(op) }) {
		return p
	}
	m := p.Module.Clone()
	m.Walk(func(op *ir.Op) bool {
		if untyped(op) {
			op.SetAttr(stablehlo.AttrCompareType, ir.NewEnum(stablehlo.ComparisonTypeEnum, int(stablehlo.ComparisonTypeSIGNED)))
		}
		return true
	})
	return &runtime.Program{Module: m, Manifest: p.Manifest}
}

// change returns p with a copy of its module in which f has changed the calls of the hooks that choose selects.
func (t *siteTable) change(p *runtime.Program, choose func(*site) bool, f func(*site, stablehlo.CustomCallOp)) *runtime.Program {
	if p.Module == nil || !slices.ContainsFunc(t.all, choose) {
		return p
	}
	m := p.Module.Clone()
	m.Walk(func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		if !ok || call.CallTargetName() != hook.Target {
			return true
		}
		config, _ := call.BackendConfig().(*ir.DictAttr)
		if id, ok := config.Get("id").(*ir.IntegerAttr); ok {
			if s := t.find(uint64(id.Value())); s != nil && choose(s) {
				f(s, call)
			}
		}
		return true
	})
	return &runtime.Program{Module: m, Manifest: p.Manifest}
}

func hasLocations(m *ir.Module) bool {
	return m.Source() != nil && bytes.Contains(m.Source().Text(), []byte("loc("))
}

// text returns a program as MLIR text.
func text(r *runtime.Program) []byte {
	return print.Append(nil, r.Module, print.Options{DebugInfo: hasLocations(r.Module), ListBooleans: true})
}
