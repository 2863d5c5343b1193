package hlo

import (
	"slices"
	"strings"
)

// moduleAttrs reads the attributes after the module's name.
func (p *parser) moduleAttrs() {
	m := p.m
	seen := map[string]bool{}
	for p.accept(',') {
		at := p.tok.pos
		name := p.attrName()
		if seen[name] {
			p.fail(at, "attribute %s is given twice", name)
		}
		seen[name] = true
		switch name {
		case "is_scheduled":
			m.scheduled = p.bool()
		case "input_output_alias":
			m.aliases = p.moduleAliases()
		case "buffer_donor":
			p.listToBrace(func() {
				p.expect('(')
				d := donor{param: p.int64()}
				p.expect(',')
				d.index = p.ints('{', '}')
				p.expect(')')
				m.donors = append(m.donors, d)
			})
		case "alias_passthrough_params":
			m.passthrough = p.bool()
		case "entry_computation_layout":
			m.layout = &entryLayout{}
			p.expect('{')
			p.list('(', ')', func() { m.layout.params = append(m.layout.params, p.shape()) })
			p.expect(arrowToken)
			m.layout.result = p.shape()
			p.expect('}')
		case "allow_spmd_sharding_propagation_to_parameters":
			m.spmdParams = p.boolOrList()
		case "allow_spmd_sharding_propagation_to_output":
			m.spmdOutput = p.boolOrList()
		case "replica_count":
			m.replicas = p.int64()
		case "num_partitions":
			m.partitions = p.int64()
		case "frontend_attributes":
			m.frontend = p.pairs()
		case "origin_recovery_table":
			p.expect('{')
			for !p.at('}') {
				r := recovery{replaced: p.originArray()}
				p.expect(':')
				r.replacing = p.originArray()
				if p.accept(',') {
					r.module = p.str()
				}
				m.recovery = append(m.recovery, r)
			}
			p.expect('}')
		case "backend_config":
			m.config = p.stringOrDict()
		case "debug_attributes":
			m.debug = p.debugAttributes()
		default:
			p.fail(at, "a module has no attribute %s", shorten(name))
		}
	}
}

func (p *parser) boolOrList() []bool {
	if p.at('{') {
		return p.bools()
	}
	return []bool{p.bool()}
}

// moduleAliases reads { {0}: (1, {}, may-alias), ... }.
func (p *parser) moduleAliases() []moduleAlias {
	var list []moduleAlias
	seen := map[string]bool{}
	p.listToBrace(func() {
		at := p.tok.pos
		a := moduleAlias{valueAlias: p.alias()}
		if p.accept(',') {
			switch kind := p.name(); kind {
			case "must-alias":
				a.must = true
			case "may-alias":
			default:
				p.fail(at, "expected may-alias or must-alias, found %s", shorten(kind))
			}
		}
		p.expect(')')
		output := string(appendInts(nil, a.output))
		if seen[output] {
			p.fail(at, "output {%s} is aliased twice", output)
		}
		seen[output] = true
		list = append(list, a)
	})
	return list
}

// alias reads {0}: (1, {} of an alias, up to the closing bracket.
func (l *lexer) alias() valueAlias {
	var a valueAlias
	a.output = l.ints('{', '}')
	l.expect(':')
	l.expect('(')
	a.number = l.int64()
	l.expect(',')
	a.index = l.ints('{', '}')
	return a
}

// listToBrace reads items in braces, separated by commas; a comma may follow the last item.
func (l *lexer) listToBrace(item func()) {
	l.expect('{')
	for !l.at('}') {
		item()
		if !l.accept(',') {
			break
		}
	}
	l.expect('}')
}

// stackTables reads FileNames, FunctionNames, FileLocations and StackFrames.
func (p *parser) stackTables() {
	if !p.acceptWord("FileNames") {
		return
	}
	t := &p.m.frames
	for p.accept(intToken) {
		t.files = append(t.files, p.str())
	}
	p.expectWord("FunctionNames")
	for p.accept(intToken) {
		t.functions = append(t.functions, p.str())
	}
	p.expectWord("FileLocations")
	for p.accept(intToken) {
		var l fileLocation
		p.fields([]string{"file_name_id", "function_name_id", "line", "end_line", "column", "end_column"},
			[]*int64{&l.file, &l.function, &l.line, &l.endLine, &l.column, &l.endColumn})
		t.locations = append(t.locations, l)
	}
	p.expectWord("StackFrames")
	for p.accept(intToken) {
		var f stackFrame
		p.fields([]string{"file_location_id", "parent_frame_id"}, []*int64{&f.location, &f.parent})
		f.parent-- // the text counts from one, and one means none
		t.frames = append(t.frames, f)
	}
}

