package vec

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/tensor"
)

// loop computes n elements at o from the elements at x, y and z. It ignores the operands that the function does not
// have. o may be an operand.
type loop func(o, x, y, z *byte, n int)

// Loop is a function on elements: in Go, and with the processor's vectors. Both return the same bits.
type Loop struct {
	name    string
	twin    loop // in Go
	width   int  // bytes of a lane
	sizes   [4]int
	vectors func() *machine.Code // nil without vectors
	down    func() *machine.Code // of several rows; see Down
	slow    func() bool          // a vector takes less time than its elements in Go, even with copies
	folds   func() rowsLoop      // of rows, with the same function; nil without vectors
	rows    func() *machine.Rows // of two arrays; see Rows
	// The same of rows of bf16 and f16, with a function of f32.
	narrow     [2]func() rowsLoop
	downNarrow [2]func() *machine.Code
}

func newLoop(name string, twin loop, width int, sizes ...int) *Loop {
	l := &Loop{name: name, twin: twin, width: width}
	copy(l.sizes[:], sizes)
	l.vectors = sync.OnceValue(func() *machine.Code { return compiled(name, Bytes()) })
	l.slow = sync.OnceValue(func() bool { return len(expr.Named(name).Program().Live()) > 8 })
	l.down = sync.OnceValue(func() *machine.Code { return downOf(name, "", Bytes()) })
	l.folds = sync.OnceValue(func() rowsLoop { return foldOf(name, name, Bytes()) })
	l.rows = sync.OnceValue(func() *machine.Rows { return rowsOf(name, Bytes()) })
	for i, format := range narrowFormats {
		l.narrow[i] = sync.OnceValue(func() rowsLoop { return foldOf(name+format, name, Bytes()) })
		l.downNarrow[i] = sync.OnceValue(func() *machine.Code { return downOf(name, strings.ToLower(format), Bytes()) })
	}
	return l
}

// narrowFormats are the names of the narrow floats in functions.
var narrowFormats = [...]string{"BF16", "F16"}

// Function returns the function that the loop computes.
func (l *Loop) Function() *expr.Function { return expr.Named(l.name) }

// compiled returns the code of a function for vectors of the given bytes, or nil.
func compiled(name string, vector int) *machine.Code {
	if vector == 0 {
		return nil
	}
	return compile(expr.Named(name).Program(), vector)
}

// compile returns the code of a program for vectors of the given bytes, or nil.
func compile(p *expr.Program, vector int) *machine.Code {
	if vector == 0 {
		return nil
	}
	c, err := machine.Compile(p, vector)
	if err != nil {
		return nil
	}
	return c
}

// run computes n elements: first whole vectors, then the rest in Go.
func (l *Loop) run(o, x, y, z *byte, n int) {
	if n <= 0 {
		return
	}
	var c *machine.Code
	if n*l.width >= Bytes() || n > 1 && l.slow() {
		c = l.vectors()
	}
	if c != nil {
		if k := n &^ (c.Lanes() - 1); k > 0 {
			l.vector(c, o, x, y, z, k)
			if k == n {
				return
			}
			o, x, y, z, n = after(o, k*l.sizes[0]), after(x, k*l.sizes[1]), after(y, k*l.sizes[2]), after(z, k*l.sizes[3]), n-k
		}
		if n > 1 && l.slow() {
			l.rest(c, o, x, y, z, n)
			return
		}
	}
	l.twin(o, x, y, z, n)
}

// rest computes fewer elements than the lanes, in a vector of their own.
func (l *Loop) rest(c *machine.Code, o, x, y, z *byte, n int) {
	var b [4][machine.MaxVector]byte
	for i, p := range [...]*byte{o, x, y, z} {
		if size := l.sizes[i] * n; i > 0 && size > 0 {
			copy(b[i][:], unsafe.Slice(p, size))
		}
	}
	l.vector(c, &b[0][0], &b[1][0], &b[2][0], &b[3][0], c.Lanes())
	copy(unsafe.Slice(o, l.sizes[0]*n), b[0][:])
}

