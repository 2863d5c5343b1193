package format

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// AttrProbe is the entry of backend_config, and of a site's attributes, that says what a probe does with the values it
// sees: the name of a handler. It stays on the call when the module is rewritten.
const AttrProbe = "probe"

// Prober adds taps, hlocb's own calls, to values of a module.
type Prober struct {
	m     *ir.Module
	names namer
	used  map[hook.ID]bool
	count map[string]int
}

// NewProber returns a Prober whose taps get names and ids that differ from those of the hooks that m has in hlocb's
// own form.
func NewProber(m *ir.Module) (*Prober, error) {
	p := &Prober{m, namer{}, map[hook.ID]bool{}, map[string]int{}}
	manifest, err := ManifestOf(m)
	if err != nil {
		return nil, err
	}
	for _, s := range manifest.Sites {
		p.used[s.ID] = true
		p.names.unique(s.Name)
	}
	return p, nil
}

// CanTap reports whether v may be observed where it is: a tensor of static shape, in a region of which control flow says
// when it runs.
func CanTap(v *ir.Value) bool {
	t, ok := v.Type().(*ir.TensorType)
	if !ok || !t.Static() || t.DType() == tensor.Invalid {
		return false
	}
	return flow.InOrder(v.ParentBlock())
}

// CanHold reports whether control flow says when op runs: it is in a function, and in no region of undefined order.
func CanHold(op *ir.Op) bool { return flow.InOrder(op.Block()) }

// Names makes the labels different from each other and from the names of hooks; a repeated one gets #2, #3.
func (p *Prober) Names(labels []string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = p.names.unique(l)
	}
	return out
}

// Tap observes v, for which CanTap must hold, right behind its definition. name must be one that Names returned; probe, where it
// is not empty, becomes the call's AttrProbe. The call has no results and no place in an order; order-hooks gives it one.
func (p *Prober) Tap(v *ir.Value, name, probe string) *ir.Op {
	m, ctx := p.m, p.m.Context()
	var b *ir.Builder
	if def := v.DefiningOp(); def != nil {
		b = m.After(def)
	} else {
		b = m.AtStart(v.Block())
		parent := v.Block().Parent()
		b.At(parent.Loc(), parent.Pos())
		if v.Loc().Kind() != ir.LocUnknown {
			b.At(v.Loc(), v.Pos())
		}
	}
	cfg := ir.AttrList{
		{Name: "abi", Attr: ir.NewInteger(hook.ABI, ctx.I64())},
		{Name: "chained", Attr: ctx.Bool(false)},
		{Name: "id", Attr: ir.NewInteger(int64(p.id(v)), ctx.I64())},
		{Name: "kind", Attr: ir.NewString(hook.Tap.String())},
		{Name: stablehlo.AttrName, Attr: ir.NewString(name)},
	}
	if probe != "" {
		cfg = append(cfg, ir.NamedAttr{Name: AttrProbe, Attr: ir.NewString(probe)})
	}
	return b.Create(stablehlo.CustomCall, []*ir.Value{v}, nil,
		ir.NamedAttr{Name: stablehlo.AttrAPIVersion, Attr: ir.NewInteger(4, ctx.I32())},
		ir.NamedAttr{Name: stablehlo.AttrBackendConfig, Attr: ir.NewDict(cfg)},
		ir.NamedAttr{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString(hook.Target)},
		ir.NamedAttr{Name: stablehlo.AttrHasSideEffect, Attr: ctx.Bool(true)})
}

// id hashes what the probe is, as ids of other hooks are made.
func (p *Prober) id(v *ir.Value) hook.ID {
	path := ""
	for op := v.ParentBlock().Parent(); op != nil; op = op.Parent() {
		if op.Is(fn.Func) {
			path = irutil.StringAttr(op.Attr(ir.SymbolName))
		}
	}
	key := strings.Join([]string{path, "probe", v.Type().String(), ""}, "\n")
	for {
		sum := sha256.Sum256(strconv.AppendInt([]byte(key), int64(p.count[key]), 10))
		p.count[key]++
		if id := hook.ID(binary.BigEndian.Uint64(sum[:8])); !p.used[id] {
			p.used[id] = true
			return id
		}
	}
}

// ownAttrs returns the entries of the configuration of hlocb's own call that are no part of its form.
func ownAttrs(cfg *ir.DictAttr) ir.AttrList {
	var out ir.AttrList
	for _, e := range cfg.Entries() {
		switch e.Name {
		case "abi", "chained", "id", "kind", "name":
		default:
			out = append(out, e)
		}
	}
	return out
}
