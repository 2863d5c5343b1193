package opgen_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// engines returns the embedded engine and XLA's CPU plugin, or skips the test.
func engines(t *testing.T) (engine, xla runtime.Backend) {
	t.Helper()
	env := plugins.Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	var missing *plugins.NotFoundError
	if _, err := env.Find("cpu"); errors.As(err, &missing) {
		t.Skipf("skip: %v", err)
	}
	xla, err := backends.Open(context.Background(), "cpu", backends.Options{Plugins: env})
	if err != nil {
		t.Skipf("skip: %v", err)
	}
	t.Cleanup(func() { xla.Close() })
	engine, err = backends.Open(context.Background(), "interp", backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return engine, xla
}

// long reports whether the long tests are asked for.
func long() bool { return os.Getenv("HLOCB_LONG") == "1" }

// TestRandomPrograms executes random programs of one op on the embedded engine and on XLA: 300, with HLOCB_LONG=1
// 10,000. Results of ops that do not round must be the same to the bit, others as close as their rounding errors
// allow.
func TestRandomPrograms(t *testing.T) {
	engine, xla := engines(t)
	n := 300
	if long() {
		n = 10000
	}
	g, err := opgen.New(7)
	if err != nil {
		t.Fatal(err)
	}
	ops, refused := map[string]int{}, 0
	for range n {
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Outcome(context.Background(), xla)
		if err != nil {
			refused++
			t.Logf("XLA refuses %s: %v\n%s", p.Op, err, p.Run.Text)
			continue
		}
		got, err := p.Outcome(context.Background(), engine)
		if err != nil {
			t.Errorf("%v\n%s", err, p.Run.Text)
			continue
		}
		ops[p.Op]++
		if err := opgen.JudgeRandom(p, got, want); err != nil {
			t.Errorf("%v\n%s", err, p.Run.Text)
		}
	}
	t.Logf("%d programs of %d ops compared, %d refused by XLA", n-refused, len(ops), refused)
	if refused > n/20 {
		t.Errorf("XLA refused %d of %d programs", refused, n)
	}
}

// TestJudgeFails changes a result by little and by much: both must be seen where bits are compared, the second always.
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
		if opgen.JudgeRandom(p, got, got) != nil {
			t.Errorf("%s: differs from itself", p.Op)
		}
		bad := []*tensor.Tensor{got[0].Clone()}
		bad = append(bad, got[1:]...)
		v := bad[0].FloatAt(0)
		if math.IsNaN(v) || math.Abs(v) > 1e6 || v != 0 && math.Abs(v) < 1e-30 {
			continue
		}
		bad[0].SetFloat(0, v+1000)
		if opgen.JudgeRandom(p, got, bad) == nil {
			t.Errorf("%s: a result that is off by 1000 is taken for the same\n%s", p.Op, p.Run.Text)
		}
		seen++
	}
	if seen < 10 {
		t.Errorf("only %d programs were tried", seen)
	}
}

// TestEveryMaker: no maker of programs is refused by its op's row every time.
func TestEveryMaker(t *testing.T) {
	g, err := opgen.New(5)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := g.EveryMaker()
	if err != nil {
		t.Fatal(err)
	}
	engine, xla := engines(t)
	for _, p := range programs {
		want, err := p.Outcome(context.Background(), xla)
		if err != nil {
			t.Logf("XLA refuses %s: %v", p.Op, err)
			continue
		}
		got, err := p.Outcome(context.Background(), engine)
		if err != nil {
			t.Errorf("%v\n%s", err, p.Run.Text)
			continue
		}
		if err := opgen.JudgeRandom(p, got, want); err != nil {
			t.Errorf("%s: %v\n%s", p.Op, err, p.Run.Text)
		}
	}
	t.Logf("%d makers", len(programs))
}
