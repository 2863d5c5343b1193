// Package sharding parses shardings, which describe how a value is partitioned across the devices of a program. It
// supports the formats of Shardy (sdy.sharding) and of XLA's older partitioner (mhlo.sharding). It also splits values
// into shards and joins shards. It does not depend on modules: callers pass attributes as text or in parsed form.
package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// Sharding says which shard of a global value each partition holds.
type Sharding struct {
	// tiles is the number of shards along each dimension; nil if every partition holds the whole value.
	tiles []int64
	// index holds, for each partition, the index of its shard along each dimension.
	index [][]int64
	// part holds the position of each partition along the axes over which the value is unreduced: the value is the
	// reduction of the shards of all positions. nil if there are no such axes.
	part      []int64
	reduction Reduction
}

// ErrManual says that the program itself controls the shards of a value.
var ErrManual = errors.New("the value is sharded manually")

// ShardShape returns the shape of one shard. If a dimension does not divide evenly, all shards have the size of the
// largest one, as in XLA; the last shards are padded.
func (s *Sharding) ShardShape(global tensor.Shape) (tensor.Shape, error) {
	if s.tiles == nil {
		return global, nil
	}
	if len(s.tiles) > len(global) {
		return nil, fmt.Errorf("a sharding of %d dimensions does not fit a value of %d", len(s.tiles), len(global))
	}
	shard := global.Clone()
	for i, n := range s.tiles {
		if n <= 0 {
			return nil, fmt.Errorf("dimension %d of size %d cannot be split into %d parts", i, global[i], n)
		}
		shard[i] = (global[i] + n - 1) / n
	}
	return shard, nil
}

// WholeShape returns the shape of the global value for shards of the given shape, assuming that no shard is padded.
func (s *Sharding) WholeShape(shard tensor.Shape) tensor.Shape {
	whole := shard.Clone()
	for i, n := range s.tiles {
		if i < len(whole) {
			whole[i] *= n
		}
	}
	return whole
}

// Whole reports whether every partition holds the whole value.
func (s *Sharding) Whole() bool { return s.tiles == nil && s.part == nil }

// Unreduced reports whether the value is the reduction of the shards of several partitions.
func (s *Sharding) Unreduced() bool { return s.part != nil }

// Part returns the position of a partition along the unreduced axes. Put the shards of position 0 first.
func (s *Sharding) Part(partition int) int64 {
	if s.part == nil {
		return 0
	}
	return s.part[partition]
}

// Equal reports whether every partition holds the same shard in both shardings.
func (s *Sharding) Equal(t *Sharding) bool {
	return slices.Equal(s.tiles, t.tiles) && slices.EqualFunc(s.index, t.index, slices.Equal) &&
		slices.Equal(s.part, t.part) && s.reduction == t.reduction
}

// Tiles returns the number of shards along each dimension, or nil if every partition holds the whole value.
func (s *Sharding) Tiles() []int64 { return s.tiles }

// Index returns the index of a partition's shard along each dimension.
func (s *Sharding) Index(partition int) []int64 { return s.index[partition] }

// Take copies a partition's part of a global value into shard, whose shape must be ShardShape(global), and whose
// elements must be zero. Of a sum, the first partition along the unreduced axes takes the value and the others zeros.
func (s *Sharding) Take(shard, global *tensor.Tensor, partition int) {
	if s.reduction == Sum && s.Part(partition) > 0 {
		return
	}
	copyShard(shard, global, s.index[partition], toShard)
}

// Put copies a partition's shard to its place in the global value. If the value is unreduced, Put copies the shard of
// the first partition along the unreduced axes, and then reduces the value with the shards of the others.
func (s *Sharding) Put(global, shard *tensor.Tensor, partition int) {
	how := fromShard
	if s.Part(partition) > 0 {
		how = s.reduction.into
	}
	copyShard(shard, global, s.index[partition], how)
}

// Key identifies the shard of a partition: partitions with equal keys hold the same shard.
func (s *Sharding) Key(partition int) string {
	return fmt.Sprint(s.index[partition], s.Part(partition))
}

// Split splits a global value into one shard per partition. Shards may share memory with the value and each other.
func (s *Sharding) Split(t *tensor.Tensor, partitions int) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, partitions)
	shape, err := s.ShardShape(t.Shape())
	if err != nil {
		return nil, err
	}
	if s.Whole() {
		for p := range out {
			out[p] = t
		}
		return out, nil
	}
	if len(s.index) != partitions {
		return nil, fmt.Errorf("a sharding over %d devices does not fit %d partitions", len(s.index), partitions)
	}
	for p := range out {
		out[p] = tensor.New(t.DType(), shape)
		s.Take(out[p], t, p)
	}
	return out, nil
}

