// Package expr defines functions of elements once, as programs of single operations that round alike everywhere.
// Package machine encodes programs for the processor; package vec has the same functions in Go, which _gen writes.
package expr

//go:generate sh -c "cd _gen && go run ."

import "math"

// Kind is the content of a value: floats, the bits of integers, or one flag per lane.
type Kind int

const (
	Float Kind = iota
	Integer
	Mask
)

// Node is one operation of a program, on all lanes.
type Node struct {
	ID    int // number among the nodes of the program, from 1
	Op    string
	Args  []*Node
	Bits  uint64 // of a constant
	Imm   uint64 // shift count, rounding mode; of a Loop: status, offset
	Kind  Kind
	Width int
	Name  string // in Go
	// Of an element of a Loop's arrays.
	Array  int
	Format string
}

// Program is a list of operations on lanes of four or eight bytes, with operands and results in memory.
type Program struct {
	Width int // bytes of a lane
	In    []Operand
	Out   []Operand
	nodes []*Node
	last  int // the last ID of a node
}

// Nodes returns the largest ID of a node.
func (p *Program) Nodes() int { return p.last }

func (p *Program) number(n Node) *Node {
	p.last++
	n.ID = p.last
	return &n
}

// Operand is an array of elements that a program reads or writes.
type Operand struct {
	Format string // f32, f64, bf16, f16, i32, i64 or i1
	Same   bool   // all elements are equal: the array holds one vector
	Node   *Node
}

// Function is a function of up to three elements. The engine computes it in Go and with vectors. Both round alike and
// therefore return the same bits.
type Function struct {
	Name, Doc string
	Width     int // bytes of a lane
	Formats   []string
	Format    string    // of the result
	Exported  bool      // the Go function of one element is part of package vec
	Base      string    // the Go function of one element, if it is another function's
	Element   *Function // computes one element in Go, if it is exported
	Folds     bool      // the function also folds rows
	Zero      bool      // its folds start with 0, not with the first elements
	body      body
}

// Program returns the program that computes the function alone.
func (f *Function) Program() *Program {
	p := New(f.Width)
	var x []*Node
	for _, format := range f.Formats {
		x = append(x, p.Input(format, false))
	}
	p.Out = append(p.Out, Operand{Format: f.Format, Node: f.body(p, x)})
	return p
}

// Apply adds the function's operations to a program of the same width. Narrow floats are operands and results in f32.
func (f *Function) Apply(p *Program, x ...*Node) *Node {
	r := f.body(p, x)
	if f.Format == "bf16" {
		r = p.shl(r, 16)
	}
	return r
}

// New returns a program without operations.
func New(width int) *Program { return &Program{Width: width} }

// Input adds an operand.
func (p *Program) Input(format string, same bool) *Node {
	n := p.number(Node{Op: "in", Kind: KindOf(format), Width: p.Width})
	p.In = append(p.In, Operand{format, same, n})
	return n
}

// Output adds a result.
func (p *Program) Output(format string, n *Node) {
	if format == "bf16" {
		n = p.shr(n, 16)
	}
	p.Out = append(p.Out, Operand{Format: format, Node: n})
}

// KindOf returns the kind of a format of elements: f32, f64, bf16, f16, i32, i64 or i1. A lane holds an i1 as a mask,
// wider elements unchanged, and narrower floats widened and rounded.
func KindOf(format string) Kind {
	switch format {
	case "i1":
		return Mask
	case "i32", "i64":
		return Integer
	}
	return Float
}

// Size returns the bytes of an element in memory.
func Size(format string) int {
	switch format {
	case "i1":
		return 1
	case "bf16", "f16":
		return 2
	case "f32", "i32":
		return 4
	}
	return 8
}

func (p *Program) add(op string, k Kind, args ...*Node) *Node {
	n := p.number(Node{Op: op, Args: args, Kind: k, Width: p.Width})
	p.nodes = append(p.nodes, n)
	return n
}

// c returns a constant number, bits a constant pattern.
func (p *Program) c(v float64) *Node {
	if p.Width == 4 {
		return p.number(Node{Op: "const", Bits: uint64(math.Float32bits(float32(v))), Width: 4})
	}
	return p.number(Node{Op: "const", Bits: math.Float64bits(v), Width: 8})
}

func (p *Program) bits(v uint64) *Node {
	return p.number(Node{Op: "const", Bits: v, Kind: Integer, Width: p.Width})
}

func (p *Program) sum(a, b *Node) *Node    { return p.add("add", Float, a, b) }
func (p *Program) sub(a, b *Node) *Node    { return p.add("sub", Float, a, b) }
func (p *Program) mul(a, b *Node) *Node    { return p.add("mul", Float, a, b) }
func (p *Program) div(a, b *Node) *Node    { return p.add("div", Float, a, b) }
func (p *Program) sqrt(a *Node) *Node      { return p.add("sqrt", Float, a) }
func (p *Program) fma(a, b, c *Node) *Node { return p.add("fma", Float, a, b, c) } // a*b + c
func (p *Program) and(a, b *Node) *Node    { return p.add("and", Integer, a, b) }
func (p *Program) or(a, b *Node) *Node     { return p.add("or", Integer, a, b) }
func (p *Program) xor(a, b *Node) *Node    { return p.add("xor", Integer, a, b) }
func (p *Program) iadd(a, b *Node) *Node   { return p.add("iadd", Integer, a, b) }
func (p *Program) isub(a, b *Node) *Node   { return p.add("isub", Integer, a, b) }

func (p *Program) imul(a, b *Node) *Node { return p.add("imul", Integer, a, b) } // of 32-bit integers

