package endtoend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// open returns a backend, or skips the test where there is none.
func open(t testing.TB, name string) runtime.Backend {
	t.Helper()
	env := plugins.Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	b, err := backends.Open(context.Background(), name, backends.Options{Plugins: env})
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) || err != nil && strings.Contains(err.Error(), "needs cgo") {
		t.Skipf("skip: no %s backend: %v", name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// load parses and rewrites a module.
func load(name string, text []byte, opts passes.RewriteOptions) (*runtime.Program, error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, err
	}
	m, err := parse.Parse(diag.NewSource(name, text), ir.NewContext(), reg, parse.Options{})
	if err != nil {
		return nil, err
	}
	r, err := passes.RewriteHooks(context.Background(), m, opts)
	if err != nil {
		return nil, err
	}
	out := print.String(m, print.Options{})
	// What is executed is read back from what was printed, as a plugin would.
	again, err := parse.Parse(diag.NewSource("rewritten.mlir", []byte(out)), ir.NewContext(), reg, parse.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return &runtime.Program{Module: again, Text: []byte(out), Manifest: r.Manifest}, nil
}

// event is what one hook delivered.
type event struct {
	hook     string
	operands [][]float32 // integers converted
}

func (e event) String() string { return fmt.Sprintf("%s%v", e.hook, e.operands) }

// answer is the host of all test programs: calls and inout hooks compute from their first operand, feeds from the
// number of the event.
func answer(kind hlocb.Kind, seq int64, operands [][]float32, results int) [][]float32 {
	out := make([][]float32, results)
	for k := range out {
		out[k] = make([]float32, width)
		for j := range out[k] {
			switch kind {
			case hlocb.InOut:
				out[k][j] = operands[k][j]/2 + 1
			case hlocb.Feed:
				out[k][j] = float32(seq%7) + float32(j)
			default:
				out[k][j] = operands[0][j]/2 + float32(k+1)
			}
		}
	}
	return out
}

// floats returns a tensor's elements, integers converted.
func floats(t *tensor.Tensor) []float32 {
	switch t.DType() {
	case tensor.F32:
		return append([]float32(nil), tensor.View[float32](t)...)
	case tensor.I32:
		var out []float32
		for _, v := range tensor.View[int32](t) {
			out = append(out, float32(v))
		}
		return out
	}
	panic("test programs compute with f32 and i32")
}

// execute runs a program once and returns its events and results.
func execute(b runtime.Backend, p *runtime.Program, args []*tensor.Tensor) (events []event, results []*tensor.Tensor, err error) {
	var h runtime.Bindings
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		e := event{hook: c.Site.Name}
		for _, o := range c.Operands {
			e.operands = append(e.operands, floats(o))
		}
		events = append(events, e)
		return nil
	}))
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		if c.Site.Kind == hlocb.Tap {
			return nil
		}
		var operands [][]float32
		for _, o := range c.Operands {
			operands = append(operands, floats(o))
		}
		for k, r := range answer(c.Site.Kind, c.Seq, operands, len(c.Results)) {
			copy(tensor.View[float32](c.Results[k]), r)
		}
		return nil
	}))
	exe, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		return nil, nil, err
	}
	defer exe.Close()
	results, err = exe.Run(context.Background(), args)
	return events, results, err
}

// same compares bit for bit.
func same(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

func vector(v []float32) *tensor.Tensor {
	t := tensor.New(tensor.F32, tensor.Shape{int64(len(v))})
	copy(tensor.View[float32](t), v)
	return t
}

func scalar(v int32) *tensor.Tensor {
	t := tensor.New(tensor.I32, nil)
	tensor.View[int32](t)[0] = v
	return t
}

func eventLines(events []event) string {
	var b bytes.Buffer
	for _, e := range events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}
