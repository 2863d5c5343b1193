package parse

import (
	"bytes"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// verbatim reads the assembly of an op whose dialect nobody registered. Only that dialect could read it, so the parser
// keeps the text. The values in the text become operands, because they may be renamed. The text ends at the end of its
// line or of the region, or before a known op after its types, with all brackets closed. Text that may hide definitions
// is refused: regions, block labels, names before '='. Results have the types at the end of the text, or the types that
// their uses require.
func (p *parser) verbatim(def *ir.Def, names []resultName) *ir.Op {
	pos := p.Pos()
	start := p.tok
	p.next()
	f := p.enter(def, pos)
	st := &f.st
	var pieces []string
	src := p.src
	from, end := start.end, start.end
	var open []byte // the brackets to be closed, innermost last
	types := -1
	for !p.statementEnds(len(open), types >= 0) {
		at := p.tok
		switch {
		case at.kind == tokEOF, at.kind == tokError, at.kind == tokCaret:
			p.unreadable(start)
		case at.kind == tokPercent:
			o := p.ParseOperand()
			if p.is('=') {
				p.unreadable(start)
			}
			pieces = append(pieces, string(src[from:at.start]))
			st.Operands = append(st.Operands, p.untyped(&o))
			from, end = p.lastEnd(o), p.lastEnd(o)
			if from < len(src) && (class[src[from]]&clsSuffix != 0 || src[from] == '#') {
				p.unreadable(start)
			}
			continue
		case at.kind == tokHash, at.kind == tokBang:
			if text, ok := p.aliasText(); ok {
				pieces = append(pieces, string(src[from:at.start])+text)
				st.Operands = append(st.Operands, nil)
				from, end = at.end, at.end
				p.next()
				continue
			}
		case at.kind == tokPunct:
			switch at.punct {
			case '(', '[', '{', '<':
				open = append(open, closing[at.punct])
				if at.punct == '{' && p.holdsLines() {
					p.unreadable(start)
				}
			case ')', ']', '}', '>':
				if len(open) == 0 || open[len(open)-1] != at.punct {
					p.unreadable(start)
				}
				open = open[:len(open)-1]
			case ':', punctArrow:
				if len(open) == 0 {
					types = at.end
				}
			case punctMetaOpen, punctMetaEnd:
				p.unreadable(start)
			}
		}
		end = at.end
		p.next()
	}
	next := p.tok
	pieces = append(pieces, string(src[from:end]))
	st.Types = p.trailingTypes(st.Types, types, end, names)
	p.tok = next
	pieces, st.Operands = joinPieces(pieces, st.Operands)
	st.Def, st.Verbatim = def, pieces
	guessed := len(st.Types)
	op := p.finish(f, nil)
	for i := range guessed {
		p.markGuessed(op.Result(i))
	}
	return op
}

// lastEnd returns the offset after o, the operand read last.
func (p *parser) lastEnd(o ir.Operand) int {
	src := p.src
	i := o.Pos.Offset() + 1 + len(o.Name)
	if i < len(src) && src[i] == '#' {
		for i++; i < len(src) && class[src[i]]&clsDigit != 0; i++ {
		}
	}
	return i
}

// joinPieces joins the pieces around each nil operand, which an alias left, and drops the operand.
func joinPieces(pieces []string, operands []*ir.Value) ([]string, []*ir.Value) {
	out, values := pieces[:1], operands[:0]
	for i, v := range operands {
		if v == nil {
			out[len(out)-1] += pieces[i+1]
			continue
		}
		values = append(values, v)
		out = append(out, pieces[i+1])
	}
	return out, values
}

// statementEnds reports whether the current token is not part of the op: it closes the region, is the op's location, or
// starts the next op, block or definition on a new line. After the op's types, which typed reports, a known op or a
// result may start on the same line. depth is the number of open brackets.
func (p *parser) statementEnds(depth int, typed bool) bool {
	if depth > 0 {
		return false
	}
	if p.is('}') || p.tok.kind == tokEOF || p.tok.kind == tokWord && string(p.text()) == "loc" && p.opens() {
		return true
	}
	first := p.firstOnLine()
	if !first && (!typed || p.tok.kind != tokPercent && p.tok.kind != tokWord) {
		return false
	}
	switch p.tok.kind {
	case tokPercent, tokString:
		return p.surelyStarts()
	case tokCaret:
		return true
	case tokHash, tokBang:
		i := p.skipSpace(p.tok.end)
		return i < len(p.src) && p.src[i] == '='
	case tokPunct:
		return p.tok.punct == punctMetaOpen
	case tokWord:
		name := str(p.text())
		if strings.IndexByte(name, '.') > 0 || name == "module" {
			return first || p.reg.Lookup(name) != nil
		}
		full := p.ops.defaults[len(p.ops.defaults)-1]
		return full != "" && p.kind([]byte(full+"."+name)).Def.Known()
	}
	return false
}

// opens reports whether a '(' follows the current token.
func (p *parser) opens() bool {
	i := p.skipSpace(p.tok.end)
	return i < len(p.src) && p.src[i] == '('
}

// holdsLines reports whether the '{' at the current token may start a region: it is not closed on its line, or the
// text in it names values or blocks.
func (p *parser) holdsLines() bool {
	src := p.src
	depth := 0
	for i := p.tok.start; i < len(src); i++ {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return false
			}
		case '\n', '%', '^':
			return true
		case '"':
			l := lexer{src: src}
			end := l.stringEnd(i)
			if end == 0 {
				return true
			}
			i = end - 1
		}
	}
	return true
}

