package alias

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// free reports whether a tap can pass the given operands through without a copy: every other user comes later, and will
// use the tap's result, or the tap depends on that user.
func (a *aliaser) free(op *ir.Op, h hookop.HookOp, operands []int) bool {
	for _, i := range operands {
		v := h.Data(i)
		for k := range h.NumData() {
			if k != i && h.Data(k) == v { // one of the two needs separate memory
				return false
			}
		}
		for u := range v.Uses() {
			if u.Owner() != op && before(u.Owner(), op) && !needs(op, u.Owner()) {
				return false
			}
		}
		if !a.endsAtCallers(v, 0) {
			return false
		}
	}
	return true
}

// endsAtCallers returns true if v is not a function argument. Otherwise it reports whether every caller passes a value
// that only the call, and ops that the call depends on, use.
func (a *aliaser) endsAtCallers(v *ir.Value, depth int) bool {
	if v.DefiningOp() != nil || depth > 8 {
		return v.DefiningOp() != nil
	}
	f, ok := fn.AsFunc(v.Block().Parent())
	if !ok {
		return true
	}
	for _, call := range a.calls.Callers(f.Op) {
		arg := call.Operand(v.Index())
		if arg.ParentBlock() != call.Block() || isConstant(arg) || !a.endsAtCallers(arg, depth+1) {
			return false
		}
		for u := range arg.Uses() {
			if u != call.OperandUse(v.Index()) && (u.Owner() == call || !needs(call, u.Owner())) {
				return false
			}
		}
	}
	return true
}

// maxInspected limits the number of ops that needs inspects.
const maxInspected = 200

// needs reports whether op depends by data on user, or on the op that contains user in op's block. XLA inserts copies
// before it schedules, so only data determines the order of two ops. needs assumes that XLA cannot see the order if the
// ops are far apart.
func needs(op, user *ir.Op) bool {
	user = irutil.Around(user, op.Block())
	if user == nil || user == op {
		return false
	}
	seen := map[*ir.Op]bool{op: true}
	for work := []*ir.Op{op}; len(work) > 0 && len(seen) < maxInspected; {
		x := work[0]
		work = work[1:]
		for _, v := range x.Operands() {
			d := v.DefiningOp()
			if d == user {
				return true
			}
			if d != nil && d.Block() == op.Block() && !seen[d] {
				seen[d] = true
				work = append(work, d)
			}
		}
	}
	return false
}

// isDuplicated reports whether XLA may compute v once for each of its users, fused into their loops. It looks through
// calls, because XLA inlines them.
func (a *aliaser) isDuplicated(v *ir.Value, depth int) bool {
	if depth > 8 {
		return true
	}
	def := v.DefiningOp()
	if def == nil {
		f, ok := fn.AsFunc(v.Block().Parent())
		if !ok {
			return false // a loop owns it
		}
		for _, call := range a.calls.Callers(f.Op) {
			if a.isDuplicated(call.Operand(v.Index()), depth+1) {
				return true
			}
		}
		return false
	}
	if callee := a.calls.Callee(def); callee != nil {
		for ret := range flow.Returns(callee.Region(0)) {
			if a.isDuplicated(ret.Operand(v.Index()), depth+1) {
				return true
			}
		}
		return false
	}
	if f := def.Def().Flow; f != nil && f.Callee != "" {
		return false // the module lacks the function
	}
	// XLA computes control flow, calls of other code and expensive ops once.
	return def.Def().Flow.Run(0) == ir.RunsUnordered && !def.Is(hookop.Hook) && !slices.ContainsFunc(computedOnce, def.IsOrMirrors)
}

// computedOnce lists ops that XLA does not fuse into the loops of their users.
var computedOnce = []*ir.Def{
	stablehlo.CustomCall, stablehlo.DotGeneral, stablehlo.Dot, stablehlo.Convolution, stablehlo.Sort, stablehlo.Fft,
	stablehlo.Cholesky, stablehlo.TriangularSolve, stablehlo.Rng, stablehlo.RngBitGenerator,
}

// copyAvoidable reports whether XLA may avoid a copy of v. XLA need not copy a value that it gathers from the
// partitions for a manual computation.
func (a *aliaser) copyAvoidable(v *ir.Value) bool {
	if v.Block() != nil && v.Block().Parent().Is(sdy.ManualComputation) {
		return true
	}
	if !a.isComputed(v) && !isFilled(v) {
		return !a.single
	}
	return a.isDuplicated(v, 0)
}

// hoist moves a hook up, right after its operands, and reports whether it moved.
func hoist(h hookop.HookOp) bool {
	var last *ir.Op
	for _, v := range h.Operands() {
		if d := v.DefiningOp(); d != nil && d.Block() == h.Block() && (last == nil || last.IsBefore(d)) {
			last = d
		}
	}
	to := h.Block().First()
	if last != nil {
		to = last.Next()
	}
	if to == h.Op {
		return false
	}
	h.MoveBefore(to)
	return true
}

// laterUses returns the uses of v after op in op's block, including nested uses.
func laterUses(op *ir.Op, v *ir.Value) []*ir.Use {
	var out []*ir.Use
	for u := range v.Uses() {
		if user := irutil.Around(u.Owner(), op.Block()); user != nil && op.IsBefore(user) {
			out = append(out, u)
		}
	}
	return out
}

// before reports whether user, or the op that contains it in op's block, precedes op.
func before(user, op *ir.Op) bool {
	user = irutil.Around(user, op.Block())
	return user != nil && user.IsBefore(op)
}

// isConstant reports whether v is a constant, possibly broadcast.
func isConstant(v *ir.Value) bool {
	def := v.DefiningOp()
	if def == nil {
		return false
	}
	switch def.Def().Original() {
	case stablehlo.Constant, stablehlo.Iota, stablehlo.CreateToken:
		return true
	case stablehlo.BroadcastInDim, stablehlo.Reshape:
		return isConstant(def.Operand(0))
	}
	return false
}

// isFilled reports whether v is memory filled with a constant. XLA fills it again for each user.
func isFilled(v *ir.Value) bool {
	def := v.DefiningOp()
	if def == nil {
		return false
	}
	switch def.Def().Original() {
	case stablehlo.Constant:
		d, ok := def.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		if !ok || d.NumElements() < 2 {
			return false
		}
		_, splat, err := d.Elements()
		return err == nil && splat
	case stablehlo.Iota, stablehlo.BroadcastInDim:
		return true
	case stablehlo.Reshape:
		return isFilled(def.Operand(0))
	}
	return false
}
