package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/print"
)

// hooksOf describes the hooks of a program by name, kind, types and order.
func hooksOf(p *hlocb.Program) string {
	var b strings.Builder
	for _, s := range p.Hooks() {
		name := s.Name
		if s.Unnamed() {
			name = "unnamed"
		}
		fmt.Fprintln(&b, name, s.Kind, s.Operands, s.Results)
	}
	return b.String()
}

// TestHooksOfHLO compares the hooks of each HLO text of the corpus with the hooks of the text's source in MLIR.
// Rewritten HLO has the same hooks again, and so has XLA's form of the rewritten HLO.
func TestHooksOfHLO(t *testing.T) {
	label.Once(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "hooks", "hlo", "*"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files of HLO: %v", len(files), err)
	}
	load := func(t *testing.T, name string, text []byte) *hlocb.Program {
		p, err := hlocb.Parse(t.Context(), name, text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	partitioned := map[string]bool{"jax_cpu_partitioned_debug_callback": true}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".txt"), ".hlo")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if partitioned[name] {
				// XLA's translation states the number of partitions in the compile options.
				text = bytes.Replace(text, []byte(", entry_computation_layout"), []byte(", num_partitions=2, entry_computation_layout"), 1)
			}
			twin := filepath.Join("..", "..", "testdata", "hooks", strings.TrimSuffix(name, ".hlo.before")+".mlir")
			mlir, err := os.ReadFile(twin)
			if err != nil {
				t.Fatal(err)
			}
			p := load(t, file, text)
			got, want := hooksOf(p), hooksOf(load(t, twin, mlir))
			if got != want {
				t.Errorf("hooks of the HLO:\n%shooks of the MLIR:\n%s", got, want)
			}
			for _, suffix := range []string{"", ".pb"} {
				if suffix != "" && partitioned[name] {
					continue // a proto does not state the number of partitions
				}
				var out bytes.Buffer
				if err := reader.Write(t.Context(), &out, suffix, p.Module(), print.Options{}); err != nil {
					t.Fatal(err)
				}
				if again := hooksOf(load(t, "rewritten"+suffix, out.Bytes())); again != got {
					t.Errorf("hooks of the rewritten HLO:\n%swant:\n%s", again, got)
				}
			}
		})
	}
}

// TestOpsOfHLO runs instructions that StableHLO lacks on the engine and on XLA. Their results agree to the bit.
func TestOpsOfHLO(t *testing.T) {
	label.Once(t)
	open(t, "cpu")
	for name, text := range map[string]string{
		"state": `HloModule m
body {
  s = (s32[], u64[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = u64[2] rng-get-and-update-state(), delta=-1
  ROOT r = (s32[], u64[2]) tuple(j, a)
}
cond {
  s = (s32[], u64[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  a = u64[2] rng-get-and-update-state(), delta=3
  z = s32[] constant(0)
  t = (s32[], u64[2]) tuple(z, a)
  w = (s32[], u64[2]) while(t), condition=cond, body=body
  l = u64[2] get-tuple-element(w), index=1
  ROOT c = (u64[2], u64[2]) tuple(a, l)
}`,
		"least":      "HloModule m\nENTRY e { p = f32[3,8] parameter(0) ROOT c = (f32[3,2], s32[3,2]) topk(p), k=2, largest=false }",
		"stochastic": "HloModule m\nENTRY e { p = f32[64] parameter(0) r = u32[64] parameter(1) ROOT c = s8[64] stochastic-convert(p, r) }",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".hlo")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			var results []string
			for _, backend := range []string{"interp", "cpu"} {
				var stdout, stderr bytes.Buffer
				if code := cli.Run(t.Context(), []string{"run", file, "--backend", backend, "--fill", "random:1"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
					t.Fatalf("%s: exit code %d: %s", backend, code, stderr.String())
				}
				results = append(results, stdout.String())
			}
			if results[0] != results[1] {
				t.Errorf("the engine's results:\n%sXLA's:\n%s", results[0], results[1])
			}
		})
	}
}
