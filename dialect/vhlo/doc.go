// Package vhlo is StableHLO's versioned dialect, in which portable artifacts store programs (openxla/stablehlo,
// docs/vhlo.md). It has every operation, attribute and type of versions 0.9.0 to 1.22.0 as a row with the versions that
// know it.
//
// Upgrade converts a VHLO module to current StableHLO. Downgrade converts a StableHLO module to VHLO that a given
// version can read.
package vhlo
