package endtoend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// long reports whether HLOCB_LONG asks for thousands of programs instead of hundreds.
func long() bool { return os.Getenv("HLOCB_LONG") != "" }

// orderRuns returns the number of runs of a program in tests of the order: HLOCB_ORDER_RUNS, or 200 with HLOCB_LONG, or
// few.
func orderRuns(t testing.TB, few int) int {
	t.Helper()
	text := os.Getenv("HLOCB_ORDER_RUNS")
	switch {
	case text == "" && long():
		return 200
	case text == "":
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("HLOCB_ORDER_RUNS is %q", text)
	}
	return n
}

var opened struct {
	sync.Mutex
	list map[string]runtime.Backend
}

// open returns the backend, made once for all tests, or skips the test if its plugin is missing.
func open(t testing.TB, name string) runtime.Backend {
	t.Helper()
	opened.Lock()
	defer opened.Unlock()
	if b := opened.list[name]; b != nil {
		return b
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	b, err := backends.Open(context.Background(), name, backends.Options{Plugins: plugins.Environment{Getenv: os.Getenv, CacheDir: filepath.Join(cache, "hlocb", "plugins")}})
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) || err != nil && strings.Contains(err.Error(), "needs cgo") {
		t.Skipf("skip: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if opened.list == nil {
		opened.list = map[string]runtime.Backend{}
	}
	opened.list[name] = b
	return b
}

// backendNames returns the backends for tests of programs on one device: the engine, the CPU plugin, and the CUDA
// plugin if there is a GPU. TestGPU says whether there is. HLOCB_TEST_BACKENDS lists others.
func backendNames() []string {
	if list := os.Getenv("HLOCB_TEST_BACKENDS"); list != "" {
		return strings.Split(list, ",")
	}
	out := []string{"interp", "cpu"}
	if gpu() == nil {
		out = append(out, "cuda")
	}
	return out
}

// withOtherPlugin returns the backends of backendNames and the other version of the CPU plugin.
func withOtherPlugin() []string {
	if os.Getenv("HLOCB_TEST_BACKENDS") != "" {
		return backendNames()
	}
	return append(backendNames(), peer.OtherPlugin)
}

// gpu returns why the CUDA plugin cannot be used.
var gpu = sync.OnceValue(func() error {
	b, err := backends.Open(context.Background(), "cuda", backends.Options{Plugins: plugins.System()})
	if err == nil {
		err = b.Close()
	}
	return err
})

// TestGPU is skipped if the tests of this package do not run on a GPU.
func TestGPU(t *testing.T) {
	if err := gpu(); err != nil {
		t.Skipf("skip: %v", err)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, b := range opened.list {
		if err := b.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rewrite converts a module's hooks to hlocb's own. It reads the returned program's module back from its text; engine
// and plugin therefore get the same module.
func rewrite(name string, text []byte, opts passes.RewriteHooks) (*runtime.Program, error) {
	m, err := testkit.TryParse(name, text)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	r, err := passes.Rewrite(context.Background(), m, opts)
	if err != nil {
		return nil, fmt.Errorf("rewrite: %w", err)
	}
	out := []byte(print.String(m, print.Options{}))
	again, err := testkit.TryParse(name+" rewritten", out)
	if err != nil {
		return nil, fmt.Errorf("read back: %w\n%s", err, out)
	}
	return &runtime.Program{Module: again, Manifest: r.Manifest}, nil
}

// moduleText returns the text of a program.
func moduleText(p *runtime.Program) string { return print.String(p.Module, print.Options{}) }

// event is one execution of a hook.
type event struct {
	site     *hook.Site
	device   int
	operands []*tensor.Tensor
}

// recorder keeps the events of hooks, and answers them.
type recorder struct {
	mu     sync.Mutex
	events []event
	answer func(c *runtime.Call) error
	bare   bool // do not keep operands
}

// observe returns bindings that only keep the events.
func (r *recorder) observe() *runtime.Bindings {
	var h runtime.Bindings
	h.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		e := event{site: c.Site, device: c.Device}
		if !r.bare {
			for _, o := range c.Operands {
				e.operands = append(e.operands, o.Clone())
			}
		}
		r.mu.Lock()
		r.events = append(r.events, e)
		r.mu.Unlock()
		return nil
	}))
	return &h
}

// bindings returns bindings that keep the events and answer them.
func (r *recorder) bindings() *runtime.Bindings {
	h := r.observe()
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		if r.answer == nil || c.Site.Kind == hook.Tap {
			return nil
		}
		return r.answer(c)
	}))
	return h
}

func (r *recorder) take() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.events
	r.events = nil
	return out
}

func sameBits(a, b *tensor.Tensor) bool {
	return a.DType() == b.DType() && a.Shape().Equal(b.Shape()) && bytes.Equal(a.Bytes(), b.Bytes())
}
