package hooks

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// fromJAXFFI reads the custom calls of JAX 0.6 and later for io_callback, pure_callback, debug.callback and
// buffer_callback. They hold an index into a table of the process that made them.
var fromJAXFFI = Format{
	Name:  "jax-ffi",
	Doc:   "a custom call of one of the targets xla_ffi_python_{cpu,gpu}_callback, xla_ffi_partitioned_python_*, xla_buffer_python_*",
	ops:   []string{"custom_call"},
	raise: raiseJAXFFI,
}

func raiseJAXFFI(r *raiser, op *ir.Op) (bool, error) {
	if !isTarget(op,
		"xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback",
		"xla_ffi_partitioned_python_cpu_callback", "xla_ffi_partitioned_python_gpu_callback",
		"xla_buffer_python_cpu_callback", "xla_buffer_python_gpu_callback",
		"xla_buffer_python_cpu_callback_cmd_buffer", "xla_buffer_python_gpu_callback_cmd_buffer") {
		return false, nil
	}
	index, ok := intAttr(config(op).Get("index"))
	if !ok {
		return false, r.errorf(op, "JAX callback has no index in its backend_config")
	}
	layouts, err := r.rowMajor(op)
	if err != nil {
		return false, err
	}
	tokens, data := splitTokens(op.OperandList())
	sideEffect := isTrue(op.Attr("has_side_effect")) || len(tokens) > 0
	results := resultList(op)
	aliases, err := r.sourceAliases(op, data)
	if err != nil {
		return false, err
	}
	r.add(&site{
		at:         op,
		kind:       callKind(len(data), dataLeaves(results), sideEffect),
		sourceID:   "index " + strconv.FormatUint(uint64(index), 10),
		sideEffect: sideEffect,
		tokens:     tokens,
		operands:   data,
		results:    results,
		aliases:    aliases,
		layouts:    layouts,
		partition:  strings.HasPrefix(stringAttr(op.Attr("call_target_name")), "xla_ffi_partitioned_"),
		mark:       op,
		erase:      []*ir.Op{op},
	})
	return true, nil
}
