// Package assembly compiles the assembly formats of ops (MLIR, "Operation Definition Specification", Declarative
// Assembly Format). The parser and the printer interpret the compiled form. It does not know the IR.
package assembly

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of an element of an assembly format.
type Kind uint8

// Kinds of format elements.
const (
	Literal         Kind = iota // `text`
	Space                       // ` `: a space, printed only
	Newline                     // `\n`: a line break, printed only
	Operand                     // $operand
	Attr                        // $attr
	Region                      // $region
	OperandType                 // type($operand)
	ResultType                  // type($result)
	Operands                    // operands
	OperandTypes                // type(operands)
	ResultTypes                 // type(results)
	Regions                     // regions
	Successors                  // successors
	AttrDict                    // attr-dict
	AttrDictKeyword             // attr-dict-with-keyword
	FunctionalType              // functional-type(operands, results)
	Group                       // ( ... ^ ... )? with an optional : ( ... ) part
	Custom                      // custom<Name>(...)
)

// Elem is one element of a compiled format.
type Elem struct {
	Kind  Kind
	Text  string // literal text, name of the operand, attribute, region, or directive
	Index int    // of the operand, result, attribute or region in the op's row
	Mult  uint8  // of the operand, result, attribute or region, as Name states it
	// SpaceBefore: print a space before the element. As in MLIR it depends only on the neighbouring elements.
	SpaceBefore bool
	Anchor      bool // of a group: its presence decides
	Unit        bool // an attribute that the literals around it represent
	Then, Else  []Elem
	Args        []Arg // of a directive
	ID          int   // of a use of a directive, as Op.Directive returned it
}

// Arg is an argument of a custom directive: an element, or the text of a literal.
type Arg struct {
	Kind  Kind
	Text  string
	Index int // -1: all operands, results or regions
	Mult  uint8
	Ref   bool // written ref(...)
}

// Name is an operand, result, attribute or region of an op.
type Name struct {
	Name string
	Mult uint8
	Unit bool // a unit attribute
}

// variadic is the multiplicity of lists that a format names as a whole.
const variadic = 2

// Op is what the format of an op can refer to.
type Op struct {
	Name, Dialect                     string
	Operands, Results, Attrs, Regions []Name
	// Directive returns a number for a use of the directive name; ok is false if there is no such directive.
	Directive func(name string, args []Arg) (id int, ok bool)
}

// Format is a compiled assembly format.
type Format struct {
	Elems []Elem
	// Elided are the attributes that the format names and attr-dict therefore omits.
	Elided []string
}

// compiler turns the text of a format into elements.
type compiler struct {
	op   Op
	text string
	pos  int
	f    *Format

	space, punct bool // state of the spacing rule: a space is allowed, the last element was punctuation
}

// Compile compiles the format of op.
func Compile(op Op, text string) (f *Format, err error) {
	c := &compiler{op: op, text: text, f: &Format{}, space: true}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(failure)
			if !ok {
				panic(r)
			}
			f, err = nil, fmt.Errorf("format of %s at byte %d: %s", op.Name, c.pos, string(e))
		}
	}()
	c.f.Elems = c.sequence("")
	for _, s := range [...]string{"operandSegmentSizes", "resultSegmentSizes"} {
		c.f.Elided = append(c.f.Elided, s)
	}
	return c.f, nil
}

type failure string

func (c *compiler) fail(format string, args ...any) {
	panic(failure(fmt.Sprintf(format, args...)))
}

func (c *compiler) skip() {
	for c.pos < len(c.text) && strings.IndexByte(" \t\n\r", c.text[c.pos]) >= 0 {
		c.pos++
	}
}

func (c *compiler) peek(s string) bool {
	c.skip()
	return strings.HasPrefix(c.text[c.pos:], s)
}

func (c *compiler) accept(s string) bool {
	if c.peek(s) {
		c.pos += len(s)
		return true
	}
	return false
}

func (c *compiler) expect(s string) {
	if !c.accept(s) {
		c.fail("expected %q", s)
	}
}

