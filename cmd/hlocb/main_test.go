//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

func TestMain(m *testing.M) {
	if os.Getenv("HLOCB_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestCrash: a plugin that crashes ends the command with the code of its signal, not with the exit code of a wrong
// command line. One line names the plugin, the signal and what it did.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	source, library := filepath.Join(dir, "crash.c"), filepath.Join(dir, "crash.so")
	if err := os.WriteFile(source, []byte("#include <stdlib.h>\nvoid *GetPjrtApi(void) { abort(); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := peer.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Skipf("skip: no C compiler: %v %s", err, out)
	}
	cmd := peer.Command(os.Args[0], "plugin", "info", library)
	cmd.Env = append(os.Environ(), "HLOCB_TEST_COMMAND=1")
	cmd.Dir = dir // where a core file would go
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGABRT) {
		t.Errorf("the process ended with %v", cmd.ProcessState)
	}
	text := string(out)
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "crash.so") || !strings.Contains(text, "crashed (SIGABRT) while it was loaded") {
		t.Errorf("the message is %q", text)
	}
}

// TestClosedStdout: output to a closed standard output is an error, as in other commands.
func TestClosedStdout(t *testing.T) {
	for line, code := range map[string]int{
		`"$0" version >&-`: 1,
		`echo 'func.func @main() { "stablehlo.custom_call"() {call_target_name = "f", api_version = 4 : i32, has_side_effect = true} : () -> () return }' | "$0" run - --hook-target f --print-callbacks --backend engine >&-`: 3, // the handler failed
	} {
		cmd := peer.Command("sh", "-c", line, os.Args[0])
		cmd.Env = append(os.Environ(), "HLOCB_TEST_COMMAND=1")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), "write /dev/stdout: file already closed") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
