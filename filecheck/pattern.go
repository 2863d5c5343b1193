package filecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// pattern is the text of a directive, as pieces.
type pattern struct {
	src     *diag.Source
	at      diag.Pos
	line    int // of the directive, for @LINE
	pieces  []piece
	uses    []string // variables
	defines []string
	whole   bool // matches whole lines
	strict  bool // together with whole: blanks around the pattern count
	blank   bool // CHECK-EMPTY

	fixed *regexp.Regexp // if the pattern uses no variables
}

// emptyLine is the pattern of CHECK-EMPTY: a line's end, and another one.
var emptyLine = &pattern{blank: true, fixed: regexp.MustCompile(`(?m)\n$`)}

// piece is a part of a pattern.
type piece struct {
	regex  string // a regular expression; the text of literal parts is quoted
	name   string // a string variable
	number *number
	define bool // name := regex
}

// newPattern reads a pattern that is at at in src.
func newPattern(src *diag.Source, at diag.Pos, text string, o Options, literal bool) (*pattern, error) {
	p := &pattern{src: src, at: at, whole: o.MatchFullLines, strict: o.StrictWhitespace}
	p.line, _ = src.LineColumn(at)
	fail := func(format string, args ...any) error { return diag.Errorf(src, at, format, args...) }
	add := func(s string) { p.pieces = append(p.pieces, piece{regex: regexp.QuoteMeta(s)}) }
	if literal {
		add(text)
		text = ""
	}
	for text != "" {
		switch {
		case strings.HasPrefix(text, "{{"):
			stop := strings.Index(text, "}}")
			if stop < 0 {
				return nil, fail("found start of regex string with no end '}}'")
			}
			for stop+2 < len(text) && text[stop+2] == '}' && strings.Count(text[2:stop], "{") > strings.Count(text[2:stop], "}") {
				stop++ // the braces of a repetition
			}
			re, err := translate(text[2:stop])
			if err != nil {
				return nil, fail("%v", err)
			}
			p.pieces = append(p.pieces, piece{regex: "(?:" + re + ")"})
			text = text[stop+2:]
		case strings.HasPrefix(text, "[["):
			stop := variableEnd(text[2:])
			if stop < 0 {
				return nil, fail("invalid substitution block, no ]] found")
			}
			block := text[2 : 2+stop]
			text = text[2+stop+2:]
			if strings.HasPrefix(block, "#") || strings.HasPrefix(block, "@") {
				n, err := parseNumber(strings.TrimPrefix(block, "#"), p.line)
				if err != nil {
					return nil, fail("%v", err)
				}
				p.pieces = append(p.pieces, piece{number: n})
				p.uses = append(p.uses, n.uses()...)
				if n.define != "" {
					p.defines = append(p.defines, "#"+n.define)
				}
				continue
			}
			name, re, defines := strings.Cut(block, ":")
			if !variableName.MatchString(name) {
				return nil, fail("invalid name in string variable definition or use: '%s'", name)
			}
			if !defines {
				p.pieces = append(p.pieces, piece{name: name})
				p.uses = append(p.uses, name)
				continue
			}
			re, err := translate(re)
			if err != nil {
				return nil, fail("%v", err)
			}
			p.pieces = append(p.pieces, piece{regex: re, name: name, define: true})
			p.defines = append(p.defines, name)
		default:
			stop := len(text)
			for _, mark := range [...]string{"{{", "[["} {
				if i := strings.Index(text, mark); i >= 0 {
					stop = min(stop, i)
				}
			}
			add(text[:stop])
			text = text[stop:]
		}
	}
	if len(p.uses) == 0 {
		re, _, _, err := p.compile(nil)
		if err != nil {
			return nil, fail("invalid regex: %v", err)
		}
		p.fixed = re
	}
	return p, nil
}

var variableName = regexp.MustCompile(`^[$]?[A-Za-z_][A-Za-z0-9_]*$`)

// variableEnd returns the offset of the "]]" that ends a variable, or -1. The brackets of classes nest.
func variableEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		if depth == 0 && strings.HasPrefix(s[i:], "]]") {
			return i
		}
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth == 0 {
				return -1
			}
			depth--
		}
	}
	return -1
}

