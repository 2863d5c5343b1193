package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// text reads a file, or standard input for "-", and returns its name for diagnostics.
func (a *app) text(path string) (name string, text []byte, err error) {
	limit := int64(reader.MaxText)
	if m := machineMemory(); m > 0 {
		limit = min(limit, int64(m/4))
	}
	if path == "-" {
		name = "<stdin>"
		text, err = reader.Text(name, a.stdin, limit)
	} else {
		name = path
		var f *os.File
		if f, err = os.Open(path); err != nil {
			return "", nil, err
		}
		text, err = reader.Text(name, f, limit)
		err = errors.Join(err, f.Close())
	}
	heap.Reading(len(text))
	return name, text, err
}

// program reads a module and converts its hooks.
func (a *app) program(ctx context.Context, path string, opts ...hlocb.LoadOption) (*hlocb.Program, error) {
	name, text, err := a.text(path)
	if err != nil {
		return nil, err
	}
	return hlocb.Parse(ctx, name, text, append(opts, hlocb.OnWarning(a.warn))...)
}

// module reads and verifies a module and leaves its hooks as they are.
func (a *app) module(path string) (*ir.Module, error) {
	name, text, err := a.text(path)
	if err != nil {
		return nil, err
	}
	m, err := readModule(diag.NewSource(name, text), reader.MaxErrors)
	if err != nil {
		return nil, err
	}
	a.warnAll(m)
	return m, nil
}

func (a *app) warn(d *diag.Diagnostic) { d.Render(a.stderr) }

// warnAll prints warnings about attributes that are probably misspelled. MLIR accepts them silently.
func (a *app) warnAll(m *ir.Module) {
	for i, d := range ir.Misspelt(m) {
		if i == reader.MaxErrors {
			return
		}
		a.warn(d)
	}
}

// readModule parses and verifies a module and reports at most maxErrors mistakes.
func readModule(src *diag.Source, maxErrors int) (*ir.Module, error) {
	registry, err := reader.Registry()
	if err != nil {
		return nil, err
	}
	return reader.Read(src, registry, maxErrors)
}

// format is a notation that modules are written in.
type format struct {
	name, doc string
	print     print.Options
}

func formats() []format {
	return []format{
		{"mlir", "MLIR's pretty form", print.Options{}},
		{"generic", "MLIR's generic form", print.Options{Generic: true}},
	}
}

// writeModule writes a module to a file, or to standard output for "" and "-". Locations are written where o says so or
// where the module has some of its own.
func (a *app) writeModule(path string, m *ir.Module, o print.Options) error {
	o.DebugInfo = o.DebugInfo || reader.HasLocations(m)
	return a.writeWith(path, func(w io.Writer) error { return print.Print(w, m, o) })
}

// write writes what a command produced to a file, or to standard output for "" and "-".
func (a *app) write(path string, text []byte) error {
	return a.writeWith(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func (a *app) writeWith(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(a.stdout)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeJSON writes v to standard output for a program to read: indented, with the names of a module as they are.
func (a *app) writeJSON(v any) error { return writeJSON(a.stdout, v) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
