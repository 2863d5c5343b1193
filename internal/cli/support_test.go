package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestStaticTableHolds compiles the samples of ops with XLA's CPU plugin and compares the outcomes with the table. It
// reads the files with an op that the plugin lacks; with HLOCB_LONG, all files.
func TestStaticTableHolds(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	// The plugin refuses the sample's type or size, not its op.
	odd := map[string]string{
		"chlo.conj":                     "the sample is real",
		"stablehlo.custom_call @target": "it is not registered",
		"mhlo.bitcast":                  "the sample has the layout of another rank",
		"mhlo.stochastic_convert":       "the sample's types",
		"shape.const_shape":             "its result is not a tensor of numbers",
		"shape.broadcast":               "its result is not a tensor of numbers",
	}
	tried := 0
	for _, file := range testkit.Glob(t, "ops/*.mlir") {
		switch name := filepath.Base(file); {
		case os.Getenv("HLOCB_LONG") != "":
		case name != "chlo.mlir" && name != "stablehlo_newer.mlir" && name != "stablehlo_quantized.mlir" && name != "stablehlo_distribution.mlir":
			continue
		}
		_, stdout, stderr := runCLI(t, 5*time.Minute, "plugin", "check", file, "--as-written", "--level", "compile", "--json")
		if strings.Contains(stderr, "no PJRT plugin") || strings.Contains(stderr, "needs cgo") {
			t.Skip("skip: no CPU plugin")
		}
		var report struct {
			Findings []struct{ What, Name, Verdict string }
			Pieces   []struct{ Name, Loc, Verdict, Why string }
		}
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatalf("%s: %v: %s", file, err, stderr)
		}
		table := map[string]string{}
		for _, f := range report.Findings {
			if f.What == "op" {
				table[f.Name] = f.Verdict
			}
		}
		for _, p := range report.Pieces {
			op, _, _ := strings.Cut(p.Name, " ")
			if p.Verdict == "maybe" || odd[p.Name] != "" {
				continue // not tried
			}
			tried++
			if table[op] != p.Verdict && table[op] != "maybe" {
				t.Errorf("%s: the table says %s of %s, the plugin %s: %s", p.Loc, table[op], op, p.Verdict, p.Why)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d ops were tried", tried)
	}
}
