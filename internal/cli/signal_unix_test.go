//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// slow is a module that XLA compiles for a long time.
func slow(ops int) []byte {
	var b bytes.Buffer
	b.WriteString("func.func @main(%x0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n")
	for i := range ops {
		fmt.Fprintf(&b, "  %%a%d = stablehlo.dot_general %%x%d, %%x%d, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n", i, i, i)
		fmt.Fprintf(&b, "  %%x%d = stablehlo.sine %%a%d : tensor<8x8xf32>\n", i+1, i)
	}
	fmt.Fprintf(&b, "  return %%x%d : tensor<8x8xf32>\n}\n", ops)
	return b.Bytes()
}

// long is a module that runs for hours.
const long = `func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %n = stablehlo.constant dense<900000000000> : tensor<i64>
  %w:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i64>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i64>
    %z = stablehlo.cosine %y : tensor<f32>
    stablehlo.return %j, %z : tensor<i64>, tensor<f32>
  }
  return %w#1 : tensor<f32>
}
`

// longTaps is long with a hook in its loop.
func longTaps() []byte {
	const end = "    stablehlo.return %j, %z"
	return []byte(strings.Replace(long, end, `    %t = stablehlo.create_token : !stablehlo.token
    %u = "stablehlo.outfeed"(%y, %t) {outfeed_config = "y"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
`+end, 1))
}

// TestReaderLeaves: the run ends if the reader of its events closes the pipe.
func TestReaderLeaves(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("skip: ", err)
	}
	cmd := child("run", writeFile(t, longTaps()), "--fill", "iota", "--backend", "engine", "--events", pipe)
	go func() {
		if f, err := os.Open(pipe); err == nil {
			_, _ = f.Read(make([]byte, 100))
			f.Close()
		}
	}()
	if code, errs := exitCode(t, cmd); code != 3 || !strings.Contains(errs, "broken pipe") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestHangupKeepsLines: the run ends after a whole event if its terminal is closed.
func TestHangupKeepsLines(t *testing.T) {
	file, events := writeFile(t, longTaps()), filepath.Join(t.TempDir(), "events.jsonl")
	cmd := child("run", file, "--fill", "iota", "--backend", "engine", "--events", events)
	go func() {
		for info, err := os.Stat(events); err != nil || info.Size() < 100_000; info, err = os.Stat(events) {
			time.Sleep(time.Millisecond)
		}
		_ = cmd.Process.Signal(syscall.SIGHUP)
	}()
	if code, errs := exitCode(t, cmd); code != 129 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	text, err := os.ReadFile(events)
	if err != nil || len(text) < 100_000 || !bytes.HasSuffix(text, []byte("}\n")) {
		t.Errorf("%d bytes of events end with %q (%v)", len(text), text[max(0, len(text)-80):], err)
	}
}

// hanging returns the path of a plugin that never finishes loading, or "" if there is no C compiler.
func hanging(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, library := filepath.Join(dir, "hang.c"), filepath.Join(dir, "hang.so")
	if err := os.WriteFile(source, []byte("#include <unistd.h>\nvoid *GetPjrtApi(void) { for (;;) sleep(1); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if peer.Command("cc", "-shared", "-fPIC", "-o", library, source).Run() != nil || !haveCgo {
		return ""
	}
	return library
}

// TestSignals: each signal, and --timeout, ends a run with its exit code and a message. The command does not wait for a
// plugin that compiles or loads, which cannot be interrupted.
func TestSignals(t *testing.T) {
	file, hang := filepath.Join(t.TempDir(), "in.mlir"), hanging(t)
	for i, c := range []struct {
		name, backend string
		text          []byte
		signals       []os.Signal // none: --timeout 1s
		code          int
		stderr        string
	}{
		{"Ctrl-C on the engine", "engine", []byte(long), []os.Signal{os.Interrupt}, 130, "interrupted in 'stablehlo."},
		{"SIGTERM on the engine", "engine", []byte(long), []os.Signal{syscall.SIGTERM}, 143, "interrupted in 'stablehlo."},
		{"Ctrl-C while a plugin runs", "cpu", []byte(long), []os.Signal{os.Interrupt}, 130, "interrupted; the plugin was still running the program"},
		{"Ctrl-C while a plugin compiles", "cpu", slow(3000), []os.Signal{os.Interrupt}, 130, "interrupted"},
		{"SIGTERM while a plugin compiles", "cpu", slow(3000), []os.Signal{syscall.SIGTERM}, 143, "interrupted"},
		{"timeout while a plugin compiles", "cpu", slow(3000), nil, 4, "compiling on cpu takes longer than 1s"},
		{"Ctrl-C while a plugin loads", hang, []byte(long), []os.Signal{os.Interrupt}, 130, "interrupted"},
		{"SIGTERM while a plugin loads", hang, []byte(long), []os.Signal{syscall.SIGTERM}, 143, "interrupted"},
		{"timeout while a plugin loads", hang, []byte(long), nil, 4, "hang.so takes longer than 1s"},
	} {
		if !label.Part(i%2 == 0) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if why := missingPlugin(); c.backend == "cpu" && why != "" {
				t.Skip("skip: " + why)
			} else if c.backend == "" {
				t.Skip("skip: no C compiler")
			}
			if err := os.WriteFile(file, c.text, 0o644); err != nil {
				t.Fatal(err)
			}
			args := []string{"run", file, "--fill", "iota", "--backend", c.backend}
			if c.signals == nil {
				args = append(args, "--timeout", "1s")
			}
			cmd := child(args...)
			last := make(chan time.Time, 1)
			go func() {
				for _, s := range c.signals {
					time.Sleep(1500 * time.Millisecond)
					_ = cmd.Process.Signal(s)
				}
				last <- time.Now()
			}()
			code, errs := exitCode(t, cmd)
			if code != c.code || !strings.Contains(errs, c.stderr) {
				t.Errorf("exit code %d, want %d: %s", code, c.code, errs)
			}
			// XLA compiles the module for 8 s.
			if took := time.Since(<-last); took > 4*time.Second {
				t.Errorf("the command ends %v after the last signal or its start", took)
			}
		})
	}
}