// vshl, vshr and vsar shift by the lanes of b; counts of the width or more shift everything out.
func (p *Program) vshl(a, b *Node) *Node { return p.add("vshl", Integer, a, b) }
func (p *Program) vshr(a, b *Node) *Node { return p.add("vshr", Integer, a, b) }
func (p *Program) vsar(a, b *Node) *Node { return p.add("vsar", Integer, a, b) }

func (p *Program) with(op string, k Kind, imm uint64, a *Node) *Node {
	r := p.add(op, k, a)
	r.Imm = imm
	return r
}

func (p *Program) shl(a *Node, n uint64) *Node { return p.with("shl", Integer, n, a) }
func (p *Program) shr(a *Node, n uint64) *Node { return p.with("shr", Integer, n, a) }

// round rounds to an integer: to nearest even (0), down (1), up (2), towards zero (3).
func (p *Program) round(mode uint64, a *Node) *Node { return p.with("round", Float, mode, a) }

// fromInt converts 32-bit integers to f32; toInt truncates f32 and returns -2^31 for values out of range.
func (p *Program) fromInt(a *Node) *Node  { return p.add("i2f", Float, a) }
func (p *Program) toInt(a *Node) *Node    { return p.add("f2i", Integer, a) }
func (p *Program) mulhi(a, b *Node) *Node { return p.add("mulhi", Integer, a, b) } // of 32-bit integers

// widen returns the f32 in the low half of a lane of eight bytes as f64; narrow rounds f64 to such an f32.
func (p *Program) widen(a *Node) *Node  { return p.add("widen", Float, a) }
func (p *Program) narrow(a *Node) *Node { return p.add("narrow", Integer, a) }

// Comparisons return masks. lt, le and eq are false on NaN; unord is true if an operand is NaN; ilt and ieq compare
// signed integers.
func (p *Program) lt(a, b *Node) *Node    { return p.add("lt", Mask, a, b) }
func (p *Program) le(a, b *Node) *Node    { return p.add("le", Mask, a, b) }
func (p *Program) eq(a, b *Node) *Node    { return p.add("eq", Mask, a, b) }
func (p *Program) unord(a, b *Node) *Node { return p.add("unord", Mask, a, b) }
func (p *Program) ilt(a, b *Node) *Node   { return p.add("ilt", Mask, a, b) }
func (p *Program) ieq(a, b *Node) *Node   { return p.add("ieq", Mask, a, b) }
func (p *Program) mand(a, b *Node) *Node  { return p.add("mand", Mask, a, b) }
func (p *Program) mor(a, b *Node) *Node   { return p.add("mor", Mask, a, b) }
func (p *Program) mnot(a *Node) *Node     { return p.add("mnot", Mask, a) }

// And, Or and Not compute on masks.
func (p *Program) And(x ...*Node) *Node { return p.mand(x[0], x[1]) }
func (p *Program) Or(x ...*Node) *Node  { return p.mor(x[0], x[1]) }
func (p *Program) Not(x ...*Node) *Node { return p.mnot(x[0]) }

// Select returns x[1] if the mask x[0] is set, else x[2]. SelectFlag chooses masks.
func (p *Program) Select(x ...*Node) *Node { return p.sel(x[0], x[1], x[2]) }

func (p *Program) SelectFlag(x ...*Node) *Node {
	return p.mor(p.mand(x[0], x[1]), p.mand(p.mnot(x[0]), x[2]))
}

// Number returns the integer 1 if the mask is set, else 0.
func (p *Program) Number(x ...*Node) *Node { return p.sel(x[0], p.bits(1), p.bits(0)) }

// Copy returns x as another node, of the same bits.
func (p *Program) Copy(x *Node) *Node { return p.add("or", x.Kind, x, p.bits(0)) }

// sel returns a if the mask is set, else b. The smaller of two numbers, and the larger, are one operation: min(x, y) is
// x if x < y, else y; max(x, y) is x if y < x, else y. So they return y if an operand is NaN or both are zeros.
func (p *Program) sel(m, a, b *Node) *Node {
	if (m.Op == "lt" || m.Op == "ilt" && m.Args[0].Width == 4) && a.Kind == b.Kind && (a.Kind == Float) == (m.Op == "lt") {
		prefix := m.Op[:len(m.Op)-2]
		switch x, y := m.Args[0], m.Args[1]; {
		case same(a, x) && same(b, y):
			return p.add(prefix+"min", a.Kind, a, b)
		case same(a, y) && same(b, x):
			return p.add(prefix+"max", a.Kind, a, b)
		}
	}
	return p.add("sel", a.Kind, m, a, b)
}

// same reports whether two nodes are one value.
func same(a, b *Node) bool {
	return a == b || a.Op == "const" && b.Op == "const" && a.Bits == b.Bits && a.Width == b.Width
}

// horner evaluates a polynomial, highest coefficient first.
func (p *Program) horner(x *Node, coefficients ...float64) *Node {
	r := p.c(coefficients[0])
	for _, v := range coefficients[1:] {
		r = p.fma(r, x, p.c(v))
	}
	return r
}

// Live returns the operations that the results depend on, in order.
func (p *Program) Live() []*Node {
	need := make([]bool, p.last+1)
	for _, o := range p.Out {
		need[o.Node.ID] = true
	}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		if n := p.nodes[i]; need[n.ID] || n.effect() {
			need[n.ID] = true
			for _, a := range n.Args {
				need[a.ID] = true
			}
		}
	}
	out := make([]*Node, 0, len(p.nodes))
	for _, n := range p.nodes {
		if need[n.ID] {
			out = append(out, n)
		}
	}
	return out
}
