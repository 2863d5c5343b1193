//go:build cgo

package interpose

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestClose: the end of a program closes the files and servers of its events, which have the events of the last second.
// A browser gets them before the server ends. Later events are lost without a warning.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var errs strings.Builder
	i, err := New(Config{Events: []string{at("run.parquet"), "trace:" + at("run.json"), "tb:" + at("tb")}, View: true, Metrics: "127.0.0.1:0"}, Host{Out: &errs, Err: &errs})
	if err != nil {
		t.Fatal(err)
	}
	site := &hook.Site{ID: 1, Name: "loss", Kind: hook.Tap, Loc: `"train.py":3:1`}
	fire := func(n int64) {
		t.Helper()
		v := tensor.New(tensor.F32, nil)
		tensor.View[float32](v)[0] = float32(n)
		c := &runtime.Call{Site: site, Run: 1, Seq: n, Operands: []*tensor.Tensor{v}}
		for _, h := range i.sinks {
			if err := h.Handle(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if timer, ok := h.(runtime.Timer); ok && timer.Timed() {
				timer.Returned(c, 1000)
			}
		}
	}
	view := regexp.MustCompile(`http://\S+token\S+`).FindString(errs.String())
	metrics := regexp.MustCompile(`http://\S+/metrics`).FindString(errs.String())
	resp, err := http.Get(strings.Replace(view, "/?", "/events?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	stream := bufio.NewReader(resp.Body)
	const n = 1000
	for k := range int64(n) {
		fire(k)
	}
	browser := make(chan int)
	go func() { // counts the events up to the end
		seen := 0
		for {
			line, err := stream.ReadString('\n')
			if err != nil || strings.HasPrefix(line, "event: end") {
				browser <- seen
				return
			}
			seen += strings.Count(line, `"hook":"loss"`)
		}
	}()
	i.Close()
	if seen := <-browser; seen != n {
		t.Errorf("the browser has %d events, expected %d", seen, n)
	}
	for _, url := range []string{view, metrics} {
		if _, err := http.Get(url); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s answers after the end: %v", url, err)
		}
	}
	fire(n)
	i.Close()
	rows := 0
	if err := events.Read(at("run.parquet"), "", func(*events.Event) error { rows++; return nil }); err != nil || rows != n {
		t.Errorf("the table has %d rows, expected %d: %v", rows, n, err)
	}
	text, err := os.ReadFile(at("run.json"))
	var spans []map[string]any
	if err = errors.Join(err, json.Unmarshal(text, &spans)); err != nil || len(spans) != n+2 {
		t.Errorf("the trace has %d entries, expected %d: %v", len(spans), n+2, err)
	}
	if list, err := filepath.Glob(at("tb/*tfevents*")); err != nil || len(list) != 1 {
		t.Errorf("TensorBoard's folder has %v: %v", list, err)
	}
	if open := openIn(dir); len(open) > 0 {
		t.Errorf("the process keeps %v open", open)
	}
	if text := errs.String(); strings.Contains(text, "warning") {
		t.Error(text)
	}
}

// openIn returns the files of a folder that this process has open.
func openIn(dir string) (out []string) {
	list, _ := os.ReadDir("/proc/self/fd")
	for _, e := range list {
		if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%s", e.Name())); err == nil && strings.HasPrefix(to, dir) {
			out = append(out, to)
		}
	}
	return out
}

// TestCloseHandlers: the end of a program closes its handlers. An archive for numpy then has its directory and its
// name, counts are printed, and a sampled recording has its last events. Before, all three were lost in silence.
func TestCloseHandlers(t *testing.T) {
	dir := t.TempDir()
	var out, errs strings.Builder
	on := []string{"*=npz:values.npz", "*=count", "*=sample:every=2,to=record:sampled"}
	open := func() *Interposer {
		i, err := New(Config{On: on, Directory: dir}, Host{Out: &out, Err: &errs})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	site := &hook.Site{ID: 1, Name: "loss", Kind: hook.Tap, Loc: `"train.py":3:1`}
	v := tensor.New(tensor.F32, nil)
	i := open()
	fire := func(n int64) {
		t.Helper()
		c := &runtime.Call{Site: site, Run: 1, Seq: n, Operands: []*tensor.Tensor{v}}
		for _, spec := range on {
			_, h, err := i.binding(spec)
			if err == nil {
				err = h.Handle(t.Context(), c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	const n = 10
	for k := range int64(n) {
		fire(k)
	}
	if _, err := os.Stat(filepath.Join(dir, "values.npz")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the archive has its name before it is whole: %v", err)
	}
	i.Close()
	fire(n)
	i.Close()
	second := open() // another process of the program
	second.Close()
	for file, want := range map[string]int{"values.npz": n, fmt.Sprintf("values-%d.npz", os.Getpid()): 0} {
		z, err := zip.OpenReader(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if len(z.File) != want {
			t.Errorf("%s has %d arrays, expected %d", file, len(z.File), want)
		}
		z.Close()
	}
	text, err := os.ReadFile(filepath.Join(dir, "sampled"))
	if strings.Count(string(text), "\n") != n/2 {
		t.Errorf("the sampled recording has %q: %v", text, err)
	}
	if want := "loss: 10 events\n"; out.String() != want {
		t.Errorf("printed %q, expected %q", out.String(), want)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("the folder has %v", entries)
	}
	for _, line := range strings.Split(strings.TrimSpace(errs.String()), "\n") {
		if !strings.Contains(line, "matches no hook") && line != "" {
			t.Error(line)
		}
	}
}

// TestWholeFiles: a file that is closed never replaces another process's, and never gets lost: a later one of this
// process replaces an earlier one.
func TestWholeFiles(t *testing.T) {
	dir := t.TempDir()
	i := &Interposer{config: Config{Directory: dir}}
	for _, text := range []string{"first", "second", "third"} {
		f, err := i.createWhole("values.npz")
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	for file, want := range map[string]string{"values.npz": "first", fmt.Sprintf("values-%d.npz", os.Getpid()): "third"} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v, expected %q", file, text, err, want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("the folder has %v", entries)
	}
}
