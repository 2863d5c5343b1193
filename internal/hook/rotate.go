package hooks

import (
	"strings"

	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// rotateLoops moves loop conditions that reach hooks out of their loops, as the condition of a while op cannot
// hand on a chain. The condition becomes one private function, which is called before the loop and at the end
// of its body, and the loop carries its answer:
//
//	p = cond(init); while (p, x = init) { return p } do { y = body(x); return cond(y), y }
//
// So the hook stays one hook with one id, and a loop of n trips delivers it n+1 times.
func rotateLoops(m *ir.Module, t *threader) error {
	rotated := false
	for _, f := range t.calls.funcs {
		if !t.reach.ops[f.Op] {
			continue
		}
		loops := t.reach.loops(nil, f.Body())
		at := f.Next()
		for i := len(loops) - 1; i >= 0; i-- {
			if err := rotate(m, f, loops[i], at); err != nil {
				return err
			}
			rotated = true
		}
	}
	if rotated {
		t.survey()
	}
	return nil
}

// loops appends the while ops in b whose condition reaches what is sought, inner ones last.
func (r *reach) loops(list []*ir.Op, b *ir.Block) []*ir.Op {
	for _, op := range r.at[b] {
		if irutil.Stable(op) == "while" && r.in(op.Region(0)) {
			list = append(list, op)
		}
		for _, g := range op.Regions() {
			for _, inner := range g.Blocks() {
				list = r.loops(list, inner)
			}
		}
	}
	return list
}

// rotate moves the condition of loop into a private function in front of at.
func rotate(m *ir.Module, f fn.FuncOp, loop *ir.Op, at *ir.Op) error {
	cond := loop.Region(0).Entry()
	last := cond.Last()
	if last == nil || !irutil.IsReturn(last) || last.NumOperands() != 1 {
		return m.Errorf(loop, "condition of the loop does not return one predicate")
	}
	captures, constants := capturesOf(loop.Region(0))
	pred := last.Operand(0).Type()

	// The function takes what the condition uses from outside, then the loop's values.
	var inputs []ir.Type
	for _, v := range captures {
		inputs = append(inputs, v.Type())
	}
	for _, a := range cond.Args() {
		inputs = append(inputs, a.Type())
	}
	region := m.NewRegion()
	region.TakeBlocks(loop.Region(0))
	st := &ir.OpState{Def: m.Def("func.func"), Bodies: []*ir.Region{region}, Loc: loop.Loc(), Pos: loop.Pos()}
	st.SetAttr("sym_visibility", ir.NewString("private"))
	op := m.NewOp(st)
	syms := ir.SymbolsOf(m.Op())
	name := syms.Unique(strings.TrimSuffix(f.Symbol(), "_while_cond")+"_while_cond", op)
	op.SetAttr(ir.SymbolName, ir.NewString(name))
	fn.FuncOp{Op: op}.SetSignature(m.Context().Function(inputs, []ir.Type{pred}), nil, nil)
	m.Body().InsertBefore(op, at)
	inFunc := func(u *ir.Use) bool { return op.IsAncestorOf(u.Owner()) }
	for i, v := range captures {
		v.ReplaceUsesIf(cond.InsertArg(i, v.Type(), v.Loc()), inFunc)
	}
	start := cond.First()
	for _, v := range constants {
		k := m.CloneOp(v.DefiningOp(), map[*ir.Value]*ir.Value{})
		cond.InsertBefore(k, start)
		v.ReplaceUsesIf(k.Result(0), inFunc)
	}
	b := m.Before(last)
	b.Create(m.Def("func.return"), last.OperandList(), nil)
	last.Erase()

	callee := ir.NamedAttr{Name: "callee", Attr: ir.NewSymbolRef(name)}
	test := func(b *ir.Builder, vals []*ir.Value) *ir.Value {
		args := append(append([]*ir.Value(nil), captures...), vals...)
		return b.Create(m.Def("func.call"), args, []ir.Type{pred}, callee).Result(0)
	}
	body := loop.Region(1).Entry()
	end := body.Last()
	if end == nil || !irutil.IsReturn(end) {
		return m.Errorf(loop, "body of the loop does not end in a return")
	}
	first := test(m.Before(loop), loop.OperandList())
	end.SetOperands(irutil.Prepend(test(m.Before(end), end.OperandList()), end.OperandList()))
	body.InsertArg(0, pred, nil)

	n := irutil.Rebuild(m, loop, irutil.Prepend(first, loop.OperandList()), irutil.Prepend(pred, irutil.TypesOf(loop)))
	for i, v := range loop.Results() {
		v.ReplaceAllUsesWith(n.Result(i + 1))
	}
	loop.Erase()
	entry := n.Region(0).AddBlock(irutil.TypesOf(n)...)
	m.AtEnd(entry).At(n.Loc(), n.Pos()).Create(m.Def(strings.TrimSuffix(n.Name(), "while")+"return"), []*ir.Value{entry.Arg(0)}, nil)
	return nil
}

// capturesOf returns the values from outside that ops in r use, in order of first use, the constants apart.
func capturesOf(r *ir.Region) (captures, constants []*ir.Value) {
	inside := map[*ir.Region]bool{}
	var mark func(r *ir.Region)
	mark = func(r *ir.Region) {
		inside[r] = true
		for _, b := range r.Blocks() {
			for op := range b.Ops() {
				for _, sub := range op.Regions() {
					mark(sub)
				}
			}
		}
	}
	mark(r)
	seen := map[*ir.Value]bool{}
	for _, b := range r.Blocks() {
		for top := range b.Ops() {
			top.Walk(func(op *ir.Op) bool {
				for _, v := range op.Operands() {
					if !seen[v] && !inside[v.ParentBlock().Region()] {
						seen[v] = true
						if def := v.DefiningOp(); def != nil && irutil.Stable(def) == "constant" {
							constants = append(constants, v)
						} else {
							captures = append(captures, v)
						}
					}
				}
				return true
			})
		}
	}
	return captures, constants
}
