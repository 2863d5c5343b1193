package format

import (
	"strconv"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

const targetName = "target"

// target is the format of custom calls whose targets the user names.
var target = &Format{
	Name:   targetName,
	Doc:    "a custom call of a target that the user names",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.CustomCall}, Read: readTarget},
}

func readTarget(r *Raiser, op *ir.Op) (bool, error) {
	if !r.targets[view.String(op.Attr(stablehlo.AttrCallTargetName))] {
		return false, nil
	}
	if view.String(op.Attr(stablehlo.AttrBackendConfig)) != "" && view.Int(op.Attr(stablehlo.AttrAPIVersion)) == stablehlo.APITypedFFI {
		return false, r.Module.Errorf(op, "api_version 4 needs a dictionary as backend_config, but this is a string")
	}
	operands, results := op.OperandList(), op.ResultList()
	// A chain of size zero orders nothing in XLA. Treat it as the token that it represents.
	var chain *ir.Value
	if len(operands) > 0 && len(results) > 0 && operands[0].Type() == results[0].Type() && irutil.IsZeroSize(operands[0].Type()) {
		chain = operands[0]
	}
	tokens, data := irutil.SplitTokens(operands)
	aliases, err := r.Aliases(op, data)
	if err != nil {
		return false, err
	}
	if chain != nil {
		data, results, aliases = data[1:], results[1:], afterChain(aliases[1:])
		op.Result(0).ReplaceAllUsesWith(chain)
	}
	layouts, order, err := r.layouts(op, data, results)
	if err != nil {
		return false, err
	}
	cfg := irutil.Config(op)
	label := targetLabel(cfg)
	if label == "" {
		label = view.String(op.Attr(stablehlo.AttrCallTargetName))
	}
	sideEffect := view.Bool(op.Attr(stablehlo.AttrHasSideEffect)) || len(tokens) > 0
	n := irutil.DataLeaves(results)
	kind := callKind(len(data), n, sideEffect)
	if n > 0 && allAliased(aliases) {
		kind = hook.InOut
	}
	s := &Match{
		At:         op,
		Kind:       kind,
		Name:       label,
		SideEffect: sideEffect,
		Tokens:     tokens,
		Operands:   data,
		Results:    results,
		Aliases:    aliases,
		Layouts:    layouts,
		Orders:     order,
		Erase:      []*ir.Op{op},
	}
	for _, name := range [...]string{"hook_id", "id"} {
		if v, ok := view.OptionalInt(cfg.Get(name)); ok && s.SourceID == "" {
			s.SourceID = name + " " + strconv.FormatInt(v, 10)
		}
	}
	for _, e := range cfg.Entries() {
		s.Attrs = append(s.Attrs, ir.NamedAttr{Name: e.Name, Attr: e.Attr})
	}
	r.Add(s)
	return true, nil
}

// targetLabel returns the hook's name in a config, or "" if it has none.
func targetLabel(cfg *ir.DictAttr) string {
	for _, name := range [...]string{"name", "hook"} {
		if s := view.String(cfg.Get(name)); s != "" {
			return s
		}
	}
	for _, name := range [...]string{"hook_id", "id"} {
		if v, ok := view.OptionalInt(cfg.Get(name)); ok {
			return strconv.FormatInt(v, 10)
		}
	}
	return ""
}

// allAliased reports whether every result shares the memory of a different operand.
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
