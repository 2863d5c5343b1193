package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
)

// runCLI runs the command line in this process and fails the test when it takes longer than limit.
func runCLI(t *testing.T, limit time.Duration, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- cli.Run(context.Background(), args, strings.NewReader(""), &out, &errs) }()
	select {
	case code := <-done:
		return code, out.String(), errs.String()
	case <-time.After(limit):
		t.Fatalf("hlocb %s takes longer than %s", strings.Join(args, " "), limit)
		return 0, "", ""
	}
}

func writeFile(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.mlir")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantRefused checks for exit code 1 and a located message of bounded size.
func wantRefused(t *testing.T, code int, stderr, message string) {
	t.Helper()
	if code != 1 {
		t.Errorf("exit code is %d, want 1", code)
	}
	first, _, _ := strings.Cut(stderr, "\n")
	if !strings.Contains(first, "in.mlir:") || !strings.Contains(first, ": error: ") || !strings.Contains(first, message) {
		t.Errorf("first line is %.300q, want a located error with %q", first, message)
	}
	if len(stderr) > 20000 {
		t.Errorf("%d bytes of diagnostics", len(stderr))
	}
	if strings.ContainsAny(stderr, "\x00\x1b\x7f") {
		t.Errorf("control characters reach the terminal: %.300q", stderr)
	}
}

func TestNotUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"in an op":      "func.func @main() {\n  \xff\xfe\n  return\n}\n",
		"binary":        "\x7fELF\x02\x01\x01\x00\x00\x1b[31m",
		"utf-16":        "\xff\xfef\x00u\x00n\x00c\x00",
		"in a type":     "func.func @main(%x: tensor<4x\xc3f32>) {\n  return\n}\n",
		"zero byte":     "func.func @main() {\x00\n  return\n}\n",
		"lonely escape": "\x1b]0;title\x07",
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := runCLI(t, 10*time.Second, "rewrite", writeFile(t, []byte(text)))
			message := ""
			if strings.ContainsRune(text, 0) {
				message = "this is a binary file"
			}
			wantRefused(t, code, stderr, message)
		})
	}
}

// TestDeepNesting: 100,000 levels of whatever nests are refused with a location, and do not end the process.
func TestDeepNesting(t *testing.T) {
	const n = 100_000
	tests := map[string]string{
		"regions":          strings.Repeat(`"x.y"() ({`, n) + strings.Repeat(`}) : () -> ()`, n),
		"regions, open":    strings.Repeat(`"x.y"() ({`, n),
		"modules":          strings.Repeat("module {", n) + strings.Repeat("}", n),
		"tuple types":      `"x.y"() : () -> (` + strings.Repeat("tuple<", n) + "i1" + strings.Repeat(">", n) + ")",
		"function types":   `"x.y"() : () -> (` + strings.Repeat("() -> (", n) + "i1" + strings.Repeat(")", n) + ")",
		"array attributes": `"x.y"() {a = ` + strings.Repeat("[", n) + strings.Repeat("]", n) + `} : () -> ()`,
		"dictionaries":     `"x.y"() ` + strings.Repeat("{a = ", n) + "1" + strings.Repeat("}", n) + ` : () -> ()`,
		"literals":         `"x.y"() {a = dense<` + strings.Repeat("[", n) + "1" + strings.Repeat("]", n) + `> : tensor<1xi32>} : () -> ()`,
		"locations":        `"x.y"() : () -> () loc(` + strings.Repeat("fused[", n) + `"a"` + strings.Repeat("]", n) + ")",
		"names":            `"x.y"() : () -> () loc(` + strings.Repeat(`"a"(`, n) + `"a"` + strings.Repeat(")", n) + ")",
		"opaque":           `"x.y"() {a = #x.y` + strings.Repeat("<", n) + strings.Repeat(">", n) + `} : () -> ()`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := runCLI(t, 60*time.Second, "translate", writeFile(t, []byte(text)))
			if name == "opaque" && code == 0 {
				return // text that the parser skips has no depth
			}
			wantRefused(t, code, stderr, "")
		})
	}
}

