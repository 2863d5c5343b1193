package lapack

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

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
	return ok && l.has(t) || own[name] != nil
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
	if f := own[name]; f != nil {
		if err := f(order, operands, results); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
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
}

// check compares the operands and results with the routine's signature and computes the number of batches. LAPACK
// itself does not check the dimensions: it would write outside the memory if they were wrong.
func (c *call) check() error {
	for _, name := range required[c.target.routine] {
		if _, ok := c.attrs[name]; !ok {
			return fmt.Errorf("attribute %q is missing", name)
		}
	}
	in, out, _ := strings.Cut(c.target.signature(), " > ")
	specs := append(strings.Fields(in), strings.Fields(out)...)
	if n := len(strings.Fields(in)); len(c.operands) != n || len(c.results) != len(specs)-n {
		return fmt.Errorf("%d operands and %d results given, expected %d and %d", len(c.operands), len(c.results), n, len(specs)-n)
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
	size := map[byte]int{}
	for i, v := range append(append([]*tensor.Tensor{}, c.operands...), c.results...) {
		noun, want, letters := fmt.Sprintf("operand %d", i), types[specs[i][0]], specs[i][1:]
		if k := i - len(c.operands); k >= 0 {
			noun = fmt.Sprintf("result %d", k)
		}
		rank := len(v.Shape()) - len(letters)
		if rank < 0 || v.DType() != want {
			return fmt.Errorf("%s is tensor<%v of %s>, expected %s and a rank of at least %d", noun, []int64(v.Shape()), v.DType(), want, len(letters))
		}
		n := int(v.Shape()[:rank].NumElements())
		if i > 0 && n != c.batches {
			return fmt.Errorf("%s has a batch of %d, operand 0 has a batch of %d", noun, n, c.batches)
		}
		c.batches = n
		for k := range letters {
			d := int(v.Shape()[rank+k])
			if known, ok := size[letters[k]]; ok && known != d {
				return fmt.Errorf("%s has the shape %v, expected %d in dimension %d", noun, []int64(v.Shape()), known, rank+k)
			}
			size[letters[k]] = d
		}
		if i == 0 {
			size['k'], size['o'] = min(size['m'], size['n']), max(size['n']-1, 0)
		}
	}
	if !c.fits(size) {
		return fmt.Errorf("the shapes %v do not fit the attributes %v", size, c.attrs)
	}
	return nil
}

// fits checks the dimensions that depend on attributes or may be smaller than others.
func (c *call) fits(size map[byte]int) bool {
	m, n, k := size['m'], size['n'], size['k']
	switch c.target.routine {
	case "orgqr", "ungqr":
		return n <= m && size['q'] <= n
	case "ormqr", "unmqr":
		if c.attrs["left"] != 0 {
			return size['a'] == m && size['q'] <= k
		}
		return size['b'] == m && size['q'] <= k
	case "gesdd", "gesvd":
		columns, rows := size['v'], size['w'] // of the left vectors, of the right vectors
		switch c.attrs["mode"] {
		case 'N':
			return true
		case 'S':
			return size['u'] == m && size['x'] == n && columns == k && rows == k
		}
		return size['u'] == m && size['x'] == n && columns == m && rows == n
	case "trsm":
		if c.attrs["side"] == 'L' {
			return size['a'] == n
		}
		return size['b'] == n
	}
	return true
}

// dims returns the last two dimensions of a matrix.
func dims(t *tensor.Tensor) (m, n int) {
	s := t.Shape()
	return int(s[len(s)-2]), int(s[len(s)-1])
}

// length returns the last dimension of a list.
func length(t *tensor.Tensor) int { return int(t.Shape()[len(t.Shape())-1]) }

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
