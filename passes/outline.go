package passes

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Isolate keeps one function and the symbols that it uses.
type Isolate struct {
	Function string `pass:"function" default:"main" doc:"the function that stays"`
}

func (Isolate) Info() *pass.Info {
	return &pass.Info{Name: "isolate-function", Doc: "Makes one function public, names it @main, and erases all symbols that it does not use."}
}

func (p Isolate) Run(ctx *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	f, err := function(m, p.Function)
	if err != nil {
		return err
	}
	if f.External() {
		return m.Errorf(f.Op, "@%s has no body", p.Function)
	}
	symbols := ir.SymbolsOf(m.Op())
	g, err := pass.CallGraph.Of(ctx)
	if err != nil {
		return err
	}
	if old := symbols[mainName]; old != nil && old != f.Op {
		name := symbols.Unique(mainName, old)
		for _, c := range g.Callers(old) {
			c.SetAttr(c.Def().Flow.Callee, ir.NewSymbolRef(name))
		}
		fn.FuncOp{Op: old}.SetPrivate(name)
	}
	for op := range m.Body().Ops() {
		if other, ok := fn.AsFunc(op); ok && op != f.Op {
			other.SetPrivate(other.Symbol())
		}
	}
	for _, c := range g.Callers(f.Op) {
		c.SetAttr(c.Def().Flow.Callee, ir.NewSymbolRef(mainName))
	}
	f.SetAttr(ir.SymbolName, ir.NewString(mainName))
	f.RemoveAttr(fn.AttrSymVisibility)
	return SymbolDCE{}.Run(ctx, m)
}

// mainName is the function that a program runs.
const mainName = "main"

// Outline moves the regions of loops and branches into private functions.
type Outline struct {
	MinOps pass.Opt[int] `pass:"min-ops" default:"8" doc:"outline only regions of at least this many operations"`

	Formats format.List // of hooks; nil: format.Builtin
}

func (Outline) Info() *pass.Info {
	return &pass.Info{
		Name: "outline-regions",
		Doc: "Moves the body of each loop, branch and condition into a private function that the region calls, with the outside values that it uses as arguments. " +
			"A region with a hook that is not raised stays, because the hook's id would change with its function.",
	}
}

func (p Outline) Run(ctx *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	unraised, err := format.Unraised(m, format.RaiseOptions{Formats: p.Formats, Context: ctx})
	if err != nil {
		return err
	}
	r := rewrite.New(m)
	var symbols ir.SymbolTables
	m.Op().WalkPost(func(op *ir.Op) bool {
		f := op.Def().Flow
		if f == nil || f.Function || flow.FunctionOf(op) == nil || !flow.InOrder(op.Block()) {
			return true
		}
		for i, region := range op.Regions() {
			if f.Run(i) == ir.RunsUnordered || len(region.Blocks()) != 1 || op.Has(ir.IsolatedFromAbove) {
				continue
			}
			n, raised := 0, true
			for o := range region.Entry().Ops() {
				if !o.Has(ir.Terminator) {
					n++
				}
				raised = raised && o.Walk(func(x *ir.Op) bool { return !x.Pos().IsValid() || !unraised[x.Pos()] })
			}
			if n >= p.MinOps.Get() && raised {
				outline(r, &symbols, region)
			}
		}
		return true
	})
	ctx.Changes(r.Statistics())
	return nil
}

// outline moves the ops of a region of one block, except the terminator, into a new function that the region calls.
func outline(r *rewrite.Rewriter, symbols *ir.SymbolTables, region *ir.Region) {
	m, b := r.Module(), region.Entry()
	top := flow.FunctionOf(region.Op())
	name := symbols.Of(ir.SymbolTableOf(top)).Unique(fn.FuncOp{Op: top}.Symbol()+"_region", top)
	end := b.Last()
	operands := append(slices.Clone(b.Args()), flow.Captures(region)...)
	results := end.OperandList()
	inputs, outputs := view.Types(operands), view.Types(results)
	body := m.NewRegion()
	entry := body.AddBlock(inputs...)
	for i, v := range operands {
		entry.Arg(i).SetName(v.Name())
	}
	st := &ir.OpState{Def: fn.Func, Bodies: []*ir.Region{body}, Loc: top.Loc(), Pos: top.Pos()}
	st.SetAttr(ir.SymbolName, ir.NewString(name))
	st.SetAttr(fn.AttrSymVisibility, ir.NewString("private"))
	st.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(m.Context().Function(inputs, outputs)))
	f := r.After(top).Insert(st)
	// Create the call with the outside values first: the uses in the moved ops become uses of the arguments afterwards.
	ops := slices.Collect(b.Ops())
	call := r.Before(end).Create(fn.Call, operands, outputs, ir.NamedAttr{Name: fn.AttrCallee, Attr: ir.NewSymbolRef(name)})
	call.SetLoc(end.Loc())
	ret := m.AtEnd(entry).Create(fn.Return, results, nil)
	for _, op := range ops {
		if op != end {
			r.MoveBefore(op, ret)
		}
	}
	inside := func(u *ir.Use) bool { return f.IsAncestorOf(u.Owner()) }
	for i, v := range operands {
		r.ReplaceUses(v, entry.Arg(i), inside)
	}
	r.Update(end, func() { end.SetOperands(call.ResultList()) })
}
