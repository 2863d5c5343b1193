package hlo

import (
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
)

// protoField is the field of an attribute in HloInstructionProto: its number, within the message of field parent if
// parent is not 0.
type protoField struct{ parent, num protowire.Number }

// protoFields are the fields of attributes by name. fieldOf handles attributes whose field depends on
// the instruction; callees have no field of their own.
var protoFields = map[string]protoField{
	"dimensions": {0, 14}, "iota_dimension": {0, 14}, "inferred_dimension": {0, 14}, "index": {0, 13}, "window": {0, 15}, "dim_labels": {0, 16},
	"feature_group_count": {0, 50}, "batch_group_count": {0, 58}, "slice": {0, 17}, "exponent_bits": {0, 18}, "mantissa_bits": {0, 19},
	"dynamic_slice_sizes": {0, 20}, "padding": {0, 21}, "outfeed_config": {0, 22}, "distribution": {0, 23}, "epsilon": {0, 24}, "feature_index": {0, 25},
	"channel_id": {0, 26}, "infeed_config": {0, 27}, "custom_call_target": {0, 28}, "outfeed_shape": {0, 29},
	"lhs_contracting_dims": {30, 1}, "rhs_contracting_dims": {30, 2}, "lhs_batch_dims": {30, 3}, "rhs_batch_dims": {30, 4},
	"fft_type": {0, 31}, "fft_length": {0, 32}, "direction": {0, 63}, "type": {0, 72},
	"offset_dims": {33, 1}, "collapsed_slice_dims": {33, 2}, "start_index_map": {33, 3}, "operand_batching_dims": {33, 5}, "start_indices_batching_dims": {33, 6},
	"update_window_dims": {48, 1}, "inserted_window_dims": {48, 2}, "scatter_dims_to_operand_dims": {48, 3}, "input_batching_dims": {48, 5}, "scatter_indices_batching_dims": {48, 6},
	"is_host_transfer": {0, 47}, "use_global_device_ids": {0, 71}, "constrain_layout": {0, 56}, "is_stable": {0, 60}, "operand_precision": {51, 1},
	"source_target_pairs": {0, 52}, "left_side": {59, 1}, "unit_diagonal": {59, 3}, "transpose_a": {59, 4}, "custom_call_has_side_effect": {0, 65},
	"delta": {0, 66}, "indices_are_sorted": {0, 67}, "unique_indices": {0, 69}, "output_to_operand_aliasing": {0, 74}, "padding_type": {0, 75}, "schedule": {0, 76},
	"api_version": {0, 77}, "async_execution_thread": {0, 79}, "cross_program_prefetch_index": {0, 80}, "k": {0, 81}, "largest": {0, 85}, "is_composite": {0, 89},
	"lhs_ragged_dims": {90, 2}, "rhs_group_dims": {90, 3}, "is_reverse": {0, 94}, "num_carries": {0, 95}, "is_associative": {0, 96}, "convolution_kind": {0, 97},
	"sparsity_config": {0, 98}, "has_dynamic_root": {0, 100}, "kind": {0, 11}, "literal": {0, 8}, "replica_groups": {0, 87}, "domain": {0, 54},
	"operand_layout_constraints": {0, 57},

	"sharding": {0, 40}, "frontend_attributes": {0, 68}, "statistics": {0, 82}, "result_accuracy": {0, 91}, "origin": {0, 88}, "metadata": {0, 7},
	"backend_config": {0, 43}, "parameter_replication": {0, 61},
}

// fieldOf returns the field of attribute s of op; num is 0 if the attribute has no field of its own.
func fieldOf(op *opcode, s *attrSpec) protoField {
	switch s.name {
	case "algorithm":
		if s == aAlgorithm {
			return protoField{51, 2}
		}
		return protoField{0, 70}
	case "lower":
		if op.name == "cholesky" {
			return protoField{62, 1}
		}
		return protoField{59, 2}
	case "index_vector_dim":
		if op.name == "gather" {
			return protoField{33, 4}
		}
		return protoField{48, 4}
	case "slice_sizes":
		if s == aSliceSizes2 {
			return protoField{0, 20}
		}
		return protoField{0, 34}
	}
	return protoFields[s.name]
}

// commonFields are the fields of commonAttrs.
var commonFields = func() []protoField {
	list := make([]protoField, len(commonAttrs))
	for i, s := range commonAttrs {
		list[i] = protoFields[s.name]
	}
	return list
}()

