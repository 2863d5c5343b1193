package probe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// onBackends runs a test on the engine and on the CPU plugin.
func onBackends(t *testing.T, test func(t *testing.T, b runtime.Backend)) {
	for _, name := range []string{backends.Engine, "cpu"} {
		t.Run(name, func(t *testing.T) {
			b, err := backends.Open(t.Context(), name, hlocb.DefaultBackends())
			var missing *plugins.NotFoundError
			if errors.As(err, &missing) || err != nil && strings.Contains(err.Error(), "needs cgo") {
				t.Skip("skip:", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			test(t, b)
		})
	}
}

// run runs a program with probes and returns what they print.
func run(t *testing.T, b runtime.Backend, text string, taps []probe.Tap, args ...any) (string, error) {
	t.Helper()
	ctx := context.Background()
	p, err := hlocb.Parse(ctx, "in.mlir", []byte(text), hlocb.BeforeConversion(func(m *ir.Module) error {
		_, err := probe.Add(m, taps)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var bindings runtime.Bindings
	probes := &probe.Handlers{Env: &handlers.Env{Out: &out}}
	for i := range p.Hooks() {
		s := &p.Hooks()[i]
		switch h, answer, err := probes.For(p.Manifest(), s); {
		case err != nil:
			t.Fatal(err)
		case answer:
			bindings.Answer(s.ID.String(), h)
		case h != nil:
			bindings.Observe(s.ID.String(), h)
		}
	}
	exe, err := p.Compile(ctx, hlocb.OnBackend(b), hlocb.Bind(&bindings))
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	_, err = exe.Run(ctx, args...)
	return out.String(), err
}

func tap(kind string) []probe.Tap {
	return []probe.Tap{{Patterns: []*regexp.Regexp{regexp.MustCompile("%x$")}, Kind: kind}}
}

// TestReduction compares the numbers that the program computes with the numbers that package handlers computes from the
// whole value.
func TestReduction(t *testing.T) {
	types := []tensor.DType{tensor.I1, tensor.I8, tensor.UI8, tensor.I32, tensor.UI64, tensor.I64, tensor.F16, tensor.BF16, tensor.F8E4M3FN, tensor.F8E5M2,
		tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128}
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		random := rand.New(rand.NewPCG(1, 2))
		for i, d := range types {
			if !label.Part(i%3 == 1 || b.Name() == backends.Engine) {
				continue
			}
			for _, shape := range []tensor.Shape{{}, {0}, {3, 5}} {
				for _, bad := range []int{0, 1, 3} {
					if bad > 0 && len(shape) == 1 || bad == 1 && len(shape) == 0 {
						continue
					}
					x := tensor.New(d, shape)
					for i := range x.NumElements() {
						v := math.Round(random.NormFloat64()*8) / 4
						if bad > 0 && random.IntN(4) < bad {
							v = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[random.IntN(3)]
						}
						switch {
						case d.IsComplex():
							x.SetComplex(i, complex(v, math.Round(random.NormFloat64()*8)/4))
						case d.IsFloat():
							x.SetFloat(i, v)
						default:
							x.SetFloat(i, math.Abs(math.Round(random.NormFloat64()*3)))
						}
					}
					text := fmt.Sprintf("func.func @main(%%x: %s) -> %[1]s {\n return %%x : %[1]s\n}\n", hook.TypeOf(x))
					got, err := run(t, b, text, tap(probe.Stats), x)
					if err != nil {
						t.Fatal(err)
					}
					var want bytes.Buffer
					call := &runtime.Call{Operands: []*tensor.Tensor{x}}
					call.Site = &hlocb.Hook{Name: "x"}
					if err := handlers.NewStats(&want).Handle(t.Context(), call); err != nil {
						t.Fatal(err)
					}
					if got != want.String() {
						t.Errorf("stats of %v:\n got %s want %s", x, got, want.String())
					}
					_, err = run(t, b, text, tap(probe.Finite), x)
					var found, expected *handlers.NotFiniteError
					errors.As(err, &found)
					errors.As(handlers.Finite().Handle(t.Context(), call), &expected)
					if fmt.Sprint(found) != fmt.Sprint(expected) {
						t.Errorf("finite of %v:\n got %v\nwant %v", x, err, expected)
					}
				}
			}
		}
	})
}

// TestManyValues: the values of a block share one event, which names the first that is not finite.
func TestManyValues(t *testing.T) {
	const n = 50
	types := []tensor.DType{tensor.F32, tensor.F64, tensor.BF16, tensor.Complex64, tensor.I32}
	var params, names []string
	for i := range n {
		typ := hook.TensorType{DType: types[i%len(types)], Shape: tensor.Shape{2, int64(1 + i%3)}}
		params = append(params, fmt.Sprintf("%%a%d: %s", i, typ))
		names = append(names, fmt.Sprintf("a%d", i))
	}
	text := "func.func @main(" + strings.Join(params, ", ") + ") -> tensor<2x1xf32> {\n return %a0 : tensor<2x1xf32>\n}\n"
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		for _, bad := range []int{-1, 0, 17, 48} {
			var args []any
			for i := range n {
				x := tensor.New(types[i%len(types)], tensor.Shape{2, int64(1 + i%3)})
				if bad >= 0 && i >= bad && i%5 == bad%5 {
					x.SetFloat(x.NumElements()-1, math.Inf(1))
				}
				if i == bad {
					x.SetFloat(1, math.NaN())
				}
				args = append(args, x)
			}
			_, err := run(t, b, text, []probe.Tap{{Patterns: []*regexp.Regexp{regexp.MustCompile(".")}, Kind: probe.Finite}}, args...)
			if bad < 0 {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			var e *probe.NotFiniteError
			if !errors.As(err, &e) || e.Value != names[bad] || !strings.Contains(e.Holds, "nan") {
				t.Errorf("with a NaN in %s: %v", names[bad], err)
			}
		}
	})
}

// TestBadConfiguration: the attributes of a module about its probes are checked when the program is bound.
func TestBadConfiguration(t *testing.T) {
	for _, test := range []struct{ kind, name, text, want string }{
		{probe.Finite, "values", "0|tensor<f32>|x", "3 fields, expected 5"},
		{probe.Finite, "values", "0|tensor<f32>|x|||", "6 fields, expected 5"},
		{probe.Finite, "values", "a|tensor<f32>|x||", "invalid character 'a'"},
		{probe.Finite, "values", "0|tensor<f32>|%zz||", "invalid URL escape"},
		{probe.Stats, hook.AttrOf, "tensor<f", "tensor<f"},
		{probe.Stats, hook.AttrOf, "", "type"},
	} {
		s := &hook.Site{Name: "x", Attrs: map[string]string{hook.AttrProbe: strconv.Quote(test.kind), test.name: strconv.Quote(test.text)}}
		_, _, err := new(probe.Handlers).For(new(hook.Manifest), s)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: %v, want %s", test.kind, test.text, err, test.want)
		}
	}
}

// TestSampledChecks: a handler that does not fit a probe is refused when it is bound, also if the host selects its
// events.
func TestSampledChecks(t *testing.T) {
	site := &hook.Site{ID: 1, Name: "x", Kind: hook.Tap, Operands: []hook.TensorType{{DType: tensor.F32}},
		Attrs: map[string]string{"sample": strconv.Quote(probe.Sample{Every: 2}.String())}}
	plain := runtime.HandlerOf(func(int32) {})
	sampled, err := probe.Sampled(site, plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []runtime.Handler{plain, sampled} {
		if runtime.CheckSite(h, site) == nil {
			t.Errorf("a %T takes a hook of another type", h)
		}
	}
	if sampled == plain {
		t.Error("the host selects no events")
	}
}
