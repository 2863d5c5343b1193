package interp

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// commonReducer returns the reducer of a region, or nil if the region is anything else. A region on quantized values
// has no reducer. Each of its ops dequantizes, computes and quantizes (spec, "dequantize_op_quantize"), so sums
// saturate and products round at every step.
func commonReducer(b *ir.Block) *loops2 {
	o, _ := singleOp(b)
	if o == nil {
		return nil
	}
	if t, err := typeOf(b.Arg(0).Type()); err != nil || t.quant != nil {
		return nil
	}
	switch opKind(o) {
	case stablehlo.Add:
		return opAdd
	case stablehlo.Multiply:
		return opMultiply
	case stablehlo.Maximum:
		return opMaximum
	case stablehlo.Minimum:
		return opMinimum
	case stablehlo.And:
		return opAnd
	case stablehlo.Or:
		return opOr
	case stablehlo.Xor:
		return opXor
	}
	return nil
}

// planReduce compiles reduce (spec, "reduce").
func planReduce(p *planner, s *spec) (control, error) {
	if len(s.in)%2 != 0 || len(s.in) == 0 || len(s.out) != len(s.in)/2 || s.op.NumRegions() != 1 || len(s.op.Region(0).Blocks()) != 1 {
		return nil, errors.New("expects as many initial values as inputs and results, and one region")
	}
	if len(s.in) == 2 && commonReducer(s.op.Region(0).Entry()) != nil {
		return p.kernelControl(row{make: makeReduce}, s)
	}
	for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.class != classTensor || t.dynamic() {
			return nil, unsupported("a general reduction of dynamic shape")
		}
	}
	dims, err := intsAttr(s.op, stablehlo.AttrDimensions)
	if err != nil {
		return nil, err
	}
	if err := checkDims("reduced", dims, len(s.in[0].shape)); err != nil {
		return nil, err
	}
	k := len(s.out)
	for _, t := range s.in[1:k] {
		if !t.shape.Equal(s.in[0].shape) {
			return nil, errors.New("expects inputs of one shape")
		}
	}
	// View the input as [steps][n], with the reduced dimensions first.
	perm := append(append([]int64(nil), dims...), keptDims(len(s.in[0].shape), dims)...)
	moved := make(tensor.Shape, len(perm))
	for i, d := range perm {
		moved[i] = s.in[0].shape[d]
	}
	n := s.out[0].n
	steps := 1
	for _, d := range dims {
		steps *= int(s.in[0].shape[d])
	}
	arrange := make([]kernel, k)
	for i := range arrange {
		if arrange[i], err = transposeKernel(s.in[i], tensorType(s.in[i].dt, moved...), perm); err != nil {
			return nil, err
		}
	}
	fold, err := folderOf(p, s.op, 0, s.in[:k], s.in[k:], steps, n)
	if err != nil {
		return nil, err
	}
	return func(m *machine, fr *frame, ins *instr) error {
		inputs := make([]*tensor.Tensor, k)
		for i := range inputs {
			bytes := int64(s.in[i].bytes())
			if err := m.charge(bytes); err != nil {
				return err
			}
			defer m.uncharge(bytes)
			t := tensor.New(s.in[i].dt, moved)
			if err := arrange[i].run([]*tensor.Tensor{&fr.slots[ins.in[i]].t}, []*tensor.Tensor{t}); err != nil {
				return err
			}
			inputs[i] = t
		}
		acc := make([]*buf, k)
		for i := range acc {
			b, err := m.alloc(s.in[k+i].dt, tensor.Shape{int64(n)}, n)
			if err != nil {
				return err
			}
			fill(b.t.Bytes(), fr.slots[ins.in[k+i]].t.Bytes())
			acc[i] = b
		}
		if err := fold(m, fr, acc, inputs); err != nil {
			return err
		}
		for i, b := range acc {
			fr.slots[ins.out[i]] = m.alias(b, s.out[i].dt, s.out[i].shape)
		}
		return nil
	}, nil
}

func keptDims(rank int, dims []int64) []int64 {
	var kept []int64
	for d := range int64(rank) {
		keep := true
		for _, r := range dims {
			keep = keep && r != d
		}
		if keep {
			kept = append(kept, d)
		}
	}
	return kept
}

