package endtoend

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// importScript translates the files named on standard input with jaxlib's importer and writes each translation to a
// file of a folder, named by its line.
const importScript = `
import os, sys
from jaxlib import _hlo, _jax
os.dup2(2, 1)
for i, f in enumerate(sys.stdin.read().split()):
    if f.endswith(".pb"):
        m = _hlo.HloModule.from_serialized_hlo_module_proto(open(f, "rb").read())
    else:
        m = _hlo.hlo_module_from_text(open(f, encoding="utf-8", errors="surrogateescape").read())
    try:
        text = _jax.mlir.hlo_to_stablehlo(m.as_serialized_hlo_module_proto())
    except Exception as e:
        print(f, e, file=sys.stderr)
        continue
    open(os.path.join(sys.argv[1], str(i)), "wb").write(text if isinstance(text, bytes) else text.encode())
`

// hloIndex returns the files of HLOCB_HLO that pick accepts, or skips the test.
func hloIndex(t *testing.T, pick func(file, want, stablehlo string, mhlo []string) bool) (dir string, files []string) {
	t.Helper()
	dir = os.Getenv("HLOCB_HLO")
	if dir == "" {
		t.Skip("skip: HLOCB_HLO names no folder with XLA's test files")
	}
	lines := bufio.NewScanner(bytes.NewReader(readFile(t, filepath.Join(dir, "index.jsonl"))))
	for lines.Scan() {
		var row struct {
			File, Want, Stablehlo string
			MHLO                  []string
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if pick(row.File, row.Want, row.Stablehlo, row.MHLO) {
			files = append(files, row.File)
		}
	}
	return dir, files
}

// sample returns every nth file, or all files with HLOCB_LONG.
func sample(files []string, n int) []string {
	if long() {
		return files
	}
	var out []string
	for i := 0; i < len(files); i += n {
		out = append(out, files[i])
	}
	return out
}

// outcome holds the events and results of a run.
type outcome struct {
	code            int
	err             string
	late            bool // arguments are large, or a loop whose condition depends on random numbers does not end
	events, results []byte
}

func runFilled(t *testing.T, module string) outcome {
	p, err := hlocb.Load(t.Context(), module)
	if err != nil {
		return outcome{code: 1, err: err.Error()}
	}
	if entry.CheckMemory(p.Module(), 16<<20) != nil {
		return outcome{late: true}
	}
	dir := t.TempDir()
	events, results := filepath.Join(dir, "events"), filepath.Join(dir, "results")
	var stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	code := cli.Run(ctx, []string{"run", module, "--backend", "interp", "--fill", "random:1", "--on", "*=echo", "--events", events, "--results", results},
		strings.NewReader(""), io.Discard, &stderr)
	o := outcome{code: code, err: stderr.String(), late: ctx.Err() != nil}
	if code == 0 {
		o.events, o.results = readFile(t, events), readFile(t, results)
	}
	return o
}

// plainMHLO are the ops of MHLO that jaxlib's importer keeps. No program's result depends on them.
var plainMHLO = []string{"mhlo.cross_program_prefetches", "mhlo.input_output_alias", "mhlo.is_dynamic", "mhlo.use_auto_spmd_partitioning", "mhlo.sharding",
	"mhlo.xla_entry_computation_parameter_layouts", "mhlo.xla_entry_computation_parameter_tiles", "mhlo.xla_entry_computation_result_layout",
	"mhlo.xla_entry_computation_result_tiles", "mhlo.frontend_attributes", "mhlo.original_value", "mhlo.copy", "mhlo.num_partitions", "mhlo.num_replicas"}

// TestImportersAgree runs texts and protos of HLO on the engine, translated by this package and by jaxlib's importer.
// Both deliver the same results and events.
func TestImportersAgree(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	peer.Each(t, nil, checkImportersAgree)
}

func checkImportersAgree(t *testing.T, python *peer.Interpreter) {
	dir, files := hloIndex(t, func(_, want, stablehlo string, mhlo []string) bool {
		return want == "ok" && stablehlo == "ok" && !slices.ContainsFunc(mhlo, func(s string) bool { return !slices.Contains(plainMHLO, s) })
	})
	k := 0
	for part := range slices.Chunk(sample(files, 80), 500) {
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			t.Parallel()
			importersAgree(t, python, dir, part)
		})
		k++
	}
}

