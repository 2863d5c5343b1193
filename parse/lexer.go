package parse

import (
	"bytes"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/tensor"
)

// kind is the kind of a token.
type kind uint8

const (
	tokEOF     kind = iota
	tokError        // a byte that starts no token; lexer.problem describes the mistake
	tokPunct        // punctuation; token.punct says which
	tokWord         // bare identifier: module, f32, stablehlo.add
	tokAt           // @name or @"name"
	tokHash         // #name, #dialect.name
	tokBang         // !name, !dialect.name
	tokPercent      // %name
	tokCaret        // ^name
	tokInteger      // 12, 0x1F
	tokFloat        // 1.5, 1.e3
	tokString       // "..."
)

// token is a piece of the text: its bytes are src[start:end].
type token struct {
	kind       kind
	punct      byte // of a tokPunct: its only byte, or one of the codes below
	start, end int
}

// Codes of punctuation of more than one byte.
const (
	punctArrow    byte = 'a' // ->
	punctColons   byte = 'c' // ::
	punctMetaOpen byte = 'm' // {-#
	punctMetaEnd  byte = 'e' // #-}
	punctEllipsis byte = 'p' // ...
)

// lexer splits text into tokens. It never allocates.
type lexer struct {
	src     []byte
	tok     token // the current token
	problem string
}

// Classes of bytes: tokens that a byte can start or continue.
const (
	clsSpace  = 1 << iota
	clsSlash  // starts a comment
	clsIdent  // continues a bare identifier
	clsStart  // starts a bare identifier
	clsDigit  //
	clsSuffix // continues the name after % # ! ^ @
	clsHex    // hexadecimal digit
	clsPunct  // is a token by itself
)

// class has the classes of each byte.
var class = func() (c [256]uint8) {
	for _, b := range []byte(" \t\r\n") {
		c[b] = clsSpace
	}
	c['/'] = clsSlash
	for _, b := range []byte("()}[]<>,=?*+|") {
		c[b] = clsPunct
	}
	for b := range 256 {
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		digit := b >= '0' && b <= '9'
		if letter || b == '_' {
			c[b] |= clsStart
		}
		if letter || digit || b == '_' || b == '$' || b == '.' {
			c[b] |= clsIdent
		}
		if letter || digit || b == '_' || b == '$' || b == '.' || b == '-' {
			c[b] |= clsSuffix
		}
		if digit {
			c[b] |= clsDigit
		}
		if digit || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' {
			c[b] |= clsHex
		}
	}
	return c
}()

// skipSpace returns the offset of the first byte at or after i that is neither white space nor in a comment.
func (l *lexer) skipSpace(i int) int {
	src := l.src
	for {
		for i < len(src) && class[src[i]]&clsSpace != 0 {
			i++
		}
		if i == len(src) || src[i] != '/' || !bytes.HasPrefix(src[i:], []byte("//")) {
			return i
		}
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			return len(src)
		}
		i += n
	}
}

// next reads the token after the current one.
func (l *lexer) next() { l.lexAt(l.tok.end) }

// lexAt makes the token at or after offset i the current one.
func (l *lexer) lexAt(i int) {
	src := l.src
	if i < len(src) && src[i] == ' ' { // before most tokens that are not at the start of a line
		i++
	}
	if i < len(src) && class[src[i]]&(clsSpace|clsSlash) != 0 {
		i = l.skipSpace(i)
	}
	t := &l.tok
	t.start = i
	if i >= len(src) {
		t.kind, t.end = tokEOF, i
		return
	}
	switch c := src[i]; {
	case class[c]&clsPunct != 0:
		t.kind, t.punct, t.end = tokPunct, c, i+1
	case class[c]&clsStart != 0:
		for i++; i < len(src) && class[src[i]]&clsIdent != 0; i++ {
		}
		t.kind, t.end = tokWord, i
	case class[c]&clsDigit != 0:
		l.number(i)
	case c == '%' && i+1 < len(src) && class[src[i+1]]&clsDigit != 0:
		for i += 2; i < len(src) && class[src[i]]&clsDigit != 0; i++ {
		}
		t.kind, t.end = tokPercent, i
	default:
		l.punctuation(i, c)
	}
}

// number reads the number at offset i.
func (l *lexer) number(i int) {
	t := &l.tok
	t.kind = tokInteger
	end, _, float := tensor.ScanNumber(l.src, i)
	if t.end = end; float {
		t.kind = tokFloat
	}
}

