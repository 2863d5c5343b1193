package endtoend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
)

// unsuited lists the passes that random pipelines leave out, and why.
var unsuited = map[string]string{
	"stablehlo-refine-arguments":        "needs types that suit the program",
	"stablehlo-wrap-in-composite":       "needs names of ops, and upstream's gives composites that the engine calls",
	"stablehlo-compatibility-expander":  "needs a version",
	"bind-arguments":                    "needs arguments",
	"isolate-function":                  "needs a function",
	"specialize":                        "needs arguments",
	"stablehlo-convert-to-signless":     "changes the types of results",
	"interpreter-instrument-with-probe": "adds probes, which are events",
	"outline":                           "needs names of ops",
}

// refusals are the programs that a pass refuses, by a part of the error: as upstream's, refine-shapes does not copy a
// function that is called with several values of an integer.
var refusals = map[string]string{"stablehlo-refine-shapes": "refined with incompatible refinement keys"}

// copies lists the passes that copy ops. A copied hook keeps its id only in hlocb's own form, so the hooks are rewritten
// first.
var copies = map[string]bool{"inline": true, "unroll-loops": true}

// ordinary returns the passes of hlocb that any program may go through, at their anchors.
func ordinary(t *testing.T) (names []string, byName map[string]pass.Pass) {
	t.Helper()
	byName = map[string]pass.Pass{}
	for _, p := range passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 30)}).Passes() {
		i := p.Info()
		if unsuited[i.Name] != "" || strings.HasSuffix(i.Name, "-hooks") || i.Name == "check-order" || strings.Contains(i.Name, "vhlo") {
			continue
		}
		if i.Anchor == fn.Func.Name {
			p = pass.On(i.Anchor, p)
		}
		names, byName[i.Name] = append(names, i.Name), p
	}
	return names, byName
}

// throughPasses runs five random passes on a random program, the hooks being rewritten before the last two of them or
// at the end, and compares events and results with the reference.
func throughPasses(p *randprog.Program, pipeline pass.Pipeline, early bool, list ...runtime.Backend) error {
	want, err := p.Eval()
	if err != nil {
		return err
	}
	m, err := testkit.TryParse("random.mlir", p.Text())
	if err != nil {
		return err
	}
	ctx := pass.NewContext(context.Background(), m)
	d := &pass.Driver{Verify: ir.Verify}
	opts := rewriteOptions(p)
	at := len(pipeline)
	if early {
		at = 3
	}
	if i := slices.IndexFunc(pipeline, func(p pass.Pass) bool { return copies[p.Info().Name] }); i >= 0 {
		at = min(at, i)
	}
	all := slices.Insert(slices.Clone(pipeline), at, pass.Pass(opts))
	for _, step := range all {
		if err := d.Run(ctx, pass.Pipeline{step}); err != nil {
			if text := refusals[step.Info().Name]; text != "" && strings.Contains(err.Error(), text) {
				return nil
			}
			return fmt.Errorf("%s: %w", pass.Text(step), err)
		}
		if step.Info().Idempotent {
			once := print.String(m, print.Options{})
			if err := d.Run(ctx, pass.Pipeline{step}); err != nil {
				return fmt.Errorf("%s again: %w", pass.Text(step), err)
			}
			if twice := print.String(m, print.Options{}); twice != once {
				return fmt.Errorf("%s changes the module again:\n%s\n-- became\n%s", pass.Text(step), once, twice)
			}
		}
	}
	text := print.String(m, print.Options{})
	again, err := testkit.TryParse("passed.mlir", text)
	if err != nil {
		return fmt.Errorf("read back: %w\n%s", err, text)
	}
	manifest, _ := passes.Manifest.Get(ctx) // with the ids that the hooks had in the source
	prog := &runtime.Program{Module: again, Manifest: manifest}
	for _, b := range list {
		if err := run(p, want, b, prog, false, 1); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	return nil
}

// TestPassesKeepPrograms: random programs with hooks keep their events, the order of these and their results, bit for
// bit, through random pipelines of five passes: all on the embedded engine, some on XLA. Passes that say that they are
// idempotent change nothing the second time. 'make soak' runs 10,000 programs.
func TestPassesKeepPrograms(t *testing.T) {
	n, every := uint64(300), uint64(10)
	if long() {
		n, every = 10000, 10
	}
	names, byName := ordinary(t)
	ran := map[string]int{}
	engine := open(t, "interp")
	var xla runtime.Backend
	t.Run("xla", func(t *testing.T) { xla = open(t, "cpu") })
	failed := 0
	for i := range n {
		seed := firstSeed(t) + i
		p := randprog.New(seed+3e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms))})
		rng := rand.New(rand.NewPCG(seed, 1))
		var pipeline pass.Pipeline
		for range 5 {
			name := names[rng.IntN(len(names))]
			ran[name]++
			pipeline = append(pipeline, byName[name])
		}
		list := []runtime.Backend{engine}
		if xla != nil && seed%every == 0 {
			list = append(list, xla)
		}
		if err := throughPasses(p, pipeline, seed%2 == 0, list...); err != nil {
			report(t, p, fmt.Errorf("%s: %w", pipeline, err))
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
	for _, name := range names {
		t.Logf("%-45s %5d times", name, ran[name])
	}
}
