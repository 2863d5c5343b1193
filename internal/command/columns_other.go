//go:build !unix

package command

import "os"

// closed returns false: this system cannot tell.
func closed(any) bool { return false }

// columns returns the width of a terminal: 0, unknown on this system.
func columns(*os.File) int { return 0 }
