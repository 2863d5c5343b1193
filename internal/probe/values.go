package probe

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
)

// attrValues is the entry of a probe's configuration that describes the values behind its operand, in program order.
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

// escape replaces what separates fields, and what a string attribute would escape, by %XX.
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

func appendFields(b []byte, fields ...string) []byte {
	for i, f := range fields {
		if i > 0 {
			b = append(b, betweenFields...)
		}
		b = append(b, escape(f)...)
	}
	return b
}

// splitFields reads what appendFields wrote.
func splitFields(text string, n int) ([]string, error) {
	fields := strings.Split(text, betweenFields)
	if len(fields) != n {
		return nil, fmt.Errorf("%q has %d fields, expected %d", text, len(fields), n)
	}
	for i, f := range fields {
		var err error
		if fields[i], err = url.PathUnescape(f); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// encodeValues writes the text of attrValues.
func encodeValues(list []value) string {
	var b []byte
	for i, v := range list {
		if i > 0 {
			b = append(b, betweenValues...)
		}
		b = appendFields(b, strconv.Itoa(v.at), v.typ, v.name, v.op, v.loc)
	}
	return string(b)
}

// decodeValues reads the text of attrValues.
func decodeValues(text string) ([]value, error) {
	var out []value
	for part := range strings.SplitSeq(text, betweenValues) {
		f, err := splitFields(part, 5)
		if err != nil {
			return nil, err
		}
		at, err := strconv.Atoi(f[0])
		if err != nil {
			return nil, err
		}
		out = append(out, value{at, f[1], f[2], f[3], f[4]})
	}
	return out, nil
}

// text returns the description of v for a message: %name of OP at FILE:LINE:COLUMN.
func (v *value) text() string {
	what := v.name
	if v.op != "" {
		what += " of " + v.op
	}
	if v.loc != "" {
		what += " at " + hook.Frame(v.loc)
	}
	return what
}
