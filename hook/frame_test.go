package hook_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
)

func TestFrame(t *testing.T) {
	for loc, want := range map[string]string{
		`"train.py":31:5`:               "train.py:31:5",
		`"loss"("train.py":31:5)`:       "train.py:31:5 loss",
		`"train.py":31:5 to :40`:        "train.py:31:5",
		`"train.py":31:5 to 32:40`:      "train.py:31:5",
		`"only a name"`:                 "only a name",
		`unknown`:                       "",
		``:                              "",
		`fused["a.py":1:2, "b.py":3:4]`: "a.py:1:2",
		`"debug_print:"("jit(step)/jvp()/debug_print"(callsite("loss_fn"("step.py":4:4 to :53) at callsite("step"("step.py":8:2) at "<module>"("main.py":3:1)))))`: "step.py:4:4 loss_fn (debug_print)",
		`callsite("f"("/x/site-packages/jax/a.py":1:2) at "g"("mine.py":5:6))`:                                                                                     "mine.py:5:6 g",
		`callsite("f"("/x/site-packages/jax/a.py":1:2) at "g"("/x/site-packages/b.py":5:6))`:                                                                       "/x/site-packages/jax/a.py:1:2 f",
		`"a\22b\\c"`:          `a"b\c`,
		`not a location`:      "not a location",
		`"f.py":1:2 and more`: `"f.py":1:2 and more`,
	} {
		if got := hook.Frame(loc); got != want {
			t.Errorf("Frame(%s) = %q, want %q", loc, got, want)
		}
	}
	deep := strings.Repeat("callsite(", 100000)
	if got := hook.Frame(deep); got != deep {
		t.Error("a location that ends too early is read")
	}
}

func TestHookName(t *testing.T) {
	for loc, want := range map[string]hook.Place{
		`"io_callback:"("jit(f)/io_callback"(callsite("loss"("/home/ann/train.py":41:4 to :9) at "<module>"("/home/ann/main.py":1:1))))`:          {File: "/home/ann/train.py", Line: "41", Col: "4", Function: "loss", Callback: "io_callback"},
		`"jit(f)/jit(main)/pure_callback[callback=<function f at 0x7f> sharding=None]"("C:\\work\\train.py":41:0)`:                                {File: `C:\work\train.py`, Line: "41", Col: "0", Callback: "pure_callback"},
		`"jit(f)/while/body/add"(callsite("apply"("/x/site-packages/flax/core.py":9:1) at callsite("g"("train.py":41:2) at "h"("main.py":1:1))))`: {File: "train.py", Line: "41", Col: "2", Function: "g"},
	} {
		got, ok := hook.PlaceOf(loc)
		if !ok || got.File != want.File || got.Line != want.Line || got.Col != want.Col || got.Function != want.Function || got.Callback != want.Callback || got.HookName() != "train.py:41" {
			t.Errorf("PlaceOf(%s) = %+v, want %+v", loc, got, want)
		}
		s := hook.Site{Name: got.HookName() + "#2", Loc: loc}
		if !s.Unnamed() {
			t.Errorf("%s at %s has no name of its own", s.Name, loc)
		}
	}
	if s := (&hook.Site{Name: "step:3", Loc: `"train.py":41:4`}); s.Unnamed() {
		t.Error("step:3 is the program's own name")
	}
	if p, ok := hook.PlaceOf(`"only a name"`); !ok || p.HookName() != "" {
		t.Errorf("a name without a file gives %q", p.HookName())
	}
}
