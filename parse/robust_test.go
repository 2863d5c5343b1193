package parse_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// text reads a module with no dialect known but the parser's own.
func text(s string) (*ir.Module, error) {
	return parse.Parse(diag.NewSource("in.mlir", []byte(s)), ir.NewContext(nil), parse.Options{})
}

const sample = `#map = affine_map<(d0) -> (d0)>
!t = tensor<2x?xf32, #foo.enc<[1, 2]>>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<2xf32> loc("a":1:2)):
    %0:2 = "foo.bar"(%arg0) {a = dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>, b = dense<"0x00FF"> : tensor<2xi8>,
      c = array<i64: 1, 2>, d = [1, 2.5 : f32, "x\0A", @a::@b, unit, {k = #map}], e = loc(fused<"m">["a":1:2, callsite("b" at unknown)])}
      : (tensor<2xf32>) -> (i32, !t)
    %1 = "foo.baz"(%0#1, %later)[^bb1] ({}, {
    ^bb0:
      "foo.q"() : () -> ()
    }) : (!t, index) -> memref<2xf32, strided<[1]>> loc(#loc1)
  ^bb1:  // pred: ^bb0
    %later = "foo.late"() {r = dense_resource<blob> : tensor<4xi8>} : () -> index
    "func.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
#loc1 = loc("f.py":3:19 to :29)
{-#
  dialect_resources: {
    builtin: {
      blob: "0x0400000001020304"
    }
  }
#-}
`

// TestTruncated reads every prefix of a module, and the module with every byte replaced in turn: each is read or
// refused with a place.
func TestTruncated(t *testing.T) {
	if _, err := text(sample); err != nil {
		t.Fatal(err)
	}
	check := func(s string) {
		_, err := text(s)
		if err == nil {
			return
		}
		var d *diag.Diagnostic
		if !errors.As(err, &d) || !d.Pos.IsValid() {
			t.Fatalf("no place: %v\n%s", err, s)
		}
		if strings.Contains(err.Error(), "internal error") {
			t.Fatalf("%v\n%s", err, s)
		}
	}
	for i := range sample {
		check(sample[:i])
		for _, c := range []string{"", "\x00", "\xff", "<", ">", "(", ")", "{", "}", "\"", "%", "0", "-", "#", "!"} {
			check(sample[:i] + c + sample[i+1:])
		}
	}
}

// TestRoundTrip prints the sample and reads it again, in every form.
func TestRoundTrip(t *testing.T) {
	for _, o := range []print.Options{{}, {Generic: true}, {DebugInfo: true}, {DebugInfo: true, LocalScope: true}} {
		m, err := text(sample)
		if err != nil {
			t.Fatal(err)
		}
		first := print.String(m, o)
		again, err := text(first)
		if err != nil {
			t.Fatalf("%+v: %v\n%s", o, err, first)
		}
		if second := print.String(again, o); second != first {
			t.Errorf("%+v:\n%s\nbecomes\n%s", o, first, second)
		}
	}
}

