package bytecode_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestFilesOfMLIR reads the files that jaxlib wrote of a module in each version: they are the module, and hlocb writes
// the same bytes. An artifact of jaxlib, whose dialect has a version, is the same after another writing.
func TestFilesOfMLIR(t *testing.T) {
	o := print.Options{Generic: true, DebugInfo: true, OwnLocs: true}
	read := func(path string) (*ir.Module, []byte) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := bytecode.Read(diag.NewSource(path, data), ir.NewContext(registry))
		if err != nil {
			t.Fatal(err)
		}
		return m, data
	}
	for _, path := range testkit.Glob(t, "bytecode/*/v?.bc") {
		m, data := read(path)
		version, err := strconv.Atoi(strings.Trim(filepath.Base(path), "v.bc"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "text.mlir"))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := print.String(m, print.Options{Generic: true}), print.String(parsed(t, string(text)), print.Options{Generic: true}); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
		}
		producer, _, _ := bytecode.Producer(data)
		again, err := bytecode.Append(nil, m, bytecode.Options{Version: version, Versioned: true, Producer: producer})
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(data) {
			t.Errorf("%s: written again, the bytes differ", path)
		}
	}
	for _, path := range testkit.Glob(t, "bytecode/*/1.*.vhlo") {
		m, _ := read(path)
		again, err := bytecode.Read(diag.NewSource("again.bc", written(t, m, 6)), ir.NewContext(registry))
		if err != nil {
			t.Fatal(err)
		}
		if print.String(again, o) != print.String(m, o) {
			t.Errorf("%s: written and read again, the text differs", path)
		}
	}
}
