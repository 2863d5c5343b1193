package shardy

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// ResultShardings returns the shardings of main's results: what main states, or what follows from the shardings of
// arguments and of annotated values, from operands to results. Nil is a value that every partition holds whole.
//
// The rules are those of Shardy's propagation that need one direction and one pass (shardy, op_sharding_rule_registry):
// dimensions of a result are sharded as the dimensions of the operands that they correspond to.
func ResultShardings(m *ir.Module) []*sdy.Sharding {
	main, ok := fn.Lookup(m, "main")
	if !ok || main.Type() == nil || main.External() {
		return nil
	}
	p := &propagation{module: m, values: map[*ir.Value]*sdy.Sharding{}}
	var args []*sdy.Sharding
	for i := range main.Type().Inputs() {
		args = append(args, attached(main.ArgAttrs(i)))
	}
	out := p.function(main, args)
	for i := range out {
		if s := attached(main.ResultAttrs(i)); s != nil {
			out[i] = s
		}
	}
	return out
}

// attached returns the sharding in the attributes of an argument or a result.
func attached(attrs *ir.DictAttr) *sdy.Sharding {
	if attrs == nil {
		return nil
	}
	return view.Data[sdy.Sharding](attrs.Get(sdy.AttrValueSharding))
}

type propagation struct {
	module *ir.Module
	values map[*ir.Value]*sdy.Sharding
	depth  int // of calls
}

// function returns the shardings of a function's results for those of its arguments.
func (p *propagation) function(f fn.FuncOp, args []*sdy.Sharding) []*sdy.Sharding {
	for i, s := range args {
		p.set(f.Body().Arg(i), s)
	}
	p.block(f.Body())
	out := make([]*sdy.Sharding, len(f.Type().Results()))
	for ret := range flow.Returns(f.Region(0)) {
		for i, v := range ret.OperandList() {
			out[i] = p.values[v]
		}
	}
	return out
}

func (p *propagation) block(b *ir.Block) {
	for o := range b.Ops() {
		if given := view.Data[sdy.PerValue](o.Attr(sdy.AttrValueSharding)); given != nil {
			// A call without results, such as a callback, has one sharding, too.
			for i, r := range o.ResultList()[:min(o.NumResults(), len(given.Shardings))] {
				p.set(r, given.Shardings[i])
			}
			continue
		}
		p.op(o)
	}
}

func (p *propagation) set(v *ir.Value, s *sdy.Sharding) {
	if s != nil && len(s.Dims) > 0 {
		p.values[v] = s
	}
}

// op sets the shardings of the results of an op.
func (p *propagation) op(o *ir.Op) {
	switch {
	case o.Is(sdy.ShardingConstraint):
		s := view.Data[sdy.Sharding](o.Attr(sdy.AttrSharding))
		if old := p.values[o.Operand(0)]; s != nil && old != nil && len(s.Dims) == len(old.Dims) {
			if !slices.ContainsFunc(s.Dims, func(d sdy.DimSharding) bool { return len(d.Axes) > 0 }) {
				// The mesh does not matter: JAX uses an empty one for dimensions that are all open.
				s = &sdy.Sharding{Mesh: old.Mesh, Inline: old.Inline, Dims: s.Dims}
			}
			s = merge(s, old, func(d int) bool { return s.Dims[d].Open })
		}
		p.set(o.Result(0), s)
	case o.Is(sdy.ManualComputation):
		if out := view.Data[sdy.PerValue](o.Attr(sdy.AttrOutShardings)); out != nil {
			for i, s := range out.Shardings {
				p.set(o.Result(i), s)
			}
		}
	case o.Is(fn.Call):
		callee, ok := fn.Lookup(p.module, fn.Callee(o))
		if !ok || callee.External() || p.depth > 100 {
			return
		}
		var args []*sdy.Sharding
		for _, v := range o.OperandList() {
			args = append(args, p.values[v])
		}
		p.depth++
		for i, s := range p.function(callee, args) {
			p.set(o.Result(i), s)
		}
		p.depth--
	case o.Is(stablehlo.While):
		for i, v := range o.OperandList() {
			p.set(o.Result(i), p.values[v])
		}
	case o.Is(stablehlo.BroadcastInDim):
		dims := view.Ints(o.Attr(stablehlo.AttrBroadcastDimensions))
		p.map1(o, func(from int) int { return int(dims[from]) })
	case o.Is(stablehlo.Transpose):
		perm := view.Ints(o.Attr(stablehlo.AttrPermutation))
		p.map1(o, func(from int) int { return slices.Index(perm, int64(from)) })
	case o.Is(stablehlo.Reshape):
		to := reshaped(shape(o.Operand(0)), shape(o.Result(0)))
		p.map1(o, func(from int) int { return to[from] })
	case o.Is(stablehlo.Reduce):
		dims := view.Ints(o.Attr(stablehlo.AttrDimensions))
		for i, r := range o.ResultList() {
			p.mapTo(o.Operand(i), r, func(from int) int {
				if slices.Contains(dims, int64(from)) {
					return -1
				}
				before := 0
				for _, d := range dims {
					if d < int64(from) {
						before++
					}
				}
				return from - before
			})
		}
	case o.Is(stablehlo.DotGeneral):
		p.dot(o)
	case o.Is(stablehlo.Concatenate), o.Is(stablehlo.Slice), o.Is(stablehlo.Pad), o.Is(stablehlo.DynamicSlice), o.Is(stablehlo.Reverse):
		for _, v := range o.OperandList() {
			p.sameSizes(v, o.Result(0))
		}
	case o.Is(stablehlo.DynamicUpdateSlice):
		p.sameSizes(o.Operand(0), o.Result(0))
	default:
		if o.NumResults() == 0 || o.Def() == nil || o.Def().Traits&ir.Elementwise == 0 && !o.Is(stablehlo.OptimizationBarrier) {
			return
		}
		for i, r := range o.ResultList() {
			if o.Is(stablehlo.OptimizationBarrier) {
				p.sameSizes(o.Operand(i), r)
				continue
			}
			for _, v := range o.OperandList() {
				p.sameSizes(v, r)
			}
		}
	}
}

