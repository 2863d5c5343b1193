package view

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
)

// TestOverlays: numbers reach the ops that a value, a kind, a function, a location or a place of the text selects. A
// folded page adds them up; equal names add up, too.
func TestOverlays(t *testing.T) {
	m := moduleAt(t, ir.NewContext(reader.Registry()), "dir/m.mlir", `module {
  func.func @main(%a: tensor<f32>) -> tensor<f32> {
    %sum = stablehlo.add %a, %a : tensor<f32> loc("train.py":3:1)
    %1 = stablehlo.multiply %sum, %sum : tensor<f32> loc("jit(f)/mul"("train.py":4:7))
    %2 = stablehlo.multiply %1, %1 : tensor<f32>
    return %2 : tensor<f32>
  }
}`)
	for _, c := range []struct {
		text string
		want string // label and number of each op
		lost int
	}{
		{`{"%1": 2, "%9": 1}`, "multiply=2", 1},
		{`{"%sum": 7}`, "add=7", 0}, // a name in the file, which the page's text has not
		{`{"%0": 4}`, "add=4", 0},   // a name in the page's text only
		{`{"stablehlo.multiply": 1.5}`, "multiply=1.5 multiply=1.5", 0},
		{`[{"at": "@main", "value": 3}]`, "func @main=3", 0},
		{"op,ms\ntrain.py:3,1\ntrain.py:4:7,2\n", "add=1 multiply=2", 0},
		{`{"jit(f)/mul": 1, "loc(\"train.py\":3:1)": 5}`, "add=5", 1},
		{"  time   share    count  op\n  22µs   28.3%        4  stablehlo.add (m.mlir:3:12)\n   1ms    1.0%        2  stablehlo.multiply (m.mlir:5:10)\n", "add=22 multiply=1000", 0},
	} {
		list, err := ReadOverlays("numbers", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		data, _, err := encode(&Document{Title: "t", Steps: []Step{{Name: "t", Module: m}}, Overlays: list})
		if err != nil {
			t.Fatal(err)
		}
		o := data.Overlays[0]
		var got []string
		for k, i := range o.Items {
			got = append(got, data.Strings[data.Items.Label[i]]+"="+strconv.FormatFloat(o.Value[k], 'g', -1, 64))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want || o.Lost != c.lost {
			t.Errorf("%s: %s, %d lost; want %s, %d lost", c.text, text, o.Lost, c.want, c.lost)
		}
	}
}