// TestDepth nests everything that nests 100,000 deep: an error with a place, no stack overflow.
func TestDepth(t *testing.T) {
	const n = 100000
	r := func(s string) string { return strings.Repeat(s, n) }
	cases := map[string]string{
		"regions":   r(`"a.b"() ({ `) + r(`}) : () -> ()`),
		"arrays":    `"a.b"() {x = ` + r("[") + r("]") + `} : () -> ()`,
		"dicts":     `"a.b"() {x = ` + r("{y = ") + "1" + r("}") + `} : () -> ()`,
		"tuples":    `"a.b"() {x = ` + r("tuple<") + "i1" + r(">") + `} : () -> ()`,
		"functions": `"a.b"() {x = ` + r("() -> (") + r(")") + `} : () -> ()`,
		"tensors":   `"a.b"() {x = ` + r("tensor<1x") + "i1" + r(">") + `} : () -> ()`,
		"locs":      `"a.b"() : () -> () loc(` + r(`"x"(`) + "unknown" + r(")") + `)`,
		"callsites": `"a.b"() : () -> () loc(` + r(`callsite(unknown at `) + "unknown" + r(")") + `)`,
		"fused":     `"a.b"() : () -> () loc(` + r(`fused[`) + "unknown" + r("]") + `)`,
		"dialect":   `"a.b"() {x = #a.b` + r("<") + r(">") + `} : () -> ()`,
		"dialect2":  `"a.b"() {x = !a.b` + r("<(") + r(")>") + `} : () -> ()`,
		"affine":    `"a.b"() {x = affine_map<` + r("(") + r(")") + `>} : () -> ()`,
		"dense":     `"a.b"() {x = dense<` + r("[") + r("]") + `> : tensor<1xi8>} : () -> ()`,
		"open":      r(`"a.b"() ({ `),
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := text(s)
			var d *diag.Diagnostic
			if !errors.As(err, &d) || !d.Pos.IsValid() {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(d.Message, "deep") && name != "dense" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestDepthAllowed reads and prints modules that nest as deep as is allowed.
func TestDepthAllowed(t *testing.T) {
	const n = 4900
	r := func(s string) string { return strings.Repeat(s, n) }
	for name, s := range map[string]string{
		"regions": r(`"a.b"() ({ `) + r(`}) : () -> ()`),
		"arrays":  `"a.b"() {x = ` + r("[") + r("]") + `} : () -> ()`,
		"tuples":  `"a.b"() {x = ` + r("tuple<") + "i1" + r(">") + `} : () -> ()`,
		"locs":    `"a.b"() : () -> () loc(` + r(`"x"(`) + "unknown" + r(")") + `)`,
	} {
		m, err := text(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if out := print.String(m, print.Options{DebugInfo: true}); len(out) < n {
			t.Errorf("%s: printed %d bytes", name, len(out))
		}
	}
}

// TestLargeInput reads large inputs of several kinds in one line: time and memory stay linear.
func TestLargeInput(t *testing.T) {
	label.Slow(t)
	n := 200000
	var ops, attrs, nums strings.Builder
	for i := range n {
		fmt.Fprintf(&ops, `%%%d = "a.b"() {x = %d : i32} : () -> tensor<%dxf32> `, i, i, i)
		fmt.Fprintf(&attrs, `a%d = %d, `, i, i)
		fmt.Fprintf(&nums, "%d, ", i)
	}
	list := strings.TrimSuffix(nums.String(), ", ")
	for name, s := range map[string]string{
		"ops":     ops.String(),
		"attrs":   `"a.b"() {x = {` + strings.TrimSuffix(attrs.String(), ", ") + `}} : () -> ()`,
		"array":   `"a.b"() {x = [` + list + `]} : () -> ()`,
		"dense":   `"a.b"() {x = dense<[` + list + `]> : tensor<` + fmt.Sprint(n) + `xi32>} : () -> ()`,
		"string":  `"a.b"() {x = "` + strings.Repeat("y", 20*n) + `"} : () -> ()`,
		"space":   strings.Repeat(" ", 20*n) + `"a.b"() : () -> ()`,
		"comment": strings.Repeat("// c\n", 4*n) + `"a.b"() : () -> ()`,
		"values":  `%x:` + fmt.Sprint(n) + ` = "a.b"() : () -> (` + strings.TrimSuffix(strings.Repeat("i1, ", n), ", ") + `)`,
		"dims":    `"a.b"() {x = tensor<` + strings.Repeat("1x", 9000) + `f32>} : () -> ()`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			m, err := text(s)
			if err != nil {
				t.Fatal(err)
			}
			out := print.String(m, print.Options{})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes: %v, %d bytes allocated, %d printed", len(s), took, used, len(out))
			if limit := 80*uint64(len(s)) + 64<<20; used > limit {
				t.Errorf("allocates %d bytes for %d of input", used, len(s))
			}
			if took > 30*time.Second {
				t.Errorf("takes %v", took)
			}
		})
	}
}

// TestForward reads values and locations that are used before they are defined.
func TestForward(t *testing.T) {
	m, err := text(`"a.g"() ({
  "a.use"(%x#1, %x#0, %y) : (i32, i1, f32) -> () loc(#l)
  %x:2 = "a.def"(%y) : (f32) -> (i1, i32)
  %y = "a.y"() : () -> f32
}) : () -> ()
#l = loc("there":1:2)`)
	if err != nil {
		t.Fatal(err)
	}
	want := `module {
  "a.g"() ({
    "a.use"(%0#1, %0#0, %1) : (i32, i1, f32) -> ()
    %0:2 = "a.def"(%1) : (f32) -> (i1, i32)
    %1 = "a.y"() : () -> f32
  }) : () -> ()
}
`
	got := strings.Replace(print.String(m, print.Options{}), `"builtin.module"() ({`, "module {", 1)
	got = strings.Replace(got, "}) : () -> ()\n}) : () -> ()\n", "}) : () -> ()\n}\n", 1)
	if got != want {
		t.Errorf("got\n%s", got)
	}
	use := m.Body().First().Region(0).Entry().First()
	if use.Loc().Kind() != ir.LocFile || use.Loc().Name() != "there" {
		t.Errorf("location is %v", use.Loc())
	}
}

// TestExpansion refuses aliases that double at every step.
func TestExpansion(t *testing.T) {
	for name, step := range map[string][2]string{
		"arrays": {"#a%d = [#a%d, #a%d]\n", "#a0 = 1\n"},
		"dicts":  {"#a%d = {x = #a%d, y = #a%d}\n", "#a0 = 1\n"},
		"tuples": {"!a%d = tuple<!a%d, !a%d>\n", "!a0 = i32\n"},
		"types":  {"!a%d = (!a%d) -> !a%d\n", "!a0 = i32\n"},
		"calls":  {"#a%d = loc(callsite(#a%d at #a%d))\n", "#a0 = loc(\"f\":1:2)\n"},
		"fused":  {"#a%d = loc(fused<#a%d>[#a%d])\n", "#a0 = loc(\"f\":1:2)\n"},
	} {
		s := step[1]
		for i := 1; i < 60; i++ {
			s += fmt.Sprintf(step[0], i, i-1, i-1)
		}
		if name == "types" {
			s = strings.ReplaceAll(s, "-> !", "-> (!")
			s = strings.ReplaceAll(s, "\n", ")\n")
			s = strings.Replace(s, "i32)", "i32", 1)
		}
		_, err := text(s)
		if err == nil || !strings.Contains(err.Error(), "are written out") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestForwardLocations: as in MLIR, only the whole location of an op or argument may be an alias that is defined
// later. A location can therefore not be part of itself.
func TestForwardLocations(t *testing.T) {
	m, err := text("\"a.b\"() ({\n^bb0(%a: i32 loc(#a)):\n  \"a.c\"() : () -> () loc(#a)\n}) : () -> () loc(#b)\n#a = loc(\"x\")\n#b = loc(callsite(#a at \"y\"))")
	if err != nil {
		t.Fatal(err)
	}
	op := m.Body().First()
	entry := op.Region(0).Entry()
	got := fmt.Sprint(op.Loc(), entry.Arg(0).Loc(), entry.First().Loc())
	if want := `loc(callsite("x" at "y")) loc("x") loc("x")`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, s := range []string{
		"#a = loc(callsite(#a at #a))\n\"a.b\"() : () -> () loc(#a)",
		"\"a.b\"() : () -> () loc(#a)\n#a = loc(\"x\"(#b))\n#b = loc(\"y\")",
		"#a = loc(#a)",
		"\"a.b\"() {x = loc(#a)} : () -> ()\n#a = loc(\"x\")",
		"\"a.b\"() : () -> () loc(fused<#a>[\"x\"])\n#a = loc(\"x\")",
		"\"a.b\"() : () -> () loc(fused[#a])\n#a = loc(\"x\")",
	} {
		if _, err := text(s); err == nil || !strings.Contains(err.Error(), "undefined symbol alias id") {
			t.Errorf("%q: got %v", s, err)
		}
	}
	if _, err := text("\"a.b\"() : () -> () loc(#a)"); err == nil || !strings.Contains(err.Error(), "operation location alias was never defined") {
		t.Errorf("got %v", err)
	}
}

// TestUsedOften reads a long alias that is used often: the uses share it, even if their text would take gigabytes.
func TestUsedOften(t *testing.T) {
	long := strings.Repeat("x", 10000)
	for name, s := range map[string][2]string{
		"string":  {"#a = \"" + long + "\"\n", "\"a.b\"() {x = #a} : () -> ()\n"},
		"dialect": {"#a = #a.b<" + long + ">\n", "\"a.b\"() {x = #a} : () -> ()\n"},
		"type":    {"!a = !a.b<" + long + ">\n", "\"a.b\"() : () -> !a\n"},
		"element": {"!a = !a.b<" + long + ">\n", "\"a.b\"() : () -> tensor<4x!a>\n"},
		"nested":  {"!a = !a.b<" + long + ">\n", "\"a.b\"() : () -> tuple<!a>\n"},
	} {
		if _, err := text(s[0] + strings.Repeat(s[1], 40000)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPrintInPieces: text that is printed in pieces is the same, also if only the end of the module shows that the
// start needs aliases.
func TestPrintInPieces(t *testing.T) {
	ops := strings.Repeat("\"a.b\"() {x = [1, 2, 3], y = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<4xf32>\n", 100)
	deep := strings.Repeat("\"a.b\"() ({\n", 1500) + ops + strings.Repeat("}) : () -> ()\n", 1500)
	for name, s := range map[string]string{
		"none":  deep,
		"late":  deep + "\"a.b\"() {x = affine_map<(d0) -> (d0)>} : () -> ()",
		"early": "\"a.b\"() {x = affine_map<(d0) -> (d0)>} : () -> ()\n" + deep,
		"loc":   deep + "\"a.b\"() : () -> () loc(\"x\")",
	} {
		m, err := text(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []print.Options{{}, {Generic: true}, {DebugInfo: true}, {DebugInfo: true, LocalScope: true}} {
			var b strings.Builder
			w := countingWriter{w: &b}
			if err := print.Print(&w, m, o); err != nil {
				t.Fatal(err)
			}
			if b.String() != print.String(m, o) {
				t.Errorf("%s, %+v: the text in pieces differs", name, o)
			}
			if w.largest > 2<<20 {
				t.Errorf("%s, %+v: %d bytes at once", name, o, w.largest)
			}
		}
	}
}

// countingWriter remembers the length of the longest single write.
type countingWriter struct {
	w       io.Writer
	largest int
}

func (c *countingWriter) Write(b []byte) (int, error) {
	c.largest = max(c.largest, len(b))
	return c.w.Write(b)
}

// TestDialectSymbols reads attributes and types of unknown dialects as MLIR does (the right-hand sides are jaxlib's).
func TestDialectSymbols(t *testing.T) {
	for in, want := range map[string]string{
		"#x.": "#x<>", "#x.<1>": "#x<<1>>", "!x.": "!x<>", "!x.<2>": "!x<<2>>", "#x..": "#x<.>", "#x.y.z": "#x.y.z", "#x<>": "#x<>",
		"#x<y>": "#x.y", "#x.y<>": "#x.y<>", "!x<_a>": "!x<_a>", "!x._a<2>": "!x<_a<2>>", "#x<a$b>": "#x<a$b>", "#x<a b>": "#x<a b>",
		"#x.a$b<1>": "#x<a$b<1>>", "#x< a>": "#x< a>", "!a$b<x>": "!a$b.x", "#A9_$.x-y": "#A9_$<x-y>",
	} {
		m, err := text(`"a.b"() {x = ` + in + `} : () -> ()`)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := m.Body().First().Attr("x").String(); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{"#.", "#.y", "!.", "#x. <y>", "!0<a>", "#a-b<x>", "!a-b.c", "!$a.b"} {
		if _, err := text(`"a.b"() {x = ` + in + `} : () -> ()`); err == nil {
			t.Errorf("%s is read", in)
		}
	}
}
