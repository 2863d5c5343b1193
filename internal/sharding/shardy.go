package sharding

import (
	"fmt"
	"slices"
	"strings"
)

// Mesh is an sdy.mesh: named axes, and the device ID at each position, in row-major order.
type Mesh struct {
	Names []string
	Sizes []int64
	IDs   []int64 // nil: 0, 1, 2, ...
}

// Devices returns the number of devices in the mesh.
func (m *Mesh) Devices() int64 { return max(1, count(m.Sizes)) }

// ParseMesh reads <["x"=2, "y"=4], device_ids=[...]>.
func ParseMesh(text string) (*Mesh, error) {
	r := reader{rest: text}
	m := &Mesh{}
	r.expect("<")
	r.expect("[")
	for r.err == nil && !r.accept("]") {
		m.Names = append(m.Names, r.quoted())
		r.expect("=")
		m.Sizes = append(m.Sizes, r.integer())
		r.accept(",")
	}
	if r.accept(",") {
		r.expect("device_ids")
		r.expect("=")
		m.IDs = r.integers()
	}
	r.expect(">")
	return m, r.finish("mesh", text)
}

// Coordinates returns the position of a partition along each axis, or nil if it is not in the mesh.
func (m *Mesh) Coordinates(partition int64) []int64 {
	if m.IDs != nil {
		at := int64(-1)
		for i, id := range m.IDs {
			if id == partition {
				at = int64(i)
			}
		}
		if partition = at; at < 0 {
			return nil
		}
	}
	out := make([]int64, len(m.Sizes))
	for i := len(m.Sizes) - 1; i >= 0; i-- {
		if m.Sizes[i] <= 0 {
			return nil
		}
		out[i] = partition % m.Sizes[i]
		partition /= m.Sizes[i]
	}
	if partition != 0 {
		return nil
	}
	return out
}

// Groups returns groups of devices whose positions differ only along the given parts of axes: one group per position
// along all other axes. Devices in a group are ordered by the parts, with the major part first.
func (m *Mesh) Groups(parts []Part) ([][]int64, error) {
	n := m.Devices()
	s, err := m.Sharding([][]Part{parts}, int(n))
	if err != nil {
		return nil, err
	}
	if s.Whole() { // groups with one device each
		var out [][]int64
		for p := range n {
			out = append(out, []int64{p})
		}
		return out, nil
	}
	var keys []string
	groups := map[string][]int64{}
	size := s.Tiles()[0]
	for p := range n {
		k, err := m.rest(p, parts)
		if err != nil {
			return nil, err
		}
		if groups[k] == nil {
			keys = append(keys, k)
			groups[k] = make([]int64, size)
		}
		groups[k][s.Index(int(p))[0]] = p
	}
	var out [][]int64
	for _, k := range keys {
		out = append(out, groups[k])
	}
	return out, nil
}

// rest returns a key for the position of a device along everything except the given parts.
func (m *Mesh) rest(device int64, parts []Part) (string, error) {
	at := m.Coordinates(device)
	if at == nil {
		return "", fmt.Errorf("the mesh has no device %d", device)
	}
	for _, p := range parts {
		i := slices.Index(m.Names, p.Axis)
		below, count := int64(1), m.Sizes[i]
		if p.Count != 0 {
			below, count = m.Sizes[i]/(p.Before*p.Count), p.Count
		}
		at[i] -= at[i] / below % count * below
	}
	return fmt.Sprint(at), nil
}

