package print

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// Options choose the form of the text. The zero value is MLIR's default: pretty, without locations.
type Options struct {
	Generic     bool // the generic form of every op
	DebugInfo   bool // locations; an op without one gets its source position, as in MLIR
	OwnLocs     bool // with DebugInfo: no location for an op without one
	LocalScope  bool // no aliases: write everything in place
	ElideLarger int  // literals with more elements than this, except splats, become dense_resource<__elided__>; 0: none
	NoHex       bool // large literals as numbers, not as hexadecimal bytes

	// ListBooleans writes large literals of i1 as true and false. MLIR versions disagree about the bytes: old versions
	// pack eight elements into a byte, new versions do not.
	ListBooleans bool
}

// Print writes the module to w. It writes long text in pieces, because the indentation of deeply nested regions, or an
// attribute that many ops share, can take many times the memory of the module. A text above 4 GiB, which could not be
// read again, is an error.
func Print(w io.Writer, m *ir.Module, o Options) error {
	p := newPrinter(m, o)
	n := p.estimate()
	p.w, p.limit = w, 1<<20+2*n // most modules need no aliases, or need one already in the first piece
	if o.DebugInfo || o.LocalScope {
		p.limit, n = pieceBytes, min(n, pieceBytes+pieceBytes/4) // nothing is printed twice
	}
	p.buf = make([]byte, 0, n)
	p.numberAll(m.Op())
	p.buf = p.top(m.Op(), true)
	p.write()
	return p.err
}

// pieceBytes is the number of bytes per write if the text is written in pieces.
const pieceBytes = 1 << 18

// maxText is the length of the longest text that can be read. A module can stand for more, since uses of an attribute
// share it.
const maxText = math.MaxUint32 - 1

// spill keeps buf short: it writes the text so far if that is long, or discards it while collecting.
func (p *printer) spill() {
	switch {
	case p.collect:
		p.drop()
	case p.w != nil && len(p.buf) > p.limit:
		p.flush()
	}
}

// piece is the Piece of the text of attributes and types.
func (p *printer) piece(b []byte) (rest []byte, stop bool) {
	p.buf = b
	p.spill()
	return p.buf, p.stopped
}

// flush writes the text so far. If it is not yet known whether anything needs an alias, flush finds out first, because
// the definition may have to come before the text.
func (p *printer) flush() {
	if p.tentative && !p.retry {
		q := newPrinter(p.m, p.o)
		q.names = p.names
		q.collectAliases(p.m.Op())
		p.retry, p.tentative = q.aliases.visitedAny(), false
	}
	if p.retry { // everything will be printed again
		p.stopped = true
		p.drop()
		return
	}
	p.limit = pieceBytes
	p.write()
}

func (p *printer) write() {
	if p.written += len(p.buf); p.err == nil && p.written > maxText {
		p.err = fmt.Errorf("the text of the module has more than %d bytes, the most that can be read again; write bytecode, in which uses of an attribute share it", maxText)
	}
	if p.err == nil {
		_, p.err = p.w.Write(p.buf)
	}
	p.stopped = p.err != nil
	p.drop()
}

// drop empties buf.
func (p *printer) drop() {
	p.buf, p.dense = p.buf[:0], nil
	p.drops++
}

// String returns the module's text.
func String(m *ir.Module, o Options) string { return string(Append(nil, m, o)) }

// Append appends the module's text to b.
func Append(b []byte, m *ir.Module, o Options) []byte {
	p := newPrinter(m, o)
	p.buf = slices.Grow(b, p.estimate())
	p.numberAll(m.Op())
	return p.top(m.Op(), true)
}

// estimate guesses the length of the module's text.
func (p *printer) estimate() int {
	n := 256 + 96*p.m.NumIDs()
	if src := p.m.Source(); src != nil {
		n = 256 + len(src.Text())*9/8
	}
	if p.o.Generic {
		n += n / 2
	}
	return n
}

// Op returns the text of one op, with the value names that it has in the text of the whole module.
func Op(m *ir.Module, op *ir.Op, o Options) string { return NewOps(m, o).Text(op) }

// Ops prints single ops of one module. The module must not change meanwhile.
type Ops struct{ p *printer }

