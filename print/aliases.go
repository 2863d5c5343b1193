package print

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// aliases are the names of the attributes, types and locations that MLIR defines separately: #map, !tuple, #loc1. They
// are numbered in the order of MLIR's AliasInitializer: by depth (an alias comes after the aliases it uses), then by
// name, then by first use in printing order.
type aliases struct {
	p       *printer
	visited int32 // number of entries visited
	sorted  []int32
	attrs   map[string]*alias
	types   map[ir.Type]*alias
	others  []*alias         // the aliases in attrs and types, in the order of visits
	plain   map[ir.Type]bool // types known to need no alias
	depths  map[attrVisit]int32
	locs    locAliases
}

// attrVisit is a visit of an array or dictionary, which many others can contain.
type attrVisit struct {
	attr ir.Attr
	late bool
}

// alias is an attribute or type with an alias.
type alias struct {
	attr ir.Attr
	typ  ir.Type
	kind string // "map", ...
	name string
	rank
}

// rank determines the position of an alias in the order.
type rank struct {
	seq  int32 // its position among all visited entries; for a location, its number once known
	bits uint32
}

// Bits of a rank, below the depth.
const (
	isLate    = 1 << iota // may be defined after its uses
	isLoc                 // a location that is not a source position
	depthUnit             // depth 1
)

func (r *rank) is(bit uint32) bool { return r.bits&bit != 0 }
func (r *rank) depth() int32       { return int32(r.bits / depthUnit) }
func (r *rank) deepen(depth int32) { r.bits = r.bits%depthUnit | uint32(depth)*depthUnit }

func (r *rank) setLate(late bool) {
	r.bits &^= isLate
	if late {
		r.bits |= isLate
	}
}

func newAliases(p *printer) *aliases {
	a := &aliases{
		p:     p,
		attrs: map[string]*alias{},
		types: map[ir.Type]*alias{},
		plain: map[ir.Type]bool{},

		depths: map[attrVisit]int32{},
	}
	a.locs.p = p
	return a
}

// visitedAny reports whether anything was visited.
func (a *aliases) visitedAny() bool { return a.visited > 0 }

// visit assigns a sequence number to r, the rank of an entry that is visited for the first time.
func (a *aliases) visit(r *rank, late bool) {
	r.seq = a.visited
	r.deepen(1)
	r.setLate(late)
	a.visited++
}

// collectAliases prints op once to find the entries that need aliases, and names the aliases.
func (p *printer) collectAliases(op *ir.Op) {
	a := newAliases(p)
	p.aliases = a
	p.collect = true
	p.text.AttrAlias, p.text.TypeAlias, p.text.LocAlias = nil, nil, nil
	buf, indent := p.buf, p.indent
	p.buf = nil
	p.op(op)
	p.buf, p.indent = buf, indent
	p.collect = false
	a.assign()
	p.text.AttrAlias, p.text.TypeAlias, p.text.LocAlias = a.attrName, a.typeName, a.locName
}

// Classes of aliases of the same depth, in the order of their definitions: types first, then the rest by name.
const (
	classTuple = iota
	classDistinct
	classLoc
	classMap
	classSet
	classes
)

func (al *alias) class() int {
	switch al.kind {
	case "tuple":
		return classTuple
	case "distinct":
		return classDistinct
	case "map":
		return classMap
	}
	return classSet
}

// assign numbers the visited entries. It sorts them by depth and class; otherwise they keep the order of visits. An
// entry of sorted is the index of a location, or the complement of an index into others.
func (a *aliases) assign() {
	visited := make([]int32, a.visited)
	deepest := int32(0)
	for i, x := range a.others {
		visited[x.seq] = ^int32(i)
		deepest = max(deepest, x.depth())
	}
	for i := range a.locs.list.count {
		if x := a.locs.at(i); x.depth() > 0 {
			visited[x.seq] = i
			deepest = max(deepest, x.depth())
		}
	}
	key := func(i int32) int {
		if i < 0 {
			x := a.others[^i]
			return int(x.depth())*classes + x.class()
		}
		return int(a.locs.at(i).depth())*classes + classLoc
	}
	starts := make([]int32, (int(deepest)+1)*classes+1)
	for _, i := range visited {
		starts[key(i)+1]++
	}
	for k := 1; k < len(starts); k++ {
		starts[k] += starts[k-1]
	}
	a.sorted = make([]int32, len(visited))
	for _, i := range visited {
		k := key(i)
		a.sorted[starts[k]] = i
		starts[k]++
	}
	counts := [classes]int32{}
	for _, i := range a.sorted {
		if i >= 0 {
			a.locs.at(i).seq = counts[classLoc]
			counts[classLoc]++
			continue
		}
		x := a.others[^i]
		n := counts[x.class()]
		counts[x.class()]++
		x.name = "#" + x.kind
		if x.typ != nil {
			x.name = "!" + x.kind
		}
		if n > 0 {
			x.name += strconv.Itoa(int(n))
		}
	}
}

