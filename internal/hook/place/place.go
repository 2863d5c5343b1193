// Package place places the hooks of partitioned programs on devices.
package place

import (
	"context"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// OnDevices writes the hooks of a partitioned, ordered module in a form that XLA accepts. XLA refuses a call with side
// effects if the call does not name its devices, or if its values are sharded.
//
// With Shardy a hook moves into an sdy.manual_computation. To fire once with the whole value, its operands are
// replicated and it runs in if(partition_id == device). To fire on every device with its shard, its operands keep their
// shardings. With GSPMD the call gets mhlo.sharding: {maximal device=N} to fire once; {manual} to fire on every device,
// between SPMDFullToShardShape and SPMDShardToFullShape. Hooks in a manual computation, or in a function that it calls,
// stay: each device has its own value there, and no whole value exists. A module with one partition is unchanged.
func OnDevices(ctx context.Context, m *ir.Module, mode hook.PerDevice) error {
	if _, partitions := mhlo.Devices(m); partitions <= 1 {
		return nil
	}
	p := newPlacer(m, mode)
	hooks := hookop.HooksOf(m)
	if len(hooks) == 0 {
		return nil
	}
	p.findShardings()
	funcs, err := p.manualFunctions()
	if err != nil {
		return err
	}
	for _, h := range hooks {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch within := contextOf(h.Op, funcs); {
		case within&perDeviceContext != 0 && within&wholeContext != 0:
			return m.Errorf(h.Op, "hook %q is in a function that is called from a manual computation and from elsewhere; give each its own function", h.HookName())
		case within == perDeviceContext:
			if mode == hook.PerDeviceOnce && !isGuarded(h.Op) {
				return p.noWholeValue(h)
			}
			h.RemoveAttr(sdy.AttrValueSharding) // XLA accepts no sharding in a manual computation
			h.RemoveAttr(mhlo.AttrSharding)
			if err := p.overFreeAxes(h, funcs); err != nil {
				return err
			}
			continue
		}
		if err := p.place(h); err != nil {
			return err
		}
	}
	return nil
}

// place places a hook outside manual computations, by Shardy if the module has a mesh, else by GSPMD.
func (p *placer) place(h hookop.HookOp) error {
	if p.mesh == nil {
		return p.gspmd(h)
	}
	p.shardy(h)
	return nil
}

// Calls places custom calls that fire on every device between ops that shard their operands and gather their results,
// unless they are in a manual computation. The calls carry aliases like hooks.
func Calls(m *ir.Module, calls []*ir.Op) error {
	p := newPlacer(m, hook.PerDeviceEach)
	p.findShardings()
	funcs, err := p.manualFunctions()
	if err != nil {
		return err
	}
	for _, op := range calls {
		if contextOf(op, funcs) != wholeContext {
			continue
		}
		if err := p.place(hookop.HookOp{Op: op}); err != nil {
			return err
		}
	}
	return nil
}

// newPlacer reads the meshes of a module.
func newPlacer(m *ir.Module, mode hook.PerDevice) *placer {
	p := &placer{m: m, mode: mode, meshes: map[string]*sdy.DeviceMesh{}, maximal: map[string]int64{}, known: map[*ir.Value]*sdy.Sharding{}, knownText: map[*ir.Value]string{}, graph: flow.Of(m, nil)}
	replicas, partitions := mhlo.Devices(m)
	p.replicas, p.devices = int64(max(1, replicas)), int64(partitions)
	for op := range m.Body().Ops() {
		decl, ok := sdy.AsMesh(op)
		if !ok {
			continue
		}
		mesh, name := decl.Mesh(), decl.SymName()
		p.meshes[name] = mesh
		if len(mesh.Axes) > 0 && p.mesh == nil {
			p.mesh, p.meshName = mesh, name
		}
		if len(mesh.Axes) == 0 && len(mesh.DeviceIDs) == 1 {
			p.maximal[name] = mesh.DeviceIDs[0]
		}
	}
	return p
}

// findShardings computes the sharding of every value, operands first.
func (p *placer) findShardings() {
	p.m.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results() {
			if p.mesh != nil {
				p.shardingOf(v)
			} else {
				p.gspmdOf(v)
			}
		}
		return true
	})
}

