package transforms_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
)

// TestGrowth: HLO of twice as many computations, fusions, loops, calls, hooks or aliases takes about twice the memory
// that passes allocate in all until the HLO is written again. The count is exact, unlike a time.
func TestGrowth(t *testing.T) {
	label.Slow(t)
	const hook = "custom-call(%s), custom_call_target=\"h\", custom_call_has_side_effect=true"
	callee := func(name, body string) string {
		return fmt.Sprintf("%%%s (p: f32[4]) -> f32[4] {\n  %%p = f32[4]{0} parameter(0)\n  %s\n}\n\n", name, body)
	}
	sine := "ROOT %s = f32[4]{0} sine(%p)"
	hooked := "ROOT %s = f32[4]{0} " + fmt.Sprintf(hook, "%p")
	// Each text has n parts; part i is called with, and defines, %x.i and %x.i+1.
	chain := func(n int, before func(i int) string, part func(i int) string) string {
		var comps, main strings.Builder
		for i := range n {
			if before != nil {
				comps.WriteString(before(i))
			}
			main.WriteString("  " + part(i) + "\n")
		}
		return "HloModule m\n\n" + comps.String() + "ENTRY %main (v: f32[4]) -> f32[4] {\n  %x.0 = f32[4]{0} parameter(0)\n" + main.String() +
			fmt.Sprintf("  ROOT %%h = f32[4]{0} "+hook+"\n}\n", fmt.Sprintf("%%x.%d", n))
	}
	loop := func(i int, cond, body string) string {
		return fmt.Sprintf("%%cond.%d (c: f32[4]) -> pred[] {\n  %%c = f32[4]{0} parameter(0)\n  %s\n}\n\n", i, cond) + callee(fmt.Sprintf("body.%d", i), body)
	}
	test := "%z = f32[] constant(0)\n  %i = s32[] constant(0)\n  %e = f32[1]{0} dynamic-slice(%c, %i), dynamic_slice_sizes={1}\n  %r = f32[] reshape(%e)\n  ROOT %l = pred[] compare(%r, %z), direction=LT"
	while := func(i int) string {
		return fmt.Sprintf("%%x.%d = f32[4]{0} while(%%x.%d), condition=%%cond.%d, body=%%body.%d", i+1, i, i, i)
	}
	call := func(i int) string { return fmt.Sprintf("%%x.%d = f32[4]{0} call(%%x.%d), to_apply=%%c.%d", i+1, i, i) }
	for name, text := range map[string]func(n int) string{
		"instructions": func(n int) string {
			return chain(n, nil, func(i int) string { return fmt.Sprintf("%%x.%d = f32[4]{0} sine(%%x.%d)", i+1, i) })
		},
		"hooks": func(n int) string {
			return chain(n, nil, func(i int) string { return fmt.Sprintf("%%x.%d = f32[4]{0} "+hook, i+1, fmt.Sprintf("%%x.%d", i)) })
		},
		"calls": func(n int) string {
			return chain(n, func(i int) string { return callee(fmt.Sprintf("c.%d", i), sine) }, call)
		},
		"calls of hooks": func(n int) string {
			return chain(n, func(i int) string { return callee(fmt.Sprintf("c.%d", i), hooked) }, call)
		},
		"fusions": func(n int) string {
			return chain(n, func(i int) string { return callee(fmt.Sprintf("f.%d", i), sine) }, func(i int) string {
				return fmt.Sprintf("%%x.%d = f32[4]{0} fusion(%%x.%d), kind=kLoop, calls=%%f.%d", i+1, i, i)
			})
		},
		"loops":          func(n int) string { return chain(n, func(i int) string { return loop(i, test, sine) }, while) },
		"loops of hooks": func(n int) string { return chain(n, func(i int) string { return loop(i, test, hooked) }, while) },
		"hooks in conditions": func(n int) string {
			cond := strings.Replace(test, "dynamic-slice(%c", "dynamic-slice(%k", 1)
			return chain(n, func(i int) string { return loop(i, "%k = f32[4]{0} "+fmt.Sprintf(hook, "%c")+"\n  "+cond, sine) }, while)
		},
		"aliases": func(n int) string {
			var aliases, params, types, args strings.Builder
			for i := range n {
				fmt.Fprintf(&aliases, ", {%d}: (%d, {}, may-alias)", i, i)
				fmt.Fprintf(&params, "  %%p.%d = f32[4]{0} parameter(%d)\n  %%s.%d = f32[4]{0} sine(%%p.%d)\n", i, i, i, i)
				types.WriteString(", f32[4]{0}")
				fmt.Fprintf(&args, ", %%s.%d", i)
			}
			return "HloModule m, input_output_alias={" + aliases.String()[2:] + "}\n\nENTRY %main {\n" + params.String() +
				"  %h = f32[4]{0} " + fmt.Sprintf(hook, "%p.0") + "\n  ROOT %t = (" + types.String()[2:] + ") tuple(" + args.String()[2:] + ")\n}\n"
		},
		"parts of a state": stateOf,
	} {
		for _, pipeline := range []string{"rewrite-hooks{targets=h}", "func.func(canonicalize,cse),symbol-dce,rewrite-hooks{targets=h}", tapAll} {
			work := func(n int) float64 {
				var before, after runtime.MemStats
				source := []byte(text(n))
				runtime.ReadMemStats(&before)
				if err := throughPasses(source, pipeline); err != nil {
					t.Fatalf("%s, %s: %v", name, pipeline, err)
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			work(100) // tables that are made once
			if a, b := work(800), work(1600); b > 2.4*a {
				t.Errorf("%s, %s: twice as many take %.2f times the memory", name, pipeline, b/a)
			}
		}
	}
}

// TestGrowthOfTime: a search of the parts of a tuple for each part would allocate nothing. Eight times as many parts
// take about eight times the processor time, and 64 times with such a search.
func TestGrowthOfTime(t *testing.T) {
	label.Slow(t)
	work := func(n int) time.Duration {
		best := time.Duration(math.MaxInt64) // a collection or another test may disturb one of them
		for range 2 {
			runtime.GC()
			begin := meter.ProcessorTime()
			if err := throughPasses([]byte(stateOf(n)), "rewrite-hooks{targets=h}"); err != nil {
				t.Fatal(err)
			}
			best = min(best, meter.ProcessorTime()-begin)
		}
		return best
	}
	if a, b := work(2000), work(16000); b > 24*a {
		t.Errorf("a state of eight times as many parts takes %v instead of %v", b, a)
	}
}

// stateOf returns a loop whose state has n parts. A hook in its body adds a part.
func stateOf(n int) string {
	var types, parts, args strings.Builder
	for i := range n {
		types.WriteString(", f32[4]{0}")
		fmt.Fprintf(&parts, "  %%e.%d = f32[4]{0} get-tuple-element(%%s), index=%d\n  %%n.%d = f32[4]{0} negate(%%e.%d)\n", i, i, i, i)
		fmt.Fprintf(&args, ", %%n.%d", i)
	}
	state := "(" + types.String()[2:] + ")"
	return "HloModule m\n\n%cond (s: " + state + ") -> pred[] {\n  %s = " + state + " parameter(0)\n  %e = f32[4]{0} get-tuple-element(%s), index=0\n" +
		"  %i = s32[] constant(0)\n  %x = f32[1]{0} dynamic-slice(%e, %i), dynamic_slice_sizes={1}\n  %r = f32[] reshape(%x)\n  %z = f32[] constant(0)\n" +
		"  ROOT %l = pred[] compare(%r, %z), direction=LT\n}\n\n%body (s: " + state + ") -> " + state + " {\n  %s = " + state + " parameter(0)\n" + parts.String() +
		"  %h = f32[4]{0} custom-call(%n.0), custom_call_target=\"h\", custom_call_has_side_effect=true\n  ROOT %t = " + state +
		" tuple(%h" + strings.TrimPrefix(args.String(), ", %n.0") + ")\n}\n\nENTRY %main (s: " + state + ") -> " + state + " {\n  %s = " + state +
		" parameter(0)\n  %w = " + state + " while(%s), condition=%cond, body=%body\n" + strings.ReplaceAll(parts.String(), "(%s)", "(%w)") +
		"  ROOT %t = " + state + " tuple(" + args.String()[2:] + ")\n}\n"
}

// tapAll stands for a probe of every value, as 'hlocb tap' adds it.
const tapAll = "tap"

// throughPasses reads HLO, runs a pipeline or taps every value, and writes the HLO.
func throughPasses(source []byte, pipeline string) error {
	m, err := reader.Read(diag.NewSource("in.hlo", source))
	if err != nil {
		return err
	}
	if pipeline == tapAll {
		if _, err := probe.Add(m, []probe.Tap{{Patterns: []*regexp.Regexp{regexp.MustCompile("")}, Kind: probe.Print}}); err != nil {
			return err
		}
		pipeline = "rewrite-hooks{targets=h}"
	}
	p, err := pass.Parse(pipeline, opt.Passes())
	if err == nil {
		err = (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), p)
	}
	if err != nil {
		return err
	}
	h, err := reader.ToHLO(context.Background(), m)
	if err != nil {
		return err
	}
	return h.WriteText(io.Discard, hlo.TextOptions{})
}
