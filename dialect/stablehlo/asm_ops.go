package stablehlo

import (
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// The three operations whose assembly does not follow a format: constant, reduce and while.

// parseConstant reads {attrs} dense<...> : T, or () <{value = ...}> {attrs} : () -> T if the types of value and result
// differ (quantized constants).
func parseConstant(p ir.AsmParser, st *ir.OpState) {
	if p.Accept("(") {
		p.Expect(")")
		if p.Accept("<") {
			p.ParseOptionalAttrDict(st)
			p.Expect(">")
		}
		p.ParseOptionalAttrDict(st)
		p.Expect(":")
		st.Types = append(st.Types, p.ParseFunctionType().Results()...)
		if v := st.Attrs.Get("value"); v != nil {
			st.SetAttr("value", v)
		}
		return
	}
	p.ParseOptionalAttrDict(st)
	pos := p.Pos()
	v := p.ParseAttr(nil)
	if !ods.IsElements(v) {
		p.ErrorfAt(pos, "expected elements attribute")
	}
	st.AddAttr(p, "value", v)
	st.Types = append(st.Types, ods.ElementsType(v))
}

func printConstant(p ir.AsmPrinter, op *ir.Op) {
	v := op.Attr("value")
	if t := ods.ElementsType(v); t != nil && t == op.Result(0).Type() {
		p.PrintAttrDict(op.Attrs(), "value")
		p.Print(" ")
		p.PrintAttr(v)
		return
	}
	p.Print("() <{value = ")
	p.PrintAttr(v)
	p.Print("}>")
	p.PrintAttrDict(op.Attrs(), "value")
	p.Print(" : ")
	p.PrintFunctionType(nil, []ir.Type{op.Result(0).Type()})
}

// constantNames proposes %c for integers and %cst for all other constants.
func constantNames(op *ir.Op, set func(*ir.Value, string)) {
	name := "cst"
	if t, ok := op.Result(0).Type().(*ir.TensorType); ok {
		if _, ok := t.Elem().(*ir.IntegerType); ok {
			name = "c"
		}
	}
	set(op.Result(0), name)
}

// parseReduce reads (%a init: %z), ... then either
//
//	applies stablehlo.add across dimensions = [0] {attrs} : fn
//
// or, with the region written out,
//
//	across dimensions = [0] {attrs} : fn
//	 reducer(%p: T, %q: T) ... { ... }
func parseReduce(p ir.AsmParser, st *ir.OpState) {
	pos := p.Pos()
	st.Pos = pos              // as in MLIR, the op and the implied ops are positioned at the parenthesis
	var room [2][2]ir.Operand // most have one input
	inputs, inits := room[0][:0], room[1][:0]
	for n := 0; n == 0 || p.Accept(","); n++ {
		p.Expect("(")
		inputs = append(inputs, p.ParseOperand())
		p.ExpectKeyword("init")
		p.Expect(":")
		inits = append(inits, p.ParseOperand())
		p.Expect(")")
	}
	var inner *ir.Def
	if p.AcceptKeyword("applies") {
		inner = p.Module().Def(p.ParseKeyword())
		if d := st.Def.Dialect(); !combines(inner, d) {
			p.ErrorfAt(pos, "expected the inner-op to be a commutative binary-op from the %s dialect, with zero region, producing single result", d)
		}
	}
	p.ExpectKeyword("across")
	p.ExpectKeyword("dimensions")
	p.Expect("=")
	dims := p.ParseIntArray(i64)
	if t := &st.Def.Attr("dimensions").Type; t.Form != ir.FormInts {
		dims = list(p.Context(), t, i64, view.Ints(dims))
	}
	p.ParseOptionalAttrDict(st)
	st.AddAttr(p, "dimensions", dims)
	p.Expect(":")
	f := p.ParseFunctionType()
	if types, n := f.Inputs(), len(inputs); len(types) == 2*n {
		for i := range n {
			st.Operands = append(st.Operands, p.ResolveOperand(inputs[i], types[i]))
		}
		for i := range n {
			st.Operands = append(st.Operands, p.ResolveOperand(inits[i], types[n+i]))
		}
	} else {
		p.ResolveOperands(make([]ir.Operand, 2*n), types, pos, st) // reports the wrong number of types
	}
	st.Types = append(st.Types, f.Results()...)
	if inner != nil {
		parseApplied(p, st, inner, pos, f)
		return
	}
	p.ExpectKeyword("reducer")
	var left, right []ir.Argument
	for range inputs {
		p.Expect("(")
		left = append(left, p.ParseArgument(true, false))
		p.Expect(",")
		right = append(right, p.ParseArgument(true, false))
		p.Expect(")")
	}
	st.Bodies = append(st.Bodies, p.ParseRegion(append(left, right...)...))
}

func printReduce(p ir.AsmPrinter, op *ir.Op) {
	n := op.NumOperands() / 2
	p.Print("(")
	for i := range n {
		if i > 0 {
			p.Print(", (")
		}
		p.PrintValue(op.Operand(i))
		p.Print(" init: ")
		p.PrintValue(op.Operand(n + i))
		p.Print(")")
	}
	inner := appliedOp(op)
	if inner != nil {
		p.Print(" applies " + inner.Name())
	}
	p.Print(" across dimensions = ")
	p.PrintInts(view.Ints(op.Attr("dimensions")))
	p.PrintAttrDict(op.Attrs(), "dimensions")
	p.Print(" : ")
	p.PrintFunctionType(view.Types(op.OperandList()), op.ResultTypes())
	if inner != nil {
		return
	}
	p.Newline()
	p.Print(" reducer")
	body := op.Region(0).Entry()
	for i := range n {
		p.Print("(")
		p.PrintArgument(body.Arg(i), nil)
		p.Print(", ")
		p.PrintArgument(body.Arg(n+i), nil)
		p.Print(") ")
	}
	p.Print(" ")
	p.PrintRegion(op.Region(0), false, true)
}

// reduceFits reports whether the region has an argument for each operand.
func reduceFits(op *ir.Op) bool {
	body := op.Region(0).Entry()
	return op.NumOperands()%2 == 0 && body != nil && len(body.Args()) == op.NumOperands()
}

// appliedOp returns the operation that the short form of a reduce names, or nil if the region must be written out. The
// short form requires one commutative operation of the dialect on both arguments in order, on scalars of the first
// input's element type. The region must return its result.
func appliedOp(op *ir.Op) *ir.Op {
	b := op.Region(0).Entry()
	if b == nil || len(op.Region(0).Blocks()) != 1 || b.First() == nil || op.NumOperands() == 0 {
		return nil
	}
	in, ret := b.First(), b.First().Next()
	if ret == nil || ret.Next() != nil || len(b.Args()) != 2 || ret.NumOperands() != 1 {
		return nil
	}
	if !combines(in.Def(), op.Def().Dialect()) || len(in.Attrs()) > 0 || in.NumOperands() != 2 || in.NumResults() != 1 {
		return nil
	}
	t := in.Result(0).Type()
	if in.Operand(0).Type() != t || in.Operand(1).Type() != t || in.Operand(0) != b.Arg(0) || in.Operand(1) != b.Arg(1) || ret.Operand(0) != in.Result(0) {
		return nil
	}
	tt, ok1 := t.(*ir.TensorType)
	first, ok2 := op.Operand(0).Type().(*ir.TensorType)
	if !ok1 || !ok2 || !tt.Ranked() || tt.Rank() != 0 || tt.Encoding() != nil || tt.Elem() != first.Elem() {
		return nil
	}
	return in
}

// combines reports whether the short form of a reduction of a dialect can name the op: a commutative binary op without
// regions.
func combines(def *ir.Def, dialect string) bool {
	return def.Dialect() == dialect && def.Traits&ir.Commutative != 0 && len(def.Operands) == 2 && len(def.Results) == 1 && len(def.Regions) == 0
}

// parseApplied builds the region for the short form.
func parseApplied(p ir.AsmParser, st *ir.OpState, def *ir.Def, pos diag.Pos, f *ir.FunctionType) {
	m := p.Module()
	if len(f.Inputs()) == 0 {
		p.ErrorfAt(pos, "expected 1 or more operands")
	}
	t, ok := f.Inputs()[0].(*ir.TensorType)
	if !ok {
		p.ErrorfAt(pos, "expected tensor type")
	}
	scalar := p.Context().Tensor([]int64{}, t.Elem(), nil)
	if loc := p.ParseOptionalLoc(); loc != nil {
		st.Loc = loc
	}
	r := m.NewRegion()
	r.AddBlock(scalar, scalar)
	b := r.Entry()
	for _, a := range b.Args() {
		a.SetLoc(st.Loc)
		a.SetPos(pos)
	}
	// The lists of st have capacity for the lists of the inner ops.
	operands, types := append(st.Operands, b.Args()...), append(st.Types, scalar)
	in := m.NewOp(&ir.OpState{Def: def, Operands: operands[len(st.Operands):], Types: types[len(st.Types):], Loc: st.Loc, Pos: pos})
	b.Append(in)
	ret := "stablehlo.return"
	if d := st.Def.Dialect(); d != "stablehlo" {
		ret = d + ".return"
	}
	operands = append(st.Operands, in.Result(0))
	b.Append(m.NewOp(&ir.OpState{Def: m.Def(ret), Operands: operands[len(st.Operands):], Loc: st.Loc, Pos: pos}))
	st.Operands, st.Bodies = operands[:len(st.Operands)], append(st.Bodies, r)
}

// parseWhile reads (%arg = %init, ...) : types attributes {...} cond { ... } do { ... }.
func parseWhile(p ir.AsmParser, st *ir.OpState) {
	pos := p.Pos()
	var args []ir.Argument
	var inits []ir.Operand
	p.ParseList("(", ")", func() {
		args = append(args, p.ParseArgument(false, false))
		p.Expect("=")
		inits = append(inits, p.ParseOperand())
	})
	if len(args) > 0 {
		p.Expect(":")
		types := p.ParseTypes()
		p.ResolveOperands(inits, types, pos, st)
		st.Types = append(st.Types, types...)
		for i := range args {
			args[i].Type = types[i]
		}
	}
	p.ParseOptionalAttrDictWithKeyword(st)
	p.ExpectKeyword("cond")
	st.Bodies = append(st.Bodies, p.ParseRegion(args...))
	p.ExpectKeyword("do")
	st.Bodies = append(st.Bodies, p.ParseRegion(args...))
}

// whileFits reports whether the arguments of both regions and the results have the types of the operands, the only
// types in the pretty form.
func whileFits(op *ir.Op) bool {
	for i, v := range op.Operands() {
		for _, r := range op.Regions() {
			if b := r.Entry(); b != nil && i < len(b.Args()) && b.Arg(i).Type() != v.Type() {
				return false
			}
		}
		if i < op.NumResults() && op.Result(i).Type() != v.Type() {
			return false
		}
	}
	return true
}

func printWhile(p ir.AsmPrinter, op *ir.Op) {
	cond, body := op.Region(0), op.Region(1)
	p.Print("(")
	var types []ir.Type
	if b := body.Entry(); b != nil {
		p.Shadow(cond, b.Args())
		for i, a := range b.Args() {
			if i >= op.NumOperands() {
				break
			}
			if i > 0 {
				p.Print(", ")
			}
			p.PrintValue(a)
			p.Print(" = ")
			p.PrintValue(op.Operand(i))
			types = append(types, op.Operand(i).Type())
		}
	}
	p.Print(")")
	if len(types) > 0 {
		p.Print(" : ")
		p.PrintTypes(types)
	}
	p.PrintAttrDictWithKeyword(op.Attrs())
	p.Newline()
	p.Print("cond ")
	p.PrintRegion(cond, false, true)
	p.Print(" do ")
	p.PrintRegion(body, false, true)
}

// whileArgNames proposes %iterArg for the values of the loop.
func whileArgNames(op *ir.Op, r *ir.Region, set func(*ir.Value, string)) {
	if b := r.Entry(); b != nil {
		for _, a := range b.Args() {
			set(a, "iterArg")
		}
	}
}
