package verify

import (
	"math"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestSignOfZero: a comparison of zeros of different signs names their signs, because their distance is 0.
func TestSignOfZero(t *testing.T) {
	a, b := tensor.New(tensor.F32, tensor.Shape{2}), tensor.New(tensor.F32, tensor.Shape{2})
	tensor.View[float32](b)[1] = float32(math.Copysign(0, -1))
	if got := Compare(a, b, Tolerance{}).Summary(); !strings.Contains(got, "(the sign of zero)") {
		t.Errorf("the comparison says %q", got)
	}
}
