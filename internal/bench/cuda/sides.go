package cuda

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

//go:embed peer.py
var peerScript string

// peer is the process that runs JAX.
type peer struct {
	*meter.Peer
	last reply
}

// reply is JAX's answer to a job; peer.py describes both.
type reply struct {
	Text, Init      string  // a program, and the program that computes its arguments
	Seconds, Loss   float64 // of a turn, and after it
	Version, Device string
}

// startPeer starts JAX on a platform.
func startPeer(python, platform string) (*peer, error) {
	started, err := meter.Start(python, peerScript, platform)
	if err != nil {
		return nil, fmt.Errorf("JAX: %w", err)
	}
	p := &peer{Peer: started}
	if err := p.ask(map[string]any{"about": true}); err != nil {
		return nil, fmt.Errorf("%s does not run JAX on platform %s: %w", python, platform, errors.Join(err, p.Close()))
	}
	return p, nil
}

// ask sends a job and reads the answer.
func (p *peer) ask(job map[string]any) error {
	p.last = reply{}
	if err := p.Ask(job, &p.last); err != nil {
		return fmt.Errorf("JAX: %w", err)
	}
	return nil
}

// bench measures one row. It keeps the first error, and does nothing after it.
type bench struct {
	backend  runtime.Backend
	jax      *peer
	rounds   int
	programs []*program
	rows     []meter.Row // the figures that have goals
	err      error
}

// do calls f and keeps its error.
func (b *bench) do(f func() error) {
	if b.err == nil {
		b.err = f()
	}
}

// close drops what the row needed, also in JAX, and returns the first error.
func (b *bench) close() error {
	b.do(func() error { return b.jax.ask(map[string]any{"drop": true}) })
	for _, p := range b.programs {
		for _, buffer := range slices.Concat(p.args, p.results) {
			buffer.Close()
		}
		b.err = errors.Join(b.err, p.exe.Close())
	}
	return b.err
}

// side runs something n times and returns the seconds that this took.
type side func(n int) (float64, error)

// inJAX prepares a subject in JAX.
func (b *bench) inJAX(kind, function string, size int) side {
	name := kind + " " + function
	b.do(func() error {
		return b.jax.ask(map[string]any{"name": name, "kind": kind, "function": function, "size": size})
	})
	return func(n int) (float64, error) {
		err := b.jax.ask(map[string]any{"time": name, "calls": n})
		return b.jax.last.Seconds, err
	}
}

// program is a program in hlocb with its arguments on the device.
type program struct {
	exe           *hlocb.Executable
	carried       []int // the result that becomes each argument of the next call, or -1
	args, results []*hlocb.Buffer
	calls         int
}

// inHlocb compiles the program that JAX prepared last, and computes its arguments.
func (b *bench) inHlocb(opts ...hlocb.CompileOption) *program {
	init := b.compile(b.jax.last.Init)
	b.do(func() error { _, err := init.run(1); return err })
	p := b.compile(b.jax.last.Text, opts...)
	p.args, init.results = init.results, nil
	return p
}

// compile compiles a module. Its calls of @host are hooks, too.
func (b *bench) compile(text string, opts ...hlocb.CompileOption) *program {
	out := &program{}
	b.do(func() error {
		p, err := hlocb.Parse(context.Background(), "bench.mlir", []byte(text), hlocb.HookTargets("host"))
		if err != nil {
			return err
		}
		if out.exe, err = p.Compile(context.Background(), append(opts, hlocb.OnBackend(b.backend))...); err != nil {
			return err
		}
		out.carried, b.programs = p.Carried(), append(b.programs, out)
		return nil
	})
	return out
}

// carries reports whether a run needs the results of the run before. JAX waits for other runs.
func carries(carried []int) bool {
	return slices.ContainsFunc(carried, func(r int) bool { return r >= 0 })
}

// run runs the program n times, to the end. Results that take over arguments replace them.
func (p *program) run(n int) (float64, error) {
	start := time.Now()
	for i := range n {
		for _, r := range p.results {
			r.Close()
		}
		out, err := p.exe.Execute(context.Background(), p.args, hlocb.ExecuteOptions{NoWait: i < n-1 && carries(p.carried)})
		if p.results = out; err != nil {
			return 0, err
		}
		p.calls++
		for i, r := range p.carried {
			if r >= 0 {
				p.args[i] = out[r] // the run consumed the argument
			}
		}
		p.results = slices.DeleteFunc(out, func(r *hlocb.Buffer) bool { return slices.Contains(p.args, r) })
	}
	return time.Since(start).Seconds(), nil
}

// last passes the last call's first value to f: a result, or an argument that a result replaced.
func (b *bench) last(p *program, f func([]float32) error) {
	b.do(func() error {
		return slices.Concat(p.results, p.args)[0].View(context.Background(), func(t *tensor.Tensor) error { return f(tensor.View[float32](t)) })
	})
}

// measure returns the median seconds per call of each side. In a round a side runs often times, or less often if it
// would need more than turn seconds.
func (b *bench) measure(often int, turn float64, sides ...side) []float64 {
	medians := make([]float64, len(sides))
	b.do(func() error {
		calls, seconds := make([]int, len(sides)), make([][]float64, len(sides))
		for round := -2; round < b.rounds; round++ { // the first call compiles, the second is timed to choose the number
			for k := range sides {
				i := (round + 2 + k) % len(sides)
				n := max(1, calls[i])
				took, err := sides[i](n)
				switch {
				case err != nil:
					return err
				case round == -1:
					calls[i] = min(often, max(1, int(turn/max(1e-9, took))))
				case round >= 0:
					seconds[i] = append(seconds[i], took/float64(n))
				}
			}
		}
		for i, list := range seconds {
			slices.Sort(list)
			medians[i] = (list[(len(list)-1)/2] + list[len(list)/2]) / 2
		}
		return nil
	})
	return medians
}
