package pjrt

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// moduleShape is what a backend needs to know of a module beside its text.
type moduleShape struct {
	replicas, partitions int  // 0 where the module does not say
	shardy               bool // it is sharded by the sdy dialect
	inputs               []ir.Type
}

func shapeOf(m *ir.Module) moduleShape {
	count := func(name string) int {
		for _, dialect := range []string{"mhlo.", "stablehlo."} { // JAX writes the former, go-xla the latter
			if a, ok := m.Op().Attr(dialect + name).(*ir.IntegerAttr); ok && a.Value() > 0 && a.Value() < 1<<20 {
				return int(a.Value())
			}
		}
		return 0
	}
	s := moduleShape{replicas: count("num_replicas"), partitions: count("num_partitions")}
	for o := range m.Body().Ops() {
		if strings.HasPrefix(o.Name(), "sdy.") {
			s.shardy = true
		}
	}
	if f, ok := fn.Lookup(m, "main"); ok {
		s.inputs = append([]ir.Type{}, f.Type().Inputs()...)
	}
	return s
}