func (l *lexer) expectWord(word string) {
	if !l.acceptWord(word) {
		l.failToken("expected %s, found %s", word, l.found())
	}
}

// fields reads {name=1 name=2} with each of the names once.
func (l *lexer) fields(names []string, values []*int64) {
	at := l.tok.pos
	seen := 0
	l.expect('{')
	for !l.at('}') {
		l.accept(',')
		pos := l.tok.pos
		i := slices.Index(names, l.attrName())
		if i < 0 || seen>>i&1 != 0 {
			l.fail(pos, "expected each of %v once", names)
		}
		seen |= 1 << i
		*values[i] = l.int32()
	}
	if seen != 1<<len(names)-1 {
		l.fail(at, "expected each of %v once", names)
	}
	l.expect('}')
}

// atShape reports whether a shape starts at the current token.
func (l *lexer) atShape() bool {
	switch l.tok.kind {
	case '(':
		return true
	case identToken:
		if l.tok.text == "b" {
			return l.off < len(l.text) && l.text[l.off] == '('
		}
		_, ok := typesByName[l.tok.text]
		return ok
	}
	return false
}

// knownShape reads a shape whose text was read before, or returns nil.
func (p *parser) knownShape() *shape {
	if p.tok.kind != identToken && p.tok.kind != '(' {
		return nil
	}
	end := shapeEnd(p.text, p.tok.pos)
	if end <= 0 {
		return nil
	}
	s := p.shapes[p.text[p.tok.pos:end]]
	if s != nil {
		p.off = end
		p.next()
	}
	return s
}

// shape reads the shape of a value. It parses each text only once.
func (p *parser) shape() *shape {
	if s := p.knownShape(); s != nil {
		return s
	}
	start := p.tok.pos
	if end := shapeEnd(p.text, start); end > 0 {
		s := p.newShape()
		// The guessed end may be before or after the actual end.
		if rest := strings.TrimRight(p.text[end:max(end, p.tok.pos)], " \n\t\r"); rest == "" && p.tok.pos >= end {
			p.shapes[p.text[start:end]] = s
		}
		return s
	}
	return p.newShape()
}

// shapeEnd guesses the end of the shape that starts at off; 0 if it cannot.
func shapeEnd(text string, off int) int {
	depth := 0
	for i := off; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return 0
			}
		case ']':
			if depth > 0 {
				continue
			}
			next := i + 1
			for next < len(text) && (text[next] == ' ' || text[next] == '\n' || text[next] == '\t' || text[next] == '\r') {
				next++
			}
			if next == len(text) || text[next] != '{' && text[next] != '/' {
				return i + 1
			}
			if i+2 < len(text) && text[i+1] == '{' && (isDigit(text[i+2]) || text[i+2] == ':') {
				if n := strings.IndexByte(text[i:], '}'); n > 0 {
					return i + n + 1
				}
			}
			return 0 // perhaps a layout after blanks or a comment
		case '/', '=', '%', '"':
			if depth == 0 || text[i] != '/' && text[i] != '=' {
				return 0
			}
		}
	}
	return 0
}

