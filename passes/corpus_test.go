package passes_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

var update = flag.Bool("update", false, "rewrite the table of the corpus's hooks")

// corpus returns the modules of one folder of testdata.
func corpus(t *testing.T, folder string) []string {
	t.Helper()
	return testkit.Glob(t, folder+"/*.mlir")
}

// targets are the custom calls of the corpus that are hooks only by --hook-target.
var targets = []string{"my_hook", "probe_cb", "hook", "report"}

func rewrite(t *testing.T, m *ir.Module, opts passes.RewriteHooks) *hook.Manifest {
	t.Helper()
	r, err := passes.Rewrite(context.Background(), m, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest
}

// describe writes a module's hooks as testdata/corpus.txt lists them: format, kind, types of operands and results, and
// the hooks that each hook waits for. Positions replace names.
func describe(m *hook.Manifest) string {
	place := map[hook.ID]int{}
	for i, s := range m.Sites {
		place[s.ID] = i
	}
	var hooks []string
	for _, s := range m.Sites {
		text := fmt.Sprintf("%s %s %s->%s", s.Format, s.Kind, types(s.Operands), types(s.Results))
		if !s.SideEffect {
			text += " pure"
		}
		var after []string
		for _, e := range m.Edges {
			if e.To == s.ID {
				after = append(after, fmt.Sprint(place[e.From]))
			}
		}
		if len(after) > 0 {
			text += " after " + strings.Join(after, ",")
		}
		hooks = append(hooks, text)
	}
	return strings.Join(hooks, "; ")
}

func types(list []hook.TensorType) string {
	var out []string
	for _, t := range list {
		s := strings.TrimSuffix(strings.TrimPrefix(t.String(), "tensor<"), ">")
		out = append(out, s)
	}
	return "(" + strings.Join(out, ",") + ")"
}

// TestCorpusHooks compares the hooks of every module of the corpus, in count, format, kind, types and order, with
// testdata/corpus.txt, which was checked by hand against the programs of the modules.
func TestCorpusHooks(t *testing.T) {
	const table = "testdata/corpus.txt"
	want := map[string]string{}
	text, err := os.ReadFile(table)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, hooks, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			want[name] = hooks
		}
	}
	var lines []string
	for _, folder := range []string{"hooks", "events", "order"} {
		for _, file := range corpus(t, folder) {
			name := folder + "/" + strings.TrimSuffix(filepath.Base(file), ".mlir")
			if name == "order/t14_badalias" {
				continue // refused, see TestCorpusRefused
			}
			t.Run(name, func(t *testing.T) {
				m := testkit.ParseFile(t, file)
				got := describe(rewrite(t, m, passes.RewriteHooks{Targets: targets}))
				lines = append(lines, name+": "+got+"\n")
				if !*update && got != want[name] {
					t.Errorf("got  %s\nwant %s", got, want[name])
				}
			})
		}
	}
	if *update {
		slices.Sort(lines)
		if err := os.WriteFile(table, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(lines) != len(want) {
		t.Errorf("the corpus has %d modules, the table %d", len(lines), len(want))
	}
}

func TestCorpusRefused(t *testing.T) {
	for _, file := range corpus(t, "order") {
		if filepath.Base(file) != "t14_badalias.mlir" {
			continue
		}
		_, err := passes.Rewrite(context.Background(), testkit.ParseFile(t, file), passes.RewriteHooks{Targets: targets})
		if err == nil || !strings.Contains(err.Error(), "t14_badalias.mlir:3:12: error: ") || !strings.Contains(err.Error(), "mismatch") {
			t.Errorf("an alias of mismatched types is not refused at its position: %v", err)
		}
	}
}

// TestRewriteTwice: rewriting a rewritten module changes nothing.
func TestRewriteTwice(t *testing.T) {
	for _, folder := range []string{"hooks", "events", "order"} {
		for _, file := range corpus(t, folder) {
			if filepath.Base(file) == "t14_badalias.mlir" {
				continue
			}
			for _, opts := range []passes.RewriteHooks{
				{Targets: targets},
				{Targets: targets, Chain: hook.ChainToken},
				{Targets: targets, Order: hook.OrderSource},
				{Targets: targets, Order: hook.OrderSource, Chain: hook.ChainToken},
				{Targets: targets, Order: hook.OrderNone},
			} {
				t.Run(fmt.Sprintf("%s/%s/%s", filepath.Base(file), opts.Order, opts.Chain), func(t *testing.T) {
					m := testkit.ParseFile(t, file)
					if _, err := passes.Rewrite(context.Background(), m, opts); err != nil {
						if opts.Chain == hook.ChainToken && strings.Contains(err.Error(), "a token cannot be passed ") {
							return
						}
						t.Fatal(err)
					}
					once := print.String(m, print.Options{})
					again, err := testkit.TryParse("once.mlir", []byte(once))
					if err != nil {
						t.Fatal(err)
					}
					if opts.Order == hook.OrderProgram { // a module's order is also its text's order
						if err := order.Prove(t.Context(), again); err != nil {
							t.Error(err)
						}
					}
					rewrite(t, again, opts)
					if d := gocmp.Diff(once, print.String(again, print.Options{})); d != "" {
						t.Errorf("-once +twice:\n%s", d)
					}
				})
			}
		}
	}
}

// TestForeignRewriteTwice: writing a module twice in a foreign format changes nothing, too.
func TestForeignRewriteTwice(t *testing.T) {
	for _, folder := range []string{"hooks", "events", "order"} {
		for _, file := range corpus(t, folder) {
			for _, out := range format.Builtin().Writers()[1:] {
				opts := passes.RewriteHooks{Targets: targets, To: out.Name, Default: "zeros"}
				m := testkit.ParseFile(t, file)
				r, err := passes.Rewrite(context.Background(), m, opts)
				if err != nil {
					continue // see TestPeerParses
				}
				pure := slices.ContainsFunc(r.Manifest.Sites, func(s hook.Site) bool { return !s.SideEffect })
				if pure && (out.Name == "sendrecv" || out.Name == "outfeed") {
					continue // which cannot say so: read back they are in order
				}
				name := filepath.Base(file) + " to " + out.Name
				once := print.String(m, print.Options{})
				again, err := testkit.TryParse(name, []byte(once))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := passes.Rewrite(context.Background(), again, opts); err != nil {
					t.Errorf("%s: %v", name, err)
				} else if d := gocmp.Diff(once, print.String(again, print.Options{})); d != "" {
					t.Errorf("%s: -once +twice:\n%s", name, d)
				}
			}
		}
	}
}

// TestCorpusInMHLO spells the modules of the corpus in the dialect that StableHLO comes from, and finds the same hooks.
func TestCorpusInMHLO(t *testing.T) {
	mhlo := strings.NewReplacer(`"stablehlo.`, `"mhlo.`, "#stablehlo.", "#mhlo.", "!stablehlo.token", "!mhlo.token")
	for _, folder := range []string{"hooks", "events", "order"} {
		for _, file := range corpus(t, folder) {
			if filepath.Base(file) == "t14_badalias.mlir" {
				continue
			}
			m := testkit.ParseFile(t, file)
			spelled, err := testkit.TryParse(filepath.Base(file), []byte(mhlo.Replace(print.String(m, print.Options{Generic: true, DebugInfo: true, OwnLocs: true}))))
			if err != nil {
				t.Errorf("%s in MHLO: %v", filepath.Base(file), err)
				continue
			}
			opts := passes.RewriteHooks{Targets: targets}
			if d := gocmp.Diff(shape(rewrite(t, m, opts)), shape(rewrite(t, spelled, opts))); d != "" {
				t.Errorf("%s: -StableHLO +MHLO:\n%s", filepath.Base(file), d)
			}
		}
	}
}

// TestPeerParses lowers every module of the corpus to every format that can hold its hooks; jaxlib must parse and
// verify each result, and reading it back must give the same hooks.
func TestPeerParses(t *testing.T) {
	peer.Each(t, label.Part, checkPeerParses)
}

func checkPeerParses(t *testing.T, python *peer.Interpreter) {
	texts := map[string]string{}
	for _, folder := range []string{"hooks", "events", "order"} {
		for _, file := range corpus(t, folder) {
			if filepath.Base(file) == "t14_badalias.mlir" {
				continue
			}
			// The hooks of a direct rewrite.
			direct := rewrite(t, testkit.ParseFile(t, file), passes.RewriteHooks{Targets: targets})
			for _, out := range format.Builtin().Writers() {
				m := testkit.ParseFile(t, file)
				name := filepath.Base(file) + " to " + out.Name
				_, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: targets, To: out.Name, Default: "zeros"})
				if err != nil {
					if !strings.Contains(err.Error(), "cannot be written as "+out.Name) && !strings.Contains(err.Error(), "a token cannot be passed ") {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				text := print.String(m, print.Options{})
				texts[name] = text
				checkReadBack(t, name, out.Name, text, direct)
			}
		}
	}
	for name, a := range python.MLIR(t, texts, false) {
		if a.Error != "" {
			t.Errorf("%s: jaxlib: %s\n%s", name, a.Error, texts[name])
		}
	}
	t.Logf("jaxlib parsed %d modules", len(texts))
}

// checkReadBack reads a module that was written in a format and compares count, types and order of the hooks, and names
// and ids if the format stores them.
func checkReadBack(t *testing.T, name, format, text string, want *hook.Manifest) {
	t.Helper()
	m, err := testkit.TryParse(name, []byte(text))
	if err != nil {
		t.Errorf("%s: reading back: %v\n%s", name, err, text)
		return
	}
	r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{})
	if err != nil {
		t.Errorf("%s: reading back: %v\n%s", name, err, text)
		return
	}
	if format == "strip" {
		if len(r.Manifest.Sites) != 0 {
			t.Errorf("%s: %d hooks are left", name, len(r.Manifest.Sites))
		}
		return
	}
	if a, b := shape(want), shape(r.Manifest); a != b {
		t.Errorf("%s: read back\n%s\nwant\n%s\n%s", name, b, a, text)
	}
}

// shape describes hooks by the properties that every format keeps; formats.md lists the properties that formats lose.
func shape(m *hook.Manifest) string {
	var b strings.Builder
	for _, s := range m.Sites {
		results := s.Results
		if s.Kind == hook.Tap {
			results = nil // a tap forwards its operand
		}
		fmt.Fprintf(&b, "%s %s %s %v %s->%s\n", s.ID, s.Name, s.Kind, s.SideEffect, types(s.Operands), types(results))
	}
	return b.String()
}
