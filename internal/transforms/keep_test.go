package transforms_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/verify"
)

// exactPasses are the passes that keep every bit of a result. Each random program runs some of them.
var exactPasses = []string{
	"canonicalize", "cse", "dce", "symbol-dce", "inline", "sccp", "loop-invariant-code-motion", "unroll-loops", "outline-regions{min-ops=1}",
	"func.func(stablehlo-aggressive-folder)", "func.func(stablehlo-aggressive-simplification)",
	"func.func(stablehlo-target-independent-optimization)", "func.func(token-cleanup)",
}

// TestPassesKeepResults runs random pipelines over random programs and executes them on the engine. Passes must keep
// every bit of every result, also without some of their rules. In half of the programs the arguments are constants, and
// passes can compute with them. It runs 300 programs, or 10,000 with HLOCB_LONG=1.
func TestPassesKeepResults(t *testing.T) {
	label.Once(t)
	n := 300
	if os.Getenv("HLOCB_LONG") == "1" {
		n = 10000
	}
	g, err := opgen.New(11)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	engine, err := backends.Open(ctx, "interp", backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	table := passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 30)})
	rng := rand.New(rand.NewPCG(3, 5))
	rules := map[string][]string{} // that a pass has applied so far, by the pass's name
	seen := pass.Instrument{After: func(s pass.Step, o pass.Outcome) {
		for _, c := range o.Counts {
			rule, ok := strings.CutPrefix(c.Name, "rule ")
			if name := s.Pass.Info().Name; ok && !slices.Contains(rules[name], rule) {
				rules[name] = append(rules[name], rule)
			}
		}
	}}
	ran, disabled := 0, 0
	for i := range n {
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Outcome(ctx, engine)
		if err != nil || strings.Contains(print.String(p.Run.Module, print.Options{}), "across dimensions = []") {
			continue // the specification requires a neutral initial value; random reductions may have another
		}
		args := p.Args
		var pipeline []string
		if rng.IntN(2) == 0 && len(args) > 0 {
			var list []string
			for _, a := range args {
				list = append(list, string(a.AppendLiteral(nil, 1<<20)))
			}
			pipeline, args = append(pipeline, "bind-arguments{args={"+strings.Join(list, ";")+"}}"), nil
		}
		for range 1 + rng.IntN(4) {
			text := exactPasses[rng.IntN(len(exactPasses))]
			name := strings.TrimSuffix(strings.TrimPrefix(text, "func.func("), ")")
			var without []string
			for _, rule := range rules[name] {
				if rng.IntN(6) == 0 {
					without = append(without, rule)
				}
			}
			if len(without) > 0 && name != "inline" { // its rules are those of canonicalize
				disabled += len(without)
				text = strings.Replace(text, name, name+"{disable-patterns="+strings.Join(without, ",")+"}", 1)
			}
			pipeline = append(pipeline, text)
		}
		ran++
		passed, err := pass.Parse(strings.Join(pipeline, ","), table)
		if err != nil {
			t.Fatal(err)
		}
		m := p.Run.Module
		before := print.String(m, print.Options{})
		driver := &pass.Driver{Verify: ir.VerifyContext, Instruments: []pass.Instrument{seen}}
		if err := driver.Run(pass.NewContext(ctx, m), passed); err != nil {
			t.Errorf("program %d, %s: %v\n%s", i, passed, err, before)
			continue
		}
		got, err := (&opgen.Program{Run: &runtime.Program{Module: m}, Args: args}).Outcome(ctx, engine)
		if err != nil {
			t.Errorf("program %d, %s: %v\n%s\n%s", i, passed, err, before, print.String(m, print.Options{}))
			continue
		}
		for k := range want {
			if c := verify.Compare(want[k], got[k], verify.Tolerance{}); !c.Equal() {
				t.Errorf("program %d, %s: result %d differs in %d elements\n%s\n%s", i, passed, k, c.Different, before, print.String(m, print.Options{}))
			}
		}
	}
	t.Logf("%d programs, %d rules disabled", ran, disabled)
	if disabled < 100 || len(rules) < 4 {
		t.Errorf("only %d rules of %d passes were disabled", disabled, len(rules))
	}
}