// vector computes whole vectors.
func (l *Loop) vector(c *machine.Code, o, x, y, z *byte, n int) {
	table := [4]unsafe.Pointer{unsafe.Pointer(x), unsafe.Pointer(y), unsafe.Pointer(z), unsafe.Pointer(o)}
	operands := 1
	for operands < 3 && l.sizes[1+operands] > 0 {
		operands++
	}
	table[operands] = unsafe.Pointer(o)
	c.Run(&table[0], n)
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

// Below returns f for magnitudes below limit and g for all others.
func Below[T float32 | float64](f func(o, x []T), limit float64, g func(float64) float64) func(o, x []T) {
	const block = 512
	return func(o, x []T) {
		if len(x) == 1 { // clearing a block would take longer
			if v := float64(x[0]); math.Abs(v) < limit {
				f(o, x)
			} else {
				o[0] = T(g(v))
			}
			return
		}
		for len(x) > 0 {
			n := min(block, len(x))
			if float64(Magnitude(x[:n])) < limit { // sines take half the time that they take with a check of each element
				f(o[:n], x[:n])
			} else {
				far := slices.Clone(x[:n]) // o may be x
				f(o[:n], far)
				for i, v := range far {
					if !(math.Abs(float64(v)) < limit) {
						o[i] = T(g(float64(v)))
					}
				}
			}
			o, x = o[n:], x[n:]
		}
	}
}

// Magnitude returns the largest magnitude, or NaN if an element is NaN. It is 0 without elements.
func Magnitude[T float32 | float64](x []T) T {
	var most T
	switch x := any(x).(type) {
	case []float32:
		n, bits := 0, uint32(0)
		if f := magnitude32(); f != nil {
			if n = len(x) &^ (foldBytes/4 - 1); n > 0 {
				f((*byte)(unsafe.Pointer(&bits)), at(x), nil, n, 1, 0)
			}
		}
		for _, v := range x[n:] {
			bits = max(bits, math.Float32bits(v)&^(1<<31))
		}
		most = T(math.Float32frombits(bits))
	case []float64:
		n, bits := 0, uint64(0)
		if f := magnitude64(); f != nil {
			if n = len(x) &^ (foldBytes/8 - 1); n > 0 {
				f((*byte)(unsafe.Pointer(&bits)), at(x), nil, n, 1, 0)
			}
		}
		for _, v := range x[n:] {
			bits = max(bits, math.Float64bits(v)&^(1<<63))
		}
		most = T(math.Float64frombits(bits))
	}
	return most
}

var (
	magnitude32 = sync.OnceValue(func() rowsLoop { return foldOf("magnitude32", "maxI32", Bytes()) })
	magnitude64 = sync.OnceValue(func() rowsLoop { return foldOf("magnitude64", "maxI64", Bytes()) })
)

// Remainders sets each element of o to the remainder of x and y with the sign of x. Package math computes the
// remainders that the loop leaves NaN.
func Remainders[T float32 | float64](l *Loop) func(o, x, y []T) {
	const block = 512
	return func(o, x, y []T) {
		if len(o) == 1 {
			o[0] = T(math.Mod(float64(x[0]), float64(y[0])))
			return
		}
		var r [block]T // o may be x or y
		for len(o) > 0 {
			n := min(block, len(o))
			l.run(at(r[:]), at(x[:n]), at(y[:n]), nil, n)
			if m := Magnitude(r[:n]); m != m {
				for i, v := range r[:n] {
					if v != v {
						r[i] = T(math.Mod(float64(x[i]), float64(y[i])))
					}
				}
			}
			copy(o, r[:n])
			o, x, y = o[n:], x[n:], y[n:]
		}
	}
}

// rowsLoop folds rows of n elements, a positive multiple of the accumulators, that lie line bytes apart at x, to one
// element each at o. y is the other factor of dot products.
type rowsLoop func(o, x, y *byte, n, rows, line int)

// foldOf returns the fold of rows with a function, combined with another, in vectors of the given bytes, or nil.
func foldOf(name, combine string, vector int) rowsLoop {
	if vector == 0 || expr.Named(name) == nil {
		return nil
	}
	f, err := machine.CompileFold(expr.Named(name), expr.Named(combine), vector)
	if err != nil {
		return nil
	}
	return func(o, x, y *byte, n, rows, line int) {
		f.Run(unsafe.Pointer(o), unsafe.Pointer(x), unsafe.Pointer(y), n, rows, line)
	}
}

// foldBytes is the size of the accumulators of a fold.
const foldBytes = machine.FoldBytes

// Fold returns the function that folds rows of equal, positive length with l. Each row of x yields one element of o.
// Fold folds a row into 128 bytes of accumulators, then the accumulators by halves, then the rest of the row.
func Fold[T any](l *Loop) func(o, x []T) {
	return foldWith[T](l, l.folds)
}

// FoldNarrow is Fold for rows of bf16, or of f16, which it widens. It returns nil without vectors, or if the rows are
// short.
func FoldNarrow(l *Loop, brain bool, steps int) func(o []float32, x []uint16) {
	vectors := l.narrow[1]
	widen := F32FromF16Loop
	if brain {
		vectors, widen = l.narrow[0], F32FromBF16Loop
	}
	lanes := foldBytes / l.width
	f, n := vectors(), steps&^(lanes-1)
	if f == nil || steps < 2*lanes {
		return nil
	}
	return func(o []float32, x []uint16) {
		if len(o) == 0 {
			return
		}
		_ = x[len(o)*steps-1]
		f(at(o), at(x), nil, n, len(o), steps*2)
		var v float32
		for r := range o {
			for i := n; i < steps; i++ {
				widen.twin((*byte)(unsafe.Pointer(&v)), at(x[r*steps+i:]), nil, nil, 1)
				l.twin(at(o[r:]), at(o[r:]), (*byte)(unsafe.Pointer(&v)), nil, 1)
			}
		}
	}
}

func foldWith[T any](l *Loop, vectors func() rowsLoop) func(o, x []T) {
	lanes := foldBytes / l.width
	return func(o, x []T) {
		if len(o) == 0 {
			return
		}
		vector := vectors()
		steps := len(x) / len(o)
		n := steps &^ (lanes - 1)
		if steps < 2*lanes {
			n = 0
		}
		switch {
		case n > 0 && vector != nil:
			vector(at(o), at(x), nil, n, len(o), steps*l.width)
		case n > 0:
			acc := make([]T, lanes)
			for r := range o {
				copy(acc, x[r*steps:])
				for i := lanes; i < n; i += lanes {
					l.twin(at(acc), at(acc), at(x[r*steps+i:]), nil, lanes)
				}
				o[r] = halves(acc, l)
			}
		default:
			n = 1
			for r := range o {
				o[r] = x[r*steps]
			}
		}
		if n == steps {
			return
		}
		// Fold the rest of the rows, a column of many rows at a time.
		column := make([]T, min(len(o), 256))
		for r := 0; r < len(o); r += len(column) {
			part := o[r:min(r+len(column), len(o))]
			for i := n; i < steps; i++ {
				for k := range part {
					column[k] = x[(r+k)*steps+i]
				}
				l.run(at(part), at(part), at(column), nil, len(part))
			}
		}
	}
}

// DownRows is the number of rows that one loop of Down folds.
const DownRows = 8

// Down returns the function that folds rows of x, line elements apart, into o with l, a row after another. The last row
// ends with x. One loop folds several rows, and a lane of o stays in its register: the
// sums of the columns of 1024 x 1024 f32 take 0.19 ms of processor time, 0.49 row by row.
func Down[T any](l *Loop) func(o, x []T, line int) {
	return downWith[T](l, l.down)
}

func downWith[T any](l *Loop, code func() *machine.Code) func(o, x []T, line int) {
	return func(o, x []T, line int) {
		n := len(o)
		if n == 0 {
			return
		}
		rows, k := (len(x)-n)/line+1, 0
		var c *machine.Code
		if rows >= DownRows && Bytes() > 0 && n*l.width >= Bytes() {
			if c = code(); c != nil {
				k = n &^ (c.Lanes() - 1)
			}
		}
		r := 0
		for ; k > 0 && r+DownRows <= rows; r += DownRows {
			table := [DownRows + 2]unsafe.Pointer{unsafe.Pointer(at(o))}
			for i := range DownRows {
				table[1+i] = unsafe.Pointer(at(x[(r+i)*line:]))
			}
			table[DownRows+1] = table[0]
			c.Run(&table[0], k)
			for i := r; i < r+DownRows && k < n; i++ {
				l.run(at(o[k:]), at(o[k:]), at(x[i*line+k:]), nil, n-k)
			}
		}
		for ; r < rows; r++ {
			l.run(at(o), at(o), at(x[r*line:]), nil, n)
		}
	}
}

// DownNarrow is Down for rows of bf16, or of f16, which it widens. It returns nil without vectors.
func DownNarrow(l *Loop, brain bool) func(o []float32, x []uint16, line int) {
	down, widen := l.downNarrow[1], F32FromF16Loop
	if brain {
		down, widen = l.downNarrow[0], F32FromBF16Loop
	}
	c := down()
	if c == nil {
		return nil
	}
	return func(o []float32, x []uint16, line int) {
		n := len(o)
		if n == 0 {
			return
		}
		rows, k, r := (len(x)-n)/line+1, n&^(c.Lanes()-1), 0
		wide := make([]float32, n)
		row := func(i, from int) {
			widen.run(at(wide), at(x[i*line+from:]), nil, nil, n-from)
			l.run(at(o[from:]), at(o[from:]), at(wide), nil, n-from)
		}
		for ; k > 0 && r+DownRows <= rows; r += DownRows {
			table := [DownRows + 2]unsafe.Pointer{unsafe.Pointer(at(o))}
			for i := range DownRows {
				table[1+i] = unsafe.Pointer(at(x[(r+i)*line:]))
			}
			table[DownRows+1] = table[0]
			c.Run(&table[0], k)
			for i := r; i < r+DownRows && k < n; i++ {
				row(i, k)
			}
		}
		for ; r < rows; r++ {
			row(r, 0)
		}
	}
}

// downOf returns the code of Down for vectors of the given bytes, or nil.
func downOf(name, format string, vector int) *machine.Code {
	f := expr.Named(name)
	if f.Format != "f32" && format != "" {
		return nil
	}
	p := expr.New(f.Width)
	sum := p.Input(f.Format, false)
	for range DownRows {
		sum = f.Apply(p, sum, p.Input(cmp.Or(format, f.Format), false))
	}
	p.Output(f.Format, sum)
	return compile(p, vector)
}

// Rows returns the function that sets rows of n elements of o to l of themselves and of rows of x, one after another.
// The places are pairs: of the first element of a row of o, and of a row of x. They change.
func Rows[T any](l *Loop) func(o, x []T, places []int, n int) {
	return rowsWith[T](l, l.rows)
}

func rowsWith[T any](l *Loop, code func() *machine.Rows) func(o, x []T, places []int, n int) {
	size := l.sizes[0]
	return func(o, x []T, places []int, n int) {
		k := 0
		c := code()
		if c != nil {
			k = n &^ (c.Lanes() - 1)
		}
		for i := 0; i < len(places); i += 2 {
			a, b := o[places[i]:][:n], x[places[i+1]:][:n]
			if k == 0 {
				l.run(at(a), at(a), at(b), nil, n)
				continue
			}
			if k < n {
				l.twin(at(a[k:]), at(a[k:]), at(b[k:]), nil, n-k)
			}
			places[i], places[i+1] = places[i]*size, places[i+1]*size
		}
		if k > 0 && len(places) > 0 {
			c.Run(unsafe.Pointer(at(o)), unsafe.Pointer(at(x)), places, k)
		}
	}
}

func rowsOf(name string, vector int) *machine.Rows {
	if vector == 0 {
		return nil
	}
	c, err := machine.CompileRows(expr.Named(name), vector)
	if err != nil {
		return nil
	}
	return c
}

// GatherElements sets each element of o to the element of x at an index, clamped to [0, limit], times stride. The
// limit is below 2^31. 262,144 elements of f32 take 0.07 ms, 0.35 in Go.
func GatherElements[T any](o, x []T, index []int32, limit, stride int) {
	var zero T
	index = index[:len(o)]
	i := 0
	if c := gathers[int(unsafe.Sizeof(zero))]; c != nil && Bytes() > 0 && len(o) >= machine.GatherLanes && limit*stride < 1<<31 && uintptr(unsafe.Pointer(at(x)))&3 == 0 {
		_ = x[limit*stride]
		if c := c(); c != nil {
			i = len(o) &^ (machine.GatherLanes - 1)
			c.Run(unsafe.Pointer(at(o)), unsafe.Pointer(at(x)), &index[0], int32(limit), int32(stride), i)
		}
	}
	for ; i < len(o); i++ {
		o[i] = x[max(0, min(int(index[i]), limit))*stride]
	}
}

// gathers are the loops by the bytes of an element.
var gathers = map[int]func() *machine.Gather{2: gatherOf(2), 4: gatherOf(4), 8: gatherOf(8)}

func gatherOf(size int) func() *machine.Gather {
	return sync.OnceValue(func() *machine.Gather {
		c, err := machine.CompileGather(size)
		if err != nil {
			return nil
		}
		return c
	})
}

// halves folds the accumulators.
func halves[T any](acc []T, l *Loop) T {
	for h := len(acc) / 2; h > 0; h /= 2 {
		l.twin(at(acc), at(acc), at(acc[h:]), nil, h)
	}
	return acc[0]
}

// The folds of scalar products.
var (
	dot32   = sync.OnceValue(func() rowsLoop { return foldOf("dot32", "add32", Bytes()) })
	dot64   = sync.OnceValue(func() rowsLoop { return foldOf("dot64", "add64", Bytes()) })
	dotBF16 = sync.OnceValue(func() rowsLoop { return foldOf("dotBF16", "add32", Bytes()) })
	dotI32  = sync.OnceValue(func() rowsLoop { return foldOf("dotI32", "addI32", Bytes()) })
)

// Dots sets each element of o to the sum of the products of y and of a row of x, of equal length. The rows of x lie
// line elements apart. Dots adds in 128 bytes of accumulators, with fused multiply-adds of floats, then the
// accumulators by halves, then the rest.
func Dots[T float32 | float64 | int32](o, x, y []T, line int) {
	if len(o) == 0 {
		return
	}
	switch o := any(o).(type) {
	case []float32:
		dots(o, any(x).([]float32), any(y).([]float32), line, dot32(), Add32Loop, FMA)
	case []float64:
		dots(o, any(x).([]float64), any(y).([]float64), line, dot64(), Add64Loop, math.FMA)
	case []int32:
		dots(o, any(x).([]int32), any(y).([]int32), line, dotI32(), AddI32Loop, func(x, y, z int32) int32 { return x*y + z })
	}
}

func dots[T float32 | float64 | int32](o, x, y []T, line int, vector rowsLoop, add *Loop, fma func(x, y, z T) T) {
	_ = x[:(len(o)-1)*line+len(y)]
	lanes := foldBytes / add.width
	n := len(y) &^ (lanes - 1)
	switch {
	case n > 0 && vector != nil:
		vector(at(o), at(x), at(y), n, len(o), line*add.width)
	case n > 0:
		acc := make([]T, lanes)
		for r := range o {
			clear(acc)
			for i := range n {
				acc[i%lanes] = fma(x[r*line+i], y[i], acc[i%lanes])
			}
			o[r] = halves(acc, add)
		}
	default:
		clear(o)
	}
	if n == len(y) {
		return
	}
	for r := range o {
		for i := n; i < len(y); i++ {
			o[r] = fma(x[r*line+i], y[i], o[r])
		}
	}
}

// DotsBF16 is Dots for rows of bf16, which it widens.
func DotsBF16(o []float32, x []uint16, y []float32, line int) {
	if len(o) > 0 {
		dotsBF16(o, x, y, line, dotBF16())
	}
}

func dotsBF16(o []float32, x []uint16, y []float32, line int, vector rowsLoop) {
	_ = x[:(len(o)-1)*line+len(y)]
	n := len(y) &^ (foldBytes/4 - 1)
	if vector == nil {
		row := make([]float32, len(y))
		for r := range o {
			F32FromBF16Loop.run(at(row), at(x[r*line:]), nil, nil, len(row))
			dots(o[r:r+1], row, y, len(row), nil, Add32Loop, FMA)
		}
		return
	}
	if n > 0 {
		vector(at(o), at(x), at(y), n, len(o), line*2)
	} else {
		clear(o)
	}
	for r := range o {
		for i := n; i < len(y); i++ {
			o[r] = FMA(tensor.BF16ToFloat32(x[r*line+i]), y[i], o[r])
		}
	}
}

// PowI32 sets each element of o to x to the power of y. Exponents up to 127 take a fraction of the time of larger
// exponents.
func PowI32(o, x, y []int32) {
	const block = 1024
	x, y = x[:len(o)], y[:len(o)]
	largest := Fold[int32](MaxI32Loop)
	for len(o) > 0 {
		n := min(block, len(o))
		var most [1]int32
		largest(most[:], y[:n])
		pow := PowI32Loop
		if most[0] < 128 {
			pow = PowI32ShortLoop
		}
		pow.run(at(o), at(x), at(y), nil, n)
		o, x, y = o[n:], x[n:], y[n:]
	}
}

// Fill fills dst with copies of a word and returns the number of bytes that it fills: whole vectors.
func Fill(dst []byte, word uint64) int {
	c := fill()
	if c == nil {
		return 0
	}
	n := len(dst) &^ (machine.MaxVector - 1)
	if n > 0 {
		b := [machine.MaxVector / 8]uint64{word, word, word, word, word, word, word, word}
		table := [2]unsafe.Pointer{unsafe.Pointer(&b), unsafe.Pointer(at(dst))}
		c.Run(&table[0], n/8)
	}
	return n
}

var fill = sync.OnceValue(func() *machine.Code {
	p := expr.New(8)
	p.Output("i64", p.Input("i64", true))
	return compile(p, Bytes())
})

// EveryOther writes elements 0, 2, 4, ... of src to dst and returns the number of elements that it writes, which may be
// fewer than those of dst. A slice of 1000 x 512 f32 takes 0.09 ms, 0.25 in Go.
func EveryOther[T any](dst, src []T) int {
	var l *Loop
	var zero T
	switch unsafe.Sizeof(zero) {
	case 2:
		l = First16Loop
	case 4:
		l = First32Loop
	default:
		return 0
	}
	n := min(len(dst), len(src)/2)
	l.run(at(dst), at(src), nil, nil, n)
	return n
}

// Reverse writes the elements of src to dst in the opposite order. Without vectors, Reverse moves elements narrower
// than a word a word at a time.
func Reverse[T any](dst, src []T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	n := len(dst)
	src = src[:n]
	i := 0
	if c := reversers[size]; c != nil && n*size >= 64 && Bytes() > 0 {
		if c := c(); c != nil {
			i = n &^ (c.Lanes() - 1)
			c.Run(unsafe.Pointer(at(dst)), unsafe.Pointer(at(src[n-i:])), i)
		}
	} else if lanes := 8 / size; lanes > 1 {
		i = n / lanes * lanes
		to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src[n-i:]))
		for k := 0; k < i*size; k += 8 {
			*(*uint64)(unsafe.Add(to, k)) = reversed(*(*uint64)(unsafe.Add(from, i*size-8-k)), size)
		}
	}
	for ; i < n; i++ {
		dst[i] = src[n-1-i]
	}
}

