package hook

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// AliasMode says which results get their operand's memory.
type AliasMode uint8

// Alias modes.
const (
	AliasAll  AliasMode = iota // wherever operand and result have one type
	AliasFree                  // where XLA need not copy first
	AliasNone                  // nowhere but for taps and inout hooks, which are defined by it
)

var aliasNames = [...]string{AliasAll: "all", AliasFree: "free", AliasNone: "none"}

func (a AliasMode) String() string { return aliasNames[a] }

// ParseAliasMode returns the mode spelled s.
func ParseAliasMode(s string) (AliasMode, bool) {
	for a, name := range aliasNames {
		if name == s {
			return AliasMode(a), true
		}
	}
	return 0, false
}

// Verdict is what comes of one result of a hook.
type Verdict uint8

// Verdicts on aliases.
const (
	AliasKept    Verdict = iota // shares its operand's memory for free
	AliasCopied                 // shares it, but XLA copies the operand first
	AliasRefused                // has memory of its own
)

var verdictNames = [...]string{AliasKept: "kept", AliasCopied: "copy", AliasRefused: "refused"}

func (v Verdict) String() string { return verdictNames[v] }

// MarshalText makes JSON spell the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// AliasReport says what was decided for one result of a hook, and why.
type AliasReport struct {
	Hook    hlocb.ID `json:"hook"`
	Name    string   `json:"name"`
	Result  int      `json:"result"`  // as the host counts them
	Operand int      `json:"operand"` // -1 where refused
	Verdict Verdict  `json:"verdict"`
	Reason  string   `json:"reason"`
	Bytes   int64    `json:"bytes"` // of the result, -1 where its size is unknown
}

// Alias decides for every hook of a raised module which results share an operand's memory.
//
// A tap of a value that the program computes and uses afterwards becomes an aliased pass-through whose result
// replaces the later uses: otherwise XLA computes the value twice, once for the tap and once, fused, for the
// others. Results of a call share the memory of the first operand of exactly their type that no other result
// took. Where operands live on or are undonated arguments, XLA copies first; the report says so.
func Alias(m *ir.Module, mode AliasMode) []AliasReport {
	a := &aliaser{m: m, mode: mode, computed: map[*ir.Value]int8{}, place: map[*ir.Op]int{}}
	// On several devices a value is in parts, and what a hook passes on would have to be parted again.
	single := partitions(m) == 1
	hook := m.Def(hlocb.Hook.Name)
	var hooks []hlocb.HookOp
	a.calls = callGraphOf(m, func(op *ir.Op) {
		if op.Is(hook) {
			hooks = append(hooks, hlocb.HookOp{Op: op})
		}
	})
	a.reports = make([]AliasReport, 0, len(hooks))
	for _, h := range hooks {
		switch {
		case h.Kind() == hlocb.Tap && h.NumResultData() == 0 && mode != AliasNone && single:
			a.passThrough(h)
		case h.Kind() == hlocb.Call && mode != AliasNone:
			a.call(h)
		}
		a.explain(h)
	}
	return a.reports
}

type aliaser struct {
	m        *ir.Module
	mode     AliasMode
	calls    *callGraph
	computed map[*ir.Value]int8 // 1 yes, -1 no, 2 being asked
	place    map[*ir.Op]int     // position in the block, of the ops in blocks asked about
	reports  []AliasReport
}

// isComputed reports whether the program computes v: no constant, no argument of the program, and no argument
// of a function that anybody hands such a value.
func (a *aliaser) isComputed(v *ir.Value) bool {
	switch a.computed[v] {
	case 1, 2: // a cycle of calls adds nothing
		return true
	case -1:
		return false
	}
	a.computed[v] = 2
	yes := a.compute(v)
	a.computed[v] = -1
	if yes {
		a.computed[v] = 1
	}
	return yes
}

func (a *aliaser) compute(v *ir.Value) bool {
	if def := v.Def(); def != nil {
		if stable(def) == "optimization_barrier" {
			return a.isComputed(def.Operand(v.Index()))
		}
		return !isConstant(v)
	}
	parent := v.Block().Parent()
	if parent == nil || stable(parent) == "while" {
		return true // loops own what they carry
	}
	if parent.Name() == "sdy.manual_computation" && v.Index() < parent.NumOperands() {
		return a.isComputed(parent.Operand(v.Index()))
	}
	f, ok := fn.AsFunc(parent)
	if !ok || !f.Private() || a.calls.taken[f.Symbol()] != nil {
		return false
	}
	callers := a.calls.callers[f.Symbol()]
	for _, call := range callers {
		if v.Index() >= call.NumOperands() || !a.isComputed(call.Operand(v.Index())) {
			return false
		}
	}
	return len(callers) > 0
}

// passThrough adds to a tap a result for each operand that is computed and used afterwards.
func (a *aliaser) passThrough(h hlocb.HookOp) {
	var passed []int
	seen := map[*ir.Value]bool{}
	for i := range h.NumData() {
		v := h.Data(i)
		if seen[v] || isZeroSize(v.Type()) || !a.isComputed(v) {
			continue
		}
		seen[v] = true
		if len(a.laterUses(h.Op, v)) > 0 {
			passed = append(passed, i)
		}
	}
	if len(passed) == 0 {
		return
	}
	var types []ir.Type
	first := h.NumResultData()
	aliases := h.Aliases()
	for _, i := range passed {
		types, aliases = append(types, h.Data(i).Type()), append(aliases, i)
	}
	a.m.AddResults(h.Op, types...)
	for k, i := range passed {
		for _, u := range a.laterUses(h.Op, h.Data(i)) {
			u.Set(h.ResultData(first + k))
		}
	}
	h.SetAliases(a.m.Context(), aliases)
}

