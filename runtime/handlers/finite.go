package handlers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// NotFiniteError names the first element that is NaN or infinite.
type NotFiniteError struct {
	Operand int
	Index   []int64 // of the element, outermost dimension first
	Value   string  // nan, inf, -inf
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("operand %d holds %s at %s", e.Operand, e.Value, mlirtext.AppendInts(nil, e.Index))
}

// Finite returns a handler that fails with a *NotFiniteError at the first operand element that is NaN or infinite.
func Finite() runtime.Handler { return finite{} }

type finite struct{}

// MemoryUse implements runtime.MemoryUser: if the host cannot read the operands, only one with such an element is
// copied.
func (finite) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{Statistics: true} }

// Handle implements runtime.Handler.
func (finite) Handle(_ context.Context, c *runtime.Call) error {
	for k := range c.Operands {
		if k < len(c.Stats) && c.Stats[k].NaN+c.Stats[k].Inf == 0 {
			continue
		}
		t, err := c.Operand(k)
		if err != nil {
			return err
		}
		if i, v := firstNotFinite(t); i >= 0 {
			return &NotFiniteError{Operand: k, Index: t.Shape().Index(i), Value: strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))}
		}
	}
	return nil
}

func newFinite(string, *Env) (runtime.Handler, error) { return Finite(), nil }

func firstNotFinite(t *tensor.Tensor) (int, float64) {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	switch {
	case t.DType() == tensor.F32:
		for i, v := range tensor.View[float32](t) {
			if v-v != 0 { // only NaN and infinities
				return i, float64(v)
			}
		}
	case t.DType().IsFloat():
		for i := range t.NumElements() {
			if v := t.FloatAt(i); bad(v) {
				return i, v
			}
		}
	case t.DType().IsComplex():
		for i := range t.NumElements() {
			v := t.ComplexAt(i)
			if bad(real(v)) {
				return i, real(v)
			}
			if bad(imag(v)) {
				return i, imag(v)
			}
		}
	}
	return -1, 0
}
