package plan

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// A loop on registers becomes machine code if all its ops are functions of package expr. The code computes an iteration
// before it changes registers and arrays. If an operand is out of the range of a function, it leaves the loop, and the
// ops execute that iteration.

// loopCoder translates a loop on registers.
type loopCoder struct {
	*expr.Loop
	s     *exec.Scalars
	now   map[exec.Register]*expr.Node
	index map[*expr.Node]map[[2]int]*expr.Node // of start indices times strides, with their limits
	sums  map[[2]*expr.Node]*expr.Node         // of indices
}

// encode gives the loop its machine code, if the processor has vectors and memory may be executed. It returns false if
// no processor can have code for the loop.
func (b *scalars) encode() bool {
	s := b.out
	c := &loopCoder{Loop: expr.NewLoop(len(s.Types), len(s.Arrays)), s: s, now: map[exec.Register]*expr.Node{},
		index: map[*expr.Node]map[[2]int]*expr.Node{}, sums: map[[2]*expr.Node]*expr.Node{}}
	var carried []exec.Register
	for _, regs := range s.Carried {
		carried = append(carried, regs...)
	}
	for _, o := range s.Ops {
		if !c.op(o) {
			return false
		}
	}
	for _, r := range carried {
		if n := c.now[r]; n != nil {
			c.Set(int(r), format(s.Types[r]), n)
		}
	}
	s.Coded = true
	if vec.Bytes() > 0 {
		s.Code, _ = machine.CompileLoop(c.Loop) // nil if memory may not be executed
	}
	return true
}

// format returns the format of a register, or "".
func format(dt tensor.DType) string { return kernel.Format(dt, max(4, dt.Size())) }

// value returns the value of a register that has a type.
func (c *loopCoder) value(r exec.Register, dt tensor.DType) *expr.Node {
	f := format(dt)
	if f == "" {
		return nil
	}
	if bits, ok := c.s.Init[r]; ok {
		return c.Constant(f, bits)
	}
	if c.now[r] == nil {
		if format(c.s.Types[r]) != f {
			return nil
		}
		c.now[r] = c.Register(int(r), f)
	}
	return c.now[r]
}

// functions are the functions of the operations.
var functions = map[exec.ScalarCode]string{
	exec.ScalarAddW: "addI32", exec.ScalarSubW: "subI32", exec.ScalarMulW: "mulI32", exec.ScalarAddL: "addI64", exec.ScalarSubL: "subI64",
	exec.ScalarLessIW: "lessI32", exec.ScalarLessEqualIW: "lessEqualI32", exec.ScalarLessIL: "lessI64", exec.ScalarLessEqualIL: "lessEqualI64",
	exec.ScalarAddF: "add32", exec.ScalarSubF: "sub32", exec.ScalarMulF: "mul32", exec.ScalarDivF: "div32", exec.ScalarLessF: "less32",
	exec.ScalarLessEqualF: "lessEqual32", exec.ScalarEqF: "equal32", exec.ScalarNeF: "notEqual32",
	exec.ScalarAddD: "add64", exec.ScalarSubD: "sub64", exec.ScalarMulD: "mul64", exec.ScalarDivD: "div64", exec.ScalarLessD: "less64",
	exec.ScalarLessEqualD: "lessEqual64", exec.ScalarEqD: "equal64", exec.ScalarNeD: "notEqual64", exec.ScalarConvertIWF: "f32FromI32",
	exec.ScalarSqrtF: "sqrt32", exec.ScalarAbsF: "abs32", exec.ScalarAbsD: "abs64", exec.ScalarNegateF: "neg32", exec.ScalarNegateD: "neg64",
}

// op translates one operation. It returns false if there is no function for it.
func (c *loopCoder) op(o exec.ScalarOp) bool {
	var n *expr.Node
	dt := c.s.Types[o.D]
	switch o.Code {
	case exec.ScalarCallOp:
		n = c.call(c.s.Calls[o.A])
	case exec.ScalarLoad:
		if at := c.at(c.s.Accesses[o.A]); at != nil && format(dt) != "" {
			n = c.Load(c.s.Accesses[o.A].Array, format(dt), at, c.s.Accesses[o.A].Offset)
		}
	case exec.ScalarStore:
		x := c.s.Accesses[o.A]
		dt := c.s.Arrays[x.Array].Type.DType
		at, v := c.at(x), c.value(x.Value, dt)
		if at == nil || v == nil {
			return false
		}
		c.Store(x.Array, format(dt), at, x.Offset, v)
		return true
	case exec.ScalarMove:
		n = c.value(o.A, dt)
	case exec.ScalarExit:
		m := c.value(o.A, tensor.I1)
		if m == nil {
			return false
		}
		c.Unless(m, exec.ScalarEnd)
		return true
	case exec.ScalarExitUnlessLessIW:
		x, y := c.value(o.A, tensor.I32), c.value(o.B, tensor.I32)
		c.Unless(expr.Named("lessI32").Apply(c.On(4), x, y), exec.ScalarEnd)
		return true
	case exec.ScalarSelect:
		n = c.apply(selectOf(dt), []tensor.DType{tensor.I1, dt, dt}, o.A, o.B, o.C)
	case exec.ScalarAnd, exec.ScalarOr, exec.ScalarXor:
		n = c.bitwise(o, dt)
	case exec.ScalarEq, exec.ScalarNe, exec.ScalarLessU, exec.ScalarLessEqualU:
		n = c.compare(o)
	case exec.ScalarMulL:
		x, y := c.value(o.A, dt), c.value(o.B, dt)
		n = c.Product(x, y)
	default:
		f := expr.Named(functions[o.Code])
		var x []*expr.Node
		for i, r := range c.s.Reads(o) {
			x = append(x, c.value(r, typeOf(f.Formats[i])))
		}
		if slices.Contains(x, nil) {
			return false
		}
		n = f.Apply(c.On(f.Width), x...)
	}
	c.now[o.D] = n
	return n != nil
}

