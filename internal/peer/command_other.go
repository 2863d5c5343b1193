//go:build !linux

package peer

import "os/exec"

func tie(c *exec.Cmd) *exec.Cmd { return c }
