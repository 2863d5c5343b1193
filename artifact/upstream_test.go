package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// TestUpstream reads StableHLO's own artifacts of all versions. They hold the modules of the texts beside them, and are
// written again byte for byte as VHLO. One artifact has a future version.
func TestUpstream(t *testing.T) {
	root := os.Getenv("HLOCB_UPSTREAM")
	if root == "" {
		t.Skip("skip: HLOCB_UPSTREAM is not set")
	}
	paths, err := filepath.Glob(filepath.Join(root, "stablehlo", "tests", "vhlo", "*.bc"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no artifacts", err)
	}
	for _, path := range paths {
		data := readFile(t, path)
		src := diag.NewSource(filepath.Base(path), data)
		m, err := artifact.Read(src, ir.NewContext(registry))
		if strings.HasPrefix(filepath.Base(path), "invalid_vhlo_future") {
			if err == nil || !strings.Contains(err.Error(), "vhlo.constant_v99") {
				t.Errorf("an artifact of the future: %v", err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		text := strings.TrimSuffix(path, ".bc")
		want, err := parse.Parse(diag.NewSource(text, readFile(t, text)), ir.NewContext(registry), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// The pretty form omits defaults, which upgrading omits, too.
		if a, b := print.String(m, print.Options{}), print.String(want, print.Options{}); a != b {
			t.Errorf("%s differs from %s:%s", path, text, firstLines(a, b))
		}
		producer, version, _ := bytecode.Producer(data)
		if m, err = artifact.ReadVHLO(src, ir.NewContext(registry)); err != nil {
			t.Error(err)
			continue
		}
		got, err := bytecode.Append(nil, m, bytecode.Options{Version: version, Versioned: true, Producer: producer})
		if err != nil {
			t.Error(err)
			continue
		}
		differ(t, path, "as VHLO", got, data)
	}
}
