package mpmd

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// MeshTensor is !mpmd.mesh_tensor<"m1", tensor<4xf32>, sharding=<@mesh, [{"x"}]>, memory_kind="device">: a tensor on a
// mesh of the topology.
type MeshTensor struct {
	Mesh       string
	Tensor     *ir.TensorType // of the whole value
	Sharding   *sdy.Sharding  // nil: replicated
	MemoryKind *ir.StringAttr // nil: not given
}

// NamedMesh is #mpmd.named_mesh<"m1" : <["x"=2]>>.
type NamedMesh struct {
	Name string
	Mesh *sdy.DeviceMesh
}

// Topology is #mpmd.topology<<"m1" : <["x"=2]>>, ...>: the meshes of a program.
type Topology struct {
	Meshes []*NamedMesh
}

// UserOrigin is #mpmd.user_origin<"f"(1)>: a computation that the user named, and how many transpositions made it.
type UserOrigin struct {
	Name       string
	Transposes int64
}

// Origin is #mpmd<origin"label">: why a value is on a mesh.
type Origin struct {
	Label string
}

// MeshWithOrigins is #mpmd<mesh_with_origins"m1"["label"]>.
type MeshWithOrigins struct {
	Mesh    string
	Origins []*Origin
}

// MeshesWithOrigins is #mpmd.meshes_with_origins<"m1"["label"], "m2">.
type MeshesWithOrigins struct {
	Meshes []*MeshWithOrigins
}

// Reduction is #mpmd.reduction<add>: how values of several meshes become one.
type Reduction struct {
	Type string // one of the cases of reductions
}

// reductions are the cases of Reduction. The values of none are identical.
var reductions = [...]string{"none", "add", "max", "min", "mul", "or", "and"}

// Shape returns the sizes of the whole tensor. Shardings of the value must fit them.
func (t *MeshTensor) Shape() []int64 { return t.Tensor.Shape() }

// text is <"m1", tensor<4xf32>, sharding=<...>, memory_kind="device">.
func (m *MeshTensor) text(t *view.Text) {
	t.Lit("<")
	mesh := ir.NewString(m.Mesh)
	nameText(t, &mesh)
	m.Mesh = mesh.Value()
	t.Lit(", ")
	pos, typ := t.Pos(), ir.Type(m.Tensor)
	t.Type(&typ)
	tensor, ok := typ.(*ir.TensorType)
	if !ok || !tensor.Ranked() {
		t.Failf(pos, "invalid kind of type specified: expected builtin.tensor, but found '%s'", typ)
	}
	m.Tensor = tensor
	more := t.Opt(m.Sharding != nil || m.MemoryKind != nil, ", ")
	if more && t.Opt(m.Sharding != nil, "sharding=") {
		view.Part(t, sdy.ShardingAttr, &m.Sharding)
		more = t.Opt(m.MemoryKind != nil, ", ")
	}
	if more {
		t.Lit("memory_kind=")
		nameText(t, &m.MemoryKind)
	}
	t.Lit(">")
}

// nameText is a string attribute.
func nameText(t *view.Text, s **ir.StringAttr) {
	pos, a := t.Pos(), ir.Attr(*s)
	t.Attr(&a)
	name, ok := a.(*ir.StringAttr)
	if !ok {
		t.Failf(pos, "invalid kind of attribute specified")
	}
	*s = name
}

// text is <"m1" : <["x"=2]>>.
func (m *NamedMesh) text(t *view.Text) {
	t.Lit("<")
	t.String(&m.Name)
	t.Lit(" : ")
	view.Part(t, sdy.MeshAttr, &m.Mesh)
	t.Lit(">")
}

// text is <<"m1" : <["x"=2]>>, ...>.
func (m *Topology) text(t *view.Text) {
	view.Some(t, "<", ">", &m.Meshes, func(m **NamedMesh) { view.Part(t, NamedMeshAttr, m) })
}

// text is <"f"(1)>, short is the form in ops, without the brackets.
func (o *UserOrigin) text(t *view.Text) {
	t.Lit("<")
	o.short(t)
	t.Lit(">")
}

func (o *UserOrigin) short(t *view.Text) {
	if t.String(&o.Name); t.Opt(o.Transposes > 0, "(") {
		t.Int(&o.Transposes)
		t.Lit(")")
	}
}

// text is "label".
func (o *Origin) text(t *view.Text) { t.String(&o.Label) }

// text is "m1"["label"].
func (m *MeshWithOrigins) text(t *view.Text) {
	if t.String(&m.Mesh); t.Opt(len(m.Origins) > 0, "[") {
		view.Items(t, "", "", &m.Origins, func(o **Origin) { view.Part(t, OriginAttr, o) })
		t.Lit("]")
	}
}

// text is <"m1"["label"], "m2">.
func (m *MeshesWithOrigins) text(t *view.Text) {
	view.Items(t, "<", ">", &m.Meshes, func(m **MeshWithOrigins) { view.Part(t, MeshWithOriginsAttr, m) })
}

// text is <add>.
func (r *Reduction) text(t *view.Text) {
	t.Lit("<")
	if t.P == nil {
		t.Lit(r.Type)
	} else {
		pos := t.Pos()
		if r.Type = t.P.ParseKeyword(); !slices.Contains(reductions[:], r.Type) {
			t.Failf(pos, "expected ::mlir::mpmd::ReductionType to be one of: none, add, max, min, mul, or, and")
		}
	}
	t.Lit(">")
}

// The texts of attributes, without their names.
func (d *MeshTensor) String() string        { return view.Written(d, (*MeshTensor).text) }
func (d *NamedMesh) String() string         { return view.Written(d, (*NamedMesh).text) }
func (d *Topology) String() string          { return view.Written(d, (*Topology).text) }
func (d *UserOrigin) String() string        { return view.Written(d, (*UserOrigin).text) }
func (d *Origin) String() string            { return view.Written(d, (*Origin).text) }
func (d *MeshWithOrigins) String() string   { return view.Written(d, (*MeshWithOrigins).text) }
func (d *MeshesWithOrigins) String() string { return view.Written(d, (*MeshesWithOrigins).text) }
func (d *Reduction) String() string         { return view.Written(d, (*Reduction).text) }
