package hlo

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// tokenKind is the kind of a token. Punctuation of one character is its own kind.
type tokenKind int32

const (
	eofToken tokenKind = -1 - iota
	errorToken
	arrowToken     // ->
	leqToken       // <=
	dotsToken      // ...
	intToken       // 42
	decimalToken   // 4.2, 4e2, nan
	dxdToken       // 3x3
	padToken       // 1_1x0_0
	dimLabelsToken // b01f_01io->b01f
	negInfToken    // -inf
	stringToken    // "text" or 'text'
	nameToken      // %name or name:
	attrToken      // name=
	identToken     // any other word, including reserved words and types
)

// token is one token of the text. text is the name of a name, attribute or identifier, and the source of a number,
// pattern or string.
type token struct {
	kind tokenKind
	pos  int // offset in the text
	text string
}

// lexer splits HLO text into tokens, one ahead of the reader.
type lexer struct {
	src  *diag.Source
	text string
	off  int // after tok
	tok  token
}

// failure ends the work on a module. The functions of this package that others call catch it.
type failure struct{ err error }

// catch sets err to the error of a failure that was raised. It must be deferred.
func catch(err *error) {
	r := recover()
	if r == nil {
		return
	}
	f, ok := r.(failure)
	if !ok {
		panic(r)
	}
	*err = f.err
	var d *diag.Diagnostic
	if errors.As(f.err, &d) {
		*err = diag.List{d}
	}
}

func (l *lexer) fail(pos int, format string, args ...any) {
	panic(failure{diag.Errorf(l.src, diag.At(pos), format, args...)})
}

// failToken reports a mistake at the current token.
func (l *lexer) failToken(format string, args ...any) { l.fail(l.tok.pos, format, args...) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isNameChar(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '-' || c == '.'
}

// nameChars says which bytes continue a name.
var nameChars = func() (t [256]bool) {
	for c := range t {
		t[c] = isNameChar(byte(c))
	}
	return t
}()

// next reads the next token.
func (l *lexer) next() { l.scan(true) }

// nextInList reads the next token of a list of integers, which has neither patterns nor decimals.
func (l *lexer) nextInList() { l.scan(false) }

// scan reads the next token; patterns says whether numbers may be decimals, dimension labels, DxD or padding.
func (l *lexer) scan(patterns bool) {
	text, off := l.text, l.off
	for off < len(text) {
		c := text[off]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			off++
			continue
		case c == '/':
			if n := commentEnd(text[off:]); n > 0 {
				off += n
				continue
			}
			l.set(errorToken, off, off+1)
			return
		case isLetter(c):
			l.identifier(off)
			return
		case isDigit(c) || c == '-':
			if c == '-' && strings.HasPrefix(text[off:], "->") {
				l.set(arrowToken, off, off+2)
				return
			}
			l.number(off, patterns)
			return
		case c == '%':
			end := off + 1
			if end < len(text) && isLetter(text[end]) {
				for end < len(text) && nameChars[text[end]] {
					end++
				}
				l.tok = token{nameToken, off, text[off+1 : end]}
				l.off = end
				return
			}
			l.set(errorToken, off, off+1)
			return
		case c == '"' || c == '\'':
			end := stringEnd(text, off)
			if end < 0 {
				l.set(errorToken, off, off+1)
				return
			}
			l.set(stringToken, off, end)
			return
		case c == '<':
			if strings.HasPrefix(text[off:], "<=") {
				l.set(leqToken, off, off+2)
				return
			}
			l.set(errorToken, off, off+1)
			return
		case c == '.':
			if strings.HasPrefix(text[off:], "...") {
				l.set(dotsToken, off, off+3)
				return
			}
			l.set(errorToken, off, off+1)
			return
		case c == '?':
			if n := dimLabels(text[off:]); patterns && n > 0 {
				l.set(dimLabelsToken, off, off+n)
				return
			}
			l.set('?', off, off+1)
			return
		case strings.IndexByte("=,:*#+~[]{}()", c) >= 0:
			l.set(tokenKind(c), off, off+1)
			return
		default:
			l.set(errorToken, off, off+1)
			return
		}
	}
	l.tok = token{kind: eofToken, pos: len(text)}
	l.off = len(text)
}

