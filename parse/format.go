package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/internal/assembly"
	"github.com/hlocb/hlocb/ir"
)

// The compiled assembly formats of ops.
type (
	form = assembly.Format
	elem = assembly.Elem
)

// row holds the operands or results in the text for one row of the op's definition.
type row struct {
	operands []ir.Operand
	types    []ir.Type
	typed    bool // the format gave the types

	operand [1]ir.Operand // the lists above start here
	typ     [1]ir.Type
}

// add appends a type that the format gave.
func (r *row) add(t ir.Type) { r.types, r.typed = append(r.types, t), true }

// clearRows returns n empty rows in the storage of rows.
func clearRows(rows []row, n int) []row {
	if len(rows) < n {
		rows = make([]row, max(n, 3))
		for i := range rows {
			rows[i].operands, rows[i].types = rows[i].operand[:], rows[i].typ[:]
		}
	}
	for i := range n {
		r := &rows[i]
		r.operands, r.types, r.typed = r.operands[:0], r.types[:0], false
	}
	return rows
}

// format reads an op by its compiled format.
func (p *parser) format(fm *form, f *frame) {
	def := f.st.Def
	f.in = clearRows(f.in, len(def.Operands))
	f.out = clearRows(f.out, len(def.Results))
	f.allOps, f.types = f.allOps[:0], f.types[:0]
	f.flatOps, f.hasIn, f.hasOut, f.typePos = false, false, false, p.pos()
	p.elements(f, fm.Elems)
	p.complete(f)
}

// elements reads elems in order.
func (p *parser) elements(f *frame, elems []elem) {
	for i := range elems {
		p.element(f, &elems[i])
	}
}

// element reads one element and reports whether the text had it.
func (p *parser) element(f *frame, e *elem) bool {
	switch e.Kind {
	case assembly.Literal:
		p.expectLiteral(e.Text)
		return true
	case assembly.Space, assembly.Newline:
	case assembly.Operand:
		return p.operandElem(f, e)
	case assembly.Attr:
		return p.attrElem(f, e)
	case assembly.Region:
		return p.regionElem(f, e)
	case assembly.Regions:
		for more := p.is('{'); more; more = p.comma() {
			f.st.Bodies = append(f.st.Bodies, p.ParseRegion())
		}
		return len(f.st.Bodies) > 0
	case assembly.Successors:
		for more := p.tok.kind == tokCaret; more; more = p.comma() {
			f.st.Successors = append(f.st.Successors, p.ParseSuccessor())
		}
		return len(f.st.Successors) > 0
	case assembly.OperandType:
		f.typePos = p.pos()
		r := &f.in[e.Index]
		r.types, r.typed = p.typesOf(r.types, ir.Multiplicity(e.Mult)), true
	case assembly.ResultType:
		r := &f.out[e.Index]
		r.types, r.typed = p.typesOf(r.types, ir.Multiplicity(e.Mult)), true
	case assembly.Operands:
		f.allOps = p.operands(f.allOps)
		f.flatOps = true
		return len(f.allOps) > 0
	case assembly.OperandTypes:
		f.typePos = p.pos()
		f.types, f.hasIn = p.typesOf(f.types[:0], ir.Variadic), true
	case assembly.ResultTypes:
		f.st.Types = p.typesOf(f.st.Types, ir.Variadic)
		f.hasOut = true
	case assembly.AttrDict:
		p.ParseOptionalAttrDict(&f.st)
	case assembly.AttrDictKeyword:
		p.ParseOptionalAttrDictWithKeyword(&f.st)
	case assembly.FunctionalType:
		p.functionalType(f)
	case assembly.Group:
		p.group(f, e)
	case assembly.Custom:
		if p.reg.DirectiveUses()[e.ID].OneType && !p.is('(') {
			p.oneType(f, e)
			break
		}
		p.custom(f, e)
	}
	return true
}

// typesOf reads the types of an operand or result of the given multiplicity.
func (p *parser) typesOf(out []ir.Type, m ir.Multiplicity) []ir.Type {
	if m == ir.One {
		return append(out, p.ParseType())
	}
	t, ok := p.ParseOptionalType()
	for ok {
		out = append(out, t)
		if ok = m != ir.Optional && p.comma(); ok {
			t = p.ParseType()
		}
	}
	return out
}

// isLiteral reports whether the current token is the given literal of a format.
func (p *parser) isLiteral(text string) bool {
	c := text[0]
	if class[c]&clsStart != 0 {
		return p.peekKeyword(text)
	}
	return p.Peek(text)
}

// expectLiteral consumes a literal of a format.
func (p *parser) expectLiteral(text string) {
	if text == "" {
		return
	}
	if !p.isLiteral(text) {
		if class[text[0]]&clsStart != 0 {
			p.opParser.Errorf("expected '%s'", text)
		}
		p.unexpected("expected '%s'", text)
	}
	p.next()
}

