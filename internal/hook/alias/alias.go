// Package alias decides which results of hooks share the memory of operands.
package alias

import (
	"context"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Decide decides for every hook of a raised module which results share an operand's memory.
//
// A tap of a value that the program computes and uses afterwards becomes an aliased pass-through whose result replaces
// the later uses. Otherwise XLA computes the value twice: once for the tap and once, fused, for the later users. If
// uses precede the tap, the tap moves up to its operands. It stays a plain tap if moving does not make the pass-through
// free and XLA computes the value once in any case. A result of a call shares the memory of the first free operand with
// exactly its type. XLA first copies operands that are used later or that are arguments not donated, and the report
// says so. Decide stops with an error when ctx ends.
func Decide(ctx context.Context, m *ir.Module, mode hook.AliasMode) ([]hook.AliasReport, error) {
	// With several devices the values are sharded, and the result of a pass-through would have to be sharded again.
	a := &aliaser{m: m, mode: mode, single: irutil.Partitions(m) == 1, computed: map[*ir.Value]bool{}}
	var hooks []hookop.HookOp
	a.calls = flow.Of(m, func(op *ir.Op) {
		if op.Is(hookop.Hook) {
			hooks = append(hooks, hookop.HookOp{Op: op})
		}
	})
	a.reports = make([]hook.AliasReport, 0, len(hooks))
	for i, h := range hooks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case h.Kind() == hook.Tap && h.NumResultData() == 0 && mode != hook.AliasNone && a.single:
			hooks[i] = a.passThrough(h)
		case h.Kind() == hook.Call && mode != hook.AliasNone:
			a.call(h)
		}
	}
	for _, h := range hooks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.explain(h)
	}
	return a.reports, nil
}

type aliaser struct {
	m        *ir.Module
	mode     hook.AliasMode
	single   bool // one device
	calls    *flow.Graph
	computed map[*ir.Value]bool // see isComputed
	reports  []hook.AliasReport
}

// isComputed reports whether the program computes v. It does not compute constants, its own arguments, or function
// arguments that receive such a value from a caller.
func (a *aliaser) isComputed(v *ir.Value) bool {
	yes, known := a.computed[v]
	if !known {
		a.computed[v] = true // a cycle of calls adds nothing
		yes = a.compute(v)
		a.computed[v] = yes
	}
	return yes
}

func (a *aliaser) compute(v *ir.Value) bool {
	if def := v.DefiningOp(); def != nil {
		if def.IsOrMirrors(stablehlo.OptimizationBarrier) {
			return a.isComputed(def.Operand(v.Index()))
		}
		return !isConstant(v)
	}
	parent := v.Block().Parent()
	if parent == nil || loops(parent) {
		return true // loops own their carried values
	}
	if f, ok := fn.AsFunc(parent); ok && (!f.Private() || a.calls.NamedBy(parent) != nil) {
		return false
	}
	n := 0
	for u := range a.calls.Sources(v) {
		n++
		if !a.isComputed(u.Value()) {
			return false
		}
	}
	return n > 0
}

// loops reports whether op runs a region repeatedly.
func loops(op *ir.Op) bool {
	for i := range op.Regions() {
		if r := op.Def().Flow.Run(i); r == ir.RunsRepeated || r == ir.RunsTest {
			return true
		}
	}
	return false
}

// passThrough rebuilds a tap with a result for each operand that is computed and used afterwards. It returns the new
// tap.
func (a *aliaser) passThrough(h hookop.HookOp) hookop.HookOp {
	candidates := a.usedLater(h)
	if len(candidates) == 0 {
		return h
	}
	if !a.free(h.Op, h, candidates) {
		next := h.Next()
		if hoist(h) {
			candidates = a.usedLater(h)
			if !slices.ContainsFunc(candidates, func(i int) bool { return a.free(h.Op, h, []int{i}) }) {
				// The move gains nothing. Undo it, because otherwise two taps would change places at each rewrite.
				h.MoveBefore(next)
				candidates = a.usedLater(h)
			}
		}
	}
	passed := candidates[:0]
	for _, i := range candidates {
		if a.free(h.Op, h, []int{i}) || a.mode != hook.AliasFree && a.isDuplicated(h.Data(i), 0) {
			passed = append(passed, i)
		}
	}
	if len(passed) == 0 {
		return h
	}
	st := h.State()
	first := h.NumResultData()
	aliases := h.Aliases()
	for _, i := range passed {
		st.Types, aliases = append(st.Types, h.Data(i).Type()), append(aliases, i)
	}
	h = hookop.HookOp{Op: a.m.Rebuild(h.Op, st, nil)}
	for k, i := range passed {
		for _, u := range laterUses(h.Op, h.Data(i)) {
			u.Set(h.ResultData(first + k))
		}
	}
	h.SetAliases(aliases)
	return h
}

