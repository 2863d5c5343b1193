package hlo

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/wire"
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
	"operand_layout_constraints": {0, 57}, "block_scaling_config": {0, 101}, "order": {0, 102}, "mode": {0, 103}, "shifts": {0, 103},

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

func (d *protoModule) encodeInstr(c *wire.Coder, in *instr, base int64, ids protoIDs, extra map[*instr]*computation) {
	name := d.nameOf(in)
	c.Str(1, &name)
	name = in.op.name
	c.Str(2, &name)
	d.shapeField(c, 3, &in.shape)
	if in.literal != nil {
		c.Write(8, func(c *wire.Coder) { d.literal(c, in.literal) })
	}
	c.Int(9, &in.param)
	var called []*computation
	if w := extra[in]; w != nil {
		called = []*computation{w}
	} else if in.op == opAsyncStart || !in.isAsync() {
		if called = in.callees(); in.op == opWhile {
			slices.Reverse(called) // the body first
		}
	}
	id := base + int64(in.order)
	c.Int(35, &id)
	instrIDs(c, 36, in.operands, base)
	instrIDs(c, 37, in.predecessors(), base)
	if len(called) > 0 {
		list := make([]int64, len(called))
		for i, comp := range called {
			list[i] = ids.comp[comp]
		}
		c.Ints(38, &list)
	}
	sugar := in.wrapped != nil && in.op == opAsyncStart
	ragged := in.op.name == "ragged-dot"
	var parent protowire.Number
	for _, a := range in.attrs {
		f := in.op.field(a.spec)
		switch {
		case f.num == 0 || sugar && !keptOnStart(in, a.spec) || ragged && f.parent != 0:
		case f.parent == 0:
			d.attr(c, in, f.num, a.spec, a.value)
		case f.parent != parent: // else written with the first of its message
			parent = f.parent
			c.Write(parent, func(c *wire.Coder) { d.encodeAttrs(c, in, parent) })
		}
	}
	if ragged { // the plain dimensions are nested one message deeper
		c.Write(90, func(c *wire.Coder) {
			c.Write(1, func(c *wire.Coder) { d.encodeAttrs(c, in, 30) })
			d.encodeAttrs(c, in, 90)
		})
	}
	switch {
	case in.op.name == "convolution" && in.attrByName("window") == nil:
		c.Write(15, func(*wire.Coder) {})
	case in.op == opCustomCall:
		if in.attrByName(stablehlo.AttrAPIVersion) == nil {
			one := int64(1)
			c.Int(77, &one)
		}
		if in.attrByName("operand_layout_constraints") != nil {
			yes := true
			c.Bool(56, &yes)
		}
	case in.op == opCompare:
		// XLA reads the order since 0.12 and the type before.
		if order, ok := in.attrByName("order").(int64); ok && in.operands[0].shape.defaultComparison() == 0 {
			name := comparisonTypes[order]
			c.Str(72, &name)
		}
	case in.op == opOutfeed && in.attrByName("outfeed_shape") == nil:
		d.shapeField(c, 29, &in.operands[0].shape)
	case in.op == opAsyncStart && in.attrByName("async_execution_thread") == nil:
		thread := mainThread
		c.Str(79, &thread)
	}
	if in.rest != nil {
		c.Rest(in.rest)
	}
}