// reversers are the loops of Reverse by the bytes of an element. 1024 rows of 1024 f32 take 0.23 ms, 0.52 a word at a
// time.
var reversers = map[int]func() *machine.Reverse{2: reverseOf(2), 4: reverseOf(4), 8: reverseOf(8)}

func reverseOf(size int) func() *machine.Reverse {
	return sync.OnceValue(func() *machine.Reverse {
		c, err := machine.CompileReverse(size)
		if err != nil {
			return nil
		}
		return c
	})
}

// reversed returns the lanes of a word in the opposite order. A lane has the given number of bytes.
func reversed(w uint64, size int) uint64 {
	switch size {
	case 4:
		return bits.RotateLeft64(w, 32)
	case 2:
		w = bits.RotateLeft64(w, 32)
		return w>>16&0x0000ffff0000ffff | w<<16&^0x0000ffff0000ffff
	}
	return bits.ReverseBytes64(w)
}

// Transpose writes the transpose of src, a matrix of rows and columns, to dst. The strides are the lengths of the
// lines.
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
	if size := int(unsafe.Sizeof(zero)); size <= 2 && rows >= 8 && cols >= 8 {
		transposeNarrow(dst, src, size, rows, cols, dstLine, srcLine)
		return
	}
	if edge > 0 && rows >= edge && cols >= edge {
		if f := transposer(name); f != nil {
			done = rows / edge * edge
			_, _ = dst[(cols-1)*dstLine+done-1], src[(done-1)*srcLine+cols-1]
			size := int(unsafe.Sizeof(zero))
			whole := cols / edge
			// A panel of one cache line per row: 1024 x 1024 f64 take 0.52 ms instead of 2.0, as whole rows would
			// evict the lines of dst before they are full.
			panel := 64 / size / edge
			for b := 0; b < whole; b += panel {
				for i, j := 0, b*edge; i < done; i += edge {
					f(at(dst[j*dstLine+i:]), at(src[i*srcLine+j:]), dstLine*size, srcLine*size, min(panel, whole-b))
				}
			}
			for i := 0; i < done; i += edge {
				for j := whole * edge; j < cols; j++ {
					for r := i; r < i+edge; r++ {
						dst[j*dstLine+r] = src[r*srcLine+j]
					}
				}
			}
		}
	}
	// Without vectors, copy blocks of four rows in strips of columns. The lines of dst of a strip stay in the cache.
	const strip = 16
	for b := 0; b < cols; b += strip {
		w := min(strip, cols-b)
		i := done
		for ; i+4 <= rows; i += 4 {
			r0, r1, r2, r3 := src[i*srcLine+b:][:w], src[(i+1)*srcLine+b:][:w], src[(i+2)*srcLine+b:][:w], src[(i+3)*srcLine+b:][:w]
			for j := range r0 {
				line := dst[(b+j)*dstLine+i:][:4]
				line[0], line[1], line[2], line[3] = r0[j], r1[j], r2[j], r3[j]
			}
		}
		for ; i < rows; i++ {
			for j, v := range src[i*srcLine+b:][:w] {
				dst[(b+j)*dstLine+i] = v
			}
		}
	}
}

