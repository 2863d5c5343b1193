package values

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/tensor"
)

// TestFilesOfPeers reads files of numpy and of users of the safetensors format.
func TestFilesOfPeers(t *testing.T) {
	peer.Each(t, label.Part, checkFilesOfPeers)
}

func checkFilesOfPeers(t *testing.T, p *peer.Interpreter) {
	dir := t.TempDir()
	p.Run(t, `
import sys, json, struct, os, numpy as np, ml_dtypes
d = sys.argv[1]
w = np.arange(6, dtype=np.float32).reshape(2, 3)
h = np.array([1, -2], ml_dtypes.bfloat16)
np.savez(d + "/plain.npz", **{"params['w']": w, "h": h})
np.savez_compressed(d + "/small.npz", w, h)
os.makedirs(d + "/dir/params")
np.save(d + "/dir/params/w.npy", w); np.save(d + "/dir/h.npy", h)
body = w.tobytes() + h.tobytes()
header = json.dumps({"__metadata__": {"format": "np"}, "params.w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
  "h": {"dtype": "BF16", "shape": [2], "data_offsets": [24, 28]}}).encode()
open(d + "/a.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + body)
`, nil, dir)
	for _, name := range []string{"plain.npz", "small.npz", "dir", "a.safetensors"} {
		s, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct {
			name string
			text string
			d    tensor.DType
		}{{"params['w']", "dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00, 5.000000e+00]]> : tensor<2x3xf32>", tensor.F32},
			{"h", "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xbf16>", tensor.BF16}} {
			k := s.Find(i, want.name)
			if k < 0 {
				t.Fatalf("%s has no %s among %q", name, want.name, s.Names())
			}
			v, err := s.Read(k, want.d)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(v.AppendLiteral(nil, 0)); got != want.text {
				t.Errorf("%s: %s is %s, want %s", name, want.name, got, want.text)
			}
		}
		if k := s.Find(7, "other"); k >= 0 {
			t.Errorf("%s has array %d for a name that is not there", name, k)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWritersReadBack(t *testing.T) {
	v := tensor.New(tensor.F8E4M3FN, tensor.Shape{3})
	v.SetFloat(1, 2)
	names := []string{"result['a'].b", "0", "0", "../../x", strings.Repeat("n", 70000)}
	var file bytes.Buffer
	dir := filepath.Join(t.TempDir(), "out", "deep")
	for _, w := range []Writer{NewArchive(&file), NewDirectory(dir)} {
		for _, n := range names {
			if err := w.Write(n, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	npz := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(npz, file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{npz, dir} {
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Names()) != len(names) {
			t.Errorf("%s holds %q", path, s.Names())
		}
		k := s.Find(9, "result.a.b")
		if k < 0 {
			t.Fatalf("%s: no result.a.b in %q", path, s.Names())
		}
		back, err := s.Read(k, tensor.Invalid)
		if err != nil || !bytes.Equal(back.Bytes(), v.Bytes()) {
			t.Errorf("%s gives %v, %v", path, back, err)
		}
		s.Close()
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	st := func(header, body string) string {
		return string([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}) + header + body
	}
	for text, want := range map[string]string{
		"":                                 "neither a .npz file nor a .safetensors file",
		"PK\x03\x04garbage":                "not a valid zip file",
		"\xff\xff\xff\xff\xff\xff\xff\xff": "neither a .npz",
		st("{", ""):                        "not JSON",
		st(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "1234"):                         "outside the file",
		st(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, "12345678"):                     "8 bytes do not hold shape [3] of f32",
		st(`{"a":{"dtype":"F3","shape":[2],"data_offsets":[0,8]}}`, "12345678"):                      `"F3" is not supported`,
		st(`{"a":{"dtype":"F32","shape":[4611686018427387905,4],"data_offsets":[0,8]}}`, "12345678"): "do not hold",
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err == nil {
			_, err = s.Read(0, tensor.F32)
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %s", text, err, want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing")); err == nil || !strings.HasPrefix(err.Error(), "open ") {
		t.Errorf("a missing file gives %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no .npy files") {
		t.Errorf("an empty directory gives %v", err)
	}
}

// TestDirectoryAppearsWhole: a new directory is not there before Close, and nothing else is left beside it.
func TestDirectoryAppearsWhole(t *testing.T) {
	parent := t.TempDir()
	write := func(name string, end func(w Writer) error) {
		w := NewDirectory(filepath.Join(parent, name) + "/")
		for _, n := range []string{"a", "b"} {
			if err := w.Write(n, tensor.New(tensor.F32, nil)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(parent, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is there before Close: %v", name, err)
			}
		}
		if err := end(w); err != nil {
			t.Error(err)
		}
	}
	write("kept", Writer.Close)
	write("failed", Writer.Discard)
	// Two processes that make one directory at once leave the files of both.
	w := NewDirectory(filepath.Join(parent, "both"))
	if err := w.Write("c", tensor.New(tensor.F32, nil)); err != nil {
		t.Fatal(err)
	}
	write("both", Writer.Close)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	var found []string
	err := fs.WalkDir(os.DirFS(parent), ".", func(path string, _ fs.DirEntry, err error) error {
		found = append(found, path)
		return err
	})
	if want := ". both both/a.npy both/b.npy both/c.npy kept kept/a.npy kept/b.npy"; err != nil || strings.Join(found, " ") != want {
		t.Errorf("found %v, %v, want %s", found, err, want)
	}
}

// TestDirectoryKeepsOldFiles: the files get their names at Close, all together. If one cannot be written, the old files
// stay and nothing else does.
func TestDirectoryKeepsOldFiles(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "a.npy")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(dir, "b.npy") // no file can be renamed to it
	if err := os.MkdirAll(filepath.Join(victim, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	w := NewDirectory(dir)
	for _, name := range []string{"c", "a"} {
		if err := w.Write(name, tensor.New(tensor.F32, tensor.Shape{3})); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "old" {
		t.Errorf("before Close the file holds %q, %v", text, err)
	}
	if err := w.Discard(); err != nil {
		t.Error(err)
	}
	w = NewDirectory(dir)
	if err := errors.Join(w.Write("b", tensor.New(tensor.F32, nil)), w.Close()); err == nil {
		t.Error("a file replaces a directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "old" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
