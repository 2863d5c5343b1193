package hlo

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/wire"
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
func (d *protoModule) attr(c *wire.Coder, in *instr, num protowire.Number, s *attrSpec, value any) (_ any, found bool) {
	switch s.kind {
	case kRaw, kShapes, kGroups, kDomain: // other fields may hold the value
	default:
		if !c.Encode && !c.Has(num) {
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
		c.Bool(num, &v)
		return v, true
	case kFloat:
		v, _ := value.(float64)
		c.Float32(num, &v)
		return v, true
	case kString:
		v, _ := value.(string)
		c.Str(num, &v)
		return v, true
	case kRaw:
		v, _ := value.(string)
		c.Str(num, &v)
		if !c.Encode && v == "" && s == cConfig {
			c.Msg(99, false, func(c *wire.Coder) { v = d.payload(c) })
		}
		return v, v != ""
	case kInts:
		v, _ := value.([]int64)
		if s.name == "shifts" {
			c.Msg(num, true, func(c *wire.Coder) { c.Msg(1, true, func(c *wire.Coder) { c.Ints(1, &v) }) })
		} else {
			c.Ints(num, &v)
		}
		return v, true
	case kIntLists:
		v, _ := value.([][]int64)
		return intLists(c, num, v)
	case kBools:
		v, _ := value.([]bool)
		c.Msg(num, true, func(c *wire.Coder) { c.Bools(1, &v) })
		return v, true
	case kEnum:
		v, _ := value.(int64)
		return d.enum(c, num, s, v)
	case kEnums:
		v, _ := value.([]int64)
		c.Ints(num, &v)
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
		c.Msg(num, true, func(c *wire.Coder) { wire.Messages(c, 1, (*[]windowDim)(&v), (*windowDim).fields) })
		return v, true
	case kDimLabels:
		v, _ := value.(convDims)
		c.Msg(num, true, func(c *wire.Coder) { v = d.convDims(c, v) })
		return v, true
	case kPadding:
		v, _ := value.([]paddingDim)
		c.Msg(num, true, func(c *wire.Coder) { wire.Messages(c, 1, &v, (*paddingDim).fields) })
		return v, true
	case kSlice:
		v, _ := value.([]sliceDim)
		wire.Messages(c, num, &v, (*sliceDim).fields)
		return v, true
	case kShape:
		v, _ := value.(*shape)
		d.shapeField(c, num, &v)
		return v, true
	case kShapes:
		v, _ := value.([]*shape)
		if !c.Encode {
			v = []*shape{}
		}
		d.shapeList(c, num, &v)
		return v, c.Encode || len(v) > 0 || c.Has(56)
	case kLiteral:
		v, _ := value.(*literal)
		c.Msg(num, true, func(c *wire.Coder) { v = d.literal(c, v) })
		return v, true
	case kGroups:
		v, _ := value.(*replicaGroups)
		return d.groups(c, v), true
	case kSharding:
		v, _ := value.(*sharding)
		c.Msg(num, true, func(c *wire.Coder) { v = d.sharding(c, v) })
		return v, true
	case kDomain:
		v := domain{kind: "sharding"}
		if c.Encode {
			v = *value.(*domain)
		}
		// XLA's proto names the two sides in the opposite order of its text.
		found := c.Msg(55, true, func(c *wire.Coder) { v.entry = d.sharding(c, v.entry) }) && c.Msg(54, true, func(c *wire.Coder) { v.exit = d.sharding(c, v.exit) })
		return &v, found
	case kPairs:
		v, _ := value.([]pair)
		c.Msg(num, true, func(c *wire.Coder) { codePairs(c, &v) })
		return v, true
	case kAliasing:
		v, _ := value.([]valueAlias)
		wire.Messages(c, num, &v, (*valueAlias).fields)
		return v, true
	case kStatistics:
		return wire.Message(c, num, value, (*statistics).fields), true
	case kAccuracy:
		v := wire.Message(c, num, value, (*accuracy).fields)
		return v, v.mode >= 0 && v.mode < int64(len(accuracyModes))
	case kOrigin:
		v, _ := value.(*origin)
		c.Msg(num, true, func(c *wire.Coder) { v = d.origin(c, v) })
		return v, true
	case kMetadata:
		if c.Encode {
			c.Write(num, func(c *wire.Coder) { d.metadata(c, value.(*metadata)) })
			return value, true
		}
		return d.decodedMetadata(c, c.Get(num)), true
	case kSparsity:
		return wire.Message(c, num, value, (*sparsityConfig).fields), true
	case kBlockScaling:
		return wire.Message(c, num, value, (*blockScalingConfig).fields), true
	}
	return nil, false
}

// number codes an integer.
func (d *protoModule) number(c *wire.Coder, num protowire.Number, s *attrSpec, v int64) (_ int64, found bool) {
	switch s.name {
	case "iota_dimension", "inferred_dimension":
		list := []int64{v}
		if !c.Encode {
			list = nil
		}
		if c.Ints(num, &list); len(list) != 1 {
			return 0, false
		}
		return list[0], true
	case "cross_program_prefetch_index": // 0 is written, too
		if c.Encode {
			c.Out = protowire.AppendVarint(protowire.AppendTag(c.Out, num, protowire.VarintType), uint64(v))
			return v, true
		}
		return int64(c.Get(num).Value), true
	}
	c.Int(num, &v)
	return v, c.Encode || v != 0 || s != aChannel && s != aFeatureGroups && s != aBatchGroups
}

// associative codes is_associative, which may be unknown in a proto.
func associative(c *wire.Coder, num protowire.Number, v bool) (_, known bool) {
	var i int64
	if c.Encode {
		i = 2
		if v {
			i = 1
		}
	}
	c.Int(num, &i)
	return i == 1, i != 0
}

func (p *paddingDim) fields(c *wire.Coder) {
	c.Int(1, &p.low)
	c.Int(2, &p.high)
	c.Int(3, &p.interior)
}

func (s *sliceDim) fields(c *wire.Coder) {
	c.Int(1, &s.start)
	c.Int(2, &s.limit)
	c.Int(3, &s.stride)
}

func (a *valueAlias) fields(c *wire.Coder) {
	c.Ints(1, &a.output)
	c.Int(2, &a.number)
	c.Ints(3, &a.index)
}

func (s *statistics) fields(c *wire.Coder) {
	c.Int(1, &s.shown)
	wire.Messages(c, 2, &s.list, func(e *statistic, c *wire.Coder) {
		c.Str(1, &e.name)
		c.Double(2, &e.value)
	})
}

func (a *accuracy) fields(c *wire.Coder) {
	c.Int(1, &a.mode)
	found := c.Msg(2, a.tolerance, func(c *wire.Coder) {
		c.Double(1, &a.atol)
		c.Double(2, &a.rtol)
		ulps := int64(a.ulps)
		if c.Int(3, &ulps); !c.Encode {
			a.ulps = float64(ulps)
		}
	})
	if !c.Encode {
		a.tolerance = found
	}
}

func (s *sparsityConfig) fields(c *wire.Coder) {
	s.lhs.field(c, 1)
	s.rhs.field(c, 2)
}

func (s *sparsity) field(c *wire.Coder, num protowire.Number) {
	found := c.Msg(num, s.set, func(c *wire.Coder) {
		c.Int(1, &s.num)
		c.Int(2, &s.group)
		c.Int(3, &s.dim)
		c.Int(4, &s.stride)
		c.Int(5, &s.index)
	})
	if !c.Encode {
		s.set = found
	}
}

func (s *blockScalingConfig) fields(c *wire.Coder) {
	s.lhs.field(c, 1)
	s.rhs.field(c, 2)
}

func (s *blockScaling) field(c *wire.Coder, num protowire.Number) {
	found := c.Msg(num, s.set, func(c *wire.Coder) {
		c.Int(1, &s.scale)
		c.Int(2, &s.zero)
		c.Ints(3, &s.strides)
		c.Ints(4, &s.steps)
	})
	if !c.Encode {
		s.set = found
	}
}

// payload reads a Payload: its text, or the index of one of the module's payloads.
func (d *protoModule) payload(c *wire.Coder) string {
	var v string
	c.Str(1, &v)
	if !c.Has(2) {
		return v
	}
	var id int64
	c.Int(2, &id)
	if id < 0 || id >= int64(len(d.payloads)) {
		d.fail(nil, "payload %d does not exist; the module has %d", id, len(d.payloads))
	}
	return d.payloads[id]
}

func (d *protoModule) enum(c *wire.Coder, num protowire.Number, s *attrSpec, v int64) (_ int64, found bool) {
	if s.name == "direction" || s.name == "type" || s.name == "order" || s.name == "kind" {
		// These are strings.
		var name string
		if c.Encode {
			name = s.enumName(v)
		}
		if c.Str(num, &name); name == "" {
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
	c.Int(num, &v)
	if v < 0 || v >= int64(len(s.enum)) {
		d.fail(nil, "unknown %s %d", s.name, v)
	}
	return v, v != 0 || s.name != "api_version"
}

// intLists codes source_target_pairs, and the slice_sizes of a collective-permute, which are concatenated lists.
func intLists(c *wire.Coder, num protowire.Number, v [][]int64) (_ [][]int64, found bool) {
	if num == 52 {
		wire.Messages(c, num, &v, func(p *[]int64, c *wire.Coder) {
			if *p == nil {
				*p = make([]int64, 2)
			}
			c.Int(1, &(*p)[0])
			c.Int(2, &(*p)[1])
		})
		return v, true
	}
	flat := slices.Concat(v...)
	if c.Ints(num, &flat); !c.Encode {
		v = [][]int64{flat} // checkDecoded splits it when the operands are known
	}
	return v, len(flat) > 0
}

func (w *windowDim) fields(c *wire.Coder) {
	c.Int(1, &w.size)
	c.Int(2, &w.stride)
	c.Int(3, &w.padLow)
	c.Int(4, &w.padHigh)
	c.Int(5, &w.windowDilation)
	c.Int(6, &w.baseDilation)
	c.Bool(7, &w.reversal)
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
func (d *protoModule) convDims(c *wire.Coder, v convDims) convDims {
	side := func(labels *string, first, second byte, firstNum, secondNum, spatialNum protowire.Number) {
		a, b, spatial := places(*labels, first, second)
		c.Int(firstNum, &a)
		c.Int(secondNum, &b)
		c.Ints(spatialNum, &spatial)
		if c.Encode {
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
