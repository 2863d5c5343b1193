package mpmd

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/ir"
)

// MeshTensorType is !mpmd.mesh_tensor<...>.
var MeshTensorType = &ir.TypeDef{
	Dialect: "mpmd", Name: "mesh_tensor", Parse: parseMeshTensor,
	Print:  func(data any) string { return data.(*MeshTensor).String() },
	Doc:    "Tensors on a mesh of the topology.",
	Syntax: `<"m1", tensor<4xf32>, sharding=<@mesh, [{"x"}]>, memory_kind="device">`,
}

// The rows of the dialect's attributes. Bytecode has the attributes as text.
var (
	MeshesWithOriginsAttr = attr(ir.AttrDef{
		Name: "meshes_with_origins", Summary: "A list of meshes with their origins.",
		Doc:    "The meshes that a value can be on.",
		Syntax: `<"m1"["label"], "m2">`,
	}, func(p ir.AsmParser) *MeshesWithOrigins {
		m := &MeshesWithOrigins{}
		p.ParseList("<", ">", func() { m.Meshes = append(m.Meshes, parsePart[MeshWithOrigins](p, MeshWithOriginsAttr)) })
		return m
	})
	MeshWithOriginsAttr = attr(ir.AttrDef{
		Name: "mesh_with_origins", Summary: "Mesh with its origins.", Wrapped: true,
		Doc:    "A mesh, and why a value is on it.",
		Syntax: `"m1"["label"]`,
	}, func(p ir.AsmParser) *MeshWithOrigins {
		m := &MeshWithOrigins{Mesh: p.ParseString()}
		if p.Accept("[") {
			p.ParseList("", "", func() { m.Origins = append(m.Origins, parsePart[Origin](p, OriginAttr)) })
			p.Expect("]")
		}
		return m
	})
	NamedMeshAttr = attr(ir.AttrDef{
		Name: "named_mesh", Summary: "A pair with a name and a Mesh.",
		Doc:    "A mesh of a topology.",
		Syntax: `<"m1" : <["x"=2]>>`,
	}, func(p ir.AsmParser) *NamedMesh {
		p.Expect("<")
		m := &NamedMesh{Name: p.ParseString()}
		p.Expect(":")
		m.Mesh = parsePart[sdy.DeviceMesh](p, sdy.MeshAttr)
		p.Expect(">")
		return m
	})
	OriginAttr = attr(ir.AttrDef{
		Name: "origin", Summary: "Origin of mesh assignment.", Wrapped: true,
		Doc:    "Why a value is on a mesh.",
		Syntax: `"label"`,
	}, func(p ir.AsmParser) *Origin { return &Origin{p.ParseString()} })
	ReductionAttr = attr(ir.AttrDef{
		Name: "reduction", Summary: "Denotes a reduction.",
		Doc:    "How values of several meshes become one.",
		Syntax: "<add>; none, max, min, mul, or, and",
	}, func(p ir.AsmParser) *Reduction {
		p.Expect("<")
		pos := p.Pos()
		r := &Reduction{p.ParseKeyword()}
		if !slices.Contains(reductions[:], r.Type) {
			p.ErrorfAt(pos, "expected ::mlir::mpmd::ReductionType to be one of: none, add, max, min, mul, or, and")
		}
		p.Expect(">")
		return r
	})
	TopologyAttr = attr(ir.AttrDef{
		Name: "topology", Summary: "Topology of named meshes.",
		Doc:    "The meshes of a program, as the attribute topology of its functions.",
		Syntax: `<<"m1" : <["x"=2]>>, <"m2" : <["x"=4]>>>`,
	}, func(p ir.AsmParser) *Topology {
		t := &Topology{}
		p.Expect("<")
		p.ParseList("", "", func() { t.Meshes = append(t.Meshes, parsePart[NamedMesh](p, NamedMeshAttr)) })
		p.Expect(">")
		return t
	})
	UserOriginAttr = attr(ir.AttrDef{
		Name: "user_origin", Summary: "Origin of user-specified computation.",
		Doc:    "A computation that the user named. The number counts the transpositions that made it.",
		Syntax: `<"f"(1)>`,
	}, func(p ir.AsmParser) *UserOrigin {
		p.Expect("<")
		o := parseUserOrigin(p)
		p.Expect(">")
		return o
	})
)

// attr returns the row of an attribute whose data is a *T. Its String method writes the attribute.
func attr[T any, P interface {
	*T
	String() string
}](d ir.AttrDef, parse func(ir.AsmParser) P) *ir.AttrDef {
	d.Dialect = "mpmd"
	d.Parse = func(p ir.AsmParser, _ *ir.AttrDef) any { return parse(p) }
	d.Print = func(_ *ir.AttrDef, data any) string { return data.(P).String() }
	return ir.NewAttrDef[T](d)
}

// parsePart reads an attribute of row d inside another attribute and returns its data.
func parsePart[T any](p ir.AsmParser, d *ir.AttrDef) *T {
	data, _ := ir.DataOf[T](d.ParseShort(p))
	return data
}

// parseName reads a string attribute.
func parseName(p ir.AsmParser) *ir.StringAttr {
	pos := p.Pos()
	s, ok := p.ParseAttr(nil).(*ir.StringAttr)
	if !ok {
		p.ErrorfAt(pos, "invalid kind of attribute specified")
	}
	return s
}

// parseUserOrigin reads "f" or "f"(1).
func parseUserOrigin(p ir.AsmParser) *UserOrigin {
	o := &UserOrigin{Name: p.ParseString()}
	if p.Accept("(") {
		o.Transposes = p.ParseInteger()
		p.Expect(")")
	}
	return o
}

// parseMeshTensor reads <"m1", tensor<4xf32>, sharding=<...>, memory_kind="device">.
func parseMeshTensor(p ir.AsmParser) any {
	p.Expect("<")
	t := &MeshTensor{Mesh: parseName(p).Value()}
	p.Expect(",")
	pos, typ := p.Pos(), p.ParseType()
	tensor, ok := typ.(*ir.TensorType)
	if !ok || !tensor.Ranked() {
		p.ErrorfAt(pos, "invalid kind of type specified: expected builtin.tensor, but found '%s'", typ)
	}
	t.Tensor = tensor
	more := p.Accept(",")
	if more && p.AcceptKeyword("sharding") {
		p.Expect("=")
		t.Sharding = parsePart[sdy.Sharding](p, sdy.ShardingAttr)
		more = p.Accept(",")
	}
	if more {
		p.ExpectKeyword("memory_kind")
		p.Expect("=")
		t.MemoryKind = parseName(p)
	}
	p.Expect(">")
	return t
}