func (l *lexer) set(kind tokenKind, start, end int) {
	l.tok = token{kind, start, l.text[start:end]}
	l.off = end
}

// commentEnd returns the length of the comment that s starts with, 0 for none.
func commentEnd(s string) int {
	switch {
	case strings.HasPrefix(s, "/*"):
		if i := strings.Index(s[2:], "*/"); i >= 0 && strings.IndexByte(s[:i+2], 0) < 0 {
			return i + 4
		}
	case strings.HasPrefix(s, "//"):
		if i := strings.IndexAny(s, "\r\n\x00"); i >= 0 {
			return i
		}
		return len(s)
	}
	return 0
}

// stringEnd returns the offset after the string that starts at off, or -1 if the string does not end.
func stringEnd(text string, off int) int {
	quote := text[off]
	for i := off + 1; i < len(text); i++ {
		switch text[i] {
		case quote:
			return i + 1
		case '\\':
			if i++; i < len(text) && text[i] == '\n' {
				return -1
			}
		}
	}
	return -1
}

func (l *lexer) identifier(off int) {
	text, end := l.text, off+1
	for end < len(text) && nameChars[text[end]] {
		end++
	}
	if end < len(text) {
		switch text[end] {
		case ':':
			l.tok = token{nameToken, off, text[off:end]}
			l.off = end + 1
			return
		case '=':
			l.tok = token{attrToken, off, text[off:end]}
			l.off = end + 1
			return
		}
	}
	word := text[off:end]
	if word == "nan" {
		l.nan(off, end)
		return
	}
	if c := text[off]; c == 'b' || c == 'f' || c == 'i' || c == 'o' {
		if n := dimLabels(text[off:]); n > 0 {
			l.set(dimLabelsToken, off, off+n)
			return
		}
	}
	l.tok = token{identToken, off, word}
	l.off = end
}

// nan reads the payload, if there is one, of the nan that ends at end.
func (l *lexer) nan(off, end int) {
	if end < len(l.text) && l.text[end] == '(' {
		i := end + 1
		if !strings.HasPrefix(l.text[i:], "0x") {
			l.set(errorToken, off, end)
			return
		}
		for i += 2; i < len(l.text) && isHex(l.text[i]); i++ {
		}
		if i == end+3 || i == len(l.text) || l.text[i] != ')' {
			l.set(errorToken, off, end)
			return
		}
		end = i + 1
		if p, err := strconv.ParseUint(l.text[strings.IndexByte(l.text[off:end], 'x')+off+1:end-1], 16, 64); err != nil || p == 0 || p >= 1<<52 {
			l.set(errorToken, off, end)
			return
		}
	}
	l.set(decimalToken, off, end)
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// number reads the longest of the patterns that XLA's lexer knows, in its order.
func (l *lexer) number(off int, patterns bool) {
	s := l.text[off:]
	i := 0
	if s[0] == '-' {
		i++
	}
	digits := countDigits(s[i:])
	end := i + digits
	// Handle the common case first: an integer without a following letter or point.
	if digits > 0 && (end == len(s) || !nameChars[s[end]] && s[end] != '?') {
		l.set(intToken, off, off+end)
		return
	}
	if patterns {
		if n := decimal(s); n > 0 {
			l.set(decimalToken, off, off+n)
			return
		}
		if n := dimLabels(s); n > 0 {
			l.set(dimLabelsToken, off, off+n)
			return
		}
		if n := dxd(s); n > 0 {
			l.set(dxdToken, off, off+n)
			return
		}
	}
	if n := padding(s); n > 0 {
		l.set(padToken, off, off+n)
		return
	}
	switch {
	case digits > 0:
		l.set(intToken, off, off+end)
	case strings.HasPrefix(s, "-inf"):
		l.set(negInfToken, off, off+4)
	case strings.HasPrefix(s, "-nan"):
		l.nan(off, off+4)
	default:
		l.set(errorToken, off, off+1)
	}
}

func countDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// decimal returns the length of a number with a point or an exponent.
func decimal(s string) int {
	i := 0
	if s[0] == '-' {
		i++
	}
	whole := countDigits(s[i:])
	i += whole
	point := i < len(s) && s[i] == '.'
	fraction := 0
	if point {
		fraction = countDigits(s[i+1:])
		i += 1 + fraction
	}
	if whole == 0 && fraction == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if n := countDigits(s[j:]); n > 0 {
			return j + n
		}
	}
	if !point {
		return 0
	}
	return i
}

