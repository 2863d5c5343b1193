package legalize

import (
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// compositeRows are the CHLO ops that plugins want to recognize. XLA sends them as composites.
var compositeRows = []*ir.Def{
	chlo.Acos, chlo.Acosh, chlo.Asin, chlo.Asinh, chlo.Atanh, chlo.Cosh, chlo.Erf, chlo.Mulhi, chlo.RaggedDot, chlo.Scan, chlo.Sinh, chlo.TopK,
}

// Composites replaces some CHLO ops of m by composites, as XLA does before it sends a program to a plugin. Each
// composite has the name and the attributes of its op. Its decomposition is a private function that holds the op, which
// CHLO expands.
func Composites(m *ir.Module) error {
	c := &compositor{r: rewrite.New(m), taken: map[string]bool{}}
	m.Walk(func(op *ir.Op) bool {
		if name, ok := op.Attr(ir.SymbolName).(*ir.StringAttr); ok {
			c.taken[name.Value()] = true
		}
		return true
	})
	// A function is inserted after the function that calls it, so that a backward walk does not reach it.
	for op := m.Body().Last(); op != nil; op = op.Prev() {
		var list []*ir.Op
		op.WalkPost(func(o *ir.Op) bool {
			if slices.Contains(compositeRows, o.Def()) {
				list = append(list, o)
			}
			return true
		})
		for _, o := range list {
			if err := c.replace(o); err != nil {
				return err
			}
		}
	}
	return nil
}

type compositor struct {
	r     *rewrite.Rewriter
	taken map[string]bool // symbols of the module
	tries int             // the last number that unique tried
}

// unique returns a free symbol, numbered if base is taken.
func (c *compositor) unique(base string) string {
	name := base
	for c.taken[name] {
		name = base + "_" + strconv.Itoa(c.tries)
		c.tries++
	}
	c.taken[name] = true
	return name
}

// replace moves op into a function and puts a composite in its place.
func (c *compositor) replace(op *ir.Op) error {
	m := c.r.Module()
	f := op.Parent()
	for f != nil && !f.Is(fn.Func) {
		f = f.Parent()
	}
	if f == nil {
		return nil
	}
	attrs, err := compositeAttrs(op)
	if err != nil {
		return err
	}
	var regions []*ir.Region
	for _, r := range op.Regions() {
		regions = append(regions, cloneRegion(m, r))
	}
	name := c.unique(op.Name() + ".impl")
	composite, err := stablehlo.BuildComposite(m.Before(op), op.OperandList(), regions, op.ResultTypes(), stablehlo.CompositeAttrs{
		Name: op.Name(), CompositeAttributes: ir.NewDict(attrs), Decomposition: name, Version: 1,
	})
	if err != nil {
		return err
	}
	for i, v := range op.Results() {
		c.r.ReplaceUses(v, composite.Result(i), nil)
	}
	body := newFunction(m.After(f), op, name)
	ret := m.AtEnd(body).From(op).Create(fn.Return, op.ResultList(), nil)
	c.r.MoveBefore(op, ret)
	c.r.Update(op, func() { op.SetOperands(body.Args()) })
	return nil
}

// cloneRegion returns a copy of a region that uses no value from outside.
func cloneRegion(m *ir.Module, r *ir.Region) *ir.Region {
	copied := m.After(r.Op()).Clone(r.Op(), map[*ir.Value]*ir.Value{})
	out := m.NewRegion()
	out.TakeBlocks(copied.Regions()[slices.Index(r.Op().Regions(), r)])
	copied.Erase()
	return out
}

// compositeAttrs returns the attributes of op in builtin form. It is an error if op has another dialect's attributes.
func compositeAttrs(op *ir.Op) (ir.AttrList, error) {
	var out ir.AttrList
	for _, a := range op.Attrs() {
		if d, ok := ir.DataOf[chlo.RaggedDotDims](a.Attr); ok {
			var lists []ir.Attr
			for _, dims := range [][]int64{d.LHSBatching, d.RHSBatching, d.LHSContracting, d.RHSContracting, d.LHSRagged, d.RHSGroup} {
				lists = append(lists, denseInts(op.Module().Context(), ir.Int(64), dims))
			}
			out = out.Set(a.Name, ir.NewArray(lists), false)
			continue
		}
		if list, ok := a.Attr.(*ir.ArrayAttr); ok && a.Name == chlo.AttrPrecisionConfig {
			names := make([]ir.Attr, len(list.Elems()))
			for i, e := range list.Elems() {
				if p, ok := e.(*ir.EnumAttr); ok {
					names[i] = ir.NewString(p.Case())
				}
			}
			out = out.Set(a.Name, ir.NewArray(names), false)
			continue
		}
		switch d := a.Attr.(type) {
		case *ir.DialectAttr:
			return nil, op.Module().Errorf(op, "unsupported dialect attribute for CHLO preservation: \"%s\" of dialect %s", a.Name, d.Dialect())
		case *ir.EnumAttr:
			return nil, op.Module().Errorf(op, "unsupported dialect attribute for CHLO preservation: \"%s\" of dialect %s", a.Name, d.Enum().Dialect)
		}
		out = out.Set(a.Name, a.Attr, false)
	}
	return out, nil
}

// Outline appends a private function with the given name and a copy of op to the symbol table around op.
func Outline(r *rewrite.Rewriter, op *ir.Op, name string) {
	body := newFunction(r.AtEnd(ir.SymbolTableOf(op).Region(0).Entry()), op, name)
	b := r.AtEnd(body).From(op)
	c := b.Clone(op, map[*ir.Value]*ir.Value{})
	c.SetOperands(body.Args())
	b.Create(fn.Return, c.ResultList(), nil)
}

// newFunction inserts a private function with the types of op, and returns its body.
func newFunction(b *ir.Builder, op *ir.Op, name string) *ir.Block {
	inputs := view.Types(op.OperandList())
	st := &ir.OpState{Def: fn.Func, Regions: 1}
	st.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(b.Module().Context().Function(inputs, op.ResultTypes())))
	f := b.From(op).Insert(st)
	fn.FuncOp{Op: f}.SetPrivate(name)
	body := f.Region(0).AddBlock()
	for _, t := range inputs {
		body.AddArg(t, op.Loc()).SetPos(op.Pos())
	}
	return body
}
