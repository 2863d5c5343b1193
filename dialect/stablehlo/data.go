package stablehlo

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// DotDims is #stablehlo.dot<...>, the dimension numbers of dot_general.
type DotDims struct {
	LHSBatching, RHSBatching       []int64
	LHSContracting, RHSContracting []int64
}

// RaggedDotDims is #stablehlo.ragged_dot<...> (of chlo and mhlo): dot dimensions, the ragged dimensions of the
// left side and the group dimensions of the right.
type RaggedDotDims struct {
	Dot       *DotDims
	LHSRagged []int64
	RHSGroup  []int64
}

// GatherDims is #stablehlo.gather<...>.
type GatherDims struct {
	OffsetDims, CollapsedSliceDims                []int64
	OperandBatchingDims, StartIndicesBatchingDims []int64
	StartIndexMap                                 []int64
	IndexVectorDim                                int64
}

// ScatterDims is #stablehlo.scatter<...>.
type ScatterDims struct {
	UpdateWindowDims, InsertedWindowDims         []int64
	InputBatchingDims, ScatterIndicesBatchingDim []int64
	ScatterDimsToOperandDims                     []int64
	IndexVectorDim                               int64
}

// ConvDims is #stablehlo.conv<...>: which dimensions of input, kernel and output are what.
type ConvDims struct {
	InputBatch, InputFeature         int64
	InputSpatial                     []int64
	KernelInputFeature, KernelOutput int64
	KernelSpatial                    []int64
	OutputBatch, OutputFeature       int64
	OutputSpatial                    []int64
}

// DotAlgorithm is #stablehlo.dot_algorithm<...>.
type DotAlgorithm struct {
	LHSPrecision, RHSPrecision, Accumulation string // spellings of types; tf32 is one only here
	LHSComponents, RHSComponents             int64
	PrimitiveOperations                      int64
	AllowImpreciseAccumulation               bool
}

// ChannelHandle is #stablehlo.channel_handle<handle = 1, type = 2>.
type ChannelHandle struct{ Handle, Type int64 }

// Types of channels.
const (
	ChannelDeviceToDevice = 1
	ChannelDeviceToHost   = 2
	ChannelHostToDevice   = 3
)

// OutputOperandAlias is #stablehlo.output_operand_alias<...>: a part of the result that shares the buffer of a part
// of an operand.
type OutputOperandAlias struct {
	OutputTupleIndices  []int64
	OperandIndex        int64
	OperandTupleIndices []int64
}

// Bounds is #stablehlo.bounds<...>, the encoding of tensors with bounded sizes; ir.Dynamic for '?'.
type Bounds struct{ Bounds []int64 }

// ResultAccuracy is #stablehlo.result_accuracy<...>; Mode is the code of a ResultAccuracyMode.
type ResultAccuracy struct {
	Atol, Rtol float64
	Ulps       int64
	Mode       int
}

// Mesh is #stablehlo.mesh<...>, AxisRef and ReplicaGroupMeshAxes the attributes that refer to one.
type Mesh struct {
	Axes      []MeshAxis
	DeviceIDs ir.Attr // nil for none
}

// MeshAxis is #stablehlo.mesh_axis<...>.
type MeshAxis struct {
	Name string
	Size int64
}

// AxisRef is #stablehlo.axis_ref<...>: an axis of a mesh or a part of it.
type AxisRef struct {
	Name          string
	Sub           bool
	PreSize, Size int64
}

// ReplicaGroupMeshAxes is #stablehlo.replica_group_mesh_axes<...>: groups along axes of a mesh.
type ReplicaGroupMeshAxes struct {
	Mesh ir.Attr // a SymbolRefAttr or a mesh
	Axes []AxisRef
}

// fieldSpec is one name = value of the parameters of an attribute.
type fieldSpec struct {
	name  string
	parse func()
}

