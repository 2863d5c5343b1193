//go:build !race

// The race detector takes several times the memory.

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMemory: whatever the text, reading, verifying and printing it takes at most 40 times its size and 64 MB, neither
// more time than is reasonable, nor a stack without end. Each text is given to a process of its own. HLOCB_LONG makes
// the texts larger.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: a process for each of many large texts")
	}
	size := 300_000
	if os.Getenv("HLOCB_LONG") != "" {
		size = 1_000_000
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, status := filepath.Join(dir, "in.mlir"), filepath.Join(dir, "status")
	for _, c := range largeTexts(size) {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "opt", file)
			cmd.Env = append(os.Environ(), "CHILD_STATUS_FILE="+status)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			stop := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
			err := cmd.Run()
			stop.Stop()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 || cmd.ProcessState.ExitCode() < 0 {
				t.Fatalf("%v: %.300s", err, errs.String())
			}
			if refused := err != nil; refused != c.refused {
				t.Errorf("refused: %t, want %t: %.300s", refused, c.refused, errs.String())
			}
			peak := peakMemory(t, status)
			if limit := 40*int64(len(c.text)) + 64<<20; peak > limit {
				t.Errorf("%d bytes of text take %d bytes of memory, more than %d", len(c.text), peak, limit)
			}
		})
	}
}

// peakMemory returns the bytes of resident memory that a process had at most, of /proc/PID/status. The figure of wait4
// would count the parent, too, whose memory the child had until it became another program.
func peakMemory(t *testing.T, status string) int64 {
	t.Helper()
	text, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no peak of memory in %s", text)
	}
	kb, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

type largeText struct {
	name, text string
	refused    bool
}

