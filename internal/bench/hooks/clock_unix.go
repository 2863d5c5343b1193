//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is how long this process has computed, on all cores: what other processes do meanwhile does not count.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
