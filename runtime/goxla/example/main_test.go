//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/runtime/plugins"
)

func TestRun(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	var out bytes.Buffer
	err = run(context.Background(), plugins.Environment{Getenv: os.Getenv, CacheDir: filepath.Join(cache, "hlocb", "plugins")}, &out)
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) {
		t.Skipf("skip: no CPU plugin: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := `clip got [1 4 9 16]
x = [1 2 3 4] gives y = [2 6 8 9]
clip got [1 0 0.25 100]
x = [-1 0 0.5 10] gives y = [0 0 0.75 15]
`
	if out.String() != want {
		t.Errorf("printed\n%sexpected\n%s", &out, want)
	}
}
