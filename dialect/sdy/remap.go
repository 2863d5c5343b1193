package sdy

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// RemapShardings updates in_shardings and out_shardings of a computation whose operands and results changed. A new
// value is replicated over the mesh of the existing values. If there are none, it uses the first mesh of the module
// that has the computation's manual axes.
func RemapShardings(m *ir.Module, op *ir.Op, operands, results []int) error {
	in, hasIn := shardingsOf(op.Attr(AttrInShardings))
	out, hasOut := shardingsOf(op.Attr(AttrOutShardings))
	if !hasIn && !hasOut {
		return nil // a named computation may omit its shardings
	}
	mesh := anyMesh(m, op, slices.Concat(in, out))
	set := func(name string, has bool, old []*Sharding, from []int, value func(i int) *ir.Value) error {
		if !has {
			return nil
		}
		list := make([]*Sharding, len(from))
		taken := make([]bool, len(old))
		for i, k := range from {
			switch {
			case k < 0 && mesh == nil:
				return m.Errorf(op, "'%s' needs a mesh for a new value, but names none and the module has none with its axes", op.Name())
			case k < 0:
				list[i] = mesh.replicated(value(i).Type())
			case k >= len(old) || taken[k]:
				return m.Errorf(op, "the shardings of '%s' do not fit its new values", op.Name())
			default:
				list[i], taken[k] = old[k], true
			}
		}
		op.SetAttr(name, PerValueAttr.New(&PerValue{Shardings: list}))
		return nil
	}
	if err := set(AttrInShardings, hasIn, in, operands, op.Operand); err != nil {
		return err
	}
	return set(AttrOutShardings, hasOut, out, results, op.Result)
}

// remapAttr keeps sdy.sharding in step with the results. A new result is replicated over the mesh of the other results.
func remapAttr(op *ir.Op, name string, a ir.Attr, types []ir.Type, from []int) ir.Attr {
	old, ok := shardingsOf(a)
	if name != AttrValueSharding || !ok || op.Def().Dialect() == "hlocb" || len(old) != op.NumResults() {
		return a
	}
	if len(types) == 0 || len(old) == 0 {
		return nil
	}
	list := make([]*Sharding, len(types))
	for i, k := range from {
		if k >= 0 && op.Result(k).Type() == types[i] {
			list[i] = old[k]
		} else {
			list[i] = (&Sharding{Mesh: old[0].Mesh, Inline: old[0].Inline}).replicated(types[i])
		}
	}
	return PerValueAttr.New(&PerValue{Shardings: list})
}

func shardingsOf(a ir.Attr) ([]*Sharding, bool) {
	if p := view.Data[PerValue](a); p != nil {
		return p.Shardings, true
	}
	return nil, false
}

// HasMesh reports whether a new value of the manual computation op has a mesh for its sharding: that of another value,
// or a mesh of the module with the op's manual axes.
func HasMesh(m *ir.Module, op *ir.Op) bool {
	in, _ := shardingsOf(op.Attr(AttrInShardings))
	out, _ := shardingsOf(op.Attr(AttrOutShardings))
	return anyMesh(m, op, slices.Concat(in, out)) != nil
}

// anyMesh returns an empty sharding on the mesh of op, or nil if there is none.
func anyMesh(m *ir.Module, op *ir.Op, shardings []*Sharding) *Sharding {
	for _, s := range shardings {
		if s.Mesh != "" || s.Inline != nil {
			return &Sharding{Mesh: s.Mesh, Inline: s.Inline}
		}
	}
	manual := view.Data[ManualAxes](op.Attr(AttrManualAxes))
	if manual == nil {
		return nil
	}
	for o := range m.Body().Ops() {
		if mesh := view.Data[DeviceMesh](o.Attr("mesh")); mesh != nil && o.Name() == nameMesh && mesh.has(manual.Names) {
			return &Sharding{Mesh: view.String(o.Attr(ir.SymbolName))}
		}
	}
	return nil
}

// has reports whether the mesh has all the named axes.
func (m *DeviceMesh) has(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return m.index(name) < 0 })
}

// replicated returns a closed sharding on the mesh of s for a value that is whole on every device.
func (s *Sharding) replicated(t ir.Type) *Sharding {
	r := &Sharding{Mesh: s.Mesh, Inline: s.Inline}
	shape, _ := tensorShape(t)
	for range shape {
		r.Dims = append(r.Dims, DimSharding{Priority: -1})
	}
	return r
}

// IsComputation reports whether op is a manual computation.
func IsComputation(op *ir.Op) bool { return op.Is(ManualComputation) }

// AllManual reports whether a manual computation covers all axes of the meshes of its shardings.
func AllManual(m *ir.Module, op *ir.Op) bool {
	var manual []string
	if axes := view.Data[ManualAxes](op.Attr(AttrManualAxes)); axes != nil {
		manual = axes.Names
	}
	in, _ := shardingsOf(op.Attr(AttrInShardings))
	out, _ := shardingsOf(op.Attr(AttrOutShardings))
	for _, s := range slices.Concat(in, out) {
		mesh := s.Inline
		for o := range m.Body().Ops() {
			if declared := view.Data[DeviceMesh](o.Attr("mesh")); o.Name() == nameMesh && mesh == nil && view.String(o.Attr(ir.SymbolName)) == s.Mesh {
				mesh = declared
			}
		}
		if mesh == nil {
			return false
		}
		if slices.ContainsFunc(mesh.Axes, func(a MeshAxis) bool { return !slices.Contains(manual, a.Name) }) {
			return false
		}
	}
	return true
}
