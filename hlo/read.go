package hlo

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
)

// parser reads the text of one module.
type parser struct {
	*lexer
	m     *Module
	depth int

	shapes map[string]*shape       // shapes by their text
	comps  map[string]*computation // by name, including computations that were only called so far
	calls  []call                  // of computations that were not defined when they were named
	scope  *scope
	anon   map[string]int // how often a generated name was used

	names  nameTable // instructions by name, of all scopes
	values valueCache

	// single is the computation of a text that is one instruction; its operands become parameters.
	single *computation

	slabs  slabs
	open   []*instr // instructions of the open computations, those of the innermost last
	args   []*instr // operands of the open instructions, those of the innermost last
	starts []*instr // instructions async-start that call a computation
}

// call is a use of a computation before its definition.
type call struct {
	comp *computation
	pos  int
}

// scope is the computation that is being read.
type scope struct {
	comp     *computation
	first    int // index of its first instruction in parser.open
	outer    *scope
	elements []*instr // named x#1 until all names of the scope are known
	// shadowed are names of outer scopes that this one uses for its own instructions.
	shadowed []shadow
}

type shadow struct {
	name  string
	entry nameEntry
}

// lookup returns the instruction of the current computation called name, nil if there is none.
func (p *parser) lookup(name string) *instr {
	if e, _ := p.names.find(name); e != nil && e.scope == p.scope {
		return e.in
	}
	return nil
}

// define adds in under a name to the current computation. It reports whether the name is new there.
func (p *parser) define(name string, in *instr) bool {
	e, n := p.names.find(name)
	if e == nil {
		p.names.add(name, n, nameEntry{p.scope, in})
		return true
	}
	if e.scope == p.scope {
		return false
	}
	if p.scope.outer != nil {
		p.scope.shadowed = append(p.scope.shadowed, shadow{name, *e})
	}
	*e = nameEntry{p.scope, in}
	return true
}

// closeScope ends the current computation and restores the names of outer scopes that it shadowed.
func (p *parser) closeScope() {
	for _, s := range p.scope.shadowed {
		e, _ := p.names.find(s.name)
		*e = s.entry
	}
	p.scope = p.scope.outer
}

// Parse reads the text of an HLO module, or of a single instruction or computation without a header. The error is a
// diag.List with one finding.
func Parse(src *diag.Source) (m *Module, err error) {
	defer func() {
		var list diag.List
		if errors.As(err, &list) {
			if i := bytes.Index(src.Text(), []byte("{...}")); i >= 0 {
				list[0].Note(diag.At(i), "the text has elided parts {...}")
			}
		}
	}()
	defer catch(&err)
	p := &parser{
		lexer: &lexer{src: src, text: sharedText(src.Text())},
		m:     &Module{src: src, replicas: 1, partitions: 1},
	}
	p.shapes = map[string]*shape{}
	n := likelyInstrs(p.text)
	p.names = newNameTable(p.text, n)
	p.open = make([]*instr, 0, n)
	p.values = newValueCache(len(p.text))
	p.comps = map[string]*computation{}
	p.anon = map[string]int{}
	p.next()
	p.module()
	return p.m, nil
}

// enter and leave limit the recursion of the reader.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.failToken("nested deeper than %d", maxNesting)
	}
}

func (p *parser) leave() { p.depth-- }

// module reads a whole text.
func (p *parser) module() {
	m := p.m
	switch {
	case p.word("HloModule"):
		p.next()
		m.name = p.name()
		p.moduleAttrs()
		p.stackTables()
		p.computations()
	case p.word("ENTRY") || p.computationFollows():
		p.computations()
		m.name = "module_" + m.entry.name
	default:
		m.name = "_"
		p.singleInstruction()
	}
	for _, c := range p.calls {
		if !c.comp.defined {
			p.fail(c.pos, "computation %s does not exist", shorten(c.comp.name))
		}
	}
	p.finish()
}

// computationFollows reports whether the text starts with the name and the body of a computation.
func (p *parser) computationFollows() bool {
	if !p.atName() {
		return false
	}
	ahead := *p.lexer
	ahead.next()
	return ahead.at('{')
}

