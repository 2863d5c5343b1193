package hooks

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// fromHlocb reads hlocb's own call, so that rewriting a rewritten module changes nothing.
var fromHlocb = Format{
	Name:  "hlocb",
	Doc:   "hlocb's own call, a custom call @hlocb_hook of version 1",
	ops:   []string{"custom_call"},
	raise: raiseHlocb,
}

func raiseHlocb(r *raiser, op *ir.Op) (bool, error) {
	if !isTarget(op, hook.Target) {
		return false, nil
	}
	c, err := readOwnCall(r.m, op)
	if err != nil {
		return false, err
	}
	layouts, err := r.rowMajor(op)
	if err != nil {
		return false, err
	}
	operands, results := op.OperandList(), resultList(op)
	if c.chained && !stablehlo.IsToken(operands[0].Type()) {
		return false, r.errorf(op, "the chain of the hook could not be followed")
	}
	tokens, data := splitTokens(operands)
	aliases, err := r.sourceAliases(op, data)
	if err != nil {
		return false, err
	}
	if c.kind == hook.InOut && len(results)-len(tokens) > 0 && !allAliased(aliases) {
		return false, r.errorf(op, "hook is of kind inout, but not every result is aliased to an operand")
	}
	r.add(&site{
		at:         op,
		kind:       c.kind,
		label:      c.name,
		sideEffect: isTrue(op.Attr("has_side_effect")) || c.chained,
		tokens:     tokens,
		operands:   data,
		results:    results,
		aliases:    aliases,
		layouts:    layouts,
		attrs:      ownAttrs(config(op)),
		id:         &c.id,
		erase:      []*ir.Op{op},
	})
	return true, nil
}

// ownCall is what the backend_config of hlocb's own call says.
type ownCall struct {
	id      hook.ID
	name    string
	kind    hook.Kind
	chained bool
}

// readOwnCall reads the configuration of hlocb's own call and checks it against the call.
func readOwnCall(m *ir.Module, op *ir.Op) (ownCall, error) {
	var c ownCall
	cfg := config(op)
	abi, ok := intAttr(cfg.Get("abi"))
	if !ok {
		return c, m.Errorf(op, "@%s has no abi in its backend_config", hook.Target)
	}
	if abi != hook.ABI {
		return c, m.Errorf(op, "@%s is of abi %d, but this hlocb reads abi %d", hook.Target, abi, hook.ABI)
	}
	id, ok := intAttr(cfg.Get("id"))
	if !ok {
		return c, m.Errorf(op, "@%s has no id in its backend_config", hook.Target)
	}
	c.id = hook.ID(id)
	c.name = stringAttr(cfg.Get("name"))
	if c.kind, ok = hook.ParseKind(stringAttr(cfg.Get("kind"))); !ok {
		return c, m.Errorf(op, "@%s has no kind tap, inout, call or feed in its backend_config", hook.Target)
	}
	c.chained = isTrue(cfg.Get("chained"))
	if c.chained {
		if op.NumOperands() == 0 || op.NumResults() == 0 || op.Operand(0).Type() != op.Result(0).Type() {
			return c, m.Errorf(op, "@%s is chained, but operand 0 and result 0 are no pair of one type", hook.Target)
		}
		if isZeroSize(op.Operand(0).Type()) {
			return c, m.Errorf(op, "@%s is chained through a value without elements, which orders nothing", hook.Target)
		}
	}
	return c, nil
}
