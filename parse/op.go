package parse

import (
	"bytes"
	"math"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// opStack holds the state of the ops that are being read, from the outermost to the innermost.
type opStack struct {
	frames     []*frame // one for each op; a frame is used again after its op is done
	level      int      // frames in use
	defaults   []string // default dialects of the regions
	attrs      []ir.NamedAttr
	types      []ir.Type        // of the function types that are being read
	slab       []ir.NamedAttr   // storage of the attributes of finished ops
	directives []*directiveArgs // by the number of the directive's use among all formats
}

// frame is the storage for reading one op. The fields after uses are for an op with a format.
type frame struct {
	st      ir.OpState
	types   []ir.Type // of all operands
	uses    []ir.Operand
	in, out []row        // by the rows of operands and results of the definition
	allOps  []ir.Operand // of the operands directive
	flatOps bool         // allOps holds the operands
	generic bool         // the op is in generic form
	hasIn   bool         // types holds the types of the operands
	hasOut  bool         // st holds the types of all results
	typePos diag.Pos     // of the types, or of the text after the op's name if there are none

	room struct { // the lists above start here
		operands     [4]*ir.Value
		types        [4]ir.Type
		operandTypes [4]ir.Type
		uses         [4]ir.Operand
	}
}

func newFrame() *frame {
	f := &frame{}
	f.st.Operands, f.st.Types = f.room.operands[:0], f.room.types[:0]
	f.types, f.uses = f.room.operandTypes[:0], f.room.uses[:0]
	return f
}

// resultName is one %name or %name:n before an op.
type resultName struct {
	name []byte
	n    int32
	pos  diag.Pos
}

// operation reads one op and appends it to block.
func (p *parser) operation(block *ir.Block) {
	var buf [4]resultName
	names := buf[:0]
	var k *ir.Kind
	if p.tok.kind == tokPercent {
		// Nearly every op has one name, printed like this.
		if src, end := p.src, p.tok.end; end+3 < len(src) && string(src[end:end+3]) == " = " {
			names = append(names, resultName{p.text()[1:], 1, p.Pos()})
			k = p.knownOp(end + 3)
		} else {
			names = p.resultNames(names)
		}
	}
	var op *ir.Op
	switch {
	case k != nil:
		op = p.pretty(k)
	case p.tok.kind == tokString:
		op = p.generic()
	case p.tok.kind != tokWord:
		p.unexpected("expected operation name in quotes")
	default:
		if k = p.prettyKind(); k != nil {
			op = p.pretty(k)
		} else {
			op = p.verbatim(p.foreign(), names)
		}
	}
	if len(names) > 0 {
		p.bindResults(op, names)
	}
	block.Append(op)
}

// knownOp reads the token at offset i and returns the kind of the op that the token names. It returns nil if the name
// does not end at a space, or if the kind has no assembly. It saves 3 % of the instructions that read
// testdata/transformer_grad.mlir: the lexer reads names byte by byte.
func (p *parser) knownOp(i int) *ir.Kind {
	n := max(0, bytes.IndexByte(p.src[i:min(i+longestCached, len(p.src))], ' '))
	k := p.reg.Kind(str(p.src[i : i+n]))
	if k == nil || !hasForm(k) {
		p.lexAt(i)
		return nil
	}
	p.tok = token{kind: tokWord, start: i, end: i + n}
	return k
}

// resultNames reads %a, %b:2 = before an op.
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
		if !p.comma() {
			break
		}
	}
	p.expectIn('=', "expected '=' after SSA name")
	return names
}

// bindResults binds names to the results of op.
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

// kind returns the kind of the op named name.
func (p *parser) kind(name []byte) *ir.Kind {
	k := p.reg.Kind(str(name))
	if k == nil {
		k = p.unknown[string(name)]
	}
	if k == nil {
		k = ir.NewKind(p.m.Def(string(name)))
		if p.unknown == nil {
			p.unknown = map[string]*ir.Kind{}
		}
		p.unknown[k.Def.Name] = k
	}
	return k
}

// enter returns a frame for an op; finish takes it back.
func (p *parser) enter(def *ir.Def, pos diag.Pos) *frame {
	if p.ops.level == len(p.ops.frames) {
		p.ops.frames = append(p.ops.frames, newFrame())
	}
	f := p.ops.frames[p.ops.level]
	p.ops.level++
	// Field by field: most are empty already, and every write of a pointer has a cost.
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
	f.generic = false
	return f
}

