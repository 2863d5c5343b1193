package handlers

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime"
)

// Print writes each event for people: sequence number, name, kind and location, then a line per operand with its type
// and its values, shortened and laid out as in numpy. It is safe for concurrent devices.
type Print struct {
	w       io.Writer
	summary tensorio.Summary
	head    int // elements to print; 0: all, shortened
	mu      sync.Mutex
	buf     []byte
}

// NewPrint returns a handler that prints to w. It shortens tensors with more than threshold elements; 0 means numpy's
// default of 1000.
func NewPrint(w io.Writer, threshold int) *Print {
	return &Print{w: w, summary: tensorio.Summary{Threshold: threshold, Width: 79}}
}

func newPrint(args string, env *Env) (runtime.Handler, error) {
	opts, err := splitOptions(args, "")
	if err != nil {
		return nil, err
	}
	threshold, head := 0, 0
	for _, o := range opts {
		n, err := strconv.Atoi(o.value)
		switch o.key {
		case "threshold":
			threshold = n
		case "head":
			head = n
		default:
			return nil, fmt.Errorf("unknown option %q: expected threshold or head", o.key)
		}
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s=%s: expected a positive number", o.key, o.value)
		}
	}
	p := NewPrint(env.Out, threshold)
	p.head = head
	return p, nil
}

// MemoryUse implements runtime.MemoryUser.
func (p *Print) MemoryUse() runtime.MemoryUse {
	return runtime.MemoryUse{HostViews: p.head == 0, Head: p.head}
}

// Handle prints one event. An error of the writer ends the run.
func (p *Print) Handle(_ context.Context, c *runtime.Call) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.buf[:0]
	b = fmt.Appendf(b, "#%d %s (%s)", c.Seq, diag.Escape(c.Site.Name), c.Site.Kind)
	if c.Device != 0 {
		b = fmt.Appendf(b, " on device %d", c.Device)
	}
	if c.Site.Loc != "" {
		b = append(append(b, " at "...), diag.Escape(hook.Frame(c.Site.Loc))...)
	}
	b = append(b, '\n')
	for i, t := range c.Operands {
		start := len(b)
		b = fmt.Appendf(b, "   %s:", hook.TypeOf(t))
		more := false
		if p.head > 0 {
			n := t.Shape().NumElements()
			var err error
			if t, err = c.Head(i, p.head); err != nil {
				return err
			}
			more = int64(t.NumElements()) < n
		}
		s := p.summary
		if many := t.NumElements() > 1 && len(t.Shape()) > 1; many {
			b = append(b, "\n     "...)
			s.Indent = 5
		} else {
			b = append(b, ' ')
			s.Indent = len(b) - start
		}
		b = tensorio.AppendSummary(b, t, s)
		if more {
			b = append(b, " ..."...)
		}
		b = append(b, '\n')
	}
	p.buf = b
	_, err := p.w.Write(b)
	return err
}
