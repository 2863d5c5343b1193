package artifact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// XLA's names for facts of Shardy that it stores outside Shardy's dialect (XLA, service/spmd/shardy/constants.h).
const (
	shardyMeshes       = "xla.sdy.meshes"
	shardySharding     = "xla.sdy.sharding"
	shardyRule         = "xla.sdy.sharding_rule"
	shardyInShardings  = "xla.sdy.in_shardings"
	shardyOutShardings = "xla.sdy.out_shardings"
	shardyManualAxes   = "xla.sdy.manual_axes"
	shardyInlineable   = "inlineable"

	targetSharding      = "Sharding"
	targetFuncResult    = "xla.sdy.FuncResultSharding"
	targetGlobalToLocal = "xla.sdy.GlobalToLocalShape"
	targetLocalToGlobal = "xla.sdy.LocalToGlobalShape"
	manualBody          = "xla.sdy.manual_computation_body"
)

// exportShardy replaces Shardy's ops and attributes by frontend attributes, GSPMD shardings and custom calls, as XLA
// does for plugins that do not know Shardy.
func exportShardy(m *ir.Module) error {
	e := &shardyExport{m: m, meshes: map[string]*sdy.DeviceMesh{}}
	var list ir.AttrList
	for op := range m.Body().Ops() {
		if v, ok := sdy.AsMesh(op); ok {
			e.meshes[v.SymName()] = v.Mesh()
			list = append(list, ir.NamedAttr{Name: v.SymName(), Attr: v.Attr(sdy.AttrMesh)})
			e.meshOps = append(e.meshOps, op)
		}
	}
	m.Op().WalkPost(func(op *ir.Op) bool {
		e.op(op)
		return e.err == nil
	})
	if e.err != nil {
		return e.err
	}
	for _, op := range e.meshOps {
		op.Erase()
	}
	if len(list) > 0 {
		setFrontend(m.Op(), shardyMeshes, ir.NewDict(list).String())
	}
	return nil
}

type shardyExport struct {
	m       *ir.Module
	meshes  map[string]*sdy.DeviceMesh
	meshOps []*ir.Op
	err     error
}

func (e *shardyExport) fail(op *ir.Op, format string, args ...any) {
	if e.err == nil {
		e.err = e.m.Errorf(op, format, args...)
	}
}

// setFrontend adds an entry to the frontend attributes of op.
func setFrontend(op *ir.Op, name, value string) {
	op.SetAttr(mhlo.AttrFrontendAttributes, withEntry(op.Attr(mhlo.AttrFrontendAttributes), name, value))
}

// withEntry returns frontend attributes with one more entry.
func withEntry(a ir.Attr, name, value string) ir.Attr {
	var list ir.AttrList
	if d, ok := a.(*ir.DictAttr); ok {
		list = d.Entries()
	}
	return ir.NewDict(list.Set(name, ir.NewString(value), false))
}

func (e *shardyExport) op(op *ir.Op) {
	switch {
	case op.Is(fn.Func):
		e.function(fn.FuncOp{Op: op})
	case op.Is(sdy.ShardingConstraint):
		v, _ := sdy.AsShardingConstraint(op)
		call := e.call(e.m.Before(op), targetSharding, op.OperandList(), []ir.Type{op.Result(0).Type()}, false, shardySharding, perValue(v.Sharding()))
		call.SetAttr(mhlo.AttrSharding, ir.NewString(e.gspmd(op, v.Sharding())))
		op.ReplaceWith(call.Result(0))
	case op.Is(sdy.ManualComputation):
		e.manual(op)
	case op.Is(sdy.Return) || op.Is(sdy.Mesh):
	case op.Def().Dialect() == sdy.Mesh.Dialect():
		e.fail(op, "%s has no form on the route %s; the route %s keeps it", op.Name(), XLA, XLAMixed)
	default:
		if v, ok := ir.DataOf[sdy.PerValue](op.Attr(sdy.AttrValueSharding)); ok {
			setFrontend(op, shardySharding, op.Attr(sdy.AttrValueSharding).String())
			op.SetAttr(mhlo.AttrSharding, ir.NewString(e.gspmdList(op, v.Shardings)))
			op.RemoveAttr(sdy.AttrValueSharding)
		}
		if a := op.Attr(sdy.AttrValueRule); a != nil {
			setFrontend(op, shardyRule, a.String())
			op.RemoveAttr(sdy.AttrValueRule)
		}
	}
}

