package probe

import (
	"math"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/internal/reduction"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// adder inserts probes into a module.
type adder struct {
	m *ir.Module
	*format.Prober
	// whole is set if values cross whole and only the host selects events: the module has values that GSPMD leaves
	// alone, and XLA crashes on unannotated ops of such values.
	whole bool
}

// leavesValues reports whether a module has values that GSPMD leaves alone.
func leavesValues(m *ir.Module) bool {
	found := false
	m.Walk(func(op *ir.Op) bool {
		found = found || op.Is(stablehlo.CustomCall) && irutil.IsTarget(op, "SPMDFullToShardShape")
		return !found
	})
	return found
}

// attrProbe returns the entries of the configuration of a probe.
func attrProbe(kind string, values []value) ir.AttrList {
	var list ir.AttrList
	if kind != "" {
		list = append(list, ir.NamedAttr{Name: format.AttrProbe, Attr: ir.NewString(kind)})
	}
	if kind == Stats && values != nil {
		return append(list, ir.NamedAttr{Name: hook.AttrOf, Attr: ir.NewString(values[0].typ)})
	}
	if values != nil {
		list = append(list, ir.NamedAttr{Name: attrValues, Attr: ir.NewString(encodeList(values, (*value).fields))})
	}
	return list
}

// describe returns the description of v.
func (a *adder) describe(v *ir.Value) value {
	t := v.Type().(*ir.TensorType)
	d := value{typ: hook.TensorType{DType: t.DType(), Shape: t.Shape()}.String(), name: valueLabel(a.m.Source(), v), loc: locText(v, v.DefiningOp())}
	if op := v.DefiningOp(); op != nil {
		d.op = op.Name()
	}
	return d
}

// addEach adds a probe right after the definition of each value.
func (a *adder) addEach(list []*ir.Value, t Tap) []hook.ID {
	labels := make([]string, len(list))
	for i, v := range list {
		labels[i] = valueLabel(a.m.Source(), v)
	}
	names := a.Names(labels)
	var ids []hook.ID
	// From the last to the first, so that probes of one op end up in order.
	for i := len(list) - 1; i >= 0; i-- {
		v := list[i]
		ids = append(ids, a.sampled(a.After(v), t.Sample, names[i], func(b *ir.Builder) hook.ID {
			x, attrs := v, attrProbe(t.Kind, nil)
			if a.whole && t.Sample != (Sample{}) {
				attrs = append(attrs, ir.NamedAttr{Name: attrSample, Attr: ir.NewString(t.Sample.String())})
			}
			if t.Kind == Stats && !a.whole && format.CanReduce(v) {
				attrs = attrProbe(t.Kind, []value{a.describe(v)})
				x = reduction.Emitter{Builder: b}.Stats(v)
			}
			_, id := a.Insert(b, hook.Tap, x, names[i], attrs)
			return id
		})...)
	}
	return ids
}

// sampled calls insert, which inserts a probe, with a builder for the place where the probe belongs: b, or a branch
// that runs if the host says so. The host answers with one byte per event.
func (a *adder) sampled(b *ir.Builder, s Sample, name string, insert func(b *ir.Builder) hook.ID) []hook.ID {
	if s == (Sample{}) || a.whole {
		return []hook.ID{insert(b)}
	}
	e := reduction.Emitter{Builder: b}
	no, err := stablehlo.BuildConstant(b, stablehlo.ConstantAttrs{Value: a.m.Context().DenseFromTensor(tensor.New(tensor.I1, nil))})
	ask, id := a.Insert(b, hook.InOut, ir.Must(no.Op, err).Result(0), a.Names([]string{name + ".sample"})[0], attrProbe(s.String(), nil))
	branch := func(fill func(b *ir.Builder)) *ir.Region {
		r := a.m.NewRegion()
		in := e.In(r.AddBlock())
		fill(in)
		ir.Must(stablehlo.BuildReturn(in, nil))
		return r
	}
	ids := []hook.ID{id}
	yes := branch(func(b *ir.Builder) { ids = append(ids, insert(b)) })
	op, err := stablehlo.BuildIf(b, ask.Result(0), yes, branch(func(*ir.Builder) {}))
	ir.Must(op.Op, err)
	return ids
}

// segment is a list of values of a block whose flags one hook delivers.
type segment struct {
	values []*ir.Value
	before *ir.Op // where the hook goes
	first  bool   // of its block
}

// segments splits the values into segments: they end before an op with side effects, before an op that contains or
// calls something with side effects or chosen values, and at the end of the block. more says which segments without
// values are wanted, in a block that holds ops with side effects or chosen values or not; nil means none.
func (a *adder) segments(list []*ir.Value, more func(s segment, holds bool) bool) []segment {
	of := map[*ir.Block][]*ir.Value{}
	at := map[*ir.Op]bool{} // ops that define a value of list
	for _, v := range list {
		b := v.ParentBlock()
		of[b] = append(of[b], v)
		if op := v.DefiningOp(); op != nil {
			at[op] = true
		} else if b.First() != nil {
			at[b.First()] = true
		}
	}
	nested := func(op *ir.Op) bool { f := op.Def().Flow; return len(op.Regions()) > 0 || f != nil && f.Callee != "" }
	reach := flow.ReachOf(a.m, func(op *ir.Op) bool { return at[op] || !nested(op) && op.Effects()&(ir.Writes|ir.Frees) != 0 })
	inside := func(op *ir.Op) bool {
		if g := reach.Callee(op); g != nil {
			return reach.Holds(g)
		}
		return reach.Holds(op)
	}
	ends := func(op *ir.Op) bool {
		switch {
		case op.Has(ir.Terminator):
			return true
		case nested(op):
			return inside(op)
		}
		return op.Effects()&(ir.Writes|ir.Frees) != 0
	}
	var out []segment
	visit := func(b *ir.Block) {
		values := of[b]
		k, start, first := 0, 0, true
		take := func(op *ir.Op) {
			for k < len(values) && values[k].DefiningOp() == op {
				k++
			}
		}
		take(nil)
		for op := b.First(); op != nil; op = op.Next() {
			if ends(op) {
				if s := (segment{values[start:k], op, first}); start < k || more != nil && more(s, len(reach.At(b)) > 0) {
					out = append(out, s)
					first = false
				}
				start = k
			}
			take(op)
		}
	}
	a.m.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				if flow.InOrder(b) {
					visit(b)
				}
			}
		}
		return true
	})
	return out
}

