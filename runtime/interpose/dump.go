//go:build cgo

package interpose

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// dump writes programs into a directory. A nil dump writes nothing.
type dump struct {
	dir string

	mu   sync.Mutex
	last int
}

func newDump(dir string) (*dump, error) {
	return &dump{dir: dir}, os.MkdirAll(dir, 0o777)
}

// files are the files of one program. Nil writes nothing.
type files struct{ base string }

// program chooses a number that no other program in the directory has, not even a program of another process.
func (d *dump) program(name string) (*files, error) {
	if d == nil {
		return nil, nil
	}
	safe := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		d.last++
		entries, err := os.ReadDir(d.dir)
		if err != nil {
			return nil, err
		}
		prefix := fmt.Sprintf("%04d_", d.last)
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), prefix) }) {
			continue
		}
		f := &files{filepath.Join(d.dir, fmt.Sprintf("%04d_%s", d.last, safe))}
		w, err := os.OpenFile(f.base+DumpedBefore, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return f, w.Close()
	}
}

// arguments writes the arguments of a run, named by their numbers in main without tokens.
func (f *files) arguments(args []*tensor.Tensor) error {
	args = slices.DeleteFunc(args, func(t *tensor.Tensor) bool { return t == nil })
	if f == nil || len(args) == 0 {
		return nil
	}
	return command.Replace(f.base+DumpedArgs, func(w io.Writer) error {
		archive := values.NewArchive(w)
		for n, t := range args {
			if err := archive.Write(strconv.Itoa(n), t); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

// text writes a module, with its locations.
func (f *files) text(suffix string, m *ir.Module) error {
	if f == nil {
		return nil
	}
	return f.write(suffix, print.Append(nil, m, print.Options{DebugInfo: true, OwnLocs: true}))
}

func (f *files) write(suffix string, data []byte) error {
	if f == nil {
		return nil
	}
	return command.Replace(f.base+suffix, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
