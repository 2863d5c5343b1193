package pass

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// Pipeline is a list of passes to run in order on a module.
type Pipeline []Pass

// moduleAnchor is the op that top-level passes of a pipeline run on.
const moduleAnchor = ir.ModuleName

// String returns text that Parse reads as the same pipeline.
func (p Pipeline) String() string { return moduleAnchor + "(" + list(p) + ")" }

func list(passes []Pass) string {
	parts := make([]string, len(passes))
	for i, p := range passes {
		parts[i] = Text(p)
	}
	return strings.Join(parts, ",")
}

// Text returns a pass with its options in pipeline syntax. It omits options that have their default value.
func Text(p Pass) string {
	if n, ok := p.(*nest); ok {
		return n.info.Name + "(" + list(n.passes) + ")"
	}
	if options := optionText(p); options != "" {
		return p.Info().Name + "{" + options + "}"
	}
	return p.Info().Name
}

// On returns a pass that runs passes on every op named anchor directly inside the op that it runs on: the first pass on
// all ops, on several at the same time, then the next pass. Its text is 'anchor(passes)'.
func On(anchor string, passes ...Pass) Pass {
	return &nest{&Info{Name: anchor, Doc: "Runs passes on each " + anchor + "."}, passes}
}

type nest struct {
	info   *Info
	passes []Pass
}

func (n *nest) Info() *Info { return n.info }

// needsModule reports whether p, or a pass of the group p, runs on a module.
func needsModule(p Pass) bool {
	if g, ok := p.(Group); ok {
		members, err := g.Expand() // Run reports the error
		return err == nil && slices.ContainsFunc(members, needsModule)
	}
	_, ok := p.(ModulePass)
	return ok
}

// check returns an error if a pass cannot run on ops named anchor.
func check(p Pass, anchor string) error {
	if anchor != moduleAnchor && needsModule(p) {
		return fmt.Errorf("pass %q runs on %s and cannot be nested in %s", p.Info().Name, moduleAnchor, anchor)
	}
	switch p := p.(type) {
	case *nest, Group, ModulePass:
	case OpPass:
		if want := p.Info().Anchor; want != "" && want != anchor {
			return fmt.Errorf("pass %q runs on %s, not on %s; write %s(%s)", p.Info().Name, want, anchor, want, p.Info().Name)
		}
	default:
		return fmt.Errorf("pass %q has no method Run(*pass.Context, *ir.Module) error, Run(*pass.Context, *ir.Op) error or Expand() ([]pass.Pass, error)", p.Info().Name)
	}
	return nil
}

// Parse reads the text form of a pipeline, in MLIR's syntax:
//
//	pipeline = "builtin.module(" list ")" | "any(" list ")" | list
//	list     = [ step { "," step } ]
//	step     = name [ "{" { option } "}" ] | anchor "(" list ")"
//	option   = name [ "=" value ]
//
// Spaces separate options. A value with spaces must be in braces, quotes or brackets. An anchor is the name of an op,
// such as func.func: the passes in parentheses run on each such op. Errors name the column, in bytes from 1.
func Parse(text string, t *Table) (Pipeline, error) {
	p := &parser{text: text, table: t}
	p.space()
	name, wrapped := moduleAnchor, false
	for _, anchor := range []string{moduleAnchor, "any"} { // MLIR prints any if a pipeline may run on each kind of op
		if rest, ok := strings.CutPrefix(p.text[p.pos:], anchor); ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "(") {
			name, wrapped = anchor, true
		}
	}
	if wrapped {
		p.pos += len(name)
		if err := p.expect('('); err != nil {
			return nil, err
		}
	}
	out, err := p.list(moduleAnchor)
	if err == nil && wrapped {
		err = p.expect(')')
	}
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.text) {
		return nil, p.errorf("expected ',' or the end of the pipeline, but got %q", p.text[p.pos:p.pos+1])
	}
	return out, nil
}

// ParseOn reads a list of passes that run on ops named anchor.
func ParseOn(anchor, text string, t *Table) ([]Pass, error) {
	p := &parser{text: text, table: t}
	out, err := p.list(anchor)
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.text) {
		return nil, p.errorf("expected ',' or the end of the pipeline, but got %q", p.text[p.pos:p.pos+1])
	}
	return out, nil
}

