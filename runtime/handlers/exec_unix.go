//go:build unix

package handlers

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child of cmd the leader of a process group. Interrupts of the terminal then reach it only through
// hlocb.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills every process of the child's group.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
