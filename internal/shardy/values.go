package shardy

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/ir"
)

// ValueSharding returns the sharding that the attributes of an argument or a result of main state. A value without a
// sharding is whole on every partition.
func ValueSharding(m *ir.Module, attrs *ir.DictAttr, partitions int) (*sharding.Sharding, error) {
	if attrs == nil {
		return &sharding.Sharding{}, nil
	}
	if s := attached(attrs); s != nil {
		return Resolve(m, s, partitions)
	}
	if a, ok := attrs.Get(mhlo.AttrSharding).(*ir.StringAttr); ok {
		return hlo.ParseSharding(a.Value(), partitions)
	}
	return &sharding.Sharding{}, nil
}

// Resolve returns a sharding of the dialect sdy as shards of partitions.
func Resolve(m *ir.Module, s *sdy.Sharding, partitions int) (*sharding.Sharding, error) {
	return sharding.ParseShardy(s.String(), partitions, func(name string) *sharding.Mesh { return mesh(m, name) })
}

// mesh finds a mesh by its symbol. It returns nil if there is none, or if it cannot be read.
func mesh(m *ir.Module, name string) *sharding.Mesh {
	for o := range m.Body().Ops() {
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
