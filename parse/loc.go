package parse

import (
	"bytes"
	"math"
	"slices"
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
	p.next()
	p.expectIn('(', "expected '(' in location")
	if p.tok.kind == tokHash {
		l := p.locAlias()
		p.expectIn(')', "expected ')' in location")
		return l
	}
	l := p.location()
	p.expectIn(')', "expected ')' in location")
	return l
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
			return p.made(p.locs.CallSite(callee, caller))
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
	mark := len(p.locStack)
	for !p.is(']') {
		l := p.location()
		p.locStack = append(p.locStack, l)
		if !p.is(',') {
			break
		}
		p.next()
	}
	p.expectIn(']', "expected ']' in fused location")
	l := p.fuse(meta, size, mark)
	p.locStack = p.locStack[:mark]
	return l
}

// fuse builds a fused location of those on the stack from mark on as MLIR does: nested ones of the same metadata are
// flattened, repeated and unknown ones dropped, and a single one without metadata stands for itself. size is the length
// of the metadata's text.
func (p *parser) fuse(meta ir.Attr, size int64, mark int) *ir.Loc {
	list := p.locStack[mark:]
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
	if p.fusedParts += int64(len(out)); p.fusedParts > 1<<20+int64(len(p.lexer.src)) {
		p.tooLong() // nested fused locations become one, each time with all parts of the one before
	}
	return p.made(p.locs.Fused(meta, size, out))
}

func sameMetadata(a, b ir.Attr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return ir.EqualAttrs(a, b)
}

func (p *parser) fileOrName() *ir.Loc {
	name := unquoted(p.text())
	p.next()
	if !p.is(':') {
		if !p.is('(') {
			return p.made(p.locs.Name(name, nil))
		}
		p.next()
		child := p.location()
		p.expectIn(')', "expected ')' after child location of NameLoc")
		return p.made(p.locs.Name(name, child))
	}
	p.next()
	line := p.lineNumber("expected integer line number in FileLineColRange")
	if !p.is(':') {
		return p.made(p.locs.File(name, line, 0, 0, 0))
	}
	p.next()
	col := p.lineNumber("expected integer column number in FileLineColRange")
	if p.tok.kind != tokWord || string(p.text()) != "to" {
		return p.made(p.locs.File(name, line, col, 0, 0))
	}
	p.next()
	endLine := line
	if p.tok.kind == tokInteger {
		endLine = p.lineNumber("expected integer line number in FileLineColRange")
	}
	p.expectIn(':', "expected either integer or `:` post `to` in FileLineColRange")
	endCol := p.lineNumber("expected integer column number in FileLineColRange")
	return p.made(p.locs.File(name, line, col, endLine, endCol))
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
