package launch

import (
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Embedded is the directory of this package that a release fills with the libraries, each compressed as FILE.gz. Then
// the command works without the files beside it.
const Embedded = "libraries"

//go:embed libraries
var embedded embed.FS

// holds reports whether the libraries of a release, a directory Embedded in release, contain all files.
func holds(release fs.FS, files []string) bool {
	for _, name := range files {
		if _, err := fs.Stat(release, Embedded+"/"+name+".gz"); err != nil {
			return false
		}
	}
	return true
}

// unpack writes the files into dir. They appear whole, and all or none: each is written elsewhere first.
func unpack(release fs.FS, files []string, dir string) error {
	return inside(dir, func(work string) error {
		for _, name := range files {
			if err := unpackFile(release, name, work); err != nil {
				return err
			}
		}
		for _, name := range files {
			if err := os.Rename(filepath.Join(work, name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

func unpackFile(release fs.FS, name, dir string) error {
	in, err := release.Open(Embedded + "/" + name + ".gz")
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, z); err != nil { // also if the checksum of the compressed file is wrong
		out.Close()
		return err
	}
	return out.Close()
}
