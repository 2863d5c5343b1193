package passes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

func runVHLO(t *testing.T, m *ir.Module, p pass.ModulePass) error {
	t.Helper()
	if err := p.Run(pass.NewContext(context.Background(), m), m); err != nil {
		return err
	}
	return ir.Verify(m)
}

// TestVHLOPasses converts a program to VHLO, to older versions and back, and compares each version with the artifact
// that jaxlib wrote for it.
func TestVHLOPasses(t *testing.T) {
	dir := filepath.Join("..", "testdata", "bytecode", "corpus_order_t16_cond")
	read := func(name string) *ir.Module {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		src := diag.NewSource(name, data)
		if !artifact.Is(data) {
			return testkit.Parse(t, name, data)
		}
		m, err := artifact.ReadVHLO(src, ir.NewContext(testkit.Registry(t)))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	text := func(m *ir.Module) string { return print.String(m, print.Options{}) }
	m := read("text.mlir")
	before := text(m)
	if err := runVHLO(t, m, passes.StableHLOLegalizeToVHLO{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.vhlo"))
	if err != nil || len(files) == 0 {
		t.Fatal("no artifacts", err)
	}
	for i := len(files) - 1; i >= 0; i-- {
		version := strings.TrimSuffix(filepath.Base(files[i]), ".vhlo")
		if err := runVHLO(t, m, passes.VHLOToVersion{Target: version}); err != nil {
			t.Fatal(err)
		}
		if got, want := text(m), text(read(version+".vhlo")); got != want {
			t.Errorf("version %s:\n%s\njaxlib wrote\n%s", version, got, want)
		}
	}
	if err := runVHLO(t, m, passes.VHLOLegalizeToStableHLO{}); err != nil {
		t.Fatal(err)
	}
	if got := text(m); got != before {
		t.Errorf("back from VHLO:\n%s\nwant\n%s", got, before)
	}
}

func TestVHLOPassesRefuse(t *testing.T) {
	const tan = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tan %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}`
	for _, tt := range []struct{ target, want string }{
		{"1.3.0", "stablehlo.tan needs StableHLO 1.4.0; the target is 1.3.0"},
		{"", "no target version: expected target=x.y.z"},
		{"x", `target "x": expected a version such as 1.13.0`},
		{"99.0.0", "target 99.0.0 is newer than"},
	} {
		m := testkit.Parse(t, "tan.mlir", []byte(tan))
		if err := runVHLO(t, m, passes.StableHLOLegalizeToVHLO{}); err != nil {
			t.Fatal(err)
		}
		if err := runVHLO(t, m, passes.VHLOToVersion{Target: tt.target}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("target %q: %v, want %q", tt.target, err, tt.want)
		}
	}
	const sharded = `sdy.mesh @m = <["a"=1]>
func.func @main() { return }`
	m := testkit.Parse(t, "sharded.mlir", []byte(strings.Replace(sharded, "() { return }", "(%x: tensor<f32>) -> tensor<f32> { %0 = sdy.sharding_constraint %x <@m, []> : tensor<f32> return %0 : tensor<f32> }", 1)))
	if err := runVHLO(t, m, passes.StableHLOLegalizeToVHLO{}); err == nil || !strings.Contains(err.Error(), "VHLO has no form for") {
		t.Errorf("sdy is accepted: %v", err)
	}
	if err := runVHLO(t, m, passes.StableHLOLegalizeToVHLO{OtherDialects: true}); err != nil {
		t.Error(err)
	}
}
