package plan

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// A chain that needs an element computed cheaply by an earlier chain computes it again if the operands are still
// stored. This costs less than storing and loading the element. The results of the forward pass that only the backward
// pass uses, such as 3*x*x and 1-tanh(x) of GELU's gradient, are then never stored.

const recomputeOps = 12 // maximum number of ops that one chain repeats for one value

// recompute adds to each chain of block b the ops that the chain repeats, and removes ops that nothing in their own
// chain needs any more. It sets home and recomputed.
func (p *Planner) recompute(chains [][]*ir.Op, b *ir.Block) [][]*ir.Op {
	size := make([]int, len(chains)) // number of elements of a chain's values, 0 if it is not a chain
	for i, ops := range chains {
		size[i] = p.fusible(ops[0])
	}
	p.number(p.home, chains, b.Last())
	repeated := make([][]*ir.Op, len(chains))
	for i, ops := range chains {
		for _, o := range ops {
			if size[i] == 0 || !cheap(OpKind(o)) {
				continue
			}
			v := o.Result(0)
			var users []int
			ok := true
			for u := range v.Uses() {
				at, known := p.home[u.Owner()]
				if ok = known && u.Owner().Block() == b && at < len(chains) && size[at] == size[i]; !ok {
					break
				}
				if at != i && !slices.Contains(users, at) {
					users = append(users, at)
				}
			}
			if !ok || len(users) == 0 {
				continue
			}
			ops, ok := p.repeat(nil, o, slices.Max(users), b)
			for _, at := range users {
				ok = ok && len(chains[at])+len(repeated[at])+len(ops) <= fuseLength
			}
			if !ok {
				continue
			}
			p.recomputed[v] = true
			for _, at := range users {
				for _, o := range ops {
					if !slices.Contains(repeated[at], o) {
						repeated[at] = append(repeated[at], o)
					}
				}
			}
		}
	}
	var out [][]*ir.Op
	for i, ops := range chains {
		if size[i] > 0 {
			ops = p.needed(append(repeated[i], ops...))
		}
		if len(ops) > 0 {
			out = append(out, ops)
		}
	}
	return out
}

// repeat appends o to ops, the ops of chain at, after the cheap ops that compute those operands of o that nothing
// stores before. It returns false if there are too many ops or if an operand is neither stored nor cheap.
func (p *Planner) repeat(ops []*ir.Op, o *ir.Op, at int, b *ir.Block) ([]*ir.Op, bool) {
	for _, v := range o.Operands() {
		d := v.DefiningOp()
		if slices.Contains(ops, d) || d != nil && OpKind(d) == stablehlo.Constant || !p.recomputed[v] && p.usedFrom(v, at, b) {
			continue
		}
		if d == nil || d.Block() != b || !cheap(OpKind(d)) || p.fusible(d) != p.fusible(o) || p.stored(v) {
			return nil, false
		}
		var ok bool
		if ops, ok = p.repeat(ops, d, at, b); !ok {
			return nil, false
		}
	}
	ops = append(ops, o)
	return ops, len(ops) <= recomputeOps
}

// usedFrom reports whether an op of b uses v at position at or later. An op counts only if it executes at its own
// place; chains may repeat the other ops.
func (p *Planner) usedFrom(v *ir.Value, at int, b *ir.Block) bool {
	for u := range v.Uses() {
		o := u.Owner()
		if o.Block() == b && p.home[o] >= at && (o.NumResults() != 1 || !p.recomputed[o.Result(0)]) {
			return true
		}
	}
	return false
}

// needed returns the ops of a chain whose results are stored or used by other ops of the chain.
func (p *Planner) needed(ops []*ir.Op) []*ir.Op {
	need := map[*ir.Op]bool{}
	var out []*ir.Op
	for _, o := range slices.Backward(ops) {
		v := o.Result(0)
		if !p.stored(v) && v.HasUses() && !usedBy(v, need) {
			continue
		}
		need[o] = true
		out = append(out, o)
	}
	slices.Reverse(out)
	return out
}

func usedBy(v *ir.Value, ops map[*ir.Op]bool) bool {
	for u := range v.Uses() {
		if ops[u.Owner()] {
			return true
		}
	}
	return false
}

// stored reports whether a chain's value outlives the chain.
func (p *Planner) stored(v *ir.Value) bool {
	if p.recomputed[v] {
		return false
	}
	o := v.DefiningOp()
	for u := range v.Uses() {
		if u.Owner().Block() != o.Block() || p.home[u.Owner()] != p.home[o] {
			return true
		}
	}
	return false
}

// cheap reports whether computing an element of d's result takes about as long as loading it.
func cheap(d *ir.Def) bool {
	switch d {
	case stablehlo.Add, stablehlo.Subtract, stablehlo.Multiply, stablehlo.Negate, stablehlo.Maximum, stablehlo.Minimum, stablehlo.Abs,
		stablehlo.Compare, stablehlo.Select, stablehlo.And, stablehlo.Or, stablehlo.Xor, stablehlo.Not, stablehlo.BroadcastInDim:
		return true
	}
	return false
}
