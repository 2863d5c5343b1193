package kernel

import (
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/gemm"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

func GemmName() string { return gemm.Name() }

// View is an operand whose elements lie in memory from an offset on at the given strides, in elements.
type View struct {
	Type
	Strides []int
	Offset  int
}

// Dense returns the view of an operand as it lies in memory.
func Dense(t Type) View { return View{Type: t, Strides: Strides(t.Shape)} }

// Sliced returns the view of the elements of v that slice returns: out has their type.
func Sliced(v View, out Type, start, stride []int64) View {
	s := View{Type: out, Strides: make([]int, len(start)), Offset: v.Offset}
	for i, at := range start {
		s.Strides[i] = v.Strides[i] * int(stride[i])
		s.Offset += v.Strides[i] * int(at)
	}
	return s
}

// Transposed returns the view of v's transpose: dimension i of the result is dimension perm[i] of v.
func Transposed(v View, perm []int64) View {
	out := View{Strides: make([]int, len(perm))}
	shape := make(tensor.Shape, len(perm))
	for i, d := range perm {
		shape[i], out.Strides[i] = v.Shape[d], v.Strides[d]
	}
	out.Type = TensorType(v.DType, shape...)
	return out
}

// DotDimensions lists the batched and the contracted dimensions of the operands of a product (spec, "dot_general").
type DotDimensions struct {
	LHSBatching, RHSBatching, LHSContracting, RHSContracting []int64
}

// free returns the dimensions of a left or right operand that are neither batched nor contracted.
func (d *DotDimensions) free(rank int, right bool) []int64 {
	if right {
		return KeptDims(rank, slices.Concat(d.RHSBatching, d.RHSContracting))
	}
	return KeptDims(rank, slices.Concat(d.LHSBatching, d.LHSContracting))
}

// Free returns the number of free elements of the left or right operand of a product.
func (d *DotDimensions) Free(t Type, right bool) int {
	return Elements(t.Shape, d.free(len(t.Shape), right))
}

// Strided reports whether a product reads the left or right operand v in place.
func (d *DotDimensions) Strided(v View, right bool) bool {
	contracted := d.LHSContracting
	if right {
		contracted = d.RHSContracting
	}
	return groupOf(v, contracted).single && groupOf(v, d.free(len(v.Shape), right)).single
}

// ByColumns reports whether a product reads the left operand v in place, column by column, because the right operand is
// a vector and the columns are contiguous: a product of a transposed matrix and a vector.
func (d *DotDimensions) ByColumns(v View) bool {
	rows := groupOf(v, d.free(len(v.Shape), false))
	return len(d.LHSBatching) == 0 && (v.DType == tensor.F32 || v.DType == tensor.F64 || v.DType == tensor.I32) &&
		rows.single && rows.stride == 1 && rows.size >= leastColumn && v.N >= smallProduct
}

// leastColumn is the least length of columns that products with a vector read in place.
const leastColumn = 32

// group holds the dimensions of an operand with one role: batch, rows, contracted or columns. It has a single stride if
// the dimensions lie in memory like one dimension.
type group struct {
	size   int
	stride int
	single bool
}

func groupOf(v View, dims []int64) group {
	g := group{size: 1, stride: 0, single: true}
	for i := len(dims) - 1; i >= 0; i-- {
		n := int(v.Shape[dims[i]])
		if n == 1 {
			continue
		}
		if g.size == 1 {
			g.stride = v.Strides[dims[i]]
		} else if v.Strides[dims[i]] != g.stride*g.size {
			g.single = false
		}
		g.size *= n
	}
	return g
}

// matrixOperand reads an operand in an order in which the row and the column group have one stride each.
type matrixOperand struct {
	*operand
	batch, rows, cols    int   // strides
	batches              []int // offset of each batch, if the batches have no single stride
	nbatch, nrows, ncols int
}

func newMatrixOperand(v View, batch, rows, cols []int64, acc tensor.DType) *matrixOperand {
	m := &matrixOperand{}
	b, r, c := groupOf(v, batch), groupOf(v, rows), groupOf(v, cols)
	m.nbatch, m.nrows, m.ncols = b.size, r.size, c.size
	m.batch, m.rows, m.cols = b.stride, r.stride, c.stride
	var perm []int64
	if !r.single || !c.single {
		perm = slices.Concat(batch, rows, cols)
		m.cols, m.rows, m.batch = 1, c.size, c.size*r.size
	} else if !b.single {
		m.batches = []int{0}
		for _, d := range batch {
			var starts []int
			for _, at := range m.batches {
				for i := range int(v.Shape[d]) {
					starts = append(starts, at+i*v.Strides[d])
				}
			}
			m.batches = starts
		}
	}
	m.operand = newOperand(v, perm, acc)
	return m
}

// at returns the offset of a batch.
func (m *matrixOperand) at(batch int) int {
	if m.batches != nil {
		return m.batches[batch]
	}
	return batch * m.batch
}

// DotKernel multiplies two operands to a result that lies in memory as batches, rows and columns.
func DotKernel(lhs, rhs View, out Type, d *DotDimensions) Kernel {
	lrank, rrank := len(lhs.Shape), len(rhs.Shape)
	CheckDims("lhs", slices.Concat(d.LHSBatching, d.LHSContracting), lrank)
	CheckDims("rhs", slices.Concat(d.RHSBatching, d.RHSContracting), rrank)
	FailIf(len(d.LHSBatching) != len(d.RHSBatching) || len(d.LHSContracting) != len(d.RHSContracting),
		"expects as many dimensions of the lhs as of the rhs")
	for i, b := range d.LHSBatching {
		FailIf(lhs.Shape[b] != rhs.Shape[d.RHSBatching[i]], "cannot multiply %s and %s: batch sizes differ", lhs.Type, rhs.Type)
	}
	for i, c := range d.LHSContracting {
		FailIf(lhs.Shape[c] != rhs.Shape[d.RHSContracting[i]], "cannot multiply %s and %s: contracted sizes differ", lhs.Type, rhs.Type)
	}
	acc := accumulator(out.DType)
	if acc == tensor.F32 && (lhs.DType == tensor.F64 || rhs.DType == tensor.F64) {
		acc = tensor.F64
	}
	if out.DType == tensor.I32 && exactIn32(lhs, rhs, Elements(lhs.Shape, d.LHSContracting)) {
		acc = tensor.F32
	}
	a := newMatrixOperand(lhs, d.LHSBatching, d.free(lrank, false), d.LHSContracting, acc)
	b := newMatrixOperand(rhs, d.RHSBatching, d.RHSContracting, d.free(rrank, true), acc)
	FailIf(out.N != a.nbatch*a.nrows*b.ncols, "cannot multiply %s and %s to %s", lhs.Type, rhs.Type, out)
	narrow := newOperand(Dense(TensorType(acc, out.Shape...)), nil, out.DType)
	product := matrixProduct(acc)
	UnsupportedIf(product == nil, "a product of elements of type %s", acc)
	scratch := a.scratch() + b.scratch()
	if !narrow.plain() {
		scratch += int64(narrow.in.Bytes())
	}
	how := a.split(b, acc)
	direct := how.by == byDots && how.N > 0 && acc == tensor.F32 && lhs.DType == tensor.BF16 && a.move == nil
	if direct {
		scratch -= a.scratch()
		product = productBF16
	}
	return Kernel{Family: "product", Scratch: scratch, Parts: how.Parts, Run: func(in, outs []*tensor.Tensor) {
		x, y, o := in[0], b.load(in[1]), outs[0]
		if !direct {
			x = a.load(in[0])
		}
		if !narrow.plain() {
			o = tensor.New(acc, out.Shape)
			defer narrow.store(outs[0], o)
		}
		product(o, x, y, a, b)
	}}
}

// exactIn32 reports whether f32 represents every sum of up to n products of elements of the operands: small integers.
// The matrix kernel of f32 is faster than that of i32.
func exactIn32(lhs, rhs View, n int) bool {
	small := func(dt tensor.DType) int {
		switch dt {
		case tensor.I8:
			return 1 << 7
		case tensor.UI8:
			return 1<<8 - 1
		}
		return 1 << 24
	}
	return n <= 1<<24/(small(lhs.DType)*small(rhs.DType))
}

// productFn computes o = x * y for all batches; o is [batch][rows][cols].
type productFn func(o, x, y *tensor.Tensor, a, b *matrixOperand)

func matrixProduct(dt tensor.DType) productFn {
	switch dt {
	case tensor.F32:
		return product[float32]
	case tensor.F64:
		return product[float64]
	case tensor.I2, tensor.I4:
		return productNarrow(productOf[int8])
	case tensor.UI2, tensor.UI4:
		return productNarrow(productOf[uint8])
	case tensor.I1:
		return productBool
	case tensor.I8, tensor.UI8:
		return productOf[uint8]
	case tensor.I16, tensor.UI16:
		return productOf[uint16]
	case tensor.I32, tensor.UI32:
		return product[int32]
	case tensor.I64, tensor.UI64:
		return productOf[uint64]
	case tensor.Complex64:
		return productOfComplex[complex64]
	case tensor.Complex128:
		return productOfComplex[complex128]
	}
	return nil
}

func productNarrow(f productFn) productFn {
	return func(o, x, y *tensor.Tensor, a, b *matrixOperand) {
		f(o, x, y, a, b)
		wrapNarrow(o.DType(), o.Bytes())
	}
}

// productBool multiplies i1 matrices: multiplication is and, addition is or.
func productBool(o, x, y *tensor.Tensor, a, b *matrixOperand) {
	xb, yb, ob := x.Bytes(), y.Bytes(), o.Bytes()
	for i := range ob {
		col, rest := i%b.ncols, i/b.ncols
		r, bt := rest%a.nrows, rest/a.nrows
		v := uint8(0)
		for k := range a.ncols {
			v |= xb[a.at(bt)+r*a.rows+k*a.cols] & yb[b.at(bt)+k*b.rows+col*b.cols]
		}
		ob[i] = v
	}
}

// productOfComplex multiplies matrices of complex numbers. It multiplies complex<f32> in f64, as Go does.
func productOfComplex[T complexNumber](ot, xt, yt *tensor.Tensor, a, b *matrixOperand) {
	o, x, y := tensor.View[T](ot), tensor.View[T](xt), tensor.View[T](yt)
	rows, cols, inner := a.nrows, b.ncols, a.ncols
	Parallel(a.nbatch*rows, max(1, 1<<13/max(1, cols*inner)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			bt, r := i/rows, i%rows
			acc := o[i*cols : (i+1)*cols]
			clear(acc)
			xo, yo := a.at(bt)+r*a.rows, b.at(bt)
			for k := range inner {
				v, p := complex128(x[xo+k*a.cols]), yo+k*b.rows
				for j := range acc {
					acc[j] += T(special.Cmul(v, complex128(y[p+j*b.cols])))
				}
			}
		}
	})
}