// largeTexts returns texts of about size bytes, each of which is large in one way.
func largeTexts(size int) []largeText {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	many := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(format, "$", fmt.Sprintf("%x", i)))
		}
		return b.String()
	}
	attr := func(a string) string { return `"a"(){a=` + a + `}:()->()` }
	list := func(s string) string { return "[" + fill(s+",") + s + "]" }
	double := func(first, next string) string {
		var b strings.Builder
		b.WriteString(first)
		for i := 1; i < 60; i++ {
			b.WriteString(strings.NewReplacer("$", fmt.Sprint(i), "@", fmt.Sprint(i-1)).Replace(next))
		}
		return b.String()
	}
	half := strings.Repeat("x", size/2)
	nest := func(open, inner, close string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	return []largeText{
		{"ops", fill("\"a\"():()->()\n"), false},
		{"results", many("%x$=\"a\"():()->i1\n"), false},
		{"pack", fmt.Sprintf(`%%x:%d="a"():()->(%si1)`, size/3+1, strings.Repeat("i1,", size/3)), false},
		{"operands", "%0=\"a\"():()->i1\n\"b\"(" + strings.Repeat("%0,", size/6) + "%0):(" + strings.Repeat("i1,", size/6) + "i1)->()", false},
		{"regions", fill(`"a"()({}):()->()`), false},
		{"blocks", `"a"()({` + many("^a$:") + `}):()->()`, false},
		{"block arguments", `"a"()({^a(` + many("%a$:i1,") + `%z:i1):}):()->()`, false},
		{"nested regions", fill(nest(`"a"()({`, "", `}):()->()`, 4900)), false},
		{"functions", many("func.func private @a$()\n"), false},
		{"function bodies", many("func.func @a$(){return}\n"), false},
		{"calls", many("func.func @a$(){func.call @a$():()->() return}\n"), false},
		{"attributes", `"a"(){` + many("a$,") + `z}:()->()`, false},
		{"attribute of each op", fill(`"a"(){a}:()->()`), false},
		{"integers", attr(list("1")), false},
		{"arrays", attr(list("[]")), false},
		{"dictionaries", attr(list("{}")), false},
		{"strings", attr(list(`""`)), false},
		{"floats", attr(list("1.")), false},
		{"types", attr(list("i1")), false},
		{"dialect attributes", attr(list("#a.b")), false},
		{"nested arrays", attr(list(nest("[", "", "]", 9000))), false},
		{"nested tuples", attr(list(nest("tuple<", "i1", ">", 9000))), false},
		{"nested functions", attr(list(nest("()->(", "", ")", 9000))), false},
		{"nested location", `"a"():()->()loc(` + nest(`"a"(`, "unknown", ")", 9000) + `)`, false},
		{"locations", many("\"a\"():()->()loc(\"$\":1:1)\n"), false},
		{"location aliases", many("#l$=loc(\"$\")\n"), false},
		{"locations defined late", many("\"a\"():()->()loc(#l$)\n#l$=loc(\"$\")\n"), false},
		{"location of itself", "#a = loc(callsite(#a at #a))\n\"a\"():()->()loc(#a)", true},
		{"doubling locations", double("#a0=loc(\"x\")\n", "#a$=loc(callsite(#a@ at #a@))\n") + `"a"():()->()loc(#a59)`, true},
		{"doubling metadata", double("#a0=loc(\"x\")\n", "#a$=loc(fused<#a@>[#a@])\n") + `"a"():()->()loc(#a59)`, true},
		{"growing locations", "#a0=loc(\"x\")\n" + func() string {
			var b strings.Builder
			for i := 1; b.Len() < size; i++ {
				fmt.Fprintf(&b, "#a%d=loc(fused[#a%d,\"x%d\"])\n", i, i-1, i)
			}
			return b.String()
		}(), true},
		{"doubling arrays", double("#a0=1\n", "#a$=[#a@,#a@]\n"), true},
		{"doubling tuples", double("!a0=i1\n", "!a$=tuple<!a@,!a@>\n"), true},
		{"long string used often", "#a=\"" + half + "\"\n" + attr(list("#a")), true},
		{"long type used often", "!a=!a.b<" + half + ">\n\"a\"():()->(" + strings.Repeat("!a,", size/6) + "!a)", true},
		{"integers as literal", attr("dense<" + list("1") + ">:tensor<" + fmt.Sprint(size/2+1) + "xi8>"), false},
		{"complex literal", attr("dense<" + list("(1.,1.)") + ">:tensor<" + fmt.Sprint(size/8+1) + "xcomplex<f64>>"), false},
		{"hexadecimal literal", attr(`dense<"0x` + strings.Repeat("01", size/2-1) + `02">:tensor<` + fmt.Sprint(size/2) + "xi8>"), false},
		{"huge splat", attr("dense<1>:tensor<1000000x1000000xi64>"), false},
		{"huge splat as constant", "func.func @f()->tensor<1000000x1000000xi64>{%0=stablehlo.constant dense<1>:tensor<1000000x1000000xi64> return %0:tensor<1000000x1000000xi64>}", false},
		{"long string", attr(`"` + half + half + `"`), false},
		{"escapes", attr(`"` + fill(`\01`) + `"`), false},
		{"long names", "%" + half + "=\"a\"():()->i1\n\"b\"(%" + half + "):(i1)->()", false},
		{"op names", many("\"a.$\"():()->()\n"), false},
		{"tensor types", `"a"():()->(` + many("tensor<1x!a.b<$>>,") + "i1)", false},
		{"dimensions", `"a"():()->(tensor<` + strings.Repeat("1x", 9000) + "i1>)", false},
		{"undefined values", many("\"u\"(%a$):(i1)->()\n"), true},
		{"errors", fill("%0=\n"), true},
		{"invalid ops", "func.func @f(%a:tensor<f32>){\n" + fill("\"stablehlo.add\"(%a):(tensor<f32>)->tensor<f32>\n") + "return}", true},
		{"invalid ops in one line", "func.func @f(%a:tensor<f32>){" + fill("\"stablehlo.add\"(%a):(tensor<f32>)->tensor<f32> ") + "return}", true},
		{"successors", `"a"()({^b:"x"()[` + strings.Repeat("^b,", size/3) + `^b]:()->()}):()->()`, false},
		{"resources", "{-#dialect_resources:{a:{" + many(`k$:"0x04000000",`) + `z:"0x04000000"}}#-}`, false},
		{"comment", "//" + half + half + "\n\"a\"():()->()", false},
		{"constants", "func.func @f(){" + many("%a$=stablehlo.constant dense<1>:tensor<i8>\n") + "return}", false},
		{"reductions", "func.func @f(%a:tensor<1xf32>,%b:tensor<f32>){" + many("%c$=stablehlo.reduce(%a init:%b)applies stablehlo.add across dimensions=[0]:(tensor<1xf32>,tensor<f32>)->tensor<f32>\n") + "return}", false},
		{"branches", "func.func @f(%a:tensor<i1>){" + fill("\"stablehlo.if\"(%a)({stablehlo.return},{stablehlo.return}):(tensor<i1>)->()\n") + "return}", false},
	}
}