func (p *placer) noWholeValue(h hookop.HookOp) error {
	return p.m.Errorf(h.Op, "hook %q is in a manual computation, where each device has a value of its own, and cannot fire once with the whole value: "+
		"gather the value and hook it outside the computation, or let the hook fire as in the source", h.HookName())
}

// Contexts: the values that the ops of a function work on.
const (
	wholeContext     = 1 << iota // whole values
	perDeviceContext             // a separate value per device
)

// partlyContext marks a function whose devices share values along some axes of the mesh.
const partlyContext = perDeviceContext << 1

// manualFunctions reports for each function whether it is called from a manual computation, from elsewhere, or both.
func (p *placer) manualFunctions() (map[*ir.Op]int, error) {
	g := p.graph
	out := map[*ir.Op]int{}
	var work []*ir.Op
	add := func(f *ir.Op, within int) {
		if out[f]|within != out[f] {
			out[f] |= within
			work = append(work, f)
		}
	}
	callees := map[*ir.Op][]*ir.Op{} // by caller, outside manual computations
	for _, f := range g.Functions() {
		for _, op := range g.Callers(f) {
			if !insideManual(op) {
				if caller := flow.FunctionOf(op); caller != nil {
					callees[caller] = append(callees[caller], f)
				}
				continue
			}
			within := perDeviceContext
			if _, free, err := p.freeAxes(op); err != nil {
				return nil, err
			} else if len(free) > 0 {
				within |= partlyContext
			}
			add(f, within)
		}
	}
	for _, f := range g.Functions() {
		if !(fn.FuncOp{Op: f}).Private() || len(g.Callers(f)) == 0 {
			add(f, wholeContext)
		}
	}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, callee := range callees[f] {
			add(callee, out[f])
		}
	}
	return out, nil
}

func contextOf(op *ir.Op, funcs map[*ir.Op]int) int {
	if insideManual(op) {
		return perDeviceContext
	}
	if within := funcs[flow.FunctionOf(op)]; within != 0 {
		return within &^ partlyContext
	}
	return wholeContext
}

func insideManual(op *ir.Op) bool {
	for p := op.Parent(); p != nil; p = p.Parent() {
		if p.Is(sdy.ManualComputation) {
			return true
		}
	}
	return false
}

// freeAxes returns the mesh of the manual computations around op, and its axes that none of them covers.
func (p *placer) freeAxes(op *ir.Op) (mesh string, free []string, err error) {
	taken := map[string]bool{}
	known := p.mesh
	mesh = p.meshName
	for o := op.Parent(); o != nil; o = o.Parent() {
		if !o.Is(sdy.ManualComputation) {
			continue
		}
		for _, name := range [...]string{sdy.AttrInShardings, sdy.AttrOutShardings} {
			list, _ := irutil.PerValue(o.Attr(name))
			for _, s := range list {
				if m := p.meshes[s.Mesh]; m != nil && s.Inline == nil {
					mesh, known = s.Mesh, m
				}
			}
		}
		if axes := view.Data[sdy.ManualAxes](o.Attr(sdy.AttrManualAxes)); axes != nil {
			for _, name := range axes.Names {
				taken[name] = true
			}
		}
	}
	if known == nil {
		return "", nil, p.m.Errorf(op, "a manual computation around '%s' is over a mesh that the module lacks", op.Name())
	}
	for _, a := range known.Axes {
		if !taken[a.Name] {
			free = append(free, a.Name)
		}
	}
	return mesh, free, nil
}

