package pass

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Driver runs pipelines. The zero Driver runs passes and verifies nothing.
type Driver struct {
	// Verify checks the module before the first pass and after each pass that may have changed it; nil skips the
	// checks.
	Verify func(*ir.Module) error
	// Ends skips the verification between passes: the driver verifies only the input and the result.
	Ends bool
	// Instruments watch the passes, in this order before a pass and in reverse order after it.
	Instruments []Instrument
}

// Instrument watches passes, for example to print the module or to measure time. Nil functions are skipped.
type Instrument struct {
	Before func(s Step)
	// After receives the time that the pass took and its error, or nil.
	After func(s Step, took time.Duration, err error)
}

// Step is one run of a pass.
type Step struct {
	Pass   Pass
	Index  int    // number of the step, from 0; a pass that runs on several ops has one step per op
	Op     *ir.Op // the op that the pass runs on: the module's op, or a nested one
	Module *ir.Module
}

// Error reports the failure of a pass in a pipeline.
type Error struct {
	Pass  string // the pass's name; empty: the input is invalid
	Left  bool   // the pass left an invalid module
	Stack []byte // of a panic in the pass, else nil
	Err   error
}

func (e *Error) Error() string {
	if e.Left {
		return fmt.Sprintf("%v\nnote: pass '%s' left an invalid module", e.Err, e.Pass)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Run runs the passes in order. It stops at the first failure, which it returns as an *Error, or when ctx ends.
func (d *Driver) Run(ctx *Context, p Pipeline) error {
	r := &run{driver: d, ctx: ctx}
	if err := d.verify(ctx.module); err != nil {
		return &Error{Err: err}
	}
	for i, step := range p {
		last := true
		for _, later := range p[i+1:] {
			last = last && later.Info().ReadOnly
		}
		if err := r.pass(step, ctx.module.Op(), last); err != nil {
			return err
		}
	}
	return nil
}

// run is the state of one Run.
type run struct {
	driver *Driver
	ctx    *Context
	index  int
}

// pass runs one pass on op. If last is set, no later pass changes the module.
func (r *run) pass(p Pass, op *ir.Op, last bool) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	name := p.Info().Name
	if err := check(p, op.Name()); err != nil {
		return &Error{Pass: name, Err: err}
	}
	switch p := p.(type) {
	case *nest:
		for _, inner := range nested(op, p.info.Name) {
			for _, q := range p.passes {
				if err := r.pass(q, inner, last); err != nil {
					return err
				}
			}
		}
		return nil
	case Group:
		passes, err := p.Expand()
		if err != nil {
			return &Error{Pass: name, Err: err}
		}
		for i, q := range passes {
			end := last
			for _, later := range passes[i+1:] {
				end = end && later.Info().ReadOnly
			}
			if err := r.pass(q, op, end); err != nil {
				return err
			}
		}
		return nil
	}
	if err := r.ready(p.Info()); err != nil {
		return &Error{Pass: name, Err: err}
	}
	s := Step{Pass: p, Index: r.index, Op: op, Module: r.ctx.module}
	r.index++
	for _, i := range r.driver.Instruments {
		if i.Before != nil {
			i.Before(s)
		}
	}
	start := time.Now()
	err := r.call(p, op)
	took := time.Since(start)
	r.ctx.invalidate(p.Info())
	for i := range r.driver.Instruments {
		if f := r.driver.Instruments[len(r.driver.Instruments)-1-i]; f.After != nil {
			f.After(s, took, err)
		}
	}
	if err != nil {
		return err
	}
	if p.Info().ReadOnly || r.driver.Ends && !last {
		return nil
	}
	if err := r.driver.verify(r.ctx.module); err != nil {
		return &Error{Pass: name, Left: true, Err: err}
	}
	return nil
}

// ready returns an error if the module is not in the states that the pass requires.
func (r *run) ready(i *Info) error {
	for _, s := range i.Requires {
		holds, known := r.ctx.states[s]
		if !known {
			if s.Check == nil {
				return fmt.Errorf("pass %q requires %s: run %s first", i.Name, s.Name, s.By)
			}
			if err := s.Check(r.ctx.module); err != nil {
				var d *diag.Diagnostic
				if errors.As(err, &d) {
					return d.Note(d.Pos, "pass '%s' requires %s: run %s first", i.Name, s.Name, s.By)
				}
				return fmt.Errorf("pass %q requires %s: run %s first: %w", i.Name, s.Name, s.By, err)
			}
			continue
		}
		if !holds {
			return fmt.Errorf("pass %q requires %s: run %s first", i.Name, s.Name, s.By)
		}
	}
	for _, s := range i.Excludes {
		if r.ctx.states[s] {
			return fmt.Errorf("pass %q cannot run on a module with %s: %s ran already", i.Name, s.Name, s.By)
		}
	}
	return nil
}

// call runs the pass on op. A panic becomes an error at op that names the pass.
func (r *run) call(p Pass, op *ir.Op) (err error) {
	defer func() {
		if v := recover(); v != nil {
			pos := op.Pos()
			if !pos.IsValid() {
				pos = diag.At(0)
			}
			err = &Error{Pass: p.Info().Name, Stack: debug.Stack(),
				Err: diag.Errorf(r.ctx.module.Source(), pos, "pass '%s' failed: %v", p.Info().Name, v)}
		}
	}()
	switch p := p.(type) {
	case ModulePass:
		err = p.Run(r.ctx, r.ctx.module)
	case OpPass:
		err = p.Run(r.ctx, op)
	}
	if err != nil {
		err = &Error{Pass: p.Info().Name, Err: err}
	}
	return err
}

func (d *Driver) verify(m *ir.Module) error {
	if d.Verify == nil {
		return nil
	}
	return d.Verify(m)
}
