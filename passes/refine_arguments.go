package passes

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// RefineArguments gives the main function more specific argument types.
type RefineArguments struct {
	Types []string `pass:"types" doc:"the type of every argument: tensor<1x2xf32>,..."`

	ParseType func(m *ir.Module, text string) (ir.Type, error) // reads Types
	To        []ir.Type                                        // the types, instead of Types
}

func (RefineArguments) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-refine-arguments",
		Aliases: []string{"refine-arguments"},
		Doc: "Gives the arguments of the main function more specific types. A custom call of each changed argument keeps the former type for its " +
			"uses until stablehlo-refine-shapes removes the call.",
	}
}

func (p RefineArguments) Run(_ *pass.Context, m *ir.Module) error {
	f, err := refineTarget(m)
	if err != nil {
		return err
	}
	types := slices.Clone(p.To)
	for _, text := range p.Types {
		if p.ParseType == nil {
			return fmt.Errorf("the program that runs the pass reads no types")
		}
		t, err := p.ParseType(m, text)
		if err != nil {
			return m.Errorf(m.Op(), "'%s' op Invalid type string: %s", m.Op().Name(), text)
		}
		types = append(types, t)
	}
	return refineArguments(f, types)
}

// refineTarget returns the function whose shapes are refined: the only one, or main.
func refineTarget(m *ir.Module) (fn.FuncOp, error) {
	funcs := fn.Funcs(m)
	if len(funcs) == 0 {
		return fn.FuncOp{}, fmt.Errorf("the module has no function")
	}
	f, ok := funcs[0], len(funcs) == 1
	if !ok {
		f, ok = fn.Lookup(m, "main")
	}
	if !ok {
		return f, m.Errorf(m.Op(), "'%s' op must have no more than one function or a `main` function to clearly identify which function will be refined", m.Op().Name())
	}
	return f, oneBlock(f)
}

func oneBlock(f fn.FuncOp) error {
	if len(f.Region(0).Blocks()) != 1 {
		return f.Module().Errorf(f.Op, "'%s' op must have exactly one block", f.Name())
	}
	return nil
}

// refineArguments changes the types of f's arguments and wraps each changed argument in a custom call of the former
// type.
func refineArguments(f fn.FuncOp, types []ir.Type) error {
	m, c := f.Module(), f.Module().Context()
	old := f.Type().Inputs()
	if len(old) != len(types) {
		return m.Errorf(f.Op, "'%s' op number of refinements must match number of op operands %d vs %d", f.Name(), len(types), len(old))
	}
	for i, t := range types {
		if problem := wrongRefinement(old[i], t); problem != "" {
			return m.Errorf(f.Op, "'%s' op invalid refinement for argument %d, refinement %s in %s -> %s", f.Name(), i, problem, old[i], t)
		}
	}
	b := m.AtStart(f.Body())
	for i, a := range f.Body().Args() {
		if types[i] == old[i] {
			continue
		}
		b.At(a.Loc(), a.Pos())
		t := types[i].(*ir.TensorType)
		shape := ir.Must(b.Build(stablehlo.Constant, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: legalize.DenseInts(c, []int64{int64(t.Rank())}, t.Shape())})).Result(0)
		st := &ir.OpState{Def: stablehlo.CustomCall, Operands: []*ir.Value{a, shape}, Types: []ir.Type{old[i]}}
		st.SetAttr(stablehlo.AttrCallTargetName, ir.NewString(stablehlo.TargetShapeWrapper))
		st.SetAttr(stablehlo.AttrShapeOperands, legalize.DenseInts(c, []int64{1}, []int64{1}))
		wrapper := b.Insert(st)
		a.ReplaceAllUsesWith(wrapper.Result(0))
		wrapper.SetOperand(0, a)
		a.SetType(t)
	}
	f.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(c.Function(types, f.Type().Results())))
	return nil
}

// wrongRefinement says why a value of type t cannot have type n, or "" if it can.
func wrongRefinement(t, n ir.Type) string {
	if t == n {
		return ""
	}
	from, ok1 := t.(*ir.TensorType)
	to, ok2 := n.(*ir.TensorType)
	switch {
	case !ok1 || !ok2:
		return "must be a tensor"
	case from.Elem() != to.Elem():
		return "element types must match"
	case !to.Ranked():
		return "must be ranked"
	case !from.Ranked():
		return ""
	case from.Rank() != to.Rank():
		return "rank must match operand rank"
	}
	for i, d := range from.Shape() {
		if d != ir.Dynamic && d != to.Shape()[i] {
			return "dimension sizes must match for static dimensions"
		}
		if b := stablehlo.BoundsOf(from); b != nil && b[i] >= 0 && to.Shape()[i] > b[i] {
			return fmt.Sprintf("dimension %d has size %d, its bound is %d", i, to.Shape()[i], b[i])
		}
	}
	return ""
}