type parser struct {
	text  string
	pos   int
	depth int
	table *Table
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("pipeline:%d: error: %s", p.pos+1, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) peek(c byte) bool {
	p.space()
	return p.pos < len(p.text) && p.text[p.pos] == c
}

func (p *parser) expect(c byte) error {
	if !p.peek(c) {
		return p.errorf("expected '%c'", c)
	}
	p.pos++
	return nil
}

// list reads passes that run on ops named anchor.
func (p *parser) list(anchor string) ([]Pass, error) {
	if p.depth++; p.depth > 100 {
		return nil, p.errorf("passes are nested too deeply")
	}
	defer func() { p.depth-- }()
	var out []Pass
	p.space()
	if p.pos == len(p.text) || p.text[p.pos] == ')' {
		return nil, nil
	}
	for {
		s, err := p.step(anchor)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		if !p.peek(',') {
			return out, nil
		}
		p.pos++
	}
}

// name reads up to the next punctuation.
func (p *parser) name() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n,(){}=", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) step(anchor string) (Pass, error) {
	start := p.pos
	name := p.name()
	if name == "" {
		return nil, p.errorf("expected the name of a pass")
	}
	if p.peek('(') {
		if !strings.Contains(name, ".") || p.table.byName[name] != nil {
			p.pos = start
			return nil, p.errorf("expected the name of an op, such as func.func, before '(', but got %q", name)
		}
		p.pos++
		passes, err := p.list(name)
		if err != nil {
			return nil, err
		}
		return On(name, passes...), p.expect(')')
	}
	var options []assignment
	if p.peek('{') {
		p.pos++
		var err error
		if options, err = p.options(); err != nil {
			return nil, err
		}
	}
	end := p.pos
	p.pos = start
	p.space()
	proto := p.table.byName[name]
	if proto == nil {
		return nil, p.errorf("unknown pass %q%s", name, p.table.among(name))
	}
	out, err := withOptions(proto, options)
	if r, ok := out.(Resolver); ok && err == nil {
		out, err = r.Resolve(p.table)
	}
	if err == nil {
		err = check(out, anchor)
	}
	if err == nil {
		if g, ok := out.(Group); ok {
			_, err = g.Expand()
		}
	}
	if err != nil {
		var at *optionError
		if errors.As(err, &at) {
			p.pos = at.at
		}
		return nil, p.errorf("%v", err)
	}
	p.pos = end
	return out, nil
}

func (p *parser) options() ([]assignment, error) {
	var out []assignment
	for {
		if p.peek('}') {
			p.pos++
			return out, nil
		}
		at := p.pos
		name := p.name()
		if name == "" {
			return nil, p.errorf("expected the name of an option or '}'")
		}
		for _, a := range out {
			if a.name == name {
				p.pos = at
				return nil, p.errorf("option %q is given twice", name)
			}
		}
		value := "true"
		if p.pos < len(p.text) && p.text[p.pos] == '=' {
			p.pos++
			var err error
			if value, err = p.value(); err != nil {
				return nil, err
			}
		}
		out = append(out, assignment{name, value, at})
	}
}

// value reads a value up to a space or closing brace outside brackets and quotes. It removes braces or quotes around
// the whole value. In double quotes, a backslash escapes a quote or a backslash.
func (p *parser) value() (string, error) {
	start, depth := p.pos, 0
	for p.pos < len(p.text) {
		if depth == 0 && strings.IndexByte("} \t\r\n", p.text[p.pos]) >= 0 {
			return unwrap(p.text[start:p.pos]), nil
		}
		end := after(p.text, p.pos)
		if end > len(p.text) {
			return "", p.errorf("quote is not closed")
		}
		depth += bracket(p.text, p.pos)
		p.pos = end
	}
	p.pos = start
	return "", p.errorf("expected '}' after the options")
}

// bracket returns 1 if s[i] opens a bracket and -1 if it closes one. The '>' of an arrow is not a bracket.
func bracket(s string, i int) int {
	switch s[i] {
	case '{', '[', '(', '<':
		return 1
	case '>':
		if i > 0 && s[i-1] == '-' {
			return 0
		}
		return -1
	case '}', ']', ')':
		return -1
	}
	return 0
}

// after returns the position after s[i], or after the quotes that begin there. It is more than len(s) if they are not
// closed.
func after(s string, i int) int {
	c := s[i]
	if c != '"' && c != '\'' {
		return i + 1
	}
	for i++; i < len(s) && s[i] != c; i++ {
		if c == '"' && s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func unwrap(s string) string {
	if len(s) >= 2 {
		inner := s[1 : len(s)-1]
		switch {
		case s[0] == '{' && s[len(s)-1] == '}', s[0] == '\'' && s[len(s)-1] == '\'':
			return inner
		case s[0] == '"' && s[len(s)-1] == '"':
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(inner)
		}
	}
	return s
}

// nested returns the ops named anchor directly inside ops.
func nested(ops []*ir.Op, anchor string) []*ir.Op {
	var out []*ir.Op
	for _, op := range ops {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for inner := range b.Ops() {
					if inner.Name() == anchor {
						out = append(out, inner)
					}
				}
			}
		}
	}
	return out
}
