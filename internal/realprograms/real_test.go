package realprograms

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// directory returns the output directory of programs.py, or skips the test.
func directory(t *testing.T) string {
	dir := os.Getenv("HLOCB_REAL")
	if dir == "" {
		t.Skip("skip: no programs of JAX's libraries ('make test-real' makes them)")
	}
	return dir
}

// program is the description of one program by programs.py.
type program struct {
	Args, Results int
	Events        []struct {
		Ordered           bool
		Operands, Results int
	}
}

// TestPrograms: hlocb prints each program like JAX, and delivers JAX's results and callbacks on both backends.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(directory(t), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 40 {
		t.Errorf("%d programs, expected at least 40", len(files))
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".json")
		if filepath.Base(base) == large {
			continue // TestPeakMemory runs it
		}
		t.Run(filepath.Base(base), func(t *testing.T) {
			checkText(t, base+".mlir", print.Options{})
			checkText(t, base+".loc.mlir", print.Options{DebugInfo: true})
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var p program
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatal(err)
			}
			for _, backend := range []string{"engine", "cpu"} {
				t.Run(backend, func(t *testing.T) { check(t, base, &p, backend) })
			}
		})
	}
}

func checkText(t *testing.T, path string, opts print.Options) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := testkit.TryParse(filepath.Base(path), text)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(strings.TrimSpace(print.String(m, opts)), "\n"), strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("%s:%d: printed\n%s\nJAX wrote\n%s", path, i+1, append(got, "(nothing)")[min(i, len(got))], want[i])
			return
		}
	}
}

func check(t *testing.T, base string, p *program, backend string) {
	arrays, err := values.Open(base + ".npz")
	if err != nil {
		t.Fatal(err)
	}
	defer arrays.Close()
	ctx := context.Background()
	loaded, err := hlocb.Load(ctx, base+".mlir")
	if err != nil {
		t.Fatal(err)
	}
	b, err := loaded.OpenBackend(ctx, backend, hlocb.DefaultBackends())
	if err != nil {
		t.Skipf("skip: %v", err)
	}
	defer b.Close()
	host := &host{arrays: arrays, program: p, tolerance: 1e-4, used: make([]bool, len(p.Events)), answers: map[int64]int{}}
	if narrow.Match(loaded.Text()) {
		host.tolerance = 2e-2 // XLA may compute in a wider type between two ops of a narrow type
	}
	exe, err := loaded.Compile(ctx, hlocb.OnBackend(b), hlocb.Observe("*", hlocb.HandlerFunc(host.observe)),
		hlocb.Answer("*", hlocb.HandlerFunc(host.answer)))
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	types, err := loaded.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	if len(types) != p.Args {
		t.Fatalf("%d arguments, JAX has %d", len(types), p.Args)
	}
	args := make([]any, len(types))
	for i := range args {
		if args[i], err = read(arrays, fmt.Sprint(i), types[i].DType); err != nil {
			t.Fatal(err)
		}
	}
	results, err := exe.Run(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != p.Results {
		t.Fatalf("%d results, JAX has %d", len(results), p.Results)
	}
	for i, r := range results {
		want, err := read(arrays, fmt.Sprintf("r%d", i), r.DType())
		if err != nil {
			t.Fatal(err)
		}
		if why := unlike(r, want, host.tolerance); why != "" {
			t.Errorf("result %d: %s", i, why)
		}
	}
	for i, used := range host.used {
		if !used {
			t.Errorf("callback %d of JAX's %d did not come", i, len(host.used))
			break
		}
	}
}

func read(s *values.Set, name string, d tensor.DType) (*tensor.Tensor, error) {
	i := s.Find(-1, name)
	if i < 0 {
		return nil, fmt.Errorf("no array %q", name)
	}
	return s.Read(i, d)
}

// host replaces the Python of a program: it expects JAX's callbacks, the ordered callbacks in order, and returns
// Python's answers.
type host struct {
	arrays    *values.Set
	program   *program
	tolerance float64

	mu      sync.Mutex
	used    []bool
	answers map[int64]int
}

func (h *host) observe(_ context.Context, c *runtime.Call) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, ordered := "", false
	for i, e := range h.program.Events {
		if h.used[i] || e.Ordered && ordered {
			continue
		}
		ordered = ordered || e.Ordered // the next ordered callback must come before those after it
		why := ""
		if e.Operands != len(c.Operands) || e.Results != len(c.Results) {
			why = fmt.Sprintf("%d operands and %d results, JAX had %d and %d", len(c.Operands), len(c.Results), e.Operands, e.Results)
		}
		for k := 0; k < len(c.Operands) && why == ""; k++ {
			want, err := read(h.arrays, fmt.Sprintf("e%d.o%d", i, k), c.Operands[k].DType())
			if err != nil {
				return err
			}
			why = unlike(c.Operands[k], want, h.tolerance)
		}
		if why == "" {
			h.used[i], h.answers[c.Seq] = true, i
			return nil
		}
		if first == "" {
			first = fmt.Sprintf("callback %d: %s", i, why)
		}
	}
	return fmt.Errorf("JAX made no such callback; %s", first)
}

func (h *host) answer(_ context.Context, c *runtime.Call) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range c.Results {
		v, err := read(h.arrays, fmt.Sprintf("e%d.r%d", h.answers[c.Seq], k), c.Results[k].DType())
		if err != nil {
			return err
		}
		if err := c.SetResult(k, v); err != nil {
			return err
		}
	}
	return nil
}

// unlike describes the difference of two tensors. Parts of floats may differ by tolerance times the largest magnitude
// in the tensor or 1: the order of sums is free, and programs amplify rounding.
func unlike(got, want *tensor.Tensor, tolerance float64) string {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Sprintf("%v %v, JAX has %v %v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	part := got.DType().Part()
	if !part.IsFloat() {
		if string(got.Bytes()) != string(want.Bytes()) {
			return "differs from JAX's"
		}
		return ""
	}
	scale := 1.0
	a, b := got.Parts(), want.Parts()
	for i := range b.NumElements() {
		if y := math.Abs(b.FloatAt(i)); !math.IsInf(y, 0) && y > scale {
			scale = y
		}
	}
	for i := range a.NumElements() {
		x, y := a.FloatAt(i), b.FloatAt(i)
		if x != y && (x == x || y == y) && !(math.Abs(x-y) <= tolerance*scale) {
			return fmt.Sprintf("element %d is %v, JAX has %v", i, x, y)
		}
	}
	return ""
}

// narrow matches types of floats with 16 and fewer bits.
var narrow = regexp.MustCompile(`[x<](bf16|f16|f8\w+|f4\w+)>`)

// large is the name of the program whose memory is measured.
const large = "gpt_40_layers"
