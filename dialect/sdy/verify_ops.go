package sdy

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// verifyOwnSharding checks the sharding of an operation with one result, and that the type is unchanged.
func verifyOwnSharding(op *ir.Op, r *ir.Reporter) {
	if !view.SameTypes(op, r) {
		return
	}
	if s := view.Data[Sharding](op.Attr("sharding")); s != nil {
		checkSharding(s, op.Result(0).Type(), op, r, at(op, r))
	}
}

func verifyBarrier(op *ir.Op, r *ir.Reporter) {
	if !view.SameTypes(op, r) {
		return
	}
	if a, ok := op.Attr("allowed_direction").(*ir.IntegerAttr); ok && directions[a.Value()&3] == "BOTH" {
		r.Errorf(op, "cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op redundant.")
	}
}

// verifyEdge checks that only the edge uses its operand, and that no operation of the dialect defines the operand.
func verifyEdge(op *ir.Op, r *ir.Reporter) {
	if !view.SameTypes(op, r) {
		return
	}
	def := op.Operand(0).DefiningOp()
	if t, ok := op.Result(0).Type().(*ir.TensorType); ok && !t.Static() {
		r.Errorf(op, "expected sdy.data_flow_edge to have a static-shaped result. type: '%s'", t)
	} else if !op.Operand(0).HasOneUse() {
		r.Errorf(op, "expected input of sdy.data_flow_edge to have a single user")
	} else if def != nil && def.Def().Dialect() == "sdy" && def.Name() != nameManual && def.Name() != nameNamed {
		r.Errorf(op, "expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than an sdy.named_computation).").
			Note(def.Pos(), "sdy op defining the input of the sdy.data_flow_edge")
	} else {
		verifyOwnSharding(op, r)
	}
}

// verifyFuncEdge checks that only the edge uses its operand, which must be an argument of a function or the result of a
// call.
func verifyFuncEdge(op *ir.Op, r *ir.Reporter) {
	if !view.SameTypes(op, r) {
		return
	}
	r.ReadsAround()
	x := op.Operand(0)
	def, block := x.DefiningOp(), x.Block()
	if t, ok := op.Result(0).Type().(*ir.TensorType); ok && !t.Static() {
		r.Errorf(op, "expected sdy.func_data_flow_edge to have a static-shaped result. type: '%s'", t)
	} else if !x.HasOneUse() {
		r.Errorf(op, "expected operand of sdy.func_data_flow_edge to have a single user")
	} else if block != nil && block.Parent() != nil && block.Parent().Name() != "func.func" {
		r.Errorf(op, "expected operand of sdy.func_data_flow_edge to be a block argument of a func op.")
	} else if def != nil && def.Name() != "func.call" {
		r.Errorf(op, "expected operand of sdy.func_data_flow_edge to be a result of call op.")
	}
}

// returnTypes returns the types that the body of op returns.
func returnTypes(op *ir.Op) []ir.Type {
	if b := op.Region(0).Entry(); b != nil && b.Last() != nil {
		return view.Types(b.Last().OperandList())
	}
	return nil
}

func argTypes(op *ir.Op) []ir.Type {
	if b := op.Region(0).Entry(); b != nil {
		return view.Types(b.Args())
	}
	return nil
}

// verifyNamed checks the body's arguments against the operands, its returned values against the results, and all
// shardings.
func verifyNamed(op *ir.Op, r *ir.Reporter) {
	if !returns(op, r) {
		return
	}
	agree := func(inner, outer []ir.Type, in, out string) bool {
		if len(inner) != len(outer) {
			r.PlainErrorf(op, "number of %ss must match the number of %ss: %d != %d", in, out, len(inner), len(outer))
			return false
		}
		for i := range inner {
			if inner[i] != outer[i] {
				r.PlainErrorf(op, "expected the type of the %d'th %s to match the type of the corresponding %s: '%s' vs '%s'", i, in, out, inner[i], outer[i])
				return false
			}
		}
		return true
	}
	in, out := view.Types(op.OperandList()), op.ResultTypes()
	if !agree(argTypes(op), in, "block argument", "operand") || !agree(returnTypes(op), out, "returned value", "result") {
		return
	}
	if v := view.Data[PerValue](op.Attr(AttrInShardings)); v != nil && !checkPerValue(v, in, op, r, at(op, r).of("in_shardings ")) {
		return
	}
	if v := view.Data[PerValue](op.Attr(AttrOutShardings)); v != nil {
		checkPerValue(v, out, op, r, at(op, r).of("out_shardings "))
	}
}

