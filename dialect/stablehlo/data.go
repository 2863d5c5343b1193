package stablehlo

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// This file holds the data of the dialect's attributes, for passes and engines. The rows are in attrs.go.

// DotDims is #stablehlo.dot<...>, the dimension numbers of dot_general.
type DotDims struct {
	LHSBatching    []int64 `attr:"lhs_batching_dimensions"`
	RHSBatching    []int64 `attr:"rhs_batching_dimensions"`
	LHSContracting []int64 `attr:"lhs_contracting_dimensions"`
	RHSContracting []int64 `attr:"rhs_contracting_dimensions"`
}

// GatherDims is #stablehlo.gather<...>.
type GatherDims struct {
	OffsetDims               []int64 `attr:"offset_dims"`
	CollapsedSliceDims       []int64 `attr:"collapsed_slice_dims"`
	OperandBatchingDims      []int64 `attr:"operand_batching_dims"`
	StartIndicesBatchingDims []int64 `attr:"start_indices_batching_dims"`
	StartIndexMap            []int64 `attr:"start_index_map"`
	IndexVectorDim           int64   `attr:"index_vector_dim"`
}

// ScatterDims is #stablehlo.scatter<...>.
type ScatterDims struct {
	UpdateWindowDims          []int64 `attr:"update_window_dims"`
	InsertedWindowDims        []int64 `attr:"inserted_window_dims"`
	InputBatchingDims         []int64 `attr:"input_batching_dims"`
	ScatterIndicesBatchingDim []int64 `attr:"scatter_indices_batching_dims"`
	ScatterDimsToOperandDims  []int64 `attr:"scatter_dims_to_operand_dims"`
	IndexVectorDim            int64   `attr:"index_vector_dim"`
}

// ConvDims is #stablehlo.conv<...>: the role of each dimension of input, kernel and output.
type ConvDims struct {
	InputBatch         int64   `attr:"input_batch_dimension"`
	InputFeature       int64   `attr:"input_feature_dimension"`
	InputSpatial       []int64 `attr:"input_spatial_dimensions"`
	KernelInputFeature int64   `attr:"kernel_input_feature_dimension"`
	KernelOutput       int64   `attr:"kernel_output_feature_dimension"`
	KernelSpatial      []int64 `attr:"kernel_spatial_dimensions"`
	OutputBatch        int64   `attr:"output_batch_dimension"`
	OutputFeature      int64   `attr:"output_feature_dimension"`
	OutputSpatial      []int64 `attr:"output_spatial_dimensions"`
}

// DotAlgorithm is #stablehlo.dot_algorithm<...>. The types are text, because tf32 is a type only here.
type DotAlgorithm struct {
	LHSPrecision               string `attr:"lhs_precision_type,keyword"`
	RHSPrecision               string `attr:"rhs_precision_type,keyword"`
	Accumulation               string `attr:"accumulation_type,keyword"`
	LHSComponents              int64  `attr:"lhs_component_count"`
	RHSComponents              int64  `attr:"rhs_component_count"`
	PrimitiveOperations        int64  `attr:"num_primitive_operations"`
	AllowImpreciseAccumulation bool   `attr:"allow_imprecise_accumulation"`
}

// ChannelHandle is #stablehlo.channel_handle<handle = 1, type = 2>.
type ChannelHandle struct {
	Handle int64 `attr:"handle"`
	Type   int64 `attr:"type"`
}

// Types of channels.
const (
	ChannelDeviceToDevice = 1
	ChannelDeviceToHost   = 2
	ChannelHostToDevice   = 3
)

// OutputOperandAlias is #stablehlo.output_operand_alias<...>: a part of the result shares the buffer of a part of an
// operand.
type OutputOperandAlias struct {
	OutputTupleIndices  []int64 `attr:"output_tuple_indices,always"`
	OperandIndex        int64   `attr:"operand_index,always"`
	OperandTupleIndices []int64 `attr:"operand_tuple_indices,always"`
}

// Bounds is #stablehlo.bounds<...>, the encoding of tensors with bounded sizes. ir.Dynamic represents '?'.
type Bounds struct {
	Bounds []int64 `attr:"bounds"`
}

// ResultAccuracy is #stablehlo.result_accuracy<...>.
type ResultAccuracy struct {
	Atol float64      `attr:"atol"`
	Rtol float64      `attr:"rtol"`
	Ulps int64        `attr:"ulps"`
	Mode AccuracyMode `attr:"mode,always"`
}

