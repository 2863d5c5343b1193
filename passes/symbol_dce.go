package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// SymbolDCE erases symbols that nothing uses, as MLIR's pass of this name does.
type SymbolDCE struct{}

func (SymbolDCE) Info() *pass.Info {
	return &pass.Info{
		Name:       "symbol-dce",
		Doc:        "Erases private functions and other private symbols that no public symbol uses, directly or through others.",
		Idempotent: true,
	}
}

func (SymbolDCE) Run(ctx *pass.Context, m *ir.Module) error {
	s := &symbolDCE{byName: map[string][]*ir.Op{}, live: map[*ir.Op]bool{}}
	var symbols []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if !op.Has(ir.Symbol) {
			return true
		}
		symbols = append(symbols, op)
		if name, ok := op.Attr(ir.SymbolName).(*ir.StringAttr); ok {
			s.byName[name.Value()] = append(s.byName[name.Value()], op)
		}
		return true
	})
	s.inside(m.Op())
	for len(s.work) > 0 {
		op := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		s.inside(op)
	}
	r := rewrite.New(m)
	for _, op := range symbols {
		if !op.Erased() && private(op) && !s.live[op] {
			r.Erase(op)
		}
	}
	ctx.Changes(r.Statistics())
	return nil
}

// symbolDCE is one run of SymbolDCE. A name in the text of an attribute keeps all symbols of the name, in any table.
type symbolDCE struct {
	tables ir.SymbolTables
	byName map[string][]*ir.Op
	live   map[*ir.Op]bool
	work   []*ir.Op // live symbols whose uses are not counted yet
}

// private reports whether op is a symbol that only this module can use.
func private(op *ir.Op) bool {
	if !op.Has(ir.Symbol) {
		return false
	}
	v, ok := op.Attr(fn.AttrSymVisibility).(*ir.StringAttr)
	return ok && v.Value() != "public"
}

// inside marks the symbols that op and the ops inside it use. Private symbols inside it wait until something uses them.
func (s *symbolDCE) inside(op *ir.Op) {
	s.uses(op)
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			for o := range b.Ops() {
				if !private(o) {
					s.inside(o)
				}
			}
		}
	}
}

func (s *symbolDCE) uses(op *ir.Op) {
	ref := func(ref *ir.SymbolRefAttr) {
		var buf [4]*ir.Op
		path, _ := s.tables.Path(buf[:0], op, ref)
		for _, o := range path {
			s.mark(o)
		}
	}
	text := func(name string) {
		for _, o := range s.byName[name] {
			s.mark(o)
		}
	}
	for _, a := range op.Attrs() {
		switch a.Attr.(type) {
		case *ir.IntegerAttr, *ir.StringAttr, *ir.DenseAttr, *ir.DenseArrayAttr, *ir.EnumAttr:
			continue // the most frequent kinds name no symbol
		}
		flow.References(a.Attr, ref, text)
	}
	for _, t := range op.Verbatim() {
		flow.References(ir.NewOpaque(t), ref, text)
	}
}

// mark marks op, a symbol, and the private symbols around it as used.
func (s *symbolDCE) mark(op *ir.Op) {
	for ; op != nil; op = op.Parent() {
		if op.Has(ir.Symbol) && private(op) && !s.live[op] {
			s.live[op] = true
			s.work = append(s.work, op)
		}
	}
}
