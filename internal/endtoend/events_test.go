package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// recorded is a tensor in a recording, with numpy's names for types.
type recorded struct {
	DType string            `json:"dtype"`
	Shape tensor.Shape      `json:"shape"`
	Data  []json.RawMessage `json:"data"`
}

// recordedEvents has the events that JAX delivered.
type recordedEvents struct {
	Args    []recorded
	Results []recorded
	Events  []struct{ Operands []recorded }
}

func (r *recorded) tensor(t *testing.T) *tensor.Tensor {
	t.Helper()
	name := r.DType
	for _, p := range [][2]string{{"float8_e", "f8E"}, {"bfloat", "bf"}, {"float", "f"}, {"uint", "ui"}, {"int", "i"}} {
		if rest, ok := strings.CutPrefix(name, p[0]); ok {
			name = p[1] + rest
			break
		}
	}
	switch r.DType {
	case "bool":
		name = "i1"
	case "complex64":
		name = "complex<f32>"
	case "complex128":
		name = "complex<f64>"
	}
	if strings.HasPrefix(name, "f8E") {
		name = "f8E" + strings.ToUpper(name[3:])
	}
	d, ok := tensor.ParseDType(name)
	if !ok {
		t.Fatalf("unknown numpy type %q", r.DType)
	}
	text, err := json.Marshal(map[string]any{"dtype": d.String(), "shape": r.Shape, "data": r.Data})
	if err != nil {
		t.Fatal(err)
	}
	if d == tensor.I1 {
		text = []byte(strings.NewReplacer("1.0", "true", "0.0", "false").Replace(string(text)))
	}
	if d.IsInteger() {
		text = []byte(strings.ReplaceAll(string(text), ".0", ""))
	}
	out, err := tensorio.FromJSON(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func (r *recordedEvents) args(t *testing.T) []*tensor.Tensor {
	t.Helper()
	var list []*tensor.Tensor
	for i := range r.Args {
		list = append(list, r.Args[i].tensor(t))
	}
	return list
}

// near compares bit for bit, except floats and parts of complex numbers, for which it allows the difference between
// two compilers.
func near(a, b *tensor.Tensor) bool {
	if sameBits(a, b) {
		return true
	}
	part := a.DType().Part()
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) || !part.IsFloat() {
		return false
	}
	tolerance := 1e-5
	if part.Bits() <= 16 {
		tolerance = 1e-2
	}
	a, b = a.Parts(), b.Parts()
	for i := range a.NumElements() {
		x, y := a.FloatAt(i), b.FloatAt(i)
		if x == y || x != x && y != y {
			continue
		}
		if math.IsInf(x, 0) || math.IsInf(y, 0) || !(math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))) {
			return false
		}
	}
	return true
}

// compareRecording runs p the given number of times and compares its events and results with those that JAX recorded.
func compareRecording(t *testing.T, b runtime.Backend, p *runtime.Program, want *recordedEvents, answer runtime.Handler, times int) {
	t.Helper()
	rec := &recorder{}
	h := rec.observe()
	h.Answer("*", answer)
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: h})
	if err != nil {
		t.Fatalf("%v\n%s", err, moduleText(p))
	}
	defer e.Close()
	args := want.args(t)
	for range times {
		results, err := e.Run(context.Background(), args)
		if err != nil {
			t.Fatal(err)
		}
		got := rec.take()
		if len(got) != len(want.Events) || want.Results != nil && len(results) != len(want.Results) {
			t.Fatalf("%d events and %d results, expected %d and %d", len(got), len(results), len(want.Events), len(want.Results))
		}
		for i, w := range want.Events {
			if len(got[i].operands) != len(w.Operands) {
				t.Fatalf("event %d has %d operands, expected %d", i, len(got[i].operands), len(w.Operands))
			}
			for j := range w.Operands {
				if v := w.Operands[j].tensor(t); !near(got[i].operands[j], v) {
					t.Fatalf("event %d operand %d is % x, expected % x", i, j, got[i].operands[j].Bytes(), v.Bytes())
				}
			}
		}
		for i := range want.Results {
			if v := want.Results[i].tensor(t); !near(results[i], v) {
				t.Fatalf("result %d is % x, expected % x", i, results[i].Bytes(), v.Bytes())
			}
		}
	}
}

