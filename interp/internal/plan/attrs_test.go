package plan_test

import (
	"reflect"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestAttrs: attributes are read by tag; absent ones have the value of the tag.
func TestAttrs(t *testing.T) {
	registry, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	text := `func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xi1> {
  %c = stablehlo.compare LT, %a, %b, TOTALORDER {list = array<i64: 1, 2>, flag, size = 4 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %c : tensor<2xi1>
}`
	m, err := parse.Parse(diag.NewSource("m", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var op *ir.Op
	m.Walk(func(o *ir.Op) bool {
		if plan.OpKind(o) == stablehlo.Compare {
			op = o
		}
		return true
	})
	type attrs struct {
		List      []int64         `attr:"list,0"`
		Absent    []int64         `attr:"absent,7"`
		None      []int64         `attr:"absent"`
		Size      int             `attr:"size,-3"`
		Default   int64           `attr:"absent,-3"`
		Type      string          `attr:"compare_type,FLOAT"`
		Direction string          `attr:"comparison_direction"`
		Text      string          `attr:"absent,FLOAT"`
		Flag      bool            `attr:"flag"`
		Off       bool            `attr:"absent"`
		Mesh      *stablehlo.Mesh `attr:"absent"`
	}
	want := attrs{List: []int64{1, 2}, Absent: []int64{7, 7}, Size: 4, Default: -3, Type: "TOTALORDER", Direction: "LT", Text: "FLOAT", Flag: true}
	if got := plan.Attrs[attrs](op, 2); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
	err = kernel.Try(func() { plan.Attrs[attrs](op, 3) })
	if err == nil || err.Error() != `attribute "list" has 2 entries for 3 dimensions` {
		t.Error("a list of the wrong length:", err)
	}
}
