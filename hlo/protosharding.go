package hlo

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
)

// decodeSharding decodes an OpSharding.
func decodeSharding(text string) (s *sharding, err error) {
	defer catch(&err)
	data := []byte(text)
	r := &protoReader{base: data, text: text, fail: func(_ []byte, format string, args ...any) {
		panic(failure{diag.Errorf(diag.NewSource("sharding", data), diag.At(0), format, args...)})
	}}
	c := &coder{r: r}
	c.load(data)
	if s = (&protoModule{m: &Module{}, r: r}).sharding(c, nil); len(s.rest) > 0 {
		r.fail(nil, "fields that no OpSharding has")
	}
	return s, nil
}

// sharding codes an OpSharding.
func (d *protoModule) sharding(c *coder, s *sharding) *sharding {
	if s == nil {
		s = &sharding{}
	}
	d.enter(nil)
	defer func() { d.level-- }()
	if c.encode && s.kind == namedShardingKind {
		c.write(14, func(c *coder) { d.namedSharding(c, s) })
		return s
	}
	kind := int64(s.kind)
	c.int(1, &kind)
	if kind < 0 || kind > int64(unreducedSharding) {
		d.fail(nil, "unknown type %d of a sharding", kind)
	}
	c.ints(3, &s.tiles.dims)
	c.ints(4, &s.tiles.devices)
	messages(c, 5, &s.elems, func(e **sharding, c *coder) {
		if elem := d.sharding(c, *e); !c.encode {
			*e = elem
		}
	})
	c.bool(6, &s.lastTile)
	d.metadataList(c, 7, &s.metadata)
	last := make([]int64, len(s.lastDims))
	for i, k := range s.lastDims {
		last[i] = int64(k)
	}
	if !c.encode {
		last = nil
	}
	c.ints(8, &last)
	c.ints(9, &s.tiles.iota)
	c.ints(10, &s.tiles.perm)
	grouped := s.group.word != ""
	like := int64(0)
	if s.group.word == "shard_like" {
		like = 1
	}
	c.bool(11, &grouped)
	c.int(12, &s.group.id)
	c.int(13, &like)
	if !c.encode {
		s.kind = shardingKind(kind)
		if last != nil {
			s.lastDims = []shardingKind{}
		}
		for _, k := range last {
			if k < 0 || k > int64(unreducedSharding) || shardingKind(k).word() == "" {
				d.fail(nil, "unknown type %d of a tile dimension", k)
			}
			s.lastDims = append(s.lastDims, shardingKind(k))
		}
		switch {
		case !grouped:
			s.group = shardGroup{}
		case like == 1:
			s.group.word = "shard_like"
		default:
			s.group.word = "shard_as"
		}
		if c.has(14) {
			s.kind = namedShardingKind
			c.msg(14, false, func(c *coder) { d.namedSharding(c, s) })
		}
		d.checkSharding(s)
	}
	c.rest(&s.rest)
	return s
}

// checkSharding checks the properties that the printer relies on.
func (d *protoModule) checkSharding(s *sharding) {
	switch s.kind {
	case maximalSharding:
		if len(s.tiles.devices) != 1 {
			d.fail(nil, "a maximal sharding has %d devices", len(s.tiles.devices))
		}
	case tiledSharding:
		if len(s.tiles.dims) == 0 {
			d.fail(nil, "a tiled sharding has no tile dimensions")
		}
		if len(s.tiles.iota) != len(s.tiles.perm) {
			d.fail(nil, "the devices of a sharding have %d dimensions and a permutation of %d", len(s.tiles.iota), len(s.tiles.perm))
		}
	}
}

func (d *protoModule) metadataList(c *coder, num protowire.Number, list *[]*metadata) {
	if c.encode {
		messages(c, num, list, func(m **metadata, c *coder) { d.metadata(c, *m) })
		return
	}
	c.each(num, func(f *rawField) { *list = append(*list, d.decodedMetadata(c, f)) })
}

