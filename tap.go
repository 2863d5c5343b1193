package hlocb

import (
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// A TapOption says which executions of a value a Tap observes, and who sees them.
type TapOption func(*tap)

type tap struct {
	spec    string
	sample  probe.Sample
	out     io.Writer
	handler Handler
	ids     []hook.ID // of the hooks that were added
}

// Every observes only every nth execution of a value in an executable, from the first on.
func Every(n int64) TapOption { return func(t *tap) { t.sample.Every = n } }

// First observes at most n executions of a value in an executable.
func First(n int64) TapOption { return func(t *tap) { t.sample.First = n } }

// To lets h see the values, as an observer of hooks. Without To, the kind of the tap chooses the handler.
func To(h Handler) TapOption { return func(t *tap) { t.handler = h } }

// Output is where a tap without To prints; the default is standard output.
func Output(w io.Writer) TapOption { return func(t *tap) { t.out = w } }

// Tap observes values of a program that has no hooks for them. spec is REGEX or REGEX=KIND. REGEX selects values by the
// name of the value, op or scope, or by the innermost frame of the location (file:line:column); after "under:" by any
// frame. KIND is print (the default), stats or finite: stats and finite reduce the value where the program runs, and
// finite ends the run at a NaN or an infinity. With To there is no KIND. A tap that selects no value is an error.
func Tap(spec string, opts ...TapOption) LoadOption {
	return func(l *loadConfig) {
		t := &tap{spec: spec, out: os.Stdout}
		for _, o := range opts {
			o(t)
		}
		l.taps = append(l.taps, t)
	}
}

// addTaps adds the hooks of taps to m.
func addTaps(m *ir.Module, taps []*tap) error {
	var list []probe.Tap
	for _, t := range taps {
		pattern, kind := probe.Split(t.spec)
		re, err := regexp.Compile(pattern)
		switch {
		case err != nil:
			return fmt.Errorf("tap %s: %w", t.spec, err)
		case t.sample.Every < 0 || t.sample.First < 0:
			return fmt.Errorf("tap %s: expected a positive number of executions", t.spec)
		case kind == probe.Record:
			return fmt.Errorf("tap %s: use To with handlers.NewRecord", t.spec)
		case kind != "" && t.handler != nil:
			return fmt.Errorf("tap %s: it has a kind and a handler", t.spec)
		case kind == "" && t.handler == nil:
			kind = probe.Print
		}
		list = append(list, probe.Tap{Patterns: []*regexp.Regexp{re}, Kind: kind, Sample: t.sample})
	}
	added, err := probe.Add(m, list)
	if err != nil {
		return err
	}
	for i, t := range taps {
		if t.ids = added[i].IDs; len(t.ids) == 0 {
			return fmt.Errorf("tap %s selects no value that can be observed", t.spec)
		}
	}
	return nil
}

// bindTaps binds the handlers of the program's taps.
func (p *Program) bindTaps(b *runtime.Bindings) error {
	for _, t := range p.taps {
		probes := &probe.Handlers{Env: &handlers.Env{Out: t.out}}
		for _, id := range t.ids {
			site := p.manifest.Find(id)
			if site == nil {
				continue // in a function that is not called
			}
			h, answer, err := probes.For(p.manifest, site)
			if err == nil && h == nil && t.handler != nil {
				h, err = probe.Sampled(site, t.handler)
			}
			switch {
			case err != nil:
				return err
			case answer:
				b.Answer(id.String(), h)
			case h != nil:
				b.Observe(id.String(), h)
			}
		}
	}
	return nil
}