// productOf adds the contracted terms in order and rounds every operation to T.
func productOf[T integer | float](ot, xt, yt *tensor.Tensor, a, b *matrixOperand) {
	o, x, y := tensor.View[T](ot), tensor.View[T](xt), tensor.View[T](yt)
	rows, cols, inner := a.nrows, b.ncols, a.ncols
	work := max(1, cols*inner)
	Parallel(a.nbatch*rows, max(1, 1<<15/work), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			bt, r := i/rows, i%rows
			acc := o[i*cols : (i+1)*cols]
			clear(acc)
			xo, yo := a.at(bt)+r*a.rows, b.at(bt)
			if b.cols == 1 || cols == 1 {
				for k := range inner {
					v := x[xo+k*a.cols]
					if cols == 1 {
						acc[0] += T(v * y[yo+k*b.rows])
						continue
					}
					line := y[yo+k*b.rows:][:len(acc)]
					for j, w := range line {
						acc[j] += T(v * w)
					}
				}
				continue
			}
			for j := range acc {
				var s T
				p := yo + j*b.cols
				for k := range inner {
					s += T(x[xo+k*a.cols] * y[p+k*b.rows])
				}
				acc[j] = s
			}
		}
	})
}

// smallProduct is the number of multiplications below which packing panels does not pay.
const smallProduct = 4096

