package filecheck

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// Tool is a program that RUN lines call. It returns an exit code; args has no name of the program.
type Tool func(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int

// Command is one program of a RUN line.
type Command struct {
	Args []string // the first is the name; %s and the like are replaced when the command runs
	Not  bool     // 'not' before the command: it must fail
	Both bool     // 2>&1
	Out  string   // the file after '>', or empty
	In   string   // the file after '<', or empty
}

// Line is a RUN line: commands joined by '|'.
type Line struct {
	Text     string
	At       diag.Pos
	Commands []Command
}

// Lines returns the RUN lines of src. A backslash at the end continues a line in the next one. Conditional parts,
// %if FEATURE %{ … %}, are dropped, and so are lines that become empty: no feature is set.
func Lines(src *diag.Source) ([]Line, error) {
	var out []Line
	text := string(src.Text())
	joined, start := "", 0
	for at := 0; at < len(text); {
		stop := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			stop = at + i
		}
		line := strings.TrimRight(text[at:stop], " \t\r")
		if i := strings.Index(line, "RUN:"); i >= 0 {
			if joined == "" {
				start = at + i
			}
			part := strings.TrimSpace(line[i+len("RUN:"):])
			more := strings.HasSuffix(part, `\`)
			joined += strings.TrimSuffix(part, `\`)
			if !more {
				l, err := readLine(src, diag.At(start), joined)
				if err != nil {
					return nil, err
				}
				if len(l.Commands) > 0 {
					out = append(out, l)
				}
				joined = ""
			}
		}
		at = stop + 1
	}
	if joined != "" {
		return nil, diag.Errorf(src, diag.At(start), "RUN line continues after the end of the file")
	}
	return out, nil
}

// readLine splits one RUN line into commands.
func readLine(src *diag.Source, at diag.Pos, text string) (Line, error) {
	l := Line{Text: text, At: at}
	for {
		i := strings.Index(text, "%if ")
		if i < 0 {
			break
		}
		n := strings.Index(text[i:], "%}")
		if n < 0 {
			return l, diag.Errorf(src, at, "%%if has no %%}")
		}
		text = text[:i] + text[i+n+2:]
	}
	words, err := split(text)
	if err != nil {
		return l, diag.Errorf(src, at, "%v", err)
	}
	c := Command{}
	flush := func() error {
		if len(c.Args) == 0 {
			return diag.Errorf(src, at, "expected a command")
		}
		l.Commands = append(l.Commands, c)
		c = Command{}
		return nil
	}
	if len(words) == 0 {
		return l, nil
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.quoted:
			c.Args = append(c.Args, w.text)
		case w.text == "|":
			if err := flush(); err != nil {
				return l, err
			}
		case w.text == "2>&1":
			c.Both = true
		case w.text == ">" || w.text == "<":
			if i++; i == len(words) {
				return l, diag.Errorf(src, at, "expected a file after '%s'", w.text)
			}
			if w.text == ">" {
				c.Out = words[i].text
			} else {
				c.In = words[i].text
			}
		case w.text == "not" && len(c.Args) == 0:
			c.Not = !c.Not
		case w.text == "&&" || w.text == "||" || w.text == ";" || strings.ContainsAny(w.text, "`$") || w.text == ">>":
			return l, diag.Errorf(src, at, "'%s' is not supported in RUN lines", w.text)
		default:
			c.Args = append(c.Args, w.text)
		}
	}
	return l, flush()
}

type word struct {
	text   string
	quoted bool
}

// split splits a command line into words, as a shell does.
func split(s string) ([]word, error) {
	var out []word
	var b strings.Builder
	open, quoted := false, false
	end := func() {
		if open {
			out = append(out, word{b.String(), quoted})
		}
		b.Reset()
		open, quoted = false, false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t':
			end()
		case '|':
			end()
			out = append(out, word{text: "|"})
		case '<', '>':
			if c == '>' && b.String() == "2" && strings.HasPrefix(s[i:], ">&1") {
				b.Reset()
				open = false
				out = append(out, word{text: "2>&1"})
				i += 2
				continue
			}
			end()
			out = append(out, word{text: string(c)})
		case '\'', '"':
			n := strings.IndexByte(s[i+1:], c)
			if n < 0 {
				return nil, fmt.Errorf("quote is not closed")
			}
			b.WriteString(s[i+1 : i+1+n])
			i += n + 1
			open, quoted = true, true
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
			open = true
		default:
			b.WriteByte(c)
			open = true
		}
	}
	end()
	return out, nil
}

// Runner executes RUN lines. FileCheck is built in.
type Runner struct {
	Tools map[string]Tool
	Dir   string // for %t; must exist if a test uses it
}