// transposeNarrow transposes elements of one or two bytes. It moves them through a tile with lines of 64 bytes. Words
// of several lines exchange their elements on the way into the tile, and each of its lines is copied at once. 1024 x
// 1024 bf16 take 2.1 ms of processor time, 2.4 one by one.
func transposeNarrow[T any](dst, src []T, size, rows, cols, dstLine, srcLine int) {
	lanes, edge := 8/size, 64/size
	whole, across := rows/lanes*lanes, cols/lanes*lanes
	_, _ = dst[(cols-1)*dstLine+rows-1], src[(rows-1)*srcLine+cols-1]
	var tile [64 * 64]byte
	for i := 0; i < whole; i += edge {
		h := min(edge, whole-i)
		for j := 0; j < across; j += edge {
			w := min(edge, across-j)
			for r := 0; r < h; r += lanes {
				line := unsafe.Pointer(&src[(i+r)*srcLine+j])
				for c := 0; c < w; c += lanes {
					to, from := unsafe.Pointer(&tile[c*64+r*size]), unsafe.Add(line, c*size)
					if size == 1 {
						exchangeBytes(to, from, srcLine)
					} else {
						exchangePairs(to, from, 2*srcLine)
					}
				}
			}
			for c := range w {
				copy(unsafe.Slice(at(dst[(j+c)*dstLine+i:]), h*size), tile[c*64:])
			}
		}
	}
	for i := range rows {
		from := 0
		if i < whole {
			from = across
		}
		for j := from; j < cols; j++ {
			dst[j*dstLine+i] = src[i*srcLine+j]
		}
	}
}

