package values

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
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
// path as its name, with '.' between the parts.
func NewDirectory(path string) Writer { return &directory{path, map[string]bool{}} }

type directory struct {
	path string
	used map[string]bool
}

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
	f, err := os.Create(filepath.Join(d.path, uniqueName(d.used, plain)+".npy"))
	if err != nil {
		return err
	}
	return errors.Join(t.WriteNPY(f), f.Close())
}

func (d *directory) Close() error { return nil }

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
