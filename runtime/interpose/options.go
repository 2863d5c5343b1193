//go:build cgo

package interpose

import (
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/pjrt"
)

// SetDevices sets the numbers of devices in a module that lacks them. Modules of go-xla leave them to the options (an
// xla.CompileOptionsProto); modules of JAX state them.
func SetDevices(m *ir.Module, options []byte) {
	if replicas, partitions := mhlo.Devices(m); replicas > 0 || partitions > 0 {
		return
	}
	replicas, partitions := pjrt.DeviceCounts(options)
	set := func(name string, n int) {
		if n > 1 && n < 1<<20 {
			m.Op().SetAttr(name, ir.NewInteger(int64(n), ir.Int(32)))
		}
	}
	set(mhlo.AttrNumReplicas, replicas)
	set(mhlo.AttrNumPartitions, partitions)
}
