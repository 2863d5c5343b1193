package backends

import (
	"fmt"
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
	return fmt.Sprintf("custom call target %q needs the library %q, which is not installed, or this build cannot open it without cgo", e.Target, e.Library)
}

// lapackLibrary returns a function that opens LAPACK once. If OpenBLAS is not installed or the build has no cgo, Gonum
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

// lapackTargets is interp.Options.Targets for LAPACK's targets.
func lapackTargets(env plugins.Environment) func(target string) (interp.Kernel, error) {
	library := lapackLibrary(env)
	return func(target string) (interp.Kernel, error) {
		if !lapack.Supports(target) {
			return nil, nil
		}
		l, err := library(target)
		if err != nil {
			return nil, err
		}
		return func(x *interp.Execution) error {
			var operands, results []*tensor.Tensor
			for _, v := range x.Operands() {
				operands = append(operands, v.Tensor())
			}
			for _, r := range x.Op().Results() {
				t, ok := r.Type().(*ir.TensorType)
				if !ok || tensor.Shape(t.Shape()).NumElements() < 0 {
					return fmt.Errorf("a result of type %s; expected static shapes", r.Type())
				}
				results = append(results, tensor.New(t.DType(), t.Shape()))
			}
			if err := l.Call(target, integers(x.Op()), lapack.RowMajor, operands, results); err != nil {
				return err
			}
			values := make([]interp.Value, len(results))
			for i, t := range results {
				if values[i], err = x.New(t); err != nil {
					return err
				}
			}
			x.Return(values...)
			return nil
		}, nil
	}
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
