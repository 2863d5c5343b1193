package hlocb_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// physical is a handler in the layouts that the module asks for.
type physical struct{ handle func(c *runtime.Call) error }

func (physical) MemoryUse() runtime.MemoryUse {
	return runtime.MemoryUse{HostViews: true, Layouts: true}
}

func (h physical) Handle(_ context.Context, c *runtime.Call) error { return h.handle(c) }

const columnMajor = `func.func @main(%a: tensor<2x3xf32>, %b: tensor<2xi8>) -> tensor<3x2xf32> {
  %0 = stablehlo.custom_call @ask(%a, %b) {has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}`

// TestLayouts: a handler that asks for layouts reads and writes Bytes in the order that the module asks for. All other
// handlers, and the program, see row-major values.
func TestLayouts(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		var seen []float32
		observe := hlocb.HandlerFunc(func(_ context.Context, c *hlocb.Call) error {
			seen = slices.Clone(tensor.View[float32](c.Operands[0]))
			return nil
		})
		transpose := physical{func(c *runtime.Call) error {
			if !slices.Equal(c.OperandLayouts[0], []int64{0, 1}) || !slices.Equal(c.OperandLayouts[1], []int64{0}) || !slices.Equal(c.ResultLayouts[0], []int64{0, 1}) {
				t.Errorf("layouts are %v and %v", c.OperandLayouts, c.ResultLayouts)
			}
			a := tensor.View[float32](c.Operands[0])
			if want := []float32{0, 3, 1, 4, 2, 5}; !slices.Equal(a, want) {
				t.Errorf("the operand in memory is %v, want %v", a, want)
			}
			// The transpose of a column-major value is row-major in the same memory; the result is column-major.
			for i := range 3 {
				for j := range 2 {
					tensor.View[float32](c.Results[0])[i+3*j] = a[2*i+j]
				}
			}
			return nil
		}}
		exe := compile(t, b, columnMajor, hlocb.Observe("*", observe), hlocb.Answer("*", transpose))
		defer exe.Close()
		a, err := tensor.ParseLiteral("dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>")
		if err != nil {
			t.Fatal(err)
		}
		out, err := exe.RunTensors(ctx, []*tensor.Tensor{a, tensor.New(tensor.I8, tensor.Shape{2})})
		if err != nil {
			t.Fatal(err)
		}
		if want := []float32{0, 1, 2, 3, 4, 5}; !slices.Equal(seen, want) {
			t.Errorf("the observer sees %v, want %v", seen, want)
		}
		if got, want := string(out[0].AppendLiteral(nil, 10)), "dense<[[0.000000e+00, 3.000000e+00], [1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00]]> : tensor<3x2xf32>"; got != want {
			t.Errorf("the result is %s, want %s", got, want)
		}
	})
}

// TestLayoutsRecorded: a recording of a handler in other layouts, and a fault in it, hold row-major values.
func TestLayoutsRecorded(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		swap := physical{func(c *runtime.Call) error {
			a := tensor.View[float32](c.Operands[0])
			if want := []float32{0, 3, 1, 4, 2, 5}; !slices.Equal(a, want) {
				t.Errorf("the operand in memory is %v, want %v", a, want)
			}
			copy(tensor.View[float32](c.Results[0]), []float32{0, 1, 2, 3, 4, 5})
			return nil
		}}
		fault, err := handlers.ParseFault("error@7") // wraps the handler, and never fires here
		if err != nil {
			t.Fatal(err)
		}
		var events bytes.Buffer
		record := handlers.NewRecord(&events)
		exe := compile(t, b, columnMajor, hlocb.Answer("*", record.Answers(fault.Wrap(swap))))
		defer exe.Close()
		a, err := tensor.ParseLiteral("dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exe.RunTensors(ctx, []*tensor.Tensor{a, tensor.New(tensor.I8, tensor.Shape{2})}); err != nil {
			t.Fatal(err)
		}
		if err := record.Close(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"data":[0,1,2,3,4,5]`, `"data":[0,3,1,4,2,5]`} { // the operand and the result, row by row
			if !strings.Contains(events.String(), want) {
				t.Errorf("%s lacks %s", events.String(), want)
			}
		}
	})
}

// TestUnwrittenLayouts: a handler in other layouts that writes nothing is found, too.
func TestUnwrittenLayouts(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, columnMajor, hlocb.Answer("*", physical{func(*runtime.Call) error { return nil }}))
		defer exe.Close()
		_, err := exe.RunTensors(ctx, []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{2, 3}), tensor.New(tensor.I8, tensor.Shape{2})})
		if err == nil || !strings.Contains(err.Error(), "did not write result 0") {
			t.Errorf("got %v", err)
		}
	})
}
