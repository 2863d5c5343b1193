package format

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// AttrProbe is the entry of backend_config that names the handler of a probe. It stays on the call when the module is
// rewritten.
const AttrProbe = hook.AttrProbe

// Prober adds taps (hlocb's own calls) to values of a module.
type Prober struct {
	m     *ir.Module
	names namer
	ids   identifier
	used  map[hook.ID]bool
}

// NewProber returns a Prober. Names and ids of its taps differ from the names and ids of the hooks of m that are
// already in hlocb's own format.
func NewProber(m *ir.Module) (*Prober, error) {
	p := &Prober{m, namer{}, identifier{}, map[hook.ID]bool{}}
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

// CanTap reports whether v can be observed at its definition: v is a tensor of static or bounded shape in a region
// whose execution control flow determines.
func CanTap(v *ir.Value) bool {
	t, ok := v.Type().(*ir.TensorType)
	if !ok || !t.Static() && !stablehlo.IsBounded(t) || t.DType() == tensor.Invalid {
		return false
	}
	return flow.InOrder(v.ParentBlock())
}

// CanReduce reports whether v can be observed, and ops of the program can reduce it to a few numbers first: its shape
// is static.
func CanReduce(v *ir.Value) bool {
	t, ok := v.Type().(*ir.TensorType)
	return ok && t.Static() && CanTap(v)
}

// CanHold reports whether control flow determines when op runs: op is in a function, and not in a region of undefined
// order.
func CanHold(op *ir.Op) bool { return flow.InOrder(op.Block()) }

// Names makes labels distinct from each other and from the names of hooks. A repeated label gets the suffix #2, #3 and
// so on.
func (p *Prober) Names(labels []string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = p.names.unique(l)
	}
	return out
}

// After returns a builder that inserts right after the definition of v, with v's location.
func (p *Prober) After(v *ir.Value) *ir.Builder {
	if def := v.DefiningOp(); def != nil {
		return p.m.After(def)
	}
	parent := v.Block().Parent()
	b := p.m.AtStart(v.Block()).At(parent.Loc(), parent.Pos())
	if v.Loc().Kind() != ir.LocUnknown {
		b.At(v.Loc(), v.Pos())
	}
	return b
}

// Insert inserts a hook on v: a tap, or an inout hook whose result may differ from v. CanTap(v) must hold. name must
// come from Names. attrs, such as AttrProbe, become entries of the call's configuration. The call is not ordered; the
// pass order-hooks orders it.
func (p *Prober) Insert(b *ir.Builder, kind hook.Kind, v *ir.Value, name string, attrs ir.AttrList) (*ir.Op, hook.ID) {
	ctx := p.m.Context()
	id := p.id(v)
	cfg := append(ir.AttrList{
		{Name: "abi", Attr: ir.NewInteger(hook.ABI, ir.Int(64))},
		{Name: "chained", Attr: ctx.Bool(false)},
		{Name: "id", Attr: ir.NewInteger(int64(id), ir.Int(64))},
		{Name: "kind", Attr: ir.NewString(kind.String())},
		{Name: stablehlo.AttrName, Attr: ir.NewString(name)},
	}, attrs...)
	call := stablehlo.CustomCallAttrs{APIVersion: new(int64(stablehlo.APITypedFFI)), BackendConfig: ir.NewDict(cfg), CallTargetName: hook.Target, HasSideEffect: true}
	var results []ir.Type
	if kind == hook.InOut {
		results = []ir.Type{v.Type()}
		call.OutputOperandAliases = []*stablehlo.OutputOperandAlias{{}}
	}
	return ir.Must(stablehlo.BuildCustomCall(b, []*ir.Value{v}, results, call)).Op, id
}

// id hashes the properties of the probe, as for the ids of other hooks.
func (p *Prober) id(v *ir.Value) hook.ID {
	path := ""
	for op := v.ParentBlock().Parent(); op != nil; op = op.Parent() {
		if op.Is(fn.Func) {
			path = view.String(op.Attr(ir.SymbolName))
		}
	}
	key := strings.Join([]string{path, "probe", v.Type().String(), ""}, "\n")
	id := p.ids.next(key, func(id hook.ID) bool { return !p.used[id] })
	p.used[id] = true
	return id
}

// ownAttrs returns the configuration entries of hlocb's own call that are not part of its format.
func ownAttrs(cfg *ir.DictAttr) ir.AttrList {
	var out ir.AttrList
	for _, e := range cfg.Entries() {
		switch e.Name {
		case "abi", "chained", "id", "kind", "name", hookop.AttrOperandLayouts, hookop.AttrResultLayouts:
		default:
			out = append(out, e)
		}
	}
	return out
}

// handlerAttrs returns the attributes for handlers among the entries that ownAttrs returns: those of the source's call
// stand in a dictionary of their own, because their names are any.
func handlerAttrs(list ir.AttrList) ir.AttrList {
	if d, ok := list.Get(hook.AttrAttrs).(*ir.DictAttr); ok {
		return append(list.Without(hook.AttrAttrs), d.Entries()...)
	}
	return list
}
