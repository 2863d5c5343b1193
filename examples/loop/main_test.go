package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime/plugins"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), "engine", &out); err != nil {
		t.Fatal(err)
	}
	want := `#0 step (tap)
   tensor<f32>: 3.
#1 step (tap)
   tensor<f32>: 6.
#2 step (tap)
   tensor<f32>: 12.
result dense<1.200000e+01> : tensor<f32>
`
	if out.String() != want {
		t.Errorf("the engine printed\n%s\nwant\n%s", out.String(), want)
	}
}

// TestPlugin: a plugin refuses the loop with its own error.
func TestPlugin(t *testing.T) {
	var out strings.Builder
	err := run(context.Background(), "cpu", &out)
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) {
		t.Skip("skip: the CPU plugin is not installed")
	}
	if err != nil && strings.Contains(err.Error(), "needs cgo") {
		t.Skip("skip: built without cgo")
	}
	if err == nil || !strings.Contains(err.Error(), "unregistered dialect") {
		t.Errorf("the error is %v", err)
	}
}
