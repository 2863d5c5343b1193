package bytecode

import (
	"slices"
	"sort"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// opName is the name of an op in the file.
type opName struct {
	name       string
	number     int
	dialect    int
	registered bool
	def        *ir.Def    // nil before the first op with this name
	props      *propTable // nil if the properties of the op kind are a single attribute
	last       *attrList  // attributes of the last op read with this name
	lastKey    attrKey
}

// irReader is the part of the reader that reads ops.
type irReader struct {
	values []*ir.Value       // of the enclosing regions, by number; nil before the definition
	later  map[int][]*ir.Use // by number, the operands that use a value before its definition
	base   int               // index of the first value of the enclosing isolated op
	lists  map[attrKey]*attrList
	parent *ir.Def       // kind of the enclosing op
	states []*ir.OpState // one per level of nesting
	level  int
	orders []useOrder
}

// attrKey identifies the attributes of an op.
type attrKey struct {
	name, props, dict int
	parent            *ir.Def // only for a translator
}

type attrList struct {
	def   *ir.Def
	attrs ir.AttrList
}

// useOrder is the order of the uses of a value.
type useOrder struct {
	value *ir.Value
	order []int
	pos   int
}

func (r *reader) readIR(c *cursor) {
	r.lists = map[attrKey]*attrList{}
	r.later = map[int][]*ir.Use{}
	if n, args := c.flagged(); n != 1 || args {
		c.fail("expected one operation at the top")
	}
	op := r.op(c, nil)
	c.done("the operations")
	if op.Name() != "builtin.module" || len(op.Regions()) != 1 {
		r.fail("expected builtin.module at the top, found %s", op.Name())
	}
	if len(op.Region(0).Blocks()) > 1 || op.NumOperands() > 0 || op.NumResults() > 0 {
		r.fail("expected a module with one block")
	}
	m := r.m.Op()
	m.SetAttrs(op.Attrs())
	m.SetLoc(op.Loc())
	m.SetPos(op.Pos())
	if body := r.m.Body(); op.Region(0).Entry() != nil {
		m.Region(0).TakeBlocks(op.Region(0))
		body.Erase()
	}
	op.Erase()
	for i := range r.orders {
		r.setOrder(&r.orders[i])
	}
}

// kind returns op name i and looks up its definition.
func (r *reader) kind(i int) *opName {
	n := &r.ops[i]
	if n.def == nil {
		n.number, n.def = i, r.m.Def(n.name)
		if n.registered && r.version >= 5 {
			n.def = r.m.RegisteredDef(n.name)
		}
		n.props = newPropTable(r.m.Registry(), n.def, r.version)
	}
	return n
}

// state returns an OpState to fill. The caller releases it with r.level--.
func (r *reader) state() *ir.OpState {
	if r.level == len(r.states) {
		r.states = append(r.states, &ir.OpState{})
	}
	st := r.states[r.level]
	r.level++
	st.Operands, st.Types, st.Successors = st.Operands[:0], st.Types[:0], st.Successors[:0]
	st.Attrs, st.Loc, st.Regions = nil, nil, 0
	return st
}

// op reads an op in a region with the given blocks.
func (r *reader) op(c *cursor, blocks []*ir.Block) *ir.Op {
	at := c.pos
	k := r.kind(c.index(len(r.ops), "operation name"))
	mask := c.byte()
	st := r.state()
	st.Def, st.Pos = k.def, diag.At(at)
	st.Loc = r.loc(c, k.name)
	if mask&(hasAttrs|hasProperties) != 0 || r.translator != nil {
		l := r.attributes(c, k, mask)
		st.Def, st.Attrs = l.def, l.attrs
	} else if k.props != nil && k.props.always != nil {
		st.Attrs = k.props.always
	}
	if mask&hasResults != 0 {
		for range c.count() {
			st.Types = append(st.Types, r.valueType(c, c.index(len(r.types), "type")))
		}
	}
	first := c.pos
	forward := false
	if mask&hasOperands != 0 {
		n := c.count()
		first = c.pos
		for range n {
			v := r.values[r.base+c.index(len(r.values)-r.base, "value")]
			forward = forward || v == nil
			st.Operands = append(st.Operands, v)
		}
	}
	if mask&hasSuccessors != 0 {
		for range c.count() {
			st.Successors = append(st.Successors, blocks[c.index(len(blocks), "block")])
		}
	}
	var orders []useOrder
	if mask&hasUseLists != 0 {
		orders = r.useOrders(c, len(st.Types))
	}
	body, isolated := c, false
	if mask&hasRegions != 0 {
		var n uint64
		n, isolated = c.flagged()
		st.Regions = c.atMost(c.pos, n, "%d regions")
		if isolated && r.version >= 2 {
			at := c.pos
			id, data := c.section()
			if id != secIR {
				c.failAt(at, "expected section %d with the regions of %s", secIR, k.name)
			}
			body = &data
		}
	}
	// Create the op before reading its regions, because uses in them come after its own.
	op := r.m.NewOp(st)
	if forward {
		r.awaitOperands(cursor{c.data, first, c.end}, op)
	}
	r.level--
	r.keepOrders(orders, op.Result)
	if mask&hasRegions == 0 {
		return op
	}
	r.deeper(c)
	base, parent := r.base, r.parent
	r.parent = op.Def()
	if isolated {
		r.base = len(r.values)
	}
	for _, g := range op.Regions() {
		r.region(body, g)
	}
	r.base, r.parent = base, parent
	r.depth--
	if body != c {
		body.done("the regions of " + k.name)
	}
	return op
}

// valueType returns type i for a value.
func (r *reader) valueType(c *cursor, i int) ir.Type {
	e := &r.types[i]
	if e.problem != "" {
		c.fail("%s", e.problem)
	}
	return e.typ
}

// keepOrders records the use orders of values of an op or a block.
func (r *reader) keepOrders(orders []useOrder, value func(pos int) *ir.Value) {
	for _, o := range orders {
		o.value = value(o.pos)
		r.orders = append(r.orders, o)
	}
}

// loc reads the location of an op or an argument; nil is an unknown one.
func (r *reader) loc(c *cursor, of string) *ir.Loc {
	at := c.pos
	l, ok := r.attr(c).(*ir.LocAttr)
	if !ok {
		c.failAt(at, "expected the location of %s, found another attribute", of)
	}
	if l.Loc().Kind() == ir.LocUnknown {
		return nil
	}
	return l.Loc()
}

// awaitOperands records the operands of op that are defined later. c reads their numbers.
func (r *reader) awaitOperands(c cursor, op *ir.Op) {
	for i := range op.NumOperands() {
		if n := r.base + int(c.uint()); op.Operand(i) == nil {
			r.later[n] = append(r.later[n], op.OperandUse(i))
		}
	}
}

// define sets v as the value with number i.
func (r *reader) define(i int, v *ir.Value) {
	r.values[i] = v
	if len(r.later) > 0 {
		for _, u := range r.later[i] {
			u.Set(v)
		}
		delete(r.later, i)
	}
}

// region reads a region: the number of its blocks, the number of values defined directly in it, and the blocks.
func (r *reader) region(c *cursor, region *ir.Region) {
	n := c.count()
	if n == 0 {
		return
	}
	at := c.pos
	numValues := c.atMost(at, c.uint(), "%d values")
	first := len(r.values)
	next, last := first, first+numValues
	r.values = append(r.values, make([]*ir.Value, numValues)...)
	define := func(v *ir.Value) {
		if next == last {
			c.fail("more than the %d values that the region announced", numValues)
		}
		r.define(next, v)
		next++
	}
	for len(region.Blocks()) < n {
		region.AddBlock()
	}
	blocks := region.Blocks()
	for _, b := range blocks {
		r.block(c, b, blocks, define)
	}
	if next != last {
		c.fail("the region announced %d values and defines %d", numValues, next-first)
	}
	r.values = r.values[:first]
}

func (r *reader) block(c *cursor, b *ir.Block, blocks []*ir.Block, define func(*ir.Value)) {
	n, hasArgs := c.flagged()
	c.atMost(c.pos, n, "%d operations")
	if hasArgs {
		num := c.count()
		for range num {
			at := c.pos
			t, located := c.uint(), true
			if r.version >= 4 {
				t, located = t>>1, t&1 != 0
			}
			typ := c.below(at, t, len(r.types), "type")
			var loc *ir.Loc
			if located {
				loc = r.loc(c, "an argument")
			}
			define(b.AddArg(r.valueType(c, typ), loc))
		}
		if r.version >= 3 && c.byte() != 0 {
			r.keepOrders(r.useOrders(c, num), b.Arg)
		}
	}
	for range n {
		op := r.op(c, blocks)
		b.Append(op)
		for _, v := range op.Results() {
			define(v)
		}
	}
}

// attributes reads the attributes of an op. Ops with the same name and equal numbers share one list.
func (r *reader) attributes(c *cursor, k *opName, mask byte) *attrList {
	key := attrKey{name: k.number, props: -1, dict: -1}
	if r.translator != nil {
		key.parent = r.parent
	}
	at := c.pos
	if mask&hasAttrs != 0 {
		key.dict = c.index(len(r.attrs), "attribute")
	}
	if mask&hasProperties != 0 {
		key.props = c.index(len(r.props), "property")
	}
	if k.last != nil && k.lastKey == key {
		return k.last
	}
	l := r.lists[key]
	if l == nil {
		x := r.attributeList(c, at, k, key)
		if x.def = k.def; r.translator != nil {
			var err error
			if x.def, x.attrs, err = r.translator.Op(k.def, x.attrs, key.parent); err != nil {
				c.failAt(at, "%s", err)
			}
		}
		l = &x
		r.lists[key] = l
	}
	k.last, k.lastKey = l, key
	return l
}

func (r *reader) attributeList(c *cursor, at int, k *opName, key attrKey) attrList {
	var l attrList
	if key.dict >= 0 {
		d, ok := r.attrs[key.dict].attr.(*ir.DictAttr)
		if !ok {
			c.failAt(at, "expected a dictionary with the attributes of %s, found another attribute", k.name)
		}
		for _, e := range d.Entries() {
			e.Inherent = k.def.Attr(e.Name) != nil
			l.attrs = append(l.attrs, e)
		}
	}
	if key.props >= 0 {
		s := r.props[key.props]
		p := &cursor{r.data, s.pos, s.end}
		switch {
		case !k.registered:
			r.foreignProps(p, k, &l)
		case k.props != nil:
			k.props.read(r, p, &l)
		default:
			p.fail("the properties of %s cannot be read: hlocb does not know the operation", k.name)
		}
		p.done("the properties of " + k.name)
	}
	if k.props != nil {
		l.attrs = k.props.complete(l.attrs)
	}
	sort.SliceStable(l.attrs, func(i, j int) bool { return l.attrs[i].Name < l.attrs[j].Name })
	for i := 1; i < len(l.attrs); i++ {
		if l.attrs[i].Name == l.attrs[i-1].Name {
			c.failAt(at, "%s has two attributes named %q", k.name, l.attrs[i].Name)
		}
	}
	l.attrs = slices.Clip(l.attrs)
	return l
}

// foreignProps reads the properties of an op that the producer did not know. They are one dictionary.
func (r *reader) foreignProps(p *cursor, k *opName, l *attrList) {
	i := p.index(len(r.attrs), "attribute")
	d, ok := r.attrs[i].attr.(*ir.DictAttr)
	if !ok {
		p.fail("expected a dictionary with the properties of %s, found another attribute", k.name)
	}
	for _, e := range d.Entries() {
		e.Inherent = true
		l.attrs = append(l.attrs, e)
	}
}

// useOrders reads the use orders of n values.
func (r *reader) useOrders(c *cursor, n int) []useOrder {
	count := 1
	if n != 1 {
		count = c.count()
	}
	out := make([]useOrder, 0, min(count, n))
	for range count {
		o := useOrder{}
		if n != 1 {
			o.pos = c.index(n, "value")
		}
		if n == 0 {
			c.fail("an order of uses for no value")
		}
		at := c.pos
		num, pairs := c.flagged()
		list := make([]int, c.atMost(at, num, "a list of %d elements"))
		for i := range list {
			list[i] = int(min(c.uint(), 1<<31))
		}
		if pairs {
			list = append(list, -1)
		}
		o.order = list
		out = append(out, o)
	}
	return out
}

// setOrder sorts the uses of a value into the order in the file: use k, counted from the last in the program, becomes
// use order[k], counted from the one added last.
func (r *reader) setOrder(o *useOrder) {
	var uses []*ir.Use
	for u := range o.value.Uses() {
		uses = append(uses, u)
	}
	order := o.order
	if n := len(order); n > 0 && order[n-1] == -1 { // pairs of number and position
		pairs := order[:n-1]
		order = make([]int, len(uses))
		for i := range order {
			order[i] = i
		}
		if len(pairs)%2 != 0 {
			r.fail("an order of uses in pairs has %d numbers", len(pairs))
		}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] >= len(order) {
				r.fail("use %d, but the value has %d", pairs[i+1], len(order))
			}
			order[pairs[i+1]] = pairs[i]
		}
	}
	if len(order) != len(uses) {
		r.fail("an order of %d uses, but the value has %d", len(order), len(uses))
	}
	n := len(uses)
	sorted := make([]*ir.Use, n)
	for k, i := range order {
		if i >= n || sorted[n-1-i] != nil {
			r.fail("an order of uses is not a permutation")
		}
		sorted[n-1-i] = uses[n-1-k]
	}
	o.value.SortUses(sorted)
}
