package conformance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestTodaysArtifacts writes the samples of StableHLO's ops as artifacts of the newest versions, and of an older one.
// They hold the modules of today's jaxlib's artifacts, which hlocb reads, and writes again byte for byte. Most equal
// jaxlib's artifacts of the same text byte for byte: jaxlib writes other orders of uses after it lowers some ops.
func TestTodaysArtifacts(t *testing.T) {
	p := peer.Today(t)
	reg := testkit.Registry(t)
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "ops", "stablehlo_*.mlir"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no samples", err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	for _, target := range []string{"1.16.3", "1.20.0", "1.21.0", "1.22.0"} {
		if !label.Part(target == "1.22.0") {
			continue
		}
		v, err := vhlo.ParseVersion(target)
		if err != nil {
			t.Fatal(err)
		}
		o := artifact.Options{Target: v, KeepOthers: true, StripLocations: true}
		n, equal := 0, 0
		theirs := p.WriteArtifacts(t, target, texts)
		for name := range texts {
			want := theirs[name]
			m, err := read(t, reg, texts[name])
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := artifact.Append(nil, m, o)
			if len(want) == 0 { // it needs a newer version, or types of the dialect quant, which jaxlib has not loaded
				if err == nil && name != "stablehlo_quantized.mlir" {
					t.Errorf("%s: jaxlib does not write it as %s, hlocb does", name, target)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s as %s: %v", name, target, err)
			}
			if n++; string(got) == string(want) {
				equal++
			}
			back, err := artifact.Read(diag.NewSource(name, want), ir.NewContext(reg))
			if err != nil {
				t.Errorf("%s as %s: %v", name, target, err)
				continue
			}
			ours, err := artifact.Read(diag.NewSource(name, got), ir.NewContext(reg))
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, print.String(ours, print.Options{Generic: true}), print.String(back, print.Options{Generic: true}))
			if got, _, err = artifact.Append(nil, back, o); err != nil || string(got) != string(want) {
				t.Errorf("%s as %s is not written again byte for byte (%v)", name, target, err)
			}
		}
		if n < 6 || equal < n-2 {
			t.Errorf("as %s, %d of %d samples have jaxlib's bytes", target, equal, n)
		}
	}
}
