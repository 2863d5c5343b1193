package sdy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
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

// Sharding is #sdy.sharding<@mesh, [dims], replicated={...}, unreduced=max{...}>.
type Sharding struct {
	Mesh       string        `attr:"mesh_or_ref"` // symbol of the mesh; empty if Inline is set
	Inline     *DeviceMesh   // the mesh itself
	Dims       []DimSharding `attr:"dim_shardings"`
	Replicated []AxisRef     `attr:"replicated_axes"`
	Unreduced  []AxisRef     `attr:"unreduced_axes"`
	Reduction  Reduction     // combines the parts along Unreduced
}

// PerValue is #sdy.sharding_per_value<[...]>: one sharding for each result.
type PerValue struct {
	Shardings []*Sharding `attr:"shardings"`
}

// ManualAxes is #sdy<manual_axes{"x"}>: the axes over which a manual computation is written per device.
type ManualAxes struct {
	Names []string `attr:"axes"`
}

// text is <["x"=2], device_ids=[0, 1]>.
func (m *DeviceMesh) text(t *view.Text) {
	start := t.Pos()
	t.Lit("<")
	view.Items(t, "[", "]", &m.Axes, func(a *MeshAxis) {
		pos := t.Pos()
		if a.text(t); a.Size < 1 {
			t.Failf(pos, "axis size must be at least 1, got: %d", a.Size)
		}
	})
	if t.Opt(m.DeviceIDs != nil, ", device_ids=") {
		view.Some(t, "[", "]", &m.DeviceIDs, t.Int)
	}
	t.Lit(">")
	if t.P == nil {
		return
	}
	if wrong := m.check(); wrong != "" {
		t.Failf(start, "%s", wrong)
	}
	if len(m.Axes) > 0 && slices.IsSorted(m.DeviceIDs) {
		m.DeviceIDs = nil // nil means this order
	}
}

// Devices returns the number of the mesh's devices: the product of the sizes of its axes.
func (m *DeviceMesh) Devices() int64 {
	n := int64(1)
	for _, a := range m.Axes {
		n *= a.Size
	}
	return n
}

// check returns a description of the mesh's error, or "".
func (m *DeviceMesh) check() string {
	for i, a := range m.Axes {
		if m.index(a.Name) < i {
			return "duplicate axis name: " + mlirtext.Quote(a.Name)
		}
	}
	if len(m.DeviceIDs) == 0 {
		return ""
	}
	if i := slices.IndexFunc(m.DeviceIDs, func(id int64) bool { return id < 0 }); i >= 0 {
		return fmt.Sprintf("device id must be non-negative, got: %d", m.DeviceIDs[i])
	}
	if len(m.Axes) == 0 {
		if len(m.DeviceIDs) > 1 {
			return "axes is empty and device_ids has more than one element"
		}
		return ""
	}
	if product := m.Devices(); product != int64(len(m.DeviceIDs)) {
		return fmt.Sprintf("total product of axis sizes must match total number of device ids, got: %d != %d", product, len(m.DeviceIDs))
	}
	sorted := slices.Sorted(slices.Values(m.DeviceIDs))
	for i, id := range sorted {
		if id != int64(i) {
			text := fmt.Sprint(sorted)
			return "sorted device ids must be iota(product(axes)), got: " + strings.ReplaceAll(text[1:len(text)-1], " ", ", ")
		}
	}
	return ""
}

// text is "x"=2.
func (a *MeshAxis) text(t *view.Text) {
	t.String(&a.Name)
	t.Lit("=")
	t.Int(&a.Size)
}

// text is "x" or "x":(2)4.
func (a *AxisRef) text(t *view.Text) {
	t.String(&a.Name)
	if !t.Opt(a.part(), ":") {
		return
	}
	pos, part := t.Pos(), subAxis{a.Pre, a.Size}
	part.text(t)
	if a.Pre, a.Size = part.pre, part.size; !a.part() {
		t.Failf(pos, "sub-axis pre-size must be at least 1: %s:(0)0", mlirtext.Quote(a.Name))
	}
}

func axesText(t *view.Text, open, end string, axes *[]AxisRef) {
	view.Items(t, open, end, axes, func(a *AxisRef) { a.text(t) })
}

