package launch

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// TestProgress: who waits for a build sees that it goes on, until it ends.
func TestProgress(t *testing.T) {
	r, w := io.Pipe()
	stop := progress(w, time.Millisecond)
	seen := make([]byte, len("hlocb: building for 1ms\nhlocb: building for 2ms\n"))
	if _, err := io.ReadFull(r, seen); err != nil || strings.Count(string(seen), "hlocb: building for ") != 2 {
		t.Errorf("%q, %v", seen, err)
	}
	r.Close()
	stop()
}

// TestMissingCompiler: the first command that fails ends a build, with one message.
func TestMissingCompiler(t *testing.T) {
	err := Compile(context.Background(), nil, "no-such-compiler", t.TempDir())
	if err == nil || !strings.HasPrefix(err.Error(), "no-such-compiler is missing; it is needed once to run: no-such-compiler ") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
