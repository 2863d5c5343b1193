package stablehlo

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// Rows of the dialect's attributes. The tags of a row's data define its fields (data.go).
var (
	GatherAttr = ir.NewAttrDef[GatherDims](ir.AttrDef{
		Dialect: "stablehlo", Name: "gather", Binary: []ir.Binary{{Code: 7}}, Partial: true,
		Doc:     "The dimension numbers of gather.",
		Summary: "Attribute that models the dimension information for gather",
	})
	ScatterAttr = ir.NewAttrDef[ScatterDims](ir.AttrDef{
		Dialect: "stablehlo", Name: "scatter", Binary: []ir.Binary{{Code: 11}}, Partial: true,
		Doc:     "The dimension numbers of scatter.",
		Summary: "Attribute that models the dimension information for scatter",
	})
	DotAttr = ir.NewAttrDef[DotDims](ir.AttrDef{
		Dialect: "stablehlo", Name: "dot", Binary: []ir.Binary{{Code: 5}}, Partial: true,
		Doc:     "The dimension numbers of dot_general.",
		Summary: "Attribute that models the dimension information for dot.",
	})
	ConvAttr = ir.NewAttrDef[ConvDims](ir.AttrDef{
		Dialect: "stablehlo", Name: "conv", Binary: []ir.Binary{{Code: 4}}, Parse: parseConvAttr, Print: printConvAttr,
		Doc:     "The role of each dimension of a convolution's input, kernel and output.",
		Summary: "Structure of dimension information for conv op",
		Syntax:  "<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>: batch, features and spatial dimensions by number; or <raw name = value, ...>",
	})
	DotAlgorithmAttr = ir.NewAttrDef[DotAlgorithm](ir.AttrDef{
		Dialect: "stablehlo", Name: "dot_algorithm", Binary: []ir.Binary{{Code: 15}}, Check: checkDotAlgorithm,
		Doc:     "The precision of each step of dot_general.",
		Summary: "Attribute that models the algorithm constraints to use for computing dot.",
	})
	ChannelHandleAttr = ir.NewAttrDef[ChannelHandle](ir.AttrDef{
		Dialect: "stablehlo", Name: "channel_handle", Binary: []ir.Binary{{Code: 1}},
		Doc:     "A channel between devices, or between a device and its host.",
		Summary: "two 64-bit integers 'handle' and 'type'",
	})
	OutputOperandAliasAttr = ir.NewAttrDef[OutputOperandAlias](ir.AttrDef{
		Dialect: "stablehlo", Name: "output_operand_alias", Binary: []ir.Binary{{Code: 14}}, Partial: true,
		Doc:     "A part of a custom_call's result that shares the buffer of a part of an operand.",
		Summary: "Attribute that models the alias relationship of output and operand of a CustomCall op",
	})
	BoundsAttr = view.TextAttr(ir.AttrDef{
		Dialect: "stablehlo", Name: "bounds", Binary: []ir.Binary{{Code: 13}},
		Doc:    "The bounds of a tensor's dynamic sizes, as the encoding of its type.",
		Syntax: "<3, ?>: '?' for a dimension without a bound",
	}, func(b *Bounds, t *view.Text) { view.Items(t, "<", ">", &b.Bounds, t.Dim) })
	// TypeExtensionsAttr is the long form of bounds, the only form in MHLO.
	TypeExtensionsAttr = view.TextAttr(ir.AttrDef{
		Dialect: "stablehlo", Name: "type_extensions", As: BoundsAttr,
		Doc:    "The bounds of a tensor's dynamic sizes.",
		Syntax: "<bounds = [3, ?]>",
	}, func(b *Bounds, t *view.Text) {
		t.Lit("<bounds = ")
		view.Items(t, "[", "]", &b.Bounds, t.Dim)
		t.Lit(">")
	})
	ResultAccuracyAttr = ir.NewAttrDef[ResultAccuracy](ir.AttrDef{
		Dialect: "stablehlo", Name: "result_accuracy", Binary: ir.BinaryData(17, CodeAccuracy(ResultAccuracyModeAttr)), Partial: true,
		Doc:     "The accuracy that a program requests for a transcendental function.",
		Summary: "The requested accuracy for unary ops.",
	})
	ResultAccuracyModeAttr = ir.NewAttrDef[AccuracyMode](ir.AttrDef{
		Dialect: "stablehlo", Name: "result_accuracy_mode", Binary: ir.BinaryData(16, CodeMode),
		Doc:    "The kind of accuracy that a program requests for a transcendental function.",
		Syntax: "<TOLERANCE>; the cases are DEFAULT, HIGHEST, TOLERANCE",
		Parse: func(p ir.AsmParser, _ *ir.AttrDef) any {
			m := &AccuracyMode{}
			m.parse(p)
			return m
		},
		Print: func(_ *ir.AttrDef, data any) string { return data.(*AccuracyMode).text() },
	})
	MeshAxisAttr = ir.NewAttrDef[MeshAxis](ir.AttrDef{
		Dialect: "stablehlo", Name: "mesh_axis", Binary: []ir.Binary{{Code: 21}},
		Doc: "One axis of a mesh: its name and the number of devices along it.",
	})
	AxisRefAttr = ir.NewAttrDef[AxisRef](ir.AttrDef{
		Dialect: "stablehlo", Name: "axis_ref", Binary: ir.BinaryData(20, CodeAxisRef(SubAxisInfoAttr)), Partial: true,
		Doc: "An axis of a mesh, or a part of it.",
	})
	SubAxisInfoAttr = view.TextAttr(ir.AttrDef{
		Dialect: "stablehlo", Name: "sub_axis_info", Binary: ir.BinaryData(19, func(c ir.Coder, s *SubAxis) { c.Int(&s.PreSize); c.Int(&s.Size) }),
		Doc:    "The part of an axis that remains after a split.",
		Syntax: "(2)4: the product of the sizes before the part, and its size",
	}, (*SubAxis).text)
	MeshAttr = ir.NewAttrDef[Mesh](ir.AttrDef{
		Dialect: "stablehlo", Name: "mesh", Binary: ir.BinaryData(22, codeMesh), Partial: true, Print: printMesh,
		Doc:    "A mesh of devices.",
		Syntax: `<axes=[<name = "x", size = 2>, ...], device_ids=dense<...>>`,
	})
	ReplicaGroupMeshAxesAttr = ir.NewAttrDef[ReplicaGroupMeshAxes](ir.AttrDef{
		Dialect: "stablehlo", Name: "replica_group_mesh_axes", Binary: ir.BinaryData(18, codeMeshAxes),
		Doc: "Groups of replicas along axes of a mesh.",
	})
)