// laterUses returns the uses of v that come after op in its block, nested ones included.
func (a *aliaser) laterUses(op *ir.Op, v *ir.Value) []*ir.Use {
	var out []*ir.Use
	for u := range v.Uses() {
		user := u.Owner()
		for user != nil && user.Block() != op.Block() {
			user = user.Parent()
		}
		if user != nil && user != op && a.precedes(op, user) {
			out = append(out, u)
		}
	}
	return out
}

// call lets results of a call share the memory of operands of the same type.
func (a *aliaser) call(h hlocb.HookOp) {
	aliases := h.Aliases()
	taken := make([]bool, h.NumData())
	for _, o := range aliases {
		if o >= 0 {
			taken[o] = true
		}
	}
	for i := range aliases {
		if aliases[i] >= 0 || isZeroSize(h.ResultData(i).Type()) {
			continue
		}
		for o := range taken {
			if taken[o] || h.Data(o).Type() != h.ResultData(i).Type() {
				continue
			}
			if verdict, _ := a.cost(h, o); a.mode == AliasFree && verdict != AliasKept {
				continue
			}
			aliases[i], taken[o] = o, true
			break
		}
	}
	h.SetAliases(a.m.Context(), aliases)
}

// cost says whether XLA must copy data operand o of h before a result may take its memory.
func (a *aliaser) cost(h hlocb.HookOp, o int) (Verdict, string) {
	v := h.Data(o)
	for i := range h.NumData() {
		if i != o && h.Data(i) == v {
			return AliasCopied, "the operand is passed twice"
		}
	}
	if isConstant(v) {
		return AliasCopied, "the operand is a constant"
	}
	if !a.isComputed(v) {
		if donated(v) {
			return AliasKept, "the operand is a donated argument"
		}
		return AliasCopied, "the operand is an argument that is not donated"
	}
	for u := range v.Uses() {
		if u.Owner() != h.Op && !a.before(u.Owner(), h.Op) {
			return AliasCopied, "the operand is used later"
		}
	}
	if v.ParentBlock() != h.Block() {
		return AliasCopied, "the operand comes from outside the region"
	}
	return AliasKept, "the operand ends here"
}

// before reports whether user, or what holds it, stands before op in op's block.
func (a *aliaser) before(user, op *ir.Op) bool {
	for user != nil && user.Block() != op.Block() {
		user = user.Parent()
	}
	return user != nil && user != op && a.precedes(user, op)
}

// near is how far ops are looked for around another before their whole block is numbered.
const near = 32

// precedes reports whether x stands before y in their block.
func (a *aliaser) precedes(x, y *ir.Op) bool {
	for i, up, down := 0, y.Prev(), y.Next(); i < near; i++ {
		switch {
		case up == nil, down == x: // x is not before, it is after
			return false
		case down == nil, up == x:
			return true
		}
		up, down = up.Prev(), down.Next()
	}
	if _, ok := a.place[x]; !ok {
		i := 0
		for op := range x.Block().Ops() {
			a.place[op] = i
			i++
		}
	}
	return a.place[x] < a.place[y]
}

// donated reports whether v is an argument of the program whose memory it gives away.
func donated(v *ir.Value) bool {
	if v.Block() == nil {
		return false
	}
	f, ok := fn.AsFunc(v.Block().Parent())
	if !ok || f.Private() {
		return false
	}
	d := f.ArgAttrs(v.Index())
	return d.Get("tf.aliasing_output") != nil || d.Get("jax.buffer_donor") != nil
}

// explain reports on every result of h.
func (a *aliaser) explain(h hlocb.HookOp) {
	for i, o := range h.Aliases() {
		rep := AliasReport{Hook: h.ID(), Name: h.HookName(), Result: i, Operand: o, Bytes: sizeOf(h.ResultData(i).Type())}
		if o >= 0 {
			rep.Verdict, rep.Reason = a.cost(h, o)
		} else {
			rep.Verdict, rep.Reason = AliasRefused, a.why(h, i)
		}
		a.reports = append(a.reports, rep)
	}
}

// why says what kept a result from an alias.
func (a *aliaser) why(h hlocb.HookOp, i int) string {
	t := h.ResultData(i).Type()
	switch {
	case a.mode == AliasNone:
		return "aliases are switched off"
	case h.NumData() == 0:
		return "the hook has no operands"
	case isZeroSize(t):
		return "the result has no elements"
	}
	same := false
	for o := range h.NumData() {
		same = same || h.Data(o).Type() == t
	}
	switch {
	case !same:
		return "no operand has the result's type " + t.String()
	case a.mode == AliasFree:
		return "it would need a copy"
	}
	return "every operand of its type has a result already"
}

// sizeOf returns the bytes of a tensor, -1 where unknown.
func sizeOf(t ir.Type) int64 {
	tt, ok := t.(*ir.TensorType)
	if !ok || !tt.Static() || tt.DType() == tensor.Invalid {
		return -1
	}
	n := tensor.Shape(tt.Shape()).NumElements()
	if n < 0 {
		return -1
	}
	return n * int64(tt.DType().Size())
}
