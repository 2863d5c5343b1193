//go:build cgo

package pjrt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Fields of an OpSharding, and types of shardings.
const (
	fieldShardingType    = 1
	fieldShardingDims    = 3
	fieldShardingDevices = 4
	fieldShardingTuple   = 5
	fieldShardingLast    = 6 // the last tile dimension replicates
	fieldShardingKinds   = 8 // kinds of the last tile dimensions
	fieldShardingIota    = 9
	fieldShardingPerm    = 10
	shardingReplicated   = 0
	shardingMaximal      = 1
	shardingTuple        = 2
	shardingOther        = 3
	shardingManual       = 4
	shardingUnreduced    = 6
)

// sub encodes a message in a field.
func sub(field int, parts ...[]byte) []byte {
	var v []byte
	for _, p := range parts {
		v = append(v, p...)
	}
	return appendBytes(nil, field, v)
}

func show(s *sharding.Sharding) string {
	text := fmt.Sprint(s.Tiles())
	for p := 0; !s.Whole() && p < 4; p++ {
		text += fmt.Sprint(s.Index(p))
	}
	return text
}

// TestModuleShardings reads shardings as XLA encodes them: packed and one by one, lists of devices and iotas.
func TestModuleShardings(t *testing.T) {
	other := appendInt(nil, fieldShardingType, shardingOther)
	module := append(sub(3, []byte{1, 2, 3}),
		append(sub(fieldModuleParameterShardings, other, appendBytes(nil, fieldShardingDims, []byte{2, 1, 2}), appendInt(nil, fieldShardingLast, 1),
			appendBytes(nil, fieldShardingIota, []byte{2, 2}), appendBytes(nil, fieldShardingPerm, []byte{1, 0})),
			append(sub(fieldModuleParameterShardings),
				sub(fieldModuleOutputSharding, appendInt(nil, fieldShardingType, shardingTuple),
					sub(fieldShardingTuple, other, appendInt(nil, fieldShardingDims, 4), appendInt(nil, fieldShardingDevices, 3), appendInt(nil, fieldShardingDevices, 2), appendInt(nil, fieldShardingDevices, 1), appendInt(nil, fieldShardingDevices, 0)),
					sub(fieldShardingTuple))...)...)...)
	in, out, known, err := moduleShardings(module, 4)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	var got []string
	for _, s := range append(in, out...) {
		got = append(got, show(s))
	}
	want := "[[2 1][0 0][1 0][0 0][1 0] [] [4][3][2][1][0] []]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, expected %s", got, want)
	}
	for i := range module {
		moduleShardings(module[:i], 4) // must not panic
	}
	if _, _, _, err := moduleShardings(module, 3); err == nil {
		t.Error("a sharding over 4 devices fits 3 partitions")
	}
	if _, _, _, err := moduleShardings(sub(fieldModuleOutputSharding, appendInt(nil, fieldShardingType, shardingManual)), 4); err == nil {
		t.Error("a manual result is joined")
	}
}

// TestShardingKinds: each kind of sharding of XLA's. The last dimensions of tiles replicate, or hold parts of a sum.
func TestShardingKinds(t *testing.T) {
	kind := func(k int64) []byte { return appendInt(nil, fieldShardingType, k) }
	dims := func(d ...byte) []byte { return appendBytes(nil, fieldShardingDims, d) }
	iota := func(n byte) []byte {
		return appendBytes(appendBytes(nil, fieldShardingIota, []byte{n}), fieldShardingPerm, []byte{0})
	}
	kinds := func(k ...byte) []byte { return appendBytes(nil, fieldShardingKinds, k) }
	x := f32(tensor.Shape{4}, 1, 2, 3, 4)
	for _, c := range []struct {
		fields [][]byte
		want   string // the shards of [1 2 3 4], or the error
	}{
		{[][]byte{kind(shardingReplicated)}, "[1 2 3 4] [1 2 3 4]"},
		{[][]byte{kind(shardingMaximal), dims(1), appendInt(nil, fieldShardingDevices, 1)}, "[1 2 3 4] [1 2 3 4]"},
		{[][]byte{kind(shardingMaximal)}, "a maximal sharding has 0 devices"},
		{[][]byte{kind(shardingOther), dims(2), iota(2)}, "[1 2] [3 4]"},
		{[][]byte{kind(shardingOther), dims(2), appendInt(appendInt(nil, fieldShardingDevices, 1), fieldShardingDevices, 0)}, "[3 4] [1 2]"},
		{[][]byte{kind(shardingOther), dims(1, 2), iota(2), appendInt(nil, fieldShardingLast, 1)}, "[1 2 3 4] [1 2 3 4]"},
		{[][]byte{kind(shardingOther), dims(1, 2), iota(2), kinds(shardingReplicated)}, "[1 2 3 4] [1 2 3 4]"},
		{[][]byte{kind(shardingOther), dims(1, 2), iota(2), kinds(shardingUnreduced)}, "[1 2 3 4] [0 0 0 0]"},
		{[][]byte{kind(shardingOther), dims(1, 2), iota(2), kinds(shardingManual)}, sharding.ErrManual.Error()},
		{[][]byte{kind(shardingManual)}, sharding.ErrManual.Error()},
		{[][]byte{kind(shardingUnreduced)}, "[1 2 3 4] [0 0 0 0]"},
		{[][]byte{kind(7)}, "unknown type 7 of a sharding"},
		{[][]byte{kind(shardingOther), dims(3), iota(3)}, "sharding {devices=[3]<=[3]} is over 3 devices, the program has 2 partitions"},
		{[][]byte{kind(shardingOther), dims(2), appendBytes(nil, fieldShardingIota, []byte{2})}, "the devices of a sharding have 1 dimensions and a permutation of 0"},
		{[][]byte{{0xff}}, "this is not a proto: unexpected EOF"},
		{[][]byte{appendBytes(nil, fieldShardingDims, []byte{0xff})}, "field 3 is broken: unexpected EOF"},
	} {
		list, err := hlo.DecodeSharding(slices.Concat(c.fields...), 2)
		got := fmt.Sprint(err)
		if err == nil {
			shards, err := list[0].Split(x, 2)
			if err != nil || len(list) != 1 || len(shards) != 2 {
				t.Fatalf("%x: %d shardings: %v", c.fields, len(list), err)
			}
			got = fmt.Sprint(tensor.View[float32](shards[0]), tensor.View[float32](shards[1]))
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%x: %s, expected %s", c.fields, got, c.want)
		}
	}
}

// TestChosenShardings runs a program whose main has no shardings: the partitioner chooses them.
func TestChosenShardings(t *testing.T) {
	text := `module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4xf32>, %y: tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
  %z = stablehlo.add %a, %a : tensor<2xf32>
  sdy.return %z : tensor<2xf32>
} : (tensor<4xf32>) -> tensor<4xf32>
return %r, %y : tensor<4xf32>, tensor<3xf32>
}
}
`
	e, err := backend(t).compileWith(context.Background(), &runtime.Program{Module: mustParse(text)}, moduleShape{shardy: true}, runtime.CompileOptions{Partitions: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	results, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{4}, 1, 2, 3, 4), f32(tensor.Shape{3}, 5, 6, 7)})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tensor.View[float32](results[0]), tensor.View[float32](results[1])); got != "[2 4 6 8] [5 6 7]" {
		t.Errorf("got %s", got)
	}
}
