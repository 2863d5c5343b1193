package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// mergePure erases hooks without side effects that nothing depends on, and merges equal ones in one block. XLA does
// both, so an engine must too. Otherwise the two would deliver different events. mergePure maps each merged hook to the
// hook that replaces it.
func mergePure(m *ir.Module) map[*ir.Op]*ir.Op {
	merged := map[*ir.Op]*ir.Op{}
	type key struct {
		block *ir.Block
		text  string
	}
	pure := slices.DeleteFunc(hookop.HooksOf(m), func(h hookop.HookOp) bool { return h.SideEffect() || h.Chained() })
	if len(pure) == 0 {
		return nil
	}
	first := map[key]hookop.HookOp{}
	ordinals := map[*ir.Value]int{}
	for _, h := range pure {
		k := key{h.Block(), pureKey(h, ordinals)}
		f, ok := first[k]
		if !ok {
			first[k] = h
			continue
		}
		for i, v := range h.Results() {
			v.ReplaceAllUsesWith(f.Result(i))
		}
		merged[h.Op] = f.Op
		irutil.EraseDead(h.Op)
	}
	defer orderTargets(pure)
	for i := len(pure) - 1; i >= 0; i-- {
		if h := pure[i]; h.Block() != nil {
			if users, dead := deadUsers(h.Op, nil, 0); dead {
				for k := len(users) - 1; k >= 0; k-- {
					if users[k].Block() != nil {
						users[k].Erase()
					}
				}
				irutil.EraseDead(h.Op)
			}
		}
	}
	return merged
}

// orderTargets gives the remaining hooks of the user's targets a side effect, even if their source states none: a user
// who names a target expects its calls in order. JAX's pure_callback stays pure.
func orderTargets(pure []hookop.HookOp) {
	for _, h := range pure {
		if h.Block() != nil && h.Format() == targetName {
			h.SetAttr(hookop.AttrSideEffect, ir.NewUnit())
		}
	}
}

// pureKey describes the computation of a hook without side effects: its identity in the source and its operands.
func pureKey(h hookop.HookOp, ordinals map[*ir.Value]int) string {
	var b strings.Builder
	for _, a := range h.Attrs() {
		b.WriteString(a.Name)
		b.WriteByte('=')
		b.WriteString(a.Attr.String())
		b.WriteByte(';')
	}
	for _, v := range h.Operands() {
		n, ok := ordinals[v]
		if !ok {
			n = len(ordinals)
			ordinals[v] = n
		}
		b.WriteString(" %" + strconv.Itoa(n))
	}
	for _, v := range h.Results() {
		b.WriteString(v.Type().String())
	}
	return b.String()
}

// deadUsers returns the ops that depend on op, producers before users, if all of them are pure and nothing else uses
// them. It gives up on long chains, because it must match XLA's cleanup only close to the hook.
func deadUsers(op *ir.Op, list []*ir.Op, depth int) (users []*ir.Op, dead bool) {
	if depth > 64 {
		return nil, false
	}
	for _, r := range op.Results() {
		for u := range r.Uses() {
			o := u.Owner()
			if !o.Has(ir.Pure) || len(o.Regions()) > 0 || o.Has(ir.Terminator) || len(list) > 256 {
				return nil, false
			}
			list = append(list, o)
			var ok bool
			if list, ok = deadUsers(o, list, depth+1); !ok {
				return nil, false
			}
		}
	}
	return list, true
}