// translate turns a POSIX extended expression into Go's syntax: negated classes do not match a line's end, and a
// backslash in a class is a character.
func translate(re string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(re); i++ {
		switch {
		case re[i] == '\\' && i+1 < len(re):
			i++
			if c := re[i]; '0' < c && c <= '9' {
				return "", fmt.Errorf("invalid regex: back reference \\%c is not supported; use a variable", c)
			} else if isWord(c) && c != '-' && c != '_' && !strings.ContainsRune("dDsSwWbBnrtx", rune(c)) {
				b.WriteByte(c) // an escaped letter is the letter
				continue
			}
			b.WriteByte('\\')
			b.WriteByte(re[i])
		case re[i] == '[':
			b.WriteByte('[')
			i++
			if i < len(re) && re[i] == '^' {
				b.WriteString(`^\n`)
				i++
			}
			if i < len(re) && re[i] == ']' {
				b.WriteString(`\]`)
				i++
			}
			for ; i < len(re) && re[i] != ']'; i++ {
				if strings.HasPrefix(re[i:], "[:") {
					if stop := strings.Index(re[i:], ":]"); stop > 0 {
						b.WriteString(re[i : i+stop+2])
						i += stop + 1
						continue
					}
				}
				switch re[i] {
				case '\\':
					if i+1 < len(re) && strings.IndexByte(`\]-^[dDsSwWnrt."/`, re[i+1]) >= 0 && re[i+1] != ']' {
						b.WriteByte('\\')
						i++
						b.WriteByte(re[i])
						continue
					}
					b.WriteString(`\\`)
				case '[':
					b.WriteString(`\[`)
				default:
					b.WriteByte(re[i])
				}
			}
			if i == len(re) {
				return "", fmt.Errorf("invalid regex: brackets ([ ]) not balanced")
			}
			b.WriteByte(']')
		default:
			b.WriteByte(re[i])
		}
	}
	if _, err := regexp.Compile(b.String()); err != nil {
		return "", fmt.Errorf("invalid regex: %w", err)
	}
	return b.String(), nil
}

// variables are the values of a run.
type variables struct {
	strings map[string]string
	numbers map[string]value
}

// capture says which group of a compiled pattern defines a variable.
type capture struct {
	group  int
	name   string
	number *number
}

// repeat is a use of a variable in the pattern that defines it: two groups must be equal.
type repeat struct{ group, of int }

// compile returns the expression for the current values of the variables.
func (p *pattern) compile(v *variables) (*regexp.Regexp, []capture, []repeat, error) {
	var b strings.Builder
	b.WriteString("(?m)")
	if p.whole {
		b.WriteString("^")
		if !p.strict {
			b.WriteString(" *")
		}
	}
	var captures []capture
	var repeats []repeat
	groups := 0
	own := map[string]int{}
	for _, x := range p.pieces {
		switch {
		case x.define:
			groups++
			captures = append(captures, capture{group: groups, name: x.name})
			own[x.name] = groups
			fmt.Fprintf(&b, "(%s)", x.regex)
			groups += subexpressions(x.regex)
		case x.name != "":
			if g, ok := own[x.name]; ok {
				groups++
				repeats = append(repeats, repeat{groups, g})
				b.WriteString("(.*)")
				continue
			}
			s, ok := v.strings[x.name]
			if !ok {
				return nil, nil, nil, fmt.Errorf("undefined variable: %s", x.name)
			}
			b.WriteString(regexp.QuoteMeta(s))
		case x.number != nil:
			re, err := x.number.regex(v)
			if err != nil {
				return nil, nil, nil, err
			}
			groups++
			fmt.Fprintf(&b, "(%s)", re)
			if x.number.define != "" {
				captures = append(captures, capture{group: groups, number: x.number})
			}
		default:
			b.WriteString(x.regex)
			groups += subexpressions(x.regex)
		}
	}
	if p.whole {
		if !p.strict {
			b.WriteString(" *")
		}
		b.WriteString("$")
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, nil, nil, err
	}
	re.Longest()
	return re, captures, repeats, nil
}

