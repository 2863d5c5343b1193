package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/tensor"
)

// result is a result of a run.
type result struct {
	*tensor.Tensor
	number, count int
	name          string // jax.result_info, or ""
}

// resultWriter prints and writes results, one at a time.
type resultWriter struct {
	write   func(r result) error
	close   func() error
	discard func() error // instead of close, after a failure
}

// resultWriter returns the writer for the value of --results: a directory, a .npz file, any other file for JSON, - for
// JSON on standard output, or nothing. Results that are not written to standard output are printed there.
func (a *app) resultWriter(path string, f *runFlags) *resultWriter {
	info, err := os.Stat(path)
	var w *resultWriter
	nothing := func() error { return nil }
	closeFile := nothing
	print := func(r result) error { return printResult(textOutput{a, &f.bind.outputs}, r) }
	switch {
	case path == "":
		return &resultWriter{print, closeFile, nothing}
	case path == "-":
		f.bind.outputs.Standard = true
		return jsonResults(a.Out)
	case os.IsPathSeparator(path[len(path)-1]) || err == nil && info.IsDir():
		f.steps.dir = path
		dir := values.NewDirectory(path)
		w = &resultWriter{func(r result) error { return dir.Write(r.file(), r.Tensor) }, dir.Close, dir.Discard}
	default:
		file := f.bind.outputs.Add(path, true, false)
		closeFile = file.Close
		if !strings.HasSuffix(path, ".npz") {
			w = jsonResults(file)
			break
		}
		archive := values.NewArchive(file)
		w = &resultWriter{func(r result) error { return archive.Write(r.file(), r.Tensor) }, archive.Close, nothing}
	}
	return &resultWriter{func(r result) error {
		if err := w.write(r); err != nil {
			return err
		}
		return print(r)
	}, func() error {
		if err := w.close(); err != nil {
			return err
		}
		return closeFile()
	}, w.discard}
}

// file is the name of a result in files: its jax.result_info, otherwise its number.
func (r result) file() string {
	if r.name == "" {
		return strconv.Itoa(r.number)
	}
	return r.name
}

// printResult prints a result in a line: with its number if there are several, and with its name if it has one.
func printResult(w io.Writer, r result) error {
	var label []string
	if r.count > 1 {
		label = append(label, strconv.Itoa(r.number))
	}
	if r.name != "" {
		label = append(label, diag.Escape(r.name))
	}
	text := string(r.AppendLiteral(nil, shownElements))
	if label != nil {
		text = strings.Join(label, " ") + ": " + text
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// jsonResults writes an array with one result per line.
func jsonResults(out io.Writer) *resultWriter {
	w := bufio.NewWriter(out)
	begun := "["
	return &resultWriter{func(r result) error {
		_, err := w.WriteString(begun + "\n")
		begun = ","
		if err != nil {
			return err
		}
		_, err = w.Write(tensorio.AppendJSON(nil, r.Tensor))
		return err
	}, func() error {
		if begun == "[" {
			w.WriteString(begun)
		}
		w.WriteString("\n]\n")
		return w.Flush()
	}, func() error { return nil }}
}
