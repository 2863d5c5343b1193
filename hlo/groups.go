package hlo

import (
	"slices"

	shards "github.com/hlocb/hlocb/internal/sharding"
)

// groups returns the groups of devices that differ only in their places along axes. The devices of a group are in the
// order of axes; the groups are in the order of the rest of the mesh.
func (m *mesh) groups(axes []axisRef, fail func(string, ...any)) [][]int64 {
	n := int64(1)
	for _, a := range m.axes {
		if a.size <= 0 {
			fail("axis %s of a mesh has size %d", shorten(a.name), a.size)
		}
		if n *= min(a.size, 1<<21); n > 1<<20 {
			fail("a mesh of more than %d devices is too large for a list of replica groups", 1<<20)
		}
	}
	ids := m.ids.devices
	switch {
	case m.ids.iota != nil:
		ids = m.ids.list()
	case !m.hasIDs:
		ids = make([]int64, n)
		for i := range ids {
			ids[i] = int64(i)
		}
	}
	if int64(len(ids)) != n {
		fail("a mesh of %d devices has %d device ids", n, len(ids))
	}
	// Split each axis where a part of it starts or ends: sizes and strides of the pieces, of axes and of the rest.
	type piece struct{ size, stride int64 }
	var rest []piece
	inner := make([][]piece, len(axes))
	stride := n
	for i, a := range m.axes {
		cuts := []int64{1, a.size}
		for _, r := range axes {
			if r.axis == int64(i) && r.size != 0 {
				if r.pre <= 0 || r.size <= 0 || r.pre > a.size || r.size > a.size || a.size%(r.pre*r.size) != 0 {
					fail("axis %s has no part (%d)%d", shorten(a.name), r.pre, r.size)
				}
				cuts = append(cuts, r.pre, r.pre*r.size)
			}
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		for k := range len(cuts) - 1 {
			from, to := cuts[k], cuts[k+1]
			if to%from != 0 {
				fail("the parts of axis %s overlap", shorten(a.name))
			}
			p := piece{to / from, stride / to}
			at := slices.IndexFunc(axes, func(r axisRef) bool {
				return r.axis == int64(i) && (r.size == 0 || r.pre <= from && to <= r.pre*r.size)
			})
			if at < 0 {
				rest = append(rest, p)
			} else {
				inner[at] = append(inner[at], p)
			}
		}
		stride /= a.size
	}
	places := func(pieces []piece) []int64 {
		out := []int64{0}
		for _, p := range pieces {
			next := make([]int64, 0, int64(len(out))*p.size)
			for _, base := range out {
				for i := range p.size {
					next = append(next, base+i*p.stride)
				}
			}
			out = next
		}
		return out
	}
	members := places(slices.Concat(inner...))
	var out [][]int64
	for _, base := range places(rest) {
		group := make([]int64, len(members))
		for i, m := range members {
			group[i] = ids[base+m]
		}
		out = append(out, group)
	}
	return out
}

// expand returns the groups of devices as lists.
func (g *replicaGroups) expand(fail func(string, ...any)) [][]int64 {
	switch {
	case g == nil:
		return nil
	case g.mesh != nil:
		return g.mesh.groups(g.axes, fail)
	case g.tiles != nil:
		n := g.tiles.dims[0] * g.tiles.dims[1]
		if n > 1<<20 {
			fail("%d devices are too many for a list of replica groups", n)
		}
		ids := g.tiles.list()
		if int64(len(ids)) != n {
			fail("%d tiles, but %d devices", n, len(ids))
		}
		var out [][]int64
		for i := range g.tiles.dims[0] {
			out = append(out, ids[i*g.tiles.dims[1]:(i+1)*g.tiles.dims[1]])
		}
		return out
	}
	return g.lists
}

// list returns the devices of iota tiles in order: a range, reshaped and transposed. It is nil if the tiles are
// impossible, or more than 2^20.
func (t *tiles) list() []int64 {
	ids, err := shards.TransposedIota(t.iota, t.perm)
	if err != nil {
		return nil
	}
	return ids
}

// ids returns the devices of the tiles in order.
func (t *tiles) ids() []int64 {
	if t.iota != nil {
		return t.list()
	}
	return t.devices
}
