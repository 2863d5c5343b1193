package handlers_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// TestUnfired: Unfired returns why a fault changed nothing.
func TestUnfired(t *testing.T) {
	write := runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for _, r := range c.Results {
			clear(r.Bytes())
		}
		return nil
	})
	for _, c := range []struct {
		fault  string
		kind   hook.Kind
		inner  runtime.Handler
		result *tensor.Tensor
		want   string // "": the fault happened
	}{
		{"nan", hook.Tap, nil, nil, "the hook is a tap"},
		{"zero", hook.Tap, nil, nil, "the hook is a tap"},
		{"unwritten", hook.Tap, nil, nil, "no handler writes results of the hook, which is of kind tap"},
		{"unwritten", hook.InOut, nil, f32s(tensor.Shape{1}, 1), "no handler writes results of the hook, which is of kind inout"},
		{"nan", hook.Call, write, i32s(tensor.Shape{1}, 1), "no results of a float type"},
		{"nan@2", hook.Call, write, f32s(tensor.Shape{1}, 1), "there was no event 2; the hook had 2"},
		{"nan", hook.Call, write, f32s(tensor.Shape{1}, 1), ""},
		{"zero", hook.Call, write, i32s(tensor.Shape{1}, 1), ""},
		{"unwritten@1", hook.Call, write, f32s(tensor.Shape{1}, 1), ""},
		{"delay=0s", hook.Tap, nil, nil, ""},
	} {
		f, err := handlers.ParseFault(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Unfired(); got != "there was no event" {
			t.Errorf("%s: before the run Unfired returns %q", c.fault, got)
		}
		h := f.Wrap(c.inner)
		var results []*tensor.Tensor
		if c.result != nil {
			results = append(results, c.result)
		}
		for range 2 {
			handle(t, h, call(site("h", c.kind), nil, results))
		}
		if got := f.Unfired(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s of a %s: Unfired returns %q, expected %q", c.fault, c.kind, got, c.want)
		}
	}
}

// pointerHandler is a responder with only device pointers.
type pointerHandler struct{}

func (pointerHandler) MemoryUse() runtime.MemoryUse                { return runtime.MemoryUse{DevicePointers: true} }
func (pointerHandler) Handle(context.Context, *runtime.Call) error { return nil }

// TestWrappedPointers: a handler that wraps a responder requests host views, and refuses results that it cannot see.
func TestWrappedPointers(t *testing.T) {
	fault, err := handlers.ParseFault("nan")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []runtime.Handler{fault.Wrap(pointerHandler{}), handlers.NewRecord(io.Discard).Answers(pointerHandler{})} {
		if use := runtime.UseOf(h); use != (runtime.MemoryUse{HostViews: true, DevicePointers: true}) {
			t.Errorf("use is %+v", use)
		}
		if err := h.Handle(context.Background(), call(site("h", hook.Call), nil, nil)); err == nil {
			t.Errorf("%T hides the results of a handler with device pointers", h)
		}
	}
	if use := runtime.UseOf(handlers.NewSample(1, 0, pointerHandler{})); use != (runtime.MemoryUse{DevicePointers: true}) {
		t.Errorf("a sampled observer's use is %+v", use)
	}
}