// field returns the field of attribute s of o; num is 0 if the attribute has no field of its own.
func (o *opcode) field(s *attrSpec) protoField {
	for i, a := range o.attrs {
		if a == s {
			return o.fields[i]
		}
	}
	for i, a := range commonAttrs {
		if a == s {
			return commonFields[i]
		}
	}
	return protoField{}
}

func (d *protoModule) encodeInstr(c *coder, in *instr, base int64, ids protoIDs, extra map[*instr]*computation) {
	name := d.nameOf(in)
	c.str(1, &name)
	name = in.op.name
	c.str(2, &name)
	d.shapeField(c, 3, &in.shape)
	if in.literal != nil {
		c.write(8, func(c *coder) { d.literal(c, in.literal) })
	}
	c.int(9, &in.param)
	var called []*computation
	if w := extra[in]; w != nil {
		called = []*computation{w}
	} else if in.op == opAsyncStart || !in.isAsync() {
		if called = in.callees(); in.op == opWhile {
			slices.Reverse(called) // the body first
		}
	}
	id := base + int64(in.order)
	c.int(35, &id)
	c.instrIDs(36, in.operands, base)
	c.instrIDs(37, in.predecessors(), base)
	if len(called) > 0 {
		list := make([]int64, len(called))
		for i, comp := range called {
			list[i] = ids.comp[comp]
		}
		c.ints(38, &list)
	}
	sugar := in.wrapped != nil && in.op == opAsyncStart
	var parent protowire.Number
	for _, a := range in.attrs {
		f := in.op.field(a.spec)
		switch {
		case f.num == 0 || sugar && !keptOnStart(in, a.spec):
		case f.parent == 0:
			d.attr(c, in, f.num, a.spec, a.value)
		case f.parent != parent: // else written with the first of its message
			parent = f.parent
			c.write(parent, func(c *coder) { d.encodeAttrs(c, in, parent) })
		}
	}
	if in.op.name == "ragged-dot" {
		// The plain dimensions are nested one message deeper.
		c.write(90, func(c *coder) {
			c.write(1, func(c *coder) { d.encodeAttrs(c, in, 30) })
		})
	}
	switch {
	case in.op.name == "convolution" && in.attrByName("window") == nil:
		c.write(15, func(*coder) {})
	case in.op == opCustomCall:
		if in.attrByName(stablehlo.AttrAPIVersion) == nil {
			one := int64(1)
			c.int(77, &one)
		}
		if in.attrByName("operand_layout_constraints") != nil {
			yes := true
			c.bool(56, &yes)
		}
	case in.op == opOutfeed && in.attrByName("outfeed_shape") == nil:
		d.shapeField(c, 29, &in.operands[0].shape)
	case in.op == opAsyncStart && in.attrByName("async_execution_thread") == nil:
		thread := mainThread
		c.str(79, &thread)
	}
	if in.rest != nil {
		c.rest(in.rest)
	}
}

// encodeAttrs encodes the attributes of in that the message of field parent holds.
func (d *protoModule) encodeAttrs(c *coder, in *instr, parent protowire.Number) {
	for _, a := range in.attrs {
		if f := in.op.field(a.spec); f.parent == parent {
			d.attr(c, in, f.num, a.spec, a.value)
		}
	}
}

// keptOnStart reports whether an attribute of an async-start written as sugar belongs to the start itself.
func keptOnStart(in *instr, s *attrSpec) bool {
	return s == in.op.attrs[0] || s == in.op.attrs[1] || slices.Contains(commonAttrs, s)
}

// instrIDs encodes the ids of instructions of one computation.
func (c *coder) instrIDs(num protowire.Number, list []*instr, base int64) {
	if len(list) == 0 {
		return
	}
	n := 0
	for _, in := range list {
		n += protowire.SizeVarint(uint64(base + int64(in.order)))
	}
	c.out = protowire.AppendVarint(protowire.AppendTag(c.out, num, protowire.BytesType), uint64(n))
	for _, in := range list {
		c.out = protowire.AppendVarint(c.out, uint64(base+int64(in.order)))
	}
}