// parseFields reads <name = value, ...> with the fields in any order. Where mayLack is set, fields may be left out,
// as in the attributes that StableHLO reads itself; the messages of the two kinds differ in MLIR too.
func parseFields(p ir.AsmParser, fields []fieldSpec, mayLack bool) {
	seen := make([]bool, len(fields))
	p.Expect("<")
	for n := 0; !p.Accept(">"); n++ {
		if n > 0 && !p.Accept(",") {
			p.Expect(">")
			break
		}
		if n > 0 && mayLack && p.Accept(">") {
			break // a comma at the end
		}
		pos := p.Pos()
		name := p.ParseOptionalKeyword()
		which := -1
		for i := range fields {
			if fields[i].name == name {
				which = i
			}
		}
		switch {
		case which < 0 && mayLack:
			names := make([]string, len(fields))
			for i := range fields {
				names[i] = "`" + fields[i].name + "`"
			}
			p.ErrorfAt(pos, "expected one of: %s", strings.Join(names, ", "))
		case which >= 0 && seen[which] && mayLack:
			p.ErrorfAt(pos, "duplicated `%s` entry", name)
		case name == "":
			p.ErrorfAt(pos, "expected valid keyword")
		case which < 0 || seen[which]:
			p.ErrorfAt(pos, "duplicate or unknown struct parameter name: %s", name)
		}
		seen[which] = true
		p.Expect("=")
		fields[which].parse()
	}
	for i := range fields {
		if !seen[i] && !mayLack {
			p.Errorf("struct is missing required parameter: %s", fields[i].name)
		}
	}
}

// bodyWriter builds the canonical text of parameters.
type bodyWriter struct{ b []byte }

func (w *bodyWriter) field(name string) {
	if len(w.b) > 0 {
		w.b = append(w.b, ", "...)
	}
	w.b = append(append(w.b, name...), " = "...)
}

func (w *bodyWriter) text(name, text string) {
	w.field(name)
	w.b = append(w.b, text...)
}

func (w *bodyWriter) int(name string, v int64) {
	w.field(name)
	w.b = strconv.AppendInt(w.b, v, 10)
}

// ints writes a list, nothing for an empty one where always is not set.
func (w *bodyWriter) ints(name string, v []int64, always bool) {
	if len(v) == 0 && !always {
		return
	}
	w.field(name)
	w.b = appendInts(w.b, v)
}

func (w *bodyWriter) String() string { return "<" + string(w.b) + ">" }

func appendInts(b []byte, v []int64) []byte {
	b = append(b, '[')
	for i, d := range v {
		if i > 0 {
			b = append(b, ", "...)
		}
		if d == ir.Dynamic {
			b = append(b, '?')
		} else {
			b = strconv.AppendInt(b, d, 10)
		}
	}
	return append(b, ']')
}

// intsInto and intInto make the parsers of fields.
func intsInto(p ir.AsmParser, v *[]int64) func() { return func() { *v = p.ParseIntegers() } }
func intInto(p ir.AsmParser, v *int64) func()    { return func() { *v = p.ParseInteger() } }

func (d *DotDims) body() string {
	var w bodyWriter
	w.ints("lhs_batching_dimensions", d.LHSBatching, false)
	w.ints("rhs_batching_dimensions", d.RHSBatching, false)
	w.ints("lhs_contracting_dimensions", d.LHSContracting, false)
	w.ints("rhs_contracting_dimensions", d.RHSContracting, false)
	return w.String()
}

// dotFields are the fields of a dot attribute.
func dotFields(p ir.AsmParser, d *DotDims) []fieldSpec {
	return []fieldSpec{
		{"lhs_batching_dimensions", intsInto(p, &d.LHSBatching)},
		{"rhs_batching_dimensions", intsInto(p, &d.RHSBatching)},
		{"lhs_contracting_dimensions", intsInto(p, &d.LHSContracting)},
		{"rhs_contracting_dimensions", intsInto(p, &d.RHSContracting)},
	}
}

// NewDotDims returns the attribute of d in a dialect: stablehlo or mhlo.
func NewDotDims(dialect string, d *DotDims) *ir.DialectAttr {
	return ir.NewDialectAttr(dialect, "dot", d.body(), d)
}

