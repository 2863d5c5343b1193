package rewrite

import (
	"context"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// Converter configures the type conversion of Convert.
type Converter struct {
	// Types returns the types of the values that replace a value of type t: one, several or none. If ok is false, t
	// stays.
	Types func(t ir.Type) (types []ir.Type, ok bool)
	// Attr returns the replacement for attribute a of op, for instance a function type. If Attr is nil, all attributes
	// stay.
	Attr func(op *ir.Op, name string, a ir.Attr) ir.Attr
	// Ops convert ops of certain kinds. Every other op keeps its kind: Convert replaces its operands, results and
	// region arguments of converted types in place.
	Ops []*Conversion
	// Applied is called after each conversion of Ops, with its name; nil: no call.
	Applied func(rule string)
	// Context ends the work with its error; nil never does.
	Context context.Context
}

// Conversion converts ops of certain kinds.
type Conversion struct {
	Name string
	Rows []*ir.Def
	// Convert returns the values that replace each result of op, with the types that the converter chose. operands
	// holds the values that replace each operand. It inserts new ops before op. It does not change op or its uses,
	// because the caller erases op. It may move the blocks of op's regions, whose arguments are already converted.
	Convert func(r *Rewriter, op *ir.Op, operands [][]*ir.Value) (results [][]*ir.Value, err error)
}

// Convert converts every value inside scope to the types that c selects, in program order, including loops and
// branches. It stops at the first error; the module is then partly converted.
func Convert(r *Rewriter, scope *ir.Op, c *Converter) error {
	v := &conversion{r: r, c: c, values: map[*ir.Value][]*ir.Value{}, forward: map[*ir.Value]*ir.Op{}, rows: map[*ir.Def]*Conversion{}}
	for _, o := range c.Ops {
		for _, d := range o.Rows {
			v.rows[d] = o
		}
	}
	if err := v.regions(scope); err != nil {
		return err
	}
	for _, x := range v.early {
		cast := v.forward[x]
		vals, ok := v.values[x]
		if !ok {
			return r.m.Errorf(cast, "an op uses a value of type '%s' that is defined outside of the converted op", x.Type())
		}
		r.Replace(cast, vals...)
	}
	for i := len(v.old) - 1; i >= 0; i-- {
		if o := v.old[i]; o.NumOperands() > 0 {
			r.Update(o, func() { o.SetOperands(nil) })
		}
	}
	for i := len(v.old) - 1; i >= 0; i-- {
		switch o := v.old[i]; {
		case o.Erased(): // erased with its parent op
		case o.HasUses():
			return r.m.Errorf(o, "'%s' is converted, but an op outside of the converted op uses it", o.Name())
		default:
			r.Erase(o)
		}
	}
	for _, a := range v.args {
		switch {
		case a.Erased():
		case a.HasUses():
			return r.m.Errorf(a.Block().Parent(), "a region argument of type '%s' is converted, but an op still uses it", a.Type())
		default:
			b := a.Block()
			r.Update(b.Parent(), func() { b.RemoveArg(a.Index()) })
		}
	}
	return nil
}

// conversion is one run of Convert.
type conversion struct {
	r       *Rewriter
	c       *Converter
	values  map[*ir.Value][]*ir.Value // replacements of values of converted types
	forward map[*ir.Value]*ir.Op      // ops whose results replace values that are not converted yet
	early   []*ir.Value               // the keys of forward, in the order of their first uses
	rows    map[*ir.Def]*Conversion
	old     []*ir.Op    // replaced ops, in program order
	args    []*ir.Value // replaced arguments, in program order
}

// regions converts the arguments of all blocks of op's regions, then the ops.
func (v *conversion) regions(op *ir.Op) error {
	for _, region := range op.Regions() {
		for _, b := range region.Blocks() {
			v.arguments(b)
		}
	}
	for _, region := range op.Regions() {
		for _, b := range region.Blocks() {
			for o := range b.Ops() {
				if v.c.Context != nil && v.c.Context.Err() != nil {
					return v.c.Context.Err()
				}
				if err := v.op(o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// arguments inserts new arguments before each argument of a converted type.
func (v *conversion) arguments(b *ir.Block) {
	for _, a := range b.Args() {
		types, ok := v.c.Types(a.Type())
		if !ok {
			continue
		}
		var vals []*ir.Value
		v.r.Update(b.Parent(), func() {
			for _, t := range types {
				n := b.InsertArg(a.Index(), t, a.Loc())
				n.SetPos(a.Pos())
				if len(types) == 1 {
					n.SetOrigin(a.Origin())
				}
				vals = append(vals, n)
			}
		})
		v.values[a] = vals
		v.args = append(v.args, a)
	}
}

// of returns the values that replace x.
func (v *conversion) of(x *ir.Value, user *ir.Op) []*ir.Value {
	if vals, ok := v.values[x]; ok {
		return vals
	}
	types, ok := v.c.Types(x.Type())
	if !ok {
		return []*ir.Value{x}
	}
	cast := v.forward[x]
	if cast == nil { // used before its definition, as with a branch back
		cast = v.r.Before(user).At(user.Loc(), user.Pos()).Create(v.r.m.Def("builtin.unrealized_conversion_cast"), nil, types)
		v.forward[x] = cast
		v.early = append(v.early, x)
	}
	return cast.ResultList()
}

// op converts one op and everything inside it.
func (v *conversion) op(o *ir.Op) error {
	operands := make([][]*ir.Value, o.NumOperands())
	same := true
	for i, x := range o.Operands() {
		operands[i] = v.of(x, o)
		same = same && len(operands[i]) == 1 && operands[i][0] == x
	}
	own := v.rows[o.Def()]
	if own != nil {
		if err := v.regions(o); err != nil {
			return err
		}
		v.r.begin(o)
		results, err := own.Convert(v.r, o, operands)
		v.r.finish()
		if err != nil {
			return v.r.m.Errorf(o, "conversion %s of '%s': %v", own.Name, o.Name(), err)
		}
		if v.c.Applied != nil {
			v.c.Applied(own.Name)
		}
		return v.record(o, results)
	}
	st := o.State()
	changed, grouped, kept := false, make([][]ir.Type, o.NumResults()), st.Types
	st.Types = nil
	var from []int
	for i, t := range kept {
		types, ok := v.c.Types(t)
		if !ok {
			types = []ir.Type{t}
		}
		changed = changed || ok
		grouped[i] = types
		st.Types = append(st.Types, types...)
		from = append(from, slices.Repeat([]int{i}, len(types))...)
	}
	if v.c.Attr != nil {
		for _, a := range o.Attrs() {
			if n := v.c.Attr(o, a.Name, a.Attr); n != a.Attr {
				st.Attrs = st.Attrs.Set(a.Name, n, a.Inherent)
			}
		}
	}
	st.Operands = nil
	for _, vals := range operands {
		st.Operands = append(st.Operands, vals...)
	}
	if err := resize(o, st, operands, grouped); err != nil {
		return err
	}
	if !changed {
		if !same || len(st.Attrs) != len(o.Attrs()) || len(st.Attrs) > 0 && &st.Attrs[0] != &o.Attrs()[0] {
			v.r.Update(o, func() {
				o.SetAttrs(st.Attrs)
				o.SetOperands(st.Operands)
			})
		}
		return v.regions(o)
	}
	for range o.Regions() {
		st.Bodies = append(st.Bodies, v.r.m.NewRegion())
	}
	st.Attrs = ir.RemapResults(o, st, from)
	n := v.r.Before(o).Insert(st)
	for i, region := range o.Regions() {
		v.r.TakeBlocks(n.Region(i), region)
	}
	results, at := make([][]*ir.Value, len(kept)), 0
	for i := range results {
		for range grouped[i] {
			n.Result(at).SetName(o.Result(i).Name())
			results[i] = append(results[i], n.Result(at))
			at++
		}
	}
	if err := v.record(o, results); err != nil {
		return err
	}
	return v.regions(n)
}

// record records the replacements for the results of o and marks o for erasure.
func (v *conversion) record(o *ir.Op, results [][]*ir.Value) error {
	if len(results) != o.NumResults() {
		return v.r.m.Errorf(o, "'%s' has %d results, converted to %d", o.Name(), o.NumResults(), len(results))
	}
	for i, x := range o.Results() {
		types, ok := v.c.Types(x.Type())
		if !ok {
			types = []ir.Type{x.Type()}
		}
		if len(types) != len(results[i]) {
			return v.r.m.Errorf(o, "result %d of '%s' is converted to %d values, not %d", i, o.Name(), len(results[i]), len(types))
		}
		for k, w := range results[i] {
			if w.Type() != types[k] {
				return v.r.m.Errorf(o, "result %d of '%s' is converted to type '%s', not '%s'", i, o.Name(), w.Type(), types[k])
			}
		}
		if ok {
			v.values[x] = results[i]
		} else {
			v.r.ReplaceUses(x, results[i][0], nil)
		}
	}
	v.old = append(v.old, o)
	return nil
}

// resize sets the segment sizes of st to the numbers of values that replace o's operands and results.
func resize(o *ir.Op, st *ir.OpState, operands [][]*ir.Value, results [][]ir.Type) error {
	for _, s := range []struct {
		trait  ir.Traits
		name   string
		counts func([]int) ([]int, bool)
		size   func(i int) int
	}{
		{ir.AttrSizedOperands, "operandSegmentSizes", o.OperandSegments, func(i int) int { return len(operands[i]) }},
		{ir.AttrSizedResults, "resultSegmentSizes", o.ResultSegments, func(i int) int { return len(results[i]) }},
	} {
		if !o.Has(s.trait) {
			continue
		}
		counts, ok := s.counts(nil)
		if !ok {
			return fmt.Errorf("'%s' has a wrong attribute %s", o.Name(), s.name)
		}
		var sizes []int64
		at := 0
		for _, n := range counts {
			total := int64(0)
			for range n {
				total += int64(s.size(at))
				at++
			}
			sizes = append(sizes, total)
		}
		st.Attrs = st.Attrs.Set(s.name, ir.NewDenseArray(ir.Int(32), sizes), true)
	}
	return nil
}