// computations reads computations to the end of the text.
func (p *parser) computations() {
	first := p.tok.pos
	for !p.at(eofToken) {
		entry := p.acceptWord("ENTRY")
		if entry && p.m.entry != nil {
			p.fail(p.tok.pos, "expected only one ENTRY")
		}
		c := p.computation()
		if entry {
			p.m.entry = c
		}
	}
	if len(p.m.comps) == 0 {
		p.fail(first, "expected a computation, found the end of the text")
	}
	if p.m.entry == nil {
		p.m.entry = p.m.comps[len(p.m.comps)-1]
	}
}

// computation reads a named computation: its program shape, which is optional, and its body.
func (p *parser) computation() *computation {
	pos := p.tok.pos
	name := p.name()
	c := p.comps[name]
	switch {
	case c == nil:
		c = &computation{name: name}
		p.comps[name] = c
	case c.defined:
		p.fail(pos, "computation %s exists already", shorten(name))
	}
	var result *shape
	resultPos := p.tok.pos
	if p.at('(') {
		p.list('(', ')', func() {
			p.name()
			p.shape()
		})
		p.expect(arrowToken)
		resultPos = p.tok.pos
		result = p.shape()
	}
	p.body(c, pos)
	if result != nil && !compatible(c.root.shape, result) {
		p.fail(resultPos, "computation %s has type %s, but its root has type %s", shorten(name), result.plain(), c.root.shape.plain())
	}
	for p.accept(',') {
		at := p.tok.pos
		switch name := p.attrName(); {
		case name == "execution_thread":
			if c.thread = p.str(); c.thread == mainThread {
				c.thread = ""
			}
		case name == "backend_config" && c.config == "":
			c.config = p.stringOrDict()
		default:
			p.fail(at, "expected execution_thread= or backend_config=, found %s=", shorten(name))
		}
	}
	return c
}

// body reads the instructions of c and adds c to the module.
func (p *parser) body(c *computation, pos int) {
	p.enter()
	c.pos = pos
	p.scope = &scope{comp: c, first: len(p.open), outer: p.scope}
	p.expect('{')
	for {
		p.instruction()
		if p.at('}') {
			break
		}
	}
	p.complete(c)
	p.closeScope()
	p.next()
	p.leave()
}

// complete finishes a computation: its root and its parameters.
func (p *parser) complete(c *computation) {
	p.nameElements()
	c.instrs = slices.Clone(p.open[p.scope.first:])
	p.open = p.open[:p.scope.first]
	if c.root == nil {
		c.root = c.instrs[len(c.instrs)-1]
	}
	slices.SortStableFunc(c.params, func(a, b *instr) int { return int(a.param) - int(b.param) })
	for i, in := range c.params {
		switch {
		case in.param < int64(i):
			p.fail(in.pos.Offset(), "parameter number %d is defined twice", in.param)
		case in.param > int64(i):
			p.fail(in.pos.Offset(), "parameter number %d is defined, but parameter number %d is not", in.param, i)
		}
	}
	c.defined = true
	p.m.comps = append(p.m.comps, c)
}

// callee reads a computation: its name, or its body in braces.
func (p *parser) callee() *computation {
	if p.at('{') {
		c := &computation{name: "_"}
		p.body(c, p.tok.pos)
		c.name = p.unique(c.name, true) // after the computations in it
		p.comps[c.name] = c
		return c
	}
	pos := p.tok.pos
	name := p.name()
	c := p.comps[name]
	if c == nil {
		c = &computation{name: name}
		p.comps[name] = c
	}
	if !c.defined {
		p.calls = append(p.calls, call{c, pos})
	}
	return c
}

// unique returns an unused name: base, base.1 and so on.
func (p *parser) unique(base string, computation bool) string {
	for {
		n := p.anon[base]
		p.anon[base]++
		name := base
		if n > 0 {
			name += "." + strconv.Itoa(n)
		}
		if computation {
			if p.comps[name] == nil {
				return name
			}
		} else if p.lookup(name) == nil {
			return name
		}
	}
}

// instruction reads ROOT? name = rhs.
func (p *parser) instruction() {
	root := p.acceptWord("ROOT")
	pos := p.tok.pos
	name := p.name()
	p.expect('=')
	in := p.rhs(name, pos, true)
	if root {
		if p.scope.comp.root != nil {
			p.fail(pos, "expected only one ROOT in a computation")
		}
		p.scope.comp.root = in
	}
}

