package sharding

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

func iota8x4() *tensor.Tensor {
	t := tensor.New(tensor.I32, tensor.Shape{8, 4})
	for i := range tensor.View[int32](t) {
		tensor.View[int32](t)[i] = int32(i) + 1
	}
	return t
}

// TestShardings splits an 8x4 value and compares the first element of each partition's shard. The expectations without
// sub-axes come from jaxlib, for the same NamedSharding or HloSharding.
func TestShardings(t *testing.T) {
	meshes := map[string]string{
		"mesh": `<["x"=2, "y"=4]>`,
		"rev":  `<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>`,
	}
	lookup := func(name string) *Mesh {
		text, ok := meshes[name]
		if !ok {
			return nil
		}
		m, err := ParseMesh(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct{ text, want string }{
		{`#sdy.sharding<@mesh, [{"x"}, {}]>`, "[4 4] [1 1 1 1 17 17 17 17]"},
		{`#sdy.sharding<@mesh, [{"x"}, {"y"}]>`, "[4 1] [1 2 3 4 17 18 19 20]"},
		{`#sdy.sharding<@mesh, [{"y", "x"}, {}]>`, "[1 4] [1 9 17 25 5 13 21 29]"},
		{`#sdy.sharding<@mesh, [{"x", "y"}, {?}]>`, "[1 4] [1 5 9 13 17 21 25 29]"},
		{`#sdy.sharding<@mesh, [{"y":(1)2}, {"y":(2)2}]>`, "[4 2] [1 3 17 19 1 3 17 19]"},
		{`#sdy.sharding<@mesh, [{}, {"x"}p1], replicated={"y"}>`, "[8 2] [1 1 1 1 3 3 3 3]"},
		{`#sdy.sharding<@rev, [{"x"}, {"y"}]>`, "[4 1] [20 19 18 17 4 3 2 1]"},
		{`#sdy.sharding<@mesh, [{}, {}]>`, "[8 4] [1 1 1 1 1 1 1 1]"},
		{`#sdy.sharding<mesh<["a"=8]>, [{"a"}, {}]>`, "[1 4] [1 5 9 13 17 21 25 29]"},
		// The first partition along unreduced axes holds the sum, and the others hold zeros.
		{`#sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>`, "[4 4] [1 0 0 0 17 0 0 0]"},
		{`#sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>`, "[8 4] [1 0 0 0 0 0 0 0]"},
		{`#sdy.sharding<@mesh, [{}, {"y":(2)2}], replicated={"y":(1)2}, unreduced={"x"}>`, "[8 2] [1 3 1 3 0 0 0 0]"},
		{`#sdy.sharding<@mesh, [{"x"}, {}], unreduced=max{"y"}>`, "[4 4] [1 1 1 1 17 17 17 17]"},
		{`#sdy.sharding<@rev, [{"x"}, {}], unreduced={"y"}>`, "[4 4] [0 0 0 17 0 0 0 1]"},
	} {
		s, err := ParseShardy(c.text, 8, lookup)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		shards, err := s.Split(iota8x4(), 8)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var firsts []int32
		for _, shard := range shards {
			firsts = append(firsts, tensor.View[int32](shard)[0])
		}
		if got := fmt.Sprint(shards[0].Shape(), firsts); got != c.want {
			t.Errorf("%s gives %s, expected %s", c.text, got, c.want)
		}
		joined, err := s.Join(shards, tensor.Shape{8, 4})
		if err != nil || fmt.Sprint(tensor.View[int32](joined)) != fmt.Sprint(tensor.View[int32](iota8x4())) {
			t.Errorf("%s: the shards do not make the value again (%v)", c.text, err)
		}
	}
}

func TestBadShardingsAreRefused(t *testing.T) {
	lookup := func(string) *Mesh { return &Mesh{Names: []string{"x"}, Sizes: []int64{4}} }
	for _, text := range []string{"#sdy.sharding<@m", `#sdy.sharding<@m, [{"y"}]>`, `#sdy.sharding<@m, [{"x":(3)2}]>`, `#sdy.sharding<mesh<["x"=`, `#sdy.sharding<@m, [{"x"`} {
		if s, err := ParseShardy(text, 4, lookup); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
	empty := func(string) *Mesh { return &Mesh{Names: []string{"x"}, Sizes: []int64{0}} }
	if s, err := ParseShardy(`#sdy.sharding<@m, [{"x"}]>`, 4, empty); err == nil {
		t.Errorf("an axis without devices cuts: %v", s)
	}
	if _, err := (&Sharding{tiles: []int64{3}}).Split(iota8x4(), 3); err == nil {
		t.Error("a sharding that names no devices cut a value")
	}
}

// TestUnevenSharding splits 5 elements over 2 devices: shards of 3, the last one padded.
func TestUnevenSharding(t *testing.T) {
	v := tensor.New(tensor.I32, tensor.Shape{5})
	copy(tensor.View[int32](v), []int32{1, 2, 3, 4, 5})
	s, err := NewTiled([]int64{2}, []int64{0, 1}, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	shards, err := s.Split(v, 2)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(tensor.View[int32](shards[0])), fmt.Sprint(tensor.View[int32](shards[1])); a != "[1 2 3]" || b != "[4 5 0]" {
		t.Errorf("the parts are %s and %s", a, b)
	}
	if joined, err := s.Join(shards, v.Shape()); err != nil || fmt.Sprint(tensor.View[int32](joined)) != "[1 2 3 4 5]" {
		t.Errorf("the parts do not make the value again (%v)", err)
	}
}