// newShape reads a shape.
func (p *parser) newShape() *shape {
	p.enter()
	defer p.leave()
	if p.word("b") && p.off < len(p.text) && p.text[p.off] == '(' {
		p.next()
		p.next()
		s := p.newShape()
		if !s.isArray() {
			p.failToken("expected the type of an array in b(...), found %s", s.plain())
		}
		p.expect(')')
		return &shape{elem: bufferType, elems: []*shape{s}}
	}
	if p.at('(') {
		s := &shape{elem: tupleType}
		p.list('(', ')', func() { s.elems = append(s.elems, p.newShape()) })
		return s
	}
	elem, ok := typesByName[p.tok.text]
	if p.tok.kind != identToken || !ok {
		p.failToken("expected a type, found %s", p.found())
	}
	p.next()
	s := &shape{elem: elem}
	at := p.tok.pos
	var dynamic []bool
	p.list('[', ']', func() {
		isDynamic := false
		var d int64
		if p.accept('?') {
			d, isDynamic = unboundedSize, true
		} else {
			isDynamic = p.accept(leqToken)
			if d = p.int64(); d < 0 {
				p.fail(at, "expected a size, found %d", d)
			}
		}
		s.dims = append(s.dims, d)
		dynamic = append(dynamic, isDynamic)
	})
	if slices.Contains(dynamic, true) {
		s.dynamic = dynamic
	}
	if !s.isArray() {
		if len(s.dims) > 0 {
			p.fail(at, "type %s has no dimensions", elem)
		}
	} else {
		s.layout = defaultLayout(len(s.dims))
	}
	if !p.at('{') {
		return s
	}
	ahead := *p.lexer
	ahead.next()
	if !ahead.at(intToken) && !ahead.at(':') {
		return s
	}
	l := p.layoutText()
	if len(l.minorToMajor) != len(s.dims) {
		p.fail(at, "a layout of %d dimensions for %d dimensions", len(l.minorToMajor), len(s.dims))
	}
	seen := make([]bool, len(s.dims))
	for _, d := range l.minorToMajor {
		if d < 0 || d >= int64(len(seen)) || seen[d] {
			p.fail(at, "the dimensions of a layout must be a permutation of 0 to %d", len(seen)-1)
		}
		seen[d] = true
	}
	if !s.isArray() {
		p.fail(at, "type %s has no layout", elem)
	}
	s.layout = l
	return s
}

// layoutText reads {1,0:T(8,128)S(1)}.
func (p *parser) layoutText() *layout {
	l := &layout{tailPadding: 1}
	p.expect('{')
	if p.at(intToken) {
		for {
			l.minorToMajor = append(l.minorToMajor, p.int64())
			if !p.accept(',') {
				break
			}
		}
	}
	if p.accept(':') {
		p.layoutRest(l)
	}
	if !p.at('}') {
		p.failToken("expected '}' at the end of a layout, found %s", p.found())
	}
	p.next()
	return l
}

func (p *parser) layoutRest(l *layout) {
	if p.acceptWord("D") {
		p.list('(', ')', func() {
			if p.tok.kind != identToken || !slices.Contains([]string{"D", "C", "S", "H"}, p.tok.text) {
				p.failToken("expected D, C, S or H, found %s", p.found())
			}
			p.next()
			p.accept('+')
			p.accept('~')
		})
	}
	if p.acceptWord("T") {
		for {
			var t []int64
			p.list('(', ')', func() {
				if p.accept('*') {
					t = append(t, combineDim)
				} else {
					t = append(t, p.int64())
				}
			})
			l.tiles = append(l.tiles, t)
			if !p.at('(') {
				break
			}
		}
	}
	paren := func(word string, v *int64) {
		if p.acceptWord(word) {
			p.expect('(')
			*v = p.int64()
			p.expect(')')
		}
	}
	elem := func(punct tokenKind, t *elementType) {
		if p.accept(punct) {
			p.expect('(')
			e := typesByName[p.tok.text]
			if p.tok.kind != identToken || e.row().kind == noElements {
				p.failToken("expected an element type, found %s", p.found())
			}
			*t = e
			p.next()
			p.expect(')')
		}
	}
	paren("L", &l.tailPadding)
	elem('#', &l.indexType)
	elem('*', &l.pointerType)
	paren("E", &l.elementBits)
	paren("S", &l.memorySpace)
	if p.acceptWord("SC") {
		for {
			var s splitConfig
			p.expect('(')
			// The lexer reads "0:" as an integer and a colon, but a name and its colon as one token.
			s.dim = p.int64()
			s.indices = p.ints(':', ')')
			l.splits = append(l.splits, s)
			if !p.at('(') {
				break
			}
		}
	}
	if p.word("P") {
		p.failToken("physical shapes of sparse arrays are no longer part of HLO")
	}
	paren("M", &l.prefixBytes)
}
