package passes_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

var update = flag.Bool("update", false, "rewrite the expectations of golden files")

// rewritePipeline is what a golden file without a pipeline of its own runs.
const rewritePipeline = "raise-hooks,order-hooks,alias-hooks,lower-hooks,check-order"

// TestGolden runs every testdata/*.txtar: the comment holds an optional line "passes: PIPELINE" and says what the
// case shows; in.mlir is the input, out.mlir the module after the passes, error what they report, order the order
// of the hooks afterwards. Sections that are not there are not compared. -update rewrites them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pipeline := rewritePipeline
			for line := range strings.Lines(string(a.Comment)) {
				if p, ok := strings.CutPrefix(line, "passes: "); ok {
					pipeline = strings.TrimSpace(p)
				}
			}
			got := runGolden(t, a.Files[0].Data, pipeline)
			for i := range a.Files[1:] {
				f := &a.Files[i+1]
				want, ok := got[f.Name]
				if !ok {
					t.Fatalf("unknown section %q", f.Name)
				}
				if *update {
					f.Data = []byte(want)
				} else if d := cmp.Diff(string(f.Data), want); d != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, d)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func runGolden(t *testing.T, in []byte, pipeline string) map[string]string {
	t.Helper()
	out := map[string]string{"out.mlir": "", "error": "", "order": ""}
	m, err := parseText("in.mlir", in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := passes.ParsePipeline(pipeline, passes.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	d := passes.Driver{Verify: ir.Verify}
	if err := d.Run(passes.NewContext(context.Background()), p, m); err != nil {
		out["error"] = err.Error() + "\n"
		return out
	}
	out["out.mlir"] = print.String(m, print.Options{})
	manifest, err := hook.ManifestOf(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := hook.WriteOrder(&b, manifest); err != nil {
		t.Fatal(err)
	}
	out["order"] = b.String()
	return out
}

func parseText(name string, text []byte) (*ir.Module, error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, err
	}
	return parse.Parse(diag.NewSource(name, text), ir.NewContext(), reg, parse.Options{})
}
