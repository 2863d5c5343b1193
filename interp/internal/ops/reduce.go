package ops

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// commonReducer returns the reducer of a region of two arguments, or nil if the region is anything else.
func commonReducer(b *ir.Block) *kernel.BinaryLoops {
	if list := commonReducers(b); len(list) == 1 {
		return list[0]
	}
	return nil
}

// commonReducers returns the reducer of each result of a region whose results depend only on their own two arguments,
// or nil if the region is anything else. A region on quantized values has no reducer. Each of its ops dequantizes,
// computes and quantizes (spec, "dequantize_op_quantize"), so sums saturate and products round at every step.
func commonReducers(b *ir.Block) []*kernel.BinaryLoops {
	k := len(b.Args()) / 2
	if len(b.Args()) != 2*k || b.Last() == nil || !plan.IsReturn(b.Last()) || b.Last().NumOperands() != k {
		return nil
	}
	ops := 0
	for range b.Ops() {
		ops++
	}
	list := make([]*kernel.BinaryLoops, k)
	for i := range list {
		x, y := b.Arg(i), b.Arg(k+i)
		o := b.Last().Operand(i).DefiningOp()
		if ops != k+1 || o == nil || o.NumOperands() != 2 || (o.Operand(0) != x || o.Operand(1) != y) && (o.Operand(0) != y || o.Operand(1) != x) {
			return nil
		}
		if list[i] = reducers[plan.OpKind(o)]; list[i] == nil || plan.TypeOf(x.Type()).Quant != nil {
			return nil
		}
	}
	return list
}

// reducers are the loops of the common ops that reduce.
var reducers = map[*ir.Def]*kernel.BinaryLoops{stablehlo.Add: kernel.Add, stablehlo.Multiply: kernel.Multiply, stablehlo.Maximum: kernel.Maximum,
	stablehlo.Minimum: kernel.Minimum, stablehlo.And: kernel.And, stablehlo.Or: kernel.Or, stablehlo.Xor: kernel.Xor}

// planReduce compiles reduce (spec, "reduce").
func planReduce(p *plan.Planner, s *plan.Spec) exec.Runner {
	kernel.FailIf(len(s.In)%2 != 0 || len(s.In) == 0 || len(s.Out) != len(s.In)/2 || len(s.Op.Regions()) != 1 || len(s.Op.Region(0).Blocks()) != 1,
		"expects as many initial values as inputs and results, and one region")
	if len(commonReducers(s.Op.Region(0).Entry())) == len(s.Out) {
		return p.KernelControl(makeReduce, s)
	}
	kernel.UnsupportedIf(!static(s.In, s.Out), "a general reduction of dynamic shape")
	dims := plan.Attrs[plan.Dimensions](s.Op).List
	kernel.CheckDims("reduced", dims, len(s.In[0].Shape))
	k := len(s.Out)
	for _, t := range s.In[1:k] {
		kernel.FailIf(!t.Shape.Equal(s.In[0].Shape), "expects inputs of one shape")
	}
	if choice, ok := chooserOf(s.Op.Region(0).Entry()); ok && k == 2 && plainTypes(s.In) && s.Out[0].DType == s.In[0].DType && s.Out[1].DType == s.In[1].DType {
		if chooses, ok := kernel.ChooseKernel(s.In, dims, choice); ok {
			return p.KernelControl(func(*plan.Spec) kernel.Kernel { return chooses }, s)
		}
	}
	// View the input as [steps][n], with the reduced dimensions first.
	perm := append(append([]int64(nil), dims...), kernel.KeptDims(len(s.In[0].Shape), dims)...)
	moved := make(tensor.Shape, len(perm))
	for i, d := range perm {
		moved[i] = s.In[0].Shape[d]
	}
	n, steps := s.Out[0].N, kernel.Elements(s.In[0].Shape, dims)
	arrange := make([]kernel.Kernel, k)
	for i := range arrange {
		arrange[i] = kernel.TransposeKernel(s.In[i], kernel.TensorType(s.In[i].DType, moved...), perm)
	}
	p.Describe("reduction by the region")
	fold := folderOf(p, s.Op, 0, s.In[:k], s.In[k:], steps, n)
	for i := range k {
		p.Scratch(int64(s.In[i].Bytes()))
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		arranged, inputs := make([]*exec.Buf, k), make([]*tensor.Tensor, k)
		for i := range inputs {
			x := fr.Slots[ins.In[i]]
			if slices.IsSorted(perm) {
				arranged[i] = exec.Retain(x)
			} else {
				arranged[i] = m.Alloc(s.In[i].DType, moved, s.In[i].N)
				arrange[i].Run([]*tensor.Tensor{&x.Tensor}, []*tensor.Tensor{&arranged[i].Tensor})
			}
			inputs[i] = &arranged[i].Tensor
		}
		acc := make([]*exec.Buf, k)
		for i := range acc {
			b := m.Alloc(s.In[k+i].DType, tensor.Shape{int64(n)}, n)
			kernel.Fill(b.Tensor.Bytes(), fr.Slots[ins.In[k+i]].Tensor.Bytes())
			acc[i] = b
		}
		fold(m, fr, acc, inputs)
		for _, b := range arranged {
			m.Release(b)
		}
		for i, b := range acc {
			fr.Slots[ins.Out[i]] = m.Alias(b, s.Out[i].DType, s.Out[i].Shape)
		}
	}
}

