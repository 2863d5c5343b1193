//go:build cgo

package interpose

import (
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// tokenCallbacks returns which of JAX's callbacks take a token as their first argument, by index.
func tokenCallbacks(m *ir.Module) map[uint64]bool {
	out := map[uint64]bool{}
	m.Walk(func(op *ir.Op) bool {
		if !op.Is(stablehlo.CustomCall) || op.NumOperands() == 0 || !stablehlo.IsToken(op.Operand(0).Type()) {
			return true
		}
		cfg, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
		if cfg == nil {
			cfg, _ = op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr)
		}
		if index, ok := cfg.Get(stablehlo.AttrIndex).(*ir.IntegerAttr); ok {
			out[uint64(index.Value())] = true
		}
		return true
	})
	return out
}
