package diag

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Severity says how serious a diagnostic is.
type Severity uint8

const (
	Error   Severity = iota // the input is rejected
	Warning                 // the input is accepted, but is probably a mistake
	Note                    // explains another diagnostic
	Remark                  // reports what was done
)

var severityNames = [...]string{Error: "error", Warning: "warning", Note: "note", Remark: "remark"}

func (s Severity) String() string { return severityNames[s] }

// Diagnostic is one finding about a source. It implements error. Error returns only the first line (file:line:col:
// error: message); Render also writes the excerpt, the caret and the notes.
//
// Messages are lower case, without a final period, and name the expected and the found thing.
type Diagnostic struct {
	Source   *Source // nil if the finding has no text
	Pos      Pos     // position of the caret; invalid if the finding concerns the whole source
	Severity Severity
	Message  string
	Notes    []*Diagnostic
}

// Errorf returns an error-severity diagnostic at pos of src.
func Errorf(src *Source, pos Pos, format string, args ...any) *Diagnostic {
	return &Diagnostic{Source: src, Pos: pos, Message: fmt.Sprintf(format, args...)}
}

// Note adds a note at pos of d's source and returns d.
func (d *Diagnostic) Note(pos Pos, format string, args ...any) *Diagnostic {
	d.Notes = append(d.Notes, &Diagnostic{Source: d.Source, Pos: pos, Severity: Note, Message: fmt.Sprintf(format, args...)})
	return d
}

// Error returns "file:line:col: error: message", or "file: offset 120: error: message" for a binary source.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if d.Source != nil {
		b.WriteString(d.Source.Name())
		switch {
		case !d.Pos.IsValid():
		case d.Source.Binary():
			fmt.Fprintf(&b, ": offset %d", d.Pos.Offset())
		default:
			line, col := d.Source.LineColumn(d.Pos)
			fmt.Fprintf(&b, ":%d:%d", line, col)
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Message)
	return b.String()
}

// Render writes d for a person: the line that Error returns, the source line, a caret below it, then the notes. It
// truncates long source lines around the caret.
func (d *Diagnostic) Render(w io.Writer) { d.RenderWidth(w, 0) }

// RenderWidth is Render for a terminal of the given width in columns: no source line wraps there. A width of 0 means
// the default.
func (d *Diagnostic) RenderWidth(w io.Writer, width int) {
	fmt.Fprintln(w, EscapeLines(d.Error()))
	if d.Source != nil && d.Pos.IsValid() && !d.Source.Binary() {
		if text, caret := d.Source.excerpt(d.Pos, width); text != "" {
			fmt.Fprintf(w, "%s\n%s^\n", text, strings.Repeat(" ", caret))
		}
	}
	for _, n := range d.Notes {
		n.RenderWidth(w, width)
	}
}

// List is several diagnostics as one error. The zero List is empty and ready to use.
type List []*Diagnostic

// Add appends d.
func (l *List) Add(d *Diagnostic) { *l = append(*l, d) }

// Err returns the list as an error, or nil if it holds no diagnostic of severity Error.
func (l List) Err() error {
	for _, d := range l {
		if d.Severity == Error {
			return l
		}
	}
	return nil
}

// Error returns the first line of each diagnostic, one per line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a *Diagnostic in the list.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, d := range l {
		errs[i] = d
	}
	return errs
}

// ListOf returns the diagnostics of an error: its List, or its Diagnostic as a list of one. It returns nil for other
// errors.
func ListOf(err error) List {
	if list, ok := errors.AsType[List](err); ok {
		return list
	}
	if d, ok := errors.AsType[*Diagnostic](err); ok {
		return List{d}
	}
	return nil
}

// Render writes every diagnostic of the list with Diagnostic.Render.
func (l List) Render(w io.Writer) { l.RenderWidth(w, 0) }

// RenderWidth writes every diagnostic of the list with Diagnostic.RenderWidth.
func (l List) RenderWidth(w io.Writer, width int) {
	b := bufio.NewWriter(w)
	defer b.Flush()
	for _, d := range l {
		d.RenderWidth(b, width)
	}
}
