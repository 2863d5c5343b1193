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
		`"debug_print:"("jit(step)/jvp()/debug_print"(callsite("loss_fn"("step.py":4:4 to :53) at callsite("step"("step.py":8:2) at "<module>"("main.py":3:1)))))`: "step.py:4:4 loss_fn",
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
