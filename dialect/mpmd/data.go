package mpmd

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/internal/mlirtext"
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

// String returns <"m1", tensor<4xf32>>.
func (t *MeshTensor) String() string {
	s := "<" + mlirtext.Quote(t.Mesh) + ", " + t.Tensor.String()
	if t.Sharding != nil {
		s += ", sharding=" + t.Sharding.String()
	}
	if t.MemoryKind != nil {
		s += ", memory_kind=" + t.MemoryKind.String()
	}
	return s + ">"
}

// String returns <"m1" : <["x"=2]>>.
func (m *NamedMesh) String() string {
	return "<" + mlirtext.Quote(m.Name) + " : " + m.Mesh.String() + ">"
}

// String returns <<"m1" : <["x"=2]>>, ...>.
func (t *Topology) String() string { return "<" + joined(t.Meshes) + ">" }

// String returns <"f"(1)>.
func (o *UserOrigin) String() string { return "<" + o.short() + ">" }

// short returns "f"(1), the form in ops.
func (o *UserOrigin) short() string {
	if o.Transposes > 0 {
		return mlirtext.Quote(o.Name) + "(" + strconv.FormatInt(o.Transposes, 10) + ")"
	}
	return mlirtext.Quote(o.Name)
}

// String returns "label".
func (o *Origin) String() string { return mlirtext.Quote(o.Label) }

// String returns "m1"["label"].
func (m *MeshWithOrigins) String() string {
	if len(m.Origins) == 0 {
		return mlirtext.Quote(m.Mesh)
	}
	return mlirtext.Quote(m.Mesh) + "[" + joined(m.Origins) + "]"
}

// String returns <"m1"["label"], "m2">.
func (m *MeshesWithOrigins) String() string { return "<" + joined(m.Meshes) + ">" }

// String returns <add>.
func (r *Reduction) String() string { return "<" + r.Type + ">" }

func joined[T interface{ String() string }](list []T) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = v.String()
	}
	return strings.Join(parts, ", ")
}
