package values

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// Writer writes named arrays.
type Writer interface {
	Write(name string, t *tensor.Tensor) error
	Close() error
}

// NewArchive returns a writer of a .npz file. The arrays are stored, not compressed. Close does not close w.
func NewArchive(w io.Writer) Writer { return &archive{zip.NewWriter(w), map[string]bool{}} }

type archive struct {
	z    *zip.Writer
	used map[string]bool
}

func (a *archive) Write(name string, t *tensor.Tensor) error {
	w, err := a.z.CreateHeader(&zip.FileHeader{Name: uniqueName(a.used, shorten(name)) + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	return t.WriteNPY(w)
}

func (a *archive) Close() error { return a.z.Close() }

// NewDirectory returns a writer of .npy files into a directory, which the first array makes. A file has the array's
// path as its name, with '.' between the parts. The files get their names at Close; if an array cannot be written, the
// old files stay.
func NewDirectory(path string) Writer { return &directory{path: path, used: map[string]bool{}} }

type directory struct {
	path  string
	used  map[string]bool
	files []pending
}

// pending is a file that does not have its name yet.
type pending struct{ temp, name string }

func (d *directory) Write(name string, t *tensor.Tensor) error {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, shorten(strings.ReplaceAll(Path(name), "/", ".")))
	if err := os.MkdirAll(d.path, 0o777); err != nil {
		return err
	}
	name = filepath.Join(d.path, uniqueName(d.used, plain)+".npy")
	f, err := create(name)
	if err != nil {
		return errors.Join(err, d.discard())
	}
	d.files = append(d.files, pending{f.Name(), name})
	if err := errors.Join(t.WriteNPY(f), f.Close()); err != nil {
		return errors.Join(err, d.discard())
	}
	return nil
}

// create creates a file beside name, which no other process uses, with the permissions of new files.
func create(name string) (*os.File, error) {
	for try := 0; ; try++ {
		temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%08x.partial", rand.Uint32()))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// discard removes the files that do not have their names yet.
func (d *directory) discard() error {
	var errs []error
	for _, f := range d.files {
		errs = append(errs, os.Remove(f.temp))
	}
	d.files = nil
	return errors.Join(errs...)
}

func (d *directory) Close() error {
	for len(d.files) > 0 {
		if err := os.Rename(d.files[0].temp, d.files[0].name); err != nil {
			return errors.Join(err, d.discard())
		}
		d.files = d.files[1:]
	}
	return nil
}

// shorten limits the length of a name that a module chose.
func shorten(name string) string {
	if len(name) > 128 {
		name = name[:128]
	}
	return strings.ToValidUTF8(name, "_")
}

// uniqueName returns the name, or the name with a number if it is already used.
func uniqueName(used map[string]bool, name string) string {
	out := name
	for n := 2; used[out] || out == "" || strings.HasPrefix(out, "."); n++ {
		out = strings.TrimLeft(fmt.Sprintf("%s#%d", name, n), ".")
	}
	used[out] = true
	return out
}
