package passes

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// WrapInComposite wraps ops in composites.
type WrapInComposite struct {
	Names   []string `pass:"op-names" doc:"the kinds of ops to wrap: stablehlo.add"`
	Version int      `pass:"version" doc:"the version of the composites"`
}

func (WrapInComposite) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-wrap-in-composite",
		Aliases: []string{"wrap-in-composite"},
		Doc: "Replaces each op of the given kinds by a composite with its name and attributes. The composite's decomposition is a new private " +
			"function with the op. Also erases dead operations and folds.",
	}
}

func (p WrapInComposite) Run(ctx *pass.Context, m *ir.Module) error {
	var rows []*ir.Def
	for _, name := range p.Names {
		d := m.Def(name)
		if !d.Known() {
			ctx.Emit(&diag.Diagnostic{Severity: diag.Warning, Message: fmt.Sprintf("unknown op name '%s': nothing is wrapped", name)})
			continue
		}
		rows = append(rows, d)
	}
	var list []*ir.Op
	m.Op().WalkPost(func(op *ir.Op) bool {
		if slices.Contains(rows, op.Def()) {
			list = append(list, op)
		}
		return true
	})
	r := rewrite.New(m)
	for _, op := range slices.Backward(list) { // the op around others first
		if op.Erased() {
			continue
		}
		name := ir.SymbolsOf(ir.SymbolTableOf(op)).Unique(op.Name()+".impl", op)
		legalize.Outline(r, op, name)
		composite := ir.Must(stablehlo.BuildComposite(r.Before(op).From(op), op.OperandList(), nil, op.ResultTypes(), stablehlo.CompositeAttrs{
			Name: op.Name(), CompositeAttributes: attrsOf(op), Decomposition: name, Version: int64(p.Version),
		}))
		r.Replace(op, composite.ResultList()...)
	}
	_, err := pass.Rules{}.Greedy(ctx, m.Op(), nil, rewrite.Options{EraseDead: true, Constants: true, MaxIterations: 10})
	return err
}

// attrsOf returns the attributes of op as a dictionary, or nil if there are none.
func attrsOf(op *ir.Op) ir.Attr {
	if len(op.Attrs()) == 0 {
		return nil
	}
	var list ir.AttrList
	for _, a := range op.Attrs() {
		list = list.Set(a.Name, a.Attr, false)
	}
	return ir.NewDict(list)
}
