package order

import (
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Control predecessors and add-dependency of HLO are an order that no value of the module expresses. The module's
// origins know it.

// hooksByOrigin are hooks of one block by the instructions that they come from.
type hooksByOrigin map[uint32][]*ir.Op

func (h hooksByOrigin) add(op *ir.Op) {
	if n := op.Origin(); n != 0 {
		h[n] = append(h[n], op)
	}
}

// before returns hooks of h that HLO executes before op, which is in the same block: on each way, the nearest. A way
// through other instructions counts, because XLA joins the control predecessors of an instruction that it removes to
// its successors.
func (h hooksByOrigin) before(m *ir.Module, op *ir.Op) []*ir.Op {
	origins := m.Origins()
	if origins == nil || op.Origin() == 0 {
		return nil
	}
	var out []*ir.Op
	seen := map[uint32]bool{op.Origin(): true}
	work := []uint32{op.Origin()}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, b := range origins.Before(n) {
			if seen[b] {
				continue
			}
			seen[b] = true
			found := false
			for _, o := range h[b] {
				if o.IsBefore(op) {
					out, found = append(out, o), true
				}
			}
			if !found {
				work = append(work, b)
			}
		}
	}
	return out
}

// controlled is a raised hook with the hooks of its block that HLO executes before it.
type controlled struct {
	hook   *ir.Op
	before []*ir.Op
}

// controlledHooks returns the raised hooks with side effects that HLO executes after others of their block.
func controlledHooks(m *ir.Module) []controlled {
	if m.Origins() == nil {
		return nil
	}
	var hooks []*ir.Op
	blocks := map[*ir.Block]hooksByOrigin{}
	for _, h := range hookop.HooksOf(m) {
		if !h.SideEffect() {
			continue
		}
		b := h.Block()
		if blocks[b] == nil {
			blocks[b] = hooksByOrigin{}
		}
		blocks[b].add(h.Op)
		hooks = append(hooks, h.Op)
	}
	var out []controlled
	for _, op := range hooks {
		if before := blocks[op.Block()].before(m, op); len(before) > 0 {
			out = append(out, controlled{op, before})
		}
	}
	return out
}

// joinControl expresses HLO's order without values by tokens: a raised hook waits for tokens of the hooks before it.
// Chains then keep the order in forms that know no control predecessors.
func joinControl(m *ir.Module) {
	now := map[*ir.Op]*ir.Op{} // the hooks that have got a token
	chained := func(op *ir.Op) *ir.Op {
		if n := now[op]; n != nil {
			return n
		}
		n := op
		if !(hookop.HookOp{Op: op}).Chained() {
			n = prependValue(m, op, Start(m.Before(op).At(op.Loc(), op.Pos()), hook.ChainToken))
			n.SetAttr(hookop.AttrChained, ir.NewUnit())
		}
		now[op] = n
		return n
	}
	for _, c := range controlledHooks(m) {
		h := chained(c.hook)
		tokens := []*ir.Value{h.Operand(0)}
		for _, op := range c.before {
			tokens = append(tokens, chained(op).Result(0))
		}
		all := ir.Must(m.Before(h).At(h.Loc(), h.Pos()).Build(stablehlo.AfterAll, tokens))
		h.SetOperand(0, all.Result(0))
	}
}
