package mhlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// maxDevices is the largest number of replicas or of partitions. No backend runs so many, and passes write a list of
// devices.
const maxDevices = 1<<20 - 1

// counts returns the replicas and partitions that a module states.
func counts(m *ir.Module) (n [2]int64) {
	for i, names := range [2][2]string{{AttrNumReplicas, stablehlo.AttrNumReplicas}, {AttrNumPartitions, stablehlo.AttrNumPartitions}} {
		for _, name := range names {
			if a, ok := m.Op().Attr(name).(*ir.IntegerAttr); ok && a.Value() > 0 && n[i] == 0 {
				n[i] = a.Value()
			}
		}
	}
	return n
}

// Devices returns the numbers of replicas and of partitions that a module states; 0 if it states none. JAX writes them
// as attributes of MHLO, go-xla as attributes of StableHLO. Numbers that CheckDevices refuses count as the largest one.
func Devices(m *ir.Module) (replicas, partitions int) {
	n := counts(m)
	return int(min(n[0], maxDevices)), int(min(n[1], maxDevices))
}

// CheckDevices returns an error if a module states more replicas or partitions than any backend runs.
func CheckDevices(m *ir.Module) error {
	if n := counts(m); max(n[0], n[1]) > maxDevices {
		return m.Errorf(m.Op(), "the module is for %d replicas and %d partitions, expected at most %d of each", max(1, n[0]), max(1, n[1]), maxDevices)
	}
	return nil
}
