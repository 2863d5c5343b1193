package format

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/hook/place"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// MarkAsWritten marks the ops of the hooks of m, which lets an engine execute them unchanged, and lists the hooks. It
// leaves the module unmarked if all hooks are hlocb's own calls, which every backend executes.
//
// In a partitioned module, a callback that fires on every device is placed between annotations that shard its operands
// and gather its results, like the hooks of a rewritten module.
func MarkAsWritten(m *ir.Module, opts RaiseOptions) (*hook.Manifest, error) {
	copy := m.Clone() // raise a copy to read the hooks
	main, hasMain := fn.Lookup(copy, "main")
	hasMain = hasMain && main.Type() != nil
	var tokenArgs, tokenResults []int
	if hasMain {
		tokenArgs = positions(main.Type().Inputs(), func(i int) bool { return order.IsTokenArg(main, i) })
		tokenResults = positions(main.Type().Results(), func(i int) bool { return order.IsTokenResult(main, i) })
	}
	twins := twinsOf(m, copy)
	r, err := raise(copy, opts, true)
	if err != nil {
		return nil, err
	}
	out, err := ManifestOf(copy)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out.Sites, func(s hook.Site) bool { return s.Format != OwnName }) {
		return out, nil
	}
	hookop.MarkAsWritten(m)
	out.AsWritten = true
	var each []*ir.Op
	for _, o := range r.origins {
		first, repeat := o.hook, false
		for r.merged[first] != nil {
			first, repeat = r.merged[first], true
		}
		for _, p := range o.parts {
			if first.Block() != nil {
				p.Hook, p.Repeat = hookop.HookOp{Op: first}.ID(), repeat
			}
			op := twins[p.op]
			hookop.SetPart(op, p.Part)
			if irutil.IsTarget(op, partitionedTargets...) {
				each = append(each, op)
			}
		}
	}
	if hasMain {
		graph := flow.Of(copy, nil)
		pids := positions(main.Type().Inputs(), func(i int) bool { // that a conversion drops
			return main.ArgAttrs(i).Get(irutil.AttrPID) != nil && (main.External() || onlyForwarded(graph, main.Body().Arg(i)))
		})
		out.HiddenArgs = append(tokenArgs, pids...)
		slices.Sort(out.HiddenArgs)
		out.HiddenResults = tokenResults
	}
	return out, placeEach(m, out, each)
}

// twinsOf maps the ops of a clone to the ops of the original.
func twinsOf(m, clone *ir.Module) map[*ir.Op]*ir.Op {
	var ops []*ir.Op
	m.Walk(func(op *ir.Op) bool { ops = append(ops, op); return true })
	out := make(map[*ir.Op]*ir.Op, len(ops))
	clone.Walk(func(op *ir.Op) bool { out[op] = ops[len(out)]; return true })
	return out
}

