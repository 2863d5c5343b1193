package plugincheck

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestModuleNotes: an op in the module's body that no plugin gets is not refused, as 'hlocb run' does not refuse it.
// The same op in a function is.
func TestModuleNotes(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Verdict{
		`module { "llvm.module_flags"() {flags = []} : () -> () }`:                   Yes,
		`func.func @main() { "llvm.module_flags"() {flags = []} : () -> () return }`: No,
	} {
		m, err := parse.Parse(diag.NewSource("m.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range Static(m, Target{Platform: "cpu", FFI: true}) {
			if f.Name == "llvm.module_flags" {
				found = true
				if f.Verdict != want {
					t.Errorf("%s: %s, expected %s: %s", text, f.Verdict, want, f.Why)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said about it", text)
		}
	}
}