// overFreeAxes moves a hook of a manual computation over some axes of the mesh into a manual computation over the
// remaining axes, because XLA accepts a call with side effects only if each device has its own values. The hook's
// values are whole along the remaining axes.
func (p *placer) overFreeAxes(h hookop.HookOp, funcs map[*ir.Op]int) error {
	m, op := p.m, h.Op
	if !insideManual(op) {
		if funcs[flow.FunctionOf(op)]&partlyContext != 0 {
			return m.Errorf(op, "hook %q is in a function that is called from a manual computation over some axes of the mesh only; call the hook there", h.HookName())
		}
		return nil
	}
	mesh, free, err := p.freeAxes(op)
	if err != nil || len(free) == 0 {
		return err
	}
	whole := func(t ir.Type) *sdy.Sharding {
		s := p.wholeSharding(t)
		s.Mesh = mesh
		return s
	}
	var in, out []*sdy.Sharding
	var types []ir.Type
	for _, v := range op.Operands() {
		in, types = append(in, whole(v.Type())), append(types, v.Type())
	}
	for _, v := range op.Results() {
		out = append(out, whole(v.Type()))
	}
	body := p.intoManual(op, op.OperandList(), types, in, out, free)
	body.Append(op)
	m.AtEnd(body).At(op.Loc(), op.Pos()).Create(sdy.Return, op.ResultList(), nil)
	return nil
}

// intoManual inserts a manual computation over axes in the place of op, with operands that have the types local inside,
// and returns its empty body. The caller moves op, whose operands are then arguments of the body, there.
func (p *placer) intoManual(op *ir.Op, operands []*ir.Value, local []ir.Type, in, out []*sdy.Sharding, axes []string) *ir.Block {
	region := p.m.NewRegion()
	body := region.AddBlock(local...)
	st := &ir.OpState{Def: sdy.ManualComputation, Operands: operands, Types: op.ResultTypes(), Bodies: []*ir.Region{region}}
	st.SetAttr(sdy.AttrInShardings, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: in}))
	st.SetAttr(sdy.AttrOutShardings, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: out}))
	st.SetAttr(sdy.AttrManualAxes, sdy.ManualAxesAttr.New(&sdy.ManualAxes{Names: axes}))
	outer := p.m.Before(op).Insert(st)
	for i, v := range op.Results() {
		v.ReplaceAllUsesWith(outer.Result(i))
	}
	op.SetOperands(body.Args()[:op.NumOperands()])
	return body
}

// isGuarded reports whether op is inside a test for one device, like a hook that fires once.
func isGuarded(op *ir.Op) bool {
	for p := op.Parent(); p != nil && !p.Is(sdy.ManualComputation); p = p.Parent() {
		if !p.IsOrMirrors(stablehlo.If) {
			continue
		}
		test := p.Operand(0).DefiningOp()
		if test == nil || !test.IsOrMirrors(stablehlo.Compare) {
			continue
		}
		for _, v := range test.Operands() {
			if d := v.DefiningOp(); d != nil && d.IsOrMirrors(stablehlo.PartitionID) {
				return true
			}
		}
	}
	return false
}

type placer struct {
	m        *ir.Module
	mode     hook.PerDevice
	replicas int64
	devices  int64           // partitions
	mesh     *sdy.DeviceMesh // the first mesh with axes; nil: the module uses GSPMD
	meshName string
	meshes   map[string]*sdy.DeviceMesh
	maximal  map[string]int64            // the device of each mesh of one device
	known    map[*ir.Value]*sdy.Sharding // results of shardingOf
	graph    *flow.Graph                 // for shardingOf
	last     int64                       // last channel in use

	knownText map[*ir.Value]string // results of gspmdOf
}

// onEachDevice reports whether h fires on every device.
func (p *placer) onEachDevice(h hookop.HookOp) bool {
	if p.mode == hook.PerDeviceSource {
		return h.Attr(hookop.AttrPartitioned) != nil
	}
	return p.mode == hook.PerDeviceEach
}

