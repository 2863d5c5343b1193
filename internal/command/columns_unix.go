//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns returns the width of a terminal, 0 if it does not know it, -1 if f is no terminal.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return -1
	}
	return int(size.Col)
}