// encodeAttrs encodes the attributes of in that the message of field parent holds.
func (d *protoModule) encodeAttrs(c *wire.Coder, in *instr, parent protowire.Number) {
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
func instrIDs(c *wire.Coder, num protowire.Number, list []*instr, base int64) {
	if len(list) == 0 {
		return
	}
	n := 0
	for _, in := range list {
		n += protowire.SizeVarint(uint64(base + int64(in.order)))
	}
	c.Out = protowire.AppendVarint(protowire.AppendTag(c.Out, num, protowire.BytesType), uint64(n))
	for _, in := range list {
		c.Out = protowire.AppendVarint(c.Out, uint64(base+int64(in.order)))
	}
}

func (d *protoModule) decodeInstr(c *wire.Coder) (in *instr, operands, control []int64) {
	in = d.slabs.instrs.one()
	in.pos = diag.At(c.Offset())
	c.Str(1, &in.name)
	var opName string
	c.Str(2, &opName)
	in.op = opcodes[opName]
	if in.op == nil {
		d.fail(nil, "instruction %s has an unknown opcode %s", shorten(in.name), shorten(opName))
	}
	if !d.shapeField(c, 3, &in.shape) {
		d.fail(nil, "instruction %s has no shape", shorten(in.name))
	}
	if in.op == opConstant {
		if !c.Msg(8, false, func(c *wire.Coder) { in.literal = d.literal(c, nil) }) {
			d.fail(nil, "constant %s has no value", shorten(in.name))
		}
		if !compatible(in.literal.shape, in.shape) {
			d.fail(nil, "constant %s has type %s, but a value of type %s", shorten(in.name), in.shape.plain(), in.literal.shape.plain())
		}
		in.shape = in.shape.static()
		in.literal.shape = in.shape
	}
	c.Int(9, &in.param)
	c.Int(35, &in.id)
	start := len(d.ids)
	c.Ints(36, &d.ids)
	operands = d.ids[start:]
	c.Ints(37, &control)
	start = len(d.called)
	c.Ints(38, &d.called)
	var room [8]attr
	attrs := room[:0]
	for i, spec := range in.op.attrs {
		attrs = d.decodeAttr(c, in, spec, in.op.fields[i], attrs)
	}
	for i, spec := range commonAttrs {
		// Most instructions have few of these.
		f := commonFields[i]
		if raw := c.Get(f.num); raw != nil || spec == cConfig && c.Has(99) {
			if raw != nil && raw.Empty() && spec.omit != nil && spec != cConfig {
				continue // XLA writes empty statistics
			}
			if spec != cAccuracy || in.op.accuracy {
				attrs = d.decodeAttr(c, in, spec, f, attrs)
			}
		}
	}
	if in.op == opCustomCall {
		c.Get(56)
	}
	called := d.called[start:len(d.called):len(d.called)]
	if len(called) > 0 {
		d.calls = append(d.calls, pendingCall{in, called, nil})
	}
	if n, more := len(attrs), min(len(called), 2); n+more > 0 {
		in.attrs = d.slabs.attrs.take(n + more)[:n] // bindCalls sets up to two more
		copy(in.attrs, attrs)
	}
	if rest := c.Unread(); rest != nil {
		in.rest = new(wire.Rest)
		*in.rest = rest
	}
	if in.op.operands >= 0 && len(operands) != in.op.operands {
		d.fail(nil, "%s %s has %d operands, expected %d", in.op.name, shorten(in.name), len(operands), in.op.operands)
	}
	return in, operands, control
}

// decodeAttr appends the attribute spec of in, which field f of the message in c holds, if it is there.
func (d *protoModule) decodeAttr(c *wire.Coder, in *instr, spec *attrSpec, f protoField, attrs []attr) []attr {
	if f.num == 0 || spec == aMode {
		return attrs
	}
	var v any
	found := false
	decode := func(c *wire.Coder) { v, found = d.attr(c, in, f.num, spec, nil) }
	switch {
	case f.parent == 0:
		decode(c)
	case f.parent == 30 && c.Has(90):
		c.Msg(90, false, func(c *wire.Coder) { c.Msg(1, false, decode) })
	default:
		c.Msg(f.parent, false, decode)
	}
	if !found && (spec.required || spec.always != nil) {
		v, found = zeroAttr(spec), true
	}
	if found && (spec.omit == nil || !spec.omit(v)) {
		attrs = append(attrs, attr{spec, v})
	}
	return attrs
}

// decodedMetadata returns the metadata of a field. Equal encodings give one value.
func (d *protoModule) decodedMetadata(c *wire.Coder, f *wire.Field) *metadata {
	c.Want(f, protowire.BytesType)
	text := c.Text(c.BytesOf(f))
	m := d.known[text]
	if m == nil {
		m = d.slabs.metadata.one()
		store(&d.known, text, m)
		c.Read(f, func(c *wire.Coder) { d.metadata(c, m) })
	}
	return m
}

func (d *protoModule) metadata(c *wire.Coder, m *metadata) {
	c.Str(1, &m.opType)
	c.Str(2, &m.opName)
	c.Str(3, &m.sourceFile)
	c.Int(4, &m.sourceLine)
	c.Ints(5, &m.profileType)
	c.Str(12, &m.deduplicatedName)
	c.Int(15, &m.frame)
	c.Str(16, &m.schedulingName)
	c.Int(17, &m.sourceEndLine)
	c.Int(18, &m.sourceColumn)
	c.Int(19, &m.sourceEndColumn)
	c.Msg(20, m.payload != nil, func(c *wire.Coder) {
		if c.Encode {
			c.Str(1, m.payload)
			return
		}
		text := d.payload(c)
		m.payload = &text
	})
	if !c.Encode && (m.frame < 0 || m.frame > int64(len(d.m.frames.frames))) {
		m.frame = 0
	}
	c.Rest(&m.rest)
}

// origin codes an OriginalValueProto: the leaves of a tree with their positions.
func (d *protoModule) origin(c *wire.Coder, o *origin) *origin {
	type leaf struct {
		index []int64
		array *originArray
	}
	var leaves []leaf
	if c.Encode {
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
	wire.Messages(c, 1, &leaves, func(l *leaf, c *wire.Coder) {
		c.Ints(1, &l.index)
		c.Msg(2, l.array != nil, func(c *wire.Coder) {
			if l.array == nil {
				l.array = &originArray{}
			}
			l.array.fields(c)
		})
	})
	c.Bool(2, &o.synthetic)
	c.Str(3, &o.calls)
	if c.Encode {
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
