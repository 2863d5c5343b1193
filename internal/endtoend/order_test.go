package endtoend

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// delivered compiles a program and returns the names of the hooks of each of n runs, in the order of their events.
func delivered(t *testing.T, b runtime.Backend, p *runtime.Program, n int) [][]string {
	t.Helper()
	var names []string
	var h runtime.Bindings
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		names = append(names, c.Site.Name)
		return nil
	}))
	// The order does not depend on what a host computes, so results stay zero.
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		if c.Site.Kind != hlocb.Tap && c.Site.Kind != hlocb.InOut {
			for _, r := range c.Results {
				clear(r.Bytes())
			}
		}
		return nil
	}))
	exe, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Text)
	}
	defer exe.Close()
	args := zeros(t, p.Module)
	var out [][]string
	for range n {
		names = nil
		if _, err := exe.Run(context.Background(), args); err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Clone(names))
	}
	return out
}

// zeros returns arguments for main.
func zeros(t *testing.T, m *ir.Module) []*tensor.Tensor {
	t.Helper()
	f, ok := fn.Lookup(m, "main")
	if !ok {
		t.Fatal("no main")
	}
	var out []*tensor.Tensor
	for _, in := range f.Type().Inputs() {
		tt := in.(*ir.TensorType)
		out = append(out, tensor.New(tt.DType(), tt.Shape()))
	}
	return out
}

// TestCorpusOrder runs the modules whose order XLA is known to change, and those it keeps, and expects what
// expected.json says. HLOCB_ORDER_RUNS says how often each runs.
func TestCorpusOrder(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("HLOCB_CORPUS"), "../../../shared/corpus"), "order")
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skipf("skip: corpus not found: %v", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	b := open(t, "cpu")
	for _, file := range sortedKeys(all) {
		var c struct {
			Target  string `json:"hook_target"`
			IDs     []int  `json:"ids"`
			Refused string `json:"refused"`
		}
		if !strings.HasSuffix(file, ".mlir") || json.Unmarshal(all[file], &c) != nil || c.IDs == nil {
			continue
		}
		t.Run(file, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			p, err := load(file, source, passes.RewriteOptions{Targets: []string{c.Target}})
			if err != nil {
				t.Fatal(err)
			}
			runs := count(t, "HLOCB_ORDER_RUNS", 20)
			if strings.HasPrefix(file, "big_") && os.Getenv("HLOCB_ORDER_RUNS") == "" {
				runs = 2 // three products of large matrices each
			}
			var want []string
			for _, id := range c.IDs {
				want = append(want, strconv.Itoa(id))
			}
			for i, got := range delivered(t, b, p, runs) {
				for k := range got { // equal names got a number
					got[k], _, _ = strings.Cut(got[k], "#")
				}
				if !slices.Equal(got, want) {
					t.Fatalf("run %d delivers %v and should deliver %v", i, got, want)
				}
			}
		})
	}
}

func sortedKeys(m map[string]json.RawMessage) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestOrderBehindProducts runs programs whose first hooks wait for matrix products and whose later ones could run at
// once, with more than eight thunks and buffers beyond 4 KB, so that XLA's executor runs them concurrently: as they
// stand, in a loop, and in a branch.
func TestOrderBehindProducts(t *testing.T) {
	b := open(t, "cpu")
	for _, where := range []string{"straight", "loop", "branch"} {
		t.Run(where, func(t *testing.T) {
			text, want := products(where)
			p, err := load(where+".mlir", []byte(text), passes.RewriteOptions{Targets: []string{"h"}})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for i, got := range delivered(t, b, p, count(t, "HLOCB_ORDER_RUNS", 20)) {
				if !slices.Equal(got, want) {
					t.Fatalf("run %d delivers %v and should deliver %v", i, got, want)
				}
			}
		})
	}
}

// products returns a program with twelve hooks, each third behind a chain of products, and the order of its events.
func products(where string) (text string, want []string) {
	var w strings.Builder
	const m, v = "tensor<192x192xf32>", "tensor<1200xf32>"
	body := func(a, x string) {
		last := a
		for i := range 12 {
			op := x
			switch i % 3 {
			case 0:
				n := fmt.Sprintf("%%p%d", i)
				fmt.Fprintf(&w, "%s = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] : (%s, %s) -> %s\n", n, last, a, m, m, m)
				last = n
				fmt.Fprintf(&w, "stablehlo.custom_call @h(%s) {api_version = 4 : i32, backend_config = {name = \"e%d\"}, has_side_effect = true} : (%s) -> ()\n", n, i, m)
				continue
			case 1:
				op = fmt.Sprintf("%%s%d", i)
				fmt.Fprintf(&w, "%s = stablehlo.sine %s : %s\n", op, x, v)
			}
			fmt.Fprintf(&w, "stablehlo.custom_call @h(%s) {api_version = 4 : i32, backend_config = {name = \"e%d\"}, has_side_effect = true} : (%s) -> ()\n", op, i, v)
		}
	}
	names := func() {
		for i := range 12 {
			want = append(want, fmt.Sprintf("e%d", i))
		}
	}
	fmt.Fprintf(&w, "func.func public @main(%%a: %s, %%x: %s) -> %s {\n", m, v, v)
	switch where {
	case "straight":
		body("%a", "%x")
		names()
		fmt.Fprintf(&w, "return %%x : %s\n", v)
	case "loop":
		fmt.Fprintf(&w, "%%z = stablehlo.constant dense<0> : tensor<i32>\n%%r:2 = stablehlo.while(%%i = %%z, %%y = %%x) : tensor<i32>, %s\ncond {\n", v)
		w.WriteString("%n = stablehlo.constant dense<3> : tensor<i32>\n%c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %c : tensor<i1>\n} do {\n")
		body("%a", "%y")
		fmt.Fprintf(&w, "%%one = stablehlo.constant dense<1> : tensor<i32>\n%%j = stablehlo.add %%i, %%one : tensor<i32>\n%%q = stablehlo.negate %%y : %s\nstablehlo.return %%j, %%q : tensor<i32>, %s\n}\nreturn %%r#1 : %s\n", v, v, v)
		for range 3 {
			names()
		}
	case "branch":
		fmt.Fprintf(&w, "%%p = stablehlo.constant dense<true> : tensor<i1>\n%%y = stablehlo.negate %%x : %s\n%%r = \"stablehlo.if\"(%%p) ({\n", v)
		body("%a", "%y")
		fmt.Fprintf(&w, "stablehlo.return %%y : %s\n}, {\nstablehlo.return %%x : %s\n}) : (tensor<i1>) -> %s\n", v, v, v)
		fmt.Fprintf(&w, "stablehlo.custom_call @h(%%x) {api_version = 4 : i32, backend_config = {name = \"end\"}, has_side_effect = true} : (%s) -> ()\nreturn %%r : %s\n", v, v)
		names()
		want = append(want, "end")
	}
	w.WriteString("}\n")
	return w.String(), want
}
