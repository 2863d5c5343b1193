package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
)

// attrValues is the entry of a probe's configuration that describes the values that its operand stands for, in program
// order.
const attrValues = "values"

// attrSample is the entry of a probe's configuration that says which events the host selects.
const attrSample = "sample"

// value describes a value that a probe reduces.
type value struct {
	at   int // the position in the operand: of a place, or of the two bits in a word
	typ  string
	name string
	op   string // empty for a block argument
	loc  string // as MLIR text
}

// Fields and values are separated so that neither MLIR nor Go escapes the text.
const (
	betweenFields = "|"
	betweenValues = ";"
)

// escape replaces separators of fields, and characters that a string attribute would escape, by %XX.
func escape(s string) string {
	plain := func(c byte) bool {
		return c >= ' ' && c < 0x7f && c != '%' && c != '"' && c != '\\' && c != betweenFields[0] && c != betweenValues[0]
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func encodeFields(list []any) string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = escape(fmt.Sprint(f))
	}
	return strings.Join(out, betweenFields)
}

// encodeList writes the text of attrValues.
func encodeList[T interface{ fields() []any }](list []T) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = encodeFields(v.fields())
	}
	return strings.Join(out, betweenValues)
}

// fields reads what encodeFields wrote, one field after the other.
type fields struct {
	list []string
	err  error // the first
}

func fieldsOf(text string) *fields { return &fields{list: strings.Split(text, betweenFields)} }

func (f *fields) text() string {
	if len(f.list) == 0 {
		f.fail(errors.New("too few fields"))
		return ""
	}
	s, err := url.PathUnescape(f.list[0])
	f.fail(err)
	f.list = f.list[1:]
	return s
}

func (f *fields) number(text string) int {
	n, err := strconv.Atoi(text)
	f.fail(err)
	return n
}

func (f *fields) int() int { return f.number(f.text()) }

func (f *fields) fail(err error) { f.err = cmp.Or(f.err, err) }

// end returns the first error. Fields that nobody read are one.
func (f *fields) end() error {
	if len(f.list) > 0 {
		f.fail(fmt.Errorf("%d fields too many", len(f.list)))
	}
	return f.err
}

// decodeList reads what encodeList wrote.
func decodeList[T any](text string, read func(f *fields) T) ([]T, error) {
	var out []T
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, betweenValues) {
		f := fieldsOf(part)
		out = append(out, read(f))
		if err := f.end(); err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
	}
	return out, nil
}

func (v value) fields() []any { return []any{v.at, v.typ, v.name, v.op, v.loc} }

func readValue(f *fields) value { return value{f.int(), f.text(), f.text(), f.text(), f.text()} }

// text returns the description of v for a message: %name of OP at FILE:LINE:COLUMN.
func (v *value) text() string {
	text := v.name
	if v.op != "" {
		text += " of " + v.op
	}
	if v.loc != "" {
		text += " at " + hook.Frame(v.loc)
	}
	return text
}
