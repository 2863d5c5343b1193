package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// The binary forms of attributes that contain other attributes (StablehloBytecode.cpp).

// CodeAccuracy returns the coder of result_accuracy. mode is the row of its mode, which is an attribute of its own.
func CodeAccuracy(mode *ir.AttrDef) func(ir.Coder, *ResultAccuracy) {
	return func(c ir.Coder, r *ResultAccuracy) {
		c.Float64(&r.Atol)
		c.Float64(&r.Rtol)
		c.Int(&r.Ulps)
		view.CodePart(c, mode, &r.Mode)
	}
}

// CodeMode codes result_accuracy_mode.
func CodeMode(c ir.Coder, m *AccuracyMode) {
	v := uint64(m.Code)
	if c.Uint(&v); v >= uint64(len(ResultAccuracyModeEnum.Cases)) {
		c.Failf("%d is not a case of result_accuracy_mode", v)
	}
	m.Code = int(v)
}

// CodeAxisRef returns the coder of axis_ref. sub is the row of its part of the axis, which is an attribute of its own.
func CodeAxisRef(sub *ir.AttrDef) func(ir.Coder, *AxisRef) {
	return func(c ir.Coder, a *AxisRef) {
		c.String(&a.Name)
		part := a.Sub != nil
		if c.Bool(&part); !part {
			return
		}
		s := SubAxis{}
		if a.Sub != nil {
			s = *a.Sub
		}
		view.CodePart(c, sub, &s)
		a.Sub = &s
	}
}

func codeMesh(c ir.Coder, m *Mesh) {
	axes := []MeshAxis(m.Axes)
	view.CodeArray(c, MeshAxisAttr, &axes)
	m.Axes = axes
	has := m.DeviceIDs != nil
	if c.Bool(&has); has {
		c.Attr(&m.DeviceIDs)
	}
}

func codeMeshAxes(c ir.Coder, r *ReplicaGroupMeshAxes) {
	c.Attr(&r.Mesh)
	var axes []ir.Attr
	if a, ok := r.Axes.(*ir.ArrayAttr); ok {
		axes = a.Elems()
	}
	c.Attrs(&axes)
	r.Axes = ir.NewArray(axes)
}
