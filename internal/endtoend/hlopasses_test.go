package endtoend

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// readScript reads the files that standard input names with jaxlib's HLO parser and prints the refusals.
const readScript = `
import sys
from jaxlib import _hlo
for f in sys.stdin.read().split():
    try:
        _hlo.hlo_module_from_text(open(f, encoding="utf-8", errors="surrogateescape").read())
    except Exception as e:
        print(f, str(e)[:400].replace("\n", " "))
`

// plainLine is the line of an instruction whose layout may be another one: no other instruction states it.
var plainLine = regexp.MustCompile(`^  (ROOT )?(%[\w.-]+) = (\w+\[[0-9,]+\])\{([0-9,]+)\} (add|subtract|multiply|divide|negate|sine|cosine|exponential|tanh|abs|select|broadcast|transpose|reshape|slice|concatenate|dot|iota|compare|maximum|minimum|convert)\(`)

// disturb gives instructions of an HLO text random layouts and memory spaces, and random control predecessors.
func disturb(text string, rng *rand.Rand) string {
	var before []string // instructions of the computation so far
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "  ") {
			before = nil
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "ROOT "), " =")
		if m := plainLine.FindStringSubmatch(line); m != nil && m[1] == "" {
			if rng.IntN(3) == 0 {
				dims := strings.Split(m[4], ",")
				slices.Reverse(dims)
				space := ""
				if rng.IntN(4) == 0 {
					space = ":S(5)"
				}
				line = strings.Replace(line, m[3]+"{"+m[4]+"}", m[3]+"{"+strings.Join(dims, ",")+space+"}", 1)
			}
			if len(before) > 0 && rng.IntN(4) == 0 && !strings.Contains(line, "control-predecessors") {
				edge := ", control-predecessors={" + before[rng.IntN(len(before))] + "}"
				if at := strings.Index(line, ", metadata="); at >= 0 {
					line = line[:at] + edge + line[at:]
				} else {
					line += edge
				}
			}
			lines[i] = line
			before = append(before, name)
		}
	}
	return strings.Join(lines, "\n")
}

