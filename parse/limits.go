package parse

import (
	"github.com/hlocb/hlocb/diag"
)

// maxDepth is the deepest nesting of regions, types, attributes and locations.
const maxDepth = 10000

// limits bounds the depth of a module and the size of each alias by the text that it is read from. Aliases of aliases
// can double at every step. A short text could therefore stand for more than any memory holds. Uses of an alias share
// its value, so they have no limit.
type limits struct {
	bytes      int   // length of the source
	depth      int   // of the brackets around the current token
	deepest    int   // largest depth in the alias definition that is being read, with the aliases in it written out
	expanded   int64 // bytes of the text that the aliases used so far stand for, to measure an alias by two of its values
	copied     int64 // bytes of the text of aliases that was copied
	fusedParts int64 // parts of the fused locations read so far
}

// maxExpansion returns the largest length in bytes of the text that one alias stands for, and of the text of aliases
// that is copied.
func (l *limits) maxExpansion() int64 { return 1<<28 + 8*int64(l.bytes) }

// maxFused returns the largest number of parts of all fused locations. Nested fused locations become one, each time
// with all parts of the one before.
func (l *limits) maxFused() int64 { return 1<<20 + int64(l.bytes) }

// deeper guards a recursion; the caller must call p.depth-- when it returns.
func (p *parser) deeper() {
	if p.depth++; p.depth > maxDepth {
		p.tooDeep(p.Pos())
	}
	p.deepest = max(p.deepest, p.depth)
}

// tooDeep ends the reading: resuming after each of so many open brackets would take too long.
func (p *parser) tooDeep(pos diag.Pos) {
	p.errors.fatal = true
	p.ErrorfAt(pos, "nesting is deeper than %d levels", maxDepth)
}

// tooLong ends the reading of a text with an alias that stands for too much.
func (p *parser) tooLong() {
	p.errors.fatal = true
	p.Errorf("more than %d bytes when the aliases used here are written out", p.maxExpansion())
}

// expand counts a use of an alias.
func (p *parser) expand(x extent) {
	p.expanded += x.size
	if p.deepest = max(p.deepest, p.depth+int(x.depth)); p.depth+int(x.depth) > maxDepth {
		p.tooDeep(p.Pos())
	}
}
