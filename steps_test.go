package hlocb_test

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime"
)

// TestCarriedStepsKeepMemory: a step that is repeated on the device keeps no memory. It runs 10,000 times; with
// HLOCB_LONG 100,000 times.
func TestCarriedStepsKeepMemory(t *testing.T) {
	steps := 10_000
	if os.Getenv("HLOCB_LONG") != "" {
		steps = 100_000
	}
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		w, x := put(t, exe, 0, 0, 0, 0, 0), put(t, exe, 1, 1, 2, 3, 4)
		defer func() { closeAll(t, exe, w, x) }()
		var before int64
		for i := range steps {
			if i == steps/4 {
				before = resident(t)
			}
			out, err := exe.Execute(ctx, []*hlocb.Buffer{w, x}, hlocb.ExecuteOptions{})
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			w.Close()
			w = out[0]
			out[1].Close()
		}
		wantBuffer(t, w, 0, 0, 0, 0)
		if grown := resident(t) - before; grown > 8<<20 {
			t.Errorf("%d steps grow the process by %d bytes", steps-steps/4, grown)
		}
	})
}

// resident returns the process's resident memory in bytes after the heap has returned its unused memory.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("skip: %v", err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
