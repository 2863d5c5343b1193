package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// BindArguments replaces arguments of a function by constants, or gives them static types.
type BindArguments struct {
	Args     string `pass:"args" doc:"for each argument, in order, a literal with its type, a type, or _ for one that stays as it is; separated by semicolons"`
	Function string `pass:"function" default:"main" doc:"the function"`

	ParseType func(m *ir.Module, text string) (ir.Type, error) // reads the types in Args
	Evaluator rewrite.Evaluator                                // as in RefineShapes
}

func (BindArguments) Info() *pass.Info {
	return &pass.Info{
		Name: "bind-arguments",
		Doc: "Replaces arguments of a function that nothing calls by constants of the same sharding, or gives them more specific types. " +
			"If types of arguments change, it infers the types in the function as stablehlo-refine-shapes does.",
	}
}

func (p BindArguments) Run(ctx *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	f, err := function(m, p.Function)
	if err != nil {
		return err
	}
	g, err := pass.CallGraph.Of(ctx)
	if err != nil {
		return err
	}
	switch {
	case f.External():
		return m.Errorf(f.Op, "@%s has no body", p.Function)
	case len(g.Callers(f.Op)) > 0 || g.NamedBy(f.Op) != nil:
		return m.Errorf(f.Op, "@%s is called, so its arguments cannot be bound", p.Function)
	}
	args := f.Body().Args()
	var list []string
	if strings.TrimSpace(p.Args) != "" {
		list = strings.Split(p.Args, ";")
	}
	if len(list) > len(args) {
		return m.Errorf(f.Op, "@%s has %d arguments, but %d values are given", p.Function, len(args), len(list))
	}
	r := rewrite.New(m)
	var kept []int
	types, values := slices.Clone(f.Type().Inputs()), make([]*tensor.Tensor, len(args))
	for i := range args {
		text := "_"
		if i < len(list) {
			text = strings.TrimSpace(list[i])
		}
		if text != "_" && text != "" {
			if types[i], values[i], err = p.argument(m, text); err != nil {
				return fmt.Errorf("argument %d of @%s: %w", i, p.Function, err)
			}
		}
		if values[i] == nil {
			kept = append(kept, i)
		}
	}
	refined := false
	for i, a := range args {
		if a.Type() == types[i] {
			continue
		}
		if wrongRefinement(a.Type(), types[i]) != "" {
			return m.Errorf(f.Op, "argument %d of @%s is of type '%s', but the value given is of type '%s'", i, p.Function, a.Type(), types[i])
		}
		refined = true
	}
	if refined {
		if err := refineArguments(f, types); err != nil {
			return err
		}
	}
	for i, a := range args {
		if values[i] != nil {
			c, err := stablehlo.BuildConstant(r.AtStart(f.Body()), stablehlo.ConstantAttrs{Value: dense(types[i].(*ir.TensorType), values[i])})
			if err != nil {
				return err
			}
			keepSharding(c.Op, f.ArgAttrs(i))
			r.ReplaceUses(a, c.Result(0), nil)
		}
	}
	for i := len(args) - 1; i >= 0; i-- {
		if !slices.Contains(kept, i) {
			f.Body().RemoveArg(i)
		}
	}
	if err := f.Def().Flow.Remap(m, f.Op, kept, flow.Positions(len(f.Type().Results()))); err != nil || !refined {
		return err
	}
	return RefineShapes{Evaluator: p.Evaluator}.refine(ctx, f)
}

// argument reads one item of Args: a type, or a literal with its type.
func (p BindArguments) argument(m *ir.Module, text string) (ir.Type, *tensor.Tensor, error) {
	if strings.HasPrefix(text, "tensor<") {
		if p.ParseType == nil {
			return nil, nil, fmt.Errorf("the program that runs the pass reads no types")
		}
		t, err := p.ParseType(m, text)
		if err != nil {
			return nil, nil, fmt.Errorf("invalid type %s", text)
		}
		return t, nil, nil
	}
	v, err := tensor.ParseLiteral(text)
	if err != nil {
		return nil, nil, err
	}
	return m.Context().StaticTensor(v.DType(), v.Shape()), v, nil
}

// function returns the function of m with the given name.
func function(m *ir.Module, name string) (fn.FuncOp, error) {
	f, ok := fn.Lookup(m, name)
	if !ok {
		return f, fmt.Errorf("the module has no function @%s", name)
	}
	return f, nil
}

// Specialize specializes a module for known arguments. It has the options of BindArguments.
type Specialize BindArguments

func (Specialize) Info() *pass.Info {
	return &pass.Info{
		Name: "specialize",
		Doc: "Makes the smaller module that remains when values or types of a function's arguments are known: binds them, propagates, folds and " +
			"simplifies.",
	}
}

func (p Specialize) Expand() ([]pass.Pass, error) {
	optimize := pass.On(fn.Func.Name, Optimize{Evaluator: p.Evaluator})
	return []pass.Pass{BindArguments(p), pass.On(fn.Func.Name, CanonicalizeDynamism{}), Inline{}, SCCP{Evaluator: p.Evaluator}, optimize, DCE{}, SymbolDCE{}, CSE{}}, nil
}

// keepSharding gives the only result of op the sharding of an argument with the attributes attrs, which may be nil.
func keepSharding(op *ir.Op, attrs *ir.DictAttr) {
	if attrs == nil {
		return
	}
	if s, ok := ir.DataOf[sdy.Sharding](attrs.Get(sdy.AttrValueSharding)); ok {
		op.SetAttr(sdy.AttrValueSharding, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: []*sdy.Sharding{s}}))
	}
	if a := attrs.Get(mhlo.AttrSharding); a != nil {
		op.SetAttr(mhlo.AttrSharding, a)
	}
}
