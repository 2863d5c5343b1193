package legalize_test

import (
	"context"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// tryRun compiles and runs a module.
func tryRun(t testing.TB, text string, args ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	t.Helper()
	exe, err := interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: testkit.Parse(t, "test.mlir", []byte(text))}, runtime.CompileOptions{})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	return exe.Run(context.Background(), args)
}
