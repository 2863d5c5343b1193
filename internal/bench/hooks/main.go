// Package hooks measures the cost of hooks on the CPU plugin: a tap of a large intermediate value in each form, probes
// on the values of a large program, and the rewritten forms of JAX's programs compared with JAX running them. Compare
// ratios within one run only. If the plugin or jax is missing, the command says so and skips its part.
package hooks

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

//go:embed peer.py
var peerScript string

// Run measures, and returns the figures that have a peer.
func Run(args []string) ([]meter.Row, error) {
	flags := flag.NewFlagSet("hooks", flag.ContinueOnError)
	rounds := flags.Int("rounds", 15, "how often each program is run")
	only := flags.String("only", "", "taps, probes, jax or scale: measure that alone")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	debug.SetGCPercent(400) // like the command line
	return run(context.Background(), os.Stdout, *rounds, *only)
}

// tapProgram is a program with a hook on a value of 64 MiB: HOOK marks the place of the hook, USE the value after the
// hook.
type tapProgram struct {
	short, name string
	text        string
	args        func() []*tensor.Tensor
}

// The programs differ in XLA's treatment of the value if no hook observes it.
var programs = []tapProgram{
	// XLA computes value and result in one loop, and writes only the result.
	{"elementwise", "y = sine(x), z = y + y: the value before z is in no memory", `func.func public @main(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %v = stablehlo.sine %x : tensor<16777216xf32>
  HOOK
  %z = stablehlo.add USE, USE : tensor<16777216xf32>
  return %z : tensor<16777216xf32>
}
`, func() []*tensor.Tensor {
		x := tensor.New(tensor.F32, tensor.Shape{16777216})
		for i := range tensor.View[float32](x) {
			tensor.View[float32](x)[i] = float32(i%1000) / 1000
		}
		return []*tensor.Tensor{x}
	}},
	// The argument and the result are scalars: only the computation is timed.
	{"sum", "sum of squares of a sine: the value before the squares is in no memory", `func.func public @main(%s: tensor<f32>) -> tensor<f32> {
  %i = stablehlo.iota dim = 0 : tensor<16777216xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16777216xf32>
  %x = stablehlo.multiply %i, %b : tensor<16777216xf32>
  %v = stablehlo.sine %x : tensor<16777216xf32>
  HOOK
  %sq = stablehlo.multiply USE, USE : tensor<16777216xf32>
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %r = stablehlo.reduce(%sq init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16777216xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
`, scalar},
	{"mean", "a sine less its mean, summed: the program keeps the value", `func.func public @main(%s: tensor<f32>) -> tensor<f32> {
  %i = stablehlo.iota dim = 0 : tensor<16777216xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16777216xf32>
  %x = stablehlo.multiply %i, %b : tensor<16777216xf32>
  %v = stablehlo.sine %x : tensor<16777216xf32>
  HOOK
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %sum = stablehlo.reduce(USE init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16777216xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<16777216.0> : tensor<f32>
  %mean = stablehlo.divide %sum, %n : tensor<f32>
  %m = stablehlo.broadcast_in_dim %mean, dims = [] : (tensor<f32>) -> tensor<16777216xf32>
  %d = stablehlo.subtract USE, %m : tensor<16777216xf32>
  %sq = stablehlo.multiply %d, %d : tensor<16777216xf32>
  %r = stablehlo.reduce(%sq init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16777216xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
`, scalar},
}

func scalar() []*tensor.Tensor {
	s := tensor.New(tensor.F32, nil)
	tensor.View[float32](s)[0] = 1e-7
	return []*tensor.Tensor{s}
}

// form is one way to observe %v.
type form struct {
	name    string
	text    string
	use     string // the value that the rest of the program uses
	rewrite bool
}

var forms = []form{
	// A barrier is the minimum cost of a hook. XLA removes it if it has no effect.
	{name: "optimization barrier", text: `%w = stablehlo.optimization_barrier %v : tensor<16777216xf32>`, use: "%w"},
	{name: "no hook", use: "%v"},
	// A bare tap returns only its chain: XLA then computes the value twice, for the host and for the program.
	{name: "bare tap", text: `%c = stablehlo.constant dense<0> : tensor<ui64>
  %t = stablehlo.custom_call @hlocb_hook(%c, %v) {api_version = 4 : i32, has_side_effect = true,
    backend_config = {abi = 1 : i64, chained = true, id = 1 : i64, kind = "tap", name = "v"},
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}
    : (tensor<ui64>, tensor<16777216xf32>) -> tensor<ui64>`, use: "%v"},
	// This is the form that a producer writes.
	{name: "rewritten tap", text: `stablehlo.custom_call @xla_ffi_python_cpu_callback(%v) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<16777216xf32>) -> ()`, use: "%v", rewrite: true},
	// A hook that may write its operand in place.
	{name: "rewritten inout", text: `%w = stablehlo.custom_call @host(%v) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "v"},
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}
    : (tensor<16777216xf32>) -> tensor<16777216xf32>`, use: "%w", rewrite: true},
}

