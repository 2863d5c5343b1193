package filecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// Options configures Parse. The comments name FileCheck's flags.
type Options struct {
	Prefixes         []string          // --check-prefixes; default: CHECK
	CommentPrefixes  []string          // --comment-prefixes; default: COM and RUN
	Define           map[string]string // -D: string variables, by name; numeric variables as "#NAME"
	ImplicitNot      []string          // --implicit-check-not: patterns that no line may match between two matches
	StrictWhitespace bool              // --strict-whitespace: runs of spaces and tabs count
	MatchFullLines   bool              // --match-full-lines
	VarScope         bool              // --enable-var-scope: LABEL forgets variables without a leading $
}

// kind is the kind of a directive.
type kind uint8

const (
	plain kind = iota
	next
	same
	not
	dag
	label
	empty
	count
	end // not written: the end of the text, if NOT or DAG directives come last
)

var kindNames = map[string]kind{"NEXT": next, "SAME": same, "NOT": not, "DAG": dag, "LABEL": label, "EMPTY": empty, "COUNT": count}

// directive is one check.
type directive struct {
	kind    kind
	name    string // as written: CHECK-NEXT
	at      diag.Pos
	pattern *pattern
	times   int          // for COUNT; else 1
	before  []*directive // the NOT and DAG directives before it
}

// Check is a parsed list of directives. It may be used by several goroutines.
type Check struct {
	src  *diag.Source
	opts Options
	list []*directive
}

// NoChecksError reports that a text has no directive with the given prefixes.
type NoChecksError struct {
	Name     string
	Prefixes []string
}

func (e *NoChecksError) Error() string {
	return fmt.Sprintf("%s: error: no check strings found with prefix '%s:'", e.Name, strings.Join(e.Prefixes, ":', '"))
}

// Parse reads the directives of src. The error is a *diag.Diagnostic, or a *NoChecksError if there is none.
func Parse(src *diag.Source, o Options) (*Check, error) {
	if len(o.Prefixes) == 0 {
		o.Prefixes = []string{"CHECK"}
	}
	if o.CommentPrefixes == nil {
		o.CommentPrefixes = []string{"COM", "RUN"}
	}
	for _, p := range append(slices.Clone(o.Prefixes), o.CommentPrefixes...) {
		if !validPrefix.MatchString(p) {
			return nil, fmt.Errorf("invalid prefix %q: expected a letter, then letters, digits, '-' and '_'", p)
		}
	}
	c := &Check{src: src, opts: o}
	var implicit []*directive
	for _, text := range o.ImplicitNot {
		p, err := newPattern(src, diag.At(0), text, o, false)
		if err != nil {
			return nil, err
		}
		implicit = append(implicit, &directive{kind: not, name: "implicit CHECK-NOT", at: diag.At(0), pattern: p, times: 1})
	}
	found := directivePattern(o)
	waiting := slices.Clone(implicit)
	any := false
	text := string(src.Text())
	for at := 0; at < len(text); {
		eol := strings.IndexByte(text[at:], '\n')
		stop := len(text)
		if eol >= 0 {
			stop = at + eol
		}
		line := strings.TrimSuffix(text[at:stop], "\r")
		for from := 0; ; {
			m := found.FindStringSubmatchIndex(line[from:])
			if m == nil {
				break
			}
			for i := range m {
				if m[i] >= 0 {
					m[i] += from
				}
			}
			if p := m[2] - 1; p >= 0 && isWord(line[p]) {
				from = m[3]
				continue
			}
			if slices.Contains(o.CommentPrefixes, line[m[2]:m[3]]) {
				break
			}
			d, err := c.directive(line, at, m)
			if err != nil {
				return nil, err
			}
			any = true
			if d.kind == not || d.kind == dag {
				waiting = append(waiting, d)
			} else {
				if (d.kind == next || d.kind == same || d.kind == empty) && len(c.list) == 0 && !slices.ContainsFunc(waiting, func(d *directive) bool { return d.kind == dag }) {
					return nil, diag.Errorf(src, d.at, "found '%s' without previous '%s: line", d.name, line[m[2]:m[3]])
				}
				d.before = waiting
				waiting = slices.Clone(implicit)
				c.list = append(c.list, d)
			}
			break
		}
		at = stop + 1
	}
	if !any && len(implicit) == 0 {
		return nil, &NoChecksError{src.Name(), o.Prefixes}
	}
	if len(waiting) > 0 {
		c.list = append(c.list, &directive{kind: end, before: waiting, times: 1})
	}
	return c, nil
}

