package bytecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestSharedByMany reads what hlocb wrote if so many ops and attributes share one attribute that a text of the module
// would take gigabytes.
func TestSharedByMany(t *testing.T) {
	long := "#a = \"" + strings.Repeat("x", 1<<16) + "\"\n"
	var dicts strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&dicts, "\"foo.a\"() {v = {n = %d, s = #a}} : () -> ()\n", i)
	}
	for name, text := range map[string]string{
		"ops":          strings.Repeat("\"foo.a\"() {v = #a} : () -> ()\n", 40000),
		"dictionaries": dicts.String(),
		"an array":     "\"foo.a\"() {v = [" + strings.TrimSuffix(strings.Repeat("#a, ", 1000), ", ") + "]} : () -> ()\n",
	} {
		m := parsed(t, long+text)
		again, err := bytecode.Read(diag.NewSource("m.bc", written(t, m, 6)), ir.NewContext(registry))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, b := m.Body().Last(), again.Body().Last()
		if o := (print.Options{}); print.Op(m, a, o) != print.Op(again, b, o) {
			t.Errorf("%s: another op is read", name)
		}
	}
}

// TestShared reads what hlocb wrote if many ops share a large attribute or type.
func TestShared(t *testing.T) {
	numbers := make([]string, 20000)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i*7919, ".5")
	}
	dense := "dense<[" + strings.ReplaceAll(strings.Join(numbers, ", "), " .5", ".5") + "]> : tensor<20000xf32>"
	tuple := "tuple<" + strings.TrimSuffix(strings.Repeat("tensor<2x3xf32>, ", 1000), ", ") + ">"
	for name, text := range map[string]string{
		"constant": "#a = " + dense + "\n" + strings.Repeat(`"foo.a"() {v = #a} : () -> ()`+"\n", 100),
		"string":   "#a = " + `"` + strings.Repeat("x", 1<<16) + `"` + "\n" + strings.Repeat(`"foo.a"() {v = #a} : () -> ()`+"\n", 200),
		"in dictionaries": "#a = " + `"` + strings.Repeat("x", 1<<16) + `"` + "\n" + func() string {
			var b strings.Builder
			for i := range 200 {
				fmt.Fprintf(&b, "\"foo.a\"() {v = {n = %d, s = #a}} : () -> ()\n", i)
			}
			return b.String()
		}(),
		"tuple": "!t = " + tuple + "\n%0 = \"foo.a\"() : () -> !t\n" + func() string {
			var b strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&b, "%%r%d = stablehlo.get_tuple_element %%0[%d] : (!t) -> tensor<2x3xf32>\n", i, i)
			}
			return b.String()
		}(),
	} {
		m := parsed(t, text)
		data := written(t, m, 6)
		again, err := bytecode.Read(diag.NewSource("m.bc", data), ir.NewContext(registry))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o := (print.Options{}); print.String(again, o) != print.String(m, o) {
			t.Errorf("%s: another module is read", name)
		}
	}
}
