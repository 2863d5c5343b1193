// Package command is the part that hlocb's commands share: the console, the help, suggestions, errors and signals. It
// does not depend on modules.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Console reads a command's input and writes its output. On a terminal it uses colours and shows a line of progress,
// which it removes before it writes anything else. It is safe for concurrent use.
type Console struct {
	In  io.Reader
	Out io.Writer // results
	Err io.Writer // diagnostics, notes and progress

	in      *input
	mu      sync.Mutex
	errFile *os.File // the terminal that diagnostics go to; nil if they go elsewhere
	outFile *os.File // the terminal that results go to
	line    bool     // a line of progress is shown
	quiet   bool     // no notes and no progress
	colours bool     // on the terminal of diagnostics
	bold    bool     // on the terminal of results
	failed  error    // the first failed write to the results
}

// NewConsole returns a console with these streams. getenv looks up NO_COLOR, TERM and COLUMNS.
func NewConsole(in io.Reader, out, err io.Writer, getenv func(string) string) *Console {
	c := &Console{in: &input{r: in}, errFile: terminal(err), outFile: terminal(out)}
	c.In = c.in
	plain := getenv("NO_COLOR") != "" || getenv("TERM") == "dumb"
	c.colours, c.bold = c.errFile != nil && !plain, c.outFile != nil && !plain
	c.Out, c.Err = &stream{c, out, true}, &stream{c, err, false}
	return c
}

// Colour sets whether output is coloured: "auto" on a terminal, "always" or "never".
func (c *Console) Colour(when string) error {
	switch when {
	case "auto":
	case "always":
		c.colours, c.bold = true, true
	case "never":
		c.colours, c.bold = false, false
	default:
		return Usagef("--color %s: expected auto, always or never", when)
	}
	return nil
}

// SetQuiet leaves out notes and progress.
func (c *Console) SetQuiet() { c.quiet = true }

// Note prints a line about the command's work, unless it is to be quiet.
func (c *Console) Note(line string) {
	if !c.quiet {
		fmt.Fprintln(c.Err, line)
	}
}

// input is standard input. The end of ctx ends a read, because a terminal or a pipe may never answer.
type input struct {
	r   io.Reader
	ctx context.Context // of the command, also for its outputs; nil before it starts
}

func (in *input) Read(p []byte) (int, error) {
	if in.ctx == nil || in.ctx.Done() == nil {
		return in.r.Read(p)
	}
	type result struct {
		n   int
		err error
	}
	buf, done := make([]byte, min(len(p), 1<<16)), make(chan result, 1)
	go func() {
		n, err := in.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buf[:r.n]), r.err
	case <-in.ctx.Done():
		return 0, context.Cause(in.ctx)
	}
}

// errBinary is the error of binary results on a terminal, which they could leave unusable.
var errBinary = errors.New("standard output is a terminal, and the output is binary: name a file with -o")

// stream removes the line of progress before it writes.
type stream struct {
	c      *Console
	w      io.Writer
	result bool
}

func (s *stream) Write(p []byte) (int, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.clear()
	if s.result && s.c.failed != nil {
		return 0, s.c.failed
	}
	var n int
	err := errBinary
	if !s.result || s.c.outFile == nil || bytes.IndexByte(p, 0) < 0 {
		n, err = s.w.Write(p)
	}
	if err != nil && s.result {
		s.c.failed = err
	}
	return n, err
}

// Failed returns the error of the first failed write to Out. Libraries that print help ignore this error.
func (c *Console) Failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// terminal returns w if it is a terminal, else nil.
func terminal(w any) *os.File {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 || columns(f) < 0 {
		return nil
	}
	return f
}

// Terminal returns the terminal that diagnostics go to, nil if they go elsewhere.
func (c *Console) Terminal() *os.File { return c.errFile }

// defaultWidth is the width of output that does not go to a terminal. It is fixed, so files are the same everywhere.
const defaultWidth = 80

// Width returns the number of columns for results: the terminal's width, at most 100.
func (c *Console) Width() int { return width(c.outFile, 100) }

// Clip shortens a line of results that the terminal would wrap, and ends it with an ellipsis. It changes nothing if
// results do not go to a terminal.
func (c *Console) Clip(line string) string {
	if c.outFile == nil {
		return line
	}
	return clip(line, width(c.outFile, 1000))
}

