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

	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/tensor"
)

// Writer writes named arrays.
type Writer interface {
	Write(name string, t *tensor.Tensor) error
	Close() error
	Discard() error // instead of Close, after a failure
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
	return tensorio.WriteNPY(w, t)
}

func (a *archive) Close() error { return a.z.Close() }

func (a *archive) Discard() error { return nil } // the file is the caller's

// NewDirectory returns a writer of .npy files into a directory. A file has the array's path as its name, with '.'
// between the parts. Until Close the files are in a folder of another name. If path is new, that folder is beside it
// and becomes path by one rename. Otherwise it is in path, its files get their names one after the other, and other
// files in path stay. If an array cannot be written, path does not change.
func NewDirectory(path string) Writer {
	return &directory{path: filepath.Clean(path), used: map[string]bool{}}
}

type directory struct {
	path  string
	temp  string // the folder with the files; "" before the first array
	whole bool   // the folder becomes path
	used  map[string]bool
	files []string // names of the files
}

func (d *directory) Write(name string, t *tensor.Tensor) error {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, shorten(strings.ReplaceAll(Path(name), "/", ".")))
	if d.temp == "" {
		if err := d.open(); err != nil {
			return err
		}
	}
	name = uniqueName(d.used, plain) + ".npy"
	f, err := os.Create(filepath.Join(d.temp, name))
	if err != nil {
		return errors.Join(err, d.Discard())
	}
	d.files = append(d.files, name)
	if err := errors.Join(tensorio.WriteNPY(f, t), f.Close()); err != nil {
		return errors.Join(err, d.Discard())
	}
	return nil
}

// open makes the folder for the files, with the permissions of new folders and a name that no other process uses.
func (d *directory) open() error {
	_, err := os.Stat(d.path)
	parent, name := d.path, ""
	if d.whole = errors.Is(err, os.ErrNotExist); d.whole {
		parent, name = filepath.Dir(d.path), fmt.Sprintf(".%.100s", filepath.Base(d.path))
		if err := os.MkdirAll(parent, 0o777); err != nil {
			return err
		}
	}
	for try := 0; ; try++ {
		temp := filepath.Join(parent, fmt.Sprintf("%s.%08x.partial", name, rand.Uint32()))
		err := os.Mkdir(temp, 0o777)
		if err == nil {
			d.temp = temp
		}
		if !errors.Is(err, os.ErrExist) || try == 100 {
			return err
		}
	}
}

func (d *directory) Close() (err error) {
	if d.temp == "" {
		return nil
	}
	if d.whole {
		if err = os.Rename(d.temp, d.path); err == nil {
			return nil
		}
		// Another process has made path since. Its files and these ones get their names as in any folder that exists.
		if info, exists := os.Stat(d.path); exists != nil || !info.IsDir() {
			return errors.Join(err, d.Discard())
		}
	}
	for _, name := range d.files {
		if err := os.Rename(filepath.Join(d.temp, name), filepath.Join(d.path, name)); err != nil {
			return errors.Join(err, d.Discard())
		}
	}
	return d.Discard()
}

func (d *directory) Discard() error {
	if d.temp == "" {
		return nil
	}
	temp := d.temp
	d.temp = ""
	return os.RemoveAll(temp)
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