// usedLater returns the operands of a tap, each value once, that its region computes and uses afterwards. XLA computes
// a value from outside the region once in any case.
func (a *aliaser) usedLater(h hookop.HookOp) []int {
	var out []int
	for i := range h.NumData() {
		v := h.Data(i)
		if irutil.IsZeroSize(v.Type()) || v.ParentBlock() != h.Block() || !a.isComputed(v) {
			continue
		}
		repeated := false
		for k := range i {
			repeated = repeated || h.Data(k) == v
		}
		if !repeated && len(laterUses(h.Op, v)) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// call makes results of a call share the memory of operands of the same type.
func (a *aliaser) call(h hookop.HookOp) {
	aliases := h.Aliases()
	taken := make([]bool, h.NumData())
	for _, o := range aliases {
		if o >= 0 {
			taken[o] = true
		}
	}
	for i := range aliases {
		if aliases[i] >= 0 || irutil.IsZeroSize(h.ResultData(i).Type()) {
			continue
		}
		for o := range taken {
			if taken[o] || h.Data(o).Type() != h.ResultData(i).Type() {
				continue
			}
			if verdict, _ := a.cost(h, o); a.mode == hook.AliasFree && verdict != hook.AliasKept {
				continue
			}
			aliases[i], taken[o] = o, true
			break
		}
	}
	h.SetAliases(aliases)
}

// cost decides whether XLA must copy data operand o of h before a result can use its memory, and says why.
func (a *aliaser) cost(h hookop.HookOp, o int) (hook.Verdict, string) {
	v := h.Data(o)
	for i := range h.NumData() {
		// If results alias several of the equal operands, each operand needs separate memory. The first operand also
		// needs it if the others are only read.
		if i != o && h.Data(i) == v && (i < o || !slices.Contains(h.Aliases(), i)) {
			return hook.AliasCopied, "the operand is passed twice"
		}
	}
	if isConstant(v) && !isFilled(v) {
		return hook.AliasCopied, "the operand is a constant"
	}
	if !a.isComputed(v) && !isFilled(v) {
		if isDonated(v) {
			return hook.AliasKept, "the operand is a donated argument"
		}
		return hook.AliasCopied, "the operand is an argument that is not donated"
	}
	for u := range v.Uses() {
		switch {
		case u.Owner() == h.Op || needs(h.Op, u.Owner()):
		case before(u.Owner(), h.Op):
			return hook.AliasCopied, "an op that need not come before the hook uses the operand too"
		default:
			return hook.AliasCopied, "the operand is used later"
		}
	}
	if v.ParentBlock() != h.Block() {
		return hook.AliasCopied, "the operand comes from outside the region"
	}
	if !a.endsAtCallers(v, 0) {
		return hook.AliasCopied, "the operand is an argument that a caller uses elsewhere, too"
	}
	return hook.AliasKept, "the hook is the operand's last use"
}

// isDonated reports whether v is a program argument whose memory is donated.
func isDonated(v *ir.Value) bool {
	if v.Block() == nil {
		return false
	}
	f, ok := fn.AsFunc(v.Block().Parent())
	if !ok || f.Private() {
		return false
	}
	d := f.ArgAttrs(v.Index())
	return d.Get(fn.AttrAliasingOutput) != nil || d.Get(fn.AttrBufferDonor) != nil
}

// explain reports on every result of h.
func (a *aliaser) explain(h hookop.HookOp) {
	for i, o := range h.Aliases() {
		rep := hook.AliasReport{Hook: h.ID(), Name: h.HookName(), Result: i, Operand: o, Bytes: sizeOf(h.ResultData(i).Type())}
		if o >= 0 {
			rep.Verdict, rep.Reason = a.cost(h, o)
			rep.Maybe = rep.Verdict == hook.AliasCopied && a.copyAvoidable(h.Data(o))
		} else {
			rep.Verdict, rep.Reason = hook.AliasRefused, a.refusal(h, i)
		}
		a.reports = append(a.reports, rep)
	}
}

// refusal explains why a result has no alias.
func (a *aliaser) refusal(h hookop.HookOp, i int) string {
	t := h.ResultData(i).Type()
	switch {
	case a.mode == hook.AliasNone:
		return "aliases are switched off"
	case h.NumData() == 0:
		return "the hook has no operands"
	case irutil.IsZeroSize(t):
		return "the result has no elements"
	}
	same := false
	for o := range h.NumData() {
		same = same || h.Data(o).Type() == t
	}
	switch {
	case !same:
		return "no operand has the result's type " + t.String()
	case a.mode == hook.AliasFree:
		return "it would need a copy"
	}
	return "every operand of the result's type has an alias already"
}

// sizeOf returns the size of a tensor in bytes, or -1 if unknown.
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