// finish makes the op of a frame and reads its location.
func (p *parser) finish(f *frame, defaults []*ir.AttrSpec) *ir.Op {
	for _, a := range defaults {
		if f.st.Attrs.Get(a.Name) == nil {
			p.setInherent(&f.st, a.Name, a.Default)
		}
	}
	if l := p.ParseOptionalLoc(); l != nil {
		f.st.Loc = l
	}
	op := p.m.NewOp(&f.st)
	p.ops.level--
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
	f := p.enter(k.Def, pos)
	f.generic = true
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
		for more := true; more; more = p.comma() {
			s := p.ParseSuccessor()
			st.Successors = append(growList(p, st.Successors), s)
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
		for more := true; more; more = p.comma() {
			st.Bodies = append(st.Bodies, p.ParseRegion())
		}
		p.expectIn(')', "expected ')' to end region list")
	}
	if p.is('{') {
		p.attrDict(st, false)
	}
	p.expectIn(':', "expected ':' followed by operation type")
	typePos := p.Pos()
	p.opType(f)
	if len(f.types) != len(f.uses) {
		plural := "s"
		if len(f.uses) == 1 {
			plural = ""
		}
		p.ErrorfAt(typePos, "expected %d operand type%s but had %d", len(f.uses), plural, len(f.types))
	}
	p.ResolveOperands(f.uses, f.types, typePos, st)
	return p.finish(f, k.Defaults)
}

// opType reads (T, ...) -> R, the type of an op, into the types of f and its results.
func (p *parser) opType(f *frame) {
	if !p.is('(') {
		p.Errorf("expected function type")
	}
	if line, t := p.functionLine(); t != nil || line != nil {
		if t == nil {
			t = p.ParseFunctionType()
		}
		f.types = append(f.types[:0], t.Inputs()...)
		f.st.Types = append(f.st.Types, t.Results()...)
		return
	}
	p.next()
	f.types = f.types[:0]
	if !p.is(')') {
		f.types = p.typeList(f.types)
	}
	p.expectIn(')', "expected ')'")
	p.expectIn(punctArrow, "expected '->' in function type")
	if p.is('(') {
		f.st.Types = p.parenTypes(f.st.Types)
	} else {
		f.st.Types = append(f.st.Types, p.ParseType())
	}
}

// pretty reads an op in the assembly of its kind.
func (p *parser) pretty(k *ir.Kind) *ir.Op {
	f := p.enter(k.Def, p.Pos())
	p.next()
	if k.Def.Parse != nil {
		k.Def.Parse(p.opParser, &f.st)
	} else {
		p.format(k.Format, f)
	}
	return p.finish(f, k.Defaults)
}

// prettyKind returns the kind of the op that the current word names, nil if nobody registered its dialect.
func (p *parser) prettyKind() *ir.Kind {
	name := p.text()
	tried := ""
	if bytes.IndexByte(name, '.') >= 0 {
		if k := p.kind(name); k.Def.Known() {
			return p.needForm(k)
		}
	} else {
		if d := p.ops.defaults[len(p.ops.defaults)-1]; d != "" {
			var buf [64]byte
			full := append(append(append(buf[:0], d...), '.'), name...)
			if k := p.kind(full); k.Def.Known() {
				return p.needForm(k)
			}
			tried = " (tried '" + string(full) + "' as well)"
		}
		if string(name) == "module" { // every region reads it by this name
			if k := p.kind([]byte("builtin.module")); k.Def.Known() {
				return p.needForm(k)
			}
		}
	}
	if p.foreign() != nil {
		return nil
	}
	p.unknownOp(string(name), tried)
	panic("unreachable")
}

// hasForm reports whether the ops of a kind have assembly.
func hasForm(k *ir.Kind) bool { return k.Def.Parse != nil || k.Format != nil }

// needForm returns k if its ops have assembly, and fails if not.
func (p *parser) needForm(k *ir.Kind) *ir.Kind {
	if !hasForm(k) {
		p.Errorf("'%s' op has no custom assembly form", k.Def.Name)
	}
	return k
}

