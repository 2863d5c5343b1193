package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestTune: a small heap may grow to five times its size, a large one to less than twice. While a text is read, garbage
// may grow by eight times the text.
func TestTune(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	Tune()
	defer Running()
	await := func(low, high int) {
		t.Helper()
		var got int
		for range 200 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // finalizers run in a goroutine of their own
			got = debug.SetGCPercent(smallPercent)
			debug.SetGCPercent(got)
			if got >= low && got <= high {
				return
			}
		}
		t.Fatalf("after a collection garbage may grow by %d %%, want %d to %d", got, low, high)
	}
	await(400, 400)
	large := make([]byte, 300<<20)
	await(75, 75)
	Reading(100 << 20)
	for range 10 { // also after further collections
		await(250, 267)
		time.Sleep(5 * time.Millisecond)
	}
	Running()
	await(75, 75)
	// A short text with much in use: the limit gives way, or collections would follow each other without end.
	Reading(1 << 20)
	await(75, 75)
	if got := debug.SetMemoryLimit(-1); got < int64(len(large))*7/4 {
		t.Errorf("with %d bytes in use the limit is %d", len(large), got)
	}
	Running()
	runtime.KeepAlive(large)
	large = nil
	await(400, 400)
}
