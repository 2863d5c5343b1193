package reader_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestExportOfOtherType refuses to put a main of another type into a file of jax.export, which states the type.
func TestExportOfOtherType(t *testing.T) {
	text, err := os.ReadFile(testkit.Testdata("bytecode", "add_one.jaxexport"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := reader.Read(diag.NewSource("add_one", text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := reader.Write(t.Context(), &out, "x", m, print.Options{}); err != nil || out.Len() == 0 {
		t.Fatalf("%d bytes, %v", out.Len(), err)
	}
	f, _ := fn.Lookup(m, "main")
	f.Op.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(m.Context().Function(nil, nil)))
	out.Reset()
	if err := reader.Write(t.Context(), &out, "x", m, print.Options{}); err == nil || !strings.Contains(err.Error(), "now it has type () -> ()") || out.Len() > 0 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}
