package sharding

import (
	"errors"
	"fmt"
	"strings"
)

// ParseGSPMD reads XLA's own format: {replicated}, {devices=[2,1,2]<=[4] last_tile_dim_replicate},
// {devices=[2,2]<=[2,2]T(1,0)}, {devices=[4]0,1,2,3}.
func ParseGSPMD(text string, partitions int) (*Sharding, error) {
	r := reader{rest: text}
	r.expect("{")
	switch {
	case r.accept("replicated"), r.accept("maximal"):
		return &Sharding{}, r.err
	case r.accept("manual"):
		return nil, ErrManual
	case r.accept("unreduced"): // on all devices
		return ParseGSPMD(fmt.Sprintf("{devices=[%d]<=[%[1]d] last_tile_dims={unreduced}}", partitions), partitions)
	}
	r.expect("devices")
	r.expect("=")
	tiles := r.integers()
	if count(tiles) < 0 {
		return nil, fmt.Errorf("sharding %s has an impossible number of devices", text)
	}
	var ids []int64
	if r.accept("<=") {
		dims := r.integers()
		perm := make([]int64, len(dims))
		for i := range perm {
			perm[i] = int64(i)
		}
		if r.accept("T") {
			perm = r.list("(", ")")
		}
		if r.err == nil {
			var err error
			if ids, err = TransposedIota(dims, perm); err != nil {
				return nil, fmt.Errorf("sharding %s: %w", text, err)
			}
		}
	} else {
		for r.err == nil {
			ids = append(ids, r.integer())
			if !r.accept(",") {
				break
			}
		}
	}
	var extra []Extra
	switch {
	case r.accept("last_tile_dim_replicate"):
		extra = []Extra{Replicated}
	case r.accept("last_tile_dims"):
		r.expect("=")
		kinds := r.balanced()
		if strings.Contains(kinds, "manual") {
			return nil, ErrManual
		}
		for kind := range strings.SplitSeq(strings.Trim(kinds, "{}"), ",") {
			if strings.TrimSpace(kind) == "unreduced" {
				extra = append(extra, Unreduced)
			} else {
				extra = append(extra, Replicated)
			}
		}
	}
	r.expect("}")
	if err := r.finish("sharding", text); err != nil {
		return nil, err
	}
	out, err := NewTiled(tiles, ids, extra, partitions)
	if err != nil {
		return nil, fmt.Errorf("sharding %s %w", text, err)
	}
	return out, nil
}

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
