//go:build !unix

package command

import "os"

// columns returns the width of a terminal: 0, unknown on this system.
func columns(*os.File) int { return 0 }
