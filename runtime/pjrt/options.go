//go:build cgo

package pjrt

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// compileOptions are the fields of XLA's CompileOptionsProto that hlocb sets.
type compileOptions struct {
	replicas, partitions int
	shardy               bool
	overrides            []override
	assignment           []int // the ids of the devices, replicas outermost; nil: the plugin chooses
}

// jaxOptions are the debug options of XLA that JAX sets for all its programs. With XLA's own values the maximum and
// minimum of a NaN and a number may be the number.
var jaxOptions = []override{{"xla_cpu_enable_fast_min_max", false}, {"xla_gpu_enable_fast_min_max", false}}

// override sets one of XLA's debug options by name for one compilation.
type override struct {
	name  string
	value any // string, bool, int64 or float64
}

// override sets options of the user, which replace those of the same name.
func (o *compileOptions) override(options map[string]any) error {
	o.overrides = slices.DeleteFunc(slices.Clone(o.overrides), func(v override) bool { return options[v.name] != nil })
	for _, name := range slices.Sorted(maps.Keys(options)) {
		switch options[name].(type) {
		case string, bool, int64, float64:
		default:
			return fmt.Errorf("option %s of the compiler is a %T, expected string, bool, int64 or float64", name, options[name])
		}
		o.overrides = append(o.overrides, override{name, options[name]})
	}
	return nil
}

// encode returns an OptionOverrideProto.
func (v override) encode() []byte {
	switch v := v.value.(type) {
	case string:
		return appendBytes(nil, 1, []byte(v))
	case bool:
		if v {
			return appendInt(nil, 2, 1)
		}
		return appendInt(nil, 2, 0)
	case int64:
		return appendInt(nil, 3, v)
	case float64:
		return binary.LittleEndian.AppendUint64(binary.AppendUvarint(nil, 4<<3|1), math.Float64bits(v))
	}
	return nil
}

// encode returns the bytes of the proto. The field numbers come from xla/pjrt/proto/compile_options.proto.
func (o *compileOptions) encode() []byte {
	var build []byte
	build = appendInt(build, 1, -1) // device_ordinal: not set
	build = appendInt(build, 4, int64(o.replicas))
	build = appendInt(build, 5, int64(o.partitions))
	if o.partitions > 1 {
		build = appendInt(build, 6, 1) // use_spmd_partitioning
	}
	if o.shardy {
		build = appendInt(build, 19, 1) // use_shardy_partitioner
	}
	if o.assignment != nil {
		devices := appendInt(nil, 1, int64(o.replicas))
		devices = appendInt(devices, 2, int64(o.partitions))
		for p := range o.partitions {
			var ids []byte
			for r := range o.replicas {
				ids = binary.AppendUvarint(ids, uint64(o.assignment[r*o.partitions+p]))
			}
			devices = appendBytes(devices, 3, appendBytes(nil, 1, ids)) // computation_devices.replica_device_ids
		}
		build = appendBytes(build, 9, devices) // device_assignment
	}
	out := appendBytes(nil, 3, build) // executable_build_options
	for _, v := range o.overrides {
		entry := appendBytes(nil, 1, []byte(v.name))
		entry = appendBytes(entry, 2, v.encode())
		out = appendBytes(out, 7, entry) // env_option_overrides
	}
	return out
}

// DeviceCounts returns the numbers of replicas and partitions in a CompileOptionsProto, 0 if it has none.
func DeviceCounts(options []byte) (replicas, partitions int) {
	_ = eachField(options, func(field int, _ uint64, build []byte) error {
		if field != 3 {
			return nil
		}
		return eachField(build, func(field int, n uint64, _ []byte) error {
			switch field {
			case 4:
				replicas = int(n)
			case 5:
				partitions = int(n)
			}
			return nil
		})
	})
	return replicas, partitions
}

func appendInt(b []byte, field int, v int64) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3)
	return binary.AppendUvarint(b, uint64(v))
}

func appendBytes(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}