var attrs = []*ir.AttrDef{
	AxisRefAttr, BoundsAttr, ChannelHandleAttr, ConvAttr, DotAttr, DotAlgorithmAttr, GatherAttr, MeshAttr, MeshAxisAttr,
	OutputOperandAliasAttr, ReplicaGroupMeshAxesAttr, ResultAccuracyAttr, ResultAccuracyModeAttr, ScatterAttr,
	SubAxisInfoAttr, TypeExtensionsAttr,
}

// The dialect's types.
var (
	Token = &ir.TypeDef{Dialect: "stablehlo", Name: "token", Binary: []ir.Binary{{Code: 0}}, Doc: "Values that order operations with side effects."}

	FutureType = view.TextType(ir.TypeDef{
		Dialect: "stablehlo", Name: "future",
		Binary: ir.BinaryData(1, func(c ir.Coder, f *Future) { c.Types(&f.Types) }),
		Doc:    "The results of an operation that async_start started.",
		Syntax: "<tensor<2xf32>, ...>",
	}, func(f *Future, t *view.Text) {
		view.Items(t, "<", ">", &f.Types, func(typ *ir.Type) {
			t.Type(typ)
			if tt, ok := (*typ).(*ir.TensorType); !ok || !tt.Ranked() {
				t.Failf(t.Pos(), "future element type must be a ranked tensor, but got '%s'", *typ)
			}
		})
	})

	types = []*ir.TypeDef{FutureType, Token}
)

func (m *AccuracyMode) parse(p ir.AsmParser) {
	p.Expect("<")
	m.Code = p.ParseEnum(ResultAccuracyModeEnum)
	p.Expect(">")
}

func (m *AccuracyMode) text() string { return "<" + ResultAccuracyModeEnum.Cases[m.Code] + ">" }

// ParseParam reads <TOLERANCE> or the whole attribute.
func (m *AccuracyMode) ParseParam(p ir.AsmParser, _ *ir.AttrDef) {
	if p.Peek("<") {
		m.parse(p)
	} else if x, ok := ir.DataOf[AccuracyMode](p.ParseAttr(nil)); ok {
		*m = *x
	}
}

// ParamText returns the whole attribute.
func (m *AccuracyMode) ParamText(d *ir.AttrDef) string {
	return "#" + d.Dialect + ".result_accuracy_mode" + m.text()
}

// text is (2)4.
func (s *SubAxis) text(t *view.Text) {
	t.Lit("(")
	t.Int(&s.PreSize)
	t.Lit(")")
	t.Int(&s.Size)
}