// maxPlaced is the largest number of values in a segment for which the host learns which element is not finite.
const maxPlaced = 4

// heldBytes is the size up to which values of one type wait for each other, to be read by one loop.
const heldBytes = 4 << 20

// words are values of a segment that one loop reads.
type words struct {
	values []*ir.Value
	at     []int // of each value in the list of the segment
}

// group splits the values of a segment for masks: each group has one type, at most reduction.PerWord values and about
// heldBytes.
func group(values []*ir.Value) []words {
	var out []words
	open := map[ir.Type]int{} // the group of a type that is not full
	for i, v := range values {
		g, ok := open[v.Type()]
		if !ok {
			g = len(out)
			open[v.Type()] = g
			out = append(out, words{})
		}
		w := &out[g]
		w.values, w.at = append(w.values, v), append(w.at, i)
		if len(w.values) == reduction.PerWord || int64(len(w.values)+1)*bytesOf(v) > heldBytes {
			delete(open, v.Type())
		}
	}
	return out
}

func bytesOf(v *ir.Value) int64 {
	t := typeOf(v)
	return tensor.Shape(t.Shape()).NumElements() * int64(t.DType().Size())
}

// flags inserts the reductions of a segment's values and returns their vector: of places, or of masks. It sets where in
// the vector each value is. at makes a builder after the definition of a value.
func flags(values []*ir.Value, places bool, b *ir.Builder, at func(v *ir.Value) *ir.Builder) (vector *ir.Value, where []int) {
	where = make([]int, len(values))
	var list []*ir.Value
	if places {
		for i, v := range values {
			where[i] = len(list)
			list = append(list, reduction.Emitter{Builder: at(v)}.Place(v)...)
		}
		return reduction.Emitter{Builder: b}.Join(list), where
	}
	for _, w := range group(values) {
		for k, i := range w.at {
			where[i] = len(list)*reduction.PerWord + k
		}
		list = append(list, reduction.Emitter{Builder: at(w.values[len(w.values)-1])}.Mask(w.values))
	}
	if len(list) == 0 {
		list = append(list, reduction.Number(reduction.Emitter{Builder: b}, tensor.I32, int32(0)))
	}
	return reduction.Emitter{Builder: b}.Join(list), where
}

