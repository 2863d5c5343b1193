package format

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
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
	if _, err := fmt.Sscanf(irutil.StringAttr(h.Attr(mhlo.AttrSharding)), "{maximal device=%d}", &device); err == nil {
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
		if op.Is(sdy.Mesh) && strings.HasPrefix(irutil.StringAttr(op.Attr(ir.SymbolName)), "maximal_mesh_") {
			meshes = append(meshes, op)
		}
	}
	for _, mesh := range meshes {
		name := "@" + irutil.StringAttr(mesh.Attr(ir.SymbolName))
		used := false
		m.Walk(func(op *ir.Op) bool {
			for _, a := range op.Attrs() {
				used = used || mentions(a.Attr, name)
			}
			return !used
		})
		if !used {
			mesh.Erase()
		}
	}
}

// mentions reports whether an attribute names a symbol, given with its '@'.
func mentions(a ir.Attr, symbol string) bool {
	switch a := a.(type) {
	case *ir.DialectAttr:
		return hasSymbol(a.Body(), symbol)
	case *ir.SymbolRefAttr:
		return "@"+a.Root() == symbol
	case *ir.ArrayAttr:
		for _, e := range a.Elems() {
			if mentions(e, symbol) {
				return true
			}
		}
	case *ir.DictAttr:
		for _, e := range a.Entries() {
			if mentions(e.Attr, symbol) {
				return true
			}
		}
	}
	return false
}

// hasSymbol reports whether text contains the symbol as a whole word.
func hasSymbol(text, symbol string) bool {
	for {
		i := strings.Index(text, symbol)
		if i < 0 {
			return false
		}
		text = text[i+len(symbol):]
		if text == "" || !isWord(text[0]) {
			return true
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
