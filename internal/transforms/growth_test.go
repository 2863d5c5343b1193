package transforms_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
)

// TestGrowth: HLO of twice as many computations, fusions, loops, calls, hooks or aliases takes about twice the memory
// that passes allocate in all until the HLO is written again. The count is exact, unlike a time.
func TestGrowth(t *testing.T) {
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
	} {
		for _, pipeline := range []string{"rewrite-hooks{targets=h}", "func.func(canonicalize,cse),symbol-dce,rewrite-hooks{targets=h}"} {
			work := func(n int) float64 {
				var before, after runtime.MemStats
				source := []byte(text(n))
				runtime.ReadMemStats(&before)
				m, err := reader.Read(diag.NewSource("in.hlo", source))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				p, err := pass.Parse(pipeline, opt.Passes())
				if err == nil {
					err = (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), p)
				}
				var h *hlo.Module
				if err == nil {
					h, err = reader.ToHLO(m)
				}
				if err == nil {
					err = h.WriteText(io.Discard, hlo.TextOptions{})
				}
				if err != nil {
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
