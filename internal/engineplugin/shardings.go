//go:build cgo

package engineplugin

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/sharding"
)

// opSharding encodes the sharding of a value as an xla.OpSharding (xla/xla_data.proto). nil is replicated, whose
// encoding is empty.
func opSharding(s *sharding.Sharding, rank, partitions int) []byte {
	if s == nil {
		return nil
	}
	const (
		fieldType, fieldDims, fieldDevices, fieldReplicateLast, fieldKinds = 1, 3, 4, 6, 8
		replicated, other, unreduced                                       = 0, 3, 6
	)
	tiles, total := slices.Clone(s.Tiles()), int64(1)
	for _, n := range tiles {
		total *= n
	}
	if tiles == nil {
		for range rank {
			tiles = append(tiles, 1)
		}
	}
	copies := make([]int, partitions) // the number of earlier partitions with the same shard
	seen, parts := map[string]int{}, int64(1)
	order := make([]int, partitions) // the partitions by their tile
	for p := range order {
		order[p] = p
		copies[p] = seen[s.Key(p)]
		seen[s.Key(p)]++
		parts = max(parts, s.Part(p)+1)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(slices.Compare(s.Index(a), s.Index(b)), cmp.Compare(copies[a], copies[b]), cmp.Compare(s.Part(a), s.Part(b)))
	})
	var kinds []int // of the tile dimensions that the value lacks
	if n := int64(partitions) / (total * parts); n > 1 {
		tiles, kinds = append(tiles, n), append(kinds, replicated)
	}
	if parts > 1 {
		tiles, kinds = append(tiles, parts), append(kinds, unreduced)
	}
	b := protowire.AppendVarint(protowire.AppendTag(nil, fieldType, protowire.VarintType), other)
	packed := func(field protowire.Number, n int, at func(i int) uint64) {
		var v []byte
		for i := range n {
			v = protowire.AppendVarint(v, at(i))
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	switch {
	case parts > 1:
		packed(fieldKinds, len(kinds), func(i int) uint64 { return uint64(kinds[i]) })
	case len(kinds) > 0:
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldReplicateLast, protowire.VarintType), 1)
	}
	packed(fieldDims, len(tiles), func(i int) uint64 { return uint64(tiles[i]) })
	packed(fieldDevices, partitions, func(i int) uint64 { return uint64(order[i]) })
	return b
}
