package shardy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Exported reports whether m has manual computations in the form that Export writes.
func Exported(m *ir.Module) bool {
	return slices.ContainsFunc(fn.Funcs(m), func(f fn.FuncOp) bool { return strings.Contains(f.Symbol(), manualBody) })
}

// ExportedIn reports whether a module's text or artifact may have the form that Export writes.
func ExportedIn(code []byte) bool { return bytes.Contains(code, []byte(manualBody)) }

// Import restores the meshes and the manual computations of a module in the form that Export writes (XLA,
// service/spmd/shardy/sdy_round_trip/shard_map_import.cc). The shardings of values stay frontend attributes, which mean
// the same to XLA. A computation that is not as Export writes it stays as it is, too.
//
// HLO text may omit the number of partitions. If the module has one replica and one partition but its manual
// computations have more, Import sets the number to Partitions.
func Import(m *ir.Module) error {
	im := &importer{m: m, callers: map[string]int{}}
	im.addMeshes()
	var calls []*ir.Op
	m.Op().WalkPost(func(op *ir.Op) bool {
		if op.Is(fn.Call) {
			calls = append(calls, op)
			im.callers[fn.Callee(op)]++
		}
		return true
	})
	for _, call := range calls {
		im.call(call)
	}
	if im.err != nil {
		return im.err
	}
	if replicas, partitions := mhlo.Devices(m); replicas <= 1 && partitions <= 1 {
		if n := Partitions(m); n > 1 {
			m.Op().SetAttr(mhlo.AttrNumPartitions, ir.NewInteger(n, ir.Int(32)))
		}
	}
	return nil
}

// Partitions returns the number of devices of the largest mesh of a manual computation, at least 1.
func Partitions(m *ir.Module) int64 {
	meshes := map[string]*sdy.DeviceMesh{}
	for op := range m.Body().Ops() {
		if v, ok := sdy.AsMesh(op); ok {
			meshes[v.SymName()] = v.Mesh()
		}
	}
	n := int64(1)
	m.Walk(func(op *ir.Op) bool {
		if op.Is(sdy.ManualComputation) {
			n = max(n, size(op.Attr(sdy.AttrInShardings), meshes), size(op.Attr(sdy.AttrOutShardings), meshes))
		}
		return true
	})
	return n
}

type importer struct {
	m       *ir.Module
	callers map[string]int // by function
	err     error
}

// attr parses an attribute that op has as text among its frontend attributes. Without it, or if it is wrong, attr
// returns nil.
func (im *importer) attr(op *ir.Op, name string) ir.Attr {
	text := mhlo.Frontend(op, name)
	if text == "" || im.err != nil {
		return nil
	}
	a, err := parse.Attr(diag.NewSource(name, []byte(text)), im.m.Context())
	if err != nil {
		message := err.Error()
		if d, ok := err.(*diag.Diagnostic); ok {
			message = d.Message
		}
		im.err = im.m.Errorf(op, "%s cannot be read as an attribute of Shardy: %s", name, message)
		return nil
	}
	return a
}

// addMeshes turns the module's meshes into ops.
func (im *importer) addMeshes() {
	root := im.m.Op()
	d, _ := im.attr(root, attrMeshes).(*ir.DictAttr)
	if d == nil {
		return
	}
	b := im.m.AtStart(im.m.Body())
	for _, e := range d.Entries() {
		if _, ok := ir.DataOf[sdy.DeviceMesh](e.Attr); !ok {
			im.err = im.m.Errorf(root, "%s: '%s' must be a mesh", attrMeshes, e.Name)
			return
		}
		b.Create(sdy.Mesh, nil, nil, ir.NamedAttr{Name: sdy.AttrMesh, Attr: e.Attr}, ir.NamedAttr{Name: sdy.AttrSymName, Attr: ir.NewString(e.Name)})
	}
	rest := ir.AttrList(root.Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr).Entries()).Without(attrMeshes)
	root.RemoveAttr(mhlo.AttrFrontendAttributes)
	if len(rest) > 0 {
		root.SetAttr(mhlo.AttrFrontendAttributes, ir.NewDict(rest))
	}
}

// call replaces the call of a manual computation's body, and the custom calls that take and join the shards, by the
// computation.
func (im *importer) call(call *ir.Op) {
	callee := fn.Callee(call)
	f, ok := fn.Lookup(im.m, callee)
	if !ok || !strings.Contains(callee, manualBody) || len(f.Region(0).Blocks()) != 1 {
		return
	}
	none := sdy.PerValueAttr.New(&sdy.PerValue{})
	in, out, axes := ir.Attr(none), ir.Attr(none), ir.Attr(sdy.ManualAxesAttr.New(&sdy.ManualAxes{}))
	var operands []*ir.Value
	var types []ir.Type
	var take, join *ir.Op
	if call.NumOperands() > 0 {
		if take = call.Operand(0).DefiningOp(); take == nil || callTarget(take) != targetGlobalToLocal || !slices.Equal(take.ResultList(), call.OperandList()) {
			return
		}
		operands = take.OperandList()
		in, axes = im.attr(take, attrInShardings), im.attr(take, attrManualAxes)
	}
	if call.NumResults() > 0 {
		for u := range call.Result(0).Uses() {
			join = u.Owner()
		}
		if join == nil || callTarget(join) != targetLocalToGlobal || !slices.Equal(call.ResultList(), join.OperandList()) {
			return
		}
		for _, r := range call.ResultList() {
			if !r.HasOneUse() {
				return
			}
		}
		for _, r := range join.ResultList() {
			types = append(types, r.Type())
		}
		out, axes = im.attr(join, attrOutShardings), im.attr(join, attrManualAxes)
	}
	if in == nil || out == nil || axes == nil {
		return
	}
	body := im.m.NewRegion()
	if im.callers[callee]--; im.callers[callee] > 0 {
		f, _ = fn.AsFunc(im.m.Before(f.Op).Clone(f.Op, nil))
	}
	body.TakeBlocks(f.Region(0))
	f.Erase()
	ret := body.Entry().Last()
	im.m.Before(ret).Create(sdy.Return, ret.OperandList(), nil)
	ret.Erase()
	st := &ir.OpState{Def: sdy.ManualComputation, Operands: operands, Types: types, Bodies: []*ir.Region{body}}
	st.SetAttr(sdy.AttrInShardings, in)
	st.SetAttr(sdy.AttrOutShardings, out)
	st.SetAttr(sdy.AttrManualAxes, axes)
	at := call
	if join != nil {
		at = join
	}
	computation := im.m.Before(at).From(call).Insert(st)
	if join != nil {
		join.ReplaceWith(computation.ResultList()...)
	}
	call.Erase()
	if take != nil && !take.HasUses() {
		take.Erase()
	}
}

// callTarget returns the target of a custom call, and the empty string for other ops.
func callTarget(op *ir.Op) string {
	if v, ok := hlo.AsCustomCall(op); ok {
		return v.CallTargetName()
	}
	return ""
}

// size returns the number of devices of the mesh of shardings.
func size(a ir.Attr, meshes map[string]*sdy.DeviceMesh) int64 {
	v, ok := ir.DataOf[sdy.PerValue](a)
	if !ok || len(v.Shardings) == 0 {
		return 1
	}
	mesh := v.Shardings[0].Inline
	if mesh == nil {
		mesh = meshes[v.Shardings[0].Mesh]
	}
	if mesh == nil {
		return 1
	}
	return mesh.Devices()
}
