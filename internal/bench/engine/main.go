// Package engine compares the speed of the embedded engine, of XLA's CPU backend and, for a few programs, of
// StableHLO's reference interpreter (the latter two from jaxlib), on one machine in one run: 'make bench-engine'. It
// times every op that computes, and the programs of testdata/programs. Engine and XLA run in turn, several times.
package engine

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/bench/meter"
	peers "github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// options are the command's flags.
type options struct {
	only   *regexp.Regexp
	rounds int
	slice  time.Duration
	cpu    bool
}

// Run measures, and returns the figures of whole programs.
func Run(args []string) ([]meter.Row, error) {
	w := os.Stdout
	flags := flag.NewFlagSet("engine", flag.ContinueOnError)
	only := flags.String("only", "", "time only the programs whose name matches this pattern")
	rounds := flags.Int("rounds", 3, "turns of each engine")
	slice := flags.Duration("slice", 60*time.Millisecond, "length of a turn")
	cpu := flags.Bool("cpu", false, "compare processor time instead of elapsed time: for a machine that others use")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return nil, err
	}
	o := options{pattern, *rounds, *slice, *cpu}
	python := peers.Find()
	if python == "" {
		return nil, fmt.Errorf("jaxlib is not installed: 'make jaxlib'")
	}
	p, err := startPeer(python)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(w, interp.New(interp.Options{}).Describe())
	if _, err := compare(w, p, o, programs(rows())); err != nil {
		return nil, err
	}
	whole, err := files()
	if err != nil {
		return nil, err
	}
	all, err := compare(w, p, o, whole)
	if err != nil {
		return nil, err
	}
	return all, p.close()
}

// files returns the programs of testdata/programs and the transformer step.
func files() ([]benchProgram, error) {
	names, err := filepath.Glob(filepath.Join("testdata", "programs", "*.mlir"))
	if err != nil {
		return nil, err
	}
	var out []benchProgram
	for _, f := range append(names, filepath.Join("testdata", "transformer_grad.mlir")) {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		out = append(out, benchProgram{name: strings.TrimSuffix(filepath.Base(f), ".mlir"), text: string(text), fill: "signed"})
	}
	return out, nil
}

// compare times programs on the engine and XLA. It writes a table, the geometric mean of the ratios, and the worst
// ratio.
func compare(w io.Writer, p *peer, o options, list []benchProgram) (all []meter.Row, err error) {
	fmt.Fprintf(w, "\n%-36s %12s %12s %12s %12s %7s %12s\n", "program", "compile", "engine", "XLA compile", "XLA", "ratio", "reference")
	whole := 0.0 // sum of logarithms of the ratios of compilation and one run together
	for _, b := range list {
		if !o.only.MatchString(b.name) {
			continue
		}
		exe, host, compile, err := load(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		peer, err := p.load(b.text, host)
		if err != nil {
			fmt.Fprintf(w, "%-36s XLA: %v\n", b.name, err)
			exe.Close()
			continue
		}
		args, err := upload(exe, host)
		if err != nil {
			return nil, err
		}
		own, other := math.Inf(1), math.Inf(1)
		for range o.rounds {
			t, err := timeEngine(exe, args, o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.name, err)
			}
			own = min(own, t)
			r, err := p.ask(map[string]any{"time": o.slice.Seconds()})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.name, err)
			}
			if o.cpu {
				r.Seconds = r.CPU
			}
			other = min(other, r.Seconds)
		}
		line := fmt.Sprintf("%-36s %12s %12s %12s %12s %7.2f", b.name, seconds(compile), seconds(own), seconds(peer.Seconds), seconds(other), own/other)
		if b.reference {
			if r, err := p.ask(map[string]any{"reference": b.text}); err == nil {
				line += fmt.Sprintf(" %12s", seconds(r.Seconds))
			}
		}
		if b.name == "transformer_grad" {
			line += memory(p, exe, args, peer.Bytes)
		}
		fmt.Fprintln(w, line)
		all = append(all, meter.Row{Name: b.name, Ours: own, Peer: other})
		whole += math.Log((compile + own) / (peer.Seconds + other))
		exe.Close()
	}
	if len(all) == 0 {
		return nil, nil
	}
	sum := 0.0
	for _, m := range all {
		sum += math.Log(m.Ratio())
	}
	n := float64(len(all))
	fmt.Fprintf(w, "geometric mean of engine over XLA, %d programs: %.2f; of compilation and one run: %.3f\n", len(all), math.Exp(sum/n), math.Exp(whole/n))
	worst := slices.SortedFunc(slices.Values(all), func(a, b meter.Row) int { return cmp.Compare(b.Ratio(), a.Ratio()) })
	for _, m := range worst[:min(len(worst), 12)] {
		fmt.Fprintf(w, "  %6.2f %s\n", m.Ratio(), m.Name)
	}
	return all, nil
}

// upload returns the arguments as device buffers.
func upload(exe runtime.Executable, host []*tensor.Tensor) ([]runtime.Memory, error) {
	var args []runtime.Memory
	for _, t := range host {
		m, err := exe.Signature().Backend.Upload(context.Background(), t, runtime.Placement{})
		if err != nil {
			return nil, err
		}
		args = append(args, m)
	}
	return args, nil
}

// once runs the program and drops its results, like the process of jaxlib.
func once(exe runtime.Executable, args []runtime.Memory) error {
	out, err := exe.RunMemory(context.Background(), args, make([]bool, len(args)))
	for _, m := range out {
		m.Release()
	}
	return err
}

func seconds(s float64) string { return time.Duration(s * 1e9).Round(100 * time.Nanosecond).String() }

// timeEngine returns the seconds of the shortest run in a turn, or the processor seconds per run.
func timeEngine(exe runtime.Executable, args []runtime.Memory, o options) (float64, error) {
	best, n, start, used := math.Inf(1), 0, time.Now(), meter.ProcessorTime()
	for n == 0 || time.Since(start) < o.slice {
		t := time.Now()
		if err := once(exe, args); err != nil {
			return 0, err
		}
		best = min(best, time.Since(t).Seconds())
		n++
	}
	if o.cpu {
		return (meter.ProcessorTime() - used).Seconds() / float64(n), nil
	}
	return best, nil
}

// memory compares the peak growth of resident memory over five runs, and XLA's own count of its temporaries.
func memory(p *peer, exe runtime.Executable, args []runtime.Memory, assigned int64) string {
	other, err := p.ask(map[string]any{"memory": true})
	if err != nil {
		return ""
	}
	debug.FreeOSMemory()
	base, err := meter.Memory("VmRSS")
	if err != nil || os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return ""
	}
	for range 5 {
		if err := once(exe, args); err != nil {
			return ""
		}
	}
	peak, err := meter.Memory("VmHWM")
	if err != nil {
		return ""
	}
	const mib = 1 << 20
	return fmt.Sprintf("\n  memory grows by %d MiB, XLA's by %d MiB; XLA assigns %d MiB", (peak-base)/mib, other.Bytes/mib, assigned/mib)
}

// load compiles a module and makes its arguments. compile is the time from text to executable, in seconds.
func load(b benchProgram) (exe runtime.Executable, args []*tensor.Tensor, compile float64, err error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, nil, 0, err
	}
	start := time.Now()
	m, err := parse.Parse(diag.NewSource("bench", []byte(b.text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		return nil, nil, 0, err
	}
	exe, err = interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		return nil, nil, 0, err
	}
	compile = time.Since(start).Seconds()
	args, err = arguments(m, strings.Fields(b.fill))
	return exe, args, compile, err
}
