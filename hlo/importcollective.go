package hlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// collective translates the collectives; ok is false for any other instruction.
func (s *importScope) collective(in *instr) (v value, ok bool) {
	im := s.im
	channel := func(attrs []ir.NamedAttr) []ir.NamedAttr {
		if id, ok := in.attrByName("channel_id").(int64); ok {
			attrs = append(attrs, inherent("channel_handle", stablehlo.ChannelHandleAttr.New(&stablehlo.ChannelHandle{Handle: id, Type: stablehlo.ChannelDeviceToDevice})))
		}
		if attrOf[bool](in, "use_global_device_ids") {
			attrs = append(attrs, inherent("use_global_device_ids", ir.NewUnit()))
		}
		return attrs
	}
	groups := func() []ir.NamedAttr {
		return channel([]ir.NamedAttr{inherent("replica_groups", im.matrix(im.groups(in), 0))})
	}
	root := func() []ir.NamedAttr {
		attrs := groups()
		if attrOf[bool](in, "has_dynamic_root") {
			attrs = append(attrs, inherent("has_dynamic_root", ir.NewUnit()))
		}
		return attrs
	}
	reducer := func() []*ir.Region { return []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))} }
	name := in.op.name
	// A start contains the result of its op, and a done extracts it.
	switch name {
	case "all-reduce-done", "all-gather-done", "collective-permute-done":
		if name == "all-reduce-done" {
			return s.value(in.operands[0]), true
		}
		return s.part(in, 1), true
	case "all-reduce", "all-reduce-start":
		// The computation may have another element type than the result.
		wide := in.shape
		if c := attrOf[*computation](in, "to_apply"); wide.isArray() && c.root.shape.isArray() {
			wide = wide.withElem(c.root.shape.elem)
		}
		v := s.makeAs(in, wide, stablehlo.AllReduce, s.operands(in), reducer(), groups()...)
		if wide != in.shape && wide.elem != in.shape.elem {
			v = s.make(in, stablehlo.Convert, v.flat(), nil)
		}
		return v, true
	case "reduce-scatter":
		return s.make(in, stablehlo.ReduceScatter, s.operands(in), reducer(), append(groups(), inherent("scatter_dimension", i64Attr(s.oneDim(in))))...), true
	case "all-gather":
		return s.make(in, stablehlo.AllGather, s.operands(in), nil, append(groups(), inherent("all_gather_dim", i64Attr(s.oneDim(in))))...), true
	case "all-gather-start":
		r := s.makeAs(in, startResult(in), stablehlo.AllGather, s.operands(in), nil, append(groups(), inherent("all_gather_dim", i64Attr(s.oneDim(in))))...)
		return value{tuple: true, elems: []value{{}, r}}, true
	case "collective-broadcast":
		return s.make(in, stablehlo.CollectiveBroadcast, s.operands(in), nil, root()...), true
	case "collective-reduce":
		return s.make(in, stablehlo.CollectiveReduce, s.operands(in), reducer(), root()...), true
	case "collective-permute", "collective-permute-start":
		if len(attrOf[[][]int64](in, "slice_sizes")) > 0 {
			return value{}, false
		}
		attrs := channel([]ir.NamedAttr{inherent("source_target_pairs", im.matrix(attrOf[[][]int64](in, "source_target_pairs"), 2))})
		result := in.shape
		if name == "collective-permute-start" {
			result = startResult(in)
		}
		var r value
		if len(in.operands) == 1 {
			r = s.makeAs(in, result, stablehlo.CollectivePermute, s.operands(in), nil, attrs...)
		} else {
			// One op for each operand: StableHLO's op has one.
			r.tuple = true
			for _, o := range in.operands {
				r.elems = append(r.elems, s.makeAs(in, o.shape, stablehlo.CollectivePermute, []*ir.Value{s.value(o).v}, nil, attrs...))
			}
		}
		if name == "collective-permute" {
			return r, true
		}
		return value{tuple: true, elems: []value{{}, r}}, true
	case "ragged-all-to-all":
		return s.raggedAllToAll(in), true
	case "all-to-all":
		dims := attrOf[[]int64](in, "dimensions")
		g := im.groups(in)
		if len(dims) == 0 && in.shape.isTuple() && len(in.operands) > 0 {
			return s.tupleAllToAll(in, groups()), true
		}
		if len(dims) != 1 || len(in.operands) != 1 {
			return value{}, false
		}
		attrs := groups()
		if len(g) == 0 {
			g = [][]int64{im.allDevices(in)}
			attrs = channel([]ir.NamedAttr{inherent("replica_groups", im.matrix(g, 0))})
		}
		return s.make(in, stablehlo.AllToAll, s.operands(in), nil, append(attrs, inherent("split_dimension", i64Attr(dims[0])), inherent("concat_dimension", i64Attr(dims[0])),
			inherent("split_count", i64Attr(int64(len(g[0])))))...), true
	}
	return value{}, false
}