// ParseParam reads (2)4.
func (s *SubAxis) ParseParam(p ir.AsmParser, _ *ir.AttrDef) { s.text(&view.Text{P: p}) }

// ParamText returns (2)4.
func (s *SubAxis) ParamText(*ir.AttrDef) string { return view.Written(s, (*SubAxis).text) }

// checkEncoding checks bounds against their shape: one bound for each dimension, and no bound for a dimension of known
// size.
func checkEncoding(a *ir.DialectAttr, shape []int64, elem ir.Type) string {
	b, ok := ir.DataOf[Bounds](a)
	if !ok {
		return ""
	}
	text := "tensor<" + string(mlirtext.AppendShape(nil, shape)) + elem.String() + ">"
	if len(b.Bounds) != len(shape) {
		return fmt.Sprintf("Bounds length is %d, expected to be equal to rank(%d) of the tensor '%s'", len(b.Bounds), len(shape), text)
	}
	for i, d := range shape {
		if d != ir.Dynamic && b.Bounds[i] != ir.Dynamic {
			return fmt.Sprintf("Static dimension %d cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor '%s'", i, text)
		}
	}
	return ""
}

// ParseParam reads the axes in full, or each as <name = "x", size = 2>, which is the printed form.
func (m *MeshAxes) ParseParam(p ir.AsmParser, d *ir.AttrDef) {
	p.ParseList("[", "]", func() {
		if x, ok := ir.DataOf[MeshAxis](MeshAxisAttr.ParseShort(p)); ok {
			*m = append(*m, *x)
		}
	})
}

// ParamText returns [<name = "x", size = 2>, ...].
func (m *MeshAxes) ParamText(*ir.AttrDef) string {
	axes := make([]string, len(*m))
	for i := range *m {
		axes[i] = MeshAxisAttr.New(&(*m)[i]).Body()
	}
	return "[" + strings.Join(axes, ", ") + "]"
}

func printMesh(d *ir.AttrDef, data any) string {
	m := data.(*Mesh)
	s := "<axes=" + m.Axes.ParamText(d)
	if m.DeviceIDs != nil {
		s += ", device_ids=" + m.DeviceIDs.String()
	}
	return s + ">"
}

var floats8 = map[string]bool{
	"f8E3M4": true, "f8E4M3": true, "f8E4M3FN": true, "f8E4M3FNUZ": true, "f8E4M3B11FNUZ": true, "f8E5M2": true, "f8E5M2FNUZ": true, "f8E8M0FNU": true,
}

// checkDotAlgorithm checks the rules of the specification for a dot algorithm alone: positive counts (dot_general C22,
// C23, C24), and an algorithm that some hardware implements.
func checkDotAlgorithm(data any) error {
	d := data.(*DotAlgorithm)
	switch {
	case d.LHSComponents <= 0:
		return fmt.Errorf("lhs component count must be positive")
	case d.RHSComponents <= 0:
		return fmt.Errorf("rhs component count must be positive")
	case d.PrimitiveOperations <= 0:
		return fmt.Errorf("num primitive operations must be positive")
	case d.isKnown():
		return nil
	}
	imprecise := 0
	if d.AllowImpreciseAccumulation {
		imprecise = 1
	}
	return fmt.Errorf("dot algorithm not known to be supported on any hardware: {lhs:'%s', rhs:'%s', accum:'%s', lhs_components:%d, rhs_components:%d, primitive_ops:%d, imprecise:%d}",
		d.LHSPrecision, d.RHSPrecision, d.Accumulation, d.LHSComponents, d.RHSComponents, d.PrimitiveOperations, imprecise)
}

// isKnown reports whether some hardware implements the algorithm.
func (d *DotAlgorithm) isKnown() bool {
	if d.LHSComponents != 1 || d.RHSComponents != 1 {
		return false
	}
	l, r, acc, n := d.LHSPrecision, d.RHSPrecision, d.Accumulation, d.PrimitiveOperations
	if floats8[l] && floats8[r] {
		return acc == "f32" && n == 1
	}
	if l != r || d.AllowImpreciseAccumulation {
		return false
	}
	switch l {
	case "f16":
		return (acc == "f16" || acc == "f32") && n == 1
	case "bf16":
		return acc == "bf16" && n == 1 || acc == "f32" && (n == 1 || n == 3 || n == 6 || n == 9)
	case "tf32":
		return acc == "f32" && (n == 1 || n == 3)
	case "f32", "f64":
		return acc == l && n == 1
	}
	return false
}
