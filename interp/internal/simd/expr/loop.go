package expr

// Loop is a loop on single values, which are in registers in memory between its runs. The program computes one
// iteration. Its operations have lanes of four or eight bytes.
type Loop struct {
	Program
	Registers int   // in memory, of eight bytes
	Arrays    int   // from which iterations load elements, or to which they store elements
	In        []int // the registers of the operands
	Out       []int // the registers of the results
	values    map[int]*Node
}

// NewLoop returns a loop without operations.
func NewLoop(registers, arrays int) *Loop {
	return &Loop{Program: Program{Width: 4}, Registers: registers, Arrays: arrays, values: map[int]*Node{}}
}

// On sets the bytes of a lane of the next operations.
func (l *Loop) On(width int) *Program {
	l.Width = width
	return &l.Program
}

// width returns the bytes of a lane that holds elements of a format.
func width(format string) int { return max(4, Size(format)) }

// Register returns the value of a register when the iteration begins.
func (l *Loop) Register(r int, format string) *Node {
	n, ok := l.values[r]
	if !ok {
		n = l.On(width(format)).Input(format, true)
		l.values[r] = n
		l.In = append(l.In, r)
	}
	return n
}

// Constant returns a value that does not change. Its bits are an element's.
func (l *Loop) Constant(format string, bits uint64) *Node {
	w := width(format)
	switch format {
	case "i1":
		return l.number(Node{Op: "const", Kind: Mask, Bits: -bits, Width: 8})
	case "bf16":
		bits <<= 16
	}
	return l.number(Node{Op: "const", Kind: KindOf(format), Bits: bits, Width: w})
}

// Set sets a register when the iteration ends.
func (l *Loop) Set(r int, format string, n *Node) {
	if n == l.values[r] {
		return
	}
	switch p := l.On(width(format)); {
	case format == "bf16":
		n = p.shr(n, 16)
	case n.Op == "in" && n.Kind == Mask:
		n = p.mor(n, n)
	case n.Op == "in":
		n = p.Copy(n)
	}
	l.Program.Out = append(l.Program.Out, Operand{Format: format, Node: n})
	l.Out = append(l.Out, r)
}

// Unless leaves the loop with a status unless the mask is set. The registers then have the values with which the
// iteration began. All operations that leave precede those that store.
func (l *Loop) Unless(mask *Node, status int) {
	l.add("leave", Mask, mask).Imm = uint64(status)
}

// Load returns the element of an array at index + offset. The index is an integer of four bytes.
func (l *Loop) Load(array int, format string, index *Node, offset int) *Node {
	n := l.On(width(format)).add("load", KindOf(format), index)
	n.Array, n.Format, n.Imm = array, format, uint64(offset)
	return n
}

// Store sets the element of an array at index + offset.
func (l *Loop) Store(array int, format string, index *Node, offset int, v *Node) {
	p := l.On(width(format))
	if format == "bf16" {
		v = p.shr(v, 16)
	}
	n := p.add("store", v.Kind, v, index)
	n.Array, n.Format, n.Imm = array, format, uint64(offset)
}

// effect reports whether an operation does more than compute a value.
func (n *Node) effect() bool { return n.Op == "leave" || n.Op == "store" }

// The conversions between lanes of different widths are operations of loops only.
var conversions = map[[2]string]struct {
	op    string
	width int
}{
	{"f32", "f64"}: {"f2d", 8}, {"f64", "f32"}: {"d2f", 4}, {"i32", "i64"}: {"i2l", 8}, {"ui32", "i64"}: {"u2l", 8}, {"i64", "i32"}: {"l2i", 4},
	{"i32", "f64"}: {"i2d", 8}, {"i64", "f64"}: {"l2d", 8}, {"i64", "f32"}: {"l2f", 4},
}

// Convert returns x in another format, or nil if there is no operation.
func (l *Loop) Convert(from, to string, x *Node) *Node {
	c, ok := conversions[[2]string{from, to}]
	if !ok {
		return nil
	}
	return l.On(c.width).add(c.op, KindOf(to), x)
}

// Product returns the product of 64-bit integers.
func (l *Loop) Product(x, y *Node) *Node { return l.On(8).add("product", Integer, x, y) }

// Divide returns the truncated quotient and the remainder of 64-bit integers. The quotient of a division by 0 has all
// bits set, and the remainder is x.
func (l *Loop) Divide(x, y *Node, unsigned bool) (quotient, remainder *Node) {
	p := l.On(8)
	zero, minus := p.ieq(y, p.bits(0)), p.ieq(y, p.bits(1<<64-1))
	by := p.sel(zero, p.bits(1), y)
	if unsigned {
		quotient = p.with("quotient", Integer, 1, x)
	} else {
		by = p.sel(minus, p.bits(1), by) // the quotient of the least integer and -1 would overflow
		quotient = p.with("quotient", Integer, 0, x)
	}
	quotient.Args = append(quotient.Args, by)
	q := quotient
	if !unsigned {
		q = p.sel(minus, p.isub(p.bits(0), q), q)
	}
	remainder = p.isub(x, l.Product(q, y))
	return l.On(8).sel(zero, p.bits(1<<64-1), q), remainder
}

// ShiftLeft and ShiftRight shift 64-bit integers.
func (l *Loop) ShiftLeft(x, y *Node) *Node  { return l.On(8).vshl(x, y) }
func (l *Loop) ShiftRight(x, y *Node) *Node { return l.On(8).vshr(x, y) }

// Below returns the mask of |x| < limit.
func (l *Loop) Below(x *Node, limit float64) *Node {
	p := l.On(x.Width)
	return p.lt(p.absolute(x), p.c(limit))
}

// Unsigned returns the integer that has the order of x as an unsigned integer.
func (l *Loop) Unsigned(x *Node) *Node {
	p := l.On(x.Width)
	return p.xor(x, p.bits(p.lane().sign))
}

// Differ returns the mask of flags that differ.
func (l *Loop) Differ(x, y *Node) *Node {
	return l.mor(l.mand(x, l.mnot(y)), l.mand(l.mnot(x), y))
}

// NotZero returns the mask of integers other than 0.
func (l *Loop) NotZero(x *Node) *Node {
	p := l.On(x.Width)
	return p.mnot(p.ieq(x, p.bits(0)))
}