// operandElem reads the operands of a row.
func (p *parser) operandElem(f *frame, e *elem) bool {
	list := &f.in[e.Index].operands
	switch ir.Multiplicity(e.Mult) {
	case ir.One:
		*list = append(*list, ir.Operand{})
		p.operand(&(*list)[len(*list)-1])
	case ir.Optional:
		if o, ok := p.ParseOptionalOperand(); ok {
			*list = append(*list, o)
		}
	default:
		*list = p.operands(*list)
	}
	return len(*list) > 0
}

// regionElem reads the regions of a row.
func (p *parser) regionElem(f *frame, e *elem) bool {
	st := &f.st
	if e.Mult == uint8(ir.Optional) && !p.is('{') {
		st.Bodies = append(st.Bodies, p.m.NewRegion())
		return false
	}
	for more := true; more; more = e.Mult == uint8(ir.Variadic) && p.comma() {
		r := p.ParseRegion()
		if st.Def.Has(ir.SingleBlock) && r.Entry() == nil {
			r.AddBlock() // "module {}" has a block, as in MLIR; in the generic form it would have none
		}
		st.Bodies = append(st.Bodies, r)
	}
	return true
}

// attrElem reads an attribute in the form of its row.
func (p *parser) attrElem(f *frame, e *elem) bool {
	if e.Unit {
		return true
	}
	spec := &f.st.Def.Attrs[e.Index]
	optional := e.Mult == uint8(ir.Optional)
	a, ok := p.formAttr(spec, optional)
	if ok {
		p.setInherent(&f.st, spec.Name, a)
	}
	return ok
}

// setInherent adds an attribute that the format writes.
func (p *parser) setInherent(st *ir.OpState, name string, a ir.Attr) {
	one := [...]ir.NamedAttr{{Name: name, Attr: a, Inherent: st.Def.Attr(name) != nil}}
	p.addAttrs(st, one[:], false)
}

// formAttr reads the value of an attribute in the form of its row. ok is false if it is optional and missing.
func (p *parser) formAttr(spec *ir.AttrSpec, optional bool) (a ir.Attr, ok bool) {
	c := &spec.Type
	if c.Enum != nil {
		return p.enumCase(c.Enum, optional)
	}
	switch c.Form {
	case ir.FormInts:
		if optional && !p.is('[') {
			return nil, false
		}
		return p.opParser.ParseIntArray(c.FormType), true
	case ir.FormSymbol:
		if optional && p.tok.kind != tokAt {
			return nil, false
		}
		return ir.NewString(p.typeParser.ParseSymbol()), true
	case ir.FormParams:
		if optional && !p.is('<') && p.tok.kind != tokHash {
			return nil, false
		}
		return c.Attr.ParseShort(p.typeParser), true
	case ir.FormBare:
		want := c.FormType
		if want == nil {
			want = p.ctx.None() // no type follows: the ':' belongs to the format
		}
		if optional {
			return p.ParseOptionalAttr(want)
		}
		return p.ParseAttr(want), true
	}
	if optional {
		return p.ParseOptionalAttr(nil)
	}
	return p.ParseAttr(nil), true
}

// enumCase reads the bare case of an enumerated attribute.
func (p *parser) enumCase(def *ir.EnumDef, optional bool) (ir.Attr, bool) {
	if p.tok.kind != tokWord && p.tok.kind != tokString {
		if optional {
			return nil, false
		}
		p.Errorf("expected valid keyword or string")
	}
	word := str(p.text())
	if p.tok.kind == tokString {
		word = unquote(p.text())
	}
	code, ok := def.Code(word)
	if !ok {
		if optional {
			return nil, false
		}
		p.opParser.Errorf("%s", expectedCase(def))
	}
	p.next()
	return ir.NewEnum(def, code), true
}

