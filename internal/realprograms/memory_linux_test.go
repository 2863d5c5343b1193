package realprograms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/peer"
)

// TestPeakMemory: on the engine, a training step takes at most 1.3 times the bytes of the arguments, the results and
// XLA's temporaries.
func TestPeakMemory(t *testing.T) {
	base := filepath.Join(directory(t), large)
	text, err := os.ReadFile(base + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("skip: programs.py writes %s only if it is named", large)
	} else if err != nil {
		t.Fatal(err)
	}
	var p struct{ Temporaries int64 }
	if err := json.Unmarshal(text, &p); err != nil || p.Temporaries == 0 {
		t.Fatal("no size of temporaries", err)
	}
	arrays, err := os.Stat(base + ".npz") // holds arguments and results as they are
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "hlocb")
	if out, err := peer.Command("go", "build", "-o", tool, "../../cmd/hlocb").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := peer.Command(tool, "run", base+".mlir", "--backend", "engine", "--fill", "random:1", "--results", filepath.Join(dir, "results.npz"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	var peak int64
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			running = false
		case <-time.After(5 * time.Millisecond):
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil {
				if _, line, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
					var kib int64
					fmt.Sscan(string(line), &kib)
					peak = max(peak, kib<<10)
				}
			}
		}
	}
	whole := arrays.Size() + p.Temporaries
	t.Logf("%d MiB, %.2f times arguments, results and temporaries", peak>>20, float64(peak)/float64(whole))
	if peak > whole*13/10 {
		t.Errorf("takes %d bytes; arguments, results and temporaries have %d", peak, whole)
	}
}
