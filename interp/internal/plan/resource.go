package plan

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// resourceTensor returns the elements of dense_resource<key>. The module's file metadata holds them as a hexadecimal
// string: a 32-bit alignment, then the payload, both little-endian.
func resourceTensor(m *ir.Module, a *ir.ResourceAttr) (*tensor.Tensor, error) {
	t, err := TypeOf(a.Type())
	if err != nil {
		return nil, err
	}
	if t.Dynamic() || t.Class != kernel.ClassTensor {
		return nil, fmt.Errorf("resource %q has type %s", a.Key(), t)
	}
	for _, r := range m.Resources() {
		if r.Section != "dialect_resources" || r.Key != a.Key() {
			continue
		}
		text, ok := strings.CutPrefix(strings.Trim(strings.TrimSpace(r.Text), `"`), "0x")
		if !ok {
			break
		}
		b, err := hex.DecodeString(text)
		if err != nil || len(b) < 4 {
			return nil, fmt.Errorf("resource %q is not a hexadecimal string", a.Key())
		}
		b = b[4:]
		if t.DType == tensor.I1 && len(b) == (t.N+7)/8 && len(b) != t.N {
			bits := make([]byte, t.N)
			for i := range bits {
				bits[i] = b[i/8] >> (i % 8) & 1
			}
			b = bits
		}
		// Copy the payload: a decoded string is not aligned.
		out := tensor.New(t.DType, t.Shape)
		if len(b) != len(out.Bytes()) {
			return nil, fmt.Errorf("resource %q has %d bytes for %s", a.Key(), len(b), t)
		}
		copy(out.Bytes(), b)
		return out, nil
	}
	return nil, fmt.Errorf("resource %q is not in the module's metadata", a.Key())
}