// Run executes the RUN lines of the file at path. The error names the line.
func (r *Runner) Run(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	src := diag.NewSource(path, text)
	lines, err := Lines(src)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return diag.Errorf(src, diag.At(0), "expected a RUN line")
	}
	for _, l := range lines {
		if err := r.Execute(ctx, l, path); err != nil {
			return fmt.Errorf("%w\nRUN: %s", err, l.Text)
		}
	}
	return nil
}

// UnknownToolError reports a command without a tool.
type UnknownToolError struct{ Name string }

func (e *UnknownToolError) Error() string { return fmt.Sprintf("no tool named %q", e.Name) }

// Execute runs one RUN line on the file at path, which replaces %s. The output of a command is the input of the next.
// The error names the command that failed, with the end of its standard error.
func (r *Runner) Execute(ctx context.Context, l Line, path string) error {
	var in []byte
	expand := strings.NewReplacer("%%", "%", "%s", path, "%S", filepath.Dir(path), "%t", filepath.Join(r.Dir, filepath.Base(path)+".tmp"), "%T", r.Dir)
	for _, c := range l.Commands {
		args := make([]string, len(c.Args))
		for i, a := range c.Args {
			args[i] = expand.Replace(a)
		}
		if c.In != "" {
			text, err := os.ReadFile(expand.Replace(c.In))
			if err != nil {
				return err
			}
			in = text
		}
		tool := r.Tools[args[0]]
		if tool == nil && args[0] == "FileCheck" {
			tool = Main
		}
		if tool == nil {
			return &UnknownToolError{args[0]}
		}
		var out, errs bytes.Buffer
		stderr := &errs
		if c.Both {
			stderr = &out
		}
		code := tool(ctx, args[1:], bytes.NewReader(in), &out, stderr)
		if (code == 0) == c.Not {
			shown := strings.TrimSpace(stderr.String())
			if len(shown) > 2000 {
				shown = shown[:2000] + " …"
			}
			return fmt.Errorf("%s ended with exit code %d:\n%s", args[0], code, shown)
		}
		if c.Out != "" {
			if err := os.WriteFile(expand.Replace(c.Out), out.Bytes(), 0o666); err != nil {
				return err
			}
			out.Reset()
		}
		in = out.Bytes()
	}
	return nil
}

// Main is FileCheck as a Tool: FileCheck [flags] FILE reads standard input, or --input-file. It returns 1 if the input
// does not match and 2 for a wrong command line. It ignores flags that only change how failures are printed.
func Main(_ context.Context, args []string, in io.Reader, _, stderr io.Writer) int {
	var o Options
	var file, input string
	allowEmpty := false
	fail := func(err error) int {
		if list := diag.ListOf(err); list != nil {
			list.Render(stderr)
		} else {
			fmt.Fprintln(stderr, err)
		}
		return 1
	}
	o.Define = map[string]string{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") {
			if file != "" {
				fmt.Fprintf(stderr, "unexpected argument %q\n", a)
				return 2
			}
			file = a
			continue
		}
		if def, ok := strings.CutPrefix(a, "-D"); ok {
			name, text, ok := strings.Cut(def, "=")
			if !ok {
				fmt.Fprintf(stderr, "expected -DNAME=VALUE, but got %q\n", a)
				return 2
			}
			o.Define[name] = text
			continue
		}
		name, text, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		value := func() string {
			if !hasValue && i+1 < len(args) {
				i++
				return args[i]
			}
			return text
		}
		switch name {
		case "check-prefix", "check-prefixes":
			o.Prefixes = append(o.Prefixes, strings.Split(value(), ",")...)
		case "comment-prefixes":
			o.CommentPrefixes = append(o.CommentPrefixes, strings.Split(value(), ",")...)
		case "input-file":
			input = value()
		case "implicit-check-not":
			o.ImplicitNot = append(o.ImplicitNot, value())
		case "strict-whitespace":
			o.StrictWhitespace = true
		case "match-full-lines":
			o.MatchFullLines = true
		case "enable-var-scope":
			o.VarScope = true
		case "allow-empty":
			allowEmpty = true
		case "dump-input", "dump-input-context", "dump-input-filter", "color", "v", "vv", "allow-unused-prefixes":
		default:
			fmt.Fprintf(stderr, "unknown flag %q\n", a)
			return 2
		}
	}
	if file == "" {
		fmt.Fprintln(stderr, "expected a file with CHECK lines")
		return 2
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fail(err)
	}
	c, err := Parse(diag.NewSource(file, text), o)
	if err != nil {
		return fail(err)
	}
	name := "<stdin>"
	var found []byte
	if input != "" && input != "-" {
		name = input
		found, err = os.ReadFile(input)
	} else {
		found, err = io.ReadAll(in)
	}
	if err != nil {
		return fail(err)
	}
	if len(found) == 0 && !allowEmpty {
		return fail(fmt.Errorf("FileCheck error: '%s' is empty", name))
	}
	if err := c.Match(name, string(found)); err != nil {
		return fail(err)
	}
	return 0
}