// groups returns the replica groups of in as lists.
func (im *importer) groups(in *instr) [][]int64 {
	return attrOf[*replicaGroups](in, "replica_groups").expand(func(format string, args ...any) { im.fail(in, format, args...) })
}

// allDevices returns the members of the one group that an empty list of groups stands for: all replicas, or all
// partitions for a collective with a channel.
func (im *importer) allDevices(in *instr) []int64 {
	n := im.hlo.replicas
	if in.attrByName("channel_id") != nil {
		n = im.hlo.partitions
	}
	if n > 1<<20 {
		im.fail(in, "%d devices are too many for a list of replica groups", n)
	}
	var list []int64
	for i := range n {
		list = append(list, i)
	}
	return list
}

// raggedAllToAll becomes the custom call that XLA writes.
func (s *importScope) raggedAllToAll(in *instr) value {
	im := s.im
	config := ir.AttrList{inherent("replica_groups", im.matrix(im.groups(in), 0))}
	if id, ok := in.attrByName("channel_id").(int64); ok {
		config = append(ir.AttrList{inherent("channel_id", i64Attr(id))}, config...)
	}
	return s.make(in, stablehlo.CustomCall, s.operands(in), nil, inherent("api_version", i32Attr(stablehlo.APITypedFFI)), inherent("backend_config", ir.NewDict(config)),
		ir.NamedAttr{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString(stablehlo.TargetRaggedAllToAll)})
}

// startResult returns the result's shape within the shape of a collective's start.
func startResult(in *instr) *shape {
	if in.shape.isTuple() && len(in.shape.elems) > 1 {
		return in.shape.elems[1]
	}
	return in.shape
}

// tupleAllToAll translates the form of all-to-all that has an operand and a result for each device of a group. The
// operands become one array with a row for each device.
func (s *importScope) tupleAllToAll(in *instr, groups []ir.NamedAttr) value {
	im := s.im
	n := int64(len(in.operands))
	row := in.operands[0].shape
	if !row.isArray() {
		im.fail(in, "all-to-all of a tuple has no equivalent in StableHLO")
	}
	rowDims := append([]int64{1}, row.dims...)
	var rows []*ir.Value
	for _, v := range s.operands(in) {
		rows = append(rows, s.makeAs(in, array(row.elem, rowDims...), stablehlo.Reshape, []*ir.Value{v}, nil).v)
	}
	all := array(row.elem, append([]int64{n}, row.dims...)...)
	v := s.makeAs(in, all, stablehlo.Concatenate, rows, nil, inherent("dimension", i64Attr(0)))
	v = s.makeAs(in, all, stablehlo.AllToAll, []*ir.Value{v.v}, nil, append(groups, inherent("split_dimension", i64Attr(0)), inherent("concat_dimension", i64Attr(0)),
		inherent("split_count", i64Attr(n)))...)
	out := value{tuple: true}
	for i := range n {
		start, limit, stride := make([]int64, len(all.dims)), slices.Clone(all.dims), make([]int64, len(all.dims))
		start[0], limit[0] = i, i+1
		for j := range stride {
			stride[j] = 1
		}
		part := s.makeAs(in, array(row.elem, rowDims...), stablehlo.Slice, []*ir.Value{v.v}, nil, inherent("start_indices", i64sAttr(start)),
			inherent("limit_indices", i64sAttr(limit)), inherent("strides", i64sAttr(stride)))
		out.elems = append(out.elems, s.makeAs(in, row, stablehlo.Reshape, []*ir.Value{part.v}, nil))
	}
	return out
}
