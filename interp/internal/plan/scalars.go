package plan

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// A loop whose values all have a few elements executes on registers, one element in each. Ops that move elements, such
// as slices and concatenations, and calls then cost nothing.

const (
	scalarElements = 8   // maximum number of elements of a value
	scalarOps      = 400 // maximum number of operations of a loop
	scalarDepth    = 8   // maximum nesting of calls
)

// scalars builds an exec.Scalars.
type scalars struct {
	p      *Planner
	loop   *ir.Op
	out    *exec.Scalars
	regs   map[*ir.Value][]uint8
	consts map[uint64]uint8
	next   int
	depth  int
}

// scalarLoop returns the form of a while on registers, or nil if it has none.
func (p *Planner) scalarLoop(s *Spec) *exec.Scalars {
	if p.wide > 0 || p.types != nil || slices.ContainsFunc(slices.Concat(s.In, s.Out), func(t kernel.Type) bool { return !scalarType(t) }) {
		return nil
	}
	b := &scalars{p: p, loop: s.Op, out: &exec.Scalars{Init: map[uint8]uint64{}}, regs: map[*ir.Value][]uint8{}, consts: map[uint64]uint8{}}
	cond, body := s.Op.Region(0).Entry(), s.Op.Region(1).Entry()
	for i, t := range s.In {
		regs := b.fresh(t.N)
		b.out.Carried = append(b.out.Carried, regs)
		b.regs[cond.Arg(i)], b.regs[body.Arg(i)] = regs, regs
	}
	pred, ok := b.block(cond)
	if !ok || len(pred) != 1 || len(pred[0]) != 1 {
		return nil
	}
	if n := len(b.out.Ops) - 1; n >= 0 && b.out.Ops[n].Code == exec.ScalarLessIW && b.out.Ops[n].D == pred[0][0] {
		b.out.Ops[n].Code = exec.ScalarExitUnlessLessIW
	} else {
		b.op(exec.ScalarExit, 0, pred[0][0])
	}
	begin := len(b.out.Ops)
	results, ok := b.block(body)
	if !ok || len(results) != len(s.In) {
		return nil
	}
	var from, to []uint8
	for i, regs := range results {
		if len(regs) != len(b.out.Carried[i]) {
			return nil
		}
		from, to = append(from, regs...), append(to, b.out.Carried[i]...)
	}
	b.moves(begin, from, to)
	if b.next > exec.MaxRegisters || len(b.out.Ops) > scalarOps || len(b.out.Calls) > exec.MaxRegisters {
		return nil
	}
	return b.out
}

func scalarType(t kernel.Type) bool {
	return plain(t) && t.N >= 1 && t.N <= scalarElements && !t.DType.IsComplex()
}

// fresh returns n registers. The caller checks their number at the end.
func (b *scalars) fresh(n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(b.next)
		b.next++
	}
	return out
}

func (b *scalars) op(code exec.ScalarCode, d uint8, in ...uint8) {
	o := exec.ScalarOp{Code: code, D: d}
	for i, r := range in {
		*[]*uint8{&o.A, &o.B, &o.C}[i] = r
	}
	b.out.Ops = append(b.out.Ops, o)
}

