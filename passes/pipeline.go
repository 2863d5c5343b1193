package passes

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/fn"
)

// Pipeline is a list of passes with their options.
type Pipeline []Step

// Step is one pass of a pipeline.
type Step struct {
	Pass    Pass
	Options string // as written between the braces, for printing
}

// String returns the pipeline as ParsePipeline reads it.
func (p Pipeline) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.Pass.Info().Name
		if s.Options != "" {
			parts[i] += "{" + s.Options + "}"
		}
	}
	return "builtin.module(" + strings.Join(parts, ",") + ")"
}

// ParsePipeline reads the text form of a pipeline, as MLIR writes it:
//
//	pipeline = "builtin.module(" list ")" | list
//	list     = [ step { "," step } ]
//	step     = name [ "{" { option } "}" ] | "func.func(" list ")"
//	option   = name [ "=" value ]
//
// Options are separated by spaces; a value with spaces stands in braces, quotes or brackets. Passes work on the
// whole module, so func.func(...) only groups. An error says where in the text it is, counted in bytes from 1.
func ParsePipeline(text string, t *Table) (Pipeline, error) {
	p := &pipelineParser{text: text, table: t}
	p.space()
	if strings.HasPrefix(p.rest(), builtin.Module.Name) {
		p.pos += len(builtin.Module.Name)
		p.space()
		if err := p.expect('('); err != nil {
			return nil, err
		}
		if err := p.list(); err != nil {
			return nil, err
		}
		if err := p.expect(')'); err != nil {
			return nil, err
		}
	} else if err := p.list(); err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.text) {
		return nil, p.errorf("expected ',' or the end of the pipeline, but got %q", p.text[p.pos:p.pos+1])
	}
	return p.out, nil
}

type pipelineParser struct {
	text  string
	pos   int
	depth int
	table *Table
	out   Pipeline
}

func (p *pipelineParser) rest() string { return p.text[p.pos:] }

func (p *pipelineParser) errorf(format string, args ...any) error {
	return fmt.Errorf("pipeline:%d: error: %s", p.pos+1, fmt.Sprintf(format, args...))
}

func (p *pipelineParser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *pipelineParser) peek(c byte) bool {
	p.space()
	return p.pos < len(p.text) && p.text[p.pos] == c
}

func (p *pipelineParser) expect(c byte) error {
	if !p.peek(c) {
		return p.errorf("expected '%c'", c)
	}
	p.pos++
	return nil
}

func (p *pipelineParser) list() error {
	if p.depth++; p.depth > 100 {
		return p.errorf("groups are nested too deeply")
	}
	defer func() { p.depth-- }()
	p.space()
	if p.pos == len(p.text) || p.text[p.pos] == ')' {
		return nil
	}
	for {
		if err := p.step(); err != nil {
			return err
		}
		if !p.peek(',') {
			return nil
		}
		p.pos++
	}
}

// name reads up to the next punctuation.
func (p *pipelineParser) name() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n,(){}=", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *pipelineParser) step() error {
	start := p.pos
	name := p.name()
	if name == "" {
		return p.errorf("expected the name of a pass")
	}
	if p.peek('(') {
		if name != fn.Func.Name && name != "any" {
			p.pos = start
			return p.errorf("passes work on builtin.module and func.func, but got %q", name)
		}
		p.pos++
		if err := p.list(); err != nil {
			return err
		}
		return p.expect(')')
	}
	opts, text := Options{}, ""
	if p.peek('{') {
		p.pos++
		from := p.pos
		if err := p.options(opts); err != nil {
			return err
		}
		text = strings.TrimSpace(p.text[from : p.pos-1])
	}
	pass, err := p.table.New(name, opts)
	if err != nil {
		p.pos = start
		p.space()
		return p.errorf("%v", err)
	}
	p.out = append(p.out, Step{pass, text})
	return nil
}

// options reads up to and with the closing brace.
func (p *pipelineParser) options(opts Options) error {
	for {
		if p.peek('}') {
			p.pos++
			return nil
		}
		at := p.pos
		name := p.name()
		if name == "" {
			return p.errorf("expected the name of an option or '}'")
		}
		if _, twice := opts[name]; twice {
			p.pos = at
			return p.errorf("option %q is given twice", name)
		}
		value := "true"
		if p.pos < len(p.text) && p.text[p.pos] == '=' {
			p.pos++
			var err error
			if value, err = p.value(); err != nil {
				return err
			}
		}
		opts[name] = value
	}
}

// value reads a value: up to a space or closing brace, brackets and quotes balanced. Braces or quotes around the
// whole value are taken off.
func (p *pipelineParser) value() (string, error) {
	start, depth := p.pos, 0
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; c {
		case '{', '[', '(', '<':
			depth++
		case ']', ')', '>':
			depth--
		case '}':
			if depth == 0 {
				return unwrap(p.text[start:p.pos]), nil
			}
			depth--
		case '"', '\'':
			end := strings.IndexByte(p.text[p.pos+1:], c)
			if end < 0 {
				return "", p.errorf("quote is not closed")
			}
			p.pos += end + 1
		case ' ', '\t', '\r', '\n':
			if depth == 0 {
				return unwrap(p.text[start:p.pos]), nil
			}
		}
	}
	p.pos = start
	return "", p.errorf("expected '}' after the options")
}

func unwrap(s string) string {
	if len(s) >= 2 {
		switch {
		case s[0] == '{' && s[len(s)-1] == '}', s[0] == '"' && s[len(s)-1] == '"', s[0] == '\'' && s[len(s)-1] == '\'':
			return s[1 : len(s)-1]
		}
	}
	return s
}
