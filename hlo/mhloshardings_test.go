package hlo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/internal/wire"
)

// TestMHLOReadsShardings: dialect/mhlo, which takes shardings of tuples apart, sees in text and in encoded form what
// this package reads.
func TestMHLOReadsShardings(t *testing.T) {
	one := []string{"{replicated}", "{manual}", "{unknown}", "{unreduced}", "{maximal device=0}", "{maximal device=7}", "{devices=[2,1]<=[2]}",
		"{devices=[2,2]3,1,0,2 last_tile_dim_replicate}", "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated}}",
		"{mesh['x'=2], [{'x'}]}", "{mesh['x'=2,'y'=2], [{'x','y'}, {?}], replicated={'y'}}", "{mesh['x'=2], replicated}", "{mesh['x'=2], manual}",
		"{single_device[device_id=3]}", `{replicated metadata={op_name="a,{b\"}"}}`, `{manual metadata={{op_name="}"}, {op_name=","}}}`, "{replicated shard_as 3}"}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		s := &sharding{kind: tupleSharding}
		for range 1 + rng.IntN(4) {
			e, err := parseSharding(one[rng.IntN(len(one))])
			if err != nil {
				t.Fatal(err)
			}
			s.elems = append(s.elems, e)
		}
		if i%2 == 0 {
			s = s.elems[0]
		}
		c := &wire.Coder{Encode: true}
		(&protoModule{m: &Module{}}).sharding(c, s)
		encoded := string(c.Out)
		if encoded == "" { // {replicated}: no writer makes an attribute of it
			continue
		}
		for _, text := range []string{s.String(), encoded} {
			leaves, tuple := mhlo.SplitSharding(text)
			if tuple != (s.kind == tupleSharding) || len(leaves) != len(s.elems) {
				t.Fatalf("%s: mhlo finds the leaves %q in %q, tuple %v", s, leaves, text, tuple)
			}
			for i, leaf := range leaves {
				if e, err := parseSharding(leaf); err != nil || e.String() != s.elems[i].String() {
					t.Fatalf("%s: mhlo finds %q for %s: %v", s, leaf, s.elems[i], err)
				}
			}
			if !tuple {
				continue
			}
			if again, err := parseSharding(mhlo.JoinSharding(leaves)); err != nil || len(leaves) > 1 && again.String() != s.String() {
				t.Fatalf("%s: mhlo joins %q: %v", s, mhlo.JoinSharding(leaves), err)
			}
		}
		plain := mhlo.PlainSharding(encoded)
		want := s.kind == replicatedSharding || s.kind == manualSharding || s.kind == maximalSharding
		if want != (plain != encoded) {
			t.Fatalf("%s: mhlo says %q of %q", s, plain, encoded)
		}
		if p, err := parseSharding(plain); err != nil || p.kind != s.kind || !slices.Equal(p.tiles.devices, s.tiles.devices) {
			t.Fatalf("%s: mhlo says %q of %q: %v", s, plain, encoded, err)
		}
	}
}
