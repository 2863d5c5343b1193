package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// program reads a module and converts its hooks.
func (a *app) program(ctx context.Context, path string, opts ...hlocb.LoadOption) (*hlocb.Program, error) {
	name, text, err := a.ReadText(path)
	if err != nil {
		return nil, err
	}
	return hlocb.Parse(ctx, name, text, append(opts, hlocb.OnWarning(a.Show))...)
}

// described is program for commands that do not run it: a compiled program is described, too.
func (a *app) described(ctx context.Context, path string, opts ...hlocb.LoadOption) (*hlocb.Program, error) {
	p, err := a.program(ctx, path, opts...)
	if !errors.As(err, new(*reader.CompiledError)) || path == "-" {
		return p, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return hlocb.Decode(path, data)
}

// source reads a file.
func (a *app) source(path string) (*diag.Source, error) {
	name, text, err := a.ReadText(path)
	return diag.NewSource(name, text), err
}

// module reads and verifies a module without changing its hooks.
func (a *app) module(path string) (*ir.Module, error) {
	src, err := a.source(path)
	if err != nil {
		return nil, err
	}
	return a.read(src)
}

// read is module for a file that was read.
func (a *app) read(src *diag.Source) (*ir.Module, error) {
	m, err := reader.Read(src)
	if err != nil {
		return nil, err
	}
	for _, d := range reader.Warnings(m) {
		a.Show(d)
	}
	return m, nil
}

// writeModule writes a module to a file, or to standard output for "" and "-". It writes the locations of the
// module's own text, or all locations if o says so. The module keeps the form that it was read in, unless the suffix of
// the file names another form: see reader.Write.
func (a *app) writeModule(ctx context.Context, path string, m *ir.Module, o print.Options) error {
	return a.WriteFile(path, func(w io.Writer) error { return reader.Write(ctx, w, path, m, o) })
}

// keepInput refuses an output that is the input.
func keepInput(in, out string) error {
	outputs := command.Outputs{Inputs: []string{in}}
	outputs.Add(out, false, false)
	return outputs.Check()
}

// write writes a command's output to a file, or to standard output for "" and "-".
func (a *app) write(path string, text []byte) error {
	return a.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// writeJSON writes v for programs: indented, with the names of a module unchanged.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
