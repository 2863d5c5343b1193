package launch

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TestUnpack: the libraries in a command appear whole and executable, and none appears if one of them is damaged.
func TestUnpack(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("library")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(packed.Bytes())
	damaged[len(damaged)-8]++ // the checksum
	files := Files()
	release := fstest.MapFS{}
	if holds(release, files) || holds(embedded, files) {
		t.Error("an empty release holds the libraries")
	}
	for _, f := range files {
		release[Embedded+"/"+f+".gz"] = &fstest.MapFile{Data: packed.Bytes()}
	}
	dir := filepath.Join(t.TempDir(), "new")
	if !holds(release, files) {
		t.Error("the release lacks libraries")
	}
	for range 2 { // also where they are already
		if err := unpack(release, files, dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f))
		info, _ := os.Stat(filepath.Join(dir, f))
		if err != nil || string(text) != "library" || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %q, %v, %v", f, text, info, err)
		}
	}
	release[Embedded+"/"+PreloadFile+".gz"] = &fstest.MapFile{Data: damaged}
	dir = t.TempDir()
	if err := unpack(release, files, dir); err == nil {
		t.Error("a damaged library was unpacked")
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("%v are left", list)
	}
}