// foldFunc folds inputs of shape [steps][n] into accumulators of n elements, in order, with a scalar region.
type foldFunc func(m *machine, fr *frame, acc []*buf, inputs []*tensor.Tensor) error

// folderOf compiles region i of op into a foldFunc.
func folderOf(p *planner, op *ir.Op, i int, in, init []vtype, steps, n int) (foldFunc, error) {
	k := len(in)
	whole, err := p.lift(op, i, n)
	if err != nil {
		return nil, err
	}
	if whole == nil {
		return scalarFolder(p, op, i, in, steps, n)
	}
	if len(whole.args) != 2*k || len(whole.ret) != k {
		return nil, fmt.Errorf("expects a region of %d arguments and %d results", 2*k, k)
	}
	for j := range k {
		if in[j].dt != whole.types[k+j].dt || init[j].dt != whole.types[j].dt {
			return nil, unsupported("a reduction that changes the element type")
		}
	}
	step := func(m *machine, fr *frame, r *liftedRegion, acc []*buf, inputs []*tensor.Tensor, at int) error {
		for j := range k {
			fr.slots[r.args[j]] = acc[j]
			x := m.head()
			size := r.n * in[j].dt.Size()
			x.t.Borrow(in[j].dt, r.types[k+j].shape, inputs[j].Bytes()[at*size:(at+1)*size])
			x.fixed = true
			fr.slots[r.args[k+j]] = x
		}
		return m.block(fr, r.block, acc)
	}
	run := func(m *machine, fr *frame, acc []*buf, inputs []*tensor.Tensor, from int) error {
		for at := from; at < steps; at++ {
			if err := m.poll(); err != nil {
				return err
			}
			if err := step(m, fr, whole, acc, inputs, at); err != nil {
				return err
			}
		}
		return nil
	}
	chunks := 0
	if n > 0 && n < 512 && steps >= 128 && sameDTypes(in, init) {
		chunks = min(steps/16, max(2, 2048/n))
	}
	if chunks < 2 {
		return func(m *machine, fr *frame, acc []*buf, inputs []*tensor.Tensor) error {
			return run(m, fr, acc, inputs, 0)
		}, nil
	}
	// Few outputs and many steps: split the steps into contiguous chunks and fold the chunks side by side. Then fold
	// the chunks' values in order.
	length := steps / chunks
	side, err := p.lift(op, i, chunks*n)
	if err != nil {
		return nil, err
	}
	arrange := make([]kernel, k)
	for j := range arrange {
		from := tensorType(in[j].dt, int64(chunks), int64(length), int64(n))
		if arrange[j], err = transposeKernel(from, tensorType(in[j].dt, int64(length), int64(chunks), int64(n)), []int64{1, 0, 2}); err != nil {
			return nil, err
		}
	}
	return func(m *machine, fr *frame, acc []*buf, inputs []*tensor.Tensor) error {
		cols := make([]*tensor.Tensor, k)
		part := make([]*buf, k)
		for j := range k {
			bytes := int64(length) * int64(chunks*n) * int64(in[j].dt.Size())
			if err := m.charge(bytes); err != nil {
				return err
			}
			defer m.uncharge(bytes)
			cols[j] = tensor.New(in[j].dt, tensor.Shape{int64(length), int64(chunks * n)})
			if err := arrange[j].run([]*tensor.Tensor{inputs[j]}, []*tensor.Tensor{cols[j]}); err != nil {
				return err
			}
			b, err := m.alloc(in[j].dt, tensor.Shape{int64(chunks * n)}, chunks*n)
			if err != nil {
				return err
			}
			copy(b.t.Bytes(), cols[j].Bytes())
			part[j] = b
		}
		for at := 1; at < length; at++ {
			if err := m.poll(); err != nil {
				return err
			}
			if err := step(m, fr, side, part, cols, at); err != nil {
				return err
			}
		}
		parts := make([]*tensor.Tensor, k)
		for j, b := range part {
			parts[j] = &b.t
		}
		for at := range chunks {
			if err := step(m, fr, whole, acc, parts, at); err != nil {
				return err
			}
		}
		for _, b := range part {
			m.release(b)
		}
		return run(m, fr, acc, inputs, chunks*length)
	}, nil
}

