package pass

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Driver runs pipelines. The zero Driver runs passes and verifies nothing.
type Driver struct {
	// Verify checks the module after each pass that may have changed it; nil skips the checks. As in MLIR, the caller
	// verifies the input.
	Verify func(context.Context, *ir.Module) error
	// VerifyResult makes the driver verify only the result, and not between passes.
	VerifyResult bool
	// Workers is the number of ops that a pass works on at the same time; 0 is the number of processors.
	Workers int
	// Instruments watch the passes, in this order before a pass and in reverse order after it. No pass runs during their
	// calls.
	Instruments []Instrument
}

// Instrument watches passes, for example to print the module or to measure time. Nil functions are skipped.
type Instrument struct {
	Before func(s Step)
	After  func(s Step, o Outcome)
	// Rule is called after each application of a rule on op or inside it. The module is then valid; new ops may lack
	// locations.
	// If an instrument has it, passes work on one op at a time.
	Rule func(s Step, rule string, op *ir.Op)
	// Made is called for each op that an application of a rule created or changed, before Rule. The op may be erased
	// later in the same pass.
	Made func(s Step, rule string, op *ir.Op)
	// Verified receives the time of each verification and its error, or nil.
	Verified func(took time.Duration, err error)
}

// Step is one run of a pass.
type Step struct {
	Pass  Pass
	Index int // number of the step, from 0
	// Ops are the ops that the pass runs on: the module's op, or for a nested pass all ops that its anchor names.
	Ops    []*ir.Op
	Module *ir.Module
	Path   []string // the anchors around the pass, outermost first, without the module: func.func
}

// Outcome is the end of a step.
type Outcome struct {
	Took    time.Duration
	Changed bool    // the pass changed the module
	Counts  []Count // of all ops together
	Err     error   // the pass failed
}

// Error reports the failure of a pass in a pipeline.
type Error struct {
	Pass    string // the pass's name
	Invalid bool   // the pass left an invalid module
	Stack   []byte // of a panic in the pass, else nil
	Err     error
}

