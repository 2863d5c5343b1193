package main

import (
	"example.com/tally/tally"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// Simplify replaces loops of few trips.
type Simplify struct {
	MaxTrips pass.Opt[int] `pass:"max-trips" default:"1" doc:"replace loops of at most this many trips"`
	pass.Rules
}

func (Simplify) Info() *pass.Info {
	return &pass.Info{
		Name: "tally-simplify", Doc: "Replaces repeats of few trips by their bodies.", Anchor: fn.Func.Name, Idempotent: true,
	}
}

func (p Simplify) Run(ctx *pass.Context, f *ir.Op) error {
	p = pass.Defaults(p)
	// repeat 0 of x is x; repeat n of x is repeat n-1 of the body of x.
	peel := rewrite.For("repeat-to-body", tally.Repeat, tally.AsRepeat, func(r *rewrite.Rewriter, loop tally.RepeatOp) (bool, error) {
		if loop.Times() > int64(p.MaxTrips.Get()) {
			return false, nil
		}
		values := loop.Initial()
		body := loop.Body().Entry()
		for range loop.Times() {
			mapping := map[*ir.Value]*ir.Value{}
			for i, a := range body.Args() {
				mapping[a] = values[i]
			}
			for inner := range body.Ops() {
				if inner != body.Last() {
					r.Before(loop.Op).Clone(inner, mapping)
				}
			}
			for i, v := range body.Last().Operands() {
				if values[i] = v; mapping[v] != nil {
					values[i] = mapping[v]
				}
			}
		}
		r.Replace(loop.Op, values...)
		return true, nil
	})
	_, err := p.Greedy(ctx, f, []*rewrite.Pattern{peel}, rewrite.Options{})
	return err
}

// Lower replaces the dialect's loop by StableHLO's loop.
type Lower struct{ pass.Rules }

func (Lower) Info() *pass.Info {
	return &pass.Info{
		Name: "tally-to-stablehlo", Doc: "Replaces repeats by counting loops of StableHLO.", Anchor: fn.Func.Name, Idempotent: true,
		Requires: []pass.Requirement{pass.First(Simplify{})}, // no loop for a single trip
	}
}

func (p Lower) Run(ctx *pass.Context, f *ir.Op) error {
	_, err := p.Greedy(ctx, f, []*rewrite.Pattern{rewrite.For("repeat-to-while", tally.Repeat, tally.AsRepeat, lower)}, rewrite.Options{})
	return err
}

// lower replaces a repeat by a stablehlo.while whose first carried value counts the trips.
func lower(r *rewrite.Rewriter, repeat tally.RepeatOp) (bool, error) {
	m := r.Module()
	count := m.Context().StaticTensor(tensor.I64, nil)
	integer := func(b *ir.Builder, n int64) *ir.Value {
		v := tensor.New(tensor.I64, nil)
		tensor.View[int64](v)[0] = n
		return ir.Must(stablehlo.BuildConstant(b, stablehlo.ConstantAttrs{Value: ir.NewDense(count, v, true)})).Result(0)
	}
	types := append([]ir.Type{count}, repeat.ResultTypes()...)

	cond := m.NewRegion()
	b := r.AtEnd(cond.AddBlock(types...))
	more := ir.Must(stablehlo.BuildCompare(b, cond.Entry().Arg(0), integer(b, repeat.Times()), stablehlo.CompareAttrs{
		ComparisonDirection: stablehlo.ComparisonDirectionLT, CompareType: stablehlo.ComparisonTypeSIGNED,
	}))
	ir.Must(stablehlo.BuildReturn(b, more.ResultList()))

	body := m.NewRegion()
	b = r.AtEnd(body.AddBlock(types...))
	next := ir.Must(stablehlo.BuildAdd(b, body.Entry().Arg(0), integer(b, 1)))
	end := ir.Must(stablehlo.BuildReturn(b, next.ResultList()))
	r.InlineBefore(repeat.Body().Entry(), end.Op, body.Entry().Args()[1:]...)
	yield := end.Prev()
	r.Update(end.Op, func() { end.SetOperands(append(next.ResultList(), yield.OperandList()...)) })
	r.Erase(yield)

	b = r.Before(repeat.Op)
	loop, err := stablehlo.BuildWhile(b, append([]*ir.Value{integer(b, 0)}, repeat.Initial()...), cond, body)
	if err != nil {
		return false, err
	}
	r.Replace(repeat.Op, loop.ResultList()[1:]...)
	return true, nil
}
