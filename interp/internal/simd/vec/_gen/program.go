package main

import "math"

// node is one operation of a program on 64-bit lanes.
type node struct {
	op   string
	args []*node
	bits uint64 // of a constant
	imm  uint64 // of a shift
	uses int
	mask bool
	name string // in Go
}

// program is a function of one float64, as a list of operations. The generator emits it as Go code and as vector
// instructions. Both round alike and therefore return the same bits.
type program struct {
	nodes []*node
	in    *node
	out   *node
}

func (p *program) add(op string, args ...*node) *node {
	n := &node{op: op, args: args}
	for _, a := range args {
		a.uses++
	}
	p.nodes = append(p.nodes, n)
	return n
}

func (p *program) input() *node {
	p.in = &node{op: "in", name: "x"}
	return p.in
}

func c(v float64) *node   { return &node{op: "const", bits: math.Float64bits(v)} }
func bits(v uint64) *node { return &node{op: "const", bits: v} }

func (p *program) sum(a, b *node) *node    { return p.add("add", a, b) }
func (p *program) sub(a, b *node) *node    { return p.add("sub", a, b) }
func (p *program) mul(a, b *node) *node    { return p.add("mul", a, b) }
func (p *program) div(a, b *node) *node    { return p.add("div", a, b) }
func (p *program) sqrt(a *node) *node      { return p.add("sqrt", a) }
func (p *program) and(a, b *node) *node    { return p.add("and", a, b) }
func (p *program) or(a, b *node) *node     { return p.add("or", a, b) }
func (p *program) xor(a, b *node) *node    { return p.add("xor", a, b) }
func (p *program) iadd(a, b *node) *node   { return p.add("iadd", a, b) }
func (p *program) fma(a, b, c *node) *node { return p.add("fma", a, b, c) } // a*b + c

func (p *program) shl(a *node, n uint64) *node {
	r := p.add("shl", a)
	r.imm = n
	return r
}

func (p *program) shr(a *node, n uint64) *node {
	r := p.add("shr", a)
	r.imm = n
	return r
}

// lt is a < b. sel is a if the mask is set, else b.
func (p *program) lt(a, b *node) *node {
	r := p.add("lt", a, b)
	r.mask = true
	return r
}

func (p *program) sel(m, a, b *node) *node { return p.add("sel", m, a, b) }

// horner evaluates a polynomial, highest coefficient first.
func (p *program) horner(x *node, coefficients ...float64) *node {
	r := c(coefficients[0])
	for _, v := range coefficients[1:] {
		r = p.fma(r, x, c(v))
	}
	return r
}