// rhs reads shape? opcode(operands), attributes.
func (p *parser) rhs(name string, pos int, attrs bool) *instr {
	p.enter()
	defer p.leave()
	in := p.slabs.instrs.one()
	in.pos = diag.At(pos)
	var s *shape
	if s = p.knownShape(); s == nil && p.atShape() {
		s = p.shape()
	}
	opPos := p.tok.pos
	p.opcode(in)
	if s == nil && (in.op.infer == nil || in.wrapped != nil) {
		p.fail(opPos, "the type of %s cannot be inferred and must be written", in.op.name)
	}
	in.shape = s
	if why := badName(name); why != "" {
		p.fail(pos, "%s is not a name for an instruction: %s", shorten(name), why)
	}
	switch in.op {
	case opParameter:
		p.expect('(')
		at := p.tok.pos
		if in.param = p.int64(); in.param < 0 || in.param > 1<<30 {
			p.fail(at, "expected a parameter number, found %d", in.param)
		}
		p.expect(')')
		if s == nil {
			p.fail(opPos, "the type of a parameter must be written")
		}
	case opConstant:
		p.expect('(')
		if s == nil {
			p.fail(opPos, "the type of a constant must be written")
		}
		s = s.static()
		in.shape, in.literal = s, p.literal(s)
		p.expect(')')
	default:
		p.operands(in, opPos)
	}
	if attrs {
		last := -1
		for p.accept(',') {
			last = p.attribute(in, last)
		}
	}
	if name == "" { // after its operands, which may be nested, too
		name = p.unique(in.op.name+".anon", false)
	}
	in.name = name
	p.checkInstr(in, opPos)
	if !p.define(name, in) {
		p.fail(pos, "instruction %s is defined twice in its computation", shorten(name))
	}
	p.add(in)
	return in
}

// add appends in to the current computation.
func (p *parser) add(in *instr) {
	in.order = int32(len(p.open) - p.scope.first)
	p.open = append(p.open, in)
	switch in.op {
	case opParameter:
		p.scope.comp.params = append(p.scope.comp.params, in)
	case opAsyncStart:
		p.starts = append(p.starts, in)
	}
}

// badName says why XLA refuses name for an instruction; "" if XLA accepts it.
func badName(name string) string {
	if strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "__xla_") {
		return "it starts with two underscores"
	}
	if strings.IndexByte(name, '.') < 0 { // no type has a point
		if _, isType := typesByName[name]; isType {
			return "it is a type"
		}
	}
	return ""
}

// opcode reads an opcode, or the name of the asynchronous form of one.
func (p *parser) opcode(in *instr) {
	if p.tok.kind != identToken {
		p.failToken("expected an opcode, found %s", p.found())
	}
	word := p.tok.text
	if o := opcodes[word]; o != nil {
		in.op = o
		p.next()
		return
	}
	for _, async := range []struct {
		suffix string
		op     *opcode
	}{{"-start", opAsyncStart}, {"-update", opAsyncUpdate}, {"-done", opAsyncDone}} {
		if base, ok := strings.CutSuffix(word, async.suffix); ok && opcodes[base] != nil && !notAsync[base] {
			in.op, in.wrapped = async.op, opcodes[base]
			p.next()
			return
		}
	}
	names := make([]string, 0, len(opcodes))
	for name := range opcodes {
		names = append(names, name)
	}
	slices.Sort(names)
	if near := diag.Closest(word, names); near != "" {
		p.failToken("unknown opcode %s; did you mean %s?", shorten(word), near)
	}
	p.failToken("unknown opcode %s", shorten(word))
}

// operands reads (a, f32[4] b, add(c, d)).
func (p *parser) operands(in *instr, pos int) {
	p.enter()
	defer p.leave()
	if !p.at('(') {
		p.failToken("expected '(' before the operands, found %s", p.found())
	}
	p.next()
	first := len(p.args)
	// XLA's reader allows any number of commas before, between and after operands.
	for comma := true; !p.accept(')'); {
		if p.accept(',') {
			comma = true
			continue
		}
		if !comma {
			p.failToken("expected ',' or ')' after an operand, found %s", p.found())
		}
		comma = false
		p.args = append(p.args, p.operand())
	}
	if list := p.args[first:]; len(list) > 0 {
		in.operands = p.slabs.pointers.take(len(list))
		copy(in.operands, list)
		p.args = p.args[:first]
	}
	want := in.op.operands
	if in.op == opTuple && in.shape != nil {
		if !in.shape.isTuple() {
			p.fail(pos, "a tuple cannot have type %s", in.shape.plain())
		}
		want = len(in.shape.elems)
	}
	if want >= 0 && len(in.operands) != want {
		p.fail(pos, "%s has %d operands, expected %d", in.op.name, len(in.operands), want)
	}
}

