package opgen_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// engines returns the embedded engine and XLA's CPU plugin, or skips the test.
func engines(t *testing.T) (engine, xla runtime.Backend) {
	t.Helper()
	xla, err := openXLA()
	if err != nil {
		t.Skipf("skip: %v", err)
	}
	t.Cleanup(func() { xla.Close() })
	return openEngine(t), xla
}

func openEngine(t *testing.T) runtime.Backend {
	t.Helper()
	engine, err := backends.Open(context.Background(), "interp", backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func openXLA() (runtime.Backend, error) {
	env := plugins.Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	return backends.Open(context.Background(), "cpu", backends.Options{Plugins: env})
}

// long reports whether HLOCB_LONG asks for the long tests.
func long() bool { return os.Getenv("HLOCB_LONG") == "1" }

// again executes a program on the engine with other arguments.
func again(p *opgen.Program, engine runtime.Backend) func([]*tensor.Tensor) ([]*tensor.Tensor, error) {
	return func(args []*tensor.Tensor) ([]*tensor.Tensor, error) {
		other := *p
		other.Args = args
		return other.Outcome(context.Background(), engine)
	}
}

// TestRandomPrograms executes random programs of one op on the embedded engine and on XLA: 200, or 10,000 with
// HLOCB_LONG=1. HLOCB_SEED=N selects other programs. Results of ops that do not round must have the same bits. Other
// results must agree up to their rounding errors. HLOCB_FAILURES=FILE writes all differing programs with their values
// to FILE.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	n := 200
	switch {
	case long():
		n = 10000
	case label.Less():
		n = 60
	}
	compare(t, series{kind: "random", seed: seed(t), count: n})
}

// TestLargePrograms executes random programs on shapes of up to a million elements: 40, or 1,000 with HLOCB_LONG=1.
func TestLargePrograms(t *testing.T) {
	t.Parallel()
	n := 40
	switch {
	case long():
		n = 1000
	case label.Less():
		n = 15
	}
	compare(t, series{kind: "large", seed: seed(t), count: n})
}

// seed returns the seed of the random programs.
func seed(t *testing.T) uint64 {
	text := os.Getenv("HLOCB_SEED")
	if text == "" {
		return 7
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// compare executes a series on both engines.
func compare(t *testing.T, s series) {
	engine, _ := engines(t)
	ops, refusals, deviations := map[string]int{}, map[string]int{}, map[string]int{}
	refused := 0
	var differences []opgen.Difference
	defer func() { report(t, differences) }() // also if the test ends early
	s.onXLA(t, func(i int, p *opgen.Program, o *outcome) {
		if o.Err != "" {
			refused++
			text := strings.ReplaceAll(strings.TrimSpace(o.Err), "\n", " ")
			refusals[fmt.Sprintf("%s on %s to %s: %s", p.Op, p.DType, p.Out, text[:min(len(text), 200)])]++
			if !p.Refused(o.Err) {
				t.Errorf("XLA refuses %s on %s: %s\n%s", p.Op, p.DType, o.Err, print.String(p.Run.Module, print.Options{}))
			}
			return
		}
		want := o.tensors()
		ops[p.Op]++
		got, err := p.Outcome(context.Background(), engine)
		if err == nil {
			var v opgen.Verdict
			v, err = opgen.Judge(p, got, want, again(p, engine))
			for name := range v {
				deviations[name]++
			}
		}
		if err != nil {
			differences = append(differences, opgen.Difference{Number: i, Program: p, A: got, B: want, Why: err})
			if path := os.Getenv("HLOCB_FAILURES"); path != "" { // the differences so far
				writeDifferences(t, path, differences)
			}
		}
	})
	for _, text := range slices.Sorted(maps.Keys(refusals)) {
		t.Logf("XLA refuses %d times %s", refusals[text], text)
	}
	logDeviations(t, deviations)
	t.Logf("seed %d: %d programs of %d ops compared, %d refused by XLA", s.seed, s.count-refused, len(ops), refused)
	if refused > max(3, s.count/50) {
		t.Errorf("XLA refused %d of %d programs", refused, s.count)
	}
}

func logDeviations(t *testing.T, deviations map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(deviations)) {
		t.Logf("XLA deviates in %d programs: %s", deviations[name], name)
	}
}

// report fails the test if programs differ. It logs them unless HLOCB_FAILURES names a file for them.
func report(t *testing.T, differences []opgen.Difference) {
	if len(differences) == 0 {
		return
	}
	t.Errorf("%d programs differ", len(differences))
	if os.Getenv("HLOCB_FAILURES") == "" {
		var b strings.Builder
		opgen.WriteDifferences(&b, differences)
		t.Error(b.String())
	}
}

func writeDifferences(t *testing.T, path string, differences []opgen.Difference) {
	var b strings.Builder
	opgen.WriteDifferences(&b, differences)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// TestJudgeFails changes a result by little and by much. The judge must find the small change if bits are compared, and
// the large one always.
func TestJudgeFails(t *testing.T) {
	engine, _ := engines(t)
	g, err := opgen.New(3)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for range 200 {
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Outcome(context.Background(), engine)
		if err != nil || got[0].NumElements() == 0 || got[0].DType() != tensor.F32 && got[0].DType() != tensor.I32 {
			continue
		}
		if _, err := opgen.Judge(p, got, got, again(p, engine)); err != nil {
			t.Errorf("%s: differs from itself", p.Op)
		}
		bad := []*tensor.Tensor{got[0].Clone()}
		bad = append(bad, got[1:]...)
		v := bad[0].FloatAt(0)
		if math.IsNaN(v) || math.Abs(v) > 1e6 || v != 0 && math.Abs(v) < 1e-30 {
			continue
		}
		bad[0].SetFloat(0, v+1000)
		if _, err := opgen.Judge(p, got, bad, again(p, engine)); err == nil {
			t.Errorf("%s: a result that is off by 1000 is taken for the same\n%s", p.Op, print.String(p.Run.Module, print.Options{}))
		}
		seen++
	}
	if seen < 10 {
		t.Errorf("only %d programs were tried", seen)
	}
}

// TestEveryMaker: the row of an op accepts at least one program of each maker.
func TestEveryMaker(t *testing.T) {
	t.Parallel()
	for i, kind := range []string{"makers-first", "makers-others"} {
		if !label.Part(i == 0) {
			continue
		}
		g, err := opgen.New(5)
		if err != nil {
			t.Fatal(err)
		}
		programs, err := makers(g, kind)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, series{kind: kind, seed: 5, count: len(programs)})
	}
}

// TestMakersAreIndependent: what a generator made before does not change the program of a maker.
func TestMakersAreIndependent(t *testing.T) {
	t.Parallel()
	var texts [2]string
	for i := range texts {
		g, err := opgen.New(5)
		if err != nil {
			t.Fatal(err)
		}
		for range i {
			if _, err := g.Random(); err != nil {
				t.Fatal(err)
			}
		}
		programs, err := g.EveryMaker()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			texts[i] += print.String(p.Run.Module, print.Options{})
		}
	}
	if texts[0] != texts[1] {
		t.Error("after a random program, the makers make other programs")
	}
}