// aliasText returns the text of the alias that the current token names. ok is false if the token names no alias.
func (p *parser) aliasText() (text string, ok bool) {
	name := p.text()
	if end := p.tok.end; bytes.IndexByte(name, '.') >= 0 || end < len(p.src) && p.src[end] == '<' {
		return "", false
	}
	a, ok := p.aliases[string(name)]
	if !ok {
		p.Errorf("undefined symbol alias id '%s'", name[1:])
	}
	p.expand(a.extent)
	if p.copied += a.size; p.copied > p.maxExpansion() {
		p.tooLong()
	}
	if a.typ != nil {
		return a.typ.String(), true
	}
	return a.attr.String(), true
}

// unreadable fails for the op that start names, whose text cannot be delimited.
func (p *parser) unreadable(start token) {
	p.tok = start
	p.unknownOp(string(p.text()), "")
}

// trailingTypes appends a type for each result to out: the types between the offsets from and end, as in ': T', ': (A,
// B)', '-> T' and ': T to U', or the type none if there are more or fewer types than results.
func (p *parser) trailingTypes(out []ir.Type, from, end int, names []resultName) []ir.Type {
	n := 0
	for _, r := range names {
		n += int(r.n)
	}
	if n == 0 {
		return out
	}
	var types []ir.Type
	if from >= 0 {
		p.lexAt(from)
		types = p.guessTypes(end)
	}
	for i := range n {
		if len(types) == n {
			out = append(out, types[i])
		} else {
			out = append(out, p.ctx.None())
		}
	}
	return out
}

// guessTypes returns the types up to offset end, nil if the text has anything else.
func (p *parser) guessTypes(end int) (types []ir.Type) {
	before := p.mark()
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if _, ok := r.(bailout); !ok || p.errors.fatal {
			panic(r)
		}
		p.restore(before)
		types = nil
	}()
	if p.is('(') {
		types = p.parenTypes(nil)
	} else {
		types = p.typeList(nil)
		if p.tok.start < end && len(types) == 1 && (p.peekKeyword("to") || p.peekKeyword("into")) {
			p.next()
			types = p.typeList(nil)
		}
	}
	if p.tok.start < end {
		return nil
	}
	return types
}

// markGuessed notes that the type of v is not certain. The first use of v determines it.
func (p *parser) markGuessed(v *ir.Value) {
	if p.values.guessed == nil {
		p.values.guessed = map[*ir.Value]bool{}
	}
	p.values.guessed[v] = true
}

// settleGuess sets the type of v to t if the type of v is not certain, and reports whether it is.
func (p *parser) settleGuess(v *ir.Value, t ir.Type) bool {
	if !p.values.guessed[v] {
		return false
	}
	delete(p.values.guessed, v)
	v.SetType(t)
	return true
}

// untyped returns the value of an operand whose type the text does not give.
func (p *parser) untyped(o *ir.Operand) *ir.Value {
	v, _, first := p.value(o, p.ctx.None())
	if first {
		p.markGuessed(v)
	}
	return v
}

// foreign returns the definition of the op that the current token names if nobody registered its dialect. It returns
// nil if the dialect is registered, or if its name is probably a misspelled name of a registered dialect.
func (p *parser) foreign() *ir.Def {
	name := p.text()
	dot := bytes.IndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 || p.reg == nil || p.reg.Dialect(string(name[:dot])) != nil {
		return nil
	}
	var dialects []string
	for _, d := range p.reg.Dialects() {
		dialects = append(dialects, d.Name)
	}
	if diag.Closest(string(name[:dot]), dialects) != "" {
		return nil
	}
	return p.kind(name).Def
}
