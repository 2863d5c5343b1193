package hlo

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/wire"
)

// decodeSharding decodes an OpSharding.
func decodeSharding(text string) (s *sharding, err error) {
	err = wire.Decode(text, func(c *wire.Coder) {
		s = (&protoModule{m: &Module{}, r: c.Reader()}).sharding(c, nil)
		if len(s.rest) > 0 {
			c.Reader().Fail(nil, "fields that no OpSharding has")
		}
	})
	return s, err
}

// sharding codes an OpSharding.
func (d *protoModule) sharding(c *wire.Coder, s *sharding) *sharding {
	if s == nil {
		s = &sharding{}
	}
	d.enter(nil)
	defer func() { d.level-- }()
	if c.Encode && s.kind == namedShardingKind {
		c.Write(14, func(c *wire.Coder) { d.namedSharding(c, s) })
		return s
	}
	kind := int64(s.kind)
	c.Int(1, &kind)
	if kind < 0 || kind > int64(unreducedSharding) {
		d.fail(nil, "unknown type %d of a sharding", kind)
	}
	c.Ints(3, &s.tiles.dims)
	c.Ints(4, &s.tiles.devices)
	wire.Messages(c, 5, &s.elems, func(e **sharding, c *wire.Coder) {
		if elem := d.sharding(c, *e); !c.Encode {
			*e = elem
		}
	})
	c.Bool(6, &s.lastTile)
	d.metadataList(c, 7, &s.metadata)
	last := make([]int64, len(s.lastDims))
	for i, k := range s.lastDims {
		last[i] = int64(k)
	}
	if !c.Encode {
		last = nil
	}
	c.Ints(8, &last)
	c.Ints(9, &s.tiles.iota)
	c.Ints(10, &s.tiles.perm)
	grouped := s.group.word != ""
	like := int64(0)
	if s.group.word == "shard_like" {
		like = 1
	}
	c.Bool(11, &grouped)
	c.Int(12, &s.group.id)
	c.Int(13, &like)
	if !c.Encode {
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
		if c.Has(14) {
			s.kind = namedShardingKind
			c.Msg(14, false, func(c *wire.Coder) { d.namedSharding(c, s) })
		}
		d.checkSharding(s)
	}
	c.Rest(&s.rest)
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

func (d *protoModule) metadataList(c *wire.Coder, num protowire.Number, list *[]*metadata) {
	if c.Encode {
		wire.Messages(c, num, list, func(m **metadata, c *wire.Coder) { d.metadata(c, *m) })
		return
	}
	c.Each(num, func(f *wire.Field) { *list = append(*list, d.decodedMetadata(c, f)) })
}

func (d *protoModule) namedSharding(c *wire.Coder, s *sharding) {
	if s.named == nil {
		s.named = &namedSharding{}
	}
	n := s.named
	unreduced, manual := n.unreduced, n.manual
	if c.Encode && n.word != "" && n.word != "replicated" {
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
	c.Msg(2, true, func(c *wire.Coder) { d.mesh(c, &n.mesh) })
	wire.Messages(c, 3, &n.dims, func(x *dimSharding, c *wire.Coder) {
		d.axisRefs(c, 1, &x.axes, &n.mesh)
		closed := c.Encode && !x.open
		if c.Bool(2, &closed); !c.Encode {
			x.open = !closed
		}
	})
	d.axisRefs(c, 4, &n.replicated, &n.mesh)
	d.axisRefs(c, 5, &unreduced, &n.mesh)
	d.metadataList(c, 6, &s.metadata)
	d.axisRefs(c, 7, &manual, &n.mesh)
	op := int64(max(0, slices.Index(reductions, n.reduction)))
	c.Int(8, &op)
	if c.Encode {
		return
	}
	n.unreduced, n.manual = unreduced, manual
	if op > 0 && op < int64(len(reductions)) {
		n.reduction = reductions[op]
	}
	n.normalize()
}

var reductions = []string{"sum", "max", "min"}

func (d *protoModule) axisRefs(c *wire.Coder, num protowire.Number, list *[]axisRef, m *mesh) {
	wire.Messages(c, num, list, func(r *axisRef, c *wire.Coder) {
		c.Int(1, &r.axis)
		c.Msg(2, r.size != 0, func(c *wire.Coder) {
			c.Int(1, &r.pre)
			c.Int(2, &r.size)
		})
		if r.axis < 0 || r.axis >= int64(len(m.axes)) {
			d.fail(nil, "a sharding names axis %d of a mesh that does not have it", r.axis)
		}
	})
}

func (d *protoModule) mesh(c *wire.Coder, m *mesh) {
	wire.Messages(c, 1, &m.axes, func(a *axis, c *wire.Coder) {
		c.Str(1, &a.name)
		c.Int(2, &a.size)
	})
	ids := m.ids.devices
	if m.oneDevice() {
		ids = []int64{m.device}
	}
	c.Ints(2, &ids)
	c.Msg(3, m.ids.iota != nil, func(c *wire.Coder) {
		c.Ints(1, &m.ids.iota)
		c.Ints(2, &m.ids.perm)
	})
	if c.Encode {
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
func (d *protoModule) groups(c *wire.Coder, g *replicaGroups) *replicaGroups {
	if g == nil {
		g = &replicaGroups{}
	}
	list := func(c *wire.Coder, num protowire.Number) {
		wire.Messages(c, num, &g.lists, func(group *[]int64, c *wire.Coder) { c.Ints(1, group) })
	}
	found := c.Msg(92, g.tiles != nil, func(c *wire.Coder) {
		if g.tiles == nil {
			g.tiles = &tiles{dims: make([]int64, 2)}
		}
		c.Int(1, &g.tiles.dims[0])
		c.Int(2, &g.tiles.dims[1])
		c.Ints(3, &g.tiles.iota)
		c.Ints(4, &g.tiles.perm)
		if !c.Encode && (len(g.tiles.iota) == 0 || len(g.tiles.iota) != len(g.tiles.perm)) {
			d.fail(nil, "replica groups have devices of %d dimensions and a permutation of %d", len(g.tiles.iota), len(g.tiles.perm))
		}
	}) || c.Msg(93, g.mesh != nil, func(c *wire.Coder) {
		if g.mesh == nil {
			g.mesh = &mesh{}
		}
		c.Msg(1, true, func(c *wire.Coder) { d.mesh(c, g.mesh) })
		d.axisRefs(c, 2, &g.axes, g.mesh)
	}) || c.Msg(87, true, func(c *wire.Coder) { list(c, 1) })
	if !c.Encode {
		if !found {
			list(c, 49)
		}
		c.Get(49)
	}
	return g
}
