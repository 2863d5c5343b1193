package hooks

import (
	"strconv"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// fromJAXDescriptor reads the custom calls of JAX 2022 to 2025, which hold a pointer into the process that made
// them as operand 0, and give a tuple.
var fromJAXDescriptor = Format{
	Name:  "jax-descriptor",
	Doc:   "a custom call @xla_python_{cpu,gpu}_callback of API version 2 with a pointer as operand 0",
	ops:   []string{"custom_call"},
	raise: func(r *raiser, op *ir.Op) (bool, error) { return raiseDescriptor(r, op, false) },
}

// fromJAXHostCallbackCall reads JAX's host_callback in custom-call mode: jax-descriptor with the replica's number
// after the token.
var fromJAXHostCallbackCall = Format{
	Name:  "jax-hcb-custom-call",
	Doc:   "JAX host_callback by custom call: jax-descriptor with stablehlo.replica_id after the token",
	ops:   []string{"custom_call"},
	raise: func(r *raiser, op *ir.Op) (bool, error) { return raiseDescriptor(r, op, true) },
}

func raiseDescriptor(r *raiser, op *ir.Op, hostCallback bool) (bool, error) {
	if !isTarget(op, "xla_python_cpu_callback", "xla_python_gpu_callback") {
		return false, nil
	}
	tokens, data := splitTokens(op.OperandList())
	replica := len(tokens) > 0 && len(data) > 1 && isReplicaID(data[1])
	if replica != hostCallback {
		return false, nil
	}
	if len(data) == 0 || !hasType(data[0], tensor.I64) {
		return false, r.errorf(op, "JAX callback does not take its descriptor, a tensor<i64>, as operand 0")
	}
	descriptor := stringAttr(op.Attr("backend_config"))
	if v, ok := constant(data[0]); ok && len(v) == 1 {
		if s := strconv.FormatInt(v[0], 10); descriptor != "" && descriptor != s {
			return false, r.errorf(op, "JAX callback has descriptor %s as operand 0, but %s in its backend_config", s, descriptor)
		}
		descriptor = strconv.FormatInt(v[0], 10)
	}
	layouts, err := r.rowMajor(op)
	if err != nil {
		return false, err
	}
	data = data[1:]
	if replica {
		data = data[1:]
	}
	results := resultList(op)
	sideEffect := isTrue(op.Attr("has_side_effect")) || len(tokens) > 0
	r.add(&site{
		at:         op,
		kind:       callKind(len(data), dataLeaves(results), sideEffect),
		sourceID:   "descriptor " + descriptor,
		sideEffect: sideEffect,
		tokens:     tokens,
		operands:   data,
		results:    results,
		layouts:    layouts,
		erase:      []*ir.Op{op},
	})
	return true, nil
}

func isReplicaID(v *ir.Value) bool {
	return v.DefiningOp() != nil && stable(v.DefiningOp()) == "replica_id"
}
