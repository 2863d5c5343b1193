//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
const large = `func.func @main(%x: tensor<20000xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<10000xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<20000xf32>, tensor<10000xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%x, %t) {outfeed_config = "x"} : (tensor<20000xf32>, !stablehlo.token) -> !stablehlo.token
  %z = stablehlo.sine %x : tensor<20000xf32>
  %w = stablehlo.cosine %y : tensor<10000xf32>
  return %z, %w : tensor<20000xf32>, tensor<10000xf32>
}
`

// watcher notices the first change of the entries of some folders.
type watcher struct {
	changed   chan struct{} // closed at the first change, and by stop
	at        time.Time     // of the first change; valid after stop
	stopping  chan struct{}
	directory []string
}

func watch(directory ...string) *watcher {
	w := &watcher{changed: make(chan struct{}), stopping: make(chan struct{}), directory: directory}
	before := w.times()
	go func() {
		defer close(w.changed)
		for {
			select {
			case <-w.stopping:
				return
			case <-time.After(time.Millisecond):
			}
			if w.times() != before {
				w.at = time.Now()
				return
			}
		}
	}()
	return w
}

func (w *watcher) times() (out [2]time.Time) {
	for i, d := range w.directory {
		if info, err := os.Stat(d); err == nil {
			out[i] = info.ModTime()
		}
	}
	return out
}

func (w *watcher) stop() {
	close(w.stopping)
	<-w.changed
}

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
	inputs := t.TempDir()
	input := func(name, text string) string {
		t.Helper()
		name = filepath.Join(inputs, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	module := input("large.mlir", large)
	var text strings.Builder
	text.WriteString("func.func @main(%x0: tensor<f32>) -> tensor<f32> {\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "  %%x%d = stablehlo.sine %%x%d : tensor<f32>\n", i+1, i)
	}
	text.WriteString("  return %x2000 : tensor<f32>\n}\n")
	long := input("long.mlir", text.String())
	run := []string{"run", module, "--fill", "iota", "--backend", "engine"}
	with := func(args ...string) []string { return append(slices.Clip(run), args...) }
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
				err = fmt.Errorf("%s: %d bytes are neither the older file nor the %d bytes of the new one", name, len(got), len(whole))
			}
			return err
		}
	}
	array := func(name string, size int) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		v, err := tensorio.ReadNPY(f, tensor.F32)
		if err == nil && v.NumElements() != size {
			err = fmt.Errorf("%d elements", v.NumElements())
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return err
	}
	folder := func(name string) error {
		return errors.Join(array(filepath.Join(name, "0.npy"), 20000), array(filepath.Join(name, "1.npy"), 10000))
	}
	steps := func() error {
		folders, err := filepath.Glob(path("steps/step-*"))
		for _, f := range folders {
			err = errors.Join(err, folder(f))
		}
		return err
	}
	newFolder := func() error {
		if _, err := os.Stat(path("new")); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return folder(path("new"))
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
		if failed == nil && info.Size() == 0 {
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
		{"npz", with("--results", path("r.npz")), []string{"r.npz"}, nil, []func() error{sameOrOld("r.npz")}},
		{"json", with("--results", path("r.json")), []string{"r.json"}, nil, []func() error{sameOrOld("r.json")}},
		{"new folder", with("--results", path("new")+"/"), nil, func() { os.RemoveAll(path("new")) }, []func() error{newFolder}},
		{"folder", with("--results", path("folder")+"/"), nil, nil, []func() error{func() error { return folder(path("folder")) }}},
		{"steps", with("--steps", "10", "--save-every", "1", "--results", path("steps")+"/"), nil, func() { os.RemoveAll(path("steps")) }, []func() error{steps}},
		{"record", []string{"record", module, "--fill", "iota", "--backend", "engine", "-o", path("r.jsonl")}, nil, nil, []func() error{recording}},
		{"npz of events", with("--on", "x=npz:"+path("x.npz")), []string{"x.npz"}, nil, []func() error{sameOrOld("x.npz")}},
		{"table", with("--steps", "10", "--events", path("e.parquet")), nil, func() { os.Remove(path("e.parquet")) }, []func() error{table}},
		{"page", []string{"view", module, "-o", path("p.html")}, []string{"p.html"}, nil, []func() error{sameOrOld("p.html")}},
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
			cmd := child(c.args...)
			w := watch(dir, path("folder"))
			if code, errs := exitCode(t, cmd); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			took, writing := time.Since(start), time.Since(start)/20
			if w.stop(); !w.at.IsZero() {
				writing = max(writing, took-w.at.Sub(start))
			}
			check("undisturbed")
			begun, partial := 0, 0
			for i := range kills {
				for _, name := range c.old {
					write(name, old)
				}
				if c.prepare != nil {
					c.prepare()
				}
				w := watch(dir, path("folder"))
				cmd := child(c.args...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// Most kills are at a random time after the first change of a file, the others at any time.
				after := time.Duration(rand.Int64N(int64(took) + 1))
				timer := time.AfterFunc(after, func() { cmd.Process.Signal(syscall.SIGKILL) })
				if i%5 > 0 {
					timer.Stop()
					after = time.Duration(rand.Int64N(int64(writing) + 1))
					go func() {
						<-w.changed
						time.Sleep(after)
						cmd.Process.Signal(syscall.SIGKILL)
					}()
				}
				_ = cmd.Wait() // killed, or not
				timer.Stop()
				if w.stop(); cmd.ProcessState.ExitCode() < 0 && !w.at.IsZero() {
					begun++
				}
				left, err := filepath.Glob(path(".*.partial"))
				inside, err2 := filepath.Glob(path("folder/.*.partial"))
				if left = append(left, inside...); errors.Join(err, err2) != nil {
					t.Fatal(err, err2)
				}
				for _, name := range left {
					os.RemoveAll(name)
				}
				if len(left) > 0 {
					partial++
				}
				check(fmt.Sprintf("kill %d, after %v of %v", i, after, took))
			}
			t.Logf("%d kills, %d of them after a file had changed, %d left a part of a file under another name", kills, begun, partial)
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
