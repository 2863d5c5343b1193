//go:build !race

// The race detector takes several times the memory.

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// forms are the commands that read, verify and write a module, in each way to write it.
var forms = []struct {
	name string
	args []string
	only string // of texts whose name starts so
}{
	{"pretty", []string{"opt"}, ""},
	{"generic", []string{"opt", "--mlir-print-op-generic"}, ""},
	{"debuginfo", []string{"opt", "--mlir-print-debuginfo"}, ""},
	{"generic debuginfo", []string{"opt", "--mlir-print-op-generic", "--mlir-print-debuginfo"}, ""},
	{"local scope", []string{"opt", "--mlir-print-debuginfo", "--mlir-print-local-scope"}, ""},
	{"rewrite", []string{"rewrite"}, ""},
	{"hooks", []string{"hooks", "--json"}, ""},
	{"all errors", []string{"opt", "--max-errors=1000000000"}, ""},
	{"split", []string{"opt", "--split-input-file"}, "chunks"},
	{"diagnostics", []string{"opt", "--split-input-file", "--verify-diagnostics"}, ""},
}

// TestMemory: reading, verifying, changing and printing any text takes at most 44 MB and 40 times the text's size, at
// most five minutes, and a bounded stack. A child process handles each text in each form. HLOCB_LONG makes the texts
// larger; otherwise each text is written with its locations and in one other form.
func TestMemory(t *testing.T) {
	label.Once(t)
	label.Slow(t)
	size := 300_000
	if os.Getenv("HLOCB_LONG") != "" {
		size = 5_000_000
	}
	file := filepath.Join(t.TempDir(), "in.mlir")
	for i, c := range largeTexts(size) {
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		for k, form := range forms {
			if size < 1_000_000 && k != i%len(forms) && form.name != "debuginfo" && form.only == "" {
				continue
			}
			if !strings.HasPrefix(c.name, form.only) {
				continue
			}
			t.Run(c.name+"/"+form.name, func(t *testing.T) {
				refused, errs := runWithin(t, len(c.text), 40, append(form.args, file)...)
				if refused != c.refused && form.args[0] == "opt" && form.only == "" && form.name != "diagnostics" {
					t.Errorf("refused: %t, want %t: %.300s", refused, c.refused, errs)
				}
			})
		}
	}
}

// runWithin runs the command in a child process on an input of size bytes. The process may refuse the input. It must
// not crash, hang, or take more memory than 44 MB and the input's size times the factor. errs is its standard error.
func runWithin(t *testing.T, size, factor int, args ...string) (refused bool, errs string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	status := filepath.Join(t.TempDir(), "status")
	cmd := peer.Command(self, args...)
	cmd.Env = append(os.Environ(), "CHILD_STATUS_FILE="+status)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stop := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	begin := time.Now()
	err = cmd.Run()
	stop.Stop()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 || cmd.ProcessState.ExitCode() < 0 {
		t.Fatalf("%v: %.300s", err, stderr.String())
	}
	peak := peakMemory(t, status)
	t.Logf("%d bytes: %.1f times and 44 MB, %.1f s %.100s", size, float64(peak-44<<20)/float64(size), time.Since(begin).Seconds(), stderr.String())
	if limit := int64(factor)*int64(size) + 44<<20; peak > limit {
		t.Errorf("%d bytes take %d bytes of memory, more than %d", size, peak, limit)
	}
	return err != nil, stderr.String()
}

// peakMemory returns the peak resident memory of a process in bytes, without the pages of its program, from the text of
// /proc/PID/status. wait4 would also count the parent's memory, which the child shared until it executed another
// program.
func peakMemory(t *testing.T, status string) int64 {
	t.Helper()
	text, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) int64 {
		m := regexp.MustCompile(`(?m)^` + name + `:\s*(\d+) kB$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("no %s in %s", name, text)
		}
		kb, err := strconv.ParseInt(string(m[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return kb << 10
	}
	return field("VmHWM") - field("RssFile")
}
