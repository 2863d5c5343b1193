//go:build cgo

package interpose

import (
	"context"
	"errors"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Prepared is a module for an engine in this process, which runs the module itself instead of passing it to a plugin.
type Prepared struct {
	i      *Interposer
	p      prepared
	m      *ir.Module
	tokens map[uint64]bool // see jaxCallbacks
}

// Prepare runs the user's passes over a module and adds the probes of the taps, in place. options are the program's
// xla.CompileOptionsProto.
func (i *Interposer) Prepare(m *ir.Module, options []byte) (*Prepared, error) {
	p, err := i.prepare(context.Background(), m, moduleName(m), options)
	tokens, _ := jaxCallbacks(m)
	return &Prepared{i, p, m, tokens}, err
}

// Bind returns the handlers of the module's hooks. python returns the handler of a callback of JAX, by its index. token
// reports that the callback accepts and returns a token first.
func (p *Prepared) Bind(m *hook.Manifest, python func(index uint64, token bool) runtime.Handler) (*runtime.Bindings, error) {
	if err := p.p.files.text(DumpedAfter, p.m); err != nil {
		p.i.Warn(err)
	}
	if p.i.config.View && len(m.Sites) > 0 {
		if err := p.i.pages.add(moduleName(p.m), p.m, m); err != nil {
			p.i.Warn(err)
		}
	}
	b := p.i.handlers()
	_, err := p.i.bind(b, m, func(index uint64) runtime.Handler { return python(index, p.tokens[index]) })
	return b, err
}

// Take receives the arguments of each run, counted from 1, and writes those that the user wants. A nil tensor is a
// token.
func (p *Prepared) Take(run int64, args []*tensor.Tensor) {
	if run == p.i.config.DumpArgs {
		if err := p.p.files.arguments(args); err != nil {
			p.i.Warn(err)
		}
	}
}

// Failed receives the error of a run. It reports the failure of a hook.
func (p *Prepared) Failed(err error) {
	if errors.As(err, new(*runtime.HookError)) {
		p.i.failed(err)
	}
}
