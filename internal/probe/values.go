package probe

import (
	"encoding/json"
	"fmt"
	"net/url"
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
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || strings.IndexByte(`%"\`+betweenFields+betweenValues, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// encode writes fields: pointers to strings, and to numbers, booleans and lists of numbers, which JSON writes without
// characters to escape.
func encode(fields []any) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		if s, ok := f.(*string); ok {
			out[i] = escape(*s)
		} else {
			text, _ := json.Marshal(f) // never fails
			out[i] = string(text)
		}
	}
	return strings.Join(out, betweenFields)
}

// decode reads what encode wrote.
func decode(text string, fields []any) (err error) {
	parts := strings.Split(text, betweenFields)
	if len(parts) != len(fields) {
		return fmt.Errorf("%d fields, expected %d", len(parts), len(fields))
	}
	for i, part := range parts {
		if s, ok := fields[i].(*string); ok {
			*s, err = url.PathUnescape(part)
		} else {
			err = json.Unmarshal([]byte(part), fields[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// encodeList writes the text of attrValues. fields returns the fields of an element.
func encodeList[T any](list []T, fields func(*T) []any) string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = encode(fields(&list[i]))
	}
	return strings.Join(out, betweenValues)
}

// decodeList reads what encodeList wrote.
func decodeList[T any](text string, fields func(*T) []any) ([]T, error) {
	if text == "" {
		return nil, nil
	}
	var out []T
	for part := range strings.SplitSeq(text, betweenValues) {
		var v T
		if err := decode(part, fields(&v)); err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func (v *value) fields() []any { return []any{&v.at, &v.typ, &v.name, &v.op, &v.loc} }

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