// dimLabels returns the length of a pattern such as b01f_01io->b01f.
func dimLabels(s string) int {
	run := func(i int, letters string) int {
		start := i
		for i < len(s) && (isDigit(s[i]) || s[i] == '?' || strings.IndexByte(letters, s[i]) >= 0) {
			i++
		}
		if i-start < 2 {
			return -1
		}
		return i
	}
	i := run(0, "bf")
	if i < 0 || i >= len(s) || s[i] != '_' {
		return 0
	}
	if i = run(i+1, "io"); i < 0 || !strings.HasPrefix(s[i:], "->") {
		return 0
	}
	return max(0, run(i+2, "bf"))
}

// dxd returns the length of a pattern such as 3x3x1.
func dxd(s string) int {
	i := countDigits(s)
	if i == 0 {
		return 0
	}
	parts := 0
	for i < len(s) && s[i] == 'x' {
		n := countDigits(s[i+1:])
		if n == 0 {
			break
		}
		i += 1 + n
		parts++
	}
	if parts == 0 {
		return 0
	}
	return i
}

// padding returns the length of a pattern such as 1_1x0_-1_2.
func padding(s string) int {
	signed := func(i int) int {
		if i < len(s) && s[i] == '-' {
			i++
		}
		n := countDigits(s[min(i, len(s)):])
		if n == 0 {
			return -1
		}
		return i + n
	}
	one := func(i int) int {
		i = signed(i)
		if i < 0 || i >= len(s) || s[i] != '_' {
			return -1
		}
		if i = signed(i + 1); i < 0 {
			return -1
		}
		if i < len(s) && s[i] == '_' {
			if n := countDigits(s[i+1:]); n > 0 {
				i += 1 + n
			}
		}
		return i
	}
	end := one(0)
	for end > 0 && end < len(s) && s[end] == 'x' {
		i := one(end + 1)
		if i < 0 {
			break
		}
		end = i
	}
	return max(0, end)
}

// at reports whether the current token is of the given kind.
func (l *lexer) at(kind tokenKind) bool { return l.tok.kind == kind }

// word reports whether the current token is the given identifier.
func (l *lexer) word(s string) bool { return l.tok.kind == identToken && l.tok.text == s }

// accept consumes a token of the given kind if it is next.
func (l *lexer) accept(kind tokenKind) bool {
	if l.tok.kind != kind {
		return false
	}
	l.next()
	return true
}

// acceptWord consumes the given identifier if it is next.
func (l *lexer) acceptWord(s string) bool {
	if !l.word(s) {
		return false
	}
	l.next()
	return true
}

// expect consumes a token of the given kind.
func (l *lexer) expect(kind tokenKind) {
	if l.tok.kind != kind {
		l.failToken("expected %s, found %s", kind, l.found())
	}
	l.next()
}

