package hooks

import (
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// partitionedTargets are JAX's callbacks that fire on every device.
var partitionedTargets = []string{"xla_ffi_partitioned_python_cpu_callback", "xla_ffi_partitioned_python_gpu_callback"}

// CutAsWritten makes the callbacks of a partitioned module that fire on every device, with its part of the operands, say so
// in the module: each goes between what cuts its operands and what joins its results, where PlaceOnDevices puts the hooks
// of a rewritten module. manifest is what ManifestAsWritten said of another reading of the same text; its types become
// those of the parts. A module without such callbacks stays as it is.
func CutAsWritten(m *ir.Module, manifest *hook.Manifest) error {
	cut := map[diag.Pos]*hook.Part{}
	for i := range manifest.Parts {
		cut[manifest.Parts[i].Pos] = &manifest.Parts[i]
	}
	var ops []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if cut[op.Pos()] != nil && isTarget(op, partitionedTargets...) {
			ops = append(ops, op)
		}
		return true
	})
	if n, ok := intAttr(m.Op().Attr("mhlo.num_partitions")); !ok || n <= 1 || len(ops) == 0 {
		return nil
	}
	p := newPlacer(m, hook.PerDeviceEach)
	p.findShardings()
	funcs, err := p.manualFunctions()
	if err != nil {
		return err
	}
	for _, op := range ops {
		for _, v := range append(op.OperandList(), resultList(op)...) {
			if _, ok := v.Type().(*ir.TensorType); !ok {
				return m.Errorf(op, "a callback that fires on every device has values of type %s", v.Type())
			}
		}
		part := cut[op.Pos()]
		site := manifest.Find(part.Hook)
		if contextOf(op, funcs) == wholeContext {
			h := hookop.HookOp{Op: op}
			if site != nil {
				h.SetAliases(m.Context(), site.Aliases)
			}
			place := p.shardy
			if p.mesh == nil {
				place = p.gspmd
			}
			if err := place(h); err != nil {
				return err
			}
			h.RemoveAttr(hookop.AttrAliases)
		}
		if site == nil {
			continue
		}
		for _, l := range part.Operands {
			site.Operands[l.Value] = localType(op.Operand(l.At), site.Operands[l.Value])
		}
		for _, l := range part.Results {
			site.Results[l.Value] = localType(op.Result(l.At), site.Results[l.Value])
		}
	}
	return nil
}

// localType is the type of a value on one device.
func localType(v *ir.Value, whole hook.TensorType) hook.TensorType {
	if t, ok := v.Type().(*ir.TensorType); ok {
		whole.Shape = t.Shape()
	}
	return whole
}
