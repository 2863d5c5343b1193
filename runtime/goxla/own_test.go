//go:build cgo

package goxla

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/peer"
)

// TestOwnTests runs go-xla's own tests on the engine as a plugin and on each of XLA's CPU plugins, with four devices:
// what passes on one of XLA's plugins passes on the engine. Some versions of XLA's plugin crash.
func TestOwnTests(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	xla := cpuPlugins(t)
	libraries := filepath.Join(t.TempDir(), "cpu") // go-xla shares buffers with plugins that are named so
	if err := os.Mkdir(libraries, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := launch.Build(context.Background(), libraries); err != nil {
		t.Fatal(err)
	}
	engine := launch.In(libraries).Engine
	source, err := peer.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gomlx/go-xla").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // the tests of a module run inside it: hlocb does not require what they require
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(source)))); err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, c := range []struct {
		folder  string
		flags   func(plugin string) []string
		backend string // the prefix of the plugin in GOMLX_BACKEND
	}{
		{"pjrt", func(p string) []string { return []string{"-plugin=" + p, "-force_shared_buffer"} }, ""},
		{"internal/tests", func(p string) []string { return []string{"-plugins=" + p} }, ""},
		{"compute/xla", func(string) []string { return nil }, "xla:"},
	} {
		folder := filepath.Join(dir, filepath.FromSlash(c.folder))
		program := filepath.Join(dir, "own.test")
		build := peer.Command("go", "test", "-mod=mod", "-c", "-o", program, ".")
		build.Dir = folder
		if out, err := build.CombinedOutput(); err != nil {
			t.Skipf("skip: go-xla's tests do not build here (they need modules of their own): %v\n%s", err, out)
		}
		run := func(plugin string) (outcomes map[string]string, output []byte) {
			cmd := peer.Command(program, append(c.flags(plugin), "-test.v", "-test.skip=TestNewWithOptions")...) // it installs plugins
			cmd.Dir = folder
			cmd.Env = append(os.Environ(), "GOMLX_BACKEND="+c.backend+plugin, "XLA_FLAGS=--xla_force_host_platform_device_count=4")
			output, _ = cmd.CombinedOutput() // a test that fails, or a crash of XLA's plugin
			outcomes = map[string]string{}
			for s := bufio.NewScanner(bytes.NewReader(output)); s.Scan(); {
				if m := outcome.FindStringSubmatch(s.Text()); m != nil {
					outcomes[strings.ReplaceAll(m[2], plugin, "PLUGIN")] = m[1]
				}
			}
			return outcomes, output
		}
		want := map[string]string{}
		for _, p := range xla {
			outcomes, _ := run(p.Path)
			for test, o := range outcomes {
				if want[test] != "PASS" {
					want[test] = o
				}
			}
		}
		got, output := run(engine)
		for test, o := range want {
			if o == "PASS" && got[test] != "PASS" {
				t.Errorf("%s, %s: %q on the engine\n%s", c.folder, test, got[test], output)
			}
		}
		for test, o := range got {
			if o == "FAIL" && want[test] != "FAIL" && want[test] != "PASS" {
				t.Errorf("%s, %s fails on the engine, and is %q on XLA's plugins\n%s", c.folder, test, want[test], output)
			}
			if o == "PASS" {
				passed++
			}
		}
	}
	if passed < 400 {
		t.Errorf("%d tests pass on the engine, expected at least 400", passed)
	}
}

// outcome matches the outcome of a test.
var outcome = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+)`)
