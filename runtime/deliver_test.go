package runtime

import (
	"context"
	"errors"
	"testing"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/tensor"
)

func TestDeliverFindsUnwrittenResults(t *testing.T) {
	x := tensor.New(tensor.F32, tensor.Shape{4})
	for _, c := range []struct {
		name  string
		kind  hlocb.Kind
		shape tensor.Shape
		write bool
		alias bool
		want  bool
	}{
		{"unwritten", hlocb.Call, tensor.Shape{2}, false, false, true},
		{"written", hlocb.Call, tensor.Shape{2}, true, false, false},
		{"feed", hlocb.Feed, tensor.Shape{2}, false, false, true},
		{"too small", hlocb.Call, tensor.Shape{}, false, false, false},
		{"empty", hlocb.Call, tensor.Shape{0}, false, false, false},
		{"aliased", hlocb.Call, tensor.Shape{4}, false, true, false},
		{"inout", hlocb.InOut, tensor.Shape{4}, false, true, false},
	} {
		r := tensor.New(tensor.F32, c.shape)
		for i := range tensor.View[float32](r) {
			tensor.View[float32](r)[i] = 7
		}
		if c.alias {
			r = x
		}
		before := string(x.Bytes())
		site := &hlocb.Site{Name: c.name, Kind: c.kind}
		err := Deliver(context.Background(), &Bound{Site: site, Answer: HandlerFunc(func(_ context.Context, call *Call) error {
			if c.write {
				clear(call.Results[0].Bytes())
			}
			return nil
		})}, &Call{Site: site, Operands: []*tensor.Tensor{x}, Results: []*tensor.Tensor{r}})
		var unwritten *UnwrittenError
		if errors.As(err, &unwritten) != c.want {
			t.Errorf("%s: error is %v", c.name, err)
		}
		if string(x.Bytes()) != before {
			t.Errorf("%s: the operand was changed", c.name)
		}
		if c.name == "too small" && tensor.View[float32](r)[0] != 0 {
			t.Errorf("a result that is too small for the mark holds %v, expected 0", tensor.View[float32](r)[0])
		}
	}
}