// call creates a custom call with one frontend attribute.
func (e *shardyExport) call(b *ir.Builder, target string, operands []*ir.Value, types []ir.Type, effect bool, name, value string) *ir.Op {
	attrs := []ir.NamedAttr{{Name: hlo.AttrCallTargetName, Attr: ir.NewString(target)}}
	if effect {
		attrs = append(attrs, ir.NamedAttr{Name: hlo.AttrHasSideEffect, Attr: e.m.Context().Bool(true)})
	}
	op := b.Create(hlo.CustomCall, operands, types, attrs...)
	setFrontend(op, name, value)
	return op
}

func perValue(list ...*sdy.Sharding) string {
	return sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list}).String()
}

// function writes the shardings of arguments and results. A custom call before the return keeps a result's sharding.
func (e *shardyExport) function(f fn.FuncOp) {
	edit := func(d *ir.DictAttr, result bool) *ir.DictAttr {
		if d == nil {
			return nil
		}
		s, ok := ir.DataOf[sdy.Sharding](d.Get(sdy.AttrValueSharding))
		if !ok {
			return d
		}
		list := ir.AttrList(d.Entries()).Without(sdy.AttrValueSharding).Set(mhlo.AttrSharding, ir.NewString(e.gspmd(f.Op, s)), false)
		if !result {
			frontend := withEntry(d.Get(mhlo.AttrFrontendAttributes), shardySharding, d.Get(sdy.AttrValueSharding).String())
			list = list.Set(mhlo.AttrFrontendAttributes, frontend, false)
		}
		return ir.NewDict(list)
	}
	args, results := f.ValueAttrs()
	for i, d := range results {
		if d == nil || f.External() {
			continue
		}
		s, ok := ir.DataOf[sdy.Sharding](d.Get(sdy.AttrValueSharding))
		if !ok {
			continue
		}
		for _, b := range f.Region(0).Blocks() {
			if last := b.Last(); last.Is(fn.Return) {
				v := last.Operand(i)
				last.SetOperand(i, e.call(e.m.Before(last), targetFuncResult, []*ir.Value{v}, []ir.Type{v.Type()}, true, shardySharding, perValue(s)).Result(0))
			}
		}
	}
	for i := range args {
		args[i] = edit(args[i], false)
	}
	for i := range results {
		results[i] = edit(results[i], true)
	}
	f.SetSignature(f.Type(), args, results)
}

// manual moves the body of a manual computation into a function. Custom calls take the shards and join them.
func (e *shardyExport) manual(op *ir.Op) {
	v, _ := sdy.AsManualComputation(op)
	at := op
	for !at.Is(fn.Func) {
		if at = at.Parent(); at == nil {
			e.fail(op, "%s is outside a function", op.Name())
			return
		}
	}
	body := v.Body().Entry()
	var local []ir.Type
	for _, a := range body.Args() {
		local = append(local, a.Type())
	}
	ret := body.Last()
	var inner, outer []ir.Type
	for i := range ret.NumOperands() {
		inner, outer = append(inner, ret.Operand(i).Type()), append(outer, op.Result(i).Type())
	}
	axes, b := op.Attr(sdy.AttrManualAxes).String(), e.m.Before(op)
	operands := op.OperandList()
	if len(operands) > 0 {
		call := e.call(b, targetGlobalToLocal, operands, local, true, shardyInShardings, op.Attr(sdy.AttrInShardings).String())
		setFrontend(call, shardyManualAxes, axes)
		operands = call.ResultList()
	}
	e.m.Before(ret).Create(fn.Return, ret.OperandList(), nil)
	ret.Erase()
	region := e.m.NewRegion()
	region.TakeBlocks(v.Body())
	st := &ir.OpState{Def: fn.Func, Bodies: []*ir.Region{region}}
	st.SetAttr(ir.SymbolName, ir.NewString(e.unique(manualBody)))
	st.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(e.m.Context().Function(local, inner)))
	f := fn.FuncOp{Op: e.m.After(at).Insert(st)}
	call := fn.NewCall(b, f, operands)
	setFrontend(call, shardyInlineable, "false")
	results := call.ResultList()
	if len(results) > 0 {
		last := e.call(b, targetLocalToGlobal, results, outer, true, shardyManualAxes, axes)
		setFrontend(last, shardyOutShardings, op.Attr(sdy.AttrOutShardings).String())
		results = last.ResultList()
	}
	op.ReplaceWith(results...)
}

// unique returns a symbol that the module does not have.
func (e *shardyExport) unique(name string) string {
	for i := 0; ; i++ {
		s := name
		if i > 0 {
			s += "_" + strconv.Itoa(i-1)
		}
		if _, ok := fn.Lookup(e.m, s); !ok {
			return s
		}
	}
}

// gspmdList returns the sharding of several values.
func (e *shardyExport) gspmdList(op *ir.Op, list []*sdy.Sharding) string {
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
func (e *shardyExport) gspmd(op *ir.Op, s *sdy.Sharding) string {
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
