package vhlo

import (
	"encoding/binary"
	"fmt"
	"reflect"
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

// join describes a StableHLO attribute whose fields are attributes in VHLO.
type join struct {
	attr  string // of StableHLO
	row   *ir.AttrDef
	names []string // of the first fields in VHLO
	// none returns the value of each field in an op without the attribute, and isNone recognizes it. They are nil if
	// the attribute is required.
	none   func(c *converter) ir.Attr
	isNone func(ir.Attr) bool
}

// newJoin returns a join whose attributes have the names of the fields.
func newJoin(attr string, row *ir.AttrDef) join {
	j := join{attr: attr, row: row}
	for _, f := range row.Fields {
		j.names = append(j.names, f.Name)
	}
	return j
}

// split returns the VHLO values of the fields of a, which is nil for an op without the attribute.
func (j *join) split(c *converter, a ir.Attr) []ir.Attr {
	out := make([]ir.Attr, len(j.names))
	if !j.row.Is(a) {
		if j.none == nil {
			return nil
		}
		for i := range out {
			out[i] = j.none(c)
		}
		return out
	}
	for i := range out {
		switch v := j.row.Value(a.(*ir.DialectAttr).Data(), i).(type) {
		case *int64:
			out[i] = c.i64(*v)
		case *[]int64:
			out[i] = c.list(*v)
		case *bool:
			out[i] = c.truth(*v)
		case *string:
			var t ir.Type
			if d, ok := tensor.ParseDType(*v); ok {
				t = ir.ElementOf(d)
			} else {
				t = c.ctx.ForeignFloat(*v)
			}
			if t = c.typeTo(t); t != nil {
				out[i] = typeAttr.New(&typeRef{t})
			}
		}
	}
	return out
}

// make returns StableHLO's attribute, or nil for none.
func (j *join) make(f *fieldList) ir.Attr {
	if j.isNone != nil && !slices.ContainsFunc(f.attrs, func(a ir.Attr) bool { return a != nil && !j.isNone(a) }) {
		return nil
	}
	data := reflect.New(j.row.DataType()).Interface()
	for i := range f.attrs {
		switch v := j.row.Value(data, i).(type) {
		case *int64:
			*v = f.int(i)
		case *[]int64:
			*v = f.ints(i)
		case *bool:
			*v = f.flag(i)
		case *string:
			*v = f.typ(i)
		}
	}
	return j.row.New(data)
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

// joins holds all joins by operation name. VHLO does not store the type of an optional channel.
var joins = func() map[string][]join {
	conv, gather := newJoin("dimension_numbers", hlo.ConvAttr), newJoin("dimension_numbers", hlo.GatherAttr)
	algorithm := newJoin("algorithm", hlo.DotAlgorithmAttr)
	algorithm.none, algorithm.isNone = func(c *converter) ir.Attr { return c.attrTo(ir.NewTypeAttr(c.ctx.None())) }, isNone
	channel := join{attr: "channel_handle", row: hlo.ChannelHandleAttr, names: []string{"channel_id", "channel_type"}}
	out := map[string][]join{
		"convolution": {conv}, "dynamic_conv": {conv}, "gather": {gather}, "dynamic_gather": {gather}, "send": {channel}, "recv": {channel},
		"dot_general": {newJoin("dot_dimension_numbers", hlo.DotAttr), algorithm},
		"scatter":     {newJoin("scatter_dimension_numbers", hlo.ScatterAttr)},
	}
	channel.names, channel.none, channel.isNone = channel.names[:1], func(c *converter) ir.Attr { return c.i64(0) }, func(a ir.Attr) bool { return is(a, 0) }
	for _, op := range [...]string{"all_gather", "all_reduce", "all_to_all", "reduce_scatter", "collective_permute", "collective_broadcast", "collective_reduce"} {
		out[op] = []join{channel}
	}
	return out
}()

// isNone reports whether a is the type none.
func isNone(a ir.Attr) bool {
	t, ok := ir.DataOf[typeRef](a)
	if !ok {
		return false
	}
	_, none := FromType(t.typ).(*ir.NoneType)
	return none
}

// fill returns the VHLO value of an attribute that an op omits, or nil if the attribute is required. n is the number of
// dimensions of the op's windows.
func (c *converter) fill(op, attr string, n int) ir.Attr {
	key := fillKey{op, attr, n}
	a, ok := c.fills[key]
	if !ok {
		if o := omissionOf(op, attr); o.fill != nil {
			a = o.fill(c, n)
		}
		c.fills[key] = a
	}
	return a
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
		for i, f := range j.names {
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
		if r, ok := a.Attr.(*ir.ResourceAttr); ok && r.Key() != ir.Elided {
			t, err := op.Module().ResourceElements(r)
			if err != nil {
				return nil, err
			}
			v = c.newAttr(ir.NewDense(r.Type(), t, false))
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
		fields := make([]ir.Attr, len(j.names))
		for i, f := range j.names {
			fields[i] = attrs.Get(f)
		}
		joined = append(joined, j.names...)
		f := fieldList{names: j.names, attrs: fields}
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
		if slices.Contains(joined, a.Name) || isDefault(row.name, a.Name, a.Attr) {
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
