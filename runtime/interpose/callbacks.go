//go:build cgo

package interpose

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
)

// withoutServed returns formats that do not read the callbacks for which JAX registers a handler with the plugin.
func withoutServed(list format.List) format.List {
	out := list.Readers()
	for i, f := range out {
		g, read := *f, f.Reader.Read
		g.Reader = &format.Reader{Starts: f.Reader.Starts, Read: func(r *format.Raiser, op *ir.Op) (bool, error) {
			if call, ok := stablehlo.AsCustomCall(op); ok && strings.HasPrefix(call.CallTargetName(), "xla_ffi_python_gpu_") {
				return false, nil
			}
			return read(r, op)
		}}
		out[i] = &g
	}
	return out
}

// callbackTargets start the targets of JAX's callbacks on CPUs.
var callbackTargets = []string{"xla_ffi_partitioned_python_", "xla_ffi_python_cpu_"}

// jaxCallbacks returns which of JAX's callbacks take a token as their first argument, by index, and whether the module
// runs on several devices and has callbacks. Such callbacks must become hooks: old plugins cannot partition callbacks,
// and XLA ends the process if a callback fails while the other devices wait for its device.
func jaxCallbacks(m *ir.Module) (tokens map[uint64]bool, several bool) {
	replicas, partitions := mhlo.Devices(m)
	tokens = map[uint64]bool{}
	m.Walk(func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		if !ok {
			return true
		}
		is := func(prefix string) bool { return strings.HasPrefix(call.CallTargetName(), prefix) }
		several = several || max(replicas, partitions) > 1 && slices.ContainsFunc(callbackTargets, is)
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
	return tokens, several
}