func sameDTypes(a, b []vtype) bool {
	for i := range a {
		if a[i].dt != b[i].dt {
			return false
		}
	}
	return true
}

// scalarFolder executes the region once per element.
func scalarFolder(p *planner, op *ir.Op, i int, in []vtype, steps, n int) (foldFunc, error) {
	body, err := p.region(op, i)
	if err != nil {
		return nil, err
	}
	k := len(in)
	if len(body.args) != 2*k || len(body.ret) != k {
		return nil, fmt.Errorf("expects a region of %d arguments and %d results", 2*k, k)
	}
	return func(m *machine, fr *frame, acc []*buf, inputs []*tensor.Tensor) error {
		out := make([]*buf, k)
		for e := range n {
			for at := range steps {
				if err := m.poll(); err != nil {
					return err
				}
				for j := range k {
					if at == 0 {
						b, err := m.alloc(acc[j].t.DType(), nil, 1)
						if err != nil {
							return err
						}
						size := acc[j].t.DType().Size()
						copy(b.t.Bytes(), acc[j].t.Bytes()[e*size:(e+1)*size])
						out[j] = b
					}
					fr.slots[body.args[j]] = out[j]
					b, err := m.alloc(in[j].dt, nil, 1)
					if err != nil {
						return err
					}
					size := in[j].dt.Size()
					copy(b.t.Bytes(), inputs[j].Bytes()[(at*n+e)*size:(at*n+e+1)*size])
					fr.slots[body.args[k+j]] = b
				}
				if err := m.block(fr, body, out); err != nil {
					return err
				}
			}
			for j := range k {
				if steps > 0 {
					size := acc[j].t.DType().Size()
					copy(acc[j].t.Bytes()[e*size:(e+1)*size], out[j].t.Bytes())
					m.release(out[j])
				}
			}
		}
		return nil
	}, nil
}

// makeReduce compiles reductions by one common op. It views the input as [outer][steps][inner].
func makeReduce(s *spec) (kernel, error) {
	red := commonReducer(s.op.Region(0).Entry())
	dims, err := intsAttr(s.op, stablehlo.AttrDimensions)
	if err != nil {
		return kernel{}, err
	}
	return reduceKernel(s.in[0], s.in[1], s.out[0], dims, red)
}

func reduceKernel(in, init, out vtype, dims []int64, red *loops2) (kernel, error) {
	if err := checkDims("reduced", dims, len(in.shape)); err != nil {
		return kernel{}, err
	}
	dt := out.dt
	if init.n != 1 || init.dt != dt {
		return kernel{}, errors.New("expects a scalar initial value of the result's element type")
	}
	if len(out.shape) != len(in.shape)-len(dims) {
		return kernel{}, fmt.Errorf("cannot reduce %s to %s", in, out)
	}
	kept := keptDims(len(in.shape), dims)
	for i, d := range kept {
		if in.shape[d] != out.shape[i] {
			return kernel{}, fmt.Errorf("cannot reduce %s to %s", in, out)
		}
	}
	acc := accumulator(dt)
	fold := foldLoop(acc, red)
	if fold == nil {
		return kernel{}, unsupported("this reduction of elements of type %s", dt)
	}
	outer, steps, inner, perm := reduceGeometry(in.shape, dims, kept)
	var arrange *kernel
	if perm != nil {
		moved := make(tensor.Shape, len(perm))
		for i, d := range perm {
			moved[i] = in.shape[d]
		}
		k, err := transposeKernel(in, tensorType(in.dt, moved...), perm)
		if err != nil {
			return kernel{}, err
		}
		arrange = &k
	}
	var widen, narrow elementLoop
	var err error
	if in.dt != acc {
		if widen, err = convertLoop(in.dt, acc); err != nil {
			return kernel{}, err
		}
	}
	if dt != acc {
		if narrow, err = convertLoop(acc, dt); err != nil {
			return kernel{}, err
		}
	}
	scratch := int64(0)
	if arrange != nil {
		scratch += int64(in.bytes())
	}
	if widen != nil {
		scratch += int64(in.n) * int64(acc.Size())
	}
	if narrow != nil {
		scratch += int64(out.n) * int64(acc.Size())
	}
	return kernel{scratch: scratch, run: func(in, out []*tensor.Tensor) error {
		x, o, z := in[0], out[0], in[1]
		if arrange != nil {
			t := tensor.New(x.DType(), x.Shape())
			if err := arrange.run([]*tensor.Tensor{x}, []*tensor.Tensor{t}); err != nil {
				return err
			}
			x = t
		}
		if widen != nil {
			t := tensor.New(acc, x.Shape())
			parallel(t.NumElements(), 1<<14, func(lo, hi int) { widen([]*tensor.Tensor{x}, []*tensor.Tensor{t}, lo, hi) })
			x = t
		}
		if narrow != nil {
			t := tensor.New(acc, nil)
			conv, err := convertLoop(dt, acc)
			if err != nil {
				return err
			}
			conv([]*tensor.Tensor{z}, []*tensor.Tensor{t}, 0, 1)
			z = t
			o = tensor.New(acc, o.Shape())
		}
		fold(o, x, z, outer, steps, inner)
		if narrow != nil {
			narrow([]*tensor.Tensor{o}, out, 0, o.NumElements())
		}
		return nil
	}}, nil
}

