package shardy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// gspmdList returns the sharding of several values.
func (e *exporter) gspmdList(op *ir.Op, list []*sdy.Sharding) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = e.gspmd(op, s)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// gspmd returns a sharding in GSPMD's syntax.
func (e *exporter) gspmd(op *ir.Op, s *sdy.Sharding) string {
	mesh := s.Inline
	if mesh == nil {
		mesh = e.meshes[s.Mesh]
	}
	if mesh == nil {
		e.fail(op, "the mesh @%s is missing", s.Mesh)
		return ""
	}
	if len(mesh.Axes) == 0 && len(mesh.DeviceIDs) == 1 {
		return "{maximal device=" + strconv.FormatInt(mesh.DeviceIDs[0], 10) + "}"
	}
	t := newTiles(mesh, s)
	var dims []int64
	for _, d := range s.Dims {
		dims = append(dims, t.take(d.Axes))
	}
	if len(t.order) == 0 && len(s.Unreduced) == 0 {
		return "{replicated}"
	}
	suffix := ""
	if n := t.take(s.Unreduced); n > 1 {
		dims, suffix = append(dims, n), " last_tile_dims={unreduced}"
	}
	if n := t.takeRest(); n > 1 {
		dims = append(dims, n)
		if suffix == "" {
			suffix = " last_tile_dim_replicate"
		} else {
			suffix = " last_tile_dims={unreduced, replicated}"
		}
	}
	return "{devices=" + strings.ReplaceAll(string(mlirtext.AppendInts(nil, dims)), " ", "") + t.devices(mesh) + suffix + "}"
}

// tiles numbers the devices of a sharding. The parts are the axes of a mesh, cut where the sharding uses a part of an
// axis.
type tiles struct {
	names []string
	pre   []int64 // product of the sizes to the left within the axis
	sizes []int64
	order []int // the parts in the order of use
}

func newTiles(mesh *sdy.DeviceMesh, s *sdy.Sharding) *tiles {
	t := &tiles{}
	refs := slices.Concat(s.Unreduced, s.Replicated)
	for _, d := range s.Dims {
		refs = append(refs, d.Axes...)
	}
	for _, a := range mesh.Axes {
		cuts := []int64{1, a.Size}
		for _, r := range refs {
			if r.Name == a.Name && r.Size > 0 {
				cuts = append(cuts, r.Pre, r.Pre*r.Size)
			}
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		if len(cuts) == 1 {
			cuts = append(cuts, cuts[0]) // an axis of one device
		}
		for i := range len(cuts) - 1 {
			t.names, t.pre, t.sizes = append(t.names, a.Name), append(t.pre, cuts[i]), append(t.sizes, cuts[i+1]/cuts[i])
		}
	}
	return t
}

// take uses the parts of some axes and returns the number of tiles.
func (t *tiles) take(axes []sdy.AxisRef) int64 {
	n := int64(1)
	for _, a := range axes {
		for i, name := range t.names {
			if name == a.Name && (a.Size == 0 || t.pre[i] >= a.Pre && t.pre[i]*t.sizes[i] <= a.Pre*a.Size) {
				n *= t.sizes[i]
				t.order = append(t.order, i)
			}
		}
	}
	return n
}

// takeRest uses all other parts.
func (t *tiles) takeRest() int64 {
	n := int64(1)
	for i := range t.names {
		if !slices.Contains(t.order, i) {
			n *= t.sizes[i]
			t.order = append(t.order, i)
		}
	}
	return n
}

// devices returns the numbers of the devices: a list, or <=[sizes]T(order) with the fewest dimensions.
func (t *tiles) devices(mesh *sdy.DeviceMesh) string {
	order := slices.DeleteFunc(slices.Clone(t.order), func(i int) bool { return t.sizes[i] == 1 })
	// Join parts that stay neighbours.
	var sizes []int64 // by joined part, in the order of the mesh
	first := map[int]int{}
	position := map[int]int{}
	for k, i := range order {
		position[i] = k
	}
	last := -1
	for i := range t.names {
		if t.sizes[i] == 1 {
			continue
		}
		if last >= 0 && position[i] == position[last]+1 {
			sizes[len(sizes)-1] *= t.sizes[i]
		} else {
			first[i] = len(sizes)
			sizes = append(sizes, t.sizes[i])
		}
		last = i
	}
	var perm []int64
	for _, i := range order {
		if p, ok := first[i]; ok {
			perm = append(perm, int64(p))
		}
	}
	if len(sizes) == 0 {
		sizes, perm = []int64{1}, []int64{0}
	}
	if mesh.DeviceIDs != nil {
		return t.list(mesh, order)
	}
	list := func(v []int64) string { return strings.ReplaceAll(string(mlirtext.AppendInts(nil, v)), " ", "") }
	s := "<=" + list(sizes)
	if len(perm) > 1 {
		s += "T(" + strings.Trim(list(perm), "[]") + ")"
	}
	return s
}

// list returns the device numbers one by one.
func (t *tiles) list(mesh *sdy.DeviceMesh, order []int) string {
	stride := make([]int64, len(t.sizes))
	n := int64(1)
	for i := len(t.sizes) - 1; i >= 0; i-- {
		stride[i], n = n, n*t.sizes[i]
	}
	out := make([]string, n)
	for k := range out {
		rest, at := int64(k), int64(0)
		for j := len(order) - 1; j >= 0; j-- {
			at += rest % t.sizes[order[j]] * stride[order[j]]
			rest /= t.sizes[order[j]]
		}
		out[k] = strconv.FormatInt(mesh.DeviceIDs[at], 10)
	}
	return strings.Join(out, ",")
}
