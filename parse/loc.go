package parse

import (
	"bytes"
	"math"
	"strconv"

	"github.com/hlocb/hlocb/ir"
)

// ParseOptionalLoc implements ir.AsmParser.
func (p *parser) ParseOptionalLoc() *ir.Loc {
	if p.tok.kind != tokWord || string(p.text()) != "loc" {
		return nil
	}
	return p.trailingLoc()
}

// trailingLoc reads loc(...) behind an op or argument; the current token is loc. Aliases may be defined later.
func (p *parser) trailingLoc() *ir.Loc {
	start := p.tok.start
	p.next()
	p.expectIn('(', "expected '(' in location")
	if p.tok.kind == tokHash {
		l := p.locAlias()
		p.expectIn(')', "expected ')' in location")
		return l
	}
	if end := p.closing(p.tok.start, 128); end > 0 {
		text := p.lexer.src[start:end]
		if l := p.locs[string(text)]; l != nil {
			p.lexAt(end)
			return l
		}
		l := p.location()
		p.locs[str(text)] = l
		p.expectIn(')', "expected ')' in location")
		return l
	}
	l := p.location()
	p.expectIn(')', "expected ')' in location")
	return l
}

// closing returns the offset behind the ')' that closes the parenthesis around offset i, if it stands within limit
// bytes and no string with escapes is in between, else 0.
func (p *parser) closing(i, limit int) int {
	src := p.lexer.src
	depth := 1
	for end := min(len(src), i+limit); i < end; i++ {
		switch src[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			n := bytes.IndexByte(src[i+1:end], '"')
			if n < 0 {
				return 0
			}
			i += n + 1
		case '\\', '\n', '#':
			return 0
		}
	}
	return 0
}

// locAlias returns the location that the current token, #name, stands for.
func (p *parser) locAlias() *ir.Loc {
	name := p.text()
	if a, ok := p.attrAliases[string(name)]; ok {
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
	f := p.forwardLocs[string(name)]
	if f == nil {
		f = &forwardLoc{loc: ir.NewForwardLoc(), pos: p.Pos()}
		p.forwardLocs[string(name)] = f
		p.forwardSeq = append(p.forwardSeq, string(name))
	}
	p.next()
	return f.loc
}

// location reads what stands in loc(...).
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
			p.ExpectKeyword("at")
			caller := p.location()
			p.expectIn(')', "expected ')' in callsite location")
			return p.internLoc(ir.NewCallSiteLoc(callee, caller))
		case "fused":
			return p.fused()
		}
	}
	p.Errorf("expected location instance")
	panic("unreachable")
}

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
	var list []*ir.Loc
	for !p.is(']') {
		list = append(list, p.location())
		if !p.is(',') {
			break
		}
		p.next()
	}
	p.expectIn(']', "expected ']' in fused location")
	p.metaSize = size
	return p.fuse(meta, list)
}

// fuse builds a fused location as MLIR does: nested ones of the same metadata are flattened, repeated and unknown
// ones dropped, and a single one without metadata stands for itself.
func (p *parser) fuse(meta ir.Attr, list []*ir.Loc) *ir.Loc {
	var out []*ir.Loc
	seen := map[*ir.Loc]bool{} // equal locations are one pointer, see internLoc
	add := func(l *ir.Loc) {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	for _, l := range list {
		switch {
		case l.Kind() == ir.LocFused && sameMetadata(l.Metadata(), meta):
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
	if p.fusedParts += int64(len(out)); p.fusedParts > 1<<20+int64(len(p.lexer.src)) {
		p.tooLong() // nested fused locations become one, each time with all parts of the one before
	}
	l := ir.NewFusedLoc(meta, out)
	l.Enlarge(p.metaSize)
	return p.internLoc(l)
}

func sameMetadata(a, b ir.Attr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return ir.EqualAttrs(a, b)
}

func (p *parser) fileOrName() *ir.Loc {
	name := unquote(p.text())
	p.next()
	if !p.is(':') {
		if !p.is('(') {
			return p.internLoc(ir.NewNameLoc(name, nil))
		}
		p.next()
		child := p.location()
		p.expectIn(')', "expected ')' after child location of NameLoc")
		return p.internLoc(ir.NewNameLoc(name, child))
	}
	p.next()
	line := p.lineNumber("expected integer line number in FileLineColRange")
	if !p.is(':') {
		return p.internLoc(ir.NewFileLoc(name, line, 0))
	}
	p.next()
	col := p.lineNumber("expected integer column number in FileLineColRange")
	if p.tok.kind != tokWord || string(p.text()) != "to" {
		return p.internLoc(ir.NewFileLoc(name, line, col))
	}
	p.next()
	endLine := line
	if p.tok.kind == tokInteger {
		endLine = p.lineNumber("expected integer line number in FileLineColRange")
	}
	p.expectIn(':', "expected either integer or `:` post `to` in FileLineColRange")
	endCol := p.lineNumber("expected integer column number in FileLineColRange")
	return p.internLoc(ir.NewFileRangeLoc(name, line, col, endLine, endCol))
}

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
