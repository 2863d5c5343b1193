package diag

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Expectation is a comment that states a diagnostic that a tool must report, in the format of MLIR's
// --verify-diagnostics:
//
//	// expected-error @+1 {{message}}
//
// The severity is error, warning, note or remark, with -re if the message contains {{regular expressions}}. The
// location is @+N or @-N lines from the comment, @above or @below (the next line that is not an expectation), @unknown
// for a finding without a location, or by default the comment's own line.
type Expectation struct {
	Severity Severity
	Line     int // of the file, 1-based; 0 for a finding without a location
	Message  string
	At       Pos // of the comment

	pattern *regexp.Regexp // nil: the text must contain the message
}

var expectation = regexp.MustCompile(`expected-(error|warning|note|remark)(-re)? *(@([+-][0-9]+|above|below|unknown))? *\{\{(.*)\}\}`)

// Expectations returns the expectations of a source in order. Two on one line, or an invalid pattern, are an error.
func Expectations(s *Source) ([]Expectation, error) {
	var out []Expectation
	var below []int // entries waiting for the next line without expectations
	last := 0       // the last line without expectations
	line := s.above
	for i := 0; i < len(s.text); {
		line++
		next := len(s.text)
		if n := bytes.IndexByte(s.text[i:], '\n'); n >= 0 {
			next = i + n + 1
		}
		text := strings.TrimRight(string(s.text[i:next]), "\r\n")
		m := expectation.FindStringSubmatchIndex(text)
		if m == nil {
			for _, k := range below {
				out[k].Line = line
			}
			below = below[:0]
			last = line
			i = next
			continue
		}
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		e := Expectation{Line: line, Message: group(5), At: At(i + m[0])}
		for sev, name := range severityNames {
			if name == group(1) {
				e.Severity = Severity(sev)
			}
		}
		if group(2) != "" {
			re, err := messagePattern(e.Message)
			if err != nil {
				return nil, Errorf(s, e.At, "invalid regular expression: %v", err)
			}
			e.pattern = re
		}
		switch where := group(4); where {
		case "":
		case "above":
			e.Line = last
		case "below":
			below = append(below, len(out))
		case "unknown":
			e.Line = 0
		default:
			n, err := strconv.Atoi(where)
			if err != nil {
				return nil, Errorf(s, e.At, "invalid line offset '%s'", where)
			}
			e.Line += n
		}
		out = append(out, e)
		i = next
	}
	return out, nil
}

// messagePattern turns a message with {{regular expressions}} into one regular expression.
func messagePattern(text string) (*regexp.Regexp, error) {
	var b strings.Builder
	for {
		open := strings.Index(text, "{{")
		if open < 0 {
			break
		}
		end := strings.Index(text[open:], "}}")
		if end < 0 {
			return nil, fmt.Errorf("found start of regex with no end '}}'")
		}
		b.WriteString(regexp.QuoteMeta(text[:open]))
		b.WriteString("(" + text[open+2:open+end] + ")")
		text = text[open+end+2:]
	}
	b.WriteString(regexp.QuoteMeta(text))
	return regexp.Compile(b.String())
}

// MatchesMessage reports whether the text of a finding matches e, wherever the finding is.
func (e *Expectation) MatchesMessage(text string) bool {
	if e.pattern != nil {
		return e.pattern.MatchString(text)
	}
	return strings.Contains(text, e.Message)
}

// Matches reports whether d matches e.
func (e *Expectation) Matches(d *Diagnostic) bool {
	if d.Severity != e.Severity || !e.MatchesMessage(d.Message) {
		return false
	}
	return e.Line == d.line()
}

// line returns the line of the file that d points at, or 0.
func (d *Diagnostic) line() int {
	if d.Source == nil || !d.Pos.IsValid() {
		return 0
	}
	line, _ := d.Source.LineColumn(d.Pos)
	return line
}

// VerifyExpectations compares the findings in s with the expectations in its comments. It returns the differences:
// unexpected findings and unmet expectations. It treats notes as separate findings.
func VerifyExpectations(s *Source, found List) List {
	expected, err := Expectations(s)
	if err != nil {
		if d, ok := err.(*Diagnostic); ok {
			return List{d}
		}
		return List{Errorf(s, 0, "%v", err)}
	}
	met := make([]bool, len(expected))
	var out List
	check := func(d *Diagnostic) {
		for i := range expected {
			if !met[i] && expected[i].Matches(d) {
				met[i] = true
				return
			}
		}
		out.Add(Errorf(s, d.Pos, "unexpected %s: %s", d.Severity, d.Message))
	}
	for _, d := range found {
		check(d)
		for _, n := range d.Notes {
			check(n)
		}
	}
	for i, e := range expected {
		if !met[i] {
			out.Add(Errorf(s, e.At, "expected %s \"%s\" was not produced", e.Severity, e.Message))
		}
	}
	return out
}
