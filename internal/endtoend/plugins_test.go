package endtoend

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// TestSeveralPluginsAndClients: two plugins, two clients of each, and the engine run hooks at the same time in one
// process without seeing each other's events. The second plugin is a copy of the first at another path, which the
// loader maps separately.
func TestSeveralPluginsAndClients(t *testing.T) {
	open(t, "cpu") // or skip
	env := plugins.Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	found, err := env.Find("cpu")
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "second_pjrt_plugin.so")
	if err := copyFile(second, found[0].Path); err != nil {
		t.Skipf("skip: no room for a second plugin: %v", err)
	}
	p, err := rewrite("add.mlir", []byte(`func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @h(%x) {api_version = 4 : i32, backend_config = {name = "ask"}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}`), passes.RewriteHooks{Targets: []string{"h"}})
	if err != nil {
		t.Fatal(err)
	}
	type one struct {
		b runtime.Backend
		e runtime.Executable
		n float32 // what its handler adds
		c int     // its events
	}
	var all []*one
	for _, path := range []string{found[0].Path, second, found[0].Path, second, "interp"} {
		b, err := backends.Open(context.Background(), path, backends.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := &one{b: b, n: float32(len(all) + 1)}
		if path != "interp" && !strings.Contains(b.Describe(), path) {
			t.Errorf("the plugin at %s calls itself %s", path, b.Describe())
		}
		var h runtime.Bindings
		h.Answer("ask", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
			o.c++
			for i, x := range tensor.View[float32](c.Operands[0]) {
				tensor.View[float32](c.Results[0])[i] = x + o.n
			}
			return nil
		}))
		if o.e, err = b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h}); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	const times = 50
	var wg sync.WaitGroup
	for _, o := range all {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range times {
				out, err := o.e.Run(context.Background(), []*tensor.Tensor{count(tensor.Shape{4}, 0)})
				if err != nil {
					t.Error(err)
					return
				}
				want := []float32{o.n, 2 + o.n, 4 + o.n, 6 + o.n}
				if got := tensor.View[float32](out[0]); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s gives %v, expected %v", o.b.Describe(), got, want)
					return
				}
			}
		}()
	}
	wg.Wait()
	for _, o := range all {
		if o.c != times && !t.Failed() {
			t.Errorf("%s delivered %d events, expected %d", o.b.Describe(), o.c, times)
		}
		if err := o.e.Close(); err != nil {
			t.Error(err)
		}
		if err := o.b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}