// attrDict reads {a = x, b} into st. In generic form without <{...}> the inherent attributes of a known op are among
// the others.
func (p *parser) attrDict(st *ir.OpState, properties bool) {
	mark := p.entries()
	known := st.Def.Known()
	list := p.ops.attrs[mark:]
	for i := range list {
		if name := segmentSizes(list[i].Name); name != "" {
			if d := p.reg.Lookup(st.Def.Name); d != nil && d.Attr(name) != nil { // also of foreign dialects
				list[i].Name = name
			}
		}
		list[i].Inherent = st.Def.Attr(list[i].Name) != nil || properties && !known
	}
	p.addAttrs(st, list, true)
	p.ops.attrs = p.ops.attrs[:mark]
}

// segmentSizes returns the name of the attribute that MLIR reads under an older name as well, or "".
func segmentSizes(old string) string {
	switch old {
	case "operand_segment_sizes":
		return "operandSegmentSizes"
	case "result_segment_sizes":
		return "resultSegmentSizes"
	}
	return ""
}

// entries reads {a = x, b} and pushes the entries onto the stack of attributes. It returns the length that the stack
// had.
func (p *parser) entries() (mark int) {
	p.expectIn('{', "expected '{' in attribute dictionary")
	mark = len(p.ops.attrs)
	var seen map[string]bool // the names of a long list
	for more := !p.is('}'); more; more = p.comma() {
		name, pos := p.attrName(), p.Pos()
		p.next()
		a := p.attrValue()
		list := ir.AttrList(p.ops.attrs[mark:])
		if len(list) == 16 {
			seen = make(map[string]bool, 32)
			for _, old := range list {
				seen[old.Name] = true
			}
		}
		if seen[name] || seen == nil && list.Get(name) != nil {
			p.ErrorfAt(pos, "duplicate key '%s' in dictionary attribute", name)
		}
		if seen != nil {
			seen[name] = true
		}
		p.ops.attrs = append(p.ops.attrs, ir.NamedAttr{Name: name, Attr: a})
	}
	p.expectIn('}', "expected '}' in attribute dictionary")
	return mark
}

// attrName returns the attribute name that the current token is.
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
	p.unexpected("expected attribute name")
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

// unit is the value of an entry without a value. Attributes are immutable, so all entries share it.
var unit = ir.NewUnit()

// addAttrs adds copies of entries, which are a dictionary or one attribute of an op's syntax, to the attributes of st
// and keeps them sorted.
func (p *parser) addAttrs(st *ir.OpState, entries []ir.NamedAttr, dict bool) {
	n := len(st.Attrs) + len(entries)
	if cap(p.ops.slab)-len(p.ops.slab) < n {
		p.ops.slab = make([]ir.NamedAttr, 0, max(n, 8, min(2*cap(p.ops.slab), 512)))
	}
	start := len(p.ops.slab)
	p.ops.slab = append(append(p.ops.slab, st.Attrs...), entries...)
	list := ir.AttrList(p.ops.slab[start:len(p.ops.slab):len(p.ops.slab)])
	sorted := true
	for i := 1; i < len(list); i++ {
		if list[i-1].Name >= list[i].Name {
			sorted = false
			if len(list) > 16 {
				break
			}
			// An insertion sort, because the entries are few and nearly in order.
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
				p.addAgain(st, entries, dict, list[i].Name)
				return
			}
		}
	}
	st.Attrs = list
}

// addAgain adds entries to the attributes of st if both have the attribute name. It keeps the value that MLIR keeps: of
// a generic op the property, of an op with an assembly format the entry of the dictionary.
func (p *parser) addAgain(st *ir.OpState, entries []ir.NamedAttr, dict bool, name string) {
	generic := p.ops.frames[p.ops.level-1].generic
	switch {
	case st.Def.Attr(name) == nil:
		p.Errorf("found more than one attribute '%s'", name)
	case !generic && st.Def.Parse != nil:
		p.ErrorfAt(st.Pos, "custom op '%s' attribute '%s' occurs more than once in the attribute list", st.Def.Name, name)
	}
	named := func(a ir.NamedAttr) bool { return a.Name == name }
	if dict && !generic {
		st.Attrs = slices.DeleteFunc(slices.Clone(st.Attrs), named)
	} else {
		entries = slices.DeleteFunc(slices.Clone(entries), named)
	}
	p.addAttrs(st, entries, dict)
}