// sineAndCosine answers jax_pure_pair's hook with the sine and cosine of its operand.
var sineAndCosine = runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
	if len(c.Operands) != 1 || len(c.Results) != 2 {
		return fmt.Errorf("%d operands and %d results, expected 1 and 2", len(c.Operands), len(c.Results))
	}
	x, s, k := tensor.View[float32](c.Operands[0]), tensor.View[float32](c.Results[0]), tensor.View[float32](c.Results[1])
	for i := range x {
		s[i], k[i] = float32(math.Sin(float64(x[i]))), float32(math.Cos(float64(x[i])))
	}
	return nil
})

// TestRecordedEvents runs JAX's programs with every order and every chain type, and compares the events with JAX's.
func TestRecordedEvents(t *testing.T) {
	dir := testkit.Testdata("events")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", dir, err)
	}
	for _, backend := range withOtherPlugin() {
		t.Run(backend, func(t *testing.T) {
			b := open(t, backend)
			for _, file := range files {
				name := strings.TrimSuffix(filepath.Base(file), ".json")
				var want recordedEvents
				if err := json.Unmarshal(readFile(t, file), &want); err != nil {
					t.Fatal(err)
				}
				var answer runtime.Handler = handlers.Echo()
				if name == "jax_pure_pair" {
					answer = sineAndCosine
				}
				for _, order := range []hook.Order{hook.OrderProgram, hook.OrderSource} {
					for _, chain := range []hook.Chain{hook.ChainState, hook.ChainToken} {
						if !label.Part(backend == "interp" || order == hook.OrderProgram && chain == hook.ChainState) {
							continue
						}
						times := orderRuns(t, 3)
						if order == hook.OrderProgram && chain == hook.ChainState {
							times = orderRuns(t, 200)
						}
						t.Run(name+"/"+order.String()+"/"+chain.String(), func(t *testing.T) {
							p, err := rewrite(name, readFile(t, strings.TrimSuffix(file, ".json")+".mlir"), passes.RewriteHooks{Order: order, Chain: chain})
							if err != nil {
								t.Fatal(err)
							}
							compareRecording(t, b, p, &want, answer, times)
						})
					}
				}
			}
		})
	}
}

// TestPurePairComputes runs jax_pure_pair on numbers whose sine and cosine are not 0 and 1.
func TestPurePairComputes(t *testing.T) {
	text := readFile(t, filepath.Join(testkit.Testdata("events"), "jax_pure_pair.mlir"))
	for _, backend := range withOtherPlugin() {
		t.Run(backend, func(t *testing.T) {
			b := open(t, backend)
			p, err := rewrite("jax_pure_pair", text, passes.RewriteHooks{})
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			h := &runtime.Bindings{}
			h.Answer("*", runtime.HandlerFunc(func(ctx context.Context, c *runtime.Call) error {
				calls++
				return sineAndCosine(ctx, c)
			}))
			e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: h})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			arg := tensor.New(tensor.F32, tensor.Shape{3})
			x := tensor.View[float32](arg)
			x[0], x[1], x[2] = 0.5, -1, 3
			out, err := e.Run(context.Background(), []*tensor.Tensor{arg})
			if err != nil {
				t.Fatal(err)
			}
			if calls != 1 {
				t.Errorf("the host was called %d times for one callback with two results", calls)
			}
			for i, v := range x {
				if s, c := tensor.View[float32](out[0])[i], tensor.View[float32](out[1])[i]; s != float32(math.Sin(float64(v))) || c != float32(math.Cos(float64(v))) {
					t.Errorf("sine and cosine of %v are %v and %v", v, s, c)
				}
			}
		})
	}
}
