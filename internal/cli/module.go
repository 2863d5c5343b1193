package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// maxSource is the largest text that positions can point into.
const maxSource = 1<<32 - 2

// source reads a file, or standard input for "-".
func (a *app) source(path string) (*diag.Source, error) {
	var text []byte
	var err error
	name := path
	if path == "-" {
		name = "<stdin>"
		text, err = io.ReadAll(a.stdin)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	if uint64(len(text)) > maxSource {
		return nil, fmt.Errorf("%s: %d bytes are too many; 4 GiB can be read", name, len(text))
	}
	heap.Reading(len(text))
	return diag.NewSource(name, text), nil
}

// module reads and verifies a module, in the notation that its content shows.
func (a *app) module(path string) (*ir.Module, error) {
	src, err := a.source(path)
	if err != nil {
		return nil, err
	}
	m, err := readModule(src, defaultMaxErrors)
	a.warn(m)
	return m, err
}

// warn writes what a module says that it probably does not mean. It is nothing to fail for: MLIR says nothing of it.
func (a *app) warn(m *ir.Module) {
	if m == nil {
		return
	}
	for i, d := range ir.Misspelt(m) {
		if i == defaultMaxErrors {
			return
		}
		d.Render(a.stderr)
	}
}

// defaultMaxErrors is how many mistakes of a text are reported.
const defaultMaxErrors = 20

// readModule parses and verifies a module and reports up to maxErrors mistakes of its text.
func readModule(src *diag.Source, maxErrors int) (*ir.Module, error) {
	if len(bytes.TrimSpace(src.Text())) == 0 {
		// MLIR takes it for an empty module; for a user it is a file that somebody failed to write.
		return nil, diag.Errorf(src, diag.At(0), "expected a module, found an empty file")
	}
	m, err := parseModule(src, maxErrors)
	if err != nil {
		return nil, err
	}
	err = ir.VerifyChanged(m)
	var list diag.List
	if errors.As(err, &list) && len(list) > maxErrors {
		err = list[:max(1, maxErrors)]
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// registry returns the registry of all dialects. Making one takes longer than reading a small module, and a file can
// consist of thousands of those.
var registry = sync.OnceValues(all.Registry)

// parseModule reads a module in the notation that its content shows.
func parseModule(src *diag.Source, maxErrors int) (*ir.Module, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	text := src.Text()
	switch {
	case bytes.HasPrefix(text, []byte("ML\xefR")):
		return nil, fmt.Errorf("%s: MLIR bytecode is not supported; print the module as text", src.Name())
	case isHLO(text):
		return parseHLO(src)
	}
	if i := bytes.IndexByte(text[:min(len(text), 8000)], 0); i >= 0 {
		return nil, diag.Errorf(src, diag.At(i), "this is a binary file, and modules are read as text")
	}
	return parse.Parse(src, ir.NewContext(), reg, parse.Options{MaxErrors: maxErrors})
}

// isHLO reports whether text is HLO's notation: its first word is HloModule.
func isHLO(text []byte) bool {
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		if !bytes.HasPrefix(text, []byte("//")) {
			return bytes.HasPrefix(text, []byte("HloModule"))
		}
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return false
		}
		text = text[end:]
	}
}

func parseHLO(src *diag.Source) (*ir.Module, error) {
	return nil, diag.Errorf(src, diag.At(0), "HLO text is not supported yet; convert it to StableHLO first")
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

// text returns the module as plugins get it.
func text(m *ir.Module) []byte {
	return print.Append(nil, m, print.Options{DebugInfo: hasLocations(m)})
}

// hasLocations reports whether the text that m was read from gives locations. Without any, ops are located by their
// place in that text, which is good for diagnostics and events but is not written out.
func hasLocations(m *ir.Module) bool {
	return m.Source() != nil && bytes.Contains(m.Source().Text(), []byte("loc("))
}

// writeModule writes a module to a file, or to standard output for "" and "-". Locations are written where o says so or
// where the module has some of its own.
func (a *app) writeModule(path string, m *ir.Module, o print.Options) error {
	o.DebugInfo = o.DebugInfo || hasLocations(m)
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
