package sdy

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/mlirtext"
)

// DeviceMesh is #sdy.mesh<["x"=2, "y"=4], device_ids=[...]>: axes of devices. A mesh without axes and with one device
// is maximal: a value on it lives on that device.
type DeviceMesh struct {
	Axes      []MeshAxis `attr:"axes"`
	DeviceIDs []int64    `attr:"device_ids"` // nil if the devices are in order
}

// MeshAxis is one axis of a mesh.
type MeshAxis struct {
	Name string
	Size int64
}

// AxisRef is an axis or a part of one: "x", "x":(2)4.
type AxisRef struct {
	Name string
	Pre  int64 // product of the sizes to the left of the part; Pre 0 and Size 0 mean the whole axis
	Size int64
}

// DimSharding is the sharding of one dimension: {"x", ?}p1.
type DimSharding struct {
	Axes     []AxisRef
	Open     bool  // may be sharded further
	Priority int64 // -1 for none
}

// Sharding is #sdy.sharding<@mesh, [dims], replicated={...}, unreduced={...}>.
type Sharding struct {
	Mesh       string        `attr:"mesh_or_ref"` // symbol of the mesh; empty if Inline is set
	Inline     *DeviceMesh   // the mesh itself
	Dims       []DimSharding `attr:"dim_shardings"`
	Replicated []AxisRef     `attr:"replicated_axes"`
	Unreduced  []AxisRef     `attr:"unreduced_axes"`
}

// PerValue is #sdy.sharding_per_value<[...]>: one sharding for each result.
type PerValue struct {
	Shardings []*Sharding `attr:"shardings"`
}

// ManualAxes is #sdy<manual_axes{"x"}>: the axes over which a manual computation is written per device.
type ManualAxes struct {
	Names []string `attr:"axes"`
}

// String returns <["x"=2], device_ids=[0, 1]>.
func (m *DeviceMesh) String() string {
	parts := make([]string, len(m.Axes))
	for i, a := range m.Axes {
		parts[i] = mlirtext.Quote(a.Name) + "=" + strconv.FormatInt(a.Size, 10)
	}
	s := "<[" + strings.Join(parts, ", ") + "]"
	if m.DeviceIDs != nil {
		ids := make([]string, len(m.DeviceIDs))
		for i, id := range m.DeviceIDs {
			ids[i] = strconv.FormatInt(id, 10)
		}
		s += ", device_ids=[" + strings.Join(ids, ", ") + "]"
	}
	return s + ">"
}

// String returns "x" or "x":(2)4.
func (a AxisRef) String() string {
	s := mlirtext.Quote(a.Name)
	if a.part() {
		s += ":(" + strconv.FormatInt(a.Pre, 10) + ")" + strconv.FormatInt(a.Size, 10)
	}
	return s
}

func axisList(axes []AxisRef) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = a.String()
	}
	return strings.Join(parts, ", ")
}

// String returns {"x", ?}p1.
func (d DimSharding) String() string {
	s := "{" + axisList(d.Axes)
	if d.Open {
		if len(d.Axes) > 0 {
			s += ", "
		}
		s += "?"
	}
	s += "}"
	if d.Priority >= 0 {
		s += "p" + strconv.FormatInt(d.Priority, 10)
	}
	return s
}

// String returns <@mesh, [{"x"}, {}]>.
func (s *Sharding) String() string {
	mesh := "mesh"
	if s.Inline != nil {
		mesh += s.Inline.String()
	} else {
		mesh = string(mlirtext.AppendSymbol(nil, s.Mesh))
	}
	dims := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		dims[i] = d.String()
	}
	text := "<" + mesh + ", [" + strings.Join(dims, ", ") + "]"
	if len(s.Replicated) > 0 {
		text += ", replicated={" + axisList(s.Replicated) + "}"
	}
	if len(s.Unreduced) > 0 {
		text += ", unreduced={" + axisList(s.Unreduced) + "}"
	}
	return text + ">"
}

// String returns <[<@mesh, [...]>, ...]>.
func (v *PerValue) String() string { return "<" + v.List() + ">" }

// List returns [<@mesh, [...]>, ...], the form in ops.
func (v *PerValue) List() string {
	parts := make([]string, len(v.Shardings))
	for i, s := range v.Shardings {
		parts[i] = s.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// String returns {"x", "y"}.
func (m *ManualAxes) String() string {
	parts := make([]string, len(m.Names))
	for i, n := range m.Names {
		parts[i] = mlirtext.Quote(n)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
