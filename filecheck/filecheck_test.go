package filecheck_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/filecheck"
)

// TestMatch: each directive accepts and refuses as FileCheck does. want is a part of the error; empty: the input
// matches.
func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name, checks, input, want string
		opts                      filecheck.Options
	}{
		{name: "plain", checks: "CHECK: b", input: "a\nb\n"},
		{name: "plain missing", checks: "CHECK: c", input: "a\nb\n", want: "1:1: error: CHECK: expected string not found in input"},
		{name: "order", checks: "CHECK: b\nCHECK: a", input: "a\nb\n", want: "2:1: error"},
		{name: "blanks", checks: "CHECK: a   b", input: "a \t b"},
		{name: "strict blanks", checks: "CHECK: a  b", input: "a b", opts: filecheck.Options{StrictWhitespace: true}, want: "not found"},
		{name: "full lines", checks: "CHECK: a", input: "ab", opts: filecheck.Options{MatchFullLines: true}, want: "not found"},
		{name: "full lines with blanks", checks: "CHECK: a", input: " a ", opts: filecheck.Options{MatchFullLines: true}},
		{name: "next", checks: "CHECK: a\nCHECK-NEXT: b", input: "a\nb"},
		{name: "next later", checks: "CHECK: a\nCHECK-NEXT: b", input: "a\n\nb", want: "2:1: error: CHECK-NEXT: is not on the line after the previous match"},
		{name: "next same", checks: "CHECK: a\nCHECK-NEXT: b", input: "a b", want: "is on the same line as previous match"},
		{name: "next first", checks: "CHECK-NEXT: b", input: "b", want: "found 'CHECK-NEXT' without previous 'CHECK: line"},
		{name: "same", checks: "CHECK: a\nCHECK-SAME: b", input: "a b"},
		{name: "same next", checks: "CHECK: a\nCHECK-SAME: b", input: "a\nb", want: "is not on the same line"},
		{name: "empty", checks: "CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b", input: "a\n\nb"},
		{name: "empty not", checks: "CHECK: a\nCHECK-EMPTY:\nCHECK: b", input: "a\nb", want: "CHECK-EMPTY"},
		{name: "empty at the end", checks: "CHECK: a\nCHECK-EMPTY:", input: "a\n\n"},
		{name: "not between", checks: "CHECK: a\nCHECK-NOT: x\nCHECK: b", input: "a\nx\nb", want: "2:1: error: CHECK-NOT: excluded string found in input"},
		{name: "not outside", checks: "CHECK: a\nCHECK-NOT: x\nCHECK: b", input: "x\na\nb\nx"},
		{name: "not at the end", checks: "CHECK: a\nCHECK-NOT: x", input: "x a\nx", want: "2:1"},
		{name: "dag", checks: "CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c", input: "b\na\nc"},
		{name: "dag before", checks: "CHECK-DAG: a\nCHECK: c", input: "c\na", want: "2:1"},
		{name: "dag overlap", checks: "CHECK-DAG: add [[A:r[0-9]]]\nCHECK-DAG: add [[B:r[0-9]]]\nCHECK: use [[A]], [[B]]", input: "add r1\nadd r2\nuse r1, r2"},
		{name: "dag no overlap", checks: "CHECK-DAG: x\nCHECK-DAG: x", input: "x", want: "2:1"},
		{name: "dag groups", checks: "CHECK-DAG: a\nCHECK-NOT: n\nCHECK-DAG: b", input: "a\nn\nb", want: "2:1: error: CHECK-NOT"},
		{name: "label", checks: "CHECK-LABEL: f\nCHECK: x\nCHECK-LABEL: g\nCHECK: y", input: "f\nx\ng\ny"},
		{name: "label bounds", checks: "CHECK-LABEL: f\nCHECK: y\nCHECK-LABEL: g\nCHECK: y", input: "f\nx\ng\ny", want: "2:1: error: CHECK: expected"},
		{name: "label variable", checks: "CHECK-LABEL: [[X:f]]", input: "f", want: "with variable definition or use"},
		{name: "count", checks: "CHECK-COUNT-3: x\nCHECK-NOT: x", input: "x x\nx"},
		{name: "count few", checks: "CHECK-COUNT-3: x", input: "x x", want: "(3 out of 3)"},
		{name: "count bad", checks: "CHECK-COUNT-0: x", input: "x", want: "invalid count in -COUNT specification"},
		{name: "not next", checks: "CHECK: x\nCHECK-NOT-NEXT: x", input: "x", want: "unsupported combination"},
		{name: "literal", checks: "CHECK{LITERAL}: [[a]] {{b}}", input: "[[a]] {{b}}"},
		{name: "regex", checks: "CHECK: a{{[0-9]+}}b", input: "a12b"},
		{name: "regex repeats", checks: "CHECK: a{{[0-9]{2}}}b", input: "a12b"},
		{name: "regex longest", checks: "CHECK: [[X:a|ab]]\nCHECK: [[X]]c", input: "ab\nabc"},
		{name: "regex stays in its line", checks: "CHECK: a{{[^x]*}}b", input: "a\nb", want: "not found"},
		{name: "regex open", checks: "CHECK: {{a", input: "a", want: "found start of regex string with no end '}}'"},
		{name: "regex bad", checks: "CHECK: {{(}}", input: "a", want: "invalid regex"},
		{name: "variable", checks: "CHECK: [[X:%[0-9]+]] = a\nCHECK: b [[X]]{{$}}", input: "%12 = a\nb %1\nb %12"},
		{name: "variable class", checks: "CHECK: [[X:[a-z]+]]=1", input: "abc=1"},
		{name: "variable again", checks: "CHECK: [[X:a+]] [[X]];", input: "aaa aa;\naa aa;"},
		{name: "variable again fails", checks: "CHECK: [[X:a+]] [[X]];", input: "aaa aa;\nab ab;", want: "not found"},
		{name: "variable undefined", checks: "CHECK: [[X]]", input: "a", want: "undefined variable: X"},
		{name: "variable with", checks: "CHECK: [[X:a+]]\nCHECK: [[X]]b", input: "aa\nab", want: "2:1"},
		{name: "variable open", checks: "CHECK: [[X", input: "a", want: "invalid substitution block, no ]] found"},
		{name: "defined", checks: "CHECK: [[X]]", input: "v", opts: filecheck.Options{Define: map[string]string{"X": "v"}}},
		{name: "scope", checks: "CHECK-LABEL: f\nCHECK: [[X:a]][[$Y:b]]\nCHECK-LABEL: g\nCHECK: [[$Y]]\nCHECK: [[X]]", input: "f\nab\ng\nb\na", opts: filecheck.Options{VarScope: true}, want: "5:1: error: CHECK: undefined variable: X"},
		{name: "number", checks: "CHECK: line [[#N:]]\nCHECK: line [[#N+1]]", input: "line 9\nline 10"},
		{name: "number differs", checks: "CHECK: line [[#N:]]\nCHECK: line [[#N+1]]", input: "line 9\nline 11", want: "2:1"},
		{name: "number hex", checks: "CHECK: [[#%x,N:]]\nCHECK: [[#N+1]]\nCHECK: [[#%u,N+1]]", input: "ff\n100\n256"},
		{name: "number signed", checks: "CHECK: [[#%d,N:]]\nCHECK: [[#%d,sub(N,1)]]", input: "-3\n-4"},
		{name: "number width", checks: "CHECK: [[#%.4u,N:]]\nCHECK: [[#N+1]]", input: "0041\n0042"},
		{name: "number alternate", checks: "CHECK: [[#%#x,N:]]\nCHECK: [[#N*]]", input: "0xff", want: "unexpected characters at end of expression"},
		{name: "number function", checks: "CHECK: [[#N:]]\nCHECK: [[#mul(max(N,3),2)]] [[#div(N,0)]]", input: "2\n6 1", want: "division by zero"},
		{name: "number checked", checks: "CHECK: [[#N:]]\nCHECK: [[#M: == N+2]]\nCHECK: [[#M]]", input: "2\n4\n4"},
		{name: "number undefined", checks: "CHECK: [[#N]]", input: "1", want: "undefined variable: N"},
		{name: "line", checks: "\nCHECK: at [[#@LINE-1]] [[@LINE]]", input: "at 1 2"},
		{name: "prefix", checks: "CHECK: a\nFOO: b\nFOO-NEXT: c", input: "b\nc", opts: filecheck.Options{Prefixes: []string{"FOO"}}},
		{name: "prefixes", checks: "A: a\nB: b", input: "b a", opts: filecheck.Options{Prefixes: []string{"A", "B"}}, want: "2:1: error: B"},
		{name: "longer prefix", checks: "CHECK-FOO: a\nXCHECK: b\nCHECK_A: c\nCHECK: d", input: "d"},
		{name: "comments", checks: "COM: CHECK: a\nRUN: CHECK: b\nCHECK: c", input: "c"},
		{name: "implicit not", checks: "CHECK: a\nCHECK: b", input: "a\nwarning\nb", opts: filecheck.Options{ImplicitNot: []string{"warning"}}, want: "implicit CHECK-NOT"},
		{name: "none", checks: "x", input: "a", want: "no check strings found with prefix 'CHECK:'"},
		{name: "no text", checks: "CHECK:", input: "a", want: "found empty check string with prefix 'CHECK:'"},
		{name: "line ends", checks: "CHECK: a\r\nCHECK-NEXT: b\r\n", input: "a\r\nb\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check, err := filecheck.Parse(diag.NewSource("test", []byte(c.checks)), c.opts)
			if err == nil {
				err = check.Match("input", c.input)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error is %v, expected %q", err, c.want)
			}
		})
	}
}

