// Package passes compares how fast hlocb and MLIR (through jaxlib) run the same pipelines on the same modules, with the
// verifier on in both: the best elapsed and processor time of several rounds, and the number of remaining ops. It runs
// in the root of the repository. Reading and verifying the module is not part of the time. Without jaxlib the table
// holds hlocb's figures alone. The goal concerns the processor time, which depends little on other work on the machine;
// hlocb uses several processors, jaxlib one, so the elapsed times differ more on an idle machine. hlocb must leave at
// most as many ops as jaxlib.
package passes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// pipelines are the pipelines to measure, in the text form that both read.
var pipelines = []string{
	"canonicalize,cse,symbol-dce",
	"inline,func.func(chlo-legalize-to-stablehlo),stablehlo-refine-shapes",
	"canonicalize,func.func(chlo-legalize-to-stablehlo),stablehlo-refine-shapes",
}

// inlineOnly inlines what inline inlines, and simplifies nothing.
const inlineOnly = "inline{default-pipeline=}"

// peerModule returns the module on which jaxlib runs a pipeline. jaxlib registers no inliner for func.call: its inline
// only canonicalizes. It therefore gets the module in which hlocb has inlined the same functions and done nothing else.
// hlocb's time has the inlining, jaxlib's has not.
func peerModule(text []byte, pipeline string, table *pass.Table) ([]byte, error) {
	if !strings.HasPrefix(pipeline, "inline,") {
		return text, nil
	}
	m, err := read(text)
	if err != nil {
		return nil, err
	}
	p, err := pass.Parse(inlineOnly, table)
	if err == nil {
		err = (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), p)
	}
	return []byte(print.String(m, print.Options{})), err
}

// Run measures, and returns the figures that have a peer.
func Run(args []string) ([]meter.Row, error) {
	flags := flag.NewFlagSet("passes", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "how often each pipeline runs")
	copies := flags.Int("copies", 50, "size of the second module, in copies of the first")
	large := flags.Int("large", 0, "run hlocb alone on this many copies, too: 270 are 1.2 million ops")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return run(*rounds, *copies, *large)
}

func run(rounds, copies, large int) (rows []meter.Row, err error) {
	one, err := os.ReadFile(filepath.Join("testdata", "transformer_grad.mlir"))
	if err != nil {
		return nil, err
	}
	table := passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 30)})
	sizes := []int{1, copies}
	if large > 0 {
		sizes = append(sizes, large)
	}
	fmt.Printf("%-70s %6s %10s %10s %7s %10s %10s %7s %9s %9s\n", "pipeline", "copies", "hlocb", "MLIR", "times", "processors", "MLIR", "times", "ops left", "MLIR's")
	for _, text := range pipelines {
		p, err := pass.Parse(text, table)
		if err != nil {
			fmt.Printf("%-70s %v\n", text, err)
			continue
		}
		perOp := 0.0
		for _, n := range sizes {
			module, err := repeatModule(one, n)
			if err != nil {
				return rows, err
			}
			often := rounds
			if n == 1 {
				often *= 20 // a round takes a millisecond
			}
			ours, left, ops, err := measure(module, p, often)
			if err != nil {
				return rows, err
			}
			given, err := peerModule(module, text, table)
			if err != nil {
				return rows, err
			}
			theirs, theirLeft, ok := mlir(given, text, often, n == large)
			row := fmt.Sprintf("%-70s %6d", text, n)
			for i := range ours {
				row += fmt.Sprintf(" %7.2f ms", ms(ours[i]))
				if ok {
					row += fmt.Sprintf(" %7.2f ms %7.1f", ms(theirs[i]), float64(theirs[i])/float64(ours[i]))
				} else {
					row += fmt.Sprintf(" %10s %7s", "", "")
				}
			}
			row += fmt.Sprintf(" %9d", left)
			if ok {
				row += fmt.Sprintf(" %9d", theirLeft)
				rows = append(rows, meter.Row{Name: fmt.Sprintf("%s, copies: %d", text, n), Ours: ours[1].Seconds(), Peer: theirs[1].Seconds(), AtLeast: 8})
				if left > theirLeft {
					return rows, fmt.Errorf("%s, copies: %d: hlocb leaves %d ops, MLIR %d", text, n, left, theirLeft)
				}
			}
			fmt.Println(row)
			if n == 1 {
				perOp = float64(ours[1]) / float64(ops)
			} else {
				fmt.Printf("%-70s processors' time per op of %d ops, beside one copy: %.2f\n", "", ops, float64(ours[1])/float64(ops)/perOp)
			}
		}
	}
	return rows, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

var symbol = regexp.MustCompile(`@[A-Za-z_][A-Za-z0-9_]*`)

