//go:build cgo

package interpose

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
)

// Fields of xla/pjrt/proto/compile_options.proto.
const (
	fieldBuildOptions  = 3 // of CompileOptionsProto
	fieldNumReplicas   = 4 // of ExecutableBuildOptionsProto
	fieldNumPartitions = 5
)

// setDevices sets the numbers of devices in a module that lacks them. Modules of go-xla leave them to the options (an
// xla.CompileOptionsProto); modules of JAX state them.
func setDevices(m *ir.Module, options []byte) {
	replicas, partitions := mhlo.Devices(m)
	if replicas > 0 || partitions > 0 {
		return
	}
	var build []byte
	eachField(options, func(num protowire.Number, _ uint64, data []byte) {
		if num == fieldBuildOptions {
			build = data
		}
	})
	eachField(build, func(num protowire.Number, v uint64, _ []byte) {
		name := map[protowire.Number]string{fieldNumReplicas: mhlo.AttrNumReplicas, fieldNumPartitions: mhlo.AttrNumPartitions}[num]
		if name != "" && v > 1 && v < 1<<20 {
			m.Op().SetAttr(name, ir.NewInteger(int64(v), ir.Int(32)))
		}
	})
}

// eachField calls f with the fields of a message up to the first damaged one: a number, or bytes.
func eachField(b []byte, f func(num protowire.Number, v uint64, data []byte)) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(num, typ, b)
		if size < 0 {
			return
		}
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b)
			f(num, v, nil)
		case protowire.BytesType:
			data, _ := protowire.ConsumeBytes(b)
			f(num, 0, data)
		}
		b = b[size:]
	}
}
