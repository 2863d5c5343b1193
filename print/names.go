package print

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/ir"
)

// names holds the name of every value: a number, or text.
type names struct {
	values []int32           // by ID: n > 0 is %(n-1), n < 0 is text[^n] or, far below zero, an argument's name; 0 is none
	blocks map[*ir.Block]int // of blocks with successors or predecessors: the number in the region
	text   []string
	groups map[*ir.Op][]int // first results of the packs of an op that has several packs
	edges  map[*ir.Region]map[*ir.Block][]*ir.Block
	shadow map[*ir.Value]*ir.Value

	used                          map[string]int32 // names in use in the enclosing regions -> 1
	log                           []string
	nextValue, nextArg, nextClash int
	probe                         []byte
	groupBuf                      []int
	setResult, setArg             func(*ir.Value, string)
}

// firstArg is the number of a value named %arg0; the numbers after it are %arg1 and so on. These names have no stored
// text, because a function can have very many arguments.
const firstArg = math.MinInt32

// argument assigns a the default name of arguments.
func (n *names) argument(a *ir.Value) {
	n.probe = strconv.AppendInt(append(n.probe[:0], "arg"...), int64(n.nextArg), 10)
	if n.nextArg > 1<<30 || n.used[string(n.probe)] != 0 {
		n.set(a, string(n.probe))
		return
	}
	n.put(a, firstArg+int32(n.nextArg))
}

// put sets the name of v.
func (n *names) put(v *ir.Value, name int32) {
	if v.ID() >= len(n.values) {
		n.values = slices.Grow(n.values, v.ID()+1-len(n.values))[:v.ID()+1]
	}
	n.values[v.ID()] = name
}

// of returns the name that put set for v, or 0.
func (n *names) of(v *ir.Value) int32 {
	if v.ID() >= len(n.values) {
		return 0
	}
	return n.values[v.ID()]
}

// taken reports whether a name is in use in the enclosing regions.
func (n *names) taken(name []byte) bool {
	if n.used[string(name)] != 0 {
		return true
	}
	digits, ok := bytes.CutPrefix(name, []byte("arg"))
	if !ok || len(digits) == 0 || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 {
		return false
	}
	arg := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
		arg = 10*arg + int(c-'0')
	}
	return arg < n.nextArg
}

// numberAll names all values in op.
func (p *printer) numberAll(op *ir.Op) {
	n := &p.names
	n.values = make([]int32, p.m.NumIDs())
	n.setArg = func(v *ir.Value, name string) { n.set(v, name) }
	n.setResult = func(v *ir.Value, name string) {
		n.set(v, name)
		if i := v.Index(); i > 0 {
			n.groupBuf = append(n.groupBuf, i)
		}
	}
	n.numberOp(op, p.o.Generic)
	if p.o.Generic {
		n.allUnique(op)
		return
	}
	for _, r := range op.Regions() {
		n.region(r, false)
	}
}

// allUnique names the values in op for the generic form, in which MLIR uses no number twice. It takes the regions from
// a stack: the regions found last come first.
func (n *names) allUnique(op *ir.Op) {
	stack := append([]*ir.Region(nil), op.Regions()...)
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n.nameOwn(r, true)
		for _, b := range r.Blocks() {
			for op := b.First(); op != nil; op = op.Next() {
				stack = append(stack, op.Regions()...)
			}
		}
	}
}

// region names the values of r and then of its nested regions. Each nested region continues the numbering of r.
func (n *names) region(r *ir.Region, generic bool) {
	mark := len(n.log)
	n.nameOwn(r, generic)
	value, arg, clash := n.nextValue, n.nextArg, n.nextClash
	for _, b := range r.Blocks() {
		for op := b.First(); op != nil; op = op.Next() {
			for _, nested := range op.Regions() {
				n.nextValue, n.nextArg, n.nextClash = value, arg, clash
				n.region(nested, generic)
			}
		}
	}
	for _, name := range n.log[mark:] {
		delete(n.used, name)
	}
	n.log = n.log[:mark]
}

// nameOwn names the values that r itself defines, without its nested regions.
func (n *names) nameOwn(r *ir.Region, generic bool) {
	for _, b := range r.Blocks() {
		for _, a := range b.Args() {
			n.put(a, 0)
		}
	}
	if op := r.Op(); !generic && op != nil && op.Def().ArgNames != nil && fits(op) {
		op.Def().ArgNames(op, r, n.setArg)
	}
	for i, b := range r.Blocks() {
		if last := b.Last(); last != nil && len(last.Successors()) > 0 {
			if n.blocks == nil {
				n.blocks = map[*ir.Block]int{}
			}
			n.blocks[b] = 0
			for _, s := range last.Successors() {
				n.blocks[s] = 0
			}
		}
		for _, a := range b.Args() {
			if n.of(a) != 0 {
				continue
			}
			if i > 0 {
				n.count(a)
				continue
			}
			n.argument(a)
			n.nextArg++
		}
		for op := b.First(); op != nil; op = op.Next() {
			n.numberOp(op, generic)
		}
	}
	if len(n.blocks) > 0 {
		for i, b := range r.Blocks() {
			if _, ok := n.blocks[b]; ok {
				n.blocks[b] = i
			}
		}
	}
}

