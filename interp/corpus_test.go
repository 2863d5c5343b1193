package interp

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// upstream returns the directory of the upstream test files, or skips the test.
func upstream(t testing.TB, elem ...string) string {
	root := os.Getenv("HLOCB_UPSTREAM")
	if root == "" {
		t.Skip("skip: HLOCB_UPSTREAM does not name the unpacked stablehlo.tar.xz")
	}
	return filepath.Join(append([]string{root, "stablehlo"}, elem...)...)
}

// tally counts outcomes by kind.
type tally struct {
	pass   int
	reason map[string][]string
}

func (c *tally) fail(reason, where string) {
	if c.reason == nil {
		c.reason = map[string][]string{}
	}
	c.reason[reason] = append(c.reason[reason], where)
}

func (c *tally) report(t *testing.T, name string) {
	n := 0
	var keys []string
	for k, w := range c.reason {
		n += len(w)
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		return len(c.reason[keys[i]]) > len(c.reason[keys[j]]) || len(c.reason[keys[i]]) == len(c.reason[keys[j]]) && keys[i] < keys[j]
	})
	t.Logf("%s: %d passed, %d failed", name, c.pass, n)
	for _, k := range keys {
		t.Logf("%5d  %s   e.g. %s", len(c.reason[k]), k, c.reason[k][0])
	}
}

// runChecks runs every function without arguments of a module that states expectations.
func runChecks(name string, text []byte, c *tally) {
	m, err := tryParse(name, text)
	if err != nil {
		c.fail("parse: "+firstLine(err), name)
		return
	}
	for _, f := range entryPoints(m) {
		where := name + " @" + f
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		exe, err := New(Options{Entry: f}).Compile(ctx, &runtime.Program{Module: m}, runtime.CompileOptions{})
		if err == nil {
			_, err = exe.Run(ctx, nil)
		}
		cancel()
		if err != nil {
			c.fail(firstLine(err), where)
		} else {
			c.pass++
		}
	}
}

// entryPoints returns the functions that nobody calls and that take no arguments.
func entryPoints(m *ir.Module) []string {
	called := map[string]bool{}
	m.Walk(func(o *ir.Op) bool {
		if o.Name() == "func.call" {
			called[fn.Callee(o)] = true
		}
		if a, ok := o.Attr("programs").(*ir.ArrayAttr); ok {
			noteSymbols(a, called)
		}
		if a, ok := o.Attr("infeed").(*ir.ArrayAttr); ok {
			noteSymbols(a, called)
		}
		return true
	})
	var out []string
	for _, f := range fn.Funcs(m) {
		if t := f.Type(); t != nil && len(t.Inputs()) == 0 && !called[f.Symbol()] && !f.External() {
			out = append(out, f.Symbol())
		}
	}
	return out
}

func noteSymbols(a *ir.ArrayAttr, set map[string]bool) {
	for _, e := range a.Elems() {
		switch e := e.(type) {
		case *ir.ArrayAttr:
			noteSymbols(e, set)
		case *ir.SymbolRefAttr:
			set[e.Root()] = true
		}
	}
}

func firstLine(err error) string {
	s := err.Error()
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	// Without the position, so that equal reasons count together.
	if i := strings.Index(s, "error: "); i >= 0 {
		s = s[i+len("error: "):]
	}
	return s
}

// split cuts a file at its "// -----" lines.
func split(text []byte) [][]byte { return bytes.Split(text, []byte("// -----")) }

func runDir(t *testing.T, dir string, chunked bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s", dir)
	}
	var c tally
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		parts := [][]byte{text}
		if chunked {
			parts = split(text)
		}
		for i, p := range parts {
			runChecks(fmt.Sprintf("%s#%d", filepath.Base(f), i), p, &c)
		}
	}
	c.report(t, filepath.Base(dir))
}

func TestUpstreamInterpret(t *testing.T) { runDir(t, upstream(t, "tests", "interpret"), true) }
func TestUpstreamTestdata(t *testing.T)  { runDir(t, upstream(t, "testdata"), false) }
func TestUpstreamQuantized(t *testing.T) { runDir(t, upstream(t, "testdata", "quantized"), true) }
func TestUpstreamMath(t *testing.T)      { runDir(t, upstream(t, "tests", "math"), true) }