func subexpressions(re string) int {
	r, err := regexp.Compile(re)
	if err != nil {
		return 0
	}
	return r.NumSubexp()
}

// match finds the pattern in text and stores the variables that it defines. found is false if it does not match. The
// error says that a variable is not defined.
func (p *pattern) match(text string, v *variables) (start, stop int, found bool, err error) {
	if p.blank {
		m := p.fixed.FindStringIndex(text)
		if m == nil {
			return 0, 0, false, nil
		}
		return m[0] + 1, m[1], true, nil // the line after the line's end
	}
	if p.fixed != nil && len(p.defines) == 0 {
		m := p.fixed.FindStringIndex(text)
		if m == nil {
			return 0, 0, false, nil
		}
		return m[0], m[1], true, nil
	}
	re, captures, repeats, err := p.compile(v)
	if err != nil {
		return 0, 0, false, err
	}
	m := re.FindStringSubmatchIndex(text)
	if len(repeats) > 0 {
		m = p.findRepeat(re, text, m, repeats, captures)
	}
	if m == nil {
		return 0, 0, false, nil
	}
	for _, c := range captures {
		s := text[m[2*c.group]:m[2*c.group+1]]
		if c.number == nil {
			v.strings[c.name] = s
			continue
		}
		n, err := c.number.format.parse(s)
		if err != nil {
			return 0, 0, false, err
		}
		v.numbers[c.number.define] = value{n, c.number.format}
	}
	return m[0], m[1], true, nil
}

// findRepeat finds a match in which the groups that repeat a variable equal it. m is a match in which they may differ;
// the match is in that line or in a later one. Go's expressions have no back references. Every text that occurs twice
// in a line is therefore tried as the variable's value.
func (p *pattern) findRepeat(re *regexp.Regexp, text string, m []int, repeats []repeat, captures []capture) []int {
	equal := func(m []int) bool {
		return !slices.ContainsFunc(repeats, func(r repeat) bool { return text[m[2*r.group]:m[2*r.group+1]] != text[m[2*r.of]:m[2*r.of+1]] })
	}
	for from := 0; m != nil && !equal(m); {
		lineStart := strings.LastIndexByte(text[:m[0]], '\n') + 1
		lineEnd := len(text)
		if i := strings.IndexByte(text[m[0]:], '\n'); i >= 0 {
			lineEnd = m[0] + i
		}
		if got := p.substitute(text[max(lineStart, from):lineEnd], repeats[0].of, captures); got != nil {
			for i := range got {
				if got[i] >= 0 {
					got[i] += max(lineStart, from)
				}
			}
			return got
		}
		from = min(lineEnd+1, len(text))
		if m = re.FindStringSubmatchIndex(text[from:]); m != nil {
			for i := range m {
				if m[i] >= 0 {
					m[i] += from
				}
			}
		}
	}
	return m
}

// substitute tries the texts that occur twice in line as the value of the variable that group defines.
func (p *pattern) substitute(line string, group int, captures []capture) []int {
	name := ""
	for _, c := range captures {
		if c.group == group {
			name = c.name
		}
	}
	tried := map[string]bool{}
	for size := len(line) / 2; size >= 0; size-- {
		for i := 0; i+size <= len(line); i++ {
			s := line[i : i+size]
			if tried[s] || !strings.Contains(line[i+size:], s) {
				continue
			}
			tried[s] = true
			q := &pattern{whole: p.whole, strict: p.strict, src: p.src}
			for _, x := range p.pieces {
				if x.name == name && !x.define {
					x = piece{regex: "(" + regexp.QuoteMeta(s) + ")"} // keeps the numbers of the groups
				}
				q.pieces = append(q.pieces, x)
			}
			re, _, more, err := q.compile(&variables{})
			if err != nil {
				return nil
			}
			m := re.FindStringSubmatchIndex(line)
			if m != nil && line[m[2*group]:m[2*group+1]] == s {
				if len(more) > 0 {
					return nil // only one repeated variable is supported
				}
				return m
			}
		}
	}
	return nil
}

