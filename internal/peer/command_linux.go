package peer

import (
	"os/exec"
	"syscall"
)

// tie lets the kernel kill the command when the thread that starts it ends. Go keeps its threads until the process
// ends, except a thread whose goroutine ended while locked to it.
func tie(c *exec.Cmd) *exec.Cmd {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}
