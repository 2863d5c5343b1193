package plugins

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRemove: Remove removes the version that is named, Clean what an installation left, and nothing else.
func TestRemove(t *testing.T) {
	cache := t.TempDir()
	for _, file := range []string{"cpu/1/plugin.json", "cpu/1/a.so", "cpu/2/plugin.json", "cpu/3/a.so.partial", "other/1/data", "cpu/note"} {
		at := filepath.Join(cache, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("{}"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(cache, filepath.FromSlash(n)))
		}
		return out
	}
	ctx := context.Background()
	if got := (Environment{CacheDir: cache}).Installed(); !slices.Equal(got, in("cpu/1", "cpu/2")) {
		t.Errorf("installed are %v", got)
	}
	if got, err := Clean(ctx, cache); err != nil || !slices.Equal(got, in("cpu/3")) {
		t.Errorf("Clean removed %v, %v", got, err)
	}
	if got, err := Remove(ctx, "cpu@2", cache); err != nil || !slices.Equal(got, in("cpu/2")) {
		t.Errorf("Remove of a version removed %v, %v", got, err)
	}
	if got, err := Remove(ctx, "cpu", cache); err != nil || !slices.Equal(got, in("cpu/1")) {
		t.Errorf("Remove removed %v, %v", got, err)
	}
	if _, err := Remove(ctx, "cpu", cache); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove again: %v", err)
	}
	for _, kept := range in("other/1/data", "cpu/note") {
		if _, err := os.Stat(kept); err != nil {
			t.Error(err)
		}
	}
}
