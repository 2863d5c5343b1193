package hooks

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Output is one notation that hooks are written in.
type Output struct {
	Name string
	Doc  string
	// needs says what the notation orders its hooks with.
	needs need
	// places reports whether hooks of partitioned programs can be put on devices, see PlaceOnDevices.
	places bool
	// lower replaces one hook.
	lower func(w *lowerer, h hookop.HookOp) error
}

// need says what an output's hooks are ordered with.
type need uint8

const (
	needAny   need = iota // a chain of either type
	needToken             // !stablehlo.token
	needPID               // EXLA's PID, handed on
	needNone              // nothing: the notation has no order
)

// Outputs returns the output formats; the first is the default.
func Outputs() []Output {
	return []Output{toFFI, toEXLA, toEXLAIO, toJAX, toSendRecv, toOutfeed, toStrip}
}

// FindOutput returns the output format named name.
func FindOutput(name string) (Output, error) {
	var names []string
	for _, o := range Outputs() {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return Output{}, fmt.Errorf("hooks are written as %s, but got %q", strings.Join(names, ", "), name)
}

// Chain returns the chain that o orders hooks with; given says which the user asked for.
func (o Output) Chain(given hook.Chain) hook.Chain {
	switch o.needs {
	case needToken:
		return hook.ChainToken
	case needPID:
		return hook.ChainPID
	}
	return given
}

// Order returns the order that o can keep: notations without a chain have none.
func (o Output) Order(given hook.Order) hook.Order {
	if o.needs == needNone {
		return hook.OrderNone
	}
	return given
}

// PerDevice returns how often hooks of partitioned programs fire when they are written as o; given says what the user asked
// for. Where hooks are not hlocb's own, PerDeviceSource leaves it to the notation.
func (o Output) PerDevice(given hook.PerDevice) (mode hook.PerDevice, place bool, err error) {
	switch {
	case o.Name == toFFI.Name:
		return given, true, nil
	case given == hook.PerDeviceSource:
		return given, false, nil
	case !o.places:
		return given, false, fmt.Errorf("hooks written as %s have no devices to fire on, so per-device %s says nothing of them; it goes with %s", o.Name, given, placing())
	}
	return given, true, nil
}

// placing lists the outputs whose hooks can be put on devices.
func placing() string {
	var names []string
	for _, o := range Outputs() {
		if o.places {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, ", ")
}

// LowerOptions says how hooks are written.
type LowerOptions struct {
	Default string // for strip: "zeros" gives the results of calls and feeds that value; empty refuses them
}

// Lower replaces every hlocb.hook of m by the notation of out, and takes away what only its source needed: meshes,
// arguments and constants that nothing reads any more.
func Lower(m *ir.Module, out Output, opts LowerOptions) error {
	ctx := m.Context()
	w := &lowerer{m: m, format: out.Name, opts: opts, single: partitions(m) == 1, channel: 2, consumers: map[uint32]bool{}, aliases: map[aliasKey]ir.Attr{},
		abi: ir.NewInteger(hook.ABI, ctx.I64()), four: ir.NewInteger(4, ctx.I32()), target: ir.NewString(hook.Target)}
	def := m.Def(hookop.Hook.Name)
	var hooks []hookop.HookOp
	m.Walk(func(op *ir.Op) bool {
		if op.Is(def) {
			hooks = append(hooks, hookop.HookOp{Op: op})
		}
		return true
	})
	if len(hooks) == 0 {
		return nil
	}
	if err := w.before(out); err != nil {
		return err
	}
	for _, h := range hooks {
		if n, ok := sourceConsumer(h); ok {
			w.consumers[n] = true
		}
	}
	for _, h := range hooks {
		if h.Chained() && isZeroSize(h.Operand(0).Type()) {
			return m.Errorf(h.Op, "a chain without elements would not keep the order")
		}
		if err := out.lower(w, h); err != nil {
			return err
		}
	}
	if out.Name == toJAX.Name {
		exportTokens(m)
	}
	dropPIDs(m)
	dropMeshes(m)
	return nil
}

// lowerer holds what the outputs share while a module is written.
type lowerer struct {
	m         *ir.Module
	opts      LowerOptions
	format    string
	single    bool // one partition and replica
	index     int  // next number of a JAX callback
	channel   int64
	consumers map[uint32]bool // ids of host_callback consumers in use

	abi, four, target ir.Attr // which hlocb's own calls share
	aliases           map[aliasKey]ir.Attr
}

// before prepares the module for an output.
func (w *lowerer) before(out Output) error {
	if out.Name == toEXLA.Name {
		return addPIDs(w.m)
	}
	return nil
}

// token returns the token that a hook waits for: its chain, or a new one where it has none.
func (w *lowerer) token(h hookop.HookOp) *ir.Value {
	if h.Chained() {
		return h.Operand(0)
	}
	return startChain(w.m.Before(h.Op), hook.ChainToken)
}

// data returns the data operands of h.
func data(h hookop.HookOp) []*ir.Value {
	out := make([]*ir.Value, h.NumData())
	for i := range out {
		out[i] = h.Data(i)
	}
	return out
}

// dataTypes returns the types of the data results of h.
func dataTypes(h hookop.HookOp) []ir.Type {
	out := make([]ir.Type, h.NumResultData())
	for i := range out {
		out[i] = h.ResultData(i).Type()
	}
	return out
}

// finish replaces h by a token and its data results.
func (w *lowerer) finish(h hookop.HookOp, token *ir.Value, results []*ir.Value) {
	if h.Chained() {
		h.Result(0).ReplaceAllUsesWith(token)
	}
	for i := range h.NumResultData() {
		h.ResultData(i).ReplaceAllUsesWith(results[i])
	}
	h.Erase()
}

// seenThrough returns what stands for the results of a tap: its operands, which it never writes.
func seenThrough(h hookop.HookOp) []*ir.Value {
	var out []*ir.Value
	for _, o := range h.Aliases() {
		out = append(out, h.Data(o))
	}
	return out
}

// asSource returns h with as many results as the source can have had: the results of a tap are its operands.
func asSource(h hookop.HookOp) (results []*ir.Value, none bool) {
	if h.Kind() == hook.Tap {
		return seenThrough(h), true
	}
	return nil, false
}

// lost returns an error that says what a notation cannot hold.
func (w *lowerer) lost(h hookop.HookOp, what string) error {
	return w.m.Errorf(h.Op, "hook %q cannot be written as %s: %s", h.HookName(), w.format, what)
}