// chain is a module of many ops that cse and canonicalize read and leave as they are.
func chain(ops int) []byte {
	var b bytes.Buffer
	b.WriteString("func.func @main(%x0: tensor<f32>) -> tensor<f32> {\n")
	for i := range ops {
		fmt.Fprintf(&b, "  %%x%d = stablehlo.sine %%x%d : tensor<f32>\n", i+1, i)
	}
	fmt.Fprintf(&b, "  return %%x%d : tensor<f32>\n}\n", ops)
	return b.Bytes()
}

// manyHooks is a module of many hooks.
func manyHooks(n int) []byte {
	var b bytes.Buffer
	b.WriteString("func.func @main(%x: tensor<f32>) {\n")
	for i := range n {
		fmt.Fprintf(&b, `  stablehlo.custom_call @hlocb_hook(%%x) {api_version = 4 : i32, backend_config = {abi = 1 : i64, chained = false, id = %d : i64, kind = "tap", name = "h"}, has_side_effect = true} : (tensor<f32>) -> ()`+"\n", i)
	}
	b.WriteString("  return\n}\n")
	return b.Bytes()
}

// TestSignalsDuringPasses: one signal ends opt and rewrite within a second, in one long pass and between passes. The
// output file stays as it was.
func TestSignalsDuringPasses(t *testing.T) {
	trips := strings.Replace(long, "dense<900000000000>", "dense<50000000>", 1)
	for i, c := range []struct {
		name string
		text []byte
		args []string
	}{
		{"one pass", []byte(trips), []string{"opt", "--passes", "unroll-loops{max-trips=1000000000 max-ops=10000000000}"}},
		{"many passes", chain(20_000), []string{"opt", "--passes", strings.Repeat("cse,canonicalize,", 3000) + "cse"}},
		{"verification", chain(20_000), []string{"opt", "--passes", strings.Repeat("cse,strip-debuginfo,", 3000) + "cse"}},
		{"hooks", manyHooks(100_000), []string{"rewrite"}},
	} {
		for k, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			if !label.Part((i+k)%2 == 0) {
				continue
			}
			if s == syscall.SIGINT && c.args[0] == "opt" && c.name != "one pass" {
				continue
			}
			t.Run(c.name+" "+s.String(), func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out.mlir")
				if err := os.WriteFile(out, []byte("before"), 0o644); err != nil {
					t.Fatal(err)
				}
				in := filepath.Join(t.TempDir(), "in.mlir")
				if err := syscall.Mkfifo(in, 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := child(append(c.args, in, "-o", out)...)
				sent := make(chan time.Time, 1)
				go func() {
					w, err := os.OpenFile(in, os.O_WRONLY, 0) // returns when the command reads the file, after it asked for signals
					if err == nil {
						_, _ = w.Write(c.text)
						_ = w.Close()
					}
					time.Sleep(400 * time.Millisecond)
					_ = cmd.Process.Signal(s)
					sent <- time.Now()
				}()
				code, errs := exitCode(t, cmd)
				if r, err := os.OpenFile(in, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil { // if the command did not read the file
					defer r.Close()
				}
				took := time.Since(<-sent)
				if code != 128+int(s) || !strings.HasSuffix(errs, "interrupted\n") || took > 4*time.Second {
					t.Errorf("exit code %d after %v: %s", code, took, errs)
				}
				if text, err := os.ReadFile(out); err != nil || string(text) != "before" {
					t.Errorf("the output is %.100q: %v", text, err)
				}
			})
		}
	}
}

// A second signal ends a command that the first one does not end.
func TestSecondSignal(t *testing.T) {
	hang := hanging(t)
	if hang == "" {
		t.Skip("skip: no C compiler")
	}
	cmd := child("plugin", "info", hang)
	first := make(chan time.Time, 1)
	go func() {
		time.Sleep(time.Second)
		_ = cmd.Process.Signal(os.Interrupt)
		first <- time.Now()
		time.Sleep(time.Second)
		_ = cmd.Process.Signal(os.Interrupt)
	}()
	code, errs := exitCode(t, cmd)
	if took := time.Since(<-first); code != 130 || !strings.Contains(errs, "interrupted") || took > 4*time.Second {
		t.Errorf("exit code %d, %v after the first signal: %s", code, took, errs)
	}
}