// String returns the kind as messages name it.
func (k tokenKind) String() string {
	switch k {
	case eofToken:
		return "the end of the text"
	case errorToken:
		return "a token"
	case arrowToken:
		return "'->'"
	case leqToken:
		return "'<='"
	case dotsToken:
		return "'...'"
	case intToken:
		return "an integer"
	case decimalToken:
		return "a number"
	case dxdToken:
		return "sizes such as 3x3"
	case padToken:
		return "padding such as 1_1"
	case dimLabelsToken:
		return "dimension labels such as b01f_01io->b01f"
	case negInfToken:
		return "-inf"
	case stringToken:
		return "a string"
	case nameToken:
		return "a name"
	case attrToken:
		return "an attribute name directly followed by '='"
	case identToken:
		return "a word"
	}
	return "'" + string(rune(k)) + "'"
}

// found describes the current token.
func (l *lexer) found() string {
	switch l.tok.kind {
	case eofToken:
		return "the end of the text"
	case attrToken:
		return "'" + shorten(l.tok.text) + "='"
	case errorToken:
		c := l.text[l.tok.pos]
		switch {
		case c == '"' || c == '\'':
			return "a string that does not end"
		case strings.HasPrefix(l.text[l.tok.pos:], "/*"):
			return "a comment that does not end"
		}
	}
	return "'" + shorten(l.text[l.tok.pos:l.off]) + "'"
}

func shorten(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return diag.Escape(s)
}

// int64 reads an integer from −2^63 to 2^64−1. The upper half becomes its two's complement.
func (l *lexer) int64() int64 {
	v, ok := l.intValue()
	if !ok {
		l.failToken("expected an integer, found %s", l.found())
	}
	l.next()
	return v
}

// intValue returns the value of the current token if it is an integer of 64 bits.
func (l *lexer) intValue() (int64, bool) {
	if l.tok.kind != intToken {
		return 0, false
	}
	return parseInt(l.tok.text)
}

// parseInt reads an optionally negative decimal number of −2^63 to 2^64−1.
func parseInt(s string) (int64, bool) {
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	var v uint64
	for i := range len(s) {
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(s[i]-'0'), 0)
		if hi != 0 || carry != 0 {
			return 0, false
		}
		v = sum
	}
	if neg {
		if v > 1<<63 {
			return 0, false
		}
		return -int64(v), true
	}
	return int64(v), true
}

// double reads a number as float64.
func (l *lexer) double() float64 {
	v, err := l.doubleValue()
	if err != "" {
		l.failToken("%s", err)
	}
	l.next()
	return v
}

// doubleValue returns the value of the current token as float64, or a description of the error. The integer -0 is the
// negative zero: XLA prints it this way, although XLA's own reader loses the sign.
func (l *lexer) doubleValue() (v float64, mistake string) {
	switch t := l.tok; {
	case t.kind == decimalToken:
		if i := strings.IndexByte(t.text, 'n'); i >= 0 {
			return nanValue(t.text), ""
		}
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			if v == 0 { // underflow is not an error
				return v, ""
			}
			return 0, "constant " + shorten(t.text) + " is out of range of a 64-bit float"
		}
		return v, ""
	case t.kind == intToken:
		if t.text == "-0" {
			return math.Copysign(0, -1), ""
		}
		i, ok := parseInt(t.text)
		if !ok {
			return 0, "integer " + shorten(t.text) + " has more than 64 bits"
		}
		return float64(i), ""
	case l.word("inf"):
		return math.Inf(1), ""
	case t.kind == negInfToken:
		return math.Inf(-1), ""
	}
	return 0, "expected a number, found " + l.found()
}

const quietNaN = 1 << 51

// nanValue returns the NaN that nan, -nan or nan(0x1) spells: sign and payload as bits of a float64.
func nanValue(s string) float64 {
	b := uint64(0x7ff)<<52 | quietNaN
	if i := strings.IndexByte(s, 'x'); i >= 0 {
		p, _ := strconv.ParseUint(s[i+1:len(s)-1], 16, 64)
		b = uint64(0x7ff)<<52 | p
	}
	if s[0] == '-' {
		b |= 1 << 63
	}
	return math.Float64frombits(b)
}

