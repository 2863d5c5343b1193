package flow

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// Carry adds a value of v's type before the values that op forwards. It adds an operand (if op's edges start at
// operands), an argument to each region that an edge enters, and a result. It returns the op that replaces op, the new
// result, and the value that replaces v at the start of each region: the region's new argument, or v itself if the
// region captures it. The caller threads the value through the regions for which Threads reports ok, and ends each of
// them with Yield. After a change to a function, call Carry for its callers to add their operand.
func Carry(m *ir.Module, op *ir.Op, v *ir.Value) (n *ir.Op, result *ir.Value, in []*ir.Value, err error) {
	f := op.Def().Flow
	if f == nil {
		return nil, nil, nil, m.Errorf(op, "values do not flow through '%s': its row has no Flow", op.Name())
	}
	at, out := 0, 0
	takes, gives := f.Callee != "", f.Callee != ""
	in = make([]*ir.Value, len(op.Regions()))
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
	st := op.State()
	from, resultsFrom := Positions(op.NumOperands()), Positions(op.NumResults())
	moved := Positions(op.NumResults())
	if takes {
		st.Operands, from = slices.Insert(st.Operands, at, v), slices.Insert(from, at, -1)
		st.Attrs = grow(st.Attrs, "operandSegmentSizes", op.Def().Operands, at)
	}
	if gives {
		st.Types, resultsFrom = slices.Insert(st.Types, out, v.Type()), slices.Insert(resultsFrom, out, -1)
		st.Attrs = grow(st.Attrs, "resultSegmentSizes", op.Def().Results, out)
		for i := out; i < len(moved); i++ {
			moved[i]++
		}
	}
	n = m.Rebuild(op, st, moved)
	if gives {
		result = n.Result(out)
	}
	if f.Remap != nil {
		err = f.Remap(m, n, from, resultsFrom)
	}
	return n, result, in, err
}

// grow adds 1 to the size of the variadic arg at position at, if the attribute named name in attrs holds the sizes of
// args.
func grow(attrs ir.AttrList, name string, args []ir.Arg, at int) ir.AttrList {
	sizes, ok := attrs.Get(name).(*ir.DenseArrayAttr)
	if !ok || len(sizes.Values()) != len(args) {
		return attrs
	}
	list := slices.Clone(sizes.Values())
	for i, end := 0, 0; i < len(list); i++ {
		if end += int(list[i]); args[i].Mult == ir.Variadic && at <= end {
			list[i]++
			return attrs.Set(name, ir.NewDenseArray(sizes.Elem(), list), true)
		}
	}
	return attrs
}

// Threads reports whether region i of an op returns the carried values, and the position of the first one among the
// terminator's operands. The condition of most loops returns none, and so do the regions of an op without a Flow.
func Threads(op *ir.Op, i int) (first int, ok bool) {
	if op.Def().Flow == nil {
		return 0, false
	}
	for _, e := range op.Def().Flow.Edges {
		if covers(e.From, ir.AtYields, i, e.From.First) {
			return e.From.First, true
		}
	}
	return 0, false
}

// Yield makes v an operand of terminator t, before the values that t forwards to its parent op.
func Yield(t *ir.Op, v *ir.Value) {
	p := t.Parent()
	first := 0
	if f := p.Def().Flow; f == nil || !f.Function {
		first, _ = Threads(p, slices.Index(p.Regions(), t.Block().Region()))
	}
	t.SetOperands(slices.Insert(t.OperandList(), first, v))
}

// Positions returns 0, 1, ..., n-1: the positions of values that all stay, for ir.Flow.Remap and ir.Module.Rebuild.
func Positions(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
