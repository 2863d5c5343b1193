package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
)

// TestRandomConversions writes the hooks of random programs in every format that can express them, reads them back
// and runs the result: events and values must match the original.
func TestRandomConversions(t *testing.T) {
	label.Once(t)
	n := uint64(70)
	switch {
	case long():
		n = 2000
	case label.Less():
		n = 14
	}
	engine := open(t, "interp")
	held := map[string]int{}
	for i := range n {
		seed := firstSeed(t) + i
		p := randprog.New(seed+5e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms))})
		for _, to := range []string{"exla", "jax", "sendrecv", "outfeed", "exla-io"} {
			if to == "exla-io" { // exla-io cannot express results of the host
				p = randprog.New(p.Seed, randprog.Options{Form: p.Form, TapsOnly: true})
			}
			lost, err := converted(p, to, engine)
			if err != nil {
				t.Fatalf("seed %d, %s to %s: %v\n-- the program:\n%s", p.Seed, p.Form, to, err, p.Text())
			}
			if !lost {
				held[to]++
			}
		}
	}
	for _, to := range []string{"exla", "jax", "sendrecv", "outfeed", "exla-io"} {
		if held[to] < int(n)/2 {
			t.Errorf("only %d of %d programs could be written as %s", held[to], n, to)
		}
	}
}

func converted(p *randprog.Program, to string, b runtime.Backend) (lost bool, err error) {
	want, err := p.Eval()
	if err != nil {
		return false, err
	}
	m, err := testkit.TryParse("random.mlir", []byte(p.Text()))
	if err != nil {
		return false, err
	}
	opts := rewriteOptions(p)
	opts.To = to
	r, err := passes.Rewrite(context.Background(), m, opts)
	if err != nil {
		if strings.Contains(err.Error(), "cannot be written as") {
			return true, nil
		}
		return false, fmt.Errorf("write: %w", err)
	}
	text := print.String(m, print.Options{})
	prog, err := rewrite("converted.mlir", []byte(text), passes.RewriteHooks{})
	if err != nil {
		return false, fmt.Errorf("%w\n-- converted:\n%s", err, text)
	}
	// The hooks of the converted text must match the hooks of the module that was written.
	if m, err = testkit.TryParse("converted.mlir", []byte(text)); err != nil {
		return false, err
	}
	if _, err := format.Raise(m, format.RaiseOptions{}); err != nil {
		return false, err
	}
	raised, err := format.ManifestOf(m)
	if err != nil {
		return false, err
	}
	if len(raised.Sites) != len(r.Manifest.Sites) {
		return false, fmt.Errorf("%d hooks became %d\n-- converted:\n%s", len(r.Manifest.Sites), len(raised.Sites), text)
	}
	for i := range raised.Sites {
		got, want := &raised.Sites[i], &r.Manifest.Sites[i]
		if got.Name != want.Name || got.ID != want.ID || got.Kind != want.Kind || got.SideEffect != want.SideEffect {
			return false, fmt.Errorf("hook %s (%s, %s) became %s (%s, %s)\n-- converted:\n%s", want.Name, want.Kind, want.ID, got.Name, got.Kind, got.ID, text)
		}
	}
	site := map[hook.ID]*randprog.Site{}
	for i := range raised.Sites {
		site[raised.Sites[i].ID] = p.SiteOf(&r.Manifest.Sites[i])
	}
	rec := &recorder{answer: func(c *runtime.Call) error {
		randprog.Answer(site[c.Site.ID].Label, c.Operands, c.Results)
		return nil
	}}
	e, err := b.Compile(context.Background(), prog, runtime.CompileOptions{Handlers: rec.bindings()})
	if err != nil {
		return false, fmt.Errorf("compile: %w\n-- converted:\n%s\n-- read back:\n%s", err, text, moduleText(prog))
	}
	defer e.Close()
	results, err := e.Run(context.Background(), p.Args)
	if err != nil {
		return false, fmt.Errorf("run: %w\n-- converted:\n%s\n-- read back:\n%s", err, text, moduleText(prog))
	}
	var got []randprog.Event
	for _, ev := range rec.take() {
		if s := site[ev.site.ID]; !s.Pure {
			got = append(got, randprog.Event{Site: s, Operands: ev.operands})
		}
	}
	if err := compareEvents(got, want.Events, false); err != nil {
		return false, fmt.Errorf("%w\n-- converted:\n%s\n-- read back:\n%s", err, text, moduleText(prog))
	}
	for i, w := range want.Results {
		if !sameBits(results[i], w) {
			return false, fmt.Errorf("result %d differs\n-- converted:\n%s\n-- read back:\n%s", i, text, moduleText(prog))
		}
	}
	return false, nil
}