// NewOps returns an Ops for m. It numbers the module's values once.
func NewOps(m *ir.Module, o Options) *Ops {
	p := newPrinter(m, o)
	p.numberAll(m.Op())
	return &Ops{p}
}

// Text returns the text of op, with the value names that it has in the text of the whole module.
func (o *Ops) Text(op *ir.Op) string {
	o.p.buf, o.p.dense = o.p.buf[:0], nil
	return string(o.p.top(op, false))
}

// printer writes one module. It implements ir.AsmPrinter.
type printer struct {
	buf      []byte
	marks    *Marks // nil: nobody needs them
	m        *ir.Module
	reg      *ir.Registry
	o        Options
	indent   int
	defaults []string
	text     ir.Text
	names    names
	aliases  *aliases // nil: no aliases
	collect  bool     // only collecting aliases; the text is discarded
	retry    bool     // something needs an alias, but aliases were not collected
	lastDef  *ir.Def
	lastForm *form
	args     []ir.DirectiveArg
	dense    map[ir.Attr][2]int // position in buf of an earlier occurrence of a literal

	w         io.Writer // nil: all text stays in buf
	err       error     // from w, or because the text is too long
	written   int       // number of bytes written to w
	drops     int       // how often buf was emptied
	stopped   bool      // the rest of the text does not matter
	limit     int       // maximum length of buf
	tentative bool      // whether anything needs an alias is only known after printing
}

func newPrinter(m *ir.Module, o Options) *printer {
	p := &printer{m: m, reg: m.Registry(), o: o, defaults: []string{"builtin"}}
	p.text = ir.Text{ElideLarger: o.ElideLarger, NoHex: o.NoHex, ListBooleans: o.ListBooleans, Piece: p.piece}
	return p
}

// top writes op between the alias definitions it needs.
func (p *printer) top(op *ir.Op, metadata bool) []byte {
	start := len(p.buf)
	if !p.o.LocalScope {
		if p.o.DebugInfo {
			p.collectAliases(op)
		} else {
			p.aliases, p.tentative = nil, true
			p.text.AttrAlias, p.text.TypeAlias = p.detectAttrAlias, p.detectTypeAlias
		}
	}
	p.buf = p.buf[:start]
	p.printTop(op)
	p.tentative = false
	if p.retry {
		p.retry, p.stopped = false, false
		p.collectAliases(op)
		p.buf = p.buf[:start]
		p.dense = nil
		p.printTop(op)
	}
	if metadata {
		p.resources()
	}
	return p.buf
}

func (p *printer) printTop(op *ir.Op) {
	if p.aliases != nil {
		p.aliases.print(p, false)
	}
	p.op(op)
	p.buf = append(p.buf, '\n')
	if p.aliases != nil {
		p.aliases.print(p, true)
	}
}

// op writes an op with its results and location, without indentation and line break.
func (p *printer) op(op *ir.Op) {
	if p.marks != nil {
		p.marks.Ops = append(p.marks.Ops, OpMark{op, len(p.buf)})
	}
	if n := op.NumResults(); n > 0 {
		p.results(op, n)
	}
	if p.collect && p.located(op.Loc()) {
		p.aliases.visitPlace(op.Loc(), op.Pos(), true)
	}
	p.customOrGeneric(op)
	if !p.collect && p.located(op.Loc()) {
		p.trailingLoc(op.Loc(), op.Pos(), true)
	}
}

func (p *printer) results(op *ir.Op, n int) {
	groups := p.names.groups[op]
	if groups == nil {
		start := len(p.buf)
		p.baseName(op.Result(0))
		p.markValue(op.Result(0), start)
		if n > 1 {
			p.buf = strconv.AppendInt(append(p.buf, ':'), int64(n), 10)
		}
	} else {
		for i, from := range groups {
			to := n
			if i+1 < len(groups) {
				to = groups[i+1]
			}
			if i > 0 {
				p.buf = append(p.buf, ", "...)
			}
			start := len(p.buf)
			p.baseName(op.Result(from))
			p.markValue(op.Result(from), start)
			if to-from > 1 {
				p.buf = strconv.AppendInt(append(p.buf, ':'), int64(to-from), 10)
			}
		}
	}
	p.buf = append(p.buf, " = "...)
}

