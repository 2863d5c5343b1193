package reader

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

const orderedHLO = `HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  c = u64[] constant(0)
  a = u64[] custom-call(c, p), custom_call_target="hlocb_hook", custom_call_has_side_effect=true,
    api_version=API_VERSION_TYPED_FFI, backend_config={abi = 1 : i64, chained = true, id = 1 : i64, kind = "tap", name = "a"}
  b = u64[] custom-call(a, p), custom_call_target="hlocb_hook", custom_call_has_side_effect=true,
    api_version=API_VERSION_TYPED_FFI, backend_config={abi = 1 : i64, chained = true, id = 2 : i64, kind = "tap", name = "b"}
  ROOT r = f32[4] sine(p)
}
`

// TestWritesProvenOrder: HLO that drops the chain between two hooks of the module is one located error and no HLO.
// Nothing is written without the proof.
func TestWritesProvenOrder(t *testing.T) {
	m, err := Read(diag.NewSource("m.hlo", []byte(orderedHLO)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToHLO(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	lose := func(m *ir.Module) (*hlo.Module, error) {
		m = m.Clone()
		var first *ir.Op
		m.Walk(func(op *ir.Op) bool {
			if op.Is(stablehlo.CustomCall) {
				if first != nil {
					op.SetOperand(0, first.Operand(0))
				}
				first = op
			}
			return true
		})
		return hlo.Update(m)
	}
	const want = `m.hlo:8:3: error: HLO would not keep the order of the hooks: hook "b" does not receive the chain of the hook before it, so the order of the two is not proven`
	h, err := proven(t.Context(), m, lose)
	if h != nil || err == nil || err.Error() != want || !errors.As(err, new(*order.LostError)) {
		t.Errorf("%v, %v, want %s", h, err, want)
	}
	if list := diag.ListOf(err); len(list) != 1 || list[0].Error() != want {
		t.Errorf("%v as diagnostics", list)
	}
	refused := errors.New("no such instruction")
	if h, err := proven(t.Context(), m, func(*ir.Module) (*hlo.Module, error) { return nil, refused }); h != nil || err != refused {
		t.Errorf("%v, %v", h, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, path := range []string{"", "-", "a.hlo", "a.pb"} {
		var out bytes.Buffer
		if err := Write(ended, &out, path, m, print.Options{}); err != context.Canceled || out.Len() > 0 {
			t.Errorf("%q: %v, and %d bytes", path, err, out.Len())
		}
		if err := Write(t.Context(), &out, path, m, print.Options{}); err != nil || !strings.Contains(out.String(), "hlocb_hook") {
			t.Errorf("%q: %v, and %d bytes", path, err, out.Len())
		}
	}
}
