package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/ir"
)

// hloResult is the best of several rounds over one module of HLO, and the peak memory of the process.
type hloResult struct {
	read, verify, print, decode, encode time.Duration // verify imports the module to StableHLO and verifies it
	peak                                int64
}

func (r *hloResult) best(s hloResult) {
	if r.peak == 0 {
		*r = s
		return
	}
	r.read, r.verify, r.print = min(r.read, s.read), min(r.verify, s.verify), min(r.print, s.print)
	r.decode, r.encode, r.peak = min(r.decode, s.decode), min(r.encode, s.encode), min(r.peak, s.peak)
}

// hloRows measures HLO text and protos: the transformer's gradient as jaxlib compiles it for the CPU, and long modules.
func hloRows(dir, python string, rounds, turns int, cpu bool) ([]string, error) {
	type module struct {
		name, base string
		count      int
	}
	var modules []module
	if python != "" {
		base := filepath.Join(dir, "transformer")
		if out, err := exec.Command(python, "-c", hloCompile, filepath.Join("testdata", "transformer_grad.mlir"), base).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("jaxlib compiles no module: %w: %s", err, out)
		}
		modules = append(modules, module{"compiled transformer_grad", base, 0})
	}
	for _, n := range []int{10000, 1000000} {
		base := filepath.Join(dir, "hlo"+strconv.Itoa(n))
		text := hloChain(n)
		if err := os.WriteFile(base+".hlo", text, 0o666); err != nil {
			return nil, err
		}
		m, err := hlo.Parse(diag.NewSource(base, text))
		if err != nil {
			return nil, err
		}
		data, err := m.AppendProto(nil)
		if err == nil {
			err = os.WriteFile(base+".pb", data, 0o666)
		}
		if err != nil {
			return nil, err
		}
		modules = append(modules, module{strconv.Itoa(n) + " instructions", base, n})
	}
	fmt.Printf("\n%-34s %9s  %-18s %-18s %-18s %-18s %-18s %s\n", "HLO", "bytes", "read ms (MB/s)", "and verify ms", "print ms (MB/s)", "proto read ms", "proto write ms", "peak MB")
	var goals []string
	var each, peer []float64 // ns per instruction
	for _, m := range modules {
		var hlocb, jaxlib hloResult
		n, turns := rounds, turns
		if m.count > 100000 {
			n, turns = 3, 1
		}
		for range turns {
			r, err := startHLO(exec.Command(os.Args[0], "-hlo", m.base, "-rounds", strconv.Itoa(n), "-cpu="+strconv.FormatBool(cpu)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			hlocb.best(r)
			if python == "" {
				continue
			}
			if r, err = startHLO(exec.Command(python, "-c", hloScript, m.base, strconv.Itoa(n), strconv.FormatBool(cpu))); err != nil {
				return nil, fmt.Errorf("%s: jaxlib: %w", m.name, err)
			}
			jaxlib.best(r)
		}
		info, err := os.Stat(m.base + ".hlo")
		if err != nil {
			return nil, err
		}
		hloRow("hlocb  "+m.name, info.Size(), hlocb)
		if python != "" {
			hloRow("jaxlib "+m.name, info.Size(), jaxlib)
		}
		if m.count > 0 {
			each = append(each, float64(hlocb.read.Nanoseconds())/float64(m.count))
			peer = append(peer, float64(jaxlib.read.Nanoseconds())/float64(m.count))
			continue
		}
		for _, g := range []struct {
			name          string
			jaxlib, hlocb time.Duration
			goal          int
		}{{"text read", jaxlib.read, hlocb.read, 6}, {"text print", jaxlib.print, hlocb.print, 2}, {"proto read", jaxlib.decode, hlocb.decode, 5}, {"proto write", jaxlib.encode, hlocb.encode, 2}} {
			goals = append(goals, fmt.Sprintf("%-44s %5.1f  goal >= %d", "HLO "+g.name, float64(g.jaxlib)/float64(g.hlocb), g.goal))
		}
	}
	line := fmt.Sprintf("%-44s %5.2f  goal <= 1.3 (%.0f and %.0f ns)", "HLO a million instructions, each, per 10000", each[1]/each[0], each[1], each[0])
	if python != "" {
		line += fmt.Sprintf("; jaxlib %.2f (%.0f and %.0f ns)", peer[1]/peer[0], peer[1], peer[0])
	}
	return append(goals, line), nil
}

func hloRow(name string, size int64, r hloResult) {
	cell := func(d time.Duration) string {
		return fmt.Sprintf("%.2f (%.0f)", float64(d.Microseconds())/1e3, float64(size)/d.Seconds()/1e6)
	}
	verify := ""
	if r.verify > 0 {
		verify = cell(r.read + r.verify)
	}
	fmt.Printf("%-34s %9d  %-18s %-18s %-18s %-18s %-18s %.0f\n", name, size, cell(r.read), verify, cell(r.print), cell(r.decode), cell(r.encode), float64(r.peak)/1e6)
}

// startHLO runs a process and reads the figures in its last line, in ns and bytes.
func startHLO(cmd *exec.Cmd) (hloResult, error) {
	var r hloResult
	err := scan(cmd, &r.read, &r.verify, &r.print, &r.decode, &r.encode, &r.peak)
	return r, err
}

// measureHLO reads and prints the module in base.hlo and base.pb and writes the figures. It imports and verifies the
// module once.
func measureHLO(base string, rounds int, cpu bool) error {
	clock := passed
	if cpu {
		clock = processorTime
	}
	heap.Tune() // like cmd/hlocb
	text, err := os.ReadFile(base + ".hlo")
	if err != nil {
		return err
	}
	data, err := os.ReadFile(base + ".pb")
	if err != nil {
		return err
	}
	heap.Reading(len(text))
	var r hloResult
	var last *hlo.Module
	for range rounds {
		runtime.GC()
		a := clock()
		m, err := hlo.Parse(diag.NewSource(base, text))
		if err != nil {
			return err
		}
		b := clock()
		m.AppendText(nil, hlo.TextOptions{})
		c := clock()
		runtime.GC()
		d := clock()
		p, err := hlo.ParseProto(diag.NewSource(base, data))
		if err != nil {
			return err
		}
		e := clock()
		if _, err := p.AppendProto(nil); err != nil {
			return err
		}
		f := clock()
		r.best(hloResult{read: b - a, print: c - b, decode: e - d, encode: f - e, peak: 1})
		last = m
	}
	r.peak = peak()
	reg, err := all.Registry()
	if err != nil {
		return err
	}
	begin := clock()
	// A compiled module may call targets that only the CPU plugin knows; the table then leaves out the time of
	// verification.
	if out, err := hlo.Import(last, ir.NewContext(), reg); err == nil {
		if err := ir.Verify(out); err != nil {
			return err
		}
		r.verify = clock() - begin
	}
	fmt.Println(r.read.Nanoseconds(), r.verify.Nanoseconds(), r.print.Nanoseconds(), r.decode.Nanoseconds(), r.encode.Nanoseconds(), r.peak)
	return nil
}

// hloCompile compiles a module for the CPU and writes it as text and as a proto.
const hloCompile = `
import sys
from jaxlib import _hlo, _jax
from jax.extend.backend import get_backend
b = get_backend("cpu")
m = b.compile_and_load(open(sys.argv[1]).read(), b.devices()[:1], _jax.CompileOptions()).hlo_modules()[0]
options = _hlo.HloPrintOptions()
options.print_large_constants = True
open(sys.argv[2] + ".hlo", "w").write(m.to_string(options))
open(sys.argv[2] + ".pb", "wb").write(m.as_serialized_hlo_module_proto())
`

// hloScript measures the same with XLA's reader and printer.
const hloScript = `
import gc, resource, sys, time
from jaxlib import _hlo
text, data = open(sys.argv[1] + ".hlo").read(), open(sys.argv[1] + ".pb", "rb").read()
options = _hlo.HloPrintOptions()
options.print_large_constants = True
best = [1 << 62] * 4
clock = time.process_time_ns if sys.argv[3] == "true" else time.perf_counter_ns
for _ in range(int(sys.argv[2])):
    a = clock()
    m = _hlo.hlo_module_from_text(text)
    b = clock()
    m.to_string(options)
    c = clock()
    p = _hlo.HloModule.from_serialized_hlo_module_proto(data)
    d = clock()
    p.as_serialized_hlo_module_proto()
    e = clock()
    best = [min(x, y) for x, y in zip(best, [b - a, c - b, d - c, e - d])]
    del m, p
    gc.collect()
print(best[0], 0, *best[1:], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
`

// hloChain returns a module of n instructions. Each uses the previous one and an earlier one.
func hloChain(n int) []byte {
	var b bytes.Buffer
	b.WriteString("HloModule m\n\nENTRY %main (v.0: f32[4,8]) -> f32[4,8] {\n  %v.0 = f32[4,8]{1,0} parameter(0)\n")
	for i := 1; i < n; i++ {
		root := ""
		if i == n-1 {
			root = "ROOT "
		}
		fmt.Fprintf(&b, "  %s%%v.%d = f32[4,8]{1,0} add(%%v.%d, %%v.%d)\n", root, i, i-1, i/2)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