// plainTypes reports whether no type is quantized, and the initial values have the types of the inputs.
func plainTypes(in []kernel.Type) bool {
	for i, t := range in {
		if t.Quant != nil || t.DType != in[i%(len(in)/2)].DType {
			return false
		}
	}
	return true
}

// foldFunc folds inputs of shape [steps][n] into accumulators of n elements, in order, with a scalar region.
type foldFunc func(m *exec.Machine, fr *exec.Frame, acc []*exec.Buf, inputs []*tensor.Tensor)

// folderOf compiles region i of op into a foldFunc.
func folderOf(p *plan.Planner, op *ir.Op, i int, in, init []kernel.Type, steps, n int) foldFunc {
	k := len(in)
	whole := p.Lift(op, i, n, 2*k, k)
	for j := range k {
		kernel.UnsupportedIf(in[j].DType != whole.Types[k+j].DType || init[j].DType != whole.Types[j].DType,
			"a reduction that changes the element type")
	}
	step := func(m *exec.Machine, fr *exec.Frame, r *plan.LiftedRegion, acc []*exec.Buf, inputs []*tensor.Tensor, at int) {
		for j := range k {
			fr.Slots[r.Args[j]] = acc[j]
			x := m.NewView()
			size := r.N * in[j].DType.Size()
			x.Tensor.Borrow(in[j].DType, r.Types[k+j].Shape, inputs[j].Bytes()[at*size:(at+1)*size])
			x.Fixed = true
			fr.Slots[r.Args[k+j]] = x
		}
		m.RunBlock(fr, r.Block, acc)
		for j, b := range acc {
			if b.Fixed { // the region returns its argument, which ends with the input
				acc[j] = m.Alloc(b.Tensor.DType(), b.Tensor.Shape(), b.Tensor.NumElements())
				copy(acc[j].Tensor.Bytes(), b.Tensor.Peek())
				m.Release(b)
			}
		}
	}
	run := func(m *exec.Machine, fr *exec.Frame, acc []*exec.Buf, inputs []*tensor.Tensor, from int) {
		for at := from; at < steps; at++ {
			m.Poll()
			step(m, fr, whole, acc, inputs, at)
		}
	}
	chunks := 0
	same := slices.EqualFunc(in, init, func(a, b kernel.Type) bool { return a.DType == b.DType })
	if n > 0 && n < 512 && steps >= 128 && !whole.Scalars && same {
		chunks = min(steps/16, max(2, 2048/n))
	}
	if chunks < 2 {
		return func(m *exec.Machine, fr *exec.Frame, acc []*exec.Buf, inputs []*tensor.Tensor) {
			run(m, fr, acc, inputs, 0)
		}
	}
	// Few outputs and many steps: split the steps into contiguous chunks and fold the chunks side by side. Then fold
	// the chunks' values in order.
	length := steps / chunks
	side := p.Lift(op, i, chunks*n, 2*k, k)
	for j := range k {
		p.Scratch(int64(length+1) * int64(chunks*n) * int64(in[j].DType.Size()))
	}
	arrange := make([]kernel.Kernel, k)
	for j := range arrange {
		from := kernel.TensorType(in[j].DType, int64(chunks), int64(length), int64(n))
		arrange[j] = kernel.TransposeKernel(from, kernel.TensorType(in[j].DType, int64(length), int64(chunks), int64(n)), []int64{1, 0, 2})
	}
	return func(m *exec.Machine, fr *exec.Frame, acc []*exec.Buf, inputs []*tensor.Tensor) {
		cols := make([]*tensor.Tensor, k)
		part := make([]*exec.Buf, k)
		for j := range k {
			bytes := int64(length) * int64(chunks*n) * int64(in[j].DType.Size())
			defer m.Uncharge(m.Charge(bytes))
			cols[j] = tensor.New(in[j].DType, tensor.Shape{int64(length), int64(chunks * n)})
			arrange[j].Run([]*tensor.Tensor{inputs[j]}, []*tensor.Tensor{cols[j]})
			b := m.Alloc(in[j].DType, tensor.Shape{int64(chunks * n)}, chunks*n)
			copy(b.Tensor.Bytes(), cols[j].Bytes())
			part[j] = b
		}
		for at := 1; at < length; at++ {
			m.Poll()
			step(m, fr, side, part, cols, at)
		}
		parts := make([]*tensor.Tensor, k)
		for j, b := range part {
			parts[j] = &b.Tensor
		}
		for at := range chunks {
			step(m, fr, whole, acc, parts, at)
		}
		for _, b := range part {
			m.Release(b)
		}
		run(m, fr, acc, inputs, chunks*length)
	}
}

