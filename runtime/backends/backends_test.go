package backends

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime/plugins"
)

func TestOpenUnknown(t *testing.T) {
	_, err := Open(context.Background(), "abacus", Options{})
	var unknown *UnknownError
	if !errors.As(err, &unknown) {
		t.Errorf("error is %v, expected an UnknownError", err)
	}
}

func TestOpenMissingPlugin(t *testing.T) {
	if !havePlugins {
		t.Skip("skip: built without cgo")
	}
	_, err := Open(context.Background(), "cpu", Options{Plugins: plugins.Environment{Root: t.TempDir()}})
	var missing *plugins.NotFoundError
	if !errors.As(err, &missing) {
		t.Errorf("error is %v, expected a NotFoundError", err)
	}
}

func TestOpenNoPlugin(t *testing.T) {
	if !havePlugins {
		t.Skip("skip: built without cgo")
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "pjrt_text.so")
	if err := os.WriteFile(text, []byte("no ELF file"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, dir + "/missing.so", dir + "/"} {
		_, err := Open(context.Background(), path, Options{})
		var failed *OpenError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s): error is %v, expected an OpenError that names it", path, err)
		}
	}
}

func TestNoSilentSubstitute(t *testing.T) {
	if !havePlugins {
		t.Skip("skip: built without cgo")
	}
	dir := t.TempDir()
	bad := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	if err := os.WriteFile(bad, []byte("no ELF file"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := plugins.Environment{Root: dir, Getenv: func(key string) string {
		if key == "PJRT_PLUGIN_LIBRARY_PATH" {
			return dir
		}
		return ""
	}}
	for _, name := range []string{"cpu", "auto"} {
		_, err := Open(context.Background(), name, Options{Plugins: env})
		if err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("Open(%s): error is %v, expected the plugin that failed", name, err)
		}
	}
}

// TestSkippedPluginsAreReported: Skipped gets a plugin that cannot be loaded if another plugin is used.
func TestSkippedPluginsAreReported(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	env := plugins.Environment{Getenv: os.Getenv, CacheDir: filepath.Join(cache, "hlocb", "plugins")}
	good, err := env.Find("cpu")
	if err != nil || !havePlugins {
		t.Skipf("skip: no CPU plugin: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "pjrt_c_api_cpu_plugin.so")
	if err := os.WriteFile(bad, []byte("no ELF file"), 0o644); err != nil {
		t.Fatal(err)
	}
	env = plugins.Environment{Root: t.TempDir(), Getenv: func(key string) string {
		if key == "PJRT_NAMES_AND_LIBRARY_PATHS" {
			return "cpu:" + bad + ",cpu:" + good[0].Path
		}
		return ""
	}}
	var skipped []string
	b, err := Open(context.Background(), "cpu", Options{Plugins: env, Skipped: func(s Candidate) { skipped = append(skipped, s.String()) }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if len(skipped) != 1 || !strings.HasPrefix(skipped[0], bad+" (PJRT_NAMES_AND_LIBRARY_PATHS): ") || strings.HasSuffix(skipped[0], ": ") {
		t.Errorf("reported %q, expected the path, the place and the loader's words of one plugin", skipped)
	}
}