// device returns the device on which the source fires a hook that fires once.
func (p *placer) device(h hookop.HookOp) int64 {
	if list, ok := irutil.PerValue(h.Attr(sdy.AttrValueSharding)); ok && len(list) > 0 {
		return p.maximal[list[0].Mesh]
	}
	return 0
}

// shardy moves h into a manual computation.
func (p *placer) shardy(h hookop.HookOp) {
	m, op := p.m, h.Op
	each, device := p.onEachDevice(h), p.device(h)
	h.RemoveAttr(sdy.AttrValueSharding)
	h.RemoveAttr(mhlo.AttrSharding)

	var in, out []*sdy.Sharding
	var local []ir.Type
	for _, v := range op.Operands() {
		s := p.wholeSharding(v.Type())
		if each {
			if own := p.shardingOf(v); own != nil && p.localType(v.Type(), own) != nil {
				s = own
			}
		}
		in, local = append(in, s), append(local, p.localType(v.Type(), s))
	}
	// A result that is an operand has the operand's sharding. Other results are whole values.
	var results []ir.Type
	aliases := h.Aliases()
	for i, v := range op.Results() {
		s := p.wholeSharding(v.Type())
		switch k := i - (op.NumResults() - len(aliases)); {
		case k < 0:
			s = in[0]
		case aliases[k] >= 0:
			s = in[op.NumOperands()-h.NumData()+aliases[k]]
		case each && h.NumData() == 1 && h.Data(0).Type() == v.Type():
			s = in[op.NumOperands()-1] // the host computes a shard from a shard
		}
		out, results = append(out, s), append(results, p.localType(v.Type(), s))
	}
	operands := op.OperandList()
	for i, v := range operands {
		if i >= len(operands)-h.NumData() && len(in[i].Dims) > 0 && !slices.ContainsFunc(in[i].Dims, func(d sdy.DimSharding) bool { return len(d.Axes) > 0 }) {
			operands[i] = p.unconstrained(m.Before(op), v)
		}
	}
	if len(operands) > 0 && !slices.ContainsFunc(operands, func(v *ir.Value) bool { return !irutil.IsZeroSize(v.Type()) }) {
		// Plugins replace values without elements and then refuse the computation because it has no operands.
		t := m.Context().StaticTensor(tensor.UI32, nil)
		operands = append(operands, irutil.Zero(m.Before(op), t))
		in, local = append(in, p.wholeSharding(t)), append(local, t)
	}
	var axes []string
	for _, a := range p.mesh.Axes {
		axes = append(axes, a.Name)
	}
	body := p.intoManual(op, operands, local, in, out, axes)
	b := m.AtEnd(body).At(op.Loc(), op.Pos())
	vals := op.ResultList()
	if each {
		for i, t := range results {
			op.Result(i).SetType(t)
		}
		body.Append(op)
	} else {
		vals = p.once(b, h, device)
	}
	b.Create(sdy.Return, vals, nil)
}

// unconstrained returns v under a constraint that leaves all its axes open. Otherwise Shardy would give a value without
// a sharding the sharding of the hook's operand, and so reshard the rest of the program.
func (p *placer) unconstrained(b *ir.Builder, v *ir.Value) *ir.Value {
	open := p.wholeSharding(v.Type())
	for i := range open.Dims {
		open.Dims[i].Open = true
	}
	return b.Create(sdy.ShardingConstraint, []*ir.Value{v}, []ir.Type{v.Type()}, ir.NamedAttr{Name: sdy.AttrSharding, Attr: sdy.ShardingAttr.New(open)}).Result(0)
}

