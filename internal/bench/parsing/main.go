// Package parsing compares how fast hlocb and MLIR (through jaxlib) read and print the same modules, in one table: best
// time of several rounds, speed per byte of text, and peak memory. Each side measures each module in a process of its
// own, in turns. Without jaxlib the table holds hlocb's figures alone. It runs in the root of the repository.
//
// MLIR's parse also verifies the module. The table therefore shows hlocb's time for parsing and verifying, and its
// time for parsing alone. The lines after the table list the ratios that have a goal.
package parsing

import (
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
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// Run measures, and returns the figures that have goals.
func Run(args []string) (rows []meter.Row, err error) {
	flags := flag.NewFlagSet("parse", flag.ContinueOnError)
	corpus := flags.String("corpus", filepath.Join("..", "shared", "corpus"), "`directory` with stablehlo.tar.xz, StableHLO's test files")
	var o options
	flags.IntVar(&o.rounds, "rounds", 9, "how often each module is read and printed")
	flags.IntVar(&o.turns, "turns", 3, "how often each process is started; the best figures count")
	flags.BoolVar(&o.cpu, "cpu", false, "measure processor time, of all threads, instead of the time that passes: for machines that are busy with other work")
	one := flags.String("one", "", "measure the modules listed in this file and exit (used by the command itself)")
	oneHLO := flags.String("hlo", "", "measure the module of HLO in this file, without its suffix, and exit (used by the command itself)")
	oneBytecode := flags.String("bytecode", "", "measure the module of bytecode in this file, without its suffix, and exit (used by the command itself)")
	only := flags.String("only", "", "measure hlo or bytecode alone")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case *one != "":
		err = measure(*one, o)
	case *oneHLO != "":
		err = measureHLO(*oneHLO, o)
	case *oneBytecode != "":
		err = measureBytecode(*oneBytecode, o)
	default:
		rows, err = run(*corpus, *only, o)
	}
	return rows, err
}

type options struct {
	rounds, turns int
	cpu           bool
}

// clock returns the clock that the options choose.
func (o options) clock() func() time.Duration {
	if o.cpu {
		return meter.ProcessorTime
	}
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// figures are the best times of several rounds, one per column of a table, and the peak memory of the process. A time
// of 0 was not measured.
type figures struct {
	times []time.Duration
	peak  int64 // bytes
}

func (f *figures) best(g figures) {
	if f.times == nil {
		*f = g
		return
	}
	for i, t := range g.times {
		if t != 0 && (f.times[i] == 0 || t < f.times[i]) {
			f.times[i] = t
		}
	}
	f.peak = min(f.peak, g.peak)
}

// report writes the figures of this process in a line: ns and bytes.
func (f figures) report() {
	for _, t := range f.times {
		fmt.Print(t.Nanoseconds(), " ")
	}
	peak, _ := meter.Memory("VmHWM")
	fmt.Println(max(peak, 1))
}

// child runs a process and reads the figures in its last line.
func child(name string, args ...string) (f figures, err error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for word := range strings.FieldsSeq(lines[len(lines)-1]) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return f, fmt.Errorf("unexpected output %q", out)
		}
		f.times, f.peak = append(f.times, time.Duration(n)), n
	}
	f.times = f.times[:max(0, len(f.times)-1)] // the last figure is the memory
	return f, nil
}

// sides measures a file in processes of this command with a flag and, unless python is empty, of a script, in turns.
func (o options) sides(file, flag, python, script string) (hlocb, jaxlib figures, err error) {
	rounds, cpu := strconv.Itoa(o.rounds), strconv.FormatBool(o.cpu)
	for range o.turns {
		f, err := child(os.Args[0], "parse", flag, file, "-rounds", rounds, "-cpu="+cpu)
		if err != nil {
			return hlocb, jaxlib, err
		}
		hlocb.best(f)
		if python == "" {
			continue
		}
		if f, err = child(python, "-c", script, file, rounds, cpu); err != nil {
			return hlocb, jaxlib, fmt.Errorf("jaxlib: %w", err)
		}
		jaxlib.best(f)
	}
	return hlocb, jaxlib, nil
}

// line writes a line of a table.
func line(name, size string, cells []string, peak string) {
	fmt.Printf("%-34s %9s ", name, size)
	for _, c := range cells {
		fmt.Printf(" %-22s", c)
	}
	fmt.Println("", peak)
}

// rows writes the figures of a module of size bytes.
func rows(name string, size int64, hlocb, jaxlib figures) {
	for _, side := range []struct {
		name string
		figures
	}{{"hlocb  ", hlocb}, {"jaxlib ", jaxlib}} {
		cells := make([]string, len(side.times))
		for i, t := range side.times {
			if t > 0 {
				cells[i] = fmt.Sprintf("%.2f (%.0f)", float64(t.Microseconds())/1e3, float64(size)/t.Seconds()/1e6)
			}
		}
		if len(cells) > 0 {
			line(side.name+name, fmt.Sprint(size), cells, fmt.Sprintf("%.0f", float64(side.peak)/1e6))
		}
	}
}

// faster is a figure with a goal: jaxlib's time is at least goal times hlocb's.
func faster(name string, jaxlib, hlocb time.Duration, goal float64) meter.Row {
	return meter.Row{Name: name, Ours: hlocb.Seconds(), Peer: jaxlib.Seconds(), AtLeast: goal}
}

