// Command parsing compares how fast hlocb and MLIR (through jaxlib) read and print the same modules, in one table: best
// time of several rounds, speed per byte of text, and peak memory. Each side measures each module in a process of its
// own, in turns. Without jaxlib the table holds hlocb's figures alone. It runs in the root of the repository.
//
// MLIR's parse also verifies the module. The table therefore shows hlocb's time for parsing and verifying, and its
// time for parsing alone. The lines after the table list the ratios that have a goal.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

func main() {
	corpus := flag.String("corpus", filepath.Join("..", "shared", "corpus"), "`directory` with stablehlo.tar.xz, StableHLO's test files")
	rounds := flag.Int("rounds", 9, "how often each module is read and printed")
	turns := flag.Int("turns", 3, "how often each process is started; the best figures count")
	cpu := flag.Bool("cpu", false, "measure processor time, of all threads, instead of the time that passes: for machines that are busy with other work")
	one := flag.String("one", "", "measure the modules listed in this file and exit (used by the command itself)")
	oneHLO := flag.String("hlo", "", "measure the module of HLO in this file, without its suffix, and exit (used by the command itself)")
	oneBytecode := flag.String("bytecode", "", "measure the module of bytecode in this file, without its suffix, and exit (used by the command itself)")
	only := flag.String("only", "", "measure hlo or bytecode alone")
	flag.Parse()
	err := error(nil)
	switch {
	case *oneHLO != "":
		err = measureHLO(*oneHLO, *rounds, *cpu)
	case *oneBytecode != "":
		err = measureBytecode(*oneBytecode, *rounds, *cpu)
	default:
		err = run(*corpus, *rounds, *turns, *cpu, *only, *one)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// result is the best of several rounds, and the peak memory of the process.
type result struct {
	parse, verify, print, generic time.Duration // parse includes verify, as in MLIR
	peak                          int64         // bytes
}

func (r *result) best(s result) {
	if r.peak == 0 {
		*r = s
		return
	}
	if s.parse < r.parse {
		r.parse, r.verify = s.parse, s.verify
	}
	r.print, r.generic = min(r.print, s.print), min(r.generic, s.generic)
	r.peak = min(r.peak, s.peak)
}

// bench is one row of the table: some files, measured together.
type bench struct {
	name  string
	files []string
	size  int64
}

func run(corpus string, rounds, turns int, cpu bool, only, one string) error {
	if one != "" {
		return measure(one, rounds, cpu)
	}
	dir, err := os.MkdirTemp("", "hlocb-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	python := peer.Find()
	if python == "" {
		fmt.Println("skip: jaxlib not installed; hlocb's figures alone")
	}
	if only != "" {
		rows := hloRows
		if only == "bytecode" {
			rows = bytecodeRows
		}
		goals, err := rows(dir, python, rounds, turns, cpu)
		fmt.Println("\n" + strings.Join(goals, "\n"))
		return err
	}
	benches, err := prepare(corpus, dir)
	if err != nil {
		return err
	}
	fmt.Printf("%-26s %9s  %-22s %-20s %-20s %-20s %s\n", "", "bytes", "parse, verify ms (MB/s)", "parse ms (MB/s)", "print ms (MB/s)", "generic ms (MB/s)", "peak MB")
	var goals []string
	perOp := map[string]float64{}
	for i := range benches {
		b := &benches[i]
		list := filepath.Join(dir, "list"+strconv.Itoa(i))
		if err := os.WriteFile(list, []byte(strings.Join(b.files, "\n")), 0o666); err != nil {
			return err
		}
		n, turns := rounds, turns
		if b.size > 20<<20 {
			n, turns = 3, 2
		}
		var hlocb, jaxlib result
		for range turns {
			r, err := start(exec.Command(os.Args[0], "-one", list, "-rounds", strconv.Itoa(n), "-cpu="+strconv.FormatBool(cpu)))
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			hlocb.best(r)
			if python == "" {
				continue
			}
			if r, err = start(exec.Command(python, "-c", script, list, strconv.Itoa(n), strconv.FormatBool(cpu))); err != nil {
				return fmt.Errorf("%s: jaxlib: %w", b.name, err)
			}
			jaxlib.best(r)
		}
		row("hlocb  "+b.name, b.size, hlocb)
		if python != "" {
			row("jaxlib "+b.name, b.size, jaxlib)
			fmt.Printf("%-26s %9s  %-22s %-20s %-20s %-20s %.1f\n", "  times", "", times(jaxlib.parse, hlocb.parse), times(jaxlib.parse, hlocb.parse-hlocb.verify),
				times(jaxlib.print, hlocb.print), times(jaxlib.generic, hlocb.generic), float64(jaxlib.peak)/float64(hlocb.peak))
			goals = append(goals, b.goals(hlocb, jaxlib)...)
		}
		if strings.HasSuffix(b.name, " ops") {
			ops, _ := strconv.Atoi(strings.TrimSuffix(b.name, " ops"))
			perOp[b.name] = float64((hlocb.parse - hlocb.verify).Nanoseconds()) / float64(ops)
			perOp[b.name+" verified"] = float64(hlocb.parse.Nanoseconds()) / float64(ops)
		}
	}
	for _, kind := range []string{"", " verified"} {
		small, large := perOp["10000 ops"+kind], perOp["1000000 ops"+kind]
		goals = append(goals, fmt.Sprintf("%-44s %5.2f  goal <= 1.3 (%.0f and %.0f ns)", "a million ops"+kind+", per op of 10000", large/small, large, small))
	}
	more, err := hloRows(dir, python, rounds, turns, cpu)
	if err != nil {
		return err
	}
	binary, err := bytecodeRows(dir, python, rounds, turns, cpu)
	if err != nil {
		return err
	}
	fmt.Println()
	for _, g := range append(append(goals, more...), binary...) {
		fmt.Println(g)
	}
	return nil
}

// goals lists the ratios of a row that have a goal, with the goal.
func (b *bench) goals(hlocb, jaxlib result) (out []string) {
	add := func(name string, jaxlib, hlocb time.Duration, goal int) {
		out = append(out, fmt.Sprintf("%-44s %5.1f  goal >= %d", b.name+" "+name, float64(jaxlib)/float64(hlocb), goal))
	}
	alone := hlocb.parse - hlocb.verify
	switch b.name {
	case "transformer_grad":
		add("parse", jaxlib.parse, alone, 5)
		add("parse and verify", jaxlib.parse, hlocb.parse, 6)
		add("print", jaxlib.print, hlocb.print, 10)
	case "hex constant":
		add("parse", jaxlib.parse, hlocb.parse, 2)
	case "decimal constant":
		add("parse", jaxlib.parse, hlocb.parse, 5)
		add("print", jaxlib.print, hlocb.print, 1)
	case "testdata tree":
		add("parse and print", jaxlib.parse+jaxlib.print, alone+hlocb.print, 5)
		add("parse, verify and print", jaxlib.parse+jaxlib.print, hlocb.parse+hlocb.print, 5)
	}
	return out
}

func row(name string, size int64, r result) {
	cell := func(d time.Duration) string {
		return fmt.Sprintf("%.2f (%.0f)", float64(d.Microseconds())/1e3, float64(size)/d.Seconds()/1e6)
	}
	alone := ""
	if r.verify > 0 {
		alone = cell(r.parse - r.verify)
	}
	fmt.Printf("%-26s %9d  %-22s %-20s %-20s %-20s %.0f\n", name, size, cell(r.parse), alone, cell(r.print), cell(r.generic), float64(r.peak)/1e6)
}

func times(jaxlib, hlocb time.Duration) string {
	return fmt.Sprintf("%.1fx", float64(jaxlib)/float64(hlocb))
}

// start runs a process and reads the figures in its last line: parse, verify, print, generic in ns, peak memory in
// bytes.
func start(cmd *exec.Cmd) (result, error) {
	var r result
	err := scan(cmd, &r.parse, &r.verify, &r.print, &r.generic, &r.peak)
	return r, err
}

// scan runs a process and reads the figures in its last line.
func scan(cmd *exec.Cmd, figures ...any) error {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if _, err := fmt.Sscan(lines[len(lines)-1], figures...); err != nil {
		return fmt.Errorf("unexpected output %q", out)
	}
	return nil
}

// measure reads and prints the files of a list and writes the figures.
func measure(list string, rounds int, cpu bool) error {
	clock := passed
	if cpu {
		clock = processorTime
	}
	heap.Tune() // like cmd/hlocb
	names, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	reg, err := all.Registry()
	if err != nil {
		return err
	}
	var srcs []*diag.Source
	total := 0
	for _, f := range strings.Fields(string(names)) {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		srcs = append(srcs, diag.NewSource(f, text))
		total += len(text)
	}
	heap.Reading(total)
	var r result
	for range rounds {
		runtime.GC() // do not collect the garbage of the previous round in this one
		var t [4]time.Duration
		for _, src := range srcs {
			begin := clock()
			m, err := parse.Parse(src, ir.NewContext(), reg, parse.Options{})
			if err != nil {
				return err
			}
			t[0] += clock() - begin
			begin = clock()
			if err := ir.Verify(m); err != nil {
				return err
			}
			t[1] += clock() - begin
			begin = clock()
			print.Append(nil, m, print.Options{})
			t[2] += clock() - begin
			begin = clock()
			print.Append(nil, m, print.Options{Generic: true})
			t[3] += clock() - begin
		}
		r.best(result{parse: t[0] + t[1], verify: t[1], print: t[2], generic: t[3], peak: 1})
	}
	fmt.Println(r.parse.Nanoseconds(), r.verify.Nanoseconds(), r.print.Nanoseconds(), r.generic.Nanoseconds(), peak())
	return nil
}

// passed returns the time since the start.
func passed() time.Duration { return time.Since(started) }

var started = time.Now()

// peak returns the peak memory of the process in bytes; 1 if the system does not report it.
func peak() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 1
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb int64
		if _, err := fmt.Sscanf(s.Text(), "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 1
}

// script measures the same with MLIR.
const script = `
import resource, sys, time
from jaxlib.mlir import ir
from jax._src.interpreters import mlir as jm
files = [open(f).read() for f in open(sys.argv[1]).read().split()]
best = [1 << 62] * 3
clock = time.process_time_ns if sys.argv[3] == "true" else time.perf_counter_ns
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = True
with ctx:
    for _ in range(int(sys.argv[2])):
        t = [0] * 3
        for text in files:
            a = clock()
            m = ir.Module.parse(text)
            b = clock()
            m.operation.get_asm()
            c = clock()
            m.operation.get_asm(print_generic_op_form=True)
            d = clock()
            t[0] += b - a; t[1] += c - b; t[2] += d - c
        best = [min(x, y) for x, y in zip(best, t)]
print(best[0], 0, best[1], best[2], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
`

// prepare writes the generated modules and finds the corpus's modules.
func prepare(corpus, dir string) ([]bench, error) {
	var out []bench
	add := func(name string, files ...string) error {
		b := bench{name: name, files: files}
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				return err
			}
			b.size += info.Size()
		}
		out = append(out, b)
		return nil
	}
	write := func(name, text string) error {
		f := filepath.Join(dir, strings.ReplaceAll(name, " ", "_")+".mlir")
		if err := os.WriteFile(f, []byte(text), 0o666); err != nil {
			return err
		}
		return add(name, f)
	}
	if err := add("transformer_grad", filepath.Join("testdata", "transformer_grad.mlir")); err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, 4<<20)
	for i := 0; i < len(raw); i += 4 {
		v := math.Float32bits(float32(rnd.NormFloat64()))
		raw[i], raw[i+1], raw[i+2], raw[i+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	constant := func(payload, typ string) string {
		return "func.func @main() -> " + typ + " {\n  %cst = stablehlo.constant dense<" + payload + "> : " + typ + "\n  return %cst : " + typ + "\n}\n"
	}
	if err := write("hex constant", constant(`"0x`+strings.ToUpper(hex.EncodeToString(raw))+`"`, "tensor<1048576xf32>")); err != nil {
		return nil, err
	}
	var b strings.Builder
	for i := range 65536 {
		b.WriteString([...]string{", ", "["}[b2i(i == 0)])
		s := strconv.FormatFloat(float64(float32(rnd.NormFloat64())), 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		b.WriteString(s)
	}
	if err := write("decimal constant", constant(b.String()+"]", "tensor<65536xf32>")); err != nil {
		return nil, err
	}
	for _, n := range []int{10000, 1000000} {
		if err := write(strconv.Itoa(n)+" ops", chain(n)); err != nil {
			return nil, err
		}
	}
	archive := filepath.Join(corpus, "stablehlo.tar.xz")
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o777); err != nil {
		return nil, err
	}
	if err := exec.Command("tar", "-xJf", archive, "-C", tree, "stablehlo/testdata").Run(); err != nil {
		fmt.Printf("skip: %s cannot be unpacked\n", archive)
		return out, nil
	}
	files, err := filepath.Glob(filepath.Join(tree, "stablehlo", "testdata", "*.mlir"))
	if err != nil {
		return nil, err
	}
	return out, add("testdata tree", files...)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// chain returns a module of n ops. Each op uses the previous op and an earlier one.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("func.func @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  %0 = stablehlo.abs %a : tensor<4x8xf32>\n")
	for i := 1; i < n-2; i++ {
		fmt.Fprintf(&b, "  %%%d = stablehlo.add %%%d, %%%d : tensor<4x8xf32>\n", i, i-1, i/2)
	}
	fmt.Fprintf(&b, "  return %%%d : tensor<4x8xf32>\n}\n", n-3)
	return b.String()
}