// once puts h into a test for its device, and sends its results to the other devices.
func (p *placer) once(b *ir.Builder, h hookop.HookOp, device int64) []*ir.Value {
	m, ctx, op := p.m, p.m.Context(), h.Op
	number := tensor.New(tensor.UI32, nil)
	tensor.View[uint32](number)[0] = uint32(device)
	id := ir.Must(b.Build(stablehlo.PartitionID, nil))
	k := irutil.Constant(b, ctx.DenseFromTensor(number))
	eq, _ := stablehlo.ComparisonDirectionEnum.Code("EQ")
	test := ir.Must(b.Build(stablehlo.Compare, []*ir.Value{id.Result(0), k},
		ir.NamedAttr{Name: stablehlo.AttrComparisonDirection, Attr: ir.NewEnum(stablehlo.ComparisonDirectionEnum, eq)}))
	yes, no := m.NewRegion(), m.NewRegion()
	choose := b.Insert(&ir.OpState{Def: stablehlo.If, Operands: []*ir.Value{test.Result(0)}, Types: op.ResultTypes(), Bodies: []*ir.Region{yes, no}})
	ret := stablehlo.Return
	then := yes.AddBlock()
	then.Append(op)
	m.AtEnd(then).At(op.Loc(), op.Pos()).Create(ret, op.ResultList(), nil)
	other := m.AtEnd(no.AddBlock()).At(op.Loc(), op.Pos())
	var vals []*ir.Value
	for i, v := range op.Results() {
		if i < op.NumResults()-h.NumResultData() {
			vals = append(vals, op.Operand(0)) // the chain continues on every device
			continue
		}
		vals = append(vals, irutil.Zero(other, v.Type().(*ir.TensorType)))
	}
	other.Create(ret, vals, nil)
	var out []*ir.Value
	for i, v := range choose.Results() {
		if i < op.NumResults()-h.NumResultData() {
			out = append(out, v)
		} else {
			out = append(out, p.sum(b, v))
		}
	}
	return out
}

// bitsOf returns the integer type as wide as a float.
func bitsOf(d tensor.DType) (tensor.DType, bool) {
	if d.IsFloat() {
		switch d.Bits() {
		case 8:
			return tensor.UI8, true
		case 16:
			return tensor.UI16, true
		case 32:
			return tensor.UI32, true
		case 64:
			return tensor.UI64, true
		}
	}
	return d, false
}

// sum returns, on every device, the sum over all devices of its replica. Only one summand is nonzero, so the sum is its
// value. It adds floats as integers with the same bits, because a sum of floats would turn -0 into 0.
func (p *placer) sum(b *ir.Builder, v *ir.Value) *ir.Value {
	m, ctx := p.m, p.m.Context()
	tt := v.Type().(*ir.TensorType)
	part := func(row *ir.Def, vals ...*ir.Value) *ir.Value {
		return ir.Must(b.Build(row, vals)).Result(0)
	}
	cast := func(t ir.Type, v *ir.Value) *ir.Value {
		return b.Create(stablehlo.BitcastConvert, []*ir.Value{v}, []ir.Type{t}).Result(0)
	}
	if d := tt.DType(); d == tensor.Complex64 || d == tensor.Complex128 {
		return part(stablehlo.Complex, p.sum(b, part(stablehlo.Real, v)), p.sum(b, part(stablehlo.Imag, v)))
	}
	if d, ok := bitsOf(tt.DType()); ok {
		return cast(tt, p.sum(b, cast(ctx.StaticTensor(d, tt.Shape()), v)))
	}
	scalar := ctx.StaticTensor(tt.DType(), nil)
	region := m.NewRegion()
	body := region.AddBlock(scalar, scalar)
	in := m.AtEnd(body).At(v.DefiningOp().Loc(), v.DefiningOp().Pos())
	combine := stablehlo.Add
	if tt.DType() == tensor.I1 {
		combine = stablehlo.Or
	}
	s := ir.Must(in.Build(combine, body.Args()))
	in.Create(stablehlo.Return, s.ResultList(), nil)
	groups := tensor.New(tensor.I64, tensor.Shape{p.replicas, p.devices}) // a group for the partitions of each replica
	for i := range tensor.View[int64](groups) {
		tensor.View[int64](groups)[i] = int64(i)
	}
	st := &ir.OpState{Def: stablehlo.AllReduce, Operands: []*ir.Value{v}, Bodies: []*ir.Region{region}}
	st.SetAttr(stablehlo.AttrChannelHandle, stablehlo.ChannelHandleAttr.New(&stablehlo.ChannelHandle{Handle: p.channel(), Type: stablehlo.ChannelDeviceToDevice}))
	st.SetAttr(stablehlo.AttrReplicaGroups, ctx.DenseFromTensor(groups))
	st.SetAttr(stablehlo.AttrUseGlobalDeviceIDs, ir.NewUnit())
	return ir.Must(b.Infer(st)).Result(0)
}