// operand reads shape? name, or an instruction without attributes.
func (p *parser) operand() *instr {
	if p.tok.kind == nameToken || p.tok.kind == identToken {
		if in := p.lookup(p.tok.text); in != nil && p.atName() {
			end := p.off
			for end < len(p.text) && p.text[end] == ' ' {
				end++
			}
			if end < len(p.text) && (p.text[end] == ',' || p.text[end] == ')') {
				p.next()
				return in
			}
			if end < len(p.text) && p.text[end] == '#' {
				p.next()
				return p.tupleElement(in)
			}
		}
	}
	before := *p.lexer
	var s *shape
	if p.atShape() {
		s = p.shape()
	}
	if p.atName() {
		at := p.tok.pos
		name := p.tok.text
		p.next()
		in := p.find(name, s)
		if in != nil && p.at('#') {
			in = p.tupleElement(in)
		}
		if in != nil && (p.at(',') || p.at(')')) {
			if s != nil && !compatible(s, in.shape) {
				p.fail(at, "operand %s has type %s, but type %s is written", shorten(name), in.shape.plain(), s.plain())
			}
			return in
		}
		if in == nil && (p.at(',') || p.at(')')) {
			if p.single != nil && p.scope.comp == p.single && s == nil {
				p.fail(at, "operand %s has no type, and a parameter cannot be made for it", shorten(name))
			}
			p.fail(at, "instruction %s does not exist", shorten(name))
		}
	} else if s != nil && p.single != nil && p.scope.comp == p.single && (p.at(',') || p.at(')')) {
		return p.find("", s)
	}
	if !before.at('(') && !before.at(identToken) && !before.at(nameToken) {
		before.failToken("expected an operand, found %s", before.found())
	}
	*p.lexer = before
	return p.rhs("", p.tok.pos, false)
}

// tupleElement reads #1 after the name of a tuple, once or more, and returns the element. XLA prints an operand
// get-tuple-element(%x), index=1 so, and leaves out the instruction.
func (p *parser) tupleElement(in *instr) *instr {
	key, at := in.name, p.tok.pos
	for p.accept('#') {
		pos := p.tok.pos
		i := p.int64()
		if !in.shape.isTuple() || i < 0 || i >= int64(len(in.shape.elems)) {
			p.fail(pos, "type %s has no element %d", in.shape.plain(), i)
		}
		key += "#" + strconv.FormatInt(i, 10)
		tuple := in
		if in = p.lookup(key); in == nil {
			in = p.slabs.instrs.one()
			*in = instr{op: opGTE, name: key, shape: tuple.shape.elems[i], operands: []*instr{tuple}, pos: diag.At(at),
				attrs: []attr{{opGTE.attrs[0], i}}}
			p.define(key, in)
			p.add(in)
			p.scope.elements = append(p.scope.elements, in)
		}
	}
	return in
}

// nameElements names the elements that operands of the current computation imply: %x_1 for %x#1, as XLA does.
func (p *parser) nameElements() {
	for _, in := range p.scope.elements {
		base := strings.ReplaceAll(in.name, "#", "_")
		name := base
		for n := 1; p.lookup(name) != nil; n++ {
			name = base + "." + strconv.Itoa(n)
		}
		in.name = name
		p.define(name, in)
	}
}

// find returns the instruction with the given name. In a text of a single instruction, a new name is a parameter of
// type s.
func (p *parser) find(name string, s *shape) *instr {
	if name != "" {
		if in := p.lookup(name); in != nil {
			return in
		}
	}
	if p.single == nil || p.scope.comp != p.single || s == nil {
		return nil
	}
	n := len(p.open)
	if name == "" {
		name = "_" + strconv.Itoa(n)
	}
	in := p.slabs.instrs.one()
	*in = instr{op: opParameter, name: name, shape: s, param: int64(n), pos: diag.At(p.tok.pos)}
	p.define(name, in)
	p.add(in)
	return in
}