// moves sets the registers to to the values of from, all at once. If nothing reads a register of to after the
// computation of its new value, the ops compute the value directly in that register.
func (b *scalars) moves(begin int, from, to []uint8) {
	ops := b.out.Ops
	for i, f := range from {
		at := -1
		for k := begin; k < len(ops); k++ {
			if ops[k].D == f {
				at = k
			}
		}
		if at < 0 || slices.Contains(from, to[i]) || slices.Index(from, f) != i {
			continue
		}
		reads := func(r uint8) bool {
			return slices.ContainsFunc(ops[at+1:], func(o exec.ScalarOp) bool { return slices.Contains(b.out.Reads(o), r) })
		}
		if reads(to[i]) {
			last := ops[at] // may it execute last?
			if reads(f) || slices.ContainsFunc(ops[at+1:], func(o exec.ScalarOp) bool { return slices.Contains(b.out.Reads(last), o.D) }) {
				continue
			}
			copy(ops[at:], ops[at+1:])
			at = len(ops) - 1
			ops[at] = last
		}
		ops[at].D = to[i]
		rename := func(r *uint8) {
			if *r == f {
				*r = to[i]
			}
		}
		for k := at + 1; k < len(ops); k++ {
			if ops[k].Code == exec.ScalarCallOp {
				for j := range b.out.Calls[ops[k].A].In {
					rename(&b.out.Calls[ops[k].A].In[j])
				}
				continue
			}
			rename(&ops[k].A)
			rename(&ops[k].B)
			rename(&ops[k].C)
		}
		for k := range from {
			rename(&from[k])
		}
	}
	// A register that another move still reads is saved first.
	saved := slices.Clone(from)
	for i, f := range from {
		if f != to[i] && slices.Contains(to[:i], f) {
			saved[i] = b.fresh(1)[0]
			b.op(exec.ScalarMove, saved[i], f)
		}
	}
	for i, f := range saved {
		if f != to[i] {
			b.op(exec.ScalarMove, to[i], f)
		}
	}
}

// block builds the ops of a block and returns the registers of its results.
func (b *scalars) block(block *ir.Block) ([][]uint8, bool) {
	for o := block.First(); o != nil; o = o.Next() {
		if o == block.Last() {
			break
		}
		if b.next > exec.MaxRegisters || len(b.out.Ops) > scalarOps || !b.build(o) {
			return nil, false
		}
	}
	if block.Last() == nil || !IsReturn(block.Last()) {
		return nil, false
	}
	return b.values(block.Last())
}

// values returns the registers of the operands of o.
func (b *scalars) values(o *ir.Op) ([][]uint8, bool) {
	var out [][]uint8
	for _, v := range o.Operands() {
		regs, ok := b.regs[v]
		if !ok {
			if d := v.ParentBlock().Parent(); d == b.loop || b.loop.IsAncestorOf(d) || b.depth > 0 {
				return nil, false
			}
			t := b.p.TypeOf(v)
			if !scalarType(t) {
				return nil, false
			}
			regs = b.fresh(t.N)
			b.regs[v] = regs
			b.out.Outside = append(b.out.Outside, exec.ScalarsInput{Slot: b.p.slot(v), Regs: regs})
		}
		out = append(out, regs)
	}
	return out, true
}

// constant returns the register that holds the bits for the whole loop.
func (b *scalars) constant(bits uint64) uint8 {
	r, ok := b.consts[bits]
	if !ok {
		r = b.fresh(1)[0]
		b.consts[bits] = r
		b.out.Init[r] = bits
	}
	return r
}

// build builds one op. It returns false if the op needs a kernel.
func (b *scalars) build(o *ir.Op) bool {
	in, ok := b.values(o)
	if !ok {
		return false
	}
	if kind := OpKind(o); kind == fn.Call {
		return b.call(o, in)
	}
	if o.NumResults() != 1 {
		return false
	}
	types := b.p.typesOf(o.Operands())
	t := b.p.TypeOf(o.Result(0))
	if !scalarType(t) {
		return false
	}
	regs := b.move(o, in, types, t)
	if regs == nil && OpKind(o) == stablehlo.Reduce {
		regs = b.reduce(o, in, t)
	}
	if regs == nil {
		regs = b.elements(o, in, types, t)
	}
	b.regs[o.Result(0)] = regs
	return regs != nil
}

// call builds the ops of the callee.
func (b *scalars) call(o *ir.Op, in [][]uint8) bool {
	f, ok := fn.AsFunc(b.p.Prog.Symbols[fn.Callee(o)])
	if !ok || f.External() || b.depth >= scalarDepth || len(f.Op.Region(0).Blocks()) != 1 {
		return false
	}
	body := f.Body()
	if len(body.Args()) != len(in) {
		return false
	}
	for i, regs := range in {
		b.regs[body.Arg(i)] = regs
	}
	b.depth++
	out, ok := b.block(body)
	b.depth--
	if !ok || len(out) != o.NumResults() {
		return false
	}
	for i, regs := range out {
		b.regs[o.Result(i)] = regs
	}
	return true
}

