package pjrt

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/ir"
)

// moduleShape holds facts about a module that a backend cannot find in its text.
type moduleShape struct {
	replicas, partitions int  // 0 if the module does not say
	shardy               bool // it is sharded by the sdy dialect
	main                 fn.FuncOp
	module               *ir.Module
}

func shapeOf(m *ir.Module) moduleShape {
	s := moduleShape{module: m}
	s.replicas, s.partitions = mhlo.Devices(m)
	for o := range m.Body().Ops() {
		if strings.HasPrefix(o.Name(), "sdy.") {
			s.shardy = true
		}
	}
	if f, ok := fn.Lookup(m, "main"); ok {
		s.main = f
	}
	return s
}

// shardings returns the shardings of main's arguments and results. A value without a sharding is whole on every
// partition.
func (s *moduleShape) shardings(partitions int) (in, out []*sharding.Sharding, err error) {
	one := func(attrs *ir.DictAttr) (*sharding.Sharding, error) {
		if attrs == nil {
			return &sharding.Sharding{}, nil
		}
		if a := attrs.Get(sdy.AttrValueSharding); a != nil {
			return sharding.ParseShardy(a.String(), partitions, s.mesh)
		}
		if a, ok := attrs.Get(mhlo.AttrSharding).(*ir.StringAttr); ok {
			return sharding.ParseGSPMD(a.Value(), partitions)
		}
		return &sharding.Sharding{}, nil
	}
	for i := range s.main.Type().Inputs() {
		v, err := one(s.main.ArgAttrs(i))
		if err != nil {
			return nil, nil, fmt.Errorf("argument %d: %w", i, err)
		}
		in = append(in, v)
	}
	for i := range s.main.Type().Results() {
		v, err := one(s.main.ResultAttrs(i))
		if err != nil {
			return nil, nil, fmt.Errorf("result %d: %w", i, err)
		}
		out = append(out, v)
	}
	return in, out, nil
}

// mesh finds a mesh by its symbol. It returns nil if there is none, or if it cannot be read.
func (s *moduleShape) mesh(name string) *sharding.Mesh {
	for o := range s.module.Body().Ops() {
		sym, ok := o.Attr(ir.SymbolName).(*ir.StringAttr)
		if !o.Is(sdy.Mesh) || !ok || sym.Value() != name || o.Attr(sdy.AttrMesh) == nil {
			continue
		}
		if m, err := sharding.ParseMesh(strings.TrimPrefix(o.Attr(sdy.AttrMesh).String(), "#sdy.mesh")); err == nil {
			return m
		}
	}
	return nil
}
