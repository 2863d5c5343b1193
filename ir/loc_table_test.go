package ir_test

import (
	"testing"

	"github.com/hlocb/hlocb/ir"
)

func TestFuse(t *testing.T) {
	var table ir.LocTable
	a, b := table.File("a", 1, 2, 0, 0), table.File("b", 3, 4, 0, 0)
	fused := func(locs ...*ir.Loc) *ir.Loc { return table.Fuse(locs) }
	ab := fused(a, nil, b, new(ir.LocTable).File("a", 1, 2, 0, 0))
	for want, l := range map[string]*ir.Loc{
		`loc(fused["a":1:2, "b":3:4])`: ab,
		`loc("a":1:2)`:                 fused(a, a, nil, &ir.Loc{}),
		`loc(unknown)`:                 fused(),
		`loc(fused["b":3:4, "a":1:2])`: fused(b, ab),
	} {
		if l.String() != want {
			t.Errorf("got %s, want %s", l, want)
		}
	}
}
