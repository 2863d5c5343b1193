//go:build !unix

package command

import "os"

// closed returns false: this system does not tell.
func closed(any) bool { return false }

// columns returns the width of a terminal, 0 because this system does not tell it.
func columns(*os.File) int { return 0 }
