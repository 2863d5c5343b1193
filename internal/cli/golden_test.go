package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// TestGolden runs the cases of the repository's testdata.
func TestGolden(t *testing.T) {
	golden.Run(t, golden.Options{
		Programs: map[string]golden.Main{"hlocb": cli.Main},
		Needs:    map[string]func() string{"cpu-plugin": missingPlugin, "cgo": missingCgo},
		Testdata: "../../testdata",
	}, "../../testdata/*/*.txtar")
}

func missingCgo() string {
	if !haveCgo {
		return "built without cgo"
	}
	return ""
}

// missingPlugin returns why XLA's CPU plugin is not there, or "".
func missingPlugin() string {
	if !haveCgo {
		return "built without cgo"
	}
	env := plugins.Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	var missing *plugins.NotFoundError
	if _, err := env.Find("cpu"); errors.As(err, &missing) {
		return "the CPU plugin is not installed ('hlocb plugin install cpu')"
	}
	return ""
}