// Join assembles a global value from one shard per partition.
func (s *Sharding) Join(shards []*tensor.Tensor, global tensor.Shape) (*tensor.Tensor, error) {
	shape, err := s.ShardShape(global)
	if err != nil {
		return nil, err
	}
	for _, t := range shards {
		if !t.Shape().Equal(shape) {
			return nil, fmt.Errorf("a shard has shape %v, expected %v of %v", t.Shape(), shape, global)
		}
	}
	if s.Whole() {
		return shards[0], nil
	}
	out := tensor.New(shards[0].DType(), global)
	for _, p := range s.Sources(0) {
		s.Put(out, shards[p], p)
	}
	return out, nil
}

// Sources returns partitions whose shards make up the value, each shard once, in an order for Put. Of equal shards it
// takes that of partition first, or else the first one.
func (s *Sharding) Sources(first int) []int {
	out := []int{first}
	seen := map[string]bool{s.Key(first): true}
	for p := range s.index {
		if k := s.Key(p); !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(s.Part(a), s.Part(b)) })
	return out
}

// row copies or reduces a row of a shard and the elements of the global value at its place. Both have element type d.
type row func(d tensor.DType, shard, global []byte)

func toShard(_ tensor.DType, shard, global []byte)   { copy(shard, global) }
func fromShard(_ tensor.DType, shard, global []byte) { copy(global, shard) }

// copyShard calls do for the rows of a shard and their place in the global value. index is the index of the shard along
// each dimension. copyShard skips the padding, the part of the shard outside the global value.
func copyShard(shard, global *tensor.Tensor, index []int64, do row) {
	dims, full := shard.Shape(), global.Shape()
	size := int64(shard.DType().Size())
	if shard.NumElements() == 0 || global.NumElements() == 0 {
		return
	}
	if len(dims) == 0 {
		do(shard.DType(), shard.Bytes(), global.Bytes())
		return
	}
	var walk func(dim int, s, g int64)
	walk = func(dim int, s, g int64) {
		at := int64(0)
		if dim < len(index) {
			at = index[dim] * dims[dim]
		}
		n := min(dims[dim], full[dim]-at)
		if n <= 0 {
			return
		}
		if dim == len(dims)-1 {
			do(shard.DType(), shard.Bytes()[s*dims[dim]*size:][:n*size], global.Bytes()[(g*full[dim]+at)*size:][:n*size])
			return
		}
		for i := range n {
			walk(dim+1, s*dims[dim]+i, g*full[dim]+at+i)
		}
	}
	walk(0, 0, 0)
}

// NewTiled makes the sharding that assigns the tiles, in row-major order, to the devices ids. extra describes the last
// dimensions of tiles, which do not partition the value.
func NewTiled(tiles, ids []int64, extra []Extra, partitions int) (*Sharding, error) {
	if int64(len(ids)) != count(tiles) || len(ids) != partitions || len(extra) > len(tiles) {
		return nil, fmt.Errorf("is over %d devices, the program has %d partitions", len(ids), partitions)
	}
	n := len(tiles) - len(extra)
	s := &Sharding{tiles: tiles[:n], index: make([][]int64, partitions)}
	part, parts := make([]int64, partitions), int64(1)
	for i, e := range extra {
		if e == Unreduced {
			parts *= tiles[n+i]
		}
	}
	for at, id := range ids {
		if id < 0 || id >= int64(partitions) || s.index[id] != nil {
			return nil, fmt.Errorf("names device %d twice or out of range", id)
		}
		index := make([]int64, len(tiles))
		rest := int64(at)
		for i := len(tiles) - 1; i >= 0; i-- {
			index[i] = rest % tiles[i]
			rest /= tiles[i]
		}
		s.index[id] = index[:n]
		for i, e := range extra {
			if e == Unreduced {
				part[id] = part[id]*tiles[n+i] + index[n+i]
			}
		}
	}
	if parts > 1 {
		s.part = part
	}
	return s.simple(), nil
}

// Extra says what a dimension of tiles without a dimension of the value describes.
type Extra int

const (
	Replicated Extra = iota // partitions that hold the same shard
	Unreduced               // partitions whose shards add up to the value
)

// simple returns s, or a sharding without tiles if there is one tile only.
func (s *Sharding) simple() *Sharding {
	if count(s.tiles) != 1 {
		return s
	}
	if s.part == nil {
		return &Sharding{}
	}
	return &Sharding{index: make([][]int64, len(s.index)), part: s.part, reduction: s.reduction}
}

// count returns the number of tiles, or -1 if it is too large.
func count(tiles []int64) int64 {
	total := int64(1)
	for _, n := range tiles {
		if n <= 0 || total > 1<<20/n {
			return -1
		}
		total *= n
	}
	return total
}
