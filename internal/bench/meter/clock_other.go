//go:build !unix

package meter

import "time"

var start = time.Now()

// ProcessorTime returns the elapsed time, because this system does not report processor time.
func ProcessorTime() time.Duration { return time.Since(start) }
