package print

import (
	"slices"

	"github.com/hlocb/hlocb/internal/assembly"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// The compiled assembly formats of ops.
type (
	form = assembly.Format
	elem = assembly.Elem
)

// formatOp is an op to print by a format, with its operands and results counted per Arg of the Def.
type formatOp struct {
	op      *ir.Op
	def     *ir.Def
	form    *form
	opFrom  [9]int // operand Arg i has operands opFrom[i] to opFrom[i+1]
	resFrom [9]int
	opLong  []int
	resLong []int
}

func offsets(counts []int, fixed *[9]int) (long []int) {
	if len(counts) >= len(fixed) {
		long = make([]int, len(counts)+1)
		for i, n := range counts {
			long[i+1] = long[i] + n
		}
		return long
	}
	for i, n := range counts {
		fixed[i+1] = fixed[i] + n
	}
	return nil
}

func (f *formatOp) operandRange(i int) (from, to int) {
	if f.opLong != nil {
		return f.opLong[i], f.opLong[i+1]
	}
	return f.opFrom[i], f.opFrom[i+1]
}

func (f *formatOp) resultRange(i int) (from, to int) {
	if f.resLong != nil {
		return f.resLong[i], f.resLong[i+1]
	}
	return f.resFrom[i], f.resFrom[i+1]
}

// format writes the text after the name of op.
func (p *printer) format(form *form, op *ir.Op) {
	f := formatOp{op: op, def: op.Def(), form: form}
	var buf [8]int
	counts, _ := op.OperandSegments(buf[:])
	f.opLong = offsets(counts, &f.opFrom)
	counts, _ = op.ResultSegments(buf[:])
	f.resLong = offsets(counts, &f.resFrom)
	p.elements(&f, form.Elems)
}

func (p *printer) elements(f *formatOp, elems []elem) {
	for i := range elems {
		p.element(f, &elems[i])
	}
}

func (p *printer) element(f *formatOp, e *elem) {
	op := f.op
	if e.SpaceBefore {
		p.buf = append(p.buf, ' ')
	}
	switch e.Kind {
	case assembly.Literal:
		p.buf = append(p.buf, e.Text...)
	case assembly.Space:
		p.buf = append(p.buf, ' ')
	case assembly.Newline:
		p.Newline()
	case assembly.Operand:
		from, to := f.operandRange(e.Index)
		p.operandRun(op, from, to)
	case assembly.Operands:
		p.operandRun(op, 0, op.NumOperands())
	case assembly.Attr:
		if a := op.Attr(e.Text); a != nil {
			p.formAttr(&f.def.Attrs[e.Index], a)
		} else if d := f.def.Attrs[e.Index].Default; d != nil {
			p.formAttr(&f.def.Attrs[e.Index], d)
		}
	case assembly.Region:
		if e.Mult == uint8(ir.Variadic) {
			p.regionRun(op, e.Index, len(op.Regions()))
		} else if e.Index < len(op.Regions()) {
			p.PrintRegion(op.Region(e.Index), true, true)
		}
	case assembly.Regions:
		p.regionRun(op, 0, len(op.Regions()))
	case assembly.Successors:
		list := op.Successors()
		p.list(len(list), func(i int) { p.PrintSuccessor(list[i]) })
	case assembly.OperandType:
		from, to := f.operandRange(e.Index)
		p.operandTypeRun(op, from, to)
	case assembly.OperandTypes:
		p.operandTypeRun(op, 0, op.NumOperands())
	case assembly.ResultType:
		from, to := f.resultRange(e.Index)
		p.resultTypeRun(op, from, to)
	case assembly.ResultTypes:
		p.resultTypeRun(op, 0, op.NumResults())
	case assembly.AttrDict:
		p.formatDict(f, " {")
	case assembly.AttrDictKeyword:
		p.formatDict(f, " attributes {")
	case assembly.FunctionalType:
		p.opType(op)
	case assembly.Group:
		if p.present(f, e) {
			for i := range e.Then {
				if e.Then[i].Unit {
					continue
				}
				p.element(f, &e.Then[i])
			}
		} else {
			p.elements(f, e.Else)
		}
	case assembly.Custom:
		p.custom(f, e)
	}
}

func (p *printer) operandRun(op *ir.Op, from, to int) {
	p.list(to-from, func(i int) { p.PrintValue(op.Operand(from + i)) })
}

func (p *printer) operandTypeRun(op *ir.Op, from, to int) {
	p.list(to-from, func(i int) { p.PrintType(op.Operand(from + i).Type()) })
}

func (p *printer) resultTypeRun(op *ir.Op, from, to int) {
	p.list(to-from, func(i int) { p.PrintType(op.Result(from + i).Type()) })
}

func (p *printer) regionRun(op *ir.Op, from, to int) {
	p.list(to-from, func(i int) { p.PrintRegion(op.Region(from+i), true, true) })
}

// formatDict writes the attributes that the format does not name, except those with their default value.
func (p *printer) formatDict(f *formatOp, open string) {
	p.attrDict(f.op.Attrs(), open, "}", func(a *ir.NamedAttr) bool {
		if slices.Contains(f.form.Elided, a.Name) {
			return false
		}
		if !a.Inherent {
			return true
		}
		s := f.def.Attr(a.Name)
		return s == nil || s.Default == nil || !ir.EqualAttrs(s.Default, a.Attr)
	})
}

// formAttr writes an attribute in the form that its AttrSpec selects.
func (p *printer) formAttr(spec *ir.AttrSpec, a ir.Attr) {
	if p.collect {
		p.PrintAttr(a)
		return
	}
	if e, ok := a.(*ir.EnumAttr); ok && spec.Type.Enum != nil {
		p.buf = append(p.buf, e.Case()...)
		return
	}
	switch spec.Type.Form {
	case ir.FormBare:
		p.PrintAttrWithoutType(a)
		return
	case ir.FormInts:
		if d, ok := a.(*ir.DenseArrayAttr); ok {
			p.buf = append(p.buf, '[')
			p.buf = mlirtext.AppendValues(p.buf, ir.ElementDType(d.Elem()), d.Values())
			p.buf = append(p.buf, ']')
			return
		}
	case ir.FormSymbol:
		if s, ok := a.(*ir.StringAttr); ok {
			p.PrintSymbol(s.Value())
			return
		}
	case ir.FormParams:
		if d, ok := a.(*ir.DialectAttr); ok {
			p.buf = append(p.buf, d.Body()...)
			return
		}
	}
	p.PrintAttr(a)
}

// present reports whether the anchor of a group is present.
func (p *printer) present(f *formatOp, group *elem) bool {
	for i := range group.Then {
		if e := &group.Then[i]; e.Anchor {
			return p.hasAnchor(f, e)
		}
	}
	return false
}

func (p *printer) hasAnchor(f *formatOp, e *elem) bool {
	op := f.op
	switch e.Kind {
	case assembly.Operand, assembly.OperandType:
		from, to := f.operandRange(e.Index)
		return to > from
	case assembly.ResultType:
		from, to := f.resultRange(e.Index)
		return to > from
	case assembly.Operands, assembly.OperandTypes:
		return op.NumOperands() > 0
	case assembly.ResultTypes:
		return op.NumResults() > 0
	case assembly.Attr:
		a := op.Attr(e.Text)
		d := f.def.Attrs[e.Index].Default
		return a != nil && (d == nil || !ir.EqualAttrs(a, d))
	case assembly.Region:
		return e.Index < len(op.Regions()) && op.Region(e.Index).Entry() != nil
	case assembly.Regions:
		return len(op.Regions()) > 0
	case assembly.Successors:
		return len(op.Successors()) > 0
	case assembly.Custom:
		for _, a := range e.Args {
			e := elem{Kind: a.Kind, Text: a.Text, Index: a.Index, Mult: a.Mult}
			switch {
			case a.Index >= 0:
			case a.Kind == assembly.Operand, a.Kind == assembly.OperandType:
				e.Kind = assembly.Operands
			case a.Kind == assembly.ResultType:
				e.Kind = assembly.ResultTypes
			case a.Kind == assembly.Region:
				e.Kind = assembly.Regions
			}
			if p.hasAnchor(f, &e) {
				return true
			}
		}
	}
	return false
}

// custom fills the arguments of a directive and calls its Print hook.
func (p *printer) custom(f *formatOp, e *elem) {
	op := f.op
	mark := len(p.args)
	use := p.reg.DirectiveUses()[e.ID]
	for i := range use.Args {
		// Grow within the capacity to reuse the lists of earlier calls.
		if len(p.args) < cap(p.args) {
			p.args = p.args[:len(p.args)+1]
		} else {
			p.args = append(p.args, ir.DirectiveArg{})
		}
		a := &p.args[len(p.args)-1]
		t := &use.Args[i]
		values, types := a.Values[:0], a.Types[:0]
		*a = *t
		a.Values, a.Types = values, types
		switch a.Kind {
		case ir.OperandArg, ir.OperandTypeArg:
			from, to := 0, op.NumOperands()
			if a.Index >= 0 {
				from, to = f.operandRange(a.Index)
			}
			for k := from; k < to; k++ {
				if a.Kind == ir.OperandArg {
					a.Values = append(a.Values, op.Operand(k))
				} else {
					a.Types = append(a.Types, op.Operand(k).Type())
				}
			}
		case ir.ResultTypeArg:
			from, to := 0, op.NumResults()
			if a.Index >= 0 {
				from, to = f.resultRange(a.Index)
			}
			for k := from; k < to; k++ {
				a.Types = append(a.Types, op.Result(k).Type())
			}
		case ir.AttrArg:
			a.Attr = op.Attr(a.Name)
		case ir.RegionArg:
			a.Regions = op.Regions()
			if a.Index >= 0 {
				a.Regions = a.Regions[min(a.Index, len(a.Regions)):]
				if a.Mult != ir.Variadic && len(a.Regions) > 1 {
					a.Regions = a.Regions[:1]
				}
			}
		}
	}
	use.Print(p, op, p.args[mark:])
	p.args = p.args[:mark]
}