var validPrefix = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

func isWord(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// directivePattern matches the start of a directive: prefix, suffix, count, modifiers.
func directivePattern(o Options) *regexp.Regexp {
	names := append(slices.Clone(o.Prefixes), o.CommentPrefixes...)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // CHECK-FOO before CHECK
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	return regexp.MustCompile(`(` + strings.Join(names, "|") + `)(?:-((?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT)(?:-[A-Z0-9]+)*))?(?:\{([A-Z, ]*)\})?:`)
}

// directive reads one directive. m are the groups of directivePattern in line, which starts at offset at.
func (c *Check) directive(line string, at int, m []int) (*directive, error) {
	d := &directive{name: strings.TrimSuffix(line[m[2]:m[1]], ":"), at: diag.At(at + m[2]), times: 1}
	if m[4] >= 0 {
		suffix := line[m[4]:m[5]]
		word, rest, more := strings.Cut(suffix, "-")
		d.kind = kindNames[word]
		switch n, err := strconv.Atoi(rest); {
		case d.kind == count && (!more || err != nil || n < 1):
			return nil, diag.Errorf(c.src, d.at, "invalid count in -COUNT specification on prefix '%s'", line[m[2]:m[3]])
		case d.kind == count:
			d.times = n
		case more:
			return nil, diag.Errorf(c.src, d.at, "unsupported combination of suffixes in '%s'", d.name)
		}
	}
	literal := false
	if m[6] >= 0 {
		for _, word := range strings.Split(line[m[6]:m[7]], ",") {
			if strings.TrimSpace(word) != "LITERAL" {
				return nil, diag.Errorf(c.src, d.at, "unknown modifier '%s' of %s", strings.TrimSpace(word), line[m[2]:m[3]])
			}
			literal = true
		}
	}
	start := m[1]
	text := line[start:]
	if !c.opts.StrictWhitespace || !c.opts.MatchFullLines {
		trimmed := strings.TrimLeft(text, " \t")
		start += len(text) - len(trimmed)
		text = strings.TrimRight(trimmed, " \t")
	}
	if !c.opts.StrictWhitespace {
		text = squeeze(text)
	}
	if d.kind == empty {
		if text != "" {
			return nil, diag.Errorf(c.src, d.at, "found non-empty check string for empty check with prefix '%s:'", line[m[2]:m[3]])
		}
		d.pattern = emptyLine
		return d, nil
	}
	if text == "" {
		return nil, diag.Errorf(c.src, d.at, "found empty check string with prefix '%s:'", line[m[2]:m[3]])
	}
	p, err := newPattern(c.src, diag.At(at+start), text, c.opts, literal)
	if err != nil {
		return nil, err
	}
	if d.kind == label && (len(p.uses) > 0 || len(p.defines) > 0) {
		return nil, diag.Errorf(c.src, d.at, "found '%s:' with variable definition or use", d.name)
	}
	d.pattern = p
	return d, nil
}

// squeeze replaces each run of spaces and tabs by one space.
func squeeze(s string) string {
	if !strings.Contains(s, "  ") && !strings.Contains(s, "\t") {
		return s
	}
	return blanks.ReplaceAllString(s, " ")
}

var blanks = regexp.MustCompile(`[ \t]+`)
