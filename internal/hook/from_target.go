package hooks

import (
	"strconv"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

const fromTargetName = "target"

// fromTarget reads custom calls of targets that the user named.
var fromTarget = Format{
	Name:  fromTargetName,
	Doc:   "a custom call of a target that the user names",
	ops:   []string{"custom_call"},
	raise: raiseTarget,
}

func raiseTarget(r *raiser, op *ir.Op) (bool, error) {
	if !r.targets[stringAttr(op.Attr("call_target_name"))] {
		return false, nil
	}
	layouts, err := r.rowMajor(op)
	if err != nil {
		return false, err
	}
	if s, ok := op.Attr("backend_config").(*ir.StringAttr); ok && s.Value() != "" {
		if v, _ := intAttr(op.Attr("api_version")); v == 4 {
			return false, r.errorf(op, "api_version 4 needs a dictionary as backend_config, but this is a string")
		}
	}
	operands, results := op.OperandList(), resultList(op)
	// A chain of no size orders nothing in XLA; it is taken for the token it stands for.
	var chain *ir.Value
	if len(operands) > 0 && len(results) > 0 && operands[0].Type() == results[0].Type() && isZeroSize(operands[0].Type()) {
		chain = operands[0]
	}
	tokens, data := splitTokens(operands)
	aliases, err := r.sourceAliases(op, data)
	if err != nil {
		return false, err
	}
	if chain != nil {
		data, results = data[1:], results[1:]
		aliases = aliases[1:]
		for i := range aliases {
			aliases[i] = max(aliases[i]-1, -1)
		}
		op.Result(0).ReplaceAllUsesWith(chain)
	}
	cfg := config(op)
	label, used := targetLabel(cfg)
	sideEffect := isTrue(op.Attr("has_side_effect")) || len(tokens) > 0
	n := dataLeaves(results)
	kind := callKind(len(data), n, sideEffect)
	if n > 0 && allAliased(aliases) {
		kind = hook.InOut
	}
	s := &site{
		at:         op,
		kind:       kind,
		label:      label,
		sideEffect: sideEffect,
		tokens:     tokens,
		operands:   data,
		results:    results,
		aliases:    aliases,
		layouts:    layouts,
		erase:      []*ir.Op{op},
	}
	for _, name := range [...]string{"hook_id", "id"} {
		if v, ok := intAttr(cfg.Get(name)); ok && s.sourceID == "" {
			s.sourceID = name + " " + strconv.FormatInt(v, 10)
		}
	}
	if cfg != nil {
		for _, e := range cfg.Entries() {
			if e.Name != used {
				s.attrs = append(s.attrs, ir.NamedAttr{Name: e.Name, Attr: e.Attr})
			}
		}
	}
	r.add(s)
	return true, nil
}

// targetLabel returns the name that a config gives its hook, and the entry it comes from.
func targetLabel(cfg *ir.DictAttr) (label, from string) {
	for _, name := range [...]string{"name", "hook"} {
		if s := stringAttr(cfg.Get(name)); s != "" {
			return s, name
		}
	}
	for _, name := range [...]string{"hook_id", "id"} {
		if v, ok := intAttr(cfg.Get(name)); ok {
			return strconv.FormatInt(v, 10), ""
		}
	}
	return "", ""
}

// allAliased reports whether every result shares the memory of an operand of its own.
func allAliased(aliases []int) bool {
	seen := map[int]bool{}
	for _, a := range aliases {
		if a < 0 || seen[a] {
			return false
		}
		seen[a] = true
	}
	return true
}