// move returns the registers of an op that only moves elements, or nil for other ops. The op's kernel moves the numbers
// of the registers.
func (b *scalars) move(o *ir.Op, in [][]uint8, types []kernel.Type, t kernel.Type) []uint8 {
	switch OpKind(o) {
	case stablehlo.Constant:
		a, ok := o.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		if !ok {
			return nil
		}
		x, err := a.Tensor()
		if err != nil || x.DType() != t.DType || x.NumElements() != t.N {
			return nil
		}
		out := make([]uint8, t.N)
		for i := range out {
			out[i] = b.constant(x.Bits(i))
		}
		return out
	case stablehlo.Reshape:
		if types[0].DType == t.DType && types[0].N == t.N {
			return in[0]
		}
	case stablehlo.Slice, stablehlo.BroadcastInDim, stablehlo.Concatenate, stablehlo.Transpose, stablehlo.Reverse, stablehlo.Pad:
		numbers := NewSpec(b.p, o, nil, []kernel.Type{kernel.TensorType(tensor.UI8, t.Shape...)})
		var args []*tensor.Tensor
		for i, x := range types {
			a, err := tensor.FromBytes(tensor.UI8, x.Shape, in[i])
			if err != nil || x.DType != t.DType {
				return nil
			}
			args, numbers.In = append(args, a), append(numbers.In, kernel.TensorType(tensor.UI8, x.Shape...))
		}
		k := b.p.Prog.table[OpKind(o)].maker(numbers)
		out := tensor.New(tensor.UI8, t.Shape)
		k.Run(args, []*tensor.Tensor{out})
		return out.Bytes()
	}
	return nil
}

// reduce folds all elements of a value with one op, in the order of the kernel, or returns nil.
func (b *scalars) reduce(o *ir.Op, in [][]uint8, t kernel.Type) []uint8 {
	if len(in) != 2 || t.N != 1 || len(in[1]) != 1 || len(o.Regions()) != 1 || t.DType.IsFloat() && t.DType.Size() < 4 {
		return nil
	}
	body := o.Region(0).Entry()
	inner := body.First()
	if len(body.Args()) != 2 || inner == nil || inner.Next() != body.Last() || inner.NumOperands() != 2 || inner.NumResults() != 1 ||
		inner.Operand(0) != body.Arg(0) || inner.Operand(1) != body.Arg(1) || body.Last().NumOperands() != 1 || body.Last().Operand(0) != inner.Result(0) {
		return nil
	}
	types := []kernel.Type{t, t}
	one := func(x, y uint8) []uint8 { return b.elements(inner, [][]uint8{{x}, {y}}, types, t) }
	acc := in[0][0]
	for _, x := range in[0][1:] {
		regs := one(acc, x)
		if regs == nil {
			return nil
		}
		acc = regs[0]
	}
	return one(in[1][0], acc)
}

// elements builds an elementwise op, or returns nil.
func (b *scalars) elements(o *ir.Op, in [][]uint8, types []kernel.Type, t kernel.Type) []uint8 {
	r, ok := b.p.Prog.table[OpKind(o)]
	if !ok || !r.elementwise || r.control != nil || len(o.Regions()) != 0 || len(in) == 0 {
		return nil
	}
	for i, x := range types {
		if !scalarType(x) || len(in[i]) != t.N {
			return nil
		}
	}
	out := b.fresh(t.N)
	if code, swap := scalarCode(o, types, t); code != exec.ScalarCallOp {
		for i, d := range out {
			var args []uint8
			for _, regs := range in {
				args = append(args, regs[i])
			}
			if swap {
				slices.Reverse(args)
			}
			b.op(code, d, args...)
		}
		return out
	}
	k := r.maker(NewSpec(b.p, o, types, []kernel.Type{t}))
	if k.Loop == nil {
		return nil
	}
	for i, d := range out {
		c := exec.ScalarCall{Name: o.Name(), Loop: k.Loop}
		for j, regs := range in {
			c.In, c.Types = append(c.In, regs[i]), append(c.Types, types[j].DType)
		}
		c.Types = append(c.Types, t.DType)
		b.op(exec.ScalarCallOp, d, uint8(len(b.out.Calls)))
		b.out.Calls = append(b.out.Calls, c)
	}
	return out
}