// hloPasses are the passes that the HLO of the corpus goes through, with rewrite-hooks.
func hloPasses(table *pass.Table) []string {
	var list []string
	for _, name := range drawn(table) {
		if !strings.Contains(optioned[name], "VALUE") && !strings.Contains(name, "vhlo") && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return append(list, "rewrite-hooks")
}

// TestHLOThroughPasses: texts of the HLO corpus go through a pass and become HLO again, as they are and with random
// layouts, memory spaces and control predecessors. Read again, the HLO has the ops of the module that was written (see
// differentMeaning). It has the results of the text before, jaxlib reads it, and the order of its hooks is proven.
// Writing it takes no longer than ten times its translation. Each text goes through one of the passes that change it;
// the first pass that is tried differs from text to text. HLOCB_LONG=1 tries all passes on all texts instead of one on
// 400. Each file is a subtest, so that -run TestHLOThroughPasses/xla_tests/while tests some of them.
func TestHLOThroughPasses(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	dir, files := hloIndex(t, func(file, want, _ string, _ []string) bool { return want == "ok" && strings.HasSuffix(file, ".hlo") })
	n := 1
	if !long() {
		n = max(1, len(files)/400)
	}
	x := hloThroughPasses{table: opt.Passes(), small: interp.New(interp.Options{MemoryLimit: 64 << 20}), large: interp.New(interp.Options{MemoryLimit: 256 << 20}), out: t.TempDir()}
	x.names = hloPasses(x.table)
	peer.Each(t, nil, func(*testing.T, *peer.Interpreter) {}) // skipped if there is none
	if peer.Find() != "" {
		x.jaxlibs = append(x.jaxlibs, peer.Python(t))
	}
	if peer.FindToday() != "" {
		x.jaxlibs = append(x.jaxlibs, peer.Today(t))
	}
	ran := 0
	for k, file := range sample(files, n) {
		src := readFile(t, filepath.Join(dir, file))
		if !long() && len(src) > 200_000 {
			continue
		}
		t.Run(file, func(t *testing.T) {
			ran++
			x.file(t, file, src, k)
		})
		if len(x.written) >= 1000 {
			x.readByJAX(t)
		}
	}
	x.readByJAX(t)
	t.Logf("%d files: %d changed, %d unchanged; %d texts are not read, %d do not run alone", ran, x.changed, x.same, x.unread, x.unfit)
	if ran > 200 && x.changed < ran/2 {
		t.Errorf("%d changes of %d files are too few", x.changed, ran)
	}
}

// hloThroughPasses is TestHLOThroughPasses, with what it counts.
type hloThroughPasses struct {
	table                        *pass.Table
	names                        []string        // of passes
	small, large                 runtime.Backend // engines before and after a pass, which may need more memory
	jaxlibs                      []*peer.Interpreter
	out                          string   // the folder of written texts that jaxlib has not read
	written                      []string // their files of the corpus and passes
	unread, unfit, same, changed int
}

// file tests the kth file.
func (x *hloThroughPasses) file(t *testing.T, file string, src []byte, k int) {
	h, err := hlo.Parse(diag.NewSource(file, src))
	if err != nil {
		x.unread++
		return
	}
	hash := fnv.New64()
	hash.Write([]byte(file))
	rng := rand.New(rand.NewPCG(hash.Sum64(), 1))
	plain := string(h.AppendText(nil, hlo.TextOptions{}))
	for v, text := range []string{plain, disturb(plain, rng)} {
		start := time.Now()
		original, err := reader.Read(diag.NewSource(file, []byte(text)))
		if err != nil {
			if v == 1 && x.unread == 0 {
				t.Logf("%s: %v", file, err)
			}
			x.unread++
			continue
		}
		read := time.Since(start)
		var args []*tensor.Tensor
		var want []delivery
		ok := len(text) < 50_000 && argumentSize(original) < 1<<18
		if ok {
			args, ok = smallArguments(original)
		}
		if ok {
			want, ok = evaluated(x.small, original, args, time.Second)
		}
		if !ok {
			x.unfit++
		}
		turn := (k + v*7) % len(x.names)
		before := x.changed
		for _, name := range slices.Concat(x.names[turn:], x.names[:turn]) {
			if !long() && x.changed > before {
				break
			}
			m := original.Clone()
			version := m.Version()
			p := pass.Pipeline{passes.RewriteHooks{Targets: hostTargets}}
			if name != "rewrite-hooks" {
				if p, _, err = pipelineOf(name, x.table, m, nil); err != nil {
					t.Fatal(err)
				}
			}
			label := fmt.Sprintf("text %d, %s", v, name)
			ctx := pass.NewContext(context.Background(), m)
			if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(ctx, p); err != nil {
				x.unfit++
				continue // a pass may refuse a module
			}
			if m.Version() == version {
				x.same++
				continue
			}
			start = time.Now()
			h, err := reader.ToHLO(t.Context(), m)
			if err != nil {
				t.Errorf("%s: %v", label, err)
				continue
			}
			took := time.Since(start)
			if took > 10*read+time.Second {
				t.Errorf("%s: writing takes %v, reading %v", label, took, read)
			}
			after := string(h.AppendText(nil, hlo.TextOptions{}))
			if after == text {
				x.same++
				continue
			}
			x.changed++
			if err := os.WriteFile(x.path(len(x.written)), []byte(after), 0o600); err != nil {
				t.Fatal(err)
			}
			x.written = append(x.written, file+", "+label)
			again, err := reader.Read(diag.NewSource("written.hlo", []byte(after)))
			if err != nil {
				t.Errorf("%s: %v\n%.3000s", label, err, after)
				continue
			}
			// HLO splits the broadcasts of an expansion, states types of comparisons, has one op for a token, and one
			// operand for each size of a dynamic-reshape.
			spelled := expanded[name] || name == "stablehlo-legalize-deprecated-ops" || strings.Contains(after, " dynamic-reshape(")
			if op := differentMeaning(m, again); op != nil && !spelled {
				t.Errorf("%s: HLO lacks '%s' of %v: %v\n%.3000s\nbefore\n%.3000s", label, op.Name(), op.Attrs(), m.Errorf(op, "here"), after, text)
			}
			if name == "rewrite-hooks" {
				if err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), again), pass.Pipeline{passes.CheckOrder{}}); err != nil {
					t.Errorf("%s: %v\n%.3000s", label, err, after)
				}
				continue // its hooks have other names
			}
			// The engine's numbers depend on the function of an rng.
			if moved := name == "inline" || name == "outline-regions"; !ok || moved && strings.Contains(text, " rng(") {
				continue
			}
			equal := sameBits
			if expanded[name] {
				equal = near
			}
			if got, ok := evaluated(x.large, again, args, time.Minute); !ok || !agree(got, want, equal) {
				t.Errorf("%s: delivered\n%.1000v\ninstead of\n%.1000v\n%.3000s\nbefore\n%.3000s", label, got, want, after, text)
			}
		}
	}
}

// path returns the path of the ith written text.
func (x *hloThroughPasses) path(i int) string { return filepath.Join(x.out, strconv.Itoa(i)+".hlo") }

// readByJAX checks that jaxlib reads the written texts, and removes them.
func (x *hloThroughPasses) readByJAX(t *testing.T) {
	var input strings.Builder
	for i := range x.written {
		fmt.Fprintln(&input, x.path(i))
	}
	for _, python := range x.jaxlibs {
		for _, line := range strings.Split(string(python.Run(t, readScript, []byte(input.String()))), "\n") {
			if path, why, ok := strings.Cut(line, " "); ok {
				i, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".hlo"))
				t.Errorf("%s: jaxlib %s: %s\n%.3000s", x.written[i], python.Version(), why, readFile(t, path))
			}
		}
	}
	for i := range x.written {
		if err := os.Remove(x.path(i)); err != nil {
			t.Fatal(err)
		}
	}
	x.written = nil
}

// evaluated runs m on b. ok is false if the program does not run alone or not within limit.
func evaluated(b runtime.Backend, m *ir.Module, args []*tensor.Tensor, limit time.Duration) (out []delivery, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	e, err := b.Compile(ctx, &runtime.Program{Module: m.Clone()}, runtime.CompileOptions{})
	if err != nil {
		return nil, false
	}
	defer e.Close()
	results, err := e.Run(ctx, args)
	if err != nil {
		return nil, false
	}
	return []delivery{{"results", results}}, true
}

// argumentSize returns the number of elements of main's arguments.
func argumentSize(m *ir.Module) (n int64) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return 0
	}
	for _, t := range f.Type().Inputs() {
		if t, ok := t.(*ir.TensorType); ok && t.Ranked() {
			size := int64(1)
			for _, d := range t.Shape() {
				size *= max(d, 0)
			}
			n += size
		}
	}
	return n
}