// AccuracyMode is #stablehlo.result_accuracy_mode<...>. Code is a code of ResultAccuracyModeEnum.
type AccuracyMode struct{ Code int }

// Mesh is #stablehlo.mesh<...>: axes of devices.
type Mesh struct {
	Axes      MeshAxes `attr:"axes"`
	DeviceIDs ir.Attr  `attr:"device_ids"` // nil if the devices are in order
}

// MeshAxes lists the axes of a mesh in order.
type MeshAxes []MeshAxis

// MeshAxis is #stablehlo.mesh_axis<...>.
type MeshAxis struct {
	Name string `attr:"name"`
	Size int64  `attr:"size"`
}

// AxisRef is #stablehlo.axis_ref<...>: an axis of a mesh, or a part of the axis.
type AxisRef struct {
	Name string   `attr:"name"`
	Sub  *SubAxis `attr:"sub_axis_info"` // nil for the whole axis
}

// SubAxis is #stablehlo.sub_axis_info<(2)4>: the part of Size indices after PreSize, the product of the sizes before
// it.
type SubAxis struct{ PreSize, Size int64 }

// Keys of the discardable attribute AttrMesh if it is a dictionary; each axis is a dictionary too.
const (
	MeshKeyAxes    = "axes"
	MeshKeyDevices = "device_ids"
	MeshKeyName    = "name"
	MeshKeySize    = "size"
)

// ReplicaGroupMeshAxes is #stablehlo.replica_group_mesh_axes<...>: groups along axes of a mesh.
type ReplicaGroupMeshAxes struct {
	Mesh ir.Attr `attr:"mesh"` // a SymbolRefAttr or a mesh
	Axes ir.Attr `attr:"axes"` // an array of AxisRefs
}

// AxisRefs returns the axes.
func (r *ReplicaGroupMeshAxes) AxisRefs() []AxisRef {
	list, _ := r.Axes.(*ir.ArrayAttr)
	if list == nil {
		return nil
	}
	var out []AxisRef
	for _, a := range list.Elems() {
		if x, ok := ir.DataOf[AxisRef](a); ok {
			out = append(out, *x)
		}
	}
	return out
}

// Future is the data of !stablehlo.future<...>, the type of async_start's result.
type Future struct{ Types []ir.Type }

// BoundsOf returns the bounds of a tensor type, or nil if it has none.
func BoundsOf(t *ir.TensorType) []int64 {
	if b, ok := ir.DataOf[Bounds](t.Encoding()); ok {
		return b.Bounds
	}
	return nil
}

// IsBounded reports whether t has dynamic dimensions, and a bound for each.
func IsBounded(t *ir.TensorType) bool {
	if !t.Ranked() || t.Static() {
		return false
	}
	bounds := BoundsOf(t)
	for i, d := range t.Shape() {
		if d < 0 && (bounds == nil || bounds[i] < 0) {
			return false
		}
	}
	return true
}

// Mirrored holds another dialect's rows for StableHLO's attributes, enumerations and types. MHLO and CHLO spell them
// like StableHLO, with their own prefix.
type Mirrored struct {
	Attrs []*ir.AttrDef
	Enums []*ir.EnumDef
	Types []*ir.TypeDef
}

// Mirror creates the rows of StableHLO's attributes, enumerations and types for another dialect.
func Mirror(dialect string) *Mirrored {
	m := &Mirrored{}
	for _, a := range attrs {
		m.Attrs = append(m.Attrs, a.Mirror(dialect))
	}
	for _, e := range enums {
		m.Enums = append(m.Enums, e.Mirror(dialect))
	}
	for _, t := range types {
		m.Types = append(m.Types, t.Mirror(dialect))
	}
	return m
}

// Attr returns the row that mirrors d. Enum and Type do the same.
func (m *Mirrored) Attr(d *ir.AttrDef) *ir.AttrDef {
	return m.Attrs[slices.IndexFunc(m.Attrs, func(a *ir.AttrDef) bool { return a == d || a.Base == d })]
}

// Enum returns the row that mirrors d.
func (m *Mirrored) Enum(d *ir.EnumDef) *ir.EnumDef {
	return m.Enums[slices.IndexFunc(m.Enums, func(e *ir.EnumDef) bool { return e == d || e.Base == d })]
}
