//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	goruntime "runtime"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/sharding"
)

// XLA's partitioner chooses the shardings of arguments and results that main leaves open. The optimized program has
// the final shardings: an HloModuleProto (xla/service/hlo.proto) has an OpSharding (xla/xla_data.proto) for each
// parameter and for the result.
const (
	fieldConfiguredModule = 1 // of an HloModuleProtoWithConfig

	fieldModuleOutputSharding     = 12
	fieldModuleParameterShardings = 14
)

// errNoProgram says that a plugin does not show its optimized programs.
var errNoProgram = errors.New("the plugin does not show optimized programs")

// optimizedProgram returns the program after the plugin's optimizations, an HloModuleProto.
func (l *loadedProgram) optimizedProgram() ([]byte, error) {
	p := l.client.plugin
	if !C.hl_has(p.api, C.HL_EXECUTABLE_OPTIMIZED_PROGRAM) {
		return nil, errNoProgram
	}
	program := sized(&C.hl_program{})
	var pin goruntime.Pinner
	defer pin.Unpin()
	pin.Pin(program)
	a := C.hl_optimized_program_args{executable: l.executable, program: program}
	if err := invoke(p, "optimized program", C.HL_EXECUTABLE_OPTIMIZED_PROGRAM, &a); err != nil {
		return nil, err
	}
	if program.code_size == 0 {
		return nil, errNoProgram
	}
	code := make([]byte, program.code_size)
	program.code = pinned(&pin, code)
	if err := invoke(p, "optimized program", C.HL_EXECUTABLE_OPTIMIZED_PROGRAM, &a); err != nil {
		return nil, err
	}
	switch name := C.GoStringN(program.format, C.int(program.format_size)); name {
	case "hlo":
		return code, nil
	case "hlo_with_config":
		var module []byte
		err := eachField(code, func(field int, _ uint64, v []byte) error {
			if field == fieldConfiguredModule {
				module = v
			}
			return nil
		})
		return module, err
	default:
		return nil, fmt.Errorf("the plugin shows optimized programs as %q", name)
	}
}

// shardings returns the shardings of a program's arguments and results. known is false if the plugin does not show
// them.
func (l *loadedProgram) shardings(partitions int) (in, out []*sharding.Sharding, known bool, err error) {
	code, err := l.optimizedProgram()
	if err != nil {
		return nil, nil, false, nil
	}
	return moduleShardings(code, partitions)
}

// moduleShardings reads the shardings of an HloModuleProto.
func moduleShardings(module []byte, partitions int) (in, out []*sharding.Sharding, known bool, err error) {
	err = eachField(module, func(field int, _ uint64, v []byte) error {
		switch field {
		case fieldModuleParameterShardings:
			s, err := hlo.DecodeSharding(v, partitions)
			if err != nil {
				return fmt.Errorf("argument %d: %w", len(in), err)
			}
			in = append(in, s...)
			known = true
		case fieldModuleOutputSharding:
			s, err := hlo.DecodeSharding(v, partitions)
			if err != nil {
				return fmt.Errorf("results: %w", err)
			}
			out = s
			known = true
		}
		return nil
	})
	return in, out, known, err
}

// errProto says that data is not a protocol buffer.
var errProto = errors.New("the plugin's description of the program cannot be read")

// eachField calls f for each field of a protocol buffer: with the number of a varint, or with the bytes of a field
// that has a length. It skips other kinds of fields.
func eachField(b []byte, f func(field int, number uint64, v []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b)
		if protowire.ParseError(n) != nil {
			return errProto
		}
		_, _, tag := protowire.ConsumeTag(b)
		value := b[tag:n]
		b = b[n:]
		var err error
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			err = f(int(num), v, nil)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			err = f(int(num), 0, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendInts appends the element of a repeated integer field, or all elements of a packed field.
func appendInts(out []int64, number uint64, packed []byte) ([]int64, error) {
	if packed == nil {
		return append(out, int64(number)), nil
	}
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		if protowire.ParseError(n) != nil {
			return nil, errProto
		}
		out, packed = append(out, int64(v)), packed[n:]
	}
	return out, nil
}
