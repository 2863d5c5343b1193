package bytecode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
)

// TestCorpus reads files of jaxlib in every version and writes them again byte for byte. HLOCB_BYTECODE names the folder
// of check_bytecode.py's cases.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("HLOCB_BYTECODE")
	if dir == "" {
		t.Skip("HLOCB_BYTECODE is not set")
	}
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(dir + "/*/bc/v*.bc")
	bad := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(f)[1:], ".bc"))
		m, err := bytecode.Read(diag.NewSource(f, data), ir.NewContext(), reg)
		if err != nil {
			t.Error(err)
			bad++
			continue
		}
		out, err := bytecode.Append(nil, m, bytecode.Options{Version: v, Versioned: true, Producer: "MLIR23.0.0git"})
		if err != nil {
			t.Error(err)
			bad++
			continue
		}
		if !bytes.Equal(out, data) {
			i := 0
			for i < len(out) && i < len(data) && out[i] == data[i] {
				i++
			}
			t.Errorf("%s: %d bytes, want %d; first differs at %d", f, len(out), len(data), i)
			bad++
		}
		if bad > 40 {
			break
		}
	}
	t.Logf("%d files, %d bad", len(files), bad)
}
