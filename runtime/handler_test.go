package runtime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

func manifest() *hook.Manifest {
	return &hook.Manifest{Sites: []hook.Site{
		{ID: 1, Name: "loss", Kind: hook.Tap},
		{ID: 2, Name: "hook0", Kind: hook.Call},
		{ID: 0xabc, Name: "hook1", Kind: hook.InOut},
	}}
}

// named returns a handler that appends name to *log.
func named(log *[]string, name string) runtime.Handler {
	return runtime.HandlerFunc(func(context.Context, *runtime.Call) error {
		*log = append(*log, name)
		return nil
	})
}

func TestBindChooses(t *testing.T) {
	tests := []struct {
		name    string
		answers []string // patterns, in order
		want    string   // the pattern that answers hook0
	}{
		{"exact beats an earlier glob", []string{"*", "hook0"}, "hook0"},
		{"exact beats a later glob", []string{"hook0", "*"}, "hook0"},
		{"later glob beats earlier", []string{"h*", "hook*"}, "hook*"},
		{"id is exact", []string{"0000000000000002", "*"}, "0000000000000002"},
		{"other hook's name is none", []string{"*", "hook1"}, "*"},
	}
	for _, tt := range tests {
		var log []string
		b := new(runtime.Bindings)
		for _, p := range tt.answers {
			b.Answer(p, named(&log, p))
		}
		bound, err := b.Bind(manifest())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if err := runtime.Deliver(context.Background(), &bound[1], &runtime.Call{Site: bound[1].Site()}); err != nil {
			t.Fatal(err)
		}
		if len(log) != 1 || log[0] != tt.want {
			t.Errorf("%s: answered by %v, want %s", tt.name, log, tt.want)
		}
	}
}

// TestGlobs: a hook's name is not a path, so '*' matches '/'.
func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "jit(f)/loss", true}, {"jit*loss", "jit(f)/while/loss", true}, {"*/loss", "a/b/loss", true}, {"?", "/", true},
		{"a/*", "a/b", true}, {"[", "[", true}, {"lo*", "a/lo", false}, {"l[n-p]ss", "loss", true},
	} {
		b := new(runtime.Bindings)
		b.Observe(c.pattern, runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return nil }))
		bound, err := b.Bind(&hook.Manifest{Sites: []hook.Site{{ID: 1, Name: c.name, Kind: hook.Tap}}})
		if err != nil || bound[0].Idle() == c.want {
			t.Errorf("%q selects %q: %v, %v", c.pattern, c.name, bound, err)
		}
	}
}

func TestBindUnbound(t *testing.T) {
	for _, b := range []*runtime.Bindings{nil, new(runtime.Bindings)} {
		_, err := b.Bind(manifest())
		var unbound *runtime.UnboundError
		if !errors.As(err, &unbound) || unbound.Site.Name != "hook0" {
			t.Errorf("error is %v, want an UnboundError for hook0", err)
		}
	}
}

func TestObserversThenWrappedAnswer(t *testing.T) {
	var log []string
	b := new(runtime.Bindings)
	b.Answer("*", named(&log, "answer"))
	b.Observe("hook*", named(&log, "first"))
	b.Observe("hook0", named(&log, "second"))
	b.Observe("loss", named(&log, "other"))
	b.Wrap("hook0", func(h runtime.Handler) runtime.Handler {
		return runtime.HandlerFunc(func(ctx context.Context, c *runtime.Call) error {
			err := h.Handle(ctx, c)
			log = append(log, "after")
			return err
		})
	})
	bound, err := b.Bind(manifest())
	if err != nil {
		t.Fatal(err)
	}
	runtime.Deliver(context.Background(), &bound[1], &runtime.Call{Site: bound[1].Site()})
	want := []string{"first", "second", "answer", "after"}
	if len(log) != len(want) {
		t.Fatalf("called %v, want %v", log, want)
	}
	for i := range want {
		if log[i] != want[i] {
			t.Fatalf("called %v, want %v", log, want)
		}
	}
}

func TestDeliverErrors(t *testing.T) {
	cause := errors.New("disk full")
	bound := runtime.NewBound(&manifest().Sites[0], runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return cause }))
	err := runtime.Deliver(context.Background(), bound, &runtime.Call{Site: bound.Site(), Seq: 3, Device: 1})
	var he *runtime.HookError
	if !errors.As(err, &he) || he.Seq != 3 || he.Device != 1 || he.Hook != "loss" || !errors.Is(err, cause) {
		t.Errorf("error is %#v", err)
	}
	bound = runtime.NewBound(bound.Site(), runtime.HandlerFunc(func(context.Context, *runtime.Call) error { panic("boom") }))
	err = runtime.Deliver(context.Background(), bound, &runtime.Call{Site: bound.Site()})
	var pe *runtime.PanicError
	if !errors.As(err, &pe) || pe.Value != "boom" || len(pe.Stack) == 0 {
		t.Errorf("error is %#v, want a PanicError", err)
	}
}

func TestUnmatched(t *testing.T) {
	b := new(runtime.Bindings)
	h := runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return nil })
	b.Observe("loss", h)
	b.Observe("lose", h)
	b.Answer("hook[0-9]", h)
	b.Answer("x*", h)
	b.Answer("x*", h)
	got := b.Unmatched(manifest())
	if len(got) != 2 || got[0] != "lose" || got[1] != "x*" {
		t.Errorf("unmatched are %v", got)
	}
}

// TestDeliverTimeout: a handler that watches its context and a handler that does not fail with the same error.
func TestDeliverTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Millisecond, &runtime.TimeoutError{After: "1ms"})
	defer cancel()
	bound := runtime.NewBound(&manifest().Sites[0], runtime.HandlerFunc(func(ctx context.Context, _ *runtime.Call) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	err := runtime.Deliver(ctx, bound, &runtime.Call{Site: bound.Site()})
	var timeout *runtime.TimeoutError
	if !errors.As(err, &timeout) || timeout.After != "1ms" {
		t.Errorf("error is %v, want a TimeoutError", err)
	}
}
