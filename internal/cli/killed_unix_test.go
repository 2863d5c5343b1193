//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// large is a program with a hook and large values, whose result becomes its argument.
const large = `func.func @main(%x: tensor<200000xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<100000xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<200000xf32>, tensor<100000xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%x, %t) {outfeed_config = "x"} : (tensor<200000xf32>, !stablehlo.token) -> !stablehlo.token
  %z = stablehlo.sine %x : tensor<200000xf32>
  %w = stablehlo.cosine %y : tensor<100000xf32>
  return %z, %w : tensor<200000xf32>, tensor<100000xf32>
}
`

// TestKilledWhileWriting kills the command at random times while it writes each kind of output. An output is then the
// older one or the new one, and whole.
func TestKilledWhileWriting(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	kills := 30
	if os.Getenv("HLOCB_LONG") != "" {
		kills = 300
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path(name)
	}
	module := write("large.mlir", large)
	var text strings.Builder
	text.WriteString("func.func @main(%x0: tensor<f32>) -> tensor<f32> {\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "  %%x%d = stablehlo.sine %%x%d : tensor<f32>\n", i+1, i)
	}
	text.WriteString("  return %x20000 : tensor<f32>\n}\n")
	long := write("long.mlir", text.String())
	run := []string{"run", module, "--fill", "iota", "--backend", "engine"}
	const old = "an older file"
	// sameOrOld wants old, or the text that an undisturbed run writes.
	sameOrOld := func(name string) func() error {
		var whole []byte
		return func() error {
			got, err := os.ReadFile(path(name))
			if whole == nil {
				whole = got
			}
			if err == nil && string(got) != old && !bytes.Equal(got, whole) {
				err = fmt.Errorf("%d bytes are neither the older file nor the %d bytes of the new one", len(got), len(whole))
			}
			return err
		}
	}
	steps := func() error {
		folders, err := filepath.Glob(path("steps/step-*"))
		if err != nil {
			return err
		}
		for _, folder := range folders {
			for name, size := range map[string]int{"0.npy": 200000, "1.npy": 100000} {
				f, err := os.Open(filepath.Join(folder, name))
				if err != nil {
					return err
				}
				v, err := tensorio.ReadNPY(f, tensor.F32)
				f.Close()
				if err != nil || v.NumElements() != size {
					return fmt.Errorf("%s of %s: %v", name, folder, err)
				}
			}
		}
		return nil
	}
	recording := func() error {
		f, err := os.Open(path("r.jsonl"))
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := os.Open(path("r.jsonl.data"))
		if err != nil {
			return err
		}
		defer data.Close()
		r, err := handlers.ReadRecording(f, data)
		if err == nil && !r.Ended {
			err = fmt.Errorf("the recording does not end")
		}
		return err
	}
	table := func() error {
		n := 0
		err := events.Read(path("e.parquet"), "", func(*events.Event) error { n++; return nil })
		if os.IsNotExist(err) || err == nil {
			return nil
		}
		info, failed := os.Stat(path("e.parquet"))
		if failed == nil && info.Size() < 4 {
			return nil // before the first event
		}
		return err
	}
	for _, c := range []struct {
		name    string
		args    []string
		old     []string // files that have old before each run
		prepare func()
		check   []func() error
	}{
		{"translate", []string{"translate", long, "--to", "bytecode", "-o", path("out.bc")}, []string{"out.bc"}, nil, []func() error{sameOrOld("out.bc")}},
		{"rewrite", []string{"rewrite", module, "-o", path("out.mlir"), "--manifest", path("m.json")}, []string{"out.mlir", "m.json"}, nil,
			[]func() error{sameOrOld("out.mlir"), sameOrOld("m.json")}},
		{"npz", append(run, "--results", path("r.npz")), []string{"r.npz"}, nil, []func() error{sameOrOld("r.npz")}},
		{"json", append(run, "--results", path("r.json")), []string{"r.json"}, nil, []func() error{sameOrOld("r.json")}},
		{"steps", append(run, "--steps", "40", "--save-every", "1", "--results", path("steps")+"/"), nil, func() { os.RemoveAll(path("steps")) }, []func() error{steps}},
		{"record", []string{"record", module, "--fill", "iota", "--backend", "engine", "-o", path("r.jsonl")}, nil, nil, []func() error{recording}},
		{"table", append(run, "--steps", "40", "--events", path("e.parquet")), nil, nil, []func() error{table}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(when string) {
				t.Helper()
				for _, f := range c.check {
					if err := f(); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
				}
			}
			start := time.Now()
			if code, errs := exitCode(t, child(c.args...)); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			took := time.Since(start)
			check("undisturbed")
			for i := range kills {
				for _, name := range c.old {
					write(name, old)
				}
				if c.prepare != nil {
					c.prepare()
				}
				cmd := child(c.args...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				after := time.Duration(rand.Int64N(int64(took) + 1))
				timer := time.AfterFunc(after, func() { cmd.Process.Signal(syscall.SIGKILL) })
				_ = cmd.Wait() // killed, or not
				timer.Stop()
				check(fmt.Sprintf("kill %d, after %v of %v", i, after, took))
			}
		})
	}
}

// TestSignalKeepsAnOlderRecording: a recording of a run that a signal stopped replaces no older recording.
func TestSignalKeepsAnOlderRecording(t *testing.T) {
	dir := t.TempDir()
	module, out := filepath.Join(dir, "long.mlir"), filepath.Join(dir, "r.jsonl")
	if err := os.WriteFile(module, longTaps(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{out, out + handlers.DataSuffix} {
		if err := os.WriteFile(name, []byte("older"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := child("record", module, "--fill", "zeros", "--backend", "engine", "-o", out)
	time.AfterFunc(time.Second, func() { cmd.Process.Signal(os.Interrupt) })
	if code, errs := exitCode(t, cmd); code != 130 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	for _, name := range []string{out, out + handlers.DataSuffix} {
		if text, err := os.ReadFile(name); err != nil || string(text) != "older" {
			t.Errorf("%s has %.100q: %v", name, text, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*.partial")); err != nil || len(left) > 0 {
		t.Errorf("left are %v: %v", left, err)
	}
}

// TestKilledProcessLosesASecond kills a run that writes a table. All events but those of the last second are there.
func TestKilledProcessLosesASecond(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	dir := t.TempDir()
	module, out := filepath.Join(dir, "loop.mlir"), filepath.Join(dir, "e.parquet")
	if err := os.WriteFile(module, []byte(endless), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := child("run", module, "--backend", "engine", "--tap", "sine=finite", "--events", out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3500 * time.Millisecond)
	killed := time.Now().UnixNano()
	cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait() // killed
	n, last := int64(0), int64(0)
	if err := events.Read(out, "", func(e *events.Event) error {
		if e.Seq != n {
			return fmt.Errorf("event %d after %d events", e.Seq, n)
		}
		n, last = n+1, e.Time
		return nil
	}); err != nil || n < 1000 {
		t.Fatalf("%d events: %v", n, err)
	}
	lost := time.Duration(killed - last)
	t.Logf("%d events, the last one %v before the kill", n, lost)
	if lost > 2*time.Second { // one, and what the flush takes on a busy machine
		t.Errorf("the last event is %v before the kill", lost)
	}
}
