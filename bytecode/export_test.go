package bytecode

import "github.com/hlocb/hlocb/ir"

// HashLoc returns the hash of a place and its preferred position in a table.
func HashLoc(l *ir.Loc) (hash, at uint64) { return hashLoc(l) }

// SamePlace reports whether two locations are the same place.
func SamePlace(a, b *ir.Loc) bool { return samePlace(a, b) }
