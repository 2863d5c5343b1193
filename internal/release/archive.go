package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// archive writes the archive of a platform: bin/hlocb, and the libraries in lib/hlocb.
func archive(b *build, out, version string) (_ string, err error) {
	root := "hlocb-" + version + "-" + b.name + "/"
	entries, err := b.programs(root+"bin/", root+"lib/hlocb/")
	if err != nil {
		return "", err
	}
	notices, err := b.notices(root+"licenses/", root, version)
	if err != nil {
		return "", err
	}
	file := filepath.Join(out, strings.TrimSuffix(root, "/")+".tar.gz")
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	t := tar.NewWriter(z)
	for _, e := range append(entries, notices...) {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.data)), ModTime: epoch, Format: tar.FormatUSTAR}
		if e.executable {
			h.Mode = 0o755
		}
		err = errors.Join(err, t.WriteHeader(h))
		if err == nil {
			_, err = t.Write(e.data)
		}
	}
	return file, errors.Join(err, t.Close(), z.Close(), f.Close())
}

// notes writes the section of CHANGELOG.md about a version to notes.md.
func notes(out, version string) error {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	_, section, ok := strings.Cut(string(text), "\n## "+version+"\n")
	if !ok {
		return fmt.Errorf("CHANGELOG.md has no section %s", version)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return os.WriteFile(filepath.Join(out, "notes.md"), []byte(strings.TrimSpace(section)+"\n"), 0o666)
}

// checksums writes the SHA-256 sums of files, as sha256sum -c reads them.
func checksums(out string, files []string) error {
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.Base(file))
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(b.String()), 0o666)
}
