package hlo

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// zeroAttr is the attribute value for a field that proto3 omits.
func zeroAttr(s *attrSpec) any {
	switch s.kind {
	case kInt, kEnum:
		if s.name == "transpose_a" {
			return int64(1)
		}
		return int64(0)
	case kBool:
		return false
	case kFloat:
		return float64(0)
	case kString:
		return ""
	case kInts:
		return []int64{}
	case kIntLists:
		return [][]int64{}
	case kGroups:
		return &replicaGroups{}
	case kSlice:
		return []sliceDim{}
	case kPadding:
		return []paddingDim{}
	case kDimLabels:
		return convDims{}
	case kWindow:
		return window{}
	case kDomain:
		return &domain{kind: "sharding", entry: &sharding{}, exit: &sharding{}}
	}
	return nil
}

// attr codes the value of an attribute that field num holds, and returns it. When encoding, value is the value; when
// decoding, found says whether the message contains the attribute.
func (d *protoModule) attr(c *coder, in *instr, num protowire.Number, s *attrSpec, value any) (_ any, found bool) {
	switch s.kind {
	case kRaw, kShapes, kGroups, kDomain: // other fields may hold the value
	default:
		if !c.encode && !c.has(num) {
			return nil, false
		}
	}
	switch s.kind {
	case kInt:
		v, _ := value.(int64)
		return d.number(c, num, s, v)
	case kBool:
		v, _ := value.(bool)
		if s.name == "is_associative" {
			return associative(c, num, v)
		}
		c.bool(num, &v)
		return v, true
	case kFloat:
		v, _ := value.(float64)
		c.float32(num, &v)
		return v, true
	case kString:
		v, _ := value.(string)
		c.str(num, &v)
		return v, true
	case kRaw:
		v, _ := value.(string)
		c.str(num, &v)
		if !c.encode && v == "" && s == cConfig {
			c.msg(99, false, func(c *coder) { v = d.payload(c) })
		}
		return v, v != ""
	case kInts:
		v, _ := value.([]int64)
		if s.name == "shifts" {
			c.msg(num, true, func(c *coder) { c.msg(1, true, func(c *coder) { c.ints(1, &v) }) })
		} else {
			c.ints(num, &v)
		}
		return v, true
	case kIntLists:
		v, _ := value.([][]int64)
		return intLists(c, num, v)
	case kBools:
		v, _ := value.([]bool)
		c.msg(num, true, func(c *coder) { c.bools(1, &v) })
		return v, true
	case kEnum:
		v, _ := value.(int64)
		return d.enum(c, num, s, v)
	case kEnums:
		v, _ := value.([]int64)
		c.ints(num, &v)
		for _, e := range v {
			if e < 0 || e >= int64(len(s.enum)) {
				d.fail(nil, "instruction %s has a value %d of %s that is unknown", shorten(in.name), e, s.name)
			}
		}
		return v, true
	case kWindow:
		v, _ := value.(window)
		if v == nil {
			v = window{}
		}
		c.msg(num, true, func(c *coder) { messages(c, 1, (*[]windowDim)(&v), (*windowDim).fields) })
		return v, true
	case kDimLabels:
		v, _ := value.(convDims)
		c.msg(num, true, func(c *coder) { v = d.convDims(c, v) })
		return v, true
	case kPadding:
		v, _ := value.([]paddingDim)
		c.msg(num, true, func(c *coder) { messages(c, 1, &v, (*paddingDim).fields) })
		return v, true
	case kSlice:
		v, _ := value.([]sliceDim)
		messages(c, num, &v, (*sliceDim).fields)
		return v, true
	case kShape:
		v, _ := value.(*shape)
		d.shapeField(c, num, &v)
		return v, true
	case kShapes:
		v, _ := value.([]*shape)
		if !c.encode {
			v = []*shape{}
		}
		d.shapeList(c, num, &v)
		return v, c.encode || len(v) > 0 || c.has(56)
	case kLiteral:
		v, _ := value.(*literal)
		c.msg(num, true, func(c *coder) { v = d.literal(c, v) })
		return v, true
	case kGroups:
		v, _ := value.(*replicaGroups)
		return d.groups(c, v), true
	case kSharding:
		v, _ := value.(*sharding)
		c.msg(num, true, func(c *coder) { v = d.sharding(c, v) })
		return v, true
	case kDomain:
		v := domain{kind: "sharding"}
		if c.encode {
			v = *value.(*domain)
		}
		// XLA's proto names the two sides in the opposite order of its text.
		found := c.msg(55, true, func(c *coder) { v.entry = d.sharding(c, v.entry) }) && c.msg(54, true, func(c *coder) { v.exit = d.sharding(c, v.exit) })
		return &v, found
	case kPairs:
		v, _ := value.([]pair)
		c.msg(num, true, func(c *coder) { codePairs(c, &v) })
		return v, true
	case kAliasing:
		v, _ := value.([]valueAlias)
		messages(c, num, &v, (*valueAlias).fields)
		return v, true
	case kStatistics:
		return message(c, num, value, (*statistics).fields), true
	case kAccuracy:
		v := message(c, num, value, (*accuracy).fields)
		return v, v.mode >= 0 && v.mode < int64(len(accuracyModes))
	case kOrigin:
		v, _ := value.(*origin)
		c.msg(num, true, func(c *coder) { v = d.origin(c, v) })
		return v, true
	case kMetadata:
		if c.encode {
			c.write(num, func(c *coder) { d.metadata(c, value.(*metadata)) })
			return value, true
		}
		return d.decodedMetadata(c, c.get(num)), true
	case kSparsity:
		return message(c, num, value, (*sparsityConfig).fields), true
	case kBlockScaling:
		return message(c, num, value, (*blockScalingConfig).fields), true
	}
	return nil, false
}