// value is the value of a numeric variable.
type value struct {
	n int64
	f format
}

// format is the format of a number: %u, %d, %x or %X.
type format struct {
	verb  byte
	width int // minimum number of digits
	alt   bool
}

func (f format) regex() string {
	digits := map[byte]string{'u': "[0-9]", 'd': "[0-9]", 'x': "[0-9a-f]", 'X': "[0-9A-F]"}[f.verb]
	re := digits + "+"
	if f.width > 0 {
		re = fmt.Sprintf("(?:[1-9a-fA-F]%s*)?%s{%d}", digits, digits, f.width)
	}
	if f.alt {
		re = "0x" + re
	}
	if f.verb == 'd' {
		re = "-?" + re
	}
	return re
}

func (f format) text(n int64) (string, error) {
	if n < 0 && f.verb != 'd' {
		return "", fmt.Errorf("%d does not fit format %%%c", n, f.verb)
	}
	base := 10
	if f.verb == 'x' || f.verb == 'X' {
		base = 16
	}
	s, sign := strconv.FormatInt(n, base), ""
	if n < 0 {
		s, sign = s[1:], "-"
	}
	if f.verb == 'X' {
		s = strings.ToUpper(s)
	}
	s = strings.Repeat("0", max(0, f.width-len(s))) + s
	if f.alt {
		s = "0x" + s
	}
	return sign + s, nil
}

func (f format) parse(s string) (int64, error) {
	base := 10
	if f.verb == 'x' || f.verb == 'X' {
		base = 16
	}
	return strconv.ParseInt(strings.Replace(s, "0x", "", 1), base, 64)
}

// number is a numeric substitution block: [[#%fmt, DEFINE: == expression]].
type number struct {
	format format
	fixed  bool // the block states the format
	define string
	expr   *expression // nil: any number
}

// expression is a numeric expression.
type expression struct {
	name string // of a variable, or of a function or operator with arguments
	n    int64
	args []*expression
}

var (
	formatSpec = regexp.MustCompile(`^%(#?)(?:\.([0-9]+))?([udxX])$`)
	numberName = regexp.MustCompile(`^[$]?[A-Za-z_][A-Za-z0-9_]*`)
)

// parseNumber reads the inside of a numeric block of a directive on the given line.
func parseNumber(s string, line int) (*number, error) {
	n := &number{format: format{verb: 'u'}}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "%") {
		spec, rest, _ := strings.Cut(s, ",")
		m := formatSpec.FindStringSubmatch(strings.TrimSpace(spec))
		if m == nil {
			return nil, fmt.Errorf("invalid matching format specification in expression '%s'", spec)
		}
		n.format.verb, n.format.alt, n.fixed = m[3][0], m[1] != "", true
		n.format.width, _ = strconv.Atoi(m[2])
		s = strings.TrimSpace(rest)
	}
	if name, rest, ok := strings.Cut(s, ":"); ok {
		n.define = strings.TrimSpace(name)
		if !variableName.MatchString(n.define) {
			return nil, fmt.Errorf("invalid variable name '%s'", n.define)
		}
		s = strings.TrimSpace(rest)
	}
	s = strings.TrimSpace(strings.TrimPrefix(s, "=="))
	if s == "" {
		return n, nil
	}
	p := &exprParser{s: s, line: line}
	e, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.space(); p.s != "" {
		return nil, fmt.Errorf("unexpected characters at end of expression '%s'", p.s)
	}
	n.expr = e
	return n, nil
}

type exprParser struct {
	s    string
	line int
}

func (p *exprParser) space() { p.s = strings.TrimLeft(p.s, " \t") }

func (p *exprParser) sum() (*expression, error) {
	left, err := p.operand()
	for err == nil {
		p.space()
		if p.s == "" || p.s[0] != '+' && p.s[0] != '-' {
			return left, nil
		}
		op := p.s[:1]
		p.s = p.s[1:]
		var right *expression
		if right, err = p.operand(); err == nil {
			left = &expression{name: op, args: []*expression{left, right}}
		}
	}
	return nil, err
}

