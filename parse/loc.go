package parse

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// locations holds the state of reading locations. The alias of a location may be defined after its uses.
type locations struct {
	table   ir.LocTable
	stack   []*ir.Loc              // parts of the fused locations that are being read
	forward map[string]*forwardLoc // aliases that were used and are not defined yet
	names   []string               // of all that were in forward, in the order of their first uses
	open    []*ir.Loc              // locations made of parts that were not defined yet
}

// forwardLoc is a location alias that is used before it is defined.
type forwardLoc struct {
	loc *ir.Loc
	pos diag.Pos
}

// ParseOptionalLoc implements ir.AsmParser.
func (p *parser) ParseOptionalLoc() *ir.Loc {
	if p.tok.kind != tokWord || string(p.text()) != "loc" {
		return nil
	}
	p.next()
	return p.parenLoc("location")
}

// parenLoc reads a location in parentheses. Messages call it what.
func (p *parser) parenLoc(what string) *ir.Loc {
	p.expectIn('(', "expected '(' in "+what)
	l := p.location()
	p.expectIn(')', "expected ')' in "+what)
	return l
}

// locAlias returns the location that the current token, #name, names.
func (p *parser) locAlias() *ir.Loc {
	name := p.text()
	if a, ok := p.aliases.attrs[string(name)]; ok {
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
	f := p.locs.forward[string(name)]
	if f == nil {
		f = &forwardLoc{loc: ir.NewForwardLoc(), pos: p.Pos()}
		if p.locs.forward == nil {
			p.locs.forward = map[string]*forwardLoc{}
		}
		p.locs.forward[string(name)] = f
		p.locs.names = append(p.locs.names, string(name))
	}
	p.next()
	return f.loc
}

// defineLoc completes the location f, which the alias name at pos defines as l.
func (p *parser) defineLoc(name string, f *forwardLoc, l *ir.Loc, pos diag.Pos) {
	if l == f.loc {
		p.ErrorfAt(pos, "a location is part of itself")
	}
	f.loc.Define(l)
	p.locs.open = append(p.locs.open, f.loc)
	delete(p.locs.forward, name)
}

// finishLocs fails for location aliases without a definition, and checks the locations that were made of parts defined
// later.
func (p *parser) finishLocs() {
	if len(p.errors.list) > 0 {
		return
	}
	for _, name := range p.locs.names {
		if f := p.locs.forward[name]; f != nil {
			p.ErrorfAt(f.pos, "operation location alias was never defined")
		}
	}
	known := map[*ir.Loc]int{}
	for _, l := range p.locs.open {
		known[l] = unmeasured
	}
	for _, l := range p.locs.open {
		p.measureLoc(l, known)
	}
}

// Depths of locations that measureLoc has not measured, or is measuring.
const (
	unmeasured = 0
	measuring  = -1
)

// measureLoc returns the depth of l. It computes the depth and size of the locations in known and fails if l is part of
// itself, also through an attribute that a fused location carries.
func (p *parser) measureLoc(l *ir.Loc, known map[*ir.Loc]int) int {
	d, open := known[l]
	switch {
	case !open:
		return l.Depth()
	case d == measuring:
		p.Errorf("a location is part of itself")
	case d > 0:
		return d
	}
	known[l] = measuring
	p.deeper()
	for _, c := range l.Children() {
		p.measureLoc(c, known)
	}
	bytes, depth := p.measureCarried(l.Metadata(), known)
	p.depth--
	l.Measure(uint64(bytes), depth)
	p.checkLoc(l)
	known[l] = max(l.Depth(), 1)
	return known[l]
}

// measureCarried returns the size in bytes and the depth of the locations in a. A location counts as often as it occurs.
func (p *parser) measureCarried(a ir.Attr, known map[*ir.Loc]int) (bytes int64, depth int) {
	p.deeper()
	defer func() { p.depth-- }()
	part := func(a ir.Attr) {
		n, d := p.measureCarried(a, known)
		if bytes += n; bytes > p.maxExpansion() {
			p.tooLong()
		}
		depth = max(depth, d+1)
	}
	switch a := a.(type) {
	case *ir.LocAttr:
		depth = p.measureLoc(a.Loc(), known)
		bytes = int64(a.Loc().Size())
	case *ir.ArrayAttr:
		for _, e := range a.Elems() {
			part(e)
		}
	case *ir.DictAttr:
		for _, e := range a.Entries() {
			part(e.Attr)
		}
	}
	return bytes, depth
}

// checkLoc fails for a location that is too long when it is written without aliases, or nested too deep.
func (p *parser) checkLoc(l *ir.Loc) {
	if int64(l.Size()) > p.maxExpansion() {
		p.tooLong()
	}
	if l.Depth() > maxDepth {
		p.tooDeep(p.Pos())
	}
}

// checked returns l, which the table of locations returned last, after checking it. A location with parts that are not
// defined yet is checked at the end.
func (p *parser) checked(l *ir.Loc) *ir.Loc {
	switch {
	case len(p.locs.forward)+len(p.locs.open) > 0 && len(l.Children()) > 0:
		if p.locs.table.Fresh() {
			l.Open()
			p.locs.open = append(p.locs.open, l)
		}
	default:
		p.checkLoc(l)
	}
	return l
}

// location reads the location between the parentheses of loc(...).
func (p *parser) location() *ir.Loc {
	p.deeper()
	defer func() { p.depth-- }()
	switch p.tok.kind {
	case tokHash:
		return p.locAlias()
	case tokString:
		return p.fileOrName()
	case tokWord:
		switch string(p.text()) {
		case "unknown":
			p.next()
			return p.ctx.UnknownLoc()
		case "callsite":
			p.next()
			p.expectIn('(', "expected '(' in callsite location")
			callee := p.location()
			p.asm.ExpectKeyword("at")
			caller := p.location()
			p.expectIn(')', "expected ')' in callsite location")
			return p.checked(p.locs.table.CallSite(callee, caller))
		case "fused":
			return p.fused()
		}
	}
	p.wrong("expected location instance")
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

// fuse returns the fused location of the parts on the stack from mark on. Like MLIR it flattens nested fused locations with
// the same metadata and drops repeated and unknown parts; a single part without metadata stands for itself. size is the
// length of the metadata's text in bytes.
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
		case l.Kind() != ir.LocUnknown || l != p.ctx.UnknownLoc():
			add(l)
		}
	}
	switch {
	case len(out) == 0 && meta == nil:
		return p.ctx.UnknownLoc()
	case len(out) == 0:
		out = append(out, p.ctx.UnknownLoc())
	case len(out) == 1 && meta == nil:
		return out[0]
	}
	if p.fusedParts += int64(len(out)); p.fusedParts > p.maxFused() {
		p.tooLong()
	}
	return p.checked(p.locs.table.Fused(meta, size, out))
}