func (n *names) numberOp(op *ir.Op, generic bool) {
	if op.NumResults() == 0 {
		return
	}
	def := op.Def()
	first := op.Result(0)
	if !generic && def.ResultNames != nil && fitsResults(op) {
		for _, v := range op.Results() {
			n.put(v, 0)
		}
		n.groupBuf = n.groupBuf[:0]
		def.ResultNames(op, n.setResult)
		if len(n.groupBuf) > 0 {
			groups := make([]int, 1, len(n.groupBuf)+1)
			for _, g := range n.groupBuf {
				i := len(groups)
				groups = append(groups, g)
				for ; i > 1 && groups[i-1] > g; i-- {
					groups[i-1], groups[i] = groups[i], groups[i-1]
				}
			}
			if n.groups == nil {
				n.groups = map[*ir.Op][]int{}
			}
			n.groups[op] = groups
		}
	}
	if generic || def.ResultNames == nil || n.of(first) == 0 {
		n.count(first)
	}
}

// count assigns v the next number.
func (n *names) count(v *ir.Value) {
	n.nextValue++
	n.put(v, int32(n.nextValue))
}

// set assigns v the given name, made unique, or a number if name is "".
func (n *names) set(v *ir.Value, name string) {
	if name == "" {
		n.count(v)
		return
	}
	name = n.unique(sanitize(name))
	n.put(v, ^int32(len(n.text)))
	n.text = append(n.text, name)
}

func (n *names) unique(name string) string {
	n.probe = append(n.probe[:0], name...)
	if n.taken(n.probe) {
		n.probe = append(n.probe, '_')
		base := len(n.probe)
		for {
			n.probe = strconv.AppendInt(n.probe[:base], int64(n.nextClash), 10)
			n.nextClash++
			if !n.taken(n.probe) {
				name = string(n.probe)
				break
			}
		}
	}
	if n.used == nil {
		n.used = map[string]int32{}
	}
	n.used[name] = 1
	n.log = append(n.log, name)
	return name
}

// sanitize makes s a legal name. Like MLIR it replaces a space by '_' and other bytes by their hexadecimal code, and
// puts '_' before a leading digit.
func sanitize(s string) string {
	ok := s[0] < '0' || s[0] > '9'
	for i := 0; i < len(s) && ok; i++ {
		ok = nameByte(s[i])
	}
	if ok {
		return s
	}
	var b []byte
	if s[0] >= '0' && s[0] <= '9' {
		b = append(b, '_')
	}
	for i := range len(s) {
		switch c := s[i]; {
		case nameByte(c):
			b = append(b, c)
		case c == ' ':
			b = append(b, '_')
		default:
			b = strconv.AppendUint(b, uint64(c), 16)
		}
	}
	return string(b)
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '.' || c == '-'
}

// preds returns the predecessors of the blocks of r, in the order of the blocks.
func (n *names) preds(r *ir.Region) map[*ir.Block][]*ir.Block {
	if m, ok := n.edges[r]; ok {
		return m
	}
	m := map[*ir.Block][]*ir.Block{}
	for _, b := range r.Blocks() {
		if b.Last() == nil {
			continue
		}
		for _, s := range b.Last().Successors() {
			m[s] = append(m[s], b)
		}
	}
	if n.edges == nil {
		n.edges = map[*ir.Region]map[*ir.Block][]*ir.Block{}
	}
	n.edges[r] = m
	return m
}

// baseName writes the name of the pack whose first value is v.
func (p *printer) baseName(v *ir.Value) {
	switch n := p.names.of(v); {
	case n > 0:
		p.buf = strconv.AppendInt(append(p.buf, '%'), int64(n-1), 10)
	case n < firstArg+1<<30:
		p.buf = strconv.AppendInt(append(p.buf, "%arg"...), int64(n)-firstArg, 10)
	case n < 0 && int(^n) < len(p.names.text):
		p.buf = append(append(p.buf, '%'), p.names.text[^n]...)
	default:
		p.buf = append(p.buf, "<<UNKNOWN SSA VALUE>>"...)
	}
}
