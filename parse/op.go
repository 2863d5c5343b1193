package parse

import (
	"math"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// resultName is one %name or %name:n in front of an op.
type resultName struct {
	name []byte
	n    int32
	pos  diag.Pos
}

// operation reads one op and appends it to block.
func (p *parser) operation(block *ir.Block) *ir.Op {
	var buf [4]resultName
	names := buf[:0]
	if p.tok.kind == tokPercent {
		// One name, written as printers write it, is what nearly every op has.
		if src, end := p.lexer.src, p.tok.end; end+3 < len(src) && string(src[end:end+3]) == " = " {
			names = append(names, resultName{p.text()[1:], 1, p.Pos()})
			p.lexAt(end + 3)
		} else {
			names = p.resultNames(names)
		}
	}
	var op *ir.Op
	switch p.tok.kind {
	case tokString:
		op = p.generic()
	case tokWord:
		op = p.pretty(names)
	default:
		p.wrong("expected operation name in quotes")
	}
	if len(names) > 0 {
		p.bindResults(op, names)
	}
	block.Append(op)
	return op
}

// resultNames reads %a, %b:2 = in front of an op.
func (p *parser) resultNames(names []resultName) []resultName {
	for {
		if p.tok.kind != tokPercent {
			p.Errorf("expected valid ssa identifier")
		}
		r := resultName{p.text()[1:], 1, p.Pos()}
		p.next()
		if p.is(':') {
			p.next()
			at := p.Pos()
			n, ok := p.unsignedInteger()
			if !ok || n < 1 || n > math.MaxInt32 {
				p.ErrorfAt(at, "expected named operation to have at least 1 result")
			}
			r.n = int32(n)
		}
		names = append(names, r)
		if !p.is(',') {
			break
		}
		p.next()
	}
	p.expectIn('=', "expected '=' after SSA name")
	return names
}

func (p *parser) bindResults(op *ir.Op, names []resultName) {
	if op.NumResults() == 0 {
		p.ErrorfAt(names[0].pos, "cannot name an operation with no results")
	}
	total := int64(0)
	for _, r := range names {
		total += int64(r.n)
	}
	if int(total) != op.NumResults() {
		p.ErrorfAt(names[0].pos, "operation defines %d results but was provided %d to bind", op.NumResults(), total)
	}
	base := int32(0)
	for _, r := range names {
		if c := r.name[0]; c > '9' || c < '0' {
			op.Result(int(base)).SetName(str(r.name))
		}
		p.bind(r.name, binding{val: op.Result(int(base)), n: r.n, pos: r.pos})
		base += r.n
	}
}

// kind returns what is known of the op named name.
func (p *parser) kind(name []byte) *opKind {
	slot := &p.recent[kindSlot(name)]
	if k := *slot; k != nil && k.name == string(name) {
		return k
	}
	k := p.kinds[string(name)]
	if k == nil {
		def := p.m.Def(string(name))
		k = &opKind{name: def.Name, def: def}
		if p.reg != nil {
			k.format = p.reg.Format(k.def)
			k.quick = newQuick(k.def, k.format)
		}
		for i := range k.def.Attrs {
			if a := &k.def.Attrs[i]; a.Default != nil && !a.Optional {
				k.defaults = append(k.defaults, a)
			}
		}
		if def.Known() { // of the others there can be as many as ops, and nothing is known
			p.kinds[k.name] = k
		}
	}
	*slot = k
	return k
}

// kindSlot spreads op names over the table of those used last.
func kindSlot(name []byte) int {
	n := len(name)
	if n < 4 {
		return n
	}
	return (n*31 + int(name[n-1])*7 + int(name[n-2])*3 + int(name[n-4])) % kindSlots
}

// enter returns a frame for an op; the caller gives it back with p.level--.
func (p *parser) enter(def *ir.Def, pos diag.Pos) *frame {
	if p.level == len(p.frames) {
		p.frames = append(p.frames, &frame{})
	}
	f := p.frames[p.level]
	p.level++
	// Field by field: most are empty already, and every pointer written costs.
	st := &f.st
	st.Def, st.Pos, st.Regions = def, pos, 0
	st.Operands, st.Types, st.Bodies = st.Operands[:0], st.Types[:0], st.Bodies[:0]
	if st.Attrs != nil {
		st.Attrs = nil
	}
	if st.Successors != nil {
		st.Successors = nil
	}
	if st.Verbatim != nil {
		st.Verbatim = nil
	}
	if st.Loc != nil {
		st.Loc = nil
	}
	f.uses = f.uses[:0]
	return f
}

// finish makes the op of a frame and reads its location.
func (p *parser) finish(f *frame, defaults []*ir.AttrSpec) *ir.Op {
	for _, a := range defaults {
		if f.st.Attrs.Get(a.Name) == nil {
			p.setInherent(&f.st, a.Name, a.Default)
		}
	}
	if p.tok.kind == tokWord && string(p.text()) == "loc" {
		f.st.Loc = p.trailingLoc()
	}
	op := p.m.NewOp(&f.st)
	p.level--
	return op
}

// generic reads "name"(%a)[^bb]<{...}>({...}){...} : (T) -> R.
func (p *parser) generic() *ir.Op {
	pos := p.Pos()
	name := p.text()[1 : p.tok.end-p.tok.start-1]
	if len(name) == 0 {
		p.Errorf("empty operation name is invalid")
	}
	for _, c := range name {
		if c == '\\' || c == 0 {
			p.Errorf("invalid operation name")
		}
	}
	k := p.kind(name)
	f := p.enter(k.def, pos)
	st := &f.st
	p.next()
	p.expectIn('(', "expected '(' to start operand list")
	f.uses = p.operands(f.uses)
	p.expectIn(')', "expected ')' to end operand list")
	if p.is('[') {
		p.next()
		if p.is(']') {
			p.Errorf("expected block name")
		}
		for {
			s := p.ParseSuccessor()
			st.Successors = append(roomy(p, st.Successors), s)
			if !p.is(',') {
				break
			}
			p.next()
		}
		p.expectIn(']', "expected ']' in successor list")
	}
	if p.is('<') {
		p.next()
		if !p.is('{') {
			p.Errorf("expected '{' to start properties")
		}
		p.attrDict(st, true)
		p.expectIn('>', "expected '>' to close properties")
	}
	if p.is('(') {
		p.next()
		for {
			st.Bodies = append(st.Bodies, p.ParseRegion())
			if !p.is(',') {
				break
			}
			p.next()
		}
		p.expectIn(')', "expected ')' to end region list")
	}
	if p.is('{') {
		p.attrDict(st, false)
	}
	p.expectIn(':', "expected ':' followed by operation type")
	typePos := p.Pos()
	if !p.is('(') {
		p.Errorf("expected function type")
	}
	p.next()
	f.types = f.types[:0]
	if !p.is(')') {
		f.types = p.typeList(f.types)
	}
	p.expectIn(')', "expected ')' in function type")
	p.expectIn(punctArrow, "expected '->' in function type")
	if p.is('(') {
		st.Types = p.parenTypes(st.Types)
	} else {
		st.Types = append(st.Types, p.ParseType())
	}
	if len(f.types) != len(f.uses) {
		plural := "s"
		if len(f.uses) == 1 {
			plural = ""
		}
		p.ErrorfAt(typePos, "expected %d operand type%s but had %d", len(f.uses), plural, len(f.types))
	}
	for i, o := range f.uses {
		st.Operands = append(st.Operands, p.ResolveOperand(o, f.types[i]))
	}
	return p.finish(f, k.defaults)
}

// pretty reads an op in the form that its definition gives it.
func (p *parser) pretty(names []resultName) *ir.Op {
	pos := p.Pos()
	k := p.prettyKind()
	if k == nil {
		return p.verbatim(p.foreign(), names)
	}
	if k.quick != nil && !p.general {
		if op := p.quick(k); op != nil {
			p.quickly++
			return op
		}
	}
	p.next()
	f := p.enter(k.def, pos)
	if k.def.Parse != nil {
		k.def.Parse(p.hooks, &f.st)
	} else {
		p.format(k.format, f)
	}
	return p.finish(f, k.defaults)
}

// prettyKind returns the kind that the word in front of a pretty op names, nil where it is one of a dialect that nobody
// registered.
func (p *parser) prettyKind() *opKind {
	name := p.text()
	if k := p.recent[kindSlot(name)]; k != nil && k.name == string(name) && k.quick != nil {
		return k
	}
	if strings.IndexByte(str(name), '.') >= 0 {
		if k := p.kind(name); k.def.Known() {
			return p.needForm(k)
		}
	}
	full := p.defaults[len(p.defaults)-1]
	tried := ""
	if full != "" && strings.IndexByte(str(name), '.') < 0 {
		full += "." + string(name)
		if k := p.kind([]byte(full)); k.def.Known() {
			return p.needForm(k)
		}
		tried = " (tried '" + full + "' as well)"
	}
	// module and func.func are read by their own names in every region.
	if k := p.kind([]byte("builtin." + string(name))); k.def.Known() && string(name) == "module" {
		return p.needForm(k)
	}
	if p.foreign() != nil {
		return nil
	}
	p.unknownOp(string(name), tried)
	panic("unreachable")
}

func (p *parser) needForm(k *opKind) *opKind {
	if k.def.Parse == nil && k.format == nil {
		p.Errorf("'%s' op has no custom assembly form", k.name)
	}
	return k
}

// attrDict reads {a = x, b} into st. In generic form without <{...}> the inherent attributes of a known op stand
// among the others.
func (p *parser) attrDict(st *ir.OpState, properties bool) {
	p.expectIn('{', "expected '{' in attribute dictionary")
	if p.is('}') {
		p.next()
		return
	}
	known := st.Def.Known()
	mark := len(p.scratch)
	var seen map[string]bool // of many, their names
	for {
		name := p.attrName()
		pos := diag.At(p.tok.start)
		p.next()
		a := p.attrValue()
		if n := len(p.scratch) - mark; n >= 16 {
			if seen == nil {
				seen = make(map[string]bool, 32)
				for _, old := range p.scratch[mark:] {
					seen[old.Name] = true
				}
			}
			if seen[name] {
				p.ErrorfAt(pos, "duplicate key '%s' in dictionary attribute", name)
			}
			seen[name] = true
		} else if ir.AttrList(p.scratch[mark:]).Get(name) != nil {
			p.ErrorfAt(pos, "duplicate key '%s' in dictionary attribute", name)
		}
		inherent := properties
		if known {
			inherent = st.Def.IsInherent(name)
		}
		p.scratch = append(p.scratch, ir.NamedAttr{Name: name, Attr: a, Inherent: inherent})
		if !p.is(',') {
			break
		}
		p.next()
	}
	p.expectIn('}', "expected '}' in attribute dictionary")
	p.addAttrs(st, p.scratch[mark:])
	p.scratch = p.scratch[:mark]
}

// attrName returns the name that the current token gives an attribute.
func (p *parser) attrName() string {
	switch p.tok.kind {
	case tokWord:
		return str(p.text())
	case tokString:
		s := unquote(p.text())
		if s == "" {
			p.Errorf("expected valid attribute name")
		}
		return s
	}
	p.Errorf("expected attribute name")
	panic("unreachable")
}

// attrValue reads '= value', or nothing for unit.
func (p *parser) attrValue() ir.Attr {
	if !p.is('=') {
		return unit
	}
	p.next()
	return p.ParseAttr(nil)
}

// unit is the attribute that an entry without value has. Attributes are immutable, so one serves all.
var unit = ir.NewUnit()

// addAttrs adds entries to those of st, which stay sorted. The entries are copied.
func (p *parser) addAttrs(st *ir.OpState, entries []ir.NamedAttr) {
	n := len(st.Attrs) + len(entries)
	if cap(p.attrSlab)-len(p.attrSlab) < n {
		p.attrSlab = make([]ir.NamedAttr, 0, max(n, 8, min(2*cap(p.attrSlab), 512)))
	}
	start := len(p.attrSlab)
	p.attrSlab = append(append(p.attrSlab, st.Attrs...), entries...)
	list := ir.AttrList(p.attrSlab[start:len(p.attrSlab):len(p.attrSlab)])
	sorted := true
	for i := 1; i < len(list); i++ {
		if list[i-1].Name >= list[i].Name {
			sorted = false
			if len(list) > 16 {
				break
			}
			// An insertion sort: entries are few and nearly in order.
			for j := i; j > 0 && list[j-1].Name > list[j].Name; j-- {
				list[j-1], list[j] = list[j], list[j-1]
			}
		}
	}
	if !sorted {
		if len(list) > 16 {
			list.Sort()
		}
		for i := 1; i < len(list); i++ {
			if list[i-1].Name == list[i].Name {
				p.Errorf("found more than one attribute '%s'", list[i].Name)
			}
		}
	}
	st.Attrs = list
}
