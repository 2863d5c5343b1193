package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// kind is the kind of an item.
type kind uint8

const (
	opItem     kind = iota
	argItem         // an argument of a block
	regionItem      // a region of an op with several
	blockItem       // a block of a region with several
	scopeItem       // ops whose locations have the same name scope
	partItem        // ops that are next to each other in a long block
)

// item is a node of the page, or a box of nodes. An op with regions is a box. Items belong to all steps.
type item struct {
	kind         kind
	parent       int32
	layer, order int32 // in parent
	label        string
	count        int32 // of the ops inside
	values       int32 // the first value
	numValues    int32
	wide         int32 // see itemTable.Wide
	children     []int32
	late         bool // place it close to its users: a constant
	last         bool // a terminator
}

// body is a block of the union.
type body struct {
	args []int32
	ops  []int32 // the ops of all steps, in an order that every step agrees with as far as possible
}

// bodyKey names a block by the item of its op.
type bodyKey struct {
	op            int32
	region, block int
}

// state says what a step did to an op.
type state uint8

const (
	same state = iota
	added
	changed
	moved
)

// stepItems are the items of one step.
type stepItems struct {
	step    *Step
	items   map[*ir.Op]int32
	states  map[*ir.Op]state
	removed []int32 // items of the previous step
	counts  string
}

// union matches the ops of all steps.
type union struct {
	items  []item
	bodies map[bodyKey]*body
	keys   []bodyKey // in the order of their creation
	steps  []*stepItems
	inside []int32 // see itemTable.Edges
	values int32   // number of all values
}

// unionOf matches the ops of steps. A step without a change joins the step before it.
func unionOf(steps []Step) *union {
	u := &union{bodies: map[bodyKey]*body{}}
	var last *stepItems
	for i := range steps {
		step := steps[i]
		s := &stepItems{step: &step, items: map[*ir.Op]int32{}, states: map[*ir.Op]state{}}
		if last != nil {
			c := pass.Compare(last.step.Module, step.Module)
			if len(c.Changes) == 0 {
				last.step.Same = append(append(slices.Clone(last.step.Same), step.Name), step.Same...)
				continue
			}
			s.counts = c.Counts()
			last.step.Module.Walk(func(op *ir.Op) bool {
				if to := c.Op(op); to != nil {
					s.items[to] = last.items[op]
				}
				return true
			})
			s.items[s.step.Module.Op()] = 0
			for _, x := range c.Changes {
				switch x.Kind {
				case pass.Removed:
					x.Before.Walk(func(op *ir.Op) bool {
						s.removed = append(s.removed, last.items[op])
						return true
					})
				case pass.Added:
					s.states[x.After] = added
				case pass.Changed:
					s.states[x.After] = changed
				case pass.Moved:
					s.states[x.After] = moved
				}
			}
		} else {
			u.newItem(opItem, -1)
			s.items[s.step.Module.Op()] = 0
		}
		u.add(s, s.step.Module.Op())
		u.steps = append(u.steps, s)
		last = s
	}
	for i := range u.items {
		u.items[i].values = u.values
		u.values += u.items[i].numValues
	}
	return u
}

func (u *union) newItem(k kind, parent int32) int32 {
	u.items = append(u.items, item{kind: k, parent: parent, values: u.values})
	return int32(len(u.items) - 1)
}

// add adds the ops inside op, which has an item, to the union.
func (u *union) add(s *stepItems, op *ir.Op) {
	at := s.items[op]
	u.items[at].numValues = max(u.items[at].numValues, int32(op.NumResults()))
	for r, region := range op.Regions() {
		for k, b := range region.Blocks() {
			key := bodyKey{at, r, k}
			to := u.bodies[key]
			if to == nil {
				to = &body{}
				u.bodies[key] = to
				u.keys = append(u.keys, key)
			}
			for len(to.args) < len(b.Args()) {
				arg := u.newItem(argItem, at)
				u.items[arg].numValues, u.items[arg].label = 1, fmt.Sprintf("arg%d", len(to.args))
				to.args = append(to.args, arg)
			}
			u.merge(s, to, b, at)
		}
	}
}

// merge merges the ops of a block into those of to. A new op goes after the op before it.
func (u *union) merge(s *stepItems, to *body, b *ir.Block, parent int32) {
	place := make(map[int32]int, len(to.ops))
	for i, op := range to.ops {
		place[op] = i
	}
	inserted := make(map[int][]int32) // by the number of old ops before them
	at := 0
	for op := range b.Ops() {
		i, known := s.items[op]
		if known {
			if p, ok := place[i]; ok {
				at = p + 1
			}
		} else {
			i = u.newItem(opItem, parent)
			u.items[i].label = label(op)
			s.items[op] = i
			if len(u.steps) > 0 {
				s.states[op] = added
			}
			inserted[at] = append(inserted[at], i)
		}
		x := &u.items[i]
		x.late, x.last = op.NumOperands() == 0 && len(op.Regions()) == 0 && op.NumResults() > 0, op.Has(ir.Terminator)
		u.add(s, op)
	}
	if len(inserted) > 0 {
		ops := make([]int32, 0, len(to.ops)+len(b.Args()))
		for i := 0; i <= len(to.ops); i++ {
			ops = append(ops, inserted[i]...)
			if i < len(to.ops) {
				ops = append(ops, to.ops[i])
			}
		}
		to.ops = ops
	}
}

// value returns the number of v in the steps of s.
func (u *union) value(s *stepItems, v *ir.Value) int32 {
	return u.items[u.definer(s, v)].values + u.offset(v)
}

// offset is the number of v among the values of its item.
func (u *union) offset(v *ir.Value) int32 {
	if v.DefiningOp() != nil {
		return int32(v.Index())
	}
	return 0
}

// definer returns the item that defines v.
func (u *union) definer(s *stepItems, v *ir.Value) int32 {
	if op := v.DefiningOp(); op != nil {
		return s.items[op]
	}
	b := v.Block()
	parent := b.Parent()
	r := slices.Index(parent.Regions(), b.Region())
	k := slices.Index(b.Region().Blocks(), b)
	return u.bodies[bodyKey{s.items[parent], r, k}].args[v.Index()]
}

// label returns what the page writes on an op: its name without hlocb's usual dialects, and a detail.
func label(op *ir.Op) string {
	name := op.Name()
	for _, dialect := range []string{"stablehlo.", "func."} {
		name = strings.TrimPrefix(name, dialect)
	}
	if text := detail(op); text != "" {
		return name + " " + text
	}
	return name
}
