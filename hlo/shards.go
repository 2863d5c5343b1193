package hlo

import (
	"errors"
	"fmt"

	shards "github.com/hlocb/hlocb/internal/sharding"
)

// ParseSharding reads the sharding of one value, in XLA's text, as shards of partitions. If the value is sharded by
// hand, the error is sharding.ErrManual.
func ParseSharding(text string, partitions int) (*shards.Sharding, error) {
	s, err := parseSharding(text)
	if err != nil {
		return nil, fmt.Errorf("sharding %s: %s", text, mistakeOf(err))
	}
	if err := s.check(-1, 0); err != nil {
		return nil, fmt.Errorf("sharding %s: %w", text, err)
	}
	out, err := s.shards(partitions)
	if err != nil && err != shards.ErrManual {
		err = fmt.Errorf("sharding %s %w", text, err)
	}
	return out, err
}

// DecodeSharding reads an OpSharding of xla_data.proto as shards of partitions: one, or those of a tuple's elements.
// If a value is sharded by hand, the error is sharding.ErrManual.
func DecodeSharding(data []byte, partitions int) ([]*shards.Sharding, error) {
	s, err := decodeSharding(string(data))
	if err != nil {
		return nil, errors.New(mistakeOf(err))
	}
	list := []*sharding{s}
	if s.kind == tupleSharding {
		list = s.elems
	}
	var out []*shards.Sharding
	for _, e := range list {
		if err := e.check(-1, 0); err != nil {
			return nil, fmt.Errorf("sharding %s: %w", e, err)
		}
		one, err := e.shards(partitions)
		if err == shards.ErrManual {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("sharding %s %w", e, err)
		}
		out = append(out, one)
	}
	return out, nil
}

// shards returns s, which is checked, as shards of partitions. The start of an error is 'sharding TEXT'.
func (s *sharding) shards(partitions int) (*shards.Sharding, error) {
	switch s.kind {
	case replicatedSharding, maximalSharding, unknownSharding:
		return &shards.Sharding{}, nil
	case manualSharding:
		return nil, shards.ErrManual
	case tupleSharding:
		return nil, errors.New("is one of several values")
	case namedShardingKind:
		return s.named.shards(partitions)
	case unreducedSharding: // on all devices
		all := &tiles{iota: []int64{int64(partitions)}, perm: []int64{0}}
		return shards.NewTiled(all.iota, all.list(), []shards.Extra{shards.Unreduced}, partitions)
	}
	if n, _ := product(s.tiles.dims); n != int64(partitions) { // the list of the devices can be longer than any memory
		return nil, fmt.Errorf("is over %d devices, the program has %d partitions", n, partitions)
	}
	var extra []shards.Extra
	if s.lastTile {
		extra = append(extra, shards.Replicated)
	}
	for _, kind := range s.lastDims {
		switch kind {
		case manualSharding:
			return nil, shards.ErrManual
		case unreducedSharding:
			extra = append(extra, shards.Unreduced)
		default:
			extra = append(extra, shards.Replicated)
		}
	}
	return shards.NewTiled(s.tiles.dims, s.tiles.ids(), extra, partitions)
}

// shards returns n as shards of partitions.
func (n *namedSharding) shards(partitions int) (*shards.Sharding, error) {
	switch {
	case n.word == "manual" || len(n.manual) > 0:
		return nil, shards.ErrManual
	case n.word == "replicated" || n.mesh.oneDevice():
		return &shards.Sharding{}, nil
	}
	mesh := &shards.Mesh{}
	size := int64(1)
	for _, a := range n.mesh.axes {
		mesh.Names = append(mesh.Names, a.name)
		mesh.Sizes = append(mesh.Sizes, a.size)
		if a.size <= 0 || size > int64(partitions)/a.size {
			size = 0
			break
		}
		size *= a.size
	}
	if size != int64(partitions) {
		return nil, fmt.Errorf("has a mesh of another number of devices than the program, which has %d partitions", partitions)
	}
	if n.mesh.ids.iota != nil || n.mesh.hasIDs {
		if mesh.IDs = n.mesh.ids.ids(); len(mesh.IDs) != partitions {
			return nil, fmt.Errorf("has %d device ids, the program has %d partitions", len(mesh.IDs), partitions)
		}
	}
	parts := func(refs []axisRef) []shards.Part {
		var out []shards.Part
		for _, r := range refs {
			out = append(out, shards.Part{Axis: n.mesh.axes[r.axis].name, Before: r.pre, Count: r.size})
		}
		return out
	}
	dims := make([][]shards.Part, len(n.dims))
	for i, d := range n.dims {
		dims[i] = parts(d.axes)
	}
	unreduced := n.unreduced
	if n.word == "unreduced" {
		for i := range n.mesh.axes {
			unreduced = append(unreduced, axisRef{axis: int64(i)})
		}
	}
	s, err := mesh.Sharding(dims, partitions)
	if err == nil && len(unreduced) > 0 {
		s, err = mesh.Unreduced(s, parts(unreduced), shards.ReductionOf(n.reduction), partitions)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be used: %w", err)
	}
	return s, nil
}
