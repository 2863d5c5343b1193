package hooks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Notations of others have no place for a hook's name, id and kind. What hlocb writes in them says so in frontend attributes of
// the hook's first op, a map of strings that XLA carries along and readers of those notations look up their own keys in. hlocb
// reads them back; a hook without them is read by its shape alone.
const (
	attrFrontend = "mhlo.frontend_attributes"

	markAliases   = "hlocb_aliases" // of an inout hook: the operand of each result
	markID        = "hlocb_id"      // 16 hexadecimal digits
	markKind      = "hlocb_kind"
	markName      = "hlocb_name"
	markOperands  = "hlocb_operands"   // how many, where the notation does not tell none from a dummy
	markPerDevice = "hlocb_per_device" // each for a hook that fires on every device with its shard
	markPure      = "hlocb_pure"       // true for a hook without side effect
)

// marks returns the frontend attributes that tell hook h, in order.
func marks(h hookop.HookOp) ir.AttrList {
	var list ir.AttrList
	if h.Kind() == hook.InOut {
		var parts []string
		for _, a := range h.Aliases() {
			parts = append(parts, strconv.Itoa(a))
		}
		list = append(list, ir.NamedAttr{Name: markAliases, Attr: ir.NewString(strings.Join(parts, ","))})
	}
	list = append(list,
		ir.NamedAttr{Name: markID, Attr: ir.NewString(h.ID().String())},
		ir.NamedAttr{Name: markKind, Attr: ir.NewString(h.Kind().String())},
		ir.NamedAttr{Name: markName, Attr: ir.NewString(h.HookName())})
	if h.Attr(hookop.AttrPartitioned) != nil {
		list = append(list, ir.NamedAttr{Name: markPerDevice, Attr: ir.NewString(hook.PerDeviceEach.String())})
	}
	if !h.SideEffect() {
		list = append(list, ir.NamedAttr{Name: markPure, Attr: ir.NewString("true")})
	}
	return list
}

// setMarks marks op as the first of hook h.
func setMarks(op *ir.Op, h hookop.HookOp) { op.SetAttr(attrFrontend, ir.NewDict(marks(h))) }

// frontend returns a frontend attribute of op, "" where it has none.
func frontend(op *ir.Op, name string) string {
	d, _ := op.Attr(attrFrontend).(*ir.DictAttr)
	return stringAttr(d.Get(name))
}

// markedKind returns the kind that op is marked with.
func markedKind(op *ir.Op) (hook.Kind, bool) { return hook.ParseKind(frontend(op, markKind)) }

// readMarks takes over what the first op of a hook is marked with, as far as it agrees with the hook. Where a function was
// copied with its hooks, the first one keeps the id.
func (r *raiser) readMarks(s *site) {
	kind, ok := markedKind(s.mark)
	if !ok {
		return
	}
	if name := frontend(s.mark, markName); name != "" {
		s.label = name
	}
	if id, ok := hook.ParseID(frontend(s.mark, markID)); ok && !r.marked[id] {
		if r.marked == nil {
			r.marked = map[hook.ID]bool{}
		}
		r.marked[id] = true
		s.id = &id
	}
	s.partition = s.partition || frontend(s.mark, markPerDevice) == hook.PerDeviceEach.String()
	if frontend(s.mark, markPure) == "true" {
		s.loseTokens()
	}
	switch {
	case kind == hook.InOut && s.kind == hook.Call && s.sideEffect:
		if aliases, ok := markedAliases(s); ok {
			s.kind, s.aliases = hook.InOut, aliases
		}
	case kind == hook.Tap && s.kind == hook.InOut, // its results are its operands
		kind == hook.Feed && s.kind == hook.Call && len(s.operands) == 0,
		kind == hook.Call && s.kind == hook.Feed:
		s.kind = kind
	}
}

// loseTokens takes the side effect from a hook whose tokens order it with nothing: they start at its first op and end at its last.
func (s *site) loseTokens() {
	for _, t := range s.tokens {
		if d := t.DefiningOp(); d == nil || stable(d) != "create_token" || !t.HasOneUse() {
			return
		}
	}
	var rest []*ir.Value
	for _, v := range s.results {
		if !stablehlo.IsToken(v.Type()) {
			rest = append(rest, v)
			continue
		}
		for u := range v.Uses() {
			if !slices.Contains(s.erase, u.Owner()) {
				return
			}
		}
	}
	s.tokens, s.results, s.sideEffect = nil, rest, false
}

// markedAliases returns the aliases that an inout hook is marked with; ok is false where its operands and results do not have them.
func markedAliases(s *site) (aliases []int, ok bool) {
	var types []ir.Type
	for _, v := range s.results {
		for _, t := range leaves(nil, v.Type()) {
			if !stablehlo.IsToken(t) {
				types = append(types, t)
			}
		}
	}
	parts := strings.Split(frontend(s.mark, markAliases), ",")
	if len(parts) != len(types) {
		return nil, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n >= len(s.operands) || s.operands[n].Type() != types[i] {
			return nil, false
		}
		aliases = append(aliases, n)
	}
	return aliases, allAliased(aliases)
}
