//go:build !unix

package main

import "time"

var start = time.Now()

// processorTime is the time that has passed, where that of the processor is not to be had.
func processorTime() time.Duration { return time.Since(start) }