// accumulator returns the type that a reduction computes in. Sums and products of narrow floats are rounded once, at
// the end.
func accumulator(dt tensor.DType) tensor.DType {
	switch {
	case dt == tensor.F16 || dt == tensor.BF16:
		return tensor.F32
	case dt.IsFloat() && dt.Size() == 1:
		return tensor.F32
	}
	return dt
}

// reduceGeometry views shape as [outer][steps][inner], with the reduced dimensions as steps. If the reduced dimensions
// are not adjacent, perm first moves them to the end.
func reduceGeometry(shape tensor.Shape, dims, kept []int64) (outer, steps, inner int, perm []int64) {
	reduced := make([]bool, len(shape))
	for _, d := range dims {
		reduced[d] = true
	}
	outer, steps, inner = 1, 1, 1
	const (
		before = iota
		inside
		after
	)
	state := before
	for d, n := range shape {
		switch {
		case reduced[d] && state == after && n != 1:
			outer, steps, inner = 1, 1, 1
			for d, n := range shape {
				if reduced[d] {
					steps *= int(n)
				} else {
					outer *= int(n)
				}
			}
			var order []int64
			for d := range shape {
				if reduced[d] {
					order = append(order, int64(d))
				}
			}
			return outer, steps, 1, append(append([]int64(nil), kept...), order...)
		case reduced[d]:
			steps *= int(n)
			if n != 1 || state == inside {
				state = max(state, inside)
			}
		case state == before:
			outer *= int(n)
		default:
			inner *= int(n)
			if n != 1 {
				state = after
			}
		}
	}
	return outer, steps, inner, nil
}

// foldFn folds x, viewed as [outer][steps][inner], into o, viewed as [outer][inner], starting with z.
type foldFn func(o, x, z *tensor.Tensor, outer, steps, inner int)

func foldLoop(dt tensor.DType, red *loops2) foldFn {
	l := red
	switch dt {
	case tensor.I1:
		if l == opXor || l.b != nil {
			f := l.b
			if f == nil {
				f = l.u8
			}
			return foldTyped(f, nil)
		}
	case tensor.I2, tensor.I4:
		return foldNarrow(foldTyped(l.i8, rowLoop[int8](l)))
	case tensor.UI2, tensor.UI4:
		return foldNarrow(foldTyped(l.u8, rowLoop[uint8](l)))
	case tensor.I8:
		return foldTyped(l.i8, rowLoop[int8](l))
	case tensor.I16:
		return foldTyped(l.i16, rowLoop[int16](l))
	case tensor.I32:
		return foldTyped(l.i32, rowLoop[int32](l))
	case tensor.I64, tensor.Index:
		return foldTyped(l.i64, rowLoop[int64](l))
	case tensor.UI8:
		return foldTyped(l.u8, rowLoop[uint8](l))
	case tensor.UI16:
		return foldTyped(l.u16, rowLoop[uint16](l))
	case tensor.UI32:
		return foldTyped(l.u32, rowLoop[uint32](l))
	case tensor.UI64:
		return foldTyped(l.u64, rowLoop[uint64](l))
	case tensor.F32:
		return foldTyped(l.f32, rowLoop[float32](l))
	case tensor.F64:
		return foldTyped(l.f64, rowLoop[float64](l))
	case tensor.Complex64:
		return foldTyped(l.c64, nil)
	case tensor.Complex128:
		return foldTyped(l.c128, nil)
	}
	return nil
}