func (p *printer) customOrGeneric(op *ir.Op) {
	def := op.Def()
	if pieces := op.Verbatim(); pieces != nil {
		p.verbatim(op, pieces)
		return
	}
	if p.o.Generic || !def.Known() || lacksOperand(op) || !fits(op) || def.Fits != nil && !def.Fits(op) {
		p.generic(op)
		return
	}
	if def.Print != nil {
		p.opName(def.Name)
		def.Print(p, op)
		return
	}
	if p.lastDef != def {
		p.lastDef, p.lastForm = def, nil
		if k := p.reg.Kind(def.Name); k != nil && k.Def == def {
			p.lastForm = k.Format
		}
	}
	if form := p.lastForm; form != nil {
		p.opName(def.Name)
		p.format(form, op)
		return
	}
	p.generic(op)
}

// lacksOperand reports whether an operand has no value.
func lacksOperand(op *ir.Op) bool {
	for i := range op.NumOperands() {
		if op.Operand(i) == nil {
			return true
		}
	}
	return false
}

// fits reports whether op has the operands, results, attributes and regions that its definition requires. An op that
// does not fit can only be written in generic form. Print hooks rely on valid attributes, formats do not.
func fits(op *ir.Op) bool {
	var buf [8]int
	if _, ok := op.OperandSegments(buf[:]); !ok {
		return false
	}
	if !fitsResults(op) {
		return false
	}
	def := op.Def()
	for i := range def.Attrs {
		if s := &def.Attrs[i]; !s.Optional && s.Default == nil || def.Print != nil {
			a := op.Attr(s.Name)
			if a == nil && !s.Optional && s.Default == nil || a != nil && def.Print != nil && s.Type.Check != nil && !s.Type.Check(a) {
				return false
			}
		}
	}
	return len(def.Regions) == 0 || len(op.Regions()) >= len(def.Regions) || def.Regions[len(def.Regions)-1].Mult != ir.One
}

func fitsResults(op *ir.Op) bool {
	if len(op.Def().Results) == 1 && op.Def().Results[0].Mult == ir.One {
		return op.NumResults() == 1
	}
	var buf [8]int
	_, ok := op.ResultSegments(buf[:])
	return ok
}

// opName writes the name of a pretty op, without the prefix that the enclosing region implies.
func (p *printer) opName(name string) {
	d := p.defaults[len(p.defaults)-1]
	if len(d) > 0 && len(name) > len(d) && name[len(d)] == '.' && name[:len(d)] == d {
		rest := name[len(d)+1:]
		dotted := false
		for i := range len(rest) {
			dotted = dotted || rest[i] == '.'
		}
		if !dotted {
			name = rest
		}
	}
	p.buf = append(p.buf, name...)
}

// generic writes "name"(%a)[^bb1]<{...}>({...}){...} : (T) -> R.
func (p *printer) generic(op *ir.Op) {
	b := p.buf
	b = append(b, '"')
	b = append(b, op.Name()...)
	b = append(b, `"(`...)
	p.buf = b
	p.list(op.NumOperands(), func(i int) { p.PrintValue(op.Operand(i)) })
	p.buf = append(p.buf, ')')
	if list := op.Successors(); len(list) > 0 {
		p.buf = append(p.buf, '[')
		p.list(len(list), func(i int) { p.PrintSuccessor(list[i]) })
		p.buf = append(p.buf, ']')
	}
	p.attrDict(op.Attrs(), " <{", "}>", func(a *ir.NamedAttr) bool { return a.Inherent })
	if len(op.Regions()) > 0 {
		p.buf = append(p.buf, " ("...)
		p.list(len(op.Regions()), func(i int) { p.region(op.Region(i), "", true, true, true) })
		p.buf = append(p.buf, ')')
	}
	p.attrDict(op.Attrs(), " {", "}", func(a *ir.NamedAttr) bool { return !a.Inherent })
	p.buf = append(p.buf, " : "...)
	p.opType(op)
}