// instrByName reads the name of an instruction of the current computation.
func (p *parser) instrByName() *instr {
	at := p.tok.pos
	name := p.name()
	in := p.lookup(name)
	if in == nil {
		p.fail(at, "instruction %s does not exist", shorten(name))
	}
	return in
}

// singleInstruction reads a text that is one instruction, with a name or without.
func (p *parser) singleInstruction() {
	c := &computation{name: "_"}
	p.single = c
	p.comps[c.name] = c
	p.scope = &scope{comp: c}
	if p.atShape() {
		p.rhs("_", p.tok.pos, true)
	} else {
		p.instruction()
	}
	if !p.at(eofToken) {
		p.failToken("expected the end of the text after a single instruction, found %s; a module starts with HloModule", p.found())
	}
	p.complete(c)
	p.scope = nil
	p.m.entry = c
	p.m.scheduled = true
}

// attribute reads name=value of in. last is the largest place of in's attributes in the order of printing; attribute
// returns the new largest place.
func (p *parser) attribute(in *instr, last int) int {
	at := p.tok.pos
	name := p.attrName()
	order, spec := in.lookup(name)
	if spec == nil {
		p.fail(at, "%s has no attribute %s; it may have %s", in.opName(), shorten(name), strings.Join(in.attrNames(), ", "))
	}
	for i := range in.attrs {
		if in.attrs[i].spec == spec || in.attrs[i].spec.name == name {
			p.fail(at, "attribute %s is given twice", name)
		}
	}
	if spec == cReplication && in.shape == nil {
		p.fail(at, "the type of %s must be written", in.op.name)
	}
	v := p.cachedValue(in, spec)
	if order < last {
		in.set(order, spec, v)
		return last
	}
	if in.attrs == nil {
		in.attrs = p.slabs.attrs.take(4)[:0]
	}
	in.attrs = append(in.attrs, attr{spec, v})
	return order
}

// cachedValue reads a value in braces, or returns the value that it read from the same text before: values are
// immutable, and most occur in a text many times.
func (p *parser) cachedValue(in *instr, spec *attrSpec) any {
	start := p.tok.pos
	if !p.at('{') || spec.kind == kComputation || spec.kind == kComputations || spec.kind == kInstrs || spec.kind == kBools {
		return p.attrValue(in, spec)
	}
	end := bracesEnd(p.text, start)
	if end < 0 {
		return p.attrValue(in, spec)
	}
	text := p.text[start:end]
	known := p.values.slot(text)
	if known.spec == spec && known.text == text {
		p.off = end
		p.next()
		return known.value
	}
	v := p.attrValue(in, spec)
	*known = knownValue{spec, text, v}
	return v
}

// valueCache remembers values of attributes by the hash of their text. A new value replaces another one with the same
// hash.
type valueCache struct {
	seed  maphash.Seed
	slots []knownValue
}

type knownValue struct {
	spec  *attrSpec
	text  string
	value any
}

// newValueCache returns a cache for a text of size bytes.
func newValueCache(size int) valueCache {
	return valueCache{maphash.MakeSeed(), make([]knownValue, 1<<bits.Len(uint(min(size/256, 8191))))}
}

func (c *valueCache) slot(text string) *knownValue {
	return &c.slots[maphash.String(c.seed, text)&uint64(len(c.slots)-1)]
}

// sharedText returns data as a string that shares its memory. Nothing changes the text of a source.
func sharedText(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// bracesEnd returns the offset after the brace that closes the one at start, or -1 if there is none.
func bracesEnd(text string, start int) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			end := stringEnd(text, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '/':
			return -1 // perhaps a comment
		}
	}
	return -1
}

// set adds an attribute at its place in the order of printing.
func (in *instr) set(order int, spec *attrSpec, v any) {
	i := len(in.attrs)
	for i > 0 {
		if o, _ := in.lookup(in.attrs[i-1].spec.name); o <= order {
			break
		}
		i--
	}
	in.attrs = slices.Insert(in.attrs, i, attr{spec, v})
}

// asyncAfter is the position of the attributes of an async-start that are printed after the attributes of the wrapped
// op.
const asyncAfter = commonOrder / 2

