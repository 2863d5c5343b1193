package expr

import "math"

// Evaluate computes the operations on one lane: the bits of each operand, 0 or 1 for a mask, to the bits of each
// result. fma32 computes x*y + z of f32.
func (p *Program) Evaluate(fma32 func(x, y, z float32) float32, in ...uint64) []uint64 {
	values := map[*Node]uint64{}
	for i, o := range p.In {
		values[o.Node] = in[i]
	}
	value := func(n *Node) uint64 {
		if n.Op == "const" {
			return n.Bits
		}
		return values[n]
	}
	for _, n := range p.Live() {
		var a [3]uint64
		for i, x := range n.Args {
			a[i] = value(x)
		}
		if p.Width == 4 {
			values[n] = evaluate32(n, fma32, uint32(a[0]), uint32(a[1]), uint32(a[2]))
		} else {
			values[n] = evaluate64(n, a[0], a[1], a[2])
		}
	}
	var out []uint64
	for _, o := range p.Out {
		out = append(out, value(o.Node))
	}
	return out
}

var roundings = [...]func(float64) float64{math.RoundToEven, math.Floor, math.Ceil, math.Trunc}

func evaluate32(n *Node, fma32 func(x, y, z float32) float32, a, b, c uint32) uint64 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	f := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	switch n.Op {
	case "add":
		return f(x + y)
	case "sub":
		return f(x - y)
	case "mul":
		return f(x * y)
	case "div":
		return f(x / y)
	case "sqrt":
		return f(float32(math.Sqrt(float64(x))))
	case "fma":
		return f(fma32(x, y, math.Float32frombits(c)))
	case "round":
		return f(float32(roundings[n.Imm](float64(x))))
	case "i2f":
		return f(float32(int32(a)))
	case "f2i":
		if x >= -0x1p31 && x < 0x1p31 {
			return uint64(uint32(int32(x)))
		}
		return 1 << 31
	case "mulhi":
		return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32))
	case "vsar":
		return uint64(uint32(int32(a) >> min(b, 31)))
	case "lt":
		return flag(x < y)
	case "le":
		return flag(x <= y)
	case "eq":
		return flag(x == y)
	case "unord":
		return flag(x != x || y != y)
	case "ilt":
		return flag(int32(a) < int32(b))
	case "imin":
		return uint64(uint32(min(int32(a), int32(b))))
	case "imax":
		return uint64(uint32(max(int32(a), int32(b))))
	case "min":
		return choose(x < y, uint64(a), uint64(b))
	case "max":
		return choose(y < x, uint64(a), uint64(b))
	case "vshl":
		return uint64(a << b)
	}
	return evaluateBits(n, uint64(a), uint64(b), uint64(c)) & (1<<32 - 1)
}

func evaluate64(n *Node, a, b, c uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	f := math.Float64bits
	switch n.Op {
	case "add":
		return f(x + y)
	case "sub":
		return f(x - y)
	case "mul":
		return f(x * y)
	case "div":
		return f(x / y)
	case "sqrt":
		return f(math.Sqrt(x))
	case "fma":
		return f(math.FMA(x, y, math.Float64frombits(c)))
	case "round":
		return f(roundings[n.Imm](x))
	case "widen":
		return f(float64(math.Float32frombits(uint32(a))))
	case "narrow":
		return uint64(math.Float32bits(float32(x)))
	case "lt":
		return flag(x < y)
	case "le":
		return flag(x <= y)
	case "eq":
		return flag(x == y)
	case "unord":
		return flag(x != x || y != y)
	case "ilt":
		return flag(int64(a) < int64(b))
	case "min":
		return choose(x < y, a, b)
	case "max":
		return choose(y < x, a, b)
	}
	return evaluateBits(n, a, b, c)
}

// evaluateBits computes the operations of both widths. The high bits of a result are undefined.
func evaluateBits(n *Node, a, b, c uint64) uint64 {
	switch n.Op {
	case "and", "mand":
		return a & b
	case "or", "mor":
		return a | b
	case "xor":
		return a ^ b
	case "mnot":
		return a ^ 1
	case "iadd":
		return a + b
	case "isub":
		return a - b
	case "imul":
		return a * b
	case "shl":
		return a << n.Imm
	case "shr":
		return a >> n.Imm
	case "vshl":
		return a << b
	case "vshr":
		return a >> b
	case "ieq":
		return flag(a == b)
	case "sel":
		return choose(a != 0, b, c)
	}
	panic("no operation " + n.Op)
}

func choose(first bool, a, b uint64) uint64 {
	if first {
		return a
	}
	return b
}

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
