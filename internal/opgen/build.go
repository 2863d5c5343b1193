package opgen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Program is a module of one op with arguments for its main.
type Program struct {
	Op    string       // the op's name, with what makes it a case of its own: "stablehlo.compare LT"
	DType tensor.DType // of the first operand, or of the result where there is none
	Out   tensor.DType // of the first result
	Rule  Rule         // how exact engines must agree
	Run   *runtime.Program
	Args  []*tensor.Tensor

	want  func(args []*tensor.Tensor) []*tensor.Tensor // the results, recomputed; nil where nobody does
	loose func(i int, got float64) bool                // whether XLA may give got for an element, by what want saw; called after it
}

// Rule says what may lie between two engines' results of an op.
type Rule struct {
	// Exact asks for the same bits, where all NaNs are one. Else Terms > 0 allows what adding up so many terms in another order
	// gives; with neither, the op is a function whose distance Bound bounds.
	Exact bool
	Terms int
}

// Generator makes programs. The same seed makes the same programs.
type Generator struct {
	rng   *rand.Rand
	reg   *ir.Registry
	large bool // see Large
}

// New returns a generator.
func New(seed uint64) (*Generator, error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, err
	}
	return &Generator{rng: rand.New(rand.NewPCG(seed, 0x0b)), reg: reg}, nil
}

// arg is one argument of main and how it is filled.
type arg struct {
	dt    tensor.DType
	shape tensor.Shape
	style verify.Style
	fill  func(t *tensor.Tensor) // instead of style
	fixed bool                   // a constant of the program rather than an argument of main
	aside bool                   // for the regions to use, no operand of the op
}

// call describes one op to be built.
type call struct {
	op      string
	label   string // what is added to the op's name in reports
	args    []arg
	attrs   []string // name = value, values in MLIR's notation
	results []string // types, where the row infers none
	bodies  []string // regions in MLIR's generic notation, each with its block
	rule    Rule

	// What is more than one op: ops that stand for it in main, over arguments %a0, %a1, ..., and give the values that are
	// named; results are their types. functions stand beside main.
	ops       string
	names     []string
	functions string

	want  func(args []*tensor.Tensor) []*tensor.Tensor // see Program
	loose func(i int, got float64) bool
}

func typeText(dt tensor.DType, shape tensor.Shape) string {
	return hook.TensorType{DType: dt, Shape: shape}.String()
}

// most is how many elements an argument or result of a program may have.
const most = 1 << 20

var errTooLarge = errors.New("too large")

// build makes a program of a call. It fails where the row refuses what was made up; such a call is no program.
func (g *Generator) build(c *call) (*Program, error) {
	for _, a := range c.args {
		if a.shape.NumElements() > most {
			return nil, errTooLarge
		}
	}
	ctx := ir.NewContext()
	var params, operands, types []string
	p := &Program{Op: strings.TrimSpace(c.op + " " + c.label), Rule: c.rule, want: c.want, loose: c.loose}
	var body strings.Builder
	for i, a := range c.args {
		v := tensor.New(a.dt, a.shape)
		if a.fill != nil {
			a.fill(v)
		} else {
			verify.Fill(v, g.rng, a.style)
		}
		name := fmt.Sprintf("%%a%d", i)
		if !a.aside {
			operands = append(operands, name)
			types = append(types, typeText(a.dt, a.shape))
		}
		if a.fixed {
			fmt.Fprintf(&body, "  %s = stablehlo.constant %s\n", name, v.AppendLiteral(nil, v.NumElements()+1))
			continue
		}
		params = append(params, name+": "+typeText(a.dt, a.shape))
		p.Args = append(p.Args, v)
	}
	results, returned := c.results, c.names
	if c.ops != "" {
		body.WriteString(c.ops)
	} else {
		if results == nil {
			inferred, err := g.infer(ctx, c)
			if err != nil {
				return nil, err
			}
			results = inferred
		}
		for _, r := range results {
			if _, shape, err := tensor.ParseType(r); err == nil && shape.NumElements() > most {
				return nil, errTooLarge
			}
		}
		fmt.Fprintf(&body, "  %%r:%d = \"%s\"(%s)", len(results), c.op, strings.Join(operands, ", "))
		if len(c.bodies) > 0 {
			fmt.Fprintf(&body, " (%s)", strings.Join(c.bodies, ", "))
		}
		if len(c.attrs) > 0 {
			fmt.Fprintf(&body, " {%s}", strings.Join(c.attrs, ", "))
		}
		fmt.Fprintf(&body, " : (%s) -> (%s)\n", strings.Join(types, ", "), strings.Join(results, ", "))
		for i := range results {
			returned = append(returned, fmt.Sprintf("%%r#%d", i))
		}
	}
	list := strings.Join(results, ", ")
	text := fmt.Sprintf("func.func @main(%s) -> (%s) {\n%s  return %s : %s\n}\n%s", strings.Join(params, ", "), list, body.String(), strings.Join(returned, ", "), list, c.functions)
	m, err := parse.Parse(diag.NewSource("program.mlir", []byte(text)), ctx, g.reg, parse.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	if err := ir.Verify(m); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	if len(c.args) > 0 {
		p.DType = c.args[0].dt
	}

	if dt, _, err := tensor.ParseType(results[0]); err == nil {
		p.Out = dt
		if len(c.args) == 0 {
			p.DType = dt
		}
	}
	p.Run = &runtime.Program{Module: m, Text: print.Append(nil, m, print.Options{}), Manifest: &hook.Manifest{}}
	return p, nil
}

// infer asks the op's row for its result types.
func (g *Generator) infer(ctx *ir.Context, c *call) ([]string, error) {
	def := g.reg.Lookup([]byte(c.op))
	if def == nil || def.Infer == nil {
		return nil, fmt.Errorf("the result types of %s are not inferred", c.op)
	}
	// The op as an unknown one, so that attributes and regions are read without its types.
	var operands, types []string
	var b strings.Builder
	b.WriteString("func.func @main(")
	for i, a := range c.args {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%%a%d: %s", i, typeText(a.dt, a.shape))
		operands = append(operands, fmt.Sprintf("%%a%d", i))
		types = append(types, typeText(a.dt, a.shape))
	}
	fmt.Fprintf(&b, ") {\n  \"opgen.op\"(%s)", strings.Join(operands, ", "))
	if len(c.bodies) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(c.bodies, ", "))
	}
	if len(c.attrs) > 0 {
		fmt.Fprintf(&b, " {%s}", strings.Join(c.attrs, ", "))
	}
	fmt.Fprintf(&b, " : (%s) -> ()\n  return\n}\n", strings.Join(types, ", "))
	m, err := parse.Parse(diag.NewSource("op.mlir", []byte(b.String())), ctx, g.reg, parse.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, b.String())
	}
	op := m.Body().First().Region(0).Entry().First()
	st := &ir.OpState{Def: def, Operands: op.OperandList(), Bodies: op.Regions()}
	for _, a := range op.Attrs() {
		st.SetAttr(a.Name, a.Attr)
	}
	inferred, err := def.Infer(ctx, st)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(inferred))
	for i, t := range inferred {
		out[i] = t.String()
	}
	return out, nil
}

// Outcome compiles and runs the program on a backend.
func (p *Program) Outcome(ctx context.Context, b runtime.Backend) ([]*tensor.Tensor, error) {
	exe, err := b.Compile(ctx, p.Run, runtime.CompileOptions{})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	return exe.Run(ctx, p.Args)
}
