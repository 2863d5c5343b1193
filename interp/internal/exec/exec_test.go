package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestCases runs the modules in testdata on the engine and compares results, refusals and plans.
func TestCases(t *testing.T) { golden.Texts(t, "testdata/*.txtar", golden.Engine) }

// operations are expressions of x, y and the constants one, seven and minus, by the types for which they exist.
var operations = map[string][]string{
	"all":     {"add x, y", "subtract x, y", "multiply x, seven", "maximum x, minus", "minimum x, one"},
	"signed":  {"negate x", "abs x", "sign x", "divide x, seven", "remainder x, seven", "shift_right_arithmetic x, one"},
	"integer": {"and x, seven", "or x, y", "xor x, seven", "not x", "shift_left x, one", "shift_right_logical x, one", "divide x, seven", "remainder y, seven"},
	"float":   {"negate x", "abs x", "sign x", "divide x, seven", "remainder x, seven", "sqrt x", "exponential minus", "floor x", "ceil x", "tanh x"},
}

func compile(t *testing.T, text string, o interp.Options) runtime.Executable {
	t.Helper()
	exe, err := interp.New(o).Compile(context.Background(), &runtime.Program{Module: testkit.Parse(t, "test.mlir", text)}, runtime.CompileOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return exe
}

// TestRegisters: a loop of scalars, which runs on registers, yields the values of the same ops without a loop, which
// run as kernels.
func TestRegisters(t *testing.T) {
	types := map[string][]string{
		"i8": {"all", "signed", "integer"}, "i16": {"all", "signed", "integer"}, "i32": {"all", "signed", "integer"}, "i64": {"all", "signed", "integer"},
		"ui8": {"all", "integer"}, "ui16": {"all", "integer"}, "ui32": {"all", "integer"}, "ui64": {"all", "integer"},
		"f32": {"all", "float"}, "f64": {"all", "float"},
	}
	inRegisters := 0
	for typ, kinds := range types {
		seven, minus := "7", "-3"
		if typ[0] == 'f' {
			seven, minus = "0.7", "-3.5"
		} else if typ[0] == 'u' {
			minus = "200"
		}
		for _, kind := range kinds {
			for _, o := range operations[kind] {
				op := fmt.Sprintf("stablehlo.%s : tensor<%s>", o, typ)
				for _, v := range []string{" one", " seven", " minus"} {
					op = strings.ReplaceAll(op, v, " %"+v[1:])
				}
				constants := fmt.Sprintf("  %%one = stablehlo.constant dense<1> : tensor<%[1]s>\n  %%seven = stablehlo.constant dense<%[2]s> : tensor<%[1]s>\n  %%minus = stablehlo.constant dense<%[3]s> : tensor<%[1]s>\n", typ, seven, minus)
				if typ[0] == 'f' {
					constants = strings.Replace(constants, "dense<1>", "dense<1.0>", 1)
				}
				header := fmt.Sprintf("func.func public @main(%%n: tensor<i32>, %%x0: tensor<%[1]s>, %%y0: tensor<%[1]s>) -> (tensor<%[1]s>, tensor<%[1]s>) {\n%[2]s", typ, constants)
				step := func(x, y, result string) string {
					// The operands x and y stand alone or before a comma.
					text := strings.NewReplacer(" x,", " %"+x+",", " y,", " %"+y+",", " x ", " %"+x+" ", " y ", " %"+y+" ").Replace(op)
					return "  %" + result + " = " + text + "\n"
				}
				loop := header + fmt.Sprintf(`  %%three = stablehlo.constant dense<3> : tensor<i32>
  %%i1 = stablehlo.constant dense<1> : tensor<i32>
  %%w:3 = stablehlo.while(%%i = %%n, %%x = %%x0, %%y = %%y0) : tensor<i32>, tensor<%[1]s>, tensor<%[1]s>
   cond {
    %%p = stablehlo.compare LT, %%i, %%three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %%p : tensor<i1>
  } do {
    %%j = stablehlo.add %%i, %%i1 : tensor<i32>
  %[2]s    stablehlo.return %%j, %%r, %%x : tensor<i32>, tensor<%[1]s>, tensor<%[1]s>
  }
  return %%w#1, %%w#2 : tensor<%[1]s>, tensor<%[1]s>
}`, typ, step("x", "y", "r"))
				straight := header + step("x0", "y0", "x1") + step("x1", "x0", "x2") + step("x2", "x1", "x3") +
					fmt.Sprintf("  return %%x3, %%x2 : tensor<%[1]s>, tensor<%[1]s>\n}", typ)
				var plan strings.Builder
				a, b := compile(t, loop, interp.Options{Plan: &plan}), compile(t, straight, interp.Options{})
				if strings.Contains(plan.String(), "operations on registers") {
					inRegisters++
				}
				d, _ := tensor.ParseDType(typ)
				for _, numbers := range [][2]float64{{5, 3}, {100, 27}, {0, 1}, {-77, 50}} {
					args := []*tensor.Tensor{tensor.New(tensor.I32, nil), tensor.New(d, nil), tensor.New(d, nil)}
					for i, v := range numbers {
						if d.IsFloat() {
							args[i+1].SetFloat(0, v/4)
						} else {
							args[i+1].SetInt(0, int64(v))
						}
					}
					got, err := a.Run(context.Background(), args)
					if err != nil {
						t.Fatalf("%v\n%s", err, loop)
					}
					want, err := b.Run(context.Background(), args)
					if err != nil {
						t.Fatal(err)
					}
					for i := range want {
						if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
							t.Errorf("%s %s of %v: the loop yields %s, ops alone %s", typ, o, numbers, got[i].AppendLiteral(nil, 9), want[i].AppendLiteral(nil, 9))
						}
					}
				}
			}
		}
	}
	if inRegisters < 70 {
		t.Errorf("only %d loops run on registers", inRegisters)
	}
}

