package place_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/hook/place"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// TestShardings lists the sharding of each named value of a module, as the module specifies it or as it follows from
// other values, and the type of a shard.
func TestShardings(t *testing.T) {
	golden.Texts(t, "testdata/values/shardings.txtar", func(t *testing.T, name, text string) string {
		m := testkit.Parse(t, name, text)
		describe, meshes := place.Shardings(m)
		var out strings.Builder
		out.WriteString(meshes + "\n")
		line := func(v *ir.Value, name string) { fmt.Fprintf(&out, "%s: %s\n", name, describe(v)) }
		m.Walk(func(op *ir.Op) bool {
			for i, v := range op.Results() {
				name := op.Result(0).Name()
				if op.NumResults() > 1 {
					name += fmt.Sprint("#", i)
				}
				line(v, name)
			}
			for _, r := range op.Regions() {
				for _, b := range r.Blocks() {
					for _, v := range b.Args() {
						line(v, v.Name())
					}
				}
			}
			return true
		})
		return out.String()
	})
}

// TestReshapeSources: a dimension of a reshape keeps the shards of the dimension that starts at the same element.
func TestReshapeSources(t *testing.T) {
	for _, tt := range []struct {
		to, from []int64
		want     string
	}{
		{[]int64{4, 6}, []int64{4, 6}, "[0 1]"},
		{[]int64{24}, []int64{4, 6}, "[0]"},
		{[]int64{4, 6}, []int64{24}, "[0 -1]"},
		{[]int64{4, 2, 3}, []int64{4, 6}, "[0 1 -1]"},
		{[]int64{8, 3}, []int64{4, 6}, "[0 -1]"},
		{[]int64{1, 4, 1, 6}, []int64{4, 6}, "[-1 0 -1 1]"},
		{[]int64{4, 6}, []int64{1, 4, 1, 6}, "[1 3]"},
		{[]int64{2, 2, 6}, []int64{4, 3, 2}, "[0 -1 1]"},
		{[]int64{6, 4}, []int64{4, 6}, "[0 -1]"},
		{[]int64{1}, []int64{1}, "[-1]"},
		{nil, []int64{1}, "[]"},
		{[]int64{4, 6, 1}, []int64{4, 6}, "[0 1 -1]"},
		{[]int64{4, 1, 6}, []int64{24}, "[0 -1 -1]"},
	} {
		if got := fmt.Sprint(place.ReshapeSources(tt.to, tt.from)); got != tt.want {
			t.Errorf("%v to %v: %s, want %s", tt.from, tt.to, got, tt.want)
		}
	}
}
