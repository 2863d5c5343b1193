package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Shard sets the sharding of h, one entry per result, on ops, the ops of the lowered hook. It does nothing for a module
// with one partition and one replica.
func (w *Lowerer) Shard(h hookop.HookOp, ops ...*ir.Op) error {
	if w.Single {
		return nil
	}
	for _, op := range ops {
		if a := h.Attr(sdy.AttrValueSharding); a != nil {
			entries, ok := irutil.PerValue(a)
			if !ok || len(entries) == 0 {
				return w.Module.Errorf(h.Op, "cannot read the sharding %s of the hook", a)
			}
			list := slices.Repeat(entries[:1], max(1, op.NumResults()))
			op.SetAttr(sdy.AttrValueSharding, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list}))
		}
		if text := view.String(h.Attr(mhlo.AttrSharding)); text != "" {
			if leaves, tuple := mhlo.SplitSharding(text); tuple {
				text = leaves[0] // of the source's results; one sharding stands for all results
			}
			op.SetAttr(mhlo.AttrSharding, ir.NewString(text))
		}
	}
	return nil
}

// checkDevice returns an error if h is pinned to a device other than the first, because the format cannot express it.
func (w *Lowerer) checkDevice(h hookop.HookOp) error {
	if d := deviceOf(w.Module, h); d != 0 && !w.Single {
		return w.Cannot(h, fmt.Sprintf("it fires on device %d, and the format names no devices", d))
	}
	return nil
}

// deviceOf returns the device that h is pinned to, 0 if its sharding names none.
func deviceOf(m *ir.Module, h hookop.HookOp) int64 {
	var device int64
	text := view.String(h.Attr(mhlo.AttrSharding))
	if leaves, tuple := mhlo.SplitSharding(text); tuple {
		text = leaves[0]
	}
	if _, err := fmt.Sscanf(mhlo.PlainSharding(text), "{maximal device=%d}", &device); err == nil {
		return device
	}
	list, ok := irutil.PerValue(h.Attr(sdy.AttrValueSharding))
	if !ok || len(list) == 0 {
		return 0
	}
	mesh := list[0].Inline
	for op := range m.Body().Ops() {
		if m, ok := sdy.AsMesh(op); ok && m.SymName() == list[0].Mesh {
			mesh = m.Mesh()
		}
	}
	if mesh == nil || len(mesh.Axes) > 0 || len(mesh.DeviceIDs) != 1 {
		return 0
	}
	return mesh.DeviceIDs[0]
}

// dropMeshes erases maximal meshes that are no longer used. They came with the callbacks.
func dropMeshes(m *ir.Module) {
	var meshes []*ir.Op
	for op := range m.Body().Ops() {
		if op.Is(sdy.Mesh) && strings.HasPrefix(view.String(op.Attr(ir.SymbolName)), "maximal_mesh_") {
			meshes = append(meshes, op)
		}
	}
	if len(meshes) == 0 {
		return
	}
	used := map[string]bool{}
	m.Walk(func(op *ir.Op) bool {
		for _, a := range op.Attrs() {
			flow.Symbols(a.Attr, func(name string) { used[name] = true })
		}
		return true
	})
	for _, mesh := range meshes {
		if !used[view.String(mesh.Attr(ir.SymbolName))] {
			mesh.Erase()
		}
	}
}
