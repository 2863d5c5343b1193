package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
)

// TestXLAFlags: every way to name XLA's CPU plugin gets the long wait, and a program that needs none does not.
func TestXLAFlags(t *testing.T) {
	opts := hlocb.DefaultBackends()
	load := func(file string) *hlocb.Program {
		p, err := hlocb.Load(context.Background(), file, hlocb.HookTargets("probe", "ask"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	sharded, alone := load("../../testdata/mlir/sharded_gspmd.mlir"), load("../../testdata/mlir/train_step.mlir")
	for _, name := range []string{"auto", "cpu", "cpu@0.0.1", "cpu@0.11.2", "engine", "cuda"} {
		found, err := opts.Plugins.Find(strings.Replace(name, "auto", "cpu", 1))
		installed := err == nil && len(found) > 0
		if strings.HasPrefix(name, "cpu") && !installed {
			t.Logf("%s is not installed", name)
			continue
		}
		want := name == "auto" && installed || strings.HasPrefix(name, "cpu")
		if got := xlaFlags(sharded, "--a", name, opts); strings.Contains(got, "terminate_timeout") != want {
			t.Errorf("%s: %s", name, got)
		}
		if got := xlaFlags(alone, "--a", name, opts); got != "--a" {
			t.Errorf("%s, one device: %s", name, got)
		}
	}
}
