//go:build unix

package meter

import (
	"syscall"
	"time"
)

// ProcessorTime returns the computing time of this process on all cores. Other processes do not affect it.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