// channel returns an unused channel.
func (p *placer) channel() int64 {
	if p.last == 0 {
		p.m.Walk(func(op *ir.Op) bool {
			if c := view.Data[stablehlo.ChannelHandle](op.Attr(stablehlo.AttrChannelHandle)); c != nil {
				p.last = max(p.last, c.Handle)
			}
			return true
		})
	}
	p.last++
	return p.last
}

// wholeSharding returns the sharding of a value that is whole on every device.
func (p *placer) wholeSharding(t ir.Type) *sdy.Sharding {
	s := &sdy.Sharding{Mesh: p.meshName}
	if tt, ok := t.(*ir.TensorType); ok {
		for range tt.Rank() {
			s.Dims = append(s.Dims, sdy.DimSharding{Priority: -1})
		}
	}
	return s
}

// shardingOf returns the sharding that the module specifies for v, or that follows from it, or nil.
func (p *placer) shardingOf(v *ir.Value) *sdy.Sharding {
	if s, ok := p.known[v]; ok {
		return s
	}
	p.known[v] = nil // a loop's value flows into itself
	s := p.findSharding(v)
	p.known[v] = s
	return s
}

func (p *placer) findSharding(v *ir.Value) *sdy.Sharding {
	var s *sdy.Sharding
	if def := v.DefiningOp(); def == nil {
		if f, ok := fn.AsFunc(v.Block().Parent()); ok {
			s = view.Data[sdy.Sharding](f.ArgAttrs(v.Index()).Get(sdy.AttrValueSharding))
		}
	} else if def.Is(sdy.ShardingConstraint) {
		s = view.Data[sdy.Sharding](def.Attr(sdy.AttrSharding))
	} else {
		name := sdy.AttrValueSharding
		if def.Is(sdy.ManualComputation) {
			name = sdy.AttrOutShardings
		}
		if list, ok := irutil.PerValue(def.Attr(name)); ok && v.Index() < len(list) {
			s = list[v.Index()]
		}
	}
	if s == nil {
		s = p.propagate(v)
	}
	if s == nil || s.Mesh != p.meshName || s.Inline != nil || len(s.Unreduced) > 0 {
		return nil
	}
	// The shardings of manual computations must be closed and name each axis at most once.
	closed := &sdy.Sharding{Mesh: s.Mesh}
	for _, d := range s.Dims {
		closed.Dims = append(closed.Dims, sdy.DimSharding{Axes: slices.Clone(d.Axes), Priority: -1})
	}
	return closed
}

// localType returns the type of one device's shard, or nil if the sharding does not divide the shape evenly.
func (p *placer) localType(t ir.Type, s *sdy.Sharding) ir.Type {
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return t
	}
	shape := slices.Clone(tt.Shape())
	for i, d := range s.Dims {
		n := p.shards(d.Axes)
		if n == 0 || shape[i]%n != 0 {
			return nil
		}
		shape[i] /= n
	}
	return p.m.Context().Tensor(shape, tt.Elem(), tt.Encoding())
}

// shards returns the number of shards into which axes divide a dimension, or 0 if the mesh lacks an axis.
func (p *placer) shards(axes []sdy.AxisRef) int64 {
	n := int64(1)
	for _, a := range axes {
		size := a.Size
		for _, axis := range p.mesh.Axes {
			if size == 0 && axis.Name == a.Name {
				size = axis.Size
			}
		}
		n *= size
	}
	return n
}
