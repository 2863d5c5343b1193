package opgen_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/tensor"
)

// TestOrdinaryBound: every function is bounded on ordinary operands. If one side yields 2 and the other 2.1, Judge
// returns an error for each function and type, even if bounds.txt says "any".
func TestOrdinaryBound(t *testing.T) {
	label.Slow(t) // makes programs of all ops
	label.Once(t)
	g, err := opgen.New(1)
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, p := range opgen.Sample(g.Elementwise(300)) {
		for _, d := range []tensor.DType{tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128} {
			if p.DType != d || len(p.Args) == 0 || p.Args[0].DType() != d {
				continue
			}
			a, b := tensor.New(d, p.Args[0].Shape()), tensor.New(d, p.Args[0].Shape())
			for i := range a.NumElements() {
				a.SetFloat(i, 2)
				b.SetFloat(i, 2.1)
			}
			judged++
			engineAgain := func([]*tensor.Tensor) ([]*tensor.Tensor, error) { return []*tensor.Tensor{a}, nil }
			if _, err := opgen.Judge(p, []*tensor.Tensor{a}, []*tensor.Tensor{b}, engineAgain); err == nil {
				t.Errorf("%s on %s accepts 2 for 2.1", p.Op, d)
			}
		}
	}
	if judged < 80 {
		t.Errorf("only %d programs judged", judged)
	}
}
