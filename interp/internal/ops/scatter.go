package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

func scatterPlanOf(s *plan.Spec, k int) *kernel.ScatterPlan {
	a := plan.Attrs[struct {
		Numbers *stablehlo.ScatterDims `attr:"scatter_dimension_numbers"`
	}](s.Op)
	d := plan.Data(a.Numbers, stablehlo.AttrScatterDimensionNumbers)
	return kernel.NewScatterPlan(&s.Signature, (*kernel.ScatterDimensions)(d), k)
}

func scatterCounts(s *plan.Spec) int {
	k := len(s.Out)
	kernel.FailIf(k == 0 || len(s.In) != 2*k+1 || len(s.Op.Regions()) != 1 || len(s.Op.Region(0).Blocks()) != 1,
		"expects inputs, indices, as many updates, and one region")
	for i := range k {
		kernel.FailIf(s.In[i].DType != s.Out[i].DType || !s.In[i].Shape.Equal(s.Out[i].Shape) || !s.In[i].Shape.Equal(s.In[0].Shape) || !s.In[k+1+i].Shape.Equal(s.In[k+1].Shape),
			"expects inputs, updates and results that fit each other")
	}
	return k
}

// planScatter compiles scatter (spec, "scatter"). Common update computations use a kernel (makeScatter). Any other
// region executes once per update.
func planScatter(p *plan.Planner, s *plan.Spec) exec.Runner {
	k := scatterCounts(s)
	if k == 1 && s.In[0].DType == s.In[2].DType && scatterCombiner(s) != nil {
		return p.KernelControl(makeScatter, s)
	}
	for _, t := range s.In {
		kernel.UnsupportedIf(t.Dynamic(), "a general scatter of dynamic shape")
	}
	p.Describe("scatter, one update at a time")
	plan := scatterPlanOf(s, k)
	body := regionOf(p, s.Op, 0, 2*k, k)
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		out := make([]*exec.Buf, k)
		upd := make([]*tensor.Tensor, k)
		for i := range k {
			b := m.Alloc(s.Out[i].DType, s.Out[i].Shape, s.Out[i].N)
			copy(b.Tensor.Bytes(), fr.Slots[ins.In[i]].Tensor.Bytes())
			out[i] = b
			upd[i] = &fr.Slots[ins.In[k+1+i]].Tensor
		}
		vals := make([]*exec.Buf, k)
		idx := &fr.Slots[ins.In[k]].Tensor
		plan.EachRun(idx, 0, s.Out[0].N, func(target, update, n int) {
			for e := range n {
				m.Poll()
				for i := range k {
					fr.Slots[body.Args[i]], fr.Slots[body.Args[k+i]] = m.CopyScalar(&out[i].Tensor, target+e), m.CopyScalar(upd[i], update+e)
				}
				m.RunBlock(fr, body, vals)
				for i, v := range vals {
					copy(exec.Element(&out[i].Tensor, target+e), v.Tensor.Bytes())
					m.Release(v)
				}
			}
		})
		for i, b := range out {
			fr.Slots[ins.Out[i]] = b
		}
	}
}

// scatterCombiner returns the loop of a common update computation: replacement, or one of the common reducers.
func scatterCombiner(s *plan.Spec) kernel.ElementLoop {
	b := s.Op.Region(0).Entry()
	if len(b.Args()) == 2 && b.First() == b.Last() && plan.IsReturn(b.First()) && b.First().NumOperands() == 1 && b.First().Operand(0) == b.Arg(1) {
		size := s.In[0].DType.Size()
		return func(in, out []*tensor.Tensor, lo, hi int) {
			copy(out[0].Bytes()[lo*size:hi*size], in[1].Bytes()[lo*size:hi*size])
		}
	}
	red := commonReducer(b)
	if red == nil {
		return nil
	}
	l := *red
	if red == kernel.Xor {
		l.B = kernel.XorLoop[uint8]
	}
	return l.Bind(s.In[0].DType)
}

// makeScatter compiles scatters whose update computation is common.
func makeScatter(s *plan.Spec) kernel.Kernel {
	walk := scatterPlanOf(s, 1)
	combine := scatterCombiner(s)
	dt := s.In[0].DType
	size := dt.Size()
	b := s.Op.Region(0).Entry()
	replace := b.First() == b.Last()
	var add func(o, u, idx *tensor.Tensor, from, to int)
	if !replace && plan.OpKind(b.First()) == stablehlo.Add {
		add = walk.Adder(dt)
	}
	step, count := walk.RowStep(), kernel.Product(walk.Walk.Batch)
	total := s.In[0].N
	return kernel.Kernel{Family: "scatter", Inplace: 1, Run: func(in, out []*tensor.Tensor) {
		kernel.CopyUnlessSame(out[0], in[0])
		if walk.Run == 0 {
			return
		}
		part := func(from, to int) {
			o, u := out[0].Bytes(), in[2].Bytes()
			switch {
			case replace:
				walk.EachRun(in[1], from, to, func(target, update, n int) {
					copy(o[target*size:(target+n)*size], u[update*size:])
				})
			case add != nil:
				add(out[0], in[2], in[1], from, to)
			default:
				// Combine run by run, through views of a run.
				var x, y tensor.Tensor
				vin, vout := []*tensor.Tensor{&x, &y}, []*tensor.Tensor{&x}
				shape := tensor.Shape{0}
				walk.EachRun(in[1], from, to, func(target, update, n int) {
					shape[0] = int64(n)
					x.Borrow(dt, shape, o[target*size:(target+n)*size])
					y.Borrow(dt, shape, u[update*size:(update+n)*size])
					combine(vin, vout, 0, n)
				})
			}
		}
		if step == 0 || total < 2*step || count*step < 2*kernel.GatherGrain {
			part(0, total)
			return
		}
		// Every part of the operand applies its own updates, in order.
		kernel.Parallel(total/step, max(1, min(total/step/2, kernel.GatherGrain/step)), func(lo, hi int) { part(lo*step, hi*step) })
	}}
}