// exchangePairs transposes 4 x 4 elements of two bytes. The lines of src are the given number of bytes apart, those of
// the tile at dst 64 bytes.
func exchangePairs(dst, src unsafe.Pointer, line int) {
	a, b, c, d := word(src), word(unsafe.Add(src, line)), word(unsafe.Add(src, 2*line)), word(unsafe.Add(src, 3*line))
	a, c = exchange(a, c, 32, 0x00000000ffffffff)
	b, d = exchange(b, d, 32, 0x00000000ffffffff)
	a, b = exchange(a, b, 16, 0x0000ffff0000ffff)
	c, d = exchange(c, d, 16, 0x0000ffff0000ffff)
	setWord(dst, a)
	setWord(unsafe.Add(dst, 64), b)
	setWord(unsafe.Add(dst, 128), c)
	setWord(unsafe.Add(dst, 192), d)
}

// exchangeBytes transposes 8 x 8 bytes.
func exchangeBytes(dst, src unsafe.Pointer, line int) {
	var w [8]uint64
	for i := range w {
		w[i] = word(unsafe.Add(src, i*line))
	}
	for i := range 4 {
		w[i], w[i+4] = exchange(w[i], w[i+4], 32, 0x00000000ffffffff)
	}
	for i := 0; i < 8; i += 4 {
		w[i], w[i+2] = exchange(w[i], w[i+2], 16, 0x0000ffff0000ffff)
		w[i+1], w[i+3] = exchange(w[i+1], w[i+3], 16, 0x0000ffff0000ffff)
	}
	for i := 0; i < 8; i += 2 {
		w[i], w[i+1] = exchange(w[i], w[i+1], 8, 0x00ff00ff00ff00ff)
	}
	for i, v := range w {
		setWord(unsafe.Add(dst, 64*i), v)
	}
}

// exchange exchanges the high groups of x with the low groups of y. mask selects the low groups of a number of bits.
func exchange(x, y uint64, bits int, mask uint64) (uint64, uint64) {
	return x&mask | y&mask<<bits, x>>bits&mask | y&^mask
}

// word reads eight bytes, the first one as the lowest; setWord writes them.
func word(p unsafe.Pointer) uint64       { return binary.LittleEndian.Uint64((*[8]byte)(p)[:]) }
func setWord(p unsafe.Pointer, v uint64) { binary.LittleEndian.PutUint64((*[8]byte)(p)[:], v) }

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

// FMA returns x*y + z, rounded once. The product is exact in float64. The sum is rounded to odd in float64, so the
// final rounding to float32 does not round twice (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008).
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
