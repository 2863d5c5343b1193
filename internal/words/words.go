// Package words splits command lines as a shell does, without expanding anything, and shortens texts for messages.
package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Split splits at white space outside single and double quotes, and removes the quotes.
func Split(s string) ([]string, error) {
	var out []string
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case unicode.IsSpace(r):
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unterminated %c in the command", quote)
	}
	if in {
		out = append(out, word.String())
	}
	return out, nil
}

// Shorten truncates a text after n bytes, at the end of a character, and appends the original length.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s... (%d bytes)", s[:n], len(s))
}