// sameSizes shards each dimension of a result as the operand's dimension, if both have the same size.
func (p *propagation) sameSizes(from, to *ir.Value) {
	a, b := shape(from), shape(to)
	if len(a) == len(b) {
		p.mapTo(from, to, func(d int) int { return d })
	}
}

func (p *propagation) map1(o *ir.Op, to func(from int) int) { p.mapTo(o.Operand(0), o.Result(0), to) }

// mapTo shards dimension to(d) of a result as dimension d of an operand if both have the same size. to returns -1 for a
// dimension that the result lacks.
func (p *propagation) mapTo(from, result *ir.Value, to func(from int) int) {
	s := p.values[from]
	in, out := shape(from), shape(result)
	if s == nil || len(s.Dims) != len(in) {
		return
	}
	next := &sdy.Sharding{Mesh: s.Mesh, Inline: s.Inline, Dims: make([]sdy.DimSharding, len(out))}
	for d := range next.Dims {
		next.Dims[d].Priority = -1
	}
	for d, dim := range s.Dims {
		if t := to(d); t >= 0 && t < len(out) && (in[d] == out[t] || len(dim.Axes) == 0) {
			next.Dims[t].Axes = dim.Axes
		}
	}
	if old := p.values[result]; old != nil {
		next = merge(old, next, func(d int) bool { return len(old.Dims[d].Axes) == 0 })
	}
	p.set(result, next)
}

// dot shards the batch dimensions and the free dimensions of both operands.
func (p *propagation) dot(o *ir.Op) {
	dims := view.Data[stablehlo.DotDims](o.Attr(stablehlo.AttrDotDimensionNumbers))
	if dims == nil {
		return
	}
	at := len(dims.LHSBatching)
	for i, side := range [...]struct{ batch, contracting []int64 }{{dims.LHSBatching, dims.LHSContracting}, {dims.RHSBatching, dims.RHSContracting}} {
		to := make([]int, len(shape(o.Operand(i))))
		for d := range to {
			if b := slices.Index(side.batch, int64(d)); b >= 0 {
				to[d] = b
			} else if slices.Contains(side.contracting, int64(d)) {
				to[d] = -1
			} else {
				to[d] = at
				at++
			}
		}
		p.mapTo(o.Operand(i), o.Result(0), func(d int) int { return to[d] })
	}
}

// merge returns s with b's sharding of the dimensions for which open returns true, as far as its axes are free in s.
func merge(s, b *sdy.Sharding, open func(d int) bool) *sdy.Sharding {
	if s.Mesh != b.Mesh || s.Inline != b.Inline || len(s.Dims) != len(b.Dims) {
		return s
	}
	out := *s
	out.Dims = slices.Clone(s.Dims)
	used := map[string]bool{}
	for _, d := range s.Dims {
		for _, a := range d.Axes {
			used[a.Name] = true
		}
	}
	for d := range out.Dims {
		if !open(d) || len(out.Dims[d].Axes) > 0 || slices.ContainsFunc(b.Dims[d].Axes, func(a sdy.AxisRef) bool { return used[a.Name] }) {
			continue
		}
		out.Dims[d].Axes = b.Dims[d].Axes
		for _, a := range b.Dims[d].Axes {
			used[a.Name] = true
		}
	}
	return &out
}

// reshaped maps each dimension of a shape to the dimension of another shape that has the same elements, or -1.
func reshaped(from, to []int64) []int {
	out := make([]int, len(from))
	j, before, behind := 0, int64(1), int64(1) // products of the sizes before dimensions i and j
	for i, n := range from {
		out[i] = -1
		for j < len(to) && behind < before {
			behind *= to[j]
			j++
		}
		for j < len(to) && behind == before && to[j] != n && to[j] == 1 {
			j++
		}
		if j < len(to) && behind == before && to[j] == n {
			out[i] = j
		}
		before *= n
	}
	return out
}

func shape(v *ir.Value) []int64 {
	if t, ok := v.Type().(*ir.TensorType); ok && t.Ranked() {
		return t.Shape()
	}
	return nil
}
