//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return passed()
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