// verbatim writes an op whose text only its dialect can read, in pretty or generic form.
func (p *printer) verbatim(op *ir.Op, pieces []string) {
	p.buf = append(p.buf, op.Name()...)
	for i, s := range pieces {
		p.buf = append(p.buf, s...)
		if i < op.NumOperands() {
			p.PrintValue(op.Operand(i))
		}
	}
}

// region writes { ... } with ops of dialect without its prefix. If header is set, it writes the label of an empty entry
// block even if there are no arguments.
func (p *printer) region(r *ir.Region, dialect string, args, terminator, header bool) {
	p.buf = append(p.buf, "{\n"...)
	if r.Entry() != nil {
		p.defaults = append(p.defaults, dialect)
		for i, b := range r.Blocks() {
			if i == 0 {
				p.block(b, 0, header && b.First() == nil || args && len(b.Args()) > 0, terminator)
			} else {
				p.block(b, i, true, true)
			}
		}
		p.defaults = p.defaults[:len(p.defaults)-1]
	}
	p.pad()
	p.buf = append(p.buf, '}')
}

func (p *printer) pad() {
	const spaces = "                                                                "
	for n := p.indent; n > 0; n -= len(spaces) {
		p.buf = append(p.buf, spaces[:min(n, len(spaces))]...)
	}
}

// block writes block number i of its region.
func (p *printer) block(b *ir.Block, i int, header, terminator bool) {
	if header {
		p.spill()
		p.pad()
		p.label(i)
		if len(b.Args()) > 0 {
			p.buf = append(p.buf, '(')
			p.list(len(b.Args()), func(i int) { p.PrintArgument(b.Arg(i), nil) })
			p.buf = append(p.buf, ')')
		}
		p.buf = append(p.buf, ':')
		p.predecessors(b)
		p.buf = append(p.buf, '\n')
	}
	p.indent += 2
	for op := b.First(); op != nil && !p.stopped; op = op.Next() {
		if !terminator && op.Next() == nil && op.Has(ir.Terminator) {
			break
		}
		p.spill()
		p.pad()
		p.op(op)
		p.buf = append(p.buf, '\n')
		p.spill()
	}
	p.indent -= 2
}

// predecessors writes MLIR's comment that lists the predecessors of b.
func (p *printer) predecessors(b *ir.Block) {
	r := b.Region()
	if r == nil || len(r.Blocks()) == 1 {
		return
	}
	preds := p.names.preds(r)[b]
	switch {
	case len(preds) == 0 && b != r.Entry():
		p.buf = append(p.buf, "  // no predecessors"...)
	case len(preds) == 0:
	case len(preds) == 1:
		p.buf = append(p.buf, "  // pred: "...)
		p.PrintSuccessor(preds[0])
	default:
		p.buf = append(p.buf, "  // "...)
		p.buf = strconv.AppendInt(p.buf, int64(len(preds)), 10)
		p.buf = append(p.buf, " preds: "...)
		p.list(len(preds), func(i int) { p.PrintSuccessor(preds[i]) })
	}
}

// resources writes the file metadata section.
func (p *printer) resources() {
	list := p.m.Resources()
	if len(list) == 0 {
		return
	}
	b := append(p.buf, "\n{-#\n"...)
	for i := 0; i < len(list); {
		section := list[i].Section
		b = append(b, "  "...)
		b = append(b, section...)
		b = append(b, ": {\n"...)
		for i < len(list) && list[i].Section == section {
			dialect := list[i].Dialect
			b = append(b, "    "...)
			b = mlirtext.AppendKeyword(b, dialect)
			b = append(b, ": {\n"...)
			for i < len(list) && list[i].Section == section && list[i].Dialect == dialect {
				b = append(b, "      "...)
				b = mlirtext.AppendKeyword(b, list[i].Key)
				b = append(b, ": "...)
				b = append(b, list[i].Text...)
				i++
				if i < len(list) && list[i].Section == section && list[i].Dialect == dialect {
					b = append(b, ',')
				}
				b = append(b, '\n')
			}
			b = append(b, "    }"...)
			if i < len(list) && list[i].Section == section {
				b = append(b, ',')
			}
			b = append(b, '\n')
		}
		b = append(b, "  }"...)
		if i < len(list) {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	p.buf = append(b, "#-}\n"...)
}