// scalarCodes are the operations on registers of the scalarTypes; 0 if there is none.
type scalarCodes [6]exec.ScalarCode

var scalarTypes = []tensor.DType{tensor.I32, tensor.UI32, tensor.I64, tensor.UI64, tensor.F32, tensor.F64}

func (c scalarCodes) of(dt tensor.DType) exec.ScalarCode {
	if i := slices.Index(scalarTypes, dt); i >= 0 {
		return c[i]
	}
	return exec.ScalarCallOp
}

var arithmetic = map[*ir.Def]scalarCodes{
	stablehlo.Add:      {exec.ScalarAddW, exec.ScalarAddW, exec.ScalarAddL, exec.ScalarAddL, exec.ScalarAddF, exec.ScalarAddD},
	stablehlo.Subtract: {exec.ScalarSubW, exec.ScalarSubW, exec.ScalarSubL, exec.ScalarSubL, exec.ScalarSubF, exec.ScalarSubD},
	stablehlo.Multiply: {exec.ScalarMulW, exec.ScalarMulW, exec.ScalarMulL, exec.ScalarMulL, exec.ScalarMulF, exec.ScalarMulD},
	stablehlo.Divide:   {4: exec.ScalarDivF, exec.ScalarDivD},
	stablehlo.Abs:      {4: exec.ScalarAbsF, exec.ScalarAbsD},
	stablehlo.Negate:   {4: exec.ScalarNegateF, exec.ScalarNegateD},
	stablehlo.Sqrt:     {4: exec.ScalarSqrtF},
}

// anyBits are the operations on the bits of any type.
var anyBits = map[*ir.Def]exec.ScalarCode{stablehlo.And: exec.ScalarAnd, stablehlo.Or: exec.ScalarOr, stablehlo.Xor: exec.ScalarXor, stablehlo.Select: exec.ScalarSelect}

// comparisons are the operations by direction. The greater of x and y is the less of y and x.
var comparisons = map[string]scalarCodes{
	"LT": {exec.ScalarLessIW, exec.ScalarLessU, exec.ScalarLessIL, exec.ScalarLessU, exec.ScalarLessF, exec.ScalarLessD},
	"LE": {exec.ScalarLessEqualIW, exec.ScalarLessEqualU, exec.ScalarLessEqualIL, exec.ScalarLessEqualU, exec.ScalarLessEqualF, exec.ScalarLessEqualD},
	"EQ": {exec.ScalarEq, exec.ScalarEq, exec.ScalarEq, exec.ScalarEq, exec.ScalarEqF, exec.ScalarEqD},
	"NE": {exec.ScalarNe, exec.ScalarNe, exec.ScalarNe, exec.ScalarNe, exec.ScalarNeF, exec.ScalarNeD},
}

// scalarCode returns the operation on registers that computes an op, and whether its operands change places;
// ScalarCallOp if there is none.
func scalarCode(o *ir.Op, types []kernel.Type, t kernel.Type) (code exec.ScalarCode, swap bool) {
	dt, kind := types[0].DType, OpKind(o)
	if code := anyBits[kind]; code != 0 {
		return code, false
	}
	switch {
	case kind == stablehlo.Convert && dt == t.DType:
		return exec.ScalarMove, false
	case kind == stablehlo.Convert && dt == tensor.I32 && t.DType == tensor.F32:
		return exec.ScalarConvertIWF, false
	case kind == stablehlo.Compare:
		if c := Attrs[Comparison](o); !c.Total() {
			return comparisons[strings.Replace(c.Direction, "G", "L", 1)].of(dt), strings.HasPrefix(c.Direction, "G")
		}
	}
	return arithmetic[kind].of(t.DType), false
}
