package plugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Case is one test.
type Case struct {
	Group string // "ops", "types", "hooks", "runtime"
	Name  string
	// Text is a module whose main runs on both backends with the same arguments. The results must agree, and so must
	// the events of its hooks, which are calls of @probe or any form that hlocb reads.
	Text string
	// Loose widens the tolerance, for functions that libraries compute with different accuracy.
	Loose float64
	// Do is the test if Text is empty. A *SkipError skips it.
	Do func(ctx context.Context, b runtime.Backend) error
}

// ID returns GROUP/NAME.
func (c Case) ID() string { return c.Group + "/" + c.Name }

// SkipError is the reason why a case cannot judge a backend.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return e.Reason }

// Status is the outcome of a case.
type Status string

// Outcomes of cases.
const (
	Passed  Status = "pass"
	Failed  Status = "fail"
	Known   Status = "known" // failed, and is on the list of known failures
	Skipped Status = "skip"
)

// Result is the outcome of a case with its details.
type Result struct {
	Case    Case
	Status  Status
	Message string // why it failed or was skipped
	Took    time.Duration
}

// Suite returns all cases in a fixed order.
func Suite() []Case {
	var out []Case
	out = append(out, opCases()...)
	out = append(out, typeCases()...)
	out = append(out, hookCases()...)
	return append(out, runtimeCases()...)
}

// Run executes the cases on a backend, with ref as the reference, and calls each after every case with its result. It
// stops when ctx ends.
func Run(ctx context.Context, b, ref runtime.Backend, cases []Case, each func(Result)) error {
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		err := runCase(ctx, b, ref, c)
		r := Result{Case: c, Status: Passed, Took: time.Since(start)}
		if skip, ok := errors.AsType[*SkipError](err); ok {
			r.Status, r.Message = Skipped, skip.Reason
		} else if err != nil {
			r.Status, r.Message = Failed, err.Error()
		}
		each(r)
	}
	return nil
}

func runCase(ctx context.Context, b, ref runtime.Backend, c Case) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if c.Do != nil {
		return c.Do(ctx, b)
	}
	p, err := program(ctx, c.Name, c.Text, hook.ChainState)
	if err != nil {
		return &SkipError{"hlocb cannot read the case: " + err.Error()}
	}
	args, err := arguments(p.Module)
	if err != nil {
		return &SkipError{err.Error()}
	}
	want, err := execute(ctx, ref, p, args)
	if err != nil {
		return &SkipError{"no reference: " + err.Error()}
	}
	got, err := execute(ctx, b, p, args)
	if err != nil {
		return err
	}
	return compare(got, want, c.Loose)
}

// program reads a module and converts its calls of @probe to hooks, with a chain of a kind.
func program(ctx context.Context, name, text string, chain hook.Chain) (*runtime.Program, error) {
	m, err := parse.Parse(diag.NewSource(name, []byte(text)), ir.NewContext(reader.Registry()), parse.Options{})
	if err != nil {
		return nil, err
	}
	r, err := passes.Rewrite(ctx, m, passes.RewriteHooks{Targets: []string{"probe"}, Chain: chain})
	if err != nil {
		return nil, err
	}
	return &runtime.Program{Module: m, Manifest: r.Manifest}, nil
}

// arguments returns values for main's arguments, always the same: small positive numbers that no operation turns into
// an infinity, and both truth values.
func arguments(m *ir.Module) ([]*tensor.Tensor, error) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return nil, errors.New("the module has no main")
	}
	var out []*tensor.Tensor
	for i, t := range f.Type().Inputs() {
		typ, ok := t.(*ir.TensorType)
		if !ok || !typ.Static() || typ.DType() == tensor.Invalid {
			return nil, fmt.Errorf("argument %d of main is %s", i, t)
		}
		out = append(out, Fill(typ.DType(), typ.Shape(), i))
	}
	return out, nil
}

// Fill returns the values of argument number n of a type.
func Fill(d tensor.DType, shape tensor.Shape, n int) *tensor.Tensor {
	t := tensor.New(d, shape)
	for i := range t.NumElements() {
		k := (i*7 + n*3) % 11 // 0 ... 10
		switch {
		case d == tensor.I1:
			t.SetInt(i, int64(k%2))
		case d.IsFloat():
			t.SetFloat(i, 0.125+float64(k)/16)
		case d.IsComplex():
			t.SetComplex(i, complex(0.125+float64(k)/16, 0.5-float64(k)/16))
		default:
			limit := 1<<min(d.Bits()-1, 4) - 1
			t.SetInt(i, int64(1+k%max(limit, 1)))
		}
	}
	return t
}

// outcome holds a run's results, and the hook's name and operands of each event.
type outcome struct {
	results []*tensor.Tensor
	events  []string
	values  []*tensor.Tensor
}

func execute(ctx context.Context, b runtime.Backend, p *runtime.Program, args []*tensor.Tensor) (*outcome, error) {
	out := &outcome{}
	var h runtime.Bindings
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		var types []string
		for _, o := range c.Operands {
			types = append(types, fmt.Sprint(o.DType(), o.Shape()))
			out.values = append(out.values, o.Clone())
		}
		out.events = append(out.events, c.Site.Name+" "+strings.Join(types, ", "))
		for i, r := range c.Results {
			if c.Site.Kind == hook.InOut {
				continue
			}
			if i < len(c.Operands) && len(r.Bytes()) == len(c.Operands[i].Bytes()) {
				copy(r.Bytes(), c.Operands[i].Bytes())
			} else {
				copy(r.Bytes(), Fill(r.DType(), r.Shape(), i).Bytes())
			}
		}
		return nil
	}))
	e, err := b.Compile(ctx, p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	out.results, err = e.Run(ctx, args)
	return out, err
}

// compare returns the difference of two outcomes, or nil if they agree up to rounding.
func compare(got, want *outcome, loose float64) error {
	if strings.Join(got.events, "\n") != strings.Join(want.events, "\n") {
		return fmt.Errorf("events are %q, expected %q", got.events, want.events)
	}
	for i := range want.values {
		if err := compareTensors(got.values[i], want.values[i], loose); err != nil {
			return fmt.Errorf("operand of an event: %w", err)
		}
	}
	if len(got.results) != len(want.results) {
		return fmt.Errorf("%d results, expected %d", len(got.results), len(want.results))
	}
	for i := range want.results {
		if err := compareTensors(got.results[i], want.results[i], loose); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}
