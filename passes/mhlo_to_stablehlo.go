package passes

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// MHLOToStableHLO converts MHLO to StableHLO.
type MHLOToStableHLO struct {
	Experimental bool `pass:"allow-experimental-features" doc:"for XLA's pipelines: only false"`
	XLA          bool `pass:"allow-xla-features" doc:"for XLA's pipelines: only false"`
}

func (MHLOToStableHLO) Info() *pass.Info {
	return &pass.Info{
		Name:    "mhlo-to-stablehlo",
		Aliases: []string{"hlo-legalize-to-stablehlo"},
		Doc: "Replaces MHLO's operations, types and attributes by StableHLO's, or by CHLO's if only CHLO has them. A custom " +
			"call with an operation's name (mhlo.topk), as PyTorch/XLA writes it, counts as that operation. Operations without an " +
			"equivalent (fusion, copy, domain, async_start, ...) stay.",
		Idempotent: true,
	}
}

// Resolve implements pass.Resolver.
func (p MHLOToStableHLO) Resolve(*pass.Table) (pass.Pass, error) {
	switch {
	case p.Experimental:
		return nil, errors.New("allow-experimental-features=true writes custom calls that only XLA reads, which hlocb does not do; use false")
	case p.XLA:
		return nil, errors.New("allow-xla-features=true drops operations that only XLA has, which hlocb does not do; use false")
	}
	return p, nil
}

func (MHLOToStableHLO) Run(_ *pass.Context, m *ir.Module) error {
	if err := legalize.MHLOCalls(m); err != nil {
		return err
	}
	(&mhloRewriter{m: m, types: map[ir.Type]ir.Type{}}).region(m.Op().Region(0))
	return nil
}

// mhloRewriter rewrites one module.
type mhloRewriter struct {
	m     *ir.Module
	types map[ir.Type]ir.Type
}

func (w *mhloRewriter) region(r *ir.Region) {
	for _, b := range r.Blocks() {
		for _, a := range b.Args() {
			a.SetType(w.typ(a.Type()))
		}
		for op := b.First(); op != nil; {
			next := op.Next()
			w.op(op)
			op = next
		}
	}
}

func (w *mhloRewriter) op(op *ir.Op) {
	for _, r := range op.Regions() {
		w.region(r)
	}
	def := w.equivalent(op)
	if def == nil {
		for _, v := range op.Results() {
			v.SetType(w.typ(v.Type()))
		}
		for _, a := range append(ir.AttrList(nil), op.Attrs()...) {
			if x := w.attr(a.Attr, op.Def().Dialect()); x != a.Attr {
				op.SetAttr(a.Name, x)
			}
		}
		return
	}
	st := &ir.OpState{Def: def, Operands: op.OperandList(), Loc: op.Loc(), Pos: op.Pos()}
	for _, v := range op.Results() {
		st.Types = append(st.Types, w.typ(v.Type()))
	}
	for _, a := range op.Attrs() {
		if a.Name == mhlo.AttrCustomCallSchedule || a.Name == mhlo.AttrLargest && def == chlo.TopK {
			continue // redundant: equivalent has checked that the op means the same without them
		}
		st.SetAttr(a.Name, w.inherent(def, a))
	}
	for _, r := range op.Regions() {
		body := w.m.NewRegion()
		body.TakeBlocks(r)
		st.Bodies = append(st.Bodies, body)
	}
	n := w.m.Before(op).Insert(st)
	for i, v := range op.Results() {
		n.Result(i).SetName(v.Name())
		v.ReplaceAllUsesWith(n.Result(i))
	}
	op.Erase()
}

// equivalent returns the StableHLO or CHLO definition with the same meaning as op. It returns nil if there is none or
// op is not an MHLO op.
func (w *mhloRewriter) equivalent(op *ir.Op) *ir.Def {
	if op.Def().Dialect() != "mhlo" {
		return nil
	}
	if e, ok := op.Attr(mhlo.AttrCustomCallSchedule).(*ir.EnumAttr); ok && e.Code() != 0 {
		return nil // only MHLO can request a place in the schedule
	}
	if t, ok := mhlo.AsTopK(op); ok {
		if !t.Largest() {
			return nil // CHLO finds only the greatest elements
		}
		return chlo.TopK
	}
	if p := op.Parent(); op.IsOrMirrors(stablehlo.Return) && p.Def().Dialect() == "mhlo" && w.equivalent(p) == nil {
		return nil // the terminator of an operation that stays
	}
	return op.Def().Base
}