func (e *Error) Error() string {
	if e.Invalid {
		return fmt.Sprintf("%v\nnote: pass '%s' left an invalid module", e.Err, e.Pass)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Run runs the passes in order. It stops at the first pass that fails and returns the failure as an *Error, or when ctx
// ends. If a nested pass fails on several ops, the error contains the findings on all of them, in program order.
func (d *Driver) Run(ctx *Context, p Pipeline) error {
	r := &run{driver: d, ctx: ctx}
	module := []*ir.Op{ctx.Module().Op()}
	if err := r.passes(p, true, func(Pass) ([]*ir.Op, error) { return module, nil }); err != nil {
		return err
	}
	return r.verify() // unless the last pass that may change the module ran on an op, and was verified
}

// Run runs passes on op as a part of the pass that c serves, which counts their changes and rules. It verifies nothing.
// A pass on op must run only passes that work on op or inside it.
func (c *Context) Run(op *ir.Op, list []Pass) error {
	r := &run{driver: &Driver{Workers: 1}, ctx: c, inner: true}
	return r.passes(list, false, func(Pass) ([]*ir.Op, error) {
		if op.Erased() {
			return nil, nil
		}
		return []*ir.Op{op}, nil
	})
}

// chooser returns the ops that a pass runs on. Each call looks for them again, because passes erase ops.
type chooser func(Pass) ([]*ir.Op, error)

// run is the state of one Run.
type run struct {
	driver *Driver
	ctx    *Context
	index  int
	path   []string
	depth  int // of passes that run because another requires them
	// changed is the pass that changed the module last, if the module was not verified since; else nil.
	changed *Info
	inner   bool // of a pass, see Context.Run
}

// passes runs passes in order, each on the ops that on returns right before it. If last is set, no pass after them
// changes the module.
func (r *run) passes(list []Pass, last bool, on chooser) error {
	for i, p := range list {
		changes := slices.ContainsFunc(list[i+1:], func(p Pass) bool { return !p.Info().ReadOnly })
		if err := r.pass(p, on, last && !changes); err != nil {
			return err
		}
	}
	return nil
}

// pass runs one pass on the ops of one name that on returns. If last is set, no later pass changes the module.
func (r *run) pass(p Pass, on chooser, last bool) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	ops, err := on(p)
	if err != nil || len(ops) == 0 {
		return err
	}
	info := p.Info()
	if err := check(p, ops[0].Name()); err != nil {
		return &Error{Pass: info.Name, Err: err}
	}
	switch p := p.(type) {
	case *nest:
		if err := knownAnchor(r.ctx.Module(), info.Name); err != nil {
			return &Error{Pass: info.Name, Err: err}
		}
		r.path = append(r.path, info.Name)
		defer func() { r.path = r.path[:len(r.path)-1] }()
		return r.passes(p.passes, last, func(q Pass) ([]*ir.Op, error) {
			ops, err := on(p)
			if err != nil {
				return nil, err
			}
			inner := nested(ops, info.Name)
			for _, op := range inner {
				if !op.Has(ir.IsolatedFromAbove) || !op.Has(ir.Symbol) {
					return nil, &Error{Pass: q.Info().Name, Err: r.ctx.Module().Errorf(op, "passes cannot run on '%s': its regions use values from outside", op.Name())}
				}
			}
			return inner, nil
		})
	case Group:
		passes, err := p.Expand()
		if err != nil {
			return &Error{Pass: info.Name, Err: err}
		}
		return r.passes(passes, last, on)
	}
	if err := r.ready(p); err != nil {
		return err
	}
	if ops, err = on(p); err != nil || len(ops) == 0 { // a required pass may have erased some
		return err
	}
	s := Step{Pass: p, Index: r.index, Ops: ops, Module: r.ctx.Module(), Path: slices.Clone(r.path)}
	r.index++
	for _, i := range r.driver.Instruments {
		if i.Before != nil {
			i.Before(s)
		}
	}
	o := r.on(s, parts(p, ops))
	for i := range r.driver.Instruments {
		if f := r.driver.Instruments[len(r.driver.Instruments)-1-i]; f.After != nil {
			f.After(s, o)
		}
	}
	if o.Err != nil {
		return o.Err
	}
	if o.Changed {
		r.changed = info
	}
	if r.driver.VerifyResult && !last {
		return nil
	}
	return r.verify()
}

// knownAnchor returns an error if no op that passes can run on has the given name.
func knownAnchor(m *ir.Module, name string) error {
	if m.Def(name).Known() || m.Registry() == nil {
		return nil
	}
	var anchors []string
	for _, d := range m.Registry().Dialects() {
		for _, op := range d.Ops {
			if op.Traits&(ir.IsolatedFromAbove|ir.Symbol) == ir.IsolatedFromAbove|ir.Symbol {
				anchors = append(anchors, op.Name)
			}
		}
	}
	return fmt.Errorf("passes run on an op named %q, which is unknown%s", name, among(name, anchors))
}

// parts returns the ops to run p on instead of ops: the ops in a module if p is Separable.
func parts(p Pass, ops []*ir.Op) []*ir.Op {
	s, ok := p.(Separable)
	if !ok || !s.Separable() || len(ops) != 1 || ops[0].Parent() != nil {
		return ops
	}
	var inner []*ir.Op
	for op := range ops[0].Module().Body().Ops() {
		if !op.Has(ir.IsolatedFromAbove) || !op.Has(ir.Symbol) {
			return ops
		}
		inner = append(inner, op)
	}
	if len(inner) == 0 {
		return ops
	}
	return inner
}

// ready returns an error if the pass cannot run now. It runs the passes that the pass requires.
func (r *run) ready(p Pass) error {
	i := p.Info()
	if r.depth++; r.depth > 100 {
		return &Error{Pass: i.Name, Err: fmt.Errorf("pass %q requires itself through other passes", i.Name)}
	}
	defer func() { r.depth-- }()
	for _, q := range i.Requires {
		if err := q.require(r, i); err != nil {
			var failed *Error
			if errors.As(err, &failed) {
				return err
			}
			return &Error{Pass: i.Name, Err: err}
		}
	}
	for _, s := range i.Excludes {
		if r.ctx.Holds(s) {
			return &Error{Pass: i.Name, Err: fmt.Errorf("pass %q cannot run on a module with %s: %s ran already", i.Name, s.Name, s.By.Info().Name)}
		}
	}
	return nil
}

// on runs the pass on all ops, several at the same time, and records which of them it changed.
func (r *run) on(s Step, ops []*ir.Op) Outcome {
	p := s.Pass
	watchesRules := slices.ContainsFunc(r.driver.Instruments, func(i Instrument) bool { return i.Rule != nil || i.Made != nil })
	serve := func(op *ir.Op) *Context {
		c := r.ctx.On(op)
		if watchesRules {
			c.onRule = func(rule string, made []*ir.Op) {
				for _, i := range r.driver.Instruments {
					if i.Made != nil {
						for _, o := range made {
							i.Made(s, rule, o)
						}
					}
					if i.Rule != nil {
						i.Rule(s, rule, op)
					}
				}
			}
		}
		return c
	}
	start, version := time.Now(), r.ctx.Module().Version()
	contexts := make([]*Context, len(ops))
	var emitted [][]*diag.Diagnostic
	if len(ops) == 1 {
		contexts[0] = serve(ops[0])
		r.call(p, contexts[0])
	} else {
		emitted = make([][]*diag.Diagnostic, len(ops))
		for i, op := range ops {
			contexts[i] = serve(op)
			contexts[i].Report = func(d *diag.Diagnostic) { emitted[i] = append(emitted[i], d) }
		}
		workers := r.driver.Workers
		if workers == 0 {
			workers = goruntime.GOMAXPROCS(0)
		}
		if p.Info().Sequential || watchesRules {
			workers = 1
		}
		var next atomic.Int64
		var wait sync.WaitGroup
		work := func() {
			for i := next.Add(1) - 1; int(i) < len(ops) && r.ctx.Err() == nil; i = next.Add(1) - 1 {
				r.call(p, contexts[i])
			}
		}
		for range min(workers, len(ops)) - 1 {
			wait.Go(work)
		}
		work()
		wait.Wait()
	}
	o := Outcome{Took: time.Since(start)}
	var errs []error
	for i, c := range contexts {
		if len(emitted) > 0 {
			for _, d := range emitted[i] {
				r.ctx.Emit(d)
			}
		}
		if c.step.err != nil {
			errs = append(errs, c.step.err)
		}
		for _, n := range c.step.counts {
			o.Counts = addCount(o.Counts, n)
		}
	}
	o.Err = join(errs)
	if o.Err == nil {
		o.Err = r.ctx.Err()
	}
	if r.inner {
		for _, n := range o.Counts {
			r.ctx.Count(n.Name, n.N)
		}
	}
	if o.Changed = r.ctx.Module().Version() != version; o.Changed {
		r.ctx.shared.invalidate(p.Info(), ops)
		if p.Info().ReadOnly && o.Err == nil {
			o.Err = &Error{Pass: p.Info().Name, Err: r.ctx.Module().Errorf(ops[0], "pass '%s' changed the module, though it says that it only reads", p.Info().Name)}
		}
	}
	r.ctx.shared.ran = append(r.ctx.shared.ran, p)
	return o
}

// join returns the errors of one pass on several ops as one error.
func join(errs []error) error {
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	var all diag.List
	for _, err := range errs {
		list := diag.ListOf(err)
		if list == nil {
			return err // it does not concern the module, so the other ops have the same error
		}
		all = append(all, list...)
	}
	out := *errs[0].(*Error)
	out.Err = all
	return &out
}

// call runs the pass on one op. A panic becomes an error at op that names the pass.
func (r *run) call(p Pass, c *Context) {
	name := p.Info().Name
	pos := c.op.Pos()
	defer func() {
		if v := recover(); v != nil {
			if !pos.IsValid() {
				pos = diag.At(0)
			}
			if d, ok := v.(*diag.Diagnostic); ok { // of a rewrite.Rewriter
				c.step.err = &Error{Pass: name, Err: d.Note(d.Pos, "pass '%s'", name)}
				return
			}
			c.step.err = &Error{Pass: name, Stack: debug.Stack(), Err: diag.Errorf(c.Module().Source(), pos, "pass '%s' failed: %v", name, v)}
		}
	}()
	var err error
	switch p := p.(type) {
	case ModulePass:
		err = p.Run(c, c.Module())
	case OpPass:
		err = p.Run(c, c.op)
	}
	if err != nil {
		c.step.err = &Error{Pass: name, Err: err}
	}
}

// verify checks the module if a pass changed it after the last check.
func (r *run) verify() error {
	changed := r.changed
	r.changed = nil
	if r.driver.Verify == nil || changed == nil {
		return nil
	}
	start := time.Now()
	err := r.driver.Verify(r.ctx, r.ctx.Module())
	took := time.Since(start)
	for _, i := range r.driver.Instruments {
		if i.Verified != nil {
			i.Verified(took, err)
		}
	}
	if err == nil || r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	var list diag.List
	if errors.As(err, &list) && len(list) > 0 {
		list[0].Note(list[0].Pos, "pass '%s' left an invalid module", changed.Name)
	}
	return &Error{Pass: changed.Name, Invalid: true, Err: err}
}
