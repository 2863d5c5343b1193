package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

func registry(t *testing.T) *ir.Registry {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// TestRows checks the fields that every row must set.
func TestRows(t *testing.T) {
	for _, d := range all.Dialects() {
		for _, def := range d.Ops {
			if def.Doc == "" || !strings.HasSuffix(def.Doc, ".") {
				t.Errorf("%s: the doc must be one or more sentences: %q", def.Name, def.Doc)
			}
			if d.Name == "stablehlo" && def.Name != "stablehlo.return" && !strings.Contains(def.Doc, "Spec: "+strings.TrimPrefix(def.Name, "stablehlo.")) && !strings.Contains(def.Doc, "Not in the specification") {
				t.Errorf("%s: the doc names no section of the specification", def.Name)
			}
			names := map[string]bool{}
			for _, a := range append(append([]ir.Arg{}, def.Operands...), def.Results...) {
				if a.Name == "" {
					t.Errorf("%s: an operand or result has no name", def.Name)
				}
			}
			for _, a := range def.Attrs {
				if names[a.Name] {
					t.Errorf("%s: attribute %s twice", def.Name, a.Name)
				}
				names[a.Name] = true
				if a.Default != nil && a.Type.Check != nil && !a.Type.Check(a.Default) {
					t.Errorf("%s: the default of %s is none that the attribute takes", def.Name, a.Name)
				}
			}
			if (def.Parse == nil) != (def.Print == nil) {
				t.Errorf("%s: Parse and Print go together", def.Name)
			}
			if def.Format != "" && def.Parse != nil {
				t.Errorf("%s: has a format and hooks", def.Name)
			}
			if (def.Syntax != "") != (def.Parse != nil) {
				t.Errorf("%s: Syntax describes what Parse reads", def.Name)
			}
			if def.Has(ir.Terminator) && len(def.Results) > 0 {
				t.Errorf("%s: a terminator with results", def.Name)
			}
		}
	}
}

// samples returns the files with a sample of every operation.
func samples(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/ops/*.mlir")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	out := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = string(text)
	}
	return out
}

// read parses and verifies text, or fails the test.
func read(t *testing.T, reg *ir.Registry, name, text string) *ir.Module {
	t.Helper()
	m, err := parse.Parse(diag.NewSource(name, []byte(text)), ir.NewContext(reg), parse.Options{})
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// roundTrip reads text, prints it in both forms, and reads those again. It adds the operations to seen.
func roundTrip(t *testing.T, reg *ir.Registry, name, text string, seen map[string]bool) *ir.Module {
	t.Helper()
	m := read(t, reg, name, text)
	seen[m.Op().Name()] = true
	m.Walk(func(op *ir.Op) bool {
		seen[op.Name()] = true
		return true
	})
	pretty, generic := print.String(m, print.Options{}), print.String(m, print.Options{Generic: true})
	for _, again := range []string{pretty, generic} {
		m2 := read(t, reg, name+" printed", again)
		if got := print.String(m2, print.Options{}); got != pretty {
			t.Errorf("%s: the pretty form changes when it is read again", name)
		}
		if got := print.String(m2, print.Options{Generic: true}); got != generic {
			t.Errorf("%s: the generic form changes when it is read again", name)
		}
	}
	return m
}

// TestSamples reads and prints a sample of every operation; no operation may lack one.
func TestSamples(t *testing.T) {
	reg := registry(t)
	seen := map[string]bool{}
	for name, text := range samples(t) {
		m := roundTrip(t, reg, name, text, seen)
		if strings.HasPrefix(name, "stablehlo_") && name != "stablehlo_newer.mlir" {
			roundTrip(t, reg, "mhlo of "+name, testkit.MHLO(print.String(m, print.Options{Generic: true})), seen)
		}
	}
	for _, d := range reg.Dialects() {
		for _, def := range d.Ops {
			if !seen[def.Name] && d.Name != "vhlo" { // whose samples are artifacts
				t.Errorf("%s: no sample in testdata/ops", def.Name)
			}
		}
	}
	if n := len(mhlo.Dialect().Ops); n < 138 {
		t.Errorf("%d rows of mhlo, want at least 138", n)
	}
}

// TestInference infers the result types of every operation in the samples whose row has Infer. They must be compatible
// with the types in the text.
func TestInference(t *testing.T) {
	reg := registry(t)
	n := 0
	for name, text := range samples(t) {
		m := read(t, reg, name, text)
		m.Walk(func(op *ir.Op) bool {
			if op.Def().Infer == nil {
				return true
			}
			n++
			types, err := op.Def().Infer(m.Context(), &ir.OpState{Def: op.Def(), Operands: op.OperandList(), Attrs: op.Attrs(), Bodies: op.Regions()})
			if err != nil {
				t.Errorf("%s: %s: %v", name, op.Name(), err)
				return true
			}
			if len(types) != op.NumResults() {
				t.Errorf("%s: %s: %d types inferred for %d results", name, op.Name(), len(types), op.NumResults())
				return true
			}
			for i, v := range op.Results() {
				if types[i] != v.Type() && !strings.Contains(types[i].String(), "?") && op.Name() != "stablehlo.set_dimension_size" {
					t.Errorf("%s: %s: inferred %s, written %s", name, op.Name(), types[i], v.Type())
				}
			}
			return true
		})
	}
	if n < 180 {
		t.Errorf("only %d operations of the samples can be inferred", n)
	}
}
