//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns returns the width of a terminal, 0 if it is unknown, -1 if f is not a terminal.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return -1
	}
	return int(size.Col)
}