// punctuation reads the token at offset i that starts with c, neither a letter nor a digit.
func (l *lexer) punctuation(i int, c byte) {
	src, t := l.src, &l.tok
	switch c {
	case '%', '#', '!', '^':
		j := l.suffix(i + 1)
		if j == i+1 {
			if c == '#' && bytes.HasPrefix(src[i:], []byte("#-}")) {
				t.kind, t.punct, t.end = tokPunct, punctMetaEnd, i+3
				return
			}
			if c == '%' || c == '^' {
				l.setError(i, map[byte]string{'%': "invalid SSA name", '^': "invalid block name"}[c])
				return
			}
			t.kind, t.punct, t.end = tokPunct, c, i+1
			return
		}
		t.end = j
		switch c {
		case '%':
			t.kind = tokPercent
		case '#':
			t.kind = tokHash
		case '!':
			t.kind = tokBang
		default:
			t.kind = tokCaret
		}
	case '@':
		if i+1 < len(src) && src[i+1] == '"' {
			if end := l.stringEnd(i + 1); end > 0 {
				t.kind, t.end = tokAt, end
			}
			return
		}
		j := i + 1
		if j < len(src) && class[src[j]]&clsStart != 0 {
			for j++; j < len(src) && class[src[j]]&clsIdent != 0; j++ {
			}
			t.kind, t.end = tokAt, j
			return
		}
		l.setError(i+1, "@ identifier expected to start with letter or '_'")
	case '"':
		if end := l.stringEnd(i); end > 0 {
			t.kind, t.end = tokString, end
		}
	case '-':
		if i+1 < len(src) && src[i+1] == '>' {
			t.kind, t.punct, t.end = tokPunct, punctArrow, i+2
			return
		}
		t.kind, t.punct, t.end = tokPunct, c, i+1
	case ':':
		if i+1 < len(src) && src[i+1] == ':' {
			t.kind, t.punct, t.end = tokPunct, punctColons, i+2
			return
		}
		t.kind, t.punct, t.end = tokPunct, c, i+1
	case '{':
		if i+2 < len(src) && src[i+1] == '-' && src[i+2] == '#' {
			t.kind, t.punct, t.end = tokPunct, punctMetaOpen, i+3
			return
		}
		t.kind, t.punct, t.end = tokPunct, c, i+1
	case '.':
		if bytes.HasPrefix(src[i:], []byte("...")) {
			t.kind, t.punct, t.end = tokPunct, punctEllipsis, i+3
			return
		}
		l.setError(i, "expected three consecutive dots for an ellipsis")
	case '/':
		t.kind, t.punct, t.end = tokPunct, c, i+1
	default:
		l.setError(i, "unexpected character")
	}
}

// suffix returns the end of the name after a prefix: digits alone, or letters, digits and $._- that do not start with
// a digit.
func (l *lexer) suffix(i int) int {
	src := l.src
	if i < len(src) && class[src[i]]&clsDigit != 0 {
		for i++; i < len(src) && class[src[i]]&clsDigit != 0; i++ {
		}
		return i
	}
	if i+1 < len(src) && src[i] == '-' && src[i+1] == '}' {
		return i // #-}
	}
	for i < len(src) && class[src[i]]&clsSuffix != 0 {
		i++
	}
	return i
}

// stringEnd returns the offset after the string that starts with the quote at i. If the string is wrong, the current
// token becomes an error and stringEnd returns 0.
func (l *lexer) stringEnd(i int) int {
	src := l.src
	for j := i + 1; j < len(src); j++ {
		// Most strings are short; long ones are hexadecimal data without escapes.
		switch src[j] {
		case '"':
			return j + 1
		case '\\':
			if j+1 >= len(src) {
				break
			}
			switch e := src[j+1]; {
			case e == '"' || e == '\\' || e == 'n' || e == 't':
				j++
			case j+2 < len(src) && class[e]&class[src[j+2]]&clsHex != 0:
				j += 2
			default:
				l.setError(j, "unknown escape in string literal")
				return 0
			}
		case '\n', '\v', '\f':
			l.setError(j, "expected '\"' in string literal")
			return 0
		case 'x':
			if j == i+2 && src[i+1] == '0' {
				if n := bytes.IndexByte(src[j:], '"'); n > 0 && bytes.IndexByte(src[j:j+n], '\\') < 0 && bytes.IndexByte(src[j:j+n], '\n') < 0 {
					return j + n + 1
				}
			}
		}
	}
	l.setError(len(src), "expected '\"' in string literal")
	return 0
}

// setError makes byte i the current token, as an error.
func (l *lexer) setError(i int, problem string) {
	l.tok = token{kind: tokError, start: i, end: min(i+1, len(l.src))}
	l.problem = problem
}

// text returns the bytes of the current token.
func (l *lexer) text() []byte { return l.src[l.tok.start:l.tok.end] }

// is reports whether the current token is the punctuation with the given code.
func (l *lexer) is(p byte) bool { return l.tok.kind == tokPunct && l.tok.punct == p }

// pos returns the position of the current token.
func (l *lexer) pos() diag.Pos { return diag.At(l.tok.start) }

// punctCode returns the code of punctuation given as text.
func punctCode(s string) byte {
	if len(s) == 1 {
		return s[0]
	}
	switch s {
	case "->":
		return punctArrow
	case "::":
		return punctColons
	case "{-#":
		return punctMetaOpen
	case "#-}":
		return punctMetaEnd
	}
	return punctEllipsis
}

// unquote returns the bytes that a string token means. A string without escapes refers to the source.
func unquote(text []byte) string {
	text = text[1 : len(text)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return str(text)
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch e := text[i]; e {
		case '"', '\\':
			out = append(out, e)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		default:
			v, _ := strconv.ParseUint(string(text[i:i+2]), 16, 8) // the lexer checked the digits
			out = append(out, byte(v))
			i++
		}
	}
	return string(out)
}
