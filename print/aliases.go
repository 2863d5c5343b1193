package print

import (
	"sort"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// aliases are the names given to attributes, types and locations that MLIR writes apart: #map, !tuple, #loc1. The
// order of numbering is that of MLIR's AliasInitializer: by depth (an alias that uses others comes after them), then
// by name, then by first use in the order of printing.
type aliases struct {
	p       *printer
	visited []*alias
	list    []*alias // in the order of definition
	attrs   map[string]*alias
	types   map[ir.Type]*alias
	locs    map[*ir.Loc]*alias // by every location seen
	canon   map[string]*alias  // by structure
	plain   map[ir.Type]bool   // types known to need no alias
}

// alias is one attribute, type or location that was visited; name is "" where it gets no alias of its own.
type alias struct {
	attr     ir.Attr
	typ      ir.Type
	loc      *ir.Loc
	kind     string // "loc", "map", ...; "" for none
	name     string
	depth    int
	late     bool // may be defined behind its uses
	children []*alias
	key      string
}

func newAliases(p *printer) *aliases {
	return &aliases{
		p:     p,
		attrs: map[string]*alias{},
		types: map[ir.Type]*alias{},
		locs:  map[*ir.Loc]*alias{},
		canon: map[string]*alias{},
		plain: map[ir.Type]bool{},
	}
}

// collectAliases prints op once to see what would be printed, and names the aliases.
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

// assign numbers what was visited.
func (a *aliases) assign() {
	for _, x := range a.visited {
		if x.kind != "" {
			a.list = append(a.list, x)
		}
	}
	sort.SliceStable(a.list, func(i, j int) bool {
		x, y := a.list[i], a.list[j]
		if x.depth != y.depth {
			return x.depth < y.depth
		}
		if (x.typ != nil) != (y.typ != nil) {
			return x.typ != nil
		}
		return x.kind < y.kind
	})
	counts := map[string]int{}
	for _, x := range a.list {
		n := counts[x.kind]
		counts[x.kind]++
		x.name = "#" + x.kind
		if x.typ != nil {
			x.name = "!" + x.kind
		}
		if n > 0 {
			x.name += strconv.Itoa(n)
		}
	}
}

// print writes the definitions that stand in front of the op, or those behind it.
func (a *aliases) print(p *printer, late bool) {
	for _, x := range a.list {
		if x.late != late {
			continue
		}
		p.buf = append(p.buf, x.name...)
		p.buf = append(p.buf, " = "...)
		switch {
		case x.loc != nil:
			p.buf = append(p.buf, "loc("...)
			p.buf = p.text.AppendLocDef(p.buf, x.loc)
			p.buf = append(p.buf, ')')
		case x.typ != nil:
			p.text.TypeAlias = func(t ir.Type) string {
				if t == x.typ {
					return ""
				}
				return a.typeName(t)
			}
			p.buf = p.text.AppendType(p.buf, x.typ)
			p.text.TypeAlias = a.typeName
		default:
			p.buf = append(p.buf, x.attr.(*ir.OpaqueAttr).Text()...)
		}
		p.buf = append(p.buf, '\n')
	}
}

func (a *aliases) attrName(x ir.Attr) string {
	o, ok := x.(*ir.OpaqueAttr)
	if !ok {
		return ""
	}
	if al := a.attrs[o.Text()]; al != nil {
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

func (a *aliases) locName(l *ir.Loc) string {
	return a.canonical(l).name
}

// attrKind returns the alias name of an attribute, "" for none.
func attrKind(x ir.Attr) string {
	o, ok := x.(*ir.OpaqueAttr)
	if !ok {
		return ""
	}
	switch text := o.Text(); {
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

// noticeAttr and noticeType are the alias functions of a first attempt without aliases: they only tell whether some
// are needed.
func (p *printer) noticeAttr(x ir.Attr) string {
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

func (p *printer) noticeType(t ir.Type) string {
	if tuple, ok := t.(*ir.TupleType); ok && len(tuple.Elems()) > largeTuple {
		p.retry = true
	}
	return ""
}

// visitAttr looks for what needs an alias in x and returns its depth.
func (a *aliases) visitAttr(x ir.Attr, late bool, parent *alias) int {
	switch x := x.(type) {
	case *ir.OpaqueAttr:
		kind := attrKind(x)
		if kind == "" {
			return 0
		}
		al := a.attrs[x.Text()]
		if al == nil {
			al = &alias{attr: x, kind: kind, depth: 1, late: late}
			a.attrs[x.Text()] = al
			a.visited = append(a.visited, al)
		} else if !late {
			al.early()
		}
		al.under(parent)
		return al.depth
	case *ir.ArrayAttr:
		depth := 0
		for _, e := range x.Elems() {
			depth = max(depth, a.visitAttr(e, late, parent))
		}
		return above(depth)
	case *ir.DictAttr:
		depth := 0
		for _, e := range x.Entries() {
			depth = max(depth, a.visitAttr(e.Attr, late, parent))
		}
		return above(depth)
	case *ir.TypeAttr:
		return above(a.visitType(x.Type(), late, parent))
	case *ir.LocAttr:
		return a.visitLocIn(x.Loc(), late, parent)
	case *ir.DenseAttr:
		return above(a.visitType(x.Type(), late, parent))
	}
	return 0
}

// above returns the depth of what contains something of the given depth.
func above(depth int) int {
	if depth == 0 {
		return 0
	}
	return depth + 1
}

func (al *alias) under(parent *alias) {
	if parent != nil {
		parent.children = append(parent.children, al)
	}
}

// early makes the alias and all it uses stand in front of the op.
func (al *alias) early() {
	if !al.late {
		return
	}
	al.late = false
	for _, c := range al.children {
		c.early()
	}
}

// visitType looks for what needs an alias in t and returns its depth.
func (a *aliases) visitType(t ir.Type, late bool, parent *alias) int {
	if a.plain[t] {
		return 0
	}
	if al := a.types[t]; al != nil {
		if !late {
			al.early()
		}
		al.under(parent)
		return al.depth
	}
	depth := 0
	switch t := t.(type) {
	case *ir.TupleType:
		var al *alias
		if len(t.Elems()) > largeTuple {
			al = &alias{typ: t, kind: "tuple", depth: 1, late: late}
			a.types[t] = al
			a.visited = append(a.visited, al)
		}
		for _, e := range t.Elems() {
			depth = max(depth, a.visitType(e, late, al))
		}
		depth = above(depth)
		if al != nil {
			al.depth = max(al.depth, depth)
			al.under(parent)
			return al.depth
		}
	case *ir.FunctionType:
		for _, e := range t.Inputs() {
			depth = max(depth, a.visitType(e, late, parent))
		}
		for _, e := range t.Results() {
			depth = max(depth, a.visitType(e, late, parent))
		}
		depth = above(depth)
	case *ir.TensorType:
		if t.Encoding() != nil {
			depth = above(a.visitAttr(t.Encoding(), late, parent))
		}
	}
	if depth == 0 {
		a.plain[t] = true
	}
	return depth
}

func (a *aliases) visitLoc(l *ir.Loc, late bool) { a.visitLocIn(l, late, nil) }

// visitLocIn visits a location; equal ones are one.
func (a *aliases) visitLocIn(l *ir.Loc, late bool, parent *alias) int {
	al := a.canonical(l)
	if al.depth > 0 {
		if !late {
			al.early()
		}
		al.under(parent)
		return al.depth
	}
	al.depth, al.late, al.kind = 1, late, "loc"
	a.visited = append(a.visited, al)
	depth := 0
	if al.loc.Kind() == ir.LocFused && al.loc.Metadata() != nil {
		depth = max(depth, a.visitAttr(al.loc.Metadata(), late, al))
	}
	for _, c := range al.loc.Children() {
		if al.loc.Kind() == ir.LocName && c.Kind() == ir.LocUnknown {
			continue
		}
		depth = max(depth, a.visitLocIn(c, late, al))
	}
	if depth > 0 {
		al.depth = depth + 1
	}
	al.under(parent)
	return al.depth
}

// canonical returns the entry that all locations equal to l share, without visiting it.
func (a *aliases) canonical(l *ir.Loc) *alias {
	if al := a.locs[l]; al != nil {
		return al
	}
	b := []byte{byte(l.Kind())}
	switch l.Kind() {
	case ir.LocUnknown:
	case ir.LocFile:
		line, col := l.Start()
		b = strconv.AppendUint(append(b, ' '), uint64(line), 10)
		b = strconv.AppendUint(append(b, ' '), uint64(col), 10)
		line, col = l.End()
		b = strconv.AppendUint(append(b, ' '), uint64(line), 10)
		b = strconv.AppendUint(append(b, ' '), uint64(col), 10)
		b = append(b, l.Name()...)
	default:
		if l.Kind() == ir.LocFused && l.Metadata() != nil {
			b = append(b, l.Metadata().String()...)
		}
		for _, c := range l.Children() {
			b = append(b, ' ')
			b = append(b, a.canonical(c).key...)
		}
		b = append(b, '"')
		if l.Kind() != ir.LocCallSite && l.Kind() != ir.LocFused {
			b = append(b, l.Name()...)
		}
	}
	al := a.canon[string(b)]
	if al == nil {
		al = &alias{loc: l, key: strconv.Itoa(len(a.canon))}
		a.canon[string(b)] = al
	}
	a.locs[l] = al
	return al
}