// number codes an integer.
func (d *protoModule) number(c *coder, num protowire.Number, s *attrSpec, v int64) (_ int64, found bool) {
	switch s.name {
	case "iota_dimension", "inferred_dimension":
		list := []int64{v}
		if !c.encode {
			list = nil
		}
		if c.ints(num, &list); len(list) != 1 {
			return 0, false
		}
		return list[0], true
	case "cross_program_prefetch_index": // 0 is written, too
		if c.encode {
			c.out = protowire.AppendVarint(protowire.AppendTag(c.out, num, protowire.VarintType), uint64(v))
			return v, true
		}
		return int64(c.get(num).value), true
	}
	c.int(num, &v)
	return v, c.encode || v != 0 || s != aChannel && s != aFeatureGroups && s != aBatchGroups
}

// associative codes is_associative, which may be unknown in a proto.
func associative(c *coder, num protowire.Number, v bool) (_, known bool) {
	var i int64
	if c.encode {
		i = 2
		if v {
			i = 1
		}
	}
	c.int(num, &i)
	return i == 1, i != 0
}

func (p *paddingDim) fields(c *coder) {
	c.int(1, &p.low)
	c.int(2, &p.high)
	c.int(3, &p.interior)
}

func (s *sliceDim) fields(c *coder) {
	c.int(1, &s.start)
	c.int(2, &s.limit)
	c.int(3, &s.stride)
}

func (a *valueAlias) fields(c *coder) {
	c.ints(1, &a.output)
	c.int(2, &a.number)
	c.ints(3, &a.index)
}

func (s *statistics) fields(c *coder) {
	c.int(1, &s.shown)
	messages(c, 2, &s.list, func(e *statistic, c *coder) {
		c.str(1, &e.name)
		c.double(2, &e.value)
	})
}

func (a *accuracy) fields(c *coder) {
	c.int(1, &a.mode)
	found := c.msg(2, a.tolerance, func(c *coder) {
		c.double(1, &a.atol)
		c.double(2, &a.rtol)
		ulps := int64(a.ulps)
		if c.int(3, &ulps); !c.encode {
			a.ulps = float64(ulps)
		}
	})
	if !c.encode {
		a.tolerance = found
	}
}

func (s *sparsityConfig) fields(c *coder) {
	s.lhs.field(c, 1)
	s.rhs.field(c, 2)
}

func (s *sparsity) field(c *coder, num protowire.Number) {
	found := c.msg(num, s.set, func(c *coder) {
		c.int(1, &s.num)
		c.int(2, &s.group)
		c.int(3, &s.dim)
		c.int(4, &s.stride)
		c.int(5, &s.index)
	})
	if !c.encode {
		s.set = found
	}
}

func (s *blockScalingConfig) fields(c *coder) {
	s.lhs.field(c, 1)
	s.rhs.field(c, 2)
}

