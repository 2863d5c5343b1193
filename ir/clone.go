package ir

import (
	"slices"
	"strings"
)

// State returns a state from which NewOp makes a copy of o without its regions. The copy shares operands, successors
// and attributes with o.
func (o *Op) State() *OpState {
	return &OpState{Def: o.def, Operands: o.OperandList(), Types: o.ResultTypes(), Attrs: o.attrs, Successors: o.Successors(),
		Verbatim: o.Verbatim(), Loc: o.loc, Pos: o.pos, Origin: o.origin}
}

// Rebuild replaces o, which must be in a block, with an op made from st, and returns the new op. The regions of o move
// to the new op, before the regions from st. Users of result i of o use result results[i] of the new op, or result i if
// results is nil. results[i] may be -1 if result i has no uses. The new results keep the name hints. Rebuild erases o.
// Discardable attributes that describe results follow the results, see RemapResults.
//
// Use Rebuild to change the number of an op's results or its definition.
func (m *Module) Rebuild(o *Op, st *OpState, results []int) *Op {
	o.usable()
	if o.Block() == nil {
		panic("ir: rebuilding " + o.def.Name + ", which is in no block")
	}
	for _, v := range st.Operands {
		v.usableIn(m)
	}
	for i := range o.results {
		if results != nil && results[i] < 0 && o.results[i].HasUses() {
			panic("ir: rebuilding " + o.def.Name + " without a result that is in use")
		}
	}
	full := *st
	if full.Origin == 0 {
		full.Origin = o.origin
	}
	full.Attrs = RemapResults(o, st, Inverse(results, len(o.results), len(st.Types)))
	full.Bodies = append(o.DetachRegions(), st.Bodies...)
	n := m.NewOp(&full)
	o.block.insert(n, o.next)
	for i := range o.results {
		k := i
		if results != nil {
			k = results[i]
		}
		if k >= 0 {
			n.results[k].name = o.results[i].name
			o.results[i].ReplaceAllUsesWith(&n.results[k])
		}
	}
	o.Erase()
	return n
}

// RemapResults returns the attributes of st, a state that replaces op, for the results of st: result i was result
// from[i] of op, or is new if from[i] is -1. The dialect of a discardable attribute says what becomes of it
// (Dialect.RemapAttr), the dialect of op if the attribute's name has no prefix.
func RemapResults(op *Op, st *OpState, from []int) AttrList {
	same := len(from) == len(op.results)
	for i, k := range from {
		same = same && i == k
	}
	m, attrs := op.Module(), st.Attrs
	if same || m == nil {
		return attrs
	}
	for _, a := range st.Attrs {
		if a.Inherent {
			continue
		}
		d := m.ctx.registry.dialectOf(a.Name)
		if d == nil && strings.IndexByte(a.Name, '.') < 0 {
			d = m.ctx.registry.dialectOf(op.def.Name)
		}
		if d == nil || d.RemapAttr == nil {
			continue
		}
		switch n := d.RemapAttr(op, a.Name, a.Attr, st.Types, from); n {
		case a.Attr:
		case nil:
			attrs = attrs.Without(a.Name)
		default:
			attrs = attrs.Set(a.Name, n, false)
		}
	}
	return attrs
}

// Inverse returns, for each of n new results, the position of the old result that it replaces, or -1. to holds the new
// position of each of the old results, or -1; nil stands for 0, 1, 2, ...
func Inverse(to []int, old, n int) []int {
	from := make([]int, n)
	for i := range from {
		from[i] = -1
		if to == nil && i < old {
			from[i] = i
		}
	}
	for i, k := range to {
		if k >= 0 {
			from[k] = i
		}
	}
	return from
}

// DetachRegions removes the regions from o and returns them. They can become the Bodies of an OpState.
func (o *Op) DetachRegions() []*Region {
	o.changed()
	if o.parts == nil {
		return nil
	}
	if o.block.m.op == o {
		panic("ir: detaching the region of the module op")
	}
	out := slices.Clone(o.parts.regions)
	for _, r := range out {
		r.op = nil
	}
	o.parts.regions = nil
	return out
}

type cloner struct {
	m      *Module
	values map[*Value]*Value
	blocks map[*Block]*Block
	ops    []clonedOp // in program order
	state  OpState    // of the op that is copied; its slices are used again
}

type clonedOp struct{ from, to *Op }

// CloneOp returns a detached copy of o and everything in its regions. mapping maps values of the original to the values
// that the copy uses instead; CloneOp adds the values that the copy defines. It panics if the copy would use a value of
// another module.
func (m *Module) CloneOp(o *Op, mapping map[*Value]*Value) *Op {
	return (&cloner{m: m, values: mapping}).copyTree(o)
}

// copyTree copies o and everything in its regions.
func (c *cloner) copyTree(o *Op) *Op {
	out := c.op(o)
	var operands []*Value
	for _, p := range c.ops { // every value now has its copy, even if used before its definition
		for i := range p.from.operands {
			v := p.from.operands[i].val
			if w, ok := c.values[v]; ok {
				v = w
			}
			v.usableIn(c.m)
			operands = append(operands, v)
		}
	}
	for _, p := range c.ops {
		n := len(p.to.operands)
		p.to.linkOperands(operands[:n])
		operands = operands[n:]
	}
	return out
}

// op copies o without its operands.
func (c *cloner) op(o *Op) *Op {
	st := &c.state
	*st = OpState{Def: o.def, Operands: st.Operands[:0], Types: st.Types[:0], Attrs: o.attrs, Regions: len(o.Regions()),
		Successors: slices.Clone(o.Successors()), Verbatim: o.Verbatim(), Loc: o.loc, Pos: o.pos, Origin: o.origin}
	for range o.operands {
		st.Operands = append(st.Operands, nil)
	}
	for i := range o.results {
		st.Types = append(st.Types, o.results[i].typ)
	}
	for i, b := range st.Successors {
		if n := c.blocks[b]; n != nil {
			st.Successors[i] = n
		}
	}
	n := c.m.NewOp(st)
	c.ops = append(c.ops, clonedOp{o, n})
	for i := range o.results {
		n.results[i].name = o.results[i].name
		c.values[&o.results[i]] = &n.results[i]
	}
	for i, r := range o.Regions() {
		for _, b := range r.blocks {
			nb := n.Region(i).AddBlock()
			if c.blocks == nil {
				c.blocks = map[*Block]*Block{}
			}
			c.blocks[b] = nb
			for _, a := range b.args {
				na := nb.AddArg(a.typ, a.Loc())
				na.SetPos(a.Pos())
				na.SetOrigin(a.Origin())
				na.name = a.name
				c.values[a] = na
			}
		}
		for _, b := range r.blocks {
			for x := b.first; x != nil; x = x.next {
				c.blocks[b].Append(c.op(x))
			}
		}
	}
	return n
}

// Clone returns a copy of the module. Both modules share the context, the registry, the source, the origins, and the
// immutable attributes.
func (m *Module) Clone() *Module {
	c := &Module{ctx: m.ctx, source: m.source, resources: m.resources, origins: m.origins, unknown: map[string]*Def{}}
	c.loose = &Block{m: c}
	m.mu.Lock()
	for name, d := range m.unknown {
		c.unknown[name] = d
	}
	m.mu.Unlock()
	copied := &cloner{m: c, values: map[*Value]*Value{}}
	c.op = copied.copyTree(m.op)
	for _, p := range copied.ops {
		p.to.valid.Store(p.from.valid.Load())
	}
	return c
}
