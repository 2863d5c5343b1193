package vhlo

import (
	"github.com/hlocb/hlocb/dialect/quant"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// typ is the data of a VHLO type.
type typ struct {
	row      *ir.TypeDef
	since    Version
	builtin  ir.Type   // the type that it represents
	shape    []int64   // of tensors and buffers
	parts    []ir.Type // its component types, in order
	inputs   int       // of functions: how many parts are inputs
	encoding ir.Attr   // of tensors
	quant    *quant.Uniform
}

// kind determines how the types of a row are built.
type kind uint8

const (
	scalar kind = iota
	complexKind
	funcKind
	tensorKind
	encodedKind
	tokenKind
	tupleKind
	quantKind
	unrankedKind
	witnessKind
	quantAxisKind
	bufferKind
	futureKind
)

// typeRow is one row of the table of types.
type typeRow struct {
	code    int
	name    string
	since   Version
	kind    kind
	builtin func(c *ir.Context) ir.Type // of scalars
	def     *ir.TypeDef
}

var v090 = Minimum

func ofInt(width int, sign ir.Signedness) func(c *ir.Context) ir.Type {
	return func(c *ir.Context) ir.Type { return c.Integer(width, sign) }
}

func ofFloat(d tensor.DType) func(c *ir.Context) ir.Type {
	return func(c *ir.Context) ir.Type { return ir.Float(d) }
}

// typeTable holds all types (StableHLO, VhloTypes.td, VhloBytecode.cpp).
var typeTable = []*typeRow{
	{0, "bool_v1", v090, scalar, ofInt(1, ir.Signless), nil},
	{1, "complex_v1", v090, complexKind, nil, nil},
	{2, "bf16_v1", v090, scalar, ofFloat(tensor.BF16), nil},
	{3, "f16_v1", v090, scalar, ofFloat(tensor.F16), nil},
	{4, "f32_v1", v090, scalar, ofFloat(tensor.F32), nil},
	{5, "f64_v1", v090, scalar, ofFloat(tensor.F64), nil},
	{6, "f8E4M3FN_v1", v090, scalar, ofFloat(tensor.F8E4M3FN), nil},
	{7, "f8E5M2_v1", v090, scalar, ofFloat(tensor.F8E5M2), nil},
	{8, "func_v1", v090, funcKind, nil, nil},
	{9, "index_v1", v090, scalar, func(c *ir.Context) ir.Type { return c.Index() }, nil},
	{10, "i4_v1", v090, scalar, ofInt(4, ir.Signless), nil},
	{11, "i8_v1", v090, scalar, ofInt(8, ir.Signless), nil},
	{12, "i16_v1", v090, scalar, ofInt(16, ir.Signless), nil},
	{13, "i32_v1", v090, scalar, ofInt(32, ir.Signless), nil},
	{14, "i64_v1", v090, scalar, ofInt(64, ir.Signless), nil},
	{15, "ui4_v1", v090, scalar, ofInt(4, ir.Unsigned), nil},
	{16, "ui8_v1", v090, scalar, ofInt(8, ir.Unsigned), nil},
	{17, "ui16_v1", v090, scalar, ofInt(16, ir.Unsigned), nil},
	{18, "ui32_v1", v090, scalar, ofInt(32, ir.Unsigned), nil},
	{19, "ui64_v1", v090, scalar, ofInt(64, ir.Unsigned), nil},
	{20, "tensor_v1", v090, tensorKind, nil, nil},
	{21, "tensor_v1", v090, encodedKind, nil, nil},
	{22, "token_v1", v090, tokenKind, nil, nil},
	{23, "tuple_v1", v090, tupleKind, nil, nil},
	{24, "quant_v1", v090, quantKind, nil, nil},
	{25, "unranked_tensor_v1", v090, unrankedKind, nil, nil},
	{26, "witness_v1", v090, witnessKind, nil, nil},
	{27, "f8E4M3FNUZ_v1", Version{0, 10, 0}, scalar, ofFloat(tensor.F8E4M3FNUZ), nil},
	{28, "f8E5M2FNUZ_v1", Version{0, 10, 0}, scalar, ofFloat(tensor.F8E5M2FNUZ), nil},
	{29, "f8E4M3B11FNUZ_v1", Version{0, 11, 0}, scalar, ofFloat(tensor.F8E4M3B11FNUZ), nil},
	{30, "quant_per_axis_v1", Version{0, 18, 0}, quantAxisKind, nil, nil},
	{31, "i2_v1", Version{1, 2, 0}, scalar, ofInt(2, ir.Signless), nil},
	{32, "ui2_v1", Version{1, 2, 0}, scalar, ofInt(2, ir.Unsigned), nil},
	{33, "none_v1", Version{1, 6, 0}, scalar, func(c *ir.Context) ir.Type { return c.None() }, nil},
	{34, "tf31_v1", Version{1, 6, 0}, scalar, func(c *ir.Context) ir.Type { return c.ForeignFloat("tf32") }, nil},
	{35, "f8E4M3_v1", Version{1, 7, 0}, scalar, ofFloat(tensor.F8E4M3), nil},
	{36, "f8E3M4_v1", Version{1, 7, 0}, scalar, ofFloat(tensor.F8E3M4), nil},
	{37, "f4E2M1FN_v1", Version{1, 8, 0}, scalar, ofFloat(tensor.F4E2M1FN), nil},
	{38, "f6E2M3FN_v1", Version{1, 8, 0}, scalar, ofFloat(tensor.F6E2M3FN), nil},
	{39, "f6E3M2FN_v1", Version{1, 8, 0}, scalar, ofFloat(tensor.F6E3M2FN), nil},
	{40, "f8E8M0FNU_v1", Version{1, 8, 0}, scalar, ofFloat(tensor.F8E8M0FNU), nil},
	{41, "buffer_v1", Version{1, 13, 0}, bufferKind, nil, nil},
	{42, "future_v1", Version{1, 15, 0}, futureKind, nil, nil},
}

// kindRow returns the row of a kind with a single row.
func kindRow(k kind) *typeRow {
	for _, r := range typeTable {
		if r.kind == k {
			return r
		}
	}
	return nil
}

// typeDefs returns the rows of the dialect's types.
func typeDefs() []*ir.TypeDef {
	var out []*ir.TypeDef
	for _, r := range typeTable {
		if r.kind == encodedKind {
			continue // a second form of tensor_v1
		}
		d := &ir.TypeDef{
			Dialect: "vhlo", Name: r.name, Make: func() any { return &typ{} },
			Doc:    "A type in artifacts of version " + r.since.String() + " and later.",
			Syntax: "as MLIR prints it",
			Parse:  func(p ir.AsmParser) any { return r.read(p) },
			Print:  func(data any) string { return data.(*typ).text() },
		}
		switch r.kind {
		case funcKind:
			d.Parts = func(data any) [][]ir.Type {
				t := data.(*typ)
				return [][]ir.Type{t.parts[:t.inputs], t.parts[t.inputs:]}
			}
			d.AppendText = appendFunc
		case tupleKind, futureKind:
			d.Parts = func(data any) [][]ir.Type { return [][]ir.Type{data.(*typ).parts} }
			d.AppendText = func(w *ir.Text, b []byte, data any) []byte {
				return append(appendTypes(w, append(b, '<'), data.(*typ).parts), '>')
			}
		}
		r.def = d
		form := func(r *typeRow) ir.Binary {
			return ir.Binary{Code: r.code, Data: func(c ir.Coder, data any) {
				t := data.(*typ)
				t.row, t.since = d, r.since
				t.code(c, r)
			}}
		}
		d.Binary = []ir.Binary{form(r)}
		if r.kind == tensorKind {
			encoded := kindRow(encodedKind)
			encoded.def = d
			d.Binary[0].Is = func(data any) bool { return data.(*typ).encoding == nil }
			d.Binary = append(d.Binary, form(encoded))
		}
		out = append(out, d)
	}
	return out
}

// code reads or writes the fields of a type of row r.
func (t *typ) code(c ir.Coder, r *typeRow) {
	switch r.kind {
	case scalar:
		t.builtin = r.builtin(c.Context())
		return
	case funcKind:
		in, out := t.parts[:t.inputs], t.parts[t.inputs:]
		c.Types(&in)
		c.Types(&out)
		t.inputs, t.parts = len(in), append(in[:len(in):len(in)], out...)
	case tupleKind, futureKind:
		c.Types(&t.parts)
	case encodedKind:
		c.Attr(&t.encoding)
		c.Ints(&t.shape)
		t.part(c)
	case tensorKind, bufferKind:
		c.Ints(&t.shape)
		t.part(c)
	case complexKind, unrankedKind:
		t.part(c)
	case quantKind, quantAxisKind:
		if t.quant == nil {
			t.quant, t.parts = &quant.Uniform{}, make([]ir.Type, 2)
		}
		t.quant.Code(c, &t.parts[0], &t.parts[1], r.kind == quantAxisKind)
	}
	if t.builtin == nil {
		t.builtin = t.convert(c, r.kind)
	}
}

// part codes the single component type of t.
func (t *typ) part(c ir.Coder) {
	if t.parts == nil {
		t.parts = make([]ir.Type, 1)
	}
	c.Type(&t.parts[0])
}

// convert returns the builtin type that t represents. t was read from a file.
func (t *typ) convert(c failer, k kind) ir.Type {
	x := c.Context()
	parts := make([]ir.Type, len(t.parts))
	for i, p := range t.parts {
		d := dataOf(p)
		if d == nil {
			c.Failf("expected a type of VHLO, found %.100s", p)
		}
		parts[i] = d.builtin
	}
	if t.encoding != nil {
		part[extensions](c, t.encoding, "type extensions")
	}
	for _, n := range t.shape {
		if n < 0 && n != ir.Dynamic {
			c.Failf("a dimension of %d", n)
		}
	}
	switch k {
	case complexKind:
		if _, ok := parts[0].(*ir.FloatType); !ok {
			c.Failf("a complex type of %.100s", parts[0])
		}
		return x.Complex(parts[0])
	case funcKind:
		return x.Function(parts[:t.inputs], parts[t.inputs:])
	case tensorKind, encodedKind:
		return x.Tensor(t.shape, t.elem(c, parts[0]), fromAttr(x, t.encoding))
	case tokenKind:
		return hlo.TokenType(x)
	case tupleKind:
		return x.Tuple(parts)
	case unrankedKind:
		return x.UnrankedTensor(t.elem(c, parts[0]))
	case witnessKind:
		return x.DialectType("shape", "witness", "", nil)
	case bufferKind:
		return x.Shaped(ir.MemRef, t.shape, t.elem(c, parts[0]), "")
	case futureKind:
		return hlo.FutureType.New(x, &hlo.Future{Types: parts})
	case quantKind, quantAxisKind:
		t.quant.Storage, t.quant.Expressed = parts[0], parts[1]
		if err := t.quant.Complete(); err != nil {
			c.Failf("%s", err)
		}
		return quant.UniformType.New(x, t.quant)
	}
	return nil
}

// elem returns t if it can be the element of a tensor.
func (t *typ) elem(c failer, e ir.Type) ir.Type {
	switch e.(type) {
	case *ir.FunctionType, *ir.NoneType, *ir.TupleType, *ir.TensorType, *ir.ShapedType:
		c.Failf("an element of type %.100s", e)
	}
	return e
}

// text returns the parameters of a type.
func (t *typ) text() string {
	switch t.row.Name {
	case "tensor_v1", "buffer_v1":
		s := "<" + string(mlirtext.AppendShape(nil, t.shape)) + t.parts[0].String()
		if t.encoding != nil {
			s += ", " + t.encoding.String()
		}
		return s + ">"
	case "quant_v1", "quant_per_axis_v1":
		return "<" + view.Written(t, func(t *typ, x *view.Text) { t.quantText(x, t.quant.PerAxis()) }) + ">"
	}
	if t.parts == nil {
		return ""
	}
	return "<" + t.parts[0].String() + ">"
}

// appendFunc appends the parameters of a function type. MLIR adds parentheses to no types, not to several.
func appendFunc(w *ir.Text, b []byte, data any) []byte {
	t := data.(*typ)
	for i, types := range [...][]ir.Type{t.parts[:t.inputs], t.parts[t.inputs:]} {
		b = append(b, [...]string{"<(", ") -> "}[i]...)
		if len(types) == 0 {
			b = append(b, "()"...)
		}
		b = appendTypes(w, b, types)
	}
	return append(b, '>')
}

func appendTypes(w *ir.Text, b []byte, types []ir.Type) []byte {
	for i, t := range types {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.AppendType(b, t)
	}
	return b
}

// dataOf returns the data of a VHLO type, or nil for any other type.
func dataOf(t ir.Type) *typ {
	if d, ok := t.(*ir.DialectType); ok {
		v, _ := d.Data().(*typ)
		return v
	}
	return nil
}

// FromType returns the type that a VHLO type represents. It returns any other type unchanged.
func FromType(t ir.Type) ir.Type {
	if d := dataOf(t); d != nil {
		return d.builtin
	}
	return t
}

// typeTo returns the VHLO type for t, or nil if VHLO has none.
func (c *converter) typeTo(t ir.Type) ir.Type {
	if v, ok := c.types[t]; ok {
		return v
	}
	v := c.newType(t)
	c.types[t] = v
	return v
}

func (c *converter) newType(t ir.Type) ir.Type {
	row := func(k kind) *typ { r := kindRow(k); return &typ{row: r.def, since: r.since, builtin: t} }
	var d *typ
	ok := true
	parts := func(list ...ir.Type) {
		for _, p := range list {
			v := c.typeTo(p)
			ok = ok && v != nil
			d.parts = append(d.parts, v)
		}
	}
	switch x := t.(type) {
	case *ir.IntegerType, *ir.FloatType, *ir.IndexType, *ir.NoneType:
		for _, r := range typeTable {
			if r.kind == scalar && r.builtin(c.ctx) == t {
				d = &typ{row: r.def, since: r.since, builtin: t}
			}
		}
	case *ir.ComplexType:
		d = row(complexKind)
		parts(x.Elem())
	case *ir.TensorType:
		switch {
		case !x.Ranked():
			d = row(unrankedKind)
		case x.Encoding() != nil:
			d = row(tensorKind)
			b, isBounds := ir.DataOf[hlo.Bounds](x.Encoding())
			if ok = isBounds; ok {
				d.encoding = typeExtensionsAttr.New(&extensions{b.Bounds})
			}
		default:
			d = row(tensorKind)
		}
		d.shape = x.Shape()
		parts(x.Elem())
	case *ir.TupleType:
		d = row(tupleKind)
		parts(x.Elems()...)
	case *ir.FunctionType:
		d = row(funcKind)
		d.inputs = len(x.Inputs())
		parts(x.Inputs()...)
		parts(x.Results()...)
	case *ir.ShapedType:
		if _, whole := x.Elem().(*ir.NoneType); x.Kind() == ir.MemRef && !whole {
			d = row(bufferKind)
			d.shape = x.Shape()
			parts(x.Elem())
		}
	case *ir.DialectType:
		switch {
		case hlo.IsToken(t) && x.Dialect() == "stablehlo":
			d = row(tokenKind)
		case x.Dialect() == "shape" && x.Name() == "witness":
			d = row(witnessKind)
		case quant.Of(t) != nil:
			u := quant.Of(t)
			if d = row(quantKind); u.PerAxis() {
				d = row(quantAxisKind)
			}
			d.quant = u
			parts(u.Storage, u.Expressed)
		default:
			if f, isFuture := x.Data().(*hlo.Future); isFuture && x.Dialect() == "stablehlo" {
				d = row(futureKind)
				parts(f.Types...)
			}
		}
	}
	if d == nil || !ok {
		return nil
	}
	return d.row.New(c.ctx, d)
}
