// Package values reads and writes sets of named arrays: directories of .npy files, .npz files and .safetensors files.
package values

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/tensor"
)

// Set is a set of named arrays in a file or directory. Arrays are read one at a time.
type Set struct {
	path   string
	names  []string
	read   func(i int, raw tensor.DType) (*tensor.Tensor, error)
	closer io.Closer
}

// Open opens a directory, a .npz file or a .safetensors file. The content decides which kind of file it is.
func Open(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		f.Close()
		return openDirectory(path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	var magic [4]byte
	_, _ = f.ReadAt(magic[:], 0)
	var s *Set
	switch {
	case string(magic[:2]) == "PK":
		s, err = openArchive(f, info.Size())
	case string(magic[:]) == "\x93NUM":
		err = errors.New("this is one array; expected a directory, a .npz file or a .safetensors file")
	default:
		s, err = openSafetensors(f, info.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, f.Close()))
	}
	s.path, s.closer = path, f
	return s, nil
}

// Names returns the names of the arrays, in the order of the file.
func (s *Set) Names() []string { return s.names }

// Read reads array i. raw is the element type of an array that numpy wrote as raw bytes.
func (s *Set) Read(i int, raw tensor.DType) (*tensor.Tensor, error) {
	t, err := s.read(i, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: array %q: %w", s.path, s.names[i], err)
	}
	return t, nil
}

// Close closes the file.
func (s *Set) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Find returns the array for argument or result number i with these names, or -1: an array whose name is one of names,
// however its path is written (params['w'], params.w, params/w), or the number i (0, arr_0, arg0).
func (s *Set) Find(i int, names ...string) int {
	for _, name := range names {
		if k := slices.Index(s.names, name); k >= 0 && name != "" {
			return k
		}
	}
	for _, name := range names {
		path := Path(name)
		if k := slices.IndexFunc(s.names, func(n string) bool { return Path(n) == path }); k >= 0 && path != "" {
			return k
		}
	}
	number := strconv.Itoa(i)
	return slices.IndexFunc(s.names, func(n string) bool { return n == number || n == "arr_"+number || n == "arg"+number })
}

// Path returns the parts of a name joined by '/': JAX writes params['w'][0].b; others write params/w/0/b or
// params.w.0.b.
func Path(name string) string {
	var parts []string
	for _, p := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("./[]", r) }) {
		if p = strings.Trim(p, `'"`); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}

func openDirectory(path string) (*Set, error) {
	s := &Set{path: path}
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".npy") {
			return err
		}
		name, err := filepath.Rel(path, file)
		s.names = append(s.names, strings.TrimSuffix(filepath.ToSlash(name), ".npy"))
		return err
	})
	if err == nil && len(s.names) == 0 {
		err = fmt.Errorf("%s holds no .npy files", path)
	}
	s.read = func(i int, raw tensor.DType) (*tensor.Tensor, error) {
		return ReadFile(filepath.Join(path, filepath.FromSlash(s.names[i])+".npy"), raw)
	}
	return s, err
}

// ReadFile reads a .npy file of any element type. raw is the type of an array that numpy wrote as raw bytes.
func ReadFile(path string, raw tensor.DType) (*tensor.Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(-1)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return tensorio.ReadNPYSized(f, raw, size)
}

// maxDeflate is the highest ratio of sizes that deflate reaches.
const maxDeflate = 1032

func openArchive(f *os.File, size int64) (*Set, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	var files []*zip.File
	for _, entry := range z.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			continue
		}
		if slices.Contains(s.names, name) {
			return nil, fmt.Errorf("array %q occurs twice", name)
		}
		s.names, files = append(s.names, name), append(files, entry)
	}
	if len(files) == 0 && len(z.File) > 0 { // numpy.savez writes an empty archive for no arrays
		return nil, errors.New("the archive holds no .npy files")
	}
	s.read = func(i int, raw tensor.DType) (*tensor.Tensor, error) {
		r, err := files[i].Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		limit := int64(-1) // the directory may lie about sizes
		if n := files[i].UncompressedSize64; n <= uint64(size)*maxDeflate && n <= (files[i].CompressedSize64+1)*maxDeflate {
			limit = int64(n)
		}
		return tensorio.ReadNPYSized(r, raw, limit)
	}
	return s, nil
}
