package hlocb

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFileContains finds a text at any offset of a file, also across two reads.
func TestFileContains(t *testing.T) {
	const text = "what_is_looked_for"
	name := filepath.Join(t.TempDir(), "f")
	for _, at := range []int{0, 1, 1<<20 - 1, 1<<20 - len(text), 1<<20 - len(text) + 1, 2<<20 - 7, -1} {
		content := bytes.Repeat([]byte("what_is_looked_fox "), 3<<20/19)
		if at >= 0 {
			copy(content[at:], text)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if found, err := fileContains(name, text); err != nil || found != (at >= 0) {
			t.Errorf("at %d: found is %t (%v)", at, found, err)
		}
	}
	if _, err := fileContains(name+"x", text); err == nil {
		t.Error("a missing file is read")
	}
}