// word reads a name of letters, digits, _ and -.
func (c *compiler) word() string {
	c.skip()
	i := c.pos
	for i < len(c.text) {
		b := c.text[i]
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' {
			i++
			continue
		}
		break
	}
	if i == c.pos {
		c.fail("expected a name")
	}
	w := c.text[c.pos:i]
	c.pos = i
	return w
}

// sequence reads elements up to end, which is ")" or the end of the text.
func (c *compiler) sequence(end string) []Elem {
	var out []Elem
	for {
		c.skip()
		if c.pos == len(c.text) {
			if end != "" {
				c.fail("expected %q", end)
			}
			return out
		}
		if end != "" && c.peek(end) {
			return out
		}
		e := c.element()
		if c.accept("^") {
			e.Anchor = true
		}
		out = append(out, e)
	}
}

func (c *compiler) element() Elem {
	switch {
	case c.accept("`"):
		return c.literal()
	case c.accept("$"):
		return c.withSpace(c.variable(c.word()))
	case c.accept("("):
		return c.group()
	}
	switch w := c.word(); w {
	case "attr-dict":
		c.punct = false
		return Elem{Kind: AttrDict}
	case "attr-dict-with-keyword":
		c.punct = false
		return Elem{Kind: AttrDictKeyword}
	case "operands":
		return c.withSpace(Elem{Kind: Operands})
	case "regions":
		return c.withSpace(Elem{Kind: Regions})
	case "successors":
		return c.withSpace(Elem{Kind: Successors})
	case "functional-type":
		c.expect("(")
		c.expect("operands")
		c.expect(",")
		c.expect("results")
		c.expect(")")
		return c.withSpace(Elem{Kind: FunctionalType})
	case "type":
		return c.withSpace(c.typeOf())
	case "qualified":
		c.expect("(")
		var e Elem
		if c.accept("$") {
			e = c.variable(c.word())
		} else {
			c.expect("type")
			e = c.typeOf()
		}
		c.expect(")")
		return c.withSpace(e)
	case "custom":
		return c.custom()
	default:
		c.fail("unknown directive %q", w)
	}
	panic("unreachable")
}

// withSpace applies the spacing rule to an element that is not a literal.
func (c *compiler) withSpace(e Elem) Elem {
	e.SpaceBefore = c.space || !c.punct
	c.punct, c.space = false, true
	return e
}

