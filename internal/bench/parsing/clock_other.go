//go:build !unix

package main

import "time"

// used returns the elapsed time, because this system does not report processor time.
func used() time.Duration { return passed() }
