package bytecode

import (
	"sort"

	"github.com/hlocb/hlocb/ir"
)

// Names of the attributes that hold the number of values in each operand or result group of an op.
const (
	operandSegments = "operandSegmentSizes"
	resultSegments  = "resultSegmentSizes"
)

// propTable describes how the properties of an op kind are stored: its inherent attributes sorted by name, then the
// sizes of the operand and result groups.
type propTable struct {
	attrs    []propSpec
	segments []segment
	late     bool        // some attributes are late, see ir.AttrSpec
	always   ir.AttrList // attributes that every op of the kind has, as long as it has no others
}

// segment is an attribute that holds the number of values in each operand or result group.
type segment struct {
	name string
	num  int // operands or results in the row
}

type propSpec struct {
	name     string
	optional bool    // stored with a flag that says if it is present
	late     bool    // see ir.AttrSpec
	fallback ir.Attr // value if an op omits the attribute, nil for none
}

// newPropTable returns the table of an op kind, nil if reg does not know its inherent attributes. Before version 6, the
// sizes of the operand and result groups were ordinary attributes.
func newPropTable(reg *ir.Registry, def *ir.Def, version int) *propTable {
	if !def.Known() && reg.Lookup(def.Name) == nil {
		return nil
	}
	t := &propTable{}
	if def.Traits&ir.AttrSizedOperands != 0 {
		t.segments = append(t.segments, segment{operandSegments, len(def.Operands)})
	}
	if def.Traits&ir.AttrSizedResults != 0 {
		t.segments = append(t.segments, segment{resultSegments, len(def.Results)})
	}
	if version < 6 {
		for _, s := range t.segments {
			t.attrs = append(t.attrs, propSpec{name: s.name})
		}
		t.segments = nil
	}
	for i := range def.Attrs {
		a := &def.Attrs[i]
		if a.Name == operandSegments || a.Name == resultSegments {
			continue
		}
		p := propSpec{name: a.Name, optional: a.Optional || a.Default != nil, late: a.Late}
		if a.Default != nil && !a.Optional {
			p.fallback = a.Default
		}
		t.late = t.late || p.late
		t.attrs = append(t.attrs, p)
	}
	sort.Slice(t.attrs, func(i, j int) bool { return t.attrs[i].name < t.attrs[j].name })
	t.always = t.complete(nil)
	return t
}

// complete adds the attributes that every op of the kind has.
func (t *propTable) complete(list ir.AttrList) ir.AttrList {
	for i := range t.attrs {
		if p := &t.attrs[i]; p.fallback != nil && list.Get(p.name) == nil {
			list = append(list, ir.NamedAttr{Name: p.name, Attr: p.fallback, Inherent: true})
		}
	}
	return list
}

// read adds the attributes in properties to a list. An older version of the dialect wrote them without the late
// attributes.
func (t *propTable) read(r *reader, c *cursor, l *attrList) {
	if !t.late {
		t.readAll(r, c, l, true)
		return
	}
	before, pos := *l, c.pos
	if !t.tryLate(r, c, l) {
		*l, c.pos = before, pos
		t.readAll(r, c, l, false)
	}
}

// tryLate reads properties that include the late attributes, and reports whether it used exactly all bytes.
func (t *propTable) tryLate(r *reader, c *cursor, l *attrList) (ok bool) {
	defer func() {
		if x := recover(); x != nil {
			if _, isFault := x.(fault); !isFault {
				panic(x)
			}
		}
	}()
	t.readAll(r, c, l, true)
	return c.empty()
}

func (t *propTable) readAll(r *reader, c *cursor, l *attrList, late bool) {
	add := func(name string, i int) {
		l.attrs = append(l.attrs, ir.NamedAttr{Name: name, Attr: r.attrs[i].attr, Inherent: true})
	}
	for i := range t.attrs {
		p := &t.attrs[i]
		if p.late && !late {
			continue
		}
		if !p.optional {
			add(p.name, c.index(len(r.attrs), "attribute"))
			continue
		}
		at := c.pos
		n, ok := c.flagged()
		if ok {
			add(p.name, c.below(at, n, len(r.attrs), "attribute"))
		}
	}
	for _, s := range t.segments {
		l.attrs = append(l.attrs, ir.NamedAttr{Name: s.name, Attr: r.sizes(c, s.num), Inherent: true})
	}
}

// sizes reads num group sizes: either all of them, or the nonzero ones with their positions.
func (r *reader) sizes(c *cursor, num int) ir.Attr {
	list := make([]int64, num)
	at := c.pos
	n, sparse := c.flagged()
	if n > uint64(num) || !sparse && n != uint64(num) {
		c.failAt(at, "%d numbers of operands or results, but there are %d groups", n, num)
	}
	bits := uint64(0)
	if sparse && n > 0 {
		if bits = c.uint(); bits > 32 {
			c.fail("positions of %d bits", bits)
		}
	}
	for i := range int(n) {
		v := c.uint()
		if sparse {
			if i = int(v & (1<<bits - 1)); i >= num {
				c.fail("a number for group %d, but there are %d", i, num)
			}
			v >>= bits
		}
		if v >= 1<<31 {
			c.fail("a group of %d operands or results", v)
		}
		list[i] = int64(v)
	}
	return ir.NewDenseArray(ir.Int(32), list)
}

// appendSizes appends group sizes in the shorter of the two forms, like MLIR's writer.
func appendSizes(b []byte, list []int64) []byte {
	count, last := 0, 0
	for i, v := range list {
		if v != 0 {
			count++
			last = i
		}
	}
	if last > 256 || count > len(list)/2 {
		b = appendFlagged(b, uint64(len(list)), false)
		for _, v := range list {
			b = appendUint(b, uint64(v))
		}
		return b
	}
	b = appendFlagged(b, uint64(count), true)
	if count == 0 {
		return b
	}
	bits := 0
	for 1<<bits < last+1 {
		bits++
	}
	b = appendUint(b, uint64(bits))
	for i, v := range list {
		if v != 0 {
			b = appendUint(b, uint64(v)<<bits|uint64(i))
		}
	}
	return b
}

// index returns the position of an attribute among the properties, or -1 if it is not a property.
func (t *propTable) index(name string) int {
	for i := range t.attrs {
		if t.attrs[i].name == name {
			return i
		}
	}
	return -1
}

func (t *propTable) segment(name string) int {
	for i := range t.segments {
		if t.segments[i].name == name {
			return i
		}
	}
	return -1
}
