package parse

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// locations holds the state of reading locations.
type locations struct {
	table   ir.LocTable
	unknown *ir.Loc                // written in the text
	stack   []*ir.Loc              // parts of the fused locations that are being read
	forward map[string]*forwardLoc // aliases that were used before their definition
	names   []string               // the keys of forward, in the order of their first uses
}

// forwardLoc is a location alias that an op or an argument uses before its definition. As in MLIR only the whole
// location of an op or argument can be one.
type forwardLoc struct {
	use *ir.Loc // stands for def in the module until the text is read
	def *ir.Loc // nil until it is read
	pos diag.Pos
}

// ParseOptionalLoc implements ir.AsmParser.
func (p *parser) ParseOptionalLoc() *ir.Loc {
	if p.tok.kind != tokWord || string(p.text()) != "loc" {
		return nil
	}
	p.next()
	return p.parenLoc("location", true)
}

// parenLoc reads a location in parentheses. Messages call it name. If forward is set, it may be an alias that is
// defined later.
func (p *parser) parenLoc(name string, forward bool) *ir.Loc {
	p.expectIn('(', "expected '(' in "+name)
	var l *ir.Loc
	if forward && p.tok.kind == tokHash {
		l = p.locAlias(true)
	} else {
		l = p.location()
	}
	p.expectIn(')', "expected ')' in "+name)
	return l
}

// locAlias returns the location that the current token, #name, names.
func (p *parser) locAlias(forward bool) *ir.Loc {
	name := p.text()
	if a, ok := p.aliases[string(name)]; ok {
		l, ok := a.attr.(*ir.LocAttr)
		if !ok {
			p.Errorf("expected location, but found '%s'", a.attr)
		}
		p.next()
		return l.Loc()
	}
	if bytes.IndexByte(name, '.') >= 0 {
		a := p.ParseAttr(nil)
		p.Errorf("expected location attribute, but got '%s'", a)
	}
	if !forward {
		p.undefinedAlias()
	}
	f := p.locs.forward[string(name)]
	if f == nil {
		f = &forwardLoc{use: &ir.Loc{}, pos: p.Pos()}
		if p.locs.forward == nil {
			p.locs.forward = map[string]*forwardLoc{}
		}
		p.locs.forward[string(name)] = f
		p.locs.names = append(p.locs.names, string(name))
	}
	p.next()
	return f.use
}

// finishLocs replaces earlier uses of location aliases by their definitions. It fails if an alias has no definition.
func (p *parser) finishLocs() {
	if len(p.errors.list) > 0 || len(p.locs.names) == 0 {
		return
	}
	defs := make(map[*ir.Loc]*ir.Loc, len(p.locs.names))
	for _, name := range p.locs.names {
		f := p.locs.forward[name]
		if f.def == nil {
			p.ErrorfAt(f.pos, "operation location alias was never defined")
		}
		defs[f.use] = f.def
	}
	p.m.Walk(func(op *ir.Op) bool {
		if l := defs[op.Loc()]; l != nil {
			op.SetLoc(l)
		}
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					if l := defs[a.Loc()]; l != nil {
						a.SetLoc(l)
					}
				}
			}
		}
		return true
	})
}

// checkLoc returns l. It fails for a location that is too long when it is written without aliases, or nested too deep.
func (p *parser) checkLoc(l *ir.Loc) *ir.Loc {
	if int64(l.Size()) > p.maxExpansion() {
		p.tooLong()
	}
	if l.Depth() > maxDepth {
		p.tooDeep(p.Pos())
	}
	return l
}

// location reads the location between the parentheses of loc(...).
func (p *parser) location() *ir.Loc {
	p.deeper()
	defer func() { p.depth-- }()
	switch p.tok.kind {
	case tokHash:
		return p.locAlias(false)
	case tokString:
		return p.fileOrName()
	case tokWord:
		switch string(p.text()) {
		case "unknown":
			p.next()
			return p.locs.unknown
		case "callsite":
			p.next()
			p.expectIn('(', "expected '(' in callsite location")
			callee := p.location()
			p.typeParser.ExpectKeyword("at")
			caller := p.location()
			p.expectIn(')', "expected ')' in callsite location")
			return p.checkLoc(p.locs.table.CallSite(callee, caller))
		case "fused":
			return p.fused()
		}
	}
	p.unexpected("expected location instance")
	panic("unreachable")
}