// lookup returns the attribute that in may carry under name, and its position in the order of printing, or nil if
// there is none. The short form of an asynchronous op carries the wrapped op's attributes too.
func (in *instr) lookup(name string) (int, *attrSpec) {
	if in.wrapped != nil && in.op == opAsyncStart {
		switch {
		case name == "calls" && in.wrapped != opFusion:
			return 0, nil
		case name == "async_execution_thread":
			return 0, in.op.attrs[0]
		}
		if i, ok := in.wrapped.byName[name]; ok {
			spec := in.wrapped.spec(i)
			if i < commonOrder {
				i++
			}
			return i, spec
		}
		if name == "output_to_operand_aliasing" {
			return asyncAfter, in.op.attrs[1]
		}
		return 0, nil
	}
	if i, ok := in.op.byName[name]; ok {
		if in.wrapped != nil && name == "calls" {
			return 0, nil
		}
		return i, in.op.spec(i)
	}
	return 0, nil
}

// opName returns the name of in's opcode in text.
func (in *instr) opName() string {
	if in.wrapped == nil {
		return in.op.name
	}
	return in.wrapped.name + strings.TrimPrefix(in.op.name, "async")
}

func (in *instr) attrNames() []string {
	if in.wrapped != nil && in.op == opAsyncStart {
		return in.wrapped.attrNames()
	}
	return in.op.attrNames()
}

// specs returns the attributes that in may carry.
func (in *instr) specs() []*attrSpec {
	if in.wrapped != nil {
		if in.op == opAsyncStart {
			return in.wrapped.attrs
		}
		return nil
	}
	return in.op.attrs
}

// checkInstr checks that the attributes and operands of in are consistent, adds defaults and infers the shape.
func (p *parser) checkInstr(in *instr, pos int) {
	for _, spec := range in.specs() {
		if (spec.required || spec.always != nil) && in.get(spec) == nil {
			if spec.required {
				p.fail(pos, "%s lacks attribute %s", in.opName(), spec.name)
			}
			order, _ := in.lookup(spec.name)
			in.set(order, spec, spec.always)
		}
	}
	op := in.op
	if in.wrapped != nil {
		op = in.wrapped
	}
	if why := p.check(in, op); why != "" {
		p.fail(pos, "%s", why)
	}
	if in.shape == nil {
		s, why := in.op.infer(in)
		if why != "" {
			p.fail(pos, "the type of %s cannot be inferred: %s", in.op.name, why)
		}
		in.shape = s
	}
	if s := fixedShape(in); s != nil && !sameShape(s, in.shape) {
		in.shape = s
	}
	in.attrs = slices.DeleteFunc(in.attrs, func(a attr) bool { return a.spec.omit != nil && a.spec.omit(a.value) })
}

// check describes errors of in that the table of attributes cannot find.
func (p *parser) check(in *instr, op *opcode) string {
	if in.isAsync() {
		return p.checkAsync(in)
	}
	if op.oneDim {
		if dims, ok := in.attrByName(stablehlo.AttrDimensions).([]int64); ok && len(dims) != 1 {
			return op.name + " needs exactly one dimension"
		}
	}
	switch op {
	case opConditional:
		return checkConditional(in)
	case opReduce, opReduceWindow:
		if len(in.operands)%2 != 0 {
			return fmt.Sprintf("%s needs an initial value for each input, found %d operands", op.name, len(in.operands))
		}
	case opDynamicSlice:
		return checkIndices(in, 1)
	case opDynamicUpdate:
		return checkIndices(in, 2)
	case opCompare:
		if in.attrByName("type") != nil && in.attrByName("order") != nil {
			if p.lexer != nil {
				return "compare cannot have both type and order"
			}
			in.remove("type") // this package writes both into protos
		}
		s := in.operands[0].shape
		if v, ok := in.attrByName("type").(int64); ok && v == s.defaultComparison() {
			in.remove("type")
		}
		if v, ok := in.attrByName("order").(int64); ok && v == s.defaultOrder() {
			in.remove("order")
		}
	case opDot, opConvolution: // verify checks the operands that its configurations name
		if len(in.operands) < 2 {
			return fmt.Sprintf("%s has %d operands, expected 2", op.name, len(in.operands))
		}
	case opBroadcast:
		if in.attrByName(stablehlo.AttrDimensions) == nil {
			if !in.operands[0].shape.isScalar() {
				return "broadcast lacks attribute dimensions"
			}
			in.set(0, aOptDimensions, []int64{})
		}
	case opMap:
		// XLA maps over all dimensions, whatever the text says. To infer the type, it compares them.
		if len(in.operands) > 0 && (in.shape != nil || in.attrByName(stablehlo.AttrDimensions) == nil) {
			in.attrs = slices.DeleteFunc(in.attrs, func(a attr) bool { return a.spec == aOptDimensions })
			dims := make([]int64, len(in.operands[0].shape.dims))
			for i := range dims {
				dims[i] = int64(i)
			}
			in.set(0, aOptDimensions, dims)
		}
	case opReduceScatter, opAllReduce:
		if attrOf[bool](in, "use_global_device_ids") && in.attrByName("channel_id") == nil {
			return "use_global_device_ids=true needs a channel_id"
		}
	case opOutfeed:
		if in.attrByName("outfeed_shape") == nil {
			in.set(0, opOutfeed.attrs[0], in.operands[0].shape)
		}
	case opInfeed:
		if in.shape == nil || !in.shape.isTuple() || len(in.shape.elems) == 0 {
			return "infeed must have the type of a tuple that is not empty"
		}
	case opSendDone, opRecvDone:
		return checkTransferDone(in)
	case opCustomCall:
		return checkCustomCall(in)
	}
	return ""
}

