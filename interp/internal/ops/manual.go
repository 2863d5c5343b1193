package ops

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Every device of a partitioned program executes main on the same whole values: sharding annotations describe where
// values lie and do not change them. Devices have their own values only in code that is written per device: in an
// sdy.manual_computation, or between the calls SPMDFullToShardShape and SPMDShardToFullShape. On entry a device takes
// its shard of the whole value. On exit the devices meet and each assembles the whole value again.

// cutValue describes the shards of a value that enters or leaves a manual computation.
type cutValue struct {
	*sharding.Sharding
	// from lists, for a result and for each partition, the partitions whose shards make up the whole value.
	from [][]int
}

// manualComputation is the plan of an op whose region executes on shards of its operands.
type manualComputation struct {
	body    *exec.Block
	in, out []*cutValue   // nil if the value is whole
	results []kernel.Type // the types of the whole results
	groups  [][]int       // by partition, the partitions that meet at the end; nil if no meeting is needed
}

// planManual compiles sdy.manual_computation. Only the manual axes of the mesh shard values; along the other axes the
// values are whole.
func planManual(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("shards of each device")
	body := regionOf(p, s.Op, 0, len(s.In), len(s.Out))
	mc := &manualComputation{body: body, results: s.Out}
	axes := manualAxes(s.Op)
	in, out := perValue(s.Op, sdy.AttrInShardings), perValue(s.Op, sdy.AttrOutShardings)
	kernel.FailIf(len(in) != len(s.In) || len(out) != len(s.Out), "has shardings that do not fit its operands and results")
	var mesh *sharding.Mesh
	part := func(kind string, i int, as *sdy.Sharding, whole kernel.Type, v *ir.Value) *cutValue {
		var c *cutValue
		err := kernel.Try(func() { c, mesh = cutOf(p, as, axes, whole, p.TypeOf(v)) })
		kernel.FailIf(err != nil, "%s #%d %w", kind, i, err)
		return c
	}
	for i, t := range s.In {
		mc.in = append(mc.in, part("operand", i, in[i], t, s.Op.Region(0).Entry().Arg(i)))
	}
	for i, v := range s.Op.Region(0).Entry().Last().Operands() {
		c := part("result", i, out[i], s.Out[i], v)
		mc.out = append(mc.out, c)
		if c == nil {
			continue
		}
		if mc.groups == nil {
			mc.groups = manualGroups(mesh, axes, p.Prog.Partitions)
		}
		c.from = sources(mesh, c.Sharding, out[i], mc.groups)
	}
	if mesh != nil && p.Prog.Partitions > 1 {
		if n := mesh.Devices(); n != int64(p.Prog.Partitions) {
			kernel.Fail(fmt.Errorf("is over a mesh of %d devices, the program has %d partitions", n, p.Prog.Partitions))
		}
	}
	return mc.run
}

// run executes the computation on one device.
func (mc *manualComputation) run(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
	self := m.Run.Partition
	for i, a := range mc.body.Args {
		c := mc.in[i]
		if c == nil {
			fr.Slots[a] = m.Take(fr, ins, i)
			continue
		}
		fr.Slots[a] = shard(m, c.Sharding, &fr.Slots[ins.In[i]].Tensor)
	}
	out := m.PushRefs(len(mc.out))
	m.Manual++
	m.RunBlock(fr, mc.body, out)
	m.Manual--
	var parts []*tensor.Tensor
	for i, c := range mc.out {
		if c != nil {
			parts = append(parts, &out[i].Tensor)
		}
	}
	var met map[int][]*tensor.Tensor
	if len(parts) > 0 {
		met = meetPartitions(m, ins, mc.groups[self], parts)
	}
	k := 0
	for i, c := range mc.out {
		o := ins.Out[i]
		if c == nil {
			fr.Slots[o] = out[i]
			continue
		}
		t := mc.results[i]
		b := m.Alloc(t.DType, t.Shape, t.N)
		for _, q := range c.from[self] {
			c.Put(&b.Tensor, met[q][k], q)
		}
		m.Release(out[i])
		fr.Slots[o] = b
		k++
	}
	m.PopRefs(len(mc.out))
}

// shard returns this device's shard of a whole value.
func shard(m *exec.Machine, s *sharding.Sharding, whole *tensor.Tensor) *exec.Buf {
	onGrid(m)
	shape := kernel.Must(s.ShardShape(whole.Shape()))
	b := m.Alloc(whole.DType(), shape, int(shape.NumElements()))
	clear(b.Tensor.Bytes()) // the last shard may be padded
	s.Take(&b.Tensor, whole, m.Run.Partition)
	return b
}

// onGrid ends the run unless the program runs on the devices that it was compiled for.
func onGrid(m *exec.Machine) {
	kernel.UnsupportedIf(m.DeviceGroup == nil || m.DeviceGroup.Nested || m.DeviceGroup.Partitions != m.Prog.Partitions,
		"a manual computation in interpreter.run_parallel")
}

