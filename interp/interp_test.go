package interp

import (
	"context"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// parseModule reads MLIR text.
func parseModule(t testing.TB, name string, text []byte) *ir.Module {
	t.Helper()
	m, err := tryParse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func tryParse(name string, text []byte) (*ir.Module, error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, err
	}
	return parse.Parse(diag.NewSource(name, text), ir.NewContext(), reg, parse.Options{})
}

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
	return New(Options{}).Compile(context.Background(), &runtime.Program{Module: parseModule(t, "test.mlir", []byte(text))}, runtime.CompileOptions{})
}
