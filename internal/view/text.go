package view

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hlocb/hlocb/print"
)

// Marks in the templates of lines.
const (
	useMark  = '\x01' // a value
	packMark = '\x02' // the definition of several results, %0:2
)

const (
	maxLine    = 1500 // bytes of a line that the page shows
	maxLiteral = 16   // elements of a literal
	maxIndent  = 80   // spaces before a line: the lines of deeply nested regions would otherwise take megabytes
)

// text holds a module's text as lines with values.
type text struct {
	lines  []int32 // a template of each line
	values []int32 // the values of all lines
	starts map[int32]int32
	names  map[int32]string // of values
}

// textOf prints the module of a step. intern returns the number of a string.
func (u *union) textOf(s *stepItems, intern func(string) int32) *text {
	printed, marks := print.Marked(s.step.Module, print.Options{ElideLarger: maxLiteral})
	t := &text{starts: map[int32]int32{}, names: map[int32]string{}}
	ops, values := marks.Ops, marks.Values
	at := 0
	var line []byte
	for at < len(printed) {
		end := len(printed)
		if i := bytes.IndexByte(printed[at:], '\n'); i >= 0 {
			end = at + i
		}
		for len(ops) > 0 && ops[0].At <= end {
			t.starts[s.items[ops[0].Op]] = int32(len(t.lines))
			ops = ops[1:]
		}
		line = line[:0]
		from := at
		for from < end && printed[from] == ' ' {
			from++
		}
		line = append(line, printed[at:min(from, at+maxIndent)]...)
		for len(values) > 0 && values[0].From < end {
			m := values[0]
			values = values[1:]
			v := u.value(s, m.Value)
			name := string(printed[m.From:m.To])
			mark := byte(useMark)
			if op := m.Value.DefiningOp(); op != nil && op.NumResults() > 1 && !strings.Contains(name, "#") {
				if m.To < len(printed) && printed[m.To] == ':' {
					mark = packMark
					for i := m.Value.Index(); i < op.NumResults(); i++ {
						t.names[v+int32(i-m.Value.Index())] = name + "#" + itoa(i-m.Value.Index())
					}
				} else {
					t.names[v] = name
				}
			} else if t.names[v] == "" {
				t.names[v] = name
			}
			if len(line)+m.From-from > maxLine {
				continue
			}
			line = append(appendClean(line, printed[from:m.From]), mark)
			t.values = append(t.values, v)
			from = m.To
		}
		if rest := printed[min(from, end):end]; len(line)+len(rest) > maxLine+500 {
			line = append(appendClean(line, rest[:max(0, min(len(rest), maxLine-len(line)))]), "…"...)
		} else {
			line = appendClean(line, rest)
		}
		t.lines = append(t.lines, intern(string(line)))
		at = end + 1
	}
	return t
}

// appendClean appends text without the marks, which MLIR writes only in the attributes of unknown dialects.
func appendClean(b, s []byte) []byte {
	for _, c := range s {
		if c == useMark || c == packMark {
			b = utf8.AppendRune(b, utf8.RuneError)
			continue
		}
		b = append(b, c)
	}
	return b
}