// finite adds hooks that deliver which values are not finite.
func (a *adder) finite(list []*ir.Value, s Sample) []hook.ID {
	chosen := map[*ir.Value]bool{}
	for _, v := range list {
		chosen[v] = true
	}
	var needed []*ir.Value
	for _, v := range list {
		if t := typeOf(v).DType(); !t.IsFloat() && !t.IsComplex() {
			continue
		}
		if _, ok := stablehlo.AsConstant(v.DefiningOp()); ok { // programs have NaN that they never use
			continue
		}
		if from := samePresence(v); from != nil && chosen[from] && (s == (Sample{}) || from.ParentBlock() == v.ParentBlock()) {
			continue // its event comes first
		}
		needed = append(needed, v)
	}
	segments := a.segments(needed, nil)
	labels := make([]string, len(segments))
	for i, g := range segments {
		labels[i] = Finite
		if len(g.values) == 1 {
			labels[i] = valueLabel(a.m.Source(), g.values[0])
		}
	}
	names := a.Names(labels)
	var ids []hook.ID
	for i, g := range segments {
		b := a.m.Before(g.before)
		if len(g.values) == 1 {
			b.At(place(g.values[0]))
		} else {
			b.At(&ir.Loc{}, g.before.Pos())
		}
		ids = append(ids, a.sampled(b, s, names[i], func(in *ir.Builder) hook.ID {
			at := a.After
			if in != b {
				at = func(*ir.Value) *ir.Builder { return in }
			}
			vector, where := flags(g.values, len(g.values) <= maxPlaced, in, at)
			described := make([]value, len(g.values))
			for k, v := range g.values {
				described[k] = a.describe(v)
				described[k].at = where[k]
			}
			_, id := a.Insert(in, hook.Tap, vector, names[i], attrProbe(Finite, described))
			return id
		})...)
	}
	return ids
}

// place returns the location and the position of the definition of v.
func place(v *ir.Value) (*ir.Loc, diag.Pos) {
	switch op := v.DefiningOp(); {
	case op != nil:
		return op.Loc(), op.Pos()
	case v.Loc().Kind() != ir.LocUnknown:
		return v.Loc(), v.Pos()
	}
	parent := v.ParentBlock().Parent()
	return parent.Loc(), parent.Pos()
}

// samePresence returns an operand of v's op that has a NaN if and only if v has one, and an infinite element if and
// only if v has one. It returns nil if there is none.
func samePresence(v *ir.Value) *ir.Value {
	op := v.DefiningOp()
	if op == nil || !format.CanReduce(v) || bytesOf(v) == 0 {
		return nil
	}
	switch op.Def() {
	case stablehlo.BroadcastInDim, stablehlo.Reshape, stablehlo.Transpose, stablehlo.Reverse, stablehlo.Negate:
		return op.Operand(0)
	case stablehlo.OptimizationBarrier:
		return op.Operand(v.Index())
	}
	return nil
}

// knownElements is the size of a constant up to which hlocb reads it to find NaN.
const knownElements = 1 << 20

// constantBits reports whether the constant v has NaN and infinite elements, as bits. ok is false if v is not a
// constant, or a large one.
func constantBits(v *ir.Value) (bits int, ok bool) {
	c, ok := stablehlo.AsConstant(v.DefiningOp())
	if !ok {
		return 0, false
	}
	d, ok := c.Value().(*ir.DenseAttr)
	if !ok || d.NumElements() > knownElements {
		return 0, false
	}
	t, _, err := d.Elements()
	if err != nil {
		return 0, false
	}
	add := func(x float64) {
		if math.IsNaN(x) {
			bits |= reduction.BitNaN
		} else if math.IsInf(x, 0) {
			bits |= reduction.BitInf
		}
	}
	for i := range t.NumElements() {
		if t.DType().IsComplex() {
			x := t.ComplexAt(i)
			add(real(x))
			add(imag(x))
		} else {
			add(t.FloatAt(i))
		}
	}
	return bits, true
}

func typeOf(v *ir.Value) *ir.TensorType { return v.Type().(*ir.TensorType) }
