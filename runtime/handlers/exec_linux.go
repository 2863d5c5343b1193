package handlers

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitExit waits until the child has ended, and leaves its status for Wait. It reports whether it could.
func awaitExit(cmd *exec.Cmd) bool {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