// meetPartitions exchanges values among the partitions of a group in one replica and returns the values of all of them.
func meetPartitions(m *exec.Machine, ins *exec.Instr, group []int, values []*tensor.Tensor) map[int][]*tensor.Tensor {
	onGrid(m)
	if len(group) == 1 {
		return map[int][]*tensor.Tensor{group[0]: values}
	}
	base := m.Run.Replica * m.DeviceGroup.Partitions
	processes := make([]int, len(group))
	for i, q := range group {
		processes[i] = base + q
	}
	met := m.DeviceGroup.Meet(m, ins, base+m.Run.Partition, processes, values)
	out := make(map[int][]*tensor.Tensor, len(met))
	for q, v := range met {
		out[q-base] = v
	}
	return out
}

func manualAxes(op *ir.Op) []string {
	if m, ok := content[*sdy.ManualAxes](op.Attr(sdy.AttrManualAxes)); ok {
		return m.Names
	}
	return nil
}

func perValue(op *ir.Op, name string) []*sdy.Sharding {
	if v, ok := content[*sdy.PerValue](op.Attr(name)); ok {
		return v.Shardings
	}
	return nil
}

// cutOf returns the sharding of a value of type whole along the manual axes, or nil if those axes do not shard it.
func cutOf(p *plan.Planner, s *sdy.Sharding, axes []string, whole, local kernel.Type) (*cutValue, *sharding.Mesh) {
	mesh := meshOf(p.Prog.Symbols, s)
	dims := make([][]sharding.Part, len(s.Dims))
	for d, dim := range s.Dims {
		for _, a := range dim.Axes {
			if slices.Contains(axes, a.Name) {
				dims[d] = append(dims[d], sharding.Part{Axis: a.Name, Before: a.Pre, Count: a.Size})
			}
		}
	}
	var unreduced []sharding.Part
	for _, a := range s.Unreduced {
		if slices.Contains(axes, a.Name) {
			unreduced = append(unreduced, sharding.Part{Axis: a.Name, Before: a.Pre, Count: a.Size})
		}
	}
	partitions := p.Prog.Partitions
	if whole.Class == kernel.ClassTensor && !whole.Dynamic() && partitions > 1 {
		sh := kernel.Must(mesh.Sharding(dims, partitions))
		if len(unreduced) > 0 {
			sh = kernel.Must(mesh.Unreduced(sh, unreduced, sharding.Reduction(s.Reduction), partitions))
		}
		shape := kernel.Must(sh.ShardShape(whole.Shape))
		kernel.FailIf(local.Class != kernel.ClassTensor || local.DType != whole.DType || !shape.Equal(local.Shape),
			"is %s on each device, but its sharding cuts %s into parts of shape %v", local, whole, shape)
		if sh.Whole() {
			return nil, mesh
		}
		return &cutValue{Sharding: sh}, mesh
	}
	kernel.FailIf(local.Class != whole.Class || local.Class == kernel.ClassTensor && (local.DType != whole.DType || !local.Shape.Equal(whole.Shape)),
		"is %s on each device and %s as a whole, which needs more than %d partitions", local, whole, partitions)
	return nil, mesh
}

// meshOf returns the mesh that a sharding refers to.
func meshOf(symbols ir.Symbols, s *sdy.Sharding) *sharding.Mesh {
	from := deviceMesh(symbols, s)
	kernel.FailIf(from == nil, "is on mesh '%s', which the module lacks", s.Mesh)
	return meshFrom(from)
}

// deviceMesh returns the mesh that a sharding has or names, or nil.
func deviceMesh(symbols ir.Symbols, s *sdy.Sharding) *sdy.DeviceMesh {
	from := s.Inline
	if op := symbols[s.Mesh]; from == nil && op != nil {
		from, _ = content[*sdy.DeviceMesh](op.Attr(sdy.AttrMesh))
	}
	return from
}

func meshFrom(from *sdy.DeviceMesh) *sharding.Mesh {
	out := &sharding.Mesh{IDs: from.DeviceIDs}
	for _, a := range from.Axes {
		out.Names, out.Sizes = append(out.Names, a.Name), append(out.Sizes, a.Size)
	}
	return out
}

// manualGroups returns, for each partition, the partitions in the same manual computation. They differ only along
// manual axes.
func manualGroups(mesh *sharding.Mesh, axes []string, partitions int) [][]int {
	members := map[string][]int{}
	keys := make([]string, partitions)
	for q := range partitions {
		at := mesh.Coordinates(int64(q))
		kernel.FailIf(at == nil, "is over a mesh without device %d", q)
		for i, name := range mesh.Names {
			if slices.Contains(axes, name) {
				at[i] = 0
			}
		}
		keys[q] = fmt.Sprint(at)
		members[keys[q]] = append(members[keys[q]], q)
	}
	out := make([][]int, partitions)
	for q := range out {
		out[q] = members[keys[q]]
	}
	return out
}