// TestNotes: a failure shows where the search began and what the variables were.
func TestNotes(t *testing.T) {
	check, err := filecheck.Parse(diag.NewSource("test", []byte("CHECK: [[X:a+]]\nCHECK-NEXT: use [[X]]\n")), filecheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list diag.List
	if !errors.As(check.Match("input", "aa\nuse b\n"), &list) {
		t.Fatal("the input matches")
	}
	var b strings.Builder
	list.Render(&b)
	want := `test:2:1: error: CHECK-NEXT: expected string not found in input
CHECK-NEXT: use [[X]]
^
input:1:3: note: scanning from here
aa
  ^
test:2:1: note: with X equal to "aa"
CHECK-NEXT: use [[X]]
^
`
	if b.String() != want {
		t.Errorf("failure reads\n%s\nexpected\n%s", b.String(), want)
	}
}

// upper is a tool that writes its file or input in upper case, and fails if the first argument is -fail.
func upper(_ context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	text, _ := io.ReadAll(in)
	for _, a := range args {
		if a == "-fail" {
			fmt.Fprintln(errs, "error: failed")
			return 1
		}
		text, _ = os.ReadFile(a)
	}
	fmt.Fprint(out, strings.ToUpper(string(text)))
	return 0
}

// TestRunner: RUN lines with pipes, continuations, redirections, conditions and commands that must fail.
func TestRunner(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"// RUN: upper %s | FileCheck %s\n// CHECK: HELLO\nhello\n", ""},
		{"// RUN: upper %s \\\n// RUN: | upper | FileCheck %s --check-prefixes=A,B\n// A: HELLO\n// B: WORLD\nhello world\n", ""},
		{"// RUN: not upper -fail 2>&1 | FileCheck %s\n// CHECK: error: failed\n", ""},
		{"// RUN: upper -fail\n", "upper ended with exit code 1:\nerror: failed\nRUN: upper -fail"},
		{"// RUN: not upper %s\n", "exit code 0"},
		{"// RUN: upper %s > %t.0\n// RUN: FileCheck --input-file=%t.0 %s\n// CHECK: HELLO\nhello", ""},
		{"// RUN: upper < %s | FileCheck '%s'\n// CHECK: HELLO\nhello", ""},
		{"// RUN: %if asserts %{ nothing %}\n// RUN: upper %s | FileCheck %s\n// CHECK: A\n", ""},
		{"// RUN: lower %s\n", `no tool named "lower"`},
		{"// RUN: upper %s && upper %s\n", "'&&' is not supported in RUN lines"},
		{"// RUN: upper %s |\n", "expected a command"},
		{"// RUN: upper '%s\n", "quote is not closed"},
		{"// RUN: upper %s | \\\n", "continues after the end of the file"},
		{"nothing\n", "expected a RUN line"},
		{"// RUN: upper %s | FileCheck %s\n", "no check strings found"},
		{"// RUN: upper %s | FileCheck %s --bad\n", `unknown flag "--bad"`},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "test.txt")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		r := filecheck.Runner{Tools: map[string]filecheck.Tool{"upper": upper}, Dir: dir}
		err := r.Run(context.Background(), path)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: error is %v, expected %q", c.text, err, c.want)
		}
	}
}
