package view

import (
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// Text reads the parameters of an attribute, or writes them: one function per attribute names its parts in order.
type Text struct {
	P   ir.AsmParser  // nil: the text is written
	W   ir.AsmPrinter // writes the text; nil: out gets it
	out []byte
}

// TextAttr returns the row of an attribute whose parameters text reads and writes.
func TextAttr[T any](d ir.AttrDef, text func(d *T, t *Text)) *ir.AttrDef {
	d.Parse = func(p ir.AsmParser, _ *ir.AttrDef) any {
		v := new(T)
		text(v, &Text{P: p})
		return v
	}
	d.Print = func(_ *ir.AttrDef, v any) string { return Written(v.(*T), text) }
	return ir.NewAttrDef[T](d)
}

// TextType is like TextAttr for a type.
func TextType[T any](d ir.TypeDef, text func(d *T, t *Text)) *ir.TypeDef {
	d.Make = func() any { return new(T) }
	d.Parse = func(p ir.AsmParser) any {
		v := new(T)
		text(v, &Text{P: p})
		return v
	}
	d.Print = func(v any) string { return Written(v.(*T), text) }
	return &d
}

// Written returns what text writes for v.
func Written[T any](v *T, text func(v *T, t *Text)) string {
	t := Text{out: make([]byte, 0, 96)}
	text(v, &t)
	return string(t.out)
}

// write writes s to W or to the text of Written.
func (t *Text) write(s string) {
	if t.W != nil {
		t.W.Print(s)
	} else {
		t.out = append(t.out, s...)
	}
}

// Lit is punctuation and words. Spaces are optional where the text is read.
func (t *Text) Lit(s string) {
	if t.P == nil {
		t.write(s)
		return
	}
	for s != "" {
		token := firstToken(s)
		switch {
		case token == " ":
		case isLetter(token[0]):
			t.P.ExpectKeyword(token)
		default:
			t.P.Expect(token)
		}
		s = s[len(token):]
	}
}

// Opt is like Lit for a part that may be absent. It reports whether it is present.
func (t *Text) Opt(present bool, s string) bool {
	if t.P != nil {
		for s[0] == ' ' {
			s = s[1:]
		}
		token := firstToken(s)
		if isLetter(token[0]) {
			present = t.P.AcceptKeyword(token)
		} else {
			present = t.P.Accept(token)
		}
		s = s[len(token):]
	}
	if present {
		t.Lit(s)
	}
	return present
}

// firstToken returns the word, the arrow or the character at the start of s.
func firstToken(s string) string {
	n := 1
	switch {
	case isLetter(s[0]):
		for n < len(s) && isLetter(s[n]) {
			n++
		}
	case s[0] == '-' && len(s) > 1 && s[1] == '>':
		n = 2
	}
	return s[:n]
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// Next reports whether the punctuation at the end of s comes next, and writes what precedes it.
func (t *Text) Next(present bool, s string) bool {
	before, punct := s[:len(s)-1], s[len(s)-1:]
	if t.P != nil {
		return t.P.Peek(punct)
	}
	if present {
		t.Lit(before)
	}
	return present
}

// Pos is the position of the current token, where the text is read.
func (t *Text) Pos() (pos diag.Pos) {
	if t.P != nil {
		pos = t.P.Pos()
	}
	return pos
}

// Failf reports a mistake at pos, where the text is read.
func (t *Text) Failf(pos diag.Pos, format string, args ...any) {
	if t.P != nil {
		t.P.ErrorfAt(pos, format, args...)
	}
}

// String is a quoted string.
func (t *Text) String(s *string) {
	if t.P != nil {
		*s = t.P.ParseString()
	} else {
		t.write(mlirtext.Quote(*s))
	}
}

// Symbol is @name.
func (t *Text) Symbol(s *string) {
	if t.P != nil {
		*s = t.P.ParseSymbol()
	} else {
		t.write(string(mlirtext.AppendSymbol(nil, *s)))
	}
}

// Int is a decimal number.
func (t *Text) Int(n *int64) {
	if t.P != nil {
		*n = t.P.ParseInteger()
	} else {
		t.write(strconv.FormatInt(*n, 10))
	}
}

// Dim is a size, or ? for ir.Dynamic.
func (t *Text) Dim(n *int64) {
	if t.Opt(*n == ir.Dynamic, "?") {
		*n = ir.Dynamic
	} else {
		t.Int(n)
	}
}

// Ints is [1, 2, 3].
func (t *Text) Ints(n *[]int64) {
	switch {
	case t.P != nil:
		*n = t.P.ParseIntegers()
	case t.W != nil:
		t.W.PrintInts(*n)
	default:
		t.out = mlirtext.AppendInts(t.out, *n)
	}
}

// Attr is any attribute.
func (t *Text) Attr(a *ir.Attr) {
	if t.P != nil {
		*a = t.P.ParseAttr(nil)
	} else {
		t.write((*a).String())
	}
}

// Type is any type.
func (t *Text) Type(typ *ir.Type) {
	if t.P != nil {
		*typ = t.P.ParseType()
	} else {
		t.write((*typ).String())
	}
}

// Part is an attribute of row d without its name. Its full form and its alias are read, too.
func Part[T any](t *Text, d *ir.AttrDef, v **T) {
	if t.P != nil {
		*v = Data[T](d.ParseShort(t.P))
	} else {
		t.write(d.Print(d, *v))
	}
}

// Items are values separated by commas, in brackets. Without brackets there is at least one.
func Items[T any](t *Text, open, end string, list *[]T, item func(*T)) {
	if t.P != nil {
		t.P.ParseList(open, end, func() {
			*list = append(*list, *new(T))
			item(&(*list)[len(*list)-1])
		})
		return
	}
	t.Lit(open)
	for i := range *list {
		if i > 0 {
			t.Lit(", ")
		}
		item(&(*list)[i])
	}
	t.Lit(end)
}

// Some are like Items with brackets, but there is at least one value.
func Some[T any](t *Text, open, end string, list *[]T, item func(*T)) {
	t.Lit(open)
	Items(t, "", "", list, item)
	t.Lit(end)
}