func sameMetadata(a, b ir.Attr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return ir.EqualAttrs(a, b)
}

// fileOrName reads "name", "name"(child), or "file":line:col with an optional end.
func (p *parser) fileOrName() *ir.Loc {
	name := unquoted(p.text())
	p.next()
	if !p.is(':') {
		if !p.is('(') {
			return p.checked(p.locs.table.Name(name, nil))
		}
		p.next()
		child := p.location()
		p.expectIn(')', "expected ')' after child location of NameLoc")
		return p.checked(p.locs.table.Name(name, child))
	}
	p.next()
	line := p.lineNumber("expected integer line number in FileLineColRange")
	if !p.is(':') {
		return p.checked(p.locs.table.File(name, line, 0, 0, 0))
	}
	p.next()
	col := p.lineNumber("expected integer column number in FileLineColRange")
	if p.tok.kind != tokWord || string(p.text()) != "to" {
		return p.checked(p.locs.table.File(name, line, col, 0, 0))
	}
	p.next()
	endLine := line
	if p.tok.kind == tokInteger {
		endLine = p.lineNumber("expected integer line number in FileLineColRange")
	}
	p.expectIn(':', "expected either integer or `:` post `to` in FileLineColRange")
	endCol := p.lineNumber("expected integer column number in FileLineColRange")
	return p.checked(p.locs.table.File(name, line, col, endLine, endCol))
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
