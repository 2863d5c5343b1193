package parse

import (
	"github.com/hlocb/hlocb/ir"
)

// attrAlias is what an alias of an attribute stands for, and how long its text is in bytes and how deep it is nested when
// all aliases in it are written out.
type attrAlias struct {
	attr  ir.Attr
	size  int64
	depth int32
}

// typeAlias is the same of a type.
type typeAlias struct {
	typ   ir.Type
	size  int64
	depth int32
}

// maxExpansion returns how long the text may be that all uses of aliases stand for, in bytes. Aliases of aliases can
// double at every step, and a long one can be used often, so that a short text would stand for more than any memory
// holds: few aliases are printed as aliases.
func (p *parser) maxExpansion() int64 { return 1<<22 + 8*int64(len(p.lexer.src)) }

// expand counts a use of an alias whose text has the given size and depth.
func (p *parser) expand(size int64, depth int32) {
	if p.expanded += size; p.expanded > p.maxExpansion() {
		p.tooLong()
	}
	if p.deepest = max(p.deepest, p.depth+int(depth)); p.depth+int(depth) > maxDepth {
		p.tooDeep(p.Pos())
	}
}

func (p *parser) tooLong() {
	p.fatal = true
	p.Errorf("more than %d bytes when the aliases used so far are written out", p.maxExpansion())
}

// checkLoc fails for a location that is too large when it is written without aliases, or too deep.
func (p *parser) checkLoc(l *ir.Loc) {
	if int64(l.Size()) > p.maxExpansion() {
		p.tooLong()
	}
	if l.Depth() > maxDepth {
		p.tooDeep(p.Pos())
	}
}

// sizeLocs checks the locations that were made of others before those were defined: their sizes, and that none is part
// of itself, be it by an attribute that a fused location carries.
func (p *parser) sizeLocs() {
	if len(p.unsized) == 0 {
		return
	}
	const open = -1
	known := map[*ir.Loc]int{} // depth, or open
	for _, l := range p.unsized {
		known[l] = 0
	}
	var size func(l *ir.Loc) int
	var carried func(a ir.Attr) (size int64, depth int)
	carried = func(a ir.Attr) (bytes int64, depth int) { // of the locations in a, each as often as it stands there
		p.deeper()
		defer func() { p.depth-- }()
		part := func(a ir.Attr) {
			n, d := carried(a)
			if bytes += n; bytes > p.maxExpansion() {
				p.tooLong()
			}
			depth = max(depth, d+1)
		}
		switch a := a.(type) {
		case *ir.LocAttr:
			depth = size(a.Loc())
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
	size = func(l *ir.Loc) int {
		d, todo := known[l]
		switch {
		case !todo:
			return l.Depth()
		case d == open:
			p.Errorf("a location is part of itself")
		case d > 0:
			return d
		}
		known[l] = open
		p.deeper()
		for _, c := range l.Children() {
			size(c)
		}
		bytes, depth := carried(l.Metadata())
		p.depth--
		l.Measure(uint64(bytes), depth)
		p.checkLoc(l)
		known[l] = max(l.Depth(), 1)
		return known[l]
	}
	for _, l := range p.unsized {
		size(l)
	}
}

// made checks a location that was just made of others, where it is a new one, and returns it.
func (p *parser) made(l *ir.Loc) *ir.Loc {
	switch {
	case len(p.forwardLocs)+len(p.unsized) > 0 && len(l.Children()) > 0:
		if p.locs.Fresh() {
			l.Open()
			p.unsized = append(p.unsized, l)
		}
	default:
		p.checkLoc(l)
	}
	return l
}
