package exec

import (
	"cmp"
	"context"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// Profile collects the time that the ops of runs take. The zero value is empty. While a run has a profile, its
// goroutines carry the label "op", by which pprof selects the samples of an op.
type Profile struct {
	mu  sync.Mutex
	ops map[*ir.Op]*OpTime
}

// OpTime is the time that one op took, on all devices. A chain of fused ops counts as its first op.
type OpTime struct {
	Op     string // its name
	Fused  int    // number of further ops that execute with it
	Source *diag.Source
	Pos    diag.Pos
	Count  int64
	Time   time.Duration // without the ops of its regions and of the functions that it calls
}

// Ops returns the ops, the longest time first.
func (p *Profile) Ops() []OpTime {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []OpTime
	for _, t := range p.ops {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b OpTime) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.Op, b.Op))
	})
	return out
}

// run executes an instruction and adds its time.
func (p *Profile) run(m *Machine, fr *Frame, ins *Instr) {
	outer := m.inside
	m.inside = 0
	label(pprof.WithLabels(m.Ctx, pprof.Labels("op", ins.Op.Name())))
	defer label(context.Background())
	begin := time.Now()
	m.Execute(fr, ins)
	d := time.Since(begin)
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.ops[ins.Op]
	if t == nil {
		if p.ops == nil {
			p.ops = map[*ir.Op]*OpTime{}
		}
		t = &OpTime{Op: ins.Op.Name(), Fused: max(0, len(ins.Fused)-1), Source: ins.Op.Module().Source(), Pos: ins.Op.Pos()}
		p.ops[ins.Op] = t
	}
	t.Count++
	t.Time += d - m.inside
	m.inside = outer + d
}

// label sets the profiler's labels of this goroutine and of the goroutines that help it.
func label(ctx context.Context) {
	pprof.SetGoroutineLabels(ctx)
	kernel.LabelHelpers(ctx)
}