func (d *protoModule) decodeInstr(c *coder) (in *instr, operands, control []int64) {
	in = d.slabs.instrs.one()
	in.pos = diag.At(c.offset())
	c.str(1, &in.name)
	var opName string
	c.str(2, &opName)
	in.op = opcodes[opName]
	if in.op == nil {
		d.fail(nil, "instruction %s has an unknown opcode %s", shorten(in.name), shorten(opName))
	}
	if !d.shapeField(c, 3, &in.shape) {
		d.fail(nil, "instruction %s has no shape", shorten(in.name))
	}
	if in.op == opConstant {
		if !c.msg(8, false, func(c *coder) { in.literal = d.literal(c, nil) }) {
			d.fail(nil, "constant %s has no value", shorten(in.name))
		}
		if !compatible(in.literal.shape, in.shape) {
			d.fail(nil, "constant %s has type %s, but a value of type %s", shorten(in.name), in.shape.plain(), in.literal.shape.plain())
		}
		in.literal.shape = in.shape
	}
	c.int(9, &in.param)
	c.int(35, &in.id)
	start := len(d.ids)
	c.ints(36, &d.ids)
	operands = d.ids[start:]
	c.ints(37, &control)
	start = len(d.called)
	c.ints(38, &d.called)
	var room [8]attr
	attrs := room[:0]
	for i, spec := range in.op.attrs {
		attrs = d.decodeAttr(c, in, spec, in.op.fields[i], attrs)
	}
	for i, spec := range commonAttrs {
		// Most instructions have few of these.
		f := commonFields[i]
		if raw := c.get(f.num); raw != nil || spec == cConfig && c.has(99) {
			if raw != nil && raw.body == raw.end && raw.typ == protowire.BytesType && spec.omit != nil && spec != cConfig {
				continue // XLA writes empty statistics
			}
			if spec != cAccuracy || in.op.accuracy {
				attrs = d.decodeAttr(c, in, spec, f, attrs)
			}
		}
	}
	if in.op == opCustomCall {
		c.get(56)
	}
	called := d.called[start:len(d.called):len(d.called)]
	if len(called) > 0 {
		d.calls = append(d.calls, pendingCall{in, called, nil})
	}
	if n, more := len(attrs), min(len(called), 2); n+more > 0 {
		in.attrs = d.slabs.attrs.take(n + more)[:n] // bindCalls sets up to two more
		copy(in.attrs, attrs)
	}
	if rest := c.unread(); rest != nil {
		in.rest = new(protoRest)
		*in.rest = rest
	}
	if in.op.operands >= 0 && len(operands) != in.op.operands {
		d.fail(nil, "%s %s has %d operands, expected %d", in.op.name, shorten(in.name), len(operands), in.op.operands)
	}
	return in, operands, control
}

