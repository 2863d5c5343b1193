package ir_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// read reads a module with all dialects.
func read(t testing.TB, text string) *ir.Module {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestVerifyDominance: the verdicts, words and positions are MLIR's, taken from jaxlib 0.10.2.
func TestVerifyDominance(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"module", `"u.use"(%0) : (i32) -> ()
%0 = "u.def"() : () -> i32`, ""},
		{"module, own result", `%0 = "u.def"(%0) : (i32) -> i32`, ""},
		{"module, nested", `"u.q"() ({ "u.use"(%0) : (i32) -> () }) : () -> ()
%0 = "u.def"() : () -> i32`, ""},
		{"one block of an unknown op", `"u.r"() ({
  "u.use"(%0) : (i32) -> ()
  %0 = "u.def"() : () -> i32
}) : () -> ()`, ""},
		{"one block of an unknown op, nested", `"u.r"() ({
  "u.q"() ({ "u.use"(%0) : (i32) -> () }) : () -> ()
  %0 = "u.def"() : () -> i32
}) : () -> ()`, ""},
		{"function", `func.func @f() {
  "u.use"(%0) : (i32) -> ()
  %0 = "u.def"() : () -> i32
  return
}`, "text:2:3: error: operand #0 does not dominate this use"},
		{"block that nothing reaches", `"u.r"() ({
  "u.end"() : () -> ()
^bb1:
  "u.use"(%0) : (i32) -> ()
  %0 = "u.def"() : () -> i32
}) : () -> ()`, ""},
		{"definition in a later block that comes first", `"u.r"() ({
  "u.br"()[^bb2] : () -> ()
^bb1:
  "u.use"(%0) : (i32) -> ()
^bb2:
  %0 = "u.def"() : () -> i32
  "u.br"()[^bb1] : () -> ()
}) : () -> ()`, ""},
		{"a way around the definition", `"u.r"() ({
  "u.br"()[^bb2, ^bb1] : () -> ()
^bb1:
  "u.use"(%0) : (i32) -> ()
^bb2:
  %0 = "u.def"() : () -> i32
  "u.br"()[^bb1] : () -> ()
}) : () -> ()`, "text:4:3: error: operand #0 does not dominate this use"},
		{"a way around the definition, in a function", `func.func @f() {
  "u.br"()[^bb2, ^bb1] : () -> ()
^bb1:
  "u.use"(%0) : (i32) -> ()
  return
^bb2:
  %0 = "u.def"() : () -> i32
  "u.br"()[^bb1] : () -> ()
}`, "text:4:3: error: operand #0 does not dominate this use"},
		{"a value of a block that nothing reaches", `"u.r"() ({
  "u.use"(%0) : (i32) -> ()
^bb2:
  %0 = "u.def"() : () -> i32
  "u.br"()[^bb2] : () -> ()
}) : () -> ()`, "text:2:3: error: operand #0 does not dominate this use"},
		{"branch to the entry", `"u.r"() ({
^bb0:
  "u.br"()[^bb0] : () -> ()
}) : () -> ()`, "text:1:1: error: entry block of region may not have predecessors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := read(t, c.text)
			got := ""
			if err := ir.Verify(m); err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestBlockDominates(t *testing.T) {
	// entry -> a -> b -> a, b -> c; entry -> c; d is reached by nothing and branches to c.
	m := read(t, `"u.r"() ({
  "u.br"()[^a, ^c] : () -> ()
^a:
  "u.br"()[^b] : () -> ()
^b:
  "u.br"()[^a, ^c] : () -> ()
^c:
  "u.end"() : () -> ()
^d:
  "u.br"()[^c] : () -> ()
}) : () -> ()`)
	blocks := m.Body().First().Region(0).Blocks()
	const names = "eabcd"
	want := map[string]string{"e": "eabcd", "a": "abd", "b": "bd", "c": "cd", "d": "d"}
	for i, x := range blocks {
		got := ""
		for k, y := range blocks {
			if x.Dominates(y) {
				got += names[k : k+1]
			}
		}
		if name := names[i : i+1]; got != want[name] {
			t.Errorf("%s dominates %s, want %s", name, got, want[name])
		}
		if got, want := x.Reachable(), i < 4; got != want {
			t.Errorf("block %d is reachable: %t, want %t", i, got, want)
		}
	}
	other := m.NewBlock()
	if other.Dominates(blocks[0]) || !other.Reachable() {
		t.Error("a block in no region dominates the entry of one, or is not reachable")
	}
}