func (c *compiler) literal() Elem {
	end := strings.IndexByte(c.text[c.pos:], '`')
	if end < 0 {
		c.fail("expected '`'")
	}
	text := c.text[c.pos : c.pos+end]
	c.pos += end + 1
	switch text {
	case "", " ":
		c.punct = text == ""
		c.space = false
		if text == "" {
			return Elem{Kind: Literal} // suppresses a space; has no text
		}
		return Elem{Kind: Space}
	case "\\n", "\n":
		c.punct, c.space = true, false
		return Elem{Kind: Newline}
	}
	e := Elem{Kind: Literal, Text: text}
	e.SpaceBefore = c.space && spaceBefore(text, c.punct)
	c.space = len(text) != 1 || !strings.Contains("<({[", text)
	first := text[0]
	c.punct = first != '_' && !(first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z')
	return e
}

// spaceBefore reports whether MLIR prints a space before a literal.
func spaceBefore(text string, punct bool) bool {
	switch {
	case len(text) != 1 && text != "->":
		return true
	case punct:
		return !strings.Contains(">)}],", text[:1])
	}
	return !strings.Contains("<>(){}[],", text[:1])
}

func (c *compiler) group() Elem {
	e := Elem{Kind: Group}
	e.Then = c.sequence(")")
	c.expect(")")
	if c.accept(":") {
		c.expect("(")
		e.Else = c.sequence(")")
		c.expect(")")
	}
	c.expect("?")
	anchored := false
	for i := range e.Then {
		if !e.Then[i].Anchor {
			continue
		}
		anchored = true
		// The group's literals represent a unit attribute; the attribute itself has no text.
		if t := &e.Then[i]; t.Kind == Attr && c.op.Attrs[t.Index].Unit {
			t.Unit = true
		}
	}
	if !anchored {
		c.fail("an optional group has no anchor")
	}
	return e
}

func (c *compiler) variable(name string) Elem {
	for _, list := range [...]struct {
		kind  Kind
		names []Name
	}{{Operand, c.op.Operands}, {Attr, c.op.Attrs}, {Region, c.op.Regions}} {
		if i := indexOf(list.names, name); i >= 0 {
			if list.kind == Attr {
				c.f.Elided = append(c.f.Elided, name)
			}
			return Elem{Kind: list.kind, Text: name, Index: i, Mult: list.names[i].Mult}
		}
	}
	c.fail("%s has no operand, attribute or region %q", c.op.Name, name)
	panic("unreachable")
}

func indexOf(list []Name, name string) int {
	return slices.IndexFunc(list, func(n Name) bool { return n.Name == name })
}

// typeOf reads the rest of a type(...) element, after the word type.
func (c *compiler) typeOf() Elem {
	c.expect("(")
	defer c.expect(")")
	if !c.accept("$") {
		switch w := c.word(); w {
		case "operands":
			return Elem{Kind: OperandTypes}
		case "results":
			return Elem{Kind: ResultTypes}
		default:
			c.fail("unknown argument %q of type", w)
		}
	}
	name := c.word()
	if i := indexOf(c.op.Operands, name); i >= 0 {
		return Elem{Kind: OperandType, Text: name, Index: i, Mult: c.op.Operands[i].Mult}
	}
	if i := indexOf(c.op.Results, name); i >= 0 {
		return Elem{Kind: ResultType, Text: name, Index: i, Mult: c.op.Results[i].Mult}
	}
	c.fail("%s has no operand or result %q", c.op.Name, name)
	panic("unreachable")
}

func (c *compiler) custom() Elem {
	c.expect("<")
	name := c.word()
	c.expect(">")
	e, at := c.withSpace(Elem{Kind: Custom, Text: name}), c.pos
	c.expect("(")
	for !c.peek(")") {
		e.Args = append(e.Args, c.arg())
		if !c.accept(",") {
			break
		}
	}
	c.expect(")")
	id, ok := c.op.Directive(name, e.Args)
	if !ok {
		c.pos = at
		c.fail("dialect %s has no directive %q", c.op.Dialect, name)
	}
	e.ID = id
	return e
}

func (c *compiler) arg() Arg {
	switch {
	case c.accept("$"):
		return argOf(c.variable(c.word()))
	case c.accept("`"), c.accept(`"`):
		quote := c.text[c.pos-1]
		end := strings.IndexByte(c.text[c.pos:], quote)
		if end < 0 {
			c.fail("expected %q", quote)
		}
		a := Arg{Kind: Literal, Text: c.text[c.pos : c.pos+end]}
		c.pos += end + 1
		return a
	}
	switch w := c.word(); w {
	case "ref":
		c.expect("(")
		a := c.arg()
		c.expect(")")
		a.Ref = true
		return a
	case "type":
		return argOf(c.typeOf())
	case "attr-dict":
		return Arg{Kind: AttrDict, Index: -1}
	case "operands":
		return Arg{Kind: Operand, Index: -1, Mult: variadic}
	case "regions":
		return Arg{Kind: Region, Index: -1, Mult: variadic}
	default:
		c.fail("unknown argument %q of a directive", w)
	}
	panic("unreachable")
}

func argOf(e Elem) Arg {
	a := Arg{Kind: e.Kind, Text: e.Text, Index: e.Index, Mult: e.Mult}
	switch e.Kind {
	case OperandTypes:
		a.Kind, a.Index, a.Mult = OperandType, -1, variadic
	case ResultTypes:
		a.Kind, a.Index, a.Mult = ResultType, -1, variadic
	}
	return a
}