func typeOf(format string) tensor.DType {
	return map[string]tensor.DType{"f32": tensor.F32, "f64": tensor.F64, "i32": tensor.I32, "i64": tensor.I64}[format]
}

func selectOf(dt tensor.DType) *kernel.Lanes {
	if dt == tensor.I1 {
		return &kernel.Lanes{Apply: (*expr.Program).SelectFlag}
	}
	return &kernel.Lanes{Width: max(4, dt.Size()), Apply: (*expr.Program).Select}
}

// apply applies an op on lanes to registers of the types, or returns nil.
func (c *loopCoder) apply(l *kernel.Lanes, types []tensor.DType, in ...exec.Register) *expr.Node {
	var x []*expr.Node
	for i, r := range in {
		n := c.value(r, types[i])
		if n == nil {
			return nil
		}
		if l.Limit > 0 {
			c.Unless(c.Below(n, l.Limit), exec.ScalarAgain)
		}
		if l.Wider {
			n = c.Convert("f32", "f64", n)
		}
		x = append(x, n)
	}
	n := l.Apply(c.On(max(4, l.Width)), x...)
	if l.Wider {
		n = c.Convert("f64", "f32", n)
	}
	return n
}

func (c *loopCoder) bitwise(o exec.ScalarOp, dt tensor.DType) *expr.Node {
	x, y := c.value(o.A, dt), c.value(o.B, dt)
	if x == nil || y == nil {
		return nil
	}
	i := o.Code - exec.ScalarAnd // and, or, xor
	switch f := format(dt); f {
	case "i1":
		return []func(x, y *expr.Node) *expr.Node{
			func(x, y *expr.Node) *expr.Node { return c.And(x, y) }, func(x, y *expr.Node) *expr.Node { return c.Or(x, y) }, c.Differ}[i](x, y)
	case "i32", "i64":
		return expr.Named([]string{"and", "or", "xor"}[i]+"I"+f[1:]).Apply(c.On(dt.Size()), x, y)
	}
	return nil
}

// compare translates a comparison of integers.
func (c *loopCoder) compare(o exec.ScalarOp) *expr.Node {
	dt := c.s.Types[o.A]
	if _, ok := c.s.Init[o.A]; ok {
		dt = c.s.Types[o.B]
	}
	x, y := c.value(o.A, dt), c.value(o.B, dt)
	f := format(dt)
	if x == nil || y == nil {
		return nil
	}
	if f != "i32" && f != "i64" {
		return nil
	}
	name := "equal"
	switch o.Code {
	case exec.ScalarNe:
		name = "notEqual"
	case exec.ScalarLessU:
		name = "less"
	case exec.ScalarLessEqualU:
		name = "lessEqual"
	}
	if name[0] == 'l' {
		x, y = c.Unsigned(x), c.Unsigned(y)
	}
	return expr.Named(name+"I"+f[1:]).Apply(c.On(dt.Size()), x, y)
}

