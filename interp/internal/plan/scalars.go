package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// A loop whose values all have a few elements executes on registers, one element in each. Ops that move elements, such
// as slices and concatenations, and calls then cost nothing.

const scalarDepth = 8 // maximum nesting of calls

// scalarLimits are the maximum numbers of elements of a value and of operations of a loop. A loop may be larger if it
// can become machine code. The limits do not depend on the processor, so all processors have the same plans. A scan of
// 1,000 bodies of a sine, a product and a sum on 64 elements takes 0.9 ms as machine code, and 2.6 ms by kernels.
type scalarLimits struct{ maxElements, maxOps int }

var codeLimits, opLimits = scalarLimits{64, 1500}, scalarLimits{8, 400}

// wideElements is the number of elements from which on kernels are faster than operations without machine code.
const wideElements = 17

// scalars builds an exec.Scalars.
type scalars struct {
	scalarLimits
	p       *Planner
	loop    *ir.Op
	out     *exec.Scalars
	regs    map[*ir.Value][]exec.Register
	arrays  map[*ir.Value]arrayValue
	consts  map[uint64]exec.Register
	next    int
	depth   int
	stores  []exec.ScalarOp // execute after all others
	updates []int           // of the arrays
}

// arrayValue is the content of an array after a number of updates.
type arrayValue struct{ array, version int }

// scalarLoop returns the form of a while on registers, or nil if it has none.
func (p *Planner) scalarLoop(s *Spec) *exec.Scalars {
	if p.wide > 0 || p.types != nil {
		return nil
	}
	if b := p.registerLoop(s, codeLimits); b != nil && b.encode() {
		return b.out
	}
	if b := p.registerLoop(s, opLimits); b != nil {
		return b.out
	}
	return nil
}

func (p *Planner) registerLoop(s *Spec, limits scalarLimits) *scalars {
	b := &scalars{scalarLimits: limits, p: p, loop: s.Op, out: &exec.Scalars{Init: map[exec.Register]uint64{}}, regs: map[*ir.Value][]exec.Register{},
		arrays: map[*ir.Value]arrayValue{}, consts: map[uint64]exec.Register{}}
	cond, body := s.Op.Region(0).Entry(), s.Op.Region(1).Entry()
	for i, t := range s.In {
		var regs []exec.Register
		switch {
		case b.scalarType(t) && !b.indexed(body.Arg(i), 0):
			regs = b.fresh(t)
			b.regs[cond.Arg(i)], b.regs[body.Arg(i)] = regs, regs
		case b.arrayType(t):
			v := arrayValue{array: b.array(exec.ScalarArray{Carried: i, Slot: -1, Type: t})}
			b.arrays[cond.Arg(i)], b.arrays[body.Arg(i)] = v, v
		default:
			return nil
		}
		b.out.Carried = append(b.out.Carried, regs)
	}
	if !b.block(cond) {
		return nil
	}
	pred := b.regs[cond.Last().Operand(0)]
	if len(pred) != 1 {
		return nil
	}
	if n := len(b.out.Ops) - 1; n >= 0 && b.out.Ops[n].Code == exec.ScalarLessIW && b.out.Ops[n].D == pred[0] {
		b.out.Ops[n].Code = exec.ScalarExitUnlessLessIW
	} else {
		b.op(exec.ScalarExit, 0, pred[0])
	}
	begin := len(b.out.Ops)
	if len(b.stores) > 0 || !b.block(body) || body.Last().NumOperands() != len(s.In) {
		return nil
	}
	var from, to []exec.Register
	for i, v := range body.Last().Operands() {
		if b.out.Carried[i] == nil {
			a, ok := b.arrays[v]
			if !ok || b.out.Arrays[a.array].Carried != i || a.version != b.updates[a.array] {
				return nil
			}
			continue
		}
		regs := b.regs[v]
		if len(regs) != len(b.out.Carried[i]) {
			return nil
		}
		from, to = append(from, regs...), append(to, b.out.Carried[i]...)
	}
	b.out.Ops = append(b.out.Ops, b.stores...)
	b.moves(begin, from, to)
	if b.tooLarge() {
		return nil
	}
	return b
}

