//go:build !unix

package main

import "time"

var start = time.Now()

// processorTime returns the elapsed time, because this system does not report processor time.
func processorTime() time.Duration { return time.Since(start) }
