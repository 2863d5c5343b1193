//go:build cgo

package pjrt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/reader"
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
	bytes  []byte
	format string // of PJRT
	form   string // for messages
}

// code returns p in the form that the plugin reads: HLO if StableHLO says less (see needsHLO), otherwise a portable
// artifact, or MLIR text if there is no artifact of the program and the plugin reads text.
func (p *Plugin) code(ctx context.Context, r *runtime.Program) (encodedProgram, error) {
	v, _ := p.StableHLO()
	if p.ReadsText() && needsHLO(r.Module) { // XLA's implementation of the C API reads HLO, too
		h, err := reader.ToHLO(ctx, r.Module)
		if ctx.Err() != nil || errors.As(err, new(*order.LostError)) {
			return encodedProgram{}, err
		}
		if err == nil {
			if data, err := h.AppendProto(nil); err == nil {
				return encodedProgram{data, "hlo", "HLO"}, nil
			}
		}
	}
	// Keep the source's locations: XLA shows them in dumps and profiles.
	out, _, err := artifact.Append(nil, r.Module, artifact.Options{Target: v, Route: artifact.XLAMixed, StripLocations: !hasLocations(r.Module)})
	switch {
	case err == nil:
		return encodedProgram{out, "mlir", "portable artifact of StableHLO " + v.String()}, nil
	case p.ReadsText():
		return encodedProgram{text(r), "mlir", "MLIR text"}, nil
	}
	reason := fmt.Sprintf("%s reads %s", p.path, p.Programs())
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		d.Notes = append(d.Notes, &diag.Diagnostic{Severity: diag.Note, Message: reason})
		return encodedProgram{}, d
	}
	return encodedProgram{}, fmt.Errorf("%w; %s", err, reason)
}

// needsHLO reports whether a module says more in HLO than in StableHLO. XLA's translation of StableHLO forgets that
// values which a loop carries are of dynamic size, and custom calls lose their windows and other attributes of HLO.
func needsHLO(m *ir.Module) bool {
	if m == nil {
		return false
	}
	bounded := func(v *ir.Value) bool {
		t, ok := v.Type().(*ir.TensorType)
		return ok && !t.Static() && stablehlo.BoundsOf(t) != nil
	}
	return !m.Op().Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				if slices.ContainsFunc(b.Args(), bounded) {
					return false
				}
			}
		}
		return !slices.ContainsFunc(op.ResultList(), bounded) && !(op.Is(stablehlo.CustomCall) && hlo.HasCallFacts(op))
	})
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

// withSizes returns p with static operands of its hooks: a value of bounded shape comes whole, up to its bounds, and
// the sizes of its dynamic dimensions follow the operands. See call.shrink.
func (t *siteTable) withSizes(p *runtime.Program) *runtime.Program {
	return t.change(p, func(s *site) bool { return len(s.sized) > 0 }, func(_ *site, call stablehlo.CustomCallOp) { addSizes(call) })
}

// PadHooks is withSizes for a module that another binding compiles.
func PadHooks(m *ir.Module) {
	m.Walk(func(op *ir.Op) bool {
		if call, ok := stablehlo.AsCustomCall(op); ok && call.CallTargetName() == hook.Target {
			addSizes(call)
		}
		return true
	})
}

// addSizes changes a call of a hook as withSizes says.
func addSizes(call stablehlo.CustomCallOp) {
	op := call.Op
	operands := op.OperandList()
	var sizes []*ir.Value
	for i, v := range operands {
		if t, ok := v.Type().(*ir.TensorType); ok && stablehlo.IsBounded(t) {
			whole, of := legalize.Padded(op.Module().Before(op), v)
			operands[i] = whole
			sizes = append(sizes, of...)
		}
	}
	// A tap forwards the value: its users get the operand instead.
	for k, a := range call.OutputOperandAliases() {
		r := op.Result(k)
		if n := len(a.OutputTupleIndices); n > 0 {
			r = op.Result(int(a.OutputTupleIndices[n-1]))
		}
		v, whole := op.Operand(int(a.OperandIndex)), operands[a.OperandIndex]
		if r.Type() == v.Type() && v != whole {
			r.ReplaceAllUsesWith(v)
			r.SetType(whole.Type())
		}
	}
	if list, ok := op.Attr(stablehlo.AttrOperandLayouts).(*ir.ArrayAttr); ok {
		scalar := op.Module().Context().DenseFromTensor(tensor.New(tensor.Index, tensor.Shape{0}))
		op.SetAttr(stablehlo.AttrOperandLayouts, ir.NewArray(append(slices.Clip(list.Elems()), slices.Repeat([]ir.Attr{scalar}, len(sizes))...)))
	}
	op.SetOperands(append(operands, sizes...))
}

// withoutAttrs returns p without the attributes that the source's calls had: handlers get them from the manifest, and
// XLA accepts fewer kinds of attributes than MLIR has.
func (t *siteTable) withoutAttrs(p *runtime.Program) *runtime.Program {
	return t.change(p, func(s *site) bool { return len(s.bound.Site().Attrs) > 0 }, func(_ *site, call stablehlo.CustomCallOp) {
		config := call.BackendConfig().(*ir.DictAttr) // with the hook's id
		call.Op.SetAttr(stablehlo.AttrBackendConfig, ir.NewDict(config.Entries().Without(hook.AttrAttrs)))
	})
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