// expectedCase returns MLIR's message about a word that is not a case of def.
func expectedCase(def *ir.EnumDef) string {
	name := ""
	for part := range strings.SplitSeq(def.Name, "_") {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	cases := slices.DeleteFunc(slices.Clone(def.Cases), func(c string) bool { return c == "" })
	return fmt.Sprintf("expected ::mlir::%s::%s to be one of: %s", def.Dialect, name, strings.Join(cases, ", "))
}

// functionalType reads (T, ...) -> R, the types of all operands and results.
func (p *parser) functionalType(f *frame) {
	f.typePos = p.pos()
	p.opType(f)
	f.hasIn, f.hasOut = true, true
}

// group reads an optional group. The group is present if its first element is.
func (p *parser) group(f *frame, e *elem) {
	rest := e.Then
	for rest[0].Kind == assembly.Space || rest[0].Kind == assembly.Newline {
		rest = rest[1:]
	}
	first := &rest[0]
	present := false
	rest = rest[1:]
	switch first.Kind {
	case assembly.Literal:
		present = first.Text != "" && p.isLiteral(first.Text)
		if present {
			p.next()
		}
	case assembly.Operand:
		opt := *first
		if opt.Mult == uint8(ir.One) {
			opt.Mult = uint8(ir.Optional)
		}
		present = p.element(f, &opt)
	case assembly.Attr:
		opt := *first
		opt.Mult = uint8(ir.Optional)
		present = p.element(f, &opt)
	case assembly.Region:
		opt := *first
		opt.Mult = uint8(ir.Optional)
		present = p.element(f, &opt)
	case assembly.Custom:
		start := p.tok.start
		p.custom(f, first)
		present = p.tok.start != start
	default:
		present = p.element(f, first)
	}
	if !present {
		p.elements(f, e.Else)
		return
	}
	if first.Anchor && first.Kind == assembly.Attr && first.Unit {
		p.setInherent(&f.st, first.Text, unit)
	}
	for i := range rest {
		if rest[i].Unit {
			p.setInherent(&f.st, rest[i].Text, unit)
			continue
		}
		p.element(f, &rest[i])
	}
}

// directiveArgs are the arguments of one use of a directive, kept from op to op.
type directiveArgs struct {
	args  []ir.DirectiveArg
	types [][]ir.Type // storage for the types of each argument
	attrs bool        // all arguments are attributes of the op, which depend on the text alone
	texts attrTexts   // if attrs is set
	busy  bool        // a region that the directive reads contains the same op
}

// directiveArgs returns the arguments of e, one use of a directive, as the format has them and with nothing read.
func (p *parser) directiveArgs(e *elem) *directiveArgs {
	if p.ops.directives == nil {
		p.ops.directives = make([]*directiveArgs, len(p.reg.DirectiveUses()))
	}
	d := p.ops.directives[e.ID]
	if d == nil || d.busy {
		use := p.reg.DirectiveUses()[e.ID]
		d = &directiveArgs{args: slices.Clone(use.Args), types: make([][]ir.Type, len(use.Args))}
		all := make([]ir.Type, 2*len(d.args))
		for i := range d.types {
			d.types[i] = all[2*i : 2*i : 2*i+2]
		}
		d.attrs = use.ByText && !slices.ContainsFunc(use.Args, func(a ir.DirectiveArg) bool {
			return a.Kind != ir.LiteralArg && (a.Kind != ir.AttrArg || a.Ref)
		})
		if p.ops.directives[e.ID] == nil {
			p.ops.directives[e.ID] = d
		}
	}
	for i := range d.args {
		a := &d.args[i]
		a.Types = d.types[i]
		if a.Operands != nil || a.Attr != nil || a.Regions != nil {
			a.Operands, a.Attr, a.Regions = nil, nil, nil
		}
	}
	d.busy = true
	return d
}

// custom calls a directive and stores its arguments.
func (p *parser) custom(f *frame, e *elem) {
	d := p.directiveArgs(e)
	args := d.args
	for i := range args {
		a := &args[i]
		if a.Kind == ir.LiteralArg || !a.Ref {
			continue
		}
		switch a.Kind {
		case ir.OperandArg:
			if a.Index >= 0 {
				a.Operands = f.in[a.Index].operands
			} else {
				a.Operands = f.allOps
			}
		case ir.OperandTypeArg:
			if a.Index >= 0 {
				a.Types = f.in[a.Index].types
			} else {
				a.Types = f.types
			}
		case ir.ResultTypeArg:
			if a.Index >= 0 {
				a.Types = f.out[a.Index].types
			} else {
				a.Types = f.st.Types
			}
		case ir.AttrArg:
			a.Attr = f.st.Attrs.Get(a.Name)
		case ir.RegionArg:
			a.Regions = f.st.Bodies
		}
	}
	f.typePos = p.pos()
	p.readDirective(e, d, &f.st)
	for i := range args {
		a := &args[i]
		if a.Ref {
			continue
		}
		switch a.Kind {
		case ir.OperandArg:
			if a.Index >= 0 {
				f.in[a.Index].operands = append(f.in[a.Index].operands, a.Operands...)
			} else {
				f.allOps = append(f.allOps, a.Operands...)
				f.flatOps = true
			}
		case ir.OperandTypeArg:
			if a.Index >= 0 {
				r := &f.in[a.Index]
				r.types, r.typed = append(r.types, a.Types...), true
			} else {
				f.types, f.hasIn = append(f.types[:0], a.Types...), true
			}
		case ir.ResultTypeArg:
			if a.Index >= 0 {
				r := &f.out[a.Index]
				r.types, r.typed = append(r.types, a.Types...), true
			} else {
				f.st.Types = append(f.st.Types, a.Types...)
				f.hasOut = true
			}
		case ir.AttrArg:
			if a.Attr != nil {
				p.setInherent(&f.st, a.Name, a.Attr)
			}
		case ir.RegionArg:
			f.st.Bodies = append(f.st.Bodies, a.Regions...)
		}
	}
	d.busy = false
}

// readDirective reads the text of the directive e into the arguments d.
func (p *parser) readDirective(e *elem, d *directiveArgs, st *ir.OpState) {
	start, before, expanded := p.tok.start, len(st.Attrs), p.expanded
	if d.attrs {
		if t := d.texts.get(p.src[start:]); t != nil {
			for i := range d.args {
				d.args[i].Attr = t.attrs[i]
			}
			p.lexAt(start + t.punct)
			return
		}
	}
	p.reg.DirectiveUses()[e.ID].Parse(p.opParser, st, d.args)
	if d.attrs && len(st.Attrs) == before && p.expanded == expanded {
		d.texts.put(p.src, start, p.tok, d.args)
	}
}

// oneType reads the one type that all arguments of a directive share.
func (p *parser) oneType(f *frame, e *elem) {
	f.typePos = p.pos()
	t := p.ParseType()
	for i := range e.Args {
		switch a := &e.Args[i]; a.Kind {
		case assembly.OperandType:
			f.in[a.Index].add(t)
		case assembly.ResultType:
			f.out[a.Index].add(t)
		}
	}
}

// complete infers the types that the format leaves out and resolves the operands.
func (p *parser) complete(f *frame) {
	st := &f.st
	def := st.Def
	if def.Has(ir.SameType) {
		p.fillSameType(f)
	}
	// The operands, in the order of the rows.
	switch {
	case f.hasIn:
		all := f.allOps
		if !f.flatOps {
			all = f.uses[:0]
			for i := range def.Operands {
				all = append(all, f.in[i].operands...)
			}
			f.uses = all
		}
		p.ResolveOperands(all, f.types, f.typePos, st)
	case f.flatOps:
		var types []ir.Type
		for i := range def.Operands {
			types = append(types, f.in[i].types...)
		}
		p.ResolveOperands(f.allOps, types, f.typePos, st)
	default:
		for i := range def.Operands {
			p.ResolveOperands(f.in[i].operands, f.in[i].types, f.typePos, st)
		}
	}
	if def.Traits&ir.AttrSizedOperands != 0 && !f.flatOps {
		p.setSizes(st, "operandSegmentSizes", f.in[:len(def.Operands)], func(r *row) int { return len(r.operands) })
	}
	if f.hasOut {
		return
	}
	missing := false
	for i := range def.Results {
		if !f.out[i].typed {
			missing = true
		}
	}
	if missing && def.Infer != nil {
		types, err := def.Infer(p.ctx, st)
		if err != nil {
			p.ErrorfAt(st.Pos, "'%s' op %s", def.Name, err)
		}
		st.Types = append(st.Types[:0], types...)
		return
	}
	for i := range def.Results {
		st.Types = append(st.Types, f.out[i].types...)
	}
	if def.Traits&ir.AttrSizedResults != 0 {
		p.setSizes(st, "resultSegmentSizes", f.out[:len(def.Results)], func(r *row) int { return len(r.types) })
	}
}

// setSizes adds the attribute with the sizes of rows.
func (p *parser) setSizes(st *ir.OpState, name string, rows []row, size func(*row) int) {
	sizes := make([]int64, len(rows))
	for i := range rows {
		sizes[i] = int64(size(&rows[i]))
	}
	p.setInherent(st, name, ir.NewDenseArray(ir.Int(32), sizes))
}

// fillSameType sets the types of all operands and results without a type to the one type in the text.
func (p *parser) fillSameType(f *frame) {
	def := f.st.Def
	var t ir.Type
	for i := range def.Operands {
		if len(f.in[i].types) > 0 {
			t = f.in[i].types[0]
		}
	}
	for i := range def.Results {
		if t == nil && len(f.out[i].types) > 0 {
			t = f.out[i].types[0]
		}
	}
	if t == nil || f.hasIn {
		return
	}
	for i := range def.Operands {
		if !f.in[i].typed {
			for range f.in[i].operands {
				f.in[i].types = append(f.in[i].types, t)
			}
			f.in[i].typed = true
		}
	}
	for i := range def.Results {
		if !f.out[i].typed && def.Results[i].Mult == ir.One {
			f.out[i].types = append(f.out[i].types, t)
			f.out[i].typed = true
		}
	}
}
