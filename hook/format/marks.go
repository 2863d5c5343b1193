package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// Foreign formats cannot store a hook's name, id and kind. hlocb stores them in frontend attributes of the hook's first
// op. Frontend attributes are a map of strings: XLA preserves it, and readers of foreign formats look up only their own
// keys. hlocb reads its keys back. Without them, it recognizes a hook only by its ops.
const (
	markAliases   = "hlocb_aliases" // of an inout hook: the operand of each result
	markID        = "hlocb_id"      // 16 hexadecimal digits
	markKind      = "hlocb_kind"
	markName      = "hlocb_name"
	markOperands  = "hlocb_operands"   // their number, if the format cannot distinguish none from a dummy
	markPerDevice = "hlocb_per_device" // "each" for a hook that fires on every device with its shard
	markPure      = "hlocb_pure"       // "true" for a hook without side effects
)

// marks returns the frontend attributes that describe hook h, sorted.
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

// setMarks marks op as the first op of hook h.
func setMarks(op *ir.Op, h hookop.HookOp) {
	op.SetAttr(mhlo.AttrFrontendAttributes, ir.NewDict(marks(h)))
}

// markedKind returns the kind that op is marked with.
func markedKind(op *ir.Op) (hook.Kind, bool) { return hook.ParseKind(mhlo.Frontend(op, markKind)) }

// readMarks applies the marks on the first op of a hook, as far as they agree with the hook. If a function was copied
// with its hooks, the first copy keeps the id.
func (r *Raiser) readMarks(s *Match) {
	kind, ok := markedKind(s.Mark)
	if !ok {
		return
	}
	if name := mhlo.Frontend(s.Mark, markName); name != "" {
		s.Name = name
	}
	if id, ok := hook.ParseID(mhlo.Frontend(s.Mark, markID)); ok && !r.marked[id] {
		if r.marked == nil {
			r.marked = map[hook.ID]bool{}
		}
		r.marked[id] = true
		s.ID = &id
	}
	s.EachDevice = s.EachDevice || mhlo.Frontend(s.Mark, markPerDevice) == hook.PerDeviceEach.String()
	if mhlo.Frontend(s.Mark, markPure) == "true" {
		s.dropTokens()
	}
	switch {
	case kind == hook.InOut && s.Kind == hook.Call && s.SideEffect:
		if aliases, ok := markedAliases(s); ok {
			s.Kind, s.Aliases = hook.InOut, aliases
		}
	case kind == hook.Tap && s.Kind == hook.InOut, // its results are its operands
		kind == hook.Feed && s.Kind == hook.Call && len(s.Operands) == 0,
		kind == hook.Call && s.Kind == hook.Feed:
		s.Kind = kind
	}
}

// dropTokens removes the tokens of a hook, and its side effect, if they order nothing: they start at its first op and
// end at its last.
func (s *Match) dropTokens() {
	for _, t := range s.Tokens {
		if d := t.DefiningOp(); d == nil || !d.IsOrMirrors(stablehlo.CreateToken) || !t.HasOneUse() {
			return
		}
	}
	var rest []*ir.Value
	for _, v := range s.Results {
		if !stablehlo.IsToken(v.Type()) {
			rest = append(rest, v)
			continue
		}
		for u := range v.Uses() {
			if !slices.Contains(s.Erase, u.Owner()) {
				return
			}
		}
	}
	s.Tokens, s.Results, s.SideEffect = nil, rest, false
}

// markedAliases returns the aliases that an inout hook is marked with. ok is false if they do not fit its operands and
// results.
func markedAliases(s *Match) (aliases []int, ok bool) {
	var types []ir.Type
	for _, v := range s.Results {
		for _, t := range irutil.Leaves(nil, v.Type()) {
			if !stablehlo.IsToken(t) {
				types = append(types, t)
			}
		}
	}
	parts := strings.Split(mhlo.Frontend(s.Mark, markAliases), ",")
	if len(parts) != len(types) {
		return nil, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n >= len(s.Operands) || s.Operands[n].Type() != types[i] {
			return nil, false
		}
		aliases = append(aliases, n)
	}
	return aliases, allAliased(aliases)
}
