package format

import (
	"strconv"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// jaxDescriptor is the format of JAX's callbacks from 2022 to 2025: operand 0 is a pointer into the process that wrote
// the module, and the result is a tuple.
var jaxDescriptor = &Format{
	Name:   "jax-descriptor",
	Doc:    "a custom call @xla_python_{cpu,gpu}_callback of API version 2 with a pointer as operand 0",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.CustomCall}, Read: func(r *Raiser, op *ir.Op) (bool, error) { return readDescriptor(r, op, false) }},
}

// hostCallbackCall is JAX's host_callback in custom-call mode: jax-descriptor with the replica number after the token.
var hostCallbackCall = &Format{
	Name:   "jax-hcb-custom-call",
	Doc:    "JAX host_callback by custom call: jax-descriptor with stablehlo.replica_id after the token",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.CustomCall}, Read: func(r *Raiser, op *ir.Op) (bool, error) { return readDescriptor(r, op, true) }},
}

func readDescriptor(r *Raiser, op *ir.Op, hostCallback bool) (bool, error) {
	if !irutil.IsTarget(op, "xla_python_cpu_callback", "xla_python_gpu_callback") {
		return false, nil
	}
	tokens, data := irutil.SplitTokens(op.OperandList())
	replica := len(tokens) > 0 && len(data) > 1 && isReplicaID(data[1])
	if replica != hostCallback {
		return false, nil
	}
	if len(data) == 0 || !irutil.HasType(data[0], tensor.I64) {
		return false, r.Module.Errorf(op, "JAX callback needs its descriptor, a tensor<i64>, as operand 0")
	}
	descriptor := view.String(op.Attr(stablehlo.AttrBackendConfig))
	if v, ok := irutil.Integers(data[0]); ok && len(v) == 1 {
		if s := strconv.FormatInt(v[0], 10); descriptor != "" && descriptor != s {
			return false, r.Module.Errorf(op, "JAX callback has descriptor %s as operand 0, but %s in its backend_config", s, descriptor)
		}
		descriptor = strconv.FormatInt(v[0], 10)
	}
	s, err := r.call(op)
	if err != nil {
		return false, err
	}
	s.Operands, s.Aliases = data[1:], nil // of the tuple that the call returns
	if replica {
		s.Operands = data[2:]
	}
	s.Kind, s.SourceID = callKind(len(s.Operands), irutil.DataLeaves(s.Results), s.SideEffect), "descriptor "+descriptor
	r.Add(s)
	return true, nil
}

func isReplicaID(v *ir.Value) bool {
	return v.DefiningOp() != nil && v.DefiningOp().IsOrMirrors(stablehlo.ReplicaID)
}
