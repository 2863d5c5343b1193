// Package golden runs the golden cases of the command line. A case is a txtar file with commands, the files that they
// read, and everything that they print.
//
// The text before the first section has the purpose of the case (lines that start with '#'), its requirements
// ('need: NAME', see Options), and the commands, one per line:
//
//	$ hlocb rewrite in.mlir < stdin.txt
//	$ cat out.mlir
//
// Words may have single or double quotes. Commands run one after another in a directory with the case's files.
// $TESTDATA in a command is the repository's testdata directory. The sections stdout, stderr and exit have the output
// and the exit code of the first command; stdout.2, stderr.2 and exit.2 those of the second, and so on. A missing
// section means no output or exit code 0. 'go test -update' rewrites these sections; the review of that diff is the
// test.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/hlocb/hlocb/internal/words"
)

var (
	update   = flag.Bool("update", false, "rewrite the expected output of golden cases")
	textsDir = flag.String("texts", "", "write the texts of fingerprints into this directory, a file for each")
)

// Main is the main function of a program.
type Main func(args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Options configures the cases.
type Options struct {
	// Programs are the commands by name, besides cat.
	Programs map[string]Main
	// Needs has the requirements that a case can name with 'need: NAME'. A function returns why its requirement is not
	// met, or "".
	Needs map[string]func() string
	// Select reports whether to run a command and compare its output; nil selects all commands.
	Select func(command []string) bool
	// Testdata is the directory $TESTDATA.
	Testdata string
	// Timeout ends a command that hangs, and the test with it; 0 is a minute.
	Timeout time.Duration
}

// Run runs every case that the patterns select as a subtest named by its path.
func Run(t *testing.T, opts Options, patterns ...string) {
	t.Helper()
	root, err := filepath.Abs(opts.Testdata)
	if err != nil {
		t.Fatal(err)
	}
	opts.Testdata = root
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no case matches %q", patterns)
	}
	for _, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, abs)
		if err != nil {
			name = file
		}
		if !t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".txtar"), func(t *testing.T) { opts.run(t, abs) }) && failFast() {
			return
		}
	}
}

// Mentioning returns the files that the pattern selects and that contain one of the words.
func Mentioning(t *testing.T, pattern string, words ...string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(text), w) })
	})
}

// step is one command of a case.
type step struct {
	words []string
	stdin string // file, empty for none
}

func (o Options) run(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	steps, needs, err := parseComment(string(archive.Comment))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, n := range needs {
		why, ok := o.Needs[n]
		if !ok {
			t.Fatalf("%s: unknown need %q", file, n)
		}
		if reason := why(); reason != "" {
			t.Skip("skip: " + reason)
		}
	}
	dir := t.TempDir()
	want := map[string]string{}
	var kept []txtar.File
	for _, f := range archive.Files {
		if isOutput(f.Name) {
			want[f.Name] = string(f.Data)
			continue
		}
		kept = append(kept, f)
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rewrite := updateCommand(t)
	t.Chdir(dir)
	got := map[string]string{}
	var names []string
	for i, s := range steps {
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf(".%d", i+1)
		}
		if o.Select != nil && !o.Select(s.words) {
			for _, name := range []string{"stdout", "stderr", "exit"} {
				if text, ok := want[name+suffix]; ok {
					got[name+suffix] = text
					names = append(names, name+suffix)
				}
			}
			continue
		}
		var stdout, stderr bytes.Buffer
		code := o.step(t, s, &stdout, &stderr)
		for _, out := range []struct{ name, text string }{
			{"stdout", o.scrub(stdout.String(), dir)}, {"stderr", o.scrub(stderr.String(), dir)}, {"exit", exitText(code)},
		} {
			if out.text != "" {
				got[out.name+suffix] = out.text
				names = append(names, out.name+suffix)
			}
		}
	}
	if *update {
		updated := &txtar.Archive{Comment: archive.Comment, Files: kept}
		for _, name := range names {
			updated.Files = append(updated.Files, txtar.File{Name: name, Data: []byte(got[name])})
		}
		if err := os.WriteFile(file, txtar.Format(updated), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range want {
		if got[name] == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if got[name] != want[name] {
			t.Errorf("%s differs %s", name, difference(got[name], want[name]))
		}
	}
	if t.Failed() {
		t.Log(rewrite)
	}
}

func isOutput(name string) bool {
	base, n, numbered := strings.Cut(name, ".")
	if base != "stdout" && base != "stderr" && base != "exit" {
		return false
	}
	_, err := strconv.Atoi(n)
	return !numbered || err == nil
}

func exitText(code int) string {
	if code == 0 {
		return ""
	}
	return strconv.Itoa(code) + "\n"
}

// scrub replaces the machine's paths and ends the text with a line break, which txtar needs.
func (o Options) scrub(s, dir string) string {
	s = strings.ReplaceAll(s, o.Testdata, "$TESTDATA")
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		s = strings.ReplaceAll(s, real, "$WORK")
	}
	s = strings.ReplaceAll(s, dir, "$WORK")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n(no line break at the end)\n"
	}
	return s
}

func (o Options) step(t *testing.T, s step, stdout, stderr *bytes.Buffer) int {
	words := make([]string, len(s.words))
	for i, w := range s.words {
		words[i] = strings.ReplaceAll(w, "$TESTDATA", o.Testdata)
	}
	var stdin io.Reader = strings.NewReader("")
	if s.stdin != "" {
		text, err := os.ReadFile(s.stdin)
		if err != nil {
			t.Fatal(err)
		}
		stdin = bytes.NewReader(text)
	}
	main := o.Programs[words[0]]
	if words[0] == "cat" {
		main = cat
	}
	if main == nil {
		t.Fatalf("unknown command %q", words[0])
	}
	timeout := o.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	code := make(chan int, 1)
	go func() { code <- main(words[1:], stdin, stdout, stderr) }()
	select {
	case c := <-code:
		return c
	case <-time.After(timeout):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s hangs\n%s", strings.Join(words, " "), buf[:goruntime.Stack(buf, true)])
		return -1
	}
}

func cat(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	for _, name := range args {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		stdout.Write(text)
	}
	return 0
}

// parseComment reads the commands and needs of a case.
func parseComment(text string) (steps []step, needs []string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "need:"):
			needs = append(needs, strings.Fields(line[len("need:"):])...)
		case strings.HasPrefix(line, "$ "):
			command, err := words.Split(line[2:])
			if err != nil {
				return nil, nil, err
			}
			s := step{words: command}
			if n := len(command); n > 2 && command[n-2] == "<" {
				s.words, s.stdin = command[:n-2], command[n-1]
			}
			if len(s.words) == 0 {
				return nil, nil, fmt.Errorf("empty command")
			}
			steps = append(steps, s)
		default:
			return nil, nil, fmt.Errorf("expected '# comment', 'need: NAME' or '$ command', found %q", line)
		}
	}
	if len(steps) == 0 {
		return nil, nil, fmt.Errorf("no command")
	}
	return steps, needs, nil
}