// split says how a product is split over the cores: vectors, whole batches, columns or rows.
type split struct {
	Parts
	by splitBy
}

type splitBy uint8

const (
	bySmallRows splitBy = iota // without packing
	byDots
	byBatch
	byColumns
	byRows
	byColumnsOfLeft // of a product with a vector
)

// split returns the split of the product of a and b.
func (m *matrixOperand) split(b *matrixOperand, acc tensor.DType) split {
	rows, cols, inner := m.nrows, b.ncols, m.ncols
	work := rows * cols * inner
	packs := acc == tensor.F32 || acc == tensor.F64 || acc == tensor.I32 || acc == tensor.UI32
	const least = 1 << 18 // minimum number of multiplications of one core
	switch {
	case work == 0 || m.nbatch == 0 || acc == tensor.I1:
		return split{}
	case packs && cols == 1 && m.cols == 1 && b.rows == 1 && inner >= 32:
		return split{Parts{m.nbatch * rows, max(1, 1<<17/inner)}, byDots}
	case packs && cols == 1 && m.nbatch == 1 && m.rows == 1 && rows >= leastColumn && work >= smallProduct:
		return split{Parts{(rows + 31) / 32, max(1, least/(32*inner))}, byColumnsOfLeft}
	case acc.IsComplex():
		return split{Parts{m.nbatch * rows, max(1, 1<<13/(cols*inner))}, bySmallRows}
	case !packs || work < smallProduct:
		return split{Parts{m.nbatch * rows, max(1, 1<<15/(cols*inner))}, bySmallRows}
	case m.nbatch > 1:
		return split{Parts{m.nbatch, max(1, least/work)}, byBatch}
	case cols > rows: // each core packs its own columns
		return split{Parts{(cols + 31) / 32, max(1, least/(32*rows*inner))}, byColumns}
	}
	return split{Parts{(rows + 15) / 16, max(1, least/(16*cols*inner))}, byRows}
}

