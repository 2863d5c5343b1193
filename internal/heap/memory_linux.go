package heap

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Memory returns the bytes of memory that this process may use: the machine's memory, or the limit of its control
// group if this is less.
func Memory() uint64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	n := uint64(info.Totalram) * uint64(info.Unit)
	for _, name := range [...]string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := os.ReadFile(name); err == nil {
			if v, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil && v > 0 {
				n = min(n, v)
			}
		}
	}
	return n
}
