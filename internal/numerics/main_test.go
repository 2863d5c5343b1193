package main

import (
	"os"
	"strings"
	"testing"
)

// TestTable: docs/numerics.md has the table of the bounds that tests hold.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/numerics.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "| function |") || withTable(string(text)) != string(text) {
		t.Error("go run ./internal/numerics")
	}
}