// ParseShardy reads #sdy.sharding<@mesh, [{"x"}, {"y":(1)2, ?}], replicated={"z"}, unreduced={"w"}>. lookup returns the
// mesh with a name.
func ParseShardy(text string, partitions int, lookup func(name string) *Mesh) (*Sharding, error) {
	r := reader{rest: strings.TrimPrefix(text, "#sdy.sharding")}
	r.expect("<")
	var m *Mesh
	if r.accept("@") {
		name := r.word()
		if m = lookup(name); m == nil {
			return nil, fmt.Errorf("no mesh @%s in the module", name)
		}
	} else {
		r.expect("mesh")
		inner := r.balanced()
		var err error
		if m, err = ParseMesh(inner); err != nil {
			return nil, err
		}
	}
	var dims [][]Part
	r.expect(",")
	r.expect("[")
	for r.err == nil && !r.accept("]") {
		dims = append(dims, r.parts())
		if r.accept("p") { // priority
			r.integer()
		}
		r.accept(",")
	}
	var unreduced []Part
	reduction := Sum
	for r.err == nil && r.accept(",") {
		if r.accept("replicated") {
			r.expect("=")
			r.parts()
			continue
		}
		r.expect("unreduced")
		r.expect("=")
		for i, word := range reductionWords {
			if r.accept(word) {
				reduction = Reduction(i)
			}
		}
		unreduced = r.parts()
	}
	r.expect(">")
	if r.err != nil {
		return nil, r.finish("sharding", text)
	}

	s, err := m.Sharding(dims, partitions)
	if err == nil && len(unreduced) > 0 {
		s, err = m.Unreduced(s, unreduced, reduction, partitions)
	}
	if err != nil {
		return nil, fmt.Errorf("sharding %s: %w", text, err)
	}
	return s, nil
}

// parts reads {"x", "y":(1)2, ?}.
func (r *reader) parts() []Part {
	var parts []Part
	r.expect("{")
	for r.err == nil && !r.accept("}") {
		if !r.accept("?") {
			p := Part{Axis: r.quoted()}
			if r.accept(":") {
				r.expect("(")
				p.Before = r.integer()
				r.expect(")")
				if p.Count = r.integer(); p.Count <= 0 && r.err == nil {
					r.err = fmt.Errorf("an axis is split into %d parts", p.Count)
				}
			}
			parts = append(parts, p)
		}
		r.accept(",")
	}
	return parts
}

// Unreduced returns s for a value that is the reduction of its shards along the given parts of axes.
func (m *Mesh) Unreduced(s *Sharding, parts []Part, reduction Reduction, partitions int) (*Sharding, error) {
	along, err := m.Sharding([][]Part{parts}, partitions)
	if err != nil || along.Whole() {
		return s, err
	}
	out := &Sharding{tiles: s.tiles, index: s.index, reduction: reduction}
	if s.tiles == nil {
		out.index = make([][]int64, partitions)
	}
	for p := range partitions {
		out.part = append(out.part, along.index[p][0])
	}
	return out, nil
}

// Part is a mesh axis, or a part of one, along which a dimension is partitioned. For a part, Before is the product of
// the sizes of the parts to its left, and Count is its size. A Count of 0 means the whole axis.
type Part struct {
	Axis          string
	Before, Count int64
}

// Sharding returns the sharding of a value whose dimensions are partitioned along the given parts of axes, with the
// major part first.
func (m *Mesh) Sharding(dims [][]Part, partitions int) (*Sharding, error) {
	type place struct{ axis, below, count int64 }
	places := make([][]place, len(dims))
	s := &Sharding{}
	for d, parts := range dims {
		n := int64(1)
		for _, p := range parts {
			i := slices.Index(m.Names, p.Axis)
			if i < 0 {
				return nil, fmt.Errorf("the mesh has no axis %q", p.Axis)
			}
			size := m.Sizes[i]
			at := place{int64(i), 1, size}
			if p.Count != 0 {
				if p.Count < 0 || p.Before <= 0 || p.Before > size || p.Count > size/p.Before || size%(p.Before*p.Count) != 0 {
					return nil, fmt.Errorf("a part of axis %q does not divide it", p.Axis)
				}
				at.below, at.count = size/(p.Before*p.Count), p.Count
			}
			places[d] = append(places[d], at)
			n *= at.count
		}
		s.tiles = append(s.tiles, n)
	}
	if s = s.simple(); s.tiles == nil {
		return s, nil
	}
	for partition := range partitions {
		at := m.Coordinates(int64(partition))
		if at == nil {
			return nil, fmt.Errorf("the mesh has no device %d", partition)
		}
		index := make([]int64, len(dims))
		for d, parts := range places {
			for _, p := range parts {
				index[d] = index[d]*p.count + at[p.axis]/p.below%p.count
			}
		}
		s.index = append(s.index, index)
	}
	return s, nil
}
