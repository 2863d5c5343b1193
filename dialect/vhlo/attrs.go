package vhlo

import (
	"math/big"
	"strconv"
	"strings"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/densebytes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// The data of VHLO attributes.
type (
	array      struct{ elems []ir.Attr }
	boolean    struct{ value bool }
	dictionary struct{ names, values []ir.Attr }
	number     struct { // the bits of a number of an integer or floating-point type
		typ  ir.Type
		bits uint64
	}
	float   struct{ number }
	integer struct{ number }
	text    struct{ value string }
	dense   struct { // the elements as a builtin attribute
		typ   ir.Type
		elems *ir.DenseAttr
	}
	typeRef    struct{ typ ir.Type }
	extensions struct{ bounds []int64 }
	alias      struct{ hlo.OutputOperandAlias }
	accuracy   struct {
		atol, rtol float64
		ulps       int64
		mode       ir.Attr
	}
	subAxis  struct{ hlo.SubAxis }
	axisRef  struct{ name, sub ir.Attr }
	groups   struct{ mesh, axes ir.Attr }
	meshAxis struct {
		name ir.Attr
		size int64
	}
	mesh struct{ axes, devices ir.Attr }
)

// attrRow creates the row of an attribute. text reads and writes the parameters between angle brackets. Both readers
// check the parts of the attribute.
func attrRow[T any](code int, name string, fields func(c ir.Coder, d *T), text func(d *T, t *view.Text)) *ir.AttrDef {
	check := func(f failer, d *T) {
		if x, ok := any(d).(checker); ok {
			x.check(f)
		}
	}
	coded := func(c ir.Coder, d *T) {
		fields(c, d)
		check(c, d)
	}
	return view.TextAttr(ir.AttrDef{
		Dialect: "vhlo", Name: name, Lazy: true, Binary: ir.BinaryData(code, coded),
		Doc:    "The form in which artifacts store an attribute.",
		Syntax: "as MLIR prints it",
	}, func(d *T, t *view.Text) {
		at := asmFailer{t.P, t.Pos()}
		t.Lit("<")
		if text(d, t); t.P != nil {
			check(at, d)
		}
		t.Lit(">")
	})
}

// The rows of the dialect's attributes (StableHLO, VhloAttrs.td, VhloBytecode.cpp).
var (
	arrayAttr   = attrRow(1, "array_v1", func(c ir.Coder, d *array) { c.Attrs(&d.elems) }, func(d *array, t *view.Text) { view.Items(t, "[", "]", &d.elems, t.Attr) })
	boolAttr    = attrRow(2, "bool_v1", codeBool, (*boolean).text)
	dictAttr    = attrRow(6, "dict_v1", codeDict, (*dictionary).text)
	floatAttr   = attrRow(8, "float_v1", func(c ir.Coder, d *float) { d.code(c) }, (*float).text)
	integerAttr = attrRow(9, "integer_v1", func(c ir.Coder, d *integer) { d.code(c) }, (*integer).text)
	aliasAttr   = attrRow(10, "output_operand_alias_v1", func(c ir.Coder, d *alias) {
		c.Ints(&d.OutputTupleIndices)
		c.Int(&d.OperandIndex)
		c.Ints(&d.OperandTupleIndices)
	}, (*alias).text)
	stringAttr = attrRow(14, "string_v1", func(c ir.Coder, d *text) { c.String(&d.value) }, func(d *text, t *view.Text) { t.String(&d.value) })
	tensorAttr = attrRow(15, "tensor_v1", codeTensor, (*dense).text)
	typeAttr   = attrRow(17, "type_v1", func(c ir.Coder, d *typeRef) { c.Type(&d.typ) }, func(d *typeRef, t *view.Text) { t.Type(&d.typ) })

	typeExtensionsAttr = attrRow(18, "type_extensions_v1", func(c ir.Coder, d *extensions) { c.Ints(&d.bounds) }, (*extensions).text)
	accuracyAttr       = attrRow(20, "result_accuracy_v1", func(c ir.Coder, d *accuracy) {
		c.Float64(&d.atol)
		c.Float64(&d.rtol)
		c.Int(&d.ulps)
		c.Attr(&d.mode)
	}, (*accuracy).text)
	subAxisAttr = attrRow(21, "sub_axis_info_v1", func(c ir.Coder, d *subAxis) { c.Int(&d.PreSize); c.Int(&d.Size) }, func(d *subAxis, t *view.Text) {
		t.Lit("pre_size = ")
		t.Int(&d.PreSize)
		t.Lit(", size = ")
		t.Int(&d.Size)
	})
	axisRefAttr = attrRow(22, "axis_ref_v1", codeAxisRef, func(d *axisRef, t *view.Text) {
		fieldText(t, "name", &d.name)
		optionalText(t, "sub_axis_info", &d.sub)
	})
	groupsAttr = attrRow(23, "replica_group_mesh_axes_v1", func(c ir.Coder, d *groups) { c.Attr(&d.mesh); c.Attr(&d.axes) }, func(d *groups, t *view.Text) {
		fieldText(t, "mesh", &d.mesh)
		fieldText(t, ", axes", &d.axes)
	})
	meshAxisAttr = attrRow(24, "mesh_axis_v1", func(c ir.Coder, d *meshAxis) { c.Attr(&d.name); c.Int(&d.size) }, func(d *meshAxis, t *view.Text) {
		fieldText(t, "name", &d.name)
		t.Lit(", size = ")
		t.Int(&d.size)
	})
	meshAttr = attrRow(25, "mesh_v1", func(c ir.Coder, d *mesh) { c.Attr(&d.axes); c.OptionalAttr(&d.devices) }, func(d *mesh, t *view.Text) {
		fieldText(t, "axes", &d.axes)
		optionalText(t, "device_ids", &d.devices)
	})

	attrDefs = []*ir.AttrDef{
		accuracyAttr, aliasAttr, arrayAttr, axisRefAttr, boolAttr, dictAttr, floatAttr, groupsAttr, integerAttr, meshAttr, meshAxisAttr,
		stringAttr, subAxisAttr, tensorAttr, typeAttr, typeExtensionsAttr,
	}
)

// The enumerations. Base is StableHLO's row.
var (
	directionEnum    = enumRow(3, hlo.ComparisonDirectionEnum)
	comparisonEnum   = enumRow(4, hlo.ComparisonTypeEnum)
	fftEnum          = enumRow(7, hlo.FftTypeEnum)
	precisionEnum    = enumRow(11, hlo.PrecisionEnum)
	algorithmEnum    = enumRow(12, hlo.RngAlgorithmEnum)
	distributionEnum = enumRow(13, hlo.RngDistributionEnum)
	transposeEnum    = enumRow(16, hlo.TransposeEnum)
	modeEnum         = enumRow(19, hlo.ResultAccuracyModeEnum)
	apiEnum          = &ir.EnumDef{
		Dialect: "vhlo", Name: "api_version_v1", Doc: "The convention of a custom call.", Binary: []ir.Binary{{Code: 5}},
		Cases: []string{"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"},
	}

	enumDefs = []*ir.EnumDef{
		algorithmEnum, apiEnum, comparisonEnum, directionEnum, distributionEnum, fftEnum, modeEnum, precisionEnum, transposeEnum,
	}
)

func enumRow(code int, base *ir.EnumDef) *ir.EnumDef {
	e := base.Mirror("vhlo")
	e.Name += "_v1"
	e.Binary = []ir.Binary{{Code: code}}
	return e
}

// attrSince returns the first version that knows an attribute.
func attrSince(a ir.Attr) Version {
	switch a := a.(type) {
	case *ir.DialectAttr:
		switch a.Def() {
		case accuracyAttr:
			return Version{1, 9, 0}
		case subAxisAttr, axisRefAttr, groupsAttr, meshAxisAttr, meshAttr:
			return Version{1, 16, 0}
		}
	case *ir.EnumAttr:
		if a.Enum() == modeEnum {
			return Version{1, 9, 0}
		}
	}
	return Minimum
}

// fieldText is name = a.
func fieldText(t *view.Text, name string, a *ir.Attr) {
	t.Lit(name)
	t.Lit(" = ")
	t.Attr(a)
}

// optionalText is the last field, which may be nil.
func optionalText(t *view.Text, name string, a *ir.Attr) {
	if t.Opt(*a != nil, ", ") {
		fieldText(t, name, a)
	}
}

func codeBool(c ir.Coder, d *boolean) {
	v := uint64(0)
	if d.value {
		v = 1
	}
	c.Uint(&v)
	d.value = v != 0
}

func codeAxisRef(c ir.Coder, d *axisRef) {
	c.Attr(&d.name)
	has := uint64(0)
	if d.sub != nil {
		has = 1
	}
	if c.Uint(&has); has != 0 {
		c.Attr(&d.sub)
	}
}

func (d *boolean) text(t *view.Text) {
	if d.value = t.Opt(d.value, "true"); !d.value && !t.Opt(true, "false") {
		t.P.Errorf("expected boolean value")
	}
}

func (d *dictionary) text(t *view.Text) {
	i := 0
	view.Items(t, "{", "}", &d.names, func(name *ir.Attr) {
		if t.P != nil {
			d.values = append(d.values, nil)
		}
		t.Attr(name)
		fieldText(t, "", &d.values[i])
		i++
	})
}

func (d *alias) text(t *view.Text) {
	t.Lit("outputTupleIndices = ")
	t.Ints(&d.OutputTupleIndices)
	t.Lit(", operandIndex = ")
	t.Int(&d.OperandIndex)
	t.Lit(", operandTupleIndices = ")
	t.Ints(&d.OperandTupleIndices)
}

func (d *extensions) text(t *view.Text) {
	t.Lit("bounds = ")
	view.Items(t, "[", "]", &d.bounds, t.Dim)
}

func (d *accuracy) text(t *view.Text) {
	number := func(name string, v *float64) {
		if t.Lit(name); t.P != nil {
			*v = t.P.ParseFloat()
		} else {
			t.Lit(strconv.FormatFloat(*v, 'e', 6, 64))
		}
	}
	number("atol = ", &d.atol)
	number(", rtol = ", &d.rtol)
	t.Lit(", ulps = ")
	t.Int(&d.ulps)
	fieldText(t, ", mode", &d.mode)
}

func codeDict(c ir.Coder, d *dictionary) {
	n := len(d.names)
	if c.Len(&n); d.names == nil {
		d.names, d.values = make([]ir.Attr, n), make([]ir.Attr, n)
	}
	for i := range d.names {
		c.Attr(&d.names[i])
		c.Attr(&d.values[i])
	}
}

func (n *number) code(c ir.Coder) {
	c.Type(&n.typ)
	w := n.width()
	if w == 0 {
		c.Failf("a number of type %.100s, not of a type of VHLO", n.typ)
	}
	v := n.bits << (64 - w) >> (64 - w)
	c.Bits(&v, w)
	if v = v << (64 - w) >> (64 - w); v != n.bits {
		n.bits = v
	}
}

// width returns the number of bits in a number, or 0 if the type is not VHLO's for numbers of at most 64 bits.
func (n *number) width() int {
	d := dataOf(n.typ)
	if d == nil {
		return 0
	}
	switch t := d.builtin.(type) {
	case *ir.IntegerType:
		if t.Width() <= 64 {
			return t.Width()
		}
	case *ir.IndexType:
		return 64
	case *ir.FloatType:
		if t.DType() == tensor.Invalid {
			return densebytes.ForeignBits(t)
		}
		return t.DType().Bits()
	}
	return 0
}

// text is the number with the type of a builtin attribute.
func (d *integer) text(t *view.Text) {
	p, pos := t.P, t.Pos()
	if p == nil {
		t.Lit(fromNumber(&d.number).String())
		return
	}
	if a, ok := p.ParseAttr(nil).(*ir.IntegerAttr); ok {
		d.typ, d.bits = newConverter(p.Context(), Current, false).typeTo(a.Type()), uint64(a.Value())
	}
	if d.typ == nil || d.width() == 0 {
		p.ErrorfAt(pos, "expected an integer of a type that VHLO has")
	}
	d.bits = d.bits << (64 - d.width()) >> (64 - d.width())
}

// text is the number with VHLO's type.
func (d *float) text(t *view.Text) {
	p := t.P
	if p == nil {
		number, _, _ := strings.Cut(fromNumber(&d.number).String(), " : ")
		t.Lit(number + " : " + d.typ.String())
		return
	}
	bits, hexadecimal := p.ParseOptionalInteger()
	value := 0.0
	if !hexadecimal {
		value = p.ParseFloat()
	}
	p.Expect(":")
	pos := p.Pos()
	d.typ = p.ParseType()
	f, ok := FromType(d.typ).(*ir.FloatType)
	if !ok || d.width() == 0 {
		p.ErrorfAt(pos, "expected a floating-point type of VHLO, found %.100s", d.typ)
	}
	switch d.bits = uint64(bits); {
	case hexadecimal:
	case f.DType() == tensor.Invalid:
		d.bits = densebytes.RoundForeign(value, f).Uint64()
	default:
		v := tensor.New(f.DType(), tensor.Shape{})
		v.SetFloat(0, value)
		d.bits = v.Bits(0)
	}
}

func (d *dense) text(t *view.Text) {
	p, pos := t.P, t.Pos()
	if p == nil {
		t.Lit(d.elems.String())
		return
	}
	a, ok := p.ParseAttr(nil).(*ir.DenseAttr)
	if ok {
		d.elems, d.typ = a, newConverter(p.Context(), Current, false).typeTo(a.Type())
		_, ok = densebytes.Of(a)
	}
	if !ok || d.typ == nil {
		p.ErrorfAt(pos, "expected dense elements of a type that VHLO has")
	}
}

func codeTensor(c ir.Coder, d *dense) {
	c.Type(&d.typ)
	var b []byte
	if d.elems != nil {
		b, _ = densebytes.Of(d.elems)
		if len(b) == 1 && b[0] == 0xff && d.elems.NumElements() == 1 && element(d.elems.Type()) == ir.Type(ir.Int(1)) {
			b = []byte{1} // builtin attributes store the bit as a full byte; VHLO's do not
		}
	}
	if c.Bytes(&b); d.elems != nil {
		return
	}
	t, ok := FromType(d.typ).(*ir.TensorType)
	if !ok || !t.Static() || dataOf(d.typ) == nil {
		c.Failf("dense elements of type %.100s, not of a type of VHLO", d.typ)
	}
	a, problem := densebytes.Attr(t, t.Shape(), t.Elem(), b)
	if problem != "" {
		c.Failf("%s", problem)
	}
	d.elems = a
}

func fromNumber(n *number) ir.Attr {
	switch t := FromType(n.typ).(type) {
	case *ir.FloatType:
		if t.DType() == tensor.Invalid {
			return densebytes.NewForeignFloat(new(big.Int).SetUint64(n.bits), t)
		}
		return ir.NewFloatBits(n.bits, t)
	case *ir.IntegerType:
		w := t.Width()
		if t.Signedness() == ir.Unsigned || w == 1 {
			return ir.NewInteger(int64(n.bits), t)
		}
		return ir.NewInteger(int64(n.bits<<(64-w))>>(64-w), t)
	default:
		return ir.NewInteger(int64(n.bits), t)
	}
}

// fromAttr returns the attribute that a VHLO attribute represents. It returns any other attribute unchanged.
func fromAttr(c *ir.Context, a ir.Attr) ir.Attr {
	switch a := a.(type) {
	case *ir.EnumAttr:
		switch {
		case a.Enum() == apiEnum:
			return ir.NewInteger(int64(a.Code()), ir.Int(32))
		case a.Enum() == modeEnum:
			return hlo.ResultAccuracyModeAttr.New(&hlo.AccuracyMode{Code: a.Code()})
		case a.Enum().Dialect == "vhlo":
			return ir.NewEnum(a.Enum().Base, a.Code())
		}
	case *ir.DialectAttr:
		return fromData(c, a)
	}
	return a
}

func fromData(c *ir.Context, a *ir.DialectAttr) ir.Attr {
	switch d := a.Data().(type) {
	case *array:
		return ir.NewArray(fromAttrs(c, d.elems))
	case *boolean:
		return c.Bool(d.value)
	case *dictionary:
		list := make(ir.AttrList, len(d.names))
		for i := range list {
			list[i] = ir.NamedAttr{Name: name(d.names[i]), Attr: fromAttr(c, d.values[i])}
		}
		return ir.NewDict(list)
	case *float:
		return fromNumber(&d.number)
	case *integer:
		return fromNumber(&d.number)
	case *text:
		return ir.NewString(d.value)
	case *dense:
		return d.elems
	case *typeRef:
		return ir.NewTypeAttr(FromType(d.typ))
	case *extensions:
		return hlo.BoundsAttr.New(&hlo.Bounds{Bounds: d.bounds})
	case *alias:
		return hlo.OutputOperandAliasAttr.New(&d.OutputOperandAlias)
	case *accuracy:
		r := &hlo.ResultAccuracy{Atol: d.atol, Rtol: d.rtol, Ulps: d.ulps}
		r.Mode.Code = d.mode.(*ir.EnumAttr).Code()
		return hlo.ResultAccuracyAttr.New(r)
	case *groups:
		r := &hlo.ReplicaGroupMeshAxes{Mesh: fromAttr(c, d.mesh)}
		if s, ok := r.Mesh.(*ir.StringAttr); ok {
			r.Mesh = ir.NewSymbolRef(s.Value())
		}
		var axes []ir.Attr
		for _, x := range elems(d.axes) {
			x, _ := ir.DataOf[axisRef](x)
			a := hlo.AxisRef{Name: name(x.name)}
			if s, ok := ir.DataOf[subAxis](x.sub); ok {
				a.Sub = &s.SubAxis
			}
			axes = append(axes, hlo.AxisRefAttr.New(&a))
		}
		r.Axes = ir.NewArray(axes)
		return hlo.ReplicaGroupMeshAxesAttr.New(r)
	case *mesh:
		m := &hlo.Mesh{}
		for _, x := range elems(d.axes) {
			x, _ := ir.DataOf[meshAxis](x)
			m.Axes = append(m.Axes, hlo.MeshAxis{Name: name(x.name), Size: x.size})
		}
		if d.devices != nil {
			m.DeviceIDs = fromAttr(c, d.devices)
		}
		return hlo.MeshAttr.New(m)
	}
	return a
}

func fromAttrs(c *ir.Context, list []ir.Attr) []ir.Attr {
	out := make([]ir.Attr, len(list))
	for i, a := range list {
		out[i] = fromAttr(c, a)
	}
	return out
}

// name returns the text of a VHLO string.
func name(a ir.Attr) string {
	s, _ := ir.DataOf[text](a)
	return s.value
}

// elems returns the elements of a VHLO array.
func elems(a ir.Attr) []ir.Attr {
	d, _ := ir.DataOf[array](a)
	return d.elems
}

// attrTo returns the VHLO attribute for a, or nil if VHLO has none.
func (c *converter) attrTo(a ir.Attr) ir.Attr {
	if v, ok := c.attrs[a]; ok {
		return v
	}
	v := c.newAttr(a)
	if v == nil && c.keepOthers {
		v = a
	}
	c.attrs[a] = v
	return v
}

func str(s string) ir.Attr { return stringAttr.New(&text{s}) }

func (c *converter) newAttr(a ir.Attr) ir.Attr {
	switch a := a.(type) {
	case *ir.ArrayAttr:
		list := c.attrsTo(a.Elems())
		if list == nil {
			return nil
		}
		return arrayAttr.New(&array{list})
	case *ir.DictAttr:
		d := &dictionary{}
		for _, e := range a.Entries() {
			v := c.attrTo(e.Attr)
			if v == nil {
				return nil
			}
			d.names, d.values = append(d.names, c.name(e.Name)), append(d.values, v)
		}
		return dictAttr.New(d)
	case *ir.StringAttr:
		if a.Type() == nil {
			return str(a.Value())
		}
	case *ir.SymbolRefAttr:
		if len(a.Nested()) == 0 {
			return str(a.Root())
		}
	case *ir.TypeAttr:
		if t := c.typeTo(a.Type()); t != nil {
			return typeAttr.New(&typeRef{t})
		}
	case *ir.IntegerAttr:
		if a.Type() == ir.Type(ir.Int(1)) {
			return c.truth(a.Value() != 0)
		}
		if t := c.typeTo(a.Type()); t != nil {
			return integerAttr.New(&integer{number{t, uint64(a.Value())}})
		}
	case *ir.FloatAttr:
		if t := c.typeTo(a.Type()); t != nil {
			return floatAttr.New(&float{number{t, a.Bits()}})
		}
	case *ir.OpaqueAttr:
		if f, bits := densebytes.ForeignFloat(a, c.ctx); f != nil {
			if t := c.typeTo(f); t != nil {
				return floatAttr.New(&float{number{t, bits.Uint64()}})
			}
		}
	case *ir.DenseAttr:
		if t := c.typeTo(a.Type()); t != nil {
			if _, ok := densebytes.Of(a); ok {
				return tensorAttr.New(&dense{t, a})
			}
		}
	case *ir.DenseArrayAttr:
		d := ir.ElementDType(a.Elem())
		if d != tensor.I64 && d != tensor.I1 {
			return nil
		}
		v := tensor.New(d, tensor.Shape{int64(len(a.Values()))})
		for i, x := range a.Values() {
			v.SetInt(i, x)
		}
		return c.attrTo(ir.NewDense(c.ctx.Tensor(v.Shape(), a.Elem(), nil), v, len(a.Values()) == 1))
	case *ir.EnumAttr:
		for _, e := range enumDefs {
			if e.Base == a.Enum() && e.Base != nil {
				return ir.NewEnum(e, a.Code())
			}
		}
	case *ir.DialectAttr:
		return c.newData(a)
	}
	return nil
}

func (c *converter) newData(a *ir.DialectAttr) ir.Attr {
	switch d := a.Data().(type) {
	case *hlo.OutputOperandAlias:
		return aliasAttr.New(&alias{*d})
	case *hlo.Bounds:
		return typeExtensionsAttr.New(&extensions{d.Bounds})
	case *hlo.AccuracyMode:
		return ir.NewEnum(modeEnum, d.Code)
	case *hlo.ResultAccuracy:
		return accuracyAttr.New(&accuracy{d.Atol, d.Rtol, d.Ulps, ir.NewEnum(modeEnum, d.Mode.Code)})
	case *hlo.ReplicaGroupMeshAxes:
		list := make([]ir.Attr, len(d.AxisRefs()))
		for i, x := range d.AxisRefs() {
			r := &axisRef{name: str(x.Name)}
			if x.Sub != nil {
				r.sub = subAxisAttr.New(&subAxis{*x.Sub})
			}
			list[i] = axisRefAttr.New(r)
		}
		m := c.attrTo(d.Mesh)
		if m == nil {
			return nil
		}
		return groupsAttr.New(&groups{m, arrayAttr.New(&array{list})})
	case *hlo.Mesh:
		list := make([]ir.Attr, len(d.Axes))
		for i, x := range d.Axes {
			list[i] = meshAxisAttr.New(&meshAxis{str(x.Name), x.Size})
		}
		m := &mesh{axes: arrayAttr.New(&array{list})}
		if d.DeviceIDs != nil {
			if m.devices = c.attrTo(d.DeviceIDs); m.devices == nil {
				return nil
			}
		}
		return meshAttr.New(m)
	}
	return nil
}

// name returns the VHLO string s. Equal strings share one attribute.
func (c *converter) name(s string) ir.Attr {
	a, ok := c.names[s]
	if !ok {
		a = str(s)
		c.names[s] = a
	}
	return a
}

// attrsTo returns the VHLO attributes for list, or nil if VHLO lacks one of them.
func (c *converter) attrsTo(list []ir.Attr) []ir.Attr {
	out := make([]ir.Attr, len(list))
	for i, a := range list {
		if out[i] = c.attrTo(a); out[i] == nil {
			return nil
		}
	}
	return out
}
