//go:build cgo

package pjrt

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// recorder returns a plugin that writes the programs that it gets to a file, and that file. The plugin states a
// version (three numbers) or none, and that XLA built it if xla is not empty. It passes all calls to the CPU plugin.
func recorder(t *testing.T, library []byte, version, xla string) (*Backend, string) {
	t.Helper()
	dir := t.TempDir()
	path, file := filepath.Join(dir, "recorder.so"), filepath.Join(dir, "program")
	if err := os.WriteFile(path, library, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECORDER_PLUGIN", cpuPlugin(t))
	t.Setenv("RECORDER_VERSION", version)
	t.Setenv("RECORDER_TEXT", xla)
	t.Setenv("RECORDER_FILE", file)
	b, err := Open(path, Options{Devices: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, file
}

func parsed(t *testing.T, text string) *runtime.Program {
	t.Helper()
	m, err := testkit.TryParse("m.mlir", text)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.Program{Module: m}
}

// TestProgramsSent records the programs that plugins of several versions get: portable artifacts that keep Shardy's
// operations.
func TestProgramsSent(t *testing.T) {
	library, err := os.ReadFile(sharedLibrary(t, "cc", "testdata/recorder.c"))
	if err != nil {
		t.Fatal(err)
	}
	const sine = `sdy.mesh @m = <["a"=1]>
func.func @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) -> tensor<2xf32> {
  %0 = stablehlo.sine %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}`
	const tan = `func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tan %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}`
	for _, tt := range []struct{ name, states, gets, programs string }{
		{"old", "1 0 0", "1.0.0", "portable artifacts of StableHLO 1.0.0"},
		{"its own", "1 13 3", "1.13.3", "portable artifacts of StableHLO 1.13.3"},
		{"newer than hlocb", "9 9 9", "1.22.0", "portable artifacts of StableHLO 1.22.0"},
		{"none", "", "1.16.3", "portable artifacts of StableHLO 1.16.3 (the plugin states no version)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, file := recorder(t, library, tt.states, "")
			if got := b.Plugin().Programs(); got != tt.programs {
				t.Errorf("the plugin gets %q, want %q", got, tt.programs)
			}
			e, err := b.Compile(context.Background(), parsed(t, sine), runtime.CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			sent, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if producer, _, _ := bytecode.Producer(sent); producer != "StableHLO_v"+tt.gets {
				t.Errorf("the program's producer is %q", producer)
			}
			reg, err := all.Registry()
			if err != nil {
				t.Fatal(err)
			}
			m, err := artifact.ReadVHLO(diag.NewSource(file, sent), ir.NewContext(reg))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for op := range m.Body().Ops() {
				names = append(names, op.Name())
			}
			if got := strings.Join(names, " "); got != "sdy.mesh vhlo.func_v1" {
				t.Errorf("the program has the operations %s", got)
			}
			x := tensor.New(tensor.F32, tensor.Shape{2})
			x.SetBits(1, uint64(math.Float32bits(1)))
			out, err := e.Run(context.Background(), []*tensor.Tensor{x})
			if err != nil {
				t.Fatal(err)
			}
			if got := math.Float32frombits(uint32(out[0].Bits(1))); math.Abs(float64(got)-math.Sin(1)) > 1e-6 {
				t.Errorf("sine(1) = %v", got)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		b, _ := recorder(t, library, "1 9 0", "")
		_, err := b.Compile(context.Background(), parsed(t, tan), runtime.CompileOptions{})
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.Message != "stablehlo.tan with result_accuracy needs StableHLO 1.10.0; the target is 1.9.0" ||
			len(d.Notes) != 1 || !strings.HasSuffix(d.Notes[0].Message, "reads portable artifacts of StableHLO 1.9.0") {
			t.Errorf("%v", err)
		}
	})
	t.Run("text", func(t *testing.T) {
		b, file := recorder(t, library, "1 9 0", "yes")
		e, err := b.Compile(context.Background(), parsed(t, tan), runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if sent, err := os.ReadFile(file); err != nil || !strings.Contains(string(sent), "stablehlo.tan") {
			t.Errorf("the plugin got %.200q, %v", sent, err)
		}
	})
	t.Run("named in errors", func(t *testing.T) {
		b, _ := recorder(t, library, "1 13 3", "")
		const broken = `func.func @main() -> tensor<f32> {
  %0 = stablehlo.custom_call @no_such_target() : () -> tensor<f32>
  return %0 : tensor<f32>
}`
		_, err := b.Compile(context.Background(), parsed(t, broken), runtime.CompileOptions{})
		if err == nil || !strings.Contains(err.Error(), "(the plugin got the program as portable artifact of StableHLO 1.13.3)") {
			t.Errorf("%v", err)
		}
	})
}

// TestComparisonWithoutType compares constants in a comparison that states no type.
func TestComparisonWithoutType(t *testing.T) {
	e, err := backend(t).Compile(context.Background(), parsed(t, `func.func @main() -> tensor<i1> {
  %0 = stablehlo.constant dense<-1> : tensor<i32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.compare LT, %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %2 : tensor<i1>
}`), runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	out, err := e.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Bits(0) != 1 {
		t.Error("-1 < 0 is false")
	}
}

// TestNaNInMaximum: maximum, minimum and a reduction keep a NaN, as in programs of JAX, which sets XLA's options for
// them.
func TestNaNInMaximum(t *testing.T) {
	e := compile(t, program("(%x: tensor<3xf64>, %y: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<f64>)", `
  %0 = stablehlo.maximum %x, %y : tensor<3xf64>
  %1 = stablehlo.minimum %x, %y : tensor<3xf64>
  %z = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
  return %0, %1, %2 : tensor<3xf64>, tensor<3xf64>, tensor<f64>
`), nil)
	nan := math.NaN()
	values := func(v ...float64) *tensor.Tensor {
		x := tensor.New(tensor.F64, tensor.Shape{int64(len(v))})
		for i, f := range v {
			binary.NativeEndian.PutUint64(x.Bytes()[8*i:], math.Float64bits(f))
		}
		return x
	}
	for i, r := range run(t, e, values(nan, 1, 3), values(1, nan, 2)) {
		for j := 0; j < min(2, len(r.Bytes())/8); j++ {
			if f := math.Float64frombits(binary.NativeEndian.Uint64(r.Bytes()[8*j:])); !math.IsNaN(f) {
				t.Errorf("result %d, element %d is %v, expected NaN", i, j, f)
			}
		}
	}
}

// TestRepairs: programs with ops that XLA's importer writes for optimized HLO, and with other ops that XLA refuses or
// crashes on, run. Before, the plugin refused the programs or ended the process.
func TestRepairs(t *testing.T) {
	b, err := Open(cpuPlugin(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	matrix := tensor.New(tensor.F32, tensor.Shape{2, 3})
	for i := range 6 {
		matrix.SetFloat(i, float64(i))
	}
	for _, c := range []struct{ name, text, want string }{
		{"fusion", `func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.fusion"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %1 = "mhlo.fusion"(%a) ({
    ^bb0(%b: tensor<2x3xf32>):
      %2 = mhlo.add %b, %b : tensor<2x3xf32>
      mhlo.return %2 : tensor<2x3xf32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    mhlo.return %1 : tensor<2x3xf32>
  }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}`, "dense<[[0.000000e+00, 2.000000e+00, 4.000000e+00], [6.000000e+00, 8.000000e+00, 1.000000e+01]]> : tensor<2x3xf32>"},
		{"bitcast", `func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = "mhlo.bitcast"(%x) {source_layout = dense<[0, 1]> : tensor<2xindex>, result_layout = dense<0> : tensor<1xindex>} : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}`, "dense<[0.000000e+00, 3.000000e+00, 1.000000e+00, 4.000000e+00, 2.000000e+00, 5.000000e+00]> : tensor<6xf32>"},
		{"bitcast to column-major", `func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.bitcast"(%x) {source_layout = dense<[1, 0]> : tensor<2xindex>, result_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}`, "dense<[[0.000000e+00, 2.000000e+00, 4.000000e+00], [1.000000e+00, 3.000000e+00, 5.000000e+00]]> : tensor<2x3xf32>"},
		{"asynchronous call", `func.func private @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {execution_thread = "main"} {
  %0 = mhlo.negate %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.async_start"(%x) {called_computation = @f, execution_thread = "main"} : (tensor<2x3xf32>) -> !mhlo.async_bundle<tuple<tensor<2x3xf32>>, tensor<2x3xf32>, tensor<i32>>
  %1 = "mhlo.async_update"(%0) {called_computation = @f, execution_thread = "main"} : (!mhlo.async_bundle<tuple<tensor<2x3xf32>>, tensor<2x3xf32>, tensor<i32>>) -> !mhlo.async_bundle<tuple<tensor<2x3xf32>>, tensor<2x3xf32>, tensor<i32>>
  %2 = "mhlo.async_done"(%1) {called_computation = @f, execution_thread = "main"} : (!mhlo.async_bundle<tuple<tensor<2x3xf32>>, tensor<2x3xf32>, tensor<i32>>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}`, "dense<[[-0.000000e+00, -1.000000e+00, -2.000000e+00], [-3.000000e+00, -4.000000e+00, -5.000000e+00]]> : tensor<2x3xf32>"},
		{"complex constant", `func.func @main(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %c = stablehlo.constant dense<[(1.5,-2.0), (-3.0,0.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}`, "dense<[1, -3]> : tensor<2xi64>"},
		{"resource", `func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F0000C0BF" } } #-}`, "dense<[1.000000e+00, -1.500000e+00]> : tensor<2xf32>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := b.Compile(context.Background(), parsed(t, c.text), runtime.CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			out, err := e.Run(context.Background(), []*tensor.Tensor{matrix})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out[0].AppendLiteral(nil, 100)); got != c.want {
				t.Errorf("it returns %s, expected %s", got, c.want)
			}
		})
	}
}
