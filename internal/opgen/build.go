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

	want     func(args []*tensor.Tensor) []*tensor.Tensor // recomputes the results; nil if the program cannot be recomputed
	measured bool                                         // the arguments have values of every magnitude: see bound
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
	seed  uint64
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
	return &Generator{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x0b)), reg: reg}, nil
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

// attr is an attribute of an op. Its value is MLIR's text or a Go value.
type attr struct {
	name  string
	value any
}

func (a attr) String() string {
	text := fmt.Sprint(a.value)
	switch v := a.value.(type) {
	case int, int64:
		text = fmt.Sprintf("%d : i64", v)
	case []int64:
		text = strings.Replace("array<i64: "+list(v)+">", ": >", ">", 1)
	case []bool:
		text = strings.Replace("array<i1: "+list(v)+">", ": >", ">", 1)
	case [][2]int64:
		rows := strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(v), " ", ", "), "[]", "")
		text = fmt.Sprintf("dense<%s> : tensor<%dx2xi64>", rows, len(v))
	}
	return a.name + " = " + text
}

// list writes values with commas between them.
func list[T any](v []T) string {
	parts := make([]string, len(v))
	for i, d := range v {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, ", ")
}

// call describes an op to build.
type call struct {
	op      string
	label   string // added to the op's name in reports
	args    []arg
	attrs   []attr
	results []string // types, if the row does not infer them
	bodies  []string // regions in MLIR's generic form, each with its block
	rule    Rule

	// These fields describe programs of several ops. ops is the text that replaces the op in main. It uses the
	// arguments %a0, %a1, ... and defines the values in names; results holds their types. functions stand beside main.
	ops       string
	names     []string
	functions string

	want func(args []*tensor.Tensor) []*tensor.Tensor // see Program
}

func typeText(dt tensor.DType, shape tensor.Shape) string {
	return hook.TensorType{DType: dt, Shape: shape}.String()
}

// most is the largest number of elements in an argument or result of a program.
const most = 1 << 20

var errTooLarge = errors.New("too large")

// build makes a program of a call. It fails if the row refuses the random operands or attributes.
func (g *Generator) build(c *call) (*Program, error) {
	p := &Program{Op: strings.TrimSpace(c.op + " " + c.label), Rule: c.rule, want: c.want}
	constants := ""
	for i, a := range c.args {
		if a.shape.NumElements() > most {
			return nil, errTooLarge
		}
		v := tensor.New(a.dt, a.shape)
		if a.fill != nil {
			a.fill(v)
		} else {
			verify.Fill(v, g.rng, a.style)
		}
		if a.fixed {
			constants += fmt.Sprintf("  %%a%d = stablehlo.constant %s\n", i, v.AppendLiteral(nil, v.NumElements()+1))
		} else {
			p.Args = append(p.Args, v)
		}
	}
	ops, returned := c.ops, c.names
	if ops == "" {
		if err := g.infer(c); err != nil {
			return nil, err
		}
		for i, r := range c.results {
			if _, shape, err := tensor.ParseType(r); err == nil && shape.NumElements() > most {
				return nil, errTooLarge
			}
			returned = append(returned, fmt.Sprintf("%%r#%d", i))
		}
		ops = fmt.Sprintf("  %%r:%d = %s", len(c.results), c.text(c.op, c.results))
	}
	m, err := g.parse("func.func @main(%s) -> (%s) {\n%s%s  return %s : %[2]s\n}\n%[6]s", c.params(false), strings.Join(c.results, ", "), constants, ops,
		strings.Join(returned, ", "), c.functions)
	if err != nil {
		return nil, err
	}
	if err := ir.Verify(m); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, m.Source().Text())
	}
	p.Out, _, _ = tensor.ParseType(c.results[0])
	p.DType = p.Out
	if len(c.args) > 0 {
		p.DType = c.args[0].dt
	}
	p.Run = &runtime.Program{Module: m, Manifest: &hook.Manifest{}}
	return p, nil
}

func (g *Generator) parse(format string, args ...any) (*ir.Module, error) {
	text := fmt.Sprintf(format, args...)
	m, err := parse.Parse(diag.NewSource("program.mlir", []byte(text)), ir.NewContext(g.reg), parse.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return m, nil
}

// infer asks the op's row for the result types, if the call does not state them.
func (g *Generator) infer(c *call) error {
	if c.results != nil {
		return nil
	}
	def := g.reg.Lookup(c.op)
	if def == nil || def.Infer == nil {
		return fmt.Errorf("the result types of %s are not inferred", c.op)
	}
	// Write the op as an unknown op to read its attributes and regions without its types.
	m, err := g.parse("func.func @main(%s) {\n  %s  return\n}\n", c.params(true), c.text("opgen.op", nil))
	if err != nil {
		return err
	}
	op := m.Body().First().Region(0).Entry().First()
	st := &ir.OpState{Def: def, Operands: op.OperandList(), Bodies: op.Regions()}
	for _, a := range op.Attrs() {
		st.SetAttr(a.Name, a.Attr)
	}
	inferred, err := def.Infer(m.Context(), st)
	for _, t := range inferred {
		c.results = append(c.results, t.String())
	}
	return err
}

// params writes the parameters of main, with those that are constants if all is set.
func (c *call) params(all bool) string {
	var out []string
	for i, a := range c.args {
		if all || !a.fixed {
			out = append(out, fmt.Sprintf("%%a%d: %s", i, typeText(a.dt, a.shape)))
		}
	}
	return strings.Join(out, ", ")
}

// text writes the op in MLIR's generic form, under a name.
func (c *call) text(name string, results []string) string {
	var operands, types []string
	for i, a := range c.args {
		if !a.aside {
			operands, types = append(operands, fmt.Sprintf("%%a%d", i)), append(types, typeText(a.dt, a.shape))
		}
	}
	text := fmt.Sprintf("%q(%s)", name, strings.Join(operands, ", "))
	if len(c.bodies) > 0 {
		text += " (" + strings.Join(c.bodies, ", ") + ")"
	}
	if len(c.attrs) > 0 {
		text += " {" + list(c.attrs) + "}"
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