// call translates an op that has no operation on registers.
func (c *loopCoder) call(call exec.ScalarCall) *expr.Node {
	if call.Lanes != nil {
		return c.apply(call.Lanes, call.Types, call.In...)
	}
	var x []*expr.Node
	for i, r := range call.In {
		x = append(x, c.value(r, call.Types[i]))
	}
	if slices.Contains(x, nil) {
		return nil
	}
	from, to := call.Types[0], call.Types[len(call.Types)-1]
	switch OpKind(call.Op) {
	case stablehlo.Convert:
		return c.convert(from, to, x[0])
	case stablehlo.Compare:
		if from == tensor.I1 {
			return c.flags(Attrs[Comparison](call.Op).Direction, x[0], x[1])
		}
		return nil
	case stablehlo.Divide, stablehlo.Remainder:
		return c.divide(to, x, OpKind(call.Op) == stablehlo.Remainder)
	}
	f := format(to)
	if f != "i32" && f != "i64" {
		return nil
	}
	apply := func(name string, x ...*expr.Node) *expr.Node {
		return expr.Named(name+"I"+f[1:]).Apply(c.On(to.Size()), x...)
	}
	zero, ones := c.Constant(f, 0), c.Constant(f, math.MaxUint64>>(64-to.Bits()))
	switch OpKind(call.Op) {
	case stablehlo.Negate:
		return apply("sub", zero, x[0])
	case stablehlo.Not:
		return apply("xor", x[0], ones)
	case stablehlo.Abs:
		if to.Kind() == tensor.KindSigned {
			return c.On(to.Size()).Select(apply("less", x[0], zero), apply("sub", zero, x[0]), x[0])
		}
		return x[0]
	case stablehlo.Maximum:
		return c.On(to.Size()).Select(apply("less", c.Unsigned(x[0]), c.Unsigned(x[1])), x[1], x[0])
	case stablehlo.Minimum:
		return c.On(to.Size()).Select(apply("less", c.Unsigned(x[0]), c.Unsigned(x[1])), x[0], x[1])
	case stablehlo.ShiftLeft:
		if to.Size() == 8 {
			return c.ShiftLeft(x[0], x[1])
		}
	case stablehlo.ShiftRightLogical:
		if to.Size() == 8 {
			return c.ShiftRight(x[0], x[1])
		}
	}
	return nil
}

// flags compares flags: false is less than true.
func (c *loopCoder) flags(direction string, x, y *expr.Node) *expr.Node {
	switch direction {
	case "EQ":
		return c.Not(c.Differ(x, y))
	case "NE":
		return c.Differ(x, y)
	case "LT":
		return c.And(c.Not(x), y)
	case "LE":
		return c.Or(c.Not(x), y)
	case "GT":
		return c.And(x, c.Not(y))
	case "GE":
		return c.Or(x, c.Not(y))
	}
	return nil
}

// convert converts between types that have lanes of different widths.
func (c *loopCoder) convert(from, to tensor.DType, x *expr.Node) *expr.Node {
	a, b := format(from), format(to)
	switch {
	case b == "":
		return nil
	case from == tensor.I1 && b != "bf16":
		one := uint64(1)
		if to == tensor.F64 {
			one = 0x3ff0000000000000
		}
		return c.On(to.Size()).Select(x, c.Constant(b, one), c.Constant(b, 0))
	case to == tensor.I1 && (a == "i32" || a == "i64"):
		return c.NotZero(x)
	case from == tensor.UI32 && to != tensor.F32 && to != tensor.F64:
		return c.Convert("ui32", b, x)
	case from == tensor.UI32:
		return c.Convert("i64", b, c.Convert("ui32", "i64", x))
	case from == tensor.UI64 && to.IsFloat():
		return nil
	}
	return c.Convert(a, b, x)
}

// divide returns the quotient or the remainder of integers.
func (c *loopCoder) divide(dt tensor.DType, x []*expr.Node, remainder bool) *expr.Node {
	unsigned := dt == tensor.UI32 || dt == tensor.UI64
	f := format(dt)
	if f != "i32" && f != "i64" {
		return nil
	}
	if f == "i32" {
		from := f
		if unsigned {
			from = "ui32"
		}
		x = []*expr.Node{c.Convert(from, "i64", x[0]), c.Convert(from, "i64", x[1])}
	}
	q, r := c.Divide(x[0], x[1], unsigned)
	if remainder {
		q = r
	}
	if f == "i32" {
		q = c.Convert("i64", "i32", q)
	}
	return q
}

// at returns the index that the starts of an access have together, or nil.
func (c *loopCoder) at(x exec.ScalarAccess) *expr.Node {
	sum := c.Constant("i32", 0)
	for i, v := range x.Starts {
		dt := c.s.Types[v.Reg]
		start := c.value(v.Reg, dt)
		if start == nil {
			return nil
		}
		key := [2]int{v.Max, v.Stride}
		n := c.index[start][key]
		if n == nil {
			f := format(dt)
			name := "I" + f[1:]
			n = expr.Named("max"+name).Apply(c.On(dt.Size()), start, c.Constant(f, 0))
			n = expr.Named("min"+name).Apply(c.On(dt.Size()), n, c.Constant(f, uint64(v.Max)))
			if dt == tensor.I64 {
				n = c.Convert("i64", "i32", n)
			}
			if v.Stride != 1 {
				n = expr.Named("mulI32").Apply(c.On(4), n, c.Constant("i32", uint64(v.Stride)))
			}
			if c.index[start] == nil {
				c.index[start] = map[[2]int]*expr.Node{}
			}
			c.index[start][key] = n
		}
		if i == 0 {
			sum = n
			continue
		}
		pair := [2]*expr.Node{sum, n}
		if c.sums[pair] == nil {
			c.sums[pair] = expr.Named("addI32").Apply(c.On(4), sum, n)
		}
		sum = c.sums[pair]
	}
	return sum
}
