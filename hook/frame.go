package hook

import (
	"strconv"
	"strings"
)

// Frame returns the position in the user's source of a location in MLIR's format: the innermost file position outside
// installed packages, and the function name if the location has one, as in "train.py:41:8 loss_fn". If the location has
// no file position, Frame returns the innermost name. If the text is not an MLIR location, Frame returns it unchanged.
func Frame(loc string) string {
	r := frameReader{rest: loc}
	if !r.location("") || strings.TrimSpace(r.rest) != "" {
		return loc
	}
	for _, f := range r.frames {
		if !installed(f.file) {
			return f.String()
		}
	}
	if len(r.frames) > 0 {
		return r.frames[0].String()
	}
	return r.name
}

// installed reports whether a file belongs to an installed package.
func installed(file string) bool {
	return strings.Contains(file, "site-packages/") || strings.Contains(file, "dist-packages/") || strings.Contains(file, "<frozen")
}

// frame is a position of a call stack.
type frame struct{ file, position, name string }

func (f frame) String() string {
	s := f.file + f.position
	if f.name != "" {
		s += " " + f.name
	}
	return s
}

// frameReader reads a location and collects its positions, innermost first.
type frameReader struct {
	rest   string
	frames []frame
	name   string // the innermost name
	depth  int
}

// location reads one location. name is the name of the location around it.
func (r *frameReader) location(name string) bool {
	if r.depth++; r.depth > 1000 {
		return false
	}
	defer func() { r.depth-- }()
	r.rest = strings.TrimSpace(r.rest)
	switch {
	case r.accept("unknown"):
		return true
	case r.accept("callsite("):
		return r.location("") && r.accept("at") && r.location("") && r.accept(")")
	case r.accept("fused"):
		if r.accept("<") { // metadata can be any attribute
			end := strings.Index(r.rest, ">[")
			if end < 0 {
				return false
			}
			r.rest = r.rest[end+1:]
		}
		if !r.accept("[") {
			return false
		}
		for {
			if !r.location("") {
				return false
			}
			if !r.accept(",") {
				return r.accept("]")
			}
		}
	}
	text, ok := r.quoted()
	if !ok {
		return false
	}
	if !strings.HasPrefix(r.rest, ":") {
		if r.name == "" {
			r.name = text
		}
		return !r.accept("(") || r.location(text) && r.accept(")")
	}
	start := r.rest
	for strings.HasPrefix(r.rest, ":") {
		r.rest = strings.TrimLeft(r.rest[1:], "0123456789")
	}
	position := start[:len(start)-len(r.rest)]
	if r.accept("to") { // a range ends here
		r.rest = strings.TrimLeft(r.rest, " :0123456789")
	}
	r.frames = append(r.frames, frame{text, position, name})
	return true
}

func (r *frameReader) accept(word string) bool {
	rest := strings.TrimSpace(r.rest)
	if !strings.HasPrefix(rest, word) {
		return false
	}
	r.rest = rest[len(word):]
	return true
}

// quoted reads an MLIR string. An escape is two hexadecimal digits or one character.
func (r *frameReader) quoted() (string, bool) {
	if !strings.HasPrefix(r.rest, `"`) {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(r.rest); i++ {
		switch c := r.rest[i]; c {
		case '"':
			r.rest = r.rest[i+1:]
			return b.String(), true
		case '\\':
			if i+2 < len(r.rest) {
				if v, err := strconv.ParseUint(r.rest[i+1:i+3], 16, 8); err == nil {
					b.WriteByte(byte(v))
					i += 2
					continue
				}
			}
			if i+1 < len(r.rest) {
				i++
				b.WriteByte(r.rest[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
