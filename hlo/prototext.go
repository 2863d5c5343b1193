package hlo

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/wire"
)

// The text form of protos (protobuf's "text format"): name: value and name { ... }. It is translated to the binary
// form, which the other files of this package read.

// textField is a row of protoSchema.
type textField struct {
	num      protowire.Number
	repeated bool
	kind     byte             // i, b, f, d, s, -, # or m
	enum     map[string]int64 // of kind #
	message  *textMessage     // of kind m
}

type textMessage struct {
	name   string
	fields map[string]*textField
}

// textMessages returns protoSchema by the names of its messages.
var textMessages = sync.OnceValue(func() map[string]*textMessage {
	enums, messages := map[string]map[string]int64{}, map[string]*textMessage{}
	message := func(name string) *textMessage {
		if messages[name] == nil {
			messages[name] = &textMessage{name: name, fields: map[string]*textField{}}
		}
		return messages[name]
	}
	enum := func(name string) map[string]int64 {
		if enums[name] == nil {
			enums[name] = map[string]int64{}
		}
		return enums[name]
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(protoSchema), "\n\t", " "), "\n") {
		name, rest, _ := strings.Cut(line, ":")
		for part := range strings.FieldsSeq(rest) {
			field, value, _ := strings.Cut(part, "=")
			if name[0] == '#' {
				enum(name)[field], _ = strconv.ParseInt(value, 10, 64)
				continue
			}
			number, typ, _ := strings.Cut(value, ":")
			num, _ := strconv.Atoi(strings.TrimSuffix(number, "*"))
			f := &textField{num: protowire.Number(num), repeated: strings.HasSuffix(number, "*"), kind: typ[0]}
			switch {
			case typ[0] == '#':
				f.enum = enum(typ)
			case len(typ) > 1:
				f.kind, f.message = 'm', message(typ)
			}
			message(name).fields[field] = f
		}
	}
	return messages
})

// IsProtoText reports whether a file is the text form of a proto that ParseProto reads. head is the start of the file
// and may be truncated.
func IsProtoText(head []byte) bool { return textRoot(head) != nil }

// textRoot returns the message that a text is, which its first field shows, or nil.
func textRoot(text []byte) *textMessage {
	p := textProto{src: text}
	p.space()
	name := p.word()
	p.space()
	if name == "" || p.at == len(text) {
		return nil
	}
	root := "HloModuleProto"
	switch {
	case name == "hlo_module":
		root = "HloProto"
	case name == "hlo":
		root = "HloSnapshot"
	case text[p.at] != ':' && text[p.at] != '{':
		return nil
	}
	m := textMessages()[root]
	if m.fields[name] == nil || (text[p.at] != ':' && text[p.at] != '{' && text[p.at] != '<') {
		return nil
	}
	return m
}

// textProto translates a text.
type textProto struct {
	src   []byte
	at    int
	level int
	out   []byte
	marks []textMark
	fail  func(at int, format string, args ...any)
}

// textMark says that the translation of the text from an offset on starts at an offset of the binary form.
type textMark struct{ out, src int }

// position returns the offset in the text of an offset in the binary form.
func (p *textProto) position(out int) int {
	i, found := slices.BinarySearchFunc(p.marks, out, func(m textMark, out int) int { return m.out - out })
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return p.marks[i].src
}

// space skips white space and comments.
func (p *textProto) space() {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == '#':
			if n := bytes.IndexByte(p.src[p.at:], '\n'); n >= 0 {
				p.at += n
			} else {
				p.at = len(p.src)
			}
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.at++
		default:
			return
		}
	}
}

// word reads the letters, digits, underscores and dots at the current offset.
func (p *textProto) word() string {
	start := p.at
	for p.at < len(p.src) && (isAlnum(p.src[p.at]) || p.src[p.at] == '_' || p.src[p.at] == '.' || p.src[p.at] == '+' ||
		p.src[p.at] == '-' && (p.at == start || p.src[p.at-1] == 'e' || p.src[p.at-1] == 'E')) {
		p.at++
	}
	return string(p.src[start:p.at])
}

func isAlnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// peek returns the next byte that is not white space, 0 at the end.
func (p *textProto) peek() byte {
	if p.space(); p.at == len(p.src) {
		return 0
	}
	return p.src[p.at]
}

func (p *textProto) accept(c byte) bool {
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

// fields reads the fields of m up to the byte end, 0 for the end of the text.
func (p *textProto) fields(m *textMessage, end byte) {
	if p.level++; p.level > protoLevels {
		p.fail(p.at, "messages are nested deeper than %d", protoLevels)
	}
	packed := map[*textField][]byte{}
	for p.peek() != end {
		start := p.at
		if p.peek() == 0 {
			p.fail(p.at, "expected '%c' at the end of %s", end, m.name)
		}
		if p.accept('[') { // an extension or the type of an Any
			if n := bytes.IndexByte(p.src[p.at:], ']'); n >= 0 {
				p.at += n + 1
			}
			p.skip()
		} else {
			name := p.word()
			f := m.fields[name]
			switch {
			case name == "":
				p.fail(start, "expected the name of a field of %s", m.name)
			case f == nil:
				p.fail(start, "%s has no field '%s'", m.name, shorten(name))
			case f.kind == '-':
				p.skip()
			default:
				p.values(f, start, packed)
			}
		}
		if !p.accept(',') {
			p.accept(';')
		}
	}
	if end != 0 {
		p.at++
	}
	list := make([]*textField, 0, len(packed))
	for f := range packed {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *textField) int { return int(a.num - b.num) })
	for _, f := range list {
		p.out = protowire.AppendBytes(protowire.AppendTag(p.out, f.num, protowire.BytesType), packed[f])
	}
	p.level--
}

// values reads the value of a field, or the list of its values.
func (p *textProto) values(f *textField, start int, packed map[*textField][]byte) {
	colon := p.accept(':')
	if f.kind != 'm' && !colon {
		p.fail(p.at, "expected ':'")
	}
	if !f.repeated || !p.accept('[') {
		p.value(f, start, packed)
		return
	}
	for more := !p.accept(']'); more; {
		p.space()
		p.value(f, p.at, packed)
		if more = p.accept(','); !more && !p.accept(']') {
			p.fail(p.at, "expected ',' or ']'")
		}
	}
}

// value reads one value.
func (p *textProto) value(f *textField, start int, packed map[*textField][]byte) {
	p.space()
	p.marks = append(p.marks, textMark{len(p.out), start})
	switch f.kind {
	case 'm':
		end := byte('}')
		if p.accept('<') {
			end = '>'
		} else if !p.accept('{') {
			p.fail(p.at, "expected '{'")
		}
		p.message(f.num, func() { p.fields(f.message, end) })
		return
	case 's':
		p.out = protowire.AppendBytes(protowire.AppendTag(p.out, f.num, protowire.BytesType), p.text())
		return
	}
	var buf []byte
	typ := protowire.VarintType
	switch f.kind {
	case 'f':
		buf, typ = protowire.AppendFixed32(nil, math.Float32bits(float32(p.float(32)))), protowire.Fixed32Type
	case 'd':
		buf, typ = protowire.AppendFixed64(nil, math.Float64bits(p.float(64))), protowire.Fixed64Type
	default:
		buf = protowire.AppendVarint(nil, p.integer(f))
	}
	if f.repeated {
		packed[f] = append(packed[f], buf...)
		return
	}
	p.out = append(protowire.AppendTag(p.out, f.num, typ), buf...)
}

// message writes a field whose message write writes.
func (p *textProto) message(num protowire.Number, write func()) {
	p.out = wire.OpenMessage(p.out, num)
	start, mark := len(p.out), len(p.marks)
	write()
	var moved int
	p.out, moved = wire.CloseMessage(p.out, start)
	for i := mark; i < len(p.marks); i++ {
		p.marks[i].out += moved
	}
}