// name reads %name, name: or a bare name that is not reserved.
func (l *lexer) name() string {
	switch {
	case l.tok.kind == nameToken:
	case l.tok.kind == identToken && !reserved[l.tok.text]:
	default:
		l.failToken("expected a name, found %s", l.found())
	}
	s := l.tok.text
	l.next()
	return s
}

// atName reports whether the current token is a name.
func (l *lexer) atName() bool {
	return l.tok.kind == nameToken || l.tok.kind == identToken && !reserved[l.tok.text]
}

// reserved are the words that cannot be bare names: the types and the grammar's own words.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for name := range typesByName {
		m[name] = true
	}
	for _, w := range strings.Fields(`true false inf nan HloModule ENTRY ROOT FileNames FunctionNames FileLocations StackFrames maximal
		replicated manual unknown unreduced last_tile_dim_replicate shard_as shard_like`) {
		m[w] = true
	}
	return m
}()

// attrName reads name=.
func (l *lexer) attrName() string {
	if l.tok.kind != attrToken {
		l.failToken("expected %s, found %s", attrToken, l.found())
	}
	s := l.tok.text
	l.next()
	return s
}

// str reads a string and returns its bytes.
func (l *lexer) str() string {
	if l.tok.kind != stringToken {
		l.failToken("expected a string, found %s", l.found())
	}
	s, ok := unescape(l.tok.text[1 : len(l.tok.text)-1])
	if !ok {
		l.failToken("a string has an escape that C does not know")
	}
	l.next()
	return s
}

// rawDict reads a raw dictionary: everything from the current '{' to its closing brace. Braces in strings do not
// count.
func (l *lexer) rawDict() string {
	start := l.tok.pos
	depth := 0
	for i := start; i < len(l.text); i++ {
		switch l.text[i] {
		case '"':
			end := stringEnd(l.text, i)
			if end < 0 {
				l.fail(i, "a string does not end")
			}
			i = end - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				l.off = i + 1
				l.next()
				return l.text[start : i+1]
			}
		}
	}
	l.fail(start, "this '{' is not closed")
	return ""
}

// isRawDict reports whether s is one raw dictionary from its first byte to its last.
func isRawDict(s string) bool {
	if s == "" || s[0] != '{' {
		return false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end := stringEnd(s, i)
			if end < 0 {
				return false
			}
			i = end - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i == len(s)-1
			}
		}
	}
	return false
}

// unescape decodes a string with C's escapes. Hexadecimal escapes are greedy, as in C.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' {
			b = append(b, c)
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch c = s[i]; {
		case strings.IndexByte(`\?'"`, c) >= 0:
			b = append(b, c)
		case strings.IndexByte("abfnrtv", c) >= 0:
			b = append(b, "\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		case c >= '0' && c <= '7':
			v := 0
			n := 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			if v > 255 {
				return "", false
			}
			b = append(b, byte(v))
			i += n - 1
		case c|0x20 == 'x':
			v, n := 0, 1
			for i+n < len(s) && isHex(s[i+n]) {
				d, _ := strconv.ParseUint(s[i+n:i+n+1], 16, 8)
				if v = v*16 + int(d); v > 255 {
					return "", false
				}
				n++
			}
			if n == 1 {
				return "", false
			}
			b = append(b, byte(v))
			i += n - 1
		case c == 'u' || c == 'U':
			n := 4
			if c == 'U' {
				n = 8
			}
			if i+n >= len(s) {
				return "", false
			}
			v, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil || v > 0x10ffff {
				return "", false
			}
			b = append(b, string(rune(v))...)
			i += n
		default:
			return "", false
		}
	}
	return string(b), true
}

// appendEscaped appends s with C's escapes. Bytes that are not printable ASCII become octal escapes.
func appendEscaped(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '"' || c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c >= 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return b
}

// appendQuoted appends s as a string.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}