var functions = map[string]func(a, b int64) (int64, error){
	"+": func(a, b int64) (int64, error) { return a + b, nil }, "add": func(a, b int64) (int64, error) { return a + b, nil },
	"-": func(a, b int64) (int64, error) { return a - b, nil }, "sub": func(a, b int64) (int64, error) { return a - b, nil },
	"mul": func(a, b int64) (int64, error) { return a * b, nil },
	"max": func(a, b int64) (int64, error) { return max(a, b), nil }, "min": func(a, b int64) (int64, error) { return min(a, b), nil },
	"div": func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, fmt.Errorf("division by zero")
		}
		return a / b, nil
	},
}

func (p *exprParser) operand() (*expression, error) {
	p.space()
	switch {
	case p.s == "":
		return nil, fmt.Errorf("missing operand in expression")
	case strings.HasPrefix(p.s, "@LINE"):
		p.s = p.s[len("@LINE"):]
		return &expression{n: int64(p.line)}, nil
	case p.s[0] == '(':
		p.s = p.s[1:]
		e, err := p.sum()
		if err != nil {
			return nil, err
		}
		if p.space(); !strings.HasPrefix(p.s, ")") {
			return nil, fmt.Errorf("missing ')' at end of nested expression")
		}
		p.s = p.s[1:]
		return e, nil
	case '0' <= p.s[0] && p.s[0] <= '9':
		i := 0
		for i < len(p.s) && isWord(p.s[i]) && p.s[i] != '-' {
			i++
		}
		n, err := strconv.ParseInt(p.s[:i], 0, 64)
		if err != nil {
			return nil, fmt.Errorf("invalid number '%s'", p.s[:i])
		}
		p.s = p.s[i:]
		return &expression{n: n}, nil
	}
	name := numberName.FindString(p.s)
	if name == "" {
		return nil, fmt.Errorf("invalid operand format '%s'", p.s)
	}
	p.s = p.s[len(name):]
	if !strings.HasPrefix(p.s, "(") {
		return &expression{name: name}, nil
	}
	if functions[name] == nil {
		return nil, fmt.Errorf("call to undefined function '%s'", name)
	}
	p.s = p.s[1:]
	e := &expression{name: name}
	for range 2 {
		a, err := p.sum()
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, a)
		want := ","
		if len(e.args) == 2 {
			want = ")"
		}
		if p.space(); !strings.HasPrefix(p.s, want) {
			return nil, fmt.Errorf("function '%s' takes 2 arguments", name)
		}
		p.s = p.s[1:]
	}
	return e, nil
}

// uses returns the numeric variables of the expression, with a '#' before the name.
func (n *number) uses() []string {
	var out []string
	var walk func(e *expression)
	walk = func(e *expression) {
		if e == nil {
			return
		}
		if e.name != "" && len(e.args) == 0 {
			out = append(out, "#"+e.name)
		}
		for _, a := range e.args {
			walk(a)
		}
	}
	walk(n.expr)
	return out
}

// regex returns the expression that matches the number.
func (n *number) regex(v *variables) (string, error) {
	if n.expr == nil {
		return n.format.regex(), nil
	}
	f := n.format
	x, err := n.expr.eval(v, func(of format) {
		if !n.fixed {
			f = of
		}
	})
	if err != nil {
		return "", err
	}
	s, err := f.text(x)
	return regexp.QuoteMeta(s), err
}

// eval returns the value of e and reports the formats of its variables.
func (e *expression) eval(v *variables, seen func(format)) (int64, error) {
	if len(e.args) == 2 {
		a, err := e.args[0].eval(v, seen)
		if err != nil {
			return 0, err
		}
		b, err := e.args[1].eval(v, seen)
		if err != nil {
			return 0, err
		}
		return functions[e.name](a, b)
	}
	if e.name == "" {
		return e.n, nil
	}
	x, ok := v.numbers[e.name]
	if !ok {
		return 0, fmt.Errorf("undefined variable: %s", e.name)
	}
	seen(x.f)
	return x.n, nil
}
