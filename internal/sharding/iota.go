package sharding

import "errors"

// TransposedIota returns 0, 1, 2, ... in shape dims, transposed by perm and flattened.
func TransposedIota(dims, perm []int64) ([]int64, error) {
	if len(dims) != len(perm) {
		return nil, errors.New("a transposition of another rank")
	}
	total := int64(1)
	strides := make([]int64, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = total
		if dims[i] <= 0 || total > 1<<20/dims[i] {
			return nil, errors.New("an impossible number of devices")
		}
		total *= dims[i]
	}
	seen := make([]bool, len(perm))
	for _, p := range perm {
		if p < 0 || p >= int64(len(perm)) || seen[p] {
			return nil, errors.New("no permutation")
		}
		seen[p] = true
	}
	out := make([]int64, total)
	at := make([]int64, len(dims))
	for i := range out {
		for d, p := range perm {
			out[i] += at[d] * strides[p]
		}
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < dims[perm[d]] {
				break
			}
			at[d] = 0
		}
	}
	return out, nil
}
