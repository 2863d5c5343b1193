package parse

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Options change how text is read. The zero value reads one module and stops at the first mistake.
type Options struct {
	// MaxErrors is how many mistakes are reported before reading stops; 0 means 1. A text that has hardly anything else is
	// given up earlier, after a thousand and one for every six bytes: each takes more memory than what it is about.
	MaxErrors int
}

// maxDepth is how deep regions, types, attributes and locations may nest.
const maxDepth = 10000

// Parse reads one module of MLIR text. Ops, types and attributes of dialects that reg does not know are kept as
// they are; reg may be nil. The error is a *diag.Diagnostic, or a diag.List where opts allow several.
//
// Top-level ops without a module around them get one. src stays referenced: dense literals are read from it when
// somebody asks for their elements.
func Parse(src *diag.Source, ctx *ir.Context, reg *ir.Registry, opts Options) (m *ir.Module, err error) {
	p := newParser(src, ctx, reg)
	p.maxErrors = max(1, min(opts.MaxErrors, 1000+len(src.Text())/6))
	return p.parse()
}

// bailout is panicked where a mistake is found and recovered where reading can go on; d is nil where it was reported
// already.
type bailout struct{ d *diag.Diagnostic }

// parser reads one source. It implements ir.AsmParser.
type parser struct {
	lexer
	source *diag.Source
	ctx    *ir.Context
	reg    *ir.Registry
	m      *ir.Module

	errors    diag.List
	maxErrors int
	// fatal is set when reading cannot go on behind a mistake with sense or in reasonable time. It is a flag and no
	// part of the panic, because a function that recovers and panics again, once for each of many levels, takes time
	// that grows with the square of their number.
	fatal bool

	general bool // do not read ops quickly, for tests
	quickly int  // how many ops were

	depth       int
	deepest     int                // what depth was at most since the alias that is being read began, aliases in it written out
	types       map[string]ir.Type // by their text
	attrs       map[string]ir.Attr // dialect attributes by their text
	dense       map[denseKey]ir.Attr
	locs        ir.LocTable
	locStack    []*ir.Loc // parts of the fused locations that are being read
	kinds       map[string]*opKind
	recent      [kindSlots]*opKind   // of kinds, those used last
	recentTypes [typeSlots]knownType // of types, those used last
	attrAliases map[string]attrAlias
	typeAliases map[string]typeAlias
	forwardLocs map[string]*forwardLoc
	forwardSeq  []string

	scope    *scope
	free     []*scope // scopes to use again
	blocks   *blockScope
	defaults []string // default dialects of the regions around
	frames   []*frame // one per op that is being read
	level    int      // frames in use
	attrSlab []ir.NamedAttr
	arrays   recent[readArray] // what ParseIntArray read
	// functions holds what ParseFunctionType read.
	functions recent[readFunction]
	scratch   []ir.NamedAttr
	// typeStack holds the types of the function types that are being read.
	typeStack  []ir.Type
	prepared   []*prepared
	expanded   int64              // bytes that the aliases used so far stand for, see expand
	fusedParts int64              // parts of the fused locations read so far, see fuse
	unsized    []*ir.Loc          // locations made of some that were not defined yet
	guessed    map[*ir.Value]bool // values whose types the text did not say so far
	hooks      ir.AsmParser       // an opParser
}

// Sizes of the tables of what was used last, in front of the maps.
const (
	kindSlots = 61
	typeSlots = 128
)

// knownType is a type with its text.
type knownType struct {
	text string
	typ  ir.Type
}

type denseKey struct {
	text string
	typ  ir.Type
}

// opKind is what is known of an op's name.
type opKind struct {
	name     string
	def      *ir.Def
	format   *ir.Format
	quick    *quick         // nil where ops of the kind are only read the general way
	defaults []*ir.AttrSpec // attributes that an op always has: they are set where the text leaves them out
}

// forwardLoc is a location alias that is used before it is defined.
type forwardLoc struct {
	loc *ir.Loc
	pos diag.Pos
}

// frame is what reading one op needs; frames are used again.
type frame struct {
	st       ir.OpState
	operands [][]ir.Operand // by operand row
	opTypes  [][]ir.Type
	resTypes [][]ir.Type
	opTyped  []bool
	resTyped []bool
	allOps   []ir.Operand // operands directive
	uses     []ir.Operand
	types    []ir.Type
}

func newParser(src *diag.Source, ctx *ir.Context, reg *ir.Registry) *parser {
	p := &parser{
		lexer:       lexer{src: src.Text()},
		source:      src,
		ctx:         ctx,
		reg:         reg,
		m:           ir.NewModule(ctx, reg, src),
		types:       map[string]ir.Type{},
		attrs:       map[string]ir.Attr{},
		dense:       map[denseKey]ir.Attr{},
		kinds:       map[string]*opKind{},
		attrAliases: map[string]attrAlias{},
		typeAliases: map[string]typeAlias{},
		forwardLocs: map[string]*forwardLoc{},
		defaults:    []string{"builtin"},
	}
	p.hooks = opParser{p}
	return p
}

// str returns b, which is part of the immutable source, as a string without copying it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (p *parser) parse() (m *ir.Module, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bailout:
			if r.d != nil {
				p.addError(r.d)
			}
			m, err = nil, p.err()
		default:
			// A mistake of ours, perhaps in a hook of a dialect: the caller gets the place, not the panic.
			p.errors.Add(diag.Errorf(p.source, p.pos(), "internal error while reading: %v", r))
			m, err = nil, p.err()
		}
	}()
	if uint64(len(p.lexer.src)) >= math.MaxUint32 {
		return nil, diag.Errorf(p.source, 0, "input is larger than 4 GiB")
	}
	p.lexAt(0)
	p.topLevel()
	if len(p.errors) > 0 {
		return nil, p.err()
	}
	return p.m, nil
}

