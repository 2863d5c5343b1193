package ir

import (
	"fmt"
	"strings"
)

// FormatKind is the kind of an element of an assembly format.
type FormatKind uint8

// Kinds of format elements.
const (
	FmtLiteral         FormatKind = iota // `text`
	FmtSpace                             // ` `: a space, printed only
	FmtNewline                           // `\n`: a line break, printed only
	FmtOperand                           // $operand
	FmtAttr                              // $attr
	FmtRegion                            // $region
	FmtOperandType                       // type($operand)
	FmtResultType                        // type($result)
	FmtOperands                          // operands
	FmtOperandTypes                      // type(operands)
	FmtResultTypes                       // type(results)
	FmtRegions                           // regions
	FmtSuccessors                        // successors
	FmtAttrDict                          // attr-dict
	FmtAttrDictKeyword                   // attr-dict-with-keyword
	FmtFunctionalType                    // functional-type(operands, results)
	FmtGroup                             // ( ... ^ ... )? with an optional : ( ... ) part
	FmtCustom                            // custom<Name>(...)
)

// FormatElem is one element of a compiled format.
type FormatElem struct {
	Kind  FormatKind
	Text  string // literal text, name of the operand, attribute, region, or directive
	Index int    // of the operand, result, attribute or region in the Def
	Mult  Multiplicity
	// SpaceBefore: print a space before the element. As in MLIR it depends only on the neighbouring elements.
	SpaceBefore bool
	Anchor      bool // of a group: its presence decides
	Unit        bool // an attribute that the literals around it represent
	Then, Else  []FormatElem
	Directive   *Directive
	Args        []DirectiveArg // templates: kind, name, position
	ID          int            // of a directive use: unique in the registry
}

// Format is a compiled assembly format.
type Format struct {
	Elems []FormatElem
	// Elided are the attributes that the format names and attr-dict therefore omits.
	Elided []string
}

// formatCompiler turns the text of a format into elements.
type formatCompiler struct {
	def     *Def
	dialect *Dialect
	text    string
	pos     int
	f       *Format
	ids     *int

	space, punct bool // state of the spacing rule: a space is allowed, the last element was punctuation
}

// compileFormat compiles the format of def. The language is that of ODS assemblyFormat (MLIR, "Operation
// Definition Specification", Declarative Assembly Format).
func compileFormat(def *Def, dialect *Dialect, ids *int) (f *Format, err error) {
	c := &formatCompiler{ids: ids, def: def, dialect: dialect, text: def.Format, f: &Format{}, space: true}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(formatError)
			if !ok {
				panic(r)
			}
			f, err = nil, fmt.Errorf("format of %s at byte %d: %s", def.Name, c.pos, string(e))
		}
	}()
	c.f.Elems = c.sequence("")
	for _, s := range [...]string{"operandSegmentSizes", "resultSegmentSizes"} {
		c.f.Elided = append(c.f.Elided, s)
	}
	return c.f, nil
}

type formatError string

func (c *formatCompiler) fail(format string, args ...any) {
	panic(formatError(fmt.Sprintf(format, args...)))
}

func (c *formatCompiler) skip() {
	for c.pos < len(c.text) && strings.IndexByte(" \t\n\r", c.text[c.pos]) >= 0 {
		c.pos++
	}
}

func (c *formatCompiler) peek(s string) bool {
	c.skip()
	return strings.HasPrefix(c.text[c.pos:], s)
}

func (c *formatCompiler) accept(s string) bool {
	if c.peek(s) {
		c.pos += len(s)
		return true
	}
	return false
}

func (c *formatCompiler) expect(s string) {
	if !c.accept(s) {
		c.fail("expected %q", s)
	}
}