// sources chooses, for each partition, the partitions whose shards make up the whole value. If several partitions have
// the same shard, it chooses the nearest one, which has the same position along the axes that do not shard the value.
func sources(mesh *sharding.Mesh, s *sharding.Sharding, as *sdy.Sharding, groups [][]int) [][]int {
	used := map[string]bool{}
	for _, d := range as.Dims {
		for _, a := range d.Axes {
			used[a.Name] = true
		}
	}
	for _, a := range as.Unreduced {
		used[a.Name] = true
	}
	near := func(a, b int) bool {
		x, y := mesh.Coordinates(int64(a)), mesh.Coordinates(int64(b))
		for i, name := range mesh.Names {
			if !used[name] && x[i] != y[i] {
				return false
			}
		}
		return true
	}
	out := make([][]int, len(groups))
	for p, group := range groups {
		best := map[string]int{}
		for _, q := range group {
			k := s.Key(q)
			if old, ok := best[k]; !ok || q == p || old != p && near(p, q) && !near(p, old) {
				best[k] = q
			}
		}
		for _, q := range best {
			out[p] = append(out[p], q)
		}
		slices.SortFunc(out[p], func(a, b int) int { return cmp.Or(cmp.Compare(s.Part(a), s.Part(b)), cmp.Compare(a, b)) })
	}
	return out
}

// planFullToShard compiles the call SPMDFullToShardShape: each device takes its shard of the operand. The sharding is
// an attribute of the operand's defining op.
func planFullToShard(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("this device's shard")
	kernel.FailIf(len(s.In) != 1 || len(s.Out) != 1 || !static(s.In) || s.Out[0].Class != kernel.ClassTensor,
		"expects one operand and one result of static shape")
	if s.In[0].Shape.Equal(s.Out[0].Shape) {
		return plan.PlanForward(p, s)
	}
	text := shardingOf(s.Op.Operand(0))
	kernel.FailIf(text == "", "has an operand that does not say how it is cut")
	cut := cutGSPMD(p, text, s.In[0], s.Out[0])
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = shard(m, cut, &fr.Slots[ins.In[0]].Tensor)
	}
}

// planShardToFull compiles the call SPMDShardToFullShape: the devices meet and each assembles the whole value.
func planShardToFull(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("all devices' shards")
	kernel.FailIf(len(s.In) != 1 || len(s.Out) != 1 || !static(s.Out) || s.In[0].Class != kernel.ClassTensor,
		"expects one operand and one result of static shape")
	if s.In[0].Shape.Equal(s.Out[0].Shape) {
		return plan.PlanForward(p, s)
	}
	cut := cutGSPMD(p, view.String(s.Op.Attr(mhlo.AttrSharding)), s.Out[0], s.In[0])
	all := upTo(p.Prog.Partitions)
	t := s.Out[0]
	sources := make([][]int, len(all))
	for p := range sources {
		sources[p] = cut.Sources(p)
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		met := meetPartitions(m, ins, all, []*tensor.Tensor{&fr.Slots[ins.In[0]].Tensor})
		b := m.Alloc(t.DType, t.Shape, t.N)
		for _, q := range sources[m.Run.Partition] {
			cut.Put(&b.Tensor, met[q][0], q)
		}
		fr.Slots[ins.Out[0]] = b
	}
}

// cutGSPMD parses a sharding that partitions a value of type whole into shards of type local.
func cutGSPMD(p *plan.Planner, text string, whole, local kernel.Type) *sharding.Sharding {
	s, err := hlo.ParseSharding(text, p.Prog.Partitions)
	kernel.UnsupportedIf(errors.Is(err, sharding.ErrManual), "a value that is cut by hand along some dimensions only (%s)", text)
	kernel.Fail(err)
	shape := kernel.Must(s.ShardShape(whole.Shape))
	kernel.FailIf(!shape.Equal(local.Shape) || whole.DType != local.DType,
		"makes %s of %s, but sharding %s cuts it into parts of shape %v", local, whole, text, shape)
	kernel.FailIf(s.Whole(), "has sharding %s, which cuts nothing", text)
	return s
}

// shardingOf returns the mhlo.sharding attribute of a value, or "" if it has none.
func shardingOf(v *ir.Value) string {
	if def := v.DefiningOp(); def != nil {
		return view.String(def.Attr(mhlo.AttrSharding))
	}
	if f, ok := fn.AsFunc(v.Block().Parent()); ok {
		if a, ok := f.ArgAttrs(v.Index()).Get(mhlo.AttrSharding).(*ir.StringAttr); ok {
			return a.Value()
		}
	}
	return ""
}

// content returns the data of a dialect's attribute, or false.
func content[T any](a ir.Attr) (data T, ok bool) {
	if a, is := a.(*ir.DialectAttr); is {
		data, ok = a.Data().(T)
	}
	return data, ok
}