// integer reads an integer, a Boolean or the name of a case.
func (p *textProto) integer(f *textField) uint64 {
	start := p.at
	word := p.word()
	switch {
	case f.kind == '#':
		if v, ok := f.enum[word]; ok {
			return uint64(v)
		}
	case f.kind == 'b' && (word == "true" || word == "t" || word == "True"):
		return 1
	case f.kind == 'b' && (word == "false" || word == "f" || word == "False"):
		return 0
	}
	if v, err := strconv.ParseInt(word, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(word, 0, 64)
	if err != nil {
		p.fail(start, "expected %s, found '%s'", map[byte]string{'#': "a case or a number", 'b': "true or false"}[f.kind]+map[byte]string{'i': "an integer"}[f.kind], shorten(word))
	}
	return v
}

// float reads a number, inf or nan.
func (p *textProto) float(bits int) float64 {
	start := p.at
	sign := ""
	if p.accept('-') {
		sign = "-"
		p.space()
	}
	word := strings.TrimRight(p.word(), "fF")
	if strings.EqualFold(word, "in") { // inf without its f
		word = "inf"
	}
	v, err := strconv.ParseFloat(sign+word, bits)
	if err != nil && (v == 0 || !math.IsInf(v, 0)) {
		p.fail(start, "expected a number, found '%s'", shorten(word))
	}
	return v
}

// text reads strings between quotes, which follow each other, with C's escapes.
func (p *textProto) text() []byte {
	out := []byte{}
	for n := 0; ; n++ {
		quote := p.peek()
		if quote != '"' && quote != '\'' {
			if n == 0 {
				p.fail(p.at, "expected a string")
			}
			return out
		}
		start := p.at
		for p.at++; ; p.at++ {
			if p.at >= len(p.src) || p.src[p.at] == '\n' {
				p.fail(start, "the string does not end on its line")
			}
			c := p.src[p.at]
			if c == quote {
				p.at++
				break
			}
			if c == '\\' && p.at+1 < len(p.src) {
				out = p.escape(out)
				continue
			}
			out = append(out, c)
		}
	}
}

// escape reads an escape sequence and leaves the offset at its last byte.
func (p *textProto) escape(out []byte) []byte {
	start := p.at
	p.at++
	digits := func(n, base int, from int) string {
		end := from
		for end < len(p.src) && end < from+n {
			if _, err := strconv.ParseUint(string(p.src[end]), base, 8); err != nil {
				break
			}
			end++
		}
		p.at = end - 1
		return string(p.src[from:end])
	}
	c := p.src[p.at]
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		return append(out, "\a\b\f\n\r\t\v"[i])
	}
	var number string
	base := 16
	switch {
	case '0' <= c && c <= '7':
		number, base = digits(3, 8, p.at), 8
	case c == 'x' || c == 'X':
		number = digits(2, 16, p.at+1)
	case c == 'u':
		number = digits(4, 16, p.at+1)
	case c == 'U':
		number = digits(8, 16, p.at+1)
	default:
		return append(out, c)
	}
	v, err := strconv.ParseUint(number, base, 32)
	if err != nil || c != 'u' && c != 'U' && v > 255 {
		p.fail(start, "a wrong escape sequence in a string")
	}
	if c == 'u' || c == 'U' {
		return append(out, string(rune(v))...)
	}
	return append(out, byte(v))
}

// skip skips the value of a field that is not read.
func (p *textProto) skip() {
	p.accept(':')
	depth := 0
	for {
		start := p.at
		switch c := p.peek(); c {
		case 0:
			p.fail(p.at, "expected a value")
		case '{', '<', '[':
			p.at++
			depth++
		case '}', '>', ']':
			if depth == 0 {
				p.fail(p.at, "expected a value")
			}
			p.at++
			depth--
		case '"', '\'':
			p.text()
		default:
			if p.word() == "" {
				p.at++
			}
		}
		if depth == 0 {
			return
		}
		if p.at == start {
			p.at++
		}
	}
}
