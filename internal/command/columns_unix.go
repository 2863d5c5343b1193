//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// closed reports whether the process was started with a standard stream closed. Go opens /dev/null in its place, for
// reading and writing, and output would be lost silently.
func closed(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, null)
}

// columns returns the width of a terminal, 0 if it is unknown, -1 if f is not a terminal.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return -1
	}
	return int(size.Col)
}