// text is {"x", ?}p1.
func (d *DimSharding) text(t *view.Text) {
	t.Lit("{")
	if t.P == nil {
		axesText(t, "", "", &d.Axes)
		if d.Open && len(d.Axes) > 0 {
			t.Lit(", ")
		}
		t.Opt(d.Open, "?")
		t.Lit("}")
		if d.Priority >= 0 {
			t.Lit("p")
			t.Int(&d.Priority)
		}
		return
	}
	for !t.P.Accept("}") {
		if len(d.Axes) > 0 {
			t.Lit(",")
		}
		if d.Open = t.P.Accept("?"); d.Open {
			t.Lit("}")
			break
		}
		var a AxisRef
		a.text(t)
		d.Axes = append(d.Axes, a)
	}
	d.Priority = -1
	if word := t.P.ParseOptionalKeyword(); word != "" {
		digits, ok := strings.CutPrefix(word, "p")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			t.P.Errorf("expecting priority in format 'p<number>', got: %s", word)
		}
		if digits[0] == '0' && len(digits) > 1 {
			t.P.Errorf("priorities with leading zeros are not allowed, got: %s", word)
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			t.P.Errorf("expecting integer priority, got: %s", word)
		}
		d.Priority = v
	}
}

// text is <@mesh, [{"x"}, {}], replicated={...}, unreduced={...}>.
func (s *Sharding) text(t *view.Text) {
	t.Lit("<")
	if t.Opt(s.Inline != nil, "mesh") {
		view.Part(t, MeshAttr, &s.Inline)
	} else {
		t.Symbol(&s.Mesh)
	}
	t.Lit(", ")
	view.Items(t, "[", "]", &s.Dims, func(d *DimSharding) { d.text(t) })
	list := func(name string, axes *[]AxisRef, reduction *Reduction) bool {
		if (t.P == nil) == (len(*axes) == 0) || !t.Opt(true, name) {
			return false
		}
		t.Lit("=")
		if reduction != nil {
			reduction.text(t)
		}
		t.Lit("{")
		axesText(t, "", "", axes)
		t.Lit("}")
		return true
	}
	if t.P == nil {
		list(", replicated", &s.Replicated, nil)
		list(", unreduced", &s.Unreduced, &s.Reduction)
	}
	for t.Opt(false, ",") {
		if !list("replicated", &s.Replicated, nil) && !list("unreduced", &s.Unreduced, &s.Reduction) {
			t.P.Errorf("failed to parse Sdy_TensorSharding, expected valid named axis list after comma")
		}
	}
	t.Lit(">")
}

// Reduction is the operation that combines the partial values of an unreduced tensor. Sdy has it since jaxlib 0.11;
// before, it is a sum.
type Reduction int64

// The reductions, with their numbers in attributes and bytecode.
const (
	ReduceSum Reduction = iota
	ReduceMax
	ReduceMin
)

var reductions = [...]string{"sum", "max", "min"}

// String returns the word of r: sum, max or min.
func (r Reduction) String() string {
	if r >= 0 && int(r) < len(reductions) {
		return reductions[r]
	}
	return strconv.FormatInt(int64(r), 10)
}

// text is max, or nothing for a sum.
func (r *Reduction) text(t *view.Text) {
	if t.P == nil {
		t.Opt(*r != ReduceSum, r.String())
		return
	}
	for i, word := range reductions {
		if t.Opt(false, word) {
			*r = Reduction(i)
			return
		}
	}
}

// text is <[<@mesh, [...]>, ...]>, list is the form in ops, without the outer brackets.
func (v *PerValue) text(t *view.Text) {
	t.Lit("<")
	v.list(t)
	t.Lit(">")
}

func (v *PerValue) list(t *view.Text) {
	view.Items(t, "[", "]", &v.Shardings, func(s **Sharding) { view.Part(t, ShardingAttr, s) })
}

// text is {"x", "y"}.
func (m *ManualAxes) text(t *view.Text) { view.Items(t, "{", "}", &m.Names, t.String) }

// The texts of attributes, without their names.
func (d *DeviceMesh) String() string       { return view.Written(d, (*DeviceMesh).text) }
func (a AxisRef) String() string           { return view.Written(&a, (*AxisRef).text) }
func (d DimSharding) String() string       { return view.Written(&d, (*DimSharding).text) }
func (d *Sharding) String() string         { return view.Written(d, (*Sharding).text) }
func (d *PerValue) String() string         { return view.Written(d, (*PerValue).text) }
func (d *ManualAxes) String() string       { return view.Written(d, (*ManualAxes).text) }
func (d *AxisList) String() string         { return view.Written(d, (*AxisList).text) }
func (d *AxisLists) String() string        { return view.Written(d, (*AxisLists).text) }
func (d *AllToAllParams) String() string   { return view.Written(d, (*AllToAllParams).text) }
func (d *PropagationEdges) String() string { return view.Written(d, (*PropagationEdges).text) }
func (d *Rule) String() string             { return view.Written(d, (*Rule).text) }
