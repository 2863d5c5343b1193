package sharding

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// reader parses the text of a sharding. After the first error it reads nothing more.
type reader struct {
	rest string
	err  error
}

func (r *reader) skip() { r.rest = strings.TrimLeft(r.rest, " \t\n") }

func (r *reader) accept(token string) bool {
	r.skip()
	if r.err != nil || !strings.HasPrefix(r.rest, token) {
		return false
	}
	r.rest = r.rest[len(token):]
	return true
}

func (r *reader) expect(token string) {
	if !r.accept(token) && r.err == nil {
		r.err = fmt.Errorf("expected %q at %q", token, r.rest)
	}
}

func (r *reader) integer() int64 {
	r.skip()
	n := 0
	for n < len(r.rest) && (r.rest[n] >= '0' && r.rest[n] <= '9' || n == 0 && r.rest[n] == '-') {
		n++
	}
	v, err := strconv.ParseInt(r.rest[:n], 10, 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("expected an integer at %q", r.rest)
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) integers() []int64 { return r.list("[", "]") }

func (r *reader) list(open, close string) []int64 {
	r.expect(open)
	out := []int64{}
	for r.err == nil && !r.accept(close) {
		out = append(out, r.integer())
		r.accept(",")
	}
	return out
}

func (r *reader) quoted() string {
	r.expect(`"`)
	s, rest, ok := strings.Cut(r.rest, `"`)
	if !ok && r.err == nil {
		r.err = errors.New("a string is not closed")
	}
	r.rest = rest
	return s
}

func (r *reader) word() string {
	n := strings.IndexAny(r.rest, ",> ")
	if n < 0 {
		n = len(r.rest)
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return strings.Trim(s, `"`)
}

// balanced reads from an opening bracket to the matching closing bracket.
func (r *reader) balanced() string {
	r.skip()
	depth := 0
	for i := range len(r.rest) {
		switch r.rest[i] {
		case '<', '[', '{', '(':
			depth++
		case '>', ']', '}', ')':
			if depth--; depth == 0 {
				s := r.rest[:i+1]
				r.rest = r.rest[i+1:]
				return s
			}
		}
		if depth == 0 {
			break
		}
	}
	if r.err == nil {
		r.err = fmt.Errorf("expected a bracketed text at %q", r.rest)
	}
	return ""
}

func (r *reader) finish(noun, text string) error {
	if r.err != nil {
		return fmt.Errorf("%s %s: %w", noun, text, r.err)
	}
	return nil
}
