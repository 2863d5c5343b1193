package format

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
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
	ids, used := identifier{}, make(map[hook.ID]*ir.Op, len(hooks))
	for i, h := range hooks { // already named hooks keep their names and ids
		if h.op.Attr(hookop.AttrID) == r.noID {
			continue
		}
		switch first := used[h.op.ID()]; {
		case first == nil:
			used[h.op.ID()] = h.op.Op
		case isCopy(h.op, hookop.HookOp{Op: first}):
			continue
		default:
			return 0, m.Errorf(h.op.Op, "two hooks have the id %s", h.op.ID()).Note(first.Pos(), "the first one is here")
		}
		if name := names.unique(nameOr(h.op, i)); name != h.op.HookName() {
			h.op.SetAttr(hookop.AttrName, ir.NewString(name))
		}
	}
	for i, h := range hooks {
		if h.op.Attr(hookop.AttrID) != r.noID {
			continue
		}
		id := ids.next(keyOf(h.path, h.op), func(id hook.ID) bool { return used[id] == nil })
		used[id] = h.op.Op
		h.op.SetAttr(hookop.AttrID, ir.NewInteger(int64(id), ir.Int(64)))
		if name := names.unique(nameOr(h.op, i)); name != h.op.HookName() {
			h.op.SetAttr(hookop.AttrName, ir.NewString(name))
		}
	}
	return len(hooks), nil
}

// isCopy reports whether a and b are copies of one hook, which inlining and unrolling create: they have the same id,
// name, kind, format and types.
func isCopy(a, b hookop.HookOp) bool { return a.Kind() == b.Kind() && keyOf("", a) == keyOf("", b) }

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

// identifier counts the hooks with each key.
type identifier map[string]int

// next returns the id of the next hook with the given key that is free: the first 64 bits of SHA-256 over the key and
// the ordinal of the hook among those with the key.
func (d identifier) next(key string, free func(hook.ID) bool) hook.ID {
	for {
		sum := sha256.Sum256(strconv.AppendInt([]byte(key), int64(d[key]), 10))
		d[key]++
		if id := hook.ID(binary.BigEndian.Uint64(sum[:8])); free(id) {
			return id
		}
	}
}

// keyOf returns the key of h, a hook in the function named path: the symbol path, the format name, the module's name
// for the hook, and the operand and result types. Nothing else enters an id besides an ordinal, so ids are the same on
// every machine and in every run.
func keyOf(path string, h hookop.HookOp) string {
	b := append([]byte(path), '\n')
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
	return string(append(b, ")\n"...))
}
