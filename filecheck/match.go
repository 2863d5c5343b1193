package filecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// Match checks a text. The error is a diag.List: one finding for each part between LABEL directives that does not
// match, with a note at the place in the input where the search began.
func (c *Check) Match(name, text string) error {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !c.opts.StrictWhitespace {
		text = squeeze(text)
	}
	m := &matcher{c: c, input: diag.NewSource(name, []byte(text)), vars: &variables{map[string]string{}, map[string]value{}}}
	if err := m.define(); err != nil {
		return err
	}
	rest, at := text, 0
	for i, j := 0, 0; ; {
		for j < len(c.list) && c.list[j].kind != label {
			j++
		}
		region, regionAt := rest, at
		if j < len(c.list) {
			_, stop, ok := m.find(c.list[j], rest, at)
			if !ok {
				break
			}
			region = rest[:stop]
			rest, at = rest[stop:], at+stop
			j++
		}
		if i > 0 && c.opts.VarScope {
			for name := range m.vars.strings {
				if name[0] != '$' {
					delete(m.vars.strings, name)
				}
			}
			for name := range m.vars.numbers {
				if name[0] != '$' {
					delete(m.vars.numbers, name)
				}
			}
		}
		for ; i < j; i++ {
			stop, ok := m.check(c.list[i], region, regionAt)
			if !ok {
				i = j
				break
			}
			region, regionAt = region[stop:], regionAt+stop
		}
		if j == len(c.list) {
			break
		}
	}
	return m.failures.Err()
}

// matcher is the state of one Match.
type matcher struct {
	c        *Check
	input    *diag.Source
	vars     *variables
	failures diag.List
}

// define sets the variables of the options.
func (m *matcher) define() error {
	for name, text := range m.c.opts.Define {
		if numeric, ok := strings.CutPrefix(name, "#"); ok {
			f := format{verb: 'u'}
			if strings.HasPrefix(text, "-") {
				f.verb = 'd'
			}
			n, err := f.parse(text)
			if err != nil {
				return fmt.Errorf("numeric variable %s: expected a number, but got %q", numeric, text)
			}
			m.vars.numbers[numeric] = value{n, f}
			continue
		}
		m.vars.strings[name] = text
	}
	return nil
}

// fail records that d does not match. at is the offset in the input of the place that the note explains.
func (m *matcher) fail(d *directive, message string, at int, note string) {
	pos := d.at
	if d.kind == end {
		pos = d.before[len(d.before)-1].at
	}
	x := diag.Errorf(m.c.src, pos, "%s: %s", d.name, message)
	if note != "" {
		x.Notes = append(x.Notes, &diag.Diagnostic{Source: m.input, Pos: diag.At(at), Severity: diag.Note, Message: note})
	}
	if d.pattern != nil {
		for _, name := range d.pattern.uses {
			if numeric, ok := strings.CutPrefix(name, "#"); ok {
				if v, ok := m.vars.numbers[numeric]; ok {
					x.Note(pos, "with %s equal to %d", numeric, v.n)
				}
			} else if v, ok := m.vars.strings[name]; ok {
				x.Note(pos, "with %s equal to %q", name, v)
			}
		}
	}
	m.failures.Add(x)
}

// find finds all matches of d (one, except for COUNT) in text, which is at offset at of the input.
func (m *matcher) find(d *directive, text string, at int) (start, stop int, ok bool) {
	if d.kind == end {
		return len(text), len(text), true
	}
	for i := range d.times {
		s, e, ok, err := d.pattern.match(text[stop:], m.vars)
		if err != nil {
			m.fail(d, err.Error(), at+stop, "scanning from here")
			return 0, 0, false
		}
		if !ok {
			message := "expected string not found in input"
			if d.times > 1 {
				message = fmt.Sprintf("%s (%d out of %d)", message, i+1, d.times)
			}
			m.fail(d, message, at+stop, "scanning from here")
			return 0, 0, false
		}
		if i == 0 {
			start = stop + s
		}
		stop += e
	}
	return start, stop, true
}

// check matches d and the NOT and DAG directives before it in region, and returns the end of the match.
func (m *matcher) check(d *directive, region string, at int) (int, bool) {
	from, nots, ok := m.dags(d.before, region, at)
	if !ok {
		return 0, false
	}
	start, stop, ok := m.find(d, region[from:], at+from)
	if !ok {
		return 0, false
	}
	skipped := region[from : from+start]
	lines := strings.Count(skipped, "\n")
	switch {
	case (d.kind == next || d.kind == empty) && lines == 0:
		m.fail(d, "is on the same line as previous match", at+from+start, "the match")
		return 0, false
	case (d.kind == next || d.kind == empty) && lines != 1:
		m.fail(d, "is not on the line after the previous match", at+from+start, "the match")
		return 0, false
	case d.kind == same && lines != 0:
		m.fail(d, "is not on the same line as the previous match", at+from+start, "the match")
		return 0, false
	}
	if !m.nots(nots, skipped, at+from) {
		return 0, false
	}
	return from + stop, true
}

// nots reports whether no directive of the list matches in text.
func (m *matcher) nots(list []*directive, text string, at int) bool {
	for _, d := range list {
		start, _, found, err := d.pattern.match(text, m.vars)
		switch {
		case err != nil:
			m.fail(d, err.Error(), at, "scanning from here")
			return false
		case found:
			m.fail(d, "excluded string found in input", at+start, "found here")
			return false
		}
	}
	return true
}

// dags matches the DAG directives of the list, in any order but not overlapping between two NOT directives. It returns
// the end of the last match and the NOT directives after it.
func (m *matcher) dags(list []*directive, region string, at int) (from int, nots []*directive, ok bool) {
	type span struct{ start, stop int }
	var spans []span // of the group, in order
	for i, d := range list {
		if d.kind == not {
			nots = append(nots, d)
			continue
		}
		pos, k := from, 0
		for {
			start, stop, ok := m.find(d, region[pos:], at+pos)
			if !ok {
				return 0, nil, false
			}
			s := span{pos + start, pos + stop}
			for k < len(spans) && s.start >= spans[k].stop {
				k++
			}
			if k == len(spans) || s.stop <= spans[k].start {
				spans = slices.Insert(spans, k, s)
				break
			}
			pos = spans[k].stop
		}
		if i+1 == len(list) || list[i+1].kind == not {
			if !m.nots(nots, region[from:spans[0].start], at+from) {
				return 0, nil, false
			}
			nots = nil
			from = spans[len(spans)-1].stop
			spans = nil
		}
	}
	return from, nots, true
}
