package proof

import (
	"context"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestRandomPartitioned runs random programs on four devices. With --per-device=once the hooks must deliver what the
// program means on one device, with whole values, and on the first device alone.
func TestRandomPartitioned(t *testing.T) {
	n := uint64(14)
	if long() {
		n = 400
	}
	b := open(t, "cpu")
	for i := range n {
		seed := firstSeed(t) + i
		p := randprog.New(seed+4e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms)), Depth: 2})
		if err := partitioned(p, b); err != nil {
			t.Fatalf("seed %d, %s: %v\n-- the program:\n%s", p.Seed, p.Form, err, p.Sharded(4))
		}
	}
}

func partitioned(p *randprog.Program, b runtime.Backend) error {
	want, err := p.Eval()
	if err != nil {
		return err
	}
	opts := rewriteOptions(p)
	opts.Chain, opts.PerDevice = hook.ChainState, hook.PerDeviceOnce
	prog, err := rewrite("random.mlir", []byte(p.Sharded(4)), opts)
	if err != nil {
		return err
	}
	rec := &recorder{answer: answerRandom(p)}
	var elsewhere error
	h := rec.bindings()
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		if c.Device != 0 {
			elsewhere = fmt.Errorf("hook %q is delivered on device %d", c.Site.Name, c.Device)
		}
		return nil
	}))
	e, err := b.Compile(context.Background(), prog, runtime.CompileOptions{Handlers: h})
	if err != nil {
		return fmt.Errorf("compile: %w\n%s", err, prog.Text)
	}
	defer e.Close()
	results, err := e.Run(context.Background(), p.Args)
	if err != nil {
		return fmt.Errorf("run: %w\n%s", err, prog.Text)
	}
	if elsewhere != nil {
		return fmt.Errorf("%w\n%s", elsewhere, prog.Text)
	}
	var got []randprog.Event
	for _, ev := range rec.take() {
		if s := p.SiteOf(ev.site); !s.Pure {
			got = append(got, randprog.Event{Site: s, Operands: ev.operands})
		}
	}
	if err := compareEvents(got, want.Events, false); err != nil {
		return fmt.Errorf("%w\n%s", err, prog.Text)
	}
	for i, r := range want.Results {
		if !sameBits(results[i], r) {
			return fmt.Errorf("result %d is %s, expected %s\n%s", i, text(results[i]), text(r), prog.Text)
		}
	}
	return nil
}

func text(t *tensor.Tensor) string { return string(t.AppendLiteral(nil, 16)) }