func (s *blockScaling) field(c *coder, num protowire.Number) {
	found := c.msg(num, s.set, func(c *coder) {
		c.int(1, &s.scale)
		c.int(2, &s.zero)
		c.ints(3, &s.strides)
		c.ints(4, &s.steps)
	})
	if !c.encode {
		s.set = found
	}
}

// payload reads a Payload: its text, or the index of one of the module's payloads.
func (d *protoModule) payload(c *coder) string {
	var v string
	c.str(1, &v)
	if !c.has(2) {
		return v
	}
	var id int64
	c.int(2, &id)
	if id < 0 || id >= int64(len(d.payloads)) {
		d.fail(nil, "payload %d does not exist; the module has %d", id, len(d.payloads))
	}
	return d.payloads[id]
}

func (d *protoModule) enum(c *coder, num protowire.Number, s *attrSpec, v int64) (_ int64, found bool) {
	if s.name == "direction" || s.name == "type" || s.name == "order" || s.name == "kind" {
		// These are strings.
		var name string
		if c.encode {
			name = s.enumName(v)
		}
		if c.str(num, &name); name == "" {
			return 0, false
		}
		i := slices.Index(s.enum, name)
		if i < 0 {
			d.fail(nil, "unknown %s %s", s.name, shorten(name))
		}
		return int64(i), true
	}
	if s.name == "mode" { // the one mode is a message, which shifts codes
		return 0, true
	}
	c.int(num, &v)
	if v < 0 || v >= int64(len(s.enum)) {
		d.fail(nil, "unknown %s %d", s.name, v)
	}
	return v, v != 0 || s.name != "api_version"
}

// intLists codes source_target_pairs, and the slice_sizes of a collective-permute, which are concatenated lists.
func intLists(c *coder, num protowire.Number, v [][]int64) (_ [][]int64, found bool) {
	if num == 52 {
		messages(c, num, &v, func(p *[]int64, c *coder) {
			if *p == nil {
				*p = make([]int64, 2)
			}
			c.int(1, &(*p)[0])
			c.int(2, &(*p)[1])
		})
		return v, true
	}
	flat := slices.Concat(v...)
	if c.ints(num, &flat); !c.encode {
		v = [][]int64{flat} // checkDecoded splits it when the operands are known
	}
	return v, len(flat) > 0
}

func (w *windowDim) fields(c *coder) {
	c.int(1, &w.size)
	c.int(2, &w.stride)
	c.int(3, &w.padLow)
	c.int(4, &w.padHigh)
	c.int(5, &w.windowDilation)
	c.int(6, &w.baseDilation)
	c.bool(7, &w.reversal)
}

// places returns the places of two letters in the labels of dimensions, and of the digits in their order.
func places(labels string, first, second byte) (a, b int64, digits []int64) {
	for i := range len(labels) {
		switch l := labels[i]; l {
		case first:
			a = int64(i)
		case second:
			b = int64(i)
		case '?':
		default:
			for len(digits) <= int(l-'0') {
				digits = append(digits, 0)
			}
			digits[l-'0'] = int64(i)
		}
	}
	return a, b, digits
}

// convDims codes ConvolutionDimensionNumbers. Dimensions without a number are '?'.
func (d *protoModule) convDims(c *coder, v convDims) convDims {
	side := func(labels *string, first, second byte, firstNum, secondNum, spatialNum protowire.Number) {
		a, b, spatial := places(*labels, first, second)
		c.int(firstNum, &a)
		c.int(secondNum, &b)
		c.ints(spatialNum, &spatial)
		if c.encode {
			return
		}
		n := max(a, b)
		for _, x := range spatial {
			n = max(n, x)
		}
		if n > 64 || min(a, b) < 0 || len(spatial) > 10 || len(spatial) > 0 && slices.Min(spatial) < 0 {
			d.fail(nil, "the dimension numbers of a convolution are out of range")
		}
		out := make([]byte, n+1)
		for i := range out {
			out[i] = '?'
		}
		for i, x := range spatial {
			out[x] = '0' + byte(i)
		}
		out[a], out[b] = first, second
		*labels = string(out)
	}
	side(&v.input, 'b', 'f', 7, 8, 11)
	side(&v.kernel, 'i', 'o', 3, 4, 6)
	side(&v.output, 'b', 'f', 9, 10, 12)
	return v
}