// endless is a loop that never ends, on registers or with a value that is too large for them.
func endless(typ string) string {
	return strings.ReplaceAll(`func.func public @main(%x: T) -> T {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %w = stablehlo.while(%a = %x) : T
   cond { stablehlo.return %true : tensor<i1> }
   do {
    %b = stablehlo.add %a, %a : T
    stablehlo.return %b : T
  }
  return %w : T
}`, "T", typ)
}

// TestCancel: a run ends when its context ends, with the cause, in loops on registers and others, and in calls.
func TestCancel(t *testing.T) {
	for _, typ := range []string{"tensor<f32>", "tensor<300xf32>"} {
		exe := compile(t, endless(typ), interp.Options{})
		d, shape, err := tensor.ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		if _, err := exe.Run(ctx, []*tensor.Tensor{tensor.New(d, shape)}); !errors.Is(err, cause) {
			t.Errorf("%s: the error is %v", typ, err)
		}
		ended, cancel2 := context.WithCancel(context.Background())
		cancel2()
		if _, err := exe.Run(ended, []*tensor.Tensor{tensor.New(d, shape)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error of an ended context is %v", typ, err)
		}
	}
}

// TestMemory: a run needs no more than its live values, and a limit below that is an error at the op that exceeds it.
func TestMemory(t *testing.T) {
	text := `func.func public @main(%x: tensor<128xf32>) -> tensor<128xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<128xf32>
  %1 = stablehlo.tanh %0 : tensor<128xf32>
  %2 = stablehlo.add %1, %0 : tensor<128xf32>
  %3 = stablehlo.add %2, %2 : tensor<128xf32>
  return %3 : tensor<128xf32>
}`
	args := []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{128})}
	if _, err := compile(t, text, interp.Options{MemoryLimit: 2 * 512}).Run(context.Background(), args); err != nil {
		t.Errorf("two values live at a time: %v", err)
	}
	m := testkit.Parse(t, "test.mlir", text)
	_, err := interp.New(interp.Options{MemoryLimit: 2*512 - 1}).Compile(t.Context(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err == nil || !strings.HasPrefix(err.Error(), "test.mlir:3:8: error: 'stablehlo.tanh' op needs 1024 bytes for live values and constants: ") {
		t.Errorf("the error is %v", err)
	}
}

// TestArgumentsStay: a run changes no argument, and results of two runs share no memory.
func TestArgumentsStay(t *testing.T) {
	exe := compile(t, `func.func public @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = stablehlo.negate %x : tensor<4xi32>
  %1 = stablehlo.add %0, %x : tensor<4xi32>
  return %x, %0, %1 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}`, interp.Options{})
	x, err := tensor.ParseLiteral("dense<[1, 2, 3, 4]> : tensor<4xi32>")
	if err != nil {
		t.Fatal(err)
	}
	args := []*tensor.Tensor{x, x}
	first, err := exe.Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range first {
		clear(r.Bytes())
	}
	second, err := exe.Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"dense<[1, 2, 3, 4]>", "dense<[-1, -2, -3, -4]>", "dense<0>"} {
		if got := string(second[i].AppendLiteral(nil, 9)); !strings.HasPrefix(got, want) {
			t.Errorf("result %d is %s, want %s", i, got, want)
		}
	}
}

// TestFingerprints: plans, results and refusals of all modules of testdata and of random programs.
func TestFingerprints(t *testing.T) {
	label.Elsewhere(t, "interp/internal/ops")
	golden.Programs(t)
}

// TestModules: events, results and refusals of all modules of testdata, on one device or several.
func TestModules(t *testing.T) {
	label.Elsewhere(t, "interp/internal/ops")
	golden.Modules(t)
}
