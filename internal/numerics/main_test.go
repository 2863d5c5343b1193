package main

import (
	"os"
	"testing"
)

// TestWrap: the document is wrapped as the command wraps it.
func TestWrap(t *testing.T) {
	text, err := os.ReadFile("../../docs/numerics.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := wrap(string(text)); got != string(text) {
		t.Error("docs/numerics.md has lines that are too long")
	}
	if got, want := wrap("- "+word(60)+" "+word(60)+"\n- b"), "- "+word(60)+"\n  "+word(60)+"\n- b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func word(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}
