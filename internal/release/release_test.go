package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake returns a build whose programs are the test binary, which holds build information as the real ones do.
func fake(t *testing.T) *build {
	t.Chdir("../..")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &build{platform: platforms()[0], command: self, libraries: map[string]string{"libhlocb_pjrt.so": self}}
}

// TestWheel: a wheel lists each of its files with its sum, its programs are executable regular files, and a second
// build is the same to the byte.
func TestWheel(t *testing.T) {
	b := fake(t)
	var first []byte
	for range 2 {
		file, err := wheel(b, t.TempDir(), "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		if want := "hlocb-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; filepath.Base(file) != want {
			t.Errorf("the file is %s, want %s", filepath.Base(file), want)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, text) {
			t.Error("two builds differ")
		}
		first = text
	}
	z, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(data)
		program := strings.Contains(f.Name, ".data/")
		if mode := f.ExternalAttrs >> 16; mode&0o100000 == 0 || program != (mode&0o111 != 0) {
			t.Errorf("%s has mode %o", f.Name, mode)
		}
	}
	record := files["hlocb-1.2.3.dist-info/RECORD"]
	for name, data := range files {
		sum := sha256.Sum256([]byte(data))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		if strings.HasSuffix(name, "RECORD") {
			line = name + ",,\n"
		}
		if !strings.Contains(record, line) {
			t.Errorf("RECORD lacks %s", line)
		}
	}
	if strings.Count(record, "\n") != len(files) {
		t.Errorf("RECORD has %d lines for %d files", strings.Count(record, "\n"), len(files))
	}
	for name, want := range map[string]string{
		"hlocb/__init__.py": "bisect_nan", "hlocb/py.typed": "", "hlocb-1.2.3.data/scripts/hlocb": "", "hlocb-1.2.3.data/data/lib/hlocb/libhlocb_pjrt.so": "",
		"hlocb-1.2.3.dist-info/METADATA": "Version: 1.2.3\n", "hlocb-1.2.3.dist-info/WHEEL": "Tag: py3-none-manylinux_2_17_x86_64\n",
		"hlocb-1.2.3.dist-info/entry_points.txt": "[jax_plugins]\nhlocb = hlocb._jax\n\n[torch_xla.plugins]\nhlocb = hlocb._torch:Plugin\n", "hlocb-1.2.3.dist-info/licenses/LICENSE": "Apache License",
		"hlocb-1.2.3.dist-info/sboms/hlocb.cdx.json": `"CycloneDX"`,
	} {
		if text, ok := files[name]; !ok || !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

// TestArchive: the command and the libraries lie where the command looks for them.
func TestArchive(t *testing.T) {
	b := fake(t)
	dir := t.TempDir()
	file, err := archive(b, dir, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode&0o111 != 0 {
			programs = append(programs, h.Name)
		}
	}
	root := "hlocb-1.2.3-linux-amd64/"
	if want := []string{root + "bin/hlocb", root + "lib/hlocb/libhlocb_pjrt.so"}; !slices.Equal(programs, want) {
		t.Errorf("programs %v, want %v", programs, want)
	}
	if err := notes(dir, "0.1.0"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "notes.md")); err != nil || !strings.HasPrefix(string(text), "The first release") || strings.Contains(string(text), "##") {
		t.Errorf("notes %q, %v", text, err)
	}
	if err := checksums(dir, []string{file}); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if want := fmt.Sprintf("%x  hlocb-1.2.3-linux-amd64.tar.gz\n", sha256.Sum256(text)); err != nil || string(sums) != want {
		t.Errorf("sums %q, %v, want %q", sums, err, want)
	}
}
