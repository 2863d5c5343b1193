package parse

import (
	"bytes"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// report adds a mistake and goes on, or ends the reading where that was the last to be reported.
func (p *parser) report(d *diag.Diagnostic) {
	p.addError(d)
	if len(p.errors) >= p.maxErrors {
		p.fatal = true
		panic(bailout{})
	}
}

// addError adds a mistake. A second one at the same place only follows from the first: at the end of a truncated text
// every region that is open misses its '}'.
func (p *parser) addError(d *diag.Diagnostic) {
	if n := len(p.errors); n == 0 || p.errors[n-1].Pos != d.Pos {
		p.errors.Add(d)
	}
}

// maxSkipLevel is how deep in ops a mistake is skipped where it is; below, it is skipped with the op around it. Each level
// recovers from and repeats the panic that ends the reading on top of the stack of those inside of it, so without a
// limit the time would grow with the square of the depth.
const maxSkipLevel = 100

// operationOrSkip reads one op. Where several mistakes are to be reported, one that is wrong is skipped: reading goes
// on with the next op of the block, and the values that the op defines are taken to be of any type.
func (p *parser) operationOrSkip(b *ir.Block) {
	if p.maxErrors <= 1 || p.level > maxSkipLevel {
		p.operation(b)
		return
	}
	start, level, depth := p.tok, p.level, p.depth
	types, locs := len(p.typeStack), len(p.locStack)
	s, marks, blocks, defaults, scratch := p.scope, len(p.scope.order), p.blocks, len(p.defaults), len(p.scratch)
	defer func() {
		if p.fatal {
			return // the panic goes on, if there is one
		}
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(bailout)
		if !ok || e.d.Pos.Offset() >= len(p.lexer.src) { // a bug of ours; nothing is left to go on with
			p.fatal = true
			panic(r)
		}
		p.level, p.depth, p.blocks = level, depth, blocks
		p.defaults, p.scratch, p.typeStack = p.defaults[:defaults], p.scratch[:scratch], p.typeStack[:types]
		p.locStack = p.locStack[:locs]
		p.leave(s, marks)
		for _, pre := range p.prepared {
			if pre != nil {
				pre.busy = false
			}
		}
		p.report(e.d)
		p.poison(start)
		p.skipOp(start, e.d.Pos.Offset())
	}()
	p.operation(b)
}

// leave drops the scopes that a mistake left open, without asking whether all of their values are defined.
func (p *parser) leave(s *scope, marks int) {
	for p.scope != s {
		inner := p.scope
		p.scope = inner.parent
		*inner = scope{names: map[string]binding{}}
	}
	for len(s.order) > marks {
		mark := s.order[len(s.order)-1]
		s.order = s.order[:len(s.order)-1]
		for _, name := range s.log[mark.names:] {
			delete(s.names, name)
		}
		for _, n := range s.numLog[mark.nums:] {
			s.nums[n] = binding{}
		}
		s.log, s.numLog = s.log[:mark.names], s.numLog[:mark.nums]
	}
}

// poison binds the result names in front of a refused op to nothing.
func (p *parser) poison(start token) {
	p.tok = start
	for p.tok.kind == tokPercent {
		name, pos := p.text()[1:], p.Pos()
		p.next()
		if p.is(':') {
			p.next()
			p.next()
		}
		if _, dup := p.scope.lookup(name); !dup {
			for key := range p.scope.forward {
				if key.name == string(name) {
					delete(p.scope.forward, key)
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

// skipOp goes to the first token that may start an op, a block or the end of the region: one that is first on its line,
// behind the mistake, and outside of the brackets that the op opened.
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
			// A bracket may be what is missing: a line that surely starts an op ends the search, too.
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

func (p *parser) firstOnLine() bool {
	src := p.lexer.src
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

func (p *parser) startsOp() bool {
	switch p.tok.kind {
	case tokPercent, tokString, tokWord, tokCaret:
		return true
	}
	return false
}

// surelyStarts reports whether the current token starts %name =, %name:n =, "name"( or dialect.name not followed by =.
func (p *parser) surelyStarts() bool {
	src := p.lexer.src
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