// inherent converts an attribute for an operation of kind def. MHLO uses tensors for some attributes that are arrays in
// StableHLO.
func (w *mhloRewriter) inherent(def *ir.Def, a ir.NamedAttr) ir.Attr {
	x := w.attr(a.Attr, def.Dialect())
	d, dense := x.(*ir.DenseAttr)
	spec := def.Attr(a.Name)
	if !dense || spec == nil || spec.Type.Form != ir.FormInts {
		return x
	}
	values, err := d.Int64s()
	if err != nil {
		return x
	}
	return ir.NewDenseArray(spec.Type.FormType, values)
}

// attr converts an attribute. It returns an attribute without MHLO parts unchanged, as the same object.
func (w *mhloRewriter) attr(a ir.Attr, dialect string) ir.Attr {
	if dialect != "chlo" {
		dialect = "stablehlo"
	}
	switch a := a.(type) {
	case *ir.TypeAttr:
		if t := w.typ(a.Type()); t != a.Type() {
			return ir.NewTypeAttr(t)
		}
	case *ir.ArrayAttr:
		elems, changed := make([]ir.Attr, len(a.Elems())), false
		for i, e := range a.Elems() {
			elems[i] = w.attr(e, dialect)
			changed = changed || elems[i] != e
		}
		if changed {
			return ir.NewArray(elems)
		}
	case *ir.DictAttr:
		entries, changed := append(ir.AttrList(nil), a.Entries()...), false
		for i, e := range entries {
			entries[i].Attr = w.attr(e.Attr, dialect)
			changed = changed || entries[i].Attr != e.Attr
		}
		if changed {
			return ir.NewDict(entries)
		}
	case *ir.EnumAttr:
		if a.Enum().Dialect != "mhlo" {
			return a
		}
		if e := mirrorOf(a.Enum(), dialect); e != nil {
			return ir.NewEnum(e, a.Code())
		}
	case *ir.DialectAttr:
		if d := a.Def(); d != nil && d.Dialect == "mhlo" && d.Base != nil {
			if d.Base == stablehlo.TypeExtensionsAttr {
				return stablehlo.BoundsAttr.New(a.Data())
			}
			if g, ok := a.Data().(*stablehlo.ReplicaGroupMeshAxes); ok {
				return d.Base.New(&stablehlo.ReplicaGroupMeshAxes{Mesh: w.attr(g.Mesh, dialect), Axes: w.attr(g.Axes, dialect)})
			}
			return d.Base.New(a.Data())
		}
	}
	return a
}

// mirrorOf returns the definition of an MHLO enumeration in another dialect, or nil if that dialect lacks it.
func mirrorOf(e *ir.EnumDef, dialect string) *ir.EnumDef {
	if dialect == "chlo" {
		for _, c := range [...]*ir.EnumDef{chlo.ComparisonDirectionEnum, chlo.ComparisonTypeEnum, chlo.PrecisionEnum} {
			if c.Base == e.Base {
				return c
			}
		}
		return nil
	}
	return e.Base
}

// typ converts a type.
func (w *mhloRewriter) typ(t ir.Type) ir.Type {
	if n, ok := w.types[t]; ok {
		return n
	}
	n := w.newType(t)
	w.types[t] = n
	return n
}

func (w *mhloRewriter) newType(t ir.Type) ir.Type {
	c := w.m.Context()
	list := func(types []ir.Type) (out []ir.Type, changed bool) {
		for _, t := range types {
			n := w.typ(t)
			out, changed = append(out, n), changed || n != t
		}
		return out, changed
	}
	switch t := t.(type) {
	case *ir.DialectType:
		if t.Dialect() == "mhlo" && t.Name() == "token" {
			return stablehlo.TokenType(c)
		}
	case *ir.TupleType:
		if elems, changed := list(t.Elems()); changed {
			return c.Tuple(elems)
		}
	case *ir.FunctionType:
		in, a := list(t.Inputs())
		out, b := list(t.Results())
		if a || b {
			return c.Function(in, out)
		}
	case *ir.TensorType:
		if e := t.Encoding(); e != nil {
			if n := w.attr(e, "stablehlo"); n != e {
				return c.Tensor(t.Shape(), t.Elem(), n)
			}
		}
	}
	return t
}
