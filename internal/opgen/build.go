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
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Program is a module of one op with arguments for its main.
type Program struct {
	Op    string       // the op's name and its case, such as "stablehlo.compare LT"
	DType tensor.DType // of the first operand, or of the result if there are no operands
	Out   tensor.DType // of the first result
	Rule  Rule         // how exact engines must agree
	Run   *runtime.Program
	Args  []*tensor.Tensor

	want  func(args []*tensor.Tensor) []*tensor.Tensor // recomputes the results; nil if the program cannot be recomputed
	loose func(i int, got float64) bool                // whether XLA may return got for element i; called after want
}

// Rule states how much the results of two engines may differ.
type Rule struct {
	// Exact requires the same bits; all NaNs count as equal. Otherwise Terms > 0 allows the error of adding that many
	// terms in another order. If neither is set, the op is a function and Bound limits the distance.
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

// arg is an argument of main and the way to fill it.
type arg struct {
	dt    tensor.DType
	shape tensor.Shape
	style verify.Style
	fill  func(t *tensor.Tensor) // replaces style
	fixed bool                   // a constant of the program instead of an argument of main
	aside bool                   // used by the regions, not an operand of the op
}

// call describes an op to build.
type call struct {
	op      string
	label   string // added to the op's name in reports
	args    []arg
	attrs   []string // name = value, values in MLIR's syntax
	results []string // types, if the row does not infer them
	bodies  []string // regions in MLIR's generic form, each with its block
	rule    Rule

	// These fields describe programs of several ops. ops is the text that replaces the op in main. It uses the
	// arguments %a0, %a1, ... and defines the values in names; results holds their types. functions stand beside main.
	ops       string
	names     []string
	functions string

	want  func(args []*tensor.Tensor) []*tensor.Tensor // see Program
	loose func(i int, got float64) bool
}

func typeText(dt tensor.DType, shape tensor.Shape) string {
	return hook.TensorType{DType: dt, Shape: shape}.String()
}

// most is the largest number of elements in an argument or result of a program.
const most = 1 << 20

var errTooLarge = errors.New("too large")

// build makes a program of a call. It fails if the row refuses the random operands or attributes.
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
		fmt.Fprintf(&body, "  %%r:%d = %s", len(results), c.text(c.op, operands, types, results))
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
	p.Run = &runtime.Program{Module: m, Manifest: &hook.Manifest{}}
	return p, nil
}

// infer asks the op's row for its result types.
func (g *Generator) infer(ctx *ir.Context, c *call) ([]string, error) {
	def := g.reg.Lookup([]byte(c.op))
	if def == nil || def.Infer == nil {
		return nil, fmt.Errorf("the result types of %s are not inferred", c.op)
	}
	// Write the op as an unknown op to read its attributes and regions without its types.
	var params, operands, types []string
	for i, a := range c.args {
		operands, types = append(operands, fmt.Sprintf("%%a%d", i)), append(types, typeText(a.dt, a.shape))
		params = append(params, operands[i]+": "+types[i])
	}
	text := fmt.Sprintf("func.func @main(%s) {\n  %s  return\n}\n", strings.Join(params, ", "), c.text("opgen.op", operands, types, nil))
	m, err := parse.Parse(diag.NewSource("op.mlir", []byte(text)), ctx, g.reg, parse.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
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

// text writes the op in MLIR's generic form, under a name.
func (c *call) text(name string, operands, types, results []string) string {
	text := fmt.Sprintf("%q(%s)", name, strings.Join(operands, ", "))
	if len(c.bodies) > 0 {
		text += " (" + strings.Join(c.bodies, ", ") + ")"
	}
	if len(c.attrs) > 0 {
		text += " {" + strings.Join(c.attrs, ", ") + "}"
	}
	return fmt.Sprintf("%s : (%s) -> (%s)\n", text, strings.Join(types, ", "), strings.Join(results, ", "))
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
