package parse

import (
	"bytes"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// This file reads ops of the commonest forms straight from the bytes: a fixed number of operands, attributes that were read
// before from the same text, types that were read before. It makes the op that the general way would make, or nothing:
// whatever is new, unusual or wrong sends the op back to its start and the general way, which fills what is remembered
// here and reports mistakes. Both are compared over all modules of the tests.

// quick is how ops of one kind are read quickly, with what was read last.
type quick struct {
	elems []quickElem
	types [quickTypes]knownType // that stood at each place for a type last
	lists recent[attrList]      // of the combinations of attributes
}

// Bounds of what is remembered, and of what is tried.
const (
	quickTypes    = 4
	quickOperands = 3
	quickAttrs    = 4
)

// attrList is the attributes of ops whose attributes were all read from the same texts. Lists are immutable, so that ops
// can share them.
type attrList struct {
	parts [quickAttrs]*readText
	list  ir.AttrList
}

// readText is a piece of text with the attributes that it stands for.
type readText struct {
	text    []byte // with the punctuation behind it, where that decides
	token   int    // offset of the punctuation in text
	entries []ir.NamedAttr
}

type quickKind uint8

const (
	quickPunct     quickKind = iota // c
	quickWord                       // text
	quickOperand                    // operand number n
	quickAll                        // all operands
	quickInts                       // an attribute in the form [1, 2]
	quickEnum                       // a case of an enumerated attribute
	quickDirective                  // a directive that reads nothing but attributes
	quickGroup                      // c, then the next n elements, or neither
	quickOneType                    // the type of all operands and results
	quickResult                     // the type of the result
	quickFunction                   // (T, ...) -> T
)

type quickElem struct {
	kind  quickKind
	c     byte
	n     int
	text  string
	elem  *ir.FormatElem
	spec  *ir.AttrSpec
	texts recent[*readText]
}

// newQuick returns how ops of kind def are read quickly, nil where they are not.
func newQuick(def *ir.Def, fm *ir.Format) *quick {
	if def.Parse != nil || fm == nil || len(def.Regions) > 0 || len(def.Operands) > quickOperands || len(def.Results) != 1 ||
		def.Results[0].Mult != ir.One || def.Traits&(ir.AttrSizedOperands|ir.AttrSizedResults) != 0 {
		return nil
	}
	for i := range def.Operands {
		if def.Operands[i].Mult != ir.One {
			return nil
		}
	}
	q := &quick{}
	if !q.compile(def, fm.Elems) {
		return nil
	}
	// Every operand is read once, each type is known, and there are no more attributes than a list has room for.
	operands, typed, attrs := 0, 0, 0
	for i := range q.elems {
		switch q.elems[i].kind {
		case quickOperand:
			operands++
		case quickAll:
			operands += len(def.Operands)
		case quickInts, quickEnum, quickDirective:
			attrs++
		case quickResult:
			typed++
			if len(def.Operands) > 0 {
				return nil
			}
		case quickOneType, quickFunction:
			typed++
		}
	}
	if operands != len(def.Operands) || typed != 1 || attrs > quickAttrs {
		return nil
	}
	return q
}

func (q *quick) compile(def *ir.Def, elems []ir.FormatElem) bool {
	for i := range elems {
		e := &elems[i]
		x := quickElem{elem: e}
		switch e.Kind {
		case ir.FmtSpace, ir.FmtNewline, ir.FmtAttrDict: // attributes in braces go the general way
			continue
		case ir.FmtLiteral:
			switch {
			case e.Text == "":
				continue
			case class[e.Text[0]]&clsStart != 0:
				x.kind, x.text = quickWord, e.Text
			case len(e.Text) == 1 && strings.Contains("(),=:[]", e.Text):
				x.kind, x.c = quickPunct, e.Text[0]
			default:
				return false
			}
		case ir.FmtOperand:
			x.kind, x.n = quickOperand, e.Index
		case ir.FmtOperands:
			x.kind = quickAll
		case ir.FmtAttr:
			if x.spec = &def.Attrs[e.Index]; e.Unit || e.Mult != ir.One {
				return false
			}
			switch {
			case x.spec.Type.Enum != nil:
				x.kind = quickEnum
			case x.spec.Type.Form == ir.FormInts:
				x.kind = quickInts
			default:
				return false
			}
		case ir.FmtGroup:
			rest := e.Then
			for len(rest) > 0 && rest[0].Kind == ir.FmtSpace {
				rest = rest[1:]
			}
			if len(e.Else) > 0 || len(rest) == 0 || rest[0].Kind != ir.FmtLiteral || rest[0].Text != "," {
				return false
			}
			at := len(q.elems)
			q.elems = append(q.elems, quickElem{kind: quickGroup, c: ','})
			if !q.compile(def, rest[1:]) {
				return false
			}
			q.elems[at].n = len(q.elems) - at - 1
			for _, inner := range q.elems[at+1:] {
				if inner.kind != quickWord && inner.kind != quickPunct && inner.kind != quickEnum && inner.kind != quickInts {
					return false
				}
			}
			continue
		case ir.FmtResultType:
			x.kind = quickResult
		case ir.FmtFunctionalType:
			x.kind = quickFunction
		case ir.FmtCustom:
			if e.Directive.OneType {
				x.kind = quickOneType
				if len(e.Args) != len(def.Operands)+1 {
					return false
				}
			} else {
				x.kind = quickDirective
				for k := range e.Args {
					if a := &e.Args[k]; a.Kind != ir.LiteralArg && (a.Kind != ir.AttrArg || a.Ref) {
						return false
					}
				}
			}
		default:
			return false
		}
		q.elems = append(q.elems, x)
	}
	return true
}

// quick reads the op of kind k whose name is the current token, or returns nil, having changed nothing.
func (p *parser) quick(k *opKind) *ir.Op {
	q, src, pos := k.quick, p.lexer.src, p.pos()
	var (
		vals  [quickOperands]*ir.Value
		types [quickOperands + 1]ir.Type // of the operands, then of the result
		parts [quickAttrs]*readText
		n     int // of parts
		place int // of the next type
	)
	operands := len(k.def.Operands)
	i := p.tok.end
	for x := 0; x < len(q.elems); x++ {
		e := &q.elems[x]
		for i < len(src) && class[src[i]]&clsSpace != 0 {
			i++
		}
		if i+2 >= len(src) {
			return nil
		}
		switch e.kind {
		case quickPunct:
			if src[i] != e.c || src[i+1] == ':' {
				return nil
			}
			i++
		case quickGroup:
			if src[i] != e.c {
				x += e.n
			} else {
				i++
			}
		case quickWord:
			end := i + len(e.text)
			if end >= len(src) || string(src[i:end]) != e.text || class[src[end]]&clsIdent != 0 {
				return nil
			}
			i = end
		case quickOperand:
			if vals[e.n], i = p.quickValue(i); vals[e.n] == nil {
				return nil
			}
		case quickAll:
			for j := range operands {
				if j > 0 {
					if i = p.quickComma(i); i == 0 {
						return nil
					}
				}
				if vals[j], i = p.quickValue(i); vals[j] == nil {
					return nil
				}
			}
		case quickInts, quickEnum, quickDirective:
			t := p.quickAttr(k.def, e, src[i:])
			if t == nil {
				return nil
			}
			i += t.token
			parts[n] = t
			n++
		case quickOneType, quickResult:
			t, end := p.quickType(q, place, i)
			if end == 0 {
				return nil
			}
			for j := range operands + 1 {
				types[j] = t
			}
			i = end
		case quickFunction:
			if src[i] != '(' {
				return nil
			}
			i++
			for j := range operands {
				if j > 0 {
					if i = p.quickComma(i); i == 0 {
						return nil
					}
				}
				var end int
				if types[j], end = p.quickType(q, place, i); end == 0 {
					return nil
				}
				place++
				i = end
			}
			if !bytes.HasPrefix(src[i:], []byte(") -> ")) {
				return nil
			}
			i += len(") -> ")
			var end int
			if types[operands], end = p.quickType(q, place, i); end == 0 {
				return nil
			}
			i = end
		}
	}
	for j := range operands {
		if vals[j].Type() != types[j] {
			return nil
		}
	}
	f := p.enter(k.def, pos)
	f.st.Operands = append(f.st.Operands, vals[:operands]...)
	f.st.Types = append(f.st.Types, types[operands])
	if n > 0 {
		f.st.Attrs = q.attrs(parts)
	}
	p.lexAt(i)
	return p.finish(f, k.defaults)
}

// quickComma returns the offset behind a comma and the space that follows it, 0 where there is none.
func (p *parser) quickComma(i int) int {
	src := p.lexer.src
	if i+1 >= len(src) || src[i] != ',' {
		return 0
	}
	if i++; src[i] == ' ' {
		i++
	}
	return i
}

// quickValue returns the value whose use starts at offset i, and the offset behind it; nil where it is not defined yet.
func (p *parser) quickValue(i int) (*ir.Value, int) {
	src := p.lexer.src
	if i+1 >= len(src) || src[i] != '%' {
		return nil, 0
	}
	end := i + 1
	if class[src[end]]&clsDigit != 0 {
		for end++; end < len(src) && class[src[end]]&clsDigit != 0; end++ {
		}
	} else {
		for end < len(src) && class[src[end]]&clsSuffix != 0 {
			end++
		}
	}
	b, ok := p.scope.lookup(src[i+1 : end])
	if !ok || b.val == nil {
		return nil, 0
	}
	if end >= len(src) || src[end] != '#' {
		return b.val, end
	}
	i = end + 1
	for end++; end < len(src) && class[src[end]]&clsSuffix != 0; end++ {
	}
	index, ok := number(src[i:end])
	if !ok || index >= int(b.n) {
		return nil, 0
	}
	return b.value(index), end
}

// quickType returns the type that starts at offset i, where it was read before, and the offset behind it, else 0. place is
// its number among those of the op: there it often is the same as last.
func (p *parser) quickType(q *quick, place, i int) (ir.Type, int) {
	src := p.lexer.src
	last := &q.types[place]
	if n := len(last.text); n > 0 && len(src)-i > n && string(src[i:i+n]) == last.text {
		return last.typ, i + n // the text ends with the bracket that closes its first one
	}
	if !bytes.HasPrefix(src[i:], []byte("tensor<")) {
		return nil, 0
	}
	n := typeEnd(src, i+len("tensor<"))
	if n == 0 {
		return nil, 0
	}
	slot := &p.recentTypes[typeSlot(src[i:n])]
	if slot.text != string(src[i:n]) {
		t := p.types[string(src[i:n])]
		if t == nil {
			return nil, 0
		}
		*slot = knownType{str(src[i:n]), t}
	}
	*last = *slot
	return slot.typ, n
}

// quickAttr returns what e reads at the start of src, nil where that was not read before.
func (p *parser) quickAttr(def *ir.Def, e *quickElem, src []byte) *readText {
	for _, t := range e.texts.list {
		if len(src) > len(t.text) && string(src[:len(t.text)]) == string(t.text) && e.ends(src[len(t.text)]) {
			return t
		}
	}
	var t *readText
	switch e.kind {
	case quickInts:
		n := bytes.IndexByte(src[:min(len(src), 64)], ']') + 1
		a := p.dense[denseKey{str(src[:n]), e.spec.Type.FormType}]
		if n == 0 || a == nil {
			return nil
		}
		t = &readText{src[:n], n, []ir.NamedAttr{{Name: e.spec.Name, Attr: a, Inherent: true}}}
	case quickEnum:
		n := 0
		for n < len(src) && class[src[n]]&clsIdent != 0 {
			n++
		}
		code, ok := e.spec.Type.Enum.Parse(str(src[:n]))
		if !ok || n == len(src) {
			return nil
		}
		t = &readText{src[:n], n, []ir.NamedAttr{{Name: e.spec.Name, Attr: ir.NewEnum(e.spec.Type.Enum, code), Inherent: true}}}
	default:
		if p.prepared == nil || p.prepared[e.elem.ID] == nil {
			return nil
		}
		pre := p.prepared[e.elem.ID]
		m := recall(pre, src)
		if m == nil {
			return nil
		}
		t = &readText{text: m.text, token: m.token}
		for i, a := range m.attrs {
			if a != nil {
				t.entries = append(t.entries, ir.NamedAttr{Name: pre.args[i].Name, Attr: a, Inherent: def.IsInherent(pre.args[i].Name)})
			}
		}
	}
	e.texts.add(t)
	return t
}

// ends reports whether c may follow the text of an attribute without being part of it.
func (e *quickElem) ends(c byte) bool {
	switch e.kind {
	case quickInts:
		return true
	case quickEnum:
		return class[c]&clsIdent == 0
	}
	return endsPunct(c)
}

// attrs returns the list of the attributes that the parts stand for.
func (q *quick) attrs(parts [quickAttrs]*readText) ir.AttrList {
	for i := range q.lists.list {
		if l := &q.lists.list[i]; l.parts == parts {
			return l.list
		}
	}
	var list ir.AttrList
	for _, t := range parts {
		if t != nil {
			list = append(list, t.entries...)
		}
	}
	list.Sort()
	list = list[:len(list):len(list)]
	q.lists.add(attrList{parts, list})
	return list
}
