package kernel

import (
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// KeptDims returns the dimensions that are not among dims.
func KeptDims(rank int, dims []int64) []int64 {
	var kept []int64
	for d := range int64(rank) {
		if !slices.Contains(dims, d) {
			kept = append(kept, d)
		}
	}
	return kept
}

// Source computes elements [lo, hi) of a value from other operands and writes them to the start of dst.
type Source struct {
	Run  func(in []*tensor.Tensor, dst *tensor.Tensor, lo, hi int)
	Cost int // nanoseconds per element
}

// Reducible reports whether a reduction over dims may compute its operand of type t block by block.
func Reducible(t Type, dims []int64) bool {
	outer, steps, inner, perm := reduceGeometry(t.Shape, dims, KeptDims(len(t.Shape), dims))
	switch acc := accumulator(t.DType); {
	case perm != nil || t.N == 0 || t.DType != acc && t.DType != tensor.BF16 && t.DType != tensor.F16:
		return false
	case inner == 1:
		return outer == 1 || steps <= longRow
	}
	return outer >= 4 || inner >= 2*leastColumns || splitSteps(outer, steps, inner)
}

// splitSteps reports whether a reduction of columns gives each core some of the steps: there are too few rows and
// columns for the cores.
func splitSteps(outer, steps, inner int) bool {
	return inner > 1 && outer < 4 && inner < 2*leastColumns && steps*inner >= longRow
}

// ReduceKernel folds dims of operand 0 with the reducer, starting with operand 1. With a source, the operands are the
// source's operands and the start value, and the source computes elements of type in.
func ReduceKernel(in, init, out Type, dims []int64, red *BinaryLoops, source *Source) Kernel {
	CheckDims("reduced", dims, len(in.Shape))
	dt := out.DType
	FailIf(init.N != 1 || init.DType != dt, "expects a scalar initial value of the result's element type")
	FailIf(len(out.Shape) != len(in.Shape)-len(dims), "cannot reduce %s to %s", in, out)
	kept := KeptDims(len(in.Shape), dims)
	for i, d := range kept {
		FailIf(in.Shape[d] != out.Shape[i], "cannot reduce %s to %s", in, out)
	}
	acc := accumulator(dt)
	fold := foldLoop(acc, red, in.DType)
	UnsupportedIf(fold == nil, "this reduction of elements of type %s", dt)
	outer, steps, inner, perm := reduceGeometry(in.Shape, dims, kept)
	to := acc
	if in.DType == tensor.BF16 || in.DType == tensor.F16 { // widened block by block
		to = in.DType
	}
	value := newOperand(Dense(in), perm, to)
	start := newOperand(Dense(init), nil, acc)
	narrow := newOperand(Dense(TensorType(acc, out.Shape...)), nil, dt)
	scratch := value.scratch()
	if !narrow.plain() {
		scratch += int64(narrow.in.Bytes())
	}
	return Kernel{Family: "reduction", Scratch: scratch, Run: func(in, out []*tensor.Tensor) {
		var x foldInput
		if source != nil {
			x = foldInput{source: source, operands: in[:len(in)-1], dtype: dt}
		} else {
			x.Tensor = value.load(in[0])
		}
		o := out[0]
		if !narrow.plain() {
			o = tensor.New(acc, o.Shape())
			defer narrow.store(out[0], o)
		}
		fold(o, x, start.load(in[len(in)-1]), outer, steps, inner)
	}}
}

// accumulator returns the type that a reduction or a product computes in. Sums and products of narrow floats are
// rounded once, at the end.
func accumulator(dt tensor.DType) tensor.DType {
	if dt.IsFloat() && dt != tensor.F64 {
		return tensor.F32
	}
	return dt
}

// reduceGeometry views shape as [outer][steps][inner], with the reduced dimensions as steps. If the reduced dimensions
// are not adjacent, perm first moves them to the end.
func reduceGeometry(shape tensor.Shape, dims, kept []int64) (outer, steps, inner int, perm []int64) {
	outer, steps, inner = 1, 1, 1
	const (
		before = iota
		inside
		after
	)
	state := before
	for d, n := range shape {
		switch reduced := slices.Contains(dims, int64(d)); {
		case reduced && state == after && n != 1:
			return Elements(shape, kept), Elements(shape, dims), 1, slices.Concat(kept, slices.Sorted(slices.Values(dims)))
		case reduced:
			if steps *= int(n); n != 1 {
				state = max(state, inside)
			}
		case state == before:
			outer *= int(n)
		default:
			if inner *= int(n); n != 1 {
				state = after
			}
		}
	}
	return outer, steps, inner, nil
}

// foldInput is the value that a reduction folds: a tensor, or the result of a source.
type foldInput struct {
	*tensor.Tensor
	source   *Source
	operands []*tensor.Tensor
	dtype    tensor.DType // of the source's elements
}

// grain returns the minimum number of elements for which starting a core pays.
func (x *foldInput) grain() int {
	if x.source != nil {
		return min(1<<15, max(20000/max(x.source.Cost, 1), 2048))
	}
	return 1 << 15
}

// reader reads elements of a foldInput as T, on one core.
type reader[T tensor.Element] struct {
	*foldInput
	widen  func(dst []T, t *tensor.Tensor, lo int) // from a narrower type; nil for elements of type T
	block  *tensor.Tensor                          // the block that the source computed
	buffer []T
}

// read returns elements [lo, hi), until the next call.
func (r *reader[T]) read(lo, hi int) []T {
	t, at := r.Tensor, lo
	if r.source != nil {
		if r.block == nil || int(r.block.NumElements()) < hi-lo {
			r.block = tensor.New(r.dtype, tensor.Shape{int64(hi - lo)})
		}
		r.source.Run(r.operands, r.block, lo, hi)
		t, at = r.block, 0
	}
	if r.widen == nil {
		return tensor.View[T](t)[at : at+hi-lo]
	}
	if len(r.buffer) < hi-lo {
		r.buffer = make([]T, hi-lo)
	}
	r.widen(r.buffer[:hi-lo], t, at)
	return r.buffer[:hi-lo]
}

const (
	// leastColumns is the minimum number of adjacent elements that one core reads of each step.
	leastColumns = 256
	// foldPart is the number of elements that are read together, and longRow the least that are folded in parts.
	foldPart = 1 << 14
	longRow  = 1 << 16
)

// foldFn folds x, viewed as [outer][steps][inner], into o, viewed as [outer][inner], starting with z.
type foldFn func(o *tensor.Tensor, x foldInput, z *tensor.Tensor, outer, steps, inner int)

func foldLoop(dt tensor.DType, red *BinaryLoops, from tensor.DType) foldFn {
	l := red
	switch dt {
	case tensor.I1:
		if l == Xor || l.B != nil {
			f := l.B
			if f == nil {
				f = l.u8
			}
			return foldTyped(alone(f), foldRows(f), nil)
		}
	case tensor.I2, tensor.I4:
		return foldNarrow(foldTyped(alone(l.i8), foldRows(l.i8), nil))
	case tensor.UI2, tensor.UI4:
		return foldNarrow(foldTyped(alone(l.u8), foldRows(l.u8), nil))
	case tensor.I8:
		return foldTyped(alone(l.i8), foldRows(l.i8), nil)
	case tensor.I16:
		return foldTyped(alone(l.i16), foldRows(l.i16), nil)
	case tensor.I32:
		return foldTyped(l.i32, foldInts(l.i32), nil)
	case tensor.I64, tensor.Index:
		return foldTyped(l.i64, foldInts(l.i64), nil)
	case tensor.UI8:
		return foldTyped(alone(l.u8), foldRows(l.u8), nil)
	case tensor.UI16:
		return foldTyped(alone(l.u16), foldRows(l.u16), nil)
	case tensor.UI32:
		return foldTyped(l.u32, foldInts(l.u32), nil)
	case tensor.UI64:
		return foldTyped(l.u64, foldInts(l.u64), nil)
	case tensor.F32:
		row := rowLoop(l, vec.Add32Loop, vec.Mul32Loop, vec.Max32Loop, vec.Min32Loop)
		var narrow *narrowFold[float32]
		if from == tensor.BF16 || from == tensor.F16 {
			narrow = foldHalves(from, row)
		}
		return foldTyped(l.f32, rowFold[float32](l, vec.Add32Loop, vec.Mul32Loop, vec.Max32Loop, vec.Min32Loop), narrow)
	case tensor.F64:
		return foldTyped(l.f64, rowFold[float64](l, vec.Add64Loop, vec.Mul64Loop, vec.Max64Loop, vec.Min64Loop), nil)
	case tensor.Complex64:
		return foldTyped(alone(l.c64), nil, nil)
	case tensor.Complex128:
		return foldTyped(alone(l.c128), nil, nil)
	}
	return nil
}

func foldNarrow(f foldFn) foldFn {
	if f == nil {
		return nil
	}
	return func(o *tensor.Tensor, x foldInput, z *tensor.Tensor, outer, steps, inner int) {
		f(o, x, z, outer, steps, inner)
		wrapNarrow(o.DType(), o.Bytes())
	}
}

// alone returns a loop without vectors.
func alone[T tensor.Element](f func(o, x, y []T)) binaryLoop[T] { return binaryLoop[T]{run: f} }

// down returns the function that folds rows of x, line elements apart, into o, a row after another. The last row ends
// with x.
func (l binaryLoop[T]) down() func(o, x []T, line int) {
	if l.vec != nil {
		return vec.Down[T](l.vec)
	}
	return func(o, x []T, line int) {
		for ; len(x) > len(o); x = x[line:] {
			l.run(o, o, x[:len(o)])
		}
		l.run(o, o, x)
	}
}

// foldTyped folds with the vector loop if there are inner elements, else with along, which folds one row of x for each
// element of o. If narrow is set, the elements of x have a narrower type.
func foldTyped[T tensor.Element](l binaryLoop[T], along func(o, x []T), narrow *narrowFold[T]) foldFn {
	loop, down := l.run, l.down()
	if loop == nil {
		return nil
	}
	if along == nil {
		along = func(o, x []T) { // one element after another
			steps := len(x) / len(o)
			for i := range o {
				o[i] = x[i*steps]
				for k := range steps - 1 {
					loop(o[i:i+1], o[i:i+1], x[i*steps+k+1:][:1])
				}
			}
		}
	}
	return func(ot *tensor.Tensor, x foldInput, zt *tensor.Tensor, outer, steps, inner int) {
		o, z := tensor.View[T](ot), tensor.View[T](zt)[0]
		newReader := func() *reader[T] {
			r := &reader[T]{foldInput: &x}
			if narrow != nil {
				r.widen = narrow.widen
			}
			return r
		}
		// rows folds rows of steps elements, from lo on.
		rows := func(r *reader[T], o []T, lo, steps int) {
			if narrow != nil && x.source == nil {
				if f := narrow.along(steps); f != nil {
					f(o, x.Tensor, lo)
					return
				}
			}
			along(o, r.read(lo, lo+len(o)*steps))
		}
		if steps == 0 || inner == 0 || outer == 0 {
			for i := range o {
				o[i] = z
			}
			return
		}
		if inner == 1 {
			if outer == 1 && steps >= longRow {
				// One long row: split it into parts of fixed length. The result then does not depend on the number of
				// cores.
				parts := make([]T, (steps+foldPart-1)/foldPart)
				Parallel(len(parts), max(1, x.grain()/foldPart), func(lo, hi int) {
					r := newReader()
					for i := lo; i < hi; i++ {
						rows(r, parts[i:i+1], i*foldPart, min(foldPart, steps-i*foldPart))
					}
				})
				along(o, parts)
				loop(o, []T{z}, o)
				return
			}
			Parallel(outer, max(1, x.grain()/steps), func(lo, hi int) {
				r := newReader()
				for i, n := lo, max(1, foldPart/steps); i < hi; i += n {
					rows(r, o[i:min(i+n, hi)], i*steps, steps)
				}
				first := make([]T, min(hi-lo, chunk))
				for i := range first {
					first[i] = z
				}
				for ; lo < hi; lo += len(first) {
					n := min(len(first), hi-lo)
					loop(o[lo:lo+n], first[:n], o[lo:lo+n])
				}
			})
			return
		}
		if splitSteps(outer, steps, inner) {
			// Fold parts of a fixed number of steps, then the parts. The result does not depend on the number of cores.
			length := foldPart / inner
			count := (steps + length - 1) / length
			parts := make([]T, outer*count*inner)
			Parallel(outer*count, max(1, x.grain()/(length*inner)), func(lo, hi int) {
				r := newReader()
				for i := lo; i < hi; i++ {
					acc := parts[i*inner : (i+1)*inner]
					k := i % count * length
					at, n := (i/count*steps+k)*inner, min(length, steps-k)
					if narrow != nil && narrow.down != nil && x.source == nil {
						narrow.widen(acc, x.Tensor, at)
						if n > 1 {
							narrow.down(acc, x.Tensor, at+inner, n-1, inner)
						}
						continue
					}
					block := r.read(at, at+n*inner)
					copy(acc, block)
					if n > 1 {
						down(acc, block[inner:], inner)
					}
				}
			})
			for i := range o {
				o[i] = z
			}
			for i := range outer {
				down(o[i*inner:(i+1)*inner], parts[i*count*inner:(i+1)*count*inner], inner)
			}
			return
		}
		// Split the columns if there are too few rows for all cores.
		columns := inner
		if outer < 4 {
			columns = min(inner, leastColumns)
		}
		pieces := (inner + columns - 1) / columns
		Parallel(outer*pieces, max(1, x.grain()/(steps*columns)), func(lo, hi int) {
			r := newReader()
			for i := lo; i < hi; i++ {
				from := i % pieces * columns
				n := min(columns, inner-from)
				acc := o[i/pieces*inner+from:][:n]
				for j := range acc {
					acc[j] = z
				}
				if narrow != nil && narrow.down != nil && x.source == nil {
					narrow.down(acc, x.Tensor, i/pieces*steps*inner+from, steps, inner)
					continue
				}
				rows, line := 1, inner // rows that are read together, and their distance
				var strip []T          // widened columns
				switch {
				case pieces == 1:
					rows = max(1, foldPart/inner)
				case x.source == nil && narrow == nil:
					rows = steps
				case x.source == nil:
					rows, line = vec.DownRows, n
					strip = make([]T, rows*n)
				}
				for s := 0; s < steps; s += rows {
					at, k := (i/pieces*steps+s)*inner+from, min(rows, steps-s)
					block := strip[:min(len(strip), k*n)]
					for q := range len(block) / n {
						narrow.widen(block[q*n:(q+1)*n], x.Tensor, at+q*inner)
					}
					if strip == nil {
						block = r.read(at, at+(k-1)*inner+n)
					}
					down(acc, block, line)
				}
			}
		})
	}
}

// rowFold returns the loop that reduces a row of floats, or nil if the op has no such loop. It adds and multiplies in
// lanes. The spec allows any order, and XLA also chooses one.
func rowFold[T float](l *BinaryLoops, add, mul, larger, smaller *vec.Loop) func(o, x []T) {
	if f := rowLoop(l, add, mul, larger, smaller); f != nil {
		return vec.Fold[T](f)
	}
	return nil
}

func rowLoop(l *BinaryLoops, add, mul, larger, smaller *vec.Loop) *vec.Loop {
	return map[*BinaryLoops]*vec.Loop{Add: add, Multiply: mul, Maximum: larger, Minimum: smaller}[l]
}

// narrowFold folds elements of a type narrower than T.
type narrowFold[T tensor.Element] struct {
	widen func(dst []T, t *tensor.Tensor, lo int)
	// along returns the function that folds the rows of steps elements from lo on, one for each element of o. down folds
	// the columns from lo on: rows that are line elements apart. Both are nil if elements must be widened first.
	along func(steps int) func(o []T, t *tensor.Tensor, lo int)
	down  func(o []T, t *tensor.Tensor, lo, rows, line int)
}

// foldHalves returns the fold of bf16 or f16 with a loop of f32, or nil for the loop. The maxima of the columns of
// 1024 x 1024 bf16 take 0.25 ms of processor time, 0.68 with a copy in f32.
func foldHalves(from tensor.DType, l *vec.Loop) *narrowFold[float32] {
	f := &narrowFold[float32]{widen: func(dst []float32, t *tensor.Tensor, lo int) { decode32(from, dst, t, lo) },
		along: func(int) func(o []float32, t *tensor.Tensor, lo int) { return nil }}
	if l == nil {
		return f
	}
	brain := from == tensor.BF16
	f.along = func(steps int) func(o []float32, t *tensor.Tensor, lo int) {
		fold := vec.FoldNarrow(l, brain, steps)
		if fold == nil {
			return nil
		}
		return func(o []float32, t *tensor.Tensor, lo int) { fold(o, tensor.View[uint16](t)[lo:]) }
	}
	if down := vec.DownNarrow(l, brain); down != nil {
		f.down = func(o []float32, t *tensor.Tensor, lo, rows, line int) {
			down(o, tensor.View[uint16](t)[lo:lo+(rows-1)*line+len(o)], line)
		}
	}
	return f
}

// foldRows returns the function that folds rows of integers, whose order does not matter, in lanes.
func foldRows[T integer](loop func(o, x, y []T)) func(o, x []T) {
	return func(o, x []T) {
		var lanes [256]T
		steps := len(x) / len(o)
		for i := range o {
			row := x[i*steps : (i+1)*steps]
			n := copy(lanes[:], row)
			for at := n; at < steps; at += n {
				k := min(n, steps-at)
				loop(lanes[:k], lanes[:k], row[at:at+k])
			}
			for n > 1 {
				h := (n + 1) / 2
				loop(lanes[:n-h], lanes[:n-h], lanes[h:n])
				n = h
			}
			o[i] = lanes[0]
		}
	}
}

// foldInts is foldRows with vectors if there is a function of vectors.
func foldInts[T integer](l binaryLoop[T]) func(o, x []T) {
	if l.vec != nil {
		return vec.Fold[T](l.vec)
	}
	return foldRows(l.run)
}
