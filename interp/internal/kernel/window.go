package kernel

import (
	"fmt"
)

// Paddings returns two numbers for each of n dimensions. pad has two numbers for each dimension, one for all, or none.
func Paddings(pad []int64, n int) ([]int64, error) {
	switch {
	case pad == nil:
		return make([]int64, 2*n), nil
	case len(pad) == 1 && n > 0:
		all := make([]int64, 2*n)
		for i := range all {
			all[i] = pad[0]
		}
		return all, nil
	case len(pad) != 2*n:
		return nil, fmt.Errorf("has %d paddings for %d dimensions", len(pad), n)
	}
	return pad, nil
}
