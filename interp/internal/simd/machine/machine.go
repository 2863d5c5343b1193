// Package machine encodes programs of package expr as loops in machine code, and executes them. It encodes for AVX2 and
// AVX-512. The memory of code is never writable and executable at once. Where there are no vectors or memory may not
// become executable, there is no code, and the Go functions of package vec compute the same bits.
package machine

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// MaxVector is the size of the largest vectors in bytes.
const MaxVector = 64

// Code is the loop of a program in executable memory.
type Code struct {
	entry unsafe.Pointer
	size  int
	lanes int
}

var errUnsupported = errors.New("no machine code on this system")

// Compile returns the code of a program for vectors of 32 or 64 bytes. The memory of the code is freed with it.
func Compile(p *expr.Program, vector int) (*Code, error) {
	if !supported {
		return nil, errUnsupported
	}
	text, err := encode(p, vector)
	if err != nil {
		return nil, err
	}
	return newCode(text, vector/p.Width)
}

func newCode(text []byte, lanes int) (*Code, error) {
	memory, err := executable(text)
	if err != nil {
		return nil, err
	}
	c := &Code{entry: unsafe.Pointer(unsafe.SliceData(memory)), size: len(memory), lanes: lanes}
	runtime.AddCleanup(c, func(m []byte) { _ = release(m) }, memory)
	return c, nil
}

// Lanes returns the number of elements of a vector.
func (c *Code) Lanes() int { return c.lanes }

// Size returns the bytes of executable memory.
func (c *Code) Size() int { return c.size }

// Run computes n elements, a positive multiple of the lanes. table has the addresses of the operands, then of the
// results.
func (c *Code) Run(table *unsafe.Pointer, n int) {
	invoke(c.entry, table, n)
	runtime.KeepAlive(c)
}
