package print

import "github.com/hlocb/hlocb/ir"

// Marks says where a text mentions ops and values, in the order of the text. Positions are byte offsets.
type Marks struct {
	Ops    []OpMark
	Values []ValueMark
}

// OpMark is the start of an op. An op that its parent's syntax implies, such as the op of a compact reduce, has none.
type OpMark struct {
	Op *ir.Op
	At int
}

// ValueMark is a mention of a value: its definition or a use. A definition of several results, %0:2, is a mention of
// the first.
type ValueMark struct {
	Value    *ir.Value
	From, To int
}

// Marked returns the module's text without aliases, and its marks.
func Marked(m *ir.Module, o Options) ([]byte, *Marks) {
	o.LocalScope = true // text with aliases is written twice
	p := newPrinter(m, o)
	p.marks = &Marks{}
	p.buf = make([]byte, 0, p.estimate())
	p.numberAll(m.Op())
	return p.top(m.Op(), true), p.marks
}

// markValue marks the text from start to the end as a mention of v.
func (p *printer) markValue(v *ir.Value, start int) {
	if p.marks != nil {
		p.marks.Values = append(p.marks.Values, ValueMark{v, start, len(p.buf)})
	}
}
