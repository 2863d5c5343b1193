package order_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
)

// readHLO translates HLO.
func readHLO(t *testing.T, text string) *ir.Module {
	t.Helper()
	h, err := hlo.Parse(diag.NewSource("m.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := hlo.Import(h, ir.NewContext(testkit.Registry(t)))
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// own is a hook of HLO that no chain orders.
func own(name string, id int, operand, more string) string {
	return fmt.Sprintf("  %s = f32[4] custom-call(%s), custom_call_target=\"hlocb_hook\", custom_call_has_side_effect=true, "+
		"api_version=API_VERSION_TYPED_FFI, backend_config={abi = 1 : i64, chained = false, id = %d : i64, kind = \"call\", name = %q}%s\n", name, operand, id, name, more)
}

// TestProveControl: control predecessors and add-dependency order two hooks of one computation, directly and through
// other instructions. Those of a call, and values that are computed, order nothing.
func TestProveControl(t *testing.T) {
	for name, c := range map[string]struct {
		between, operand, more string
		proven                 bool
	}{
		"nothing":               {"", "q", "", false},
		"an edge":               {"", "q", ", control-predecessors={a}", true},
		"two edges":             {"  n = f32[4] negate(q), control-predecessors={a}\n", "q", ", control-predecessors={n}", true},
		"through a copy":        {"  n = f32[4] copy(q), control-predecessors={a}\n", "n", "", true},
		"an edge to a sum":      {"  n = f32[4] add(q, q), control-predecessors={a}\n", "n", "", false},
		"a dependency":          {"  t = token[] after-all(), control-predecessors={a}\n  n = f32[4] add-dependency(q, t)\n", "n", "", true},
		"another hook's edge":   {own("c", 3, "q", ", control-predecessors={a}"), "q", ", control-predecessors={a}", false},
		"from hook to hook":     {own("c", 3, "q", ", control-predecessors={a}"), "q", ", control-predecessors={c}", true},
		"only from the call":    {"  c = f32[4] call(q), to_apply=inner, control-predecessors={a}\n", "q", ", control-predecessors={c}", false},
		"an edge past a branch": {"  c = f32[4] conditional(pick, q, q), true_computation=same, false_computation=same\n", "q", ", control-predecessors={a}", true},
	} {
		m := readHLO(t, "HloModule m\n\ninner {\n  x = f32[4] parameter(0)\n"+own("i", 9, "x", "")+"  ROOT s = f32[4] sine(i)\n}\n\nsame {\n  ROOT y = f32[4] parameter(0)\n}\n\n"+
			"ENTRY e {\n  p = f32[4] parameter(0)\n  q = f32[4] parameter(1)\n  pick = pred[] parameter(2)\n"+own("a", 1, "p", "")+c.between+own("b", 2, c.operand, c.more)+"  ROOT r = f32[4] add(a, b)\n}\n")
		if err := order.Prove(t.Context(), m); (err == nil) != c.proven {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// sourceText has five hooks. HLO executes b after a and d after b; c and e are alone, and e has no token.
const sourceText = `HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  t0 = token[] after-all()
  t1 = token[] after-all()
  a = token[] outfeed(p, t0), outfeed_shape=f32[4], outfeed_config="a"
  n = f32[4] negate(q), control-predecessors={a}
  b = f32[4] custom-call(q), custom_call_target="host", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={name="b"}, control-predecessors={n}
  c = token[] outfeed(p, t1), outfeed_shape=f32[4], outfeed_config="c"
  k = f32[4] copy(q), control-predecessors={b}
  d = token[] outfeed(k, t1), outfeed_shape=f32[4], outfeed_config="d"
  e = f32[4] custom-call(q), custom_call_target="host", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={name="e"}
  ROOT r = f32[4] add(n, b)
}
`

// TestSourceOrderOfHLO: the order of the source contains HLO's control predecessors. Chains express it, so MLIR has it,
// too, and Source.Prove and ProveHLO miss it if it is gone.
func TestSourceOrderOfHLO(t *testing.T) {
	for _, chain := range []hook.Chain{hook.ChainState, hook.ChainToken} {
		m := readHLO(t, sourceText)
		rewritten, err := passes.Rewrite(t.Context(), m, passes.RewriteHooks{Targets: []string{"host"}, Order: hook.OrderSource, Chain: chain})
		if err != nil {
			t.Fatal(err)
		}
		id := map[string]hook.ID{}
		for _, s := range rewritten.Manifest.Sites {
			id[s.Name] = s.ID
			if s.Chained != (s.Name != "e") {
				t.Errorf("%v: the chain of hook %s: %v", chain, s.Name, s.Chained)
			}
		}
		want := []hook.Edge{{From: id["a"], To: id["b"]}, {From: id["b"], To: id["d"]}}
		if got := order.PathsOf(m).Chain(); !slices.Equal(got, want) {
			t.Errorf("%v: edges %v instead of %v", chain, got, want)
		}
		h, err := hlo.Update(m)
		if err == nil {
			err = order.ProveHLO(t.Context(), m, h)
		}
		if err != nil {
			t.Fatal(err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := order.ProveHLO(ended, m, h); err != context.Canceled {
			t.Errorf("%v: an interrupted proof: %v", chain, err)
		}
		if chain == hook.ChainToken {
			continue
		}
		good := string(h.AppendText(nil, hlo.TextOptions{}))
		i := strings.Index(good, "custom-call(%or")
		if i < 0 {
			t.Fatalf("no hook waits for two chains:\n%s", good)
		}
		after := i + strings.IndexByte(good[i:], ',')
		h, err = hlo.Parse(diag.NewSource("bad.hlo", []byte(good[:i]+"custom-call(%constant.1"+good[after:])))
		if err != nil {
			t.Fatal(err)
		}
		if err := order.ProveHLO(t.Context(), m, h); err == nil || !strings.Contains(err.Error(), "the result does not") {
			t.Errorf("a lost chain: %v", err)
		}
	}
}