func foldNarrow(f foldFn) foldFn {
	if f == nil {
		return nil
	}
	return func(o, x, z *tensor.Tensor, outer, steps, inner int) {
		f(o, x, z, outer, steps, inner)
		wrapNarrow(o.DType(), o.Bytes())
	}
}

// foldTyped folds with the vector loop if there are inner elements, else with along, which folds one row.
func foldTyped[T tensor.Element](loop func(o, x, y []T), along func(x []T) T) foldFn {
	if loop == nil {
		return nil
	}
	if along == nil {
		along = func(x []T) T {
			var acc [1]T
			acc[0] = x[0]
			for i := 1; i < len(x); i++ {
				loop(acc[:], acc[:], x[i:i+1])
			}
			return acc[0]
		}
	}
	one := func(a, b T) T {
		v := [1]T{a}
		w := [1]T{b}
		loop(v[:], v[:], w[:])
		return v[0]
	}
	return func(ot, xt, zt *tensor.Tensor, outer, steps, inner int) {
		o, x, z := tensor.View[T](ot), tensor.View[T](xt), tensor.View[T](zt)[0]
		if steps == 0 || inner == 0 || outer == 0 {
			for i := range o {
				o[i] = z
			}
			return
		}
		if inner == 1 {
			if outer == 1 && steps >= 1<<16 {
				// One long row: split it into parts of fixed length. The result then does not depend on the number of
				// cores.
				const part = 1 << 14
				parts := make([]T, (steps+part-1)/part)
				parallel(len(parts), 2, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						parts[i] = along(x[i*part : min((i+1)*part, steps)])
					}
				})
				o[0] = one(z, along(parts))
				return
			}
			parallel(outer, max(1, 1<<15/steps), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					o[i] = one(z, along(x[i*steps:(i+1)*steps]))
				}
			})
			return
		}
		parallel(outer, max(1, 1<<15/(steps*inner)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				block := x[i*steps*inner : (i+1)*steps*inner]
				acc := o[i*inner : (i+1)*inner]
				for j := range acc {
					acc[j] = z
				}
				for r := range steps {
					loop(acc, acc, block[r*inner:(r+1)*inner])
				}
			}
		})
	}
}

// rowLoop returns the loop that reduces a row of elements, or nil if the op has no such loop.
func rowLoop[T integer | float](l *loops2) func(x []T) T {
	switch l {
	case opAdd:
		return sumRow[T]
	case opMaximum:
		return maxRow[T]
	case opMinimum:
		return minRow[T]
	}
	return nil
}

// sumRow adds in eight lanes. An in-order tree would have to add adjacent pairs, but addition may also be reordered
// freely, as XLA does.
func sumRow[T integer | float](x []T) T {
	var a, b, c, d, e, f, g, h T
	for len(x) >= 8 {
		y := x[:8:8]
		a += y[0]
		b += y[1]
		c += y[2]
		d += y[3]
		e += y[4]
		f += y[5]
		g += y[6]
		h += y[7]
		x = x[8:]
	}
	s := ((a + b) + (c + d)) + ((e + f) + (g + h))
	for _, v := range x {
		s += v
	}
	return s
}

func maxRow[T integer | float](x []T) T {
	m := x[0]
	for _, v := range x[1:] {
		if !(v <= m) { // larger, or NaN
			m = max(m, v)
		}
	}
	if m == 0 || m != m {
		for _, v := range x {
			m = max(m, v)
		}
	}
	return m
}

func minRow[T integer | float](x []T) T {
	m := x[0]
	for _, v := range x[1:] {
		if !(v >= m) {
			m = min(m, v)
		}
	}
	if m == 0 || m != m {
		for _, v := range x {
			m = min(m, v)
		}
	}
	return m
}
