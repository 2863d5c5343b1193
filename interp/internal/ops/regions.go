package ops

import (
	"fmt"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// regionOf compiles region i of an op, which must have the given numbers of arguments and results.
func regionOf(p *plan.Planner, op *ir.Op, i, args, results int) (*exec.Block, error) {
	body, err := p.Region(op, i)
	if err == nil {
		err = checkRegion(len(body.Args), len(body.Ret), args, results)
	}
	return body, err
}

func checkRegion(haveArgs, haveResults, args, results int) error {
	if haveArgs != args || haveResults != results {
		return fmt.Errorf("expects a region of %d arguments and %d results", args, results)
	}
	return nil
}

// static reports whether all types are tensors of static shape.
func static(lists ...[]kernel.Type) bool {
	for _, list := range lists {
		for _, t := range list {
			if t.Class != kernel.ClassTensor || t.Dynamic() {
				return false
			}
		}
	}
	return true
}

// scalarArg copies one element into the slot of a scalar argument.
func scalarArg(m *exec.Machine, fr *exec.Frame, slot int32, t *tensor.Tensor, at int) {
	b := m.Alloc(t.DType(), nil, 1)
	copy(b.Tensor.Bytes(), element(t, at))
	fr.Slots[slot] = b
}

// scalarPair executes a region of two scalar arguments on element i of x and element k of y.
func scalarPair(m *exec.Machine, fr *exec.Frame, body *exec.Block, x *tensor.Tensor, i int, y *tensor.Tensor, k int) *exec.Buf {
	scalarArg(m, fr, body.Args[0], x, i)
	scalarArg(m, fr, body.Args[1], y, k)
	var v [1]*exec.Buf
	m.Block(fr, body, v[:])
	return v[0]
}

// element returns the bytes of element i.
func element(t *tensor.Tensor, i int) []byte {
	size := t.DType().Size()
	return t.Bytes()[i*size : (i+1)*size]
}

// upTo returns the numbers 0 to n-1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
