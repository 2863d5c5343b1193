//go:build cgo

package interpose

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// TestBindings: a handler is bound to the hook that its NAME=HANDLER names, even if the name contains '='. A binding
// without a hook is reported at the end, as a tap without a value is.
func TestBindings(t *testing.T) {
	const module = `func.func @main(%x: tensor<f32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = "stablehlo.outfeed"(%x, %t) {outfeed_config = "train.py:41=x"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}
`
	var warnings strings.Builder
	i, err := New(Config{On: []string{"train.py:41=x=count", "nosuch=print"}}, Host{Out: &warnings, Err: &warnings})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Compile([]byte(module), "mlir", nil); err != nil {
		t.Fatal(err)
	}
	i.Flush()
	if want := "hlocb: warning: on nosuch=print matches no hook\n"; warnings.String() != want {
		t.Errorf("wrote %q, expected %q", warnings.String(), want)
	}
}

// TestForwards: the handlers of a configuration keep what they need and what they check. Before, each copied whole
// values from a GPU, and a recording that lacks a hook was found when the program ran.
func TestForwards(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	f, err := os.Create(empty)
	if err != nil {
		t.Fatal(err)
	}
	r, err := handlers.NewRecorder(handlers.NewRecord(f), handlers.Header{Manifest: &hook.Manifest{}}, nil)
	if err == nil {
		err = errors.Join(r.End(nil), r.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	i, err := New(Config{On: []string{"x=print:head=8", "x=count", "x=replay:" + empty}}, Host{Out: os.Stderr, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]runtime.MemoryUse{"x=print:head=8": {Head: 8}, "x=count": {}} {
		_, h, err := i.binding(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []runtime.Handler{h, &tolerantHandler{i: i, h: h}} {
			if got := runtime.UseOf(h); got != want {
				t.Errorf("%s as a %T needs %+v, expected %+v", spec, h, got, want)
			}
		}
	}
	_, h, err := i.binding("x=replay:" + empty)
	if err != nil {
		t.Fatal(err)
	}
	site := &hook.Site{ID: 1, Name: "x", Kind: hook.Call}
	for _, h := range []runtime.Handler{h, &tolerantHandler{i: i, h: h}} {
		if err := runtime.CheckSite(h, site); err == nil {
			t.Errorf("a %T takes a hook that the recording lacks", h)
		}
	}
}
