// Package corpus finds the test files of other projects that tests run on. They are no part of this repository.
package corpus

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Dir returns the directory of the corpus, or skips the test. root is the path of the repository's root from the
// test's directory: "../..".
func Dir(t testing.TB, root string) string {
	t.Helper()
	dir := os.Getenv("HLOCB_CORPUS")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("skip: corpus not found (HLOCB_CORPUS names it)")
	}
	return dir
}

// StableHLO returns the directory of StableHLO's own test files (testdata and tests), unpacking the archive into
// the user's cache where that was not done before, or skips the test.
func StableHLO(t testing.TB, root string) string {
	t.Helper()
	archive := filepath.Join(Dir(t, root), "stablehlo.tar.xz")
	info, err := os.Stat(archive)
	if err != nil {
		t.Skip("skip: corpus not found: no stablehlo.tar.xz in it")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("skip: no user cache directory to unpack the corpus into")
	}
	dir := filepath.Join(cache, "hlocb", "corpus", info.ModTime().UTC().Format("20060102T150405"))
	if _, err := os.Stat(filepath.Join(dir, "stablehlo")); err == nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "unpack-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if out, err := exec.Command("tar", "-xJf", archive, "-C", tmp).CombinedOutput(); err != nil {
		t.Skipf("skip: tar cannot unpack the corpus: %v: %s", err, out)
	}
	if err := os.Rename(tmp, dir); err != nil {
		// Another test may have been faster.
		if _, err2 := os.Stat(filepath.Join(dir, "stablehlo")); err2 != nil {
			t.Fatal(err)
		}
	}
	return dir
}
