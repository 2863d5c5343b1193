//go:build cgo

package engineplugin

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/internal/sharding"
)

// TestOpSharding: the fields of each encoded sharding are those that JAX gives to xla.OpSharding for it.
func TestOpSharding(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[{"x"}, {}]`, "1=3 6=1 3=[2 1 4] 4=[0 1 2 3 4 5 6 7]"},
		{`[{"x"}, {"y"}]`, "1=3 3=[2 4] 4=[0 1 2 3 4 5 6 7]"},
		{`[{"y", "x"}, {}]`, "1=3 3=[8 1] 4=[0 4 1 5 2 6 3 7]"},
		{`[{"x"}, {}], unreduced={"y"}`, "1=3 8=[6] 3=[2 1 4] 4=[0 1 2 3 4 5 6 7]"},
		{`[{}, {}], unreduced={"x", "y"}`, "1=3 8=[6] 3=[1 1 8] 4=[0 1 2 3 4 5 6 7]"},
		{`[{}, {}], unreduced={"x"}`, "1=3 8=[0 6] 3=[1 1 4 2] 4=[0 4 1 5 2 6 3 7]"},
	} {
		s, err := sharding.ParseShardy(`#sdy.sharding<mesh<["x"=2, "y"=4]>, `+c.text+`>`, 8, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := eachField(opSharding(s, 2, 8), func(field int, n uint64, v []byte) error {
			if v == nil {
				got += fmt.Sprintf(" %d=%d", field, n)
			} else {
				got += fmt.Sprintf(" %d=%v", field, v) // all numbers fit a byte
			}
			return nil
		}); err != nil || got[1:] != c.want {
			t.Errorf("%s: %s (%v), expected %s", c.text, got, err, c.want)
		}
	}
}
