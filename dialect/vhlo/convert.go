package vhlo

import (
	"encoding/binary"
	"fmt"
	"slices"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// converter converts the ops of one module.
type converter struct {
	ctx        *ir.Context
	target     Version
	keepOthers bool // keep other dialects
	types      map[ir.Type]ir.Type
	attrs      map[ir.Attr]ir.Attr
	names      map[string]ir.Attr
	fills      map[fillKey]ir.Attr
	nums       map[int64]ir.Attr
	lists      map[string]ir.Attr
	splits     map[splitKey][]ir.Attr
	bools      [2]ir.Attr
	faults     map[ir.Attr]string // by VHLO attribute or type: its features that the target does not know, "" for none
	wrong      map[ir.Type]string
}

// fillKey identifies the value of an attribute that an op omits.
type fillKey struct {
	op, attr string
	n        int
}

type splitKey struct {
	op, name string
	attr     ir.Attr
}

func newConverter(ctx *ir.Context, target Version, keepOthers bool) *converter {
	return &converter{
		ctx: ctx, target: target, keepOthers: keepOthers, types: map[ir.Type]ir.Type{}, attrs: map[ir.Attr]ir.Attr{}, names: map[string]ir.Attr{},
		fills: map[fillKey]ir.Attr{}, nums: map[int64]ir.Attr{}, lists: map[string]ir.Attr{}, splits: map[splitKey][]ir.Attr{},
		faults: map[ir.Attr]string{}, wrong: map[ir.Type]string{},
	}
}

// join describes how several VHLO attributes form one StableHLO attribute.
type join struct {
	ops    string // names of the operations, "" for all operations with the attributes
	attr   string // of StableHLO
	fields []string
	// split returns the VHLO values of the fields. a is nil for an op without the attribute.
	split func(c *converter, a ir.Attr) []ir.Attr
	// make returns StableHLO's attribute, or nil for none.
	make func(f *fieldList) ir.Attr
}

// fieldList reads the fields of a join. Fields that the version of the op does not have are nil.
type fieldList struct {
	names []string
	attrs []ir.Attr
	err   error
}

func (f *fieldList) mismatch(i int, expected string) {
	if f.err == nil {
		f.err = fmt.Errorf("the attribute %s is %.100s: expected %s", f.names[i], f.attrs[i], expected)
	}
}

// int, ints, flag and typ return the value of field i, and zero values for nil.
func (f *fieldList) int(i int) int64 {
	if f.attrs[i] == nil {
		return 0
	}
	v, ok := value(f.attrs[i])
	if !ok {
		f.mismatch(i, "an integer")
	}
	return v
}

func (f *fieldList) ints(i int) []int64 {
	if f.attrs[i] == nil {
		return nil
	}
	v, ok := ints(f.attrs[i])
	if !ok {
		f.mismatch(i, "integers")
	}
	return v
}

func (f *fieldList) flag(i int) bool {
	d, ok := ir.DataOf[boolean](f.attrs[i])
	if !ok {
		f.mismatch(i, "a truth value")
	}
	return ok && d.value
}

func (f *fieldList) typ(i int) string {
	if d, ok := ir.DataOf[typeRef](f.attrs[i]); ok {
		switch t := FromType(d.typ).(type) {
		case *ir.IntegerType, *ir.FloatType:
			return t.String()
		}
	}
	f.mismatch(i, "a type of numbers")
	return ""
}

// i64 returns an integer in VHLO's form. list and truth do the same for lists of integers and for truth values. Each
// returns the same attribute for equal values.
func (c *converter) i64(v int64) ir.Attr {
	a, ok := c.nums[v]
	if !ok {
		a = c.attrTo(ir.NewInteger(v, ir.Int(64)))
		c.nums[v] = a
	}
	return a
}

func (c *converter) list(v []int64) ir.Attr {
	var buf [64]byte
	key := buf[:0]
	for _, x := range v {
		key = binary.LittleEndian.AppendUint64(key, uint64(x))
	}
	a, ok := c.lists[string(key)]
	if !ok {
		a = c.attrTo(ir.NewDenseArray(ir.Int(64), v))
		c.lists[string(key)] = a
	}
	return a
}

func (c *converter) truth(v bool) ir.Attr {
	i := 0
	if v {
		i = 1
	}
	if c.bools[i] == nil {
		c.bools[i] = boolAttr.New(&boolean{v})
	}
	return c.bools[i]
}

// ints returns the integers of a list. ok is false for any other attribute.
func ints(a ir.Attr) (list []int64, ok bool) {
	d, ok := ir.DataOf[dense](a)
	if !ok {
		return nil, false
	}
	v, err := d.elems.Int64s()
	return slices.Clone(v), err == nil
}

// value returns the integer of an attribute. ok is false for any other attribute.
func value(a ir.Attr) (v int64, ok bool) {
	n, ok := ir.DataOf[integer](a)
	if !ok {
		return 0, false
	}
	return fromNumber(&n.number).(*ir.IntegerAttr).Value(), true
}

// is reports whether an attribute is the integer v.
func is(a ir.Attr, v int64) bool {
	x, ok := value(a)
	return ok && x == v
}

var convFields = []string{
	"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
	"kernel_output_feature_dimension", "kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
}

func splitConv(c *converter, a ir.Attr) []ir.Attr {
	d, ok := ir.DataOf[hlo.ConvDims](a)
	if !ok {
		return nil
	}
	return []ir.Attr{
		c.i64(d.InputBatch), c.i64(d.InputFeature), c.list(d.InputSpatial), c.i64(d.KernelInputFeature), c.i64(d.KernelOutput),
		c.list(d.KernelSpatial), c.i64(d.OutputBatch), c.i64(d.OutputFeature), c.list(d.OutputSpatial),
	}
}

func makeConv(f *fieldList) ir.Attr {
	return hlo.ConvAttr.New(&hlo.ConvDims{
		InputBatch: f.int(0), InputFeature: f.int(1), InputSpatial: f.ints(2), KernelInputFeature: f.int(3), KernelOutput: f.int(4),
		KernelSpatial: f.ints(5), OutputBatch: f.int(6), OutputFeature: f.int(7), OutputSpatial: f.ints(8),
	})
}

func splitGather(c *converter, a ir.Attr) []ir.Attr {
	d, ok := ir.DataOf[hlo.GatherDims](a)
	if !ok {
		return nil
	}
	return []ir.Attr{
		c.list(d.OffsetDims), c.list(d.CollapsedSliceDims), c.list(d.OperandBatchingDims), c.list(d.StartIndicesBatchingDims),
		c.list(d.StartIndexMap), c.i64(d.IndexVectorDim),
	}
}

func makeGather(f *fieldList) ir.Attr {
	return hlo.GatherAttr.New(&hlo.GatherDims{
		OffsetDims: f.ints(0), CollapsedSliceDims: f.ints(1), OperandBatchingDims: f.ints(2), StartIndicesBatchingDims: f.ints(3),
		StartIndexMap: f.ints(4), IndexVectorDim: f.int(5),
	})
}

var gatherFields = []string{
	"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map", "index_vector_dim",
}

// channel returns the join for an optional channel handle.
func channel(op string) join {
	return join{op, "channel_handle", []string{"channel_id"}, func(c *converter, a ir.Attr) []ir.Attr {
		if d, ok := ir.DataOf[hlo.ChannelHandle](a); ok {
			return []ir.Attr{c.i64(d.Handle)}
		}
		return []ir.Attr{c.i64(0)}
	}, func(f *fieldList) ir.Attr {
		if v := f.int(0); v != 0 {
			return hlo.ChannelHandleAttr.New(&hlo.ChannelHandle{Handle: v}) // VHLO does not store the type
		}
		return nil
	}}
}

// typedChannel returns the join for the channel handle of send or recv.
func typedChannel(op string) join {
	return join{op, "channel_handle", []string{"channel_id", "channel_type"}, func(c *converter, a ir.Attr) []ir.Attr {
		d, ok := ir.DataOf[hlo.ChannelHandle](a)
		if !ok {
			return nil
		}
		return []ir.Attr{c.i64(d.Handle), c.i64(d.Type)}
	}, func(f *fieldList) ir.Attr {
		return hlo.ChannelHandleAttr.New(&hlo.ChannelHandle{Handle: f.int(0), Type: f.int(1)})
	}}
}

// joins holds all joins by operation name.
var joins = func() map[string][]join {
	all := []join{
		{"convolution", "dimension_numbers", convFields, splitConv, makeConv},
		{"dynamic_conv", "dimension_numbers", convFields, splitConv, makeConv},
		{"dot_general", "dot_dimension_numbers", []string{
			"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
		}, func(c *converter, a ir.Attr) []ir.Attr {
			d, ok := ir.DataOf[hlo.DotDims](a)
			if !ok {
				return nil
			}
			return []ir.Attr{c.list(d.LHSBatching), c.list(d.RHSBatching), c.list(d.LHSContracting), c.list(d.RHSContracting)}
		}, func(f *fieldList) ir.Attr {
			return hlo.DotAttr.New(&hlo.DotDims{LHSBatching: f.ints(0), RHSBatching: f.ints(1), LHSContracting: f.ints(2), RHSContracting: f.ints(3)})
		}},
		{"dot_general", "algorithm", []string{
			"lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
			"num_primitive_operations", "allow_imprecise_accumulation",
		}, splitAlgorithm, makeAlgorithm},
		{"gather", "dimension_numbers", gatherFields, splitGather, makeGather},
		{"dynamic_gather", "dimension_numbers", gatherFields, splitGather, makeGather},
		{"scatter", "scatter_dimension_numbers", []string{
			"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims",
			"index_vector_dim",
		}, func(c *converter, a ir.Attr) []ir.Attr {
			d, ok := ir.DataOf[hlo.ScatterDims](a)
			if !ok {
				return nil
			}
			return []ir.Attr{
				c.list(d.UpdateWindowDims), c.list(d.InsertedWindowDims), c.list(d.InputBatchingDims), c.list(d.ScatterIndicesBatchingDim),
				c.list(d.ScatterDimsToOperandDims), c.i64(d.IndexVectorDim),
			}
		}, func(f *fieldList) ir.Attr {
			return hlo.ScatterAttr.New(&hlo.ScatterDims{
				UpdateWindowDims: f.ints(0), InsertedWindowDims: f.ints(1), InputBatchingDims: f.ints(2), ScatterIndicesBatchingDim: f.ints(3),
				ScatterDimsToOperandDims: f.ints(4), IndexVectorDim: f.int(5),
			})
		}},
		typedChannel("send"), typedChannel("recv"),
	}
	for _, op := range [...]string{"all_gather", "all_reduce", "all_to_all", "reduce_scatter", "collective_permute", "collective_broadcast", "collective_reduce"} {
		all = append(all, channel(op))
	}
	out := map[string][]join{}
	for _, j := range all {
		out[j.ops] = append(out[j.ops], j)
	}
	return out
}()

// splitAlgorithm returns the fields of a dot algorithm. If there is none, each field is the type none.
func splitAlgorithm(c *converter, a ir.Attr) []ir.Attr {
	d, ok := ir.DataOf[hlo.DotAlgorithm](a)
	if !ok {
		none := c.attrTo(ir.NewTypeAttr(c.ctx.None()))
		return []ir.Attr{none, none, none, none, none, none, none}
	}
	t := func(name string) ir.Attr {
		var x ir.Type
		if d, ok := tensor.ParseDType(name); ok {
			x = ir.ElementOf(d)
		} else {
			x = c.ctx.ForeignFloat(name)
		}
		if x = c.typeTo(x); x == nil {
			return nil
		}
		return typeAttr.New(&typeRef{x})
	}
	return []ir.Attr{
		t(d.LHSPrecision), t(d.RHSPrecision), t(d.Accumulation), c.i64(d.LHSComponents), c.i64(d.RHSComponents), c.i64(d.PrimitiveOperations),
		c.truth(d.AllowImpreciseAccumulation),
	}
}

// isNone reports whether a is the type none.
func isNone(a ir.Attr) bool {
	t, ok := ir.DataOf[typeRef](a)
	if !ok {
		return false
	}
	_, none := FromType(t.typ).(*ir.NoneType)
	return none
}

func makeAlgorithm(f *fieldList) ir.Attr {
	if !slices.ContainsFunc(f.attrs, func(a ir.Attr) bool { return a != nil && !isNone(a) }) {
		return nil
	}
	return hlo.DotAlgorithmAttr.New(&hlo.DotAlgorithm{
		LHSPrecision: f.typ(0), RHSPrecision: f.typ(1), Accumulation: f.typ(2), LHSComponents: f.int(3), RHSComponents: f.int(4),
		PrimitiveOperations: f.int(5), AllowImpreciseAccumulation: f.flag(6),
	})
}

// fill returns the VHLO value of an attribute that an op omits, or nil if the attribute is required.
func (c *converter) fill(op, attr string, n int) ir.Attr {
	key := fillKey{op, attr, n}
	a, ok := c.fills[key]
	if !ok {
		a = c.newFill(op, attr, n)
		c.fills[key] = a
	}
	return a
}

// newFill creates the VHLO value of an attribute that an op omits. n is the number of dimensions of its windows. It
// returns nil if the attribute is required.
func (c *converter) newFill(op, attr string, n int) ir.Attr {
	repeat := func(v int64) ir.Attr {
		list := make([]int64, n)
		for i := range list {
			list[i] = v
		}
		return c.list(list)
	}
	switch attr {
	case "sym_visibility", "infeed_config", "outfeed_config":
		return c.name("")
	case "backend_config":
		return c.name("")
	case "arg_attrs", "res_attrs", "called_computations", "operand_layouts", "result_layouts", "output_operand_aliases", "result_tilings", "layout":
		return c.empty(ir.NewArray(nil))
	case "use_global_device_ids", "has_dynamic_root", "has_side_effect", "indices_are_sorted", "unique_indices", "is_host_transfer", "is_stable":
		return c.truth(false)
	case "lower":
		if op == "cholesky" {
			return c.truth(false)
		}
	case "compare_type":
		return ir.NewEnum(comparisonEnum, 0)
	case "version":
		return c.i64(0)
	case "composite_attributes":
		return c.empty(ir.NewDict(nil))
	case "api_version":
		return ir.NewEnum(apiEnum, hlo.APIOriginal)
	case "precision_config":
		d := ir.NewEnum(precisionEnum, 0)
		return arrayAttr.New(&array{[]ir.Attr{d, d}})
	case "result_accuracy":
		return accuracyAttr.New(&accuracy{mode: ir.NewEnum(modeEnum, 0)})
	case "known_expanding_dimensions", "known_nonexpanding_dimensions":
		return c.list(nil)
	case "source_target_pairs":
		if op == "send" || op == "recv" {
			return c.list(nil)
		}
	case "dimension":
		if op == "sort" {
			return c.i64(-1)
		}
	case "window_strides", "lhs_dilation", "rhs_dilation", "base_dilations", "window_dilations":
		return repeat(1)
	case "window_reversal":
		return c.attrTo(ir.NewDenseArray(ir.Int(1), make([]int64, n)))
	case "padding":
		return c.zeros(int64(n), 2)
	}
	return nil
}

// empty returns the VHLO attribute for an empty array or dictionary. It always returns the same one.
func (c *converter) empty(a ir.Attr) ir.Attr {
	key := a.String()
	v, ok := c.names["\x00"+key]
	if !ok {
		v = c.attrTo(a)
		c.names["\x00"+key] = v
	}
	return v
}

// zeros returns dense zeros of type tensor<nxkxi64>.
func (c *converter) zeros(n, k int64) ir.Attr {
	v := tensor.New(tensor.I64, tensor.Shape{n, k})
	if n*k > 0 {
		v = tensor.New(tensor.I64, tensor.Shape{1, 1})
	}
	return c.attrTo(ir.NewDense(c.ctx.Tensor([]int64{n, k}, ir.Int(64), nil), v, n*k > 0))
}

// isDefault reports whether StableHLO omits a value because it is the default.
func (c *converter) isDefault(op, attr string, a ir.Attr) bool {
	emptyText := func() bool { s, ok := ir.DataOf[text](a); return ok && s.value == "" }
	emptyList := func() bool { l, ok := ir.DataOf[array](a); return ok && len(l.elems) == 0 }
	all := func(v int64) bool {
		d, ok := ir.DataOf[dense](a)
		if !ok {
			return false
		}
		t, splat, err := d.elems.Elements()
		if err != nil {
			return false
		}
		if d.elems.NumElements() == 0 {
			return true
		}
		if splat {
			return t.IntAt(0) == v
		}
		for i := range t.NumElements() {
			if t.IntAt(i) != v {
				return false
			}
		}
		return true
	}
	isFalse := func() bool { b, ok := ir.DataOf[boolean](a); return ok && !b.value }
	switch attr {
	case "sym_visibility", "infeed_config", "outfeed_config":
		return emptyText()
	case "backend_config":
		d, ok := ir.DataOf[dictionary](a)
		return emptyText() || ok && len(d.names) == 0
	case "arg_attrs", "res_attrs", "called_computations", "output_operand_aliases", "result_tilings", "layout":
		return emptyList()
	case "use_global_device_ids", "has_dynamic_root", "has_side_effect", "indices_are_sorted", "unique_indices", "is_host_transfer", "is_stable":
		return isFalse()
	case "lower":
		return op == "cholesky" && isFalse()
	case "compare_type":
		e, ok := a.(*ir.EnumAttr)
		return ok && e.Code() == 0
	case "version":
		return op == "composite" && is(a, 0)
	case "composite_attributes":
		d, ok := ir.DataOf[dictionary](a)
		return ok && len(d.names) == 0
	case "api_version":
		e, ok := a.(*ir.EnumAttr)
		return ok && e.Code() == hlo.APIOriginal
	case "precision_config":
		l, ok := ir.DataOf[array](a)
		return ok && !slices.ContainsFunc(l.elems, func(x ir.Attr) bool { e, ok := x.(*ir.EnumAttr); return !ok || e.Code() != 0 })
	case "result_accuracy":
		return isDefaultAccuracy(a)
	case "known_expanding_dimensions", "known_nonexpanding_dimensions":
		return isEmptyDense(a)
	case "source_target_pairs":
		return (op == "send" || op == "recv") && isEmptyDense(a)
	case "dimension":
		return op == "sort" && is(a, -1)
	case "window_strides", "lhs_dilation", "rhs_dilation", "base_dilations", "window_dilations":
		return all(1)
	case "window_reversal", "padding":
		return all(0)
	}
	return false
}

func isDefaultAccuracy(a ir.Attr) bool {
	d, ok := ir.DataOf[accuracy](a)
	if !ok {
		return false
	}
	m, ok := d.mode.(*ir.EnumAttr)
	return ok && m.Code() == 0 && d.atol == 0 && d.rtol == 0 && d.ulps == 0
}

// windowRank returns the number of dimensions of the windows of an op.
func windowRank(op *ir.Op) int {
	if d, ok := ir.DataOf[hlo.ConvDims](op.Attr("dimension_numbers")); ok {
		return len(d.InputSpatial)
	}
	if w, ok := op.Attr("window_dimensions").(*ir.DenseArrayAttr); ok {
		return len(w.Values())
	}
	return 0
}

// attrsToVHLO returns the attributes of op in the form of row, or an error that names the attribute that VHLO cannot
// store.
func (c *converter) attrsToVHLO(op *ir.Op, row *opRow) (ir.AttrList, error) {
	attrs := op.Attrs()
	if len(attrs) == 0 && len(row.attrs) == 0 {
		return nil, nil
	}
	out := make(ir.AttrList, 0, len(row.attrs)+2)
	var joined []string
	add := func(name string, a ir.Attr) {
		out = append(out, ir.NamedAttr{Name: name, Attr: a, Inherent: true})
	}
	for _, j := range joins[row.name] {
		a := attrs.Get(j.attr)
		key := splitKey{row.name, j.attr, a}
		fields, ok := c.splits[key]
		if !ok {
			fields = j.split(c, a)
			c.splits[key] = fields
		}
		if fields == nil {
			return nil, fmt.Errorf("the attribute %s of %s is missing or of another kind", j.attr, op.Name())
		}
		joined = append(joined, j.attr)
		for i, f := range j.fields {
			if fields[i] == nil {
				return nil, fmt.Errorf("VHLO has no form for the attribute %s of %s", j.attr, op.Name())
			}
			if slices.Contains(row.attrs, f) {
				add(f, fields[i])
			}
		}
	}
	for _, a := range attrs {
		if slices.Contains(joined, a.Name) {
			continue
		}
		v := c.special(row.name, a)
		if v == nil {
			v = c.attrTo(a.Attr)
		}
		if v == nil {
			return nil, fmt.Errorf("VHLO has no form for the attribute %s = %.100s of %s", a.Name, a.Attr, op.Name())
		}
		out = append(out, ir.NamedAttr{Name: a.Name, Attr: v, Inherent: slices.Contains(row.attrs, a.Name)})
	}
	for _, name := range row.attrs {
		if out.Get(name) != nil {
			continue
		}
		v := c.fill(row.name, name, windowRank(op))
		if row.name == "custom_call" && name == "backend_config" && isTypedFFI(out.Get("api_version")) {
			v = c.empty(ir.NewDict(nil))
		}
		if v == nil || name == "window_dimensions" {
			return nil, fmt.Errorf("the attribute %s of %s is missing", name, op.Name())
		}
		add(name, v)
	}
	out.Sort()
	return out, nil
}

func isTypedFFI(a ir.Attr) bool {
	e, ok := a.(*ir.EnumAttr)
	return ok && e.Enum() == apiEnum && e.Code() == hlo.APITypedFFI
}

// special returns the VHLO form of attributes whose form depends on their name, or nil for all others.
func (c *converter) special(op string, a ir.NamedAttr) ir.Attr {
	if !a.Inherent {
		return nil
	}
	switch x := a.Attr.(type) {
	case *ir.UnitAttr:
		if a.Name == "use_global_device_ids" || a.Name == "has_dynamic_root" {
			return c.truth(true)
		}
	case *ir.IntegerAttr:
		if op == "custom_call" && a.Name == "api_version" && x.Value() >= 0 && x.Value() < int64(len(apiEnum.Cases)) {
			return ir.NewEnum(apiEnum, int(x.Value()))
		}
	}
	return nil
}

// attrsFromVHLO converts the attributes of an op of row to the attributes of def. It omits attributes with default
// values.
func (c *converter) attrsFromVHLO(row *opRow, def *ir.Def, attrs ir.AttrList) (ir.AttrList, error) {
	for _, name := range row.attrs {
		if attrs.Get(name) == nil {
			return nil, fmt.Errorf("the attribute %s of %s is missing", name, row.def.Name)
		}
	}
	if len(attrs) == 0 {
		return nil, nil
	}
	out := make(ir.AttrList, 0, len(attrs))
	var joined []string
	for _, j := range joins[row.name] {
		fields := make([]ir.Attr, len(j.fields))
		for i, f := range j.fields {
			fields[i] = attrs.Get(f)
		}
		joined = append(joined, j.fields...)
		f := fieldList{names: j.fields, attrs: fields}
		if a := j.make(&f); a != nil {
			out = append(out, ir.NamedAttr{Name: j.attr, Attr: a, Inherent: true})
		}
		if f.err != nil {
			return nil, fmt.Errorf("%s: %w", row.def.Name, f.err)
		}
	}
	layouts := 0
	for _, a := range attrs {
		if l, ok := ir.DataOf[array](a.Attr); ok && len(l.elems) == 0 && (a.Name == "operand_layouts" || a.Name == "result_layouts") {
			layouts++
		}
	}
	for _, a := range attrs {
		v, problem := c.back(a.Attr)
		if problem != "" {
			return nil, fmt.Errorf("the attribute %s of %s: %s", a.Name, row.def.Name, problem)
		}
		if !a.Inherent {
			out = append(out, ir.NamedAttr{Name: a.Name, Attr: v})
			continue
		}
		if slices.Contains(joined, a.Name) || c.isDefault(row.name, a.Name, a.Attr) {
			continue
		}
		if layouts == 2 && (a.Name == "operand_layouts" || a.Name == "result_layouts") {
			continue
		}
		spec := def.Attr(a.Name)
		if spec == nil {
			continue // padding of the old dynamic_conv
		}
		v, err := c.inForm(spec, v)
		if err != nil {
			return nil, fmt.Errorf("the attribute %s of %s: %w", a.Name, row.def.Name, err)
		}
		out = append(out, ir.NamedAttr{Name: a.Name, Attr: v, Inherent: true})
	}
	for i := range def.Attrs {
		if s := &def.Attrs[i]; s.Default != nil && !s.Optional && out.Get(s.Name) == nil {
			out = append(out, ir.NamedAttr{Name: s.Name, Attr: s.Default, Inherent: true})
		}
	}
	out.Sort()
	return out, nil
}

// back returns the attribute that a VHLO attribute represents, or a description of its error. It always returns the
// same one.
func (c *converter) back(a ir.Attr) (v ir.Attr, problem string) {
	v, ok := c.attrs[a]
	if !ok {
		if problem = c.attrProblem(a); problem != "" {
			return nil, problem
		}
		v = fromAttr(c.ctx, a)
		c.attrs[a] = v
	}
	return v, ""
}

// inForm returns v in the form that spec requires.
func (c *converter) inForm(spec *ir.AttrSpec, v ir.Attr) (ir.Attr, error) {
	switch {
	case spec.Type.Form == ir.FormInts:
		d, ok := v.(*ir.DenseAttr)
		if !ok {
			return nil, fmt.Errorf("expected integers, found %.100s", v)
		}
		list, err := d.Int64s()
		if err != nil {
			return nil, err
		}
		return ir.NewDenseArray(spec.Type.FormType, slices.Clone(list)), nil
	case spec.Name == "use_global_device_ids" || spec.Name == "has_dynamic_root":
		return ir.NewUnit(), nil
	case spec.Name == "callee" || spec.Name == "decomposition":
		if s, ok := v.(*ir.StringAttr); ok {
			return ir.NewSymbolRef(s.Value()), nil
		}
	case spec.Name == "called_computations":
		l, ok := v.(*ir.ArrayAttr)
		if !ok {
			return v, nil
		}
		out := make([]ir.Attr, len(l.Elems()))
		for i, e := range l.Elems() {
			out[i] = e
			if s, ok := e.(*ir.StringAttr); ok {
				out[i] = ir.NewSymbolRef(s.Value())
			}
		}
		return ir.NewArray(out), nil
	}
	return v, nil
}
