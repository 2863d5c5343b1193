package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// names lists the files of a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTwoWritersOfOneFile: one whole result stays, and no writer fails.
func TestTwoWritersOfOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	var both sync.WaitGroup
	both.Add(2)
	var wg sync.WaitGroup
	for _, text := range []string{"aaaa", "bb"} {
		wg.Go(func() {
			err := NewConsole(nil, nil, nil, os.Getenv).WriteFile(path, func(w io.Writer) error {
				both.Done()
				both.Wait() // both files are open
				_, err := io.WriteString(w, text)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := content(t, path); got != "aaaa" && got != "bb" {
		t.Errorf("the file holds %q", got)
	}
	if got := names(t, dir); got != "out" {
		t.Errorf("the directory holds %s", got)
	}
}

// TestTemporaryFilesOfOthers: a file or a link with the name of a temporary file stays as it is.
func TestTemporaryFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "out"), filepath.Join(dir, "victim")
	write(t, victim, "precious")
	if err := os.Symlink(victim, path+".partial"); err != nil {
		t.Skip("skip: no symbolic links")
	}
	if err := NewConsole(nil, nil, nil, os.Getenv).WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
		t.Fatal(err)
	}
	if content(t, victim) != "precious" || content(t, path) != "text" {
		t.Errorf("the victim holds %q, the output %q", content(t, victim), content(t, path))
	}
	if got := names(t, dir); got != "out out.partial victim" {
		t.Errorf("the directory holds %s", got)
	}
}

// TestOldFilesStay: after a failed write, to the file itself or to another of its group, and after an output that
// cannot be opened, the old files are there and nothing else.
func TestOldFilesStay(t *testing.T) {
	for _, how := range []string{"write fails", "open fails", "all is well"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			recording, data := filepath.Join(dir, "r.jsonl"), filepath.Join(dir, "r.data")
			write(t, recording, "old events")
			write(t, data, "old data")
			var s Outputs
			a, b := s.Add(recording, true, false), s.Add(data, true, true)
			if how == "open fails" {
				s.Add(filepath.Join(dir, "nowhere", "x"), true, false)
			}
			err := s.Open(context.Background())
			if (err != nil) != (how == "open fails") {
				t.Fatal(err)
			}
			want := "old events old data"
			if err == nil {
				want = "new events new data"
				fmt.Fprint(a, "new events")
				if how == "write fails" {
					want = "old events old data"
					b.file.Close()
					if _, err := fmt.Fprint(b, "new data"); err == nil {
						t.Fatal("the write succeeds")
					}
				} else {
					fmt.Fprint(b, "new data")
				}
			}
			_, _ = a.Close(), b.Close()
			if got := content(t, recording) + " " + content(t, data); got != want {
				t.Errorf("the files hold %q, expected %q", got, want)
			}
			if got := names(t, dir); got != "r.data r.jsonl" {
				t.Errorf("the directory holds %s", got)
			}
		})
	}
}
