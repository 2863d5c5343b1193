package cli_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/peer"
)

// tapModule sends its argument to its host.
const tapModule = `func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%x, %t) {outfeed_config = "x"} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<2xf32>
}
`

// child returns a process of the command.
func child(args ...string) *exec.Cmd {
	cmd := peer.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "HLOCB_TEST_COMMAND=1")
	return cmd
}

// exitCode runs a process, for at most 20 seconds, and returns its exit code and its standard error.
func exitCode(t *testing.T, cmd *exec.Cmd) (int, string) {
	t.Helper()
	var errs bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	_ = cmd.Wait() // the exit code has the outcome
	if !late.Stop() {
		t.Errorf("%v runs for more than 20 s", cmd.Args)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// TestFullDisk: output that cannot be written is an error, also for help and for handlers that print.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("skip: no /dev/full")
	}
	defer full.Close()
	file := writeFile(t, []byte(tapModule))
	for _, args := range [][]string{{"--help"}, {"version"}, {"--version"}, {"completion", "bash"}, {"bench", "callbacks", "--backend", "engine", "--rounds", "1"}, {"help", "order"}, {"hooks", file},
		{"run", file, "--fill", "iota", "--backend", "engine", "--print-callbacks", "--results", "-"}} {
		cmd := child(args...)
		cmd.Stdout = full
		if code, errs := exitCode(t, cmd); code != 1 && args[0] != "run" || code == 0 || strings.Count(errs, "no space left on device") != 1 {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
}

// TestNullOutput: other languages start a command with /dev/null opened for reading and writing as its output.
func TestNullOutput(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd := child("run", writeFile(t, []byte(tapModule)), "--fill", "iota", "--backend", "engine", "--print-callbacks")
	cmd.Stdin, cmd.Stdout = null, null
	if code, errs := exitCode(t, cmd); code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestEndlessInput: input without an end is refused.
func TestEndlessInput(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("skip: no /dev/zero")
	}
	code, _, errs := runCLI(t, 10*time.Second, "hooks", "/dev/zero")
	if code != 1 || !strings.Contains(errs, "this is a binary file") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestOutputsAreOpenedLast: a mistake in the command line empties no file, and a recording replaces an older recording
// when it is complete.
func TestOutputsAreOpenedLast(t *testing.T) {
	file := writeFile(t, []byte(tapModule))
	dir := t.TempDir()
	old := filepath.Join(dir, "old.jsonl")
	if err := os.WriteFile(old, []byte("kept\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", file, "--events", old},
		{"run", file, "--events", old, "--fill", "iota", "--on", "nobody=print"},
		{"run", file, "--results", old, "--fill", "iota", "--backend", "abacus"},
		{"run", file, "--on", "x=record:" + old, "--fill", "iota", "--inject", "y=nan"},
		{"run", file, "--on", "x=npz:" + old, "--fill", "iota", "--memory-limit", "much"},
		{"record", file, "-o", old, "--fill", "iota", "--timeout", "-1s"},
		{"record", file, "-o", old, "--events", old, "--fill", "iota", "--backend", "engine"},
		{"rewrite", file, "-o", old, "--hook-target", "x", "--to", "nothing"},
		{"opt", file + "x", "-o", old},
	} {
		code, _, errs := runCLI(t, time.Minute, args...)
		text, err := os.ReadFile(old)
		if code == 0 || err != nil || string(text) != "kept\n" {
			t.Errorf("%v: exit code %d, the file holds %q (%v): %s", args, code, text, err, errs)
		}
	}
	if code, _, errs := runCLI(t, time.Minute, "record", file, "-o", old, "--fill", "iota", "--backend", "engine"); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the recording stand %v (%v)", entries, err)
	}
	// The module itself is not an output.
	if code, _, _ := runCLI(t, time.Minute, "run", file, "--fill", "iota", "--events", file); code != 2 {
		t.Errorf("events over the module: exit code %d", code)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != tapModule {
		t.Errorf("the module is now %q (%v)", text, err)
	}
}

// TestStandardOutputHoldsOneFormat: if standard output holds events, an archive or results as JSON, text for people
// goes to standard error.
func TestStandardOutputHoldsOneFormat(t *testing.T) {
	file := writeFile(t, []byte(tapModule))
	isJSON := func(out string) bool {
		d := json.NewDecoder(strings.NewReader(out))
		for {
			var v any
			if err := d.Decode(&v); err != nil {
				return errors.Is(err, io.EOF) && out != ""
			}
		}
	}
	isArchive := func(out string) bool {
		z, err := zip.NewReader(strings.NewReader(out), int64(len(out)))
		return err == nil && len(z.File) == 1 && strings.HasSuffix(out, "\x00\x00") // nothing follows the archive
	}
	for _, c := range []struct {
		args []string
		is   func(out string) bool
	}{
		{[]string{"--events", "-"}, isJSON},
		{[]string{"--events", "-", "--results", filepath.Join(t.TempDir(), "r.npz")}, isJSON},
		{[]string{"--on", "x=record:-"}, isJSON},
		{[]string{"--on", "x=sample:every=1,to=record:-"}, isJSON},
		{[]string{"--on", "x=npz:-"}, isArchive},
		{[]string{"--results", "-"}, isJSON},
	} {
		args := append([]string{"run", file, "--fill", "iota", "--backend", "engine", "--print-callbacks", "--on", "x=count"}, c.args...)
		code, out, errs := runCLI(t, time.Minute, args...)
		if code != 0 || !c.is(out) || !strings.Contains(errs, "x: 1 event\n") || !strings.Contains(errs, "x (tap)") {
			t.Errorf("%v: exit code %d\n%s\nstandard error:\n%s", c.args, code, out, errs)
		}
	}
}

// TestEventsToPipe: events go to the reader of a pipe, not to a buffer of the pipe.
func TestEventsToPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := peer.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip("skip: ", err)
	}
	file := writeFile(t, []byte(tapModule))
	cmd := child("run", file, "--fill", "iota", "--backend", "engine", "--events", pipe)
	lines := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(pipe)
		lines <- string(text)
	}()
	if code, errs := exitCode(t, cmd); code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if text := <-lines; strings.Count(text, "\n") != 1 {
		t.Errorf("the reader got %q", text)
	}
}

// TestProgramOnStandardInput: a compiled program on standard input is refused, too.
func TestProgramOnStandardInput(t *testing.T) {
	cmd := child("run", "-")
	cmd.Stdin = strings.NewReader("hlocb program 1\n\x00\x00")
	if code, errs := exitCode(t, cmd); code != 1 || !strings.Contains(errs, "a compiled program, expected a module") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
