package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// BindArguments replaces arguments of a function by constants.
type BindArguments struct {
	Args     string `pass:"args" doc:"for each argument, in order, a literal with its type, or _ for one that stays; separated by semicolons"`
	Function string `pass:"function" default:"main" doc:"the function"`
}

var bindArgumentsInfo = &pass.Info{Name: "bind-arguments", Doc: "Replaces arguments of a function that nothing calls by constants."}

// Info implements pass.Pass.
func (BindArguments) Info() *pass.Info { return bindArgumentsInfo }

// Run implements pass.ModulePass.
func (p BindArguments) Run(_ *pass.Context, m *ir.Module) error {
	p = pass.Defaults(p)
	f, err := function(m, p.Function)
	if err != nil {
		return err
	}
	g := flow.Of(m, nil)
	switch {
	case f.External():
		return m.Errorf(f.Op, "@%s has no body", p.Function)
	case len(g.Callers(f.Op)) > 0 || g.NamedBy(f.Op) != nil:
		return m.Errorf(f.Op, "@%s is called, so its arguments cannot be bound", p.Function)
	}
	args := f.Body().Args()
	list := strings.Split(p.Args, ";")
	if len(list) > len(args) {
		return m.Errorf(f.Op, "@%s has %d arguments, but %d values are given", p.Function, len(args), len(list))
	}
	r := rewrite.New(m)
	var kept []int
	for i, a := range args {
		text := "_"
		if i < len(list) {
			text = strings.TrimSpace(list[i])
		}
		if text == "_" || text == "" {
			kept = append(kept, i)
			continue
		}
		v, err := tensor.ParseLiteral(text)
		if err != nil {
			return fmt.Errorf("argument %d of @%s: %w", i, p.Function, err)
		}
		t := tensorOf(a)
		if t == nil || !t.Static() || t.DType() != v.DType() || !slices.Equal(t.Shape(), v.Shape()) {
			return m.Errorf(f.Op, "argument %d of @%s is of type '%s', but the value given is of type '%s'", i, p.Function, a.Type(),
				m.Context().StaticTensor(v.DType(), v.Shape()))
		}
		c, err := stablehlo.BuildConstant(r.AtStart(f.Body()), stablehlo.ConstantAttrs{Value: dense(t, v)})
		if err != nil {
			return err
		}
		r.ReplaceUses(a, c.Result(0), nil)
	}
	for i := len(args) - 1; i >= 0; i-- {
		if !slices.Contains(kept, i) {
			f.Body().RemoveArg(i)
		}
	}
	results := make([]int, len(f.Type().Results()))
	for i := range results {
		results[i] = i
	}
	return f.Def().Flow.Remap(m, f.Op, kept, results)
}

// function returns the function of m with the given name.
func function(m *ir.Module, name string) (fn.FuncOp, error) {
	for op := range m.Body().Ops() {
		if f, ok := fn.AsFunc(op); ok && f.Symbol() == name {
			return f, nil
		}
	}
	return fn.FuncOp{}, fmt.Errorf("the module has no function @%s", name)
}

// Specialize makes the module for given arguments.
type Specialize struct {
	Args     string `pass:"args" doc:"for each argument, in order, a literal with its type, or _ for one that stays; separated by semicolons"`
	Function string `pass:"function" default:"main" doc:"the function"`

	Evaluator rewrite.Evaluator // as in Fold
}

var specializeInfo = &pass.Info{
	Name: "specialize",
	Doc:  "Makes the smaller module that remains when arguments of a function are known: binds them, propagates, folds and simplifies.",
}

// Info implements pass.Pass.
func (Specialize) Info() *pass.Info { return specializeInfo }

// Expand implements pass.Group.
func (p Specialize) Expand() ([]pass.Pass, error) {
	optimize := pass.On(fn.Func.Name, Optimize{Evaluator: p.Evaluator})
	return []pass.Pass{BindArguments{Args: p.Args, Function: p.Function}, Inline{}, SCCP{Evaluator: p.Evaluator}, optimize, DCE{}, SymbolDCE{}, CSE{}}, nil
}
