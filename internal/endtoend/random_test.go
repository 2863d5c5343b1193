package endtoend

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
)

// rewriteOptions returns options that depend on the seed and do not change the events.
func rewriteOptions(p *randprog.Program) passes.RewriteHooks {
	return passes.RewriteHooks{
		Targets: []string{randprog.TargetName},
		Chain:   [...]hook.Chain{hook.ChainState, hook.ChainToken}[p.Seed/7%2],
		Alias:   [...]hook.AliasMode{hook.AliasAll, hook.AliasFree, hook.AliasNone}[p.Seed/14%3],
	}
}

func answerRandom(p *randprog.Program) func(c *runtime.Call) error {
	return func(c *runtime.Call) error {
		s := p.SiteOf(c.Site)
		if s == nil {
			return fmt.Errorf("hook %q (%s) is none of the program's", c.Site.Name, c.Site.SourceID)
		}
		randprog.Answer(s.Label, c.Operands, c.Results)
		return nil
	}
}

// checkManifest compares the hooks in the manifest with the hooks of the random program.
func checkManifest(p *randprog.Program, prog *runtime.Program) error {
	seen := map[*randprog.Site]bool{}
	for i := range prog.Manifest.Sites {
		got := &prog.Manifest.Sites[i]
		s := p.SiteOf(got)
		if s == nil {
			return fmt.Errorf("hook %q (%s) is none of the program's", got.Name, got.SourceID)
		}
		if seen[s] {
			return fmt.Errorf("hook %s was found twice", s.Label)
		}
		seen[s] = true
		if got.Kind != s.Kind || got.SideEffect == s.Pure || len(got.Operands) != len(s.Operands) {
			return fmt.Errorf("hook %s is a %s (side effect %t) of %d operands, expected a %s (%t) of %d", s.Label, got.Kind, got.SideEffect, len(got.Operands), s.Kind, !s.Pure, len(s.Operands))
		}
		for k, o := range s.Operands {
			if got.Operands[k].String() != o.String() {
				return fmt.Errorf("operand %d of hook %s is %s, expected %s", k, s.Label, got.Operands[k], o)
			}
		}
	}
	for _, s := range p.Sites {
		if !s.Pure && !seen[s] {
			return fmt.Errorf("hook %s was not found", s.Label)
		}
	}
	return nil
}

// run executes the program and compares its events and results with the reference. bySource selects the events that
// must keep their order: only the events of each stream, or else all.
func run(p *randprog.Program, want *randprog.Outcome, b runtime.Backend, prog *runtime.Program, bySource bool, times int) error {
	rec := &recorder{answer: answerRandom(p)}
	e, err := b.Compile(context.Background(), prog, runtime.CompileOptions{Handlers: rec.bindings()})
	if err != nil {
		return fmt.Errorf("%s: compile: %w", b.Name(), err)
	}
	defer e.Close()
	for range times {
		results, err := e.Run(context.Background(), p.Args)
		if err != nil {
			return fmt.Errorf("%s: run: %w", b.Name(), err)
		}
		var got []randprog.Event
		for _, ev := range rec.take() {
			s := p.SiteOf(ev.site)
			if s == nil {
				return fmt.Errorf("%s: an event of hook %q (%s), which is none of the program's", b.Name(), ev.site.Name, ev.site.SourceID)
			}
			if !s.Pure {
				got = append(got, randprog.Event{Site: s, Operands: ev.operands})
			}
		}
		if err := compareEvents(got, want.Events, bySource); err != nil {
			return fmt.Errorf("%s: %w", b.Name(), err)
		}
		if len(results) != len(want.Results) {
			return fmt.Errorf("%s: %d results, expected %d", b.Name(), len(results), len(want.Results))
		}
		for i, r := range want.Results {
			if !sameBits(results[i], r) {
				return fmt.Errorf("%s: result %d is % x, expected % x", b.Name(), i, clip(results[i].Bytes()), clip(r.Bytes()))
			}
		}
	}
	return nil
}

// firstSeed returns the first seed of random programs; HLOCB_SEED changes it.
func firstSeed(t *testing.T) uint64 {
	text := os.Getenv("HLOCB_SEED")
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func clip(b []byte) []byte { return b[:min(len(b), 64)] }

func describe(e randprog.Event) string {
	var b strings.Builder
	b.WriteString(e.Site.Label)
	for _, o := range e.Operands {
		fmt.Fprintf(&b, " %v%v % x", o.DType(), o.Shape(), clip(o.Bytes()))
	}
	return b.String()
}

func compareEvents(got, want []randprog.Event, bySource bool) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d events %s, expected %d %s", len(got), labels(got), len(want), labels(want))
	}
	if bySource {
		return compareStreams(got, want)
	}
	for i := range want {
		if got[i].Site != want[i].Site || !sameOperands(got[i], want[i]) {
			return fmt.Errorf("event %d is %s, expected %s\ndelivered %s\nexpected  %s", i, describe(got[i]), describe(want[i]), labels(got), labels(want))
		}
	}
	return nil
}