func (b *scalars) tooLarge() bool {
	return b.next > exec.MaxRegisters || len(b.out.Ops)+len(b.stores) > b.maxOps
}

func (b *scalars) scalarType(t kernel.Type) bool {
	return plain(t) && t.N >= 1 && t.N <= b.maxElements && !t.DType.IsComplex()
}

// arrayType reports whether a value of the type may be an array.
func (b *scalars) arrayType(t kernel.Type) bool {
	return plain(t) && t.N >= 1 && t.Bytes() <= math.MaxInt32 && !t.DType.IsComplex()
}

// indexed reports whether the loop reads or writes elements of v at an index, so that v must be an array.
func (b *scalars) indexed(v *ir.Value, depth int) bool {
	for u := range v.Uses() {
		o := u.Owner()
		if depth == 0 && !b.loop.IsAncestorOf(o) {
			continue
		}
		switch OpKind(o) {
		case stablehlo.DynamicSlice, stablehlo.DynamicUpdateSlice:
			if u.Index() == 0 {
				return true
			}
		case fn.Call:
			f, ok := fn.AsFunc(b.p.Prog.Symbols[fn.Callee(o)])
			if ok && !f.External() && depth < scalarDepth && u.Index() < len(f.Body().Args()) && b.indexed(f.Body().Arg(u.Index()), depth+1) {
				return true
			}
		}
	}
	return false
}

// array adds an array and returns its number.
func (b *scalars) array(a exec.ScalarArray) int {
	b.out.Arrays, b.updates = append(b.out.Arrays, a), append(b.updates, 0)
	return len(b.out.Arrays) - 1
}

// fresh returns registers for the elements of a type. The caller checks their number at the end.
func (b *scalars) fresh(t kernel.Type) []exec.Register {
	b.out.Wide = b.out.Wide || t.N >= wideElements
	out := make([]exec.Register, t.N)
	for i := range out {
		out[i] = exec.Register(b.next)
		b.out.Types = append(b.out.Types, t.DType)
		b.next++
	}
	return out
}

func (b *scalars) op(code exec.ScalarCode, d exec.Register, in ...exec.Register) {
	o := exec.ScalarOp{Code: code, D: d}
	for i, r := range in {
		*[]*exec.Register{&o.A, &o.B, &o.C}[i] = r
	}
	b.out.Ops = append(b.out.Ops, o)
}

