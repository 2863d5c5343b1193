package plan_test

import (
	"context"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// run compiles and runs a module.
func run(t testing.TB, text string, args ...*tensor.Tensor) []*tensor.Tensor {
	t.Helper()
	out, err := tryRun(t, text, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryRun(t testing.TB, text string, args ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	t.Helper()
	exe, err := compileText(t, text)
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	return exe.Run(context.Background(), args)
}

func compileText(t testing.TB, text string) (runtime.Executable, error) {
	t.Helper()
	return compileWith(t, text, interp.Options{}, runtime.CompileOptions{})
}

func compileWith(t testing.TB, text string, opts interp.Options, copts runtime.CompileOptions) (runtime.Executable, error) {
	t.Helper()
	return interp.New(opts).Compile(context.Background(), &runtime.Program{Module: testkit.Parse(t, "test.mlir", []byte(text))}, copts)
}
