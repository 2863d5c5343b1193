package artifact

import (
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
)

// expand returns the module that XLA serializes, with locations that the target knows. It fails for operations of
// dialects that XLA does not accept.
func expand(m *ir.Module, o Options) (*ir.Module, error) {
	var wrong error
	ranges := false
	m.Walk(func(op *ir.Op) bool {
		switch op.Def().Dialect() {
		case "stablehlo", "chlo", "func", "sdy", "builtin", "mpmd":
		default:
			wrong = m.Errorf(op, "%s: the route %s takes operations of stablehlo, chlo, func and sdy alone", op.Name(), o.Route)
		}
		if l := op.Loc(); l != nil {
			_, col := l.End()
			ranges = ranges || col != 0 || l.Kind() != ir.LocFile
		}
		return wrong == nil
	})
	if wrong != nil {
		return nil, wrong
	}
	out := m.Clone()
	foldConstants(out)
	if _, err := legalize.Complex(out.Op()); err != nil {
		return nil, err
	}
	if o.Route == XLA {
		if err := exportShardy(out); err != nil {
			return nil, err
		}
	}
	if err := legalize.CHLO(out.Op(), nil); err != nil {
		return nil, err
	}
	foldConstants(out)
	if !ranges || !o.Target.Less(vhlo.Version{Major: 1, Minor: 9}) {
		return out, nil
	}
	locs := &starts{made: map[*ir.Loc]*ir.Loc{}}
	out.Walk(func(op *ir.Op) bool {
		op.SetLoc(locs.of(op.Loc()))
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					a.SetLoc(locs.of(a.Loc()))
				}
			}
		}
		return true
	})
	return out, nil
}

// starts creates locations without ranges, for readers before 1.9.0.
type starts struct {
	table ir.LocTable
	made  map[*ir.Loc]*ir.Loc
}

// of returns l with each range replaced by its start.
func (s *starts) of(l *ir.Loc) *ir.Loc {
	if l == nil {
		return nil
	}
	if n, ok := s.made[l]; ok {
		return n
	}
	kids := make([]*ir.Loc, len(l.Children()))
	for i, c := range l.Children() {
		kids[i] = s.of(c)
	}
	n := l
	switch l.Kind() {
	case ir.LocFile:
		line, col := l.Start()
		n = s.table.File(l.Name(), line, col, 0, 0)
	case ir.LocName:
		var child *ir.Loc
		if len(kids) > 0 {
			child = kids[0]
		}
		n = s.table.Name(l.Name(), child)
	case ir.LocCallSite:
		n = s.table.CallSite(kids[0], kids[1])
	case ir.LocFused:
		n = s.table.Fused(l.Metadata(), int64(l.Size()), kids)
	}
	s.made[l] = n
	return n
}
