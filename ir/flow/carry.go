package flow

import "github.com/hlocb/hlocb/ir"

// Carry adds a value of v's type to those that op forwards, in front of them: an operand, if the edges of op start at
// operands; an argument of each region that an edge enters; a result. It returns the op that took op's place, its new
// result, and what stands for v at the start of each region: the region's new argument, or v itself, which the region
// captures. The caller threads the value through the regions that Threads selects, and ends them with Yield. Callers
// of a changed function add their operand by Carry, too.
func Carry(m *ir.Module, op *ir.Op, v *ir.Value) (n *ir.Op, result *ir.Value, in []*ir.Value, err error) {
	f := op.Def().Flow
	at, out := 0, 0
	takes, gives := f.Callee != "", f.Callee != ""
	in = make([]*ir.Value, op.NumRegions())
	for i := range in {
		in[i] = v
	}
	for _, e := range f.Edges {
		if e.From.At == ir.AtOperands {
			takes, at = true, e.From.First
		}
		if e.To.At == ir.AtResults {
			gives, out = true, e.To.First
		}
		if e.To.At != ir.AtArgs {
			continue
		}
		for i, r := range op.Regions() {
			if (e.To.Region == i || e.To.Region == ir.AllRegions) && in[i] == v && r.Entry() != nil {
				in[i] = r.Entry().InsertArg(e.To.First, v.Type(), op.Loc())
			}
		}
	}
	operands, operandsFrom := op.OperandList(), identity(op.NumOperands())
	if takes {
		operands, operandsFrom = Insert(operands, at, v), Insert(operandsFrom, at, -1)
	}
	var types []ir.Type
	for _, r := range op.Results() {
		types = append(types, r.Type())
	}
	resultsFrom := identity(op.NumResults())
	if gives {
		types, resultsFrom = Insert(types, out, v.Type()), Insert(resultsFrom, out, -1)
	}
	n = Rebuild(m, op, operands, types)
	for i, r := range op.Results() {
		if gives && i >= out {
			i++
		}
		r.ReplaceAllUsesWith(n.Result(i))
	}
	op.Erase()
	if gives {
		result = n.Result(out)
	}
	if f.Remap != nil {
		err = f.Remap(m, n, operandsFrom, resultsFrom)
	}
	return n, result, in, err
}

// Threads reports whether region i of an op returns the values that the op carries, and at which position the
// terminator's operands start to be such values. The condition of most loops returns none.
func Threads(op *ir.Op, i int) (first int, ok bool) {
	for _, e := range op.Def().Flow.Edges {
		if e.From.Covers(ir.AtYields, i, e.From.First) {
			return e.From.First, true
		}
	}
	return 0, false
}

// Yield makes v an operand of terminator t, in front of the values that t forwards to the op around it.
func Yield(t *ir.Op, v *ir.Value) {
	p := t.Parent()
	first := 0
	if !p.Def().Flow.Function {
		first, _ = Threads(p, regionIndex(p, t.Block().Region()))
	}
	t.SetOperands(Insert(t.OperandList(), first, v))
}

// CarryFunction gives function f a new argument 0 of type t, which it returns. The caller ends f with Yield, then
// calls Signature with the new positions, and adds the operand to the callers of f.
func CarryFunction(f *ir.Op, t ir.Type) *ir.Value { return Entry(f).InsertArg(0, t, f.Loc()) }

// Signature updates the type of function f after values were added in front of or taken from its arguments and results;
// see ir.Flow.Remap.
func Signature(m *ir.Module, f *ir.Op, args, results []int) error {
	if remap := f.Def().Flow.Remap; remap != nil {
		return remap(m, f, args, results)
	}
	return nil
}

// Rebuild puts an op of the same kind with the same attributes and regions, but other operands and result types, in
// front of op. The caller replaces the results of op and erases it.
func Rebuild(m *ir.Module, op *ir.Op, operands []*ir.Value, types []ir.Type) *ir.Op {
	var regions []*ir.Region
	for _, r := range op.Regions() {
		n := m.NewRegion()
		n.TakeBlocks(r)
		regions = append(regions, n)
	}
	return m.Before(op).Insert(&ir.OpState{Def: op.Def(), Operands: operands, Types: types, Attrs: op.Attrs(), Bodies: regions})
}

// Insert returns a new list with v at position i.
func Insert[T any](list []T, i int, v T) []T {
	out := make([]T, 0, len(list)+1)
	return append(append(append(out, list[:i]...), v), list[i:]...)
}

// identity returns 0, 1, ..., n-1.
func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