// rowProducts calls f for parts of the product of matrices and vectors: results [i, i+n) are the products of the rows
// at row and of the vector at vector.
func rowProducts(how split, a, b *matrixOperand, f func(i, n, row, vector int)) {
	Parallel(how.N, how.Grain, func(lo, hi int) {
		for i := lo; i < hi; {
			bt, r := i/a.nrows, i%a.nrows
			n := min(hi-i, a.nrows-r)
			f(i, n, a.at(bt)+r*a.rows, b.at(bt))
			i += n
		}
	})
}

// productBF16 multiplies matrices of bf16, whose rows it reads in place, and vectors of f32.
func productBF16(ot, xt, yt *tensor.Tensor, a, b *matrixOperand) {
	o, x, y := tensor.View[float32](ot), tensor.View[uint16](xt), tensor.View[float32](yt)
	rowProducts(a.split(b, tensor.F32), a, b, func(i, n, row, vector int) {
		vec.DotsBF16(o[i:i+n], x[row:], y[vector:][:a.ncols], a.rows)
	})
}

// product uses the blocked matrix kernel, or scalar products if the right operand is a vector.
func product[T float32 | float64 | int32](ot, xt, yt *tensor.Tensor, a, b *matrixOperand) {
	o, x, y := tensor.View[T](ot), tensor.View[T](xt), tensor.View[T](yt)
	rows, cols, inner := a.nrows, b.ncols, a.ncols
	if len(o) == 0 {
		return
	}
	if inner == 0 {
		clear(o)
		return
	}
	how := a.split(b, ot.DType())
	switch how.by {
	case byDots:
		rowProducts(how, a, b, func(i, n, row, vector int) {
			vec.Dots(o[i:i+n], x[row:], y[vector:][:inner], a.rows)
		})
		return
	case bySmallRows:
		productOf[T](ot, xt, yt, a, b)
		return
	}
	// part multiplies some rows by some columns.
	part := func(bt, r0, r1, c0, c1 int) {
		gemm.Multiply(gemm.Problem[T]{
			C: o[bt*rows*cols+r0*cols+c0:], A: x[a.at(bt)+r0*a.rows:], B: y[b.at(bt)+c0*b.cols:],
			M: r1 - r0, N: c1 - c0, K: inner,
			RowA: a.rows, ColA: a.cols, RowB: b.rows, ColB: b.cols, RowC: cols,
		})
	}
	Parallel(how.N, how.Grain, func(lo, hi int) {
		switch how.by {
		case byBatch:
			for bt := lo; bt < hi; bt++ {
				part(bt, 0, rows, 0, cols)
			}
		case byColumns:
			part(0, 0, rows, lo*32, min(hi*32, cols))
		case byColumnsOfLeft: // the vector is one row
			n := min(hi*32, rows) - lo*32
			gemm.Multiply(gemm.Problem[T]{C: o[lo*32:], A: y[b.at(0):], B: x[a.at(0)+lo*32:], M: 1, N: n, K: inner,
				RowA: inner, ColA: b.rows, RowB: a.cols, ColB: 1, RowC: n})
		default:
			part(0, lo*16, min(hi*16, rows), 0, cols)
		}
	})
}