// TestLongNames: error messages shorten the name of a hook, because a module may choose a name of any length.
func TestLongNames(t *testing.T) {
	file := writeFile(t, fmt.Appendf(nil, `func.func @main(%%x: tensor<2xf32>) -> tensor<2xf32> {
  %%0 = stablehlo.custom_call @ask(%%x) {api_version = 4 : i32, backend_config = {name = %q}, has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
  return %%0 : tensor<2xf32>
}
`, strings.Repeat("x", 70_000)))
	for _, c := range []struct {
		code int
		args []string
	}{
		{2, nil},
		{2, []string{"--on", "nobody=print"}},
		{3, []string{"--on", "*=const:true"}},
		{3, []string{"--on", "*=echo", "--inject", "*=error"}},
		{3, []string{"--on", "*=echo", "--inject", "*=wrong-shape"}},
	} {
		args := append([]string{"run", file, "--fill", "iota", "--backend", "engine", "--hook-target", "ask"}, c.args...)
		code, _, stderr := runCLI(t, time.Minute, args...)
		if code != c.code || !strings.Contains(stderr, "xxx... (70000 bytes)") || len(stderr) > 2000 {
			t.Errorf("%v: exit code %d, %d bytes of diagnostics: %.300s", c.args, code, len(stderr), stderr)
		}
	}
}

// longLine is a valid module whose first line has about size bytes.
func longLine(size int) []byte {
	var b bytes.Buffer
	b.Grow(size + 1000)
	n := size / 8
	fmt.Fprintf(&b, "func.func @main() -> tensor<%dxf32> { %%0 = stablehlo.constant dense<[", n)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d.%03d0", i%10, i%1000)
	}
	fmt.Fprintf(&b, "]> : tensor<%dxf32> return %%0 : tensor<%dxf32> }", n, n)
	return b.Bytes()
}

// TestLongLine reads a valid line of 100 MB, and shows only a part of the line if it has an error.
func TestLongLine(t *testing.T) {
	label.Once(t)
	label.Slow(t)
	text := longLine(100 << 20)
	if len(text) < 100<<20 {
		t.Fatalf("the line has %d bytes", len(text))
	}
	code, stdout, stderr := runCLI(t, 5*time.Minute, "hooks", writeFile(t, text))
	if code != 0 || stdout != "no hooks\n" {
		t.Errorf("exit code %d, printed %.200q, %.500q", code, stdout, stderr)
	}
	at := bytes.LastIndex(text, []byte("return"))
	copy(text[at:], "rexurn")
	code, _, stderr = runCLI(t, 5*time.Minute, "hooks", writeFile(t, text))
	wantRefused(t, code, stderr, fmt.Sprintf(":1:%d: ", at+1))
	lines := strings.Split(stderr, "\n")
	if len(lines) < 3 || len(lines[1]) > 300 || !strings.Contains(lines[1], "rexurn") {
		t.Errorf("excerpt is %.400q", stderr)
	}
}

// A file whose header is damaged is not called a module of another language, and a directory not a damaged file.
func TestDamagedFiles(t *testing.T) {
	damaged := writeFile(t, []byte("ML\xefRjunk"))
	if code, _, stderr := runCLI(t, time.Minute, "info", damaged); code != 1 || !strings.Contains(stderr, "damaged MLIR bytecode") {
		t.Errorf("info: exit code %d, %s", code, stderr)
	}
	module := writeFile(t, []byte("func.func @main(%x: tensor<f32>) {\n  return\n}\n"))
	code, _, stderr := runCLI(t, time.Minute, "run", module, "--backend", "engine", "--arg", "@"+t.TempDir())
	if code != 1 || !strings.Contains(stderr, "is a directory") {
		t.Errorf("run --arg @DIR: exit code %d, %s", code, stderr)
	}
}
