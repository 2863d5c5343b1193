package ir

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// ResourceElements returns the elements of dense_resource<key>. The module's file metadata holds them as a hexadecimal
// string: a 32-bit alignment, then the payload, both little-endian.
func (m *Module) ResourceElements(a *ResourceAttr) (*tensor.Tensor, error) {
	tt, ok := a.Type().(*TensorType)
	if !ok || !tt.Static() || tt.DType() == tensor.Invalid {
		return nil, fmt.Errorf("resource %q has type %s", a.Key(), a.Type())
	}
	n := int(tensor.Shape(tt.Shape()).NumElements())
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
		if tt.DType() == tensor.I1 && len(b) == (n+7)/8 && len(b) != n {
			bits := make([]byte, n)
			for i := range bits {
				bits[i] = b[i/8] >> (i % 8) & 1
			}
			b = bits
		}
		// Copy the payload: a decoded string is not aligned.
		out := tensor.New(tt.DType(), tt.Shape())
		if len(b) != len(out.Bytes()) {
			return nil, fmt.Errorf("resource %q has %d bytes for %s", a.Key(), len(b), a.Type())
		}
		copy(out.Bytes(), b)
		return out, nil
	}
	return nil, fmt.Errorf("resource %q is not in the module's metadata", a.Key())
}