func (p *parser) err() error {
	if len(p.errors) == 1 {
		return p.errors[0]
	}
	return p.errors
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
			p.resolveForwardLocs()
			p.adoptModule()
			return
		case p.tok.kind == tokHash:
			p.attrAlias()
		case p.tok.kind == tokBang:
			p.typeAlias()
		case p.is(punctMetaOpen):
			p.metadata()
		default:
			p.operationOrSkip(body)
		}
	}
}

// adoptModule makes the only op at top level the module where it is one.
func (p *parser) adoptModule() {
	body := p.m.Body()
	op := body.First()
	if op != nil && op == body.Last() && op.Name() == "builtin.module" && op.NumRegions() == 1 {
		m := p.m.Op()
		m.SetAttrs(op.Attrs())
		m.SetLoc(op.Loc())
		m.SetPos(op.Pos())
		m.Region(0).TakeBlocks(op.Region(0))
		op.Erase()
		if body.Erase(); m.Region(0).Empty() {
			m.Region(0).AddBlock()
		}
		return
	}
	// MLIR gives the module that stands for the file the place 0:0.
	p.m.Op().SetLoc(ir.NewFileLoc(p.source.Name(), 0, 0))
}

// attrAlias reads #name = attribute.
func (p *parser) attrAlias() {
	name := p.text()
	if bytes.IndexByte(name, '.') >= 0 {
		p.Errorf("attribute names with a '.' are reserved for dialect-defined names")
	}
	pos := p.Pos()
	if _, dup := p.attrAliases[string(name)]; dup {
		p.ErrorfAt(pos, "redefinition of attribute alias id '%s'", name[1:])
	}
	p.next()
	p.expectIn('=', "expected '=' in attribute alias definition")
	start, expanded := p.tok.start, p.expanded
	p.deepest = 0
	a := p.ParseAttr(nil)
	size := int64(p.tok.start-start) + p.expanded - expanded
	if l, ok := a.(*ir.LocAttr); ok {
		size = int64(l.Loc().Size())
	}
	p.attrAliases[string(name)] = attrAlias{a, size, int32(p.deepest)}
	if f := p.forwardLocs[string(name)]; f != nil {
		l, ok := a.(*ir.LocAttr)
		if !ok {
			p.ErrorfAt(f.pos, "expected location, but found '%s'", name)
		}
		if l.Loc() == f.loc {
			p.ErrorfAt(pos, "a location is part of itself")
		}
		f.loc.Define(l.Loc())
		p.unsized = append(p.unsized, f.loc)
		delete(p.forwardLocs, string(name))
	}
}

// typeAlias reads !name = type.
func (p *parser) typeAlias() {
	name := p.text()
	if bytes.IndexByte(name, '.') >= 0 {
		p.Errorf("type names with a '.' are reserved for dialect-defined names")
	}
	if _, dup := p.typeAliases[string(name)]; dup {
		p.Errorf("redefinition of type alias id '%s'", name[1:])
	}
	p.next()
	p.expectIn('=', "expected '=' in type alias definition")
	start, expanded := p.tok.start, p.expanded
	p.deepest = 0
	t := p.ParseType()
	p.typeAliases[string(name)] = typeAlias{t, int64(p.tok.start-start) + p.expanded - expanded, int32(p.deepest)}
}

// resolveForwardLocs fails for location aliases that no definition followed.
func (p *parser) resolveForwardLocs() {
	if len(p.errors) > 0 {
		return
	}
	for _, name := range p.forwardSeq {
		if f := p.forwardLocs[name]; f != nil {
			p.ErrorfAt(f.pos, "operation location alias was never defined")
		}
	}
	p.sizeLocs()
}

// metadata reads {-# section: {dialect: {key: value, ...}, ...}, ... #-}.
func (p *parser) metadata() {
	p.next()
	var all []ir.Resource
	for !p.is(punctMetaEnd) {
		at := p.Pos()
		section := p.ParseKeyword()
		if section != "dialect_resources" && section != "external_resources" {
			p.ErrorfAt(at, "unknown key '%s' in file metadata dictionary", section)
		}
		p.Expect(":")
		p.Expect("{")
		for !p.Accept("}") {
			dialect := p.ParseKeywordOrString()
			p.Expect(":")
			p.Expect("{")
			for !p.Accept("}") {
				key := p.ParseKeywordOrString()
				p.Expect(":")
				if p.tok.kind != tokString && p.tok.kind != tokWord {
					p.Errorf("expected 'true', 'false', or string value for resource entry '%s'", key)
				}
				all = append(all, ir.Resource{Section: section, Dialect: dialect, Key: key, Text: str(p.text())})
				p.next()
				if !p.Accept(",") && !p.Peek("}") {
					p.Errorf("expected '}'")
				}
			}
			if !p.Accept(",") && !p.Peek("}") {
				p.Errorf("expected '}'")
			}
		}
		if !p.Accept(",") && !p.is(punctMetaEnd) {
			p.Errorf("expected '#-}'")
		}
	}
	p.next()
	p.m.SetResources(append(p.m.Resources(), all...))
}

// deeper guards a recursion; the caller must call p.depth-- on the way out.
func (p *parser) deeper() {
	if p.depth++; p.depth > maxDepth {
		p.tooDeep(p.Pos())
	}
	p.deepest = max(p.deepest, p.depth)
}

// tooDeep ends the reading: going on behind each of so many open brackets would take time without end.
func (p *parser) tooDeep(pos diag.Pos) {
	p.fatal = true
	p.ErrorfAt(pos, "nesting is deeper than %d levels", maxDepth)
}
