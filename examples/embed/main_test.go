package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime/plugins"
)

func TestRun(t *testing.T) {
	want := `#1 value (tap)
   tensor<f32>: 32.
#3 value (tap)
   tensor<f32>: 24.
#5 value (tap)
   tensor<f32>: 21.
result dense<2.100000e+01> : tensor<f32>
`
	for _, backend := range []string{"interp", "auto"} {
		var out strings.Builder
		err := run(context.Background(), backend, &out)
		var missing *plugins.NotFoundError
		if errors.As(err, &missing) {
			t.Skip("skip: the CPU plugin is not installed")
		}
		if err != nil {
			t.Fatalf("%s: %v", backend, err)
		}
		if out.String() != want {
			t.Errorf("%s printed\n%s\nwant\n%s", backend, out.String(), want)
		}
	}
}