// compareStreams compares the events of each token in order, and the remaining events as a set.
func compareStreams(got, want []randprog.Event) error {
	split := func(list []randprog.Event) (streams map[int][]randprog.Event, all map[string]int) {
		streams, all = map[int][]randprog.Event{}, map[string]int{}
		for _, e := range list {
			if e.Site.Stream >= 0 {
				streams[e.Site.Stream] = append(streams[e.Site.Stream], e)
			}
			key := e.Site.Label
			for _, o := range e.Operands {
				key += string(o.Bytes()) + "|"
			}
			all[key]++
		}
		return streams, all
	}
	gs, ga := split(got)
	ws, wa := split(want)
	for k, n := range wa {
		if ga[k] != n {
			return fmt.Errorf("an event of hook %.4q came %d times, expected %d", k, ga[k], n)
		}
	}
	for k := range ws {
		if err := compareEvents(gs[k], ws[k], false); err != nil {
			return fmt.Errorf("stream %d: %w", k, err)
		}
	}
	return nil
}

func sameOperands(a, b randprog.Event) bool {
	if len(a.Operands) != len(b.Operands) {
		return false
	}
	for i := range a.Operands {
		if !sameBits(a.Operands[i], b.Operands[i]) {
			return false
		}
	}
	return true
}

func labels(list []randprog.Event) string {
	var b strings.Builder
	for _, e := range list {
		b.WriteString(" " + e.Site.Label)
	}
	return "[" + strings.TrimPrefix(b.String(), " ") + "]"
}

// property checks one program on the backends.
func property(p *randprog.Program, opts passes.RewriteHooks, times int, list ...runtime.Backend) error {
	want, err := p.Eval()
	if err != nil {
		return err
	}
	prog, err := rewrite("random.mlir", []byte(p.Text()), opts)
	if err != nil {
		return err
	}
	if err := checkManifest(p, prog); err != nil {
		return fmt.Errorf("%w\n%s", err, moduleText(prog))
	}
	// A rewritten module must not change again.
	again, err := testkit.TryParse("again.mlir", moduleText(prog))
	if err != nil {
		return err
	}
	if _, err := passes.Rewrite(context.Background(), again, opts); err != nil {
		return fmt.Errorf("rewriting twice: %w\n%s", err, moduleText(prog))
	}
	if text := print.String(again, print.Options{}); text != moduleText(prog) {
		return fmt.Errorf("rewriting twice changes the module:\n%s\n-- became\n%s", moduleText(prog), text)
	}
	for _, b := range list {
		if err := run(p, want, b, prog, opts.Order == hook.OrderSource, times); err != nil {
			return fmt.Errorf("%w\n%s", err, moduleText(prog))
		}
	}
	return nil
}

func report(t *testing.T, p *randprog.Program, err error) {
	t.Helper()
	t.Errorf("seed %d, %s: %v\n-- the program:\n%s", p.Seed, p.Form, err, p.Text())
}

// TestRandomPrograms rewrites random programs in every format and compares their events and results with the
// reference, bit for bit: all programs on the embedded engine, some on XLA.
func TestRandomPrograms(t *testing.T) {
	n, every := uint64(300), uint64(5)
	if long() {
		n, every = 7000, 4
	}
	engine := open(t, "interp")
	var xla runtime.Backend
	t.Run("xla", func(t *testing.T) { xla = open(t, "cpu") })
	failed := 0
	for i := range n {
		if !label.Part(i < n/3) {
			continue
		}
		seed := firstSeed(t) + i
		p := randprog.New(seed, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms))})
		list := []runtime.Backend{engine}
		if xla != nil && seed/uint64(randprog.NumForms)%every == 0 {
			list = append(list, xla)
		}
		if err := property(p, rewriteOptions(p), 1, list...); err != nil {
			report(t, p, err)
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
}

// TestRandomSourceOrder keeps only the order that the source's tokens impose: the events of one stream must stay in
// order, and values must not change.
func TestRandomSourceOrder(t *testing.T) {
	n, every := uint64(150), uint64(5)
	if long() {
		n, every = 3000, 4
	}
	engine := open(t, "interp")
	var xla runtime.Backend
	t.Run("xla", func(t *testing.T) { xla = open(t, "cpu") })
	failed := 0
	for i := range n {
		if !label.Part(i < n/3) {
			continue
		}
		seed := firstSeed(t) + i
		p := randprog.New(seed+1e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms)), NoCond: true})
		opts := rewriteOptions(p)
		opts.Order = hook.OrderSource
		list := []runtime.Backend{engine}
		if xla != nil && seed/uint64(randprog.NumForms)%every == 0 {
			list = append(list, xla)
		}
		if err := property(p, opts, 1, list...); err != nil {
			report(t, p, err)
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
}

// TestRandomLarge runs programs whose values are large enough that XLA executes them concurrently, several times.
func TestRandomLarge(t *testing.T) {
	label.Slow(t)
	n, times := uint64(20), 10
	if long() {
		n, times = 700, 20
	}
	xla := open(t, "cpu")
	failed := 0
	for i := range n {
		seed := firstSeed(t) + i
		p := randprog.New(seed+2e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms)), Large: true})
		if err := property(p, rewriteOptions(p), times, xla); err != nil {
			report(t, p, err)
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
}