func importersAgree(t *testing.T, python *peer.Interpreter, dir string, files []string) {
	var input strings.Builder
	for _, f := range files {
		input.WriteString(filepath.Join(dir, f) + "\n")
	}
	theirs := t.TempDir()
	python.Run(t, importScript, []byte(input.String()), theirs)
	counts := map[string]int{}
	for i, f := range files {
		translated := filepath.Join(theirs, strconv.Itoa(i))
		if _, err := os.Stat(translated); err != nil {
			counts["not translated by jaxlib"]++
			continue
		}
		// jaxlib's importer reads protos, which do not state the number of partitions and replicas.
		own := filepath.Join(dir, f)
		if text := readFile(t, own); devicesOfModule.Match(text) && !strings.HasSuffix(f, ".pb") {
			own = filepath.Join(theirs, "own"+strconv.Itoa(i)+".hlo")
			if err := os.WriteFile(own, devicesOfModule.ReplaceAll(text, nil), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, got := runFilled(t, translated), runFilled(t, own)
		switch {
		case want.late || got.late:
			counts["too large or too slow"]++
		case want.code != 0:
			counts["not run from jaxlib's translation"]++
		case refusedByXLA.MatchString(got.err):
			counts["types that XLA's verifier refuses, too"]++
		case got.code != 0:
			t.Errorf("%s: exit code %d: %.300s", f, got.code, got.err)
		case nanPair.Match(readFile(t, own)) && !strings.HasSuffix(f, ".pb"):
			counts["complex constants that XLA misreads"]++
		case !bytes.Equal(minusZero.ReplaceAll(got.results, []byte("$1")), minusZero.ReplaceAll(want.results, []byte("$1"))):
			t.Errorf("%s: results %.200s, from jaxlib's translation %.200s", f, got.results, want.results)
		case !bytes.Equal(comparableEvents(got.events), comparableEvents(want.events)):
			t.Errorf("%s: events %.200s, from jaxlib's translation %.200s", f, got.events, want.events)
		default:
			counts["equal"]++
		}
	}
	t.Log(counts)
	if counts["equal"] < len(files)/2 {
		t.Error("too few texts were compared")
	}
}

var (
	devicesOfModule = regexp.MustCompile(`, (?:num_partitions|replica_count)=\d+`)
	// XLA reads the constant -0 as the integer 0.
	minusZero = regexp.MustCompile(`-(0[\],])`)
	// XLA reads the constant (nan, 1) as (nan, nan).
	nanPair = regexp.MustCompile(`\(\s*-?nan,`)
	// If the metadata of an instruction has no name, jaxlib's importer uses the instruction's name as its location,
	// even if the metadata has a place. It also keeps functions that nothing calls; their hooks count in the names of
	// unnamed hooks.
	ownOfImporter = regexp.MustCompile(`"loc":"(?:[^"\\]|\\.)*",|"function":"[^"]*",|"hook":"(?:hook\d+|[^"]*:\d+)",`)
	// jaxlib's importer verifies neither the operands of a comparison nor the tuple that an all-reduce-start states.
	refusedByXLA = regexp.MustCompile(`: error: (?:compare of |'stablehlo\.all_reduce' op inferred type)`)
)

// comparableEvents returns events without the locations and numbers that depend on the importer.
func comparableEvents(events []byte) []byte {
	return minusZero.ReplaceAll(ownOfImporter.ReplaceAll(events, nil), []byte("$1"))
}

// TestDumpsHold runs StableHLO's own tests from XLA's dumps before optimization. The checks that the tests contain must
// hold.
func TestDumpsHold(t *testing.T) {
	label.Once(t)
	dir, files := hloIndex(t, func(file, want, _ string, _ []string) bool {
		return want == "ok" && strings.HasPrefix(file, "dump/") && strings.HasSuffix(file, ".before.hlo")
	})
	// The engine adds these numbers in another order than XLA. The difference exceeds the tolerance of the checks.
	rounded := []string{"dump/cumprod_complex64_8_9.before.hlo", "dump/triangular_solve_float32_2_8_8_float32_2_10_8.before.hlo"}
	for _, f := range sample(files, 25) {
		if slices.Contains(rounded, f) {
			continue
		}
		if o := runFilled(t, filepath.Join(dir, f)); o.code != 0 {
			t.Errorf("%s: exit code %d: %.300s", f, o.code, o.err)
		}
	}
}

// TestOptimizedDumps runs programs after XLA's CPU compiler: with fusions, layouts and calls of XLA's libraries. The
// engine refuses instructions that it does not run with their opcode or target and their position.
func TestOptimizedDumps(t *testing.T) {
	label.Once(t)
	dir, files := hloIndex(t, func(file, want, _ string, _ []string) bool {
		return want == "ok" && (strings.HasSuffix(file, "after.hlo") || strings.HasPrefix(file, "jax/") && strings.Contains(file, ".after"))
	})
	counts := map[string]int{}
	for _, f := range sample(files, 15) {
		o := runFilled(t, filepath.Join(dir, f))
		switch {
		case o.late:
			counts["too large or too slow"]++
		case o.code == 0:
			counts["ran"]++
		case !refusalOfOp.MatchString(o.err):
			t.Errorf("%s: the refusal names no op: %.300s", f, o.err)
		default:
			counts["refused"]++
			t.Logf("%s: %.200s", f, o.err)
		}
	}
	t.Log(counts)
	if counts["ran"] < 2*counts["refused"] {
		t.Error("too few programs ran")
	}
}

// refusalOfOp matches an error that names an op.
var refusalOfOp = regexp.MustCompile(`: error: '[\w.]+' op `)