// print writes the definitions that come before the op or, if late is set, those that come after it.
func (a *aliases) print(p *printer, late bool) {
	for _, i := range a.sorted {
		if i >= 0 {
			x := a.locs.at(i)
			if x.is(isLate) != late {
				continue
			}
			p.buf = append(a.locs.appendName(p.buf, i), " = loc("...)
			if l := a.locs.loc(x); l == nil {
				p.place(diag.Pos(x.place))
			} else {
				p.buf = p.text.AppendLocDef(p.buf, l)
			}
			p.buf = append(p.buf, ")\n"...)
			p.spill()
			continue
		}
		x := a.others[^i]
		if x.is(isLate) != late {
			continue
		}
		p.buf = append(append(p.buf, x.name...), " = "...)
		if x.typ != nil {
			p.text.TypeAlias = func(t ir.Type) string {
				if t == x.typ {
					return ""
				}
				return a.typeName(t)
			}
			p.buf = p.text.AppendType(p.buf, x.typ)
			p.text.TypeAlias = a.typeName
		} else {
			p.buf = append(p.buf, x.attr.String()...)
		}
		p.buf = append(p.buf, '\n')
		p.spill()
	}
}

func (a *aliases) attrName(x ir.Attr) string {
	o, ok := x.(*ir.OpaqueAttr)
	if !ok {
		return ""
	}
	if al := a.attrs[o.String()]; al != nil {
		return al.name
	}
	return ""
}

func (a *aliases) typeName(t ir.Type) string {
	if al := a.types[t]; al != nil {
		return al.name
	}
	return ""
}

func (a *aliases) locName(b []byte, l *ir.Loc) ([]byte, bool) {
	return a.locs.appendName(b, a.locs.canonical(l)), true
}

// appendPlace appends the alias of l or, if l is nil, of pos.
func (a *aliases) appendPlace(b []byte, l *ir.Loc, pos diag.Pos) []byte {
	return a.locs.appendName(b, a.locs.of(l, pos))
}

// attrKind returns the alias name of an attribute, or "".
func attrKind(x ir.Attr) string {
	o, ok := x.(*ir.OpaqueAttr)
	if !ok {
		return ""
	}
	switch text := o.String(); {
	case strings.HasPrefix(text, "affine_map"):
		return "map"
	case strings.HasPrefix(text, "affine_set"):
		return "set"
	case strings.HasPrefix(text, "distinct"):
		return "distinct"
	}
	return ""
}

// largeTuple is the number of elements above which a tuple type gets an alias.
const largeTuple = 16

// detectAttrAlias and detectTypeAlias are the alias functions of a first attempt without aliases. They only record
// whether any alias is needed.
func (p *printer) detectAttrAlias(x ir.Attr) string {
	switch x.(type) {
	case *ir.LocAttr:
		p.retry = true
	case *ir.OpaqueAttr:
		if attrKind(x) != "" {
			p.retry = true
		}
	}
	return ""
}

func (p *printer) detectTypeAlias(t ir.Type) string {
	if tuple, ok := t.(*ir.TupleType); ok && len(tuple.Elems()) > largeTuple {
		p.retry = true
	}
	return ""
}

