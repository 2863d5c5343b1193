package opgen

import (
	"context"
	"strings"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Columns returns the names of the groups of types that measurements are reported for.
func Columns() []string {
	return []string{"integers", "≤ 8 bits", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"}
}

// Column returns the group of a type.
func Column(d tensor.DType) int {
	switch d {
	case tensor.F16:
		return 2
	case tensor.BF16:
		return 3
	case tensor.F32:
		return 4
	case tensor.F64:
		return 5
	case tensor.Complex64:
		return 6
	case tensor.Complex128:
		return 7
	}
	if d.IsFloat() {
		return 1
	}
	return 0
}

// Row holds the measurements of one op.
type Row struct {
	Op      string
	Exact   bool // bit-identical results are required
	Columns [8]*Measurement
	Truth   [8]*Accuracy // set if true values were computed
	Proofs  [8]*Proof    // of the differences above the limit
}

// bare returns the op's name without the name of its case.
func bare(op string) string {
	name, _, _ := strings.Cut(op, " ")
	return name
}

// crashes reports whether a program crashes XLA's CPU plugin. The plugin should refuse such a program.
func crashes(p *Program) bool { return p.DType.IsComplex() && bare(p.Op) == "stablehlo.remainder" }

// MeasureAll measures element-wise programs on two engines and returns one row per op, in the order of the programs.
// It counts the programs that the second engine refuses, and calls fail for the programs that only the first refuses.
//
// If truth is not nil, MeasureAll computes the true values of samples of the functions' elements (asked elements of
// each kind), and of the elements that differ by more than their bound (up to most elements of each kind and program).
func MeasureAll(ctx context.Context, programs []*Program, a, b runtime.Backend, truth *Truth, asked, most int, fail func(p *Program, err error)) (rows []*Row, refused int, err error) {
	of := map[string]*Row{}
	var questions []Question
	var judges []func(v []Value)
	for _, p := range programs {
		if crashes(p) {
			continue
		}
		want, err := p.Outcome(ctx, b)
		if err != nil {
			refused++
			continue
		}
		got, err := p.Outcome(ctx, a)
		if err != nil {
			fail(p, err)
			continue
		}
		name := bare(p.Op)
		row := of[name]
		if row == nil {
			row = &Row{Op: name}
			of[name] = row
			rows = append(rows, row)
		}
		row.Exact = row.Exact || p.Rule.Exact
		c := &row.Columns[Column(p.DType)]
		if *c == nil {
			*c = &Measurement{}
		}
		(*c).Add(Measure(p.Args, got[0], want[0]))
		proof := &row.Proofs[Column(p.DType)]
		if *proof == nil {
			*proof = &Proof{}
		}
		f := *proof
		doubtful := f.needProof(p, got[0], want[0], row.Bound(Column(p.DType)), most)
		switch {
		case !approximated(p):
			f.settle(p, got[0], want[0], doubtful, nil)
		case truth == nil:
			f.Unasked += len(doubtful)
		default:
			t := &row.Truth[Column(p.DType)]
			if *t == nil {
				*t = &Accuracy{}
			}
			elements := append(doubtful, chosen(p, got[0], want[0], asked, doubtful)...)
			questions = append(questions, Question{p.Op, p.Args, elements})
			acc := *t
			judges = append(judges, func(v []Value) {
				f.settle(p, got[0], want[0], doubtful, v)
				acc.judge(p, got[0], want[0], elements, v)
			})
		}
	}
	if len(questions) == 0 {
		return rows, refused, nil
	}
	answers, err := truth.Ask(questions)
	if err != nil {
		return nil, 0, err
	}
	for i, f := range judges {
		f(answers[i])
	}
	return rows, refused, nil
}
