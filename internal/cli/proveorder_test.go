package cli_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/passes"
)

// TestProvesOrder: HLO that drops the chain between two hooks is not written.
func TestProvesOrder(t *testing.T) {
	const text = `HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  a = () custom-call(p), custom_call_target="my_hook", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={name="a"}
  b = () custom-call(p), custom_call_target="my_hook", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={name="b"}
  ROOT r = f32[4] sine(p)
}
`
	m, err := reader.Read(diag.NewSource("m.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: []string{"my_hook"}}); err != nil {
		t.Fatal(err)
	}
	h, err := reader.ToHLO(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	good := string(h.AppendText(nil, hlo.TextOptions{}))
	bad := strings.Replace(good, "custom-call(%a, %p)", "custom-call(%constant.1, %p)", 1)
	if bad == good {
		t.Fatalf("the second hook does not wait for the first:\n%s", good)
	}
	h, err = hlo.Parse(diag.NewSource("bad.hlo", []byte(bad)))
	if err != nil {
		t.Fatal(err)
	}
	if err := order.ProveHLO(context.Background(), m, h); err == nil || !strings.Contains(err.Error(), `hook "b" does not receive the chain`) {
		t.Errorf("a lost chain: %v", err)
	}
}
