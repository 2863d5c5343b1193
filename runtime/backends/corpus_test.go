//go:build cgo

package backends_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// corpus returns a directory of modules that real systems wrote, or skips the test.
func corpus(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("HLOCB_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("skip: corpus not found: %v", err)
	}
	return dir
}

func open(t *testing.T, name string) runtime.Backend {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	b, err := backends.Open(context.Background(), name, backends.Options{Plugins: plugins.Environment{Getenv: os.Getenv, CacheDir: filepath.Join(cache, "hlocb", "plugins")}})
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) {
		t.Skipf("skip: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func read(t *testing.T, file string) *ir.Module {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource(file, text), ir.NewContext(), reg, parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rewrite reads a module and gives it hlocb's own hooks.
func rewrite(t *testing.T, file string, targets ...string) *runtime.Program {
	t.Helper()
	m := read(t, file)
	r, err := passes.RewriteHooks(context.Background(), m, passes.RewriteOptions{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.Program{Module: m, Text: []byte(print.String(m, print.Options{})), Manifest: r.Manifest}
}

// value is a tensor as the recordings of the corpus hold it, with numpy's names of types.
type value struct {
	DType string            `json:"dtype"`
	Shape tensor.Shape      `json:"shape"`
	Data  []json.RawMessage `json:"data"`
}

var numpyTypes = map[string]tensor.DType{"float64": tensor.F64, "float32": tensor.F32, "float16": tensor.F16, "bfloat16": tensor.BF16,
	"float8_e4m3fn": tensor.F8E4M3FN, "float8_e5m2": tensor.F8E5M2, "int4": tensor.I4, "int8": tensor.I8, "int16": tensor.I16, "int32": tensor.I32,
	"int64": tensor.I64, "uint4": tensor.UI4, "uint8": tensor.UI8, "uint16": tensor.UI16, "uint32": tensor.UI32, "uint64": tensor.UI64,
	"bool": tensor.I1, "complex64": tensor.Complex64, "complex128": tensor.Complex128}

func (v *value) tensor(t *testing.T) *tensor.Tensor {
	t.Helper()
	d, ok := numpyTypes[v.DType]
	if !ok {
		t.Fatalf("unknown numpy type %q", v.DType)
	}
	text, err := json.Marshal(map[string]any{"dtype": d.String(), "shape": v.Shape, "data": v.Data})
	if err != nil {
		t.Fatal(err)
	}
	if v.DType == "bool" {
		text = []byte(strings.NewReplacer("1.0", "true", "0.0", "false").Replace(string(text)))
	}
	if d.IsInteger() {
		text = []byte(strings.ReplaceAll(string(text), ".0", ""))
	}
	out, err := tensor.FromJSON(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// same compares integers exactly and floats within what two compilers may differ by.
func same(a, b *tensor.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if !a.DType().IsFloat() {
		return string(a.Bytes()) == string(b.Bytes())
	}
	tolerance := 1e-5
	if a.DType().Bits() <= 16 {
		tolerance = 1e-2
	}
	n := a.DType().Size()
	for i := range a.NumElements() {
		x, y := decode(a, i*n), decode(b, i*n)
		if x == y || x != x && y != y {
			continue
		}
		if math.IsInf(x, 0) || math.IsInf(y, 0) || !(math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))) {
			return false
		}
	}
	return true
}

func decode(t *tensor.Tensor, at int) float64 {
	bits := uint64(0)
	for i := range t.DType().Size() {
		bits |= uint64(t.Bytes()[at+i]) << (8 * i)
	}
	return tensor.DecodeFloat(t.DType(), bits)
}

type event struct {
	Hook     string  `json:"hook"`
	Operands []value `json:"operands"`
}

// TestEvents runs modules that JAX wrote and compares the hooks' events, their order, values and types, and the
// results with what JAX delivered.
func TestEvents(t *testing.T) {
	dir := corpus(t, "events")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", dir, err)
	}
	const times = 200
	for _, backend := range []string{"interp", "cpu"} {
		b := open(t, backend)
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			if name == "jax_pure_pair" { // its host computes a sine and a cosine: TestPurePair
				continue
			}
			t.Run(backend+"/"+name, func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var want struct {
					Args, Results []value
					Events        []event
				}
				if err := json.Unmarshal(text, &want); err != nil {
					t.Fatal(err)
				}
				var got [][]*tensor.Tensor
				var h runtime.Bindings
				h.Answer("*", handlers.Echo())
				h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
					var operands []*tensor.Tensor
					for _, o := range c.Operands {
						operands = append(operands, o.Clone())
					}
					got = append(got, operands)
					return nil
				}))
				e, err := b.Compile(context.Background(), rewrite(t, strings.TrimSuffix(file, ".json")+".mlir"), runtime.CompileOptions{Handlers: &h})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				var args []*tensor.Tensor
				for _, v := range want.Args {
					args = append(args, v.tensor(t))
				}
				for range times {
					got = nil
					results, err := e.Run(context.Background(), args)
					if err != nil {
						t.Fatal(err)
					}
					if len(got) != len(want.Events) {
						t.Fatalf("%d events, expected %d", len(got), len(want.Events))
					}
					for i, w := range want.Events {
						if len(got[i]) != len(w.Operands) {
							t.Fatalf("event %d has %d operands, expected %d", i, len(got[i]), len(w.Operands))
						}
						for j := range w.Operands {
							if v := w.Operands[j].tensor(t); !same(got[i][j], v) {
								t.Fatalf("event %d (%s) operand %d is %v % x, expected %v % x", i, w.Hook, j, got[i][j].DType(), got[i][j].Bytes(), v.DType(), v.Bytes())
							}
						}
					}
					if want.Results != nil && len(results) != len(want.Results) {
						t.Fatalf("%d results, expected %d", len(results), len(want.Results))
					}
					for i := range want.Results {
						if v := want.Results[i].tensor(t); !same(results[i], v) {
							t.Fatalf("result %d is % x, expected % x", i, results[i].Bytes(), v.Bytes())
						}
					}
				}
			})
		}
	}
}

