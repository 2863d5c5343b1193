package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// built compiles C text to a file, or skips the test.
func built(t *testing.T, name, text string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(out+".c", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := peer.Command("cc", append(flags, "-w", "-o", out, out+".c", "-ldl", "-lpthread")...).CombinedOutput(); err != nil {
		t.Skipf("skip: no C compiler: %v\n%s", err, text)
	}
	return out
}

// TestPreloadedLibraryFails: a program whose plugin cannot be wrapped runs with the plugin itself, and one line says
// why. Before, a library without GetPjrtApi was reported as a missing HLOCB_LIBRARY.
func TestPreloadedLibraryFails(t *testing.T) {
	shared := []string{"-shared", "-fPIC"}
	preload := built(t, "preload.so", string(preloadSource), shared...)
	plugin := built(t, "plugin.so", "const void *GetPjrtApi(void) { static int table; return &table; }\n", shared...)
	empty := built(t, "empty.so", "int nothing;\n", shared...)
	program := built(t, "program", `#include <dlfcn.h>
int main(int argc, char **argv) {
  const void *(*get)(void) = (const void *(*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "GetPjrtApi");
  return get && get() ? 0 : 7;
}
`)
	for _, test := range []struct{ library, want string }{
		{"HLOCB_LIBRARY=" + empty, "undefined symbol: GetPjrtApi"},
		{"HLOCB_LIBRARY=" + empty + "x", "cannot open shared object file"},
		{"OTHER=", "HLOCB_LIBRARY is not set"},
	} {
		c := peer.Command(program, plugin)
		c.Env = []string{"LD_PRELOAD=" + preload, test.library}
		out, err := c.CombinedOutput()
		if text := string(out); err != nil || strings.Count(text, "\n") != 1 || !strings.Contains(text, test.want) {
			t.Errorf("%s: %v, expected %q:\n%s", test.library, err, test.want, text)
		}
	}
}

// TestIsTree: only hlocb's own sources are built and preloaded. Before, any tree around the working directory whose
// go.mod had hlocb's name was.
func TestIsTree(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		file string
		text []byte
		want bool
	}{
		{"README", nil, false},
		{"go.mod", []byte("module " + module + "\n"), false},
		{"internal/launch/c/preload.c", []byte("void anything(void) {}\n"), false},
		{"internal/launch/c/preload.c", preloadSource, true},
		{"go.mod", []byte("module " + module + "x\n"), false},
	} {
		write(test.file, test.text)
		if isTree(dir) != test.want {
			t.Errorf("with %s of %d bytes: %v", test.file, len(test.text), !test.want)
		}
	}
}
