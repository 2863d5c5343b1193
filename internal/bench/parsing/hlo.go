package parsing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
)

// hloRows measures HLO text and protos: the transformer's gradient as jaxlib compiles it for the CPU, and long modules.
func hloRows(dir, python string, o options) ([]meter.Row, error) {
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
	fmt.Println()
	line("HLO", "bytes", []string{"read ms (MB/s)", "and verify ms", "print ms (MB/s)", "proto read ms", "proto write ms"}, "peak MB")
	var goals []meter.Row
	var each, peer []float64                  // ns per instruction
	var read, imported, written time.Duration // of the last module; read includes the import and its verification
	for _, m := range modules {
		o := o
		if m.count > 100000 {
			o.rounds, o.turns = 3, 1
		}
		hlocb, jaxlib, err := o.sides(m.base, "-hlo", python, hloScript)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		info, err := os.Stat(m.base + ".hlo")
		if err != nil {
			return nil, err
		}
		read, imported, written = hlocb.times[1], hlocb.times[5], hlocb.times[6]
		hlocb.times = hlocb.times[:5]
		rows(m.name, info.Size(), hlocb, jaxlib)
		if m.count == 0 {
			for _, g := range []struct {
				name   string
				column int
				goal   float64
			}{{"text read", 0, 6}, {"text print", 2, 2}, {"proto read", 3, 5}, {"proto write", 4, 2}} {
				goals = append(goals, faster("HLO "+g.name, jaxlib.times[g.column], hlocb.times[g.column], g.goal))
			}
			continue
		}
		each = append(each, float64(hlocb.times[0].Nanoseconds())/float64(m.count))
		if python != "" {
			peer = append(peer, float64(jaxlib.times[0].Nanoseconds())/float64(m.count))
		}
	}
	if python != "" {
		fmt.Printf("jaxlib takes %.2f times as long per instruction of a million as of 10000 (%.0f and %.0f ns)\n", peer[1]/peer[0], peer[1], peer[0])
	}
	last := modules[len(modules)-1]
	// hlocb took 3.2 µs to import and to verify an instruction of a million before it had this goal.
	goals = append(goals, meter.Row{Name: "HLO import and verify, each of a million", Ours: imported.Seconds() / float64(last.count), Peer: 3.2e-6, AtMost: 0.5},
		meter.Row{Name: "HLO write after rewrite, per read", Ours: written.Seconds(), Peer: read.Seconds(), AtMost: 1})
	return append(goals, growth("HLO a million instructions, each, per 10000", each[0], each[1])), nil
}

// measureHLO reads and prints the module in base.hlo and base.pb and writes the figures. It imports and verifies the
// module once.
func measureHLO(base string, o options) error {
	clock := o.clock()
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
	var best figures
	var last *hlo.Module
	for range o.rounds {
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
		best.best(figures{times: []time.Duration{b - a, 0, c - b, e - d, clock() - e, 0, 0}})
		last = m
	}
	reg, err := all.Registry()
	if err != nil {
		return err
	}
	for range o.rounds {
		runtime.GC()
		begin := clock()
		// A compiled module may call targets that only the CPU plugin knows; the table then leaves out the time of
		// verification.
		out, err := hlo.Import(last, ir.NewContext(reg))
		if err != nil {
			break
		}
		if err := ir.Verify(out); err != nil {
			return err
		}
		imported := clock() - begin
		written, err := rewritten(out, clock)
		if err != nil {
			return err
		}
		best.best(figures{times: []time.Duration{0, best.times[0] + imported, 0, 0, 0, imported, written}})
	}
	best.report()
	return nil
}

// rewritten makes a tap of an op in the middle of main, as 'hlocb tap' does, and returns the time in which the changed
// module is written as HLO.
func rewritten(m *ir.Module, clock func() time.Duration) (time.Duration, error) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return 0, errors.New("no function main")
	}
	n := 0
	for range f.Body().Ops() {
		n++
	}
	for op := range f.Body().Ops() {
		if n -= 2; n > 0 || op.NumResults() == 0 {
			continue
		}
		v := op.Result(0)
		m.After(op).Create(stablehlo.CustomCall, []*ir.Value{v}, nil, ir.NamedAttr{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString("tap")},
			ir.NamedAttr{Name: stablehlo.AttrHasSideEffect, Attr: m.Context().Bool(true)},
			ir.NamedAttr{Name: stablehlo.AttrBackendConfig, Attr: ir.NewDict(nil)},
			ir.NamedAttr{Name: stablehlo.AttrAPIVersion, Attr: ir.NewInteger(4, ir.Int(32))})
		break
	}
	p, err := pass.Parse("rewrite-hooks{targets=tap}", opt.Passes())
	if err == nil {
		err = (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), p)
	}
	if err != nil {
		return 0, err
	}
	runtime.GC()
	begin := clock()
	h, err := hlo.Update(m) // without the proof of the order, which reads the HLO again
	if err == nil {
		err = h.WriteText(io.Discard, hlo.TextOptions{})
	}
	return clock() - begin, err
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
