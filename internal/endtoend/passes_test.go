package endtoend

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// unsuited lists the passes that random pipelines leave out, with the reasons. Every pipeline has rewrite-hooks, which
// runs the passes on hooks.
var unsuited = map[string]string{
	"rewrite-hooks": "in every pipeline",
	"raise-hooks":   "part of rewrite-hooks", "order-hooks": "part of rewrite-hooks", "place-hooks": "part of rewrite-hooks", "alias-hooks": "part of rewrite-hooks",
	"list-hooks": "part of rewrite-hooks", "lower-hooks": "part of rewrite-hooks", "check-order": "part of rewrite-hooks",
	"vhlo-to-version": "runs with stablehlo-legalize-to-vhlo", "vhlo-legalize-to-stablehlo": "runs with stablehlo-legalize-to-vhlo",
	"interpreter-instrument-with-probe": "adds probes, which are events",
	"stablehlo-convert-to-signless":     "as upstream's, changes what ops on unsigned integers compute",
}

// optioned are the pipelines of passes that need options or another pass. In them, TYPES are the types of main's
// arguments and VALUE is the value of its first argument.
var optioned = map[string]string{
	"stablehlo-refine-arguments":       "stablehlo-refine-arguments{types=TYPES},stablehlo-refine-shapes",
	"stablehlo-wrap-in-composite":      "stablehlo-wrap-in-composite{op-names=stablehlo.negate,stablehlo.multiply version=1}",
	"stablehlo-compatibility-expander": "stablehlo-compatibility-expander{target=1.0.0}",
	"stablehlo-legalize-to-vhlo":       "stablehlo-legalize-to-vhlo,vhlo-to-version{target=1.9.0},vhlo-legalize-to-stablehlo",
	"bind-arguments":                   "bind-arguments{args={VALUE}}",
	"specialize":                       "specialize{args={VALUE}}",
	"outline-regions":                  "outline-regions{min-ops=1}",
}

// refusal is part of the error for programs that stablehlo-refine-shapes refuses: like upstream's pass, it does not
// copy a function that is called with several values of an integer.
const refusal = "refined with incompatible refinement keys"

// copies lists the passes that copy ops. A copied hook keeps its id only in hlocb's own form, so the hooks are
// rewritten first.
var copies = map[string]bool{"inline": true, "unroll-loops": true, "specialize": true}

// drawn returns the passes that random pipelines may contain. Passes that do not suit every program are listed twice.
func drawn(table *pass.Table) []string {
	var out []string
	for _, name := range table.Names() {
		if unsuited[name] == "" {
			out = append(out, name)
		}
		if strings.Contains(optioned[name], "VALUE") {
			out = append(out, name)
		}
	}
	return out
}

// suits reports whether a pass suits a program. Passes that need main's first argument do not suit EXLA's programs,
// whose main has a different first argument.
func suits(name string, p *randprog.Program) bool {
	return !strings.Contains(optioned[name], "VALUE") || p.Form != randprog.EXLA && len(p.Args) > 0
}

// pipelineOf returns the pipeline of a pass for a module with the given arguments, and the arguments after it.
func pipelineOf(name string, table *pass.Table, m *ir.Module, args []*tensor.Tensor) (pass.Pipeline, []*tensor.Tensor, error) {
	found, err := table.Find(name)
	if err != nil {
		return nil, nil, err
	}
	text := cmp.Or(optioned[name], name)
	if strings.Contains(text, "VALUE") {
		if len(args) == 0 {
			text = strings.ReplaceAll(text, "{args={VALUE}}", "")
		} else {
			text, args = strings.ReplaceAll(text, "VALUE", string(args[0].AppendLiteral(nil, 1<<20))), args[1:]
		}
	}
	if main, ok := fn.Lookup(m, "main"); ok {
		var types []string
		for _, t := range main.Type().Inputs() {
			types = append(types, t.String())
		}
		text = strings.ReplaceAll(text, "TYPES", strings.Join(types, ","))
	}
	if anchor := found.Info().Anchor; anchor != "" {
		text = anchor + "(" + text + ")"
	}
	p, err := pass.Parse(text, table)
	return p, args, err
}