// decodeAttr appends the attribute spec of in, which field f of the message in c holds, if it is there.
func (d *protoModule) decodeAttr(c *coder, in *instr, spec *attrSpec, f protoField, attrs []attr) []attr {
	if f.num == 0 || spec == aMode {
		return attrs
	}
	var v any
	found := false
	decode := func(c *coder) { v, found = d.attr(c, in, f.num, spec, nil) }
	switch {
	case f.parent == 0:
		decode(c)
	case f.parent == 30 && c.has(90):
		c.msg(90, false, func(c *coder) { c.msg(1, false, decode) })
	default:
		c.msg(f.parent, false, decode)
	}
	if !found && (spec.required || spec.always != nil) {
		v, found = zeroAttr(spec), true
	}
	if found && (spec.omit == nil || !spec.omit(v)) {
		attrs = append(attrs, attr{spec, v})
	}
	return attrs
}

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
		c.ints(num, &v)
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
	if s.name == "direction" || s.name == "type" || s.name == "kind" {
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

// convDims codes ConvolutionDimensionNumbers. Dimensions without a number are '?'.
func (d *protoModule) convDims(c *coder, v convDims) convDims {
	side := func(labels *string, first, second byte, firstNum, secondNum, spatialNum protowire.Number) {
		var a, b int64
		var spatial []int64
		if c.encode {
			for i := range len(*labels) {
				switch l := (*labels)[i]; l {
				case first:
					a = int64(i)
				case second:
					b = int64(i)
				case '?':
				default:
					for len(spatial) <= int(l-'0') {
						spatial = append(spatial, 0)
					}
					spatial[l-'0'] = int64(i)
				}
			}
		}
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

// decodedMetadata returns the metadata of a field. Equal encodings give one value.
func (d *protoModule) decodedMetadata(c *coder, f *rawField) *metadata {
	c.want(f, protowire.BytesType)
	text := c.text(c.bytesOf(f))
	m := d.known[text]
	if m == nil {
		m = d.slabs.metadata.one()
		d.known[text] = m
		c.read(f, func(c *coder) { d.metadata(c, m) })
	}
	return m
}

func (d *protoModule) metadata(c *coder, m *metadata) {
	c.str(1, &m.opType)
	c.str(2, &m.opName)
	c.str(3, &m.sourceFile)
	c.int(4, &m.sourceLine)
	c.ints(5, &m.profileType)
	c.str(12, &m.deduplicatedName)
	c.int(15, &m.frame)
	c.str(16, &m.schedulingName)
	c.int(17, &m.sourceEndLine)
	c.int(18, &m.sourceColumn)
	c.int(19, &m.sourceEndColumn)
	c.msg(20, m.payload != nil, func(c *coder) {
		if c.encode {
			c.str(1, m.payload)
			return
		}
		text := d.payload(c)
		m.payload = &text
	})
	if !c.encode && (m.frame < 0 || m.frame > int64(len(d.m.frames.frames))) {
		m.frame = 0
	}
	c.rest(&m.rest)
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
	if len(n.dims) == 0 && len(n.replicated)+len(n.unreduced)+len(n.manual) == 0 && !n.mesh.maximal {
		n.word = "replicated"
	}
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
	if m.maximal {
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
		m.maximal, m.device = true, ids[0]
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

// origin codes an OriginalValueProto: the leaves of a tree with their positions.
func (d *protoModule) origin(c *coder, o *origin) *origin {
	type leaf struct {
		index []int64
		array *originArray
	}
	var leaves []leaf
	if c.encode {
		var walk func(n *originNode, index []int64)
		walk = func(n *originNode, index []int64) {
			if !n.isTuple {
				leaves = append(leaves, leaf{slices.Clone(index), n.leaf})
				return
			}
			for i, e := range n.elems {
				walk(e, append(index, int64(i)))
			}
		}
		if o.tree != nil {
			walk(o.tree, nil)
		}
	} else {
		o = &origin{}
	}
	messages(c, 1, &leaves, func(l *leaf, c *coder) {
		c.ints(1, &l.index)
		c.msg(2, l.array != nil, func(c *coder) {
			if l.array == nil {
				l.array = &originArray{}
			}
			l.array.fields(c)
		})
	})
	c.bool(2, &o.synthetic)
	if c.encode {
		return o
	}
	for _, l := range leaves {
		if o.tree == nil {
			o.tree = &originNode{}
		}
		n := o.tree
		for _, i := range l.index {
			if i < 0 || i > 1<<20 || n.leaf != nil {
				d.fail(nil, "an original value has a leaf at a place that does not exist")
			}
			n.isTuple = true
			for len(n.elems) <= int(i) {
				n.elems = append(n.elems, &originNode{})
			}
			n = n.elems[i]
		}
		n.leaf = l.array
	}
	return o
}

// literal codes a LiteralProto: elements in the order of the layout. Elements narrower than a byte
// are packed in older protos only.
func (d *protoModule) literal(c *coder, v *literal) *literal {
	if c.encode {
		d.encodeLiteral(c, v)
		return v
	}
	d.enter(nil)
	defer func() { d.level-- }()
	v = &literal{}
	if !d.shapeField(c, 1, &v.shape) {
		d.fail(nil, "a literal has no shape")
	}
	if v.shape.isTuple() {
		messages(c, 10, &v.elems, func(e **literal, c *coder) { *e = d.literal(c, nil) })
		if len(v.elems) != len(v.shape.elems) {
			d.fail(nil, "a literal of type %s has %d elements", v.shape.plain(), len(v.elems))
		}
		return v
	}
	if !v.shape.isArray() {
		return v
	}
	d.decodeElements(c, v)
	return v
}

func (d *protoModule) encodeLiteral(c *coder, v *literal) {
	s := v.shape.withoutElementBits()
	d.shapeField(c, 1, &s)
	if v.shape.isTuple() {
		for _, e := range v.elems {
			c.write(10, func(c *coder) { d.encodeLiteral(c, e) })
		}
		return
	}
	if !v.shape.isArray() {
		return
	}
	row := v.shape.elem.row()
	n := int(v.shape.numElements())
	if n == 0 {
		return
	}
	num := protowire.Number(row.literalField)
	size := v.shape.elem.size()
	data := v.data
	if len(data) < n*size {
		data = append(slices.Clone(data), make([]byte, n*size-len(data))...)
	}
	data = v.shape.physical(data, size, false)
	c.out = protowire.AppendTag(c.out, num, protowire.BytesType)
	switch {
	case row.name == "s32" || row.name == "s64" || row.name == "u32" || row.name == "u64":
		list := make([]byte, 0, n*2)
		for i := range n {
			x := get(data, i, size)
			if row.name == "s32" {
				x = uint64(int64(int32(x)))
			}
			list = protowire.AppendVarint(list, x)
		}
		c.out = protowire.AppendBytes(c.out, list)
	default:
		c.out = protowire.AppendBytes(c.out, data)
	}
}

// withoutElementBits returns s without the element sizes of its layouts: the elements of a literal are never packed.
func (s *shape) withoutElementBits() *shape {
	switch {
	case s.isTuple():
		out := *s
		out.elems = make([]*shape, len(s.elems))
		for i, e := range s.elems {
			out.elems[i] = e.withoutElementBits()
		}
		return &out
	case s.layout != nil && s.layout.elementBits != 0:
		out, l := *s, *s.layout
		l.elementBits = 0
		out.layout = &l
		return &out
	}
	return s
}

// decodeElements reads the elements of an array.
func (d *protoModule) decodeElements(c *coder, v *literal) {
	row := v.shape.elem.row()
	size := v.shape.elem.size()
	count, ok := product(v.shape.dims)
	if !ok || count*int64(size) > maxLiteral {
		d.fail(nil, "%s is too large for a literal", v.shape.plain())
	}
	n := int(count)
	num := protowire.Number(row.literalField)
	var data []byte
	switch row.name {
	case "s32", "s64", "u32", "u64":
		var list []int64
		c.ints(num, &list)
		if len(list) == n {
			data = make([]byte, n*size)
			for i, x := range list {
				put(data, i, size, uint64(x))
			}
		}
	case "pred":
		var list []bool
		c.bools(num, &list)
		if len(list) == n {
			data = make([]byte, n)
			for i, x := range list {
				if x {
					data[i] = 1
				}
			}
		}
	case "f32", "f64", "c64", "c128":
		// Packed numbers of a fixed size are consecutive bytes; unpacked ones come one by one.
		c.each(num, func(f *rawField) {
			switch f.typ {
			case protowire.BytesType:
				data = append(data, c.bytesOf(f)...)
			case protowire.Fixed32Type:
				data = binary.LittleEndian.AppendUint32(data, uint32(f.value))
			case protowire.Fixed64Type:
				data = binary.LittleEndian.AppendUint64(data, f.value)
			}
		})
	default:
		c.bytes(num, &data)
		if row.bits < 8 && 8/row.bits > 1 {
			per := 8 / row.bits
			if len(data) == (n+per-1)/per {
				packed := data
				data = make([]byte, n)
				for i := range data {
					b := packed[i/per] >> (i % per * row.bits) & (1<<row.bits - 1)
					if row.kind == signedKind && b>>(row.bits-1) != 0 {
						b |= 0xff << row.bits
					}
					data[i] = b
				}
			}
		}
	}
	if len(data) != n*size {
		d.fail(nil, "a literal of type %s has %d bytes of elements, expected %d", v.shape.plain(), len(data), n*size)
	}
	v.data = v.shape.physical(data, size, true)
}

// physical converts the elements of data from row-major order to the order of s's layout, or the reverse if back is
// set.
func (s *shape) physical(data []byte, size int, back bool) []byte {
	l := s.layout
	rank := len(s.dims)
	plain := true
	for i, d := range l.minorToMajor {
		plain = plain && d == int64(rank-1-i)
	}
	if plain {
		return data
	}
	// stride[d] is the distance of neighbours along dimension d in row-major order.
	stride := make([]int, rank)
	n := 1
	for d := rank - 1; d >= 0; d-- {
		stride[d] = n
		n *= int(s.dims[d])
	}
	out := make([]byte, n*size)
	index := make([]int64, rank)
	logical := 0
	for i := range n {
		from, to := logical*size, i*size
		if back {
			from, to = to, from
		}
		copy(out[to:to+size], data[from:from+size])
		for _, d := range l.minorToMajor {
			index[d]++
			logical += stride[d]
			if index[d] < s.dims[d] {
				break
			}
			logical -= stride[d] * int(s.dims[d])
			index[d] = 0
		}
	}
	return out
}

// bindCalls sets the computations that an instruction calls.
func (d *protoModule) bindCalls(call pendingCall) {
	in := call.in
	var room [2]*computation
	comps := room[:0]
	for _, id := range call.ids {
		comp := d.comps[id]
		if comp == nil {
			d.fail(nil, "instruction %s calls a computation %d that does not exist", shorten(in.name), id)
		}
		comps = append(comps, comp)
	}
	set := func(name string, v any) {
		order, spec := in.lookup(name)
		in.set(order, spec, v)
	}
	need := func(n int) {
		if len(comps) != n {
			d.fail(nil, "%s %s calls %d computations, expected %d", in.op.name, shorten(in.name), len(comps), n)
		}
	}
	switch {
	case in.op == opWhile:
		need(2)
		set("body", comps[0])
		set("condition", comps[1])
	case in.op.name == "select-and-scatter":
		need(2)
		set("select", comps[0])
		set("scatter", comps[1])
	case in.op == opConditional:
		set("branch_computations", slices.Clone(comps)) // checkDecoded knows the type of the index
	case in.op == opCustomCall:
		set("called_computations", slices.Clone(comps))
	case in.op == opAsyncStart || in.op == opFusion:
		need(1)
		set("calls", comps[0])
	case in.isAsync():
	default:
		if _, spec := in.lookup("to_apply"); spec == nil {
			d.fail(nil, "%s %s cannot call computations", in.op.name, shorten(in.name))
		}
		need(1)
		set("to_apply", comps[0])
	}
}

// checkDecoded completes an instruction that was read from a proto, when its operands are known. It returns a
// description of the error, if any.
func checkDecoded(in *instr) string {
	for _, s := range in.op.attrs {
		if s.required && (s.kind == kComputation) && in.get(s) == nil {
			return fmt.Sprintf("%s calls no computation for %s", in.op.name, s.name)
		}
	}
	if in.op == opConditional && len(in.operands) > 0 && in.operands[0].shape.elem == pred {
		comps := attrOf[[]*computation](in, "branch_computations")
		if len(comps) != 2 {
			return "conditional on pred[] needs two branches"
		}
		in.attrs = slices.DeleteFunc(in.attrs, func(a attr) bool { return a.spec.kind == kComputations })
		for i, name := range []string{"true_computation", "false_computation"} {
			order, spec := in.lookup(name)
			in.set(order, spec, comps[i])
		}
	}
	for i := range in.attrs {
		a := &in.attrs[i]
		switch {
		case a.spec == aDimLabels && len(in.operands) == 2:
			v := a.value.(convDims)
			for _, side := range []struct {
				labels *string
				s      *shape
			}{{&v.input, in.operands[0].shape}, {&v.kernel, in.operands[1].shape}, {&v.output, in.shape}} {
				for len(*side.labels) < len(side.s.dims) {
					*side.labels += "?"
				}
			}
			a.value = v
		case a.spec == aSliceSizes2:
			a.value = divideSizes(in, a.value.([][]int64))
		}
	}
	if in.isAsync() {
		return (&parser{}).checkAsync(in)
	}
	return (&parser{}).check(in, in.op)
}

// divideSizes divides the slice sizes of a collective-permute by the ranks of its inputs.
func divideSizes(in *instr, lists [][]int64) [][]int64 {
	if len(lists) != 1 || len(in.operands) == 0 {
		return lists
	}
	s := in.operands[0].shape
	ranks := []int{len(s.dims)}
	if s.isTuple() {
		ranks = nil
		for _, e := range s.elems {
			ranks = append(ranks, len(e.dims))
		}
	}
	if len(ranks) == 0 {
		return lists
	}
	var out [][]int64
	rest := lists[0]
	for i := 0; len(rest) > 0; i++ {
		n := ranks[i%len(ranks)]
		if n == 0 || n > len(rest) {
			return lists
		}
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out
}