func (g *GatherDims) body() string {
	var w bodyWriter
	w.ints("offset_dims", g.OffsetDims, false)
	w.ints("collapsed_slice_dims", g.CollapsedSliceDims, false)
	w.ints("operand_batching_dims", g.OperandBatchingDims, false)
	w.ints("start_indices_batching_dims", g.StartIndicesBatchingDims, false)
	w.ints("start_index_map", g.StartIndexMap, false)
	if g.IndexVectorDim != 0 {
		w.int("index_vector_dim", g.IndexVectorDim)
	}
	return w.String()
}

func (s *ScatterDims) body() string {
	var w bodyWriter
	w.ints("update_window_dims", s.UpdateWindowDims, false)
	w.ints("inserted_window_dims", s.InsertedWindowDims, false)
	w.ints("input_batching_dims", s.InputBatchingDims, false)
	w.ints("scatter_indices_batching_dims", s.ScatterIndicesBatchingDim, false)
	w.ints("scatter_dims_to_operand_dims", s.ScatterDimsToOperandDims, false)
	if s.IndexVectorDim != 0 {
		w.int("index_vector_dim", s.IndexVectorDim)
	}
	return w.String()
}

// NewGatherDims returns the attribute of g in a dialect.
func NewGatherDims(dialect string, g *GatherDims) *ir.DialectAttr {
	return ir.NewDialectAttr(dialect, "gather", g.body(), g)
}

// NewScatterDims returns the attribute of s in a dialect.
func NewScatterDims(dialect string, s *ScatterDims) *ir.DialectAttr {
	return ir.NewDialectAttr(dialect, "scatter", s.body(), s)
}

// NewConvDims returns the attribute of c in a dialect.
func NewConvDims(dialect string, c *ConvDims) *ir.DialectAttr {
	return ir.NewDialectAttr(dialect, "conv", "<"+c.text()+">", c)
}

// NewChannelHandle returns #stablehlo.channel_handle<...>.
func NewChannelHandle(c *ChannelHandle) *ir.DialectAttr {
	return ir.NewDialectAttr("stablehlo", "channel_handle", c.body(), c)
}

func (c *ChannelHandle) body() string {
	var w bodyWriter
	w.int("handle", c.Handle)
	w.int("type", c.Type)
	return w.String()
}

// NewOutputOperandAlias returns #stablehlo.output_operand_alias<...>.
func NewOutputOperandAlias(a *OutputOperandAlias) *ir.DialectAttr {
	return ir.NewDialectAttr("stablehlo", "output_operand_alias", a.body(), a)
}

func (a *OutputOperandAlias) body() string {
	var w bodyWriter
	w.ints("output_tuple_indices", a.OutputTupleIndices, true)
	w.int("operand_index", a.OperandIndex)
	w.ints("operand_tuple_indices", a.OperandTupleIndices, true)
	return w.String()
}

// NewBounds returns #stablehlo.bounds<...>.
func NewBounds(bounds []int64) *ir.DialectAttr {
	b := &Bounds{bounds}
	return ir.NewDialectAttr("stablehlo", "bounds", b.body(), b)
}

func (b *Bounds) body() string {
	s := appendInts(nil, b.Bounds)
	return "<" + string(s[1:len(s)-1]) + ">"
}

func (d *DotAlgorithm) body() string {
	var w bodyWriter
	w.text("lhs_precision_type", d.LHSPrecision)
	w.text("rhs_precision_type", d.RHSPrecision)
	w.text("accumulation_type", d.Accumulation)
	w.int("lhs_component_count", d.LHSComponents)
	w.int("rhs_component_count", d.RHSComponents)
	w.int("num_primitive_operations", d.PrimitiveOperations)
	w.text("allow_imprecise_accumulation", strconv.FormatBool(d.AllowImpreciseAccumulation))
	return w.String()
}

// BoundsOf returns the bounds of a tensor type, nil if it has none.
func BoundsOf(t *ir.TensorType) []int64 {
	d, ok := t.Encoding().(*ir.DialectAttr)
	if !ok {
		return nil
	}
	b, ok := d.Data().(*Bounds)
	if !ok {
		return nil
	}
	return b.Bounds
}
