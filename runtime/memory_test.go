package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// pointerHandler is a handler with only device pointers.
type pointerHandler struct{}

func (pointerHandler) MemoryUse() runtime.MemoryUse                { return runtime.MemoryUse{DevicePointers: true} }
func (pointerHandler) Handle(context.Context, *runtime.Call) error { return nil }

func TestUse(t *testing.T) {
	site := &hook.Site{Name: "h", Kind: hook.Call}
	host := runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return nil })
	for _, c := range []struct {
		bound *runtime.Bound
		want  runtime.MemoryUse
	}{
		{runtime.NewBound(site, nil), runtime.MemoryUse{}},
		{runtime.NewBound(site, host), runtime.MemoryUse{HostViews: true}},
		{runtime.NewBound(site, nil, pointerHandler{}), runtime.MemoryUse{DevicePointers: true}},
		{runtime.NewBound(site, pointerHandler{}, host), runtime.MemoryUse{HostViews: true, DevicePointers: true}},
	} {
		if got := c.bound.Use(); got != c.want {
			t.Errorf("use is %+v, expected %+v", got, c.want)
		}
	}
	if err := runtime.CheckTimeout([]runtime.Bound{*runtime.NewBound(site, host)}); err != nil {
		t.Error(err)
	}
	var refused *runtime.BindError
	if err := runtime.CheckTimeout([]runtime.Bound{*runtime.NewBound(site, pointerHandler{})}); !errors.As(err, &refused) {
		t.Errorf("error is %v, expected a BindError", err)
	}
}

// TestPointersAreNotChecked: Deliver neither marks nor checks results that the responder writes through pointers.
func TestPointersAreNotChecked(t *testing.T) {
	r := tensor.New(tensor.F32, tensor.Shape{2})
	c := &runtime.Call{Site: &hook.Site{Name: "h", Kind: hook.Call}, Results: []*tensor.Tensor{r}}
	c.ResultPointers = runtime.Pointers(nil, c.Results)
	if c.ResultPointers[0].Address == 0 || c.ResultPointers[0].Size != 8 {
		t.Errorf("the pointer is %+v", c.ResultPointers[0])
	}
	if err := runtime.Deliver(context.Background(), runtime.NewBound(c.Site, pointerHandler{}), c); err != nil {
		t.Error(err)
	}
	if v := tensor.View[float32](r); v[0] != 0 || v[1] != 0 {
		t.Errorf("the result is %v", v)
	}
}
