package order

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// rotateLoops moves loop conditions that reach hooks out of their loops if the condition returns only the predicate and
// so cannot forward a chain. The condition becomes one private function. It is called before the loop and at the end of
// the loop body, and the loop carries the predicate:
//
//	p = cond(init); while (p, x = init) { return p } do { y = body(x); return cond(y), y }
//
// The hook stays a single hook with one id, and a loop of n trips delivers it n+1 times. rotateLoops reports whether it
// changed anything.
func rotateLoops(m *ir.Module, reach *flow.Reach) (rotated bool, err error) {
	names := map[*ir.Op]*ir.Namer{}
	for _, op := range reach.Functions() {
		if !reach.Holds(op) {
			continue
		}
		f := fn.FuncOp{Op: op}
		list := loops(reach, nil, f.Body())
		at := f.Next()
		for i := len(list) - 1; i >= 0; i-- {
			if err := rotate(m, f, list[i], at, names); err != nil {
				return false, err
			}
			rotated = true
		}
	}
	return rotated, nil
}

// loops appends the loops in b whose condition reaches a hook and forwards no values, inner loops last.
func loops(reach *flow.Reach, list []*ir.Op, b *ir.Block) []*ir.Op {
	for _, op := range reach.At(b) {
		for i, g := range op.Regions() {
			f := op.Def().Flow
			if f == nil {
				continue
			}
			if _, threads := flow.Threads(op, i); f.Run(i) == ir.RunsTest && !threads && reach.In(g) {
				list = append(list, op)
			}
			for _, inner := range g.Blocks() {
				list = loops(reach, list, inner)
			}
		}
	}
	return list
}

// rotate moves the condition of loop, its region 0, into a private function before at. names has a Namer for each
// symbol table.
func rotate(m *ir.Module, f fn.FuncOp, loop *ir.Op, at *ir.Op, names map[*ir.Op]*ir.Namer) error {
	if len(loop.Regions()) != 2 || loop.Def().Flow.Run(0) != ir.RunsTest || loop.NumOperands() != loop.NumResults() {
		return m.Errorf(loop, "hook in the condition of '%s', which cannot be moved out of it", loop.Name())
	}
	cond := loop.Region(0).Entry()
	last := cond.Last()
	if last == nil || !last.Has(ir.ReturnLike) || last.NumOperands() != 1 {
		return m.Errorf(loop, "condition of the loop does not return one predicate")
	}
	body := loop.Region(1).Entry()
	end := body.Last()
	if end == nil || !end.Has(ir.ReturnLike) {
		return m.Errorf(loop, "body of the loop does not end in a return")
	}
	var captures, constants []*ir.Value
	for _, v := range flow.Captures(loop.Region(0)) {
		if def := v.DefiningOp(); def != nil && def.IsOrMirrors(stablehlo.Constant) {
			constants = append(constants, v)
		} else {
			captures = append(captures, v)
		}
	}
	pred := last.Operand(0).Type()

	// The function takes the values that the condition uses from outside, then the loop's values.
	inputs := append(view.Types(captures), view.Types(cond.Args())...)
	region := m.NewRegion()
	region.TakeBlocks(loop.Region(0))
	table := ir.SymbolTableOf(f.Op)
	if names[table] == nil {
		names[table] = ir.NewNamer(table)
	}
	b := m.AtEnd(f.Block()) // at is nil after the last function
	if at != nil {
		b = m.Before(at)
	}
	test := fn.FuncOp{Op: b.At(loop.Loc(), loop.Pos()).Insert(&ir.OpState{Def: fn.Func, Bodies: []*ir.Region{region}})}
	test.SetPrivate(names[table].Unique(strings.TrimSuffix(f.Symbol(), "_while_cond")+"_while_cond", test.Op))
	test.SetSignature(m.Context().Function(inputs, []ir.Type{pred}), nil, nil)
	replace := func(v, inTest *ir.Value) {
		for u := range v.Uses() {
			if test.IsAncestorOf(u.Owner()) {
				u.Set(inTest)
			}
		}
	}
	for i, v := range captures {
		replace(v, cond.InsertArg(i, v.Type(), v.Loc()))
	}
	start := m.AtStart(cond)
	for _, v := range constants {
		replace(v, start.Clone(v.DefiningOp(), map[*ir.Value]*ir.Value{}).Result(0))
	}
	ret := last.Def()
	m.Before(last).Create(fn.Return, last.OperandList(), nil)
	last.Erase()

	call := func(b *ir.Builder, vals []*ir.Value) *ir.Value {
		return fn.NewCall(b, test, append(append([]*ir.Value(nil), captures...), vals...)).Result(0)
	}
	first := call(m.Before(loop), loop.OperandList())
	end.SetOperands(irutil.Prepend(call(m.Before(end), end.OperandList()), end.OperandList()))
	body.InsertArg(0, pred, nil)
	n := prependValue(m, loop, first)
	entry := n.Region(0).AddBlock(view.Types(n.ResultList())...)
	m.AtEnd(entry).At(n.Loc(), n.Pos()).Create(ret, []*ir.Value{entry.Arg(0)}, nil)
	return nil
}
