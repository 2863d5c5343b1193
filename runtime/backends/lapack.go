package backends

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/lapack"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// LibraryError says that a program calls a library that is not installed.
type LibraryError struct{ Target, Library string }

func (e *LibraryError) Error() string {
	return fmt.Sprintf("custom call target %q needs the library %q, which is not installed or, in a static build, cannot be opened", e.Target, e.Library)
}

// lapackLibrary returns a function that opens LAPACK once. If OpenBLAS is not installed or the build is static, Gonum
// computes the real types.
func lapackLibrary(env plugins.Environment) func(target string) (*lapack.Library, error) {
	open := sync.OnceValues(func() (*lapack.Library, error) {
		path, ok := env.Library("lapack")
		if !ok {
			return lapack.Pure(), nil
		}
		return lapack.Open(path)
	})
	return func(target string) (*lapack.Library, error) {
		l, err := open()
		if err == nil && !l.Has(target) {
			err = &LibraryError{target, "lapack"}
		}
		return l, err
	}
}

// EngineTargets is interp.Options.Targets for LAPACK's targets.
func EngineTargets(env plugins.Environment) func(target string, _ *ir.Op) (interp.Kernel, error) {
	library := lapackLibrary(env)
	return func(target string, _ *ir.Op) (interp.Kernel, error) {
		if !lapack.Supports(target) {
			return nil, nil
		}
		l, err := library(target)
		if err != nil {
			return nil, err
		}
		return func(x *interp.Execution) error {
			operands, out, err := values(x)
			if err != nil {
				return err
			}
			var results []*tensor.Tensor
			for _, v := range out {
				results = append(results, v.Tensor())
			}
			if err := l.Call(target, integers(x.Op()), lapack.RowMajor, operands, results); err != nil {
				return err
			}
			x.Return(out...)
			return nil
		}, nil
	}
}

// values returns the operands of a call and new values for its results. The shapes of dynamic results are further
// operands, as jax.export writes them.
func values(x *interp.Execution) (operands []*tensor.Tensor, results []interp.Value, err error) {
	var shapes []int64 // the operand that holds the shape of each result
	if a, ok := x.Op().Attr(stablehlo.AttrShapeOperands).(*ir.DenseAttr); ok {
		if shapes, err = a.Int64s(); err != nil {
			return nil, nil, err
		}
	}
	for i, v := range x.Operands() {
		if !slices.Contains(shapes, int64(i)) {
			operands = append(operands, v.Tensor())
		}
	}
	for i, r := range x.Op().Results() {
		t, ok := r.Type().(*ir.TensorType)
		if !ok || !t.Static() && (i >= len(shapes) || shapes[i] < 0 || shapes[i] >= int64(len(x.Operands()))) {
			return nil, nil, fmt.Errorf("a result of type %s; expected static shapes", r.Type())
		}
		shape := t.Shape()
		if !t.Static() {
			if shape, err = x.Operands()[shapes[i]].Tensor().Int64s(); err != nil {
				return nil, nil, err
			}
			if n := tensor.Shape(shape).NumElements(); n < 0 || len(shape) != len(t.Shape()) {
				return nil, nil, fmt.Errorf("the shape %v for a result of type %s", shape, r.Type())
			}
		}
		v, err := x.Alloc(t.DType(), shape)
		if err != nil {
			return nil, nil, err
		}
		results = append(results, v)
	}
	return operands, results, nil
}

// integers returns the integer attributes of a call's configuration.
func integers(op *ir.Op) map[string]int64 {
	out := map[string]int64{}
	for _, name := range []string{stablehlo.AttrBackendConfig, mhlo.AttrBackendConfig} {
		if d, ok := op.Attr(name).(*ir.DictAttr); ok {
			for _, e := range d.Entries() {
				if n, ok := e.Attr.(*ir.IntegerAttr); ok {
					out[e.Name] = n.Value()
				}
			}
		}
	}
	return out
}