// foldReduce compiles the reduction of one value by a common op.
func foldReduce(s *plan.Spec, source *kernel.Source) (kernel.Kernel, bool) {
	if len(s.In) != 2 || len(s.Out) != 1 || len(s.Op.Regions()) != 1 || len(s.Op.Region(0).Blocks()) != 1 {
		return kernel.Kernel{}, false
	}
	red, dims := commonReducer(s.Op.Region(0).Entry()), plan.Attrs[plan.Dimensions](s.Op).List
	kernel.CheckDims("reduced", dims, len(s.In[0].Shape))
	if red == nil || !kernel.Reducible(s.In[0], dims) {
		return kernel.Kernel{}, false
	}
	return kernel.ReduceKernel(s.In[0], s.In[1], s.Out[0], dims, red, source), true
}

// makeReduce compiles reductions by common ops.
func makeReduce(s *plan.Spec) kernel.Kernel {
	list := commonReducers(s.Op.Region(0).Entry())
	dims := plan.Attrs[plan.Dimensions](s.Op).List
	n := len(list)
	kernels := make([]kernel.Kernel, n)
	var scratch int64
	for i, red := range list {
		kernels[i] = kernel.ReduceKernel(s.In[i], s.In[n+i], s.Out[i], dims, red, nil)
		scratch = max(scratch, kernels[i].Scratch)
	}
	if n == 1 {
		return kernels[0]
	}
	return kernel.Kernel{Family: kernels[0].Family, Scratch: scratch, Run: func(in, out []*tensor.Tensor) {
		for i := range kernels {
			kernels[i].Run([]*tensor.Tensor{in[i], in[n+i]}, out[i:i+1])
		}
	}}
}
