package passes_test

import (
	"context"
	"fmt"
	"github.com/hlocb/hlocb/hook"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	hooks "github.com/hlocb/hlocb/internal/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
)

// verifyBoth verifies m whole and what changed of it, and fails where the two disagree.
func verifyBoth(t *testing.T) func(*ir.Module) error {
	return func(m *ir.Module) error {
		t.Helper()
		want := ir.Verify(m)
		if got := ir.VerifyChanged(m); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of what changed: %v\nof the whole module: %v", got, want)
		}
		return want
	}
}

// TestVerifyChangedRewrites: after each pass of each conversion, verifying what changed finds what verifying the whole
// module finds.
func TestVerifyChangedRewrites(t *testing.T) {
	files, _ := filepath.Glob("../testdata/mlir/*.mlir")
	for _, file := range files {
		for _, out := range hooks.Outputs() {
			for _, order := range []hook.Order{hook.OrderProgram, hook.OrderSource} {
				opts := passes.RewriteOptions{To: out.Name, Order: order, Default: "zeros", Driver: &passes.Driver{Verify: verifyBoth(t)}}
				passes.RewriteHooks(context.Background(), readModule(t, file), opts) // that some cannot be written is tested elsewhere
			}
		}
	}
}

// TestVerifyChangedRandom changes modules at random, right or wrong, and compares what is found wrong.
func TestVerifyChangedRandom(t *testing.T) {
	files, _ := filepath.Glob("../testdata/mlir/*.mlir")
	runs := 40
	if os.Getenv("HLOCB_LONG") != "" {
		runs = 2000
	}
	wrong := 0
	for _, file := range files {
		for seed := range runs {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			m := readModule(t, file)
			if err := ir.VerifyChanged(m); err != nil {
				t.Fatal(err)
			}
			var done []string
			for range 12 {
				done = append(done, mutate(rng, m))
				if rng.IntN(2) > 0 {
					continue
				}
				want := ir.Verify(m)
				if got := ir.VerifyChanged(m); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%s, seed %d, after %q: of what changed: %v\nof the whole module: %v", filepath.Base(file), seed, done, got, want)
				}
				if want != nil {
					wrong++
				}
			}
		}
	}
	if wrong == 0 {
		t.Error("no change was wrong")
	}
}

// mutate changes something of m and says what.
func mutate(rng *rand.Rand, m *ir.Module) string {
	var ops []*ir.Op
	var vals []*ir.Value
	m.Walk(func(op *ir.Op) bool {
		ops = append(ops, op)
		for _, v := range op.Results() {
			vals = append(vals, v)
		}
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				vals = append(vals, b.Args()...)
			}
		}
		return true
	})
	op := ops[rng.IntN(len(ops))]
	any := func() *ir.Value { return vals[rng.IntN(len(vals))] }
	what := rng.IntN(9)
	switch what {
	case 0, 1:
		if op.NumOperands() > 0 {
			i := rng.IntN(op.NumOperands())
			v := any()
			for k := 0; k < 50 && what == 1 && v.Type() != op.Operand(i).Type(); k++ {
				v = any()
			}
			op.SetOperand(i, v)
		}
	case 2:
		if a := op.Attrs(); len(a) > 0 {
			op.RemoveAttr(a[rng.IntN(len(a))].Name)
		}
	case 3:
		if a := op.Attrs(); len(a) > 0 {
			from := ops[rng.IntN(len(ops))]
			name := a[rng.IntN(len(a))].Name
			if other := from.Attr(name); other != nil {
				op.SetAttr(name, other)
			} else {
				op.SetAttr(name, ir.NewString("loss_and_grad"))
			}
		}
	case 4:
		if to := ops[rng.IntN(len(ops))]; !op.IsAncestorOf(to) {
			op.MoveBefore(to)
		}
	case 5:
		any().SetType(any().Type())
	case 6:
		for _, v := range op.Results() {
			if v.HasUses() {
				return "nothing"
			}
		}
		if op.NumRegions() == 0 {
			op.Erase()
		}
	case 7:
		if op.NumRegions() > 0 && op.Region(0).Entry() != nil {
			op.Region(0).Entry().InsertArg(0, any().Type(), nil)
		}
	case 8:
		v, w := any(), any()
		for k := 0; k < 50 && v.Type() != w.Type(); k++ {
			w = any()
		}
		v.ReplaceAllUsesWith(w)
	}
	return fmt.Sprint(what, " ", op.Name())
}
