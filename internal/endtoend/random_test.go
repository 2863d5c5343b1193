package endtoend

import (
	"cmp"
	"os"
	"strconv"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// count returns how many programs or runs a test takes: the environment variable, or def.
func count(t *testing.T, env string, def int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(env), strconv.Itoa(def)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRandomPrograms rewrites random programs with hooks of all formats in nested control flow and compares events
// and results, bit for bit, with what the program means. HLOCB_RANDOM_PROGRAMS says how many.
func TestRandomPrograms(t *testing.T) {
	t.Run("interp", func(t *testing.T) { randomPrograms(t, open(t, "interp"), count(t, "HLOCB_RANDOM_PROGRAMS", 400), 1) })
	t.Run("cpu", func(t *testing.T) {
		randomPrograms(t, open(t, "cpu"), count(t, "HLOCB_RANDOM_PROGRAMS_CPU", 30), 1000001)
	})
}

func randomPrograms(t *testing.T, b runtime.Backend, n int, seed uint64) {
	delivered := 0
	for i := range n {
		p := generate(seed + uint64(i))
		v0, v1, num := []float32{1, -2, 3.5, 0.25}, []float32{0, 8, -0.5, 64}, int32(i%4)
		text := p.text()
		want, results := p.meaning(v0, v1, num)
		if len(want) > 5000 {
			continue
		}
		opts := passes.RewriteOptions{Targets: []string{"test_hook"}, Alias: hook.AliasMode(i % 3)}
		if i%5 == 4 {
			opts.Chain = hook.ChainToken
		}
		program, err := load("random.mlir", []byte(text), opts)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed+uint64(i), err, text)
		}
		got, out, err := execute(b, program, []*tensor.Tensor{vector(v0), vector(v1), scalar(num)})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed+uint64(i), err, text, program.Text)
		}
		if a, b := eventLines(want), eventLines(got); a != b {
			t.Fatalf("seed %d: events are\n%sand should be\n%s%s\n%s", seed+uint64(i), b, a, text, program.Text)
		}
		for k := range results {
			if !same(floats(out[k]), results[k]) {
				t.Fatalf("seed %d: result %d is %v and should be %v\n%s\n%s", seed+uint64(i), k, floats(out[k]), results[k], text, program.Text)
			}
		}
		delivered += len(got)
	}
	t.Logf("%d programs, %d events", n, delivered)
}