// clip returns the first columns of a line. Escape sequences take no column.
func clip(line string, columns int) string {
	body := strings.TrimSuffix(line, "\n")
	if plain := escapes.ReplaceAllString(body, ""); utf8.RuneCountInString(plain) <= columns {
		return line
	}
	var out strings.Builder
	for n := 0; body != ""; {
		if at := escapes.FindStringIndex(body); at != nil && at[0] == 0 {
			out.WriteString(body[:at[1]])
			body = body[at[1]:]
			continue
		}
		_, size := utf8.DecodeRuneInString(body)
		if n++; n < columns {
			out.WriteString(body[:size])
		}
		body = body[size:]
	}
	return out.String() + "…" + line[len(strings.TrimSuffix(line, "\n")):]
}

// escapes matches the sequences that set colours and bold.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// errWidth returns the number of columns of the terminal that diagnostics go to, or 0 if they go elsewhere.
func (c *Console) errWidth() int {
	if c.errFile == nil {
		return 0
	}
	return width(c.errFile, 1000)
}

func width(f *os.File, most int) int {
	if f == nil {
		return defaultWidth
	}
	n := columns(f)
	if n < 20 {
		return defaultWidth
	}
	return min(n, most)
}

// Progress shows text in place on the terminal, and nothing elsewhere. The next write removes it.
func (c *Console) Progress(text string) {
	if c.errFile == nil || c.quiet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if text == "" {
		c.clear()
		return
	}
	if r := []rune(text); len(r) >= width(c.errFile, 1000) {
		text = string(r[:width(c.errFile, 1000)-1])
	}
	fmt.Fprintf(c.errFile, "\r\x1b[K%s", text)
	c.line = true
}

func (c *Console) clear() {
	if c.line {
		c.line = false
		io.WriteString(c.errFile, "\r\x1b[K")
	}
}

// While shows what a command waits for and the elapsed time, until the returned function is called. It shows nothing
// in the first second.
func (c *Console) While(activity string) (end func()) {
	if c.errFile == nil {
		return func() {}
	}
	begin, stop, stopped := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				c.Progress("")
				return
			case <-tick.C:
				c.Progress(fmt.Sprintf("%s %s", activity, time.Since(begin).Round(time.Second)))
			}
		}
	}()
	var once sync.Once
	return func() { once.Do(func() { close(stop); <-stopped }) }
}

// severity matches the word error or warning in a line of diagnostics.
var severity = regexp.MustCompile(`(?m)^((?:[^\n ]+:\d+:\d+: )?)(error|warning):`)

// Paint colours the words error and warning of diagnostics, if they go to a terminal.
func (c *Console) Paint(text string) string {
	if !c.colours {
		return text
	}
	return severity.ReplaceAllStringFunc(text, func(s string) string {
		m := severity.FindStringSubmatch(s)
		colour := "31"
		if m[2] == "warning" {
			colour = "33"
		}
		return m[1] + "\x1b[1;" + colour + "m" + m[2] + ":\x1b[0m"
	})
}

// Bold returns text in bold, if results go to a terminal.
func (c *Console) Bold(text string) string {
	if !c.bold || text == "" {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// Wrap fills paragraphs to a width. A line that begins with a blank is not joined with others; its overflow is
// indented to its last column. Columns are separated by two or more blanks.
func Wrap(text string, width int) string {
	var out []string
	var words []string
	fill := func() {
		if len(words) > 0 {
			out = append(out, hang("", "", words, width)...)
			words = nil
		}
	}
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			fill()
			out = append(out, "")
		case line[0] == ' ':
			fill()
			start := len(line) - len(strings.TrimLeft(line, " "))
			if i := strings.Index(line[start:], "  "); i >= 0 {
				column := start + i
				column += len(line[column:]) - len(strings.TrimLeft(line[column:], " "))
				if column < width*2/3 {
					start = column
				}
			}
			out = append(out, hang(line[:start], strings.Repeat(" ", start), strings.Fields(line[start:]), width)...)
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	fill()
	return strings.Join(out, "\n")
}

// hang fills words to a width, with first before the first line and rest before the other lines.
func hang(first, rest string, words []string, width int) []string {
	var out []string
	line, empty := first, true
	for _, w := range words {
		if !empty && len([]rune(line))+1+len([]rune(w)) > width {
			out = append(out, line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += w
		empty = false
	}
	return append(out, strings.TrimRight(line, " "))
}
