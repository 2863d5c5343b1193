package parse

import (
	"bytes"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// lists empties the first n lists of s, growing it as needed.
func lists[T any](s [][]T, n int) [][]T {
	for len(s) < n {
		s = append(s, nil)
	}
	for i := range n {
		s[i] = s[i][:0]
	}
	return s
}

func flags(s []bool, n int) []bool {
	s = s[:0]
	for range n {
		s = append(s, false)
	}
	return s
}

// format reads an op by its compiled format.
func (p *parser) format(fm *ir.Format, f *frame) {
	def := f.st.Def
	f.operands = lists(f.operands, len(def.Operands))
	f.opTypes = lists(f.opTypes, len(def.Operands))
	f.resTypes = lists(f.resTypes, len(def.Results))
	f.opTyped = flags(f.opTyped, len(def.Operands))
	f.resTyped = flags(f.resTyped, len(def.Results))
	f.allOps = f.allOps[:0]
	s := formatState{f: f, def: def, start: p.pos()}
	p.elements(&s, fm.Elems)
	p.complete(&s)
}

// formatState is what reading by a format has found out besides the lists of the frame.
type formatState struct {
	f       *frame
	def     *ir.Def
	start   diag.Pos
	flatOps bool // operands were read by the operands directive
	flatIn  []ir.Type
	hasIn   bool // flatIn holds the types of all operands
	hasOut  bool
	typePos diag.Pos
}

func (p *parser) elements(s *formatState, elems []ir.FormatElem) {
	for i := range elems {
		p.element(s, &elems[i])
	}
}

// element reads one element and reports whether there was anything of it.
func (p *parser) element(s *formatState, e *ir.FormatElem) bool {
	f := s.f
	switch e.Kind {
	case ir.FmtLiteral:
		p.expectLiteral(e.Text)
		return true
	case ir.FmtSpace, ir.FmtNewline:
	case ir.FmtOperand:
		return p.operandElem(s, e)
	case ir.FmtAttr:
		return p.attrElem(s, e)
	case ir.FmtRegion:
		return p.regionElem(s, e)
	case ir.FmtRegions:
		for p.is('{') {
			f.st.Bodies = append(f.st.Bodies, p.ParseRegion())
			if !p.is(',') {
				break
			}
			p.next()
		}
		return len(f.st.Bodies) > 0
	case ir.FmtSuccessor, ir.FmtSuccessors:
		for p.tok.kind == tokCaret {
			f.st.Successors = append(f.st.Successors, p.ParseSuccessor())
			if e.Kind == ir.FmtSuccessor || !p.is(',') {
				break
			}
			p.next()
		}
		return len(f.st.Successors) > 0
	case ir.FmtOperandType:
		s.typePos = p.pos()
		f.opTypes[e.Index] = p.typesOf(f.opTypes[e.Index], e.Mult)
		f.opTyped[e.Index] = true
	case ir.FmtResultType:
		f.resTypes[e.Index] = p.typesOf(f.resTypes[e.Index], e.Mult)
		f.resTyped[e.Index] = true
	case ir.FmtOperands:
		f.allOps = p.operands(f.allOps)
		s.flatOps = true
		return len(f.allOps) > 0
	case ir.FmtOperandTypes:
		s.typePos = p.pos()
		f.types = p.typesOf(f.types[:0], ir.Variadic)
		s.flatIn, s.hasIn = f.types, true
	case ir.FmtResultTypes:
		f.st.Types = p.typesOf(f.st.Types, ir.Variadic)
		s.hasOut = true
	case ir.FmtAttrDict:
		p.ParseOptionalAttrDict(&f.st)
	case ir.FmtAttrDictKeyword:
		p.ParseOptionalAttrDictWithKeyword(&f.st)
	case ir.FmtFunctionalType:
		p.functionalType(s)
	case ir.FmtGroup:
		p.group(s, e)
	case ir.FmtCustom:
		if e.Directive.OneType && !p.is('(') {
			p.oneType(s, e)
			break
		}
		p.custom(s, e)
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
		if m == ir.Optional || !p.is(',') {
			break
		}
		p.next()
		t = p.ParseType()
	}
	return out
}

// isLiteral reports whether the current token is the given literal of a format.
func (p *parser) isLiteral(text string) bool {
	c := text[0]
	if class[c]&clsStart != 0 {
		return p.PeekKeyword(text)
	}
	return p.Peek(text)
}

func (p *parser) expectLiteral(text string) {
	if text == "" {
		return
	}
	if !p.isLiteral(text) {
		if class[text[0]]&clsStart != 0 {
			opParser{p}.Errorf("expected '%s'", text)
		}
		p.wrong("expected '%s'", text)
	}
	p.next()
}

func (p *parser) operandElem(s *formatState, e *ir.FormatElem) bool {
	list := &s.f.operands[e.Index]
	switch e.Mult {
	case ir.One:
		*list = append(*list, p.ParseOperand())
	case ir.Optional:
		if o, ok := p.ParseOptionalOperand(); ok {
			*list = append(*list, o)
		}
	default:
		*list = p.operands(*list)
	}
	return len(*list) > 0
}

func (p *parser) regionElem(s *formatState, e *ir.FormatElem) bool {
	st := &s.f.st
	if e.Mult == ir.Optional && !p.is('{') {
		st.Bodies = append(st.Bodies, p.m.NewRegion())
		return false
	}
	n := 0
	for {
		st.Bodies = append(st.Bodies, p.ParseRegion())
		n++
		if e.Mult != ir.Variadic || !p.is(',') {
			break
		}
		p.next()
	}
	return n > 0
}

// attrElem reads an attribute in the form its row gives.
func (p *parser) attrElem(s *formatState, e *ir.FormatElem) bool {
	if e.Unit {
		return true
	}
	spec := &s.def.Attrs[e.Index]
	optional := e.Mult == ir.Optional
	a, ok := p.formAttr(s.def, spec, optional)
	if ok {
		p.setInherent(&s.f.st, spec.Name, a)
	}
	return ok
}

func (p *parser) setInherent(st *ir.OpState, name string, a ir.Attr) {
	mark := len(p.scratch)
	p.scratch = append(p.scratch, ir.NamedAttr{Name: name, Attr: a, Inherent: st.Def.IsInherent(name)})
	p.addAttrs(st, p.scratch[mark:])
	p.scratch = p.scratch[:mark]
}

func (p *parser) formAttr(def *ir.Def, spec *ir.AttrSpec, optional bool) (ir.Attr, bool) {
	c := &spec.Type
	if c.Enum != nil {
		return p.enumCase(c.Enum, optional)
	}
	switch c.Form {
	case ir.FormInts:
		if optional && !p.is('[') {
			return nil, false
		}
		return p.intList(c.FormType), true
	case ir.FormSymbol:
		if optional && p.tok.kind != tokAt {
			return nil, false
		}
		return ir.NewString(p.ParseSymbol()), true
	case ir.FormParams:
		if optional && !p.is('<') {
			return nil, false
		}
		d := p.dialect(def.Dialect())
		if d == nil || d.ParseAttr == nil {
			p.Errorf("unknown attribute '%s'", c.FormName)
		}
		a := d.ParseAttr(p, c.FormName)
		if a == nil {
			p.Errorf("unknown attribute '%s'", c.FormName)
		}
		return a, true
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

// intList reads [1, 2] as a dense array.
func (p *parser) intList(elem ir.Type) ir.Attr {
	src := p.lexer.src[p.tok.start:]
	n := bytes.IndexByte(src[:min(len(src), 64)], ']') + 1
	key := denseKey{str(src[:n]), elem}
	start := p.tok.start
	if a := p.dense[key]; n > 0 && a != nil {
		p.lexAt(start + n)
		return a
	}
	pos := p.pos()
	p.expectIn('[', "expected '['")
	var values []int64
	if !p.is(']') {
		values = p.arrayValues(elem, pos)
	}
	end := p.tok.end
	p.expectIn(']', "expected ']'")
	a := ir.NewDenseArray(elem, values)
	if end == start+n {
		p.dense[key] = a
	}
	return a
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
	code, ok := def.Parse(word)
	if !ok {
		if optional {
			return nil, false
		}
		opParser{p}.Errorf("expected ::mlir::%s::%s to be one of: %s", def.Dialect, camel(def.Name), strings.Join(def.Cases, ", "))
	}
	p.next()
	return ir.NewEnum(def, code), true
}

// camel turns comparison_direction into ComparisonDirection, the name that MLIR's messages use.
func camel(name string) string {
	out := ""
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			out += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return out
}

func (p *parser) functionalType(s *formatState) {
	s.typePos = p.pos()
	if !p.is('(') {
		p.Errorf("expected function type")
	}
	p.next()
	f := s.f
	f.types = f.types[:0]
	if !p.is(')') {
		f.types = p.typeList(f.types)
	}
	p.expectIn(')', "expected ')'")
	p.expectIn(punctArrow, "expected '->' in function type")
	s.flatIn, s.hasIn, s.hasOut = f.types, true, true
	if p.is('(') {
		f.st.Types = p.parenTypes(f.st.Types)
	} else {
		f.st.Types = append(f.st.Types, p.ParseType())
	}
}

// group reads an optional group: its first element tells whether it is there.
func (p *parser) group(s *formatState, e *ir.FormatElem) {
	rest := e.Then
	for rest[0].Kind == ir.FmtSpace || rest[0].Kind == ir.FmtNewline {
		rest = rest[1:]
	}
	first := &rest[0]
	present := false
	rest = rest[1:]
	switch first.Kind {
	case ir.FmtLiteral:
		present = first.Text != "" && p.isLiteral(first.Text)
		if present {
			p.next()
		}
	case ir.FmtOperand:
		opt := *first
		if opt.Mult == ir.One {
			opt.Mult = ir.Optional
		}
		present = p.element(s, &opt)
	case ir.FmtAttr:
		opt := *first
		opt.Mult = ir.Optional
		present = p.element(s, &opt)
	case ir.FmtRegion:
		opt := *first
		opt.Mult = ir.Optional
		present = p.element(s, &opt)
	case ir.FmtCustom:
		start := p.tok.start
		p.custom(s, first)
		present = p.tok.start != start
	default:
		present = p.element(s, first)
	}
	if !present {
		p.elements(s, e.Else)
		return
	}
	if first.Anchor && first.Kind == ir.FmtAttr && first.Unit {
		p.setInherent(&s.f.st, first.Text, unit)
	}
	for i := range rest {
		if rest[i].Unit {
			p.setInherent(&s.f.st, rest[i].Text, unit)
			continue
		}
		p.element(s, &rest[i])
	}
}

// prepared are the arguments of one use of a directive, used again from op to op.
type prepared struct {
	args []ir.DirectiveArg
	room [][]ir.Type // what Types of each argument starts from
	pure bool        // all arguments are attributes: what is read depends on the text alone
	memo recent[memo]
	busy bool // a region that the directive reads holds the same op
}

// memo is the text that a use of a directive read, with the punctuation behind it, and what came of it.
type memo struct {
	text  []byte
	token int // offset of the punctuation in text
	attrs []ir.Attr
}

// longestMemo bounds what is remembered for each use.
const longestMemo = 256

// recallPure returns the entry that says what the directive reads at the current token, nil where none does.
func (p *parser) recallPure(pre *prepared) *memo {
	if !pre.pure {
		return nil
	}
	return recall(pre, p.lexer.src[p.tok.start:])
}

// recall is recallPure for the start of src.
func recall(pre *prepared, src []byte) *memo {
	for i := range pre.memo.list {
		if m := &pre.memo.list[i]; len(src) > len(m.text) && string(src[:len(m.text)]) == string(m.text) && endsPunct(src[len(m.text)]) {
			return m
		}
	}
	return nil
}

// endsPunct reports whether punctuation of one byte can end in front of c: - and ->, : and :: go on differently.
func endsPunct(c byte) bool { return c != '>' && c != ':' && c != '-' && c != '#' }

// remember stores what the directive read from offset start on.
func (p *parser) remember(pre *prepared, start int, args []ir.DirectiveArg) {
	text := p.lexer.src[start:p.tok.end]
	if p.tok.kind != tokPunct || p.tok.end-p.tok.start != 1 || len(text) > longestMemo {
		return
	}
	m := memo{text: text, token: p.tok.start - start}
	for i := range args {
		m.attrs = append(m.attrs, args[i].Attr)
	}
	pre.memo.add(m)
}

// directiveArgs returns the arguments of a use, empty but for what the format says.
func (p *parser) directiveArgs(e *ir.FormatElem) (*prepared, []ir.DirectiveArg) {
	if p.prepared == nil {
		p.prepared = make([]*prepared, p.reg.NumDirectives())
	}
	pre := p.prepared[e.ID]
	if pre == nil {
		pre = &prepared{}
		p.prepared[e.ID] = pre
	}
	if pre.busy {
		pre = &prepared{}
	}
	if pre.args == nil {
		pre.args = append([]ir.DirectiveArg(nil), e.Args...)
		pre.pure = true
		for i := range e.Args {
			a := &e.Args[i]
			pre.pure = pre.pure && (a.Kind == ir.AttrArg && !a.Ref || a.Kind == ir.LiteralArg)
		}
		pre.room = make([][]ir.Type, len(pre.args))
		all := make([]ir.Type, 2*len(pre.args))
		for i := range pre.room {
			pre.room[i] = all[2*i : 2*i : 2*i+2]
			pre.args[i].Types = pre.room[i]
		}
	} else {
		for i := range pre.args {
			a := &pre.args[i]
			a.Types = pre.room[i]
			if a.Operands != nil || a.Attr != nil || a.Regions != nil || a.Successors != nil {
				a.Operands, a.Attr, a.Regions, a.Successors = nil, nil, nil, nil
			}
		}
	}
	pre.busy = true
	return pre, pre.args
}

// custom calls a directive and stores what it read.
func (p *parser) custom(s *formatState, e *ir.FormatElem) {
	f := s.f
	pre, args := p.directiveArgs(e)
	for i := range args {
		a := &args[i]
		if a.Kind == ir.LiteralArg || !a.Ref {
			continue
		}
		switch a.Kind {
		case ir.OperandArg:
			if a.Index >= 0 {
				a.Operands = f.operands[a.Index]
			} else {
				a.Operands = f.allOps
			}
		case ir.OperandTypeArg:
			if a.Index >= 0 {
				a.Types = f.opTypes[a.Index]
			} else {
				a.Types = s.flatIn
			}
		case ir.ResultTypeArg:
			if a.Index >= 0 {
				a.Types = f.resTypes[a.Index]
			} else {
				a.Types = f.st.Types
			}
		case ir.AttrArg:
			a.Attr = f.st.Attrs.Get(a.Name)
		case ir.RegionArg:
			a.Regions = f.st.Bodies
		}
	}
	s.typePos = p.pos()
	start, before := p.tok.start, len(f.st.Attrs)
	if m := p.recallPure(pre); m != nil {
		for i := range args {
			args[i].Attr = m.attrs[i]
		}
		p.lexAt(start + m.token)
	} else {
		e.Directive.Parse(p.hooks, &f.st, args)
		if pre.pure && len(f.st.Attrs) == before {
			p.remember(pre, start, args)
		}
	}
	for i := range args {
		a := &args[i]
		if a.Ref {
			continue
		}
		switch a.Kind {
		case ir.OperandArg:
			if a.Index >= 0 {
				f.operands[a.Index] = append(f.operands[a.Index], a.Operands...)
			} else {
				f.allOps = append(f.allOps, a.Operands...)
				s.flatOps = true
			}
		case ir.OperandTypeArg:
			if a.Index >= 0 {
				f.opTypes[a.Index] = append(f.opTypes[a.Index], a.Types...)
				f.opTyped[a.Index] = true
			} else {
				f.types = append(f.types[:0], a.Types...)
				s.flatIn, s.hasIn = f.types, true
			}
		case ir.ResultTypeArg:
			if a.Index >= 0 {
				f.resTypes[a.Index] = append(f.resTypes[a.Index], a.Types...)
				f.resTyped[a.Index] = true
			} else {
				f.st.Types = append(f.st.Types, a.Types...)
				s.hasOut = true
			}
		case ir.AttrArg:
			if a.Attr != nil {
				p.setInherent(&f.st, a.Name, a.Attr)
			}
		case ir.RegionArg:
			f.st.Bodies = append(f.st.Bodies, a.Regions...)
		case ir.SuccessorArg:
			f.st.Successors = append(f.st.Successors, a.Successors...)
		}
	}
	pre.busy = false
}

// oneType reads the single type of a directive whose arguments share it.
func (p *parser) oneType(s *formatState, e *ir.FormatElem) {
	s.typePos = p.pos()
	f, t := s.f, p.ParseType()
	for i := range e.Args {
		switch a := &e.Args[i]; a.Kind {
		case ir.OperandTypeArg:
			f.opTypes[a.Index] = append(f.opTypes[a.Index], t)
			f.opTyped[a.Index] = true
		case ir.ResultTypeArg:
			f.resTypes[a.Index] = append(f.resTypes[a.Index], t)
			f.resTyped[a.Index] = true
		}
	}
}

// complete finds the types that the format leaves out and resolves the operands.
func (p *parser) complete(s *formatState) {
	f, def, st := s.f, s.def, &s.f.st
	if s.typePos == 0 {
		s.typePos = s.start
	}
	if def.Has(ir.SameType) {
		p.fillSameType(s)
	}
	// The operands, in the order of the rows.
	switch {
	case s.hasIn:
		all := f.allOps
		if !s.flatOps {
			all = f.uses[:0]
			for i := range def.Operands {
				all = append(all, f.operands[i]...)
			}
			f.uses = all
		}
		p.ResolveOperands(all, s.flatIn, s.typePos, st)
	case s.flatOps:
		var types []ir.Type
		for i := range def.Operands {
			types = append(types, f.opTypes[i]...)
		}
		p.ResolveOperands(f.allOps, types, s.typePos, st)
	default:
		for i := range def.Operands {
			p.ResolveOperands(f.operands[i], f.opTypes[i], s.typePos, st)
		}
	}
	if def.Traits&ir.AttrSizedOperands != 0 && !s.flatOps {
		sizes := make([]int64, len(def.Operands))
		for i := range sizes {
			sizes[i] = int64(len(f.operands[i]))
		}
		p.setInherent(st, "operandSegmentSizes", ir.NewDenseArray(p.ctx.I32(), sizes))
	}
	if s.hasOut {
		return
	}
	missing := false
	for i := range def.Results {
		if !f.resTyped[i] {
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
		st.Types = append(st.Types, f.resTypes[i]...)
	}
	if def.Traits&ir.AttrSizedResults != 0 {
		sizes := make([]int64, len(def.Results))
		for i := range sizes {
			sizes[i] = int64(len(f.resTypes[i]))
		}
		p.setInherent(st, "resultSegmentSizes", ir.NewDenseArray(p.ctx.I32(), sizes))
	}
}

// fillSameType gives the one type that the format names to all operands and results that have none.
func (p *parser) fillSameType(s *formatState) {
	f, def := s.f, s.def
	var t ir.Type
	for i := range def.Operands {
		if len(f.opTypes[i]) > 0 {
			t = f.opTypes[i][0]
		}
	}
	for i := range def.Results {
		if t == nil && len(f.resTypes[i]) > 0 {
			t = f.resTypes[i][0]
		}
	}
	if t == nil || s.hasIn {
		return
	}
	for i := range def.Operands {
		if !f.opTyped[i] {
			for range f.operands[i] {
				f.opTypes[i] = append(f.opTypes[i], t)
			}
			f.opTyped[i] = true
		}
	}
	for i := range def.Results {
		if !f.resTyped[i] && def.Results[i].Mult == ir.One {
			f.resTypes[i] = append(f.resTypes[i], t)
			f.resTyped[i] = true
		}
	}
}
