//go:build cgo

package interpose

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/internal/reader"
)

// TestSetDevices: a module that does not state its devices gets them from the options it is compiled with.
func TestSetDevices(t *testing.T) {
	number := func(b []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
	}
	build := number(number(number(nil, 1, 1<<63), 4, 4), 5, 2)
	options := protowire.AppendBytes(protowire.AppendTag(number(nil, 1, 1), 3, protowire.BytesType), build)
	for _, test := range []struct {
		module               string
		options              []byte
		replicas, partitions int
	}{
		{`module {}`, options, 4, 2},
		{`module {}`, options[:len(options)-1], 0, 0}, // damaged
		{`module {}`, nil, 0, 0},
		{`module attributes {stablehlo.num_partitions = 3 : i64} {}`, options, 0, 3},
		{`module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32} {}`, options, 1, 1},
	} {
		m, err := reader.Read(diag.NewSource("test", []byte(test.module)))
		if err != nil {
			t.Fatal(err)
		}
		SetDevices(m, test.options)
		if r, p := mhlo.Devices(m); r != test.replicas || p != test.partitions {
			t.Errorf("%s: %d replicas, %d partitions, expected %d and %d", test.module, r, p, test.replicas, test.partitions)
		}
	}
}