// word reads a name of letters, digits, _ and -.
func (c *formatCompiler) word() string {
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
func (c *formatCompiler) sequence(end string) []FormatElem {
	var out []FormatElem
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

func (c *formatCompiler) element() FormatElem {
	switch {
	case c.accept("`"):
		return c.literal()
	case c.accept("$"):
		return c.spaced(c.variable(c.word()))
	case c.accept("("):
		return c.group()
	}
	switch w := c.word(); w {
	case "attr-dict":
		c.punct = false
		return FormatElem{Kind: FmtAttrDict}
	case "attr-dict-with-keyword":
		c.punct = false
		return FormatElem{Kind: FmtAttrDictKeyword}
	case "operands":
		return c.spaced(FormatElem{Kind: FmtOperands})
	case "regions":
		return c.spaced(FormatElem{Kind: FmtRegions})
	case "successors":
		return c.spaced(FormatElem{Kind: FmtSuccessors})
	case "functional-type":
		c.expect("(")
		c.expect("operands")
		c.expect(",")
		c.expect("results")
		c.expect(")")
		return c.spaced(FormatElem{Kind: FmtFunctionalType})
	case "type":
		return c.spaced(c.typeOf())
	case "qualified":
		c.expect("(")
		var e FormatElem
		if c.accept("$") {
			e = c.variable(c.word())
		} else {
			c.expect("type")
			e = c.typeOf()
		}
		c.expect(")")
		return c.spaced(e)
	case "custom":
		return c.custom()
	default:
		c.fail("unknown directive %q", w)
	}
	panic("unreachable")
}

// spaced applies the spacing rule to an element that is not a literal.
func (c *formatCompiler) spaced(e FormatElem) FormatElem {
	e.SpaceBefore = c.space || !c.punct
	c.punct, c.space = false, true
	return e
}

func (c *formatCompiler) literal() FormatElem {
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
			return FormatElem{Kind: FmtLiteral} // suppresses a space; has no text
		}
		return FormatElem{Kind: FmtSpace}
	case "\\n", "\n":
		c.punct, c.space = true, false
		return FormatElem{Kind: FmtNewline}
	}
	e := FormatElem{Kind: FmtLiteral, Text: text}
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

func (c *formatCompiler) group() FormatElem {
	e := FormatElem{Kind: FmtGroup}
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
		if t := &e.Then[i]; t.Kind == FmtAttr && c.def.Attrs[t.Index].Type.Summary == "unit attribute" {
			t.Unit = true
		}
	}
	if !anchored {
		c.fail("an optional group has no anchor")
	}
	return e
}

func (c *formatCompiler) variable(name string) FormatElem {
	for i := range c.def.Operands {
		if a := &c.def.Operands[i]; a.Name == name {
			return FormatElem{Kind: FmtOperand, Text: name, Index: i, Mult: a.Mult}
		}
	}
	for i := range c.def.Attrs {
		if a := &c.def.Attrs[i]; a.Name == name {
			c.f.Elided = append(c.f.Elided, name)
			return FormatElem{Kind: FmtAttr, Text: name, Index: i, Mult: optionalIf(a.Optional)}
		}
	}
	for i := range c.def.Regions {
		if r := &c.def.Regions[i]; r.Name == name {
			return FormatElem{Kind: FmtRegion, Text: name, Index: i, Mult: r.Mult}
		}
	}
	c.fail("%s has no operand, attribute or region %q", c.def.Name, name)
	panic("unreachable")
}

func optionalIf(b bool) Multiplicity {
	if b {
		return Optional
	}
	return One
}

// typeOf reads the rest of a type(...) element, after the word type.
func (c *formatCompiler) typeOf() FormatElem {
	c.expect("(")
	defer c.expect(")")
	if !c.accept("$") {
		switch w := c.word(); w {
		case "operands":
			return FormatElem{Kind: FmtOperandTypes}
		case "results":
			return FormatElem{Kind: FmtResultTypes}
		default:
			c.fail("unknown argument %q of type", w)
		}
	}
	name := c.word()
	for i := range c.def.Operands {
		if a := &c.def.Operands[i]; a.Name == name {
			return FormatElem{Kind: FmtOperandType, Text: name, Index: i, Mult: a.Mult}
		}
	}
	for i := range c.def.Results {
		if a := &c.def.Results[i]; a.Name == name {
			return FormatElem{Kind: FmtResultType, Text: name, Index: i, Mult: a.Mult}
		}
	}
	c.fail("%s has no operand or result %q", c.def.Name, name)
	panic("unreachable")
}

