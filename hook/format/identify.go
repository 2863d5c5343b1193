package format

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// identify sets the name and id of every hook and returns the number of hooks.
func (r *Raiser) identify() (int, error) {
	type entry struct {
		op   hookop.HookOp
		path string
	}
	m := r.Module
	hooks := make([]entry, 0, r.found)
	var err error
	var misplaced []*ir.Op // calls in regions that must not contain hooks
	for f := range m.Body().Ops() {
		path := view.String(f.Attr(ir.SymbolName))
		f.Walk(func(op *ir.Op) bool {
			if h, ok := hookop.AsHook(op); ok {
				if err = checkPlace(m, op); err != nil {
					return false
				}
				hooks = append(hooks, entry{h, path})
			} else if flow := op.Def().Flow; flow != nil && flow.Callee != "" && unorderedAround(m, op) != nil {
				misplaced = append(misplaced, op)
			}
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	if err := checkCalls(m, misplaced); err != nil {
		return 0, err
	}
	names := namer{}
	ids := identifier{ordinal: map[string]int{}, used: make(map[hook.ID]*ir.Op, len(hooks))}
	for i, h := range hooks { // already named hooks keep their names and ids
		if h.op.Attr(hookop.AttrID) == r.noID {
			continue
		}
		if first := ids.claim(h.op.ID(), h.op.Op); first != nil {
			if isCopy(h.op, hookop.HookOp{Op: first}) {
				continue
			}
			return 0, m.Errorf(h.op.Op, "two hooks have the id %s", h.op.ID()).Note(first.Pos(), "the first one is here")
		}
		if name := names.unique(nameOr(h.op, i)); name != h.op.HookName() {
			h.op.SetAttr(hookop.AttrName, ir.NewString(name))
		}
	}
	i64 := ir.Int(64)
	for i, h := range hooks {
		list := h.op.Attrs() // nothing else shares the list that attrs created, so it may change in place
		at := -1
		for k := range list {
			if list[k].Attr == r.noID {
				at = k
			}
		}
		if at < 0 {
			continue
		}
		list[at].Attr = ir.NewInteger(int64(ids.next(h.path, h.op)), i64)
		if name := names.unique(nameOr(h.op, i)); name != h.op.HookName() {
			for k := at; k < len(list); k++ {
				if list[k].Name == hookop.AttrName {
					list[k].Attr = ir.NewString(name)
				}
			}
		}
		h.op.SetAttrs(list)
	}
	return len(hooks), nil
}

// isCopy reports whether a and b are copies of one hook, which inlining and unrolling create: they have the same id,
// name, kind, format and types.
func isCopy(a, b hookop.HookOp) bool {
	if a.HookName() != b.HookName() || a.Kind() != b.Kind() || a.Format() != b.Format() || a.NumData() != b.NumData() || a.NumResultData() != b.NumResultData() {
		return false
	}
	for i := range a.NumData() {
		if a.Data(i).Type() != b.Data(i).Type() {
			return false
		}
	}
	for i := range a.NumResultData() {
		if a.ResultData(i).Type() != b.ResultData(i).Type() {
			return false
		}
	}
	return true
}

// nameOr returns the module's name for hook i, the place in the user's source, or hook0, hook1 and so on.
func nameOr(h hookop.HookOp, i int) string {
	if name := h.HookName(); name != "" {
		return name
	}
	if place, ok := hook.PlaceOf(LocText(h.Loc())); ok && place.HookName() != "" {
		return place.HookName()
	}
	return "hook" + strconv.Itoa(i)
}

// namer counts the uses of each name.
type namer map[string]int

// unique returns name, or name#2, name#3 and so on if the name is already in use.
func (n namer) unique(name string) string {
	for {
		n[name]++
		if n[name] == 1 {
			return name
		}
		other := name + "#" + strconv.Itoa(n[name])
		if n[other] == 0 {
			n[other] = 1
			return other
		}
	}
}

// identifier computes ids: the first 64 bits of SHA-256 over the symbol path, the format name, the module's name for
// the hook, the operand and result types, and the ordinal among hooks that agree in all of these. Nothing else enters,
// so ids are the same on every machine and in every run.
type identifier struct {
	ordinal map[string]int
	used    map[hook.ID]*ir.Op
	key     []byte
}

// claim records that op has the given id. It returns the op that already had the id, or nil.
func (d *identifier) claim(id hook.ID, op *ir.Op) *ir.Op {
	first := d.used[id]
	if first == nil {
		d.used[id] = op
	}
	return first
}

// next returns the id of h, a hook in the function named path.
func (d *identifier) next(path string, h hookop.HookOp) hook.ID {
	b := append(d.key[:0], path...)
	b = append(b, '\n')
	b = append(b, h.Format()...)
	if name := h.HookName(); name != "" {
		b = append(b, '\n')
		b = append(b, name...)
	}
	b = append(b, "\n("...)
	for i := range h.NumData() {
		b = append(b, h.Data(i).Type().String()...)
		b = append(b, ',')
	}
	b = append(b, ")->("...)
	for i := range h.NumResultData() {
		b = append(b, h.ResultData(i).Type().String()...)
		b = append(b, ',')
	}
	b = append(b, ")\n"...)
	d.key = b
	key := string(b)
	for {
		d.key = strconv.AppendInt(b, int64(d.ordinal[key]), 10)
		d.ordinal[key]++
		sum := sha256.Sum256(d.key)
		id := hook.ID(binary.BigEndian.Uint64(sum[:8]))
		if d.claim(id, h.Op) == nil {
			return id
		}
	}
}
