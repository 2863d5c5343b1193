package vec

import (
	"math"
	"unsafe"
)

// loop computes n elements at o from the elements at x, y and z, as many operands as the function has. o may be an
// operand.
type loop func(o, x, y, z *byte, n int)

// Loop is a function on elements: in Go, and with the processor's vectors. Both return the same bits.
type Loop struct {
	name   string
	twin   loop // in Go
	vector loop // for multiples of lanes; nil without vectors
	lanes  int
	width  int // bytes of a lane
	sizes  [4]int
}

func newLoop(name string, twin loop, width int, sizes ...int) *Loop {
	l := &Loop{name: name, twin: twin, width: width}
	copy(l.sizes[:], sizes)
	l.vector, l.lanes = widest(name, width)
	return l
}

// run computes n elements: first whole vectors, then the rest in Go.
func (l *Loop) run(o, x, y, z *byte, n int) {
	if n <= 0 {
		return
	}
	if l.vector != nil {
		if k := n &^ (l.lanes - 1); k > 0 {
			l.vector(o, x, y, z, k)
			if k == n {
				return
			}
			o, x, y, z, n = after(o, k*l.sizes[0]), after(x, k*l.sizes[1]), after(y, k*l.sizes[2]), after(z, k*l.sizes[3]), n-k
		}
	}
	l.twin(o, x, y, z, n)
}

// Unary returns l on slices. All slices have the length of o.
func Unary[R, X any](l *Loop) func(o []R, x []X) {
	return func(o []R, x []X) {
		x = x[:len(o)]
		l.run(at(o), at(x), nil, nil, len(o))
	}
}

// Binary returns l on slices, for two operands.
func Binary[R, X any](l *Loop) func(o []R, x, y []X) {
	return func(o []R, x, y []X) {
		x, y = x[:len(o)], y[:len(o)]
		l.run(at(o), at(x), at(y), nil, len(o))
	}
}

// Ternary returns l on slices, for three operands.
func Ternary[R, X, Y any](l *Loop) func(o []R, x []X, y, z []Y) {
	return func(o []R, x []X, y, z []Y) {
		x, y, z = x[:len(o)], y[:len(o)], z[:len(o)]
		l.run(at(o), at(x), at(y), at(z), len(o))
	}
}

func at[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }

func after(p *byte, n int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(p), n)) }

// Below returns f with g for magnitudes from limit on.
func Below[T ~float32 | ~float64](f func(o, x []T), limit float64, g func(float64) float64) func(o, x []T) {
	const block = 512
	return func(o, x []T) {
		var far [block]T
		for len(x) > 0 {
			n := min(block, len(x))
			copy(far[:n], x)
			f(o[:n], x[:n])
			for i, v := range far[:n] {
				if !(math.Abs(float64(v)) < limit) {
					o[i] = T(g(float64(v)))
				}
			}
			o, x = o[n:], x[n:]
		}
	}
}

// foldBytes is the size of the accumulators of a fold.
const foldBytes = 128

// Fold returns the function that folds a row with l: in 128 bytes of accumulators, which it then folds by halves, then
// the rest of the row. x is not empty.
func Fold[T ~float32 | ~float64](l *Loop) func(x []T) T {
	vector, _ := widest(l.name+"Fold", l.width)
	return foldWith[T](l, vector)
}

func foldWith[T ~float32 | ~float64](l *Loop, vector loop) func(x []T) T {
	lanes := foldBytes / l.width
	one := func(a, b T) T {
		v, w := [1]T{a}, [1]T{b}
		l.twin(at(v[:]), at(v[:]), at(w[:]), nil, 1)
		return v[0]
	}
	return func(x []T) T {
		if len(x) < 2*lanes {
			acc := x[0]
			for _, v := range x[1:] {
				acc = one(acc, v)
			}
			return acc
		}
		acc := make([]T, lanes)
		copy(acc, x)
		n := (len(x) - lanes) &^ (lanes - 1)
		if vector != nil {
			vector(at(acc), at(x[lanes:]), nil, nil, n)
		} else {
			for i := lanes; i < lanes+n; i += lanes {
				l.twin(at(acc), at(acc), at(x[i:]), nil, lanes)
			}
		}
		for h := lanes / 2; h > 0; h /= 2 {
			l.twin(at(acc), at(acc), at(acc[h:]), nil, h)
		}
		for _, v := range x[lanes+n:] {
			acc[0] = one(acc[0], v)
		}
		return acc[0]
	}
}