// repeatModule returns a module with n private copies of each function of a module, and a function main that calls each
// copy of its main with arguments of its own.
func repeatModule(text []byte, n int) ([]byte, error) {
	if n == 1 {
		return text, nil
	}
	m, err := read(text)
	if err != nil {
		return nil, err
	}
	main, ok := fn.Lookup(m, "main")
	if !ok {
		return nil, errors.New("the module has no function main")
	}
	signature := main.Attr(fn.AttrFunctionType).(*ir.TypeAttr).Type().(*ir.FunctionType)
	start := bytes.IndexByte(text, '\n') + 1 // after the module's line
	end := bytes.LastIndexByte(text, '}')
	body := bytes.Replace(text[start:end], []byte("func.func public @main("), []byte("func.func private @main("), 1)
	var copies, calls bytes.Buffer
	var params, results, types []string
	for i := range n {
		suffix := fmt.Appendf(nil, "_copy%d", i)
		copies.Write(symbol.ReplaceAllFunc(body, func(s []byte) []byte { return slices.Concat(s, suffix) }))
		var args []string
		for j, t := range signature.Inputs() {
			args = append(args, fmt.Sprintf("%%a%d_%d", i, j))
			params = append(params, fmt.Sprintf("%s: %s", args[j], t))
		}
		outputs := signature.Results()
		for j, t := range outputs {
			results = append(results, fmt.Sprintf("%%r%d#%d", i, j))
			types = append(types, t.String())
		}
		fmt.Fprintf(&calls, "%%r%d:%d = call @main%s(%s) : %s\n", i, len(outputs), suffix, strings.Join(args, ", "), signature)
	}
	list := strings.Join(types, ", ")
	return slices.Concat(text[:start], fmt.Appendf(nil, "func.func public @main(%s) -> (%s) {\n%sreturn %s : %s\n}\n",
		strings.Join(params, ", "), list, calls.Bytes(), strings.Join(results, ", "), list), copies.Bytes(), text[end:]), nil
}

func read(text []byte) (*ir.Module, error) {
	registry, err := all.Registry()
	if err != nil {
		return nil, err
	}
	return parse.Parse(diag.NewSource("bench.mlir", text), ir.NewContext(registry), parse.Options{})
}

// times are the elapsed time and the time of all processors together.
type times [2]time.Duration

// now returns the time since start and the processor time of this process.
func now(start time.Time) times { return times{time.Since(start), meter.ProcessorTime()} }

// measure returns the best times of a pipeline, the number of remaining ops, and the number of ops at the start.
func measure(text []byte, p pass.Pipeline, rounds int) (best times, left, ops int, err error) {
	count := func(m *ir.Module) (n int) {
		m.Walk(func(*ir.Op) bool { n++; return true })
		return n
	}
	original, err := read(text)
	if err == nil {
		err = ir.Verify(original)
	}
	if err != nil {
		return best, 0, 0, err
	}
	ops = count(original)
	start := time.Now()
	for i := range rounds {
		m := original.Clone()
		goruntime.GC()
		before := now(start)
		if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), p); err != nil {
			return best, 0, 0, err
		}
		after := now(start)
		for k := range best {
			if took := after[k] - before[k]; i == 0 || took < best[k] {
				best[k] = took
			}
		}
		left = count(m)
	}
	return best, left, ops, nil
}

// script measures a pipeline of MLIR. It reads the module from the file argv[1] and prints the elapsed seconds, the
// processor seconds, and the number of remaining ops.
const script = `
import json, sys, time
from jaxlib.mlir import ir, passmanager
from jax._src.interpreters import mlir as jm
from jaxlib.mlir._mlir_libs import _stablehlo
_stablehlo.register_stablehlo_passes()
text, best = open(sys.argv[1]).read(), [float("inf")] * 2
def count(op):
    return sum(1 + count(o) for r in op.regions for b in r for o in b.operations)
with jm.make_ir_context():
    for i in range(int(sys.argv[3])):
        m = ir.Module.parse(text)
        pm = passmanager.PassManager.parse("builtin.module(" + sys.argv[2] + ")")
        t, p = time.perf_counter(), time.process_time()
        pm.run(m.operation)
        best = [min(best[0], time.perf_counter() - t), min(best[1], time.process_time() - p)]
    n = count(m.operation)
print(json.dumps([*best, n]))
`

// mlir returns MLIR's best times and the number of remaining ops. ok is false without jaxlib, or if skip is set.
func mlir(text []byte, pipeline string, rounds int, skip bool) (best times, left int, ok bool) {
	python := peer.Find()
	if python == "" || skip {
		return best, 0, false
	}
	file, err := os.CreateTemp("", "hlocb-bench-*.mlir")
	if err != nil {
		return best, 0, false
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if closed := file.Close(); err != nil || closed != nil {
		return best, 0, false
	}
	out, err := exec.Command(python, "-c", script, file.Name(), pipeline, strconv.Itoa(rounds)).Output()
	var result [3]float64
	if err != nil || json.Unmarshal(out, &result) != nil {
		return best, 0, false
	}
	for k := range best {
		best[k] = time.Duration(result[k] * float64(time.Second))
	}
	return best, int(result[2]), true
}
