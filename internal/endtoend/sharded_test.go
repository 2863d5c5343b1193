package endtoend

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// runSharded runs a module of testdata/mlir with its text changed and its calls of @probe as hooks. It compares the
// events, sorted by device and sequence, and the results.
func runSharded(t *testing.T, b runtime.Backend, file string, change *strings.Replacer, times int, args ...*tensor.Tensor) {
	t.Helper()
	text := readFile(t, filepath.Join("..", "..", "testdata", "mlir", file))
	p, err := rewrite(file, []byte(change.Replace(string(text))), passes.RewriteHooks{Targets: []string{"probe"}})
	if err != nil {
		t.Fatal(err)
	}
	runShardedProgram(t, b, p, file, times, args...)
}

// runShardedProgram runs a program that was made from a module of testdata/mlir.
func runShardedProgram(t *testing.T, b runtime.Backend, p *runtime.Program, file string, times int, args ...*tensor.Tensor) {
	t.Helper()
	var mu sync.Mutex
	var got []string
	var h runtime.Bindings
	h.Answer("*", handlers.Echo())
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("d%d r%d p%d #%d %s %v", c.Device, c.Replica, c.Partition, c.Seq, c.Site.Name, tensor.View[float32](c.Operands[0])))
		return nil
	}))
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		t.Fatalf("%v\n%s", err, moduleText(p))
	}
	defer e.Close()
	want := strings.Join(shardedWant(file, args), "\n")
	for range times {
		got = nil
		results, err := e.Run(context.Background(), args)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		for _, r := range results {
			got = append(got, fmt.Sprint(r.Shape(), tensor.View[float32](r)))
		}
		if strings.Join(got, "\n") != want {
			t.Fatalf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), want)
		}
	}
}

// shardedWant computes the expected events and results of the modules from their arguments.
func shardedWant(file string, args []*tensor.Tensor) []string {
	x := tensor.View[float32](args[0])
	var events, results []string
	switch file {
	case "sharded_shardy.mlir":
		n, k := len(x)/4, tensor.View[float32](args[1])[0]
		var y, sum []float32
		sum = make([]float32, 2)
		for i, v := range x {
			y = append(y, v*k)
			sum[i%2] += v * k
		}
		for d := range n {
			events = append(events, fmt.Sprintf("d%d r0 p%d #0 shard %v", d, d, x[4*d:4*d+4]), fmt.Sprintf("d%d r0 p%d #1 sum %v", d, d, sum))
		}
		results = []string{fmt.Sprint([]int{2 * n, 2}, y), fmt.Sprint([]int{2}, sum)}
	case "sharded_gspmd.mlir":
		n := len(x) / 2
		var twice, y []float32
		for _, v := range x {
			twice, y = append(twice, 2*v), append(y, 4*v*v)
		}
		for d := range n {
			seq := 0
			if d == 0 {
				events = append(events, fmt.Sprintf("d0 r0 p0 #0 whole %v", twice))
				seq = 1
			}
			events = append(events, fmt.Sprintf("d%d r0 p%d #%d shard %v", d, d, seq, twice[2*d:2*d+2]))
		}
		results = []string{fmt.Sprint([]int{2 * n}, y)}
	case "replicated.mlir":
		for d := range 2 {
			events = append(events, fmt.Sprintf("d%d r%d p0 #0 before %v", d, d, x), fmt.Sprintf("d%d r%d p0 #1 after %v", d, d, []float32{2 * x[0], 2 * x[1]}))
		}
		results = []string{fmt.Sprint([]int{2}, []float32{2 * x[0], 2 * x[1]})}
	}
	slices.Sort(events)
	return append(events, results...)
}

// count returns first, first+1, ...
func count(shape tensor.Shape, first float32) *tensor.Tensor {
	t := tensor.New(tensor.F32, shape)
	for i := range tensor.View[float32](t) {
		tensor.View[float32](t)[i] = first + float32(i)
	}
	return t
}

// TestSharded runs programs partitioned by Shardy and by GSPMD on two, four and eight devices, and a replicated one:
// hooks with the whole value and with shards, before and after collectives.
func TestSharded(t *testing.T) {
	times := orderRuns(t, 50)
	b := open(t, "cpu")
	for _, n := range []int{2, 4, 8} {
		if !label.Part(n == 4) {
			continue
		}
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint(i))
		}
		change := strings.NewReplacer("num_partitions = 4", fmt.Sprintf("num_partitions = %d", n), `"x"=4`, fmt.Sprintf(`"x"=%d`, n),
			"tensor<8x", fmt.Sprintf("tensor<%dx", 2*n), "[[0, 1, 2, 3]]", "[["+strings.Join(ids, ", ")+"]]", "tensor<1x4xi64>", fmt.Sprintf("tensor<1x%dxi64>", n),
			"devices=[4]<=[4]", fmt.Sprintf("devices=[%d]<=[%d]", n, n))
		t.Run(fmt.Sprintf("shardy/%d", n), func(t *testing.T) {
			runSharded(t, b, "sharded_shardy.mlir", change, times, count(tensor.Shape{int64(2 * n), 2}, 1), count(nil, 3))
		})
		t.Run(fmt.Sprintf("gspmd/%d", n), func(t *testing.T) {
			runSharded(t, b, "sharded_gspmd.mlir", change, times, count(tensor.Shape{int64(2 * n)}, 1))
		})
	}
	t.Run("replicated", func(t *testing.T) {
		runSharded(t, b, "replicated.mlir", strings.NewReplacer(), times, count(tensor.Shape{2}, 1))
	})
}
