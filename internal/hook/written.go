package hooks

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// ManifestAsWritten lists the hooks of a module that is to be executed as it is written, and which ops each is made of. It
// raises m, which must be a reading of its own of the module's text: the ops are found by their place there.
// Where all hooks are hlocb's own calls the manifest has no parts: every backend executes these.
func ManifestAsWritten(m *ir.Module, opts RaiseOptions) (*hook.Manifest, error) {
	main, hasMain := fn.Lookup(m, "main")
	var tokenArgs, tokenResults []int
	if hasMain && main.Type() != nil {
		tokenArgs = numbers(main.Type().Inputs(), func(i int) bool { return isTokenArg(main, i) })
		tokenResults = numbers(main.Type().Results(), func(i int) bool { return isTokenResult(main, i) })
	}
	opts.Parts = true
	raised, err := Raise(m, opts)
	if err != nil {
		return nil, err
	}
	out, err := ManifestOf(m)
	if err != nil {
		return nil, err
	}
	for i := range out.Sites {
		if out.Sites[i].Format != fromHlocb.Name {
			out.Parts = raised.Parts
		}
	}
	if out.Parts != nil && hasMain && main.Type() != nil {
		pids := numbers(main.Type().Inputs(), func(i int) bool { return main.ArgAttrs(i).Get(attrPID) != nil })
		out.HiddenArgs = append(tokenArgs, pids...)
		slices.Sort(out.HiddenArgs)
		out.HiddenResults = tokenResults
	}
	return out, nil
}

// numbers returns the positions, tokens not counted, of the types that is selects.
func numbers(types []ir.Type, is func(i int) bool) []int {
	var out []int
	n := 0
	for i, t := range types {
		if stablehlo.IsToken(t) {
			continue
		}
		if is(i) {
			out = append(out, n)
		}
		n++
	}
	return out
}

// parts says where the values of a hook are in the ops that it is made of, producers first.
func (s *site) parts() []hook.Part {
	place := map[*ir.Value][]int{} // of leaves that are values of their own; a value may be given twice
	type element struct {
		tuple *ir.Value
		index int64
	}
	taken := map[element][]int{} // of leaves that are taken out of a tuple
	for i, v := range s.operands {
		place[v] = append(place[v], i)
		if def := v.DefiningOp(); def != nil && stable(def) == "get_tuple_element" {
			n, _ := intAttr(def.Attr("index"))
			k := element{def.Operand(0), n}
			taken[k] = append(taken[k], i)
		}
	}
	var out []hook.Part
	for i := len(s.erase) - 1; i >= 0; i-- {
		op := s.erase[i]
		switch stable(op) {
		case "outfeed", "infeed", "send", "recv", "custom_call":
		default:
			continue
		}
		p := hook.Part{Pos: op.Pos()}
		var leaf func(at int, v *ir.Value, path []int)
		leaf = func(at int, v *ir.Value, path []int) {
			if n := place[v]; len(n) > 0 {
				p.Operands = append(p.Operands, hook.Leaf{At: at, Path: append([]int(nil), path...), Value: n[0]})
				place[v] = n[1:]
				return
			}
			tt, ok := v.Type().(*ir.TupleType)
			if !ok {
				return
			}
			def := v.DefiningOp()
			made := def != nil && stable(def) == "tuple"
			for k := range tt.Elems() {
				inner := append(append([]int(nil), path...), k)
				if made {
					leaf(at, def.Operand(k), inner)
				} else if n := taken[element{v, int64(k)}]; len(n) > 0 {
					p.Operands = append(p.Operands, hook.Leaf{At: at, Path: inner, Value: n[0]})
					taken[element{v, int64(k)}] = n[1:]
				} else {
					for u := range v.Uses() { // a tuple taken out of a tuple
						if n, ok := intAttr(u.Owner().Attr("index")); ok && stable(u.Owner()) == "get_tuple_element" && n == int64(k) {
							leaf(at, u.Owner().Result(0), inner)
							break
						}
					}
				}
			}
		}
		for at, v := range op.Operands() {
			leaf(at, v, nil)
		}
		out = append(out, p)
	}
	next := 0
	for _, v := range s.results {
		def := v.DefiningOp()
		var walk func(t ir.Type, path []int)
		walk = func(t ir.Type, path []int) {
			if tt, ok := t.(*ir.TupleType); ok {
				for k, e := range tt.Elems() {
					walk(e, append(append([]int(nil), path...), k))
				}
				return
			}
			if stablehlo.IsToken(t) {
				return
			}
			for i := range out {
				if out[i].Pos == def.Pos() {
					out[i].Results = append(out[i].Results, hook.Leaf{At: v.Index(), Path: append([]int(nil), path...), Value: next})
				}
			}
			next++
		}
		walk(v.Type(), nil)
	}
	return out
}
