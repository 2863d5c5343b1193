//go:build cgo

package pjrt

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// sharedLibrary compiles a file, or skips the test. The cache directory keeps the library until the compiler, the
// flags, the file or its headers change: a handler with XLA's headers of C++ takes six seconds of processor time. Each
// call returns a file of its own, because the loader loads a file once.
func sharedLibrary(t testing.TB, compiler, file string, flags ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("skip: no compiler %s", compiler)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	out := filepath.Join(t.TempDir(), "lib"+filepath.Base(file)+".so")
	name := filepath.Join(cache, "hlocb", "tests", buildName(t, path, file, flags))
	if rule, err := os.ReadFile(name + ".d"); err == nil {
		if library, err := os.ReadFile(name + sourcesHash(rule)); err == nil {
			write(t, out, library)
			return out
		}
	}
	rule := out + ".d"
	args := append([]string{"-MMD", "-MF", rule, "-shared", "-fPIC", "-O1", "-pthread", "-o", out, file}, flags...)
	if text, err := peer.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	library, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(rule)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name+sourcesHash(list), library)
	write(t, name+".d", list)
	return out
}

// write makes a file in one step: other processes may read or write it.
func write(t testing.TB, file string, data []byte) {
	t.Helper()
	whole := fmt.Sprintf("%s.%d", file, os.Getpid())
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(whole, data, 0o777)
	}
	if err == nil {
		err = os.Rename(whole, file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// buildName returns a name for a compiler with its flags and the path of its file.
func buildName(t testing.TB, compiler, file string, flags []string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(compiler)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(real)
	if err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("%s %d %v %q %s", real, info.Size(), info.ModTime(), flags, absolute)
	return fmt.Sprintf("%s-%.12x", filepath.Base(file), sha256.Sum256([]byte(key)))
}

// sourcesHash returns a hash of the files that a rule of make names, as compilers write it, but not of the system's
// headers.
func sourcesHash(rule []byte) string {
	h := sha256.New()
	_, files, _ := strings.Cut(string(rule), ": ")
	for f := range strings.FieldsSeq(files) {
		if f == "\\" {
			continue
		}
		text, err := os.ReadFile(f)
		fmt.Fprintf(h, "%s %x %t\n", f, sha256.Sum256(text), err == nil)
	}
	return fmt.Sprintf("-%.12x.so", h.Sum(nil))
}
