package transforms_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// keeping are the passes that keep every bit of a result, of which each random program runs some.
var keeping = []string{
	"canonicalize", "cse", "dce", "symbol-dce", "inline", "sccp", "loop-invariant-code-motion", "unroll-loops", "outline-regions{min-ops=1}",
	"func.func(stablehlo-aggressive-folder)", "func.func(stablehlo-aggressive-simplification)",
	"func.func(stablehlo-target-independent-optimization)", "func.func(token-cleanup)",
}

// TestPassesKeepResults runs random pipelines over random programs and executes them on the engine: every result must
// have the bits that it had. In half of the programs the arguments are constants, so that passes can compute with them.
// 300 programs, with HLOCB_LONG=1 10,000.
func TestPassesKeepResults(t *testing.T) {
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
	ran := 0
	for i := range n {
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Outcome(ctx, engine)
		if err != nil {
			continue
		}
		text, args := string(p.Run.Text), p.Args
		var pipeline []string
		if rng.IntN(2) == 0 && len(args) > 0 {
			var list []string
			for _, a := range args {
				list = append(list, string(a.AppendLiteral(nil, 1<<20)))
			}
			pipeline, args = append(pipeline, "bind-arguments{args={"+strings.Join(list, ";")+"}}"), nil
		}
		for range 1 + rng.IntN(4) {
			pipeline = append(pipeline, keeping[rng.IntN(len(keeping))])
		}
		_ = text
		if err := keeps(ctx, engine, p, args, want, strings.Join(pipeline, ","), table); err != nil {
			t.Errorf("program %d (%s of %s): %v", i, p.Op, p.DType, err)
		}
		ran++
	}
	t.Logf("%d programs", ran)
}