// TestOrder runs modules whose hooks XLA delivers in another order than written, and checks that they are
// delivered as written once they are chained.
func TestOrder(t *testing.T) {
	dir := corpus(t, "order")
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	b := open(t, "cpu")
	for file, text := range raw {
		var want struct {
			Target string `json:"hook_target"`
			IDs    []int  `json:"ids"`
		}
		if strings.HasPrefix(file, "_") || json.Unmarshal(text, &want) != nil || want.IDs == nil {
			continue
		}
		t.Run(file, func(t *testing.T) {
			p := rewrite(t, filepath.Join(dir, file), want.Target)
			var got []string
			pure := map[string]bool{} // hooks without side effect have no place in the order
			var h runtime.Bindings
			h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
				id := c.Site.Attrs["id"]
				if id == "" {
					id = c.Site.Attrs["hook_id"]
				}
				if id == "" {
					id = c.Site.Name
				}
				id = strings.TrimSuffix(id, " : i64")
				if !c.Site.SideEffect {
					pure[id] = true
				}
				got = append(got, id)
				for i := range c.Results {
					if i < len(c.Operands) && len(c.Results[i].Bytes()) == len(c.Operands[i].Bytes()) {
						copy(c.Results[i].Bytes(), c.Operands[i].Bytes())
					}
				}
				return nil
			}))
			e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
			if err != nil {
				t.Fatalf("%v\n%s", err, p.Text)
			}
			defer e.Close()
			args := zeros(t, p.Module)
			times := 100
			if strings.HasPrefix(file, "big_") { // half a second each
				times = 5
			}
			for range times {
				got = nil
				if _, err := e.Run(context.Background(), args); err != nil {
					t.Fatal(err)
				}
				slices.SortStableFunc(got, func(a, b string) int {
					switch {
					case pure[a] == pure[b]:
						return 0
					case pure[b]:
						return -1
					}
					return 1
				})
				if fmt.Sprint(got) != fmt.Sprint(want.IDs) {
					t.Fatalf("delivered %v, expected %v", got, want.IDs)
				}
			}
		})
	}
}

// zeros makes arguments for main.
func zeros(t *testing.T, m *ir.Module) []*tensor.Tensor {
	t.Helper()
	var out []*tensor.Tensor
	for o := range m.Body().Ops() {
		if o.Name() == "func.func" {
			for _, v := range o.Region(0).Entry().Args() {
				typ, ok := v.Type().(*ir.TensorType)
				if !ok {
					t.Fatalf("main takes a %s", v.Type())
				}
				out = append(out, tensor.New(typ.DType(), typ.Shape()))
			}
			return out
		}
	}
	t.Fatal("no main")
	return nil
}

// TestPurePair runs the module whose host computes a sine and a cosine: one pure callback with two results.
func TestPurePair(t *testing.T) {
	p := rewrite(t, filepath.Join(corpus(t, "events"), "jax_pure_pair.mlir"))
	for _, backend := range []string{"interp", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			b := open(t, backend)
			calls := 0
			var h runtime.Bindings
			h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
				calls++
				for i, x := range tensor.View[float32](c.Operands[0]) {
					tensor.View[float32](c.Results[0])[i] = float32(math.Sin(float64(x)))
					tensor.View[float32](c.Results[1])[i] = float32(math.Cos(float64(x)))
				}
				return nil
			}))
			e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			x := tensor.New(tensor.F32, tensor.Shape{3})
			copy(tensor.View[float32](x), []float32{0, 1, -2})
			r, err := e.Run(context.Background(), []*tensor.Tensor{x})
			if err != nil {
				t.Fatal(err)
			}
			if calls != 1 {
				t.Errorf("the host was called %d times", calls)
			}
			for i, v := range tensor.View[float32](x) {
				if s, c := tensor.View[float32](r[0])[i], tensor.View[float32](r[1])[i]; s != float32(math.Sin(float64(v))) || c != float32(math.Cos(float64(v))) {
					t.Errorf("element %d is %v, %v", i, s, c)
				}
			}
		})
	}
}