// defaultComparison is the default comparison type for s's element type.
func (s *shape) defaultComparison() int64 {
	switch s.elem.row().kind {
	case signedKind:
		return 2
	case unsignedKind, predKind:
		return 3
	}
	return 0
}

// defaultOrder is the default order of comparisons of s's elements: partial for types with NaN, else total.
func (s *shape) defaultOrder() int64 {
	if s.defaultComparison() == 0 {
		return 0
	}
	return 1
}

// comparison returns how a compare compares: an index of comparisonTypes.
func (in *instr) comparison() int64 {
	kind := in.operands[0].shape.defaultComparison()
	if v, ok := in.attrByName("type").(int64); ok {
		return v
	}
	if order, ok := in.attrByName("order").(int64); ok && kind == 0 {
		return order
	}
	return kind
}

// remove removes the attribute called name.
func (in *instr) remove(name string) {
	in.attrs = slices.DeleteFunc(in.attrs, func(a attr) bool { return a.spec.name == name })
}

// checkIndices checks the number of start indices after n operands: scalars, or one array in old texts.
func checkIndices(in *instr, n int) string {
	if len(in.operands) < n {
		return fmt.Sprintf("%s has %d operands, expected at least %d", in.op.name, len(in.operands), n)
	}
	rank, indices := len(in.operands[0].shape.dims), in.operands[n:]
	if len(indices) != rank && (len(indices) != 1 || len(indices[0].shape.dims) != 1) {
		return fmt.Sprintf("%s has %d start indices, expected %d", in.op.name, len(indices), rank)
	}
	return ""
}

func checkConditional(in *instr) string {
	if len(in.operands) == 0 {
		return "conditional needs an operand"
	}
	first := in.operands[0].shape
	if !first.isScalar() || first.elem != pred && first.elem != s32 {
		return "the first operand of conditional must be pred[] or s32[], but has type " + first.plain()
	}
	n := 2
	for _, a := range in.attrs {
		if a.spec.kind == kComputation && first.elem != pred || a.spec.kind == kComputations && first.elem == pred {
			return "conditional on " + first.plain() + " has no attribute " + a.spec.name
		}
	}
	if first.elem == pred {
		if in.attrByName("true_computation") == nil || in.attrByName("false_computation") == nil {
			return "conditional on pred[] needs true_computation and false_computation"
		}
	} else if n = len(attrOf[[]*computation](in, "branch_computations")); n == 0 {
		return "conditional on s32[] needs branch_computations"
	}
	if len(in.operands) != n+1 {
		return fmt.Sprintf("conditional has %d branches, but %d operands after the first", n, len(in.operands)-1)
	}
	return ""
}

func checkTransferDone(in *instr) string {
	from := in.operands[0]
	want, ok := from.attrByName("channel_id").(int64)
	got, given := in.attrByName("channel_id").(int64)
	if from.op == opSend || from.op == opRecv {
		if ok != given || want != got {
			return in.op.name + " must have the channel_id of its " + from.op.name
		}
	}
	return ""
}

