//go:build !race

package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestBytecodeMemory reads and writes large files of bytecode of many kinds. A process takes at most 44 MB and 200
// times the file.
func TestBytecodeMemory(t *testing.T) {
	label.Once(t)
	label.Slow(t)
	size, every := 300_000, 4
	if os.Getenv("HLOCB_LONG") != "" {
		size, every = 5_000_000, 1
	}
	file := filepath.Join(t.TempDir(), "in.bc")
	forms := [][]string{{"--to", "mlir"}, {"--to", "generic"}, {"--to", "bytecode"}, {"--to", "vhlo", "--target", "current"}, {"--keep-vhlo", "--to", "mlir"}}
	for i, c := range largeTexts(size) {
		if i%every != 0 {
			continue
		}
		m, err := parse.Parse(diag.NewSource("m.mlir", []byte(c.text)), ir.NewContext(reader.Registry()), parse.Options{})
		if err != nil {
			continue
		}
		files := map[string][]byte{}
		if data, err := bytecode.Append(nil, m, bytecode.Options{}); err == nil {
			files["bytecode"] = data
		}
		if data, _, err := artifact.Append(nil, m, artifact.Options{Target: vhlo.Current, KeepOthers: true}); err == nil {
			files["artifact"] = data
		}
		for kind, data := range files {
			if err := os.WriteFile(file, data, 0o666); err != nil {
				t.Fatal(err)
			}
			form := forms[i/every%len(forms)]
			t.Run(c.name+"/"+kind+"/"+form[1], func(t *testing.T) {
				runWithin(t, len(data), 200, append([]string{"translate", file, "--output", os.DevNull}, form...)...)
			})
		}
	}
}
