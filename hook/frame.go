package hook

import (
	"slices"
	"strconv"
	"strings"
)

// Place is a location in the user's source.
type Place struct {
	File      string // "" if the location has no file position
	Line, Col string // decimal digits; Col may be empty
	Function  string // the enclosing function, "" if unknown
	Callback  string // JAX's primitive if it is a callback: "io_callback", "debug_print"; otherwise ""
	name      string // the innermost name of a location without a file position
}

// PlaceOf returns the place of a location in MLIR's format: the innermost file position outside installed packages. ok
// is false if the text is not an MLIR location.
func PlaceOf(loc string) (p Place, ok bool) {
	r := frameReader{rest: loc}
	if !r.location("") || strings.TrimSpace(r.rest) != "" {
		return p, false
	}
	for _, f := range r.frames {
		if !isInstalled(f.File) {
			p = f
			break
		}
	}
	if p.File == "" && len(r.frames) > 0 {
		p = r.frames[0]
	}
	p.name = r.name
	p.Callback = r.callback
	return p, true
}

// Frame returns the position in the user's source of a location in MLIR's format, with the enclosing function and the
// kind of callback if the location has them, as in "train.py:41:8 loss_fn (io_callback)". If the location has no file
// position, Frame returns the innermost name. If the text is not an MLIR location, Frame returns it unchanged.
func Frame(loc string) string {
	p, ok := PlaceOf(loc)
	if !ok {
		return loc
	}
	return p.String()
}

// String returns the place as Frame does.
func (p Place) String() string {
	if p.File == "" {
		return p.name
	}
	s := p.Position()
	if p.Function != "" {
		s += " " + p.Function
	}
	if p.Callback != "" {
		s += " (" + p.Callback + ")"
	}
	return s
}

// Position returns FILE:LINE:COLUMN of a place with a file; a column may be missing.
func (p Place) Position() string {
	s := p.File + ":" + p.Line
	if p.Col != "" {
		s += ":" + p.Col
	}
	return s
}

// HookName returns the name of a hook at the place that has no name of its own: the file without its directories, and
// the line, as in "train.py:41". It is empty if the place has no file.
func (p Place) HookName() string {
	if p.File == "" {
		return ""
	}
	return p.File[strings.LastIndexAny(p.File, `/\`)+1:] + ":" + p.Line
}

// isInstalled reports whether a file belongs to an installed package.
func isInstalled(file string) bool {
	return strings.Contains(file, "site-packages/") || strings.Contains(file, "dist-packages/") || strings.Contains(file, "<frozen")
}

// callbacks are the names of JAX's primitives, of all its versions, that call the host.
var callbacks = [...]string{"io_callback", "pure_callback", "debug_callback", "debug_print", "buffer_callback", "outside_call"}

// callbackOf returns the callback that a name of JAX's stack ends with, as in "jit(step)/while/body/io_callback".
func callbackOf(name string) string {
	name, _, _ = strings.Cut(name, "[") // older versions print the primitive's parameters
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ":")
	if slices.Contains(callbacks[:], name) {
		return name
	}
	return ""
}

// frameReader reads a location and collects its positions, innermost first.
type frameReader struct {
	rest     string
	frames   []Place
	name     string // the innermost name
	callback string // the first name of a callback
	depth    int
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
		if r.callback == "" {
			r.callback = callbackOf(text)
		}
		if r.name == "" {
			r.name = text
		}
		return !r.accept("(") || r.location(text) && r.accept(")")
	}
	p := Place{File: text, Function: name}
	if strings.ContainsAny(name, "/[") { // a stack of JAX's names
		p.Function = ""
	}
	p.Line = r.digits()
	if strings.HasPrefix(r.rest, ":") {
		p.Col = r.digits()
	}
	if r.accept("to") { // a range ends here
		r.rest = strings.TrimLeft(r.rest, " :0123456789")
	}
	r.frames = append(r.frames, p)
	return true
}

// digits reads a colon and the digits that follow.
func (r *frameReader) digits() string {
	start := r.rest[1:]
	r.rest = strings.TrimLeft(start, "0123456789")
	return start[:len(start)-len(r.rest)]
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
