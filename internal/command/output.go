package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/internal/reader"
)

// ReadText reads a file, or standard input for "-", and also returns its name for diagnostics.
func (c *Console) ReadText(path string) (name string, text []byte, err error) {
	limit := int64(reader.MaxText)
	if m := heap.Memory(); m > 0 {
		limit = min(limit, int64(m/4))
	}
	if path == "-" {
		name = "<stdin>"
		text, err = reader.Text(name, c.In, limit)
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

// KeepOpen returns w with a Close that does nothing, for a stream that the caller must not close.
func KeepOpen(w io.Writer) io.WriteCloser { return keepOpen{w} }

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// Outputs are the files that a run writes. They are opened after all other checks; a mistake in the command line then
// leaves them unchanged.
type Outputs struct {
	files  []*Output
	Inputs []string // must not be written to
	// Standard says that standard output holds data in a format, so text for people goes to standard error.
	Standard bool
}

// Output is a file to be written. It buffers its data until it is open.
type Output struct {
	path   string
	atomic bool // write another file and rename it to path at the end
	kept   bytes.Buffer
	file   *os.File
	temp   string // the name of file, if it is to be renamed
	wrote  bool
	group  *Outputs // nil for a single file
	failed bool     // a write to it failed
	lazy   bool     // do not create an empty file
}

func (o *Output) Write(p []byte) (int, error) {
	o.wrote = o.wrote || len(p) > 0
	if o.file == nil {
		return o.kept.Write(p)
	}
	n, err := o.file.Write(p)
	if err != nil {
		o.failed = true
	}
	return n, err
}

// WriteAt implements io.WriterAt. It writes nothing before the file is open: the run failed before its first event.
func (o *Output) WriteAt(p []byte, at int64) (int, error) {
	if o.file == nil {
		return len(p), nil
	}
	n, err := o.file.WriteAt(p, at)
	o.wrote, o.failed = true, o.failed || err != nil
	return n, err
}

// incomplete reports whether a write to the file or to another file of its group failed. The files of a group, such as
// a recording and its data, belong together.
func (o *Output) incomplete() bool {
	return o.failed || o.group != nil && slices.ContainsFunc(o.group.files, func(o *Output) bool { return o.failed })
}

// discard closes and removes a file that does not have its name yet.
func (o *Output) discard() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	if o.temp != "" {
		err = errors.Join(err, os.Remove(o.temp))
	}
	return err
}

// Close closes the file and gives it its name. If a write to it or to its group failed, it keeps the old file instead.
// It does nothing for a file that was never opened.
func (o *Output) Close() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	switch {
	case o.temp == "":
	case err != nil || o.incomplete():
		err = errors.Join(err, os.Remove(o.temp))
	case o.lazy && !o.wrote:
		err = errors.Join(err, os.Remove(o.temp))
		if gone := os.Remove(o.path); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone) // the data of an older recording
		}
	default:
		if err = os.Rename(o.temp, o.path); err != nil {
			err = errors.Join(err, os.Remove(o.temp))
		}
	}
	return err
}

// open opens the file and writes the buffered data. A file that exists keeps its permissions.
func (o *Output) open() error {
	if target, err := filepath.EvalSymlinks(o.path); err == nil {
		o.path = target
	}
	path, mode := o.path, os.FileMode(0o666)
	info, err := os.Stat(path)
	if exists := err == nil && info.Mode().IsRegular(); o.atomic && (exists || errors.Is(err, os.ErrNotExist)) {
		if exists {
			mode = info.Mode().Perm()
		}
		o.file, err = CreateTemp(path, mode)
		if err == nil {
			o.temp = o.file.Name()
		}
	} else {
		// os.Create also opens for reading: a pipe would then have a reader that never reads.
		o.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	}
	if err != nil {
		if failed, ok := errors.AsType[*os.PathError](err); ok {
			failed.Path = o.path // the name that the user gave
		}
		return err
	}
	if o.temp != "" && info != nil {
		err = o.file.Chmod(mode) // without the process's mask
	}
	_, kept := o.kept.WriteTo(o)
	if err = errors.Join(err, kept); err != nil {
		err = errors.Join(err, o.discard())
	}
	return err
}

// CreateTemp creates a file beside path, with a name that no other process uses and that no link can take.
func CreateTemp(path string, mode os.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%.100s.%08x.partial", filepath.Base(path), rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, os.ErrExist) || try == 100 {
			if failed, ok := errors.AsType[*os.PathError](err); ok {
				failed.Path = path // the name that the user gave
			}
			return f, err
		}
	}
}

// Add returns a new output. - is standard output.
func (s *Outputs) Add(path string, atomic, lazy bool) *Output {
	o := &Output{path: path, atomic: atomic, lazy: lazy, group: s}
	s.files = append(s.files, o)
	return o
}

// Check refuses Outputs that are the same file as an input or another output.
func (s *Outputs) Check() error {
	for i, o := range s.files {
		for _, in := range s.Inputs {
			if sameFile(o.path, in) {
				return Usagef("%s would be overwritten: it is an input", o.path)
			}
		}
		for _, other := range s.files[:i] {
			if sameFile(o.path, other.path) {
				return Usagef("%s is named as two outputs", o.path)
			}
		}
	}
	return nil
}

// sameFile reports whether two names refer to the same file. Devices and pipes do not count, because they hold no data
// to lose.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	x1, err1 := filepath.Abs(a)
	y1, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x1 == y1
}

// Open opens every output. Opening a pipe waits for its reader, so ctx can end it.
func (s *Outputs) Open(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		for _, o := range s.files {
			if err := o.open(); err != nil {
				for _, opened := range s.files {
					_ = opened.discard()
				}
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// KeepOld makes Close keep the old files of a run that was stopped. A file that does not exist yet gets what the run
// wrote.
func (s *Outputs) KeepOld() {
	for _, o := range s.files {
		if _, err := os.Stat(o.path); err == nil && o.temp != "" {
			o.failed = true // and with it the other files of the group
		}
	}
}

// Discard removes the outputs that do not have their names yet, after a failure.
func (s *Outputs) Discard() {
	for _, o := range s.files {
		_ = o.discard()
	}
}

// WriteFile writes a file, or standard output for "" and "-". It replaces a file only after write has succeeded. The
// writer returns an error after the end of the command's context.
func (c *Console) WriteFile(path string, write func(io.Writer) error) error {
	stopping := func(w io.Writer) error { return write(&stoppingWriter{w, c.in.ctx}) }
	if path == "" || path == "-" {
		return stopping(c.Out)
	}
	return Replace(path, stopping)
}

// stoppingWriter writes until its context ends.
type stoppingWriter struct {
	w   io.Writer
	ctx context.Context // nil before the command starts
}

func (s *stoppingWriter) Write(p []byte) (int, error) {
	if s.ctx != nil && s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.w.Write(p)
}

// Replace writes a file. It replaces an older one only after write has succeeded, so the file is whole at any time.
func Replace(path string, write func(io.Writer) error) error {
	o := &Output{path: path, atomic: true}
	if err := o.open(); err != nil {
		return err
	}
	if err := write(o); err != nil {
		err = errors.Join(err, o.discard())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return o.Close()
}
