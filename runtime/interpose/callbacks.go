//go:build cgo

package interpose

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// jaxCallbacks returns which of JAX's callbacks take a token as their first argument, by index, and whether some run on
// every device with its shard. Old plugins cannot partition such callbacks.
func jaxCallbacks(m *ir.Module) (tokens map[uint64]bool, sharded bool) {
	_, partitions := mhlo.Devices(m)
	tokens = map[uint64]bool{}
	m.Walk(func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		if !ok {
			return true
		}
		sharded = sharded || partitions > 1 && strings.HasPrefix(call.CallTargetName(), "xla_ffi_partitioned_python_")
		if op.NumOperands() == 0 || !stablehlo.IsToken(op.Operand(0).Type()) {
			return true
		}
		cfg, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
		if cfg == nil {
			cfg, _ = op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr)
		}
		if index, ok := cfg.Get(stablehlo.AttrIndex).(*ir.IntegerAttr); ok {
			tokens[uint64(index.Value())] = true
		}
		return true
	})
	return tokens, sharded
}
