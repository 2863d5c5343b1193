//go:build !unix

package main

import "time"

// used is the elapsed time: this system does not report processor time.
func used() time.Duration { return passed() }