// Dot is the sum of the products of x and y, of equal length: in 128 bytes of accumulators with fused multiply-adds,
// which it then adds by halves, then the rest.
func Dot[T ~float32 | ~float64](x, y []T) T {
	var zero T
	name, width, add, fma := "dot32Fold", 4, Add32Loop, func(x, y, z T) T { return T(FMA(float32(x), float32(y), float32(z))) }
	if unsafe.Sizeof(zero) == 8 {
		name, width, add, fma = "dot64Fold", 8, Add64Loop, func(x, y, z T) T { return T(math.FMA(float64(x), float64(y), float64(z))) }
	}
	lanes := foldBytes / width
	y = y[:len(x)]
	n := len(x) &^ (lanes - 1)
	var buffer [foldBytes / 4]T
	acc := buffer[:lanes]
	if n > 0 {
		if vector, _ := widest(name, width); vector != nil {
			vector(at(acc), at(x), at(y), nil, n)
		} else {
			for i := range n {
				acc[i%lanes] = fma(x[i], y[i], acc[i%lanes])
			}
		}
		for h := lanes / 2; h > 0; h /= 2 {
			add.twin(at(acc), at(acc), at(acc[h:]), nil, h)
		}
	}
	for i := n; i < len(x); i++ {
		acc[0] = fma(x[i], y[i], acc[0])
	}
	return acc[0]
}

// Transpose writes the transpose of src, a matrix of rows and columns, to dst. The strides are the lengths of the lines.
func Transpose[T any](dst, src []T, rows, cols, dstLine, srcLine int) {
	var zero T
	edge := 0 // of the blocks that vectors transpose
	name := ""
	switch unsafe.Sizeof(zero) {
	case 4:
		edge, name = 8, "transpose32"
	case 8:
		edge, name = 4, "transpose64"
	}
	done := 0
	if edge > 0 && rows >= edge && cols >= edge {
		if f := transposer(name); f != nil {
			done = rows / edge * edge
			_, _ = dst[(cols-1)*dstLine+done-1], src[(done-1)*srcLine+cols-1]
			size := int(unsafe.Sizeof(zero))
			whole := cols / edge
			for i := 0; i < done; i += edge {
				f(at(dst[i:]), at(src[i*srcLine:]), dstLine*size, srcLine*size, whole)
				for j := whole * edge; j < cols; j++ {
					for r := i; r < i+edge; r++ {
						dst[j*dstLine+r] = src[r*srcLine+j]
					}
				}
			}
		}
	}
	const strip = 8
	for i := done; i < rows; i += strip {
		for j := range cols {
			for r := i; r < min(i+strip, rows); r++ {
				dst[j*dstLine+r] = src[r*srcLine+j]
			}
		}
	}
}

func flag(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// truncate converts to an integer as the vector instruction does: -2^31 if x is out of range or NaN.
func truncate(x float32) uint32 {
	if x >= -0x1p31 && x < 0x1p31 {
		return uint32(int32(x))
	}
	return 1 << 31
}

// FMA is x*y + z, rounded once. The product is exact in float64. The sum is rounded to odd in float64, so the final
// rounding to float32 does not round twice (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func FMA(x, y, z float32) float32 {
	p, w := float64(float64(x)*float64(y)), float64(z)
	s := p + w
	t := s - p
	e := (p - (s - t)) + (w - t)
	if e > 0 || e < 0 {
		if u := math.Float64bits(s); u&1 == 0 {
			if (e > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}
