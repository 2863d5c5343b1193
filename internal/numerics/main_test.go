package main

import (
	"os"
	"strings"
	"testing"
)

// TestTable: the table in docs/numerics.md has the bounds of the tests.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/numerics.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "| function |") || withTable(string(text)) != string(text) {
		t.Error("go run ./internal/numerics")
	}
}
