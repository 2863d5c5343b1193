//go:build !linux

package handlers

import "os/exec"

// awaitExit reports that only Wait can wait for the child.
func awaitExit(*exec.Cmd) bool { return false }
