package kernel

import (
	"fmt"
)

// CheckDims returns an error unless dims are distinct and within [0, rank).
func CheckDims(what string, dims []int64, rank int) error {
	seen := uint64(0)
	for _, d := range dims {
		if d < 0 || d >= int64(rank) {
			return fmt.Errorf("%s dimension %d is outside of rank %d", what, d, rank)
		}
		if d < 64 {
			if seen&(1<<d) != 0 {
				return fmt.Errorf("%s dimension %d is given twice", what, d)
			}
			seen |= 1 << d
		}
	}
	return nil
}