func (d *protoModule) namedSharding(c *coder, s *sharding) {
	if s.named == nil {
		s.named = &namedSharding{}
	}
	n := s.named
	unreduced, manual := n.unreduced, n.manual
	if c.encode && n.word != "" && n.word != "replicated" {
		var all []axisRef
		for i := range n.mesh.axes {
			all = append(all, axisRef{axis: int64(i)})
		}
		if n.word == "unreduced" {
			unreduced = all
		} else {
			manual = all
		}
	}
	c.msg(2, true, func(c *coder) { d.mesh(c, &n.mesh) })
	messages(c, 3, &n.dims, func(x *dimSharding, c *coder) {
		d.axisRefs(c, 1, &x.axes, &n.mesh)
		closed := c.encode && !x.open
		if c.bool(2, &closed); !c.encode {
			x.open = !closed
		}
	})
	d.axisRefs(c, 4, &n.replicated, &n.mesh)
	d.axisRefs(c, 5, &unreduced, &n.mesh)
	d.metadataList(c, 6, &s.metadata)
	d.axisRefs(c, 7, &manual, &n.mesh)
	op := int64(max(0, slices.Index(reductions, n.reduction)))
	c.int(8, &op)
	if c.encode {
		return
	}
	n.unreduced, n.manual = unreduced, manual
	if op > 0 && op < int64(len(reductions)) {
		n.reduction = reductions[op]
	}
	n.normalize()
}

var reductions = []string{"sum", "max", "min"}

func (d *protoModule) axisRefs(c *coder, num protowire.Number, list *[]axisRef, m *mesh) {
	messages(c, num, list, func(r *axisRef, c *coder) {
		c.int(1, &r.axis)
		c.msg(2, r.size != 0, func(c *coder) {
			c.int(1, &r.pre)
			c.int(2, &r.size)
		})
		if r.axis < 0 || r.axis >= int64(len(m.axes)) {
			d.fail(nil, "a sharding names axis %d of a mesh that does not have it", r.axis)
		}
	})
}

func (d *protoModule) mesh(c *coder, m *mesh) {
	messages(c, 1, &m.axes, func(a *axis, c *coder) {
		c.str(1, &a.name)
		c.int(2, &a.size)
	})
	ids := m.ids.devices
	if m.oneDevice() {
		ids = []int64{m.device}
	}
	c.ints(2, &ids)
	c.msg(3, m.ids.iota != nil, func(c *coder) {
		c.ints(1, &m.ids.iota)
		c.ints(2, &m.ids.perm)
	})
	if c.encode {
		return
	}
	switch {
	case len(m.axes) == 0 && len(ids) == 1:
		m.word, m.device = singleDevice, ids[0]
	case ids != nil || m.ids.iota != nil:
		m.hasIDs = true
		m.ids.devices = ids
		if len(m.ids.iota) != len(m.ids.perm) {
			d.fail(nil, "the devices of a mesh have %d dimensions and a permutation of %d", len(m.ids.iota), len(m.ids.perm))
		}
	}
}

// groups codes the replica groups of a collective: a list, iota tiles, or axes of a mesh. Older modules store the
// list in another field.
func (d *protoModule) groups(c *coder, g *replicaGroups) *replicaGroups {
	if g == nil {
		g = &replicaGroups{}
	}
	list := func(c *coder, num protowire.Number) {
		messages(c, num, &g.lists, func(group *[]int64, c *coder) { c.ints(1, group) })
	}
	found := c.msg(92, g.tiles != nil, func(c *coder) {
		if g.tiles == nil {
			g.tiles = &tiles{dims: make([]int64, 2)}
		}
		c.int(1, &g.tiles.dims[0])
		c.int(2, &g.tiles.dims[1])
		c.ints(3, &g.tiles.iota)
		c.ints(4, &g.tiles.perm)
		if !c.encode && (len(g.tiles.iota) == 0 || len(g.tiles.iota) != len(g.tiles.perm)) {
			d.fail(nil, "replica groups have devices of %d dimensions and a permutation of %d", len(g.tiles.iota), len(g.tiles.perm))
		}
	}) || c.msg(93, g.mesh != nil, func(c *coder) {
		if g.mesh == nil {
			g.mesh = &mesh{}
		}
		c.msg(1, true, func(c *coder) { d.mesh(c, g.mesh) })
		d.axisRefs(c, 2, &g.axes, g.mesh)
	}) || c.msg(87, true, func(c *coder) { list(c, 1) })
	if !c.encode {
		if !found {
			list(c, 49)
		}
		c.get(49)
	}
	return g
}