func checkCustomCall(in *instr) string {
	if in.attrByName("to_apply") != nil {
		if in.attrByName(stablehlo.AttrCalledComputations) != nil {
			return "custom-call cannot have both to_apply and called_computations"
		}
		order, spec := in.lookup("called_computations")
		c := attrOf[*computation](in, "to_apply")
		in.attrs = slices.DeleteFunc(in.attrs, func(a attr) bool { return a.spec == aOptToApply })
		in.set(order, spec, []*computation{c})
	}
	constraints, ok := in.attrByName("operand_layout_constraints").([]*shape)
	if !ok {
		return ""
	}
	if len(constraints) != len(in.operands) {
		return fmt.Sprintf("custom-call has %d operands, but %d operand_layout_constraints", len(in.operands), len(constraints))
	}
	for i, s := range constraints {
		if !compatible(s, in.operands[i].shape) {
			return fmt.Sprintf("operand_layout_constraints say type %s for operand %d of type %s", s.plain(), i, in.operands[i].shape.plain())
		}
	}
	return ""
}

// checkAsync checks an async-start, -update or -done in either form.
func (p *parser) checkAsync(in *instr) string {
	s := in.shape
	if s == nil {
		return "the type of " + in.op.name + " must be written"
	}
	if in.op != opAsyncDone && (!s.isTuple() || len(s.elems) < 2 || !s.elems[0].isTuple()) {
		return in.opName() + " must have a type of the form ((operands), result, ...)"
	}
	if in.op == opAsyncUpdate && len(in.operands) == 1 && !sameShape(s, in.operands[0].shape) {
		return in.opName() + " must have the type of its operand"
	}
	if in.op == opAsyncStart {
		if in.wrapped != nil && in.wrapped.operands >= 0 && len(in.operands) != in.wrapped.operands {
			return fmt.Sprintf("%s has %d operands, expected %d", in.opName(), len(in.operands), in.wrapped.operands)
		}
		return ""
	}
	if len(in.operands) == 0 {
		return in.opName() + " needs an operand"
	}
	from := in.operands[0]
	if !from.isAsync() || from.op == opAsyncDone {
		return in.opName() + " needs an async-start or async-update as its operand"
	}
	start := from.asyncStart()
	if in.wrapped != nil && start.asyncOpcode() != nil && start.asyncOpcode() != in.wrapped {
		return fmt.Sprintf("%s belongs to an asynchronous %s", in.opName(), start.asyncOpcode().name)
	}
	if thread, ok := in.attrByName("async_execution_thread").(string); ok {
		want := attrOf[string](start, "async_execution_thread")
		if want == "" {
			want = mainThread
		}
		if thread != want {
			return fmt.Sprintf("async_execution_thread is %q, but %q at the start", thread, want)
		}
	}
	if c, ok := in.attrByName("calls").(*computation); ok && in.wrapped == nil && start.wrapped == nil && c != start.attrByName("calls") {
		return "calls another computation than its async-start"
	}
	return ""
}

// asyncStart returns the start of the chain that in belongs to.
func (in *instr) asyncStart() *instr {
	for in.op != opAsyncStart && len(in.operands) > 0 && in.operands[0].isAsync() {
		in = in.operands[0]
	}
	return in
}

// asyncOpcode returns the op that a start runs asynchronously, or nil if it runs a computation of several ops.
func (in *instr) asyncOpcode() *opcode {
	if in.wrapped != nil {
		return in.wrapped
	}
	if c, ok := in.attrByName("calls").(*computation); ok && c.defined {
		return c.root.op
	}
	return nil
}

// finish checks the module as a whole and orders its computations.
func (p *parser) finish() {
	m := p.m
	if len(p.calls) > 0 { // else each computation comes before its callers
		m.sortComputations()
	}
	started := map[*computation]bool{}
	for _, in := range p.starts {
		if callee, ok := in.attrByName("calls").(*computation); ok && in.wrapped == nil {
			if started[callee] {
				p.fail(in.pos.Offset(), "computation %s is called by more than one async-start", shorten(callee.name))
			}
			started[callee] = true
		}
	}
	if m.layout == nil {
		m.layout = entryLayoutOf(m.entry)
		// XLA's reader sets the configuration of these modules after the layout, and so loses its order of dimensions.
		if p.single != nil || m.partitions != 1 || m.replicas != 1 || m.passthrough || len(m.spmdParams) > 0 || len(m.spmdOutput) > 0 {
			m.layout.result = m.layout.result.descending()
			for i, s := range m.layout.params {
				m.layout.params[i] = s.descending()
			}
		}
	}
}
