package format

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// carrySharding sets the sharding of a lowered hook from its source, one entry per result. It does nothing for a module
// with one partition and one replica.
func carrySharding(m *ir.Module, h hookop.HookOp, st *ir.OpState, single bool) error {
	list, err := shardingOf(m, h, len(st.Types), single)
	for _, a := range list {
		st.SetAttr(a.Name, a.Attr)
	}
	return err
}

// shardingOf returns the attributes that place an op of a lowered hook with n results on devices.
func shardingOf(m *ir.Module, h hookop.HookOp, n int, single bool) (ir.AttrList, error) {
	if single {
		return nil, nil
	}
	var out ir.AttrList
	if a := h.Attr(sdy.AttrValueSharding); a != nil {
		entries, ok := irutil.PerValue(a)
		if !ok || len(entries) == 0 {
			return nil, m.Errorf(h.Op, "cannot read the sharding %s of the hook", a)
		}
		list := make([]*sdy.Sharding, max(1, n))
		for i := range list {
			list[i] = entries[0]
		}
		out = append(out, ir.NamedAttr{Name: sdy.AttrValueSharding, Attr: sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list})})
	}
	if a := h.Attr(mhlo.AttrSharding); a != nil {
		out = append(out, ir.NamedAttr{Name: mhlo.AttrSharding, Attr: a})
	}
	return out, nil
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
	if _, err := fmt.Sscanf(view.String(h.Attr(mhlo.AttrSharding)), "{maximal device=%d}", &device); err == nil {
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

// Shard sets the sharding of h on ops, the ops of the lowered hook.
func (w *Lowerer) Shard(h hookop.HookOp, ops ...*ir.Op) error {
	for _, op := range ops {
		list, err := shardingOf(w.Module, h, op.NumResults(), w.Single)
		if err != nil {
			return err
		}
		for _, a := range list {
			op.SetAttr(a.Name, a.Attr)
		}
	}
	return nil
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