// fused reads fused<metadata>[parts].
func (p *parser) fused() *ir.Loc {
	var meta ir.Attr
	var size int64
	p.next()
	if p.is('<') {
		p.next()
		start, expanded := p.tok.start, p.expanded
		meta = p.ParseAttr(nil)
		size = int64(p.tok.start-start) + p.expanded - expanded
		if l, ok := meta.(*ir.LocAttr); ok {
			size += int64(l.Loc().Size())
		}
		p.expectIn('>', "expected '>' after fused location metadata")
	}
	p.expectIn('[', "expected '[' in fused location")
	mark := len(p.locs.stack)
	for more := !p.is(']'); more; more = p.comma() {
		l := p.location()
		p.locs.stack = append(p.locs.stack, l)
	}
	p.expectIn(']', "expected ']' in fused location")
	l := p.fuse(meta, size, mark)
	p.locs.stack = p.locs.stack[:mark]
	return l
}

// fuse returns the fused location of the parts on the stack from mark on. Like MLIR it flattens nested fused locations
// with the same metadata and drops repeated and unknown parts; a single part without metadata stands for itself. size
// is the length of the metadata's text in bytes.
func (p *parser) fuse(meta ir.Attr, size int64, mark int) *ir.Loc {
	list := p.locs.stack[mark:]
	flat := true
	for _, l := range list {
		flat = flat && !(l.Kind() == ir.LocFused && sameMetadata(l.Metadata(), meta))
	}
	out := list[:0]
	if !flat {
		out = nil
	}
	var seen map[*ir.Loc]struct{} // equal locations are one pointer
	add := func(l *ir.Loc) {
		if len(out) < 16 {
			if slices.Contains(out, l) {
				return
			}
		} else {
			if seen == nil {
				seen = make(map[*ir.Loc]struct{}, len(list))
				for _, o := range out {
					seen[o] = struct{}{}
				}
			}
			if _, dup := seen[l]; dup {
				return
			}
			seen[l] = struct{}{}
		}
		out = append(out, l)
	}
	for _, l := range list {
		switch {
		case !flat && l.Kind() == ir.LocFused && sameMetadata(l.Metadata(), meta):
			for _, c := range l.Children() {
				add(c)
			}
		case l.Kind() != ir.LocUnknown || l != p.locs.unknown:
			add(l)
		}
	}
	switch {
	case len(out) == 0 && meta == nil:
		return p.locs.unknown
	case len(out) == 0:
		out = append(out, p.locs.unknown)
	case len(out) == 1 && meta == nil:
		return out[0]
	}
	if p.fusedParts += int64(len(out)); p.fusedParts > p.maxFused() {
		p.tooLong()
	}
	return p.checkLoc(p.locs.table.Fused(meta, size, out))
}

func sameMetadata(a, b ir.Attr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return ir.EqualAttrs(a, b)
}

// fileOrName reads "name", "name"(child), or "file":line:col with an optional end.
func (p *parser) fileOrName() *ir.Loc {
	name := unquote(p.text())
	p.next()
	if !p.is(':') {
		if !p.is('(') {
			return p.checkLoc(p.locs.table.Name(name, nil))
		}
		p.next()
		child := p.location()
		p.expectIn(')', "expected ')' after child location of NameLoc")
		return p.checkLoc(p.locs.table.Name(name, child))
	}
	p.next()
	line := p.lineNumber("expected integer line number in FileLineColRange")
	if !p.is(':') {
		return p.checkLoc(p.locs.table.File(name, line, 0, 0, 0))
	}
	p.next()
	col := p.lineNumber("expected integer column number in FileLineColRange")
	if p.tok.kind != tokWord || string(p.text()) != "to" {
		return p.checkLoc(p.locs.table.File(name, line, col, 0, 0))
	}
	p.next()
	endLine := line
	if p.tok.kind == tokInteger {
		endLine = p.lineNumber("expected integer line number in FileLineColRange")
	}
	p.expectIn(':', "expected either integer or `:` post `to` in FileLineColRange")
	endCol := p.lineNumber("expected integer column number in FileLineColRange")
	return p.checkLoc(p.locs.table.File(name, line, col, endLine, endCol))
}

// lineNumber reads a line or column number.
func (p *parser) lineNumber(problem string) uint32 {
	if p.tok.kind != tokInteger {
		p.Errorf("%s", problem)
	}
	n, err := strconv.ParseUint(str(p.text()), 10, 32)
	if err != nil || n > math.MaxUint32 {
		p.Errorf("%s", problem)
	}
	p.next()
	return uint32(n)
}
