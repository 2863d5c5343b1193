package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRun tries all mutants of a small module with the tool's own build, and compares the verdicts.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/small\n\ngo 1.26\n",
		"small.go": `package small

type counter struct{ n int }

// up has each kind of statement.
func (c *counter) up(by int, ok, force bool) string {
	if by < 0 {
		return "down"
	}
	if ok || force {
		c.n += by * 2
	}
	for i := range by {
		if i == 7 {
			break
		}
		c.n++
	}
	return "up"
}

func unused(x []int) int { return x[1] }

func spare() int {
	n := make([]int, 0, 8) // a capacity
	return len(n)
}
`,
		"small_test.go": `package small

import "testing"

func TestUp(t *testing.T) {
	c := &counter{}
	if got := c.up(9, true, false); got != "up" || c.n != 25 {
		t.Error(got, c.n)
	}
	if got := c.up(-1, true, false); got != "down" || c.n != 25 {
		t.Error(got, c.n)
	}
	if spare() != 0 {
		t.Error("spare")
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out strings.Builder
	known := map[string]string{"small counter.up: drop break": "breaks this test", "small gone: x => y": "old"}
	err := run(t.Context(), &out, ".", known, options{tests: ".", match: "", workers: 2, goal: 50})
	if err == nil || !strings.Contains(err.Error(), "mutants that do not exist:\nsmall gone: x => y") {
		t.Errorf("the error is %v", err)
	}
	got := strings.Split(out.String(), "\n")
	want := []string{
		"small.go:7: survived: counter.up: by < 0 => by <= 0",
		"small.go:7: survived: counter.up: 0 => 1",
		"small.go:10: not reached: counter.up: ok || force => ok",
		"small.go:10: not reached: counter.up: force => !force",
		"small.go:22: not reached: unused: 1 => 2",
	}
	for i, line := range got[:len(got)-2] {
		got[i] = line[strings.LastIndex(line, "/")+1:]
	}
	if !slices.Equal(got[:len(got)-2], want) {
		t.Errorf("the survivors are\n%s\nwant\n%s", out.String(), strings.Join(want, "\n"))
	}
	if !strings.Contains(got[len(got)-2], "; 2 survived, 3 not reached, 1 equivalent;") {
		t.Errorf("the summary is %q", got[len(got)-2])
	}
}

// TestChanges lists the mutants of a function.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	source := `package p

const shifted = 1 << 3

type kind uint8

func f(a, b int, s []string, k kind, e error, g func() bool) (int, bool) {
	switch {
	case g():
		s[0] = "x" + s[1]
	case !g() && a >= b:
		a++
	}
	if e != nil {
		return a - 1, true
	}
	defer g()
	k |= kind(shifted)
	return a%b<<2 + len(s[2:]), "a" < s[0]
}

func failing(e error) (int, bool, error) {
	if e != nil {
		return 0, true, e
	}
	return 2, true, nil
}
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	b := &build{}
	if _, err := b.mutate(listed{Dir: dir, Name: "p", ImportPath: "p", GoFiles: []string{"p.go"}}, nil, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, m := range b.mutants {
		fmt.Fprintf(&got, "%d %s\n", m.Line, strings.TrimPrefix(m.key, "f: "))
	}
	want := `9 g() => !g()
10 drop s[0] = "x" + s[1]
10 0 => 1
10 1 => 2
11 !g() && a >= b => !g() || a >= b
11 !g() && a >= b => !g()
11 !g() && a >= b => a >= b
11 !g() => g()
11 a >= b => a > b
11 a >= b => a < b
12 drop a++
14 e != nil => e == nil
15 a - 1 => a + 1
15 true => !true
17 drop defer g()
18 drop k |= kind(shifted)
19 a%b<<2 + len(s[2:]) => a%b<<2 - len(s[2:])
19 a%b<<2 => a%b >> 2
19 a%b => a * b
19 2 => 3
19 "a" < s[0] => "a" <= s[0]
19 "a" < s[0] => "a" >= s[0]
19 0 => 1 (2)
23 failing: e != nil => e == nil
24 failing: true => !true
26 failing: 2 => 3
26 failing: true => !true (2)
`
	if got.String() != want {
		t.Errorf("the mutants are\n%s\nwant\n%s", got.String(), want)
	}
}

// TestEquivalents: each entry of the list has a reason, and a package.
func TestEquivalents(t *testing.T) {
	known, err := readEquivalents(equivalents)
	if err != nil {
		t.Fatal(err)
	}
	for key := range known {
		name, _, _ := strings.Cut(key, " ")
		if _, err := os.Stat(filepath.Join("..", "..", name)); err != nil {
			t.Errorf("%s: no such package", key)
		}
	}
	for text, want := range map[string]string{
		"\tbecause\n":                "a reason without a mutant",
		"p f: a => b\np g: a => b\n": "no reason",
		"p f: a => b\n":              "no reason",
		"p f: a => b\n\tbecause\np f: a => b\n\tagain\n": "listed twice",
	} {
		if _, err := readEquivalents(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}
