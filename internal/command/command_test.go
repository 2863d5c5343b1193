package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 8, "one two\nthree"},
		{"one\ntwo", 80, "one two"},
		{"a b\n\nc d", 80, "a b\n\nc d"},
		{"  print  prints the value", 17, "  print  prints\n         the\n         value"},
		{"words\n  list  of things\nmore words", 80, "words\n  list  of things\nmore words"},
		{"averyveryverylongword", 5, "averyveryverylongword"},
		{"äöü äöü äöü", 7, "äöü äöü\näöü"},
		{"", 10, ""},
	} {
		if got := Wrap(c.text, c.width); got != c.want {
			t.Errorf("Wrap(%q, %d) =\n%s\nwant\n%s", c.text, c.width, got, c.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"fill", "file", "backend", "raise-hooks", "x"}
	for name, want := range map[string]string{
		"fil": "; did you mean fill or file?", "backedn": "; did you mean backend?", "raise-hook": "; did you mean raise-hooks?",
		"zzz": "", "": "", "raise": "; did you mean raise-hooks?", "FILL": "; did you mean fill?",
	} {
		if got := Suggest(name, names); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
}

// Everything that help prints fits the width, and names every flag once.
func TestHelp(t *testing.T) {
	c := &cobra.Command{Use: "do IN", Short: "Do it", Long: "Do it.\n\n" + strings.Repeat("Many words. ", 20), RunE: func(*cobra.Command, []string) error { return nil }}
	c.Flags().String("profile", "", "`FILE` short")
	c.Flags().Lookup("profile").NoOptDefVal = "-"
	Group(c, "Optional")
	c.Flags().Bool("a-flag-with-a-name-that-is-longer-than-the-column", false, "short")
	c.Flags().String("first", "x", "`KIND` a rather long description that does not fit into one line of the help")
	Group(c, "Some")
	c.Flags().Int("rest", 0, "in no group")
	var b strings.Builder
	WriteHelp(&b, c, 60)
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > 60 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	for _, want := range []string{"\nSome:\n", "      --first KIND", "(default x)", "      --profile[=FILE]", "\nFlags:\n      --rest"} {
		if strings.Count(b.String(), want) != 1 {
			t.Errorf("the help has not %q:\n%s", want, &b)
		}
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExecute(t *testing.T) {
	root := func(run func(*cobra.Command, []string) error) *cobra.Command {
		c := &cobra.Command{Use: "x", Args: Args("[IN]"), RunE: run}
		c.Flags().Bool("verbose", false, "report progress")
		c.Flags().Int("n", 1, "a number")
		c.Flags().Duration("limit", 0, "a duration")
		c.Flags().String("profile", "", "a file")
		c.Flags().Lookup("profile").NoOptDefVal = "-"
		return c
	}
	interrupted, stop := context.WithCancelCause(context.Background())
	stop(&Signal{os.Interrupt})
	for _, c := range []struct {
		name   string
		ctx    context.Context
		args   []string
		out    io.Writer
		err    error
		code   int
		stderr string
	}{
		{"success", nil, nil, nil, nil, OK, ""},
		{"an error", nil, nil, nil, errors.New("bad\x1b"), Input, "error: bad\\x1b\n"},
		{"usage", nil, nil, nil, Usagef("no"), Usage, "error: no\n"},
		{"an argument", nil, []string{"a", "b"}, nil, nil, Usage, "error: x: unexpected argument \"b\"\nrun 'x --help' for usage\n"},
		{"a flag", nil, []string{"--verbos"}, nil, nil, Usage, "error: unknown flag --verbos; did you mean --verbose?\nrun 'x --help' for usage\n"},
		{"a number", nil, []string{"--n", "x"}, nil, nil, Usage, "error: --n x: expected a number\nrun 'x --help' for usage\n"},
		{"a duration", nil, []string{"--limit=3"}, nil, nil, Usage, "error: --limit 3: expected a duration such as 30s or 5m\nrun 'x --help' for usage\n"},
		{"no value", nil, []string{"--n"}, nil, nil, Usage, "error: --n needs a value\nrun 'x --help' for usage\n"},
		{"a value apart from its flag", nil, []string{"a", "--profile", "b"}, nil, nil, Usage, "error: x: unexpected argument \"b\"; the value of --profile follows a '=': --profile=b\nrun 'x --help' for usage\n"},
		{"a full disk", nil, nil, full{}, nil, Input, "error: writing the output: no space left\n"},
		{"help to a full disk", nil, []string{"--help"}, full{}, nil, Input, "error: writing the output: no space left\n"},
		{"Ctrl-C", interrupted, nil, nil, errors.New("whatever"), 130, "interrupted\n"},
		{"Ctrl-C in an op", interrupted, nil, nil, errors.New("f.mlir:2:8: error: 'stablehlo.while' op interrupted"), 130, "interrupted in 'stablehlo.while' (f.mlir:2:8)\n"},
	} {
		var out, errs bytes.Buffer
		to := io.Writer(&out)
		if c.out != nil {
			to = c.out
		}
		console := NewConsole(strings.NewReader(""), to, &errs, func(string) string { return "" })
		ctx := c.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		code := console.Execute(ctx, root(Body(func(*cobra.Command, []string) error {
			io.WriteString(console.Out, "result\n")
			return c.err
		})), append([]string{}, c.args...), Policy{})
		if code != c.code || errs.String() != c.stderr {
			t.Errorf("%s: exit code %d, want %d; printed\n%swant\n%s", c.name, code, c.code, errs.String(), c.stderr)
		}
	}
}

// A file gets no colours and no progress.
func TestConsoleWritesPlainly(t *testing.T) {
	var out, errs bytes.Buffer
	c := NewConsole(nil, &out, &errs, func(string) string { return "" })
	end := c.While("waiting")
	c.Progress("10 of 20")
	io.WriteString(c.Out, c.Bold("name")+"\n")
	io.WriteString(c.Err, c.Paint("f.mlir:1:2: error: no\n"))
	end()
	if out.String() != "name\n" || errs.String() != "f.mlir:1:2: error: no\n" {
		t.Errorf("wrote %q and %q", out.String(), errs.String())
	}
}

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		text, err := os.ReadFile(old)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Outputs{{Inputs: []string{old}}, {Inputs: []string{link}}} {
		s.Add(old, false, false)
		if s.Check() == nil {
			t.Error("an output that is an input is accepted")
		}
	}
	var twice Outputs
	twice.Add(filepath.Join(dir, "new"), true, false)
	twice.Add(filepath.Join(dir, ".", "new"), false, false)
	if twice.Check() == nil {
		t.Error("two outputs of one name are accepted")
	}
	var s Outputs
	o := s.Add(link, true, false)
	io.WriteString(o, "kept, ")
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	io.WriteString(o, "and more")
	if read() != "before" {
		t.Error("the file is written before it is complete")
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if read() != "kept, and more" {
		t.Errorf("the file holds %q", read())
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if err := os.Chmod(old, 0o600); err != nil {
		t.Fatal(err)
	}
	console := NewConsole(nil, io.Discard, io.Discard, func(string) string { return "" })
	if err := console.WriteFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "kept, and more"); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(old); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("after the file was written again, it has the permissions %v (%v)", info.Mode(), err)
	}
	absent := filepath.Join(dir, "absent", "out")
	if err := console.WriteFile(absent, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), absent+":") {
		t.Errorf("the error of %s is %v", absent, err)
	}
	empty := s.Add(filepath.Join(dir, "empty"), true, true)
	if err := empty.open(); err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "empty*")); len(files) > 0 {
		t.Errorf("an empty file is left: %v", files)
	}
	c := NewConsole(nil, io.Discard, io.Discard, func(string) string { return "" })
	if err := c.WriteFile(old, func(io.Writer) error { return errors.New("no") }); err == nil || read() != "kept, and more" {
		t.Errorf("after a failure (%v) the file holds %q", err, read())
	}
}

