package print

import (
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

var _ ir.AsmPrinter = (*printer)(nil)

// Print implements ir.AsmPrinter, as do the methods below.
func (p *printer) Print(s string) { p.buf = append(p.buf, s...) }

// PrintInt writes a decimal number.
func (p *printer) PrintInt(i int64) { p.buf = strconv.AppendInt(p.buf, i, 10) }

// list writes n items separated by commas.
func (p *printer) list(n int, item func(i int)) {
	for i := range n {
		if p.stopped {
			return
		}
		if i > 0 {
			p.buf = append(p.buf, ", "...)
		}
		item(i)
	}
}

// PrintInts writes [1, 2, 3].
func (p *printer) PrintInts(list []int64) {
	p.buf = append(p.buf, '[')
	p.list(len(list), func(i int) { p.PrintInt(list[i]) })
	p.buf = append(p.buf, ']')
}

// PrintString writes s quoted.
func (p *printer) PrintString(s string) { p.buf = mlirtext.AppendQuoted(p.buf, s) }

// PrintSymbol writes @s.
func (p *printer) PrintSymbol(s string) { p.buf = mlirtext.AppendSymbol(p.buf, s) }

// PrintKeywordOrString writes s bare if it is an identifier, else quoted.
func (p *printer) PrintKeywordOrString(s string) { p.buf = mlirtext.AppendKeyword(p.buf, s) }

// PrintType writes a type.
func (p *printer) PrintType(t ir.Type) {
	if p.collect {
		p.aliases.visitType(t, false)
		return
	}
	p.buf = p.text.AppendType(p.buf, t)
	p.spill() // one op can have many types that its text omits
}

// PrintTypes writes types separated by commas.
func (p *printer) PrintTypes(types []ir.Type) {
	p.list(len(types), func(i int) { p.PrintType(types[i]) })
}

// PrintFunctionType writes (inputs) -> results.
func (p *printer) PrintFunctionType(inputs, results []ir.Type) {
	p.functionType(len(inputs), func(i int) ir.Type { return inputs[i] }, len(results), func(i int) ir.Type { return results[i] })
}

// opType writes the types of op's operands and results as a function type.
func (p *printer) opType(op *ir.Op) {
	p.functionType(op.NumOperands(), func(i int) ir.Type { return operandType(op, i) }, op.NumResults(), func(i int) ir.Type { return op.Result(i).Type() })
}

// operandType returns the type of operand i, or nil if the operand has no value.
func operandType(op *ir.Op, i int) ir.Type {
	if v := op.Operand(i); v != nil {
		return v.Type()
	}
	return nil
}

// functionType writes (inputs) -> results. A single result has no parentheses unless it is a function.
func (p *printer) functionType(inputs int, input func(int) ir.Type, results int, result func(int) ir.Type) {
	p.buf = append(p.buf, '(')
	p.list(inputs, func(i int) { p.PrintType(input(i)) })
	p.buf = append(p.buf, ") -> "...)
	if results == 1 {
		if _, fn := result(0).(*ir.FunctionType); !fn {
			p.PrintType(result(0))
			return
		}
	}
	p.buf = append(p.buf, '(')
	p.list(results, func(i int) { p.PrintType(result(i)) })
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
	p.buf = p.text.AppendAttr(p.buf, a, true)
	p.spill()
}

// shortDense writes a short literal. It copies the text of an earlier occurrence if there is one.
func (p *printer) shortDense(d *ir.DenseAttr) {
	if at, ok := p.dense[d]; ok {
		p.buf = append(p.buf, p.buf[at[0]:at[1]]...)
		return
	}
	start, drops := len(p.buf), p.drops
	p.buf = p.text.AppendAttr(p.buf, d, true)
	if p.drops != drops { // the start is no longer in buf
		return
	}
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
	p.buf = p.text.AppendAttr(p.buf, a, false)
}

// PrintAttrDict writes ' {a = x, ...}' without the elided names.
func (p *printer) PrintAttrDict(attrs ir.AttrList, elided ...string) {
	p.attrDict(attrs, " {", "}", func(a *ir.NamedAttr) bool { return !slices.Contains(elided, a.Name) })
}

// PrintAttrDictWithKeyword writes ' attributes {...}' without the elided names.
func (p *printer) PrintAttrDictWithKeyword(attrs ir.AttrList, elided ...string) {
	p.attrDict(attrs, " attributes {", "}", func(a *ir.NamedAttr) bool { return !slices.Contains(elided, a.Name) })
}

// attrDict writes the attributes that keep selects between open and close, or nothing if there are none.
func (p *printer) attrDict(attrs ir.AttrList, open, close string, keep func(*ir.NamedAttr) bool) {
	any := false
	for i := range attrs {
		a := &attrs[i]
		if !keep(a) {
			continue
		}
		if any {
			open = ", "
		}
		p.buf = append(p.buf, open...)
		any = true
		p.named(a)
	}
	if any {
		p.buf = append(p.buf, close...)
	}
}

// named writes name = attribute, or the name alone for unit.
func (p *printer) named(a *ir.NamedAttr) {
	p.buf = mlirtext.AppendKeyword(p.buf, a.Name)
	if _, ok := a.Attr.(*ir.UnitAttr); ok {
		return
	}
	p.buf = append(p.buf, " = "...)
	p.PrintAttr(a.Attr)
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
	start := len(p.buf)
	p.mention(v)
	p.markValue(v, start)
}

// mention writes the name of v, with its number in its pack.
func (p *printer) mention(v *ir.Value) {
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
	p.list(len(values), func(i int) { p.PrintValue(values[i]) })
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
	dialect := ""
	if op := r.Op(); op != nil {
		dialect = op.Def().DefaultDialect
	}
	p.region(r, dialect, entryArgs, terminator, false)
}

// PrintSuccessor writes ^bb1.
func (p *printer) PrintSuccessor(b *ir.Block) { p.label(p.names.blocks[b]) }

func (p *printer) label(i int) { p.buf = strconv.AppendInt(append(p.buf, "^bb"...), int64(i), 10) }

// Shadow makes the arguments of r print with the names of values.
func (p *printer) Shadow(r *ir.Region, values []*ir.Value) {
	if p.names.shadow == nil {
		p.names.shadow = map[*ir.Value]*ir.Value{}
	}
	if b := r.Entry(); b != nil {
		for i, v := range values[:min(len(values), len(b.Args()))] {
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

// located reports whether a location is written for an entity whose own location is l (nil if it has none).
func (p *printer) located(l *ir.Loc) bool { return p.o.DebugInfo && (l != nil || !p.o.OwnLocs) }

// trailingLoc writes ' loc(...)' with l or, if l is nil, with the source position, as MLIR does for entities without a
// location. Only ops may use an alias for the whole location.
func (p *printer) trailingLoc(l *ir.Loc, pos diag.Pos, alias bool) {
	p.buf = append(p.buf, " loc("...)
	switch {
	case alias && p.aliases != nil:
		p.buf = p.aliases.appendPlace(p.buf, l, pos)
	case l == nil && p.hasPosition(pos):
		p.place(pos)
	default:
		p.buf = p.text.AppendLocDef(p.buf, l)
	}
	p.buf = append(p.buf, ')')
}

// hasPosition reports whether pos is in the source.
func (p *printer) hasPosition(pos diag.Pos) bool { return p.m.Source() != nil && pos.IsValid() }

// place writes "file":line:column.
func (p *printer) place(pos diag.Pos) {
	src := p.m.Source()
	line, col := src.LineColumn(pos)
	p.buf = append(mlirtext.AppendQuoted(p.buf, src.Name()), ':')
	p.buf = append(strconv.AppendUint(p.buf, uint64(uint32(line)), 10), ':')
	p.buf = strconv.AppendUint(p.buf, uint64(uint32(col)), 10)
}
