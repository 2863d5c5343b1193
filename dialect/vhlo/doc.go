// Package vhlo is StableHLO's versioned dialect, in which portable artifacts store programs (openxla/stablehlo,
// docs/vhlo.md): every operation, attribute and type of versions 0.9.0 to 1.20.0 as a row with the versions that know it.
//
// Upgrade makes a VHLO module one of today's StableHLO. Downgrade makes the VHLO module of a StableHLO module that a
// given version can read.
package vhlo