// While a pipe has no reader, the context ends the wait for one.
func TestOutputWaitsForReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := mkfifo(path); err != nil {
		t.Skip("skip: ", err)
	}
	var s Outputs
	s.Add(path, false, false)
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	if err := s.Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

// A signal ends a command that writes a long output, and an older file stays.
func TestInterruptedOutput(t *testing.T) {
	old := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, "-"} {
		var out, errs bytes.Buffer
		c := NewConsole(nil, &out, &errs, func(string) string { return "" })
		ctx, cancel := context.WithCancelCause(context.Background())
		root := &cobra.Command{Use: "do", RunE: Body(func(*cobra.Command, []string) error {
			return c.WriteFile(path, func(w io.Writer) error {
				for i := range 1000 {
					if i == 3 {
						cancel(&Signal{syscall.SIGTERM})
					}
					if _, err := io.WriteString(w, "line\n"); err != nil {
						return err
					}
				}
				return nil
			})
		})}
		if code := c.Execute(ctx, root, nil, Policy{}); code != 143 || errs.String() != "interrupted\n" || out.Len() > 15 {
			t.Errorf("%s: exit code %d, printed %q and %d bytes", path, code, &errs, out.Len())
		}
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "old" {
		t.Errorf("the file is %q: %v", text, err)
	}
}

// A command that waits for standard input ends with its context, without a message of its own.
func TestInterruptedInput(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	var errs bytes.Buffer
	c := NewConsole(r, io.Discard, &errs, func(string) string { return "" })
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		io.WriteString(w, "module {") // the read after this one never ends
		cancel(&Signal{os.Interrupt})
	}()
	root := &cobra.Command{Use: "do", RunE: Body(func(*cobra.Command, []string) error {
		_, _, err := c.ReadText("-")
		return err
	})}
	if code := c.Execute(ctx, root, nil, Policy{}); code != 130 || errs.String() != "interrupted\n" {
		t.Errorf("exit code %d, printed %q", code, &errs)
	}
}

// Binary results do not reach a terminal.
func TestBinaryOnTerminal(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(nil, &out, io.Discard, func(string) string { return "" })
	c.outFile = os.Stdout // as if it were a terminal
	root := &cobra.Command{Use: "do", RunE: Body(func(*cobra.Command, []string) error {
		return c.WriteFile("", func(w io.Writer) error { _, err := w.Write([]byte("ML\x00R")); return err })
	})}
	if code := c.Execute(t.Context(), root, nil, Policy{}); code != Input || out.Len() > 0 {
		t.Errorf("exit code %d, printed %q", code, &out)
	}
}
