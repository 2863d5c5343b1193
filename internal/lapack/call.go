package lapack

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// Library computes LAPACK calls. It is safe for concurrent use.
type Library struct{ subroutines }

// subroutines are LAPACK's subroutines. An argument of call is a byte for a character, an int for a number by value, a
// *int32 for a number that the subroutine sets, or a list whose elements it reads or writes. Matrices are in
// column-major order.
type subroutines interface {
	call(name string, args ...any) error
	has(t target) bool
}

// Has reports whether the library computes a custom call target.
func (l *Library) Has(name string) bool {
	t, ok := parse(name)
	return ok && l.has(t)
}

// Order is the order of a matrix's elements in memory.
type Order bool

// Orders. In both the dimensions of the batch are the outermost.
const (
	RowMajor    Order = false
	ColumnMajor Order = true
)

// Call computes a custom call. The matrices among operands and results have the given order; a result may share the
// memory of an operand, and the other results start as zeros. attrs are the call's integer attributes. Targets and
// results match jaxlib's handlers: a failure of LAPACK is a positive info, and values that LAPACK does not write stay
// zeros.
func (l *Library) Call(name string, attrs map[string]int64, order Order, operands, results []*tensor.Tensor) error {
	t, ok := parse(name)
	if !ok || !l.has(t) {
		return fmt.Errorf("custom call target %q is not a LAPACK call that hlocb knows", name)
	}
	c := &call{library: l, target: t, attrs: attrs, order: order, operands: operands, results: results}
	c.element, c.part = t.size()
	if err := c.check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for c.at = range c.batches {
		if err := c.compute(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// call is a custom call and the position in its batch.
type call struct {
	library           *Library
	target            target
	attrs             map[string]int64
	order             Order
	operands, results []*tensor.Tensor
	element, part     int // bytes
	batches, at       int
	ranks             []int // of the operands without the batch, then of the results
}

// shapes are the ranks of operands and results without the batch, and the element types of the results: t is the
// call's type, r its real part, i a 32-bit integer, c complex.
type shapes struct {
	in, out []int
	types   string
}

func (c *call) shapes() shapes {
	complex := c.target.complex()
	switch c.target.routine {
	case "potrf":
		return shapes{[]int{2}, []int{2, 0}, "ti"}
	case "getrf":
		return shapes{[]int{2}, []int{2, 1, 0}, "tii"}
	case "geqrf":
		return shapes{[]int{2}, []int{2, 1}, "tt"}
	case "orgqr", "ungqr":
		return shapes{[]int{2, 1}, []int{2}, "t"}
	case "ormqr", "unmqr":
		return shapes{[]int{2, 1, 2}, []int{2}, "t"}
	case "geqp3":
		return shapes{[]int{2, 1}, []int{2, 1, 1}, "tit"}
	case "gesdd", "gesvd":
		return shapes{[]int{2}, []int{2, 1, 2, 2, 0}, "trtti"}
	case "syevd", "heevd":
		return shapes{[]int{2}, []int{2, 1, 0}, "tri"}
	case "sytrd", "hetrd":
		return shapes{[]int{2}, []int{2, 1, 1, 1, 0}, "trrti"}
	case "geev":
		if complex {
			return shapes{[]int{2}, []int{1, 2, 2, 0}, "ttti"}
		}
		return shapes{[]int{2}, []int{1, 1, 2, 2, 0}, "ttcci"}
	case "gees":
		if complex {
			return shapes{[]int{2}, []int{2, 2, 1, 0, 0}, "tttii"}
		}
		return shapes{[]int{2}, []int{2, 2, 1, 1, 0, 0}, "ttttii"}
	case "gehrd":
		return shapes{[]int{2}, []int{2, 1, 0}, "tti"}
	case "gtsv":
		return shapes{[]int{1, 1, 1, 2}, []int{1, 1, 1, 2, 0}, "tttti"}
	}
	return shapes{[]int{2, 2}, []int{2}, "t"} // trsm
}

// check compares the operands and results with the routine's shapes and computes the number of batches.
func (c *call) check() error {
	s := c.shapes()
	if len(c.operands) != len(s.in) || len(c.results) != len(s.out) {
		return fmt.Errorf("%d operands and %d results given, expected %d and %d", len(c.operands), len(c.results), len(s.in), len(s.out))
	}
	types := map[byte]tensor.DType{'i': tensor.I32}
	switch c.target.letter {
	case 's':
		types['t'], types['r'], types['c'] = tensor.F32, tensor.F32, tensor.Complex64
	case 'd':
		types['t'], types['r'], types['c'] = tensor.F64, tensor.F64, tensor.Complex128
	case 'c':
		types['t'], types['r'] = tensor.Complex64, tensor.F32
	case 'z':
		types['t'], types['r'] = tensor.Complex128, tensor.F64
	}
	c.ranks = append(append(c.ranks, s.in...), s.out...)
	batch := -1
	for i, v := range c.values() {
		rank := len(v.Shape()) - c.ranks[i]
		noun, want := fmt.Sprintf("operand %d", i), types['t']
		if k := i - len(c.operands); k >= 0 {
			noun, want = fmt.Sprintf("result %d", k), types[s.types[k]]
		} else if c.target.routine == "geqp3" && i == 1 {
			want = tensor.I32
		}
		if rank < 0 || v.DType() != want {
			return fmt.Errorf("%s is tensor<%v of %s>, expected %s and a rank of at least %d", noun, []int64(v.Shape()), v.DType(), want, c.ranks[i])
		}
		n := int(v.Shape()[:rank].NumElements())
		if batch >= 0 && n != batch {
			return fmt.Errorf("%s has a batch of %d, operand 0 one of %d", noun, n, batch)
		}
		batch = n
	}
	c.batches = batch
	return c.fits()
}

func (c *call) values() []*tensor.Tensor {
	return append(append([]*tensor.Tensor{}, c.operands...), c.results...)
}

// dims returns the last two dimensions of a matrix.
func dims(t *tensor.Tensor) (m, n int) {
	s := t.Shape()
	return int(s[len(s)-2]), int(s[len(s)-1])
}

// length returns the last dimension of a list.
func length(t *tensor.Tensor) int { return int(t.Shape()[len(t.Shape())-1]) }

// fits checks the dimensions that LAPACK does not check. LAPACK would write outside the memory if they were wrong.
func (c *call) fits() error {
	bad := func(ok bool, noun string) error {
		if ok {
			return nil
		}
		return fmt.Errorf("the shapes of %s do not fit", noun)
	}
	out := c.results
	if c.target.routine == "gtsv" {
		n := length(c.operands[1])
		bm, bn := dims(c.operands[3])
		rm, rn := dims(out[3])
		ok := bm == n && rm == n && bn == rn
		for _, i := range []int{0, 2} {
			ok = ok && length(c.operands[i]) == n && length(out[i]) == n
		}
		return bad(ok && length(out[1]) == n, "the diagonals and the right-hand side")
	}
	m, n := dims(c.operands[0])
	k := min(m, n)
	matrix := func(t *tensor.Tensor, rows, columns int) bool {
		a, b := dims(t)
		return a == rows && b == columns
	}
	square := m == n
	switch c.target.routine {
	case "potrf":
		return bad(square && matrix(out[0], n, n), "square matrices")
	case "getrf":
		return bad(matrix(out[0], m, n) && length(out[1]) == k, "matrix and pivots")
	case "geqrf":
		return bad(matrix(out[0], m, n) && length(out[1]) == k, "matrix and factors")
	case "orgqr", "ungqr":
		return bad(matrix(out[0], m, n) && n <= m && length(c.operands[1]) <= n, "matrix and factors")
	case "ormqr", "unmqr":
		cm, cn := dims(c.operands[2])
		rows := cn
		if c.attrs["left"] != 0 {
			rows = cm
		}
		return bad(matrix(out[0], cm, cn) && rows == m && length(c.operands[1]) <= k, "matrices and factors")
	case "geqp3":
		return bad(matrix(out[0], m, n) && length(c.operands[1]) == n && length(out[1]) == n && length(out[2]) == k, "matrix, pivots and factors")
	case "gesdd", "gesvd":
		um, un := dims(out[2])
		vm, vn := dims(out[3])
		full := c.attrs["mode"] != 'S'
		return bad(matrix(out[0], m, n) && length(out[1]) == k && (c.attrs["mode"] == 'N' || um == m && vn == n &&
			(full && un == m && vm == n || !full && un == k && vm == k)), "matrix, values and vectors")
	case "syevd", "heevd":
		return bad(square && matrix(out[0], n, n) && length(out[1]) == n, "matrix and values")
	case "sytrd", "hetrd":
		return bad(square && matrix(out[0], n, n) && length(out[1]) == n && length(out[2]) == max(n-1, 0) && length(out[3]) == max(n-1, 0), "matrix and diagonals")
	case "geev":
		w := len(out) - 3
		ok := square && matrix(out[w], n, n) && matrix(out[w+1], n, n)
		for _, v := range out[:w] {
			ok = ok && length(v) == n
		}
		return bad(ok, "matrix, values and vectors")
	case "gees":
		ok := square && matrix(out[0], n, n) && matrix(out[1], n, n)
		for _, v := range out[2 : len(out)-2] {
			ok = ok && length(v) == n
		}
		return bad(ok, "matrix, values and vectors")
	case "gehrd":
		return bad(square && matrix(out[0], n, n) && length(out[1]) == max(n-1, 0), "matrix and factors")
	}
	bm, bn := dims(c.operands[1]) // trsm
	left := c.attrs["side"] == 'L'
	return bad(square && matrix(out[0], bm, bn) && (left && bm == n || !left && bn == n), "the matrices")
}

// bytes returns the current part of a value.
func (c *call) bytes(t *tensor.Tensor) []byte {
	b := t.Bytes()
	n := len(b) / c.batches
	return b[c.at*n : (c.at+1)*n : (c.at+1)*n]
}

// columns returns the current matrix in column-major order.
func (c *call) columns(t *tensor.Tensor) []byte {
	if c.order == ColumnMajor {
		return slices.Clone(c.bytes(t))
	}
	m, n := dims(t)
	src, out := c.bytes(t), make([]byte, m*n*t.DType().Size())
	transpose(out, src, m, n, t.DType().Size())
	return out
}

// store writes a matrix in column-major order into a value.
func (c *call) store(t *tensor.Tensor, columns []byte) {
	if c.order == ColumnMajor {
		copy(c.bytes(t), columns)
		return
	}
	m, n := dims(t)
	transpose(c.bytes(t), columns, n, m, t.DType().Size())
}

// transpose writes the m rows of n elements of src as n rows of m elements.
func transpose(dst, src []byte, m, n, size int) {
	const tile = 16
	for i0 := 0; i0 < m; i0 += tile {
		for j0 := 0; j0 < n; j0 += tile {
			for i := i0; i < min(i0+tile, m); i++ {
				for j := j0; j < min(j0+tile, n); j++ {
					copy(dst[(j*m+i)*size:(j*m+i+1)*size], src[(i*n+j)*size:])
				}
			}
		}
	}
}

func (c *call) setInt(t *tensor.Tensor, v int32) {
	binary.LittleEndian.PutUint32(c.bytes(t), uint32(v))
}

// setInts writes a list of integers.
func (c *call) setInts(t *tensor.Tensor, list []int32) {
	b := c.bytes(t)
	for i, v := range list {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	}
}

// number reads the real part of the first element, in which LAPACK returns the size of a workspace.
func (c *call) number(work []byte) int {
	if c.part == 4 {
		return int(math.Ceil(float64(math.Float32frombits(binary.LittleEndian.Uint32(work)))))
	}
	return int(math.Ceil(math.Float64frombits(binary.LittleEndian.Uint64(work))))
}

// finite reports whether all numbers of a matrix are finite.
func (c *call) finite(b []byte) bool {
	for i := 0; i < len(b); i += c.part {
		if c.part == 4 && binary.LittleEndian.Uint32(b[i:])>>23&0xff == 0xff || c.part == 8 && binary.LittleEndian.Uint64(b[i:])>>52&0x7ff == 0x7ff {
			return false
		}
	}
	return true
}

func (c *call) char(name string) byte { return byte(c.attrs[name]) }
