// Package examples_test builds and tests the examples that are separate modules.
package examples_test

import (
	"os/exec"
	"testing"
)

// TestPass: an outside module with a dialect, patterns, passes and an opt binary needs only public packages.
func TestPass(t *testing.T) {
	for _, args := range [][]string{{"vet", "."}, {"test", "."}} {
		c := exec.Command("go", args...)
		c.Dir = "pass"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}
