package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// badPlugin compiles bad_plugin.c, or skips the test. It returns the environment in which it runs.
func badPlugin(t *testing.T) (library string, env []string) {
	t.Helper()
	found, err := plugins.System().Find("cpu")
	if err != nil || !haveCgo {
		t.Skipf("skip: no CPU plugin: %v", err)
	}
	library = filepath.Join(t.TempDir(), "bad.so")
	out, err := peer.Command("cc", "-shared", "-fPIC", "-w", "-pthread", "-o", library, "../../runtime/pjrt/testdata/bad_plugin.c", "-ldl").CombinedOutput()
	if err != nil {
		t.Skipf("skip: no C compiler: %v\n%s", err, out)
	}
	return library, append(os.Environ(), "HLOCB_TEST_COMMAND=1", "REAL_PLUGIN="+found[0].Path)
}

// TestBadPlugins: whatever a plugin does, the command ends in time with its exit code and one line that says what
// happened.
func TestBadPlugins(t *testing.T) {
	library, env := badPlugin(t)
	file := filepath.Join(t.TempDir(), "in.mlir")
	if err := os.WriteFile(file, []byte("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.sine %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bad    string
		code   int
		stderr string
	}{
		{"no initialize", 1, "has no PJRT_Plugin_Initialize"},
		{"no devices", 1, "has no PJRT_Client_AddressableDevices"},
		{"no ready event", 1, "has no PJRT_Buffer_ReadyEvent"},
		{"no upload", 1, "has no PJRT_Client_BufferFromHostBuffer"},
		{"no compile", 1, "its table has no PJRT_Client_Compile"},
		{"no table", 1, "GetPjrtApi returned no table"},
		{"tiny table", 1, "its table has 8 bytes"},
		{"short table", 1, "its table has no PJRT_LoadedExecutable_Execute"},
		{"old", 1, "its PJRT API is 0.1, 0.54 or later is needed"},
		{"crash at start", 139, "bad.so crashed (SIGSEGV) in PJRT_Plugin_Initialize"},
		{"crash in create", 139, "bad.so crashed (SIGSEGV) in PJRT_Client_Create"},
		{"abort in compile", 134, "bad.so crashed (SIGABRT) in PJRT_Client_Compile of " + file},
		{"crash on a thread", 139, "bad.so crashed (SIGSEGV, on a thread of its own) in PJRT_LoadedExecutable_Execute"},
		{"exit in execute", 1, "bad.so ended the process in PJRT_LoadedExecutable_Execute"},
		{"exit in compile", 1, "bad.so ended the process in PJRT_Client_Compile of " + file},
		{"_exit in create", 1, "bad.so ended the process in PJRT_Client_Create"},
		{"_exit in execute", 1, "bad.so ended the process in PJRT_LoadedExecutable_Execute"},
		{"endless create", 4, "takes longer than 1s"},
		{"endless compile", 4, "takes longer than 1s"},
		{"endless execute", 4, "takes longer than 1s"},
		{"no client", 1, "create client: INTERNAL: " + library + " returned nothing"},
		{"no program", 1, "compile: INTERNAL: " + library + " returned nothing"},
		{"no results", 1, "returned nothing for result 0"},
		{"no events", 0, ""},
		{"no text", 1, "returned a text of 5 bytes"},
		{"huge text", 1, "returned a text of 1099511627776 bytes"},
		{"no list", 1, "returned a list of 7"},
		{"no types", 1, "returned a list of 1"},
		{"too many types", 1, "the plugin reports 3 result types and 1 shapes"},
		{"huge rank", 1, "returned a result of 1152921504606846976 dimensions"},
		{"extensions in a circle", 0, ""},
		{"error with errors", 1, "compile: UNKNOWN: the plugin says nothing more"},
	} {
		t.Run(c.bad, func(t *testing.T) {
			t.Parallel()
			cmd := peer.Command(os.Args[0], "run", file, "--backend", library, "--fill", "iota", "--timeout", "1s")
			cmd.Env = append(slices.Clip(env), "BAD="+c.bad)
			if !strings.HasPrefix(c.bad, "endless") {
				cmd.Args[len(cmd.Args)-1] = "1m"
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			start := time.Now()
			err := cmd.Run()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if text := stderr.String(); code != c.code || !strings.Contains(text, c.stderr) || strings.Count(text, "\n") > 4 {
				t.Errorf("exit code %d, expected %d; standard error, expected %q:\n%.3000s", code, c.code, c.stderr, text)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestPluginRefusesIDs: errors of a plugin that does not tell a hook its run and its device are destroyed. Before, each
// call of a hook leaked two.
func TestPluginRefusesIDs(t *testing.T) {
	library, env := badPlugin(t)
	cmd := peer.Command(os.Args[0], "run", writeFile(t, []byte(tapModule)), "--backend", library, "--fill", "iota", "--print-callbacks")
	cmd.Env = append(slices.Clip(env), "BAD=no ids")
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "2 errors, 0 left") {
		t.Errorf("%s", out)
	}
}

// TestPluginTestSurvivesExit: a plugin that ends its process with exit code 0 fails each case, and all cases run.
func TestPluginTestSurvivesExit(t *testing.T) {
	library, env := badPlugin(t)
	for _, bad := range []string{"exit in execute", "crash on a thread"} {
		cmd := peer.Command(os.Args[0], "plugin", "test", library, "--run", "^ops/abs f32")
		cmd.Env = append(slices.Clip(env), "BAD="+bad)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 5 || strings.Contains(string(out), "panic:") {
			t.Errorf("%s: %v\n%.3000s", bad, err, out)
		}
		if !strings.Contains(string(out), "PJRT_LoadedExecutable_Execute") {
			t.Errorf("%s: the reason is missing:\n%.3000s", bad, out)
		}
	}
}
