package ops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/interp/internal/kernel"
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

// literal writes values as a dense literal in hexadecimal.
func literal(t *tensor.Tensor) string {
	if t.NumElements() == 0 {
		return "dense<>"
	}
	return fmt.Sprintf("dense<\"0x%X\">", t.Bytes())
}

func typeText(t *tensor.Tensor) string { return kernel.TypeOfTensor(t).String() }

// oneOp writes a module whose constants are the operands and whose body is one op in generic form.
func oneOp(op, attrs, regions string, operands []*tensor.Tensor, results ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func.func @main() -> (%s) {\n", strings.Join(results, ", "))
	var names, types []string
	for i, t := range operands {
		fmt.Fprintf(&b, "  %%c%d = stablehlo.constant %s : %s\n", i, literal(t), typeText(t))
		// The barrier keeps XLA from folding the op: XLA's folder uses other arithmetic than its compiled code.
		fmt.Fprintf(&b, "  %%a%d = stablehlo.optimization_barrier %%c%d : %s\n", i, i, typeText(t))
		names = append(names, fmt.Sprintf("%%a%d", i))
		types = append(types, typeText(t))
	}
	var outs []string
	for i := range results {
		outs = append(outs, fmt.Sprintf("%%r#%d", i))
	}
	if attrs != "" {
		attrs = " <{" + attrs + "}>"
	}
	fmt.Fprintf(&b, "  %%r:%d = \"%s\"(%s)%s %s : (%s) -> (%s)\n", len(results), op, strings.Join(names, ", "), attrs, regions, strings.Join(types, ", "), strings.Join(results, ", "))
	fmt.Fprintf(&b, "  return %s : %s\n}\n", strings.Join(outs, ", "), strings.Join(results, ", "))
	return b.String()
}