// returns checks that the body of op ends with sdy.return.
func returns(op *ir.Op, r *ir.Reporter) bool {
	if last := op.Region(0).Entry().Last(); last != nil && last.Name() != nameReturn {
		r.Errorf(op, "expects regions to end with 'sdy.return', found '%s'", last.Name()).
			Note(op.Pos(), "in custom textual format, the absence of terminator implies 'sdy.return'")
		return false
	}
	return true
}

// verifyManual checks a manual computation: its axes, its shardings, and that the body works on the shards.
func verifyManual(op *ir.Op, r *ir.Reporter) {
	if !returns(op, r) {
		return
	}
	in, out, axes := view.Data[PerValue](op.Attr(AttrInShardings)), view.Data[PerValue](op.Attr(AttrOutShardings)), view.Data[ManualAxes](op.Attr(AttrManualAxes))
	if in == nil || out == nil || axes == nil {
		return // the row reports the error
	}
	around := manualAround(op)
	for _, name := range axes.Names {
		if by := around[name]; by != nil {
			bound(at(op, r), name, by)
			return
		}
	}
	none := len(in.Shardings) == 0 && len(out.Shardings) == 0
	if !checkShards(op, r, view.Types(op.OperandList()), argTypes(op), in, axes.Names, "operand") ||
		!checkShards(op, r, op.ResultTypes(), returnTypes(op), out, axes.Names, "result") || none {
		return
	}
	mesh := commonMesh(slices.Concat(in.Shardings, out.Shardings), op, r)
	if mesh == nil && len(axes.Names) > 0 {
		r.Errorf(op, "all in and out shardings must be bound to the same mesh or an empty mesh.")
		return
	}
	for _, name := range axes.Names {
		if mesh != nil && mesh.index(name) < 0 {
			r.Errorf(op, "unknown manual axis: %s", mlirtext.Quote(name))
			return
		}
	}
}

// commonMesh returns the mesh of all shardings, ignoring shardings on an empty mesh, or nil if there are several.
func commonMesh(list []*Sharding, op *ir.Op, r *ir.Reporter) *DeviceMesh {
	var mesh *DeviceMesh
	for _, s := range list {
		m := meshOf(s, op, r)
		switch {
		case mesh == nil || mesh.empty():
			mesh = m
		case !m.empty() && !m.equal(mesh):
			return nil
		}
	}
	return mesh
}

// checkShards checks the values outside a manual computation against the values in its body.
func checkShards(op *ir.Op, r *ir.Reporter, global, local []ir.Type, v *PerValue, manual []string, side string) bool {
	if len(global) == 0 && len(local) == 0 && len(v.Shardings) == 0 {
		return true
	}
	f := at(op, r)
	if !checkPerValue(v, global, op, r, f.of(side+" ")) {
		return false
	}
	if len(global) != len(local) {
		return f.no("number of op %ss and region %ss must match. Op has %d op %ss and %d region %ss", side, side, len(global), side, len(local), side)
	}
	for i, s := range v.Shardings {
		if i >= len(global) {
			break
		}
		for d, dim := range s.Dims {
			for k := 1; k < len(dim.Axes); k++ {
				if slices.Contains(manual, dim.Axes[k].Name) && !slices.Contains(manual, dim.Axes[k-1].Name) {
					f("%s sharding at index %d must have all manual axes come before free axes in its dimension sharding at index %d. Saw manual axis %s after free axis %s",
						side, i, d, dim.Axes[k], dim.Axes[k-1])
					return false
				}
			}
		}
		t, ok := global[i].(*ir.TensorType)
		if !ok {
			continue
		}
		mesh, shape := meshOf(s, op, r), slices.Clone(t.Shape())
		for d := range shape {
			if d >= len(s.Dims) || shape[d] == ir.Dynamic {
				continue
			}
			var axes []AxisRef
			for _, a := range s.Dims[d].Axes {
				if slices.Contains(manual, a.Name) {
					axes = append(axes, a)
				}
			}
			n := devices(axes, mesh)
			if shape[d]%n != 0 {
				return f.no("%s dimension size %d is not divisible by the manual axes size %d", side, shape[d], n)
			}
			shape[d] /= n
		}
		if want := r.Context().Tensor(shape, t.Elem(), nil); want != local[i] {
			return f.no("%s shape, corresponding sharding, and region %s shape at index %d must match. Expected local shape '%s', actual local shape '%s'", side, side, i, want, local[i])
		}
	}
	return true
}
