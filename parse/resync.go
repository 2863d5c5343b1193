package parse

import (
	"bytes"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// bailout is the panic value of a mistake. Reading resumes where it is recovered. d is nil if the mistake was
// reported already.
type bailout struct{ d *diag.Diagnostic }

// errors holds the mistakes found so far.
type errors struct {
	list diag.List
	max  int // mistakes after which reading stops
	// fatal is set if reading cannot usefully resume after a mistake, or not in reasonable time. It is not in the panic
	// value: functions that recover and panic again at each of many levels take time quadratic in their number.
	fatal bool
}

// add adds a mistake. It drops a second mistake at the same place, which only follows from the first: at the end of a
// truncated text every open region misses its '}'.
func (e *errors) add(d *diag.Diagnostic) {
	if n := len(e.list); n == 0 || e.list[n-1].Pos != d.Pos {
		e.list.Add(d)
	}
}

// err returns the mistakes as one error.
func (e *errors) err() error {
	if len(e.list) == 1 {
		return e.list[0]
	}
	return e.list
}

// report adds a mistake, and ends the reading if it is the last one to report.
func (p *parser) report(d *diag.Diagnostic) {
	p.errors.add(d)
	if len(p.errors.list) >= p.errors.max {
		p.errors.fatal = true
		panic(bailout{})
	}
}

// maxSkipLevel is the deepest level of ops at which a wrong op is skipped alone; below it, the op around it is skipped
// too. Each level recovers and repeats the panic of the levels inside it, so without a limit the time would grow with
// the square of the depth.
const maxSkipLevel = 100

// operationOrSkip reads one op. If several mistakes are to be reported, it skips a wrong op: reading resumes with the
// next op of the block, and the values that the skipped op defines may be of any type.
func (p *parser) operationOrSkip(b *ir.Block) {
	if p.errors.max <= 1 || p.ops.level > maxSkipLevel {
		p.operation(b)
		return
	}
	start, before := p.tok, p.mark()
	defer func() {
		if p.errors.fatal {
			return // the panic continues, if there is one
		}
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(bailout)
		if !ok || e.d.Pos.Offset() >= len(p.src) { // a bug of hlocb, or nothing is left to read
			p.errors.fatal = true
			panic(r)
		}
		p.restore(before)
		p.report(e.d)
		p.bindRefused(start)
		p.skipOp(start, e.d.Pos.Offset())
	}()
	p.operation(b)
}

// state says how much of each stack is in use between two ops.
type state struct {
	depth, level, defaults, attrs, types, locs int
	blocks                                     *blockScope
	scope                                      *scope
	regions                                    int // open in scope
}

// mark returns the state for restore.
func (p *parser) mark() state {
	return state{p.depth, p.ops.level, len(p.ops.defaults), len(p.ops.attrs), len(p.ops.types), len(p.locs.stack),
		p.values.blocks, p.values.scope, len(p.values.scope.regions)}
}

// restore drops everything that a mistake left unfinished since mark returned s.
func (p *parser) restore(s state) {
	p.depth, p.ops.level, p.values.blocks = s.depth, s.level, s.blocks
	p.ops.defaults, p.ops.attrs, p.ops.types = p.ops.defaults[:s.defaults], p.ops.attrs[:s.attrs], p.ops.types[:s.types]
	p.locs.stack = p.locs.stack[:s.locs]
	for p.values.scope != s.scope {
		*p.values.scope = scope{}
		p.values.leaveScope()
	}
	for len(s.scope.regions) > s.regions {
		s.scope.leaveRegion()
	}
	for _, args := range p.ops.directives {
		if args != nil {
			args.busy = false
		}
	}
}

// bindRefused binds the result names before a refused op to no value.
func (p *parser) bindRefused(start token) {
	p.tok = start
	for p.tok.kind == tokPercent {
		name, pos := p.text()[1:], p.Pos()
		p.next()
		if p.is(':') {
			p.next()
			p.next()
		}
		if _, dup := p.values.scope.lookup(name); !dup {
			for key := range p.values.scope.forward {
				if key.name == string(name) {
					delete(p.values.scope.forward, key)
				}
			}
			p.bind(name, binding{n: 1, pos: pos})
		}
		if !p.is(',') {
			return
		}
		p.next()
	}
}

// skipOp moves to the first token that may start an op or a block or end the region: one that is first on its line,
// after the mistake, and outside the brackets that the op opened.
func (p *parser) skipOp(start token, bad int) {
	p.lexAt(start.start)
	open := 0
	for {
		if p.tok.kind == tokEOF {
			return
		}
		if p.tok.start > start.start && (p.tok.start > bad || p.is('}')) {
			if open <= 0 && (p.is('}') || p.firstOnLine() && p.startsOp()) {
				return
			}
			// A missing bracket may be the mistake: a line that surely starts an op ends the search, too.
			if p.tok.start > bad && p.firstOnLine() && p.surelyStarts() {
				return
			}
		}
		if p.tok.kind == tokPunct {
			switch p.tok.punct {
			case '(', '[', '{':
				open++
			case ')', ']', '}':
				open--
			}
		}
		if p.tok.kind == tokError {
			p.lexAt(p.tok.start + 1)
			continue
		}
		p.next()
	}
}

// firstOnLine reports whether the current token is the first of its line.
func (p *parser) firstOnLine() bool {
	src := p.src
	for i := p.tok.start - 1; i >= 0; i-- {
		switch src[i] {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
	return true
}

// startsOp reports whether the current token may start an op or a block.
func (p *parser) startsOp() bool {
	switch p.tok.kind {
	case tokPercent, tokString, tokWord, tokCaret:
		return true
	}
	return false
}

// surelyStarts reports whether the current token starts %name =, %name:n =, "name"( or dialect.name not followed by =.
func (p *parser) surelyStarts() bool {
	src := p.src
	i := p.skipSpace(p.tok.end)
	if i >= len(src) {
		return false
	}
	switch p.tok.kind {
	case tokPercent:
		return src[i] == '=' || src[i] == ':' && i == p.tok.end
	case tokString:
		return src[i] == '(' && i == p.tok.end
	case tokWord:
		return src[i] != '=' && bytes.IndexByte(p.text(), '.') > 0
	}
	return false
}
