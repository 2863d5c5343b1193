//go:build cgo

package engineplugin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// compileOptions are the fields of an xla.CompileOptionsProto (xla/pjrt/proto/compile_options.proto) that the engine
// reads.
type compileOptions struct {
	ordinal  int64     // of the device; -1 for none
	assigned [][]int64 // the devices of each partition's replicas; nil for none
}

// Fields of the protos.
const (
	fieldBuildOptions = 3 // of CompileOptionsProto
	fieldOverrides    = 7

	fieldOrdinal    = 1 // of ExecutableBuildOptionsProto
	fieldAssignment = 9

	fieldComputation = 3 // of DeviceAssignmentProto
	fieldDeviceIDs   = 1 // of its computations

	fieldOverrideName  = 1 // of an entry of the overrides
	fieldOverrideValue = 2
	fieldOverrideText  = 1 // of its value
)

// readOptions reads options.
func readOptions(b []byte) (*compileOptions, error) {
	o := &compileOptions{ordinal: -1}
	err := eachField(b, func(field int, _ uint64, v []byte) error {
		switch field {
		case fieldBuildOptions:
			return eachField(v, o.build)
		case fieldOverrides:
			return checkOverride(v)
		}
		return nil
	})
	return o, err
}

// checkOverride checks an option by name, as of jax.jit's compiler_options. An option of XLA's compiler has no effect.
// Texts are refused, because most of them are misspelled flags or numbers, or ask for a file.
func checkOverride(entry []byte) error {
	var name string
	var text []byte
	err := eachField(entry, func(field int, _ uint64, v []byte) error {
		switch field {
		case fieldOverrideName:
			name = string(v)
		case fieldOverrideValue:
			return eachField(v, func(field int, _ uint64, v []byte) error {
				if field == fieldOverrideText {
					text = append([]byte{}, v...)
				}
				return nil
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(name, "xla_"):
		return &argumentError{fmt.Sprintf("No such compile option: '%s'", name)}
	case text == nil:
		return nil
	}
	if _, err := strconv.ParseFloat(string(text), 64); err == nil || slices.Contains([]string{"true", "false", "True", "False"}, string(text)) {
		return nil
	}
	return &argumentError{fmt.Sprintf("While setting option %s, '%s' is not a valid bool value. hlocb's engine ignores flags and numbers of XLA's compiler, and has no other options.", name, text)}
}

func (o *compileOptions) build(field int, n uint64, v []byte) error {
	switch field {
	case fieldOrdinal:
		o.ordinal = int64(n)
	case fieldAssignment:
		return eachField(v, func(field int, _ uint64, computation []byte) error {
			if field != fieldComputation {
				return nil
			}
			var replicas []int64
			err := eachField(computation, func(field int, n uint64, packed []byte) error {
				if field != fieldDeviceIDs {
					return nil
				}
				if packed == nil {
					replicas = append(replicas, int64(n))
				}
				for len(packed) > 0 {
					n, size := protowire.ConsumeVarint(packed)
					if size < 0 {
						return &argumentError{"the compile options are damaged"}
					}
					replicas, packed = append(replicas, int64(n)), packed[size:]
				}
				return nil
			})
			o.assigned = append(o.assigned, replicas)
			return err
		})
	}
	return nil
}

// devices returns the devices of a program's replicas, each with those of its partitions, of n devices of the client.
func (o *compileOptions) devices(n, replicas, partitions int) ([]int64, error) {
	var list []int64
	switch {
	case o.assigned != nil:
		if len(o.assigned) != partitions || slices.ContainsFunc(o.assigned, func(l []int64) bool { return len(l) != replicas }) {
			return nil, &argumentError{fmt.Sprintf("the options assign devices %v; expected %d partitions with %d replicas", o.assigned, partitions, replicas)}
		}
		for r := range replicas {
			for _, l := range o.assigned {
				list = append(list, l[r])
			}
		}
	case o.ordinal >= 0 && replicas*partitions == 1:
		list = []int64{o.ordinal}
	default:
		for i := range replicas * partitions {
			list = append(list, int64(i))
		}
	}
	for _, d := range list {
		if d < 0 || d >= int64(n) {
			return nil, &argumentError{fmt.Sprintf("the program needs device %d, but there are %d devices", d, n)}
		}
	}
	return list, nil
}

// eachField calls f for each field of a protocol buffer: with the number of a varint, or with the bytes of a field that
// has a length. It skips other kinds of fields.
func eachField(b []byte, f func(field int, number uint64, v []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			return &argumentError{"the compile options are damaged"}
		}
		_, _, head := protowire.ConsumeTag(b)
		var err error
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b[head:n])
			err = f(int(num), v, nil)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(b[head:n])
			err = f(int(num), 0, v)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
