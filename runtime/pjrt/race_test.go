//go:build race

package pjrt

const raceEnabled = true
