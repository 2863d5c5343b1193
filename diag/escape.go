package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns s with every character escaped that a terminal would interpret or that could disguise the text:
// control characters, line breaks, bytes that are not UTF-8, and Unicode's invisible and direction marks. Use it for
// any text from a module before a person sees it.
func Escape(s string) string { return escape(s, false) }

// EscapeLines is Escape for messages of several lines: it keeps line breaks and tabs.
func EscapeLines(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < ' ' && !(lines && (c == '\n' || c == '\t'))) || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1, r < 0x80 && !unicode.IsPrint(r):
			b.WriteString(`\x`)
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&15])
		case !unicode.IsPrint(r):
			b.WriteString(`\u{`)
			started := false
			for shift := 20; shift >= 0; shift -= 4 {
				if d := r >> shift & 15; d != 0 || started || shift == 0 {
					b.WriteByte(hex[d])
					started = true
				}
			}
			b.WriteByte('}')
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}
