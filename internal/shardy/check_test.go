package shardy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestCheck: strings of shardings that XLA refuses, ignores or crashes on are errors at their op, argument or result.
func TestCheck(t *testing.T) {
	const meshes = `{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>}`
	module := func(partitions int, meshes, arg, op string) string {
		return fmt.Sprintf(`module attributes {mhlo.num_partitions = %d : i32, mhlo.frontend_attributes = {xla.sdy.meshes = "%s"}} {
  func.func @main(%%a: tensor<8x3xf32> {%s}, %%b: tensor<f32>) -> tensor<8x3xf32> {
    %%0 = stablehlo.add %%a, %%a {%s} : tensor<8x3xf32>
    return %%0 : tensor<8x3xf32>
  }
}`, partitions, meshes, arg, op)
	}
	gspmd := func(text string) string { return `mhlo.sharding = "` + text + `"` }
	named := func(text string) string {
		return `mhlo.frontend_attributes = {xla.sdy.sharding = "` + text + `"}`
	}
	for _, tt := range []struct{ attr, want string }{
		{gspmd("{replicated}"), ""}, {gspmd("{manual}"), ""}, {gspmd("{maximal device=7}"), ""}, {gspmd("{devices=[2,1,4]<=[8] last_tile_dim_replicate}"), ""},
		{gspmd("{devices=[2,1,2,2]<=[4,2]T(1,0) last_tile_dims={manual, replicated}}"), ""}, {gspmd("{devices=[8,1]7,6,5,4,3,2,1,0}"), ""},
		{gspmd(""), ""}, {gspmd(`\08\03\1A\02\02\01\22\02\00\01`), ""}, // encoded
		{gspmd(`\08\03\1A\02\02\01\22\02\00\09`), "device 9, but there are 8"}, {gspmd(`\08\03\1A\02`), "expected '{'"}, {gspmd("devices"), "expected '{'"},
		{gspmd("{devices=[2,1"), "expected"}, {gspmd("{devices=[2,1]<=[8]}"), "2 tiles, but 8 devices"}, {gspmd("{devices=[8]<=[8]}"), "1 dimensions of tiles for a value of rank 2"},
		{gspmd("{devices=[2,1]0,9}"), "device 9, but there are 8"}, {gspmd("{devices=[2,1]3,3}"), "device 3 twice"}, {gspmd("{maximal device=8}"), "device 8, but there are 8"},
		{gspmd("{devices=[16,1]<=[16]}"), "device 15, but there are 8"}, {gspmd("{devices=[2,1]0,-1}"), "device -1"}, {gspmd("{device"), "expected"},
		{named(`#sdy.sharding<@mesh, [{\"x\"}, {}]>`), ""}, {named(`#sdy.sharding_per_value<[<@mesh, [{\"y\"}, {?}]>]>`), ""}, {named(`#sdy.sharding<mesh<[\"z\"=8]>, [{\"z\"}, {}]>`), ""},
		{named(`#sdy.sharding<@mash, [{\"x\"}, {}]>`), "names mesh @mash"}, {named(`#sdy.sharding<@mesh, [{\"q\"}, {}]>`), `unknown axis name: "q"`},
		{named(`#sdy.sharding<@mesh, [{\"x\"}]>`), "sharding doesn't match tensor rank: 1 != 2"}, {named(`#sdy.sharding<@mesh`), "cannot be read as an attribute of Shardy"},
		{named(`#sdy.sharding<@mesh, [{\"x\"}, {\"x\"}]>`), `duplicate axis ref: "x"`}, {named(`@mesh`), "must be a sharding of Shardy"},
	} {
		for place, text := range map[string]string{"argument 0: ": module(8, meshes, tt.attr, ""), "": module(8, meshes, "", tt.attr)} {
			err := shardy.Check(testkit.Parse(t, "in.mlir", text))
			line := map[string]string{"argument 0: ": "in.mlir:2:3: error: argument 0: ", "": "in.mlir:3:10: error: "}[place]
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%s: %v", tt.attr, err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), line) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%s: %v, expected %s...%s", tt.attr, err, line, tt.want)
			}
		}
	}
	for _, bad := range []string{`{mesh = #sdy.mesh<`, `{mesh = 1 : i32}`, `#sdy.mesh<[\"x\"=2]>`, `{mesh = #sdy.mesh<[\"x\"=0]>}`} {
		if err := shardy.Check(testkit.Parse(t, "in.mlir", module(8, bad, "", ""))); err == nil || !strings.HasPrefix(err.Error(), "in.mlir:1:1: error: xla.sdy.meshes") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	// Without a number of devices, any number is right.
	if err := shardy.Check(testkit.Parse(t, "in.mlir", module(1, meshes, gspmd("{devices=[16,1]<=[16]}"), ""))); err != nil {
		t.Error(err)
	}
}
