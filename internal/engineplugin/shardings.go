//go:build cgo

package engineplugin

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/sharding"
)

// opSharding encodes a sharding as an xla.OpSharding (xla/xla_data.proto). nil is replicated, whose encoding is empty.
func opSharding(s *sharding.Sharding, partitions int) []byte {
	if s == nil {
		return nil
	}
	const (
		fieldType, fieldDims, fieldDevices, fieldReplicateLast = 1, 3, 4, 6
		other                                                  = 3
	)
	tiles := slices.Clone(s.Tiles())
	order := make([]int, partitions) // the partitions by their tile
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(s.Index(a), s.Index(b)) })
	total := int64(1)
	for _, n := range tiles {
		total *= n
	}
	b := protowire.AppendVarint(protowire.AppendTag(nil, fieldType, protowire.VarintType), other)
	if copies := int64(partitions) / total; copies > 1 {
		tiles = append(tiles, copies)
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldReplicateLast, protowire.VarintType), 1)
	}
	packed := func(field protowire.Number, n int, at func(i int) uint64) {
		var v []byte
		for i := range n {
			v = protowire.AppendVarint(v, at(i))
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	packed(fieldDims, len(tiles), func(i int) uint64 { return uint64(tiles[i]) })
	packed(fieldDevices, partitions, func(i int) uint64 { return uint64(order[i]) })
	return b
}