// throughPasses runs passes on a random program and compares events and results with the reference. It rewrites the
// hooks before the last two passes or at the end. It counts the passes that changed the program.
func throughPasses(p *randprog.Program, names []string, table *pass.Table, early bool, changed map[string]int, list ...runtime.Backend) error {
	want, err := p.Eval()
	if err != nil {
		return err
	}
	if p.Form == randprog.EXLAOutfeed && len(want.Events) == 0 {
		return nil // if a pass erases the functions with hooks, the end flag is an ordinary outfeed
	}
	m, err := testkit.TryParse("random.mlir", p.Text())
	if err != nil {
		return err
	}
	ctx := pass.NewContext(context.Background(), m)
	d := &pass.Driver{Verify: ir.VerifyContext}
	at := len(names)
	if early {
		at = 3
	}
	if i := slices.IndexFunc(names, func(n string) bool { return copies[n] }); i >= 0 {
		at = min(at, i)
	}
	args := p.Args
	for i := range len(names) + 1 {
		if i == at {
			if err := d.Run(ctx, pass.Pipeline{rewriteOptions(p)}); err != nil {
				return fmt.Errorf("rewrite-hooks: %w", err)
			}
		}
		if i == len(names) {
			break
		}
		step, left, err := pipelineOf(names[i], table, m, args)
		if err != nil {
			return err
		}
		before := print.String(m, print.Options{})
		if err := d.Run(ctx, step); err != nil {
			if strings.Contains(err.Error(), refusal) {
				return nil
			}
			return fmt.Errorf("%s: %w", step, err)
		}
		args = left
		once := print.String(m, print.Options{})
		if once != before {
			changed[names[i]]++
		}
		if found, _ := table.Find(names[i]); found.Info().Idempotent {
			if err := d.Run(ctx, step); err != nil {
				return fmt.Errorf("%s again: %w", step, err)
			}
			if twice := print.String(m, print.Options{}); twice != once {
				return fmt.Errorf("%s changes the module again:\n%s\n-- became\n%s", step, once, twice)
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
	bound := *p
	bound.Args = args
	for _, b := range list {
		if err := run(&bound, want, b, prog, false, 1); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	return nil
}

// TestPassesKeepScopes: passes do with the functions of a module in a module what they do with them alone, though both
// modules, and a third around them, have functions of the same names.
func TestPassesKeepScopes(t *testing.T) {
	table := opt.Passes()
	lists := []string{"sccp", "dce", "remove-dead-values", "symbol-dce", "inline", "cse", "outline-regions{min-ops=1}", "outline-regions{min-ops=1},inline,sccp",
		"stablehlo-wrap-in-composite{op-names=stablehlo.negate,stablehlo.multiply version=1}", "inline,dce,sccp,symbol-dce"}
	seeds := uint64(40)
	if label.Less() {
		seeds = 8
	}
	for seed := range seeds {
		var texts []string
		for i := range uint64(3) {
			texts = append(texts, randprog.New(3*seed+i, randprog.Options{}).Text())
		}
		for _, list := range lists {
			after := func(text string) string {
				m, err := testkit.TryParse("random.mlir", text)
				if err != nil {
					t.Fatal(err)
				}
				p, err := pass.Parse(list, table)
				if err != nil {
					t.Fatal(err)
				}
				if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(t.Context(), m), p); err != nil {
					t.Fatalf("seed %d, %s: %v\n%s", seed, list, err, text)
				}
				return print.String(m, print.Options{})
			}
			want := randprog.Around(after(texts[0]), randprog.Around(after(texts[1]), after(texts[2])))
			if got := after(randprog.Around(texts[0], randprog.Around(texts[1], texts[2]))); got != want {
				t.Fatalf("seed %d, %s: got\n%s\nwant\n%s", seed, list, got, want)
			}
		}
	}
}

// TestPassesKeepPrograms: random programs with hooks keep their events, the order of the events, and their results, bit
// for bit, through random pipelines of five passes. All programs run on the embedded engine, every tenth also on XLA.
// Passes that declare themselves idempotent change nothing the second time. 'make soak' runs 10,000 programs, all of
// them on both backends, and each pass at least 1,000 times.
func TestPassesKeepPrograms(t *testing.T) {
	label.Once(t)
	n, every := uint64(300), uint64(10)
	if long() {
		n, every = 10000, 1
	}
	if text := os.Getenv("HLOCB_PROGRAMS"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	table := opt.Passes()
	names := drawn(table)
	ran, changed := map[string]int{}, map[string]int{}
	engine := open(t, "interp")
	var xla runtime.Backend
	t.Run("xla", func(t *testing.T) { xla = open(t, "cpu") })
	failed := 0
	for i := range n {
		if !label.Part(i < n/3) {
			continue
		}
		seed := firstSeed(t) + i
		p := randprog.New(seed+3e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms))})
		rng := rand.New(rand.NewPCG(seed, 1))
		var pipeline []string
		for len(pipeline) < 5 {
			name := names[rng.IntN(len(names))]
			if suits(name, p) {
				pipeline = append(pipeline, name)
				ran[name]++
			}
		}
		list := []runtime.Backend{engine}
		if xla != nil && seed%every == 0 {
			list = append(list, xla)
		}
		if err := throughPasses(p, pipeline, table, seed%2 == 0, changed, list...); err != nil {
			report(t, p, fmt.Errorf("%s: %w", strings.Join(pipeline, ","), err))
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
	for _, name := range slices.Compact(names) {
		t.Logf("%-45s %5d times, changed the program %5d times", name, ran[name], changed[name])
		if n >= 10000 && ran[name] < 1000 {
			t.Errorf("%s ran %d times only", name, ran[name])
		}
	}
}