// positions returns the indices of the types that is selects. Tokens are not counted.
func positions(types []ir.Type, is func(i int) bool) []int {
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

// partitionedTargets are JAX's callbacks that fire on every device.
var partitionedTargets = []string{"xla_ffi_partitioned_python_cpu_callback", "xla_ffi_partitioned_python_gpu_callback"}

// placeEach places the callbacks of a partitioned module that fire on every device with their shards. It changes the
// types of the sites to the types of the shards.
func placeEach(m *ir.Module, manifest *hook.Manifest, calls []*ir.Op) error {
	if _, partitions := mhlo.Devices(m); partitions <= 1 || len(calls) == 0 {
		return nil
	}
	for _, op := range calls {
		for _, v := range append(op.OperandList(), op.ResultList()...) {
			if _, ok := v.Type().(*ir.TensorType); !ok {
				return m.Errorf(op, "a callback that fires on every device has values of type %s", v.Type())
			}
		}
		p, _ := hookop.PartOf(op)
		if site := manifest.Find(p.Hook); site != nil {
			hookop.HookOp{Op: op}.SetAliases(site.Aliases)
		}
	}
	if err := place.Calls(m, calls); err != nil {
		return err
	}
	for _, op := range calls {
		op.RemoveAttr(hookop.AttrAliases)
		p, _ := hookop.PartOf(op)
		site := manifest.Find(p.Hook)
		if site == nil {
			continue
		}
		for _, l := range p.Operands {
			site.Operands[l.Value] = localType(op.Operand(l.At), site.Operands[l.Value])
		}
		for _, l := range p.Results {
			site.Results[l.Value] = localType(op.Result(l.At), site.Results[l.Value])
		}
	}
	return nil
}

// localType returns the type of a value on one device.
func localType(v *ir.Value, whole hook.TensorType) hook.TensorType {
	if t, ok := v.Type().(*ir.TensorType); ok {
		whole.Shape = t.Shape()
	}
	return whole
}

// part is one part of a hook, with its op.
type part struct {
	op *ir.Op
	hookop.Part
}

// parts locates the values of a hook in its ops, producers first.
func (s *Match) parts() []part {
	place := map[*ir.Value][]int{} // positions of leaves that are separate values; a value may occur twice
	type element struct {
		tuple *ir.Value
		index int64
	}
	taken := map[element][]int{} // positions of leaves that are extracted from a tuple
	for i, v := range s.Operands {
		place[v] = append(place[v], i)
		if op := v.DefiningOp(); op != nil && op.IsOrMirrors(stablehlo.GetTupleElement) {
			n, _ := view.OptionalInt(op.Attr(stablehlo.AttrIndex))
			k := element{op.Operand(0), n}
			taken[k] = append(taken[k], i)
		}
	}
	var out []part
	for i := len(s.Erase) - 1; i >= 0; i-- {
		op := s.Erase[i]
		switch op.Def().Original() {
		case stablehlo.Outfeed, stablehlo.Infeed, stablehlo.Send, stablehlo.Recv, stablehlo.CustomCall:
		default:
			continue
		}
		p := part{op: op}
		var leaf func(at int, v *ir.Value, path []int)
		leaf = func(at int, v *ir.Value, path []int) {
			if n := place[v]; len(n) > 0 {
				p.Operands = append(p.Operands, hookop.Leaf{At: at, Path: slices.Clone(path), Value: n[0]})
				place[v] = n[1:]
				return
			}
			tt, ok := v.Type().(*ir.TupleType)
			if !ok {
				return
			}
			maker := v.DefiningOp()
			for k := range tt.Elems() {
				inner := append(slices.Clone(path), k)
				if maker != nil && maker.IsOrMirrors(stablehlo.Tuple) {
					leaf(at, maker.Operand(k), inner)
				} else if n := taken[element{v, int64(k)}]; len(n) > 0 {
					p.Operands = append(p.Operands, hookop.Leaf{At: at, Path: inner, Value: n[0]})
					taken[element{v, int64(k)}] = n[1:]
				} else {
					for u := range v.Uses() { // a tuple extracted from a tuple
						if n, ok := view.OptionalInt(u.Owner().Attr(stablehlo.AttrIndex)); ok && u.Owner().IsOrMirrors(stablehlo.GetTupleElement) && n == int64(k) {
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
	for _, v := range s.Results {
		var walk func(t ir.Type, path []int)
		walk = func(t ir.Type, path []int) {
			if tt, ok := t.(*ir.TupleType); ok {
				for k, e := range tt.Elems() {
					walk(e, append(slices.Clone(path), k))
				}
				return
			}
			if stablehlo.IsToken(t) {
				return
			}
			for i := range out {
				if out[i].op == v.DefiningOp() {
					out[i].Results = append(out[i].Results, hookop.Leaf{At: v.Index(), Path: slices.Clone(path), Value: next})
				}
			}
			next++
		}
		walk(v.Type(), nil)
	}
	return out
}
