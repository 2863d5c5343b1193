package print

import (
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

var _ ir.AsmPrinter = (*printer)(nil)

// Print implements ir.AsmPrinter, as do the methods below.
func (p *printer) Print(s string) { p.buf = append(p.buf, s...) }

// PrintInt writes a decimal number.
func (p *printer) PrintInt(i int64) { p.buf = strconv.AppendInt(p.buf, i, 10) }

// PrintInts writes [1, 2, 3].
func (p *printer) PrintInts(list []int64) {
	p.buf = append(p.buf, '[')
	for i, v := range list {
		if i > 0 {
			p.buf = append(p.buf, ", "...)
		}
		p.buf = strconv.AppendInt(p.buf, v, 10)
	}
	p.buf = append(p.buf, ']')
}

// PrintString writes s quoted.
func (p *printer) PrintString(s string) { p.buf = ir.AppendQuoted(p.buf, s) }

// PrintSymbol writes @s.
func (p *printer) PrintSymbol(s string) { p.buf = ir.AppendSymbol(p.buf, s) }

// PrintKeywordOrString writes s bare where it can stand so.
func (p *printer) PrintKeywordOrString(s string) { p.buf = ir.AppendKeyword(p.buf, s) }

// PrintType writes a type.
func (p *printer) PrintType(t ir.Type) {
	if p.collect {
		p.aliases.visitType(t, false)
		return
	}
	p.buf = p.text.AppendType(p.buf, t)
	if p.w != nil && len(p.buf) > p.limit { // one op can have many types that its text leaves out
		p.flush()
	}
}

// PrintTypes writes types separated by commas.
func (p *printer) PrintTypes(types []ir.Type) {
	for i, t := range types {
		if i > 0 {
			p.buf = append(p.buf, ", "...)
		}
		p.PrintType(t)
	}
}

// PrintFunctionType writes (inputs) -> results.
func (p *printer) PrintFunctionType(inputs, results []ir.Type) {
	p.buf = append(p.buf, '(')
	p.PrintTypes(inputs)
	p.buf = append(p.buf, ") -> "...)
	if len(results) == 1 {
		if _, fn := results[0].(*ir.FunctionType); !fn {
			p.PrintType(results[0])
			return
		}
	}
	p.buf = append(p.buf, '(')
	p.PrintTypes(results)
	p.buf = append(p.buf, ')')
}

// PrintAttr writes an attribute with its type.
func (p *printer) PrintAttr(a ir.Attr) {
	if p.collect {
		p.aliases.visitAttr(a, false)
		return
	}
	if d, ok := a.(*ir.DenseAttr); ok && len(d.Text()) <= 64 {
		p.shortDense(d)
		return
	}
	p.buf = p.text.AppendAttr(p.buf, a)
}

// shortDense writes a short literal, copying the text of an earlier occurrence.
func (p *printer) shortDense(d *ir.DenseAttr) {
	if at, ok := p.dense[d]; ok {
		p.buf = append(p.buf, p.buf[at[0]:at[1]]...)
		return
	}
	start := len(p.buf)
	p.buf = p.text.AppendAttr(p.buf, d)
	if p.dense == nil {
		p.dense = map[ir.Attr][2]int{}
	}
	p.dense[d] = [2]int{start, len(p.buf)}
}

// PrintAttrWithoutType writes an attribute without its type.
func (p *printer) PrintAttrWithoutType(a ir.Attr) {
	if p.collect {
		p.aliases.visitAttr(a, false)
		return
	}
	p.buf = p.text.AppendAttrBare(p.buf, a)
}

// PrintAttrDict writes ' {a = x, ...}' less the elided names.
func (p *printer) PrintAttrDict(attrs ir.AttrList, elided ...string) {
	p.attrDict(attrs, elided, " {")
}

// PrintAttrDictWithKeyword writes ' attributes {...}' less the elided names.
func (p *printer) PrintAttrDictWithKeyword(attrs ir.AttrList, elided ...string) {
	p.attrDict(attrs, elided, " attributes {")
}

func (p *printer) attrDict(attrs ir.AttrList, elided []string, open string) {
	any := false
next:
	for i := range attrs {
		a := &attrs[i]
		for _, e := range elided {
			if e == a.Name {
				continue next
			}
		}
		if any {
			p.buf = append(p.buf, ", "...)
		} else {
			p.buf = append(p.buf, open...)
			any = true
		}
		p.named(a)
	}
	if any {
		p.buf = append(p.buf, '}')
	}
}

// PrintValue writes the name of a value.
func (p *printer) PrintValue(v *ir.Value) {
	if p.collect {
		return
	}
	if p.names.shadow != nil {
		if w := p.names.shadow[v]; w != nil {
			v = w
		}
	}
	if v == nil {
		p.buf = append(p.buf, "<<NULL VALUE>>"...)
		return
	}
	op := v.DefiningOp()
	if op == nil || op.NumResults() == 1 {
		p.baseName(v)
		return
	}
	from, to := 0, op.NumResults()
	for _, g := range p.names.groups[op] {
		if g > v.Index() {
			to = g
			break
		}
		from = g
	}
	p.baseName(op.Result(from))
	if to-from > 1 {
		p.buf = strconv.AppendInt(append(p.buf, '#'), int64(v.Index()-from), 10)
	}
}

// PrintValues writes names separated by commas.
func (p *printer) PrintValues(values []*ir.Value) {
	for i, v := range values {
		if i > 0 {
			p.buf = append(p.buf, ", "...)
		}
		p.PrintValue(v)
	}
}

// PrintArgument writes %name: type {attrs} loc(...).
func (p *printer) PrintArgument(v *ir.Value, attrs *ir.DictAttr) {
	p.PrintValue(v)
	p.buf = append(p.buf, ": "...)
	p.PrintType(v.Type())
	if attrs != nil && len(attrs.Entries()) > 0 {
		p.buf = append(p.buf, ' ')
		p.PrintAttr(attrs)
	}
	if !p.located(v.Loc()) {
		return
	}
	if p.collect {
		p.aliases.visitPlace(v.Loc(), v.Pos(), false)
		return
	}
	p.trailingLoc(v.Loc(), v.Pos(), false)
}

// PrintRegion writes { ... }.
func (p *printer) PrintRegion(r *ir.Region, entryArgs, terminator bool) {
	p.region(r, entryArgs, terminator, false)
}

// PrintSuccessor writes ^bb1.
func (p *printer) PrintSuccessor(b *ir.Block) {
	p.buf = strconv.AppendInt(append(p.buf, "^bb"...), int64(p.names.blocks[b]), 10)
}

// Shadow makes the arguments of r print as values.
func (p *printer) Shadow(r *ir.Region, values []*ir.Value) {
	if p.names.shadow == nil {
		p.names.shadow = map[*ir.Value]*ir.Value{}
	}
	if b := r.Entry(); b != nil {
		for i, v := range values[:min(len(values), b.NumArgs())] {
			if w := p.names.shadow[v]; w != nil {
				v = w
			}
			p.names.shadow[b.Arg(i)] = v
		}
	}
}

// Newline starts a new line at the indentation of the op.
func (p *printer) Newline() {
	p.buf = append(p.buf, '\n')
	p.pad()
}

// DebugInfo reports whether locations are written.
func (p *printer) DebugInfo() bool { return p.o.DebugInfo }

// located reports whether a location is written for something whose own location is l, nil for none.
func (p *printer) located(l *ir.Loc) bool { return p.o.DebugInfo && (l != nil || !p.o.OwnLocs) }

// trailingLoc writes ' loc(...)': l or, where there is none, the place in the source, which MLIR gives to what has no
// location. Only ops may use an alias for the whole.
func (p *printer) trailingLoc(l *ir.Loc, pos diag.Pos, alias bool) {
	p.buf = append(p.buf, " loc("...)
	switch {
	case alias && p.aliases != nil:
		p.buf = p.aliases.appendPlace(p.buf, l, pos)
	case l == nil && p.placed(pos):
		p.place(pos)
	default:
		p.buf = p.text.AppendLocDef(p.buf, l)
	}
	p.buf = append(p.buf, ')')
}

// placed reports whether pos is in the source.
func (p *printer) placed(pos diag.Pos) bool { return p.m.Source() != nil && pos.IsValid() }

// place writes "file":line:column.
func (p *printer) place(pos diag.Pos) {
	src := p.m.Source()
	line, col := src.LineColumn(pos)
	p.buf = append(ir.AppendQuoted(p.buf, src.Name()), ':')
	p.buf = append(strconv.AppendUint(p.buf, uint64(uint32(line)), 10), ':')
	p.buf = strconv.AppendUint(p.buf, uint64(uint32(col)), 10)
}
