//go:build cgo

package engineplugin

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func bytesField(field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), v)
}

func intField(field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), v)
}

// TestOverrides: options of XLA's compiler have no effect, and misspelled ones are refused.
func TestOverrides(t *testing.T) {
	const text, flag = 1, 2 // fields of a value
	for _, c := range []struct {
		name  string
		value []byte
		want  string // part of the error, "" for none
	}{
		{"xla_embed_ir_in_executable", intField(flag, 1), ""},
		{"xla_embed_ir_in_executable", bytesField(text, []byte("false")), ""},
		{"xla_dump_max_hlo_modules", bytesField(text, []byte("200")), ""},
		{"xla_embed_ir_in_executable", bytesField(text, []byte("invalid_value")), "is not a valid bool value"},
		{"invalid_key", intField(flag, 1), "No such compile option: 'invalid_key'"},
		{"invalid_key", bytesField(text, []byte("x")), "No such compile option: 'invalid_key'"},
	} {
		entry := append(bytesField(fieldOverrideName, []byte(c.name)), bytesField(fieldOverrideValue, c.value)...)
		_, err := readOptions(bytesField(fieldOverrides, entry))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
	if _, err := readOptions([]byte{0xff}); err == nil {
		t.Error("damaged options are accepted")
	}
}

// TestDevices: a program runs on the devices that its options assign, or else on the first ones.
func TestDevices(t *testing.T) {
	assigned := func(partitions ...[]uint64) []byte {
		var computations []byte
		for i, ids := range partitions {
			var packed, single []byte
			for _, id := range ids {
				packed, single = protowire.AppendVarint(packed, id), append(single, intField(fieldDeviceIDs, id)...)
			}
			if i > 0 {
				single = bytesField(fieldDeviceIDs, packed)
			}
			computations = append(computations, bytesField(fieldComputation, single)...)
		}
		return bytesField(fieldBuildOptions, bytesField(fieldAssignment, computations))
	}
	for _, c := range []struct {
		options              []byte
		replicas, partitions int
		want                 []int64 // nil: an error
	}{
		{nil, 1, 1, []int64{0}},
		{nil, 1, 3, []int64{0, 1, 2}},
		{nil, 2, 2, []int64{0, 1, 2, 3}},
		{bytesField(fieldBuildOptions, intField(fieldOrdinal, 2)), 1, 1, []int64{2}},
		{bytesField(fieldBuildOptions, intField(fieldOrdinal, 1<<64-1)), 1, 1, []int64{0}}, // -1: none
		{assigned([]uint64{3}, []uint64{1}), 1, 2, []int64{3, 1}},
		{assigned([]uint64{3, 0}, []uint64{1, 2}), 2, 2, []int64{3, 1, 0, 2}},
		{assigned([]uint64{3}, []uint64{1}), 1, 4, nil},
		{assigned([]uint64{3}, []uint64{1}), 2, 1, nil},
		{assigned([]uint64{3}, []uint64{4}), 1, 2, nil},
		{nil, 1, 5, nil},
		{nil, 3, 2, nil},
	} {
		o, err := readOptions(c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.devices(4, c.replicas, c.partitions); (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%d replicas of %d partitions: %v (%v), expected %v", c.replicas, c.partitions, got, err, c.want)
		}
	}
}
