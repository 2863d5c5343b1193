package mpmd

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// MeshTensorType is !mpmd.mesh_tensor<...>.
var MeshTensorType = view.TextType(ir.TypeDef{
	Dialect: "mpmd", Name: "mesh_tensor",
	Doc:    "Tensors on a mesh of the topology.",
	Syntax: `<"m1", tensor<4xf32>, sharding=<@mesh, [{"x"}]>, memory_kind="device">`,
}, (*MeshTensor).text)

// The rows of the dialect's attributes. Bytecode has the attributes as text.
var (
	MeshesWithOriginsAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "meshes_with_origins", Summary: "A list of meshes with their origins.",
		Doc:    "The meshes that a value can be on.",
		Syntax: `<"m1"["label"], "m2">`,
	}, (*MeshesWithOrigins).text)
	MeshWithOriginsAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "mesh_with_origins", Summary: "Mesh with its origins.", Wrapped: true,
		Doc:    "A mesh, and why a value is on it.",
		Syntax: `"m1"["label"]`,
	}, (*MeshWithOrigins).text)
	NamedMeshAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "named_mesh", Summary: "A pair with a name and a Mesh.",
		Doc:    "A mesh of a topology.",
		Syntax: `<"m1" : <["x"=2]>>`,
	}, (*NamedMesh).text)
	OriginAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "origin", Summary: "Origin of mesh assignment.", Wrapped: true,
		Doc:    "Why a value is on a mesh.",
		Syntax: `"label"`,
	}, (*Origin).text)
	ReductionAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "reduction", Summary: "Denotes a reduction.",
		Doc:    "How values of several meshes become one.",
		Syntax: "<add>; none, max, min, mul, or, and",
	}, (*Reduction).text)
	TopologyAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "topology", Summary: "Topology of named meshes.",
		Doc:    "The meshes of a program, as the attribute topology of its functions.",
		Syntax: `<<"m1" : <["x"=2]>>, <"m2" : <["x"=4]>>>`,
	}, (*Topology).text)
	UserOriginAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mpmd", Name: "user_origin", Summary: "Origin of user-specified computation.",
		Doc:    "A computation that the user named. The number counts the transpositions that made it.",
		Syntax: `<"f"(1)>`,
	}, (*UserOrigin).text)
)
