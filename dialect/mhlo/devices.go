package mhlo

import "github.com/hlocb/hlocb/ir"

// Devices returns the numbers of replicas and of partitions that a module states; 0 if it states none. JAX writes them
// as attributes of MHLO, go-xla as attributes of StableHLO.
func Devices(m *ir.Module) (replicas, partitions int) {
	count := func(names ...string) int {
		for _, name := range names {
			if a, ok := m.Op().Attr(name).(*ir.IntegerAttr); ok && a.Value() > 0 && a.Value() < 1<<20 {
				return int(a.Value())
			}
		}
		return 0
	}
	return count(AttrNumReplicas, "stablehlo.num_replicas"), count(AttrNumPartitions, "stablehlo.num_partitions")
}
