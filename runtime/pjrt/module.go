package pjrt

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/internal/shardy"
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
		return shardy.ValueSharding(s.module, attrs, partitions)
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