// visitAttr visits everything in x that needs an alias and returns the depth of x.
func (a *aliases) visitAttr(x ir.Attr, late bool) int32 {
	switch x := x.(type) {
	case *ir.OpaqueAttr:
		kind := attrKind(x)
		if kind == "" {
			return 0
		}
		al := a.attrs[x.String()]
		if al == nil {
			al = &alias{attr: x, kind: kind}
			a.visit(&al.rank, late)
			a.attrs[x.String()] = al
			a.others = append(a.others, al)
		}
		al.setLate(al.is(isLate) && late)
		return al.depth()
	case *ir.ArrayAttr:
		depth, visited := a.depths[attrVisit{x, late}]
		if !visited {
			for _, e := range x.Elems() {
				depth = max(depth, a.visitAttr(e, late))
			}
			depth = depthAbove(depth)
			a.depths[attrVisit{x, late}] = depth
		}
		return depth
	case *ir.DictAttr:
		depth, visited := a.depths[attrVisit{x, late}]
		if !visited {
			for _, e := range x.Entries() {
				depth = max(depth, a.visitAttr(e.Attr, late))
			}
			depth = depthAbove(depth)
			a.depths[attrVisit{x, late}] = depth
		}
		return depth
	case *ir.TypeAttr:
		return depthAbove(a.visitType(x.Type(), late))
	case *ir.LocAttr:
		return a.visitLoc(a.locs.canonical(x.Loc()), late)
	case *ir.DenseAttr:
		return depthAbove(a.visitType(x.Type(), late))
	}
	return 0
}

// depthAbove returns the depth of an entry that contains an entry of the given depth.
func depthAbove(depth int32) int32 {
	if depth == 0 {
		return 0
	}
	return depth + 1
}

// visitType visits everything in t that needs an alias and returns the depth of t. If an entry was first visited as one
// that may be defined after its uses, and now it may not, visitType visits the entry and its contents again.
func (a *aliases) visitType(t ir.Type, late bool) int32 {
	if a.plain[t] {
		return 0
	}
	al := a.types[t]
	if al != nil && (late || !al.is(isLate)) {
		return al.depth()
	}
	depth := int32(0)
	switch t := t.(type) {
	case *ir.TupleType:
		if len(t.Elems()) > largeTuple {
			if al == nil {
				al = &alias{typ: t, kind: "tuple"}
				a.visit(&al.rank, late)
				a.types[t] = al
				a.others = append(a.others, al)
			}
			al.setLate(late)
		}
		for _, e := range t.Elems() {
			depth = max(depth, a.visitType(e, late))
		}
		depth = depthAbove(depth)
		if al != nil {
			al.deepen(max(al.depth(), depth))
			return al.depth()
		}
	case *ir.FunctionType:
		for _, e := range t.Inputs() {
			depth = max(depth, a.visitType(e, late))
		}
		for _, e := range t.Results() {
			depth = max(depth, a.visitType(e, late))
		}
		depth = depthAbove(depth)
	case *ir.TensorType:
		if t.Encoding() != nil {
			depth = depthAbove(a.visitAttr(t.Encoding(), late))
		}
	}
	if depth == 0 {
		a.plain[t] = true
	}
	return depth
}

// visitPlace visits l or, if l is nil, pos.
func (a *aliases) visitPlace(l *ir.Loc, pos diag.Pos, late bool) { a.visitLoc(a.locs.of(l, pos), late) }

// visitLoc visits a location.
func (a *aliases) visitLoc(i int32, late bool) int32 {
	x := a.locs.at(i)
	if x.depth() > 0 && (late || !x.is(isLate)) {
		return x.depth()
	}
	if x.depth() == 0 {
		a.visit(&x.rank, late)
	}
	x.setLate(late)
	l := a.locs.loc(x)
	if l == nil {
		return x.depth()
	}
	depth := int32(0)
	if m := l.Metadata(); m != nil {
		depth = max(depth, a.visitAttr(m, late))
	}
	for _, c := range l.Children() {
		if l.Kind() == ir.LocName && c.Kind() == ir.LocUnknown {
			continue
		}
		depth = max(depth, a.visitLoc(a.locs.canonical(c), late))
	}
	x = a.locs.at(i) // fetched again: the list is copied when it grows while short
	if depth > 0 {
		x.deepen(depth + 1)
	}
	return x.depth()
}
