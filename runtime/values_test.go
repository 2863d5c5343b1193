package runtime_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// remote holds the values of operands that the host cannot read.
type remote struct {
	values []*tensor.Tensor
	err    error
	read   []int // elements of each Read
}

func (r *remote) Read(i, n int) (*tensor.Tensor, error) {
	r.read = append(r.read, n)
	if r.err != nil {
		return nil, r.err
	}
	v := r.values[i]
	return tensor.FromBytes(v.DType(), tensor.Shape{int64(n)}, v.Bytes()[:n*v.DType().Size()])
}

// TestValues: a handler reaches values in the host's memory and elsewhere in the same way.
func TestValues(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{2, 3})
	copy(tensor.View[float32](x), []float32{1, 2, 3, 4, 5, 6})
	for _, far := range []bool{false, true} {
		c := &runtime.Call{Site: &hook.Site{Name: "h", Kind: hook.Call}, Operands: []*tensor.Tensor{x}, Results: []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{2, 3})}}
		r := &remote{values: []*tensor.Tensor{x}}
		if far {
			there := new(tensor.Tensor)
			there.Borrow(tensor.F32, tensor.Shape{2, 3}, nil)
			c.Operands, c.Remote = []*tensor.Tensor{there}, r
		}
		head, err := c.Head(0, 4)
		if err != nil || fmt.Sprint(tensor.View[float32](head)) != "[1 2 3 4]" {
			t.Errorf("far %t: the head is %v, %v", far, head, err)
		}
		all, err := c.Operand(0)
		if err != nil || !all.Shape().Equal(x.Shape()) || fmt.Sprint(tensor.View[float32](all)) != "[1 2 3 4 5 6]" {
			t.Errorf("far %t: the operand is %v, %v", far, all, err)
		}
		s, err := c.Statistics(0)
		if err != nil || fmt.Sprint(s) != "{6 1 6 3.5 0 0}" {
			t.Errorf("far %t: the statistics are %v, %v", far, s, err)
		}
		if want := map[bool]string{false: "[]", true: "[4 6 6]"}[far]; fmt.Sprint(r.read) != want {
			t.Errorf("far %t: %v elements were read, expected %s", far, r.read, want)
		}
		r.err = errors.New("unplugged")
		if _, err := c.Operand(0); far != errors.Is(err, r.err) {
			t.Errorf("far %t: the error is %v", far, err)
		}
		var shape *runtime.ShapeError
		if err := c.Return(0, tensor.New(tensor.F32, tensor.Shape{3})); !errors.As(err, &shape) {
			t.Errorf("far %t: a wrong shape gives %v", far, err)
		}
		if err := c.Return(0, x); err != nil {
			t.Fatal(err)
		}
		if got := c.Returned(0); far != (got == x) {
			t.Errorf("far %t: the returned value is %v", far, got)
		}
		if got := tensor.View[float32](c.Results[0])[5]; !far && got != 6 {
			t.Errorf("the result ends with %v", got)
		}
	}
}
