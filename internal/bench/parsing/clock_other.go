//go:build !unix

package main

import "time"

// processorTime returns the elapsed time, because this system does not report processor time.
func processorTime() time.Duration { return passed() }