func (c *formatCompiler) custom() FormatElem {
	c.expect("<")
	name := c.word()
	c.expect(">")
	e := c.spaced(FormatElem{Kind: FmtCustom, Text: name, Directive: c.dialect.Directives[name], ID: *c.ids})
	*c.ids++
	if e.Directive == nil {
		c.fail("dialect %s has no directive %q", c.dialect.Name, name)
	}
	c.expect("(")
	for !c.peek(")") {
		e.Args = append(e.Args, c.directiveArg())
		if !c.accept(",") {
			break
		}
	}
	c.expect(")")
	return e
}

func (c *formatCompiler) directiveArg() DirectiveArg {
	switch {
	case c.accept("$"):
		return directiveArgOf(c.variable(c.word()))
	case c.accept("`"), c.accept(`"`):
		quote := c.text[c.pos-1]
		end := strings.IndexByte(c.text[c.pos:], quote)
		if end < 0 {
			c.fail("expected %q", quote)
		}
		a := DirectiveArg{Kind: LiteralArg, Name: c.text[c.pos : c.pos+end]}
		c.pos += end + 1
		return a
	}
	switch w := c.word(); w {
	case "ref":
		c.expect("(")
		a := c.directiveArg()
		c.expect(")")
		a.Ref = true
		return a
	case "type":
		return directiveArgOf(c.typeOf())
	case "attr-dict":
		return DirectiveArg{Kind: AttrDictArg, Index: -1}
	case "operands":
		return DirectiveArg{Kind: OperandArg, Index: -1, Mult: Variadic}
	case "regions":
		return DirectiveArg{Kind: RegionArg, Index: -1, Mult: Variadic}
	default:
		c.fail("unknown argument %q of a directive", w)
	}
	panic("unreachable")
}

func directiveArgOf(e FormatElem) DirectiveArg {
	a := DirectiveArg{Name: e.Text, Index: e.Index, Mult: e.Mult}
	switch e.Kind {
	case FmtOperand:
		a.Kind = OperandArg
	case FmtAttr:
		a.Kind = AttrArg
	case FmtRegion:
		a.Kind = RegionArg
	case FmtOperandType:
		a.Kind = OperandTypeArg
	case FmtResultType:
		a.Kind = ResultTypeArg
	case FmtOperandTypes:
		a.Kind, a.Index, a.Mult = OperandTypeArg, -1, Variadic
	case FmtResultTypes:
		a.Kind, a.Index, a.Mult = ResultTypeArg, -1, Variadic
	}
	return a
}

// segments returns how many of n values belong to each of args, given the segment sizes attribute (nil if the op has
// none). ok is false if the numbers do not add up.
func segments(buf []int, args []Arg, n int, sizes Attr, same bool) (counts []int, ok bool) {
	counts = buf[:0]
	if arr, isArray := sizes.(*DenseArrayAttr); isArray {
		total := 0
		for _, v := range arr.values {
			if v < 0 || v > int64(n) {
				return nil, false
			}
			counts = append(counts, int(v))
			total += int(v)
		}
		return counts, total == n && len(counts) == len(args)
	}
	fixed, variable := 0, 0
	for i := range args {
		if args[i].Mult == One {
			fixed++
		} else {
			variable++
		}
	}
	rest := n - fixed
	if rest < 0 || variable == 0 && rest > 0 || variable > 1 && (!same || rest%variable != 0) {
		return nil, false
	}
	for i := range args {
		switch {
		case args[i].Mult == One:
			counts = append(counts, 1)
		case args[i].Mult == Optional && variable == 1 && rest > 1:
			return nil, false
		default:
			counts = append(counts, rest/variable)
		}
	}
	return counts, true
}

// OperandSegments returns the number of operands for each operand Arg of the op's definition.
func (o *Op) OperandSegments(buf []int) (counts []int, ok bool) {
	var sizes Attr
	if o.def.Traits&AttrSizedOperands != 0 {
		sizes = o.Attr("operandSegmentSizes")
	}
	return segments(buf, o.def.Operands, o.NumOperands(), sizes, o.def.Traits&SameVariadicOperands != 0)
}

// ResultSegments returns the number of results for each result Arg of the op's definition.
func (o *Op) ResultSegments(buf []int) (counts []int, ok bool) {
	var sizes Attr
	if o.def.Traits&AttrSizedResults != 0 {
		sizes = o.Attr("resultSegmentSizes")
	}
	return segments(buf, o.def.Results, o.NumResults(), sizes, false)
}
