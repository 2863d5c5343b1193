package hlo_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/tensor"
)

// TestParseSharding splits an 8x4 value of 1, 2, 3, ... over 8 partitions and compares the first element of each
// partition's shard. The expectations come from jaxlib, for the same HloSharding.
func TestParseSharding(t *testing.T) {
	whole := tensor.New(tensor.I32, tensor.Shape{8, 4})
	for i := range tensor.View[int32](whole) {
		tensor.View[int32](whole)[i] = int32(i) + 1
	}
	for _, c := range []struct{ text, want string }{
		{`{replicated}`, "[8 4] [1 1 1 1 1 1 1 1]"},
		{`{devices=[8,1]<=[8]}`, "[1 4] [1 5 9 13 17 21 25 29]"},
		{`{devices=[2,4]<=[8]}`, "[4 1] [1 2 3 4 17 18 19 20]"},
		{`{devices=[2,1,4]<=[8] last_tile_dim_replicate}`, "[4 4] [1 1 1 1 17 17 17 17]"},
		{`{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={replicated}}`, "[8 2] [1 3 1 3 1 3 1 3]"},
		{`{devices=[4,2]<=[2,4]T(1,0)}`, "[2 2] [1 9 17 25 3 11 19 27]"},
		{`{unreduced}`, "[8 4] [1 0 0 0 0 0 0 0]"},
		{`{devices=[2,1,4]<=[8] last_tile_dims={unreduced}}`, "[4 4] [1 0 0 0 17 0 0 0]"},
		{`{devices=[2,1,2,2]<=[8] last_tile_dims={replicated, unreduced}}`, "[4 4] [1 0 1 0 17 0 17 0]"},
		{`{devices=[2,4]7,6,5,4,3,2,1,0}`, "[4 1] [20 19 18 17 4 3 2 1]"},
		{`{maximal device=3}`, "[8 4] [1 1 1 1 1 1 1 1]"},
		{`{devices=[8,1]<=[8] metadata={op_name="a"}}`, "[1 4] [1 5 9 13 17 21 25 29]"},
		{`{devices=[2,1,4]<=[8] last_tile_dim_replicate shard_as 3}`, "[4 4] [1 1 1 1 17 17 17 17]"},
		{`{mesh['x'=2,'y'=4], [{'x'}, {}]}`, "[4 4] [1 1 1 1 17 17 17 17]"},
		{`{mesh['x'=2,'y'=4], [{'y','x'}, {?}]}`, "[1 4] [1 9 17 25 5 13 21 29]"},
		{`{mesh['x'=2,'y'=4], [{}, {}], unreduced={'y'}}`, "[8 4] [1 0 0 0 1 0 0 0]"},
		{`{mesh['x'=2,'y'=4], replicated}`, "[8 4] [1 1 1 1 1 1 1 1]"},
	} {
		s, err := hlo.ParseSharding(c.text, 8)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		parts, err := s.Split(whole, 8)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var firsts []int32
		for _, part := range parts {
			firsts = append(firsts, tensor.View[int32](part)[0])
		}
		if got := fmt.Sprint(parts[0].Shape(), firsts); got != c.want {
			t.Errorf("%s gives %s, expected %s", c.text, got, c.want)
		}
		list, err := hlo.DecodeSharding(encodedSharding(t, c.text), 8)
		if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], s) {
			t.Errorf("%s is decoded as %v, %v, expected %v", c.text, list, err, s)
		}
	}
	list, err := hlo.DecodeSharding(encodedSharding(t, "{{replicated}, {devices=[8,1]<=[8]}}"), 8)
	if err != nil || len(list) != 2 || !list[0].Whole() || list[1].Whole() {
		t.Errorf("a tuple is decoded as %v, %v", list, err)
	}
}

// encodedSharding returns the OpSharding of the text of a sharding.
func encodedSharding(t *testing.T, text string) []byte {
	t.Helper()
	typ := "f32[8,4]"
	if strings.HasPrefix(text, "{{") {
		typ = "(f32[8,4], f32[8,4])"
	}
	m, err := hlo.Parse(diag.NewSource("m.hlo", []byte("HloModule m\nENTRY e {\n  ROOT p = "+typ+" parameter(0), sharding="+text+"\n}\n")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []protowire.Number{3, 2, 40} { // of a module, a computation, an instruction
		b = fieldOf(b, field)
	}
	return b
}

// fieldOf returns the first field of a message with a number, nil if there is none.
func fieldOf(b []byte, number protowire.Number) []byte {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if num == number {
			v, _ := protowire.ConsumeBytes(b[n:])
			return v
		}
		b = b[n+size:]
	}
	return nil
}

// TestParseShardingRefuses: a sharding is refused for the reasons for which HLO's reader and 'hlocb verify' refuse it,
// and if it is over another number of devices than the program.
func TestParseShardingRefuses(t *testing.T) {
	for _, text := range []string{"{", "{devices=[2,2]<=[4]", "{devices=[3]<=[3]}", "{devices=[4]0,1,2,2}", "{devices=[4]<=[2,2]T(0,0)}",
		"{devices=[0]<=[0]}", "{devices=[4]<=[-4]}", "{devices=[9223372036854775807,9223372036854775807]<=[4]}",
		"{devices=[1099511627776]<=[1099511627776]}", "{devices=[4]0,1,2,4}", "{devices=[4]<=[4]} x", "{mesh['x'=2], [{'x'}]}",
		"{mesh['x'=4], [{'y'}]}", "{mesh['x'=4,'y'=0], [{'x'}]}", "{{replicated}, {replicated}}"} {
		if s, err := hlo.ParseSharding(text, 4); err == nil || errors.Is(err, sharding.ErrManual) {
			t.Errorf("%q is %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"{manual}", "{devices=[4,1]<=[4] last_tile_dims={manual}}", "{mesh['x'=4], manual}"} {
		if _, err := hlo.ParseSharding(text, 4); err != sharding.ErrManual {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := hlo.DecodeSharding(encodedSharding(t, text), 4); err != sharding.ErrManual {
			t.Errorf("%q is decoded with %v", text, err)
		}
	}
}