// moves sets the registers to to the values of from, all at once. If nothing reads a register of to after the
// computation of its new value, the ops compute the value directly in that register.
func (b *scalars) moves(begin int, from, to []exec.Register) {
	ops := b.out.Ops
	for i, f := range from {
		at := -1
		for k := begin; k < len(ops); k++ {
			if ops[k].Writes() && ops[k].D == f {
				at = k
			}
		}
		if at < 0 || slices.Contains(from, to[i]) || slices.Index(from, f) != i {
			continue
		}
		reads := func(r exec.Register) bool {
			return slices.ContainsFunc(ops[at+1:], func(o exec.ScalarOp) bool { return slices.Contains(b.out.Reads(o), r) })
		}
		if reads(to[i]) {
			last := ops[at] // may it execute last?
			if reads(f) || slices.ContainsFunc(ops[at+1:], func(o exec.ScalarOp) bool { return o.Writes() && slices.Contains(b.out.Reads(last), o.D) }) {
				continue
			}
			copy(ops[at:], ops[at+1:])
			at = len(ops) - 1
			ops[at] = last
		}
		ops[at].D = to[i]
		rename := func(r *exec.Register) {
			if *r == f {
				*r = to[i]
			}
		}
		for k := at + 1; k < len(ops); k++ {
			switch ops[k].Code {
			case exec.ScalarCallOp:
				for j := range b.out.Calls[ops[k].A].In {
					rename(&b.out.Calls[ops[k].A].In[j])
				}
				continue
			case exec.ScalarLoad, exec.ScalarStore:
				x := &b.out.Accesses[ops[k].A]
				for j := range x.Starts {
					rename(&x.Starts[j].Reg)
				}
				rename(&x.Value)
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
			saved[i] = b.fresh(kernel.TensorType(b.out.Types[f]))[0]
			b.op(exec.ScalarMove, saved[i], f)
		}
	}
	for i, f := range saved {
		if f != to[i] {
			b.op(exec.ScalarMove, to[i], f)
		}
	}
}

// block builds the ops of a block.
func (b *scalars) block(block *ir.Block) bool {
	last := block.Last()
	if last == nil || !IsReturn(last) {
		return false
	}
	for o := block.First(); o != last; o = o.Next() {
		if b.tooLarge() || !b.build(o) {
			return false
		}
	}
	for _, v := range last.Operands() {
		if !b.known(v) {
			return false
		}
	}
	return true
}

// known finds the registers or the array of a value. It returns false if the value has neither.
func (b *scalars) known(v *ir.Value) bool {
	if b.regs[v] != nil {
		return true
	}
	if _, ok := b.arrays[v]; ok {
		return true
	}
	if d := v.ParentBlock().Parent(); d == b.loop || b.loop.IsAncestorOf(d) || b.depth > 0 {
		return false
	}
	switch t := b.p.TypeOf(v); {
	case b.scalarType(t) && !b.indexed(v, 0):
		b.regs[v] = b.fresh(t)
		b.out.Outside = append(b.out.Outside, exec.ScalarsInput{Slot: b.p.slot(v), Regs: b.regs[v]})
	case b.arrayType(t):
		b.arrays[v] = arrayValue{array: b.array(exec.ScalarArray{Carried: -1, Slot: b.p.slot(v), Type: t})}
	default:
		return false
	}
	return true
}

// constant returns the register that holds the bits for the whole loop.
func (b *scalars) constant(dt tensor.DType, bits uint64) exec.Register {
	r, ok := b.consts[bits]
	if !ok {
		r = b.fresh(kernel.TensorType(dt))[0]
		b.consts[bits] = r
		b.out.Init[r] = bits
	}
	return r
}

// build builds one op. It returns false if the op needs a kernel.
func (b *scalars) build(o *ir.Op) bool {
	for _, v := range o.Operands() {
		if !b.known(v) {
			return false
		}
	}
	if kind := OpKind(o); kind == fn.Call {
		return b.call(o)
	}
	if o.NumResults() != 1 {
		return false
	}
	t := b.p.TypeOf(o.Result(0))
	if o.NumOperands() > 0 {
		if a, ok := b.arrays[o.Operand(0)]; ok {
			return b.access(o, a, t)
		}
	}
	if !b.scalarType(t) {
		return false
	}
	var in [][]exec.Register
	for _, v := range o.Operands() {
		if b.regs[v] == nil {
			return false
		}
		in = append(in, b.regs[v])
	}
	types := b.p.typesOf(o.Operands())
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

// access builds an op whose first operand is an array.
func (b *scalars) access(o *ir.Op, a arrayValue, t kernel.Type) bool {
	array := b.out.Arrays[a.array]
	strides := kernel.Strides(array.Type.Shape)
	x := exec.ScalarAccess{Array: a.array}
	box := t.Shape
	starts := func(first int) bool {
		for i, stride := range strides {
			regs := b.regs[o.Operand(first+i)]
			if len(regs) != 1 {
				return false
			}
			last := int(array.Type.Shape[i] - box[i])
			bits, constant := b.out.Init[regs[0]]
			switch dt := b.out.Types[regs[0]]; {
			case last == 0:
			case dt != tensor.I32 && dt != tensor.I64:
				return false
			case constant && dt == tensor.I32:
				x.Offset += min(max(int(int32(bits)), 0), last) * stride
			case constant:
				x.Offset += min(max(int(bits), 0), last) * stride
			default:
				x.Starts = append(x.Starts, exec.ScalarStart{Reg: regs[0], Max: last, Stride: stride})
			}
		}
		return true
	}
	var value []exec.Register
	step := make([]int64, len(strides))
	for i, v := range strides {
		step[i] = int64(v)
	}
	switch OpKind(o) {
	case stablehlo.DynamicSlice:
		if !b.scalarType(t) || len(box) != len(strides) || !starts(1) {
			return false
		}
	case stablehlo.Slice:
		s := Attrs[struct {
			Start []int64 `attr:"start_indices"`
			By    []int64 `attr:"strides"`
		}](o)
		if !b.scalarType(t) || len(s.Start) != len(strides) || len(s.By) != len(strides) {
			return false
		}
		for i, v := range s.Start {
			x.Offset += int(v) * strides[i]
			step[i] *= s.By[i]
		}
	case stablehlo.DynamicUpdateSlice:
		value = b.regs[o.Operand(1)]
		if box = b.p.TypeOf(o.Operand(1)).Shape; value == nil || len(box) != len(strides) || array.Carried < 0 || a.version != b.updates[a.array] || !starts(2) {
			return false
		}
		b.updates[a.array]++
		b.out.Arrays[a.array].Stored = true
		b.arrays[o.Result(0)] = arrayValue{a.array, b.updates[a.array]}
	default:
		return false
	}
	if value == nil && a.version > 0 { // the stores execute later
		return false
	}
	// The offsets of the elements of the box, in row-major order.
	offsets := []int{x.Offset}
	for i, n := range box {
		var out []int
		for _, at := range offsets {
			for k := range int(n) {
				out = append(out, at+k*int(step[i]))
			}
		}
		offsets = out
	}
	var regs []exec.Register
	if value == nil {
		regs = b.fresh(t)
		b.regs[o.Result(0)] = regs
	}
	for i, at := range offsets {
		x.Offset = at
		op := exec.ScalarOp{Code: exec.ScalarLoad, A: exec.Register(len(b.out.Accesses))}
		if value != nil {
			op.Code, x.Value = exec.ScalarStore, value[i]
			b.stores = append(b.stores, op)
		} else {
			op.D = regs[i]
			b.out.Ops = append(b.out.Ops, op)
		}
		y := x
		y.Starts = slices.Clone(x.Starts)
		b.out.Accesses = append(b.out.Accesses, y)
	}
	return true
}

// call builds the ops of the callee.
func (b *scalars) call(o *ir.Op) bool {
	f, ok := fn.AsFunc(b.p.Prog.Symbols[fn.Callee(o)])
	if !ok || f.External() || b.depth >= scalarDepth || len(f.Op.Region(0).Blocks()) != 1 {
		return false
	}
	body := f.Body()
	if len(body.Args()) != o.NumOperands() || body.Last() == nil || body.Last().NumOperands() != o.NumResults() {
		return false
	}
	copyTo := func(to, from *ir.Value) {
		delete(b.arrays, to) // an earlier call set it
		b.regs[to] = b.regs[from]
		if a, ok := b.arrays[from]; ok {
			b.arrays[to] = a
		}
	}
	for i, v := range o.Operands() {
		copyTo(body.Arg(i), v)
	}
	b.depth++
	ok = b.block(body)
	b.depth--
	if !ok {
		return false
	}
	for i, v := range body.Last().Operands() {
		copyTo(o.Result(i), v)
	}
	return true
}

// move returns the registers of an op that only moves elements, or nil for other ops. The op's kernel moves the numbers
// of the registers.
func (b *scalars) move(o *ir.Op, in [][]exec.Register, types []kernel.Type, t kernel.Type) []exec.Register {
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
		out := make([]exec.Register, t.N)
		for i := range out {
			out[i] = b.constant(t.DType, x.Bits(i))
		}
		return out
	case stablehlo.Reshape:
		if types[0].DType == t.DType && types[0].N == t.N {
			return in[0]
		}
	case stablehlo.Slice, stablehlo.BroadcastInDim, stablehlo.Concatenate, stablehlo.Transpose, stablehlo.Reverse, stablehlo.Pad:
		numbers := NewSpec(b.p, o, nil, []kernel.Type{kernel.TensorType(tensor.UI16, t.Shape...)})
		var args []*tensor.Tensor
		for i, x := range types {
			if x.DType != t.DType {
				return nil
			}
			a := tensor.New(tensor.UI16, x.Shape)
			copy(tensor.View[exec.Register](a), in[i])
			args, numbers.In = append(args, a), append(numbers.In, kernel.TensorType(tensor.UI16, x.Shape...))
		}
		k := b.p.Prog.table[OpKind(o)].maker(numbers)
		out := tensor.New(tensor.UI16, t.Shape)
		k.Run(args, []*tensor.Tensor{out})
		return tensor.View[exec.Register](out)
	}
	return nil
}

// reduce folds all elements of a value with one op, in the order of the kernel, or returns nil.
func (b *scalars) reduce(o *ir.Op, in [][]exec.Register, t kernel.Type) []exec.Register {
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
	row, known := in[0], true
	one := func(x, y exec.Register) exec.Register {
		regs := b.elements(inner, [][]exec.Register{{x}, {y}}, types, t)
		if known = known && regs != nil; !known {
			return x
		}
		return regs[0]
	}
	if !inner.Has(ir.Commutative) { // the kernel executes the region, from the initial value on
		acc := in[1][0]
		for _, x := range row {
			acc = one(acc, x)
		}
		if !known {
			return nil
		}
		return []exec.Register{acc}
	}
	n, acc := 1, slices.Clone(row[:1])
	if lanes := machine.FoldBytes / t.DType.Size(); t.DType.IsFloat() && len(row) >= 2*lanes { // as vec.Fold
		n, acc = len(row)/lanes*lanes, slices.Clone(row[:lanes])
		for i, x := range row[lanes:n] {
			acc[i%lanes] = one(acc[i%lanes], x)
		}
		for h := lanes / 2; h > 0; h /= 2 {
			for i := range h {
				acc[i] = one(acc[i], acc[h+i])
			}
		}
	}
	for _, x := range row[n:] {
		acc[0] = one(acc[0], x)
	}
	if acc[0] = one(in[1][0], acc[0]); !known {
		return nil
	}
	return acc[:1]
}

// elements builds an elementwise op, or returns nil.
func (b *scalars) elements(o *ir.Op, in [][]exec.Register, types []kernel.Type, t kernel.Type) []exec.Register {
	r, ok := b.p.Prog.table[OpKind(o)]
	if !ok || !r.elementwise || r.control != nil || len(o.Regions()) != 0 || len(in) == 0 {
		return nil
	}
	for i, x := range types {
		if !b.scalarType(x) || len(in[i]) != t.N {
			return nil
		}
	}
	out := b.fresh(t)
	if code, swap := scalarCode(o, types, t); code != exec.ScalarCallOp {
		for i, d := range out {
			var args []exec.Register
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
		c := exec.ScalarCall{Op: o, Loop: k.Loop, Lanes: cmp.Or(k.Lanes, k.Single)}
		for j, regs := range in {
			c.In, c.Types = append(c.In, regs[i]), append(c.Types, types[j].DType)
		}
		c.Types = append(c.Types, t.DType)
		b.op(exec.ScalarCallOp, d, exec.Register(len(b.out.Calls)))
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
