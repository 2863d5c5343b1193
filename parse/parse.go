package parse

import (
	"math"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Options change how text is read. The zero value reads one module and stops at the first mistake.
type Options struct {
	// MaxErrors is the number of mistakes to report before reading stops; 0 means 1. Reading stops earlier if the text
	// has more than 1000 mistakes and one for every six bytes, because an error can take more memory than its text.
	MaxErrors int
}

// Parse reads one module of MLIR text. Ops, types and attributes of dialects that the registry of ctx does not know
// are kept as they are. The error is a *diag.Diagnostic, or a diag.List if opts allow several.
//
// Parse wraps top-level ops in a module if the text has none. The module keeps a reference to src: dense literals are
// decoded from it when their elements are first read.
func Parse(src *diag.Source, ctx *ir.Context, opts Options) (*ir.Module, error) {
	p := newParser(src, ctx)
	p.errors.max = max(1, min(opts.MaxErrors, 1000+len(src.Text())/6))
	if err := p.read(p.topLevel); err != nil {
		return nil, err
	}
	return p.m, nil
}

// parser reads one source.
type parser struct {
	lexer
	limits
	source *diag.Source
	ctx    *ir.Context
	reg    *ir.Registry // nil if no dialect is known
	m      *ir.Module

	errors  errors
	cache   caches
	aliases map[string]alias // by the names with their '#' and '!'
	locs    locations
	values  values
	ops     opStack
	unknown map[string]*ir.Kind // of ops that nobody registered

	// They read for the dialects' types and attributes, and for their ops.
	typeParser, opParser ir.AsmParser
}

func newParser(src *diag.Source, ctx *ir.Context) *parser {
	p := &parser{
		lexer:   lexer{src: src.Text()},
		source:  src,
		ctx:     ctx,
		locs:    locations{unknown: &ir.Loc{}},
		reg:     ctx.Registry(),
		aliases: map[string]alias{},
		m:       ir.NewModule(ctx, src),
	}
	p.limits.bytes = len(src.Text())
	p.ops.defaults = []string{"builtin"}
	p.typeParser, p.opParser = asmParser{p, false}, asmParser{p, true}
	return p
}

// str returns b, which is part of the immutable source, as a string without copying it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// read calls f, which reads the whole source, and returns the mistakes.
func (p *parser) read(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bailout:
			if r.d != nil {
				p.errors.add(r.d)
			}
			err = p.errors.err()
		default:
			// A bug of hlocb, perhaps in a hook of a dialect: the caller gets the place instead of the panic.
			p.errors.list.Add(diag.Errorf(p.source, p.pos(), "internal error while reading: %v", r))
			err = p.errors.err()
		}
	}()
	if uint64(len(p.src)) >= math.MaxUint32 {
		return diag.Errorf(p.source, 0, "input is larger than 4 GiB")
	}
	p.lexAt(0)
	f()
	if len(p.errors.list) > 0 {
		return p.errors.err()
	}
	return nil
}

// topLevel reads the file: alias definitions, ops, the metadata section. One module op is the module; anything
// else becomes the body of one.
func (p *parser) topLevel() {
	body := p.m.Body()
	p.pushScope(true)
	for {
		switch {
		case p.tok.kind == tokEOF:
			p.popScope()
			p.finishLocs()
			p.adoptModule()
			return
		case p.tok.kind == tokHash || p.tok.kind == tokBang:
			p.aliasDef()
		case p.is(punctMetaOpen):
			p.metadata()
		default:
			p.operationOrSkip(body)
		}
	}
}

// adoptModule makes the only top-level op the module if it is a module op.
func (p *parser) adoptModule() {
	body := p.m.Body()
	op := body.First()
	if op != nil && op == body.Last() && op.Name() == "builtin.module" && len(op.Regions()) == 1 {
		m := p.m.Op()
		m.SetAttrs(op.Attrs())
		m.SetLoc(op.Loc())
		m.SetPos(op.Pos())
		m.Region(0).TakeBlocks(op.Region(0))
		op.Erase()
		if body.Erase(); m.Region(0).Entry() == nil {
			m.Region(0).AddBlock()
		}
		return
	}
	// MLIR gives the module of a file the position 0:0.
	p.m.Op().SetLoc(p.locs.table.File(p.source.Name(), 0, 0, 0, 0))
}

// metadata reads {-# section: {dialect: {key: value, ...}, ...}, ... #-}.
func (p *parser) metadata() {
	p.next()
	var all []ir.Resource
	// entries calls read for each entry up to the punctuation end, which comma-separated entries precede.
	entries := func(end string, read func()) {
		for !p.Accept(end) {
			read()
			if !p.Accept(",") && !p.Peek(end) {
				p.Errorf("expected '%s'", end)
			}
		}
	}
	entries("#-}", func() {
		at := p.Pos()
		section := p.typeParser.ParseKeyword()
		if section != "dialect_resources" && section != "external_resources" {
			p.ErrorfAt(at, "unknown key '%s' in file metadata dictionary", section)
		}
		p.Expect(":")
		p.Expect("{")
		entries("}", func() {
			dialect := p.ParseKeywordOrString()
			p.Expect(":")
			p.Expect("{")
			entries("}", func() {
				key := p.ParseKeywordOrString()
				p.Expect(":")
				if p.tok.kind != tokString && p.tok.kind != tokWord {
					p.Errorf("expected 'true', 'false', or string value for resource entry '%s'", key)
				}
				all = append(all, ir.Resource{Section: section, Dialect: dialect, Key: key, Text: str(p.text())})
				p.next()
			})
		})
	})
	p.m.SetResources(append(p.m.Resources(), all...))
}
