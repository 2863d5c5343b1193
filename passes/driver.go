package passes

import (
	"fmt"
	"time"

	"github.com/hlocb/hlocb/ir"
)

// Driver runs pipelines. The zero Driver runs passes and checks nothing.
type Driver struct {
	// Verify is called on the module before the first pass and after each one that may have
	// changed it; nil skips it.
	Verify func(*ir.Module) error
	// Ends leaves out the verification between passes: only the input and the result are verified.
	Ends bool
	// Before and After are called around each pass, with its place in the pipeline; nil skips them. Timing,
	// printing and counting are done here.
	Before func(i int, p Pass, m *ir.Module)
	After  func(i int, p Pass, m *ir.Module, took time.Duration)
}

// PassError says which pass of a pipeline failed.
type PassError struct {
	Pass  string
	Index int  // place in the pipeline, from 0; -1: the input itself is invalid
	Valid bool // the pass returned an error itself; false: it left an invalid module
	Err   error
}

func (e *PassError) Error() string {
	switch {
	case e.Index < 0:
		return e.Err.Error()
	case !e.Valid:
		return fmt.Sprintf("%v\nnote: pass '%s' left an invalid module", e.Err, e.Pass)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *PassError) Unwrap() error { return e.Err }

// Run runs the passes in order and stops at the first error, which is a *PassError, or at the end of ctx.
func (d *Driver) Run(ctx *Context, p Pipeline, m *ir.Module) error {
	if err := d.verify(m); err != nil {
		return &PassError{Index: -1, Err: err}
	}
	for i, s := range p {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := s.Pass.Info().Name
		if d.Before != nil {
			d.Before(i, s.Pass, m)
		}
		start := time.Now()
		if err := s.Pass.Run(ctx, m); err != nil {
			return &PassError{Pass: name, Index: i, Valid: true, Err: err}
		}
		if d.After != nil {
			d.After(i, s.Pass, m, time.Since(start))
		}
		if s.Pass.Info().ReadOnly || d.Ends && !lastChange(p, i) {
			continue
		}
		if err := d.verify(m); err != nil {
			return &PassError{Pass: name, Index: i, Err: err}
		}
	}
	return nil
}

// lastChange reports whether pass i is the last of p that may change the module.
func lastChange(p Pipeline, i int) bool {
	for _, s := range p[i+1:] {
		if !s.Pass.Info().ReadOnly {
			return false
		}
	}
	return true
}

func (d *Driver) verify(m *ir.Module) error {
	if d.Verify == nil {
		return nil
	}
	return d.Verify(m)
}