// contestant is a compiled program and its times.
type contestant struct {
	name  string
	exe   runtime.Executable
	args  []*tensor.Tensor
	calls int
	best  time.Duration
	cpu   time.Duration // the shortest processor time of a run, on all cores
	ratio []float64     // of each round, relative to the first contestant
}

func run(ctx context.Context, w io.Writer, rounds int, only string) (rows []meter.Row, err error) {
	if only == "" || only == "scale" {
		if err := scale(ctx, w); err != nil {
			return nil, err
		}
	}
	if only == "scale" {
		return nil, nil
	}
	b, err := backends.Open(ctx, "cpu", hlocb.DefaultBackends())
	if errors.As(err, new(*plugins.NotFoundError)) || err != nil && strings.Contains(err.Error(), "needs cgo") {
		fmt.Fprintln(w, "skipped:", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if !slices.Contains(os.Environ(), tunables) {
		fmt.Fprintln(w, b.Describe())
	}
	for _, part := range []struct {
		name    string
		measure func() ([]meter.Row, error)
	}{
		{"probes", func() ([]meter.Row, error) { return probes(ctx, w, b, rounds) }},
		{"taps", func() ([]meter.Row, error) { return tapForms(ctx, w, b, rounds) }},
		{"taps", func() ([]meter.Row, error) { return nil, hugePages(ctx, w, rounds) }},
		{"jax", func() ([]meter.Row, error) { return besideJAX(ctx, w, b, rounds) }},
	} {
		if only != "" && only != part.name {
			continue
		}
		more, err := part.measure()
		if rows = append(rows, more...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// tapForms compares the forms of one tap in each program.
func tapForms(ctx context.Context, w io.Writer, b runtime.Backend, rounds int) (rows []meter.Row, err error) {
	fmt.Fprintf(w, "\na hook of 64 MiB inside a fusion, %d rounds in turn; time and processor time are the least, the median is of the ratios within a round:\n", rounds)
	for _, p := range programs {
		row, err := p.race(ctx, w, b, rounds)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (p *tapProgram) race(ctx context.Context, w io.Writer, b runtime.Backend, rounds int) (row meter.Row, err error) {
	args := p.args()
	var list []*contestant
	for _, f := range forms {
		c := &contestant{name: f.name, args: args}
		if err := c.compile(ctx, b, strings.NewReplacer("HOOK", f.text, "USE", f.use).Replace(p.text), f.rewrite); err != nil {
			return row, fmt.Errorf("%s: %w", f.name, err)
		}
		defer c.exe.Close()
		list = append(list, c)
	}
	if err := race(ctx, list, rounds); err != nil {
		return row, err
	}
	base, tap := list[0], list[3]
	fmt.Fprintf(w, "  %s\n  %-22s %11s  %7s  %14s  %7s  %7s\n", p.name, "", "time", "ratio", "processor time", "ratio", "median")
	for _, c := range list {
		slices.Sort(c.ratio)
		fmt.Fprintf(w, "  %-22s %8.1f ms  %7.2f  %11.1f ms  %7.2f  %7.2f  %d calls\n", c.name, ms(c.best), float64(c.best)/float64(base.best),
			ms(c.cpu), float64(c.cpu)/float64(base.cpu), c.ratio[len(c.ratio)/2], c.calls)
	}
	return meter.Row{Name: "a tap beside a barrier, processor time: " + p.short, Ours: tap.cpu.Seconds(), Peer: base.cpu.Seconds(), AtMost: 1.1}, nil
}

// tunables asks glibc's malloc for huge pages.
const tunables = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"

// hugePages compares the forms of one tap again in a process that uses huge pages. XLA requests memory of this size
// from the system at each run, and the first access to small pages costs as much as the computation.
func hugePages(ctx context.Context, w io.Writer, rounds int) error {
	if goruntime.GOOS != "linux" || slices.Contains(os.Environ(), tunables) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nwith %s:", tunables)
	cmd := exec.CommandContext(ctx, self, "hooks", "-only", "taps", "-rounds", fmt.Sprint(rounds))
	cmd.Env = append(os.Environ(), tunables)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	return cmd.Run()
}

// besideJAX runs JAX's programs in JAX and, rewritten, in hlocb.
func besideJAX(ctx context.Context, w io.Writer, b runtime.Backend, rounds int) (rows []meter.Row, err error) {
	python := peer.Find()
	if python == "" {
		fmt.Fprintln(w, "skipped: jax is not installed")
		return nil, nil
	}
	type program struct {
		Seconds, Processor float64
		Text               string
	}
	type answer struct {
		Version      string
		Calls        int
		Tapped, Loop program
	}
	peerRuns := func() (out answer, err error) {
		cmd := exec.CommandContext(ctx, python, "-c", peerScript, fmt.Sprint(rounds))
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(text, &out)
		}
		if err == nil && out.Calls == 0 {
			err = errors.New("no callback arrived")
		}
		if err != nil {
			return out, fmt.Errorf("jax: %w", err)
		}
		return out, nil
	}
	// Alternate between the two, because the load of the machine varies.
	const turns = 3
	var jax answer
	names := []string{"64 MiB once", "16 bytes, loop of 1000"}
	var rewritten []*contestant
	for turn := range turns {
		now, err := peerRuns()
		if err != nil {
			return nil, err
		}
		if turn == 0 {
			jax = now
			for i, p := range []program{now.Tapped, now.Loop} {
				c := &contestant{name: names[i]}
				if err := c.compile(ctx, b, p.Text, true); err != nil {
					return nil, fmt.Errorf("%s: %w", c.name, err)
				}
				defer c.exe.Close()
				tensor.View[float32](c.args[0])[0] = 0.001 // like peer.py
				rewritten = append(rewritten, c)
			}
		}
		for _, p := range [][2]*program{{&jax.Tapped, &now.Tapped}, {&jax.Loop, &now.Loop}} {
			p[0].Seconds, p[0].Processor = min(p[0].Seconds, p[1].Seconds), min(p[0].Processor, p[1].Processor)
		}
		if err := race(ctx, rewritten, rounds); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(w, "\ndebug.callback in JAX %s and rewritten, best of %d; in brackets the least processor time:\n", jax.Version, turns*rounds)
	for i, p := range []program{jax.Tapped, jax.Loop} {
		c := rewritten[i]
		if c.calls == 0 {
			return rows, fmt.Errorf("%s: no callback arrived", c.name)
		}
		rows = append(rows, meter.Row{Name: "debug.callback, " + c.name, Ours: c.best.Seconds(), Peer: p.Seconds})
		fmt.Fprintf(w, "  %-22s JAX %9.2f ms (%9.2f)  hlocb %9.2f ms (%9.2f)  %6.1f times as fast (%.1f)\n", c.name, p.Seconds*1e3, p.Processor*1e3, ms(c.best), ms(c.cpu),
			p.Seconds/c.best.Seconds(), p.Processor/c.cpu.Seconds())
	}
	return rows, nil
}

// compile compiles c's program, and rewrites it first if rewrite is set.
func (c *contestant) compile(ctx context.Context, b runtime.Backend, text string, rewrite bool) error {
	opts := []hlocb.LoadOption{hlocb.HookTargets("host")}
	if !rewrite {
		opts = append(opts, hlocb.AsWritten())
	}
	p, err := hlocb.Parse(ctx, c.name, []byte(text), opts...)
	if err != nil {
		return err
	}
	exe, err := p.Compile(ctx, hlocb.OnBackend(b), hlocb.Observe("*", runtime.HandlerFunc(func(context.Context, *runtime.Call) error {
		c.calls++
		return nil
	})))
	if err != nil {
		return err
	}
	c.exe = exe.Runtime()
	if c.args == nil {
		c.args = scalar()
	}
	return nil
}

// race runs the programs in turn. Each round starts with another program, so the load of the machine affects all
// equally.
func race(ctx context.Context, list []*contestant, rounds int) error {
	took := make([]time.Duration, len(list))
	for round := range rounds + 1 {
		for k := range list {
			i := (round + k) % len(list)
			c := list[i]
			cpu, start := meter.ProcessorTime(), time.Now()
			if _, err := c.exe.Run(ctx, c.args); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took[i], cpu = time.Since(start), meter.ProcessorTime()-cpu
			if round == 0 { // warms up
				continue
			}
			if c.best == 0 || took[i] < c.best {
				c.best = took[i]
			}
			if c.cpu == 0 || cpu < c.cpu {
				c.cpu = cpu
			}
		}
		if round > 0 {
			for i, c := range list {
				c.ratio = append(c.ratio, float64(took[i])/float64(took[0]))
			}
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
