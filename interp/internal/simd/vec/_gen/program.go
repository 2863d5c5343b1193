package main

import "math"

// kind is the content of a value: floats, the bits of integers, or one flag per lane.
type kind int

const (
	float kind = iota
	integer
	mask
)

// node is one operation of a program, on all lanes.
type node struct {
	op    string
	args  []*node
	bits  uint64 // of a constant
	imm   uint64 // shift count, rounding mode
	kind  kind
	width int
	name  string // in Go
}

// program is a function of up to three elements, as a list of operations on lanes of four or eight bytes. The generator
// emits it as Go code and as vector instructions. Both round alike and therefore return the same bits.
type program struct {
	name, doc string
	width     int // bytes of a lane
	formats   []string
	format    string   // of the result
	exported  bool     // the Go function of one element is part of the package
	base      string   // the Go function of one element, if it is another program's
	element   *program // computes one element in Go, if it is exported
	fold      bool     // the program also folds rows
	nodes     []*node
	in        []*node
	out       *node
}

// kindOf returns the kind of a format of elements: f32, f64, bf16, f16, i32, i64 or i1. A lane holds an i1 as a mask,
// wider elements unchanged, and narrower floats widened and rounded.
func kindOf(format string) kind {
	switch format {
	case "i1":
		return mask
	case "i32", "i64":
		return integer
	}
	return float
}

func sizeOf(format string) int {
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

func (p *program) add(op string, k kind, args ...*node) *node {
	n := &node{op: op, args: args, kind: k, width: p.width}
	p.nodes = append(p.nodes, n)
	return n
}

// c returns a constant number, bits a constant pattern.
func (p *program) c(v float64) *node {
	if p.width == 4 {
		return &node{op: "const", bits: uint64(math.Float32bits(float32(v))), width: 4}
	}
	return &node{op: "const", bits: math.Float64bits(v), width: 8}
}

func (p *program) bits(v uint64) *node {
	return &node{op: "const", bits: v, kind: integer, width: p.width}
}

func (p *program) sum(a, b *node) *node    { return p.add("add", float, a, b) }
func (p *program) sub(a, b *node) *node    { return p.add("sub", float, a, b) }
func (p *program) mul(a, b *node) *node    { return p.add("mul", float, a, b) }
func (p *program) div(a, b *node) *node    { return p.add("div", float, a, b) }
func (p *program) sqrt(a *node) *node      { return p.add("sqrt", float, a) }
func (p *program) fma(a, b, c *node) *node { return p.add("fma", float, a, b, c) } // a*b + c
func (p *program) and(a, b *node) *node    { return p.add("and", integer, a, b) }
func (p *program) or(a, b *node) *node     { return p.add("or", integer, a, b) }
func (p *program) xor(a, b *node) *node    { return p.add("xor", integer, a, b) }
func (p *program) iadd(a, b *node) *node   { return p.add("iadd", integer, a, b) }
func (p *program) isub(a, b *node) *node   { return p.add("isub", integer, a, b) }

func (p *program) imul(a, b *node) *node { return p.add("imul", integer, a, b) } // of 32-bit integers

// vshl, vshr and vsar shift by the lanes of b; counts of the width or more shift everything out.
func (p *program) vshl(a, b *node) *node { return p.add("vshl", integer, a, b) }
func (p *program) vshr(a, b *node) *node { return p.add("vshr", integer, a, b) }
func (p *program) vsar(a, b *node) *node { return p.add("vsar", integer, a, b) }

func (p *program) with(op string, k kind, imm uint64, a *node) *node {
	r := p.add(op, k, a)
	r.imm = imm
	return r
}

func (p *program) shl(a *node, n uint64) *node { return p.with("shl", integer, n, a) }
func (p *program) shr(a *node, n uint64) *node { return p.with("shr", integer, n, a) }

// round rounds to an integer: to nearest even (0), down (1), up (2), towards zero (3).
func (p *program) round(mode uint64, a *node) *node { return p.with("round", float, mode, a) }

// fromInt converts 32-bit integers to f32; toInt truncates f32 and returns -2^31 for values out of range.
func (p *program) fromInt(a *node) *node  { return p.add("i2f", float, a) }
func (p *program) toInt(a *node) *node    { return p.add("f2i", integer, a) }
func (p *program) mulhi(a, b *node) *node { return p.add("mulhi", integer, a, b) } // of 32-bit integers

// Comparisons return masks. lt, le and eq are false on NaN; unord is true if an operand is NaN; ilt and ieq compare
// signed integers.
func (p *program) lt(a, b *node) *node    { return p.add("lt", mask, a, b) }
func (p *program) le(a, b *node) *node    { return p.add("le", mask, a, b) }
func (p *program) eq(a, b *node) *node    { return p.add("eq", mask, a, b) }
func (p *program) unord(a, b *node) *node { return p.add("unord", mask, a, b) }
func (p *program) ilt(a, b *node) *node   { return p.add("ilt", mask, a, b) }
func (p *program) ieq(a, b *node) *node   { return p.add("ieq", mask, a, b) }
func (p *program) mand(a, b *node) *node  { return p.add("mand", mask, a, b) }
func (p *program) mor(a, b *node) *node   { return p.add("mor", mask, a, b) }
func (p *program) mnot(a *node) *node     { return p.add("mnot", mask, a) }

// sel returns a if the mask is set, else b.
func (p *program) sel(m, a, b *node) *node { return p.add("sel", a.kind, m, a, b) }

// horner evaluates a polynomial, highest coefficient first.
func (p *program) horner(x *node, coefficients ...float64) *node {
	r := p.c(coefficients[0])
	for _, v := range coefficients[1:] {
		r = p.fma(r, x, p.c(v))
	}
	return r
}

// live returns the operations that the result depends on.
func (p *program) live() []*node {
	need := map[*node]bool{p.out: true}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		if n := p.nodes[i]; need[n] {
			for _, a := range n.args {
				need[a] = true
			}
		}
	}
	var out []*node
	for _, n := range p.nodes {
		if need[n] {
			out = append(out, n)
		}
	}
	return out
}