// growth compares the times per op, in ns, of modules of 10000 and a million ops.
func growth(name string, small, large float64) meter.Row {
	return meter.Row{Name: name, Ours: large / 1e9, Peer: small / 1e9, AtMost: 1.3}
}

func run(corpus, only string, o options) (goals []meter.Row, err error) {
	dir, err := os.MkdirTemp("", "hlocb-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	python := peer.Find()
	if python == "" {
		fmt.Println("skip: jaxlib not installed; hlocb's figures alone")
	}
	for _, table := range []struct {
		name string
		rows func() ([]meter.Row, error)
	}{
		{"mlir", func() ([]meter.Row, error) { return mlirRows(corpus, dir, python, o) }},
		{"hlo", func() ([]meter.Row, error) { return hloRows(dir, python, o) }},
		{"bytecode", func() ([]meter.Row, error) { return bytecodeRows(dir, python, o) }},
	} {
		if only == "" || only == table.name {
			more, err := table.rows()
			if goals = append(goals, more...); err != nil {
				return goals, err
			}
		}
	}
	return goals, nil
}

// bench is one module of the first table: some files, measured together.
type bench struct {
	name  string
	files []string
	size  int64
	ops   int // of a generated module
}

// mlirRows measures MLIR's text.
func mlirRows(corpus, dir, python string, o options) ([]meter.Row, error) {
	benches, err := prepare(corpus, dir)
	if err != nil {
		return nil, err
	}
	line("", "bytes", []string{"parse, verify ms (MB/s)", "parse ms (MB/s)", "print ms (MB/s)", "generic ms (MB/s)"}, "peak MB")
	var goals []meter.Row
	var alone, verified []float64 // ns per op of the modules of ops
	for i := range benches {
		b := &benches[i]
		list := filepath.Join(dir, "list"+strconv.Itoa(i))
		if err := os.WriteFile(list, []byte(strings.Join(b.files, "\n")), 0o666); err != nil {
			return nil, err
		}
		o := o
		if b.size > 20<<20 {
			o.rounds, o.turns = 3, 2
		}
		hlocb, jaxlib, err := o.sides(list, "-one", python, script)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		rows(b.name, b.size, hlocb, jaxlib)
		if python != "" {
			jaxlib.times[1] = jaxlib.times[0] // MLIR always verifies
			var cells []string
			for k, t := range hlocb.times {
				cells = append(cells, fmt.Sprintf("%.1fx", float64(jaxlib.times[k])/float64(t)))
			}
			line("  times", "", cells, fmt.Sprintf("%.1f", float64(jaxlib.peak)/float64(hlocb.peak)))
			goals = append(goals, b.goals(hlocb.times, jaxlib.times)...)
		}
		if b.ops > 0 {
			verified = append(verified, float64(hlocb.times[0].Nanoseconds())/float64(b.ops))
			alone = append(alone, float64(hlocb.times[1].Nanoseconds())/float64(b.ops))
		}
	}
	return append(goals, growth("a million ops, per op of 10000", alone[0], alone[1]), growth("a million ops verified, per op of 10000", verified[0], verified[1])), nil
}

// goals lists the ratios of a module that have a goal. The columns are parse and verify, parse, print, and generic.
func (b *bench) goals(hlocb, jaxlib []time.Duration) (out []meter.Row) {
	add := func(name string, jaxlib, hlocb time.Duration, goal float64) {
		out = append(out, faster(b.name+" "+name, jaxlib, hlocb, goal))
	}
	switch b.name {
	case "transformer_grad":
		add("parse", jaxlib[1], hlocb[1], 5)
		add("parse and verify", jaxlib[0], hlocb[0], 6)
		add("print", jaxlib[2], hlocb[2], 10)
	case "hex constant":
		add("parse", jaxlib[0], hlocb[0], 2)
	case "decimal constant":
		add("parse", jaxlib[0], hlocb[0], 5)
		add("print", jaxlib[2], hlocb[2], 1)
	case "testdata tree":
		add("parse and print", jaxlib[1]+jaxlib[2], hlocb[1]+hlocb[2], 5)
		add("parse, verify and print", jaxlib[0]+jaxlib[2], hlocb[0]+hlocb[2], 5)
	}
	return out
}

// measure reads and prints the files of a list and writes the figures.
func measure(list string, o options) error {
	clock := o.clock()
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
	for f := range strings.FieldsSeq(string(names)) {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		srcs = append(srcs, diag.NewSource(f, text))
		total += len(text)
	}
	heap.Reading(total)
	var best figures
	for range o.rounds {
		runtime.GC() // do not collect the garbage of the previous round in this one
		t := make([]time.Duration, 4)
		for _, src := range srcs {
			begin := clock()
			m, err := parse.Parse(src, ir.NewContext(reg), parse.Options{})
			if err != nil {
				return err
			}
			parsed := clock()
			if err := ir.Verify(m); err != nil {
				return err
			}
			verified := clock()
			print.Append(nil, m, print.Options{})
			printed := clock()
			print.Append(nil, m, print.Options{Generic: true})
			t[0] += verified - begin
			t[1] += parsed - begin
			t[2] += printed - verified
			t[3] += clock() - printed
		}
		best.best(figures{times: t})
	}
	best.report()
	return nil
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
		b.WriteString([...]string{"[", ", "}[min(i, 1)])
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
		out[len(out)-1].ops = n
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
